package zarr

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/klauspost/compress/snappy"

	"github.com/ashlar-go/ashlar/format"
)

var errBlosc = errors.New("the frame is damaged")

// unblosc reads a frame of Blosc 1: a header of 16 bytes, the offset of each block, and
// the blocks. A block has one part, or one part for each byte of an element.
// Source: c-blosc, README_CHUNK_FORMAT.rst; blosc.c decides which blocks are split.
func unblosc(dst, b []byte, most int) ([]byte, error) {
	const header = 16
	if len(b) < header {
		return nil, errBlosc
	}
	flags, size := b[2], int(b[3])
	n, block, stored := binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:])
	switch {
	case uint64(n) > uint64(most):
		return nil, fail(format.ErrLimit, "blosc: a frame of %d bytes where the chunk has %d", n, most)
	case uint64(stored) != uint64(len(b)), size == 0:
		return nil, errBlosc
	case n == 0:
		return nil, nil
	case flags&2 != 0: // copied
		if int(n) != len(b)-header {
			return nil, errBlosc
		}
		return bytes.Clone(b[header:]), nil
	case block == 0, block > n:
		return nil, errBlosc
	}
	unpack, ok := bloscFormats[flags>>5]
	if !ok {
		return nil, fail(ErrCodec, "blosc: the compressor %d isn't known; blosclz, lz4, snappy, zlib and zstd are", flags>>5)
	}
	blocks := (int(n) + int(block) - 1) / int(block)
	if blocks > (len(b)-header)/4 {
		return nil, errBlosc
	}
	if int(n)/1100 > len(b) && int(n) > 64<<20 {
		return nil, fail(format.ErrLimit, "blosc: %d bytes in a frame of %d", n, len(b))
	}
	out := sized(dst, int(n))
	var scratch []byte
	for k := range blocks {
		dst := out[k*int(block) : min((k+1)*int(block), int(n))]
		at := int(binary.LittleEndian.Uint32(b[header+4*k:]))
		parts := 1
		if flags&0x10 == 0 && len(dst) == int(block) && size <= 16 && int(block)/size >= 128 {
			parts = size
		}
		to := dst
		shuffled := flags&5 != 0 && size > 1 || flags&4 != 0
		if shuffled {
			if scratch == nil {
				scratch = make([]byte, block)
			}
			to = scratch[:len(dst)]
		}
		if len(dst)%parts != 0 {
			return nil, errBlosc
		}
		each := len(dst) / parts
		for j := range parts {
			if at < header || at > len(b)-4 {
				return nil, errBlosc
			}
			m := int(int32(binary.LittleEndian.Uint32(b[at:])))
			at += 4
			if m < 0 || m > len(b)-at {
				return nil, errBlosc
			}
			piece := to[j*each : (j+1)*each]
			if m == each {
				copy(piece, b[at:at+m])
			} else if err := unpack(piece, b[at:at+m]); err != nil {
				return nil, err
			}
			at += m
		}
		switch {
		case !shuffled:
		case flags&4 != 0:
			unbitshuffle(dst, to, size)
		default:
			unshuffle(dst, to, size)
		}
	}
	return out, nil
}

// sized returns n bytes of dst, or new ones if dst has no room.
func sized(dst []byte, n int) []byte {
	if cap(dst) < n {
		return make([]byte, n)
	}
	return dst[:n]
}

// bloscFormats are the decompressors by the number of their format. They fill dst from the compressed bytes src.
var bloscFormats = map[byte]func(dst, src []byte) error{
	0: unblosclz,
	1: unlz4,
	2: func(dst, src []byte) error {
		if n, err := snappy.DecodedLen(src); err != nil || n != len(dst) {
			return errBlosc
		}
		out, err := snappy.Decode(dst, src)
		if err == nil && len(out) != len(dst) {
			err = errBlosc
		}
		return err
	},
	3: func(dst, src []byte) error { return into(dst, src, unzlib) },
	4: func(dst, src []byte) error { return into(dst, src, unzstd) },
}

