package onnx

import (
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/walk"
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
	return lay, err == nil && !walk.Ref(&lay).IsRowMajor()
}

// kept returns the operator of step i for a call: if it may keep packed weights, it knows which inputs stay.
func (d *drawing) kept(i int, call *op.Call) *op.Op {
	if !d.packs(i) {
		return d.c.ops[i]
	}
	call.Fixed = d.fixed(i)
	return d.keeping(i, call)
}

// keeping returns the operator of step i, which keeps its weights packed, also where they are results of the steps before, or inputs with
// defaults.
func (d *drawing) keeping(i int, call *op.Call) *op.Op {
	how, o := &d.steps[i], d.c.ops[i]
	if k := about(o).Weights; how.op == nil && d.packs(i) && k < len(call.Fixed) && call.Fixed[k] && d.c.steps[i].in[k] >= 0 {
		kept, _ := plan.WithWeights((*plan.Op)(o), (*plan.Call)(call))
		how.op = (*op.Op)(kept)
	}
	if how.op != nil {
		return how.op
	}
	return o
}

// A Region is results of planned steps that operators tie together: those that work in planes and channels last alike when their operands and
// results lie alike. Costs count elements that are moved, as turning a value takes time and a convolution of planes takes more time.
type Region struct {
	Values int   // results that may lie channels last
	Last   int   // of them, those that do
	Planes int64 // the cost where all lie in planes,
	All    int64 // where all lie channels last,
	Cost   int64 // and as they lie
}

// A laid is how a value lies where its root, the value that it is a view of, lies in planes, and where that lies channels last.
type laid struct {
	root *root
	lays [2]*layout.Layout
}

// A root is a value that isn't a view.
type root struct {
	slot   *slot
	free   bool       // it may lie either way
	label  int        // 1: it lies channels last
	best   int        // the label that costs least
	border [2]float64 // the cost of the steps that read it in planes alone, by label
	steps  []int      // the others that read or make it
	region int
}

// layings decides which results of a drawing lie channels last.
type layings struct {
	d     *drawing
	forms map[*slot]laid
	roots []*root // those that are free
	done  []int   // the round of each step
	round int
}

// turnCost is the cost of an element that goes from planes to channels last, or back, in elements that are copied as they lie.
const turnCost = 2

// lastly lets results lie channels last, by regions: a region lies so if that costs less than planes, but for those of its results that
// cost less in planes. All results stay in planes where the run and the packed weights of its steps take more bytes than there is room for: planes need no
// packed weights.
func (z *outline) lastly(d *drawing, room int64, unlimited bool) {
	keeps, may := d.keeps()
	if !may {
		return
	}
	all := keeps // at most
	for _, s := range z.slots {
		if s.common() {
			all = add(all, s.bytes())
		}
	}
	if unlimited || all <= room || add(keeps, int64(z.places())) <= room {
		d.lastly()
	}
}

func (d *drawing) lastly() {
	l := layings{d: d, forms: make(map[*slot]laid), done: make([]int, len(d.steps))}
	l.draw()
	l.choose()
	d.within((*drawing).lastly)
}

// within calls f for the graphs inside the steps of a graph.
func (d *drawing) within(f func(*drawing)) {
	for i := range d.steps {
		for k, w := range d.steps[i].ways {
			if w != nil && (k == 0 || w != d.steps[i].ways[0]) {
				f(w)
			}
		}
	}
}

// keeps is how many bytes of packed weights the steps keep, and whether a convolution is among those.
func (d *drawing) keeps() (n int64, may bool) {
	for i := range d.steps {
		n, may = add(n, d.steps[i].keeps), may || d.steps[i].last && d.packs(i)
	}
	d.within(func(w *drawing) {
		more, also := w.keeps()
		n, may = add(n, more), may || also
	})
	return n, may
}

// of returns how a slot lies. A value that no step here makes lies in planes.
func (l *layings) of(s *slot) laid {
	f, ok := l.forms[s]
	if !ok {
		lay := s.like.Layout()
		f = laid{&root{slot: s}, [2]*layout.Layout{&lay, nil}}
		l.forms[s] = f
	}
	return f
}

// draw finds the forms of all values, and what reads them.
func (l *layings) draw() {
	d := l.d
	for i := range d.steps {
		s, how := &d.c.steps[i], &d.steps[i]
		switch how.how {
		case viewing:
			l.view(i)
		case planned:
			f := l.of(d.slots[s.out[0]])
			if lay, ok := layoutLast(f.root.slot.like.Shape()); ok && (how.last || how.join == 2) && d.numbers(s.out[0]) && f.root.slot.common() {
				l.free(f, &lay)
			}
		}
	}
	for i := range d.steps {
		s, how := &d.c.steps[i], &d.steps[i]
		switch {
		case how.how == already, how.how == viewing:
		case how.how == reordering || how.how == planned && (how.last || how.join == 2):
			for _, id := range slices.Concat(s.in, s.out) {
				if id >= 0 && d.slots[id] != nil && !d.slots[id].loose {
					if r := l.of(d.slots[id]).root; r.free && (len(r.steps) == 0 || r.steps[len(r.steps)-1] != i) {
						r.steps = append(r.steps, i)
					}
				}
			}
		default:
			for id := range s.reads() {
				l.border(id)
			}
		}
	}
	for _, id := range d.c.outputs {
		if s := d.slots[id]; s != nil && s.whole != nil { // others have places of their own
			l.border(id)
		}
	}
}

