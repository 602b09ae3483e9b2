#!/usr/bin/python3
"""Trains the digits network of testdata/digits.onnx in plain NumPy.

    OPENBLAS_NUM_THREADS=1 /usr/bin/python3 docs/digits/train.py [weights.npz]

It reads the 1797 handwritten digits that Debian's python3-sklearn carries,
splits them by SEED, trains on one part, picks the epoch on the second, and
counts the correct answers on the third once, at the end. It writes the weights
(default weights.npz) and, into testdata/, the test part (digits-test.npy,
digits-test-labels.npy), one picture per digit (zero.png ... nine.png) and
digits.txt. README.md beside this file says what follows from there.
"""
import os
import struct
import sys
import time
import zlib

import numpy as np
from sklearn.datasets import load_digits

SEED = 1998  # of the split, the first weights, the batches and the distortions
TEST, VALID = 540, 200  # images; the other 1057 are the training part
EPOCHS, BATCH, RATE = 300, 32, 2e-3
CONV1, CONV2, HIDDEN = 16, 32, 48
NAMES = "zero one two three four five six seven eight nine".split()
TESTDATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "testdata")


def load():
    """Returns images [1797,8,8] uint8 in 0..255 and labels [1797] uint8.

    The set counts ink from 0 to 16. The network is trained on what a picture
    file of these digits holds, so the counts become bytes first.
    """
    d = load_digits()
    return np.rint(d.images * 255 / 16).astype(np.uint8), d.target.astype(np.uint8)


def split(images, labels):
    """Returns the (images, labels) of the test, validation and training parts."""
    order = np.random.RandomState(SEED).permutation(len(images))
    test, valid, train = np.split(order, [TEST, TEST + VALID])
    return [(images[i], labels[i]) for i in (test, valid, train)]


def scale(images):
    """Returns uint8 [N,8,8] as the network's input, float32 [N,1,8,8] in 0..1."""
    return images[:, None].astype(np.float32) / np.float32(255)


def distort(x, rng):
    """Returns [N,1,8,8] with each image turned, sheared, resized, shifted and dimmed a little.

    Pictures that people draw have wider margins and other pens than this set,
    so half of the images may shrink to two thirds; the others only shift.
    """
    one = (len(x), 1, 1)  # a number for each image
    wild = rng.rand(*one) < 0.5
    turn = np.where(wild, rng.uniform(-0.25, 0.25, one), 0)
    shear = np.where(wild, rng.uniform(-0.25, 0.25, one), 0)
    size = np.where(wild, rng.uniform(0.65, 1.1, one), 1)
    gain = np.where(wild, rng.uniform(0.7, 1.3, one), 1)
    shift = rng.uniform(-1, 1, (2,) + one)
    shift = np.where(wild, shift, np.rint(0.7 * shift))
    row, col = (np.mgrid[0:8, 0:8] - 3.5)[:, None] - shift
    c, s = np.cos(turn) / size, np.sin(turn) / size
    sr = c * row - s * col
    sc = s * row + c * col + shear * sr
    # Two columns of nothing around the image, so that every neighbour exists.
    pad = np.pad(x[:, 0], ((0, 0), (2, 2), (2, 2)))
    sr, sc = np.clip(sr + 5.5, 0, 10.999), np.clip(sc + 5.5, 0, 10.999)
    r, q = sr.astype(int), sc.astype(int)
    fr, fc, i = sr - r, sc - q, np.arange(len(x)).reshape(one)
    y = ((pad[i, r, q] * (1 - fc) + pad[i, r, q + 1] * fc) * (1 - fr)
         + (pad[i, r + 1, q] * (1 - fc) + pad[i, r + 1, q + 1] * fc) * fr)
    return np.clip(y * gain, 0, 1).astype(np.float32)[:, None]


def initial(rng):
    """Returns weights drawn from He's normal distribution, biases zero."""
    w = {}
    for name, shape, inputs, outputs in (
            ("conv1", (CONV1, 1, 3, 3), 9, CONV1), ("conv2", (CONV2, CONV1, 3, 3), CONV1 * 9, CONV2),
            ("dense1", (CONV2 * 16, HIDDEN), CONV2 * 16, HIDDEN), ("dense2", (HIDDEN, 10), HIDDEN, 10)):
        w[name + ".weight"] = (rng.randn(*shape) * np.sqrt(2 / inputs)).astype(np.float32)
        w[name + ".bias"] = np.zeros(outputs, np.float32)
    return w


def patches(x):
    """Returns the 3x3 surroundings of every pixel: [N,C,8,8] -> [N*64, C*9]."""
    n, c = x.shape[:2]
    pad = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    win = np.lib.stride_tricks.sliding_window_view(pad, (3, 3), axis=(2, 3))
    return win.transpose(0, 2, 3, 1, 4, 5).reshape(n * 64, c * 9)


def conv(x, weight, bias):
    """Returns the 3x3 convolution with padding 1, and the patches it used."""
    p = patches(x)
    y = p @ weight.reshape(len(weight), -1).T + bias
    return y.reshape(len(x), 8, 8, -1).transpose(0, 3, 1, 2), p


def forward(w, x, keep=None):
    """Returns the logits [N,10] and what backward needs; keep masks the hidden layer."""
    a, p1 = conv(x, w["conv1.weight"], w["conv1.bias"])
    a = np.maximum(a, 0)
    b, p2 = conv(a, w["conv2.weight"], w["conv2.bias"])
    b = np.maximum(b, 0)
    quads = b.reshape(len(x), CONV2, 4, 2, 4, 2).transpose(0, 1, 2, 4, 3, 5).reshape(len(x), -1, 4)
    top, f = quads.argmax(2), quads.max(2)
    h = np.maximum(f @ w["dense1.weight"] + w["dense1.bias"], 0)
    if keep is not None:
        h = h * keep
    return h @ w["dense2.weight"] + w["dense2.bias"], (a, p1, b, p2, top, f, h, keep)


