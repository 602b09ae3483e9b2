package op

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// whole returns random integers of 8 bits.
func whole[Q int8 | uint8](r *rand.Rand, shape ...int) tensor.Tensor[Q] {
	t := tensor.New[Q](shape...)
	for i := range t.Elems() {
		t.Elems()[i] = Q(r.IntN(256))
	}
	return t
}

// small returns random numbers about 0.
func small[T num.Float](r *rand.Rand, shape ...int) tensor.Tensor[T] {
	t := tensor.New[T](shape...)
	for i := range t.Elems() {
		t.Elems()[i] = T(r.NormFloat64())
	}
	return t
}

func one32(v float32) tensor.Any { return tensor.Scalar(v).Any() }

// requantized is the definition of a number's quantization to uint8.
func requantized(v, scale float64, zero int) uint8 {
	return uint8(max(0, min(255, math.RoundToEven(v/scale)+float64(zero))))
}

// Operators of one quantized operand, by plain floats.
func TestQuantizedUnary(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 7))
	x := whole[uint8](r, 2, 3, 6, 5)
	sx, sy, zx, zy := 0.125, float64(float32(0.01)), 100, 7
	wide := tensor.New[float64](2, 3, 6, 5)
	for i, q := range x.Elems() {
		wide.Elems()[i] = float64(int(q)-zx) * sx
	}
	in := []tensor.Any{x.Any(), one32(float32(sx)), tensor.Scalar(uint8(zx)).Any(), one32(float32(sy)), tensor.Scalar(uint8(zy)).Any()}
	last := append([]tensor.Any{x.Any().Permute(0, 2, 3, 1)}, in[1:]...)
	pool := given{"kernel_shape": []int64{3, 2}, "strides": []int64{2, 1}, "pads": []int64{1, 0, 1, 1}}
	nhwc := given{"kernel_shape": []int64{3, 2}, "strides": []int64{2, 1}, "pads": []int64{1, 0, 1, 1}, "channels_last": int64(1)}
	win := Window{Kernel: []int{3, 2}, Strides: []int{2, 1}, Pads: []int{1, 0, 1, 1}}
	for _, c := range []struct {
		name  string
		in    []tensor.Any
		attrs given
		want  tensor.Tensor[float64]
	}{
		{"QLinearSigmoid", in, nil, Sigmoid(wide)},
		{"QLinearLeakyRelu", in, given{"alpha": float32(0.25)}, LeakyRelu(wide, 0.25)},
		{"QLinearSoftmax", in, given{"axis": int64(1), "opset": int64(13)}, Softmax(wide, 1)},
		{"QLinearSoftmax", in, given{"axis": int64(2), "opset": int64(11)}, Softmax(wide.Reshape(2, 3, 30), 2).Reshape(2, 3, 6, 5)},
		{"QLinearAveragePool", in, pool, AveragePool(wide, win, AveragePoolOptions{})},
		{"QLinearAveragePool", last, nhwc, AveragePool(wide, win, AveragePoolOptions{}).Permute(0, 2, 3, 1)},
		{"QLinearGlobalAveragePool", in, nil, GlobalAveragePool(wide)},
		{"QLinearGlobalAveragePool", last, given{"channels_last": int64(1)}, GlobalAveragePool(wide).Permute(0, 2, 3, 1)},
		{"QLinearReduceMean", in, given{"axes": []int64{1, -1}, "keepdims": int64(0)}, ReduceMean(wide, []int{1, 3})},
		{"QLinearReduceMean", in, nil, ReduceMean(wide, nil, KeepDims())},
	} {
		want := tensor.New[uint8](c.want.Shape()...)
		for at, v := range c.want.All() {
			want.Set(requantized(v, sy, zy), at...)
		}
		got := asOf[uint8](runs(t, c.name, &Call{Inputs: c.in, Attrs: c.attrs})[0])
		same(t, c.name, got, want)
		bare := []tensor.Any{c.in[0], c.in[1], {}, c.in[3]} // without zero points
		runs(t, c.name, &Call{Inputs: bare, Attrs: c.attrs})
		for _, bad := range [][]tensor.Any{{c.in[0], c.in[1], c.in[2]}, {c.in[0], {}, {}, c.in[3]}, {c.in[0], wide.Any(), {}, c.in[3]}, {c.in[0], c.in[1], c.in[1], c.in[3]}, {wide.Any(), c.in[1], {}, c.in[3]}, {c.in[0], c.in[1], {}, c.in[3], x.Any()}} {
			refuses(t, c.name, &Call{Inputs: bad, Attrs: c.attrs})
		}
	}
	refuses(t, "QLinearSoftmax", &Call{Inputs: in, Attrs: given{"axis": int64(math.MinInt64)}})
	refuses(t, "QLinearAveragePool", &Call{Inputs: in})
	refuses(t, "QLinearAveragePool", &Call{Inputs: append([]tensor.Any{whole[uint8](r, 4, 4).Any()}, in[1:]...), Attrs: pool})
}

