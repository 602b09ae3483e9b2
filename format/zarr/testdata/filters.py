"""Encodes random chunks by filters and compressors of numcodecs: filters.py SEED COUNT > CASES

CASES is a list of objects: the .zarray, the chunk and the elements that numcodecs decodes, in base64 and little-endian.
filters.json holds 60 cases of the seed 1.
"""
import base64
import json
import lzma
import sys
import warnings

import numcodecs as nc
import numpy as np

warnings.simplefilter("ignore")
r = np.random.default_rng(int(sys.argv[1]))
numbers = ["<i1", "<i2", "<i4", "<i8", "<u1", "<u2", "<u4", "<u8", "<f4", "<f8"]


def pick(*list):
    return list[r.integers(len(list))]


def order(code):
    return pick("<", ">") + code[1:] if code[1:] not in ("i1", "u1", "b1") else "|" + code[1:]


def values(code, n):
    kind = np.dtype(code).kind
    if kind == "b":
        return r.integers(0, 2, n).astype(code)
    if kind == "f":
        return np.round(r.normal(0, 30, n), r.integers(5)).astype(code)
    return r.integers(0 if kind == "u" else -60, 60, n).astype(code)


def fits(x, to):
    to = np.dtype(to)
    if x.dtype.kind != "f" or to.kind not in "iu":
        return True
    t, b = np.trunc(x.astype("f8")), np.iinfo(to)
    return bool(np.all((t >= float(b.min)) & (t < float(b.max) + (1 if to.itemsize < 8 else 0))))


def chain(code):
    """Filters that decode to elements of a type, those that are applied first to last."""
    list = []
    for _ in range(r.integers(1, 3)):
        kind = np.dtype(code).kind
        name = pick("astype", "delta", "scale", "quantize", "packbits", "bits")
        if name == "astype":
            to = order(pick(*numbers, "|b1", "<f2"))
            if code[1:] == "f2" and np.dtype(to).kind != "f":
                continue
            list.append(nc.AsType(encode_dtype=to, decode_dtype=code))
        elif name == "delta" and kind in "iu":
            list.append(nc.Delta(dtype=code, astype=order("<" + kind + pick("2", "4", "8"))))
        elif name == "delta" and code[1:] in ("f4", "f8"):
            list.append(nc.Delta(dtype=code))
        elif name == "scale" and code[1:] in [c[1:] for c in numbers]:
            list.append(nc.FixedScaleOffset(offset=pick(0, 1, -7, 0.5, 1000, 0.1), scale=pick(1, 10, 0.5, 3, 1.1, -2), dtype=code, astype=order(pick(*numbers))))
        elif name == "quantize" and kind == "f" and code[1:] != "f2":
            list.append(nc.Quantize(digits=2, dtype=code, astype=order(pick("<f4", "<f8"))))
        elif name == "packbits" and code[1:] == "b1":
            list.append(nc.PackBits())
            break
        elif name == "bits" and code == "<f4":
            list.append(nc.BitRound(5))
            continue
        else:
            continue
        c = list[-1].get_config()
        code = c.get("encode_dtype") or c["astype"]
    return list, code


def compressor():
    raw = lambda *f: nc.LZMA(format=3, filters=[dict(x) for x in f])
    l1, l2, delta = dict(id=lzma.FILTER_LZMA1, preset=1), dict(id=lzma.FILTER_LZMA2, preset=6), dict(id=lzma.FILTER_DELTA, dist=int(pick(1, 2, 4)))
    odd = dict(id=lzma.FILTER_LZMA1, lc=1, lp=2, pb=0, dict_size=1 << 16)
    return pick(None, None, nc.Zlib(1), nc.LZMA(), nc.LZMA(preset=9), nc.LZMA(check=lzma.CHECK_NONE), nc.LZMA(check=lzma.CHECK_CRC32), nc.LZMA(check=lzma.CHECK_SHA256),
                nc.LZMA(format=2), raw(l1), raw(l2), raw(delta, l2), raw(delta, l1), raw(odd))


cases = []
while len(cases) < int(sys.argv[2]):
    code, n = order(pick(*numbers, "|b1", "<f2")), int(r.integers(1, 40))
    filters, stored = chain(code)
    try:
        if pick(True, False):
            b = values(code, n)
            for f in filters:
                b = np.asarray(f.encode(b))
        else:
            b = values(stored, n)
            if filters and isinstance(filters[-1], nc.PackBits):
                b = filters[-1].encode(b)
        b = x = np.ascontiguousarray(b)
        for f in reversed(filters):
            c = f.get_config()
            if isinstance(f, nc.AsType) and not fits(x.view(c["encode_dtype"]), c["decode_dtype"]):
                raise ValueError("NumPy doesn't define it")
            if isinstance(f, nc.FixedScaleOffset) and not fits(x.view(c["astype"]) / f.scale + f.offset, c["dtype"]):
                raise ValueError("NumPy doesn't define it")
            x = np.asarray(f.decode(x))
        x = x.view(code)
    except (ValueError, OverflowError, TypeError):
        continue
    c = compressor()
    b = c.encode(b) if c else b.tobytes()
    meta = {"zarr_format": 2, "shape": [len(x)], "chunks": [len(x)], "dtype": code, "order": "C", "fill_value": None,
            "filters": [f.get_config() for f in filters] or None, "compressor": c.get_config() if c else None}
    text = lambda b: base64.b64encode(bytes(b)).decode()
    cases.append({"zarray": meta, "chunk": text(b), "want": text(x.astype("<" + code[1:] if code[0] != "|" else code).tobytes())})
print("[" + ",\n".join(json.dumps(c) for c in cases) + "]")