// border counts a reader of a value that wants it in planes.
func (l *layings) border(id int) {
	if s := l.d.slots[id]; s != nil && !s.loose && !s.fixed {
		for k, lay := range l.of(s).lays {
			if lay != nil && !lay.IsRowMajor() {
				l.of(s).root.border[k] += turnCost * float64(s.like.Len())
			}
		}
	}
}

// free lets a root lie channels last.
func (l *layings) free(f laid, lay *layout.Layout) {
	f.root.free, f.root.region = true, len(l.roots)
	l.roots = append(l.roots, f.root)
	f.lays[1] = lay
	l.forms[f.root.slot] = f
}

// view finds the forms of the results of a step that are views. A result that has no such view is a copy, which may lie channels last itself.
func (l *layings) view(i int) {
	d := l.d
	s, how := &d.c.steps[i], &d.steps[i]
	in := l.of(d.slots[s.in[0]])
	var lists [2][]layout.Layout
	for k, lay := range in.lays {
		if lay != nil {
			lists[k] = draftOf(how.plan).Laid(lay)
		}
	}
	for j, id := range s.out {
		if id < 0 || d.slots[id] == nil {
			continue
		}
		to, f := d.slots[id], laid{root: in.root}
		for k := range lists {
			if j < len(lists[k]) {
				f.lays[k] = &lists[k][j]
			}
		}
		row := to.like.Layout()
		switch {
		case f.lays[0] == nil && f.lays[1] == nil && len(s.out) == 1 && to.like.Len() == d.slots[s.in[0]].like.Len():
			how.how, to.whole = reordering, nil
			delete(l.forms, to)
			f = l.of(to)
			if lay, ok := layoutLast(to.like.Shape()); ok && in.root.free && d.numbers(id) && to.common() && viewable(lay, d.slots[s.in[0]].like.Shape()) {
				l.free(f, &lay)
			}
			continue
		case f.lays[0] == nil:
			f.lays[0] = &row
			in.root.border[0] += turnCost * float64(to.like.Len())
		case f.lays[1] == nil && in.root.free:
			f.lays[1] = &row
			in.root.border[1] += turnCost * float64(to.like.Len())
		}
		l.forms[to] = f
	}
}

// viewable reports whether a tensor of a layout has a view of a shape.
func viewable(lay layout.Layout, shape []int) bool {
	_, err := lay.View(shape...)
	return err == nil
}

// lie says how a value lies as the roots are labelled: row-major, channels last, or in another way.
type lie int

const (
	inPlanes lie = iota
	isLast
	isOther
	isEither // row-major, which channels last are for this shape
)

func (l *layings) lies(s *slot) lie {
	f := l.of(s)
	switch lay := f.lays[f.root.label]; {
	case lay != nil && plan.LaidLast(lay):
		return isLast
	case lay != nil && !lay.IsRowMajor():
		return isOther
	case s.like.Rank() < 3 || s.like.Dim(1) == 1 || flat(s.like.Shape()):
		return isEither
	}
	return inPlanes
}

// cost returns the elements that a step moves besides its work.
func (l *layings) cost(i int) (n float64) {
	d := l.d
	s, how := &d.c.steps[i], &d.steps[i]
	to := d.slots[s.out[0]]
	want, y := l.lies(to), float64(to.like.Len())
	for k, id := range s.in {
		if id < 0 || d.slots[id] == nil || d.slots[id].loose {
			continue
		}
		in := d.slots[id]
		lies, x := l.lies(in), float64(in.like.Len())
		differs := lies != want && lies != isEither && (want != isEither || lies == isOther)
		switch {
		case how.how == reordering:
			if n += x; differs {
				n += (turnCost - 1) * x
			}
		case d.packs(i) && k == 0:
			n += l.convolves(i, lies, want, x, y)
		case d.packs(i) && in.fixed: // weights
		case d.packs(i) && differs: // then the steps that follow run after the convolution
			n += turnCost * (x + y)
		case differs && want == inPlanes && lies == isOther:
			n += x
		case differs:
			n += float64(turnCost * x)
		}
	}
	return n
}

