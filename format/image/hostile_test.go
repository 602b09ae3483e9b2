package image

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	stdimage "image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ashlar-go/ashlar/tensor"
)

// A refused file says which format it is, what is wrong, and never claims more memory than it may.
func TestRefused(t *testing.T) {
	whole := picture(2, 1, 8, 0, []byte{1, 2})
	damage := func(at int, b ...byte) []byte {
		d := slices.Clone(whole)
		copy(d[at:], b)
		return d
	}
	resum := func(d []byte) []byte { // with the checksum of IHDR made right
		binary.BigEndian.PutUint32(d[29:], crc32.ChecksumIEEE(d[12:29]))
		return d
	}
	tiny := idat([]byte{0, 1, 2})
	end := chunk{"IEND", nil}
	scan := sos(grey, 0, 63, 0, 0)
	for _, c := range []struct {
		name string
		data []byte
		kind error
		text string
	}{
		{"nothing", nil, ErrFormat, "no data"},
		{"one byte", []byte{0x89}, ErrFormat, "its first bytes"},
		{"text", []byte("hello"), ErrFormat, "neither PNG nor JPEG"},
		{"gif", []byte("GIF89a\x01\x00\x01\x00"), ErrFormat, "0x47 0x49"},
		{"line ends changed", append([]byte("\x89PNG\n\x1a\n"), whole[8:]...), ErrFormat, "png: the signature is damaged"},
		{"signature alone", whole[:8], ErrFormat, "png: the file ends in the middle of its header"},
		{"no IHDR", pngOf(tiny, end), ErrFormat, `png: the first chunk is "IDAT"`},
		{"wrong checksum", damage(19, 3), ErrFormat, "png: the checksum of IHDR"},
		{"no width", resum(damage(16, 0, 0, 0, 0)), ErrFormat, "png: the size 0×1"},
		{"negative height", resum(damage(20, 0x80, 0, 0, 0)), ErrFormat, "png: the size 2×2147483648"},
		{"depth 3", resum(damage(24, 3)), ErrFormat, "png: picture of 2×1: IHDR has depth 3"},
		{"rgb of 4 bits", resum(damage(24, 4, 2)), ErrFormat, "IHDR has depth 4, colour type 2"},
		{"colour type 5", resum(damage(25, 5)), ErrFormat, "colour type 5"},
		{"interlace 2", resum(damage(28, 2)), ErrFormat, "interlace 2"},
		{"no data", pngOf(ihdr(2, 1, 8, 0, 0), end), ErrFormat, "png: picture of 2×1: no picture data"},
		{"long chunk", append(pngOf(ihdr(2, 1, 8, 0, 0)), 0xff, 0xff, 0xff, 0xff, 't', 'E', 'X', 't'), ErrFormat, `chunk "tEXt" has length 4294967295`},
		{"chunk beyond the end", append(pngOf(ihdr(2, 1, 8, 0, 0)), 0x7f, 0xff, 0xff, 0xff, 't', 'E', 'X', 't'), ErrFormat, "the middle of chunk tEXt"},
		{"too few rows", pngOf(ihdr(2, 3, 8, 0, 0), tiny, end), ErrFormat, "png: picture of 2×3: invalid format: not enough pixel data"},
		{"too many rows", pngOf(ihdr(2, 1, 8, 0, 0), idat([]byte{0, 1, 2, 0, 3, 4}), end), ErrFormat, "png: picture of 2×1: invalid format"},
		{"no palette", pngOf(ihdr(2, 1, 8, 3, 0), tiny, end), ErrFormat, "png: picture of 2×1: invalid format"},
		{"2^31−1 squared", pngOf(ihdr(1<<31-1, 1<<31-1, 8, 0, 0), tiny, end), ErrTooLarge, "png: picture of 2147483647×2147483647"},
		{"100 Mpixel of grey", pngOf(ihdr(10000, 10000, 8, 0, 0), tiny, end), ErrTooLarge, "set Options.MaxPixels to 100000000 or more"},
		{"one long row", pngOf(ihdr(1<<24, 1, 16, 6, 0), tiny, end), ErrTooLarge, "out of proportion"},
		{"16 bits, interlaced", pngOf(ihdr(2048, 2048, 16, 6, 1), tiny, end), ErrTooLarge, "out of proportion"},

		{"JPEG's first bytes", []byte{0xff, 0xd8}, ErrFormat, "jpeg: the file ends in the middle of its header"},
		{"no scan", []byte{0xff, 0xd8, 0xff, 0xd9}, ErrFormat, "jpeg: no picture data"},
		{"scan before frame", append([]byte{0xff, 0xd8}, scan...), ErrFormat, "jpeg: picture data comes before"},
		{"short segment", []byte{0xff, 0xd8, 0xff, 0xe0, 0, 1}, ErrFormat, "jpeg: segment 0xe0 has length 1"},
		{"arithmetic coding", flatJPEG(0xc9, 2, 1, grey), ErrFormat, "SOF9 is not supported"},
		{"two frames", flatJPEG(0xc0, 2, 1, grey, segment(0xc0, 8, 0, 1, 0, 2, 1, 1, 0x11, 0)), ErrFormat, "two frame headers"},
		{"no height", flatJPEG(0xc0, 2, 0, grey), ErrFormat, "jpeg: the size is 2×0"},
		{"two components", flatJPEG(0xc0, 2, 1, ycc444[:2]), ErrFormat, "none of 1, 3 or 4 components"},
		{"sampling 5×1", flatJPEG(0xc0, 2, 1, []component{{1, 0x51}}), ErrFormat, "sampling 5×1"},
		{"odd sampling", flatJPEG(0xc0, 2, 1, []component{{1, 0x31}, {2, 0x11}, {3, 0x11}}), ErrFormat, "jpeg: picture of 2×1: "},
		{"cut in a scan", flatJPEG(0xc0, 200, 100, grey)[:200], ErrFormat, "jpeg: picture of 200×100: invalid JPEG format: short Huffman data"},
		{"65535 squared", flatJPEG(0xc0, 65535, 65535, grey)[:1000], ErrTooLarge, "jpeg: picture of 65535×65535"},
		{"progressive, 9 Mpixel", flatJPEG(0xc2, 3000, 3000, ycc444)[:1000], ErrTooLarge, "out of proportion"},
		{"CMYK, 9 Mpixel", flatJPEG(0xc0, 3000, 3000, cmyk, adobe(0))[:1000], ErrTooLarge, "out of proportion"},
	} {
		var err error
		bounded(t, len(c.data), func() { _, err = Read(bytes.NewReader(c.data), nil) })
		var e *Error
		if !errors.Is(err, c.kind) || !errors.As(err, &e) || !strings.Contains(err.Error(), c.text) || !strings.HasPrefix(err.Error(), "image.Read: ") {
			t.Errorf("%s: %v, want one with %q", c.name, err, c.text)
		}
	}
}

