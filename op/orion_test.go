package op_test

import (
	"fmt"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/tensortest"
)

// inOrion calls an operator's run-time form under the option Orion, and checks that what is
// inferred from shapes alone is what it gives.
func inOrion(t *testing.T, name string, attrs op.AttrMap, in ...tensor.Any) tensor.Any {
	t.Helper()
	o, ok := op.Lookup(name)
	if !ok {
		t.Fatalf("no operator %s", name)
	}
	o = op.InOrion(o)
	specs := make([]tensor.Any, len(in))
	for i, a := range in {
		if a != nil {
			s, err := tensor.NewSpec(a.DType(), tensor.Shape(a)...)
			if err != nil {
				t.Fatal(err)
			}
			specs[i] = s
		}
	}
	out, err := o.Run(&op.Call{Inputs: in, Attrs: attrs, Opset: 13})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	inferred, err := o.Infer(&op.Call{Inputs: specs, Attrs: attrs, Opset: 13})
	if err == nil && (inferred[0].DType() != out[0].DType() || fmt.Sprint(tensor.Shape(inferred[0])) != fmt.Sprint(tensor.Shape(out[0]))) {
		t.Errorf("%s: inferred %s, computed %s", name, tensor.Describe(inferred[0]), tensor.Describe(out[0]))
	}
	return out[0]
}

func TestOrionRounds(t *testing.T) {
	x := tensor.FromSlice([]float32{-2.5, -0.5, 0.5, 1.5, 2.5, 2.4}, 6)
	if got := fmt.Sprint(op.Round(x, op.Orion())); got != fmt.Sprint(tensor.FromSlice([]float32{-3, -1, 1, 2, 3, 2}, 6)) {
		t.Error(got)
	}
	half := op.Cast[float32](op.Round(op.Cast[num.F16](x), op.Orion()))
	if half.At(0) != -3 || half.At(4) != 3 {
		t.Error(half)
	}
}

func TestOrionClips(t *testing.T) {
	x := tensor.FromSlice([]int32{-5, 1, 2, 3, 9}, 5)
	if got := fmt.Sprint(op.Clip(x, 3, 1, op.Orion())); got != fmt.Sprint(tensor.FromSlice([]int32{3, 3, 3, 1, 1}, 5)) {
		t.Error(got)
	}
	if got := fmt.Sprint(op.Clip(x, 1, 3, op.Orion())); got != fmt.Sprint(op.Clip(x, 1, 3)) {
		t.Error(got)
	}
	low := tensor.FromSlice([]int8{-128, -127, 5}, 3)
	if got := inOrion(t, "Clip", nil, low).(tensor.Tensor[int8]); got.At(0) != -127 || got.At(1) != -127 {
		t.Error(got)
	}
	if got := inOrion(t, "Clip", nil, low, nil, tensor.Scalar[int8](4)).(tensor.Tensor[int8]); got.At(0) != -127 || got.At(2) != 4 {
		t.Error(got)
	}
}

func TestOrionShapes(t *testing.T) {
	v := tensor.FromSlice([]int32{2, 7, 1}, 3)
	if s := fmt.Sprint(op.ArgMax(v, 0, false, op.Orion()).Shape(), op.ArgMin(v, 0, false, op.Orion()).Shape(), op.ReduceProd(v, nil, op.Orion()).Shape(),
		op.MatMul(v, v, op.Orion()).Shape(), op.ReduceSum(v, nil, op.Orion()).Shape()); s != "[1] [1] [1] [1] []" {
		t.Error(s)
	}
	if got := op.MatMul(v, v, op.Orion()).At(0); got != 54 {
		t.Error(got)
	}
	m := tensor.FromSlice([]int32{2, 7, 1, 3}, 2, 2)
	if s := fmt.Sprint(op.ArgMax(m, 0, false, op.Orion()).Shape(), op.ReduceProd(m, nil, op.Orion()).Shape()); s != "[2] []" {
		t.Error(s)
	}
	for name, attrs := range map[string]op.AttrMap{"ArgMax": {"keepdims": int64(0)}, "ReduceProd": {"keepdims": int64(0)}} {
		if got := inOrion(t, name, attrs, v); got.Rank() != 1 {
			t.Error(name, tensor.Describe(got))
		}
	}
	yes, z := tensor.FromSlice([]bool{true, false}, 2), tensor.FromSlice([]complex64{1, 2i}, 2)
	for _, a := range []tensor.Any{v, yes, z} {
		if got := inOrion(t, "MatMul", nil, a, a); fmt.Sprint(tensor.Shape(got)) != "[1]" {
			t.Error(tensor.Describe(got))
		}
	}
	if got := fmt.Sprint(op.MatMul(yes, yes, op.Orion()), op.MatMul(z, z, op.Orion())); got != "[ True] [-3.+0.j]" {
		t.Error(got)
	}
}

