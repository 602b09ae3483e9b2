package optest

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"runtime/metrics"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/ended"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/op/all"
	"github.com/ashlar-go/ashlar/tensor"
)

const (
	ordinary = 8400
	huge     = 1 << (29 + strconv.IntSize/64*16) // elements that no memory holds, bytes that no allocation gives

	fewCalls = 120 // of an operator, unless every one is asked for

	mostLooks = 3               // of a call at its context
	patience  = 5 * time.Minute // with a call that doesn't look at its context, or at extents alone, which takes years
	mostGrow  = 128 << 20       // bytes of scratch that don't grow with extents
)

// bare has the calls of operators that have none in cases.
var bare = map[string]testCase{
	"Constant":        {attrs: attrs{"value_ints": []int64{3, 4}}},
	"ConstantOfShape": {in: []input{ints(3, 4)}},
	"Range":           {in: []input{index(nil, 1), index(nil, 9), index(nil, 2)}},
	"RandomNormal":    {attrs: attrs{"shape": []int64{3, 4}}},
	"RandomUniform":   {attrs: attrs{"shape": []int64{3, 4}}},
	"MelWeightMatrix": {in: []input{index(nil, 8), index(nil, 16), index(nil, 8192), {dtype: dtype.Float32}, {dtype: dtype.Float32}}},
	"HannWindow":      {in: []input{index(nil, 7)}},
	"HammingWindow":   {in: []input{index(nil, 7)}},
	"BlackmanWindow":  {in: []input{index(nil, 7)}},
	"MaxRoiPool":      {in: []input{data(1, 2, 6, 4), f32(2, 5)}, attrs: attrs{"pooled_shape": []int64{2, 3}, "spatial_scale": float32(0.5)}},
	"LabelEncoder":    {in: []input{ints(1, 2, 3)}, attrs: attrs{"keys_int64s": []int64{1, 2}, "values_int64s": []int64{5, 6}, "default_int64": int64(-1)}},
}

// boundsOf returns the calls of an operator that boundaries are put into.
func boundsOf(o *op.Op) []testCase {
	if c, ok := bare[o.Name()]; ok {
		return []testCase{c}
	}
	return casesOf(o)
}

// Every operator, on empty operands with other extents that are ordinary or huge, on operands
// that are huge because they repeat one element, and with huge numbers for arguments, returns
// a result or a *tensor.Error, at once or soon after its context is done, and takes memory for
// no more than the result. So it is on every instruction set.
func TestBounds(t *testing.T) {
	const only = "ASHLAR_BOUNDS_RUN"
	if strconv.IntSize < 64 {
		t.Skip("an int has no room for huge extents")
	}
	if which := os.Getenv(only); which != "" { // as "2/3", the operators that have their turn; "every" without leaving calls out, or one operator
		defer mem.SetBound(mem.SetBound(0)) // so that the Go heap counts all memory
		var k, n int
		fmt.Sscanf(which, "%d/%d", &k, &n)
		for i, o := range all.Operators() {
			if n > 0 && i%n == k || which == "every" || which == o.Name() {
				bound(t, o, n == 0)
			}
		}
		return
	}
	onLevels(t, "TestBounds", only)
}

