package onnx

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx/internal/text"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

var plans = flag.Int("plans", 400, "how many random graphs TestExactPlans plans")

// A planned graph grows value by value.
type planGraph struct {
	r    *rand.Rand
	b    *Builder
	vals []planValue
	deep int
}

type planValue struct {
	name  string
	d     dtype.DType
	shape []int
}

func (g *planGraph) add(name string, d dtype.DType, shape ...int) {
	g.vals = append(g.vals, planValue{name, d, shape})
}

func (g *planGraph) weight(a tensor.Any) string { return g.b.Weight(g.b.fresh("w"), a) }

func (g *planGraph) ints(v ...int64) string { return g.weight(tensor.FromSlice(v, len(v)).Any()) }

func (g *planGraph) floats(shape ...int) string {
	return g.weight(tensor.RandomNormal[float32](g.r.Uint64(), 0, 1, shape...).Any())
}

// pick returns a float value of at least a rank, the last ones most often.
func (g *planGraph) pick(rank int) planValue {
	for range 20 {
		v := g.vals[len(g.vals)-1-min(g.r.IntN(len(g.vals)), g.r.IntN(len(g.vals)))]
		if v.d == dtype.Float32 && len(v.shape) >= rank {
			return v
		}
	}
	shape := make([]int, max(rank, 1))
	for i := range shape {
		shape[i] = 1 + g.r.IntN(6)
	}
	name := g.b.Node("Identity", []string{g.floats(shape...)})
	g.add(name, dtype.Float32, shape...)
	return g.vals[len(g.vals)-1]
}

func int64List(v []int) (list []int64) {
	for _, n := range v {
		list = append(list, int64(n))
	}
	return list
}

