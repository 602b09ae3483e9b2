package image

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"math/bits"
)

// Format names a file format.
type Format uint8

// The file formats.
const (
	PNG Format = iota + 1
	JPEG
)

// String returns "png" or "jpeg".
func (f Format) String() string {
	switch f {
	case PNG:
		return "png"
	case JPEG:
		return "jpeg"
	}
	return "unknown format"
}

// Info describes a picture by its headers.
type Info struct {
	Format        Format
	Width, Height int // in pixels, both at least 1
	// Channels is 1 for grey, 3 for colour (also a palette or CMYK), and 4 for pictures with alpha (also grey with alpha).
	Channels int
	Memory   int64 // bytes that decoding takes at most, besides the result
}

// Config reads the headers of the PNG or JPEG in r and decodes no pixels. It may read past the headers in r. It describes a
// picture of any size, also one that Read refuses. An error wraps ErrFormat or the error of r.
func Config(r io.Reader) (Info, error) {
	if r == nil {
		return Info{}, &Error{Op: "image.Config", Err: ErrOption, Text: "the reader is nil"}
	}
	in := &input{src: r}
	h, err := readHeader(in)
	if err != nil {
		return Info{}, blame("image.Config", h.Info, in, err)
	}
	h.Info.Memory = int64(min(h.memory, math.MaxInt64))
	return h.Info, nil
}

// A header is an Info and the memory that a decoder needs, which Read checks before it decodes.
type header struct {
	Info
	memory uint64 // the most bytes that decoding allocates; saturated
}

// readHeader reads up to the beginning of the compressed data. With an error, the header still holds the format if it is known.
func readHeader(r io.Reader) (h header, err error) {
	var start [2]byte
	if _, err := io.ReadFull(r, start[:]); err != nil {
		if err == io.EOF {
			return h, &Error{Err: ErrFormat, Text: "no data", Cause: io.ErrUnexpectedEOF}
		}
		return h, ended(err, "its first bytes")
	}
	switch start {
	case [2]byte{0x89, 'P'}:
		h.Format = PNG
		return readPNG(r)
	case [2]byte{0xff, 0xd8}:
		return readJPEG(r)
	}
	return h, fail(ErrFormat, "neither PNG nor JPEG: the data begins with %#02x %#02x", start[0], start[1])
}

// readPNG reads on after the first two bytes, up to the first IDAT chunk (PNG specification, third edition, sections 5 and 11).
func readPNG(r io.Reader) (header, error) {
	h := header{Info: Info{Format: PNG}}
	var b [6 + 8 + 13 + 4]byte // the rest of the signature; length, type, data and checksum of IHDR
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return h, ended(err, "its header")
	}
	if string(b[:6]) != "NG\r\n\x1a\n" {
		return h, fail(ErrFormat, "the signature is damaged (was the file transferred as text?)")
	}
	if binary.BigEndian.Uint32(b[6:]) != 13 || string(b[10:14]) != "IHDR" {
		return h, fail(ErrFormat, "the first chunk is %q, %d bytes long, not IHDR of 13", b[10:14], binary.BigEndian.Uint32(b[6:]))
	}
	if crc32.ChecksumIEEE(b[10:27]) != binary.BigEndian.Uint32(b[27:]) {
		return h, fail(ErrFormat, "the checksum of IHDR is wrong")
	}
	w, ht := binary.BigEndian.Uint32(b[14:]), binary.BigEndian.Uint32(b[18:])
	if w == 0 || ht == 0 || w > 1<<31-1 || ht > 1<<31-1 {
		return h, fail(ErrFormat, "the size %d×%d is not within 1 to 2^31−1", w, ht)
	}
	h.Width, h.Height = int(w), int(ht)
	depth, colour, interlaced := b[22], b[23], b[26] == 1
	samples, channels := 0, 0 // samples per pixel in the file, and channels of the picture
	legal := depth == 8 || depth == 16
	switch colour {
	case 0:
		samples, channels = 1, 1
		legal = legal || depth == 1 || depth == 2 || depth == 4
	case 2:
		samples, channels = 3, 3
	case 3:
		samples, channels = 1, 3
		legal = depth == 1 || depth == 2 || depth == 4 || depth == 8
	case 4:
		samples, channels = 2, 4
	case 6:
		samples, channels = 4, 4
	default:
		legal = false
	}
	if !legal || b[24] != 0 || b[25] != 0 || b[26] > 1 {
		return h, fail(ErrFormat, "IHDR has depth %d, colour type %d, compression %d, filter %d, interlace %d, which is no PNG",
			depth, colour, b[24], b[25], b[26])
	}

	for {
		var c [8]byte
		if _, err := io.ReadFull(r, c[:]); err != nil {
			return h, ended(err, "its header, before any picture data")
		}
		n, name := binary.BigEndian.Uint32(c[:]), string(c[4:])
		if n > 1<<31-1 {
			return h, fail(ErrFormat, "chunk %q has length %d, over 2^31−1", name, n)
		}
		switch name {
		case "IDAT":
			h.Channels = channels
			h.memory = pngMemory(h, int(depth), samples, colour == 3, interlaced)
			return h, nil
		case "IEND":
			return h, fail(ErrFormat, "no picture data (no IDAT chunk)")
		case "tRNS":
			if n > 0 {
				channels = 4
			}
		}
		if _, err := io.CopyN(io.Discard, r, int64(n)+4); err != nil {
			return h, ended(err, "chunk "+name)
		}
	}
}

