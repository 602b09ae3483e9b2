package op

import (
	"flag"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

var neighbours = flag.Int("cases", 2000, "on how many random inputs the tests of neighbours run")

// Between two elements Median and Quantile are on the straight line, for equal, infinite and far ones, too, typed and at run time.
func TestBetweenNeighbours(t *testing.T) {
	t.Run("float64", testBetween[float64])
	t.Run("float32", testBetween[float32])
	t.Run("float16", testBetween[num.F16])
	t.Run("bfloat16", testBetween[num.BF16])
}

func testBetween[T num.Floating](t *testing.T) {
	round := func(v float64) float64 {
		return Cast[float64](Cast[T](tensor.Scalar(v))).Item()
	}
	r := rand.New(rand.NewPCG(5, 5))
	odd := []float64{math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 1.7e308, -1.5e308, math.MaxFloat32, -3e38, 65504, -6e4, 0, math.Copysign(0, -1), 5e-324, 1, -1}
	d := dtype.Of[T]()
	for range *neighbours {
		n := 1 + r.IntN(6)
		a := tensor.New[float64](n)
		v := a.Elems()
		for i := range v {
			if v[i] = odd[r.IntN(len(odd))]; r.IntN(3) == 0 {
				v[i] = r.NormFloat64()
			}
			if i > 0 && r.IntN(2) == 0 {
				v[i] = v[i-1]
			}
			v[i] = round(v[i])
		}
		x := pointwise.InType(a.Any(), d)
		s := Sort(a, 0).Elems()
		q := []float64{0.5, 0.25, 0.75, r.Float64(), float64(float32(r.Float64())), 1, 0}[r.IntN(7)]
		typed, _ := tensor.As[T](x)
		got := []tensor.Any{Quantile(typed, q, nil).Any()}
		if q == 0.5 {
			got = append(got, Median(typed, nil).Any(), must1(as(plan.OpOf(&medianOp)).Run(&Call{Inputs: []tensor.Any{x}, Attrs: given{"keepdims": int64(0)}, Opset: 18})))
		}
		if float64(float32(q)) == q {
			got = append(got, must1(as(plan.OpOf(&quantileOp)).Run(&Call{Inputs: []tensor.Any{x}, Attrs: given{"keepdims": int64(0), "q": float32(q)}, Opset: 18})))
		}
		for _, g := range got {
			g, _ := tensor.As[float64](pointwise.InType(g, dtype.Float64))
			if y := g.Item(); !onLine(s, q, y, round) {
				t.Fatalf("quantile %v of %v is %v", q, s, y)
			}
		}
	}
}

// onLine says that y is on the line at q of sorted elements: exactly for two that are the same, or one that is infinite; else in
// exact arithmetic, but for two units in the last place of the larger one.
func onLine(s []float64, q, y float64, round func(float64) float64) bool {
	at := float64(q * float64(len(s)-1))
	i := int(at)
	t := at - float64(i)
	lo, hi := s[i], s[min(i+1, len(s)-1)]
	same := func(a float64) bool { return math.Float64bits(a) == math.Float64bits(y) || a != a && y != y }
	switch {
	case t == 0 || math.Float64bits(lo) == math.Float64bits(hi):
		return same(lo)
	case math.IsInf(lo, -1) && math.IsInf(hi, 1):
		return same(math.NaN())
	case math.IsInf(lo, 0):
		return same(lo)
	case math.IsInf(hi, 0):
		return same(hi)
	}
	f := func(v float64) *big.Float { return new(big.Float).SetPrec(3000).SetFloat64(v) }
	w := f(0).Sub(f(hi), f(lo))
	w.Add(f(lo), w.Mul(w, f(t)))
	want, _ := w.Float64()
	unit := math.Max(math.Abs(lo), math.Abs(hi))
	unit -= math.Nextafter(unit, 0)
	low, high := round(want-2*unit), round(want+2*unit)
	return y >= low && y <= high && y >= lo && y <= hi
}

// GridSample with the border or reflections around a picture is GridSample of a picture that has them, also far outside.
func TestSamplesOutside(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range *neighbours {
		h, w := 1+r.IntN(5), 1+r.IntN(5)
		x := random[float64](r, 1, 2, h, w)
		for i := range x.Elems() {
			x.Elems()[i] = r.NormFloat64()
		}
		how := GridSampleOptions{Mode: []string{"linear", "cubic"}[r.IntN(2)], Padding: []string{"border", "reflection"}[r.IntN(2)], AlignCorners: r.IntN(2) == 0}
		mode := PadEdge
		if how.Padding == "reflection" {
			if mode = PadSymmetric; how.AlignCorners {
				mode = PadReflect
			}
		}
		const more = 12
		wide := Pad(x, []int{0, 0, more, more}, []int{0, 0, more, more}, mode, 0)
		grid, moved := tensor.New[float64](1, 1, 3, 2), tensor.New[float64](1, 1, 3, 2)
		for i := range grid.Elems() {
			n := []int{w, h}[i%2]
			at := float64(n)/2 + r.Float64()*float64(n+16) - float64(n+16)/2
			if r.IntN(3) == 0 {
				at = math.Round(2*at) / 2
			}
			place := func(at float64, n int) float64 { // the grid's number for a place
				if how.AlignCorners {
					return 2*at/float64(n-1) - 1
				}
				return (2*at+1)/float64(n) - 1
			}
			if how.AlignCorners && n == 1 {
				at = 0
				grid.Elems()[i] = r.NormFloat64()
			} else {
				grid.Elems()[i] = place(at, n)
			}
			moved.Elems()[i] = place(at+more, n+2*more)
		}
		got := GridSample(x, grid, how)
		want := GridSample(wide, moved, GridSampleOptions{Mode: how.Mode, AlignCorners: how.AlignCorners})
		for i, v := range got.Elems() {
			if math.Abs(v-want.Elems()[i]) > 1e-9 {
				t.Fatalf("%+v of %v at %v: %v, of the larger picture %v", how, x, grid, got, want)
			}
		}
	}
	x, far := tensor.FromSlice([]float64{1, 2, 4, 8}, 1, 1, 2, 2), tensor.FromSlice([]float64{math.Inf(1), -1e300}, 1, 1, 1, 2)
	if got := GridSample(x, far, GridSampleOptions{Mode: "cubic", Padding: "border"}).Item(); got != 2 {
		t.Errorf("far outside: %v", got)
	}
}

// Of an axis that becomes one element, also by a scale that leaves more than one, ONNX's text takes element 0 for
// pytorch_half_pixel and align_corners, and the middle of the region for tf_crop_and_resize.
func TestResizeToOne(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for range *neighbours {
		n := 1 + r.IntN(9)
		x := random[float64](r, n)
		for i := range x.Elems() {
			x.Elems()[i] = r.NormFloat64()
		}
		how := ResizeOptions{Mode: []string{"nearest", "linear", "cubic"}[r.IntN(3)], Coordinates: []string{"pytorch_half_pixel", "align_corners", "tf_crop_and_resize"}[r.IntN(3)], ROI: []float64{0, 1}}
		if how.Scales = []float64{(1 + r.Float64()*0.99) / float64(n)}; r.IntN(4) == 0 {
			how.Scales, how.Sizes = nil, []int{1}
		}
		want := x.At(0)
		if at := float64(n-1) / 2; how.Coordinates == "tf_crop_and_resize" {
			if at != math.Trunc(at) {
				continue
			}
			want = x.At(int(at))
		}
		if got := Resize(x, how); got.Len() != 1 || got.At(0) != want {
			t.Fatalf("%+v of %v: %v, want %v", how, x, got, want)
		}
	}
}

// MaxUnpool with the shape that MaxPool was given puts each element at its index, whatever the window.
func TestUnpoolToShape(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	ran := 0
	for range *neighbours {
		shape, win := []int{1 + r.IntN(2), 1 + r.IntN(2)}, Window{Ceil: r.IntN(2) == 0}
		for range 1 + r.IntN(2) {
			k := 1 + r.IntN(3)
			shape, win.Kernel, win.Strides = append(shape, k+r.IntN(7)), append(win.Kernel, k), append(win.Strides, 1+r.IntN(3))
			win.Pads = append(win.Pads, r.IntN(k/2+1))
		}
		win.Pads = append(win.Pads, win.Pads...)
		x := count(shape...)
		list := func(v []int) (w []int64) {
			for _, e := range v {
				w = append(w, int64(e))
			}
			return w
		}
		attrs := given{"kernel_shape": list(win.Kernel), "strides": list(win.Strides), "pads": list(win.Pads)}
		if win.Ceil {
			attrs["ceil_mode"] = int64(1)
		}
		out, err := as(plan.OpOf(&maxPool)).Run(&Call{Inputs: []tensor.Any{x.Any()}, Attrs: attrs, Outputs: 2, Opset: 22})
		if err != nil {
			t.Fatal(err)
		}
		want := tensor.New[int32](shape...)
		at := asOf[int64](out[1])
		for _, i := range at.Elems() {
			want.Elems()[i] = x.Elems()[i]
		}
		back, err := as(plan.OpOf(&maxUnpool)).Run(&Call{Inputs: append(slices.Clone(out), tensor.FromSlice(list(shape)).Any()), Attrs: attrs, Opset: 22})
		if err != nil {
			t.Fatalf("%v %+v: %v", shape, win, err)
		}
		same(t, "unpooled", asOf[int32](back[0]), want)
		ran++
	}
	if ran == 0 {
		t.Error("no pools")
	}
}

// A cubic_coeff_a of 0 is 0: with it only the two elements next to a point have weights, 2d³ − 3d² + 1 at distance d.
func TestCubicCoefficientZero(t *testing.T) {
	x := tensor.FromSlice([]float64{3, -1, 7, 2}, 4)
	in := []tensor.Any{x.Any(), {}, tensor.FromSlice([]float32{4}, 1).Any()}
	out, err := as(plan.OpOf(&resize)).Run(&Call{Inputs: in, Attrs: given{"mode": "cubic", "cubic_coeff_a": float32(0), "coordinate_transformation_mode": "asymmetric"}, Opset: 19})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range asOf[float64](out[0]).Elems() {
		d := float64(i%4) / 4
		w := 2*d*d*d - 3*d*d + 1
		if want := x.At(i/4)*w + x.At(min(i/4+1, 3))*(1-w); math.Abs(v-want) > 1e-12 {
			t.Errorf("element %d is %v, want %v", i, v, want)
		}
	}
}
