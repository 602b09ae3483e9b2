# Writes files of PyTorch to a folder, and beside each a .json of what is in it: the type, the shape and the bytes of each tensor.
# python3 cross.py DIR; made for PyTorch 1.13, as Debian 12 has it.
import argparse, collections, json, sys, torch

out = sys.argv[1]
torch.manual_seed(0)


def tensors(v, path=""):
    at = lambda k: f"{path}.{k}" if path else str(k)
    if isinstance(v, torch.Tensor):
        yield path or "array", v
    elif isinstance(v, dict):
        for k, x in v.items():
            yield from tensors(x, at(k))
    elif isinstance(v, (list, tuple)):
        for i, x in enumerate(v):
            yield from tensors(x, at(i))


def save(name, v, **kw):
    torch.save(v, f"{out}/{name}", **kw)
    describe(name, v)


def describe(name, v):
    found = {}
    for key, t in tensors(v):
        t = t.detach().resolve_conj().reshape(-1).contiguous().clone()
        found[key] = [str(t.dtype)[6:], list(dict(tensors(v))[key].shape), t.view(torch.uint8).tolist()]
    json.dump(found, open(f"{out}/{name}.json", "w"))


base = torch.arange(12.0).reshape(3, 4)
state = collections.OrderedDict(w=base, wt=base.t(), row=base[1], col=base[:, 2], exp=torch.ones(1).expand(4, 3),
                                scalar=torch.tensor(7.5), empty=torch.zeros(0, 3), p=torch.nn.Parameter(torch.tensor([1.0, 2.0])))
for d in "float64 float16 bfloat16 int64 int32 int16 int8 uint8 bool complex64 complex128".split():
    state[d] = torch.tensor([0, 1, 2, 0, 3]).to(getattr(torch, d))
check = dict(state_dict=state, epoch=3, lr=1e-3, name="x", args=argparse.Namespace(a=1), sched=[1, 2, {"k": None}],
             size=torch.Size([1, 2]), dt=torch.float32, big=2**70, raw=b"\x00\xff", tup=(1.5, float("inf")))
for protocol in 2, 3, 4, 5:
    for zip in True, False:
        save(f"{'zip' if zip else 'legacy'}{protocol}.pt", check, pickle_protocol=protocol, _use_new_zipfile_serialization=zip)
save("bare.pt", base)
save("list.pt", [base, {"t": base.t()}, (base[0],)])
net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
best = torch.optim.Adam(net.parameters())
net(torch.ones(4, 2)).sum().backward()
best.step()
save("opt.ckpt", dict(m=net.state_dict(), o=best.state_dict()))
save("pytorch_model.bin", net.state_dict())
for name, zip in ("module.pt", True), ("module-legacy.pt", False):
    torch.save(net, f"{out}/{name}", _use_new_zipfile_serialization=zip)
    describe(name, net.state_dict())
torch.jit.script(net).save(f"{out}/script.pt")
describe("script.pt", net.state_dict())
