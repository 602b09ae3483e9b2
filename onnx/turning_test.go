package onnx

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/ended"
	"github.com/ashlar-go/ashlar/onnx/internal/text"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

func weighed(b *Builder, a tensor.Any) string { return b.Weight(b.fresh("w"), a) }

// turnings are bodies of loops: of the number of the iteration, the condition and two states of float32[2,2]. They read x, of the graph around. Each
// gives the condition, two states and a result.
var turnings = map[string]func(b *Builder, x string, in []string) []string{
	"swapped": func(b *Builder, x string, in []string) []string { return []string{in[1], in[3], in[2], in[2]} },
	"Fibonacci": func(b *Builder, x string, in []string) []string {
		return []string{in[1], in[3], b.Node("Add", []string{in[2], in[3]}), in[2]}
	},
	"views": func(b *Builder, x string, in []string) []string {
		return []string{in[1], b.Node("Transpose", []string{in[3]}), b.Node("Identity", []string{in[2]}), b.Node("Transpose", []string{in[2]})}
	},
	"one result twice": func(b *Builder, x string, in []string) []string {
		sum := b.Node("Mul", []string{in[2], x})
		return []string{in[1], sum, sum, sum}
	},
	"the same in all": func(b *Builder, x string, in []string) []string {
		return []string{in[1], b.Node("Add", []string{x, x}), in[2], x}
	},
	"a view of what lasts no longer": func(b *Builder, x string, in []string) []string {
		view := b.Node("Transpose", []string{b.Node("Add", []string{in[2], x})})
		later := b.Node("Neg", []string{b.Node("Mul", []string{in[3], in[3]})})
		return []string{in[1], view, in[3], later}
	},
	"a constant": func(b *Builder, x string, in []string) []string {
		c := weighed(b, tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2).Any())
		return []string{in[1], c, b.Node("Sub", []string{in[2], in[3]}), b.Node("Cast", []string{in[0]}, IntAttr("to", 1))}
	},
	"a branch": func(b *Builder, x string, in []string) []string {
		odd := b.Node("Equal", []string{b.Node("Mod", []string{in[0], weighed(b, tensor.Scalar[int64](2).Any())}), weighed(b, tensor.Scalar[int64](1).Any())})
		v := choose(b, odd, func(b *Builder) string { return b.Node("Add", []string{in[2], x}) }, func(b *Builder) string { return b.Node("Identity", []string{in[3]}) })
		return []string{in[1], v, in[2], v}
	},
	"growing": func(b *Builder, x string, in []string) []string {
		return []string{in[1], b.Node("Concat", []string{in[2], x}, IntAttr("axis", 0)), in[3], in[3]}
	},
	"growing late": func(b *Builder, x string, in []string) []string {
		late := b.Node("Less", []string{weighed(b, tensor.Scalar[int64](5).Any()), in[0]})
		v := choose(b, late, func(b *Builder) string { return b.Node("Concat", []string{in[3], in[2]}, IntAttr("axis", 0)) }, func(b *Builder) string { return b.Node("Add", []string{in[3], x}) })
		return []string{in[1], in[3], v, x}
	},
	"of other shapes": func(b *Builder, x string, in []string) []string {
		places := b.Node("Cast", []string{b.Node("Shape", []string{b.Node("NonZero", []string{in[2]})})}, IntAttr("to", 1))
		return []string{in[1], b.Node("Sub", []string{in[3], x}), in[2], places}
	},
	"a loop inside": func(b *Builder, x string, in []string) []string {
		n, yes := weighed(b, tensor.Scalar[int64](5).Any()), weighed(b, tensor.Scalar(true).Any())
		out := looped(b, 2, []string{n, yes, in[2]}, func(b *Builder, inner []string) []string {
			return []string{inner[1], b.Node("Add", []string{inner[2], in[3]}), inner[2]}
		})
		return []string{in[1], b.Node("Relu", []string{out[0]}), in[2], out[1]}
	},
	"a loop inside, of other shapes": func(b *Builder, x string, in []string) []string {
		n, yes := weighed(b, tensor.Scalar[int64](5).Any()), weighed(b, tensor.Scalar(true).Any())
		out := looped(b, 2, []string{n, yes, in[3]}, func(b *Builder, inner []string) []string {
			return []string{inner[1], b.Node("Add", []string{inner[2], x}), inner[2]}
		})
		places := b.Node("Cast", []string{b.Node("Shape", []string{b.Node("NonZero", []string{in[2]})})}, IntAttr("to", 1))
		return []string{in[1], in[2], out[0], places}
	},
	"a failure": func(b *Builder, x string, in []string) []string {
		return []string{in[1], b.Node("Gather", []string{in[2], b.Node("Unsqueeze", []string{b.Node("Sub", []string{in[0], weighed(b, tensor.Scalar[int64](6).Any())}), weighed(b, tensor.FromSlice([]int64{0}, 1).Any())})}), in[3], in[2]}
	},
}

