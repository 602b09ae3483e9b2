package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// CastLike is Cast to the element type of like. ONNX CastLike.
func CastLike[To, From num.Elem](a tensor.Tensor[From], like tensor.Tensor[To], opts ...Option) (r tensor.Tensor[To]) {
	pointwise.Convert(exec.Ref(&r), "CastLike", dtype.Of[To](), exec.Ref(&a), opts)
	return r
}

var castLike = plan.Operator{About: plan.About{Name: "CastLike", Like: 2, FLOPs: plan.FLOPs{Free: true}, Versions: []int{15, 19, 21, 23, 24, 25}, Attrs: []string{"saturate", "round_mode"}}, Least: 2,
	Planned: func(c *plan.Use, p *plan.Draft) { pointwise.PlanCast(p, "CastLike", c, c.In(1).DType()) }}
