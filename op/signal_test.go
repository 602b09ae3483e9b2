package op

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// transformed is the definition of DFT, of one signal.
func transformed(x []complex128, inverse bool) []complex128 {
	n := len(x)
	y := make([]complex128, n)
	for k := range y {
		for t, v := range x {
			angle := -2 * math.Pi * float64(k*t%n) / float64(n)
			if inverse {
				angle = -angle
			}
			y[k] += v * cmplx.Exp(complex(0, angle))
		}
		if inverse {
			y[k] /= complex(float64(n), 0)
		}
	}
	return y
}

// nearBy fails unless got is want, but for a part of the largest element of want.
func nearBy(t *testing.T, name string, got []float64, want []complex128, parts int, part float64) {
	t.Helper()
	most := 1e-300
	for _, v := range want {
		most = max(most, cmplx.Abs(v))
	}
	for k, v := range want {
		g := complex(got[parts*k], 0)
		if parts == 2 {
			g = complex(real(g), got[2*k+1])
		}
		if !(cmplx.Abs(g-v) <= part*most) {
			t.Fatalf("%s of %d: element %d is %v, want %v", name, len(want), k, g, v)
		}
	}
}

func TestDFT(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 20))
	for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 25, 27, 30, 31, 32, 37, 41, 49, 60, 64, 74, 97, 100, 121, 128, 211, 222, 256, 961, 1000, 1009, 1024} {
		x := make([]complex128, n)
		data, reals := tensor.New[float64](1, n, 2), tensor.New[float64](1, n, 1)
		for i := range x {
			x[i] = complex(r.NormFloat64(), r.NormFloat64())
			data.Set(real(x[i]), 0, i, 0)
			data.Set(imag(x[i]), 0, i, 1)
			reals.Set(real(x[i]), 0, i, 0)
		}
		y := DFT(data, 1, DFTOptions{})
		nearBy(t, "DFT", y.Elems(), transformed(x, false), 2, 2e-14)
		nearBy(t, "inverse", DFT(data, 1, DFTOptions{Inverse: true}).Elems(), transformed(x, true), 2, 2e-14)
		nearBy(t, "back", DFT(y, -2, DFTOptions{Inverse: true}).Elems(), x, 2, 2e-14)
		for i := range x {
			x[i] = complex(real(x[i]), 0)
		}
		half := DFT(reals, 1, DFTOptions{OneSided: true})
		nearBy(t, "onesided", half.Elems(), transformed(x, false)[:n/2+1], 2, 2e-14)
		same(t, "half of the whole", half, DFT(reals, 1, DFTOptions{}).Slice(tensor.R(0, 1), tensor.R(0, n/2+1)))
		nearBy(t, "onesided and back", DFT(half, 1, DFTOptions{OneSided: true, Inverse: true, Length: n}).Elems(), x, 1, 2e-14)

		// float32 is the true value rounded, but for a few numbers beside the middle of two.
		narrow := Cast[float32](reals)
		for i := range x {
			x[i] = complex(float64(narrow.Elems()[i]), 0)
		}
		got, off := DFT(narrow, 1, DFTOptions{}).Elems(), 0
		for k, v := range transformed(x, false) {
			for i, p := range [2]float64{real(v), imag(v)} {
				if g := got[2*k+i]; g != float32(p) && math.Abs(float64(g)-p) > 1e-12 {
					off++
				}
			}
		}
		if off > 4+n/100 { // sums of a few numbers may lie in the middle of two, which the loop misses
			t.Errorf("of %d float32 %d aren't the rounded value", n, off)
		}
	}
}

