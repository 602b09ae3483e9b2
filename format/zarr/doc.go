// Package zarr reads and writes Zarr: arrays cut into chunks. Each chunk is a value of a
// store, such as a file of a folder or an object.
//
// Open reads the metadata of an array. Slice reads only the chunks that hold a part of it,
// several at once; of shards, it reads the index and the inner chunks of the part.
// Write and WriteChunk replace chunks one by one: a reader sees the old chunk or the new
// one, also after a crash. Several goroutines may write through one Array; Lock keeps other
// programs from an array. Open refuses an array that was created with Metadata.Unfinished
// until Finish, so that nobody takes the fill value for elements that are yet to be written.
//
// Stores are Dir, Memory, Zip, HTTP and References, and package s3 has buckets. Another store has to implement the six methods of Store.
//
// # Values that are replaced meanwhile
//
// A chunk that isn't a shard is one request, or a file that is opened once. Of a shard, a store that is no Opener gets several requests: one for
// the index, and others for inner chunks. If the store is a Versioner, as HTTP and the stores of packages s3 and blobstore are, all are of one
// version of the shard. If the shard is replaced meanwhile, it is read again. After four times the error wraps ErrChanged.
//
// If a store has no versions, or weak ones, the index is read again after the inner chunks, and a change of it counts. Then a shard that is replaced by
// one with an equal index isn't noticed: each of its inner chunks is the old one or the new one. Nor is one that is replaced and put back.
//
// Nothing ties one chunk to another, or chunks to the metadata. So a program must not replace an array by one with other metadata at the same
// path while others read it. In version 2 the attributes are a value of their own, too. The state that Array.State returns is that of the store when it is called.
//
// # Versions
//
// Version 3: regular grids, the codecs transpose, bytes, gzip, zstd, crc32c and sharding_indexed, for reading also
// vlen-utf8 and blosc. Further the chunk keys default and v2, names of axes, attributes, groups, and consolidated metadata
// as zarr-python 3 writes it. Of numcodecs it reads shuffle, zlib, gzip, bz2, lzma, zstd, lz4, blosc, crc32, crc32c and
// adler32 behind the codec bytes. Before it, it reads delta, fixedscaleoffset, astype, packbits, bitround and quantize. A list has up to 16 codecs, of which one makes bytes of
// elements: bytes, vlen-utf8 or sharding_indexed. Codecs may stand before and behind sharding_indexed. Shards may be nested four deep.
// Parts of a shard are read if sharding_indexed is the only codec; otherwise a shard is read whole. The index of a shard has any
// codecs of a fixed size, in either byte order, with or without a checksum. A field of the metadata
// that isn't known is an error unless it says "must_understand": false; likewise a codec and
// a storage transformer. A key of a codec that isn't known is always an error. Beyond its specification, version 3
// is read with the codec name endian, the orders C and F of transpose, gzip and zstd without a level, and null for dimension_names.
//
// Version 2: C and F order; the compressors zlib, gzip, bz2, lzma, zstd, lz4 and blosc, the
// filters shuffle, delta, fixedscaleoffset, astype, packbits, bitround, quantize, crc32, crc32c and
// adler32. Numbers have the bits of numcodecs; one that the element type doesn't have is an error. It is written with gzip, zlib or zstd. Blosc holds blosclz, lz4, snappy, zlib and zstd. Its fill values may be null,
// 0 and 1 for bool, and integers as 1.0.
//
// NaN, Infinity and -Infinity may stand without quotes in attributes and as fill values, as Python's json writes them.
// They aren't written so: to write attributes that hold them is an error.
//
// # Element types
//
//	bool, int8 … int64, uint8 … uint64, float16, float32, float64, complex64, complex128
//	version 3 also bfloat16, float8_e4m3fn, float8_e5m2, float8_e4m3fnuz, float8_e5m2fnuz, float8_e8m0fnu
//
// Metadata.Type names other types. datetime64 and timedelta64 are int64. Fixed-length strings and raw bytes have one more axis. Fields of
// structs are arrays of their own, opened by Array.Field or the path x.field. Array.Strings reads strings of variable length, outside of shards:
// the type string of version 3, and objects of version 2, both by vlen-utf8. Other objects are refused by name.
//
// CF decodes packed numbers and times by the attributes of the CF conventions.
//
// # Untrusted stores
//
// Functions return an error with the key, and never panic. Sizes in metadata allocate no memory
// by themselves: the memory of a chunk grows with its bytes, up to the size of its shape, which
// MaxBytes bounds. A value larger than any chunk of its shape isn't read, nor decompressed
// from a zip file or a server's answer. A document of metadata has at most 16 MiB and 2^18 values; in consolidated
// metadata, each member. A server that is too slow is an error; see HTTP.
//
// The formats: zarr-specs.readthedocs.io, versions 3.1 and 2; numcodecs.readthedocs.io
// for filters.
package zarr
