package onnx

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// tick gives a model an operator of the program without inputs, which counts its calls, and returns the count.
func tick(m *Model) *float32 {
	n := new(float32)
	m.Operators = []*op.Op{op.New(op.Info{Domain: "org.example", Name: "Ticker", Versions: []int{1}},
		func(*op.Call) ([]tensor.Any, error) {
			s, err := tensor.NewSpec(dtype.Float32)
			return []tensor.Any{s.Any()}, err
		},
		func(*op.Call) ([]tensor.Any, error) {
			*n++
			return []tensor.Any{tensor.Scalar(*n).Any()}, nil
		})}
	return n
}

// ends is a context that ends when it has been looked at some times.
type ends struct {
	context.Context
	left *atomic.Int64
	some []int // so that it can't be compared
}

func (c ends) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// A feed is a random model for streams whose values are given on, and how it was declared.
type feed struct {
	inputs, outputs []string
	fixed           bool // the inputs are of shape [2,2]; else of [n,2]
	ticks           bool
}

// build puts random operators together: views of inputs and of results, arithmetic, branches that give values from around them, a
// loop, results whose shape follows from elements, weights, an operator that counts, and a division that may fail.
func (f *feed) build(t *rapid.T, b *Builder) {
	pick := func(list ...string) string { return rapid.SampledFrom(list).Draw(t, "pick") }
	list := func(v ...int64) string { return b.Weight(b.fresh("i"), ints(v...)) }
	scalar := func(v float32) string { return b.Weight(b.fresh("s"), tensor.Scalar(v).Any()) }
	var values []string
	any := func() string { return pick(values...) }
	f.fixed = rapid.Bool().Draw(t, "fixed")
	for i := range rapid.IntRange(1, 4).Draw(t, "inputs") {
		rows := any2(f.fixed, 2, "n")
		values = append(values, b.Input(fmt.Sprint("in", i), dtype.Float32, rows, 2))
	}
	f.inputs = slices.Clone(values)
	const kinds = 20
	for range rapid.IntRange(0, 8).Draw(t, "nodes") {
		v := ""
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0, 1:
			v = b.Node("Identity", []string{any()})
		case 2:
			v = b.Node("Reshape", []string{any(), list(-1, 2)})
		case 3:
			v = b.Node("Squeeze", []string{b.Node("Unsqueeze", []string{any(), list(0)}), list(0)})
		case 4:
			v = b.Node("Transpose", []string{b.Node("Transpose", []string{any()})})
		case 5:
			v = b.Node("Transpose", []string{any()}) // fits the others where n is 2
		case 6:
			v = b.Node("Slice", []string{any(), list(-1), list(-1 << 40), list(0), list(-1)})
		case 7:
			halves := b.Nodes("Split", 2, []string{any()}, IntAttr("axis", 1))
			v = b.Node("Concat", []string{halves[1], halves[0]}, IntAttr("axis", 1))
		case 8:
			v = b.Node("Concat", []string{any()}, IntAttr("axis", 0))
		case 9, 10:
			v = b.Node(pick("Neg", "Relu", "Sqrt", "Floor"), []string{any()})
		case 11, 12:
			v = b.Node(pick("Add", "Sub", "Max"), []string{any(), any()})
		case 13, 14:
			a, c := any(), any()
			yes := b.Node("Greater", []string{b.Node("ReduceSum", []string{any()}, IntAttr("keepdims", 0)), scalar(0)})
			inside := rapid.Bool().Draw(t, "inside")
			v = choose(b, yes, func(b *Builder) string { return a }, func(b *Builder) string {
				if inside {
					return b.Node("Neg", []string{c})
				}
				return c
			})
		case 15:
			a := any()
			v = looped(b, 1, []string{b.Weight(b.fresh("m"), count(2)), "", a}, func(b *Builder, v []string) []string {
				return []string{v[1], b.Node("Neg", []string{v[2]})}
			})[0]
		case 16: // rows by the elements of the run
			a := any()
			keep := b.Node("Greater", []string{b.Node("ReduceSum", []string{any(), list(1)}, IntAttr("keepdims", 0)), scalar(-1)})
			v = b.Node("Compress", []string{a, keep}, IntAttr("axis", 0))
		case 17:
			v = b.Node("Expand", []string{scalar(3), b.Node("Shape", []string{any()})})
		case 18:
			f.ticks = true
			n := b.Nodes("Ticker", 1, nil)[0]
			v = b.Node("Add", []string{any(), n})
		default: // fails where an element is 0
			whole := func() string { return b.Node("Cast", []string{any()}, IntAttr("to", 6)) }
			v = b.Node("Cast", []string{b.Node("Div", []string{whole(), whole()})}, IntAttr("to", 1))
		}
		values = append(values, v)
	}
	for i := range rapid.IntRange(1, 4).Draw(t, "outputs") {
		v := any()
		if slices.Contains(f.inputs, v) || slices.Contains(f.outputs, v) || rapid.Bool().Draw(t, "renamed") {
			v = b.Rename(b.Node("Identity", []string{v}), fmt.Sprint("out", i))
		}
		f.outputs = append(f.outputs, v)
		b.OutputOf(v, Type{})
	}
}

