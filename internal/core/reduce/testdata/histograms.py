"""Write random histograms of numpy.histogram, for TestHistograms.

python3 histograms.py SEED COUNT > histograms.txt

A line is the number of bins, the range, a bar, the elements as float64, a bar, and the counts. Ranges whose edges aren't all different are left out: NumPy 2 refuses them.
"""
import random
import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")
r = random.Random(int(sys.argv[1]))


def elements():
    n, k = r.randrange(2, 12), r.random()
    if k < 0.3:
        step = r.choice([1, 0.1, 0.01, 1 / 3, 7, 1e300, 1e-300, 2.0**-1000])
        return [float(r.randrange(-5, 60) * step) for _ in range(n)]
    if k < 0.5:
        at = r.choice([0, 2**53, 2**63, -(2**63), 10**15, 255])
        return [float(at + r.randrange(0, r.choice([50, 10**6]))) for _ in range(n)]
    if k < 0.7:
        return np.array([r.gauss(0, 1) for _ in range(n)], r.choice([np.float16, np.float32, np.float64])).astype(np.float64).tolist()
    low, bins = r.choice([0, 1, 0.9, -3, 1e16]), r.randrange(1, 60)
    edges = np.linspace(low, low + r.choice([1, 0.2, 50, 1e3]), bins + 1)
    at = r.choices(edges.tolist(), k=n)
    return [float(np.nextafter(e, r.choice([-np.inf, e, np.inf]))) for e in at] + [float(edges[0]), float(edges[-1])]


count = int(sys.argv[2])
while count:
    x = elements()
    bins = r.choice([1, 2, 3, 4, 7, 10, 20, 50, 50, 100, r.randrange(1, 300)])
    low, high = (min(x), max(x)) if r.random() < 0.7 else sorted(r.sample(x, 2))
    if low == high or len(set(np.linspace(low, high, bins + 1).tolist())) <= bins:
        continue
    if r.random() < 0.2:
        x += [float("nan")]
    try:
        counts, _ = np.histogram(np.array(x), bins, (low, high))
    except IndexError:  # bins over a subnormal range are infinite there
        continue
    print(bins, low.hex(), high.hex(), "|", *[v.hex() for v in x], "|", *counts.tolist())
    count -= 1
