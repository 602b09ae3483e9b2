package onnx

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/ended"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/receipt"
	"github.com/ashlar-go/ashlar/tensor"
)

var (
	lengthy = flag.Bool("long", false, "run more graphs, larger ones, and every bit of a file turned over")
	looks   = flag.Int("looks", 8, "how many ends of the context TestEnded tries of each model")
)

// endings calls try for contexts that end after 0, 1, 2 and more looks, up to the number that try takes without an end.
func endings(try func(k int, ctx context.Context)) {
	whole := ended.After(math.MaxInt)
	try(math.MaxInt, whole)
	all := whole.Looks()
	for i := range min(all, *looks) {
		k := i * max(all, *looks) / *looks
		try(k, ended.After(k))
	}
}

// longModels are graphs whose last node works in pieces between which it looks at the context, in several ways to be there: alone, in the bodies of
// nodes, of weights alone. Each has an input x, or a state h and an output next.
var longModels = map[string]func(b *Builder, r *rand.Rand){
	"MatMul": func(b *Builder, r *rand.Rand) {
		x := b.Input("x", dtype.Float32, 2, 1500)
		b.Output(b.Rename(b.Node("MatMul", []string{x, b.Weight("w", noise(r, 1500, 4))}), "y"), dtype.Float32, 2, 4)
	},
	"state": func(b *Builder, r *rand.Rand) {
		x, h := b.Input("x", dtype.Float32, 2, 600), b.Input("h", dtype.Float32, 2, 600)
		sum := b.Node("Add", []string{x, b.Node("Tanh", []string{h})})
		b.Output(b.Rename(b.Node("MatMul", []string{sum, b.Weight("w", noise(r, 600, 600))}), "next"), dtype.Float32, 2, 600)
	},
	"LinearAttention": func(b *Builder, r *rand.Rand) {
		x := b.Input("x", dtype.Float32, 1, 30, 4)
		y := b.Node("LinearAttention", []string{x, x, x}, IntAttr("q_num_heads", 1), IntAttr("kv_num_heads", 1), StringAttr("update_rule", "linear"))
		b.Output(b.Rename(y, "y"), dtype.Float32, 1, 30, 4)
	},
	"LSTM": func(b *Builder, r *rand.Rand) {
		x := b.Input("x", dtype.Float32, 50, 6, 3)
		b.Output(b.Rename(b.Node("LSTM", []string{x, b.Weight("w", noise(r, 1, 16, 3)), b.Weight("r", noise(r, 1, 16, 4))}, IntAttr("hidden_size", 4)), "y"), dtype.Float32, 50, 1, 6, 4)
	},
	"If": func(b *Builder, r *rand.Rand) {
		x := b.Input("x", dtype.Float32, 2, 1500)
		w := b.Weight("w", noise(r, 1500, 4))
		then, other := b.Body("then"), b.Body("else")
		then.Output(then.Node("MatMul", []string{x, w}), dtype.Float32, 2, 4)
		other.Output(other.Node("MatMul", []string{other.Node("Neg", []string{x}), w}), dtype.Float32, 2, 4)
		yes := b.Node("Less", []string{b.Node("ReduceMax", []string{x}, IntAttr("keepdims", 0)), b.Weight("0", tensor.Scalar[float32](0).Any())})
		b.Output(b.Rename(b.Node("If", []string{yes}, GraphAttr("then_branch", then), GraphAttr("else_branch", other)), "y"), dtype.Float32, 2, 4)
	},
	"Loop": func(b *Builder, r *rand.Rand) {
		x := b.Input("x", dtype.Float32, 2, 600)
		body := b.Body("body")
		body.Input("i", dtype.Int64)
		c, v := body.Input("c", dtype.Bool), body.Input("v", dtype.Float32, 2, 600)
		body.Output(body.Node("Identity", []string{c}), dtype.Bool)
		body.Output(body.Node("Tanh", []string{body.Node("MatMul", []string{v, b.Weight("w", noise(r, 600, 600))})}), dtype.Float32, 2, 600)
		b.Output(b.Rename(b.Node("Loop", []string{b.Weight("n", tensor.Scalar[int64](3).Any()), b.Weight("yes", tensor.Scalar(true).Any()), x}, GraphAttr("body", body)), "y"), dtype.Float32, 2, 600)
	},
	"weights": func(b *Builder, r *rand.Rand) {
		x := b.Input("x", dtype.Float32, 4)
		p := b.Node("MatMul", []string{b.Weight("v", noise(r, 2, 1500)), b.Weight("w", noise(r, 1500, 4))})
		q := b.Node("Softmax", []string{b.Weight("u", noise(r, 300, 400))}, IntAttr("axis", 0))
		b.Output(b.Rename(b.Node("Add", []string{x, p}), "y"), dtype.Float32, 2, 4)
		b.Output(b.Rename(b.Node("ReduceSum", []string{b.Node("Mul", []string{q, b.Node("ReduceMax", []string{x}, IntAttr("keepdims", 0))})}, IntAttr("keepdims", 0)), "z"), dtype.Float32)
	},
}