// A prepared body gives the bits and the errors of one that isn't: of a run that is observed.
func TestTurnings(t *testing.T) {
	r := rand.New(rand.NewPCG(59, 16))
	matrix := func() tensor.Any {
		v := make([]float32, 4)
		for i := range v {
			v[i] = []float32{float32(r.NormFloat64()), 0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.NaN())}[r.IntN(5)*r.IntN(2)]
		}
		return tensor.FromSlice(v, 2, 2).Any()
	}
	prepared := 0
	for _, name := range slices.Sorted(maps.Keys(turnings)) {
		body := turnings[name]
		s := sessionAt(t, 18, func(b *Builder) {
			n, x := b.Input("n", dtype.Int64), b.Input("x", dtype.Float32, 2, 2)
			states := []string{n, weighed(b, tensor.Scalar(true).Any()), b.Input("a", dtype.Float32, 2, 2), b.Input("b", dtype.Float32, 2, 2)}
			outs := looped(b, 3, states, func(b *Builder, in []string) []string { return body(b, x, in) })
			for k, out := range outs {
				b.OutputOf(b.Rename(out, fmt.Sprint("y", k)), Type{})
			}
		})
		for range 6 {
			in := map[string]tensor.Any{"n": count(int64(r.IntN(12))), "x": matrix(), "a": matrix(), "b": matrix()}
			got, err := s.Run(context.Background(), in, nil)
			want, refused := s.Run(context.Background(), in, &Options{Observe: func(*NodeRun) {}})
			if fmt.Sprint(err) != fmt.Sprint(refused) {
				t.Fatalf("%s, %v times: %v, observed %v", name, in["n"], err, refused)
			}
			for k, v := range want {
				if g, w := fmt.Sprint(tensor.Describe(got[k]), got[k]), fmt.Sprint(tensor.Describe(v), v); g != w {
					t.Fatalf("%s, %v times, of %v and %v with %v: %s is %s, observed %s", name, in["n"], in["a"], in["b"], in["x"], k, g, w)
				}
			}
		}
		s.c.all(func(c *compiled) bool {
			if t, _ := c.turning.Load().(*turning); t != nil {
				prepared++
			}
			return true
		})
	}
	if prepared < len(turnings)/2 {
		t.Errorf("%d bodies of %d loops are prepared", prepared, len(turnings))
	}
}

// turningOf is a session of a loop of eight iterations, whose states begin with x.
func turningOf(t *testing.T, name string) *Session {
	return sessionAt(t, 18, func(b *Builder) {
		x, n, yes := b.Input("x", dtype.Float32, 2, 2), weighed(b, tensor.Scalar[int64](8).Any()), weighed(b, tensor.Scalar(true).Any())
		for k, out := range looped(b, 3, []string{n, yes, x, x}, func(b *Builder, in []string) []string { return turnings[name](b, x, in) }) {
			b.OutputOf(b.Rename(out, fmt.Sprint("y", k)), Type{})
		}
	})
}

