package image

import (
	"bytes"
	"errors"
	stdimage "image"
	"image/color"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// What is written as PNG comes back, bytes, channels and all.
func TestPNGRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, w := rapid.IntRange(1, 9).Draw(t, "h"), rapid.IntRange(1, 9).Draw(t, "w")
		c := rapid.SampledFrom([]int{1, 3, 4}).Draw(t, "c")
		pix := rapid.SliceOfN(rapid.OneOf(rapid.Uint8(), rapid.Just(uint8(255))), h*w*c, h*w*c).Draw(t, "pix")
		hwc := tensor.FromSlice(pix, h, w, c)
		chw := hwc.Permute(2, 0, 1)
		var flat tensor.Any = hwc.Any()
		if c == 1 {
			flat = hwc.Reshape(h, w).Any()
		}
		for _, way := range []struct {
			t    tensor.Any
			axes Axes
		}{{hwc.Any(), HWC}, {chw.Any(), CHW}, {chw.Contiguous().Any(), CHW}, {flat, map[bool]Axes{true: HW, false: HWC}[c == 1]}} {
			var b bytes.Buffer
			if err := Write(&b, way.t, &WriteOptions{Axes: way.axes}); err != nil {
				t.Fatal(err)
			}
			for _, float := range []bool{false, true} {
				a, err := Read(bytes.NewReader(b.Bytes()), &Options{HWC: true, Float: float})
				if err != nil {
					t.Fatal(err)
				}
				if float { // 0..1 and back
					var again bytes.Buffer
					if err := Write(&again, a, &WriteOptions{Axes: HWC}); err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(again.Bytes(), b.Bytes()) {
						t.Fatal("by way of float32 the file changes")
					}
				} else if got := held[uint8](a); !slices.Equal(got.Shape(), []int{h, w, c}) || !slices.Equal(got.Elems(), pix) {
					t.Fatalf("wrote %v of %d×%d×%d, read %v of %v", pix, h, w, c, got.Elems(), got.Shape())
				}
			}
		}
	})
}

func TestJPEGIsClose(t *testing.T) {
	const h, w = 24, 40
	pix := make([]uint8, 3*h*w)
	for i := range pix {
		pix[i] = uint8(i / w * 3)
	}
	for _, c := range []int{1, 3} {
		var b, low bytes.Buffer
		src := tensor.FromSlice(pix[:c*h*w], c, h, w)
		if err := errors.Join(Write(&b, src.Any(), &WriteOptions{Format: JPEG, Quality: 100}), Write(&low, src.Any(), &WriteOptions{Format: JPEG, Quality: 5})); err != nil {
			t.Fatal(err)
		}
		if low.Len() >= b.Len() {
			t.Errorf("quality 5 takes %d bytes, 100 %d", low.Len(), b.Len())
		}
		got := bytesOf(t, mustRead(t, b.Bytes(), Options{Channels: c}))
		for i := range got {
			if d := int(got[i]) - int(pix[i]); d < -6 || d > 6 {
				t.Fatalf("sample %d of %d channels: %d became %d", i, c, pix[i], got[i])
			}
		}
	}
}

func TestLevels(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want uint8
	}{
		{0, 0}, {math.Copysign(0, -1), 0}, {-1, 0}, {math.Inf(-1), 0}, {math.NaN(), 0}, {1, 255}, {1.5, 255}, {math.Inf(1), 255},
		{0.5 / 255, 0}, {1.5 / 255, 2}, {0.5, 128}, {0.1, 26}, {math.SmallestNonzeroFloat64, 0}, {254.5 / 255, 254}, {math.Nextafter(1, 0), 255},
	} {
		if got := level(c.v); got != c.want {
			t.Errorf("level(%v) = %d, want %d", c.v, got, c.want)
		}
	}
	// Of a float32 the rounding is exact.
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float32Range(0, 1).Draw(t, "v")
		if rapid.Bool().Draw(t, "near a tie") {
			v = float32((float64(rapid.Uint8Range(0, 254).Draw(t, "n")) + 0.5) / 255)
		}
		r := new(big.Rat).SetFloat64(float64(v))
		r.Mul(r, big.NewRat(255, 1))
		lo := new(big.Int).Quo(r.Num(), r.Denom())
		twice := new(big.Rat).Sub(r, new(big.Rat).SetInt(lo))
		half := twice.Cmp(big.NewRat(1, 2))
		want := lo.Int64()
		if half > 0 || half == 0 && want%2 == 1 {
			want++
		}
		if got := level(float64(v)); int64(got) != want {
			t.Fatalf("level(%v) = %d, want %d", v, got, want)
		}
	})
}