// grow adds a node or a few.
func (g *planGraph) grow() {
	r, b := g.r, g.b
	node := func(op string, shape []int, in []string, attrs ...Attribute) {
		g.add(b.Node(op, in, attrs...), dtype.Float32, shape...)
	}
	v := g.pick(1)
	rank := len(v.shape)
	axis := r.IntN(rank)
	with := func(n int) []int {
		s := slices.Clone(v.shape)
		s[axis] = n
		return s
	}
	total := 1
	for _, n := range v.shape {
		total *= n
	}
	switch kind := r.IntN(31); kind {
	case 0, 1, 2:
		perm := r.Perm(rank)
		shape := make([]int, rank)
		for i, p := range perm {
			shape[i] = v.shape[p]
		}
		node("Transpose", shape, []string{v.name}, IntsAttr("perm", int64List(perm)...))
	case 3, 4:
		from := r.IntN(v.shape[axis])
		till := from + 1 + r.IntN(v.shape[axis]-from)
		node("Slice", with(till-from), []string{v.name, g.ints(int64(from)), g.ints(int64(till)), g.ints(int64(axis))})
	case 5, 6:
		if n := v.shape[axis]; n > 1 {
			first := 1 + r.IntN(n-1)
			outs := b.Nodes("Split", 2, []string{v.name, g.ints(int64(first), int64(n-first))}, IntAttr("axis", int64(axis)))
			g.add(outs[0], v.d, with(first)...)
			g.add(outs[1], v.d, with(n-first)...)
		}
	case 7:
		shape := []int{total}
		if half := 2; total%half == 0 {
			shape = []int{half, total / half}
		}
		node("Reshape", shape, []string{v.name, g.ints(int64List(shape)...)})
	case 8:
		node("Unsqueeze", slices.Insert(slices.Clone(v.shape), axis, 1), []string{v.name, g.ints(int64(axis))})
	case 9:
		if total < 500 {
			node("Expand", append([]int{2}, v.shape...), []string{v.name, g.ints(int64List(append([]int{2}, v.shape...))...)})
		}
	case 10, 11:
		node([]string{"Relu", "Sigmoid", "Neg", "Identity", "Softmax", "Cast"}[r.IntN(6)], v.shape, []string{v.name})
		if n := &b.g.Nodes[len(b.g.Nodes)-1]; n.Op == "Cast" {
			n.Attributes = []Attribute{IntAttr("to", int64(ElemFloat32))}
		}
	case 12, 13:
		other := v.name
		for _, w := range g.vals {
			if w.d == v.d && slices.Equal(w.shape, v.shape) {
				other = w.name
			}
		}
		node([]string{"Add", "Mul", "Sub", "Max"}[r.IntN(4)], v.shape, []string{v.name, other})
	case 14, 15:
		list := []string{v.name, v.name}
		n := 2 * v.shape[axis]
		for _, w := range g.vals {
			s := slices.Clone(w.shape)
			if w.d != v.d || len(s) != rank {
				continue
			}
			if e := s[axis]; n < 40 {
				if s[axis] = v.shape[axis]; slices.Equal(s, v.shape) {
					list, n = append(list, w.name), n+e
				}
			}
		}
		if total*n/v.shape[axis] < 4000 {
			node("Concat", with(n), list, IntAttr("axis", int64(axis)))
		}
	case 16, 17:
		q := b.Node("QuantizeLinear", []string{v.name, g.weight(tensor.Scalar[float32](.1).Any()), g.weight(tensor.Scalar[uint8](7).Any())})
		if r.IntN(2) == 0 {
			perm := r.Perm(rank)
			shape := make([]int, rank)
			for i, p := range perm {
				shape[i] = v.shape[p]
			}
			q, v.shape = b.Node("Transpose", []string{q}, IntsAttr("perm", int64List(perm)...)), shape
		}
		node("DequantizeLinear", v.shape, []string{q, g.weight(tensor.Scalar[float32](.1).Any()), g.weight(tensor.Scalar[uint8](7).Any())})
	case 18:
		k := int64(1 + r.IntN(v.shape[axis]))
		outs := b.Nodes("TopK", 2, []string{v.name, g.ints(k)}, IntAttr("axis", int64(axis)))
		g.add(outs[0], v.d, with(int(k))...)
		g.add(outs[1], dtype.Int64, with(int(k))...)
	case 19:
		lo, hi := g.weight(tensor.Scalar[float32](-1).Any()), g.weight(tensor.Scalar[float32](1).Any())
		node("Clip", v.shape, []string{v.name, lo, hi})
	case 20:
		node("ReduceSum", with(1), []string{v.name, g.ints(int64(axis))}, IntAttr("keepdims", 1))
	case 21:
		list := make([]int64, 1+r.IntN(5))
		for i := range list {
			list[i] = int64(r.IntN(v.shape[axis]))
		}
		node("Gather", with(len(list)), []string{v.name, g.ints(list...)}, IntAttr("axis", int64(axis)))
	case 22:
		update := append([]int{2}, v.shape[1:]...)
		at := tensor.FromSlice([]int64{int64(r.IntN(v.shape[0])), int64(r.IntN(v.shape[0]))}, 2, 1)
		node("ScatterND", v.shape, []string{v.name, g.weight(at.Any()), g.floats(update...)})
	case 23:
		if v = g.pick(2); len(v.shape) >= 2 {
			n := 1 + r.IntN(8)
			shape := slices.Clone(v.shape)
			k := shape[len(shape)-1]
			shape[len(shape)-1] = n
			w := g.floats(k, n)
			if r.IntN(2) == 0 {
				w = b.Node("Transpose", []string{g.floats(n, k)})
			}
			node("MatMul", shape, []string{v.name, w})
		}
	case 24:
		if v = g.pick(4); len(v.shape) == 4 {
			m := 1 + r.IntN(4)
			node("Conv", []int{v.shape[0], m, v.shape[2], v.shape[3]}, []string{v.name, g.floats(m, v.shape[1], 3, 3)}, IntsAttr("pads", 1, 1, 1, 1))
		}
	case 25:
		if v = g.pick(4); len(v.shape) == 4 && v.shape[2]*v.shape[3] < 100 {
			node("Resize", []int{v.shape[0], v.shape[1], 2 * v.shape[2], 2 * v.shape[3]}, []string{v.name, "", g.weight(tensor.FromSlice([]float32{1, 1, 2, 2}, 4).Any())}, StringAttr("mode", []string{"nearest", "linear"}[r.IntN(2)]))
		}
	case 26:
		if g.deep < 2 {
			in := func(op string) *Builder {
				body := b.Body(op)
				inner := &planGraph{r: r, b: body, vals: slices.Clone(g.vals), deep: g.deep + 1}
				for range r.IntN(4) {
					inner.grow()
				}
				y := v.name
				if w := inner.vals[len(inner.vals)-1]; slices.Equal(w.shape, v.shape) && w.d == v.d {
					y = w.name
				} else if len(inner.vals) > len(g.vals) {
					y = body.Node("ReduceMax", []string{w.name, inner.ints(int64List(axesOf(len(w.shape)))...)}, IntAttr("keepdims", 0))
					if w.d != dtype.Float32 {
						y = body.Node("Cast", []string{y}, IntAttr("to", int64(ElemFloat32)))
					}
					y = body.Node("Add", []string{y, v.name})
				}
				body.OutputOf(body.Node(op, []string{y}), Type{})
				return body
			}
			node("If", v.shape, []string{"c"}, GraphAttr("then_branch", in("Neg")), GraphAttr("else_branch", in("Identity")))
		}
	case 27, 28:
		if g.deep < 2 && total < 500 {
			n := 1 + r.IntN(9)
			body := b.Body("body")
			body.InputOf(b.fresh("i"), Type{Kind: KindTensor, Elem: ElemInt64})
			going := body.InputOf(b.fresh("going"), Type{Kind: KindTensor, Elem: ElemBool})
			state := body.InputOf(b.fresh("state"), Type{Kind: KindTensor, Elem: ElemFloat32})
			inner := &planGraph{r: r, b: body, vals: append(slices.Clone(g.vals), planValue{state, v.d, v.shape}), deep: g.deep + 1}
			for range r.IntN(4) {
				inner.grow()
			}
			last := inner.vals[len(inner.vals)-1]
			next := state
			for _, w := range inner.vals {
				if w.d == v.d && slices.Equal(w.shape, v.shape) {
					next = w.name
				}
			}
			body.OutputOf(body.Node("Identity", []string{going}), Type{})
			body.OutputOf(body.Node([]string{"Identity", "Neg"}[r.IntN(2)], []string{next}), Type{})
			body.OutputOf(body.Node("Identity", []string{last.name}), Type{})
			trips := g.weight(tensor.Scalar(int64(n)).Any())
			outs := b.Nodes("Loop", 2, []string{trips, "", v.name}, GraphAttr("body", body))
			g.add(outs[0], v.d, v.shape...)
			g.add(outs[1], last.d, append([]int{n}, last.shape...)...)
		}
	case 29:
		if g.deep < 2 && v.shape[axis] > 0 && rank > 1 && total < 500 {
			body := b.Body("scan")
			one := slices.Delete(slices.Clone(v.shape), axis, axis+1)
			x := body.InputOf(b.fresh("x"), Type{Kind: KindTensor, Elem: ElemFloat32})
			inner := &planGraph{r: r, b: body, vals: append(slices.Clone(g.vals), planValue{x, v.d, one}), deep: g.deep + 1}
			for range r.IntN(3) {
				inner.grow()
			}
			last := inner.vals[len(inner.vals)-1]
			body.OutputOf(body.Node("Identity", []string{last.name}), Type{})
			g.add(b.Node("Scan", []string{v.name}, GraphAttr("body", body), IntAttr("num_scan_inputs", 1), IntsAttr("scan_input_axes", int64(axis))), last.d, append([]int{v.shape[axis]}, last.shape...)...)
		}
	case 30:
		g.sequence(v, axis)
	}
}