// Runs of one session at the same time don't share a prepared body.
func TestTurningsTogether(t *testing.T) {
	for _, name := range []string{"Fibonacci", "views", "a constant", "a branch", "a loop inside", "the same in all"} {
		s := turningOf(t, name)
		var wg sync.WaitGroup
		for g := range 4 {
			in := map[string]tensor.Any{"x": tensor.FromSlice([]float32{float32(g), 1, -2, 3}, 2, 2).Any()}
			want, err := s.Run(context.Background(), in, &Options{Observe: func(*NodeRun) {}})
			if err != nil {
				t.Fatal(err)
			}
			wg.Go(func() {
				for range 20 {
					got, err := s.Run(context.Background(), in, nil)
					for k, v := range want {
						if err != nil || fmt.Sprint(got[k]) != fmt.Sprint(v) {
							t.Errorf("%s: %s is %v, want %v, %v", name, k, got[k], v, err)
						}
					}
				}
			})
		}
		wg.Wait()
	}
}

// When the values of a run with prepared bodies are gone, none of them is counted as live.
func TestTurningsAreReleased(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(turnings)) {
		s := turningOf(t, name)
		for range 2 { // the second run takes the body that the first one has prepared
			ctx, limit := context.Background(), int64(DefaultMaxMemory)
			vals, p, err := s.begin(ctx, map[string]Value{"x": {a: tensor.New[float32](2, 2).Any()}}, limit)
			if err != nil {
				t.Fatal(err)
			}
			fr := &frame{run: &run{Session: s, ctx: ctx, limit: limit, spare: limit, left: 100, text: text.NewTable(s.c.text)}, c: s.c, vals: vals, plan: p}
			err = fr.steps(nil)
			if fr.clear(); fr.live != 0 {
				t.Errorf("%s: %d bytes are live in the end, %v", name, fr.live, err)
			}
		}
	}
}

// A run counts the memory of a prepared body once, however often its loop runs.
func TestTurningsAreCountedOnce(t *testing.T) {
	for _, name := range []string{"Fibonacci", "a loop inside", "a loop inside, of other shapes"} {
		s := turningOf(t, name)
		for k := range 2 { // the second run takes the body that the first one has prepared
			ctx, limit := context.Background(), int64(DefaultMaxMemory)
			vals, p, err := s.begin(ctx, map[string]Value{"x": {a: tensor.New[float32](2, 2).Any()}}, limit)
			if err != nil {
				t.Fatal(err)
			}
			fr := &frame{run: &run{Session: s, ctx: ctx, limit: limit, spare: limit, left: 100, text: text.NewTable(s.c.text)}, c: s.c, vals: vals, plan: p}
			err = fr.steps(nil)
			fr.clear()
			var want int64
			s.c.all(func(c *compiled) bool {
				if t, _ := c.turning.Load().(*turning); t != nil {
					want += 2 * (t.bytes + t.kept)
				}
				return true
			})
			if took := limit - fr.spare; err != nil || want == 0 || took != want {
				t.Errorf("%s, run %d: it counts %d bytes for prepared bodies that have %d, %v", name, k, took, want, err)
			}
		}
	}
}

// An iteration of a prepared body allocates as much as its results ask for, however many nodes the body has.
func TestTurningAllocations(t *testing.T) {
	s := sessionAt(t, 18, func(b *Builder) {
		states := []string{b.Input("n", dtype.Int64), weighed(b, tensor.Scalar(true).Any()), b.Input("a", dtype.Float32, 2, 2)}
		outs := looped(b, 1, states, func(b *Builder, in []string) []string {
			v := in[2]
			for range 20 {
				v = b.Node("Relu", []string{b.Node("Neg", []string{v})})
			}
			return []string{in[1], v}
		})
		b.OutputOf(b.Rename(outs[0], "y"), Type{})
	})
	allocations := func(n int64) float64 {
		in := map[string]tensor.Any{"n": count(n), "a": tensor.New[float32](2, 2).Any()}
		return testing.AllocsPerRun(5, func() {
			if _, err := s.Run(context.Background(), in, nil); err != nil {
				t.Fatal(err)
			}
		})
	}
	allocations(10)
	if each := (allocations(210) - allocations(10)) / 200; each > 20 {
		t.Errorf("an iteration of 40 nodes allocates %v times", each)
	}
}

