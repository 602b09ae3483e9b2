package plan

import (
	"context"
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/tensor"
)

// mostScores is how many scores Weighed makes at once, unless one line has more.
const mostScores = 1 << 19

// Weighed returns an operator that does scores, along and product, as attention written out in nodes does. scores and product are MatMul,
// perhaps Followed by operators whose operands stretch as the operands of Add do. The first n inputs are the inputs of scores. Its result is the only
// input of along. The result of along is the first input of product, and the others are inputs n and later. Where along maps each line of the last axis by
// itself, a part of the lines is made at a time, so that not all scores have to be there. Each element has the same bits. calls make
// calls without inputs.
func Weighed(scores *Op, n int, along, product *Op, calls [3]func() Call, parts [3]any) *Op {
	w := &weighing{ops: [3]*Op{scores, along, product}, n: n, calls: calls, parts: parts}
	o := VariantOf(scores, scores.fixed, nil, w.plan)
	o.says.FLOPs, o.says.Follows, o.says.Leads, o.says.Kept = FLOPs{}, false, false, nil // nobody counts the FLOPs of all
	return o
}

type weighing struct {
	ops   [3]*Op
	n     int
	calls [3]func() Call
	parts [3]any // for a Blame
}

// A weighed is a plan of a weighing.
type weighed struct {
	*weighing
	call   *Use
	scores tensor.Any  // a Spec of all
	part   []int       // the shape of the scores that are made at once
	result []int       // the shape of the result
	kinds  [2]*portion // for whole parts, and for the last one along an axis
}

// A portion has the plans for parts of one shape. They read the operands, and write the results, that a run puts in their places.
type portion struct {
	shape []int
	uses  [3]Use
	plans [3]Draft
	at    [3]tensor.Any // where they write
	begun bool          // the plans are of the operands that the uses have
}

// uses says the calls of the operators on the operands of c, without the results of the first two.
func (w *weighing) uses(c *Use, uses *[3]Use) {
	known := func(from, till int) (list []bool) {
		for i := from; i < till; i++ {
			list = append(list, c.Known(i))
		}
		return list
	}
	for i := range uses {
		uses[i] = Use{Call: w.calls[i](), Flags: c.Flags}
		uses[i].Context = c.Context
	}
	uses[0].Inputs, uses[0].Fixed = slices.Clone(c.Inputs[:w.n]), known(0, w.n)
	uses[1].Inputs, uses[1].Fixed = make([]tensor.Any, 1), []bool{false}
	uses[2].Inputs = slices.Concat(uses[1].Inputs, c.Inputs[w.n:])
	uses[2].Fixed = append([]bool{false}, known(w.n, len(c.Inputs))...)
}

func (w *weighing) plan(c *Use, p *Draft) {
	q := &weighed{weighing: w, call: c}
	var uses [3]Use
	var made [3]Draft
	w.uses(c, &uses)
	var last tensor.Any
	for i, o := range w.ops {
		if i > 0 {
			uses[i].Inputs[0] = last
		}
		err := made[i].begin(o, &uses[i])
		var out []tensor.Any
		if err == nil {
			out, err = made[i].Results()
		}
		if err != nil {
			if p.Err = err; !isBlame(err) {
				p.Err = &Blame{w.parts[i], err}
			}
			return
		}
		if last = out[0]; i == 0 {
			q.scores = last
		}
	}
	q.part, q.result = q.scores.Shape(), last.Shape()
	rank := len(q.part)
	if made[1].ByLines && rank > 1 && len(q.result) >= rank && c.Inputs[0].Rank() > 1 && c.Inputs[1].Rank() > 1 && c.Inputs[w.n].Rank() > 1 {
		left := mostScores / max(1, q.part[rank-1])
		for i := rank - 2; i >= 0; i-- {
			all := max(1, q.part[i])
			parts := (all-1)/max(1, left) + 1
			q.part[i] = (all-1)/parts + 1
			left /= q.part[i]
		}
	}
	p.Price = made[0].Price
	p.then(&made[1].Price)
	p.then(&made[2].Price)
	p.all += BytesIn(q.scores.DType().Size(), q.part)
	p.Out = One(last)
	p.By(c, 0, q.run)
}

