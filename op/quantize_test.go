package op

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Scales for all, along an axis and in blocks; the definition with plain floats.
func TestQuantizeLinear(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	x := random[float32](r, 3, 7, 2)
	for _, c := range []struct {
		shape       []int
		axis, block int
		at          func(at []int) []int
	}{
		{[]int{}, 1, 0, func(at []int) []int { return nil }},
		{[]int{1}, 0, 0, func(at []int) []int { return []int{0} }},
		{[]int{7}, -2, 0, func(at []int) []int { return at[1:2] }},
		{[]int{2}, 2, 0, func(at []int) []int { return at[2:] }},
		{[]int{3, 3, 2}, 1, 3, func(at []int) []int { return []int{at[0], at[1] / 3, at[2]} }},
		{[]int{2, 7, 2}, 0, 2, func(at []int) []int { return []int{at[0] / 2, at[1], at[2]} }},
	} {
		q := Quantization[float32, int8]{Scale: random[float32](r, c.shape...), Zero: random[int8](r, c.shape...), Axis: c.axis, Block: c.block}
		for i := range q.Scale.Elems() {
			q.Scale.Elems()[i] = 0.01 + r.Float32()
		}
		want := tensor.New[int8](x.Shape()...)
		back := tensor.New[float32](x.Shape()...)
		for at, v := range x.All() {
			s, z := q.Scale.At(c.at(at)...), float64(q.Zero.At(c.at(at)...))
			y := math.RoundToEven(float64(v/s)) + z
			switch {
			case y != y:
				y = 0
			case y > 127:
				y = 127
			case y < -128:
				y = -128
			}
			want.Set(int8(y), at...)
			back.Set(float32((y-z)*float64(s)), at...)
		}
		same(t, "quantized", QuantizeLinear(x, q), want)
		same(t, "dequantized", DequantizeLinear(want, q), back)
	}
	inf := float32(math.Inf(1))
	y := tensor.FromSlice([]float32{inf, -inf, 500, num.NaN32(), 0.5})
	q8 := Quantization[float32, num.F8E4M3]{Scale: tensor.Scalar[float32](1)}
	same(t, "float8", QuantizeLinear(y, q8, Saturate()), Cast[num.F8E4M3](y, Saturate()))
	same(t, "float8", QuantizeLinear(y, q8), Cast[num.F8E4M3](y))
	fails(t, func() { QuantizeLinear(x, Quantization[float32, int8]{Scale: tensor.New[float32](3), Axis: 1}) }, "the scale is", "7")
	fails(t, func() {
		QuantizeLinear(x, Quantization[float32, int8]{Scale: tensor.New[float32](7), Zero: tensor.New[int8](3), Axis: 1})
	}, "zero point")
	fails(t, func() { QuantizeLinear(x, Quantization[float32, int8]{Scale: tensor.New[float32](7), Axis: 3}) }, "axis 3")
	fails(t, func() {
		QuantizeLinear(x, Quantization[float32, int8]{Scale: tensor.New[float32](3, 2, 2), Axis: 1, Block: 3})
	}, "blocks of 3")
	fails(t, func() {
		QuantizeLinear(x, Quantization[float32, int8]{Scale: tensor.New[float32](3, 2, 2), Axis: 1, Block: -1})
	}, "block of -1")
	fails(t, func() { QuantizeLinear(x, Quantization[float32, int8]{Scale: tensor.New[float32](3, 2, 2), Axis: 1}) }, "the scale is")
	empty := tensor.New[float32](0, 3)
	same(t, "empty", QuantizeLinear(empty, Quantization[float32, int8]{Scale: tensor.New[float32](0, 3), Axis: 0, Block: 4}), tensor.New[int8](0, 3))
}