func TestOrionTypes(t *testing.T) {
	a, b := tensor.FromSlice([]int32{0, 2, 0, 4}, 4), tensor.FromSlice([]int32{0, 2, 5, 0}, 4)
	yes := tensor.FromSlice([]bool{true, false, true, true}, 4)
	for _, c := range []struct {
		name string
		in   []tensor.Any
		of   dtype.DType
		want string
	}{
		{"Equal", []tensor.Any{a, b}, dtype.Uint32, "[1 1 0 0]"},
		{"Greater", []tensor.Any{a, b}, dtype.Uint32, "[0 0 0 1]"},
		{"GreaterOrEqual", []tensor.Any{a, b}, dtype.Uint32, "[1 1 0 1]"},
		{"Less", []tensor.Any{a, b}, dtype.Int32, "[0 0 1 0]"},
		{"LessOrEqual", []tensor.Any{a, b}, dtype.Int32, "[1 1 1 0]"},
		{"And", []tensor.Any{a, b}, dtype.Uint32, "[0 1 0 0]"},
		{"Or", []tensor.Any{a, b}, dtype.Uint32, "[0 1 1 1]"},
		{"Xor", []tensor.Any{a, b}, dtype.Uint32, "[0 0 1 1]"},
		{"Xor", []tensor.Any{yes, yes}, dtype.Bool, "[False False False False]"},
		{"Where", []tensor.Any{a, b, a}, dtype.Int32, "[0 2 0 0]"},
		{"NonZero", []tensor.Any{a}, dtype.Uint32, "[[1 3]]"},
		{"ArgMin", []tensor.Any{tensor.FromSlice([]int32{3, 2, 5, 1}, 4)}, dtype.Uint32, "[3]"},
		{"ArgMax", []tensor.Any{a}, dtype.Int32, "[3]"},
		{"IsInf", []tensor.Any{tensor.FromSlice([]int8{-1, 0, 127, -127, -128}, 5)}, dtype.Bool, "[False False  True  True False]"},
		{"IsInf", []tensor.Any{tensor.FromSlice([]int32{127, -1 << 31, 1<<31 - 1}, 3)}, dtype.Bool, "[False False  True]"},
		{"Abs", []tensor.Any{tensor.FromSlice([]int32{-3}, 1)}, dtype.Int32, "[3]"},
	} {
		got := inOrion(t, c.name, nil, c.in...)
		if got.DType() != c.of || fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v %v, want %v %s", c.name, got.DType(), got, c.of, c.want)
		}
	}
	o, _ := op.Lookup("Unique")
	out, err := op.InOrion(o).Run(&op.Call{Inputs: []tensor.Any{a}, Opset: 11, Outputs: 4})
	if err != nil || out[0].DType() != dtype.Int32 || out[1].DType() != dtype.Int32 || out[3].DType() != dtype.Int32 {
		t.Error(out, err)
	}
	o, _ = op.Lookup("Or")
	if _, err := op.InOrion(o).Run(&op.Call{Inputs: []tensor.Any{a}}); err == nil {
		t.Error("Or of one operand is no error")
	}
}

func TestOrionQuantizes(t *testing.T) {
	x := tensor.FromSlice([]float32{0, 2, 3, 1000, -254, -1000, -3}, 7)
	q := op.Quantization[float32, int8]{Scale: tensor.Scalar[float32](2), Zero: tensor.Scalar[int8](1)}
	if got := fmt.Sprint(op.QuantizeLinear(x, q, op.Orion()), op.QuantizeLinear(x, q)); got != "[   1    2    2  127 -126 -127    0] [   1    2    3  127 -126 -128   -1]" {
		t.Error(got)
	}
	scale, zero := tensor.Scalar[float32](2), tensor.Scalar[int8](1)
	if got := inOrion(t, "QuantizeLinear", nil, x, scale, zero).(tensor.Tensor[int8]); got.At(2) != 2 || got.At(5) != -127 {
		t.Error(got)
	}
	ints := tensor.FromSlice([]int32{3, -3, 5}, 3)
	if got := inOrion(t, "QuantizeLinear", nil, ints, tensor.Scalar[int32](2), tensor.Scalar[int8](-1)).(tensor.Tensor[int8]); fmt.Sprint(got) != "[ 0 -2  1]" {
		t.Error(got)
	}
	half := tensor.FromSlice([]float32{0, 25.6, 255}, 3)
	if y, _, _ := op.DynamicQuantizeLinear(half, op.Orion()); y.At(1) != 26 {
		t.Error("Orion changes DynamicQuantizeLinear", y)
	}
	into := tensor.New[int8](7)
	if op.QuantizeLinear(x, q, op.Orion(), op.Into(into)); into.At(5) != -127 {
		t.Error(into)
	}
}

func ExampleOrion() {
	x := tensor.FromSlice([]float32{-0.5, 0.5, 1.5}, 3)
	fmt.Println(op.Round(x), op.Round(x, op.Orion()))
	// Output: [-0.  0.  2.] [-1.  1.  2.]
}

func ExampleInOrion() {
	equal, _ := op.Lookup("Equal")
	x := tensor.FromSlice([]int32{1, 2}, 2)
	out, err := op.InOrion(equal).Run(&op.Call{Inputs: []tensor.Any{x, op.Scalar[int32](2)}})
	fmt.Println(out[0], out[0].DType(), err)
	// Output: [0 1] uint32 <nil>
}