// sequence adds nodes that make a tensor by way of a sequence or an optional.
func (g *planGraph) sequence(v planValue, axis int) {
	r, b := g.r, g.b
	place := func(i int) string { return g.weight(tensor.Scalar(int64(i)).Any()) }
	switch r.IntN(5) {
	case 0:
		items := []planValue{v, g.pick(1), g.pick(1)}[:1+r.IntN(3)]
		var names []string
		for _, w := range items {
			names = append(names, w.name)
		}
		seq := b.Node("SequenceConstruct", names)
		if r.IntN(2) == 0 {
			items = append(items, v)
			seq = b.Node("SequenceInsert", []string{seq, v.name})
		}
		if len(items) > 1 && r.IntN(2) == 0 {
			items = items[1:]
			seq = b.Node("SequenceErase", []string{seq, place(0)})
		}
		at := r.IntN(len(items))
		g.add(b.Node("SequenceAt", []string{seq, place(at)}), v.d, items[at].shape...)
	case 1:
		seq := b.Node("SplitToSequence", []string{v.name, place(1)}, IntAttr("axis", int64(axis)))
		if r.IntN(2) == 0 {
			g.add(b.Node("ConcatFromSequence", []string{seq}, IntAttr("axis", int64(axis))), v.d, v.shape...)
			break
		}
		shape := slices.Clone(v.shape)
		shape[axis] = 1
		g.add(b.Node("SequenceAt", []string{seq, place(r.IntN(v.shape[axis]))}), v.d, shape...)
	case 2:
		g.add(b.Node("OptionalGetElement", []string{b.Node("Optional", []string{v.name})}), v.d, v.shape...)
	case 3:
		seq := b.Node("OptionalGetElement", []string{b.Node("Optional", []string{b.Node("SequenceConstruct", []string{v.name, v.name})})})
		g.add(b.Node("SequenceAt", []string{seq, place(1)}), v.d, v.shape...)
	case 4:
		body := b.Body("body")
		item, beside := body.InputOf(b.fresh("item"), Type{}), body.InputOf(b.fresh("beside"), Type{})
		body.OutputOf(body.Node("Mul", []string{body.Node("Add", []string{item, beside}), v.name}), Type{})
		seq := b.Node("SequenceMap", []string{b.Node("SequenceConstruct", []string{v.name}), v.name}, GraphAttr("body", body))
		g.add(b.Node("SequenceAt", []string{seq, place(0)}), v.d, v.shape...)
	}
}