// No beginning of a file is a picture, and none with one bit flipped makes Read panic.
func TestTruncatedAndFlipped(t *testing.T) {
	src := stdimage.NewRGBA(stdimage.Rect(0, 0, 13, 9))
	for i := range src.Pix {
		src.Pix[i] = byte(i*i) | 3
	}
	var soft bytes.Buffer
	if err := jpeg.Encode(&soft, src, nil); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"png": encodePNG(src), "png, interlaced": interlaced(13, 9, 3, 8, 2, src.Pix), "jpeg": soft.Bytes(),
		"jpeg, progressive": flatJPEG(0xc2, 13, 9, ycc420),
	} {
		for n := range data {
			a, err := Read(bytes.NewReader(data[:n]), nil)
			if err == nil {
				t.Fatalf("%s: %d of %d bytes gave %s", name, n, len(data), tensor.Describe(a))
			}
			if !errors.Is(err, ErrFormat) || n > 2 && !strings.HasPrefix(err.Error(), "image.Read: "+name[:3]) {
				t.Errorf("%s: %d of %d bytes: %v", name, n, len(data), err)
			}
		}
		for i := range 8 * len(data) {
			flipped := slices.Clone(data)
			flipped[i/8] ^= 1 << (i % 8)
			if _, err := Read(bytes.NewReader(flipped), nil); err != nil && !errors.Is(err, ErrFormat) && !errors.Is(err, ErrTooLarge) {
				t.Errorf("%s, bit %d: %v", name, i, err)
			}
		}
	}
}