// A session, a stream and the folding of weights give an error, or all elements, when the context ends after any number of looks.
func TestEnded(t *testing.T) {
	calls := 0
	for name, build := range longModels {
		t.Run(name, func(t *testing.T) {
			build := func(b *Builder) { build(b, rand.New(rand.NewPCG(43, 2))) }
			s := sessionAt(t, 27, build)
			r, in, state := rand.New(rand.NewPCG(43, 3)), vals{}, map[string]string{}
			for i := range s.c.g.Inputs {
				v := &s.c.g.Inputs[i]
				shape := make([]int, len(v.Type.Shape))
				for k, d := range v.Type.Shape {
					shape[k] = int(d.Value)
				}
				if in[v.Name] = noise(r, shape...); v.Name == "h" {
					state["next"] = "h"
				}
			}
			want := mustRun(t, s, in)
			check := func(what string, k int, got, want vals, err error) bool {
				t.Helper()
				calls++
				if err != nil {
					if !errors.Is(err, context.Canceled) || k == math.MaxInt {
						t.Fatalf("%s, which ends after %d looks: %v", what, k, err)
					}
					return false
				}
				for name, w := range want {
					if g := got[name]; tensor.Describe(g) != tensor.Describe(w) || fmt.Sprint(bitsOf(g)) != fmt.Sprint(bitsOf(w)) {
						t.Fatalf("%s, which ends after %d looks: another %q, and no error", what, k, name)
					}
				}
				return true
			}
			endings(func(k int, ctx context.Context) {
				got, err := s.Run(ctx, in, nil)
				check("a run", k, got, want, err)
				fresh := sessionAt(t, 27, build)
				got, err = fresh.Run(ctx, in, nil)
				check("a first run", k, got, want, err)
			})
			endings(func(k int, ctx context.Context) {
				fresh := sessionAt(t, 27, build)
				f := folding{ctx: ctx, left: 1 << 20, work: foldWork}
				f.graph(fresh.c, nil, nil)
				got, err := fresh.Run(context.Background(), in, nil)
				check("folding", k, got, want, err)
			})
			for before := range 5 { // the first run is prepared, too
				endings(func(k int, ctx context.Context) {
					st, err := s.Stream(&StreamOptions{State: state})
					if err != nil {
						t.Fatal(err)
					}
					defer st.Close()
					given := vals{"x": in["x"]}
					h := tensor.New[float32](2, 600).Any()
					for i := range before + 3 {
						under, end := context.Background(), math.MaxInt
						if i == before {
							under, end = ctx, k
						}
						all := vals{"x": in["x"]}
						if len(state) > 0 {
							all["h"] = h
						}
						want := mustRun(t, s, all)
						got, err := st.Run(under, given)
						if check(fmt.Sprintf("run %d of a stream, of which run %d", i, before), end, got, want, err) && len(state) > 0 {
							h = want["next"]
						}
					}
				})
			}
		})
	}
	t.Logf("%d calls", calls)
}

// hasty returns an operator of a program that leaves the elements unfinished where the context has ended.
func hasty(o *op.Op) *op.Op {
	return op.New(op.Info{Domain: "me", Name: o.Name(), Versions: []int{1}}, o.Infer, func(c *op.Call) ([]tensor.Any, error) {
		if c.Context.Err() != nil {
			return []tensor.Any{tensor.EmptyOf(c.Inputs[0].DType(), c.Inputs[0].Shape()...)}, nil
		}
		return o.Run(c)
	})
}

// The unfinished result of such an operator isn't a result of the session or the stream either.
func TestEndedOwn(t *testing.T) {
	b := NewBuilder("own")
	x := b.Input("x", dtype.Float32, 3)
	y := b.Node("Neg", []string{x})
	b.Output(y, dtype.Float32, 3)
	b.Import("me", 1)
	m, err := b.Model(17)
	if err != nil {
		t.Fatal(err)
	}
	neg, _ := op.Lookup("Neg")
	m.Operators, m.Graph.Nodes[0].Domain = []*op.Op{hasty(neg)}, "me"
	s, err := NewSession(m)
	if err != nil {
		t.Fatal(err)
	}
	for before := range 5 {
		endings(func(k int, ctx context.Context) {
			st, err := s.Stream(nil)
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			for i := range before + 1 {
				under := context.Background()
				if i == before {
					under = ctx
				}
				if out, err := st.Run(under, vals{"x": vec(1, 2, 3)}); err == nil {
					checkVec(t, out[y], -1, -2, -3)
				} else if i < before || !errors.Is(err, context.Canceled) {
					t.Fatalf("run %d, which ends after %d looks: %v", i, k, err)
				}
			}
		})
	}
}

