package zarr

import "strings"

// codecs are the codecs that are known, each with the keys of its configuration.
var codecs = map[string][]string{
	"transpose": {"order"}, "bytes": {"endian"}, "endian": {"endian"}, "gzip": {"level"}, "zlib": {"level"}, "zstd": {"level", "checksum"},
	"crc32c": {}, "blosc": {"typesize", "cname", "clevel", "shuffle", "blocksize"},
	"vlen-utf8": {}, "sharding_indexed": {"chunk_shape", "codecs", "index_codecs", "index_location"},

	numcodecs + "gzip": {"level"}, numcodecs + "zlib": {"level"}, numcodecs + "bz2": {"level"}, numcodecs + "zstd": {"level", "checksum"},
	numcodecs + "lz4": {"acceleration"}, numcodecs + "blosc": {"typesize", "cname", "clevel", "shuffle", "blocksize"},
	numcodecs + "crc32": {"location"}, numcodecs + "crc32c": {"location"}, numcodecs + "adler32": {"location"},
	numcodecs + "shuffle": {"elementsize"}, numcodecs + "delta": {"dtype", "astype"}, numcodecs + "bitround": {"keepbits"},
	numcodecs + "fixedscaleoffset": {"scale", "offset", "dtype", "astype"}, numcodecs + "quantize": {"digits", "dtype", "astype"},
	numcodecs + "astype": {"encode_dtype", "decode_dtype"}, numcodecs + "packbits": {}, numcodecs + "lzma": {"format", "check", "preset", "filters"},
}

// maxCodecs is the most codecs of one list.
const maxCodecs = 16

// Kinds of codecs, in the order of a list.
const (
	ofElements = iota // elements become elements
	toBytes           // elements become bytes
	ofBytes           // bytes become bytes
)

func (c Codec) kind() int {
	switch c.Name {
	case "transpose", numcodecs + "delta", numcodecs + "fixedscaleoffset", numcodecs + "bitround", numcodecs + "quantize", numcodecs + "astype", numcodecs + "packbits":
		return ofElements
	case "bytes", "endian", "vlen-utf8", "sharding_indexed":
		return toBytes
	}
	return ofBytes
}

func noZlib() error { return fail(ErrCodec, "version 3 has no codec zlib; numcodecs.zlib is one") }

// chained checks the order of a list of version 3: codecs from array to array, one from array to bytes, then codecs from bytes
// to bytes.
func chained(list []Codec) error {
	there := 0
	for i, c := range list {
		switch {
		case codecs[c.Name] == nil:
			return unknown(c.Name)
		case c.Name == "zlib":
			return noZlib()
		}
		k := c.kind()
		if i > 0 && k < list[i-1].kind() {
			return fail(ErrFormat, "the codec %.100q stands behind %.100q, which makes bytes", c.Name, list[i-1].Name)
		}
		if k == toBytes {
			there++
		}
	}
	if there != 1 {
		return fail(ErrFormat, "%d codecs of the list make bytes of elements, as bytes, vlen-utf8 and sharding_indexed do; one must", there)
	}
	return nil
}

func unknown(name string) error {
	if id, ok := strings.CutPrefix(name, numcodecs); ok {
		return fail(ErrCodec, "the filter or compressor %.100q isn't known here; zlib, gzip, bz2, lzma, zstd, lz4, blosc, shuffle, delta, fixedscaleoffset, astype, packbits, bitround, quantize, crc32, crc32c and adler32 are", id)
	}
	return fail(ErrCodec, "the codec %.100q isn't known here; transpose, bytes, vlen-utf8, gzip, zstd, crc32c, blosc and sharding_indexed are", name)
}