func axesOf(rank int) (list []int) {
	for i := range rank {
		list = append(list, i)
	}
	return list
}

// planModel returns a random model with inputs for it.
func planModel(seed uint64) (*Model, vals, error) {
	g := &planGraph{r: rand.New(rand.NewPCG(seed, 7)), b: NewBuilder("g")}
	in := vals{"c": tensor.Scalar(g.r.IntN(2) == 0).Any()}
	g.b.Input("c", dtype.Bool)
	for i := range 1 + g.r.IntN(2) {
		shape := make([]int, []int{4, 4, 3, 2, 1}[g.r.IntN(5)])
		for k := range shape {
			shape[k] = 1 + g.r.IntN(6)
		}
		name := g.b.Input(fmt.Sprint("x", i), dtype.Float32, wholes(shape)...)
		in[name] = tensor.RandomNormal[float32](seed, 0, 1, shape...).Any()
		if perm := g.r.Perm(len(shape)); g.r.IntN(8) == 0 { // a view
			turned := make([]int, len(shape))
			for k, p := range perm {
				turned[p] = shape[k]
			}
			in[name] = tensor.RandomNormal[float32](seed, 0, 1, turned...).Any().Permute(perm...)
		}
		g.add(name, dtype.Float32, shape...)
	}
	for range 1 + g.r.IntN(12) {
		g.grow()
	}
	g.b.OutputOf(g.vals[len(g.vals)-1].name, Type{})
	if w := g.vals[g.r.IntN(len(g.vals))]; w.name != g.vals[len(g.vals)-1].name && g.r.IntN(2) == 0 {
		g.b.OutputOf(w.name, Type{})
	}
	m, err := g.b.Model(18)
	return m, in, err
}

