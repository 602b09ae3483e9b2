package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// SpaceToDepth turns pixels into channels: a has the shape (n, c, h, w), the result
// (n, c·b², h/b, w/b), with b the size of a block. Pixel (i, j) of a block goes to
// channel (i·b + j)·c + d of its own channel d: the inverse of DepthToSpace without
// CRD. It panics unless b is at least 1 and divides h and w. Elements keep their
// bits. ONNX SpaceToDepth.
func SpaceToDepth[T num.Elem](a tensor.Tensor[T], b int, opts ...Option) (r tensor.Tensor[T]) {
	spaceToDepthOf(exec.Ref(&a), b).to(exec.Ref(&r), opts)
	return r
}

func spaceToDepthOf(a *tensor.Any, b int) *rearrangement {
	s := blocks("SpaceToDepth", a, b)
	if s[2]%b != 0 || s[3]%b != 0 {
		panic(plan.Fail("SpaceToDepth", tensor.ErrShape, "a height of %d and a width of %d aren't both multiples of %d", s[2], s[3], b))
	}
	n, c, h, w := s[0], s[1], s[2]/b, s[3]/b
	return &rearrangement{name: "SpaceToDepth", a: a, split: []int{n, c, h, b, w, b}, perm: []int{0, 3, 5, 1, 2, 4},
		into: []int{n, plan.Extent("SpaceToDepth", 1, c, b*b), h, w}}
}

var spaceToDepth = plan.Operator{About: plan.About{Name: "SpaceToDepth", Moves: plan.Moves{In: 1, Out: 1}, FLOPs: plan.FLOPs{Free: true}, Versions: []int{1, 13}, Attrs: []string{"blocksize"}}, Least: 1,
	Planned: func(c *plan.Use, p *plan.Draft) { spaceToDepthOf(c.With("SpaceToDepth", 0), blockSize(c)).Plan(c, p) }}
