package op

import (
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Concat returns the tensors ts one after the other along axis, which may be
// negative. They have one rank, at least 1, and agree in every other extent. It
// panics when they don't, or when there are none. Elements keep their bits. ONNX
// Concat.
func Concat[T num.Elem](ts []tensor.Tensor[T], axis int, opts ...Option) (r tensor.Tensor[T]) {
	all := make([]tensor.Any, len(ts))
	for i, t := range ts {
		all[i] = t.Any()
	}
	concatenated(exec.Ref(&r), axis, all, opts)
	return r
}

// concatenated is Concat for a run-time element type, which all of ts have. It moves bytes.
func concatenated(r *tensor.Any, axis int, ts []tensor.Any, opts []Option) {
	plan.PresentAll("Concat", ts)
	shape := concatShape(axis, ts)
	axis = plan.AxisOf("Concat", axis, len(shape))
	s, d := plan.Read("Concat", opts), ts[0].DType()
	plan.AimShape(r, "Concat", &s, d, shape)
	out := *r
	if !walk.Ref(r.LayoutRef()).Flat() { // a part of a nested axis may have no view
		out = tensor.EmptyOf(d, shape...)
	}
	at := make([]int, len(ts)+1)
	own := slices.Clone(ts)
	before, n, after := move.Around(shape, axis)
	after *= d.Size()
	till, t0 := out.Memory()
	for i, t := range ts {
		at[i+1] = at[i] + t.Dim(axis)
		switch data, f0 := t.Memory(); {
		case before == 1 && out.IsContiguous() && t.IsContiguous() && t.Len() > 0 && &till[(t0+at[i]*after/d.Size())*d.Size()] == &data[f0*d.Size()]:
			own[i] = tensor.Any{} // it is there
		case plan.LiesLast(&out) && axis == 1 && partLast(&out, &t, at[i]):
			own[i] = tensor.Any{}
		case out.Overlaps(t):
			own[i] = t.Clone()
		}
	}
	stream, t0 := conv.Streams[byte](out.Len()*d.Size()), t0*d.Size()
	narrow := out.IsContiguous() && after == d.Size() && len(ts) > 1 && before > 1 // one element of each row from each tensor
	for i := range own {
		narrow = narrow && own[i].IsContiguous() && at[i+1]-at[i] == 1
	}
	if narrow {
		exec.Split("Concat", s.Ctx(), before, len(ts), func(from, to int) {
			interleave(till[t0+from*n*after:], own, from, to-from)
		})
		own = nil
	}
	exec.Split("Concat", s.Ctx(), len(own), max(1, out.Len()/len(ts)), func(from, to int) {
		for i := from; i < to; i++ {
			if own[i].IsZero() {
				continue
			}
			if t := &own[i]; out.IsContiguous() && t.IsContiguous() {
				run, first := (at[i+1]-at[i])*after, t0+at[i]*after
				data, f0 := t.Memory()
				if run == d.Size() { // one element from each row
					exec.CopyBlock(till, data, conv.Block{Off: first / run, Rows: 1, Cols: before, Col: n * after / run}, conv.Block{Off: f0, Rows: 1, Cols: before, Col: 1}, d)
					continue
				}
				conv.Copy2(till, data, conv.Block{Off: first, Rows: before, Row: n * after, Cols: run, Col: 1}, conv.Block{Off: f0 * d.Size(), Rows: before, Row: run, Cols: run, Col: 1}, stream)
				continue
			}
			idx := make([]tensor.Index, len(shape))
			for k := range idx {
				idx[k] = tensor.Colon
			}
			idx[axis] = tensor.R(at[i], at[i+1])
			out.Slice(idx...).CopyFrom(own[i])
		}
	})
	runtime.KeepAlive(ts)
	runtime.KeepAlive(own)
	runtime.KeepAlive(&out)
	if !out.SameData(*r) {
		r.CopyFrom(out)
	}
}

// partLast reports whether t is the channels of out from one on, which both lie channels last.
func partLast(out, t *tensor.Any, from int) bool {
	a, b := out.LayoutRef(), t.LayoutRef()
	for i := range t.Rank() {
		m, _ := walk.Ref(a).Stride(i)
		if n, _ := walk.Ref(b).Stride(i); n != m && t.Dim(i) > 1 {
			return false
		}
	}
	till, t0 := out.Memory()
	data, f0 := t.Memory()
	size := t.DType().Size()
	return t.Len() > 0 && &till[(t0+from)*size] == &data[f0*size]
}

// interleave sets n rows of dst to elements of ts, one of each tensor, which are contiguous, from element from on. A few rows
// of all tensors go at a time, while their lines are in the cache.
func interleave(dst []byte, ts []tensor.Any, from, n int) {
	d, size := ts[0].DType(), ts[0].DType().Size()
	const rows = 512
	for i := 0; i < n; i += rows {
		m := min(rows, n-i)
		to := dst[i*len(ts)*size:]
		part := func(k int) []byte {
			data, first := ts[k].Memory()
			return data[(first+from+i)*size:][:m*size]
		}
		if len(ts) == 2 {
			conv.Pairs(to[:2*m*size], part(0), part(1), size)
			continue
		}
		for k := range ts {
			exec.CopyBlock(to, part(k), conv.Block{Off: k, Rows: 1, Cols: m, Col: len(ts)}, conv.Block{Rows: 1, Cols: m, Col: 1}, d)
		}
	}
}

// concatShape returns the result's shape.
func concatShape(axis int, ts []tensor.Any) []int {
	if len(ts) == 0 {
		panic(plan.Fail("Concat", tensor.ErrShape, "no tensors; give at least one"))
	}
	shape := ts[0].Shape()
	axis = plan.AxisOf("Concat", axis, len(shape))
	for i, t := range ts[1:] {
		if t.Rank() != len(shape) {
			panic(plan.Fail("Concat", tensor.ErrShape, "tensor 0 has rank %d, tensor %d has %d", len(shape), i+1, t.Rank()))
		}
		for a := range shape {
			if a != axis && t.Dim(a) != shape[a] {
				panic(plan.Fail("Concat", tensor.ErrShape, "tensors 0 and %d have extents %d and %d on axis %d; only axis %d may differ",
					i+1, shape[a], t.Dim(a), a, axis))
			}
		}
		shape[axis] += t.Dim(axis)
	}
	return shape
}

var concat = plan.Operator{About: plan.About{Name: "Concat", Shapes: true, Moves: plan.Moves{In: plan.EveryPlace, Out: 1}, FLOPs: plan.FLOPs{Free: true}, Versions: []int{4, 11, 13}, Attrs: []string{"axis"}}, Least: 1, Most: -1,
	Planned: func(c *plan.Use, p *plan.Draft) {
		plan.Needs("Concat", c, len(c.Inputs))
		for i := range c.Inputs {
			if a, d := c.With("Concat", i), c.In(0).DType(); a.DType() != d {
				panic(plan.NotHeld("Concat", a, i, d))
			}
		}
		axis := plan.AttrInt(c, "axis", 1)
		if !p.Brief {
			shape := concatShape(axis, c.Inputs)
			p.Gives(c.In(0).DType(), shape...)
			p.Joins, p.Along = true, plan.AxisOf("Concat", axis, len(shape))
		}
		p.By(c, 0, func(r *tensor.Any, opts []Option) { concatenated(r, axis, c.Inputs, opts) })
	}}
