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

// ulps returns how far apart two float64 are, in units of the last place of want
// as a float of so many bits of significand.
func ulps(got, want float64, prec int) float64 {
	if got == want || got != got && want != want {
		return 0
	}
	if want == 0 || math.IsInf(want, 0) || want != want || math.IsInf(got, 0) {
		return inf
	}
	_, e := math.Frexp(want)
	least := -1074
	if prec == 24 {
		least = -149
	}
	return math.Abs(got-want) / math.Ldexp(1, max(e-prec, least))
}

// Operators computed in float64 against the formula by the standard library's
// functions: the nearest float32 or its neighbour, and a few ulp of float64.
func TestActivations(t *testing.T) {
	neg := func(f func(float64) float64) func(float64) float64 {
		return func(x float64) float64 {
			if x < 0 {
				return f(x)
			}
			return x
		}
	}
	for _, c := range []struct {
		name string
		f32  func(tensor.Tensor[float32]) tensor.Tensor[float32]
		f64  func(tensor.Tensor[float64]) tensor.Tensor[float64]
		want func(float64) float64
	}{
		{"Elu", func(a tensor.Tensor[float32]) tensor.Tensor[float32] { return Elu(a, 0.75) },
			func(a tensor.Tensor[float64]) tensor.Tensor[float64] { return Elu(a, 0.75) },
			neg(func(x float64) float64 { return 0.75 * math.Expm1(x) })},
		{"Celu", func(a tensor.Tensor[float32]) tensor.Tensor[float32] { return Celu(a, 0.75) },
			func(a tensor.Tensor[float64]) tensor.Tensor[float64] { return Celu(a, 0.75) },
			neg(func(x float64) float64 { return 0.75 * math.Expm1(x/0.75) })},
		{"Selu", func(a tensor.Tensor[float32]) tensor.Tensor[float32] { return Selu(a, 1.75, 1.25) },
			func(a tensor.Tensor[float64]) tensor.Tensor[float64] { return Selu(a, 1.75, 1.25) },
			func(x float64) float64 { return 1.25 * neg(func(x float64) float64 { return 1.75 * math.Expm1(x) })(x) }},
		{"HardSigmoid", func(a tensor.Tensor[float32]) tensor.Tensor[float32] { return HardSigmoid(a, 0.25, 0.625) },
			func(a tensor.Tensor[float64]) tensor.Tensor[float64] { return HardSigmoid(a, 0.25, 0.625) },
			func(x float64) float64 { return math.Max(0, math.Min(1, 0.25*x+0.625)) }},
		{"HardSwish", func(a tensor.Tensor[float32]) tensor.Tensor[float32] { return HardSwish(a) },
			func(a tensor.Tensor[float64]) tensor.Tensor[float64] { return HardSwish(a) },
			func(x float64) float64 {
				if math.IsInf(x, -1) {
					return 0
				}
				return x * math.Max(0, math.Min(1, (x+3)/6))
			}},
		{"Softplus", func(a tensor.Tensor[float32]) tensor.Tensor[float32] { return Softplus(a) },
			func(a tensor.Tensor[float64]) tensor.Tensor[float64] { return Softplus(a) },
			func(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }},
		{"Softsign", func(a tensor.Tensor[float32]) tensor.Tensor[float32] { return Softsign(a) },
			func(a tensor.Tensor[float64]) tensor.Tensor[float64] { return Softsign(a) },
			func(x float64) float64 {
				if math.IsInf(x, 0) {
					return math.Copysign(1, x)
				}
				return x / (1 + math.Abs(x))
			}},
		{"ThresholdedRelu", func(a tensor.Tensor[float32]) tensor.Tensor[float32] { return ThresholdedRelu(a, 1.5) },
			func(a tensor.Tensor[float64]) tensor.Tensor[float64] { return ThresholdedRelu(a, 1.5) },
			func(x float64) float64 {
				if x <= 1.5 {
					return 0
				}
				return x
			}},
	} {
		x := append([]float64(nil), edges...)
		for i := -400; i <= 400; i++ {
			x = append(x, float64(float32(float64(i)*0.0371)))
		}
		for e := -140; e < 8; e += 3 {
			x = append(x, math.Ldexp(1.25, e), -math.Ldexp(1.25, e))
		}
		small := make([]float32, len(x))
		for i, v := range x {
			small[i] = float32(v)
		}
		for i, got := range c.f32(tensor.FromSlice(small)).Elems() {
			want := float64(float32(c.want(float64(small[i]))))
			if d := ulps(float64(got), want, 24); d > 1 {
				t.Errorf("%s(%v) = %v, want %v", c.name, small[i], got, want)
			}
			if got != got && word(got) != num.Canon32 {
				t.Errorf("%s(%v) is the NaN %08x", c.name, small[i], word(got))
			}
		}
		for i, got := range c.f64(tensor.FromSlice(x)).Elems() {
			if want := c.want(x[i]); ulps(got, want, 53) > 8 {
				t.Errorf("%s(%v) = %v, want %v", c.name, x[i], got, want)
			}
		}
	}
}