// stepped runs the nodes of a session, whatever its plan says. The limit isn't 0, which stands for none here.
func stepped(s *Session, in vals, threads int, limit int64) (*frame, error) {
	ctx := op.WithThreads(context.Background(), threads)
	bound, err := s.bind(valuesOf(in))
	if err != nil {
		return nil, err
	}
	p, err := s.plan(ctx, valuesOf(in), bound, 0)
	if err != nil {
		return nil, err
	}
	fr := &frame{run: &run{Session: s, ctx: ctx, limit: limit, left: 1 << 20, spare: p.spare(limit), text: text.NewTable(s.c.text)}, c: s.c, vals: bound, plan: p}
	return fr, fr.steps(nil)
}

// needOf returns the least limit under which a run that isn't refused at its beginning comes to its end.
func needOf(s *Session, in vals, threads int) (int64, error) {
	for limit := max(s.weights, 1); ; {
		fr, err := stepped(s, in, threads, limit)
		if err == nil {
			_, err = fr.outputs()
		}
		var e *MemoryError
		switch {
		case err == nil:
			return limit, nil
		case !errors.As(err, &e):
			return 0, err
		case e.Need <= limit:
			return 0, fmt.Errorf("%d is refused under a limit of %d", e.Need, limit)
		}
		limit = e.Need
	}
}

// left returns how many bytes a run that lets go of all its values still counts.
func left(s *Session, in vals, threads int) (int64, error) {
	fr, err := stepped(s, in, threads, DefaultMaxMemory)
	if fr == nil {
		return 0, err
	}
	fr.clear()
	return fr.live, nil
}

// A run whose plan is exact runs with as much memory as the plan says, prepared or not, and is refused with a byte less.
func TestExactPlans(t *testing.T) {
	exact, all, needed, planned, short := 0, 0, int64(0), int64(0), 0
	kinds := make(map[string]int)
	for seed := range uint64(*plans) {
		m, in, err := planModel(seed)
		if err != nil {
			t.Fatalf("graph %d: %v", seed, err)
		}
		s, err := NewSession(m)
		if err != nil {
			t.Fatalf("graph %d: %v", seed, err)
		}
		threads := 1 + int(seed%3)
		bound, err := s.bind(valuesOf(in))
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.plan(op.WithThreads(context.Background(), threads), valuesOf(in), bound, 0)
		if err != nil {
			t.Fatalf("graph %d: %v", seed, err)
		}
		need, err := needOf(s, in, threads)
		if err != nil {
			t.Fatalf("graph %d: %v", seed, err)
		}
		if n, err := left(s, in, threads); n != 0 || err != nil {
			t.Errorf("graph %d: a run leaves %d bytes, %v", seed, n, err)
		}
		all++
		limit := p.Weights + p.Live
		if needed, planned = needed+need, planned+limit; p.Live < 0 || p.Live > 1<<40 {
			t.Fatalf("graph %d: results of %d bytes", seed, p.Live)
		}
		if !p.Exact {
			continue
		}
		exact++
		if need > limit {
			short++
			var ops []string
			for _, n := range m.Graph.Nodes {
				ops = append(ops, n.Op)
			}
			_, err = s.Run(context.Background(), in, &Options{MaxMemory: limit, Threads: threads})
			said := fmt.Sprint(err)
			if _, at, ok := strings.Cut(said, "("); ok {
				at, _, _ = strings.Cut(at, ",")
				kinds[at]++
			}
			if short <= 5 {
				t.Errorf("graph %d (%s): needs %d, the plan says %d: %v", seed, strings.Join(ops, ", "), need, limit, err)
			}
			continue
		}
		var want string
		for i := range 3 { // the last of which is prepared
			out, err := s.Run(context.Background(), in, &Options{MaxMemory: limit, Threads: threads})
			if err != nil {
				t.Fatalf("graph %d: run %d with the memory of the plan: %v", seed, i, err)
			}
			got := fmt.Sprint(out)
			if i > 0 && got != want {
				t.Errorf("graph %d: run %d gives other results", seed, i)
			}
			want = got
		}
		if limit < 2 { // 0 and -1 mean something else
			continue
		}
		var e *MemoryError
		if _, err := s.Run(context.Background(), in, &Options{MaxMemory: limit - 1, Threads: threads}); !errors.As(err, &e) || e.Need != limit {
			t.Errorf("graph %d: with a byte less than %d: %v", seed, limit, err)
		}
	}
	t.Logf("%d of %d plans are exact, %d of them too small; all say %d bytes, their runs need %d: %.4f; %v", exact, all, short, planned, needed, float64(planned)/float64(needed), kinds)
	if exact < all*9/10 {
		t.Errorf("%d of %d plans are exact", exact, all)
	}
}