func into(dst, src []byte, f func(dst, b []byte, most int) ([]byte, error)) error {
	out, err := f(dst[:0:len(dst)], src, len(dst))
	if err == nil && len(out) != len(dst) {
		err = errBlosc
	}
	copy(dst, out)
	return err
}

// unshuffle puts the bytes of elements together: src has all first bytes, then all
// second ones. Bytes at the end that make no whole element are copied.
func unshuffle(dst, src []byte, size int) {
	n := len(src) / size
	for j := range size {
		for i, v := range src[j*n : (j+1)*n] {
			dst[i*size+j] = v
		}
	}
	copy(dst[n*size:], src[n*size:])
}

// unbitshuffle puts the bits of elements together: src has bit 0 of all elements, then
// bit 1. Blosc doesn't shuffle a block whose number of elements isn't a multiple of 8.
func unbitshuffle(dst, src []byte, size int) {
	n := len(src) / size
	if len(src)%size != 0 || n%8 != 0 {
		copy(dst, src)
		return
	}
	clear(dst)
	row := n / 8
	for j := range size {
		for k := range 8 {
			for i, v := range src[(8*j+k)*row : (8*j+k+1)*row] {
				for e := 0; v != 0; e, v = e+1, v>>1 {
					dst[(8*i+e)*size+j] |= v & 1 << k
				}
			}
		}
	}
}

// unlz4 fills dst from an LZ4 block. Source: lz4, doc/lz4_Block_format.md.
func unlz4(dst, src []byte) error {
	at, n := 0, 0
	length := func(v int) (int, bool) {
		if v < 15 {
			return v, true
		}
		for at < len(src) {
			c := src[at]
			at++
			if v += int(c); c != 255 {
				return v, true
			}
		}
		return 0, false
	}
	for at < len(src) {
		token := int(src[at])
		at++
		lit, ok := length(token >> 4)
		if !ok || lit > len(src)-at || lit > len(dst)-n {
			return errBlosc
		}
		n += copy(dst[n:], src[at:at+lit])
		at += lit
		if at == len(src) {
			break
		}
		if at+2 > len(src) {
			return errBlosc
		}
		back := int(binary.LittleEndian.Uint16(src[at:]))
		at += 2
		m, ok := length(token & 15)
		m += 4
		if !ok || back == 0 || back > n || m > len(dst)-n {
			return errBlosc
		}
		n = repeat(dst, n, back, m)
	}
	if n != len(dst) {
		return errBlosc
	}
	return nil
}

// repeat copies m bytes to dst[n:] from the bytes that begin at n-back. The two may overlap: then the bytes repeat.
func repeat(dst []byte, n, back, m int) int {
	for end := n + m; n < end; {
		n += copy(dst[n:end], dst[n-back:n])
	}
	return n
}

// unblosclz fills dst from bytes that Blosc's own compressor made. Source: c-blosc, blosclz.c.
func unblosclz(dst, src []byte) error {
	const far = 8191
	at, n := 0, 0
	next := func() int {
		if at >= len(src) {
			at = len(src) + 1
			return 0
		}
		at++
		return int(src[at-1])
	}
	for first := true; at < len(src); first = false {
		c := next()
		if first {
			c &= 31
		}
		if c < 32 {
			c++
			if c > len(src)-at || c > len(dst)-n {
				return errBlosc
			}
			n += copy(dst[n:], src[at:at+c])
			at += c
			continue
		}
		m, back := c>>5-1, c&31<<8
		if m == 6 {
			for {
				c := next()
				if m += c; c != 255 {
					break
				}
			}
		}
		low := next()
		back += low
		if low == 255 && back == 31<<8+255 {
			back = next() << 8
			back += next() + far
		}
		m += 3
		back++
		if at > len(src) || back > n || m > len(dst)-n {
			return errBlosc
		}
		n = repeat(dst, n, back, m)
	}
	if n != len(dst) {
		return errBlosc
	}
	return nil
}
