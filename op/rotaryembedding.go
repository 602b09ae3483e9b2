package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// RotaryEmbeddingOptions says how RotaryEmbedding pairs elements. Its zero value rotates the two halves of each head.
type RotaryEmbeddingOptions struct {
	Heads       int  // of an operand of rank 3, which has them side by side
	Width       int  // how many elements of a head are rotated, an even number; 0 is all
	Interleaved bool // pairs are neighbours, not one of each half
}

// RotaryEmbedding turns pairs (a, b) of elements of x by angles that depend on the position in the sequence, to (cos·a − sin·b, sin·a + cos·b).
// x is [batch, heads, sequence, width], or [batch, sequence, heads·width] with o.Heads; elements beyond o.Width stay as they are. A
// position has half as many cosines and sines as it has elements that are rotated: cos and sin are [positions, half] and at, [batch, sequence], says
// which row belongs to an element of a sequence; or at is the zero Tensor and they are [batch, sequence, half]. Each product, and the
// difference and the sum, is rounded to T. It panics when shapes don't fit or there is no such position. ONNX RotaryEmbedding.
//
// RotaryEmbedding of the domain com.microsoft has the positions as input 1. They may be one number, the position of the first element of
// each sequence. Source: docs/ContribOperators.md of github.com/microsoft/onnxruntime.
func RotaryEmbedding[T num.Float | num.F16 | num.BF16](x, cos, sin tensor.Tensor[T], at tensor.Tensor[int64], o RotaryEmbeddingOptions, opts ...Option) (r tensor.Tensor[T]) {
	rotary(exec.Ref(&r), exec.Ref(&x), exec.Ref(&cos), exec.Ref(&sin), exec.Ref(&at), o, opts)
	return r
}

// rotaryOf checks the shapes and types of a call. It returns the extents of x with the heads as an axis.
func rotaryOf(x, cos, sin, at *tensor.Any, o *RotaryEmbeddingOptions) (batch, heads, long, width int) {
	const name = "RotaryEmbedding"
	d := x.DType()
	plan.Must(name, attended.Has(d), d)
	for i, a := range []*tensor.Any{cos, sin} {
		if a.DType() != d {
			panic(plan.NotHeld(name, a, i+1, d))
		}
	}
	switch {
	case x.Rank() == 4:
		batch, heads, long, width = x.Dim(0), x.Dim(1), x.Dim(2), x.Dim(3)
	case x.Rank() == 3 && o.Heads > 0 && x.Dim(2)%o.Heads == 0:
		batch, heads, long, width = x.Dim(0), o.Heads, x.Dim(1), x.Dim(2)/o.Heads
	default:
		panic(plan.Fail(name, tensor.ErrShape, "the operand is %s, with %d heads; want [batch, heads, sequence, width] or [batch, sequence, heads·width]", operandText(x), o.Heads))
	}
	if o.Width == 0 {
		o.Width = width
	}
	if o.Width < 0 || o.Width > width || o.Width%2 != 0 {
		panic(plan.Fail(name, tensor.ErrShape, "%d elements of a head of %d are to be rotated; want an even number of them", o.Width, width))
	}
	half := o.Width / 2
	if at.IsZero() {
		want := []int{batch, long, half}
		if !plan.SameShape(cos.LayoutRef(), want) || !plan.SameShape(sin.LayoutRef(), want) {
			panic(plan.Fail(name, tensor.ErrShape, "the cosines and sines are %s and %s; want both %s, as there are no positions", operandText(cos), operandText(sin), plan.ShapeText(want)))
		}
		return batch, heads, long, width
	}
	if cos.Rank() != 2 || cos.Dim(1) != half || !plan.SameShape(sin.LayoutRef(), cos.Shape()) {
		panic(plan.Fail(name, tensor.ErrShape, "the cosines and sines are %s and %s; want both [positions, %d]", operandText(cos), operandText(sin), half))
	}
	if !plan.Indices.Has(at.DType()) || !plan.SameShape(at.LayoutRef(), []int{batch, long}) {
		panic(plan.Fail(name, tensor.ErrShape, "the positions are %s; want int64[%d,%d]", operandText(at), batch, long))
	}
	return batch, heads, long, width
}

// rotary is RotaryEmbedding for a run-time element type.
func rotary(r, x, cos, sin, at *tensor.Any, o RotaryEmbeddingOptions, opts []Option) {
	const name = "RotaryEmbedding"
	plan.Present(name, x, cos, sin)
	batch, heads, long, width := rotaryOf(x, cos, sin, at, &o)
	s, d := plan.Read(name, opts), x.DType()
	quiet := s.Quiet()
	c, n := *cos, *sin
	if !at.IsZero() {
		gathered(&c, cos, at, 0, quiet)
		gathered(&n, sin, at, 0, quiet)
	}
	plan.AimShape(r, name, &s, d, x.Shape())
	apart := x.Shape()
	if x.Rank() == 3 {
		apart = []int{batch, long, heads, width}
	}
	out := plan.Beside(r, !walk.Ref(r.LayoutRef()).Flat() || !r.CanView(apart...), x, cos, sin)
	whole := sliceable(*x)
	from, to := whole.Reshape(apart...), out.Reshape(apart...)
	if x.Rank() == 4 {
		from, to = from.Permute(0, 2, 1, 3), to.Permute(0, 2, 1, 3)
	}
	c, n = c.Reshape(batch, long, 1, o.Width/2), n.Reshape(batch, long, 1, o.Width/2)
	a, b := pairs(from, &o)
	var ca, sb, sa, cb tensor.Any
	mul.Call(&ca, quiet, &c, &a)
	mul.Call(&sb, quiet, &n, &b)
	mul.Call(&sa, quiet, &n, &a)
	mul.Call(&cb, quiet, &c, &b)
	a, b = pairs(to, &o)
	sub.Call(&a, onto(&a, quiet), &ca, &sb)
	add.Call(&b, onto(&b, quiet), &sa, &cb)
	if o.Width < width {
		rest := tensor.R(o.Width, width)
		to.Slice(tensor.Ellipsis, rest).CopyFrom(from.Slice(tensor.Ellipsis, rest))
	}
	for _, t := range []tensor.Any{ca, sb, sa, cb} {
		t.Close()
	}
	plan.Drop(&whole, x)
	plan.Put(r, out)
}