// In float64 the quantized functions are exactly the functions of the numbers, quantized.
// One scale and one zero point are numbers, whatever their ranks.
func TestQuantizeByOneElement(t *testing.T) {
	x := tensor.FromSlice([]float32{-1, 0, 1, 200}, 4)
	for _, ranks := range [][2][]int{{{}, {1}}, {{1}, {}}, {{1, 1}, {}}, {{1}, {1, 1, 1}}} {
		q := Quantization[float32, uint8]{Scale: tensor.Full[float32](0.5, ranks[0]...), Zero: tensor.Full[uint8](3, ranks[1]...), Axis: 0}
		y := QuantizeLinear(x, q)
		same(t, "QuantizeLinear", y, tensor.FromSlice([]uint8{1, 3, 5, 255}, 4))
		same(t, "DequantizeLinear", DequantizeLinear(y, q), tensor.FromSlice([]float32{-1, 0, 1, 126}, 4))
	}
	two := Quantization[float32, uint8]{Scale: tensor.Full[float32](0.5), Zero: tensor.New[uint8](2), Axis: 0}
	fails(t, func() { QuantizeLinear(x, two) }, "op.QuantizeLinear", "()", "(2)")
}

// Unsigned integers wrap, as in NumPy.
func TestUnsignedNeg(t *testing.T) {
	same(t, "Neg", Neg(tensor.FromSlice([]uint8{0, 1, 128, 255}, 4)), tensor.FromSlice([]uint8{0, 255, 128, 1}, 4))
}

func TestQLinearLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	quantization := func() Quantization[float64, int8] {
		return Quantization[float64, int8]{Scale: tensor.Scalar(0.01 + r.Float64()), Zero: tensor.Scalar(int8(r.IntN(20) - 10))}
	}
	for range 50 {
		a, b := random[int8](r, 3, 4), random[int8](r, 4)
		qa, qb, qy := quantization(), quantization(), quantization()
		x, y := DequantizeLinear(a, qa), DequantizeLinear(b, qb)
		q32 := func(q Quantization[float64, int8]) Quantization[float64, int8] { return q }
		same(t, "add", quantizedPairOf(a, q32(qa), b, qb, qy, sumOf2), QuantizeLinear(Add(x, y), qy))
		same(t, "mul", quantizedPairOf(a, qa, b, qb, qy, productOf2), QuantizeLinear(Mul(x, y), qy))
		same(t, "leaky", QLinearLeakyRelu(a, qa, qy, 0.125), QuantizeLinear(LeakyRelu(x, 0.125), qy))
		same(t, "concat", QLinearConcat([]tensor.Tensor[int8]{a, a}, []Quantization[float64, int8]{qa, qb}, qy, 1),
			QuantizeLinear(Concat([]tensor.Tensor[float64]{x, DequantizeLinear(a, qb)}, 1), qy))
		m := random[int8](r, 4, 5)
		sums := MatMulInteger(a, m, qa.Zero, qb.Zero)
		scaled := Div(Mul(Cast[float64](sums), Mul(qa.Scale, qb.Scale)), qy.Scale)
		one := Quantization[float64, int8]{Scale: tensor.Scalar(1.0), Zero: qy.Zero}
		same(t, "matmul", QLinearMatMul(a, qa, m, qb, qy), QuantizeLinear(scaled, one))
		im, w := random[int8](r, 2, 4, 5, 6), random[int8](r, 6, 2, 3, 2)
		win := Window{Strides: []int{2, 1}, Pads: []int{1, 0, 2, 1}}
		bias := tensor.New[int32](6)
		for i := range bias.Elems() {
			bias.Elems()[i] = int32(r.IntN(2000) - 1000)
		}
		sums = Add(ConvInteger(im, w, qa.Zero, qb.Zero, win, 2), bias.Unsqueeze(1).Unsqueeze(2))
		scaled = Div(Mul(Cast[float64](sums), Mul(qa.Scale, qb.Scale)), qy.Scale)
		same(t, "conv", QLinearConv(im, w, bias, QLinearConvOptions[float64, int8, int8, int8]{X: qa, W: qb, Y: qy, Window: win, Group: 2}), QuantizeLinear(scaled, one))
	}
	a := random[int8](r, 2, 3)
	q := quantization()
	fails(t, func() { QLinearAdd(a, q, a, Quantization[float64, int8]{Scale: tensor.New[float64](2)}, q) }, "the scale, input 4")
	fails(t, func() { QLinearMatMul(a, q, a, q, q) }, "3 columns")
	fails(t, func() { QLinearConcat([]tensor.Tensor[int8]{a}, nil, q, 0) }, "1 tensors and 0")
}