func TestRounding(t *testing.T) {
	checkFloat(t, func(a tensor.Tensor[float32]) tensor.Tensor[float32] { return Floor(a) },
		func(a tensor.Tensor[float64]) tensor.Tensor[float64] { return Floor(a) }, in32(math.Floor), in64(math.Floor))
	checkFloat(t, func(a tensor.Tensor[float32]) tensor.Tensor[float32] { return Ceil(a) },
		func(a tensor.Tensor[float64]) tensor.Tensor[float64] { return Ceil(a) }, in32(math.Ceil), in64(math.Ceil))
	checkFloat(t, func(a tensor.Tensor[float32]) tensor.Tensor[float32] { return Round(a) },
		func(a tensor.Tensor[float64]) tensor.Tensor[float64] { return Round(a) }, in32(math.RoundToEven), in64(math.RoundToEven))
	signum := func(x float64) float64 {
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		case x == 0:
			return 0
		}
		return x
	}
	checkFloat(t, func(a tensor.Tensor[float32]) tensor.Tensor[float32] { return Sign(a) },
		func(a tensor.Tensor[float64]) tensor.Tensor[float64] { return Sign(a) }, in32(signum), in64(signum))
	if got := Sign(tensor.FromSlice([]int8{-128, 0, 5})).Elems(); !reflect.DeepEqual(got, []int8{-1, 0, 1}) {
		t.Errorf("Sign: %v", got)
	}
	if got := Sign(tensor.FromSlice([]uint8{0, 200})).Elems(); !reflect.DeepEqual(got, []uint8{0, 1}) {
		t.Errorf("Sign: %v", got)
	}
}

func TestPow(t *testing.T) {
	for _, c := range []struct{ a, b, want int8 }{
		{2, 6, 64}, {2, 7, -128}, {3, 0, 1}, {0, 0, 1}, {-3, 3, -27}, {2, -1, 0}, {1, -5, 1}, {-1, -5, -1}, {-1, -4, 1}, {0, -1, 127}, {7, 127, -73}, {-128, 1, -128},
	} {
		if got := Pow(tensor.Scalar(c.a), tensor.Scalar(c.b)).Item(); got != c.want {
			t.Errorf("%d to %d: %d, want %d", c.a, c.b, got, c.want)
		}
	}
	for _, a := range edges {
		for _, b := range edges {
			if got, want := Pow(tensor.Scalar(a), tensor.Scalar(b)).Item(), canon(float.Pow64(a, b)); word(got) != word(want) {
				t.Errorf("%v to %v: %v, want %v", a, b, got, want)
			}
		}
	}
	squared := []float32{0, 3, -5, float32(math.Copysign(0, -1)), 1e-42, 0x1p-75, 1e30, float32(math.Inf(-1)), math.Float32frombits(0xffc12345)}
	for _, to := range []tensor.Tensor[float32]{tensor.Scalar[float32](2), tensor.Full[float32](2, 1, 9), tensor.Full[float32](2, 1, 1)} {
		got := Pow(tensor.FromSlice(squared), to)
		if rank := to.Rank(); got.Rank() != max(rank, 1) {
			t.Errorf("to %v: shape %v", to, got.Shape())
		}
		for i, got := range got.Elems() {
			if want := float.Pow32(squared[i], 2); math.Float32bits(got) != math.Float32bits(want) {
				t.Errorf("%v squared: %v, want %v", squared[i], got, want)
			}
		}
	}
	run := func(x, y tensor.Any) tensor.Any {
		return must1(as(plan.OpOf(&powOp)).Run(&Call{Inputs: []tensor.Any{x, y}, Opset: 15}))
	}
	if got := asOf[float32](run(tensor.FromSlice([]float32{2, 3}).Any(), tensor.FromSlice([]int64{3, 2}).Any())).Elems(); !reflect.DeepEqual(got, []float32{8, 9}) {
		t.Errorf("float32 to int64: %v", got)
	}
	if got := asOf[int32](run(tensor.FromSlice([]int32{9, -3, 70000}).Any(), tensor.FromSlice([]float32{0.5, 3, 2}).Any())).Elems(); !reflect.DeepEqual(got, []int32{3, -27, math.MaxInt32}) {
		t.Errorf("int32 to float32: %v", got)
	}
	if got := asOf[int32](run(tensor.FromSlice([]int32{3, 3, -1}).Any(), tensor.FromSlice([]uint64{3, 1 << 40, 1<<63 + 1}).Any())).Elems(); got[0] != 27 || got[2] != -1 {
		t.Errorf("int32 to uint64: %v", got)
	}
	if got := asOf[int32](run(tensor.FromSlice([]int32{70000, 2}).Any(), tensor.FromSlice([]int64{2, 1 << 33}).Any())).Elems(); !reflect.DeepEqual(got, []int32{605032704, 0}) {
		t.Errorf("int32 to int64: %v", got)
	}
	_, err := as(plan.OpOf(&powOp)).Run(&Call{Inputs: []tensor.Any{tensor.Scalar(uint64(2)).Any(), tensor.Scalar(int8(-1)).Any()}})
	if !errors.Is(err, tensor.ErrDType) {
		t.Errorf("uint64 to int8: %v", err)
	}
}

