package op

import (
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Identity returns a itself, or with Into a copy of it, bit for bit. ONNX Identity.
func Identity[T num.Elem](a tensor.Tensor[T], opts ...Option) tensor.Tensor[T] {
	s := read(opts)
	if s.into == nil {
		return a
	}
	var few [8]int
	dst := target[T]("Identity", &s, appendShape(few[:0], a.LayoutRef()))
	ins := [3]*tensor.Tensor[T]{&a}
	elementwise(job{name: "Identity", ctx: s.ctx(), cost: 1}, &dst, &ins, 1, &kernel[T, T]{via: identityRow[T]{}}, nil, nil)
	return dst
}

type identityRow[T num.Elem] struct{}

func (identityRow[T]) row(dst, a []T) { copy(dst, a) }

var identity = opN{about: about{name: "Identity", onnx: []int{1, 13, 14, 16, 19, 21, 23, 24, 25}}, least: 1,
	untyped: func(c *Call) []tensor.Any { return one(c.in(0)) },
	infer: func(c *Call) []tensor.Any {
		return one(spec("Identity", c.in(0).DType(), tensor.Shape(c.in(0))...))
	}}
