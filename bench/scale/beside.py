"""Measures NumPy on a memory-mapped array of 4 GiB, Dask, and Ashlar on the same file, in turns, each in a process of its own:

    python3 scale/beside.py DIR [ROUNDS]

It makes DIR/dense.npy if it isn't there. NumPy has one thread; Dask has two, and chunks of 2048 x 2048; Ashlar has two workers.
A line of the Markdown table is a case: the median of the seconds of each, NumPy's over it, and the most memory that belongs to each process alone. Results are
compared with NumPy's: they may differ by rounding.
"""
import os, re, statistics, subprocess, sys, time

SIDE = 32768
CASES = {
    "npy-mean-rows": "x.mean(axis=0)",
    "npy-mean-columns": "x.mean(axis=1)",
    "npy-var-rows": "x.var(axis=0)",
    "npy-var-columns": "x.var(axis=1)",
}


def held():
    """The memory of the process that isn't the file's, in MiB."""
    with open("/proc/self/status") as f:
        return int(re.search(r"RssAnon:\s+(\d+)", f.read()).group(1)) / 1024


def one(folder, who, case):
    """Runs one case with NumPy or Dask, and prints the time and the most memory."""
    import numpy as np, threading
    most, done = [held()], threading.Event()

    def watch():
        while not done.wait(0.01):
            most[0] = max(most[0], held())

    watcher = threading.Thread(target=watch)
    x = np.load(os.path.join(folder, "dense.npy"), mmap_mode="r")
    if who == "Dask":
        import dask, dask.array
        x = dask.array.from_array(x, chunks=(2048, 2048))
    watcher.start()
    start = time.time()
    r = eval(CASES[case])
    if who == "Dask":
        r = r.compute(scheduler="threads", num_workers=2)
    print("%s: %.2f s" % (case, time.time() - start))
    done.set()
    watcher.join()
    print("most %d MiB" % most[0])
    np.save(os.path.join(folder, "%s-%s.npy" % (who, case)), r)


def run(command):
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(re.search(r": ([\d.]+) s", out).group(1)), int(re.search(r"most (\d+) MiB", out).group(1))


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
    program = os.path.join(folder, "scale-program")
    subprocess.run(["go", "build", "-o", program, "./scale"], check=True)
    print("| Case | NumPy | Dask | Ashlar |\n|---|---|---|---|")
    for case in CASES:
        got = {"NumPy": [], "Dask": [], "Ashlar": []}
        for _ in range(rounds):
            for who in got:
                command = [sys.executable, __file__, folder, "--one", who, case]
                got[who].append(run([program, "-dir", folder, case] if who == "Ashlar" else command))
        want = np.load(os.path.join(folder, "NumPy-%s.npy" % case))
        chunks = os.path.join(folder, "out-" + case, "c")
        ours = np.concatenate([np.fromfile(os.path.join(chunks, str(i)), np.float32) for i in range(len(os.listdir(chunks)))])
        if ours.size != want.size or not np.allclose(ours, want, rtol=1e-4, atol=1e-5):
            sys.exit(case + ": the results differ")
        line, base = "", 0
        for runs in got.values():
            seconds, most = (statistics.median(v) for v in zip(*runs))
            line += " %.2f s%s, %d MiB |" % (seconds, " (%.2f)" % (base / seconds) if base else "", most)
            base = base or seconds
        print("| %s |%s" % (CASES[case], line), flush=True)


if "--one" in sys.argv:
    one(sys.argv[1], sys.argv[3], sys.argv[4])
else:
    main()