func TestToImageTypes(t *testing.T) {
	f32 := []float32{0, 0.25, 0.5, 1, -1, 2}
	want := []uint8{0, 64, 128, 255, 0, 255}
	f64, f16, bf16 := make([]float64, 6), make([]num.F16, 6), make([]num.BF16, 6)
	for i, v := range f32 {
		f64[i], f16[i], bf16[i] = float64(v), num.FromFloat64[num.F16](float64(v)), num.FromFloat64[num.BF16](float64(v))
	}
	for _, a := range []tensor.Any{
		tensor.FromSlice(f32, 2, 3).Any(), tensor.FromSlice(f64, 2, 3).Any(), tensor.FromSlice(f16, 2, 3).Any(), tensor.FromSlice(bf16, 2, 3).Any(), tensor.FromSlice(want, 2, 3).Any(),
	} {
		img, err := ToImage(a, HW)
		if err != nil {
			t.Fatal(err)
		}
		if g := img.(*stdimage.Gray); g.Rect != stdimage.Rect(0, 0, 3, 2) || !slices.Equal(g.Pix, want) {
			t.Errorf("%v: %v of %v", a.DType(), g.Pix, g.Rect)
		}
	}
	rgb, err := ToImage(tensor.FromSlice([]uint8{1, 2, 3, 4, 5, 6}, 1, 2, 3).Any(), HWC)
	if err != nil || rgb.At(1, 0) != (color.RGBA{4, 5, 6, 255}) {
		t.Errorf("%v, %v", rgb, err)
	}
	rgba, err := ToImage(tensor.FromSlice([]uint8{1, 2, 3, 4, 5, 6, 7, 8}, 4, 1, 2).Any(), CHW)
	if err != nil || rgba.At(1, 0) != (color.NRGBA{2, 4, 6, 8}) {
		t.Errorf("%v, %v", rgba, err)
	}
}

func TestAxes(t *testing.T) {
	for _, c := range []struct {
		shape []int
		axes  Axes
		want  stdimage.Point // width, height; 0,0 for an error
		text  string
	}{
		{[]int{5, 7}, AnyAxes, stdimage.Point{X: 7, Y: 5}, ""},
		{[]int{3, 5, 7}, AnyAxes, stdimage.Point{X: 7, Y: 5}, ""},
		{[]int{5, 7, 3}, AnyAxes, stdimage.Point{X: 7, Y: 5}, ""},
		{[]int{1, 5, 7}, AnyAxes, stdimage.Point{X: 7, Y: 5}, ""},
		{[]int{3, 5, 4}, CHW, stdimage.Point{X: 4, Y: 5}, ""},
		{[]int{3, 5, 4}, HWC, stdimage.Point{X: 5, Y: 3}, ""},
		{[]int{3, 5, 4}, AnyAxes, stdimage.Point{}, "first axis or the last"},
		{[]int{5, 3, 7}, AnyAxes, stdimage.Point{}, "is no picture"},
		{[]int{2, 5, 7}, CHW, stdimage.Point{}, "is no picture"},
		{[]int{5, 7}, CHW, stdimage.Point{}, "is no picture"},
		{[]int{1, 3, 5, 7}, AnyAxes, stdimage.Point{}, "Squeeze"},
		{[]int{5}, AnyAxes, stdimage.Point{}, "is no picture"},
		{nil, AnyAxes, stdimage.Point{}, "is no picture"},
		{[]int{3, 0, 7}, CHW, stdimage.Point{}, "at least 1"},
		{[]int{5, 7}, HWC + 1, stdimage.Point{}, "Axes is 4"},
	} {
		img, err := ToImage(tensor.New[uint8](c.shape...).Any(), c.axes)
		if c.text == "" {
			if err != nil || img.Bounds().Size() != c.want {
				t.Errorf("%v with %d: %v, %v", c.shape, c.axes, img, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), c.text) || !errors.Is(err, ErrTensor) && !errors.Is(err, ErrOption) {
			t.Errorf("%v with %d: %v, want %q", c.shape, c.axes, err, c.text)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	ok := tensor.New[uint8](2, 2)
	for _, c := range []struct {
		t    tensor.Any
		o    WriteOptions
		kind error
	}{
		{tensor.New[int32](2, 2).Any(), WriteOptions{}, ErrTensor},
		{tensor.New[uint8](4, 2, 2).Any(), WriteOptions{Format: JPEG}, ErrTensor},
		{tensor.New[uint8](1, 65536).Any(), WriteOptions{Format: JPEG}, ErrTensor},
		{ok.Any(), WriteOptions{Format: 9}, ErrOption},
		{ok.Any(), WriteOptions{Quality: 101}, ErrOption},
		{ok.Any(), WriteOptions{Format: JPEG, Quality: -1}, ErrOption},
	} {
		var b bytes.Buffer
		if err := Write(&b, c.t, &c.o); !errors.Is(err, c.kind) || b.Len() != 0 {
			t.Errorf("%s with %+v: %v, %d bytes written", tensor.Describe(c.t), c.o, err, b.Len())
		}
	}
	closed := tensor.New[uint8](2, 2)
	closed.Close()
	if err := Write(io.Discard, closed.Any(), nil); !errors.Is(err, tensor.ErrClosed) {
		t.Errorf("a closed tensor: %v", err)
	}
	r, w := io.Pipe()
	r.Close()
	for _, f := range []Format{PNG, JPEG} {
		if err := Write(w, ok.Any(), &WriteOptions{Format: f}); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("a closed pipe: %v", err)
		}
	}
}
