"""Checks the digests of a receipt with Python alone.

    python3 verify.py RECEIPT.json [FILE.npz | FILE.npy | NAME=FILE.npy]...

It computes the roots again, and the digest of each input, weight, result and output that the files have, by name. It exits
with 1 at the first difference. docs/receipts.md says what a digest covers.
"""

import ast, hashlib, json, struct, sys, zipfile

NAMES = {"b1": "bool", "f2": "float16", "f4": "float32", "f8": "float64", "c8": "complex64", "c16": "complex128"}
NAMES |= {f"{kind}{size}": f"{name}{8 * size}" for kind, name in (("i", "int"), ("u", "uint")) for size in (1, 2, 4, 8)}
MAGIC = b"ASHLAR\0\1"


def text(s):
    b = s.encode()
    return struct.pack("<Q", len(b)) + b


def sha(b):
    return hashlib.sha256(b).digest()


def array(b):
    """Returns the type, the shape and the digest of an npy file; None for a type that NumPy alone knows."""
    if b[:6] != b"\x93NUMPY":
        sys.exit("no npy file")
    wide = b[6] > 1
    size, = struct.unpack_from("<I" if wide else "<H", b, 8)
    at = (12 if wide else 10) + size
    head = ast.literal_eval(b[at - size : at].decode())
    order, kind, shape = head["descr"][0], head["descr"][1:], head["shape"]
    if head["fortran_order"] and len(shape) > 1 or order == ">":
        return None
    extents = struct.pack(f"<{len(shape)}Q", *shape)
    if kind[0] == "U":
        unit = 4 * int(kind[1:])
        cells = [b[i : i + unit].decode("utf-32-le").rstrip("\0") for i in range(at, len(b), unit)] if unit else []
        body = text("value") + text("string") + struct.pack("<Q", len(shape)) + extents + b"".join(map(text, cells))
        return "string", shape, sha(MAGIC + body)
    if kind not in NAMES:
        return None
    name = NAMES[kind].encode()
    return NAMES[kind], shape, sha(MAGIC + bytes([len(name)]) + name + struct.pack("<I", len(shape)) + extents + b[at:])


def canonical(value):
    """Returns the JSON of RFC 8785; receipts have texts, whole numbers, lists and objects."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def tree(leaves):
    """Returns the root of a Merkle tree, RFC 6962, section 2.1."""
    if not leaves:
        return sha(b"")
    if len(leaves) == 1:
        return sha(b"\0" + leaves[0])
    half = 1 << (len(leaves) - 1).bit_length() - 1
    return sha(b"\1" + tree(leaves[:half]) + tree(leaves[half:]))


def same(what, want, have):
    if want != have:
        sys.exit(f"{what} differs: {want} in the receipt, {have} here")


def main(receipt, *files):
    file = open(receipt, "rb").read().removesuffix(b"\n")
    r = json.loads(file)
    if file != canonical(r):
        sys.exit("the receipt isn't canonical JSON")
    body = {k: v for k, v in r.items() if k not in ("nodes", "root")}
    same("the root", r["root"], sha(canonical(body)).hex())
    nodes = r.get("nodes", {"list": []})
    if nodes["list"]:
        same("the root of the nodes", nodes["root"], tree([canonical(n) for n in nodes["list"]]).hex())
    arrays = {}
    for f in files:
        if f.endswith(".npz"):
            with zipfile.ZipFile(f) as z:
                arrays |= {n.removesuffix(".npy"): array(z.read(n)) for n in z.namelist()}
        else:
            name, _, path = f.rpartition("=")
            arrays[name or r["inputs"][0]["name"]] = array(open(path, "rb").read())
    found = 0
    for item in r["inputs"] + r["program"]["weights"] + r["outputs"] + [i for n in nodes["list"] for i in n["results"]]:
        if have := arrays.get(item["name"]):
            kind, shape, digest = have
            same("the type of " + item["name"], item["type"], f"{kind}[{','.join(map(str, shape))}]")
            same(item["name"], item["digest"], digest.hex())
            found += 1
    print(f"equal: the roots, and {found} digests of values")


main(*sys.argv[1:])