// pairs returns views of the first and the second elements of the pairs.
func pairs(x tensor.Any, o *RotaryEmbeddingOptions) (a, b tensor.Any) {
	if o.Interleaved {
		return x.Slice(tensor.Ellipsis, tensor.R(0, o.Width, 2)), x.Slice(tensor.Ellipsis, tensor.R(1, max(o.Width, 1), 2))
	}
	return x.Slice(tensor.Ellipsis, tensor.R(0, o.Width/2)), x.Slice(tensor.Ellipsis, tensor.R(o.Width/2, o.Width))
}

var rotaryEmbedding = plan.Operator{About: plan.About{Name: "RotaryEmbedding", Versions: []int{23}, Attrs: []string{"interleaved", "num_heads", "rotary_embedding_dim"}, Why: whyAttended}, Least: 3, Most: 4, Takes: attended,
	Planned: func(c *plan.Use, p *plan.Draft) { planRotary(p, c, c.Or(1), c.Or(2), c.Or(3), rotaryAttrs(c)) }}

// planRotary plans RotaryEmbedding. at is the Spec of positions where input 1 is the first of them.
func planRotary(p *plan.Draft, c *plan.Use, cos, sin, at *tensor.Any, o RotaryEmbeddingOptions) {
	const name = "RotaryEmbedding"
	allThere(name, c)
	x, all := c.Or(0), o
	rotaryOf(x, cos, sin, at, &all)
	p.Gives(x.DType(), x.Shape()...)
	p.Copies(0, 2, 1)
	p.By(c, 0, func(r *tensor.Any, opts []Option) {
		at := at
		if at.IsSpec() {
			all := tensor.New[int64](at.Shape()...)
			first, long := move.WordsOf(c.In(1)).Int64s(name)[0], all.Dim(1)
			for i, p := 0, all.Elems(); i < len(p); i++ {
				p[i] = first + int64(i%long)
			}
			at = exec.Ref(&all)
		}
		rotary(r, x, cos, sin, at, o, opts)
	})
}

func rotaryAttrs(c *plan.Use) RotaryEmbeddingOptions {
	return RotaryEmbeddingOptions{Heads: plan.AttrInt(c, "num_heads", 0), Width: plan.AttrInt(c, "rotary_embedding_dim", 0), Interleaved: c.Attrs.Int("interleaved", 0) != 0}
}

var rotaryContributed = plan.Operator{About: plan.About{Name: "RotaryEmbedding", Domain: "com.microsoft", Versions: []int{1}, Attrs: []string{"interleaved", "is_packed_batching", "num_heads", "rotary_embedding_dim", "scale"}, Why: whyAttended},
	Least: 4, Takes: attended,
	Planned: func(c *plan.Use, p *plan.Draft) {
		o, at := rotaryContributedAttrs(c)
		planRotary(p, c, c.Or(2), c.Or(3), at, o)
	}}

// rotaryContributedAttrs reads a node of com.microsoft. It returns the positions as [batch, sequence], or as a Spec of them where they are one number.
func rotaryContributedAttrs(c *plan.Use) (o RotaryEmbeddingOptions, at *tensor.Any) {
	const name = "RotaryEmbedding"
	o = rotaryAttrs(c)
	if c.Attrs.Int("is_packed_batching", 0) != 0 {
		panic(plan.Fail(name, ErrUnsupported, "is_packed_batching is set; the operand has sequences of one length"))
	}
	x, cos := c.In(0), c.In(2)
	if x.Rank() == 3 && o.Heads == 0 && cos.Rank() == 2 && cos.Dim(1) > 0 {
		o.Heads = x.Dim(2) / (2 * cos.Dim(1))
	}
	at = c.Or(1)
	if move.WantInt(name, 1, *at); at.Len() != 1 || at.Rank() > 1 {
		return o, at
	}
	if r := x.Rank(); r == 3 || r == 4 {
		all := plan.Spec(name, dtype.Int64, x.Dim(0), x.Dim(1+r/4))
		return o, &all
	}
	return o, at
}

// allThere panics when an input is packed.
func allThere(name string, c *plan.Use) {
	for i := range c.Inputs {
		if !c.Inputs[i].IsZero() {
			c.With(name, i)
		}
	}
}
