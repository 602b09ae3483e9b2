package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Identity returns a itself, or with Into a copy of it, bit for bit. ONNX Identity.
func Identity[T num.Elem](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	itself(exec.Ref(&r), exec.Ref(&a), opts)
	return r
}

func itself(r, a *tensor.Any, opts []Option) {
	plan.Present("Identity", a)
	s := plan.Read("Identity", opts)
	if s.Into == nil {
		*r = *a
		return
	}
	plan.Must("Identity", a.DType() != dtype.Invalid, a.DType())
	plan.Aim(r, "Identity", &s, a.DType(), a.LayoutRef())
	r.CopyFrom(*a)
}

var identity = plan.Operator{About: plan.About{Name: "Identity", Shapes: true, FLOPs: plan.FLOPs{Free: true}, Versions: []int{1, 13, 14, 16, 19, 21, 23, 24, 25}}, Least: 1,
	Planned: func(c *plan.Use, p *plan.Draft) {
		p.Gives(c.In(0).DType(), c.In(0).Shape()...)
		p.View(func() tensor.Any { return c.In(0) })
	}}