// convolves is cost for a convolution whose input and result have x and y elements.
func (l *layings) convolves(i int, lies, want lie, x, y float64) (n float64) {
	s, how := &l.d.c.steps[i], &l.d.steps[i]
	if how.by { // rules of measured times
		in, each := l.d.slots[s.in[0]].like.Dim(1), l.d.slots[s.in[about(l.d.c.ops[i]).Weights]].like.Dim(1)
		planes := max(0, float64(how.flops/128)-y) // what a product of planes loses
		switch {
		case each < in && each == 1:
			planes = y
		case each < in: // sums of few channels are copied
			n = turnCost * y
		}
		if lies != isLast && want == inPlanes {
			return planes
		}
	}
	if want == inPlanes {
		n += float64(turnCost * y)
	}
	if lies != isLast && lies != isEither {
		n += float64(x / 2) // lines with padding are copied anyway
	}
	return n
}

// total is the cost of a region as its roots are labelled.
func (l *layings) total(list []*root) (n float64) {
	l.round++
	for _, r := range list {
		n += r.border[r.label]
		for _, i := range r.steps {
			if l.done[i] != l.round {
				l.done[i] = l.round
				n += l.cost(i)
			}
		}
	}
	return n
}

// mostLookedAt is how many operands are looked at to find results that cost less than their region, for each that may lie so.
const mostLookedAt = 1 << 10

// choose labels the roots of all regions.
func (l *layings) choose() {
	at := func(k int) int { // the region of root k
		for l.roots[k].region != k {
			l.roots[k].region = l.roots[l.roots[k].region].region
			k = l.roots[k].region
		}
		return k
	}
	first := make(map[int]int) // of a step
	for k, r := range l.roots {
		for _, i := range r.steps {
			if j, ok := first[i]; ok {
				l.roots[at(k)].region = at(j)
			} else {
				first[i] = k
			}
		}
	}
	regions := make(map[int][]*root)
	var order []int
	for k, r := range l.roots {
		if regions[at(k)] == nil {
			order = append(order, at(k))
		}
		regions[at(k)] = append(regions[at(k)], r)
	}
	for _, k := range order {
		l.region(regions[k])
	}
}

// region labels the roots of one region: the better of all in planes and all channels last, where then each is turned that gains by it.
func (l *layings) region(list []*root) {
	about := &Region{Values: len(list)}
	for all, cost := range []*int64{&about.Planes, &about.All} {
		for _, r := range list {
			r.label = all
		}
		*cost = int64(l.total(list))
		l.turn(list)
		if now := int64(l.total(list)); all == 0 || now <= about.Cost {
			about.Cost, about.Last = now, 0
			for _, r := range list {
				r.best = r.label
				about.Last += r.label
			}
		}
	}
	for _, r := range list {
		r.label = r.best
		r.slot.last, r.slot.region = r.label == 1, about
	}
}

// turn turns results as long as that costs less.
func (l *layings) turn(list []*root) {
	looks := mostLookedAt * len(list)
	near := func(r *root) float64 {
		n := r.border[r.label]
		for _, i := range r.steps {
			n += l.cost(i)
			looks -= len(l.d.c.steps[i].in)
		}
		return n
	}
	for changed := true; changed && looks > 0; {
		changed = false
		for _, r := range list {
			was := near(r)
			if r.label = 1 - r.label; near(r) < was && looks > 0 {
				changed = true
			} else {
				r.label = 1 - r.label
			}
		}
	}
}

// packs reports whether step i may keep packed weights.
func (d *drawing) packs(i int) bool { return about(d.c.ops[i]).Kept != nil }

// runsLast reports whether a value that step i reads first, or its result, lies channels last.
func (d *drawing) runsLast(i int) bool {
	s := &d.c.steps[i]
	for _, list := range [][]int{s.in, s.out} {
		if len(list) > 0 && list[0] >= 0 && d.slots[list[0]] != nil && d.slots[list[0]].lies() {
			return true
		}
	}
	return false
}

// stays says why a convolution stays in planes, "" if it doesn't.
func (d *drawing) stays(i int) string {
	s, how := &d.c.steps[i], &d.steps[i]
	switch to := s.out[0]; {
	case how.how != planned:
		return "each run plans it anew"
	case d.runsLast(i):
		return ""
	case how.last && to >= 0 && d.slots[to] != nil && d.slots[to].region != nil:
		return "its region costs less in planes"
	case how.last:
		return "its result has a place in planes, and its input lies so"
	case how.stays != "":
		return how.stays
	case !d.packs(i):
		return "the operator works in planes alone"
	case !d.fixed(i)[about(d.c.ops[i]).Weights]:
		return "its weights may change"
	}
	return "there are no kernels for its type and shape at this level"
}

// numbers reports whether a value is a tensor of floats, or of quantized numbers.
func (d *drawing) numbers(id int) bool {
	s := d.slots[id]
	return s != nil && !s.loose && (plan.Bytes8 | 1<<dtype.Float32 | 1<<dtype.Float64).Has(s.like.DType())
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
