package op

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// bits returns the bits of a float32 or float64, whose NaNs and zeros == doesn't
// tell apart.
func word[T num.Float](v T) uint64 {
	if f, ok := any(v).(float32); ok {
		return uint64(math.Float32bits(f))
	}
	return math.Float64bits(float64(v))
}

var (
	inf     = math.Inf(1)
	nan     = num.NaN64()
	negZero = math.Copysign(0, -1)
)

// edges are the arguments at which float operators differ.
var edges = []float64{0, negZero, 1, -1, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3, 1e-40, -1e-40, 1e30, -1e30, inf, -inf, nan}

// checkFloat compares an operator of one argument with its definition at the
// edges, bit for bit, in float32 and float64.
func checkFloat(t *testing.T, f32 func(tensor.Tensor[float32]) tensor.Tensor[float32], f64 func(tensor.Tensor[float64]) tensor.Tensor[float64],
	want32 func(float32) float32, want64 func(float64) float64) {
	t.Helper()
	small := make([]float32, len(edges))
	for i, v := range edges {
		small[i] = float32(v)
	}
	for i, got := range f32(tensor.FromSlice(small)).Elems() {
		if w := want32(small[i]); word(got) != word(w) {
			t.Errorf("float32: %v gives %v (%08x), want %v (%08x)", small[i], got, word(got), w, word(w))
		}
	}
	for i, got := range f64(tensor.FromSlice(edges)).Elems() {
		if w := want64(edges[i]); word(got) != word(w) {
			t.Errorf("float64: %v gives %v, want %v", edges[i], got, w)
		}
	}
}

func canon(v float64) float64 {
	if v != v {
		return num.NaN64()
	}
	return v
}

func in32(f func(float64) float64) func(float32) float32 {
	return func(x float32) float32 {
		if v := float32(f(float64(x))); v == v {
			return v
		}
		return num.NaN32()
	}
}

func in64(f func(float64) float64) func(float64) float64 {
	return func(x float64) float64 { return canon(f(x)) }
}

// Operators that float64 defines: the same formula, rounded to float32.
func TestFloatOperators(t *testing.T) {
	for name, f := range map[string]func(float64) float64{
		"Sqrt":       math.Sqrt,
		"Reciprocal": func(x float64) float64 { return 1 / x },
		"Neg":        func(x float64) float64 { return math.Copysign(x, -1*math.Copysign(1, x)) },
		"Abs":        math.Abs,
		"LeakyRelu": func(x float64) float64 {
			if x < 0 {
				return 0.25 * x
			}
			return x
		},
		"Clip": func(x float64) float64 { return math.Min(math.Max(x, -1.25), 2) },
	} {
		t.Run(name, func(t *testing.T) {
			want := in64(f)
			if name == "Neg" { // bits, even of a NaN
				want = func(x float64) float64 { return math.Float64frombits(math.Float64bits(x) ^ 1<<63) }
			}
			want32 := in32(f)
			if name == "Neg" {
				want32 = func(x float32) float32 { return math.Float32frombits(math.Float32bits(x) ^ 1<<31) }
			}
			checkFloat(t, func(a tensor.Tensor[float32]) tensor.Tensor[float32] { return unary(name, a) },
				func(a tensor.Tensor[float64]) tensor.Tensor[float64] { return unary(name, a) }, want32, want)
		})
	}
}

func unary[T num.Float](name string, a tensor.Tensor[T]) tensor.Tensor[T] {
	switch name {
	case "Sqrt":
		return Sqrt(a)
	case "Reciprocal":
		return Reciprocal(a)
	case "Neg":
		return Neg(a)
	case "Abs":
		return Abs(a)
	case "LeakyRelu":
		return LeakyRelu(a, 0.25)
	case "Clip":
		return Clip(a, -1.25, 2)
	}
	panic(name)
}

