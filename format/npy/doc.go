// Package npy reads and writes NumPy's files: npy, one array, and npz, a zip
// archive of them.
//
// Read, Open and ReadHeader take versions 1, 2 and 3, both byte orders and both
// memory orders. An array in Fortran order becomes a tensor with a column-major
// layout; its elements stay in the file's order.
// Write makes version 1, little-endian, row-major or with WriteOptions.Fortran column-major.
//
// # Element types
//
//	bool                      |b1
//	int8 … int64              |i1 <i2 <i4 <i8
//	uint8 … uint64            |u1 <u2 <u4 <u8
//	float16, float32, float64 <f2 <f4 <f8
//	complex64, complex128     <c8 <c16
//	bfloat16                  <V2
//	float8_e5m2, float8_e4m3, float8_e5m2fnuz, float8_e4m3fnuz  |V1
//	float8_e8m0, float4_e2m1, int2, int4, uint2, uint4          |V1, a byte each
//	fp8x23, fp16x16, fp32x32  [('fp8x23', '<i4')], with <i4 and <i8 for the others
//	fp64x64                   [('fp64x64', [('hi', '<i8'), ('lo', '<u8')])]
//
// The same with > for big-endian, or by name (float32), is read too; a
// descriptor without a byte order is little-endian on every platform. A bool
// byte that isn't 0 is true.
//
// NumPy has no names for bfloat16 and the float8 types. The package ml_dtypes
// saves bfloat16 as <V2 and float8_e4m3fn as <V1: raw bytes of that size. NumPy
// loads them, and .view(ml_dtypes.bfloat16) turns them into numbers. ml_dtypes
// saves float8_e5m2 as <f1, which NumPy can't load, so Write doesn't use it. Read
// takes <V2 as bfloat16, since NumPy marks its own raw bytes with |, and <f1 as
// float8_e5m2. |V2 and every V1 may be several types: they are an error unless
// Options.As names the type.
//
// Fixed point is a structured type of one field, which has the name of the format and
// holds the integers: a['fp16x16'] / 2**16 in NumPy. The two halves of fp64x64 are hi·2^64 + lo.
//
// Strings (S, U), Python objects (O, a pickle that can run code), dates (M, m),
// long doubles and other structured types have no counterpart and are refused by name.
//
// # Untrusted files
//
// Every function that reads returns an error, with the file and the byte if
// there are any, and never panics. A header alone allocates no memory: Read
// grows its buffer with the bytes that have arrived, or knows beforehand that
// the source holds enough. MaxBytes bounds an npz entry.
//
// The format: numpy.org/doc/stable/reference/generated/numpy.lib.format.html.
//
// An error of a file or a call is a [format.Error]. It wraps one of the reasons of package format, as format.ErrShort.
package npy
