package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Identity returns a itself, or with Into a copy of it, bit for bit. ONNX Identity.
func Identity[T num.Elem](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	itself(exec.Ref(&r), exec.Ref(&a), opts)
	return r
}

func itself(r, a *tensor.Any, opts []Option) {
	present("Identity", a)
	s := read(opts)
	if s.into == nil {
		*r = *a
		return
	}
	must("Identity", a.DType() != dtype.Invalid, a.DType())
	aim(r, "Identity", &s, a.DType(), a.LayoutRef())
	r.CopyFrom(*a)
}

var identity = opN{about: about{name: "Identity", flops: flops{free: true}, onnx: []int{1, 13, 14, 16, 19, 21, 23, 24, 25}}, least: 1,
	planned: func(c *Call, p *Plan) {
		p.gives(c.in(0).DType(), c.in(0).Shape()...)
		p.view(func() tensor.Any { return c.in(0) })
	}}
