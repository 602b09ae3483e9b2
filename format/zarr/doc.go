// Package zarr reads and writes Zarr: arrays cut into chunks, each of which is a value
// of a store, a file of a folder or an object. What is read is what is asked for.
//
// Open reads the metadata of an array; Slice reads the chunks that hold a part of it,
// several at once, of shards only their index and the inner chunks that are needed.
// Write and WriteChunk replace chunks one by one: who reads meanwhile, or after a crash,
// finds the old chunk or the new one. Through one Array several may write at once; Lock
// keeps other programs from an array.
//
// Stores are Dir, Memory, Zip and HTTP; a Store of six methods is all that another one
// takes.
//
// # Versions
//
// Version 3: regular grids, the codecs transpose, bytes, gzip, zstd, crc32c and
// sharding_indexed, blosc for reading, the chunk keys default and v2, names of axes,
// attributes, groups, and consolidated metadata as zarr-python 3 writes it. A field of the metadata
// that isn't known is an error unless it says "must_understand": false; likewise a codec and
// a storage transformer.
//
// Version 2: C and F order; the compressors zlib, gzip, bz2, zstd, lz4 and blosc, the
// filters shuffle, delta, fixedscaleoffset, bitround, quantize, crc32, crc32c and
// adler32. It is written with gzip, zlib or zstd. Blosc holds blosclz, lz4, snappy, zlib and zstd.
//
// # Element types
//
//	bool, int8 … int64, uint8 … uint64, float16, float32, float64, complex64, complex128
//	version 3 also bfloat16, float8_e4m3fn, float8_e5m2, float8_e4m3fnuz, float8_e5m2fnuz, float8_e8m0fnu
//
// Strings, dates, raw bytes and structured types are refused by name.
//
// # Untrusted stores
//
// Every function returns an error, with the key, and never panics. What metadata says
// takes no memory: a chunk has as much as its bytes give, at most what its shape allows,
// and MaxBytes bounds that. A value larger than any chunk of its shape isn't read.
//
// The formats: zarr-specs.readthedocs.io, versions 3.1 and 2; numcodecs.readthedocs.io
// for filters.
package zarr
