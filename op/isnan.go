package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// IsNaN reports which elements are NaN. ONNX IsNaN.
func IsNaN[T num.Float | num.Narrow](a tensor.Tensor[T], opts ...Option) tensor.Tensor[bool] {
	return classify("IsNaN", &a, kernel[float32, bool]{one: isNaNRow[float32]}, kernel[float64, bool]{one: isNaNRow[float64]}, opts)
}

// isNaNRow defines IsNaN.
func isNaNRow[T num.Float](dst []bool, a []T) {
	for i, x := range a[:len(dst)] {
		dst[i] = x != x
	}
}

// classify applies a row with a result of bool to floats.
func classify[T num.Float | num.Narrow](name string, a *tensor.Tensor[T], k32 kernel[float32, bool], k64 kernel[float64, bool], opts []Option) tensor.Tensor[bool] {
	if isLazy(a) {
		return classifyLater(name, a, k32, k64, opts)
	}
	s := read(opts)
	var few [8]int
	dst := target[bool](name, &s, appendShape(few[:0], a.LayoutRef()))
	j := job{name: name, ctx: s.ctx(), cost: 1}
	ins := [3]*tensor.Tensor[T]{a}
	switch x := any(&ins).(type) {
	case *[3]*tensor.Tensor[float64]:
		elementwise(j, &dst, x, 1, &k64, nil, nil)
	case *[3]*tensor.Tensor[float32]:
		elementwise(j, &dst, x, 1, &k32, nil, nil)
	default:
		asFloat32(j, &dst, &ins, 1, &k32)
	}
	return dst
}

func classifyLater[T num.Float | num.Narrow](name string, a *tensor.Tensor[T], k32 kernel[float32, bool], k64 kernel[float64, bool], opts []Option) tensor.Tensor[bool] {
	return noted[bool](note{name: name, args: []arg{argOf(name, a)},
		run: func(in []any, opts []Option) { classify(name, in[0].(*tensor.Tensor[T]), k32, k64, opts) }}, opts, a.LayoutRef())
}

var isNaNOp = opN{about: about{name: "IsNaN", onnx: []int{9, 13, 20}, why: "integers have no NaN"}, least: 1,
	run: perType{dtype.Float8E4M3: runIsNaN[num.F8E4M3], dtype.Float8E5M2: runIsNaN[num.F8E5M2], dtype.Float16: runIsNaN[num.F16],
		dtype.BFloat16: runIsNaN[num.BF16], dtype.Float32: runIsNaN[float32], dtype.Float64: runIsNaN[float64]},
	infer: func(c *Call) []tensor.Any {
		return one(spec("IsNaN", dtype.Bool, tensor.Shape(c.in(0))...))
	}}

func runIsNaN[T num.Float | num.Narrow](c *Call) []tensor.Any {
	return one(IsNaN(as[T]("IsNaN", c, 0), options(c)...))
}