func quantizedPairOf(a tensor.Tensor[int8], qa Quantization[float64, int8], b tensor.Tensor[int8], qb, qy Quantization[float64, int8], f pairRow) (r tensor.Tensor[int8]) {
	quantizedPair("QLinearAdd", []tensor.Any{a.Any(), qa.Scale.Any(), qa.Zero.Any(), b.Any(), qb.Scale.Any(), qb.Zero.Any(), qy.Scale.Any(), qy.Zero.Any()}, f, false).Into(exec.Ref(&r), nil)
	return r
}

func TestDynamicQuantizeLinear(t *testing.T) {
	y, s, z := DynamicQuantizeLinear(tensor.New[float32](3))
	if s.Item() != 0 || z.Item() != 0 || y.At(1) != 0 {
		t.Errorf("zeros: %v %v %v", y, s, z)
	}
	y, s, z = DynamicQuantizeLinear(tensor.FromSlice([]float32{1, num.NaN32()}))
	if s.Item() == s.Item() || z.Item() != 0 || y.At(0) != 0 || y.At(1) != 0 {
		t.Errorf("NaN: %v %v %v", y, s, z)
	}
}

// normalizedOnce compares normalizations with those of the same numbers in float64, rounded once. Lines have one block of sums, several, and few elements.
func normalizedOnce[T num.Floating](t *testing.T, r *rand.Rand) {
	for _, n := range []int{1, 3, 31, 64, 100, 1000, 4096, 4100} {
		x := tensor.New[float32](37, n)
		for i := range x.Elems() {
			x.Elems()[i] = float32(r.NormFloat64())
		}
		x.Elems()[r.IntN(x.Len())] = num.NaN32()
		narrow := Cast[T](x)
		row, all := narrow.Slice(tensor.I(5)), Cast[T](Mul(x, x))
		of := func(a tensor.Tensor[T]) tensor.Tensor[float64] { return Cast[float64](a) }
		wide := of(narrow)
		same(t, "layer", LayerNormalization(narrow, row, tensor.Tensor[T]{}, 1, 1e-5), Cast[T](LayerNormalization(wide, of(row), tensor.Tensor[float64]{}, 1, 1e-5)))
		same(t, "scales of each line", LayerNormalization(narrow, all, row, 1, 1e-5), Cast[T](LayerNormalization(wide, of(all), of(row), 1, 1e-5)))
		same(t, "rms", RMSNormalization(narrow, all, -1, 1e-5), Cast[T](RMSNormalization(wide, of(all), -1, 1e-5)))
		planes, column := func(a tensor.Tensor[T]) tensor.Tensor[T] { return a.Reshape(1, 37, n) }, all.Slice(tensor.R(0, 37), tensor.I(0)).Contiguous()
		same(t, "instance", InstanceNormalization(planes(narrow), column, column, 1e-5), Cast[T](InstanceNormalization(of(planes(narrow)), of(column), of(column), 1e-5)))
	}
}