// A randomBody adds bodies of loops at random: of matrices of one shape, with branches, loops and scans inside.
type randomBody struct {
	r     *rand.Rand
	shape string
}

// nodes returns n matrices that a body makes of others in the iteration i.
func (m *randomBody) nodes(b *Builder, vals []string, i string, depth, n int) []string {
	vals = slices.Clone(vals)
	pick := func() string { return vals[m.r.IntN(len(vals))] }
	ints := func(v ...int64) string { return weighed(b, tensor.FromSlice(v, len(v)).Any()) }
	for range 1 + m.r.IntN(6) {
		kind := m.r.IntN(14)
		if depth > 1 {
			kind %= 11
		}
		var v string
		switch kind {
		case 0, 1:
			v = b.Node([]string{"Add", "Sub", "Mul", "MatMul"}[m.r.IntN(4)], []string{pick(), pick()})
		case 2, 3:
			v = b.Node([]string{"Transpose", "Identity", "Relu", "Neg"}[m.r.IntN(4)], []string{pick()})
		case 4:
			v = b.Node("Mul", []string{pick(), b.Node("Cast", []string{i}, IntAttr("to", 1))})
		case 5:
			axis := IntAttr("axis", m.r.Int64N(2))
			v = b.Nodes("Split", 2, []string{b.Node("Concat", []string{pick(), pick()}, axis)}, axis, IntAttr("num_outputs", 2))[m.r.IntN(2)]
		case 6:
			v = b.Node("Reshape", []string{b.Node("Pad", []string{b.Node("Reshape", []string{pick(), ints(-1)}), ints(0, 0)}), m.shape})
		case 7: // of strings, between two casts
			v = b.Node("Cast", []string{b.Node("Cast", []string{pick()}, IntAttr("to", 8))}, IntAttr("to", 1))
		case 8:
			v = b.Node("Expand", []string{b.Node("ReduceSum", []string{pick()}), m.shape})
		case 9:
			v = b.Node("ScatterND", []string{pick(), weighed(b, tensor.FromSlice([]int64{0}, 1, 1).Any()), b.Node("Slice", []string{pick(), ints(-1), ints(math.MaxInt64)})})
		case 10:
			v = b.Node("SequenceAt", []string{b.Node("SequenceConstruct", []string{pick(), pick()}), weighed(b, tensor.Scalar(m.r.Int64N(2)).Any())})
		case 11:
			odd := b.Node("Equal", []string{b.Node("Mod", []string{i, weighed(b, tensor.Scalar[int64](2).Any())}), weighed(b, tensor.Scalar[int64](1).Any())})
			way := func(b *Builder) string { return m.nodes(b, vals, i, depth+1, 1)[0] }
			v = choose(b, odd, way, way)
		case 12:
			times := []string{i, weighed(b, tensor.Scalar(m.r.Int64N(7)).Any())}[m.r.IntN(2)]
			v = looped(b, 2, []string{times, weighed(b, tensor.Scalar(true).Any()), pick(), pick()}, func(b *Builder, in []string) []string {
				return append(in[1:2:2], m.nodes(b, append(in[2:], vals...), in[0], depth+1, 2)...)
			})[m.r.IntN(2)]
		case 13:
			body := b.Body("body")
			state, row := body.InputOf(body.fresh("state"), Type{}), body.InputOf(body.fresh("row"), Type{})
			body.OutputOf(body.Node("Add", []string{state, row}), Type{})
			body.OutputOf(body.Node("Mul", []string{state, row}), Type{})
			v = b.Nodes("Scan", 2, []string{b.Node("ReduceSum", []string{pick(), ints(0)}, IntAttr("keepdims", 0)), pick()}, GraphAttr("body", body), IntAttr("num_scan_inputs", 1))[1]
		}
		vals = append(vals, v)
	}
	out := make([]string, n)
	for k := range out {
		if out[k] = vals[len(vals)-1-min(m.r.IntN(3), len(vals)-1)]; m.r.IntN(5) == 0 {
			out[k] = pick()
		}
	}
	return out
}

