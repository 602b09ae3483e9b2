package op_test

import (
	"fmt"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/tensortest"
)

// inOrion calls an operator's run-time form under the option Orion, and checks that the types
// and shapes inferred from shapes alone are the ones of its results.
func inOrion(t *testing.T, name string, attrs op.AttrMap, in ...tensor.Any) tensor.Any {
	t.Helper()
	o, ok := op.Lookup(name)
	if !ok {
		t.Fatalf("no operator %s", name)
	}
	o = op.InOrion(o)
	specs := make([]tensor.Any, len(in))
	for i, a := range in {
		if !a.IsZero() {
			s, err := tensor.NewSpec(a.DType(), a.Shape()...)
			if err != nil {
				t.Fatal(err)
			}
			specs[i] = s.Any()
		}
	}
	out, err := o.Run(&op.Call{Inputs: in, Attrs: attrs, Opset: 13})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	inferred, err := o.Infer(&op.Call{Inputs: specs, Attrs: attrs, Opset: 13})
	if err == nil && (inferred[0].DType() != out[0].DType() || fmt.Sprint(inferred[0].Shape()) != fmt.Sprint(out[0].Shape())) {
		t.Errorf("%s: inferred %s, computed %s", name, tensor.Describe(inferred[0]), tensor.Describe(out[0]))
	}
	return out[0]
}

// asOf returns a as a tensor of its own type.
func asOf[T num.Elem](a tensor.Any) tensor.Tensor[T] {
	t, ok := tensor.As[T](a)
	if !ok {
		panic(tensor.Describe(a) + " is of another type")
	}
	return t
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
	if got := asOf[int8](inOrion(t, "Clip", nil, low.Any())); got.At(0) != -127 || got.At(1) != -127 {
		t.Error(got)
	}
	if got := asOf[int8](inOrion(t, "Clip", nil, low.Any(), tensor.Any{}, tensor.Scalar[int8](4).Any())); got.At(0) != -127 || got.At(2) != 4 {
		t.Error(got)
	}
}

