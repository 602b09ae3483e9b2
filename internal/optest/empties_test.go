package optest

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/confined"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/op/all"
	"github.com/ashlar-go/ashlar/tensor"
)

var draws = flag.Int("draws", 30, "how many shapes TestEmpties draws for an operator")

// TestEmpties runs every operator where axes of extent 0 stand beside huge ones, in a process that has 1 GiB to spare. It draws
// what TestBounds enumerates: several extents of a case at once are 0 or huge, an axis of one operand alone is, and numbers
// among the arguments are. A result without elements comes at once and without memory, or a *tensor.Error does.
func TestEmpties(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("an int has no room for huge extents")
	}
	defer mem.SetBound(mem.SetBound(0)) // so that the Go heap counts all memory
	ops := all.Operators()
	ran, empties := map[string]bool{}, 0
	confined.Each(t, len(ops)**draws, func(i int) string { return ops[i / *draws].Name() }, func(i int) string {
		_, what, _ := drawn(ops[i / *draws], i%*draws)
		return what
	}, func(i int) {
		o := ops[i / *draws]
		r, what, ok := drawn(o, i%*draws)
		if !ok {
			return
		}
		out, ended := r.bounded(t, what+", Infer", r.op.Infer, specs(r.in), nil)
		if !ended {
			t.FailNow() // it still runs: what others take isn't known
		}
		if slices.ContainsFunc(out, func(a tensor.Any) bool { return between(a.Len()) }) {
			return
		}
		got, ended := r.bounded(t, what, r.op.Run, r.in, out)
		if !ended {
			t.FailNow()
		}
		if got != nil {
			ran[o.Name()] = true
			if empty(got) && huges(slices.Concat(r.in, got), false) {
				empties++
			}
		}
		for k, a := range got {
			if len(out) > 0 && (a.IsZero() != out[k].IsZero() || !a.IsZero() && !slices.Equal(a.Shape(), out[k].Shape())) {
				t.Errorf("%s: result %d is %v, Infer says %v", what, k, tensor.Describe(a), tensor.Describe(out[k]))
			}
		}
	})
	if len(ran) > 0 { // not in the process that starts the other
		if t.Logf("%d of %d operators returned, with %d empty results", len(ran), len(ops), empties); 10*len(ran) < 9*len(ops) {
			t.Error("many operators returned nothing: what they are called with doesn't fit")
		}
	}
}

// empty says that there are results, and no elements in them.
func empty(ts []tensor.Any) bool {
	return len(ts) > 0 && !slices.ContainsFunc(ts, func(a tensor.Any) bool { return !a.IsZero() && a.Len() > 0 })
}

// huges says that one of the tensors has a huge axis; of integers with elements, if only they count: their values may be wrong, and
// an operator looks at all of them. So Multinomial does with its weights.
func huges(ts []tensor.Any, values bool) bool {
	return slices.ContainsFunc(ts, func(a tensor.Any) bool {
		return !a.IsZero() && slices.Max(append(a.Shape(), 0)) >= 1<<40 && (!values || a.Len() > 0 && a.DType().IsInteger())
	})
}

// drawn makes draw i of an operator.
func drawn(o *op.Op, i int) (r *run, what string, ok bool) {
	rng := rand.New(rand.NewPCG(uint64(i), 59))
	cs := boundsOf(o)
	if len(cs) == 0 {
		return nil, o.Name() + " without cases", false
	}
	c := cs[rng.IntN(len(cs))]
	types := boundTypes(o, c)
	if len(types) == 0 {
		types = []dtype.DType{dtype.Float32}
	}
	becomes := map[int]int{}
	extent := func(e int) int {
		switch rng.IntN(8) {
		case 0, 1, 2:
			return 0
		case 3, 4:
			return []int{1 << 40, huge, 1 << 55, 1 << 62}[rng.IntN(4)]
		case 5:
			return 1
		}
		return e
	}
	mapped := func(e int) int {
		if e < 2 {
			return e
		}
		if _, ok := becomes[e]; !ok {
			becomes[e] = extent(e)
		}
		return becomes[e]
	}
	arguments := rng.IntN(3) == 0
	c.in = slices.Clone(c.in)
	for k, in := range c.in {
		list := in.values != nil && len(in.shape) <= 1
		if list && arguments {
			c.in[k].values = mapInts(in.values, mapped)
		}
		if list && rng.IntN(4) > 0 {
			continue
		}
		c.in[k].shape = slices.Clone(in.shape)
		for x, e := range in.shape {
			c.in[k].shape[x] = mapped(e)
			if rng.IntN(20) == 0 {
				c.in[k].shape[x] = extent(e)
			}
		}
	}
	if arguments {
		c.attrs = maps.Clone(c.attrs)
		for _, name := range slices.Sorted(maps.Keys(c.attrs)) {
			switch v := c.attrs[name].(type) {
			case int64:
				c.attrs[name] = mapInts([]int64{v}, mapped)[0]
			case []int64:
				c.attrs[name] = mapInts(v, mapped)
			}
		}
	}
	r, what, ok = boundRun(o, c, types[rng.IntN(len(types))])
	return r, fmt.Sprintf("draw %d of %s", i, what), ok
}

func mapInts(v []int64, f func(int) int) []int64 {
	to := make([]int64, len(v))
	for i, x := range v {
		to[i] = int64(f(int(x)))
	}
	return to
}
