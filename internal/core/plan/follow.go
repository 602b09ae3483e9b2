package plan

import (
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Tail computes the operator that follows, in place, on elements of a result that are in the caches. lines has these elements in
// row-major order, or as channels last have them, from element at on.
type Tail func(lines exec.Run, at int, last bool)

// A Blame is an error of an operator that is part of a step of several. Part is what Followed or Weighed was given for it.
type Blame struct {
	Part any
	Err  error
}

func (b *Blame) Error() string { return b.Err.Error() }

// Unwrap returns the operator's error.
func (b *Blame) Unwrap() error { return b.Err }

func isBlame(err error) bool {
	_, is := err.(*Blame)
	return is
}

// Followed returns an operator that does first and then next, whose errors blame part. The first n inputs are the inputs of first. The others are the inputs of
// next, but for input k, which is the result of first. call makes a call of next without inputs. Where next can't be the
// Tail of first, one runs after the other.
func Followed(first *Op, n int, next *Op, k int, call func() Call, part any) *Op {
	f := &following{first, next, n, k, call, part}
	o := VariantOf(first, first.fixed, nil, f.plan)
	o.says.FLOPs, o.says.Follows = FLOPs{}, false // a plan says the operations of first alone
	return o
}

// apart says that two operators run one after the other, and take bytes for that, if an input from a number on isn't contiguous.
type apart struct {
	from  int
	bytes float64
}

type following struct {
	first, next *Op
	n, k        int
	call        func() Call
	part        any
}

// parts returns the uses of both operators.
func (f *following) parts(c *Use, mid tensor.Any) (a, b *Use) {
	a, b = new(Use), new(Use)
	*a = *c
	a.Inputs, a.Tail = c.Inputs[:f.n:f.n], nil
	b.Call = f.call()
	b.Context, b.Inputs = c.Context, slices.Insert(slices.Clone(c.Inputs[f.n:]), f.k, mid)
	if c.Fixed != nil {
		a.Fixed = c.Fixed[:f.n:f.n]
		b.Fixed = slices.Insert(slices.Clone(c.Fixed[f.n:]), f.k, false)
	}
	return a, b
}

func (f *following) plan(c *Use, p *Draft) {
	var tails [2]Tail // in row-major order, and channels last
	tail := func(lines exec.Run, at int, last bool) {
		if last {
			tails[1](lines, at, last)
		} else {
			tails[0](lines, at, last)
		}
	}
	a, b := f.parts(c, tensor.Any{})
	d := *a
	if d.Tail = tail; c.Tail != nil {
		d.Tail = func(lines exec.Run, at int, last bool) {
			tail(lines, at, last)
			c.Tail(lines, at, last)
		}
	}
	brief := p.Brief
	p.Brief = false
	Planned(f.first, &d, p)
	if p.Err != nil {
		return
	}
	mid := p.Out
	b.Inputs[f.k] = mid[0]
	var q Draft
	err := q.begin(f.next, b)
	var out []tensor.Any
	if err == nil {
		out, err = q.Results()
	}
	if err != nil {
		p.Err = &Blame{f.part, err}
		return
	}
	if p.body != nil && q.After != nil && out[0].DType() == mid[0].DType() && slices.Equal(out[0].Shape(), mid[0].Shape()) {
		if tails[0] = q.After(f.k, false); p.Last {
			tails[1] = q.After(f.k, true)
		}
	}
	p.After, p.Brief = nil, brief
	one := func(r *tensor.Any, opts []Option) { f.apart(a, b, c.Tail, out[0], r, opts) }
	if p.Out = out; tails[0] == nil && tails[1] == nil {
		p.Last = false
		p.then(&q.Price)
		p.all += Room(0, mid, out)
		p.Late, p.Run, p.several = nil, nil, false // of a first that has several results
		p.By(c, 0, one)
		return
	}
	p.apart = apart{f.n, Room(0, mid, out)}
	body, others := p.body, c.Inputs[f.n:]
	p.body = func(r *tensor.Any, opts []Option) {
		s := Read(f.first.says.Name, opts)
		now := tails[0]
		if p.Last && s.Into != nil && LiesLast(s.Into) {
			now = tails[1]
		}
		if now == nil || s.Into != nil && slices.ContainsFunc(others, s.Into.Overlaps) {
			one(r, opts) // the tail reads them when part of the result is there
			return
		}
		body(r, opts)
	}
}

// apart runs one operator after the other, and then the Tail of both.
func (f *following) apart(a, b *Use, then Tail, like tensor.Any, r *tensor.Any, opts []Option) {
	s := Read(f.first.says.Name, opts)
	AimShape(r, f.first.says.Name, &s, like.DType(), like.Shape())
	e, d := *a, *b
	e.Context, d.Context = s.Ctx(), s.Ctx()
	made, err := Ran(f.first, &e)
	if err != nil {
		panic(err)
	}
	d.Inputs = slices.Clone(b.Inputs)
	d.Inputs[f.k] = made[0]
	list, err := Ran(f.next, &d)
	if err != nil {
		panic(err)
	}
	y := list[0].Contiguous()
	if y.Len() > 0 && then != nil {
		if y.SameData(made[0]) || slices.ContainsFunc(d.Inputs, func(a tensor.Any) bool { return !a.IsZero() && y.SameData(a) }) {
			y = y.Clone()
		}
		then(exec.RunIn(&y), 0, false)
	}
	r.CopyFrom(y)
}
