"""Writes arrays of version 2 by zarr-python 2 below a folder, or checks the one of Ashlar.

cross.py write FOLDER    makes an array for each codec; element i is i * 7 % 251
cross.py check FOLDER NAME...    compares arrays with the same numbers; of one whose name
                                 begins with holes, the rows from 20 on are 7
"""
import sys
import numcodecs as nc
import numpy as np
import zarr

shape, chunks = (37, 50), (16, 20)
numbers = (np.arange(37 * 50) * 7 % 251).reshape(shape)


def cases():
    for name in ("blosclz", "lz4", "lz4hc", "zlib", "zstd", "snappy"):
        if name not in nc.blosc.list_compressors():
            continue
        for shuffle in (0, 1, 2):
            for kind in ("|u1", "<i2", "<f4", "<f8"):
                for size in (0, 512):
                    yield f"blosc-{name}-{shuffle}-{kind[1:]}-{size}", kind, dict(compressor=nc.Blosc(name, 5, shuffle, size))
    for c in (nc.Zlib(1), nc.GZip(5), nc.BZ2(1), nc.Zstd(3), nc.LZ4(), None):
        for order in "CF":
            for kind in ("<f8", ">i4", "|b1", "<c16"):
                yield f"{c.codec_id if c else 'none'}-{order}-{'be' if kind[0] == '>' else ''}{kind[1:]}", kind, dict(compressor=c, order=order)
    yield "shuffle", "<i8", dict(compressor=nc.Zlib(1), filters=[nc.Shuffle(8)])
    yield "delta", "<i4", dict(compressor=nc.Zlib(1), filters=[nc.Delta("<i4", "<i2")])
    yield "delta-float", "<f4", dict(compressor=None, filters=[nc.Delta("<f4")])
    yield "scale", "<f8", dict(compressor=nc.Zstd(1), filters=[nc.FixedScaleOffset(offset=10, scale=10, dtype="<f8", astype="<i2")])
    yield "crc32", "<u2", dict(compressor=None, filters=[nc.CRC32()])
    yield "adler32", "<u2", dict(compressor=None, filters=[nc.Adler32()])
    yield "slash", "<u4", dict(compressor=nc.Zstd(1), dimension_separator="/")


if sys.argv[1] == "write":
    for name, kind, how in cases():
        a = zarr.open(f"{sys.argv[2]}/{name}", mode="w", shape=shape, chunks=chunks, dtype=kind, **how)
        a[...] = (numbers % 2 if kind == "|b1" else numbers).astype(kind)
else:
    for name in sys.argv[3:]:
        a = zarr.open(f"{sys.argv[2]}/{name}", mode="r")[...]
        want = (numbers % 2 if a.dtype == bool else numbers).astype(a.dtype)
        if name.startswith("holes"):
            want[20:] = 7
        assert (a == want).all(), (name, a, want)
        print(name, "same")
