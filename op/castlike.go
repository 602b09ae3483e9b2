package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// CastLike is Cast to the element type of like. ONNX CastLike.
func CastLike[To, From num.Elem](a tensor.Tensor[From], like tensor.Tensor[To], opts ...Option) (r tensor.Tensor[To]) {
	convert(exec.Ref(&r), "CastLike", dtype.Of[To](), exec.Ref(&a), opts)
	return r
}

var castLike = opN{about: about{name: "CastLike", like: 2, flops: flops{free: true}, onnx: []int{15, 19, 21, 23, 24, 25}, attrs: []string{"saturate", "round_mode"}}, least: 2,
	planned: func(c *Call, p *Plan) { planCast(p, "CastLike", c, c.in(1).DType()) }}
