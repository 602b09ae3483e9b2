package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// DepthToSpace turns channels into pixels: a has the shape (n, c, h, w), the result
// (n, c/b², h·b, w·b), with b the size of a block. Pixel (i, j) of a block in channel
// d of the result comes from channel (i·b + j)·c/b² + d, or with o.CRD from channel
// (d·b + i)·b + j. It panics unless b is at least 1 and b² divides c. Elements keep
// their bits. ONNX DepthToSpace, its modes DCR and CRD.
func DepthToSpace[T num.Elem](a tensor.Tensor[T], b int, o DepthToSpaceOptions, opts ...Option) (r tensor.Tensor[T]) {
	depthToSpaceOf(exec.Ref(&a), b, o.CRD).to(exec.Ref(&r), opts)
	return r
}

// DepthToSpaceOptions says from which channels DepthToSpace takes the pixels of a block.
type DepthToSpaceOptions struct {
	CRD bool // from neighbouring ones: "CRD" of ONNX's attribute mode
}

// A rearrangement is a view of the operand whose elements, in row-major order, are
// the elements of the result.
type rearrangement struct {
	name              string
	split, perm, into []int
	a                 *tensor.Any
}

func depthToSpaceOf(a *tensor.Any, b int, crd bool) *rearrangement {
	s := blocks("DepthToSpace", a, b)
	if s[1]%(b*b) != 0 {
		panic(plan.Fail("DepthToSpace", tensor.ErrShape, "%d channels aren't a multiple of %d·%d", s[1], b, b))
	}
	n, c, h, w := s[0], s[1]/(b*b), s[2], s[3]
	r := &rearrangement{name: "DepthToSpace", a: a, split: []int{n, b, b, c, h, w}, perm: []int{0, 3, 4, 1, 5, 2},
		into: []int{n, c, plan.Extent("DepthToSpace", 2, h, b), plan.Extent("DepthToSpace", 3, w, b)}}
	if crd {
		r.split, r.perm = []int{n, c, b, b, h, w}, []int{0, 1, 4, 2, 5, 3}
	}
	return r
}

// blocks checks the operand and the block size of DepthToSpace and SpaceToDepth.
func blocks(name string, a *tensor.Any, b int) []int {
	plan.Present(name, a)
	s := a.Shape()
	if len(s) != 4 {
		panic(plan.Fail(name, tensor.ErrShape, "%s; want four axes: batch, channels, height, width", tensor.Describe(*a)))
	}
	if b < 1 || b >= 1<<15 {
		panic(plan.Fail(name, tensor.ErrValue, "a block of %d pixels", b))
	}
	return s
}

func (m *rearrangement) Plan(c *plan.Use, p *plan.Draft) {
	p.Gives(m.a.DType(), m.into...)
	p.By(c, 0, m.to)
}

// to makes r the result, where the options say.
func (m *rearrangement) to(r *tensor.Any, opts []Option) {
	out := m.a.Reshape(m.split...).Permute(m.perm...).Reshape(m.into...)
	s := plan.Read(m.name, opts)
	plan.Deliver(r, m.name, &s, out)
}

var depthToSpace = plan.Operator{About: plan.About{Name: "DepthToSpace", Moves: plan.Moves{In: 1, Out: 1}, FLOPs: plan.FLOPs{Free: true}, Versions: []int{1, 11, 13}, Attrs: []string{"blocksize", "mode"}}, Least: 1,
	Planned: func(c *plan.Use, p *plan.Draft) {
		mode := c.Attrs.Str("mode", "DCR")
		if mode != "DCR" && mode != "CRD" {
			panic(plan.Fail("DepthToSpace", tensor.ErrValue, "mode %q; modes are DCR and CRD", mode))
		}
		depthToSpaceOf(c.With("DepthToSpace", 0), blockSize(c), mode == "CRD").Plan(c, p)
	}}

// blockSize reads the attribute; one that is absent or no int is 0, and refused.
func blockSize(c *plan.Use) int {
	return int(max(min(c.Attrs.Int("blocksize", 0), 1<<15), 0))
}