// What readHeader says that decoding takes is an upper bound for every kind of file.
func TestMemoryIsBounded(t *testing.T) {
	const w, h, slack = 1000, 900, 1 << 20
	noise := make([]byte, w*h*8)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(rng.Uint32() >> 8)
	}
	plte := chunk{"PLTE", noise[:768]}
	files := map[string][]byte{
		"JPEG grey":            flatJPEG(0xc0, w, h, grey),
		"JPEG 420":             flatJPEG(0xc0, w, h, ycc420),
		"JPEG 410":             flatJPEG(0xc0, w, h, []component{{1, 0x42}, {2, 0x11}, {3, 0x11}}),
		"JPEG all 2×2":         flatJPEG(0xc2, w, h, []component{{1, 0x22}, {2, 0x22}, {3, 0x22}})[:2000],
		"JPEG RGB":             flatJPEG(0xc0, w, h, rgb),
		"JPEG RGB by Adobe":    flatJPEG(0xc0, w, h, ycc444, adobe(0)),
		"JPEG CMYK":            flatJPEG(0xc0, w, h, cmyk, adobe(2)),
		"JPEG grey prog.":      flatJPEG(0xc2, w, h, grey),
		"JPEG 444 progressive": flatJPEG(0xc2, w, h, ycc444),
		"JPEG CMYK prog.":      flatJPEG(0xc2, w, h, cmyk, adobe(0)),
		"PNG palette":          picture(w, h, 8, 3, noise[:w*h], plte),
		"PNG palette, tRNS":    picture(w, h, 8, 3, noise[:w*h], plte, chunk{"tRNS", noise[:9]}),
		"PNG 1 bit":            picture(w, h, 1, 0, noise[:w*h/8]),
	}
	for _, k := range []struct{ colour, samples byte }{{0, 1}, {2, 3}, {4, 2}, {6, 4}} {
		for _, size := range []byte{1, 2} {
			n := int(k.samples * size)
			name := "PNG type " + string('0'+k.colour) + ", bytes " + string('0'+size)
			files[name] = picture(w, h, 8*size, k.colour, noise[:w*h*n])
			files[name+", interlaced"] = interlaced(w, h, n, 8*size, k.colour, noise)
			if k.colour < 4 {
				files[name+", tRNS"] = interlaced(w, h, n, 8*size, k.colour, noise, chunk{"tRNS", make([]byte, 2*k.samples)})
			}
		}
	}
	for name, data := range files {
		head, err := readHeader(bytes.NewReader(data))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := allocated(func() {
			if head.Format == PNG {
				_, err = png.Decode(bytes.NewReader(data))
			} else {
				_, err = jpeg.Decode(bytes.NewReader(data))
			}
		})
		if err != nil && len(data) != 2000 {
			t.Errorf("%s: %v", name, err)
		}
		if got > head.memory+slack {
			t.Errorf("%s: decoding took %d bytes, the bound is %d", name, got, head.memory)
		}
		if len(data) != 2000 && got < head.memory/3 {
			t.Errorf("%s: decoding took %d bytes, the bound %d is far above", name, got, head.memory)
		}
	}
}

