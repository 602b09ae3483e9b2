package image

import (
	"bytes"
	stdimage "image"
	"image/color"
	"image/jpeg"
	"io"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

func mustRead(t testing.TB, data []byte, o Options) tensor.Any {
	t.Helper()
	// One byte at a time: no decoder may rely on more.
	a, err := Read(iotest.OneByteReader(bytes.NewReader(data)), &o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func bytesOf(t testing.TB, a tensor.Any) []uint8 {
	t.Helper()
	u, ok := tensor.As[uint8](a)
	if !ok {
		t.Fatalf("got %v, not uint8", a.DType())
	}
	return u.Contiguous().Elems()
}

// Each kind of file gives these samples and this number of channels.
func TestReadKinds(t *testing.T) {
	plte := chunk{"PLTE", []byte{10, 20, 30, 40, 50, 60, 70, 80, 90}}
	for _, c := range []struct {
		name     string
		data     []byte
		channels int
		want     []uint8 // of two pixels, (H,W,C)
	}{
		{"grey", picture(2, 1, 8, 0, []byte{3, 200}), 1, []uint8{3, 200}},
		{"grey 1 bit", picture(2, 1, 1, 0, []byte{0x40}), 1, []uint8{0, 255}},
		{"grey 2 bit", picture(2, 1, 2, 0, []byte{0x60}), 1, []uint8{0x55, 0xaa}},
		{"grey 4 bit", picture(2, 1, 4, 0, []byte{0x1e}), 1, []uint8{0x11, 0xee}},
		{"grey 16 bit keeps the high byte", picture(2, 1, 16, 0, []byte{3, 255, 200, 0}), 1, []uint8{3, 200}},
		{"grey with a transparent value", picture(2, 1, 8, 0, []byte{3, 200}, chunk{"tRNS", []byte{0, 3}}), 4,
			[]uint8{3, 3, 3, 0, 200, 200, 200, 255}},
		{"grey and alpha", picture(2, 1, 8, 4, []byte{3, 128, 200, 255}), 4, []uint8{3, 3, 3, 128, 200, 200, 200, 255}},
		{"grey and alpha 16 bit", picture(2, 1, 16, 4, []byte{3, 9, 128, 9, 200, 9, 0, 9}), 4, []uint8{3, 3, 3, 128, 200, 200, 200, 0}},
		{"rgb", picture(2, 1, 8, 2, []byte{1, 2, 3, 4, 5, 6}), 3, []uint8{1, 2, 3, 4, 5, 6}},
		{"rgb with a transparent colour", picture(2, 1, 8, 2, []byte{1, 2, 3, 4, 5, 6}, chunk{"tRNS", []byte{0, 4, 0, 5, 0, 6}}), 4,
			[]uint8{1, 2, 3, 255, 4, 5, 6, 0}},
		{"rgb 16 bit", picture(2, 1, 16, 2, []byte{1, 255, 2, 255, 3, 255, 4, 0, 5, 0, 6, 0}), 3, []uint8{1, 2, 3, 4, 5, 6}},
		{"rgba isn't premultiplied", picture(2, 1, 8, 6, []byte{250, 2, 3, 7, 4, 5, 6, 0}), 4, []uint8{250, 2, 3, 7, 4, 5, 6, 0}},
		{"rgba 16 bit", picture(2, 1, 16, 6, []byte{250, 1, 2, 1, 3, 1, 7, 1, 4, 0, 5, 0, 6, 0, 0, 1}), 4, []uint8{250, 2, 3, 7, 4, 5, 6, 0}},
		{"palette", picture(2, 1, 8, 3, []byte{2, 0}, plte), 3, []uint8{70, 80, 90, 10, 20, 30}},
		{"palette 2 bit", picture(2, 1, 2, 3, []byte{0x90}, plte), 3, []uint8{70, 80, 90, 40, 50, 60}},
		{"palette with alpha", picture(2, 1, 8, 3, []byte{1, 2}, plte, chunk{"tRNS", []byte{255, 9}}), 4, []uint8{40, 50, 60, 9, 70, 80, 90, 255}},
		{"palette with alpha 255", picture(2, 1, 8, 3, []byte{1, 2}, plte, chunk{"tRNS", []byte{255}}), 4, []uint8{40, 50, 60, 255, 70, 80, 90, 255}},
		{"palette too short", picture(2, 1, 8, 3, []byte{1, 77}, plte), 3, []uint8{40, 50, 60, 0, 0, 0}},
		{"JPEG grey", flatJPEG(0xc0, 2, 1, grey), 1, []uint8{128, 128}},
		{"JPEG grey, progressive", flatJPEG(0xc2, 2, 1, grey), 1, []uint8{128, 128}},
		{"JPEG YCbCr", flatJPEG(0xc0, 2, 1, ycc420), 3, []uint8{128, 128, 128, 128, 128, 128}},
		{"JPEG YCbCr, progressive", flatJPEG(0xc2, 2, 1, ycc444), 3, []uint8{128, 128, 128, 128, 128, 128}},
		{"JPEG RGB", flatJPEG(0xc0, 2, 1, rgb), 3, []uint8{128, 128, 128, 128, 128, 128}},
		{"JPEG CMYK", flatJPEG(0xc0, 2, 1, cmyk, adobe(0)), 3, []uint8{64, 64, 64, 64, 64, 64}},
	} {
		got := mustRead(t, c.data, Options{HWC: true})
		if s := got.Shape(); !slices.Equal(s, []int{1, 2, c.channels}) {
			t.Errorf("%s: shape %v", c.name, s)
			continue
		}
		if b := bytesOf(t, got); !slices.Equal(b, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, b, c.want)
		}
		info, err := Config(bytes.NewReader(c.data))
		format := PNG
		if c.data[0] == 0xff {
			format = JPEG
		}
		if want := (Info{format, 2, 1, c.channels, info.Memory}); err != nil || info != want || info.Memory < 2 {
			t.Errorf("%s: Config gives %v, %v", c.name, info, err)
		}
	}
}

// Every number of channels becomes every other by the rules of the package comment.
func TestReadChannels(t *testing.T) {
	greyFile := picture(2, 1, 8, 0, []byte{3, 200})
	rgbFile := picture(2, 1, 8, 2, []byte{255, 0, 0, 10, 20, 30})
	rgbaFile := picture(2, 1, 8, 6, []byte{255, 0, 0, 0, 10, 20, 30, 128})
	for _, c := range []struct {
		data     []byte
		channels int
		back     color.Color
		want     []uint8
	}{
		{greyFile, 1, nil, []uint8{3, 200}},
		{greyFile, 3, nil, []uint8{3, 3, 3, 200, 200, 200}},
		{greyFile, 4, nil, []uint8{3, 3, 3, 255, 200, 200, 200, 255}},
		{rgbFile, 1, nil, []uint8{76, 18}},
		{rgbFile, 3, nil, []uint8{255, 0, 0, 10, 20, 30}},
		{rgbFile, 4, nil, []uint8{255, 0, 0, 255, 10, 20, 30, 255}},
		{rgbaFile, 1, nil, []uint8{76, 18}},
		{rgbaFile, 3, nil, []uint8{255, 0, 0, 10, 20, 30}},
		{rgbaFile, 4, nil, []uint8{255, 0, 0, 0, 10, 20, 30, 128}},
		{rgbaFile, 1, color.White, []uint8{255, 136}}, // over white: 255 255 255 and 132 137 142, of luma 136.08
		{rgbaFile, 3, color.White, []uint8{255, 255, 255, 132, 137, 142}},
		{rgbaFile, 3, color.NRGBA{1, 2, 3, 0}, []uint8{1, 2, 3, 6, 11, 17}},
		{rgbaFile, 4, color.White, []uint8{255, 0, 0, 0, 10, 20, 30, 128}},
		{rgbFile, 3, color.White, []uint8{255, 0, 0, 10, 20, 30}},
	} {
		o := Options{Channels: c.channels, Background: c.back, HWC: true}
		if got := bytesOf(t, mustRead(t, c.data, o)); !slices.Equal(got, c.want) {
			t.Errorf("%d channels over %v: got %v, want %v", c.channels, c.back, got, c.want)
		}
	}
}

func TestReadShapesAndTypes(t *testing.T) {
	data := picture(3, 2, 8, 2, []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 255})
	chw := held[uint8](mustRead(t, data, Options{}))
	hwc := held[uint8](mustRead(t, data, Options{HWC: true}))
	unit := held[float32](mustRead(t, data, Options{Float: true}))
	if !slices.Equal(chw.Shape(), []int{3, 2, 3}) || !slices.Equal(hwc.Shape(), []int{2, 3, 3}) || !slices.Equal(unit.Shape(), []int{3, 2, 3}) {
		t.Fatalf("shapes %v, %v, %v", chw.Shape(), hwc.Shape(), unit.Shape())
	}
	for y := range 2 {
		for x := range 3 {
			for c := range 3 {
				want := uint8((y*3+x)*3 + c)
				if want == 17 {
					want = 255
				}
				if hwc.At(y, x, c) != want || chw.At(c, y, x) != want || unit.At(c, y, x) != float32(float64(want)/255) {
					t.Errorf("(%d,%d) channel %d: %d, %d, %v", y, x, c, hwc.At(y, x, c), chw.At(c, y, x), unit.At(c, y, x))
				}
			}
		}
	}
	for _, o := range []Options{{Height: 5}, {Width: 4}, {Height: 1, Width: 7, HWC: true}, {Height: 4, Width: 2, Channels: 4, Float: true}} {
		h, w := o.size(2, 3)
		c := max(o.Channels, 3)
		want := []int{c, h, w}
		if o.HWC {
			want = []int{h, w, c}
		}
		if got := mustRead(t, data, o); !slices.Equal(got.Shape(), want) || (got.DType() == dtype.Float32) != o.Float {
			t.Errorf("%+v gives %s, want %v", o, tensor.Describe(got), want)
		}
	}
	// Channels are converted first, then the picture is resized: the mean of the two greys 76 and 18.
	two := picture(2, 1, 8, 2, []byte{255, 0, 0, 10, 20, 30})
	if got := bytesOf(t, mustRead(t, two, Options{Channels: 1, Width: 1})); got[0] != 47 {
		t.Errorf("grey, then resized: %d", got[0])
	}
}

func TestInterlacedIsTheSame(t *testing.T) {
	for _, side := range [][2]int{{1, 1}, {3, 2}, {8, 8}, {9, 17}, {5, 4}} {
		w, h := side[0], side[1]
		pix := make([]byte, w*h*8)
		for i := range pix {
			pix[i] = byte(i*37 + i/11)
		}
		for _, k := range []struct {
			depth, colour byte
			size          int
		}{{8, 0, 1}, {8, 2, 3}, {8, 4, 2}, {8, 6, 4}, {16, 0, 2}, {16, 6, 8}} {
			flat := bytesOf(t, mustRead(t, picture(w, h, k.depth, k.colour, pix[:w*h*k.size]), Options{}))
			woven := bytesOf(t, mustRead(t, interlaced(w, h, k.size, k.depth, k.colour, pix), Options{}))
			if !slices.Equal(flat, woven) {
				t.Errorf("%d×%d, depth %d, colour type %d: interlacing changes the picture", w, h, k.depth, k.colour)
			}
		}
	}
}

// What decoding and converting give, pixel by pixel, is what the standard library's colour conversions give.
func TestJPEGAgainstColorModels(t *testing.T) {
	const w, h = 37, 21
	src := stdimage.NewRGBA(stdimage.Rect(0, 0, w, h))
	for i := range src.Pix {
		src.Pix[i] = byte(i*i/7 + i/5)
	}
	for i := 3; i < len(src.Pix); i += 4 {
		src.Pix[i] = 255
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, src, nil); err != nil {
		t.Fatal(err)
	}
	img, err := jpeg.Decode(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	got := held[uint8](mustRead(t, b.Bytes(), Options{}))
	for y := range h {
		for x := range w {
			c := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
			if got.At(0, y, x) != c.R || got.At(1, y, x) != c.G || got.At(2, y, x) != c.B {
				t.Fatalf("(%d,%d): got %d %d %d, want %v", x, y, got.At(0, y, x), got.At(1, y, x), got.At(2, y, x), c)
			}
		}
	}
}

// disguised hides the type of a picture, so that only At is left.
type disguised struct{ stdimage.Image }

func TestFromImage(t *testing.T) {
	box := stdimage.Rect(-3, 5, 6, 12) // pictures needn't begin at 0,0
	inner := stdimage.Rect(-1, 6, 4, 11)
	fill := func(p []uint8) {
		for i := range p {
			p[i] = uint8(i*89 + i/3)
		}
	}
	g, g16 := stdimage.NewGray(box), stdimage.NewGray16(box)
	n, n64 := stdimage.NewNRGBA(box), stdimage.NewNRGBA64(box)
	r, r64 := stdimage.NewRGBA(box), stdimage.NewRGBA64(box)
	k, y := stdimage.NewCMYK(box), stdimage.NewYCbCr(box, stdimage.YCbCrSubsampleRatio420)
	p := stdimage.NewPaletted(box, color.Palette{color.White, color.RGBA{9, 8, 7, 255}, color.Gray{55}})
	for _, pix := range [][]uint8{g.Pix, g16.Pix, n.Pix, n64.Pix, k.Pix, y.Y, y.Cb, y.Cr} {
		fill(pix)
	}
	for i := 0; i < len(r.Pix); i += 4 { // a premultiplied colour isn't above its alpha
		a := uint8(i * 3)
		copy(r.Pix[i:], []uint8{a, a / 2, a / 3, a})
		copy(r64.Pix[2*i:], []uint8{a, 1, a / 2, 200, a / 3, 3, a, 9})
	}
	for i := range p.Pix {
		p.Pix[i] = uint8(i % 3)
	}
	sheer := stdimage.NewPaletted(box, color.Palette{color.NRGBA{9, 8, 7, 100}, color.Transparent})
	for i, c := range []struct {
		img      stdimage.Image
		channels int
	}{
		{g.SubImage(inner), 1}, {g16.SubImage(inner), 1}, {n.SubImage(inner), 4}, {n64.SubImage(inner), 4}, {r.SubImage(inner), 4},
		{r64.SubImage(inner), 4}, {k.SubImage(inner), 3}, {y.SubImage(inner), 3}, {p.SubImage(inner), 3}, {sheer.SubImage(inner), 4},
	} {
		a, err := FromImage(c.img, &Options{HWC: true})
		if err != nil {
			t.Fatal(err)
		}
		if s := a.Shape(); !slices.Equal(s, []int{5, 5, c.channels}) {
			t.Errorf("%T: shape %v", c.img, s)
			continue
		}
		if _, ok := c.img.(*stdimage.NRGBA64); ok {
			// At premultiplies and loses bits; the high bytes themselves are expected.
			u := held[uint8](a)
			for y := range 5 {
				for x := range 5 {
					for k := range 4 {
						if want := n64.Pix[n64.PixOffset(inner.Min.X+x, inner.Min.Y+y)+2*k]; u.At(y, x, k) != want {
							t.Errorf("NRGBA64 (%d,%d) channel %d: %d, want %d", x, y, k, u.At(y, x, k), want)
						}
					}
				}
			}
			continue
		}
		b, err := FromImage(disguised{c.img}, &Options{HWC: true, Channels: c.channels})
		if err != nil {
			t.Fatal(err)
		}
		// An alpha of 0 leaves no colour for At to give.
		got, want := bytesOf(t, a), bytesOf(t, b)
		if c.channels == 4 {
			for i := 0; i < len(got); i += 4 {
				if want[i+3] == 0 {
					copy(want[i:i+3], got[i:i+3])
				}
			}
		}
		if _, ok := c.img.(*stdimage.NRGBA); ok {
			// At premultiplies in 16 bits, and 8 come back unchanged where alpha isn't too small.
			for i := range got {
				if d := int(got[i]) - int(want[i]); d < -1 || d > 1 {
					t.Errorf("NRGBA sample %d: %d, by At %d", i, got[i], want[i])
				}
			}
			continue
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d, %T: got %v, by At %v", i, c.img, got, want)
		}
	}
	for _, img := range []stdimage.Image{stdimage.NewGray(stdimage.Rectangle{}), stdimage.NewUniform(color.White)} {
		if a, err := FromImage(img, nil); err == nil {
			t.Errorf("%T of %v became %s", img, img.Bounds().Size(), tensor.Describe(a))
		}
	}
}

// A tensor of FromImage is a copy; one of Read takes the decoder's pixels where their order is right. Both have the same bytes.
func TestBorrowChangesNothing(t *testing.T) {
	g := stdimage.NewGray(stdimage.Rect(0, 0, 16, 8))
	n := stdimage.NewNRGBA(stdimage.Rect(0, 0, 16, 8))
	for i := range g.Pix {
		g.Pix[i], n.Pix[4*i], n.Pix[4*i+3] = uint8(i), uint8(i), uint8(3*i)
	}
	for _, c := range []struct {
		img stdimage.Image
		o   Options
	}{{g, Options{Channels: 1}}, {g, Options{Channels: 1, HWC: true}}, {n, Options{Channels: 4, HWC: true}}} {
		b, ok := c.o.borrow(c.img)
		if !ok {
			t.Errorf("%T isn't borrowed with %+v", c.img, c.o)
			continue
		}
		a, err := FromImage(c.img, &c.o)
		if err != nil || !slices.Equal(bytesOf(t, a), bytesOf(t, b)) || !slices.Equal(a.Shape(), b.Shape()) {
			t.Errorf("%T: borrowed and copied differ (%v)", c.img, err)
		}
		held[uint8](a).Fill(7)
		if g.Pix[1] == 7 || n.Pix[4] == 7 {
			t.Errorf("%T: FromImage shares its pixels", c.img)
		}
	}
	for _, c := range []struct {
		img stdimage.Image
		o   Options
	}{
		{n, Options{Channels: 4}}, {n, Options{Channels: 3, HWC: true}}, {g, Options{Channels: 3}}, {g, Options{Channels: 1, Float: true}},
		{g, Options{Channels: 1, Width: 3}}, {g.SubImage(stdimage.Rect(1, 1, 9, 8)), Options{Channels: 1}},
	} {
		if _, ok := c.o.borrow(c.img); ok {
			t.Errorf("%T is borrowed with %+v", c.img, c.o)
		}
	}
}

// Read follows a reader's data wherever reads happen to end, and leaves what comes after the picture to whoever wants it.
func TestReadFromAnyReader(t *testing.T) {
	data := encodePNG(stdimage.NewGray(stdimage.Rect(0, 0, 300, 200)))
	want := bytesOf(t, mustRead(t, data, Options{}))
	for _, r := range []io.Reader{
		bytes.NewReader(append(slices.Clone(data), "and more"...)), iotest.HalfReader(bytes.NewReader(data)),
		iotest.DataErrReader(bytes.NewReader(data)), io.MultiReader(bytes.NewReader(data[:30]), bytes.NewReader(data[30:])),
	} {
		a, err := Read(r, nil)
		if err != nil {
			t.Errorf("%T: %v", r, err)
		} else if !slices.Equal(bytesOf(t, a), want) {
			t.Errorf("%T: other pixels", r)
		}
	}
}

func TestInputComesAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := make([]byte, rapid.IntRange(0, 5*block).Draw(t, "size"))
		for i := range data {
			data[i] = byte(i * i >> 3)
		}
		in := &input{src: bytes.NewReader(data)}
		head := make([]byte, rapid.IntRange(0, len(data)).Draw(t, "head"))
		if _, err := io.ReadFull(in, head); err != nil || in.taken != int64(len(head)) {
			t.Fatalf("%v, taken %d of %d", err, in.taken, len(head))
		}
		n := rapid.IntRange(0, 6*block).Draw(t, "ahead")
		if ok, err := in.ahead(int64(n)); ok != (n <= len(data)) || err != nil {
			t.Fatalf("%d bytes ahead of %d: %v, %v", n, len(data), ok, err)
		}
		in.rewind()
		all, err := io.ReadAll(in)
		if err != nil || !bytes.Equal(all, data) || !bytes.Equal(head, data[:len(head)]) {
			t.Fatalf("%d bytes came back of %d: %v", len(all), len(data), err)
		}
	})
}

// held returns a as a tensor of T, which it must hold.
func held[T num.Elem](a tensor.Any) tensor.Tensor[T] {
	t, ok := tensor.As[T](a)
	if !ok {
		panic(tensor.Describe(a) + " holds another type")
	}
	return t
}