// The functions of num, element by element.
func TestCorrectlyRounded(t *testing.T) {
	for _, c := range []struct {
		f32    func(tensor.Tensor[float32], ...Option) tensor.Tensor[float32]
		f64    func(tensor.Tensor[float64], ...Option) tensor.Tensor[float64]
		want32 func(float32) float32
		want64 func(float64) float64
	}{
		{Exp[float32], Exp[float64], float.Exp32, float.Exp64},
		{Exp2[float32], Exp2[float64], float.Exp2x32, float.Exp2x64},
		{Expm1[float32], Expm1[float64], float.Expm1x32, float.Expm1x64},
		{Log[float32], Log[float64], float.Log32, float.Log64},
		{Log2[float32], Log2[float64], float.Log2x32, float.Log2x64},
		{Log10[float32], Log10[float64], float.Log10x32, float.Log10x64},
		{Log1p[float32], Log1p[float64], float.Log1p32, float.Log1p64},
		{Sin[float32], Sin[float64], float.Sin32, float.Sin64},
		{Cos[float32], Cos[float64], float.Cos32, float.Cos64},
		{Tan[float32], Tan[float64], float.Tan32, float.Tan64},
		{Asin[float32], Asin[float64], float.Asin32, float.Asin64},
		{Acos[float32], Acos[float64], float.Acos32, float.Acos64},
		{Atan[float32], Atan[float64], float.Atan32, float.Atan64},
		{Sinh[float32], Sinh[float64], float.Sinh32, float.Sinh64},
		{Cosh[float32], Cosh[float64], float.Cosh32, float.Cosh64},
		{Tanh[float32], Tanh[float64], float.Tanh32, float.Tanh64},
		{Asinh[float32], Asinh[float64], float.Asinh32, float.Asinh64},
		{Acosh[float32], Acosh[float64], float.Acosh32, float.Acosh64},
		{Atanh[float32], Atanh[float64], float.Atanh32, float.Atanh64},
		{Sigmoid[float32], Sigmoid[float64], float.Sigmoid32, float.Sigmoid64},
		{Softplus[float32], Softplus[float64], float.Softplus32, float.Softplus64},
		{Erf[float32], Erf[float64], float.Erf32, float.Erf64},
		{Gelu[float32], Gelu[float64], float.Gelu32, float.Gelu64},
		{GeluTanh[float32], GeluTanh[float64], float.GeluTanh32, float.GeluTanh64},
		{Mish[float32], Mish[float64], float.Mish32, float.Mish64},
		{Cbrt[float32], Cbrt[float64], float.Cbrt32, float.Cbrt64},
		{Rsqrt[float32], Rsqrt[float64], float.Rsqrt32, float.Rsqrt64},
	} {
		checkFloat(t, func(a tensor.Tensor[float32]) tensor.Tensor[float32] { return c.f32(a) },
			func(a tensor.Tensor[float64]) tensor.Tensor[float64] { return c.f64(a) }, c.want32, c.want64)
	}
}

func TestTwoArguments(t *testing.T) {
	for _, a := range edges {
		for _, b := range edges {
			if got, want := Atan2(tensor.Scalar(a), tensor.Scalar(b)).Item(), canon(float.Atan2x64(a, b)); word(got) != word(want) {
				t.Errorf("Atan2(%v, %v): %v, want %v", a, b, got, want)
			}
			if got, want := Hypot(tensor.Scalar(a), tensor.Scalar(b)).Item(), canon(float.Hypot64(a, b)); word(got) != word(want) {
				t.Errorf("Hypot(%v, %v): %v, want %v", a, b, got, want)
			}
			p, q := float32(a), float32(b)
			if got, want := Atan2(tensor.Scalar(p), tensor.Scalar(q)).Item(), float.Atan2x32(p, q); word(got) != word(want) {
				t.Errorf("Atan2(%v, %v): %v, want %v", p, q, got, want)
			}
			if got, want := Hypot(tensor.Scalar(p), tensor.Scalar(q)).Item(), float.Hypot32(p, q); word(got) != word(want) {
				t.Errorf("Hypot(%v, %v): %v, want %v", p, q, got, want)
			}
		}
	}
}