// A file of many pixels and few bytes is refused, unless the caller lifts the limit; one whose bytes bear it out is read.
func TestProportion(t *testing.T) {
	flat := encodePNG(stdimage.NewRGBA64(stdimage.Rect(0, 0, 2600, 2600)))
	for _, o := range []Options{{Channels: 3, Float: true}, {Channels: 4, Float: true, HWC: true}} {
		var err error
		bounded(t, len(flat), func() { _, err = Read(bytes.NewReader(flat), &o) })
		if !errors.Is(err, ErrTooLarge) {
			t.Errorf("%+v: %v", o, err)
		}
		o.MaxPixels = 2600*2600 - 1
		if _, err := Read(bytes.NewReader(flat), &o); !errors.Is(err, ErrTooLarge) {
			t.Errorf("one pixel over the limit: %v", err)
		}
		o.MaxPixels = 2600 * 2600
		if a, err := Read(bytes.NewReader(flat), &o); err != nil || a.Len() != 2600*2600*o.Channels {
			t.Errorf("with MaxPixels: %v", err)
		}
	}
	// The same picture made small needs no more than its decoding.
	small := Options{Channels: 1, Height: 28, Width: 28}
	bounded(t, len(flat), func() {
		if _, err := Read(bytes.NewReader(flat), &small); err != nil {
			t.Error(err)
		}
	})
	noisy := stdimage.NewNRGBA(stdimage.Rect(0, 0, 2100, 2000))
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range noisy.Pix {
		noisy.Pix[i] = byte(rng.Uint32())
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, noisy); err != nil {
		t.Fatal(err)
	}
	bounded(t, b.Len(), func() { // 16 MB, and 67 MB of floats
		if _, err := Read(bytes.NewReader(b.Bytes()), &Options{Float: true}); err != nil {
			t.Error(err)
		}
	})
}

func TestScansAreLimited(t *testing.T) {
	// Each scan ends all its blocks' runs at once: 20 bytes, and a pass over the whole picture.
	build := func(n int) []byte {
		b := jpegHead(0xc2, 800, 800, grey, 0xe0)
		b = append(b, sos(grey, 0, 0, 0, make([]byte, 10000/8)...)...)
		for range n - 1 {
			b = append(b, sos(grey, 1, 63, 0, 0xbf, 0xff, 0x00, 0x3f)...) // runs of 2^14 + …: all 10000 blocks
		}
		return append(b, endOfImage...)
	}
	if _, err := Read(bytes.NewReader(build(mostScans)), nil); err != nil {
		t.Errorf("%d scans: %v", mostScans, err)
	}
	bomb := bytes.NewReader(build(100000))
	all := bomb.Len()
	_, err := Read(bomb, nil)
	if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "over 256 scans") {
		t.Errorf("100000 scans: %v", err)
	}
	if read := all - bomb.Len(); read > all/10 {
		t.Errorf("%d bytes of 100000 scans were read", read)
	}
}

// An Adobe segment after the first scan would make the decoder take four bytes per pixel more.
func TestLateAdobe(t *testing.T) {
	const w, h = 2000, 1500
	all := flatJPEG(0xc0, w, h, ycc444)
	late := slices.Concat(all[:len(all)-2], adobe(0), endOfImage)
	if m, err := jpeg.Decode(bytes.NewReader(late)); err != nil || m.ColorModel() != color.RGBAModel {
		t.Fatalf("the decoder no longer does this: %v", err)
	}
	m, err := jpeg.Decode(&scans{r: iotest.OneByteReader(bytes.NewReader(late)), skip: 500})
	if err != nil || m.ColorModel() != color.YCbCrModel {
		t.Errorf("%v", err)
	}
	if a, err := Read(bytes.NewReader(late), &Options{Height: 1, Width: 1}); err != nil || !slices.Equal(bytesOf(t, a), []uint8{128, 128, 128}) {
		t.Errorf("%v", err)
	}
}

