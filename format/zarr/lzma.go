package zarr

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"hash/crc64"
	"io"
	"math"

	"github.com/ulikunitz/xz/lzma"

	"github.com/ashlar-go/ashlar/format"
)

// Formats and filters of liblzma, as Python's module lzma numbers them.
const (
	lzmaXZ    = 1
	lzmaAlone = 2
	lzmaRaw   = 3

	filterDelta = 0x03
	filterLZMA2 = 0x21
	filterLZMA1 = 0x4000000000000001
)

var errXZ = errors.New("the xz file is damaged")

// lzmaOf makes the compressor of numcodecs that calls Python's module lzma. The xz format: tukaani.org/xz/xz-file-format.txt, version 1.2.1.
func lzmaOf(c Codec) (s stage, err error) {
	s = stage{name: "lzma", grow: slack, varies: true}
	form, err := c.int("format", lzmaXZ, lzmaXZ, lzmaRaw)
	if err != nil {
		return s, err
	}
	list, isList := c.Configuration["filters"].([]any)
	if form != lzmaRaw {
		if c.Configuration["filters"] != nil {
			return s, fail(ErrCodec, "lzma: format %d with filters %s, which numcodecs doesn't read either; the raw format 3 has filters", form, shown(c.Configuration["filters"]))
		}
		s.decode = unxz
		if form == lzmaAlone {
			s.decode = func(dst, b []byte, most int) ([]byte, error) { return unlzma(bytes.NewReader(b), dst, len(b), most) }
		}
		return s, nil
	}
	distance, props := 0, byte(0x5d) // lc 3, lp 0, pb 2
	for i, x := range list {
		fields, _ := x.(map[string]any)
		f := Codec{"lzma", fields}
		id, _ := fields["id"].(float64)
		last := i == len(list)-1
		switch {
		case id == filterDelta && !last && i == 0:
			distance, err = f.int("dist", 1, 1, 256)
		case (id == filterLZMA1 || id == filterLZMA2) && last:
			var lc, lp, pb int
			lc, err = f.int("lc", 3, 0, 4)
			if err == nil {
				lp, err = f.int("lp", 0, 0, 4)
			}
			if err == nil {
				pb, err = f.int("pb", 2, 0, 4)
			}
			props = byte((pb*5+lp)*9 + lc)
			s.decode = unlzma2
			if id == filterLZMA1 {
				s.decode = func(dst, b []byte, most int) ([]byte, error) {
					head := append([]byte{props}, bytes.Repeat([]byte{0xff}, 12)...) // of the alone format: any dictionary, no size
					return unlzma(io.MultiReader(bytes.NewReader(head), bytes.NewReader(b)), dst, len(b), most)
				}
			}
		default:
			err = fail(ErrCodec, "lzma: the filter %s; delta, then LZMA1 or LZMA2 are read", shown(x))
		}
		if err != nil {
			return s, err
		}
	}
	if !isList || s.decode == nil {
		return s, fail(ErrFormat, "lzma: the raw format with filters %s; the last one is LZMA1 or LZMA2", shown(c.Configuration["filters"]))
	}
	plain := s.decode
	s.decode = func(dst, b []byte, most int) ([]byte, error) {
		out, err := plain(dst, b, most)
		undelta(out, distance)
		return out, err
	}
	return s, nil
}

// undelta adds to each byte the one that is distance before it, and nothing if distance is 0.
func undelta(b []byte, distance int) {
	for i := distance; distance > 0 && i < len(b); i++ {
		b[i] += b[i-distance]
	}
}

// dictionary returns a size for the dictionary of LZMA1. It needs no more bytes than come out, and LZMA makes less than 8192 of each.
func dictionary(compressed, most int) int {
	return max(min(most, times(8192, compressed), math.MaxInt32), lzma.MinDictCap) // lzma takes more, where an int does
}