// Products and quotients of fixed point lose what is below a unit, on either side of 0; Orion multiplies and divides
// magnitudes (reference: cubit's f64, mul and div).
func TestOrionCutsOffFixed(t *testing.T) {
	fixed := func(words ...int32) tensor.Tensor[num.FP16x16] {
		x := tensor.New[num.FP16x16](len(words))
		for i, w := range words {
			x.Set(num.FP16x16FromBits(w), i)
		}
		return x
	}
	a, b := fixed(1, -1, 3<<16, -3<<16, 5, 1<<15), fixed(1<<15+1, 1<<15+1, 7<<16, 7<<16, -1<<15, 3)
	tensortest.Equal(t, op.Mul(a, b), fixed(1, -1, 21<<16, -21<<16, -2, 2)) // to nearest: 2½ and 1½ to the even one
	tensortest.Equal(t, op.Mul(a, b, op.Orion()), fixed(0, 0, 21<<16, -21<<16, -2, 1))
	tensortest.Equal(t, op.Div(fixed(2<<16, -2<<16, 1<<16), fixed(3<<16, 3<<16, -3<<16)), fixed(43691, -43691, -21845))
	tensortest.Equal(t, op.Div(fixed(2<<16, -2<<16, 1<<16), fixed(3<<16, 3<<16, -3<<16), op.Orion()), fixed(43690, -43690, -21845))

	wide := tensor.FromSlice([]num.FP32x32{num.FP32x32FromBits(-3)}, 1)
	half := tensor.FromSlice([]num.FP32x32{num.FP32x32FromBits(1 << 31)}, 1)
	if got := op.Mul(wide, half, op.Orion()).At(0).Bits(); got != -1 {
		t.Errorf("-1½ units are cut off to %d", got)
	}
	if got := op.Mul(wide, half).At(0).Bits(); got != -2 {
		t.Errorf("-1½ units are rounded to %d", got)
	}
	tensortest.Equal(t, inOrion(t, "Mul", nil, a, b), fixed(0, 0, 21<<16, -21<<16, -2, 1))

	// Ties away from 0, by the run-time form too.
	x := fixed(1<<15, -1<<15, 3<<15, 1<<15-1)
	tensortest.Equal(t, op.Round(x, op.Orion()), fixed(1<<16, -1<<16, 2<<16, 0))
	tensortest.Equal(t, inOrion(t, "Round", nil, x), fixed(1<<16, -1<<16, 2<<16, 0))
	tensortest.Equal(t, inOrion(t, "Round", nil, tensor.FromSlice([]float32{0.5, 2.5}, 2)), tensor.FromSlice([]float32{1, 3}, 2))

	// Without bounds nothing is clipped, and the lower one counts if they cross.
	ends := fixed(-1<<31, 1<<31-1)
	tensortest.Equal(t, inOrion(t, "Clip", nil, ends), ends)
	tensortest.Equal(t, op.Clip(ends, num.FP16x16FromBits(9), num.FP16x16FromBits(4), op.Orion()), fixed(9, 4))

	// Numbers are true if they aren't 0.
	tensortest.Equal(t, inOrion(t, "Or", nil, fixed(0, 1, 0), fixed(0, 0, -1)), tensor.FromSlice([]uint32{0, 1, 1}, 3))
}

// The quotient is cut off before the zero point is added, so that −1 and a bit is −1 then, and 5 − 1 is 4.
func TestOrionQuantizesFixed(t *testing.T) {
	number := func(w ...int32) tensor.Tensor[num.FP8x23] {
		x := tensor.New[num.FP8x23](len(w))
		for i, v := range w {
			x.Set(num.FP8x23FromBits(v), i)
		}
		return x
	}
	const one = 1 << 23
	x := number(3*one, -3*one, 200*one, -one*3/2, 1-3*one)
	scale := number(2 * one)
	tensortest.Equal(t, inOrion(t, "QuantizeLinear", nil, x, scale, tensor.FromSlice([]int8{1}, 1)), tensor.FromSlice([]int8{2, 0, 101, 0, 0}, 5))
	tensortest.Equal(t, inOrion(t, "QuantizeLinear", nil, x, number(one), number(5*one)), tensor.FromSlice([]int8{8, 2, 127, 3, 2}, 5))
	tensortest.Equal(t, inOrion(t, "QuantizeLinear", nil, number(-2*one-1), number(2*one), number(5*one)), tensor.FromSlice([]int8{4}, 1))
	tensortest.Equal(t, inOrion(t, "QuantizeLinear", op.AttrMap{"axis": int64(0)}, number(4*one, 4*one).Reshape(2, 1), number(one, 2*one)),
		tensor.FromSlice([]int8{4, 2}, 2, 1))
	back := inOrion(t, "DequantizeLinear", nil, tensor.FromSlice([]int8{-7, 7}, 2), number(3), number(one))
	tensortest.Equal(t, back, number(-24, 18))
}