func any2(yes bool, a, b any) any {
	if yes {
		return a
	}
	return b
}

// model returns the model, decoded from a file, so that two of them share nothing.
func fedModel(t *rapid.T, m *Model) (*Session, *float32) {
	file, err := Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	if m, err = Decode(file); err != nil {
		t.Fatal(err)
	}
	n := tick(m)
	s, err := NewSession(m)
	if err != nil {
		t.Fatal(err)
	}
	return s, n
}

func copyOf(a tensor.Any) tensor.Any {
	c, err := tensor.Clone(a)
	if err != nil {
		panic(err)
	}
	return c
}

// preparedRuns counts the runs of TestStreamFed that were prepared ones.
var preparedRuns int

// Each run of a stream gives the results of a session's run on copies, whatever the inputs are: the program's own tensors,
// outputs of the last run, views of them, or states; whatever the runs before did: other shapes, an error, a context that
// ended, Reset.
func TestStreamFed(t *testing.T) {
	preparedRuns = 0
	runs := 0
	rapid.Check(t, func(t *rapid.T) { runs += streamFed(t) })
	if t.Logf("%d of %d runs prepared", preparedRuns, runs); preparedRuns < runs/10 {
		t.Error("few runs are prepared")
	}
}

func streamFed(t *rapid.T) (runs int) {
	var f feed
	b := NewBuilder("fed")
	f.build(t, b)
	m, err := b.Model(17)
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Graph.Nodes {
		if n := &m.Graph.Nodes[i]; n.Op == "Ticker" {
			n.Domain = "org.example"
		}
	}
	m.Opsets = append(m.Opsets, Opset{"org.example", 1})
	tick(m)
	s, ticks := fedModel(t, m)
	ref, refTicks := fedModel(t, m)

	state := make(map[string]string)
	for i, to := range rapid.Permutation(f.inputs).Draw(t, "states") {
		if i < len(f.outputs) && rapid.Bool().Draw(t, "state") {
			state[f.outputs[i]] = to
		}
	}
	st, err := s.Stream(&StreamOptions{Options: Options{Threads: rapid.IntRange(0, 2).Draw(t, "threads")}, State: state})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()

	var last vals      // outputs of the last run, the stream's
	good := make(vals) // copies of them
	kept := make(vals) // states, copies by input
	rows := rapid.IntRange(0, 3).Draw(t, "rows")
	whose := make(map[string]int) // where each input comes from
	for range rapid.IntRange(4, 14).Draw(t, "runs") {
		switch rapid.IntRange(0, 19).Draw(t, "change") {
		case 0:
			rows = rapid.IntRange(0, 3).Draw(t, "rows")
		case 1:
			st.Reset()
			clear(kept)
		case 2, 3:
			clear(whose)
		}
		in, copies, own := make(vals), make(vals), []tensor.Any(nil)
		for _, name := range f.inputs {
			if _, ok := whose[name]; !ok {
				whose[name] = rapid.IntRange(-3, 2*len(f.outputs)-1).Draw(t, "from")
			}
			k := whose[name]
			to := slices.Contains(slices.Collect(maps.Values(state)), name)
			a := tensor.Any{}
			switch {
			case to && k < 0:
				continue
			case k >= 0:
				a = last[f.outputs[k%len(f.outputs)]]
			}
			if !a.IsZero() {
				c := copyOf(good[f.outputs[k%len(f.outputs)]])
				if k >= len(f.outputs) && a.Rank() == 2 { // upside down
					turned := func(x tensor.Any) tensor.Any { return x.Slice(tensor.R(tensor.None, tensor.None, -1)) }
					a, c = turned(a), turned(c)
				}
				in[name], copies[name] = a, c
				continue
			}
			n := 2
			if !f.fixed {
				n = rows
			}
			x := tensor.New[float32](n, 2)
			for i := range x.Elems() {
				x.Elems()[i] = float32(rapid.IntRange(-2, 3).Draw(t, "x"))
			}
			own = append(own, x.Any())
			in[name], copies[name] = x.Any(), copyOf(x.Any())
		}
		for _, to := range state {
			if _, ok := copies[to]; ok {
				continue
			}
			if a, ok := kept[to]; ok {
				copies[to] = a
				continue
			}
			n := 2
			if !f.fixed { // the first of the inputs that are given says it
				n = -1
				for _, name := range f.inputs {
					if a, ok := in[name]; ok && n < 0 && a.Rank() > 0 {
						n = a.Dim(0)
					}
				}
			}
			if n >= 0 {
				copies[to] = tensor.New[float32](n, 2).Any()
			}
		}
		ctx, canceled := context.Context(context.Background()), rapid.IntRange(0, 5).Draw(t, "canceled") == 0
		if canceled {
			ctx = ends{ctx, new(atomic.Int64), nil}
			ctx.(ends).left.Store(int64(rapid.IntRange(0, 30).Draw(t, "looks")))
		}
		*refTicks = *ticks
		was := st.ready
		got, err := st.Run(ctx, in)
		if runs++; err == nil && was != nil && was == st.ready {
			preparedRuns++
		}
		if canceled && errors.Is(err, context.Canceled) {
			same(t, "after the context ended", last, good)
			continue
		}
		want, wantErr := plainly(ref, context.Background(), copies, Options{})
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%v, want %v", err, wantErr)
		}
		if *ticks != *refTicks {
			t.Fatalf("the operator ran %v times, want %v", *ticks, *refTicks)
		}
		if err != nil {
			if len(copies) == len(f.inputs) && err.Error() != wantErr.Error() {
				t.Fatalf("%v, want %v", err, wantErr)
			}
			same(t, "after an error", last, good)
			continue
		}
		for _, a := range own { // the stream has no use for them any more
			tensor.Copy(a, tensor.Scalar[float32](99).Any())
		}
		same(t, "outputs", got, want)
		last, good = got, want
		for from, to := range state {
			kept[to] = copyOf(want[from])
		}
	}
	return runs
}

// same compares outputs of a stream with those wanted.
func same(t *rapid.T, what string, got, want vals) {
	t.Helper()
	for name, w := range want {
		if g := got[name]; tensor.Describe(g) != tensor.Describe(w) || !slices.Equal(bitsOf(g), bitsOf(w)) {
			t.Fatalf("%s: %q is %v, want %v", what, name, g, w)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s: there are %d, want %d", what, len(got), len(want))
	}
}
