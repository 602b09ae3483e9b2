package onnx

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Plan gives, before a run, the memory that it will need.
type Plan struct {
	Weights int64  // bytes of initializers and constants, in the file or copied
	Live    int64  // most bytes that results of nodes, the graph's outputs among them, take at one time, with a node's scratch
	Node    string // the node at which that is
	Exact   bool   // false: Live lacks bytes that depend on values not known before the run, or of sequences inside nodes

	alone int64   // Live with one thread
	sizes []int64 // of each value, -1 where it isn't known
}

// Plan infers the shape of every value of a run with these inputs, which may be descriptions (tensor.Spec), and returns
// the memory it needs besides the inputs themselves. Views are counted as copies. It fails where Run would before its
// first node: for inputs that don't fit, for shapes that don't fit each other, and with an *UnsupportedError that lists
// every node whose operator refuses the element types it would be given.
//
// Of the branches of an If, where the run alone tells, the larger one counts; of a loop, one iteration and the results of
// all. The run reports the errors of a graph inside a node: it may never get there.
//
// The session keeps the plan made last. Plan and Run use it again for inputs of the same element types and shapes, if the
// values that shapes may follow from are the same, too.
func (s *Session) Plan(inputs map[string]tensor.Any) (*Plan, error) {
	return s.PlanValues(valuesOf(inputs))
}

// PlanValues is Plan for inputs of any kind.
func (s *Session) PlanValues(inputs map[string]Value) (*Plan, error) {
	var p *Plan
	err := s.use(func() error {
		vals, err := s.bind(inputs)
		if err == nil {
			p, err = s.plan(context.Background(), inputs, vals, 0)
		}
		return err
	})
	return p, err
}

// A kept plan is one that later runs may use.
type kept struct {
	key  string // the facts that it depends on: see planKey and planned
	plan Plan
}

// plan is Plan for inputs that are bound. Values that shapes depend on are computed within ctx and limit bytes, if that
// is positive.
func (s *Session) plan(ctx context.Context, inputs map[string]Value, bound []Value, limit int64) (*Plan, error) {
	c := s.c
	vals := slices.Clone(bound)
	for _, id := range c.inputs {
		v := &vals[id]
		given := v.a
		if c.given[id] || v.isTensor() && v.text == nil && isShapeLike(v.a) {
			continue // such inputs are told apart by their elements alone
		}
		var err error
		if v.seq == nil {
			*v, err = v.spec()
		} else if v.seq.kind == KindSequence {
			items := make([]*Value, len(v.seq.items))
			for k, item := range v.seq.items {
				d := *item
				if d.seq == nil {
					d, err = item.spec()
				}
				if items[k] = &d; err != nil {
					break
				}
			}
			*v = sequenceOf(v.seq.elem, items)
		}
		if err != nil {
			return nil, err
		}
		v.laid(given)
	}
	key, keep := s.planKey(ctx, inputs, vals, limit)
	if k, _ := s.last.Load().(*kept); keep && k != nil && k.key == key {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p := k.plan
		return &p, nil
	}
	start := time.Now()
	p, err := s.newPlan(ctx, vals, limit)
	if err != nil {
		err = s.free(ctx, bound, limit, err)
	}
	// A plan that ran out of time may lack sizes that another one would have.
	if err == nil && keep && time.Since(start) < patience {
		s.last.Store(&kept{key, *p})
	}
	return p, err
}

// planKey writes down the facts that a plan depends on: of each input the element type, the shape and the elements that vals has,
// and how much may be computed. It reports false for elements that are too many or can't be read, and for inputs that are
// no tensors: the plan that follows from them can't be told from others.
func (s *Session) planKey(ctx context.Context, inputs map[string]Value, vals []Value, limit int64) (string, bool) {
	const (
		byDefault = iota
		described
		valued
		strings
	)
	key := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(budget(limit))), uint64(op.Threads(ctx)))
	for i, id := range s.c.inputs {
		if _, ok := inputs[s.c.g.Inputs[i].Name]; !ok {
			key = append(key, byDefault)
			continue
		}
		a := vals[id].a
		if a.IsZero() {
			return "", false
		}
		kind := byte(described)
		if !a.IsSpec() {
			kind = valued
		} else if vals[id].text != nil {
			kind = strings
		}
		if key = appendType(append(key, kind), a); vals[id].strided() {
			key = fmt.Appendf(key, "%v", *vals[id].own.lay)
		}
		if kind != valued {
			continue
		}
		if !hasValue(a) {
			return "", false
		}
		own, err := tensor.Contiguous(a)
		if err != nil {
			return "", false
		}
		b, ok := tensor.Bytes(own)
		if !ok {
			return "", false
		}
		key = append(key, b...)
		runtime.KeepAlive(own)
	}
	return string(key), true
}

