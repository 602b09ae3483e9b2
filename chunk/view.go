package chunk

import (
	"fmt"
	"slices"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

// Slice returns the part that idx selects, as tensor.Slice does, with steps of either sign, single
// elements and new axes. Nothing moves: who reads the part reads the chunks that hold it.
func Slice(x Array, idx ...tensor.Index) Array {
	ns, err := given("Slice", x)
	if err != nil {
		return Array{err: err}
	}
	n := ns[0]
	s := &sliced{axes: make([]ride, len(n.shape))}
	var shape, chunks []int
	for axis := range n.shape {
		// A layout that counts along one axis alone tells where the part begins on it, and which
		// axis of the result runs along it.
		one := make([]int, len(n.shape))
		one[axis] = 1
		lay, err := layout.New(n.shape, one)
		if err != nil {
			return Array{err: err}
		}
		part, off, err := lay.Slice(idx...)
		if err != nil {
			return Array{err: tensor.Wrap("chunk.Slice", err)}
		}
		if shape == nil {
			shape = part.Shape()
			chunks = slices.Repeat([]int{1}, len(shape))
		}
		s.axes[axis] = ride{start: off, step: 1, by: -1}
		for o := range shape {
			if step, _ := part.Stride(o); step != 0 {
				s.axes[axis] = ride{start: off, step: step, by: o}
				chunks[o] = ceil(n.chunks[axis], max(step, -step))
			}
		}
	}
	if len(n.shape) == 0 {
		lay, err := layout.New(nil, nil)
		if err == nil {
			lay, _, err = lay.Slice(idx...)
		}
		if err != nil {
			return Array{err: tensor.Wrap("chunk.Slice", err)}
		}
		shape = lay.Shape()
		chunks = slices.Repeat([]int{1}, len(shape))
	}
	return Array{n: newNode(s, n.dtype, shape, chunks, n)}
}

// sliced is a part of its operand, with new axes.
type sliced struct{ axes []ride }

// A ride says how an axis of the operand runs: from start on, in steps, along axis by of the
// result, or -1: it is the one element start.
type ride struct{ start, step, by int }

func (s *sliced) text() string { return fmt.Sprintf("Slice %v", s.axes) }

// from returns the box of the operand that holds a part of the result.
func (s *sliced) from(b box) box {
	p := newBox(len(s.axes))
	for i, r := range s.axes {
		first, last := r.start, r.start
		if r.by >= 0 {
			if b.from[r.by] >= b.to[r.by] {
				return newBox(len(s.axes))
			}
			first, last = r.start+r.step*b.from[r.by], r.start+r.step*(b.to[r.by]-1)
		}
		p.from[i], p.to[i] = min(first, last), max(first, last)+1
	}
	return p
}

func (s *sliced) eval(e *evaluator, n *node, b box) (tensor.Any, error) {
	if b.empty() {
		return tensor.Make(n.dtype, b.shape()...)
	}
	t, err := e.eval(n.in[0], s.from(b))
	if err != nil {
		return t, err
	}
	idx := make([]tensor.Index, len(s.axes))
	for i, r := range s.axes {
		idx[i] = layout.Range(layout.None, layout.None, r.step)
	}
	if t, err = tensor.Slice(t, idx...); err != nil {
		return t, err
	}
	return tensor.Reshape(t, b.shape()...)
}

func (s *sliced) cost(n *node, b box) cost {
	if b.empty() {
		return cost{}
	}
	return n.in[0].kind.cost(n.in[0], s.from(b))
}

// Transpose returns the array with its axes in another order, by default the reverse.
func Transpose(x Array, axes ...int) Array {
	ns, err := given("Transpose", x)
	if err != nil {
		return Array{err: err}
	}
	n := ns[0]
	if len(axes) == 0 {
		for i := range n.shape {
			axes = append(axes, len(n.shape)-1-i)
		}
	}
	seen := make([]bool, len(n.shape))
	t := &transposed{axes: slices.Clone(axes)}
	for i, a := range t.axes {
		if a < 0 {
			t.axes[i] += len(n.shape)
		}
		if a = t.axes[i]; len(axes) != len(n.shape) || a < 0 || a >= len(n.shape) || seen[a] {
			return Array{err: fail("Transpose", tensor.ErrAxis, "axes %v of an array of rank %d; each must be named once", axes, len(n.shape))}
		}
		seen[a] = true
	}
	return Array{n: newNode(t, n.dtype, gathered(n.shape, t.axes), gathered(n.chunks, t.axes), n)}
}

func gathered(of, at []int) []int {
	out := make([]int, len(at))
	for i, a := range at {
		out[i] = of[a]
	}
	return out
}

// transposed has axis axes[i] of its operand as axis i.
type transposed struct{ axes []int }

func (t *transposed) text() string { return fmt.Sprintf("Transpose %v", t.axes) }

func (t *transposed) from(b box) box {
	p := newBox(len(t.axes))
	for i, a := range t.axes {
		p.from[a], p.to[a] = b.from[i], b.to[i]
	}
	return p
}

func (t *transposed) eval(e *evaluator, n *node, b box) (tensor.Any, error) {
	r, err := e.eval(n.in[0], t.from(b))
	if err != nil {
		return r, err
	}
	return tensor.Permute(r, t.axes...)
}

func (t *transposed) cost(n *node, b box) cost { return n.in[0].kind.cost(n.in[0], t.from(b)) }

// Concat joins arrays along an axis; a negative one counts from the end. All have the same element
// type and the same extents but along the axis. The chunks are the chunks of the first.
func Concat(axis int, xs ...Array) Array {
	ns, err := given("Concat", xs...)
	if err != nil {
		return Array{err: err}
	}
	if len(ns) == 0 {
		return Array{err: fail("Concat", tensor.ErrValue, "there are no arrays to be joined")}
	}
	rank := len(ns[0].shape)
	if axis < -rank || axis >= rank {
		return Array{err: fail("Concat", tensor.ErrAxis, "axis %d of arrays of rank %d", axis, rank)}
	}
	axis = (axis + rank) % rank
	shape := slices.Clone(ns[0].shape)
	c := &joined{axis: axis, ends: []int{shape[axis]}}
	for i, n := range ns[1:] {
		rest := slices.Clone(n.shape)
		if len(rest) == rank {
			rest[axis] = ns[0].shape[axis]
		}
		if n.dtype != ns[0].dtype || !slices.Equal(rest, ns[0].shape) {
			return Array{err: fail("Concat", tensor.ErrShape, "array %d is %v%v, array 0 %v%v; only axis %d may differ", i+1, n.dtype, n.shape, ns[0].dtype, ns[0].shape, axis)}
		}
		if shape[axis] > maxInt-n.shape[axis] {
			return Array{err: fail("Concat", tensor.ErrShape, "the extents of axis %d are together beyond an int", axis)}
		}
		shape[axis] += n.shape[axis]
		c.ends = append(c.ends, shape[axis])
	}
	return Array{n: newNode(c, ns[0].dtype, shape, ns[0].chunks, ns...)}
}

const maxInt = int(^uint(0) >> 1)

// Stack joins arrays of one shape along a new axis, which stands at axis of the result.
func Stack(axis int, xs ...Array) Array {
	out := make([]Array, len(xs))
	for i, x := range xs {
		ns, err := given("Stack", x)
		if err != nil {
			return Array{err: err}
		}
		rank := len(ns[0].shape)
		at := axis
		if at < 0 {
			at += rank + 1
		}
		if at < 0 || at > rank {
			return Array{err: fail("Stack", tensor.ErrAxis, "axis %d of a result of rank %d", axis, rank+1)}
		}
		idx := slices.Repeat([]tensor.Index{layout.Range(layout.None, layout.None, 1)}, rank)
		out[i] = Slice(x, slices.Insert(idx, at, layout.NewAxis())...)
	}
	return Concat(axis, out...)
}

// joined is its operands one after the other along an axis.
type joined struct {
	axis int
	ends []int // where each operand ends
}

func (j *joined) text() string { return fmt.Sprintf("Concat %d", j.axis) }

// each calls f for each operand that a part meets: with the part of the operand, and where in
// the part of the result it stands.
func (j *joined) each(n *node, b box, f func(in *node, from, at box) error) error {
	begin := 0
	for i, end := range j.ends {
		lo, hi := max(begin, b.from[j.axis]), min(end, b.to[j.axis])
		if lo < hi {
			from := box{slices.Clone(b.from), slices.Clone(b.to)}
			at := all(b.shape())
			from.from[j.axis], from.to[j.axis] = lo-begin, hi-begin
			at.from[j.axis], at.to[j.axis] = lo-b.from[j.axis], hi-b.from[j.axis]
			if err := f(n.in[i], from, at); err != nil {
				return err
			}
		}
		begin = end
	}
	return nil
}

func (j *joined) eval(e *evaluator, n *node, b box) (tensor.Any, error) {
	out, err := tensor.Make(n.dtype, b.shape()...)
	if err != nil {
		return out, err
	}
	e.own(out)
	return out, j.each(n, b, func(in *node, from, at box) error {
		mark := len(e.held)
		t, err := e.eval(in, from)
		var dst tensor.Any
		if err == nil {
			dst, err = at.of(out)
		}
		if err == nil {
			err = tensor.Copy(dst, t)
		}
		e.release(mark, tensor.Any{})
		return err
	})
}

func (j *joined) cost(n *node, b box) cost {
	c := cost{size: bytesOf(n.dtype, b.shape())}
	c.peak = c.size
	j.each(n, b, func(in *node, from, _ box) error {
		one := in.kind.cost(in, from)
		c.peak, c.read = max(c.peak, plus(c.size, one.peak)), plus(c.read, one.read)
		return nil
	})
	return c
}
