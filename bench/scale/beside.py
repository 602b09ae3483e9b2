"""Measures NumPy on a memory-mapped array of 4 GiB, and Ashlar on the same file, in turns, each in a process of its own:

    python3 scale/beside.py DIR [ROUNDS]

It makes DIR/dense.npy if it isn't there. For each case it prints the seconds of both, the median of the rounds, and the most
memory that each process held. Results are compared: they may differ by rounding.
"""
import os, re, statistics, subprocess, sys, time

SIDE = 32768
CASES = {
    "npy-mean-rows": "x.mean(axis=0)",
    "npy-mean-columns": "x.mean(axis=1)",
    "npy-var-rows": "x.var(axis=0)",
    "npy-var-columns": "x.var(axis=1)",
}


def one(folder, case):
    """Runs one case with NumPy, and prints the time and the most memory."""
    import numpy as np
    x = np.load(os.path.join(folder, "dense.npy"), mmap_mode="r")
    start = time.time()
    r = eval(CASES[case])
    print("%s: %.2f s" % (case, time.time() - start))
    np.save(os.path.join(folder, "numpy-%s.npy" % case), r)
    with open("/proc/self/status") as f:
        print(re.search(r"RssAnon:\s+(\d+)", f.read()).group(0))


def main():
    import numpy as np
    folder, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    path = os.path.join(folder, "dense.npy")
    if not os.path.exists(path):
        x = np.lib.format.open_memmap(path, "w+", np.float32, (SIDE, SIDE))
        g = np.random.default_rng(1)
        for i in range(0, SIDE, 1024):
            x[i:i + 1024] = g.standard_normal((1024, SIDE), np.float32)
        x.flush()
    subprocess.run(["go", "build", "-o", os.path.join(folder, "scale"), "./scale"], check=True)
    for case in CASES:
        theirs, ours = [], []
        for _ in range(rounds):
            out = subprocess.run([sys.executable, __file__, folder, "--one", case], check=True, capture_output=True, text=True).stdout
            theirs.append(float(re.search(r": ([\d.]+) s", out).group(1)))
            out = subprocess.run([os.path.join(folder, "scale"), "-dir", folder, case], check=True, capture_output=True, text=True).stdout
            ours.append(float(re.search(r": ([\d.]+) s", out).group(1)))
        print("%-20s NumPy %6.2f s, Ashlar %6.2f s, NumPy's time over ours %.2f" % (case, statistics.median(theirs), statistics.median(ours), statistics.median(theirs) / statistics.median(ours)), flush=True)


if len(sys.argv) > 3 and sys.argv[2] == "--one":
    one(sys.argv[1], sys.argv[3])
else:
    main()