// Pairs of edges against the operators of Go, which are IEEE's.
func TestFloatPairs(t *testing.T) {
	n := len(edges)
	col, row := tensor.FromSlice(edges, n, 1), tensor.FromSlice(edges, n)
	for name, c := range map[string]struct {
		got  tensor.Tensor[float64]
		want func(a, b float64) float64
	}{
		"Add": {Add(col, row), func(a, b float64) float64 { return a + b }},
		"Sub": {Sub(col, row), func(a, b float64) float64 { return a - b }},
		"Mul": {Mul(col, row), func(a, b float64) float64 { return a * b }},
		"Div": {Div(col, row), func(a, b float64) float64 { return a / b }},
		"Max": {Max(col, row), func(a, b float64) float64 {
			if a != a || b != b { // math.Max lets +Inf win over NaN
				return nan
			}
			return math.Max(a, b)
		}},
		"Min": {Min(col, row), func(a, b float64) float64 {
			if a != a || b != b {
				return nan
			}
			return math.Min(a, b)
		}},
	} {
		for i, a := range edges {
			for j, b := range edges {
				if got, want := c.got.At(i, j), canon(c.want(a, b)); word(got) != word(want) {
					t.Errorf("%s(%v, %v) = %v, want %v", name, a, b, got, want)
				}
			}
		}
	}
	for name, c := range map[string]struct {
		got  tensor.Tensor[bool]
		want func(a, b float64) bool
	}{
		"Equal":          {Equal(col, row), func(a, b float64) bool { return a == b }},
		"Less":           {Less(col, row), func(a, b float64) bool { return a < b }},
		"LessOrEqual":    {LessOrEqual(col, row), func(a, b float64) bool { return a <= b }},
		"Greater":        {Greater(col, row), func(a, b float64) bool { return a > b }},
		"GreaterOrEqual": {GreaterOrEqual(col, row), func(a, b float64) bool { return a >= b }},
	} {
		for i, a := range edges {
			for j, b := range edges {
				if got, want := c.got.At(i, j), c.want(a, b); got != want {
					t.Errorf("%s(%v, %v) = %v, want %v", name, a, b, got, want)
				}
			}
		}
	}
}