// Where QLinearAveragePool differs from AveragePool: windows that ceil_mode lets end beyond the padding
// count whole, and the zero point comes before the rounding. Values as from ONNX Runtime 1.30.0.
func TestQLinearAveragePoolCounts(t *testing.T) {
	byte1 := func(v uint8) tensor.Any { return tensor.Scalar(v).Any() }
	for _, c := range []struct {
		x, want []uint8
		zero    uint8
		attrs   given
	}{
		{[]uint8{10, 20, 30, 40}, []uint8{20, 23}, 0, given{"kernel_shape": []int64{3}, "strides": []int64{2}, "ceil_mode": int64(1), "count_include_pad": int64(1)}},
		{[]uint8{10, 20, 30, 40}, []uint8{20, 35}, 0, given{"kernel_shape": []int64{3}, "strides": []int64{2}, "ceil_mode": int64(1)}},
		{[]uint8{10, 20, 30, 40}, []uint8{10, 30, 13}, 0, given{"kernel_shape": []int64{3}, "strides": []int64{2}, "ceil_mode": int64(1), "count_include_pad": int64(1), "pads": []int64{1, 1}}},
		{[]uint8{10, 20, 40}, []uint8{15, 20}, 0, given{"kernel_shape": []int64{2}, "strides": []int64{2}, "count_include_pad": int64(1), "auto_pad": "SAME_UPPER"}},
		{[]uint8{1, 2, 3}, []uint8{2, 4}, 1, given{"kernel_shape": []int64{2}}},
	} {
		in := []tensor.Any{tensor.FromSlice(c.x, 1, 1, len(c.x)).Any(), one32(0.25), {}, one32(0.25), byte1(c.zero)}
		got := asOf[uint8](runs(t, "QLinearAveragePool", &Call{Inputs: in, Attrs: c.attrs})[0])
		same(t, "QLinearAveragePool", got, tensor.FromSlice(c.want, 1, 1, len(c.want)))
	}
}

func TestQLinearWhere(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	x, y, cond := whole[uint8](r, 4, 1), whole[uint8](r, 3, 1, 5), tensor.New[bool](4, 5)
	for i := range cond.Elems() {
		cond.Elems()[i] = r.IntN(2) == 0
	}
	byte1 := func(v uint8) tensor.Any { return tensor.Scalar(v).Any() }
	in := []tensor.Any{cond.Any(), x.Any(), one32(0.5), byte1(9), y.Any(), one32(0.25), byte1(90), one32(0.75), byte1(3)}
	want := tensor.New[uint8](3, 4, 5)
	for at := range want.All() {
		v := float64(int(y.At(at[0], 0, at[2]))-90) * 0.25
		if cond.At(at[1], at[2]) {
			v = float64(int(x.At(at[1], 0))-9) * 0.5
		}
		want.Set(requantized(v, 0.75, 3), at...)
	}
	same(t, "QLinearWhere", asOf[uint8](runs(t, "QLinearWhere", &Call{Inputs: in})[0]), want)
	for i := range in {
		for _, bad := range []tensor.Any{tensor.New[float32](2, 2).Any(), tensor.New[uint8](7).Any()} {
			refuses(t, "QLinearWhere", &Call{Inputs: append(append(append([]tensor.Any{}, in[:i]...), bad), in[i+1:]...)})
		}
	}
}

