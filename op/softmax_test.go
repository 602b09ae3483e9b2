package op

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// softLine is Softmax and LogSoftmax of one line as their doc comments have them.
func softLine[T num.Elem](x []T, logs bool) []T {
	switch x := any(x).(type) {
	case []float32:
		return any(softOf(x, logs, float.Exp32, float.Log32, num.NaN32())).([]T)
	case []float64:
		return any(softOf(x, logs, float.Exp64, float.Log64, num.NaN64())).([]T)
	}
	w := make([]float32, len(x))
	wideOf[T]()(w, x)
	out := make([]T, len(x))
	backOf[T]()(out, softOf(w, logs, float.Exp32, float.Log32, num.NaN32()))
	return out
}

func softOf[T num.Float](x []T, logs bool, exp, log func(T) T, nan T) []T {
	top := T(math.Inf(-1))
	for _, v := range x {
		if v > top {
			top = v
		}
	}
	bad := false
	var e []float64
	d := make([]T, len(x))
	for i, v := range x {
		d[i] = v - top
		bad = bad || d[i] != d[i]
		e = append(e, float64(exp(d[i])))
	}
	sum := T(definedSum(e, plus))
	out := make([]T, len(x))
	for i := range out {
		switch {
		case bad: // a NaN, +∞, or −∞ throughout
			out[i] = nan
		case logs:
			out[i] = d[i] - log(sum)
		default:
			out[i] = T(e[i]) / sum
		}
	}
	return out
}

// definedSoft applies softLine to lines over tail axes from axis on.
func definedSoft[T num.Elem](a tensor.Tensor[T], axis, tail int, logs bool) tensor.Tensor[T] {
	out := a.Clone()
	n := 1
	lead := a.Shape()
	for i := axis; i < axis+tail; i++ {
		n *= a.Dim(i)
		lead[i] = 1
	}
	if a.Len() == 0 {
		return out
	}
	for at := range tensor.New[bool](lead...).All() {
		idx := make([]tensor.Index, a.Rank())
		for i := range idx {
			idx[i] = tensor.R(at[i], at[i]+1)
			if i >= axis && i < axis+tail {
				idx[i] = tensor.Colon
			}
		}
		line := out.Slice(idx...)
		var x []T
		for v := range line.Values() {
			x = append(x, v)
		}
		line.CopyFrom(tensor.FromSlice(softLine(x, logs), line.Shape()...))
	}
	return out
}

func testSoft[T num.Floating](t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, shape := range [][]int{{1}, {33}, {4, 6}, {3, 4, 5}, {2, 0, 3}, {0}, {2, 4200}} {
		a := random[T](r, shape...)
		for axis := range shape {
			for logs, f := range map[bool]func(tensor.Tensor[T], int, ...Option) tensor.Tensor[T]{false: Softmax[T], true: LogSoftmax[T]} {
				want := definedSoft(a, axis, 1, logs)
				what := fmt.Sprintf("%v axis %d, logarithm %t, ", shape, axis, logs)
				for _, v := range variants(a) {
					same(t, what+v.name, f(v.t, axis-len(shape)), want)
					same(t, what+v.name+" in place", f(v.t, axis, Into(v.t)), want)
				}
				for _, v := range variants(want) {
					v.t.Fill(of[T](1))
					same(t, what+"into "+v.name, f(a, axis, Into(v.t)), want)
				}
				b := a.Clone()
				back := b
				for i := range shape {
					back = back.Flip(i)
				}
				same(t, what+"into the operand reversed", f(b, axis, Into(back)), want)
				// Before opset 13 a line is the axis and all after it.
				name := map[bool]string{false: "Softmax", true: "LogSoftmax"}[logs]
				for opset, tail := range map[int]int{12: len(shape) - axis, 13: 1} {
					out := runs(t, name, &Call{Inputs: []tensor.Any{a.Any()}, Opset: opset, Attrs: given{"axis": int64(axis)}})
					same(t, fmt.Sprint(what, "opset ", opset), asOf[T](out[0]), definedSoft(a, axis, tail, logs))
				}
			}
		}
	}
}