// Runs of one session at a time, with other shapes, threads and weights, after runs that end midway, and a stream, have the bits of observed runs.
func TestRandomTurnings(t *testing.T) {
	for c := range *turns {
		r := rand.New(rand.NewPCG(59, uint64(c)))
		matrix := func(n int) tensor.Any {
			v := make([]float32, n*n)
			for i := range v {
				v[i] = float32(r.IntN(7) - 3)
			}
			return tensor.FromSlice(v, n, n).Any()
		}
		same := r.IntN(2) == 0
		s := sessionAt(t, 18, func(b *Builder) {
			times, x := b.Input("times", dtype.Int64), b.Input("x", dtype.Float32, "n", "n")
			w := b.Weight("w", matrix(2)) // a run may give another one
			b.g.Inputs = append(b.g.Inputs, ValueInfo{Name: w})
			m := &randomBody{r, b.Node("Shape", []string{x})}
			if same {
				m.shape = weighed(b, tensor.FromSlice([]int64{2, 2}, 2).Any())
			}
			states := []string{times, weighed(b, tensor.Scalar(true).Any()), b.Input("a", dtype.Float32, "n", "n"), b.Input("b", dtype.Float32, "n", "n")}
			outs := looped(b, 4, states, func(b *Builder, in []string) []string {
				return append(in[1:2:2], m.nodes(b, append(in[2:], x, w), in[0], 0, 4)...)
			})
			for k, out := range outs {
				b.OutputOf(b.Rename(out, fmt.Sprint("y", k)), Type{})
			}
		})
		shown := func(out map[string]tensor.Any, err error) string {
			text := fmt.Sprint(err, "\n")
			for _, k := range slices.Sorted(maps.Keys(out)) {
				text += fmt.Sprintln(k, tensor.Describe(out[k]), out[k])
			}
			return text
		}
		ins, want := make([]map[string]tensor.Any, 6), make([]string, 6)
		for k := range ins {
			n := 1 + r.IntN(3)
			if same {
				n = 2
			}
			ins[k] = map[string]tensor.Any{"times": count(r.Int64N(8)), "x": matrix(n), "a": matrix(n), "b": matrix(n), "w": matrix(n)}
			if n == 2 && r.IntN(2) == 0 {
				delete(ins[k], "w")
			}
			want[k] = shown(s.Run(context.Background(), ins[k], &Options{Observe: func(*NodeRun) {}}))
			if n, err := left(s, ins[k], 1+k%3); n != 0 || err != nil {
				t.Errorf("case %d, %v: a run leaves %d bytes, %v", c, ins[k], n, err)
			}
		}
		for k := range 2 * len(ins) {
			out, err := s.Run(ended.After(r.IntN(25*k+1)), ins[k/2], nil)
			if got := shown(out, err); got != want[k/2] && !errors.Is(err, context.Canceled) {
				t.Errorf("case %d, %v: a context that ends gives %s, observed %s", c, ins[k/2], got, want[k/2])
			}
		}
		var all sync.WaitGroup
		for g := range 3 {
			all.Go(func() {
				ctx := op.WithThreads(context.Background(), 1+g)
				for k := range 12 {
					k = (k + 2*g) % len(ins)
					if got := shown(s.Run(ctx, ins[k], nil)); got != want[k] {
						t.Errorf("case %d, %v: %s, observed %s", c, ins[k], got, want[k])
						return
					}
				}
			})
		}
		all.Wait()
		stream, err := s.Stream(nil)
		if err != nil {
			t.Fatal(err)
		}
		for k := range ins {
			if got := shown(stream.Run(context.Background(), ins[k/2])); got != want[k/2] {
				t.Fatalf("case %d, %v: a stream gives %s, observed %s", c, ins[k/2], got, want[k/2])
			}
		}
		if err := stream.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

var turns = flag.Int("turnings", 40, "how many loops with random bodies are compared")