// Products of quantized matrices, by whole numbers.
func TestQuantizedProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 11))
	a, b := whole[uint8](r, 2, 3, 40), whole[int8](r, 40, 7)
	scales, zeros, bias := small[float32](r, 7), whole[int8](r, 7), small[float32](r, 7)
	za, sa := uint8(77), float32(0.0625)
	sum := func(a tensor.Tensor[uint8], za uint8, at []int) int {
		s := 0
		for k := range 40 {
			s += (int(a.At(at[0], at[1], k)) - int(za)) * (int(b.At(k, at[2])) - int(zeros.At(at[2])))
		}
		return s
	}
	product := func(a tensor.Tensor[uint8], za uint8, sa float32) tensor.Tensor[float32] {
		want := tensor.New[float32](2, 3, 7)
		for at := range want.All() {
			want.Set(float32(float64(float64(sum(a, za, at))*(float64(sa)*float64(scales.At(at[2]))))+float64(bias.At(at[2]))), at...)
		}
		return want
	}
	in := []tensor.Any{a.Any(), b.Any(), one32(sa), scales.Any(), tensor.Scalar(za).Any(), zeros.Any(), bias.Any()}
	same(t, "MatMulIntegerToFloat", asOf[float32](runs(t, "MatMulIntegerToFloat", &Call{Inputs: in})[0]), product(a, za, sa))
	runs(t, "MatMulIntegerToFloat", &Call{Inputs: in[:4]})
	x := small[float32](r, 2, 3, 40)
	q, s, z := DynamicQuantizeLinear(x)
	dynamic := []tensor.Any{x.Any(), b.Any(), scales.Any(), zeros.Any(), bias.Any()}
	same(t, "DynamicQuantizeMatMul", asOf[float32](runs(t, "DynamicQuantizeMatMul", &Call{Inputs: dynamic})[0]), product(q, z.Item(), s.Item()))
	runs(t, "DynamicQuantizeMatMul", &Call{Inputs: dynamic[:3]})
	for name, list := range map[string][]tensor.Any{"MatMulIntegerToFloat": in, "DynamicQuantizeMatMul": dynamic} {
		for i := range list {
			for _, bad := range []tensor.Any{tensor.New[float32](2, 2).Any(), tensor.New[uint8](9).Any(), tensor.New[bool](7).Any()} {
				refuses(t, name, &Call{Inputs: append(append(append([]tensor.Any{}, list[:i]...), bad), list[i+1:]...)})
			}
		}
	}

	c := tensor.New[int32](3, 1)
	for i := range c.Elems() {
		c.Elems()[i] = int32(r.IntN(20000) - 10000)
	}
	left := a.Slice(tensor.I(0)) // [3, 40]
	want, quantized := tensor.New[float32](3, 7), tensor.New[uint8](3, 7)
	for at := range want.All() {
		v := float64(sum(a, za, []int{0, at[0], at[1]})+int(c.At(at[0], 0))) * (float64(0.5*float64(sa)) * float64(scales.At(at[1])))
		want.Set(float32(v), at...)
		quantized.Set(requantized(v, 2, 11), at...)
	}
	gemm := []tensor.Any{left.Any(), one32(sa), tensor.Scalar(za).Any(), b.Any(), scales.Any(), zeros.Any(), c.Any()}
	half := given{"alpha": float32(0.5)}
	same(t, "QGemm", asOf[float32](runs(t, "QGemm", &Call{Inputs: gemm, Attrs: half})[0]), want)
	turned := append([]tensor.Any{left.Permute(1, 0).Any()}, gemm[1:]...)
	turned[3] = b.Permute(1, 0).Any()
	same(t, "QGemm of turned matrices", asOf[float32](runs(t, "QGemm", &Call{Inputs: turned, Attrs: given{"alpha": float32(0.5), "transA": int64(1), "transB": int64(1)}})[0]), want)
	gemm = append(gemm, one32(2), tensor.Scalar(uint8(11)).Any())
	same(t, "QGemm to uint8", asOf[uint8](runs(t, "QGemm", &Call{Inputs: gemm, Attrs: half})[0]), quantized)
	runs(t, "QGemm", &Call{Inputs: append(append([]tensor.Any{}, gemm[:6]...), tensor.Any{}, gemm[7], gemm[8])})
	for i := range gemm {
		for _, bad := range []tensor.Any{tensor.New[float32](2, 2, 2).Any(), tensor.New[uint8](9).Any(), tensor.New[bool](7).Any()} {
			refuses(t, "QGemm", &Call{Inputs: append(append(append([]tensor.Any{}, gemm[:i]...), bad), gemm[i+1:]...)})
		}
	}
	refuses(t, "QGemm", &Call{Inputs: gemm[:8]})
}