func TestOrionShapes(t *testing.T) {
	v := tensor.FromSlice([]int32{2, 7, 1}, 3)
	if s := fmt.Sprint(op.ArgMax(v, 0, op.ArgOptions{}, op.Orion()).Shape(), op.ArgMin(v, 0, op.ArgOptions{}, op.Orion()).Shape(), op.ReduceProd(v, nil, op.Orion()).Shape(),
		op.MatMul(v, v, op.Orion()).Shape(), op.ReduceSum(v, nil, op.Orion()).Shape()); s != "[1] [1] [1] [1] []" {
		t.Error(s)
	}
	if got := op.MatMul(v, v, op.Orion()).At(0); got != 54 {
		t.Error(got)
	}
	m := tensor.FromSlice([]int32{2, 7, 1, 3}, 2, 2)
	if s := fmt.Sprint(op.ArgMax(m, 0, op.ArgOptions{}, op.Orion()).Shape(), op.ReduceProd(m, nil, op.Orion()).Shape()); s != "[2] []" {
		t.Error(s)
	}
	for name, attrs := range map[string]op.AttrMap{"ArgMax": {"keepdims": int64(0)}, "ReduceProd": {"keepdims": int64(0)}} {
		if got := inOrion(t, name, attrs, v.Any()); got.Rank() != 1 {
			t.Error(name, tensor.Describe(got))
		}
	}
	yes, z := tensor.FromSlice([]bool{true, false}, 2), tensor.FromSlice([]complex64{1, 2i}, 2)
	for _, a := range []tensor.Any{v.Any(), yes.Any(), z.Any()} {
		if got := inOrion(t, "MatMul", nil, a, a); fmt.Sprint(got.Shape()) != "[1]" {
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
		{"Equal", []tensor.Any{a.Any(), b.Any()}, dtype.Uint32, "[1 1 0 0]"},
		{"Greater", []tensor.Any{a.Any(), b.Any()}, dtype.Uint32, "[0 0 0 1]"},
		{"GreaterOrEqual", []tensor.Any{a.Any(), b.Any()}, dtype.Uint32, "[1 1 0 1]"},
		{"Less", []tensor.Any{a.Any(), b.Any()}, dtype.Int32, "[0 0 1 0]"},
		{"LessOrEqual", []tensor.Any{a.Any(), b.Any()}, dtype.Int32, "[1 1 1 0]"},
		{"And", []tensor.Any{a.Any(), b.Any()}, dtype.Uint32, "[0 1 0 0]"},
		{"Or", []tensor.Any{a.Any(), b.Any()}, dtype.Uint32, "[0 1 1 1]"},
		{"Xor", []tensor.Any{a.Any(), b.Any()}, dtype.Uint32, "[0 0 1 1]"},
		{"Xor", []tensor.Any{yes.Any(), yes.Any()}, dtype.Bool, "[False False False False]"},
		{"Where", []tensor.Any{a.Any(), b.Any(), a.Any()}, dtype.Int32, "[0 2 0 0]"},
		{"NonZero", []tensor.Any{a.Any()}, dtype.Uint32, "[[1 3]]"},
		{"ArgMin", []tensor.Any{tensor.FromSlice([]int32{3, 2, 5, 1}, 4).Any()}, dtype.Uint32, "[3]"},
		{"ArgMax", []tensor.Any{a.Any()}, dtype.Int32, "[3]"},
		{"IsInf", []tensor.Any{tensor.FromSlice([]int8{-1, 0, 127, -127, -128}, 5).Any()}, dtype.Bool, "[False False  True  True False]"},
		{"IsInf", []tensor.Any{tensor.FromSlice([]int32{127, -1 << 31, 1<<31 - 1}, 3).Any()}, dtype.Bool, "[False False  True]"},
		{"Abs", []tensor.Any{tensor.FromSlice([]int32{-3}, 1).Any()}, dtype.Int32, "[3]"},
	} {
		got := inOrion(t, c.name, nil, c.in...)
		if got.DType() != c.of || fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v %v, want %v %s", c.name, got.DType(), got, c.of, c.want)
		}
	}
	o, _ := op.Lookup("Unique")
	out, err := op.InOrion(o).Run(&op.Call{Inputs: []tensor.Any{a.Any()}, Opset: 11, Outputs: 4})
	if err != nil || out[0].DType() != dtype.Int32 || out[1].DType() != dtype.Int32 || out[3].DType() != dtype.Int32 {
		t.Error(out, err)
	}
	o, _ = op.Lookup("Or")
	if _, err := op.InOrion(o).Run(&op.Call{Inputs: []tensor.Any{a.Any()}}); err == nil {
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
	if got := asOf[int8](inOrion(t, "QuantizeLinear", nil, x.Any(), scale.Any(), zero.Any())); got.At(2) != 2 || got.At(5) != -127 {
		t.Error(got)
	}
	ints := tensor.FromSlice([]int32{3, -3, 5}, 3)
	if got := asOf[int8](inOrion(t, "QuantizeLinear", nil, ints.Any(), tensor.Scalar[int32](2).Any(), tensor.Scalar[int8](-1).Any())); fmt.Sprint(got) != "[ 0 -2  1]" {
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
	out, err := op.InOrion(equal).Run(&op.Call{Inputs: []tensor.Any{x.Any(), tensor.Scalar[int32](2).Any()}})
	fmt.Println(out[0], out[0].DType(), err)
	// Output: [0 1] uint32 <nil>
}

// Products and quotients of fixed point lose the part below a unit, on either side of 0; Orion multiplies and divides
// magnitudes (reference: cubit's f64, mul and div).
func TestOrionCutsOffFixed(t *testing.T) {
	units := func(words ...int32) tensor.Tensor[fixed.FP16x16] {
		x := tensor.New[fixed.FP16x16](len(words))
		for i, w := range words {
			x.Set(fixed.FP16x16FromBits(w), i)
		}
		return x
	}
	a, b := units(1, -1, 3<<16, -3<<16, 5, 1<<15), units(1<<15+1, 1<<15+1, 7<<16, 7<<16, -1<<15, 3)
	tensortest.Equal(t, op.Mul(a, b).Any(), units(1, -1, 21<<16, -21<<16, -2, 2).Any()) // to nearest: 2½ and 1½ to the even one
	tensortest.Equal(t, op.Mul(a, b, op.Orion()).Any(), units(0, 0, 21<<16, -21<<16, -2, 1).Any())
	tensortest.Equal(t, op.Div(units(2<<16, -2<<16, 1<<16), units(3<<16, 3<<16, -3<<16)).Any(), units(43691, -43691, -21845).Any())
	tensortest.Equal(t, op.Div(units(2<<16, -2<<16, 1<<16), units(3<<16, 3<<16, -3<<16), op.Orion()).Any(), units(43690, -43690, -21845).Any())

	wide := tensor.FromSlice([]fixed.FP32x32{fixed.FP32x32FromBits(-3)}, 1)
	half := tensor.FromSlice([]fixed.FP32x32{fixed.FP32x32FromBits(1 << 31)}, 1)
	if got := op.Mul(wide, half, op.Orion()).At(0).Bits(); got != -1 {
		t.Errorf("-1½ units are cut off to %d", got)
	}
	if got := op.Mul(wide, half).At(0).Bits(); got != -2 {
		t.Errorf("-1½ units are rounded to %d", got)
	}
	tensortest.Equal(t, inOrion(t, "Mul", nil, a.Any(), b.Any()), units(0, 0, 21<<16, -21<<16, -2, 1).Any())

	// Ties away from 0, by the run-time form too.
	x := units(1<<15, -1<<15, 3<<15, 1<<15-1)
	tensortest.Equal(t, op.Round(x, op.Orion()).Any(), units(1<<16, -1<<16, 2<<16, 0).Any())
	tensortest.Equal(t, inOrion(t, "Round", nil, x.Any()), units(1<<16, -1<<16, 2<<16, 0).Any())
	tensortest.Equal(t, inOrion(t, "Round", nil, tensor.FromSlice([]float32{0.5, 2.5}, 2).Any()), tensor.FromSlice([]float32{1, 3}, 2).Any())

	// Without bounds nothing is clipped, and the lower one counts if they cross.
	ends := units(-1<<31, 1<<31-1)
	tensortest.Equal(t, inOrion(t, "Clip", nil, ends.Any()), ends.Any())
	tensortest.Equal(t, op.Clip(ends, fixed.FP16x16FromBits(9), fixed.FP16x16FromBits(4), op.Orion()).Any(), units(9, 4).Any())

	// Numbers are true if they aren't 0.
	tensortest.Equal(t, inOrion(t, "Or", nil, units(0, 1, 0).Any(), units(0, 0, -1).Any()), tensor.FromSlice([]uint32{0, 1, 1}, 3).Any())
}

// The quotient is cut off before the zero point is added, so that −1 and a bit is −1 then, and 5 − 1 is 4.
func TestOrionQuantizesFixed(t *testing.T) {
	number := func(w ...int32) tensor.Tensor[fixed.FP8x23] {
		x := tensor.New[fixed.FP8x23](len(w))
		for i, v := range w {
			x.Set(fixed.FP8x23FromBits(v), i)
		}
		return x
	}
	const one = 1 << 23
	x := number(3*one, -3*one, 200*one, -one*3/2, 1-3*one)
	scale := number(2 * one)
	tensortest.Equal(t, inOrion(t, "QuantizeLinear", nil, x.Any(), scale.Any(), tensor.FromSlice([]int8{1}, 1).Any()), tensor.FromSlice([]int8{2, 0, 101, 0, 0}, 5).Any())
	tensortest.Equal(t, inOrion(t, "QuantizeLinear", nil, x.Any(), number(one).Any(), number(5*one).Any()), tensor.FromSlice([]int8{8, 2, 127, 3, 2}, 5).Any())
	tensortest.Equal(t, inOrion(t, "QuantizeLinear", nil, number(-2*one-1).Any(), number(2*one).Any(), number(5*one).Any()), tensor.FromSlice([]int8{4}, 1).Any())
	tensortest.Equal(t, inOrion(t, "QuantizeLinear", op.AttrMap{"axis": int64(0)}, number(4*one, 4*one).Reshape(2, 1).Any(), number(one, 2*one).Any()),
		tensor.FromSlice([]int8{4, 2}, 2, 1).Any())
	back := inOrion(t, "DequantizeLinear", nil, tensor.FromSlice([]int8{-7, 7}, 2).Any(), number(3).Any(), number(one).Any())
	tensortest.Equal(t, back, number(-24, 18).Any())
}