// appendType appends an element type and a shape.
func appendType(key []byte, a tensor.Any) []byte {
	key = append(key, byte(a.DType()))
	key = binary.AppendUvarint(key, uint64(a.Rank()))
	for axis := range a.Rank() {
		key = binary.AppendUvarint(key, uint64(a.Dim(axis)))
	}
	return key
}

// newPlan infers the memory of a run with these values: see plan.
func (s *Session) newPlan(ctx context.Context, vals []Value, limit int64) (*Plan, error) {
	p := &Plan{Weights: s.weights}
	var g gaps
	f := inference{failed: func(c *compiled, i int, err error) error {
		if refuses(err) {
			g.add(c, &c.steps[i], plain(err))
			return nil
		}
		return c.blamed(&c.steps[i], err)
	}}
	err := f.within(ctx, limit, func() error { return f.graph(s.c, vals, p) })
	if err == nil {
		err = g.err()
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// planned returns the plan of a graph inside a node for the inputs and captures that its frame holds: types, shapes and layouts
// alone count. The graph keeps the one made last, so that iterations over the same shapes share it.
func (fr *frame) planned() *Plan {
	c := fr.c
	fr.key = binary.AppendUvarint(fr.key[:0], uint64(op.Threads(fr.ctx)))
	describe := func(id int) {
		switch v := &fr.vals[id]; {
		case v.isTensor():
			fr.key = appendType(binary.AppendUvarint(append(fr.key, byte(KindTensor)), uint64(v.elem())), v.a)
			if !v.a.IsContiguous() {
				fr.key = fmt.Appendf(fr.key, "%v", v.a.Layout())
			}
		default:
			fr.key = append(fr.key, byte(v.Kind()))
		}
	}
	for _, id := range c.formals {
		describe(id)
	}
	for _, o := range c.captures {
		describe(o.id)
	}
	if k, _ := c.recent.Load().(*kept); k != nil && k.key == string(fr.key) {
		return &k.plan
	}
	vals := slices.Clone(fr.vals)
	blur := func(id int) {
		vals[id], _ = vals[id].spec()
		vals[id].laid(fr.vals[id].a)
	}
	for _, id := range c.formals {
		blur(id)
	}
	for _, o := range c.captures {
		blur(o.id)
	}
	k := &kept{key: string(fr.key)}
	f := inference{depth: 1}
	if err := f.within(fr.ctx, fr.limit, func() error { return f.graph(c, vals, &k.plan) }); err == nil && !f.late {
		c.recent.Store(k)
	}
	return &k.plan
}

// isShapeLike reports whether an input is small and of integers: the graph may compute shapes from it.
func isShapeLike(a tensor.Any) bool { return a.DType().IsInteger() && hasValue(a) }

// size returns the bytes of a value, -1 if it is unknown.
func size(a tensor.Any) int64 {
	if a.IsZero() {
		return -1
	}
	n, width := int64(a.Len()), int64(a.DType().Size())
	if n > math.MaxInt64/width {
		return math.MaxInt64
	}
	return n * width
}

// add is a + b, at most MaxInt64; neither is negative.
func add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// DefaultMaxMemory is how much a run may need if Options doesn't say: 4 GiB.
const DefaultMaxMemory = 4 << 30

// A MemoryError refuses a run, or ends it, because it would take more memory than Options.MaxMemory. It wraps
// tensor.ErrMemory.
type MemoryError struct {
	Need, Limit int64
	What        string // the parts of the need
	Alone       int64  // the need with Options.Threads 1; 0 where it isn't less
}

func (e *MemoryError) Error() string {
	text := fmt.Sprintf("the run needs %s (%s), more than the limit of %s; raise Options.MaxMemory", amount(e.Need), e.What, amount(e.Limit))
	if e.Alone > 0 {
		return text + fmt.Sprintf(", give smaller inputs, or set Options.Threads to 1, with which it needs %s", amount(e.Alone))
	}
	return text + " or give smaller inputs"
}

// Unwrap returns tensor.ErrMemory.
func (e *MemoryError) Unwrap() error { return tensor.ErrMemory }

// spare returns how many bytes of the limit the plan leaves.
func (p *Plan) spare(limit int64) int64 {
	if limit <= 0 {
		return math.MaxInt64
	}
	return limit - add(p.Weights, p.Live)
}

// admits refuses a run that needs more than the limit.
func (p *Plan) admits(limit int64) error {
	if need := add(p.Weights, p.Live); need > limit {
		what := "weights " + amount(p.Weights)
		if p.Live > 0 {
			what += ", results " + amount(p.Live) + " at " + p.Node
		}
		e := &MemoryError{Need: need, Limit: limit, What: what}
		if p.alone < p.Live {
			e.Alone = add(p.Weights, p.alone)
		}
		return e
	}
	return nil
}

// amount writes a number of bytes for people.
func amount(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}