// onLevels runs a test on every instruction set, each in a process of its own. A variable says which calls have their turn there.
func onLevels(t *testing.T, test, variable string) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for level := cpu.Generic; level <= cpu.Detect(); level++ {
		t.Run(level.String(), func(t *testing.T) {
			which := fmt.Sprintf("%d/%d", level, cpu.Detect()+1)
			if *whole {
				which = "0/1"
			}
			cmd := exec.Command(exe, "-test.run=^"+test+"$")
			cmd.Env = append(os.Environ(), variable+"="+which, "ASHLAR_CPU="+level.String())
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func bound(t *testing.T, o *op.Op, every bool) {
	cs := boundsOf(o)
	if len(cs) == 0 {
		t.Errorf("%s has no calls: add cases to cases or moves, or one to bare", o.Name())
	}
	calls := 0
	type call struct {
		c testCase
		d dtype.DType
	}
	var all []call
	for _, c := range cs {
		for _, v := range boundaries(c) {
			for _, d := range boundTypes(o, c) {
				all = append(all, call{v, d})
			}
		}
	}
	step := 1
	if !every {
		step = len(all)/fewCalls | 1
	}
	for step%3 == 0 || step%5 == 0 { // so that each type has its turn
		step += 2
	}
	seen := map[string]bool{}
	for i := 0; i < len(all); i += step {
		r, what, ok := boundRun(o, all[i].c, all[i].d)
		if !ok || seen[what] {
			continue
		}
		seen[what] = true
		calls++
		out, ended := r.bounded(t, what+", Infer", r.op.Infer, specs(r.in), nil)
		if !ended {
			return // it still runs: what others take isn't known
		}
		if slices.ContainsFunc(out, func(a tensor.Any) bool { return between(a.Len()) }) {
			continue
		}
		calls++
		if _, ended = r.bounded(t, what, r.op.Run, r.in, out); !ended {
			return
		}
	}
	if calls == 0 {
		t.Errorf("%s is called with no boundaries", o.Name())
	}
}

// between says that memory has room for n elements, and that it takes a while to fill it.
func between(n int) bool { return n > 1<<20 && n < huge }

// boundTypes are element types whose ways differ.
func boundTypes(o *op.Op, c testCase) (ds []dtype.DType) {
	for _, d := range []dtype.DType{dtype.Float32, dtype.Int32, dtype.FP16x16, dtype.Float16, dtype.Bool} {
		if o.Supports(d) && (c.only == nil || c.only(d)) {
			ds = append(ds, d)
		}
	}
	for _, d := range dtype.All() {
		if len(ds) == 0 && o.Supports(d) && (c.only == nil || c.only(d)) {
			ds = append(ds, d)
		}
	}
	return ds
}

// boundaries returns a case with some extents 0 or large, or an argument far outside. An
// extent changes in all operands that have it: most often it is the same axis.
func boundaries(c testCase) (vs []testCase) {
	var exts []int
	for _, in := range c.in {
		for _, e := range in.shape {
			if e > 0 && !slices.Contains(exts, e) && (in.values == nil || len(in.shape) > 1) {
				exts = append(exts, e)
			}
		}
	}
	change := func(from, to map[int]bool, by int) {
		for _, lists := range []bool{false, true} {
			v := c
			v.in = slices.Clone(c.in)
			for i, in := range c.in {
				if in.values != nil && len(in.shape) == 1 && !lists {
					continue
				}
				shape := slices.Clone(in.shape)
				for k, e := range shape {
					if from[e] {
						shape[k] = 0
					} else if to[e] {
						shape[k] = by
					}
				}
				v.in[i].shape = shape
			}
			vs = append(vs, v)
		}
	}
	none := map[int]bool{}
	for _, a := range exts {
		one := map[int]bool{a: true}
		others := map[int]bool{}
		for _, b := range exts {
			if b != a {
				others[b] = true
			}
		}
		change(one, others, huge)
		for _, by := range []int{ordinary, huge} {
			change(none, one, by)
			for b := range others {
				change(one, map[int]bool{b: true}, by)
			}
		}
	}
	for i, in := range c.in { // an axis of an operand alone, and another, most often of another operand, too
		for k := range in.shape {
			one := withExtent(c, i, k, 0)
			for j, with := range c.in {
				for l := range with.shape {
					if i != j || k != l {
						vs = append(vs, withExtent(one, j, l, huge))
					}
				}
			}
		}
	}
	for _, far := range []int64{huge, -huge, math.MaxInt64, math.MinInt64} {
		for i, in := range c.in {
			for k := range in.values {
				v := c
				v.in = slices.Clone(c.in)
				v.in[i].values = slices.Clone(in.values)
				v.in[i].values[k] = far
				vs = append(vs, v)
			}
		}
		for name, a := range c.attrs {
			put := func(a any) {
				v := c
				v.attrs = maps.Clone(c.attrs)
				v.attrs[name] = a
				vs = append(vs, v)
			}
			switch a := a.(type) {
			case int64:
				put(far)
			case []int64:
				for k := range a {
					list := slices.Clone(a)
					list[k] = far
					put(list)
				}
			}
		}
	}
	return vs
}

// withExtent returns a case with another extent of an axis of an operand.
func withExtent(c testCase, i, axis, extent int) testCase {
	c.in = slices.Clone(c.in)
	c.in[i].shape = slices.Clone(c.in[i].shape)
	c.in[i].shape[axis] = extent
	return c
}

// boundRun makes the operands of a case: those too large for memory are one element, repeated.
func boundRun(o *op.Op, c testCase, d dtype.DType) (r *run, what string, ok bool) {
	small := c
	small.in = slices.Clone(c.in)
	what = o.Name()
	for i, in := range c.in {
		n := 1
		for _, e := range in.shape {
			if e > 0 && n > math.MaxInt/e {
				return nil, "", false // no tensor has such a shape, with other extents of 0 neither
			}
			n *= max(e, 1)
		}
		if slices.Contains(in.shape, 0) {
			n = 0
		} else if between(n) {
			return nil, "", false
		}
		if small.in[i].shape = in.shape; n > 1<<12 {
			small.in[i].shape = nil
		}
		if in.values != nil && n != len(in.values) {
			small.in[i].values, small.in[i].dtype = nil, dtype.Int64
		}
		what += fmt.Sprint(" ", in.shape, in.values)
	}
	r = newRun(o, 0, small, d)
	for i, in := range c.in {
		if r.in[i].IsZero() || in.shape == nil {
			continue
		}
		wide, err := tensor.BroadcastTo(r.in[i], in.shape...)
		if err != nil {
			return nil, "", false
		}
		r.in[i] = wide
	}
	r.c = c
	return r, fmt.Sprint(what, " of ", d, " ", c.attrs, " opset ", c.opset), true
}

// specs returns what is known of operands before a run.
func specs(in []tensor.Any) []tensor.Any {
	out := slices.Clone(in)
	for i, a := range in {
		if a.IsZero() || a.Rank() < 2 && a.DType() == dtype.Int64 {
			continue
		}
		if s, err := tensor.NewSpec(a.DType(), a.Shape()...); err == nil {
			out[i] = s.Any()
		}
	}
	return out
}

// few says that the tensors have so few elements that work on them takes no time worth a context.
func few(ts []tensor.Any) bool {
	n := 0
	for _, a := range ts {
		if !a.IsZero() {
			n = max(n, a.Len())
		}
	}
	return n <= ordinary
}

// bounded calls f, which makes tensors of the types and shapes of made, and looks at what it took. It is false where f doesn't return.
func (r *run) bounded(t *testing.T, what string, f func(c *op.Call) ([]tensor.Any, error), in, made []tensor.Any) (out []tensor.Any, returned bool) {
	t.Helper()
	c := r.call(in)
	if !few(slices.Concat(in, made)) {
		c.Context = ended.After(mostLooks)
	}
	var err error
	before := allocated()
	done := make(chan any, 1)
	go func() {
		defer func() { done <- recover() }()
		out, err = f(c)
	}()
	watch := time.NewTimer(patience)
	defer watch.Stop()
	select {
	case p := <-done:
		if p != nil {
			t.Errorf("%s: panic: %v", what, p)
			return nil, true
		}
	case <-watch.C:
		t.Errorf("%s: no end, its context is deaf", what)
		return nil, false
	}
	if made != nil && (c.Context == nil || empty(made) && !huges(in, true) && r.op.Name() != "Multinomial") && errors.Is(err, tensor.ErrMemory) {
		t.Errorf("%s: memory for what has no elements: %v", what, err)
	}
	var e *tensor.Error
	if err != nil && !errors.As(err, &e) {
		t.Errorf("%s: a %T: %v", what, err, err)
	}
	most := uint64(mostGrow)
	for _, a := range slices.Concat(in, out) {
		if a.IsZero() {
			continue
		}
		if n := a.Len(); n <= ordinary*ordinary {
			most += 32 * uint64(n*a.DType().Size())
		}
	}
	if grew := allocated() - before; grew > most {
		t.Errorf("%s: it took %d bytes, want %d at most (%v)", what, grew, most, err)
	}
	if err != nil && len(err.Error()) > 4096 {
		t.Errorf("%s: an error of %d bytes", what, len(err.Error()))
	}
	return out, true
}

// allocated returns the bytes the Go heap has given so far.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
