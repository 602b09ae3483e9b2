package image

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	stdimage "image"
	"image/png"
	"runtime"
	"testing"
)

// Builders of files that no encoder writes.

type chunk struct {
	name string
	data []byte
}

func pngOf(chunks ...chunk) []byte {
	b := []byte("\x89PNG\r\n\x1a\n")
	for _, c := range chunks {
		b = binary.BigEndian.AppendUint32(b, uint32(len(c.data)))
		body := append([]byte(c.name), c.data...)
		b = append(b, body...)
		b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(body))
	}
	return b
}

func ihdr(w, h uint32, depth, colour, interlace byte) chunk {
	b := binary.BigEndian.AppendUint32(nil, w)
	b = binary.BigEndian.AppendUint32(b, h)
	return chunk{"IHDR", append(b, depth, colour, 0, 0, interlace)}
}

func idat(raw []byte) chunk {
	var b bytes.Buffer
	z, _ := zlib.NewWriterLevel(&b, zlib.BestCompression)
	z.Write(raw)
	z.Close()
	return chunk{"IDAT", b.Bytes()}
}

// picture makes a PNG of h rows of raw bytes each; between come between IHDR and IDAT.
func picture(w, h int, depth, colour byte, rows []byte, between ...chunk) []byte {
	var raw []byte
	n := len(rows) / h
	for y := range h {
		raw = append(append(raw, 0), rows[y*n:][:n]...)
	}
	all := append([]chunk{ihdr(uint32(w), uint32(h), depth, colour, 0)}, between...)
	return pngOf(append(all, idat(raw), chunk{"IEND", nil})...)
}

// interlaced makes an Adam7 PNG of pixels of whole bytes.
func interlaced(w, h, size int, depth, colour byte, pix []byte, between ...chunk) []byte {
	var raw []byte
	for _, p := range [][4]int{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}} {
		if p[0] >= w {
			continue
		}
		for y := p[1]; y < h; y += p[3] {
			raw = append(raw, 0)
			for x := p[0]; x < w; x += p[2] {
				raw = append(raw, pix[(y*w+x)*size:][:size]...)
			}
		}
	}
	all := append([]chunk{ihdr(uint32(w), uint32(h), depth, colour, 1)}, between...)
	return pngOf(append(all, idat(raw), chunk{"IEND", nil})...)
}

func segment(marker byte, data ...byte) []byte {
	return append([]byte{0xff, marker, byte((len(data) + 2) >> 8), byte(len(data) + 2)}, data...)
}

// A component is an identifier and a sampling factor such as 0x22.
type component struct{ id, hv byte }

var (
	grey   = []component{{1, 0x11}}
	ycc420 = []component{{1, 0x22}, {2, 0x11}, {3, 0x11}}
	ycc444 = []component{{1, 0x11}, {2, 0x11}, {3, 0x11}}
	rgb    = []component{{'R', 0x11}, {'G', 0x11}, {'B', 0x11}}
	cmyk   = []component{{1, 0x22}, {2, 0x11}, {3, 0x11}, {4, 0x22}}
)

func adobe(transform byte) []byte {
	return segment(0xee, 'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, transform)
}

// jpegHead makes the headers of a JPEG of w×h up to its first scan. All Huffman tables have two codes: 0 is the symbol 0, and
// 10 is ac, if that isn't 0. In a scan of DC coefficients a bit 0 makes a block like the one before it, at first mid-grey.
func jpegHead(sof byte, w, h int, parts []component, ac byte, between ...[]byte) []byte {
	b := []byte{0xff, 0xd8}
	for _, s := range between {
		b = append(b, s...)
	}
	b = append(b, segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)...)
	frame := []byte{8, byte(h >> 8), byte(h), byte(w >> 8), byte(w), byte(len(parts))}
	for _, p := range parts {
		frame = append(frame, p.id, p.hv, 0)
	}
	b = append(b, segment(sof, frame...)...)
	dc := append([]byte{0x00, 1}, make([]byte, 16)...)
	b = append(b, segment(0xc4, dc...)...)
	if ac == 0 {
		return append(b, segment(0xc4, append([]byte{0x10, 1}, make([]byte, 16)...)...)...)
	}
	return append(b, segment(0xc4, append(append([]byte{0x10, 1, 1}, make([]byte, 14)...), 0, ac)...)...)
}

// sos makes a scan over parts with spectral bounds, successive approximation and compressed data.
func sos(parts []component, from, to, approx byte, data ...byte) []byte {
	b := []byte{byte(len(parts))}
	for _, p := range parts {
		b = append(b, p.id, 0)
	}
	return append(segment(0xda, append(b, from, to, approx)...), data...)
}

var endOfImage = []byte{0xff, 0xd9}

// flatJPEG is complete: w×h, all of it mid-grey samples.
func flatJPEG(sof byte, w, h int, parts []component, between ...[]byte) []byte {
	bits := 0
	h0, v0 := int(parts[0].hv>>4), int(parts[0].hv&15)
	if len(parts) == 1 {
		h0, v0 = 1, 1
	}
	for _, p := range parts {
		n := int(p.hv>>4) * int(p.hv&15)
		if len(parts) == 1 {
			n = 1
		}
		bits += n * ((w + 8*h0 - 1) / (8 * h0)) * ((h + 8*v0 - 1) / (8 * v0))
	}
	to := byte(0)
	if sof != 0xc2 {
		bits, to = 2*bits, 63 // each block has an end of block too
	}
	b := jpegHead(sof, w, h, parts, 0, between...)
	b = append(b, sos(parts, 0, to, 0, make([]byte, bits/8+1)...)...)
	return append(b, endOfImage...)
}

// encodePNG is what the standard encoder writes.
func encodePNG(img stdimage.Image) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// allocated is how many bytes f puts on the heap, garbage included: at least as much as the heap can have grown meanwhile.
func allocated(f func()) uint64 {
	var a, b runtime.MemStats
	runtime.ReadMemStats(&a)
	f()
	runtime.ReadMemStats(&b)
	return b.TotalAlloc - a.TotalAlloc
}

// bounded fails when f grows the heap by more than a file of n bytes may.
func bounded(t testing.TB, n int, f func()) {
	t.Helper()
	if got, limit := allocated(f), uint64(64<<20+8*n); got > limit {
		t.Errorf("a file of %d bytes made the heap grow by %d, over %d", n, got, limit)
	}
}
