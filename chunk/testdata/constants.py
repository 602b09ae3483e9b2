"""Write random expressions of an array and integer constants with the answers of Python and NumPy, for TestConstants.

python3 constants.py SEED COUNT > constants.txt

A line is an expression, a tab, and the answer: the type and the elements of the result, integers in base 10 and floats in base 16, or ! where NumPy 2 has an error.
Comparisons are Python's, element by element. The rest is NumPy 1.24's in the state "weak", whose rules for constants are NumPy 2's; of clip and where, which
don't follow the state, they are written here: NumPy 2.1's release notes, and NEP 50. An integer division by 0 counts as an error.
"""
import operator
import random
import sys
import warnings

import numpy as np

np._set_promotion_state("weak")
warnings.simplefilter("ignore")
np.seterr(all="ignore")
r = random.Random(int(sys.argv[1]))
arrays = {}
for t in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]:
    info = np.iinfo(t)
    arrays[t] = np.array([info.min, info.max, info.max - 1, 0, 1, 3, 100] + [-1, -7, info.min + 1] * (t[0] == "i"), t)
arrays["f2"] = np.array([0.5, -0.0, 2048, 65504, -65504, 3, np.inf, np.nan], np.float16)
arrays["f4"] = np.array([0.5, -0.0, 2**24, 2**63, -(2**31), 255, 3.4028234663852886e38, -np.inf, np.nan], np.float32)
arrays["f8"] = np.array([0.5, -0.0, 2**53, 2**64, -(2**63), 255, 1.7976931348623157e308, np.inf, np.nan], np.float64)
arrays["b"] = np.array([True, False, True])
arrays["p"] = np.array([0, 1, 2, 5], np.int8)
arrays["q"] = np.array([3, 2, -1, 0], np.int8)


def constant():
    """Return an integer and how it is written."""
    k = r.random()
    if k < 0.4:
        n = r.choice([0, 1, 2, 3, 7, 10, 100, 200, 300])
    elif k < 0.97:
        n = 2 ** r.choice([7, 8, 11, 15, 16, 24, 31, 32, 53, 63, 63, 64, 64, 70, 127, 128]) + r.choice([-1, 0, 1])
    else:
        n = r.choice([2**1024 - 2**970, 2**1024 - 2**970 - 1, 2**1100, 10**400])
    text = r.choice([str(n), hex(n), "(%d)" % n, "+%d" % n])
    if n & (n + 1) == 0 and n > 1 and r.random() < 0.5:
        text = "(2 ** %d - 1)" % n.bit_length()
    if r.random() < 0.4:
        return -n, r.choice(["-" + text, "(-" + text + ")"])
    return n, text


comparisons = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
named = {"equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">="}
operators = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.true_divide, "//": np.floor_divide, "%": np.remainder, "**": np.power,
             "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor, "<<": np.left_shift, ">>": np.right_shift}
functions = ["maximum", "minimum", "fmax", "fmin", "gcd", "lcm", "fmod", "add", "power", "remainder", "floor_divide", "multiply", "subtract"]


def fitting(x, c):
    """Return c as an element of the type of x, as NEP 50 says, or fail."""
    if x.dtype.kind in "iu":
        info = np.iinfo(x.dtype)
        if not info.min <= c <= info.max:
            raise OverflowError
    return np.array(c if x.dtype.kind in "iu" else float(c)).astype(x.dtype)


def clip(x, low, high):
    # A bound beyond all elements is none. NumPy does so for integers; for floats it rounds to an infinity, and fails beyond float64.
    info = np.iinfo(x.dtype) if x.dtype.kind in "iu" else None
    rounds_to_infinity = {2: 2**16 - 2**4, 4: 2**128 - 2**103, 8: 2**1024 - 2**970}.get(x.dtype.itemsize)
    least, most = (info.min, info.max) if info else (-rounds_to_infinity, rounds_to_infinity)
    low = None if low is not None and low <= least else low
    high = None if high is not None and high >= most else high
    x = x if low is None else np.maximum(x, fitting(x, low))
    return x if high is None else np.minimum(x, fitting(x, high))


def one():
    """Return an expression and a function of its answer."""
    name = r.choice(list(arrays)[:-2])
    x = arrays[name]
    c, text = constant()
    k = r.random()
    if k < 0.4 or name == "b":
        sign = r.choice(list(comparisons))
        if r.random() < 0.2:
            f = r.choice(list(named))
            return "%s(%s, %s)" % (f, name, text), lambda: np.array([comparisons[named[f]](v, c) for v in x.tolist()])
        if r.random() < 0.5:
            return "%s %s %s" % (text, sign, name), lambda: np.array([comparisons[sign](c, v) for v in x.tolist()])
        return "%s %s %s" % (name, sign, text), lambda: np.array([comparisons[sign](v, c) for v in x.tolist()])
    if k < 0.45:
        return "p ** q", lambda: arrays["p"] ** arrays["q"]
    if k < 0.5:
        return "q ** p", lambda: arrays["q"] ** arrays["p"]
    if k < 0.6:
        d, other = constant()
        if r.random() < 0.3:
            return "clip(%s, high=%s)" % (name, text), lambda: clip(x, None, c)
        return "clip(%s, %s, %s)" % (name, text, other), lambda: clip(x, c, d)
    if k < 0.65:
        return "where(%s > 2, %s, %s)" % (name, name, text), lambda: np.where(x > 2, x, fitting(x, c))
    sign = r.choice(list(operators) + functions)
    f = operators.get(sign) or getattr(np, sign)
    pair = [(name, x), ("(%s)" % text if sign == "**" else text, c)]
    if r.random() < 0.4:
        pair.reverse()
    def answer():
        divides = f in (np.floor_divide, np.remainder, np.fmod) and x.dtype.kind in "iu"
        if divides and (pair[1][1] == 0 if pair[1][1] is c else 0 in x):
            raise ZeroDivisionError
        if x.dtype.kind in "iu" and f is not np.true_divide:
            fitting(x, c)  # 1.24 takes some integers beyond 64 bits as objects
        if x.dtype.kind == "f" and f in (np.gcd, np.lcm):
            raise TypeError  # and so these floats
        return f(pair[0][1], pair[1][1])
    if sign in operators:
        return "%s %s %s" % (pair[0][0], sign, pair[1][0]), answer
    return "%s(%s, %s)" % (sign, pair[0][0], pair[1][0]), answer


def written(v):
    if v.dtype.kind == "f":
        return " ".join(float(e).hex() for e in v.tolist())
    return " ".join(str(int(e)) for e in v.tolist())


seen, count = set(), int(sys.argv[2])
while len(seen) < count:
    text, answer = one()
    floats = text[:2] in ("f2", "f4", "f8") or any(f in text for f in ("f2", "f4", "f8"))
    if text in seen or floats and ("**" in text.replace("2 ** ", "") or "power" in text) or text.startswith("(") and "**" in text[3:].replace("2 ** ", ""):
        continue  # powers of floats are rounded otherwise
    seen.add(text)
    try:
        v = answer()
        if v.dtype == object:
            raise OverflowError
        print(text + "\t" + str(v.dtype) + " " + written(v), flush=True)
    except (OverflowError, ValueError, TypeError, ZeroDivisionError):
        print(text + "\t!", flush=True)