// unlzma reads the alone format: 13 bytes that say properties, dictionary and size, then the stream.
func unlzma(r io.Reader, dst []byte, compressed, most int) ([]byte, error) {
	var head [13]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, unexpected(err)
	}
	size := dictionary(compressed, most)
	binary.LittleEndian.PutUint32(head[1:], uint32(min(int64(binary.LittleEndian.Uint32(head[1:])), int64(size))))
	in, err := lzma.ReaderConfig{DictCap: size}.NewReader(io.MultiReader(bytes.NewReader(head[:]), r))
	if err != nil {
		return nil, err
	}
	return inflate(in, dst, compressed, most)
}

// unlzma2 reads a stream of LZMA2 without a container.
func unlzma2(dst, b []byte, most int) ([]byte, error) {
	out, _, err := lzma2(dst, b, most)
	return out, err
}

// lzma2 reads the stream of LZMA2 that b begins with, and returns the number of its bytes, too. It makes the dictionary as large as the bytes that
// come out: an xz file may have a stream for each of them.
func lzma2(dst, b []byte, most int) (out []byte, n int, err error) {
	n, size, err := lzma2Sizes(b, most)
	if err != nil {
		return nil, 0, err
	}
	r, err := lzma.Reader2Config{DictCap: max(min(size, math.MaxInt32), lzma.MinDictCap)}.NewReader2(bytes.NewReader(b[:n]))
	if err == nil {
		out, err = inflate(r, dst, n, size)
	}
	return out, n, err
}

// lzma2Sizes returns the length of a stream of LZMA2, and of its contents, by the headers of its chunks. Source:
// src/liblzma/lzma/lzma2_decoder.c of XZ Utils.
func lzma2Sizes(b []byte, most int) (n, size int, err error) {
	for n < len(b) && b[n] != 0 {
		h, more := b[n:], 0
		switch {
		case len(h) < 5 && h[0] >= 0x80, len(h) < 3:
			return 0, 0, io.ErrUnexpectedEOF
		case h[0] >= 0x80: // compressed, from 0xc0 on with a byte of properties
			more = int(h[0]&0x1f)<<16 + int(h[1])<<8 + int(h[2]) + 1
			n += 6 + int(h[0]>>6&1) + int(h[3])<<8 + int(h[4])
		case h[0] <= 2:
			more = int(h[1])<<8 + int(h[2]) + 1
			n += 3 + more
		default:
			return 0, 0, fail(ErrFormat, "lzma: a chunk of the unknown kind %d", h[0])
		}
		if more > most-size {
			return 0, 0, fail(format.ErrLimit, "more than the %d bytes that it has come out of %d", most, len(b))
		}
		size += more
	}
	if n >= len(b) {
		return 0, 0, io.ErrUnexpectedEOF
	}
	return n + 1, size, nil
}

// An xzReader reads the parts of xz files.
type xzReader struct {
	b   []byte
	i   int
	bad bool
}

func (x *xzReader) take(n int) []byte {
	if n < 0 || n > len(x.b)-x.i {
		x.bad = true
		return make([]byte, max(min(n, 32), 0))
	}
	x.i += n
	return x.b[x.i-n : x.i]
}

// number reads an integer of up to nine groups of seven bits, the lowest first.
func (x *xzReader) number() uint64 {
	v, n := binary.Uvarint(x.b[x.i:min(x.i+9, len(x.b))])
	x.bad = x.bad || n <= 0
	x.i += max(n, 0)
	return v
}

// zeros skips zeros up to a place.
func (x *xzReader) zeros(end int) {
	for !x.bad && x.i < end {
		x.bad = x.take(1)[0] != 0 || x.bad
	}
}

// pad skips zeros up to a multiple of 4 bytes from begin on.
func (x *xzReader) pad(begin int) { x.zeros(begin + (x.i-begin+3)&^3) }

// sum compares the CRC32 of the bytes since begin with the next four bytes.
func (x *xzReader) sum(begin int) {
	if x.bad {
		return
	}
	want := crc32.ChecksumIEEE(x.b[begin:x.i])
	x.bad = binary.LittleEndian.Uint32(x.take(4)) != want || x.bad
}