func TestSoftmax(t *testing.T) {
	t.Run("float32", testSoft[float32])
	t.Run("float64", testSoft[float64])
	t.Run("float16", testSoft[num.F16])
	t.Run("bfloat16", testSoft[num.BF16])
}

// Long lines, next to which are others with a NaN, with infinities and with nothing but −∞.
func TestSoftmaxLong(t *testing.T) {
	inf, odd := float32(math.Inf(1)), math.Float32frombits(0xffc12345)
	for _, n := range []int{longLine - 1, longLine, longLine + 77, 4099} {
		a := tensor.New[float32](9, n)
		x, _ := tensor.Mutable(a)
		r := rand.New(rand.NewPCG(3, uint64(n)))
		for i := range x {
			x[i] = float32(r.NormFloat64() * 20)
		}
		for line, specials := range [][]float32{1: {odd, 500}, 2: {-inf, 90}, 4: {inf, odd}, 5: {inf, -inf}, 7: {-inf}, 8: {odd, -1e30}} {
			for i, v := range specials {
				x[line*n+r.IntN(n/2)+i*n/2] = v
			}
		}
		a.Slice(tensor.R(7, 8)).Fill(-inf)
		for logs, f := range map[bool]func(tensor.Tensor[float32], int, ...Option) tensor.Tensor[float32]{false: Softmax[float32], true: LogSoftmax[float32]} {
			want := definedSoft(a, 1, 1, logs)
			what := fmt.Sprintf("9 lines of %d, logarithm %t", n, logs)
			same(t, what, f(a, 1), want)
			b := a.Clone()
			same(t, what+", in place", f(b, 1, Into(b)), want)
			same(t, what+", one", f(a.Slice(tensor.R(4, 5)), 1), want.Slice(tensor.R(4, 5)))
		}
	}
}

func TestSoftmaxSpecial(t *testing.T) {
	inf, odd := math.Inf(1), math.Float64frombits(0xfff8000000000001)
	nan := num.NaN64()
	for _, c := range []struct{ x, want []float64 }{
		{[]float64{1, odd, 2}, []float64{nan, nan, nan}},
		{[]float64{1, inf, 2}, []float64{nan, nan, nan}},
		{[]float64{-inf, -inf}, []float64{nan, nan}},
		{[]float64{-inf, 3, 3}, []float64{0, 0.5, 0.5}},
		{[]float64{700, -700}, []float64{1, math.Float64frombits(math.Float64bits(float.Exp64(-1400)))}},
		{[]float64{5}, []float64{1}},
	} {
		x := tensor.FromSlice(c.x)
		same(t, fmt.Sprint("Softmax ", c.x), Softmax(x, 0), tensor.FromSlice(c.want))
		if c.want[0] != c.want[0] {
			same(t, fmt.Sprint("LogSoftmax ", c.x), LogSoftmax(x, 0), tensor.FromSlice(c.want))
		}
	}
	same(t, "LogSoftmax with −∞", LogSoftmax(tensor.FromSlice([]float64{-inf, 0}), 0), tensor.FromSlice([]float64{-inf, 0}))
	same(t, "a line of nothing before the axis", asOf[float64](runs(t, "Softmax", &Call{Inputs: []tensor.Any{tensor.FromSlice([]float64{3, 4}).Any()}, Opset: 12})[0]),
		tensor.FromSlice([]float64{1, 1}))
	x := tensor.New[float32](2, 3)
	fails(t, func() { Softmax(x, 2) }, "op.Softmax", "axis 2", "rank 2")
	fails(t, func() { LogSoftmax(tensor.Scalar(1.0), 0) }, "op.LogSoftmax", "rank 0")
	runs(t, "Softmax", &Call{Inputs: []tensor.Any{x.Any()}, Attrs: given{"axis": int64(5)}})
	runs(t, "LogSoftmax", &Call{Inputs: []tensor.Any{x.Any()}, Opset: 11, Attrs: given{"axis": int64(-4)}})
}