// In float64 a normalization equals its formula in operators.
func TestNormalizationLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	for range 20 {
		x := random[float64](r, 2, 6, 3, 50)
		for i := range x.Elems() {
			x.Elems()[i] = r.NormFloat64()
		}
		scale, bias := random[float64](r, 3, 50), random[float64](r, 50)
		standard := func(axes ...int) tensor.Tensor[float64] {
			mean, v := ReduceMean(x, axes, KeepDims()), Var(x, axes, 0, KeepDims())
			return Mul(Sub(x, mean), Div(tensor.Scalar(1.0), Sqrt(Add(v, tensor.Scalar(0.5)))))
		}
		want := Add(Mul(standard(2, 3), scale), bias)
		same(t, "layer", LayerNormalization(x, scale, bias, 2, 0.5), want)
		c := random[float64](r, 6)
		per := c.Unsqueeze(1).Unsqueeze(2)
		same(t, "instance", InstanceNormalization(x, c, c, 0.5), Add(Mul(standard(2, 3), per), per))
		same(t, "group of all", GroupNormalization(x, c, c, 1, 0.5), Add(Mul(standard(1, 2, 3), per), per))
		mean, v := ReduceMean(x, []int{0, 2}, KeepDims()), Var(x, []int{0, 2}, 0, KeepDims())
		same(t, "mean and variance", MeanVarianceNormalization(x, []int{2, 0}), Div(Sub(x, mean), Add(Sqrt(v), tensor.Scalar(1e-9))))
		same(t, "p 1", LpNormalization(x, 1, 1), Div(x, ReduceL1(x, []int{1}, KeepDims())))
		same(t, "p 2", LpNormalization(x, -1, 2), Div(x, ReduceL2(x, []int{3}, KeepDims())))
		squares := Div(ReduceSumSquare(x, []int{3}, KeepDims()), tensor.Scalar(50.0))
		same(t, "rms", RMSNormalization(x, bias, -1, 0.5), Mul(Mul(x, Div(tensor.Scalar(1.0), Sqrt(Add(squares, tensor.Scalar(0.5))))), bias))
	}
	normalizedOnce[float32](t, r)
	normalizedOnce[num.F16](t, r)
	normalizedOnce[num.BF16](t, r)
	x := tensor.New[float32](2, 4)
	fails(t, func() { LayerNormalization(x, tensor.New[float32](3), tensor.Tensor[float32]{}, -1, 0) }, "doesn't stretch")
	fails(t, func() { LayerNormalization(x, tensor.New[float32](4), tensor.Tensor[float32]{}, 2, 0) }, "axis 2")
	fails(t, func() { GroupNormalization(x, tensor.New[float32](4), tensor.New[float32](4), 3, 0) }, "3 groups")
	fails(t, func() { LpNormalization(x, 0, 3) }, "p is 3")
	fails(t, func() { MeanVarianceNormalization(x, []int{0, -2}) }, "twice")
}

func TestUnpoolUndoesPool(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	x := random[float32](r, 2, 3, 6, 4)
	for i := range x.Elems() {
		x.Elems()[i] = float32(i%7) + r.Float32()
	}
	win := Window{Kernel: []int{2, 2}, Strides: []int{2, 2}}
	out := runs(t, "MaxPool", &Call{Inputs: []tensor.Any{x.Any()}, Attrs: given{"kernel_shape": []int64{2, 2}, "strides": []int64{2, 2}}, Outputs: 2})
	top, at := asOf[float32](out[0]), asOf[int64](out[1])
	back := MaxUnpool(top, at, win, nil)
	same(t, "again", MaxPool(back, win), top)
	same(t, "of its own shape", MaxUnpool(top, at, win, x.Shape()), back)
	fails(t, func() { MaxUnpool(top, at, win, []int{2, 3, 4, 4}) }, "no room")
	at.Set(1000, 0, 0, 0, 0)
	fails(t, func() { MaxUnpool(top, at, win, nil) }, "index 1000", "144 places")
	same(t, "p 1", LpPool(Abs(x), win, 1), Mul(AveragePool(Abs(Cast[float32](Cast[float64](x))), win, AveragePoolOptions{CountIncludePad: true}), tensor.Scalar[float32](4)))
	fails(t, func() { LpPool(x, win, 0) }, "p is 0")
}

func TestLosses(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	x := random[float32](r, 2, 3, 50)
	for i := range x.Elems() {
		x.Elems()[i] = r.Float32() - 3
	}
	w, target := tensor.FromSlice([]float32{0.5, 2, 1}), tensor.New[int64](2, 50)
	for i := range target.Elems() {
		target.Elems()[i] = int64(r.IntN(4) - 1)
	}
	ignore := -1
	each, weights := tensor.New[float64](100), tensor.New[float64](100)
	for i, c := range target.Elems() {
		if c >= 0 {
			weights.Elems()[i] = float64(w.At(int(c)))
			each.Elems()[i] = -float64(x.At(i/50, int(c), i%50)) * weights.Elems()[i]
		}
	}
	loss := func(reduction string) tensor.Tensor[float32] {
		return NegativeLogLikelihoodLoss(x, target, w, LossOptions{Reduction: reduction, Ignore: &ignore})
	}
	same(t, "none", loss("none"), Cast[float32](each).Reshape(2, 50))
	same(t, "sum", loss("sum"), Cast[float32](ReduceSum(each, nil)))
	same(t, "mean", loss(""), Cast[float32](Div(ReduceSum(each, nil), ReduceSum(weights, nil))))
	both, p := SoftmaxCrossEntropyLoss(x, target, w, LossOptions{Ignore: &ignore})
	same(t, "log", p, LogSoftmax(x, 1))
	same(t, "entropy", both, NegativeLogLikelihoodLoss(p, target, w, LossOptions{Ignore: &ignore}))
	fails(t, func() { NegativeLogLikelihoodLoss(x, target, w, LossOptions{}) }, "is -1", "3 classes")
	fails(t, func() { loss("max") }, "reduction \"max\"")
	fails(t, func() { NegativeLogLikelihoodLoss(x, target.S("1:"), w, LossOptions{}) }, "targets")
}

