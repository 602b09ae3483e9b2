"""Measures sorting, selecting, indexing and moving elements beside NumPy.

    python3 bench/select.py [-r ROUNDS] [-t THREADS] [-f FILTER] [-md] PROGRAM

PROGRAM is ashlar's: go build -o PROGRAM ./internal/bench. Both read the same inputs from npy files, which
this script makes. Results are compared before anything is timed. Then the two take turns. A line is a case, NumPy's time
over ours as the median of the rounds, the least and the largest, and both times in ms. It is NumPy on one thread
unless its BLAS has more: OPENBLAS_NUM_THREADS is set to THREADS.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

args = argparse.ArgumentParser()
args.add_argument("-r", type=int, default=5, help="rounds")
args.add_argument("-t", type=int, default=1, help="threads of ours and of NumPy's products")
args.add_argument("-f", default="", help="regular expression on the case")
args.add_argument("-md", action="store_true", help="lines of a Markdown table")
args.add_argument("program")
args = args.parse_args()
os.environ["OPENBLAS_NUM_THREADS"] = str(args.t)

import numpy as np  # after the number of threads is set

r = np.random.default_rng(1)
N = 1_000_000
made = {
    "f32": r.standard_normal(N).astype(np.float32),
    "f64": r.standard_normal(N),
    "i64": r.integers(-(1 << 40), 1 << 40, N),
    "i32": r.integers(0, 1000, N).astype(np.int32),
    "u8": r.integers(0, 200, N).astype(np.uint8),
    "at": r.integers(0, N, N),
    "mask": r.integers(0, 2, N).astype(bool),
    "sparse": (r.integers(0, 50, N) == 0).astype(np.float32),
    "matrix": r.standard_normal((1000, 1000)).astype(np.float32),
    "rows": r.standard_normal((64, 50000)).astype(np.float32),
    "along": r.integers(0, 1000, (1000, 1000)),
    "some": r.integers(0, 1000, 500),
    "labels": r.integers(0, 100, 10000),
    "pairs": r.integers(0, 1000, (N, 2)),
    "queries": r.standard_normal((64, 384)).astype(np.float32),
    "embeddings": r.standard_normal((50000, 384)).astype(np.float32),
}
f32, f64, i64, i32, u8, at, mask, sparse, matrix, rows, along, some, labels, pairs, queries, embeddings = made.values()
two, eye = np.float32(1.5), np.eye(100, dtype=np.float32)


def top(a, k):
    """The k largest of each row, in descending order."""
    part = np.take_along_axis(a, np.argpartition(a, a.shape[1] - k, axis=1)[:, -k:], axis=1)
    return -np.sort(-part, axis=1)


def put(values):
    a = f32.copy()
    a[mask] = values
    return a


def set_index():
    a = f32.copy()
    a[at] = f32
    return a


def scatter_add():
    a = f32.copy()
    np.add.at(a, at, f32)
    return a


# NumPy's form of each case of internal/bench/select.go.
cases = {
    "sort/f32": lambda: np.sort(f32),
    "sort/f64": lambda: np.sort(f64),
    "sort/i64": lambda: np.sort(i64),
    "sort/u8": lambda: np.sort(u8),
    "sort_last/f32": lambda: np.sort(matrix, axis=1),
    "sort_first/f32": lambda: np.sort(matrix, axis=0),
    "argsort/f32": lambda: np.argsort(f32),
    "argsort/i64": lambda: np.argsort(i64),
    "argsort_last/f32": lambda: np.argsort(matrix, axis=1),
    "topk10/f32": lambda: top(rows, 10),
    "topk_tenth/f32": lambda: np.sort(np.partition(f32, N // 10 - 1)[: N // 10]),
    "neighbours/f32": lambda: top(queries @ embeddings.T, 10),
    "median/f32": lambda: np.median(f32),
    "median_last/f32": lambda: np.median(matrix, axis=1),
    "median_first/f32": lambda: np.median(matrix, axis=0),
    "quantile/f32": lambda: np.quantile(f32, 0.9),
    "unique/f32": lambda: np.unique(f32, return_index=True, return_inverse=True, return_counts=True),
    "unique/i32": lambda: np.unique(i32, return_index=True, return_inverse=True, return_counts=True),
    "histogram/f64": lambda: np.histogram(f64, 100, (-3, 3))[0],
    "index/f32": lambda: f32[at],
    "index_rows/f32": lambda: matrix[some],
    "take/f32": lambda: np.take(f32, at),
    "take_last/f32": lambda: np.take(matrix, some, axis=1),
    "gather/f64": lambda: np.take(f64, at),
    "take_along/f32": lambda: np.take_along_axis(matrix, along, axis=1),
    "take_along0/f32": lambda: np.take_along_axis(matrix, along, axis=0),
    "gather_nd/f32": lambda: matrix[pairs[:, 0], pairs[:, 1]],
    "set_index/f32": set_index,
    "scatter_add/f32": scatter_add,
    "mask/f32": lambda: f32[mask],
    "set_mask/f32": lambda: put(2),
    "set_mask_to/f32": lambda: put(f32[mask]),
    "compress/f64": lambda: np.compress(mask, f64),
    "where/f32": lambda: np.where(mask, f32, np.float32(0)),
    "nonzero/f32": lambda: np.stack(np.nonzero(sparse)),
    "nonzero/bool": lambda: np.stack(np.nonzero(mask)),
    "nonzero_2d/f32": lambda: np.stack(np.nonzero(matrix)),
    "count/bool": lambda: np.count_nonzero(mask),
    "count/f32": lambda: np.count_nonzero(sparse),
    "any_last/f32": lambda: np.any(matrix, axis=1),
    "all_first/f32": lambda: np.all(matrix, axis=0),
    "argmax_last/f32": lambda: np.argmax(matrix, axis=1),
    "argmax_first/f32": lambda: np.argmax(matrix, axis=0),
    "ptp/f32": lambda: np.ptp(f32),
    "nanmax/f32": lambda: np.nanmax(matrix, axis=1),
    "clip/f32": lambda: np.clip(f32, -1, 1),
    "cumsum/f64": lambda: np.cumsum(f64),
    "roll/f32": lambda: np.roll(f32, 12345),
    "roll_last/f32": lambda: np.roll(matrix, 7, axis=1),
    "flip/f32": lambda: matrix[:, ::-1].copy(),
    "turn/u8": lambda: np.rot90(u8.reshape(1000, 1000)).copy(),
    "repeat/f32": lambda: np.repeat(f32, 3),
    "repeat_first/f32": lambda: np.repeat(matrix, 2, axis=0),
    "tile/f32": lambda: np.tile(matrix, (2, 2)),
    "pad/f32": lambda: np.pad(matrix, 3),
    "pad_reflect/f32": lambda: np.pad(matrix, 30, "reflect"),
    "triu/f32": lambda: np.triu(matrix),
    "stack_last/f32": lambda: np.stack([f32, f32], axis=1),
    "concat/f32": lambda: np.concatenate([matrix, matrix], axis=1),
    "one_hot/f32": lambda: eye[labels],
    "pow/f32": lambda: np.power(np.abs(f32), two),
    "pow/f64": lambda: np.power(np.abs(f64), 1.5),
    "einsum_rows/f32": lambda: np.einsum("ij,ij->i", matrix, matrix),
    "einsum_columns/f32": lambda: np.einsum("ij,ij->j", matrix, matrix),
    "einsum_all/f32": lambda: np.einsum("ij,ij->", matrix, matrix),
}
# What is compared where NumPy's usual form leaves the order of equal elements open.
stable = {
    "argsort/f32": lambda: np.argsort(f32, kind="stable"),
    "argsort/i64": lambda: np.argsort(i64, kind="stable"),
    "argsort_last/f32": lambda: np.argsort(matrix, axis=1, kind="stable"),
}
# Cases whose results needn't be equal: sums in another order, functions that NumPy rounds less well.
near = {"neighbours/f32", "pow/f32", "pow/f64", "einsum_rows/f32", "einsum_columns/f32", "einsum_all/f32", "quantile/f32", "cumsum/f64"}


def measure(call):
    least, begin, n = float("inf"), time.perf_counter(), 0
    while n < 3 or time.perf_counter() - begin < 0.03:
        start = time.perf_counter()
        call()
        least = min(least, time.perf_counter() - start)
        n += 1
    return least


def same(name, ours, theirs):
    if ours.size != np.size(theirs):
        return False
    theirs = np.asarray(theirs).reshape(ours.shape)
    if name in near:
        return np.allclose(ours, theirs, rtol=1e-4, atol=1e-3)
    return np.array_equal(ours, theirs)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, a in made.items():
            np.save(os.path.join(folder, name), a)
        with subprocess.Popen([args.program, "-npy", folder, "-t", str(args.t)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as ours:

            def ask(line):
                print(line, file=ours.stdin, flush=True)
                answer = ours.stdout.readline()
                if not answer:
                    sys.exit(f"{args.program} ended at {line}")
                return answer

            chosen = [name for name in cases if re.search(args.f, name)]
            for name in chosen:
                ask("= " + name)
                theirs = stable.get(name, cases[name])()
                for i, their in enumerate(theirs if isinstance(theirs, tuple) else (theirs,)):
                    path = os.path.join(folder, f"{name.replace('/', '-')}.{i}.npy")
                    if not same(name, np.load(path), their):
                        sys.exit(f"{name}: results differ")
                    os.remove(path)
            print(f"NumPy {np.__version__}, {args.r} rounds, {args.t} threads", file=sys.stderr)
            product = []
            for name in chosen:
                rounds = [(measure(cases[name]), float(ask(name))) for _ in range(args.r)]
                ratios = sorted(t / o for t, o in rounds)
                ratio = statistics.median(ratios)
                product.append(ratio)
                their, our = (statistics.median(x) * 1e3 for x in zip(*rounds))
                if args.md:
                    print(f"| `{name}` | {ratio:.2f}, {ratios[0]:.2f} to {ratios[-1]:.2f} | {their:.2f} | {our:.2f} |", flush=True)
                else:
                    print(f"{name:20} {ratio:6.2f}  {ratios[0]:6.2f} {ratios[-1]:6.2f}  {their:9.3f} {our:9.3f}", flush=True)
            if product:
                print(f"geometric mean {statistics.geometric_mean(product):.2f}", file=sys.stderr)
            ours.stdin.close()


main()