// The plan follows views of tensors whose layout it doesn't know, such as a Scan's parts along an inner axis: they keep memory, and some steps copy them.
func TestPlansOfUnknownLayouts(t *testing.T) {
	type call = func(b *Builder, x string) string
	node := func(op string, attrs ...Attribute) call {
		return func(b *Builder, x string) string { return b.Node(op, []string{x}, attrs...) }
	}
	with := func(op string, second tensor.Any) call {
		return func(b *Builder, x string) string { return b.Node(op, []string{x, b.Weight(b.fresh("w"), second)}) }
	}
	one := func(i int64) tensor.Any { return tensor.FromSlice([]int64{i}, 1).Any() }
	split := func(b *Builder, x string) string { return b.Nodes("Split", 2, []string{x}, IntAttr("axis", 1))[1] }
	concat := func(b *Builder, x string) string { return b.Node("Concat", []string{x, x}, IntAttr("axis", 0)) }
	in := vals{"x": tensor.RandomNormal[float32](1, 0, 1, 6, 6, 6).Any()}
	for i, view := range []call{node("Identity"), node("Transpose"), split, with("Unsqueeze", one(0)), with("Reshape", one(-1)), node("Flatten")} {
		for j, use := range []call{node("Identity"), concat, node("Softmax"), node("ReduceSum"), with("CumSum", tensor.Scalar(int64(0)).Any()), with("Reshape", one(-1)), node("Neg")} {
			for axis := range int64(3) {
				b := NewBuilder("g")
				x := b.Input("x", dtype.Float32, 6, 6, 6)
				body := b.Body("body")
				part := body.InputOf("part", Type{Kind: KindTensor, Elem: ElemFloat32})
				body.OutputOf(use(body, view(body, part)), Type{})
				b.OutputOf(b.Node("Scan", []string{x}, GraphAttr("body", body), IntAttr("num_scan_inputs", 1), IntsAttr("scan_input_axes", axis)), Type{})
				m, err := b.Model(17)
				if err != nil {
					t.Fatal(err)
				}
				s, err := NewSession(m)
				if err != nil {
					t.Fatal(err)
				}
				bound, err := s.bind(valuesOf(in))
				if err != nil {
					t.Fatal(err)
				}
				p, err := s.plan(context.Background(), valuesOf(in), bound, 0)
				if err != nil {
					t.Fatal(err)
				}
				if need, err := needOf(s, in, 1); err != nil || !p.Exact || need > p.Weights+p.Live {
					t.Errorf("view %d, use %d, axis %d: needs %d, the plan says %d, exact %v: %v", i, j, axis, need, p.Weights+p.Live, p.Exact, err)
				}
			}
		}
	}
}