// pngMemory returns an upper bound of the bytes that image/png allocates: the picture in one of its pixel types, a second one
// for the passes if interlaced, and two rows of the file's samples per pass.
func pngMemory(h header, depth, samples int, palette, interlaced bool) uint64 {
	pixel := uint64(4) // RGBA, NRGBA
	switch {
	case palette:
		pixel = 1
	case h.Channels == 1:
		pixel = 1
	}
	if depth == 16 {
		pixel *= 2
	}
	row := 2 * (uint64(h.Width)*uint64(depth*samples)/8 + 2)
	if interlaced {
		pixel *= 2
		row *= 4 // the widths of the seven passes sum to less than 3 widths
	}
	return add(mul(uint64(h.Width)*uint64(h.Height), pixel), row)
}

// readJPEG reads on after the first two bytes, up to the header of the first scan (ITU-T T.81, annex B). It finds segments
// exactly as image/jpeg does, which skips stray bytes between them.
func readJPEG(r io.Reader) (header, error) {
	h := header{Info: Info{Format: JPEG}}
	var f jpegFrame
	for {
		marker, err := nextMarker(r)
		if err != nil {
			return h, ended(err, "its header")
		}
		switch {
		case marker >= 0xd0 && marker <= 0xd7: // RST: no length follows
			continue
		case marker == 0xd9:
			return h, fail(ErrFormat, "no picture data before the end marker")
		case marker == 0xda: // SOS
			if f.n == 0 {
				return h, fail(ErrFormat, "picture data comes before the frame header")
			}
			h.Width, h.Height, h.Channels = f.w, f.h, 3
			if f.n == 1 {
				h.Channels = 1
			}
			h.memory = f.memory()
			return h, nil
		}
		var b [20]byte
		if _, err := io.ReadFull(r, b[:2]); err != nil {
			return h, ended(err, "its header")
		}
		n := int(b[0])<<8 + int(b[1]) - 2
		if n < 0 {
			return h, fail(ErrFormat, "segment %#02x has length %d, under 2", marker, n+2)
		}
		head := b[:min(n, len(b))]
		if _, err := io.ReadFull(r, head); err != nil {
			return h, ended(err, "its header")
		}
		switch {
		case marker == 0xee && n >= 12 && string(head[:5]) == "Adobe" && head[11] == 0:
			f.plain = true
		case marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc:
			if f.n != 0 {
				return h, fail(ErrFormat, "two frame headers")
			}
			if marker > 0xc2 {
				return h, fail(ErrFormat, "coding process SOF%d is not supported: only baseline, extended and progressive Huffman coding are", marker-0xc0)
			}
			if err := f.parse(head, n, marker == 0xc2); err != nil {
				return h, err
			}
		}
		if _, err := io.CopyN(io.Discard, r, int64(n-len(head))); err != nil {
			return h, ended(err, "its header")
		}
	}
}

