"""Reads an array by zarr-python, slab by slab, and prints the seconds and a sum; or writes one.

    python3 peer.py read|write FOLDER SLABS
"""
import sys
import time
import numcodecs
import numpy as np
import zarr

action, folder, slabs = sys.argv[1], sys.argv[2], int(sys.argv[3])
step, rows, columns = 256, 1024, 512
if action == "read":
    a = zarr.open(folder, mode="r")
    start, total = time.perf_counter(), 0
    for i in range(slabs):
        data = a[i * step : (i + 1) * step].reshape(-1)
        total += int(data[::9973].sum(dtype=np.uint64))
    print(time.perf_counter() - start, total % 2**32)
else:
    k = np.arange(step * rows * columns)
    data = (1000 + (k >> 12) % 3000 + np.random.default_rng(1).integers(0, 16, k.size)).astype(np.uint16).reshape(step, rows, columns)
    a = zarr.open(folder, mode="w", shape=(step * slabs, rows, columns), chunks=(32, 32, 512), dtype="<u2", compressor=numcodecs.Zstd(3))
    start = time.perf_counter()
    for i in range(slabs):
        a[i * step : (i + 1) * step] = data
    print(time.perf_counter() - start, 0)
