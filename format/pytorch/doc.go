// Package pytorch reads the files that torch.save and torch.jit.save write: .pt, .pth, .ckpt and pytorch_model.bin.
//
// A file is a pickle, which is a program for a machine with a stack, and the bytes of storages. Open reads the pickle with a
// machine of its own, which knows the opcodes of plain data and of calls, and calls nothing. A function by which PyTorch
// rebuilds a tensor gives the description of the tensor. Any other call gives an object with its name and no more. So a file
// can do nothing but describe tensors. Of the storages Open reads nothing. It checks that each tensor lies in its storage and
// each storage in the file.
//
// Both forms are read: the zip file of PyTorch since 1.6, also of TorchScript, and the legacy one, both of pickle protocols 2 to
// 5. Storages of the zip file are little-endian or big-endian, as its entry byteorder says. The tar file of PyTorch before
// 0.1.10 isn't read. Nothing is written.
//
// # Names
//
// A tensor has the keys on the way to it as its name, with dots between: "state_dict.conv1.weight", "optimizer.state.0.exp_avg".
// Places in lists count from 0. Where an object of a class stands in the way, as a whole module of
// torch.save(model), its attributes are the keys, and _parameters, _buffers and _modules are left out of names, as in a
// state_dict. A tensor alone is "array".
//
// Plain data beside tensors is in Metadata, as JSON: "epoch": "3". Of objects it has the class, as they aren't read. A file
// without any tensors whose value is an object is refused.
//
// # Element types
//
// Types of PyTorch that have the bytes of ours are read:
//
//	bool, uint8 to uint64, int8 to int64
//	float16, bfloat16, float32, float64, complex64, complex128
//	float8_e4m3fn, float8_e5m2, float8_e4m3fnuz, float8_e5m2fnuz, float8_e8m0fnu
//
// Sparse, nested and meta tensors are listed and refused: their error wraps format.ErrType. So are complex32, quantized elements, and
// tensors whose conj or neg bit is set.
//
// Tensors keep their strides, and two tensors of one storage share its bytes. The elements of an expanded tensor stand for
// more than the file holds: one of more than 48 MiB and 8 times the file is refused with format.ErrLimit.
//
// # Sources
//
// The opcodes are from Lib/pickletools.py of CPython. The rest is from github.com/pytorch/pytorch:
//
//	torch/serialization.py                  both forms, ids of storages
//	torch/_utils.py                         functions that rebuild tensors
//	torch/_weights_only_unpickler.py        classes of plain data
//	torch/csrc/serialization.cpp            bytes of legacy storages
//	caffe2/serialize/inline_container.cc    entries of the zip file
//
// An error of a file or a call is a [format.Error]. It wraps one of the reasons of package format, as format.ErrShort.
package pytorch
