package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Rotary says how RotaryEmbedding pairs elements. Its zero value rotates the two halves of each head.
type Rotary struct {
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
func RotaryEmbedding[T num.Float | num.F16 | num.BF16](x, cos, sin tensor.Tensor[T], at tensor.Tensor[int64], o Rotary, opts ...Option) (r tensor.Tensor[T]) {
	rotary(exec.Ref(&r), exec.Ref(&x), exec.Ref(&cos), exec.Ref(&sin), exec.Ref(&at), o, opts)
	return r
}

// rotaryOf checks the shapes and types of a call. It returns the extents of x with the heads as an axis.
func rotaryOf(x, cos, sin, at *tensor.Any, o *Rotary) (batch, heads, long, width int) {
	const name = "RotaryEmbedding"
	d := x.DType()
	must(name, attended.has(d), d)
	for i, a := range []*tensor.Any{cos, sin} {
		if a.DType() != d {
			panic(notHeld(name, a, i+1, d))
		}
	}
	switch {
	case x.Rank() == 4:
		batch, heads, long, width = x.Dim(0), x.Dim(1), x.Dim(2), x.Dim(3)
	case x.Rank() == 3 && o.Heads > 0 && x.Dim(2)%o.Heads == 0:
		batch, heads, long, width = x.Dim(0), o.Heads, x.Dim(1), x.Dim(2)/o.Heads
	default:
		panic(fail(name, tensor.ErrShape, "the operand is %s, with %d heads; want [batch, heads, sequence, width] or [batch, sequence, heads·width]", operandText(x), o.Heads))
	}
	if o.Width == 0 {
		o.Width = width
	}
	if o.Width < 0 || o.Width > width || o.Width%2 != 0 {
		panic(fail(name, tensor.ErrShape, "%d elements of a head of %d are to be rotated; want an even number of them", o.Width, width))
	}
	half := o.Width / 2
	if at.IsZero() {
		want := []int{batch, long, half}
		if !sameShape(cos.LayoutRef(), want) || !sameShape(sin.LayoutRef(), want) {
			panic(fail(name, tensor.ErrShape, "the cosines and sines are %s and %s; want both %s, as there are no positions", operandText(cos), operandText(sin), shapeText(want)))
		}
		return batch, heads, long, width
	}
	if cos.Rank() != 2 || cos.Dim(1) != half || !sameShape(sin.LayoutRef(), cos.Shape()) {
		panic(fail(name, tensor.ErrShape, "the cosines and sines are %s and %s; want both [positions, %d]", operandText(cos), operandText(sin), half))
	}
	if !indices.has(at.DType()) || !sameShape(at.LayoutRef(), []int{batch, long}) {
		panic(fail(name, tensor.ErrShape, "the positions are %s; want int64[%d,%d]", operandText(at), batch, long))
	}
	return batch, heads, long, width
}

// rotary is RotaryEmbedding for a run-time element type.
func rotary(r, x, cos, sin, at *tensor.Any, o Rotary, opts []Option) {
	const name = "RotaryEmbedding"
	present(name, x, cos, sin)
	batch, heads, long, width := rotaryOf(x, cos, sin, at, &o)
	s, d := read(opts), x.DType()
	quiet := s.quiet()
	c, n := *cos, *sin
	if !at.IsZero() {
		gathered(&c, cos, at, 0, quiet)
		gathered(&n, sin, at, 0, quiet)
	}
	aimShape(r, name, &s, d, x.Shape())
	apart := x.Shape()
	if x.Rank() == 3 {
		apart = []int{batch, long, heads, width}
	}
	out := beside(r, !r.LayoutRef().Flat() || !r.CanView(apart...), x, cos, sin)
	whole := sliceable(*x)
	from, to := whole.Reshape(apart...), out.Reshape(apart...)
	if x.Rank() == 4 {
		from, to = from.Permute(0, 2, 1, 3), to.Permute(0, 2, 1, 3)
	}
	c, n = c.Reshape(batch, long, 1, o.Width/2), n.Reshape(batch, long, 1, o.Width/2)
	a, b := pairs(from, &o)
	var ca, sb, sa, cb tensor.Any
	mul.call(&ca, quiet, &c, &a)
	mul.call(&sb, quiet, &n, &b)
	mul.call(&sa, quiet, &n, &a)
	mul.call(&cb, quiet, &c, &b)
	a, b = pairs(to, &o)
	sub.call(&a, onto(&a, quiet), &ca, &sb)
	add.call(&b, onto(&b, quiet), &sa, &cb)
	if o.Width < width {
		rest := tensor.R(o.Width, width)
		to.Slice(tensor.Ellipsis, rest).CopyFrom(from.Slice(tensor.Ellipsis, rest))
	}
	for _, t := range []tensor.Any{ca, sb, sa, cb} {
		t.Close()
	}
	drop(&whole, x)
	put(r, out)
}

// pairs returns views of the first and the second elements of the pairs.
func pairs(x tensor.Any, o *Rotary) (a, b tensor.Any) {
	if o.Interleaved {
		return x.Slice(tensor.Ellipsis, tensor.R(0, o.Width, 2)), x.Slice(tensor.Ellipsis, tensor.R(1, max(o.Width, 1), 2))
	}
	return x.Slice(tensor.Ellipsis, tensor.R(0, o.Width/2)), x.Slice(tensor.Ellipsis, tensor.R(o.Width/2, o.Width))
}

var rotaryEmbedding = opN{about: about{name: "RotaryEmbedding", takesUp: inStepwise, onnx: []int{23}, attrs: []string{"interleaved", "num_heads", "rotary_embedding_dim"}, why: whyAttended}, least: 3, most: 4, takes: attended,
	planned: func(c *Call, p *Plan) { planRotary(p, c, c.or(1), c.or(2), c.or(3), rotaryAttrs(c)) }}

// planRotary plans RotaryEmbedding. at is the Spec of positions where input 1 is the first of them.
func planRotary(p *Plan, c *Call, cos, sin, at *tensor.Any, o Rotary) {
	const name = "RotaryEmbedding"
	allThere(name, c)
	x, all := c.or(0), o
	rotaryOf(x, cos, sin, at, &all)
	p.gives(x.DType(), x.Shape()...)
	p.by(c, 0, func(r *tensor.Any, opts []Option) {
		at := at
		if at.IsSpec() {
			all := tensor.New[int64](at.Shape()...)
			first, long := wordsOf(c.in(1)).int64s(name)[0], all.Dim(1)
			for i, p := 0, all.Elems(); i < len(p); i++ {
				p[i] = first + int64(i%long)
			}
			at = exec.Ref(&all)
		}
		rotary(r, x, cos, sin, at, o, opts)
	})
}

func rotaryAttrs(c *Call) Rotary {
	return Rotary{Heads: attrInt(c, "num_heads", 0), Width: attrInt(c, "rotary_embedding_dim", 0), Interleaved: c.Attrs.Int("interleaved", 0) != 0}
}

var rotaryContributed = opN{about: about{name: "RotaryEmbedding", takesUp: inStepwise, domain: "com.microsoft", onnx: []int{1}, attrs: []string{"interleaved", "is_packed_batching", "num_heads", "rotary_embedding_dim", "scale"}, why: whyAttended},
	least: 4, takes: attended,
	planned: func(c *Call, p *Plan) {
		o, at := rotaryContributedAttrs(c)
		planRotary(p, c, c.or(2), c.or(3), at, o)
	}}

// rotaryContributedAttrs reads a node of com.microsoft. It returns the positions as [batch, sequence], or as a Spec of them where they are one number.
func rotaryContributedAttrs(c *Call) (o Rotary, at *tensor.Any) {
	const name = "RotaryEmbedding"
	o = rotaryAttrs(c)
	if c.Attrs.Int("is_packed_batching", 0) != 0 {
		panic(fail(name, ErrUnsupported, "is_packed_batching is set; the operand has sequences of one length"))
	}
	x, cos := c.in(0), c.in(2)
	if x.Rank() == 3 && o.Heads == 0 && cos.Rank() == 2 && cos.Dim(1) > 0 {
		o.Heads = x.Dim(2) / (2 * cos.Dim(1))
	}
	at = c.or(1)
	if wantInt(name, 1, *at); at.Len() != 1 || at.Rank() > 1 {
		return o, at
	}
	if r := x.Rank(); r == 3 || r == 4 {
		all := spec(name, dtype.Int64, x.Dim(0), x.Dim(1+r/4))
		return o, &all
	}
	return o, at
}

// allThere panics when an input is packed.
func allThere(name string, c *Call) {
	for i := range c.Inputs {
		if !c.Inputs[i].IsZero() {
			c.with(name, i)
		}
	}
}
