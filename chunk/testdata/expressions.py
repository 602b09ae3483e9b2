"""Write random expressions with the answers of Python and NumPy, for TestBesideNumPy.

python3 expressions.py SEED COUNT > expressions.txt

A line is n for numbers alone or a for arrays, a tab, an expression, a tab, and the answer: i and an integer, f and a number, a and the type, shape and elements of an array,
or ! where Python or NumPy has an error, or a complex number.
"""
import random
import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")
np.seterr(all="ignore")
seed, count = int(sys.argv[1]), int(sys.argv[2])
r = random.Random(seed)
names = {
    "x": np.array([[-7.5, -0.0, 2.0], [np.inf, np.nan, 3.25]]),
    "f": np.array([0.1, -3.0, 1e30], np.float32),
    "h": np.array([[0.5], [-2.5]], np.float16),
    "i": np.array([[-7, 3, 100], [5, -1, 2]], np.int8),
    "u": np.array([200, 7, 255], np.uint8),
    "b": np.array([True, False, True]),
    "remainder": np.remainder, "mod": np.mod, "fmod": np.fmod, "floor_divide": np.floor_divide,
    "sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min, "ptp": np.ptp, "nansum": np.nansum, "mean": np.mean,
    "any": np.any, "all": np.all, "count_nonzero": np.count_nonzero, "median": np.median,
    "nanmax": np.nanmax, "nanmin": np.nanmin,
}


def numeral():
    good = ["0", "1", "2", "3", "7", "10", "0.0", "0.5", "2.0", "1.5", "3.", ".25", "1e3", "1e-3", "0_0", "1_0", "0x1f", "0o17", "0b11", "0x_f",
            "1e1_0", "1_0.2_5", "00", "01.5", "inf", "1.5e308", "9007199254740993"]
    return r.choice(["010", "1__0", "1_", "08", "0x1p3", "1e", "0_7", "0b2", "_1.5", "1._5", "0x"] if r.random() < 0.02 else good)


def constant(depth):
    k = r.random()
    if depth == 0 or k < 0.2:
        return numeral()
    if k < 0.35:
        return r.choice("-+") + constant(depth - 1)
    if k < 0.5:
        return "(" + constant(depth - 1) + ")"
    sign = r.choice(["+", "-", "*", "/", "//", "%", "**", "-", "//", "%"])
    if sign == "**":
        return "(" + constant(depth - 1) + ") ** " + r.choice(["2", "3", "0", "-1", "-2", "0.5", "1.5", "-0.5"])
    return constant(depth - 1) + " " + sign + " " + constant(depth - 1)


def array(depth):
    k = r.random()
    if depth == 0 or k < 0.2:
        return r.choice("xfhiu")
    if k < 0.35:
        return "-" + array(depth - 1)
    if k < 0.9:
        pair = [array(depth - 1), r.choice(["0", "1", "-2", "3", "0.5", "-1.5", "2.0", "(0 - 0.0)", "-0.0", "inf"])]
        r.shuffle(pair)
        sign = r.choice(["+", "-", "*", "/", "//", "%"])
        if r.random() < 0.3:
            return r.choice(["remainder", "mod", "fmod", "floor_divide"]) + "(" + ", ".join(pair) + ")"
        return "(" + pair[0] + " " + sign + " " + pair[1] + ")"
    return r.choice("xfhiu")


def reduced():
    of = "b" if r.random() < 0.2 else array(2)
    return r.choice(["sum", "prod", "max", "min", "ptp", "nansum", "mean", "any", "all", "count_nonzero", "median", "nanmax", "nanmin"]) + "(" + of + ")"


def answer(text):
    try:
        v = eval(text, {"__builtins__": {}, "inf": float("inf"), **names})
    except Exception:
        return "!"
    if isinstance(v, complex):
        return "!"
    if isinstance(v, int) and not isinstance(v, bool):
        return "i %d" % v if abs(v) < 1 << 70 else "i big"
    if isinstance(v, float) and not isinstance(v, np.floating):
        return "f " + v.hex()
    v = np.asarray(v)
    return "a %s %s %s" % (v.dtype, ",".join(map(str, v.shape)) or "-", " ".join(float(e).hex() for e in v.ravel().tolist()))


seen = set()
while len(seen) < count:
    alone = r.random() < 0.5
    text = constant(4) if alone else array(3) if r.random() < 0.6 else reduced()
    if text in seen or len(text) > 200 or text.count("**") > 3 or "**" in text and ("%" in text or "//" in text):
        continue
    seen.add(text)
    print("an"[alone] + "\t" + text + "\t" + answer(text), flush=True)