// run computes the result part by part.
func (q *weighed) run(r *tensor.Any, opts []Option) {
	name, d := q.ops[0].says.Name, q.scores.DType()
	s := Read(name, opts)
	AimShape(r, name, &s, d, q.result)
	if r.Len() == 0 {
		return
	}
	var operands []*tensor.Any
	for i := range q.call.Inputs {
		if a := &q.call.Inputs[i]; !a.IsZero() {
			operands = append(operands, a)
		}
	}
	to := Beside(r, false, operands...)
	room := tensor.EmptyOf(d, Elements(q.part))
	defer room.Close()
	whole := q.scores.Shape()
	from, till := make([]int, len(whole)), make([]int, len(whole))
	for more := true; more; {
		for i := range whole {
			till[i] = min(whole[i], from[i]+q.part[i])
		}
		q.some(&room, from, till, to, s.Ctx())
		more = false
		for i := len(whole) - 1; i >= 0 && !more; i-- { // on along the last axis that isn't at its end
			if from[i], more = till[i], till[i] < whole[i]; !more {
				from[i] = 0
			}
		}
	}
	Put(r, to)
}

// some computes the part of the result that follows from some of the scores.
func (q *weighed) some(room *tensor.Any, from, till []int, r *tensor.Any, ctx context.Context) {
	shape := make([]int, len(from))
	for i := range shape {
		shape[i] = till[i] - from[i]
	}
	k := &q.kinds[0]
	if !slices.Equal(shape, q.part) {
		k = &q.kinds[1]
	}
	if *k == nil || !slices.Equal((*k).shape, shape) {
		*k = &portion{shape: shape}
		q.uses(q.call, &(*k).uses)
	}
	p := *k
	// part returns the part of an operand, or of the result, that belongs to these scores. Its axes are the axes of the scores, but for the last
	// ones.
	part := func(a *tensor.Any, but int) (part tensor.Any, whole bool) {
		idx := make([]tensor.Index, a.Rank())
		whole = true
		for i := range idx {
			idx[i] = tensor.Colon
			if j := i + len(shape) - len(idx); j >= 0 && j < len(shape)-but && a.Dim(i) != 1 && shape[j] < q.scores.Dim(j) {
				idx[i], whole = tensor.R(from[j], till[j]), false
			}
		}
		switch {
		case whole:
			return *a, true
		case !walk.Ref(a.LayoutRef()).Flat():
			return a.Contiguous().Slice(idx...), false
		}
		return a.Slice(idx...), false
	}
	scores := room.Slice(tensor.R(0, Elements(shape))).Reshape(shape...)
	for i := range q.call.Inputs {
		u, k, but := &p.uses[0], i, 1
		if i >= q.n {
			u, k = &p.uses[2], i-q.n+1
		}
		if i == 1 || i == q.n { // the other matrix of a product
			but = 2
		}
		a, whole := part(&q.call.Inputs[i], but)
		if !Same(&u.Inputs[k], &a) {
			p.begun = false
		}
		u.Inputs[k], u.Fixed[k] = a, u.Fixed[k] && whole
	}
	y, _ := part(r, 1)
	if !Same(&p.at[0], &scores) {
		p.begun = false
	}
	p.uses[1].Inputs[0], p.uses[2].Inputs[0] = scores, scores
	p.at = [3]tensor.Any{scores, scores, y}
	for i := range p.plans {
		d := &p.plans[i]
		if !p.begun || !d.Steady { // a plan knows where its operands are
			*d = Draft{}
			if err := d.begin(q.ops[i], &p.uses[i]); err != nil {
				panic(err)
			}
		}
		d.Under(ctx)
		if len(d.opts) > 0 {
			d.opts[0].Into = &p.at[i]
		}
		made, err := d.Ran()
		if err != nil {
			panic(err)
		}
		if !made[0].SameData(p.at[i]) {
			p.at[i].CopyFrom(made[0])
		}
	}
	p.begun = true
}

// Same reports whether two tensors are one: the same elements of a storage in the same layout.
func Same(a, b *tensor.Any) bool {
	if a.IsZero() || b.IsZero() {
		return a.IsZero() && b.IsZero()
	}
	if !a.SameData(*b) || !walk.Ref(a.LayoutRef()).Equal(walk.Ref(b.LayoutRef())) {
		return false
	}
	_, i := a.Memory()
	_, j := b.Memory()
	return i == j
}
