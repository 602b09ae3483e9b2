"""Writes what files in use hold, by zarr-python 2 and xarray, and beside it what they read: wild.py FOLDER

FOLDER/types.zarr     times, strings, raw bytes and structs; FOLDER/types.json has the elements as text
FOLDER/cf.zarr        packed numbers and times by xarray; FOLDER/cf.json has the numbers that xarray decodes
"""
import json
import sys
import numcodecs
import numpy as np
import xarray as xr
import zarr

folder = sys.argv[1]
n = 30
g = zarr.open_group(folder + "/types.zarr", mode="w")
expected = {}


def text(x):
    s = x.decode() if isinstance(x, bytes) else str(x)
    return s.removesuffix(".0")


def put(name, a, **how):
    z = g.create_dataset(name, shape=a.shape, chunks=(7,) * a.ndim, dtype=a.dtype, **how)
    z[...] = a
    if a.dtype.names:
        for f in a.dtype.names:
            expected[name + "." + f] = [text(x) for x in a[f].ravel()]
    else:
        expected[name] = [text(x) for x in a.ravel()]


for unit in ("Y", "M", "D", "h", "m", "s", "ms", "us", "ns"):
    for order in "<>":
        put(f"time-{unit}-{'be' if order == '>' else 'le'}", (np.arange(n) * 12345 - 999).astype(f"{order}M8[{unit}]"), fill_value=None)
put("nat", np.array(["2000-01-01", "NaT", "1969-12-31T23:59:59.5"], "M8[ms]"), fill_value="NaT")
put("length", np.arange(n).astype("m8[10s]").view("i8"))
words = np.array(["", "a", "größer", "日本語", "zehn Zeichen"] * 6)
for order in "CF":
    put("str-" + order, words.reshape(6, 5).astype(">U12" if order == "F" else "<U12"), order=order, fill_value="")
put("objects", words.astype(object), object_codec=numcodecs.VLenUTF8(), fill_value="")
put("objects-F", words.reshape(6, 5).astype(object), order="F", object_codec=numcodecs.VLenUTF8(), filters=[numcodecs.CRC32()], compressor=numcodecs.Zlib(1))
put("bytes", np.array([b"", b"a", b"four"] * 10, "S4"), filters=[], compressor=None)
put("points", np.array([(i, i / 3, f"n{i}", i % 2) for i in range(n)], [("id", "<i4"), ("lat", ">f8"), ("name", "S3"), ("odd", "?")]))
np.save(folder + "/nested.npy", np.array([(i, (i * 2, i / 2)) for i in range(n)], [("a", "<i2"), ("in", [("x", "<u4"), ("y", ">f4")])]))
nested = np.load(folder + "/nested.npy")
z = g.create_dataset("nested", shape=nested.shape, chunks=4, dtype=nested.dtype)
z[...] = nested
expected["nested.a"] = [text(x) for x in nested["a"]]
expected["nested.in.x"] = [text(x) for x in nested["in"]["x"]]
expected["nested.in.y"] = [text(x) for x in nested["in"]["y"]]
json.dump(expected, open(folder + "/types.json", "w"))

celsius = np.linspace(-30, 40, n * 8).reshape(n, 8)
celsius[3, 4] = celsius[29, 7] = np.nan
times = np.datetime64("2020-02-27T00:00", "ns") + np.arange(n) * np.timedelta64(6, "h")
sets = {
    "short": ("short", celsius, {"dtype": "int16", "scale_factor": 0.01, "add_offset": 5.0, "_FillValue": -32768}),
    "byte": ("byte", np.abs(celsius) / 40, {"dtype": "uint8", "scale_factor": 1 / 128, "_FillValue": 255}),
    "single": ("single", celsius.astype("f4"), {"dtype": "float32", "_FillValue": 1e20}),
    "double": ("double", celsius, {"dtype": "float64", "_FillValue": -9999.0}),
    "gaps": ("gaps", np.where(np.isnan(celsius), np.nan, np.round(celsius)), {"dtype": "int32", "_FillValue": -1}),
}
ds = xr.Dataset({k: (("time", "x"), v[1]) for k, v in sets.items()}, coords={"time": times})
encoding = {k: v[2] for k, v in sets.items()}
encoding["time"] = {"units": "hours since 1900-01-01 12:00:00", "dtype": "int32"}
more = {"days": ("days since 2000-01-01", "float64"), "minutes": ("minutes since 1970-01-01T00:00:00+01:00", "int64"), "seconds": ("seconds since 1700-01-01 00:00:0.0", "int64"), "noon": ("hours since 1-1-1 12:00", "int64"),
        "ms": ("milliseconds since 2020-01-01", "int64")}
for k, (units, kind) in more.items():
    ds[k] = (("time",), times)
    encoding[k] = {"units": units, "dtype": kind}
ds.to_zarr(folder + "/cf.zarr", mode="w", encoding=encoding)
back = xr.open_zarr(folder + "/cf.zarr", consolidated=False, decode_times=True)
out = {}
for k, v in back.variables.items():
    v = v.values
    out[k] = [int(x) for x in v.astype("M8[ns]").view("i8").ravel()] if v.dtype.kind == "M" else [None if x != x else float(x) for x in v.ravel()]
json.dump(out, open(folder + "/cf.json", "w"))