def backward(w, saved, d):
    """Returns the gradient of every weight, given that of the logits."""
    a, p1, b, p2, top, f, h, keep = saved
    n, g = len(d), {}
    g["dense2.weight"], g["dense2.bias"] = h.T @ d, d.sum(0)
    d = d @ w["dense2.weight"].T * (h > 0) * keep
    g["dense1.weight"], g["dense1.bias"] = f.T @ d, d.sum(0)
    d = d @ w["dense1.weight"].T
    d = (np.arange(4) == top[:, :, None]) * d[:, :, None]
    d = d.reshape(n, CONV2, 4, 4, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(b.shape) * (b > 0)
    rows = d.transpose(0, 2, 3, 1).reshape(n * 64, CONV2)
    g["conv2.weight"], g["conv2.bias"] = (rows.T @ p2).reshape(w["conv2.weight"].shape), rows.sum(0)
    # The gradient of a convolution's input is the convolution with the kernel mirrored.
    mirror = w["conv2.weight"][:, :, ::-1, ::-1].transpose(1, 0, 2, 3)
    d = conv(d, mirror, 0)[0] * (a > 0)
    rows = d.transpose(0, 2, 3, 1).reshape(n * 64, CONV1)
    g["conv1.weight"], g["conv1.bias"] = (rows.T @ p1).reshape(w["conv1.weight"].shape), rows.sum(0)
    return g


def score(w, x, labels):
    """Returns the number of correct answers, the mean loss and the smallest lead of a first over a second class."""
    z = forward(w, x)[0]
    e = np.exp(z - z.max(1, keepdims=True))
    loss = -np.log(e[np.arange(len(z)), labels] / e.sum(1)).mean()
    ranked = np.sort(z, 1)
    return int((z.argmax(1) == labels).sum()), float(loss), float((ranked[:, -1] - ranked[:, -2]).min())


def train(train_part, valid_part):
    """Returns the weights (a running mean over steps) of the epoch best on the validation part.

    That part counts as it is and in four distorted copies, the same in every epoch.
    """
    rng = np.random.RandomState(SEED + 1)
    x, labels, hot = scale(train_part[0]), train_part[1], np.eye(10, dtype=np.float32)
    vx, vlabels = scale(valid_part[0]), np.tile(valid_part[1], 5)
    vx = np.concatenate([vx] + [distort(vx, rng) for _ in range(4)])
    w = initial(rng)
    m, v, mean = ({k: np.zeros_like(p) for k, p in w.items()} for _ in range(3))
    best, chosen, step, steps = (-1, 0.0), None, 0, EPOCHS * (len(x) // BATCH)
    for epoch in range(1, EPOCHS + 1):
        order = rng.permutation(len(x))
        for start in range(0, len(x) - BATCH + 1, BATCH):
            i = order[start:start + BATCH]
            keep = ((rng.rand(BATCH, HIDDEN) < 0.75) / 0.75).astype(np.float32)
            z, saved = forward(w, distort(x[i], rng), keep)
            e = np.exp(z - z.max(1, keepdims=True))
            g = backward(w, saved, (e / e.sum(1, keepdims=True) - hot[labels[i]]) / BATCH)
            step += 1
            rate = RATE * 0.5 * (1 + np.cos(np.pi * step / steps))
            for k in w:  # Adam, with the usual constants
                m[k] += 0.1 * (g[k] - m[k])
                v[k] += 0.001 * (g[k] * g[k] - v[k])
                w[k] -= np.float32(rate / (1 - 0.9 ** step)) * m[k] / (np.sqrt(v[k] / (1 - 0.999 ** step)) + 1e-8)
                mean[k] += max(0.005, 1 / step) * (w[k] - mean[k])
        correct, loss, _ = score(mean, vx, vlabels)
        if (correct, -loss) > best:
            best, chosen = (correct, -loss), (epoch, {k: p.astype(np.float32) for k, p in mean.items()})
        if epoch % 10 == 0:
            print(f"epoch {epoch}: validation {correct}/{len(vx)}, loss {loss:.4f}")
    print(f"kept epoch {chosen[0]}: validation {best[0]}/{len(vx)}, loss {-best[1]:.4f}")
    return chosen[1]


def write_png(path, image):
    """Writes uint8 [H,W] as an 8-bit grey PNG."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + row.tobytes() for row in image)
    head = struct.pack(">IIBBBBB", image.shape[1], image.shape[0], 8, 0, 0, 0, 0)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def main():
    began = time.time()
    test, valid, train_part = split(*load())
    weights = train(train_part, valid)
    correct, _, lead = score(weights, scale(test[0]), test[1])
    print(f"test: {correct} of {TEST} correct ({100 * correct / TEST:.2f} %) in float32; smallest lead {lead:.2g}; {time.time() - began:.0f} s")
    out = sys.argv[1] if len(sys.argv) > 1 else "weights.npz"
    np.savez(out, correct=np.int64(correct), images=np.int64(TEST), **weights)
    np.save(os.path.join(TESTDATA, "digits-test.npy"), test[0])
    np.save(os.path.join(TESTDATA, "digits-test-labels.npy"), test[1])
    for digit, name in enumerate(NAMES):
        first = test[0][int(np.argmax(test[1] == digit))]
        write_png(os.path.join(TESTDATA, name + ".png"), np.kron(first, np.ones((8, 8), np.uint8)))
    with open(os.path.join(TESTDATA, "digits.txt"), "w") as f:
        f.write("".join(name + "\n" for name in NAMES))


if __name__ == "__main__":
    main()