func nextMarker(r io.Reader) (byte, error) {
	var b [2]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return 0, err
	}
	for {
		for b[0] != 0xff {
			b[0] = b[1]
			if _, err := io.ReadFull(r, b[1:]); err != nil {
				return 0, err
			}
		}
		for b[1] == 0xff { // fill bytes
			if _, err := io.ReadFull(r, b[1:]); err != nil {
				return 0, err
			}
		}
		if b[1] != 0 {
			return b[1], nil
		}
		if _, err := io.ReadFull(r, b[:]); err != nil { // ff 00 is stray data
			return 0, err
		}
	}
}

// A jpegFrame holds the facts of the frame header and the Adobe segment.
type jpegFrame struct {
	w, h, n     int // n components
	hv          [4][2]int
	progressive bool
	plain       bool // the components may be RGB, not YCbCr
}

func (f *jpegFrame) parse(b []byte, n int, progressive bool) error {
	if n < 6 || n != 6+3*int(b[5]) || b[5] != 1 && b[5] != 3 && b[5] != 4 {
		return fail(ErrFormat, "the frame header is %d bytes long, which is none of 1, 3 or 4 components", n)
	}
	if b[0] != 8 {
		return fail(ErrFormat, "samples have %d bits; only 8 are supported", b[0])
	}
	f.h, f.w, f.n = int(b[1])<<8+int(b[2]), int(b[3])<<8+int(b[4]), int(b[5])
	if f.w == 0 || f.h == 0 {
		return fail(ErrFormat, "the size is %d×%d; both must be at least 1", f.w, f.h)
	}
	f.progressive = progressive
	for i := range f.n {
		h, v := int(b[7+3*i]>>4), int(b[7+3*i]&15)
		if h < 1 || h > 4 || v < 1 || v > 4 {
			return fail(ErrFormat, "component %d has sampling %d×%d, not within 1 to 4", i, h, v)
		}
		f.hv[i] = [2]int{h, v}
	}
	if f.n == 1 {
		f.hv[0] = [2]int{1, 1} // one component is never interleaved: T.81, A.2.2
	}
	if f.n >= 3 && b[6] == 'R' && b[9] == 'G' && b[12] == 'B' {
		f.plain = true
	}
	return nil
}

// memory returns an upper bound of the bytes that image/jpeg allocates: the samples in whole blocks of 8×8, their coefficients
// of four bytes each if progressive, and a second picture of four bytes per pixel if the components are neither grey nor YCbCr.
func (f *jpegFrame) memory() uint64 {
	h0, v0 := f.hv[0][0], f.hv[0][1]
	mcus := uint64((f.w+8*h0-1)/(8*h0)) * uint64((f.h+8*v0-1)/(8*v0))
	blocks := uint64(0)
	for _, s := range f.hv[:f.n] {
		blocks += mcus * uint64(s[0]*s[1])
	}
	m := blocks * 64
	if f.progressive {
		m *= 5
	}
	if f.n == 4 || f.plain {
		m += uint64(f.w) * uint64(f.h) * 4
	}
	return m
}

func mul(a, b uint64) uint64 {
	if hi, lo := bits.Mul64(a, b); hi == 0 {
		return lo
	}
	return 1<<64 - 1
}

func add(a, b uint64) uint64 {
	if s, carry := bits.Add64(a, b, 0); carry == 0 {
		return s
	}
	return 1<<64 - 1
}