func TestOptionsChecked(t *testing.T) {
	data := picture(2, 1, 8, 0, []byte{1, 2})
	for _, o := range []Options{{Channels: 2}, {Channels: -1}, {Height: -1}, {Width: -5}, {MaxPixels: -1}} {
		if _, err := Read(bytes.NewReader(data), &o); !errors.Is(err, ErrOption) {
			t.Errorf("Read %+v: %v", o, err)
		}
		if _, err := FromImage(stdimage.NewGray(stdimage.Rect(0, 0, 1, 1)), &o); !errors.Is(err, ErrOption) {
			t.Errorf("FromImage %+v: %v", o, err)
		}
	}
	var e *tensor.Error
	if _, err := Read(bytes.NewReader(data), &Options{Height: maxSide, Width: maxSide, Channels: 4, Float: true}); !errors.As(err, &e) {
		t.Errorf("a result beyond all memory: %v", err)
	}
}

// The reader's own failure comes through, and isn't blamed on the file.
func TestReaderFails(t *testing.T) {
	broken := errors.New("the disk is on fire")
	for _, data := range [][]byte{encodePNG(stdimage.NewGray(stdimage.Rect(0, 0, 9, 9))), flatJPEG(0xc0, 64, 64, grey)} {
		for _, n := range []int{0, 1, 20, len(data) - 3} {
			r := func() io.Reader { return io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(broken)) }
			if _, err := Read(r(), nil); !errors.Is(err, broken) || errors.Is(err, ErrFormat) {
				t.Errorf("Read after %d bytes: %v", n, err)
			}
			if _, err := Config(r()); n < 25 && (!errors.Is(err, broken) || errors.Is(err, ErrFormat)) {
				t.Errorf("Config after %d bytes: %v", n, err)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, data := range [][]byte{
		picture(2, 1, 8, 0, []byte{3, 200}), picture(2, 1, 16, 6, make([]byte, 16)), interlaced(3, 2, 3, 8, 2, make([]byte, 18)),
		picture(2, 1, 2, 3, []byte{0x90}, chunk{"PLTE", make([]byte, 9)}, chunk{"tRNS", []byte{1}}),
		pngOf(ihdr(1<<31-1, 1<<31-1, 8, 6, 1), idat(nil)), pngOf(ihdr(3000, 3000, 8, 2, 0), idat(make([]byte, 1<<16))),
		flatJPEG(0xc0, 2, 1, grey), flatJPEG(0xc0, 9, 9, ycc420), flatJPEG(0xc2, 9, 9, ycc444), flatJPEG(0xc0, 3, 3, rgb),
		flatJPEG(0xc2, 3, 3, cmyk, adobe(0)), flatJPEG(0xc0, 65535, 65535, grey)[:300],
	} {
		for _, bits := range []uint16{0, 0x1e, 0x231} {
			f.Add(data, bits)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, bits uint16) {
		o := Options{Channels: []int{0, 1, 3, 4}[bits&3], HWC: bits&4 != 0, Float: bits&8 != 0, Height: int(bits >> 4 & 31), Width: int(bits >> 9 & 31)}
		if bits>>14 != 0 {
			o.Background = color.White
		}
		var a tensor.Any
		var err error
		bounded(t, len(data), func() { a, err = Read(bytes.NewReader(data), &o) })
		var info Info
		var configErr error
		bounded(t, len(data), func() { info, configErr = Config(bytes.NewReader(data)) })
		if err != nil {
			if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrTooLarge) {
				t.Errorf("%v", err)
			}
			return
		}
		h, w := o.size(info.Height, info.Width)
		c := o.Channels
		if c == 0 {
			c = info.Channels
		}
		want := []int{c, h, w}
		if o.HWC {
			want = []int{h, w, c}
		}
		if configErr != nil || !slices.Equal(a.Shape(), want) {
			t.Errorf("%+v, %v; read with %+v it is %s", info, configErr, o, tensor.Describe(a))
		}
	})
}