// Axes, lengths, layouts and types.
func TestDFTForms(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	x := random[float32](r, 3, 5, 4, 2)
	for _, axis := range []int{0, 1, 2, -2, -4} {
		for _, n := range []int{0, 2, 3, 5, 11} {
			at := axis
			if at < 0 {
				at += 4
			}
			extent := x.Dim(at)
			m := n
			if m == 0 {
				m = extent
			}
			got := DFT(x, axis, DFTOptions{Length: n})
			for at4, v := range got.All() {
				line := make([]float32, 2*m)
				from := append([]int{}, at4...)
				for i := range min(m, extent) {
					from[at] = i
					from[3] = 0
					line[2*i] = x.At(from...)
					from[3] = 1
					line[2*i+1] = x.At(from...)
				}
				one := DFT(tensor.FromSlice(line, m, 2), 0, DFTOptions{})
				if w := one.At(at4[at], at4[3]); w != v {
					t.Fatalf("axis %d, length %d, at %v: %v, want %v", axis, n, at4, v, w)
				}
			}
			for _, v := range variants(x) {
				same(t, v.name, DFT(v.t, axis, DFTOptions{Length: n}), got)
			}
			for _, v := range variants(tensor.New[float32](got.Shape()...)) {
				same(t, "into "+v.name, DFT(x, axis, DFTOptions{Length: n}, Into(v.t)), got)
			}
			call := &Call{Inputs: []tensor.Any{x.Any(), {}, i64(int64(axis)).Any()}, Opset: 20}
			if n != 0 {
				call.Inputs[1] = tensor.Scalar(int64(n)).Any()
			}
			same(t, "opset 20", asOf[float32](runs(t, "DFT", call)[0]), got)
			call = &Call{Inputs: call.Inputs[:2], Attrs: given{"axis": int64(axis)}, Opset: 17}
			same(t, "opset 17", asOf[float32](runs(t, "DFT", call)[0]), got)
		}
	}
	half := Cast[num.F16](x)
	same(t, "float16", DFT(half, 1, DFTOptions{}), Cast[num.F16](DFT(Cast[float64](half), 1, DFTOptions{})))
	same(t, "no signals", DFT(tensor.New[float32](0, 4, 1), 1, DFTOptions{}), tensor.New[float32](0, 4, 2))
	fails(t, func() { DFT(x, 3, DFTOptions{}) }, "op.DFT", "axis 3 is the last")
	fails(t, func() { DFT(x, 4, DFTOptions{}) }, "op.DFT", "axis 4")
	fails(t, func() { DFT(x, 1, DFTOptions{OneSided: true}) }, "op.DFT", "onesided")
	fails(t, func() { DFT(tensor.New[float32](2, 3, 1), 1, DFTOptions{OneSided: true, Inverse: true}) }, "op.DFT", "real numbers")
	fails(t, func() { DFT(tensor.New[float32](2, 3), 0, DFTOptions{}) }, "op.DFT", "[..., 1]")
	fails(t, func() { DFT(tensor.New[float32](2, 0, 1), 1, DFTOptions{}) }, "op.DFT", "0 elements")
	fails(t, func() { DFT(tensor.New[float32](2, 1, 2), 1, DFTOptions{OneSided: true, Inverse: true}) }, "op.DFT", "0 elements")
	fails(t, func() { DFT(x, 1, DFTOptions{Length: -1}) }, "op.DFT", "-1 elements")
	for _, bad := range []tensor.Any{tensor.Scalar(int64(0)).Any(), tensor.Scalar(int64(-5)).Any(), i64(1, 2).Any(), tensor.Scalar(int64(math.MaxInt64)).Any(), x.Any(), tensor.Scalar(int64(1) << 45).Any()} {
		refuses(t, "DFT", &Call{Inputs: []tensor.Any{x.Any(), bad}, Opset: 17})
	}
	nan := tensor.FromSlice([]float32{1, num.NaN32(), 2}, 3, 1)
	for _, v := range DFT(nan, 0, DFTOptions{}).Elems()[:5] {
		if v == v {
			t.Errorf("a NaN gives %v", v)
		}
	}
}

