package onnx

import (
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/op"
)

// layoutLast returns the layout of a tensor [N, C, D1, …] that lies channels last. It reports false for another shape, and for one whose
// channels have one element each.
func layoutLast(shape []int) (layout.Layout, bool) {
	rank := len(shape)
	if rank < 3 || slices.Contains(shape, 0) {
		return layout.Layout{}, false
	}
	outer, axes := []int{shape[0]}, []int{0, rank - 1}
	for i := 2; i < rank; i++ {
		outer, axes = append(outer, shape[i]), append(axes, i-1)
	}
	lay, err := layout.RowMajor(append(outer, shape[1])...)
	if err != nil {
		return lay, false
	}
	lay, err = lay.Permute(axes...)
	return lay, err == nil && !lay.Ref().IsRowMajor()
}

// kept returns the operator of step i for a call: if it may keep packed weights, it knows which inputs stay.
func (d *drawing) kept(i int, call *op.Call) *op.Op {
	if !d.packs(i) {
		return d.c.ops[i]
	}
	call.Fixed = d.fixed(i)
	return d.keeping(i, call)
}

// keeping returns the operator of step i, which keeps its weights packed, also where they are results of the steps before.
func (d *drawing) keeping(i int, call *op.Call) *op.Op {
	how, o := &d.steps[i], d.c.ops[i]
	if k := plan.AboutOf(o).Weights; how.op == nil && d.packs(i) && k < len(call.Fixed) && call.Fixed[k] && d.c.steps[i].in[k] >= 0 && !d.c.vals[d.c.steps[i].in[k]].known() {
		how.op, _ = plan.WithWeights(o, call)
	}
	if how.op != nil {
		return how.op
	}
	return o
}

// lastly lets results lie channels last where most of their readers gain by that, and the steps that make them lose nothing.
func (d *drawing) lastly() {
	begins := false // a step writes so, however its input lies
	for i := range d.steps {
		begins = begins || d.steps[i].last && !d.steps[i].by
		for _, w := range d.steps[i].ways {
			if w != nil {
				w.lastly()
			}
		}
	}
	if !begins {
		return
	}
	may := make(map[*slot]layout.Layout) // how results lie then
	for i := range d.steps {
		s, how := &d.c.steps[i], &d.steps[i]
		switch {
		case how.how == viewing:
			in, ok := may[d.slots[s.in[0]]]
			if !ok {
				continue
			}
			for j, lay := range plan.Laid(how.plan, &in) {
				if j < len(s.out) && s.out[j] >= 0 {
					may[d.slots[s.out[j]]] = lay
				}
			}
		case how.how == planned && (how.last || how.join == 2) && d.floats(s.out[0]):
			if lay, ok := layoutLast(d.slots[s.out[0]].like.Shape()); ok && d.slots[s.out[0]].common() {
				may[d.slots[s.out[0]]] = lay
			}
		}
	}
	wish := make(map[*slot]int) // of the readers, from the last on
	for _, id := range d.c.outputs {
		wish[d.slots[id]] -= len(d.steps)
	}
	for i := range slices.Backward(d.steps) {
		s, how := &d.c.steps[i], &d.steps[i]
		vote := -1
		for _, id := range s.out {
			if id < 0 || d.slots[id] == nil {
				continue
			}
			to := d.slots[id]
			if _, ok := may[to]; ok && wish[to] >= 0 || how.last && !to.loose && flat(to.like.Shape()) {
				vote = 1
			}
		}
		for id := range s.reads() {
			switch in := d.slots[id]; {
			case in == nil:
			case how.last && d.packs(i) && id == s.in[0]: // a convolution gains in any case
				wish[in]++
			default:
				wish[in] += vote
			}
		}
	}
	for i := range d.steps {
		s, how := &d.c.steps[i], &d.steps[i]
		if how.how != planned {
			continue
		}
		to := d.slots[s.out[0]]
		if _, ok := may[to]; !ok {
			continue
		}
		lie, all, first := 0, 0, false // operands besides the first of a convolution
		for k, id := range s.in {
			in := &slot{fixed: true}
			if id >= 0 && d.slots[id] != nil {
				in = d.slots[id]
			}
			switch {
			case in.fixed || in.loose:
			case k == 0 && d.packs(i):
				first = in.lies()
			case in.like.Rank() > 2 && !flat(in.like.Shape()):
				if all++; in.lies() {
					lie++
				}
			}
		}
		switch {
		case d.packs(i) && all > 0:
			to.last = lie == all
		case d.packs(i):
			to.last = wish[to] >= 0 && (first || !how.by)
		case how.join == 2:
			to.last = wish[to] >= 0 && lie == all
		default:
			to.last = wish[to] >= 0 && lie > 0
		}
	}
}

// packs reports whether step i may keep packed weights.
func (d *drawing) packs(i int) bool { return plan.AboutOf(d.c.ops[i]).Kept != nil }

// floats reports whether a value is a tensor of floats.
func (d *drawing) floats(id int) bool {
	s := d.slots[id]
	return s != nil && !s.loose && (s.like.DType() == dtype.Float32 || s.like.DType() == dtype.Float64)
}

// flat reports whether channels of a shape have one element each, so that channels last is row-major.
func flat(shape []int) bool {
	for _, n := range shape[min(2, len(shape)):] {
		if n != 1 {
			return false
		}
	}
	return len(shape) > 2
}

// lies reports whether a slot lies channels last, or is a view of one that does.
func (s *slot) lies() bool {
	for len(s.whole) == 1 {
		s = s.whole[0]
	}
	return s.last
}