func TestDet(t *testing.T) {
	m := tensor.FromSlice([]float64{0, 2, 1, 1, 0, 0, 2, 4, 5, 2, 0, 0, 0, 3, 0, 0, 0, 4}, 2, 3, 3)
	same(t, "det", Det(m), tensor.FromSlice([]float64{-6, 24}))
	same(t, "of nothing", Det(tensor.New[float32](2, 0, 0)), tensor.Full[float32](1, 2))
	same(t, "singular", Det(tensor.FromSlice([]float32{1, 2, 2, 4}, 2, 2)), tensor.Scalar[float32](0))
	fails(t, func() { Det(m.S(":, 1:")) }, "square")
}

func TestBitCast(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 13))
	x := random[float32](r, 3, 4)
	same(t, "there and back", BitCast[float32](BitCast[int32](x.Transpose())), x.Transpose())
	fails(t, func() { BitCast[int64](x) }, "4 bytes", "8")
	fails(t, func() { BitCast[bool](tensor.New[int8](1)) }, "bool")
}

func TestReduceLogSumExp(t *testing.T) {
	inf, nan := math.Inf(1), num.NaN64()
	for _, c := range [][]float64{{math.Log(2), 0, 0}, {-inf, -inf, -inf}, {inf, 1, inf, -inf}, {nan, 1, nan, inf}, {1e300, 1e300, 0}} {
		same(t, "", ReduceLogSumExp(tensor.FromSlice(c[1:]), nil), tensor.Scalar(c[0]))
	}
	a := tensor.FromSlice([]float64{0, 3, 0, 3}, 2, 2)
	same(t, "axis", ReduceLogSumExp(a, []int{0}, KeepDims()), tensor.FromSlice([]float64{math.Log(2), 3 + math.Log(2)}, 1, 2))
	same(t, "nothing", ReduceLogSumExp(tensor.New[float64](2, 0), []int{1}), tensor.Full(-inf, 2))
	fails(t, func() { ReduceLogSumExp(a, []int{0, -2}) }, "named twice")
}

func TestQuantizationStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	x, q := tensor.New[int8](2, 3), Quantization[float32, int8]{Scale: tensor.Scalar[float32](1)}
	for name, f := range map[string]func(){
		"QLinearAdd":       func() { QLinearAdd(x, q, x, q, q, Context(ctx)) },
		"QLinearMul":       func() { QLinearMul(x, q, x, q, q, Context(ctx)) },
		"QLinearLeakyRelu": func() { QLinearLeakyRelu(x, q, q, 0.1, Context(ctx)) },
		"QLinearConcat":    func() { QLinearConcat([]tensor.Tensor[int8]{x}, []Quantization[float32, int8]{q}, q, 0, Context(ctx)) },
	} {
		if err := tensor.Try(f); !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a context that is done: %v", name, err)
		}
	}
}

func TestRefusedAttributes(t *testing.T) {
	c := &Call{Inputs: []tensor.Any{tensor.New[float32](2).Any(), tensor.Scalar[float32](1).Any()}, Attrs: given{"precision": int64(9)}}
	if runs(t, "QuantizeLinear", c) != nil {
		t.Error("a quotient is rounded to bool")
	}
}