// unxz reads xz files, one after the other.
func unxz(dst, b []byte, most int) ([]byte, error) {
	out := dst[:0]
	for x := (&xzReader{b: b}); ; {
		var err error
		if out, err = x.stream(out, most); err != nil {
			return nil, err
		}
		for x.i < len(b) && b[x.i] == 0 {
			x.i++
		}
		if x.i == len(b) {
			return out, nil
		}
	}
}

// stream appends the bytes of one xz file to out.
func (x *xzReader) stream(out []byte, most int) ([]byte, error) {
	head := x.take(6)
	begin := x.i
	flags := x.take(2)
	x.sum(begin)
	if x.bad || string(head) != "\xfd7zXZ\x00" || flags[0] != 0 || flags[1] > 15 {
		return nil, errXZ
	}
	var records []uint64
	for x.i < len(x.b) && x.b[x.i] != 0 {
		begin := x.i
		distance, sizes, err := x.blockHead()
		if err != nil {
			return nil, err
		}
		n := len(out)
		part, taken, err := lzma2(out[n:], x.b[x.i:], most-n)
		if err != nil {
			return nil, unexpected(err)
		}
		undelta(part, distance)
		if n == 0 {
			out = part
		} else {
			out = append(out, part...)
		}
		x.i += taken
		if sizes[0] != 0 && sizes[0] != uint64(taken) || sizes[1] != noSize && sizes[1] != uint64(len(part)) {
			return nil, errXZ
		}
		unpadded := uint64(x.i - begin)
		x.pad(begin)
		check := x.take([]int{0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64}[flags[1]])
		records = append(records, unpadded+uint64(len(check)), uint64(len(part)))
		if x.bad {
			return nil, errXZ
		}
		var want []byte
		switch flags[1] {
		case 1:
			want = binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(part))
		case 4:
			want = binary.LittleEndian.AppendUint64(nil, crc64.Checksum(part, ecma))
		case 10:
			sum := sha256.Sum256(part)
			want = sum[:]
		}
		if want != nil && !bytes.Equal(check, want) {
			return nil, fail(ErrFormat, "lzma: the checksum is %x, the bytes give %x: they were changed", check, want)
		}
	}
	begin = x.i
	x.take(1)
	if x.number() != uint64(len(records)/2) {
		return nil, errXZ
	}
	for _, r := range records {
		x.bad = x.number() != r || x.bad
	}
	x.pad(begin)
	x.sum(begin)
	size := x.i - begin
	end := x.take(12)
	if x.bad || string(end[10:]) != "YZ" || !bytes.Equal(end[8:10], flags) || crc32.ChecksumIEEE(end[4:10]) != binary.LittleEndian.Uint32(end) || int64(binary.LittleEndian.Uint32(end[4:])) != int64(size)/4-1 {
		return nil, errXZ
	}
	return out, nil
}

const noSize = 1<<64 - 1

var ecma = crc64.MakeTable(crc64.ECMA)

// blockHead reads the header of a block: the distance of the filter delta, 0 for none, and the sizes of the bytes before and behind decoding: 0
// and noSize where it doesn't say them.
func (x *xzReader) blockHead() (distance int, sizes [2]uint64, err error) {
	begin := x.i
	end := begin + 4*int(x.b[begin])
	x.take(1)
	flags := x.take(1)[0]
	sizes[1] = noSize
	for i := range sizes {
		if flags>>(6+i)&1 != 0 {
			sizes[i] = x.number()
		}
	}
	filters := int(flags&3) + 1
	for i := 0; i < filters && !x.bad; i++ {
		id, props := x.number(), x.take(int(min(x.number(), 1<<20)))
		switch last := i == filters-1; {
		case x.bad:
		case id == filterDelta && !last && i == 0 && len(props) == 1:
			distance = int(props[0]) + 1
		case id == filterLZMA2 && last && len(props) == 1:
		default:
			return 0, sizes, fail(ErrCodec, "lzma: the filter %d of xz; delta, then LZMA2 are read", id)
		}
	}
	x.zeros(end)
	if x.bad = x.bad || x.i != end || flags&0x3c != 0; !x.bad {
		x.sum(begin)
	}
	if x.bad {
		return 0, sizes, errXZ
	}
	return distance, sizes, nil
}