// failingModels are graphs in which two nodes fail. The first reads a result that is known before the run only where a graph inside a node, or the
// elements of a shape, are inferred to the end. The input x has 3 rows of 2.
var failingModels = map[string]func(b *Builder, x string) (first string){
	"Loop": func(b *Builder, x string) string {
		return looped(b, 1, []string{b.Weight("m", count(2)), "", x}, func(b *Builder, v []string) []string {
			return []string{v[1], b.Node("Neg", []string{v[2]})}
		})[0]
	},
	"Scan": func(b *Builder, x string) string {
		body := b.Body("body")
		row := body.InputOf("row", Type{})
		body.OutputOf(body.Node("Neg", []string{row}), Type{})
		return b.Nodes("Scan", 1, []string{x}, GraphAttr("body", body), IntAttr("num_scan_inputs", 1))[0]
	},
	"If": func(b *Builder, x string) string {
		yes := b.Node("Less", []string{b.Node("ReduceSum", []string{x}, IntAttr("keepdims", 0)), b.Weight("0", tensor.Scalar[float32](0).Any())})
		neg := func(b *Builder) string { return b.Node("Neg", []string{x}) }
		return choose(b, yes, neg, neg)
	},
	"Loop in If": func(b *Builder, x string) string {
		yes := b.Node("Less", []string{b.Node("ReduceSum", []string{x}, IntAttr("keepdims", 0)), b.Weight("0", tensor.Scalar[float32](0).Any())})
		loop := func(b *Builder) string {
			return looped(b, 1, []string{b.Weight(b.fresh("m"), count(2)), "", x}, func(b *Builder, v []string) []string {
				return []string{v[1], b.Node("Neg", []string{v[2]})}
			})[0]
		}
		return choose(b, yes, loop, loop)
	},
	"Shape": func(b *Builder, x string) string {
		return b.Node("Expand", []string{b.Weight("1", tensor.Scalar[float32](1).Any()), b.Node("Shape", []string{x})})
	},
}

// Of two nodes that fail the first is blamed, in all its words, by runs and streams under a context that ends after any number of
// looks, unless they give the context's error.
func TestEndedFailing(t *testing.T) {
	for name, build := range failingModels {
		for _, free := range []bool{false, true} {
			t.Run(fmt.Sprint(name, free), func(t *testing.T) {
				build := func(b *Builder) {
					x := b.Input("x", dtype.Float32, any2(free, "n", 3), 2)
					w := b.Weight("w", noise(rand.New(rand.NewPCG(59, 1)), 4, 2)) // which more rows of x fit
					first := b.Node("Add", []string{build(b, x), w})
					b.OutputOf(first, Type{})
					b.OutputOf(b.Node("Sub", []string{x, w}), Type{})
				}
				in := vals{"x": noise(rand.New(rand.NewPCG(59, 2)), 3, 2)}
				want := ""
				check := func(what string, k int, err error) {
					t.Helper()
					switch {
					case err == nil:
						t.Fatalf("%s, which ends after %d looks, fails nowhere", what, k)
					case k == math.MaxInt && want == "":
						if want = err.Error(); !strings.Contains(want, "(Add") || strings.Contains(want, "multiples of 2 fit") != free {
							t.Fatal(err)
						}
					case err.Error() != want && (k == math.MaxInt || !errors.Is(err, context.Canceled)):
						t.Fatalf("%s, which ends after %d looks: %v, want %s", what, k, err, want)
					}
				}
				all := ended.After(math.MaxInt)
				s := sessionAt(t, 17, build)
				_, err := s.Run(all, in, nil)
				check("a run", math.MaxInt, err)
				for k := range all.Looks() + 1 {
					_, err := s.Run(ended.After(k), in, nil)
					check("a run", k, err)
					_, err = s.Run(ended.After(k), in, &Options{Observe: func(*NodeRun) {}})
					check("an observed run", k, err)
					_, err = s.Run(ended.After(k), in, &Options{Receipt: new(receipt.Receipt), ReceiptNodes: true})
					check("a run with a receipt", k, err)
					st, err := s.Stream(nil)
					if err != nil {
						t.Fatal(err)
					}
					for i := range 3 {
						under, end := context.Context(context.Background()), math.MaxInt
						if i != 1 {
							under, end = ended.After(k), k
						}
						_, err := st.Run(under, in)
						check("a run of a stream", end, err)
					}
					if err := st.Close(); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	}
}