func TestSTFT(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, parts := range []int{1, 2} {
		x, window := random[float32](r, 2, 40, parts), random[float32](r, 7)
		for i := range x.Elems() {
			x.Elems()[i] = r.Float32() - 0.5
		}
		for i := range window.Elems() {
			window.Elems()[i] = r.Float32()
		}
		for _, step := range []int{1, 3, 7, 50} {
			for _, onesided := range []bool{false, true}[:3-parts] {
				got := STFT(x, window, step, STFTOptions{TwoSided: !onesided})
				frames, bins := (40-7)/step+1, 7
				if onesided {
					bins = 4
				}
				wide := tensor.New[float64](2, frames, 7, parts)
				for at := range wide.All() {
					wide.Set(float64(x.At(at[0], at[1]*step+at[2], at[3]))*float64(window.At(at[2])), at...)
				}
				want := Cast[float32](DFT(wide, 2, DFTOptions{OneSided: onesided}))
				if want.Dim(1) != frames || want.Dim(2) != bins {
					t.Fatalf("shape %v", want.Shape())
				}
				same(t, "STFT", got, want)
				call := &Call{Inputs: []tensor.Any{x.Any(), tensor.Scalar(int64(step)).Any(), window.Any(), tensor.Scalar(int32(7)).Any()}, Attrs: given{"onesided": int64(0)}, Opset: 17}
				if onesided {
					call.Attrs = given{}
				}
				same(t, "run-time form", asOf[float32](runs(t, "STFT", call)[0]), want)
			}
		}
	}
	x := random[float64](r, 3, 12)
	var none tensor.Tensor[float64]
	same(t, "no window", STFT(x, none, 2, STFTOptions{Frame: 5}), STFT(x, tensor.Full(1.0, 5), 2, STFTOptions{}))
	same(t, "rank 3", STFT(x.Reshape(3, 12, 1), none, 2, STFTOptions{Frame: 5}), STFT(x, none, 2, STFTOptions{Frame: 5}))
	same(t, "one frame", STFT(x, none, 1, STFTOptions{Frame: 0}).Reshape(3, 7, 2), DFT(x.Reshape(3, 12, 1), 1, DFTOptions{OneSided: true}))
	fails(t, func() { STFT(x, none, 0, STFTOptions{Frame: 5}) }, "op.STFT", "0 elements apart")
	fails(t, func() { STFT(x, none, 1, STFTOptions{Frame: 13}) }, "op.STFT", "frame of 13")
	fails(t, func() { STFT(x, tensor.Full(1.0, 4), 1, STFTOptions{Frame: 5}) }, "op.STFT", "window")
	fails(t, func() { STFT(tensor.New[float64](1, 9, 2), none, 1, STFTOptions{Frame: 5}) }, "op.STFT", "onesided")
	fails(t, func() { STFT(tensor.New[float64](9), none, 1, STFTOptions{Frame: 5}) }, "op.STFT", "[batch, length]")
	for _, bad := range []tensor.Any{tensor.Scalar(int64(0)).Any(), tensor.Scalar(int64(math.MinInt64)).Any(), i64().Any()} {
		refuses(t, "STFT", &Call{Inputs: []tensor.Any{x.Any(), bad}, Opset: 17})
		refuses(t, "STFT", &Call{Inputs: []tensor.Any{x.Any(), tensor.Scalar(int64(2)).Any(), {}, bad}, Opset: 17})
	}
}