func TestPRelu(t *testing.T) {
	a := tensor.FromSlice([]float32{-2, float32(negZero), 3, -4}, 2, 2)
	if got := PRelu(a, tensor.FromSlice([]float32{0.5, 0.25})).Elems(); !reflect.DeepEqual(got, []float32{-1, float32(negZero), 3, -1}) {
		t.Errorf("PRelu: %v", got)
	}
	err := tensor.Try(func() { PRelu(tensor.FromSlice([]float32{1, 2}), a) })
	if !errors.Is(err, tensor.ErrShape) {
		t.Errorf("a wider slope: %v", err)
	}
	if got := PRelu(tensor.FromSlice([]int32{-2, 5}), tensor.Scalar[int32](3)).Elems(); !reflect.DeepEqual(got, []int32{-6, 5}) {
		t.Errorf("PRelu of integers: %v", got)
	}
}

func TestMod(t *testing.T) {
	a, b := tensor.FromSlice([]int8{-7, 7, -7, 7, -128, 6}), tensor.FromSlice([]int8{3, -3, -3, 3, -1, -3})
	if got := Mod(a, b).Elems(); !reflect.DeepEqual(got, []int8{2, -2, -1, 1, 0, 0}) {
		t.Errorf("Mod: %v", got)
	}
	if got := FMod(a, b).Elems(); !reflect.DeepEqual(got, []int8{-1, 1, -1, 1, 0, 0}) {
		t.Errorf("FMod: %v", got)
	}
	for _, f := range []func(){func() { Mod(a, tensor.Scalar[int8](0)) }, func() { FMod(a, tensor.Scalar[int8](0)) }} {
		if err := tensor.Try(f); !errors.Is(err, tensor.ErrValue) {
			t.Errorf("by zero: %v", err)
		}
	}
	n := len(edges)
	got := FMod(tensor.FromSlice(edges, n, 1), tensor.FromSlice(edges))
	for i, x := range edges {
		for j, y := range edges {
			if want := canon(math.Mod(x, y)); word(got.At(i, j)) != word(want) {
				t.Errorf("FMod(%v, %v) = %v, want %v", x, y, got.At(i, j), want)
			}
		}
	}
	call := &Call{Inputs: []tensor.Any{tensor.Scalar(float32(5)).Any(), tensor.Scalar(float32(3)).Any()}, Opset: 13}
	if _, err := as(plan.OpOf(&modOp)).Run(call); !errors.Is(err, tensor.ErrDType) {
		t.Errorf("floats with fmod 0: %v", err)
	}
	call.Attrs = attrMap{"fmod": int64(1)}
	if got := asOf[float32](must1(as(plan.OpOf(&modOp)).Run(call))).Item(); got != 2 {
		t.Errorf("floats with fmod 1: %v", got)
	}
}

func TestClassify(t *testing.T) {
	for i, v := range edges {
		if got := IsNaN(tensor.Scalar(v)).Item(); got != (v != v) {
			t.Errorf("IsNaN(%v) = %v", v, got)
		}
		h := tensor.Scalar(num.FromFloat64[num.F16](v))
		if got := IsNaN(h).Item(); got != (v != v) {
			t.Errorf("IsNaN(float16 %v) = %v", edges[i], got)
		}
		for _, sign := range []int{0, 1, -1, 7, math.MinInt} {
			if got := IsInf(tensor.Scalar(v), sign).Item(); got != math.IsInf(v, sign) {
				t.Errorf("IsInf(%v, %d) = %v", v, sign, got)
			}
			if got := IsInf(tensor.Scalar(num.FromFloat64[num.F8E4M3](v)), sign).Item(); got {
				t.Errorf("IsInf(float8_e4m3 %v) is true", v)
			}
		}
	}
}

func TestBits(t *testing.T) {
	a, b := tensor.FromSlice([]uint8{0x81, 0xff, 1, 2}), tensor.FromSlice([]uint8{1, 8, 255, 0})
	for name, c := range map[string]struct{ got, want []uint8 }{
		"Left":       {BitShift(a, b, ShiftLeft).Elems(), []uint8{2, 0, 0, 2}},
		"Right":      {BitShift(a, b, ShiftRight).Elems(), []uint8{0x40, 0, 0, 2}},
		"BitwiseAnd": {BitwiseAnd(a, b).Elems(), []uint8{1, 8, 1, 0}},
		"BitwiseOr":  {BitwiseOr(a, b).Elems(), []uint8{0x81, 0xff, 255, 2}},
		"BitwiseXor": {BitwiseXor(a, b).Elems(), []uint8{0x80, 0xf7, 254, 2}},
		"BitwiseNot": {BitwiseNot(a).Elems(), []uint8{0x7e, 0, 254, 253}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
	_, err := as(plan.OpOf(&bitShift)).Run(&Call{Inputs: []tensor.Any{a.Any(), b.Any()}, Attrs: attrMap{"direction": "UP"}})
	if !errors.Is(err, tensor.ErrValue) {
		t.Errorf("direction UP: %v", err)
	}
	if bitShift.Supports(dtype.Float32) {
		t.Error("BitShift of floats")
	}
}
