"""Decodes the arrays of a group of version 2 as xarray does: cf.py < STORE > RESULTS

STORE is an object of JSON with the values of a store in base64. RESULTS has, for each array, the kind of the decoded elements by
NumPy's letter and a list of them: numbers, with null for NaN and NaT, and times in nanoseconds since 1970. An array that xarray
refuses has the kind "error", and dates that NumPy hasn't have "O".
"""
import base64
import json
import sys
import warnings

import numpy as np
import xarray as xr
import zarr

warnings.simplefilter("ignore")
np.seterr(all="ignore")
values = {k: base64.b64decode(v) for k, v in json.load(sys.stdin).items()}
group = zarr.open_group(values, mode="r")
store = xr.backends.ZarrStore(group, mode="r")
results = {}
for name, array in group.arrays():
    try:
        v = xr.conventions.decode_cf_variable(name, store.open_store_variable(name, array)).values
        if v.dtype.kind == "M":
            n = v.astype("M8[ns]").view("i8").ravel()
            results[name] = ["M", [None if x == -(2**63) else int(x) for x in n]]
        elif v.dtype.kind == "f":
            results[name] = ["f", [None if x != x else repr(float(x)) for x in v.ravel()]]
        elif v.dtype.kind == "O":
            results[name] = ["O", []]
        else:
            results[name] = [v.dtype.kind, [str(int(x)) for x in v.ravel()]]
    except Exception as e:
        results[name] = ["error", [str(e)]]
json.dump(results, sys.stdout)