func TestIntegers(t *testing.T) {
	a := tensor.FromSlice([]int8{-128, -128, 127, -7, 7, 7})
	b := tensor.FromSlice([]int8{-1, 1, 127, 2, -2, 2})
	for name, c := range map[string]struct{ got, want []int8 }{
		"Add": {Add(a, b).Elems(), []int8{127, -127, -2, -5, 5, 9}},
		"Sub": {Sub(a, b).Elems(), []int8{-127, 127, 0, -9, 9, 5}},
		"Mul": {Mul(a, b).Elems(), []int8{-128, -128, 1, -14, -14, 14}},
		"Div": {Div(a, b).Elems(), []int8{-128, -128, 1, -3, -3, 3}},
		"Max": {Max(a, b).Elems(), []int8{-1, 1, 127, 2, 7, 7}},
		"Min": {Min(a, b).Elems(), []int8{-128, -128, 127, -7, -2, 2}},
		"Neg": {Neg(a).Elems(), []int8{-128, -128, -127, 7, -7, -7}},
		"Abs": {Abs(a).Elems(), []int8{-128, -128, 127, 7, 7, 7}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
	u := tensor.FromSlice([]uint8{0, 200, 255})
	if got := Clip(u, 3, 250).Elems(); !reflect.DeepEqual(got, []uint8{3, 200, 250}) {
		t.Errorf("Clip: %v", got)
	}
	if got := Clip(u, 250, 3).Elems(); !reflect.DeepEqual(got, []uint8{3, 3, 3}) {
		t.Errorf("Clip with bounds that cross: %v, want the upper one", got)
	}
}

// A divisor of 0 is named by its index, and nothing is written.
func TestDivByZero(t *testing.T) {
	a, b := tensor.Full[int32](6, 2, 3), tensor.FromSlice([]int32{1, 2, 0})
	dst := tensor.Full[int32](-1, 2, 3)
	err := tensor.Try(func() { Div(a, b, Into(dst)) })
	if !errors.Is(err, tensor.ErrValue) || err.Error() != "op.Div: integer division by zero: the divisor at index (2) is 0" {
		t.Errorf("error %v", err)
	}
	for _, v := range dst.Elems() {
		if v != -1 {
			t.Fatalf("the target was written: %v", dst)
		}
	}
	if got := Div(a, tensor.New[int32](0, 1, 1)); got.Len() != 0 {
		t.Errorf("an empty divisor: %v", got)
	}
}

func TestLogic(t *testing.T) {
	a, b := tensor.FromSlice([]bool{false, false, true, true}), tensor.FromSlice([]bool{false, true, false, true})
	for name, c := range map[string]struct{ got, want []bool }{
		"And": {And(a, b).Elems(), []bool{false, false, false, true}},
		"Or":  {Or(a, b).Elems(), []bool{false, true, true, true}},
		"Xor": {Xor(a, b).Elems(), []bool{false, true, true, false}},
		"Not": {Not(a).Elems(), []bool{true, true, false, false}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
}

// Neg, Abs and Where keep the bits of NaNs, of every kind of float.
func TestBitsOfNaN(t *testing.T) {
	h := tensor.FromSlice([]num.F16{num.FromBits[num.F16](0x7c01), num.FromBits[num.F16](0xfe55)})
	if got := Neg(h); got.At(0).Bits() != 0xfc01 || got.At(1).Bits() != 0x7e55 {
		t.Errorf("Neg of float16: %04x %04x", got.At(0).Bits(), got.At(1).Bits())
	}
	if got := Abs(h); got.At(0).Bits() != 0x7c01 || got.At(1).Bits() != 0x7e55 {
		t.Errorf("Abs of float16: %04x %04x", got.At(0).Bits(), got.At(1).Bits())
	}
	q := tensor.FromSlice([]num.F8E5M2{num.FromBits[num.F8E5M2](0xfd)})
	if got := Abs(q).Item().Bits(); got != 0x7d {
		t.Errorf("Abs of float8: %02x", got)
	}
	odd := math.Float32frombits(0xff800001) // signalling
	f := tensor.FromSlice([]float32{odd, 1})
	got := Where(tensor.FromSlice([]bool{true, false}), f, tensor.Scalar(float32(2)))
	if word(got.At(0)) != 0xff800001 || got.At(1) != 2 {
		t.Errorf("Where: %08x %v", word(got.At(0)), got.At(1))
	}
	if got := Abs(f); word(got.At(0)) != 0x7f800001 {
		t.Errorf("Abs: %08x", word(got.At(0)))
	}
	if got := Add(f, f); word(got.At(0)) != num.Canon32 {
		t.Errorf("Add: %08x", word(got.At(0)))
	}
}

// Narrow floats are computed in float32 and rounded once.
func TestNarrow(t *testing.T) {
	a, b := num.FromFloat64[num.F16](2049), num.FromFloat64[num.F16](0.333)
	got := Mul(tensor.Scalar(a), tensor.Scalar(b)).Item()
	if want := num.FromFloat64[num.F16](float64(a.Float32() * b.Float32())); got != want {
		t.Errorf("Mul: %v, want %v", got, want)
	}
	x := num.FromFloat64[num.BF16](1.3)
	if got, want := Tanh(tensor.Scalar(x)).Item(), num.FromFloat64[num.BF16](float64(float.Tanh32(x.Float32()))); got != want {
		t.Errorf("Tanh: %v, want %v", got, want)
	}
	if got := LeakyRelu(tensor.Scalar(num.FromFloat64[num.F16](-8)), 0.5).Item().Float32(); got != -4 {
		t.Errorf("LeakyRelu: %v", got)
	}
	if got := Clip(tensor.Scalar(num.FromFloat64[num.F8E4M3](100)), num.FromFloat64[num.F8E4M3](-1), num.FromFloat64[num.F8E4M3](6)).Item().Float32(); got != 6 {
		t.Errorf("Clip: %v", got)
	}
	if !Less(tensor.Scalar(b), tensor.Scalar(a)).Item() {
		t.Error("Less")
	}
}

func TestSumMean(t *testing.T) {
	a, b, c := tensor.FromSlice([]float32{1, 2}, 2, 1), tensor.FromSlice([]float32{10, 20, 30}), tensor.Scalar(float32(100))
	sum := Sum([]tensor.Tensor[float32]{a, b, c})
	if want := tensor.FromSlice([]float32{111, 121, 131, 112, 122, 132}, 2, 3); !reflect.DeepEqual(sum.Elems(), want.Elems()) {
		t.Errorf("Sum: %v", sum)
	}
	mean := Mean([]tensor.Tensor[float32]{a, b, c})
	for i, v := range mean.Elems() {
		if v != sum.Elems()[i]/3 {
			t.Errorf("Mean: %v", mean)
		}
	}
	one := Sum([]tensor.Tensor[float32]{b})
	if one.Any().SameData(b.Any()) {
		t.Error("Sum of one tensor shares its elements")
	}
	dst := tensor.New[float32](2, 3)
	if Sum([]tensor.Tensor[float32]{a, b, c}, Into(dst)); !reflect.DeepEqual(dst.Elems(), sum.Elems()) {
		t.Errorf("Sum into: %v", dst)
	}
	for _, f := range []func(){func() { Sum[float32](nil) }, func() { Mean[float32](nil) }} {
		if err := tensor.Try(f); !errors.Is(err, tensor.ErrShape) {
			t.Errorf("of nothing: %v", err)
		}
	}
	if got := Mean([]tensor.Tensor[num.F16]{tensor.Scalar(num.FromFloat64[num.F16](3)), tensor.Scalar(num.FromFloat64[num.F16](4))}).Item().Float32(); got != 3.5 {
		t.Errorf("Mean of float16: %v", got)
	}
}

func TestDropout(t *testing.T) {
	a := tensor.FromSlice([]float32{1, 2})
	out, mask := Dropout(a)
	if !out.Any().SameData(a.Any()) || !mask.At(0) || !mask.At(1) {
		t.Errorf("Dropout: %v %v", out, mask)
	}
	train := &Call{Inputs: []tensor.Any{a.Any(), tensor.Scalar(float32(0.5)).Any(), tensor.Scalar(true).Any()}, Opset: 13, Outputs: 2}
	if got, err := as(plan.OpOf(&dropout)).Run(train); err != nil || len(got) != 2 {
		t.Errorf("training: %v %v", got, err)
	}
	train.Inputs[1] = tensor.Scalar(float32(0)).Any()
	if got, err := as(plan.OpOf(&dropout)).Run(train); err != nil || len(got) != 2 {
		t.Errorf("training with ratio 0: %v %v", got, err)
	}
	old := &Call{Inputs: []tensor.Any{a.Any()}, Opset: 7, Outputs: 2}
	got, err := as(plan.OpOf(&dropout)).Run(old)
	if err != nil || got[1].DType() != dtype.Float32 {
		t.Fatalf("opset 7: %v %v", got, err)
	}
	if m := asOf[float32](got[1]); m.At(0) != 1 || m.At(1) != 1 {
		t.Errorf("opset 7: mask %v", m)
	}
}