// A plan of nodes whose results are views keeps one storage for each, however many branches and iterations have it.
func TestPlansOfManyViews(t *testing.T) {
	s := sessionAt(t, 18, func(b *Builder) {
		x := b.Node("Relu", []string{b.Input("x", dtype.Float32, 4)})
		n, yes := b.Input("n", dtype.Int64), b.Input("yes", dtype.Bool)
		same := func(b *Builder) string { return b.Node("Identity", []string{x}) }
		for range 8 {
			x = choose(b, yes, same, same)
			x = looped(b, 1, []string{n, yes, x}, func(b *Builder, in []string) []string {
				return []string{in[1], b.Node("Identity", in[2:])}
			})[0]
		}
		b.OutputOf(x, Type{})
	})
	vals, err := s.bind(valuesOf(vals{"x": tensor.New[float32](4).Any(), "n": count(3), "yes": tensor.Scalar(true).Any()}))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range s.c.inputs {
		vals[id], _ = vals[id].spec()
	}
	most := 0
	f := inference{seen: func(c *compiled, i int, vals []Value) {
		for id := range vals {
			if vals[id].own != nil {
				most = max(most, len(vals[id].own.of))
			}
		}
	}}
	if err := f.within(context.Background(), 0, func() error { return f.graph(s.c, vals, new(Plan)) }); err != nil || most != 1 {
		t.Errorf("a value has %d storages, %v", most, err)
	}
}

// A tensor that the body of a SequenceMap reads is counted until the last node that needs it, though the plan isn't exact.
func TestPlanAfterSequenceMap(t *testing.T) {
	s := sessionAt(t, 18, func(b *Builder) {
		y := b.Node("Relu", []string{b.Input("x", dtype.Float32, 1024)})
		body := b.Body("body")
		body.OutputOf(body.Node("Add", []string{body.InputOf("part", Type{}), body.InputOf("all", Type{})}), Type{})
		list := b.Node("SequenceMap", []string{b.Node("SequenceEmpty", nil), y}, GraphAttr("body", body))
		b.OutputOf(b.Node("SequenceLength", []string{list}), Type{})
		z := b.Node("Softmax", []string{b.Node("Softmax", []string{y})})
		b.OutputOf(b.Node("Concat", []string{y, z}, IntAttr("axis", 0)), Type{})
	})
	p, err := s.Plan(map[string]tensor.Any{"x": tensor.New[float32](1024).Any()})
	if want := int64(4 * 4096); err != nil || p.Exact || p.Live < want { // y, z and both of them
		t.Errorf("%+v, %v; want %d bytes live or more", p, err, want)
	}
}

// The strings of a run take memory that depends on them, so no plan of a graph with strings is exact.
func TestPlansOfStrings(t *testing.T) {
	text := func(b *Builder, x string) string {
		return b.Node("Cast", []string{x}, IntAttr("to", int64(ElemString)))
	}
	number := func(b *Builder, x string) string {
		return b.Node("Cast", []string{x}, IntAttr("to", int64(ElemFloat32)))
	}
	for name, f := range map[string]func(b *Builder, x string) string{
		"Cast":          text,
		"an inner one":  func(b *Builder, x string) string { return number(b, text(b, x)) },
		"of a sequence": func(b *Builder, x string) string { return b.Node("SequenceConstruct", []string{text(b, x)}) },
		"in a branch": func(b *Builder, x string) string {
			way := func(b *Builder) string { return number(b, text(b, x)) }
			return choose(b, b.Node("Equal", []string{b.Node("ReduceSum", []string{x}, IntAttr("keepdims", 0)), weighed(b, tensor.Scalar[float32](0).Any())}), way, way)
		},
	} {
		s := sessionAt(t, 18, func(b *Builder) { b.OutputOf(f(b, b.Input("x", dtype.Float32, 3)), Type{}) })
		if p, err := s.Plan(vals{"x": vec(1.5, 2, 3)}); err != nil || p.Exact {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	s := sessionAt(t, 18, func(b *Builder) {
		x := b.InputOf("x", Type{Kind: KindTensor, Elem: ElemString})
		b.OutputOf(b.Node("Equal", []string{x, x}), Type{})
	})
	if p, err := s.PlanValues(map[string]Value{"x": StringsValue([]int{2}, "a", "b")}); err != nil || p.Exact {
		t.Errorf("of an input: %+v, %v", p, err)
	}
}
