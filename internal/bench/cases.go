package main

import (
	"fmt"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A benchCase is one line of output. Its name is KIND/OP/DTYPE/DIMS, without OP for gemm and bmm.
type benchCase struct {
	name, dtype, size string
	flop, bytes       float64       // of one call: two operations for each multiply-add; or every input read once and every output written once
	setup             func() func() // makes the operands, returns the call
}

type number interface{ float32 | float64 }

// sized starts a case.
func sized(kind, name, dtype string, dims ...int) benchCase {
	c := benchCase{dtype: dtype, size: fmt.Sprint(dims[0])}
	for _, d := range dims[1:] {
		c.size += fmt.Sprint("x", d)
	}
	if name != "" {
		kind += "/" + name
	}
	c.name = kind + "/" + dtype + "/" + c.size
	return c
}

// allCases returns all cases.
func allCases() []benchCase {
	var cs []benchCase
	cs = append(cs, calls[float32]("f32")...)
	for _, n := range []int{64, 128, 256, 512, 1024, 2048} {
		cs = append(cs, product[float32]("f32", n, n, n), product[float64]("f64", n, n, n))
	}
	for _, d := range [][3]int{{1, 4096, 4096}, {4096, 4096, 1}, {128, 4096, 64}, {4096, 16, 4096}} {
		cs = append(cs, product[float32]("f32", d[0], d[1], d[2]), product[float64]("f64", d[0], d[1], d[2]))
	}
	cs = append(cs, batched[float32]("f32", 64, 64, 64, 64), batched[float64]("f64", 64, 64, 64, 64))
	for _, n := range []int{256, 1024, 2048} {
		cs = append(cs, product[num.BF16]("bf16", n, n, n), product[num.F16]("f16", n, n, n))
	}
	cs = append(cs, product[num.BF16]("bf16", 1, 4096, 4096), product[num.F16]("f16", 1, 4096, 4096))
	for _, n := range []int{256, 512, 1024, 2048} {
		cs = append(cs, byteProduct(n, n, n))
	}
	for _, n := range []int{4096, 128} {
		cs = append(cs, elementwise[float32]("f32", n, n)...)
		cs = append(cs, elementwise[float64]("f64", n, n)...)
		cs = append(cs, reductions[float32]("f32", n, n)...)
		cs = append(cs, reductions[float64]("f64", n, n)...)
		cs = append(cs, toBF16(n, n), toI8(n, n), layerNormal(n, n))
		cs = append(cs, quantizations(n, n)...)
	}
	cs = append(cs, selected()...)
	return append(cs,
		permuted[float32]("t10", "f32", []int{1, 0}, 4096, 4096), permuted[float64]("t10", "f64", []int{1, 0}, 4096, 4096),
		permuted[float32]("t10", "f32", []int{1, 0}, 1024, 1024),
		permuted[float32]("t0312", "f32", []int{0, 3, 1, 2}, 64, 32, 128, 128), permuted[float32]("t0231", "f32", []int{0, 2, 3, 1}, 64, 32, 128, 128),
		permuted[float32]("t0213", "f32", []int{0, 2, 1, 3}, 8, 512, 16, 64),
		gathered(65536, 256, 16384), joined(0, 2048, 4096), joined(1, 4096, 2048),
		convolved("std", 1, 64, 56, 56, 64, 3, 1), convolved("std", 8, 64, 56, 56, 64, 3, 1), convolved("std", 1, 256, 56, 56, 64, 1, 1),
		convolved("std", 1, 3, 224, 224, 64, 7, 2), convolved("dw", 1, 144, 56, 56, 144, 3, 1))
}

func dtypeSize[T num.Elem]() int { return dtype.Of[T]().Size() }

// values makes a tensor of random numbers. They are in [−1, 1) if signed is true. Else they are in (0, 2).
func values[T number](signed bool, shape ...int) tensor.Tensor[T] {
	if signed {
		return tensor.RandomUniform[T](1, -1, 1, shape...)
	}
	return tensor.RandomUniform[T](1, 0x1p-20, 2, shape...)
}

func product[T num.Native | num.Narrow](dtype string, m, k, n int) benchCase {
	c := sized("gemm", "", dtype, m, k, n)
	c.flop = 2 * float64(m) * float64(k) * float64(n)
	if m == 1 || n == 1 {
		c.bytes = float64(dtypeSize[T]()) * float64(m*k+k*n+m*n)
	}
	c.setup = func() func() {
		a, b := op.Cast[T](values[float32](true, m, k)), op.Cast[T](values[float32](true, k, n))
		into := op.Into(tensor.Empty[T](m, n))
		return func() { op.MatMul(a, b, into) }
	}
	return c
}

// byteProduct is a product of unsigned bytes and signed ones, as peers have it.
func byteProduct(m, k, n int) benchCase {
	c := sized("gemm", "", "i8", m, k, n)
	c.flop = 2 * float64(m) * float64(k) * float64(n)
	c.setup = func() func() {
		a, b := op.Cast[uint8](tensor.RandomUniform[float32](1, 0, 255, m, k)), op.Cast[int8](tensor.RandomUniform[float32](2, -127, 127, k, n))
		into := op.Into(tensor.Empty[int32](m, n))
		return func() { op.MatMulInteger(a, b, tensor.Tensor[uint8]{}, tensor.Tensor[int8]{}, into) }
	}
	return c
}

func batched[T number](dtype string, batch, m, k, n int) benchCase {
	c := sized("bmm", "", dtype, batch, m, k, n)
	c.flop = 2 * float64(batch) * float64(m) * float64(k) * float64(n)
	c.setup = func() func() {
		a, b := values[T](true, batch, m, k), values[T](true, batch, k, n)
		into := op.Into(tensor.Empty[T](batch, m, n))
		return func() { op.MatMul(a, b, into) }
	}
	return c
}

// calls has operators on so few elements that the call itself takes the time, on contiguous elements and on a view that
// isn't contiguous.
func calls[T number](dtype string) (cs []benchCase) {
	add := func(name string, f func(a, b, dst tensor.Tensor[T]) func(), operands func() tensor.Tensor[T]) {
		c := sized("call", name, dtype, 4, 4)
		c.bytes = 3 * 16 * float64(dtypeSize[T]())
		c.setup = func() func() { return f(operands(), operands(), tensor.Empty[T](4, 4)) }
		cs = append(cs, c)
	}
	dense := func() tensor.Tensor[T] { return values[T](true, 4, 4) }
	view := func() tensor.Tensor[T] { return values[T](true, 8, 8).Slice(tensor.R(0, 8, 2), tensor.R(0, 8, 2)) }
	sum := func(a, b, dst tensor.Tensor[T]) func() {
		into := op.Into(dst)
		return func() { op.Add(a, b, into) }
	}
	add("add", sum, dense)
	add("addview", sum, view)
	add("exp", func(a, _, dst tensor.Tensor[T]) func() {
		into := op.Into(dst)
		return func() { op.Exp(a, into) }
	}, dense)
	add("matmul", func(a, b, dst tensor.Tensor[T]) func() {
		into := op.Into(dst)
		return func() { op.MatMul(a, b, into) }
	}, dense)
	add("sum", func(a, _, _ tensor.Tensor[T]) func() {
		axes, into := []int{1}, op.Into(tensor.Empty[T](4))
		return func() { op.ReduceSum(a, axes, into) }
	}, dense)
	return cs
}

// elementwise has the functions of [rows, cols].
func elementwise[T number](dtype string, rows, cols int) (cs []benchCase) {
	size := float64(dtypeSize[T]())
	add := func(name string, bytes float64, setup func() func()) {
		c := sized("ew", name, dtype, rows, cols)
		c.bytes, c.setup = bytes*float64(rows)*float64(cols), setup
		cs = append(cs, c)
	}
	two := func(name string, f func(a, b tensor.Tensor[T], opts ...op.Option) tensor.Tensor[T], shape ...int) {
		bytes := 3 * size
		if len(shape) == 1 {
			bytes = 2 * size
		}
		add(name, bytes, func() func() {
			a, b, into := values[T](true, rows, cols), values[T](true, shape...), op.Into(tensor.Empty[T](rows, cols))
			return func() { f(a, b, into) }
		})
	}
	one := func(name string, signed bool, f func(a tensor.Tensor[T], opts ...op.Option) tensor.Tensor[T]) {
		add(name, 2*size, func() func() {
			a, into := values[T](signed, rows, cols), op.Into(tensor.Empty[T](rows, cols))
			return func() { f(a, into) }
		})
	}
	two("add", op.Add[T], rows, cols)
	two("mul", op.Mul[T], rows, cols)
	two("addrow", op.Add[T], cols)
	add("gt", float64(2*size)+1, func() func() {
		a, b, into := values[T](true, rows, cols), values[T](true, rows, cols), op.Into(tensor.Empty[bool](rows, cols))
		return func() { op.Greater(a, b, into) }
	})
	add("where", float64(3*size)+1, func() func() {
		a, b, into := values[T](true, rows, cols), values[T](true, rows, cols), op.Into(tensor.Empty[T](rows, cols))
		mask := op.Greater(values[T](true, rows, cols), tensor.Scalar[T](0))
		return func() { op.Where(mask, a, b, into) }
	})
	add("chain", 4*size, func() func() {
		a, b, c := values[T](true, rows, cols), values[T](true, rows, cols), values[T](true, rows, cols)
		return op.Prepare(op.Tanh(op.Add(op.Mul(op.Lazy(a), b), c), quick...), op.Into(tensor.Empty[T](rows, cols)))
	})
	one("exp", true, hasty(op.Exp[T]))
	one("log", false, hasty(op.Log[T]))
	one("tanh", true, hasty(op.Tanh[T]))
	one("sin", true, op.Sin[T])
	one("sqrt", false, op.Sqrt[T])
	one("sigmoid", true, hasty(op.Sigmoid[T]))
	one("gelu", true, func(a tensor.Tensor[T], opts ...op.Option) tensor.Tensor[T] { return op.Gelu(a, opts...) })
	one("clip", true, func(a tensor.Tensor[T], opts ...op.Option) tensor.Tensor[T] { return op.Clip(a, -1, 1, opts...) })
	return cs
}

// quick has the options of functions besides the target: op.Fast with -fast.
var quick []op.Option

type unary[T num.Elem] func(a tensor.Tensor[T], opts ...op.Option) tensor.Tensor[T]

// hasty returns f with the options of quick.
func hasty[T num.Elem](f unary[T]) unary[T] {
	if quick == nil {
		return f
	}
	return func(a tensor.Tensor[T], opts ...op.Option) tensor.Tensor[T] { return f(a, append(opts, quick...)...) }
}

func toBF16(rows, cols int) benchCase {
	c := sized("ew", "cast_bf16", "f32", rows, cols)
	c.bytes = 6 * float64(rows) * float64(cols)
	c.setup = func() func() {
		a, into := values[float32](true, rows, cols), op.Into(tensor.Empty[num.BF16](rows, cols))
		return func() { op.Cast[num.BF16](a, into) }
	}
	return c
}

func toI8(rows, cols int) benchCase {
	c := sized("ew", "quant_i8", "f32", rows, cols)
	c.bytes = 5 * float64(rows) * float64(cols)
	c.setup = func() func() {
		a, into := values[float32](true, rows, cols), op.Into(tensor.Empty[int8](rows, cols))
		q := op.Quantization[float32, int8]{Scale: tensor.Scalar[float32](0.02), Zero: tensor.Scalar[int8](0)}
		return func() { op.QuantizeLinear(a, q, into) }
	}
	return c
}

func layerNormal(rows, cols int) benchCase {
	c := sized("red", "layernorm_last", "f32", rows, cols)
	c.bytes = 8 * float64(rows) * float64(cols)
	c.setup = func() func() {
		a, into := values[float32](true, rows, cols), op.Into(tensor.Empty[float32](rows, cols))
		scale, bias := values[float32](true, cols), values[float32](true, cols)
		return func() { op.LayerNormalization(a, scale, bias, 1, 1e-5, into) }
	}
	return c
}

func reductions[T number](dtype string, rows, cols int) (cs []benchCase) {
	size := float64(dtypeSize[T]())
	add := func(name string, bytes float64, setup func(a tensor.Tensor[T]) func()) {
		c := sized("red", name, dtype, rows, cols)
		c.bytes = bytes * float64(rows) * float64(cols)
		c.setup = func() func() { return setup(values[T](true, rows, cols)) }
		cs = append(cs, c)
	}
	fold := func(name string, f func(a tensor.Tensor[T], axes []int, opts ...op.Option) tensor.Tensor[T]) {
		for i, axes := range [][]int{{0, 1}, {1}, {0}} {
			add(name+[]string{"_all", "_last", "_first"}[i], size, func(a tensor.Tensor[T]) func() {
				into := op.Into(f(a, axes))
				return func() { f(a, axes, into) }
			})
		}
	}
	fold("sum", op.ReduceSum[T])
	fold("mean", op.ReduceMean[T])
	fold("max", op.ReduceMax[T])
	for axis, where := range []string{"_first", "_last"} {
		add("argmax"+where, size, func(a tensor.Tensor[T]) func() {
			into := op.Into(op.ArgMax(a, axis, op.ArgOptions{}))
			return func() { op.ArgMax(a, axis, op.ArgOptions{}, into) }
		})
	}
	add("cumsum_last", 2*size, func(a tensor.Tensor[T]) func() {
		into := op.Into(tensor.Empty[T](rows, cols))
		return func() { op.CumSum(a, 1, op.CumOptions{}, into) }
	})
	add("softmax_last", 2*size, func(a tensor.Tensor[T]) func() {
		into := op.Into(tensor.Empty[T](rows, cols))
		return func() { op.Softmax(a, 1, into) }
	})
	return cs
}

func permuted[T number](name, dtype string, axes []int, shape ...int) benchCase {
	c := sized("perm", name, dtype, shape...)
	n := 1
	for _, e := range shape {
		n *= e
	}
	c.bytes = 2 * float64(dtypeSize[T]()) * float64(n)
	c.setup = func() func() {
		a := values[T](true, shape...).Permute(axes...)
		dst := tensor.Empty[T](a.Shape()...)
		return func() { dst.CopyFrom(a) }
	}
	return c
}

// gathered picks rows of a table.
func gathered(rows, cols, picked int) benchCase {
	c := sized("move", "gather_rows", "f32", rows, cols, picked)
	c.bytes = float64(2*4*cols*picked + 8*picked)
	c.setup = func() func() {
		table, idx := values[float32](true, rows, cols), tensor.RandomIntegers(1, 0, int64(rows), picked)
		into := op.Into(tensor.Empty[float32](picked, cols))
		return func() { op.Gather(table, idx, 0, into) }
	}
	return c
}

// joined concatenates two of [rows, cols].
func joined(axis, rows, cols int) benchCase {
	c := sized("move", fmt.Sprint("concat", axis), "f32", rows, cols)
	c.bytes = float64(4 * 4 * rows * cols)
	c.setup = func() func() {
		ts := []tensor.Tensor[float32]{values[float32](true, rows, cols), values[float32](true, rows, cols)}
		into := op.Into(op.Concat(ts, axis))
		return func() { op.Concat(ts, axis, into) }
	}
	return c
}

// convolved is a convolution in NCHW with a square kernel and half of it as padding.
func convolved(name string, n, in, h, w, out, kernel, stride int) benchCase {
	c := sized("conv", name, "f32", n, in, h, w, out, kernel, stride)
	group := 1
	if name == "dw" {
		group = in
	}
	oh, ow := (h+stride-1)/stride, (w+stride-1)/stride
	c.flop = 2 * float64(n*out*oh*ow*kernel*kernel*in/group)
	c.setup = func() func() {
		x, weights := values[float32](true, n, in, h, w), values[float32](true, out, in/group, kernel, kernel)
		pad := kernel / 2
		win := op.Window{Strides: []int{stride, stride}, Pads: []int{pad, pad, pad, pad}}
		into := op.Into(tensor.Empty[float32](n, out, oh, ow))
		return func() { op.Conv(x, weights, tensor.Tensor[float32]{}, win, group, into) }
	}
	return c
}