func TestMelWeightMatrix(t *testing.T) {
	// The columns of the ONNX test: 8 bands of 16 elements at 8192 Hz from 0 to 4096.
	m := MelWeightMatrix[float32](8, 16, 8192, 0, 4096)
	want := tensor.FromSlice([]float32{
		1, 1, 0, 0, 0, 0, 0, 0,
		0, 0, 1, 1, 0, 0, 0, 0,
		0, 0, 0, 0, 1, 0, 0, 0,
		0, 0, 0, 0, 0, 1, 0, 0,
		0, 0, 0, 0, 0, 0, 1, 0,
		0, 0, 0, 0, 0, 0, 0, 1,
		0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 0, 0}, 9, 8)
	same(t, "MelWeightMatrix", m, want)
	big := MelWeightMatrix[float64](40, 512, 16000, 20, 7600)
	for b := range 40 {
		top, rising := 0, true
		for i := range 257 {
			v := big.At(i, b)
			if v < 0 || v > 1 || i > 0 && rising && v < big.At(i-1, b) || i > 0 && !rising && v > big.At(i-1, b) {
				t.Fatalf("band %d, bin %d: %v", b, i, v)
			}
			if v == 1 {
				top++
				rising = false
			}
		}
		if top != 1 {
			t.Errorf("band %d has %d peaks", b, top)
		}
	}
	same(t, "no bands", MelWeightMatrix[float32](0, 16, 8192, 0, 4096), tensor.New[float32](9, 0))
	fails(t, func() { MelWeightMatrix[float32](8, 16, 8192, 0, 9000) }, "op.MelWeightMatrix", "4096")
	fails(t, func() { MelWeightMatrix[float32](8, 16, 0, 0, 5000) }, "op.MelWeightMatrix", "0 samples")
	fails(t, func() { MelWeightMatrix[float32](-1, 16, 1, 0, 5000) }, "op.MelWeightMatrix", "-1 bands")
	fails(t, func() { MelWeightMatrix[float32](1, 16, 1, 2, 1) }, "op.MelWeightMatrix", "edges")
	fails(t, func() { MelWeightMatrix[float32](1, 16, 1, math.NaN(), 1) }, "op.MelWeightMatrix", "edges")
	fails(t, func() { MelWeightMatrix[float32](1, 16, 1, 0, math.Inf(1)) }, "op.MelWeightMatrix", "edges")
}

func TestAffineGrid(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, corners := range []bool{false, true} {
		for _, size := range [][]int{{2, 3, 4, 5}, {1, 1, 1, 1}, {2, 9, 3, 1, 4}, {2, 1, 0, 4}, {0, 1, 3, 4}} {
			axes := len(size) - 2
			theta := random[float32](r, size[0], axes, axes+1)
			got := AffineGrid(theta, size, AffineGridOptions{AlignCorners: corners})
			want := tensor.New[float32](append(append([]int{size[0]}, size[2:]...), axes)...)
			for at := range want.All() {
				sum := 0.0
				for k := range axes {
					i, n := at[axes-k], size[len(size)-1-k]
					pos := (float64(i)*2 - float64(n-1)) / float64(n)
					if corners {
						pos = 0
						if n > 1 {
							pos = (float64(i)*2 - float64(n-1)) / float64(n-1)
						}
					}
					sum += float64(float64(theta.At(at[0], at[axes+1], k)) * pos)
				}
				want.Set(float32(sum+float64(theta.At(at[0], at[axes+1], axes))), at...)
			}
			same(t, "AffineGrid", got, want)
			list := make([]int64, len(size))
			for i, e := range size {
				list[i] = int64(e)
			}
			call := &Call{Inputs: []tensor.Any{theta.Any(), i64(list...).Any()}, Opset: 20}
			if corners {
				call.Attrs = given{"align_corners": int64(1)}
			}
			same(t, "run-time form", asOf[float32](runs(t, "AffineGrid", call)[0]), want)
			for _, v := range variants(theta) {
				same(t, v.name, AffineGrid(v.t, size, AffineGridOptions{AlignCorners: corners}), want)
			}
		}
	}
	x := tensor.New[float32](2, 2, 3)
	fails(t, func() { AffineGrid(x, []int{3, 1, 4, 4}, AffineGridOptions{}) }, "op.AffineGrid", "(3,1,4,4)")
	fails(t, func() { AffineGrid(x, []int{2, 1, 4, -4}, AffineGridOptions{}) }, "op.AffineGrid", "negative")
	fails(t, func() { AffineGrid(x, []int{2, 1}, AffineGridOptions{}) }, "op.AffineGrid")
	for _, bad := range []tensor.Any{i64(2, 1, math.MaxInt64, math.MaxInt64).Any(), i64().Any(), x.Any()} {
		refuses(t, "AffineGrid", &Call{Inputs: []tensor.Any{x.Any(), bad}, Opset: 20})
	}
}

// refuses fails unless a call is an error.
func refuses(t *testing.T, name string, c *Call) {
	t.Helper()
	o, _ := Lookup(name)
	if out, err := o.Run(c); err == nil {
		t.Errorf("%s of %v: %v, want an error", name, c.Inputs, out)
	}
}