// The weights unpacked by a plain loop, and MatMul of them.
func TestMatMulNBits(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 13))
	for _, c := range []struct{ bits, block, k, n, m int }{{4, 16, 16, 1, 1}, {4, 32, 70, 5, 3}, {8, 16, 40, 3, 2}, {2, 64, 100, 4, 2}, {4, 128, 300, 9, 1}, {4, 32, 20000, 130, 1}, {4, 32, 1088, 100, 2}, {4, 64, 768, 64, 1}, {4, 128, 640, 65, 1}, {4, 256, 768, 81, 2}, {4, 256, 1024, 70, 40}} {
		blocks := (c.k + c.block - 1) / c.block
		b, zeros := whole[uint8](r, c.n, blocks, c.block*c.bits/8), whole[uint8](r, c.n, (blocks*c.bits+7)/8)
		scales, a, bias, floats := small[float32](r, c.n, blocks), small[float32](r, 2, c.m, c.k), small[float32](r, c.n), small[float32](r, c.n, blocks)
		at := func(p []uint8, i int) float64 {
			return float64(int(p[i*c.bits/8]) >> (i * c.bits % 8) & (1<<c.bits - 1))
		}
		weights := func(zero func(n, block int) float64) tensor.Tensor[float32] {
			w := tensor.New[float32](c.k, c.n)
			for at2 := range w.All() {
				k, n := at2[0], at2[1]
				q := at(b.Elems()[(n*blocks+k/c.block)*c.block*c.bits/8:], k%c.block)
				w.Set(float32((q-zero(n, k/c.block))*float64(scales.At(n, k/c.block))), k, n)
			}
			return w
		}
		p := MatMulNBitsOptions{Columns: c.n, Bits: c.bits, Block: c.block}
		var none tensor.Tensor[uint8]
		var no tensor.Tensor[float32]
		middle := MatMul(a, weights(func(int, int) float64 { return float64(int(1) << (c.bits - 1)) }))
		same(t, "without zero points", MatMulNBits(a, b, scales, none, no, p), middle)
		packed := Add(MatMul(a, weights(func(n, block int) float64 { return at(zeros.Elems()[n*((blocks*c.bits+7)/8):], block) })), bias)
		same(t, "packed zero points", MatMulNBits(a, b, scales, zeros, bias, p), packed)
		attrs := given{"K": int64(c.k), "N": int64(c.n), "bits": int64(c.bits), "block_size": int64(c.block), "accuracy_level": int64(4)}
		call := &Call{Inputs: []tensor.Any{a.Any(), b.Any().Reshape(b.Len()), scales.Any().Reshape(scales.Len()), zeros.Any(), {}, bias.Any()}, Attrs: attrs}
		same(t, "run-time form", asOf[float32](runs(t, "MatMulNBits", call)[0]), packed)
		call.Inputs[3] = floats.Any()
		want := Add(MatMul(a, weights(func(n, block int) float64 { return float64(floats.At(n, block)) })), bias)
		same(t, "zero points of floats", asOf[float32](runs(t, "MatMulNBits", call)[0]), want)
		if c.k < 500 {
			for _, v := range variants(a) {
				same(t, v.name, MatMulNBits(v.t, b, scales, none, no, p), middle)
			}
			for _, v := range variants(tensor.New[float32](middle.Shape()...)) {
				same(t, "into "+v.name, MatMulNBits(a, b, scales, none, no, p, Into(v.t)), middle)
			}
		}
		narrow := Cast[num.F16](a)
		got := MatMulNBits(narrow, b, Cast[num.F16](scales), none, tensor.Tensor[num.F16]{}, p)
		scales = Cast[float32](Cast[num.F16](scales))
		same(t, "float16", got, Cast[num.F16](MatMul(Cast[float32](narrow), weights(func(int, int) float64 { return float64(int(1) << (c.bits - 1)) }))))
	}
	a, b, s := small[float32](r, 2, 32), whole[uint8](r, 3, 2, 8), small[float32](r, 3, 2)
	good := given{"K": int64(32), "N": int64(3), "block_size": int64(16)}
	in := []tensor.Any{a.Any(), b.Any(), s.Any()}
	runs(t, "MatMulNBits", &Call{Inputs: in, Attrs: good})
	same(t, "no rows", asOf[float32](runs(t, "MatMulNBits", &Call{Inputs: []tensor.Any{tensor.New[float32](0, 32).Any(), b.Any(), s.Any()}, Attrs: good})[0]), tensor.New[float32](0, 3))
	for key, values := range map[string][]int64{"K": {0, 31, -1, math.MaxInt64}, "N": {0, 2, -3, math.MaxInt64}, "bits": {0, 3, 8, math.MaxInt64}, "block_size": {0, 8, 17, 32, 1 << 62, -16}, "weight_prepacked": {1}} {
		for _, v := range values {
			attrs := given{key: v}
			for k, v := range good {
				if k != key {
					attrs[k] = v
				}
			}
			refuses(t, "MatMulNBits", &Call{Inputs: in, Attrs: attrs})
		}
	}
	for i := range 6 {
		list := append(append([]tensor.Any{}, in...), tensor.Any{}, tensor.Any{}, tensor.Any{})
		list[i] = tensor.New[bool](5).Any()
		refuses(t, "MatMulNBits", &Call{Inputs: list, Attrs: good})
	}
	fails(t, func() {
		MatMulNBits(tensor.Scalar(float32(1)), b, s, tensor.Tensor[uint8]{}, tensor.Tensor[float32]{}, MatMulNBitsOptions{3, 4, 16})
	}, "op.MatMulNBits", "single number")
	if o, _ := Lookup("MatMulNBits"); o.Supports(dtype.Float64) {
		t.Error("float64")
	}
}
