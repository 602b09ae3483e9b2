package onnx

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/receipt"
	"github.com/ashlar-go/ashlar/tensor"
)

var (
	walkKind  = flag.String("walk", "", "the kind of graph that TestWalk goes over")
	walkNodes = flag.Int("nodes", 0, "the nodes of the larger graphs of TestWalks, ten times as many as the smaller ones have; 0: it doesn't run")
)

// link is a chain: f adds the node after x.
func link(n int, f func(b *Builder, i int, x string) string) func(b *Builder) {
	return func(b *Builder) {
		x := b.Input("x", dtype.Float32, 1, 4, 8, 8)
		for i := range n {
			x = f(b, i, x)
		}
		b.OutputOf(x, Type{})
	}
}

// long are graphs of n nodes.
func long(n int) map[string]func(b *Builder) {
	one := func(op string, attrs ...Attribute) func(b *Builder) {
		return link(n, func(b *Builder, _ int, x string) string { return b.Node(op, []string{x}, attrs...) })
	}
	weight := func(b *Builder, name string, a tensor.Any) string {
		if !b.used[name] {
			b.Weight(name, a)
		}
		return name
	}
	c := func(b *Builder) string { return weight(b, "c", tensor.Scalar[float32](1e-6).Any()) }
	w := func(b *Builder) string { return weight(b, "w", tensor.Full[float32](.1, 4, 4, 1, 1).Any()) }
	ints := func(b *Builder, name string, v ...int64) string {
		return weight(b, name, tensor.FromSlice(v, len(v)).Any())
	}
	body := func(b *Builder, f func(body *Builder) string) Attribute {
		in := b.Body("body")
		in.OutputOf(f(in), Type{})
		return GraphAttr("body", in)
	}
	return map[string]func(b *Builder){
		"Transpose": one("Transpose", IntsAttr("perm", 0, 2, 3, 1)), "Identity": one("Identity"), "Relu": one("Relu"), "Softmax": one("Softmax"), "Flatten": one("Flatten"), "Cast": one("Cast", IntAttr("to", 1)),
		"Reshape": link(n, func(b *Builder, i int, x string) string {
			return b.Node("Reshape", []string{x, ints(b, "to"+fmt.Sprint(i%2), []int64{1, 256 - 255*int64(i%2), -1}...)})
		}),
		"Slice": link(n, func(b *Builder, _ int, x string) string {
			return b.Node("Slice", []string{x, ints(b, "from", 0), ints(b, "till", 100)})
		}),
		"Squeeze": link(n, func(b *Builder, i int, x string) string {
			return b.Node([]string{"Unsqueeze", "Squeeze"}[i%2], []string{x, ints(b, "axis", 0)})
		}),
		"Expand": link(n, func(b *Builder, _ int, x string) string {
			return b.Node("Expand", []string{x, ints(b, "shape", 1, 4, 8, 8)})
		}),
		"Split and Concat": link(n/2, func(b *Builder, _ int, x string) string {
			return b.Node("Concat", b.Nodes("Split", 2, []string{x, ints(b, "parts", 2, 2)}, IntAttr("axis", 1)), IntAttr("axis", 1))
		}),
		"Concat of nothing": link(n, func(b *Builder, _ int, x string) string {
			return b.Node("Concat", []string{x, weight(b, "none", tensor.New[float32](1, 0, 8, 8).Any())}, IntAttr("axis", 1))
		}),
		"Add": link(n, func(b *Builder, _ int, x string) string { return b.Node("Add", []string{x, c(b)}) }),
		"Add of weights": link(n, func(b *Builder, i int, x string) string {
			return b.Node("Add", []string{x, b.Weight(fmt.Sprint("w", i), tensor.Scalar[float32](1e-6).Any())})
		}),
		"Conv": link(n, func(b *Builder, _ int, x string) string { return b.Node("Conv", []string{x, w(b)}) }),
		"Conv and Add": link(n/2, func(b *Builder, _ int, x string) string {
			return b.Node("Add", []string{b.Node("Conv", []string{x, w(b)}), x})
		}),
		"Conv and many": link(n, func(b *Builder, i int, x string) string {
			if i == 0 {
				return b.Node("Conv", []string{x, w(b)})
			}
			return b.Node("Mul", []string{x, c(b)})
		}),
		"QDQ": link(n, func(b *Builder, i int, x string) string {
			return b.Node([]string{"QuantizeLinear", "DequantizeLinear"}[i%2], []string{x, weight(b, "scale", tensor.Scalar[float32](.1).Any()), weight(b, "zero", tensor.Scalar[uint8](8).Any())})
		}),
		"MatMul": link(n, func(b *Builder, _ int, x string) string {
			return b.Node("MatMul", []string{x, weight(b, "m", tensor.Full[float32](.1, 8, 8).Any())})
		}),
		"If": link(n/2, func(b *Builder, i int, x string) string {
			if i == 0 {
				b.Input("if", dtype.Bool)
			}
			way := func(op string) *Builder {
				in := b.Body(op)
				in.OutputOf(in.Node(op, []string{x}), Type{})
				return in
			}
			return b.Node("If", []string{"if"}, GraphAttr("then_branch", way("Neg")), GraphAttr("else_branch", way("Identity")))
		}),
		"Ifs of views": link(n, func(b *Builder, i int, x string) string {
			if i == 0 {
				b.Input("if", dtype.Bool)
				x = b.Node("Relu", []string{x})
			}
			same := func(b *Builder) string { return b.Node("Identity", []string{x}) }
			return choose(b, "if", same, same)
		}),
		"Loops of views": link(n, func(b *Builder, i int, x string) string {
			if i == 0 {
				x = b.Node("Relu", []string{x})
			}
			return looped(b, 1, []string{weight(b, "trips", tensor.Scalar[int64](2).Any()), "", x}, func(b *Builder, in []string) []string {
				return []string{b.Node("Identity", in[1:2]), b.Node("Identity", in[2:])}
			})[0]
		}),
		"Scans of views": link(n, func(b *Builder, i int, x string) string {
			if i == 0 {
				x = b.Node("Relu", []string{x})
			}
			return b.Nodes("Scan", 2, []string{x, x}, body(b, func(in *Builder) string {
				in.OutputOf(in.Node("Identity", []string{in.InputOf("v", Type{Kind: KindTensor, Elem: ElemFloat32})}), Type{})
				return in.Node("Identity", []string{in.InputOf("part", Type{Kind: KindTensor, Elem: ElemFloat32})})
			}), IntAttr("num_scan_inputs", 1))[i%2]
		}),
		"a long branch": func(b *Builder) {
			x, yes := b.Input("x", dtype.Float32, 1, 4, 8, 8), b.Input("if", dtype.Bool)
			way := func() *Builder {
				in, y := b.Body("way"), x
				for range n / 2 {
					y = in.Node("Relu", []string{y})
				}
				in.OutputOf(y, Type{})
				return in
			}
			b.OutputOf(b.Node("If", []string{yes}, GraphAttr("then_branch", way()), GraphAttr("else_branch", way())), Type{})
		},
		"a wide branch": func(b *Builder) {
			x, yes := b.Input("x", dtype.Float32, 1, 4, 8, 8), b.Input("if", dtype.Bool)
			way := func(op string) *Builder {
				in := b.Body(op)
				for range n / 3 {
					in.OutputOf(in.Node(op, []string{x}), Type{})
				}
				return in
			}
			outs := b.Nodes("If", n/3, []string{yes}, GraphAttr("then_branch", way("Relu")), GraphAttr("else_branch", way("Neg")))
			b.OutputOf(b.Node("Sum", outs), Type{})
		},
		"Loop": func(b *Builder) {
			x := b.Input("x", dtype.Float32, 1, 4, 8, 8)
			var outer []string
			for range n / 2 {
				outer = append(outer, b.Node("Relu", []string{x}))
			}
			b.OutputOf(b.Node("Loop", []string{weight(b, "trips", tensor.Scalar[int64](2).Any()), "", x}, body(b, func(in *Builder) string {
				in.InputOf("i", Type{Kind: KindTensor, Elem: ElemInt64})
				going := in.InputOf("going", Type{Kind: KindTensor, Elem: ElemBool})
				v := in.InputOf("v", Type{Kind: KindTensor, Elem: ElemFloat32})
				for _, o := range outer {
					v = in.Node("Add", []string{v, o})
				}
				in.OutputOf(in.Node("Identity", []string{going}), Type{})
				return v
			})), Type{})
		},
		"fan-out": func(b *Builder) {
			x := b.Input("x", dtype.Float32, 1, 4, 8, 8)
			var list []string
			for range n {
				list = append(list, b.Node("Relu", []string{x}))
			}
			b.OutputOf(b.Node("Concat", list, IntAttr("axis", 1)), Type{})
		},
		"one Split": func(b *Builder) {
			x := b.Input("x", dtype.Float32, n, 2)
			outs := b.Nodes("Split", n, []string{x}, IntAttr("axis", 0))
			slices.Reverse(outs)
			b.OutputOf(b.Node("Concat", outs, IntAttr("axis", 0)), Type{})
		},
		"gaps": func(b *Builder) { // of memory: half of the values go, and larger ones don't fit
			x := b.Input("x", dtype.Float32, 1, 4, 8, 8)
			var here, gone []string
			for range n / 4 {
				here, gone = append(here, b.Node("Relu", []string{x})), append(gone, b.Node("Relu", []string{x}))
			}
			y := b.Node("Concat", []string{b.Node("Sum", gone), x}, IntAttr("axis", 1))
			for range n / 2 {
				y = b.Node("Relu", []string{y})
			}
			b.OutputOf(y, Type{})
			b.OutputOf(b.Node("Sum", here), Type{})
		},
		"inputs": func(b *Builder) {
			var list []string
			for i := range n {
				list = append(list, b.Input(fmt.Sprint("x", i), dtype.Float32, 4))
			}
			b.OutputOf(b.Node("Sum", list), Type{})
		},
		"outputs": func(b *Builder) {
			x := b.Input("x", dtype.Float32, 1, 4, 8, 8)
			for range n {
				b.OutputOf(b.Node("Relu", []string{x}), Type{})
			}
		},
		"shapes": func(b *Builder) {
			x := b.Input("x", dtype.Float32, 1, 4, 8, 8)
			s := b.Node("Shape", []string{x})
			for range n {
				s = b.Node("Add", []string{s, ints(b, "zero", 0)})
			}
			b.OutputOf(b.Node("Reshape", []string{x, s}), Type{})
		},
		"constants": func(b *Builder) {
			x := c(b)
			for range n {
				x = b.Node("Add", []string{x, c(b)})
			}
			b.OutputOf(b.Node("Add", []string{x, b.Input("x", dtype.Float32, 1, 4, 8, 8)}), Type{})
		},
		"sequences": func(b *Builder) {
			x := b.Input("x", dtype.Float32, 1, 4, 8, 8)
			var list []string
			for range n {
				list = append(list, b.Node("Relu", []string{x}))
			}
			b.OutputOf(b.Node("ConcatFromSequence", []string{b.Node("SequenceConstruct", list)}, IntAttr("axis", 0)), Type{})
		},
		"functions": link(n, func(b *Builder, _ int, x string) string { return b.Node("own.F", []string{x}) }),
	}
}

// longModel puts a long graph together, with inputs for it.
func longModel(build func(b *Builder)) (*Model, vals, error) {
	b := NewBuilder("long")
	build(b)
	b.Import("own", 1)
	m, err := b.Model(13)
	if err != nil {
		return nil, nil, err
	}
	m.Functions = []Function{{Domain: "own", Name: "F", Inputs: []string{"a"}, Outputs: []string{"b"}, Opsets: []Opset{{"", 13}}, Nodes: []Node{{Op: "Abs", Inputs: []string{"a"}, Outputs: []string{"b"}}}}}
	in := make(vals)
	for _, v := range m.Inputs() {
		shape := make([]int, len(v.Type.Shape))
		for i, d := range v.Type.Shape {
			shape[i] = int(d.Value)
		}
		d, _ := v.Type.Elem.DType()
		if in[v.Name], err = tensor.Make(d, shape...); err != nil {
			return nil, nil, err
		}
	}
	return m, in, nil
}

// TestWalk does all that there is to do with a model to a graph of one kind: TestWalks counts the statements that run.
func TestWalk(t *testing.T) {
	kinds, nodes := []string{*walkKind}, *walkNodes
	if *walkKind == "" {
		kinds, nodes = slices.Sorted(maps.Keys(long(2))), 30
	}
	for _, kind := range kinds {
		m, in, err := longModel(long(nodes)[kind])
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		file, err := Encode(m)
		if err == nil {
			m, err = Decode(file)
		}
		if err == nil {
			err = m.Check()
		}
		if err == nil {
			_, err = m.Digests()
		}
		if err == nil {
			_, err = m.Cost(in)
		}
		if err == nil {
			_, err = Extract(m, nil, nil)
		}
		var s *Session
		if err == nil {
			s, err = NewSession(m)
		}
		if err == nil {
			_, err = s.Steps(in)
		}
		var r receipt.Receipt
		for _, o := range []*Options{nil, nil, nil, {Receipt: &r, ReceiptNodes: true}} {
			if err == nil {
				_, err = s.Run(context.Background(), in, o)
			}
		}
		if err == nil {
			_, err = Verify(context.Background(), m, &r, valuesOf(in), nil)
		}
		var st *Stream
		if err == nil {
			st, err = s.Stream(nil)
		}
		for range 2 {
			if err == nil {
				_, err = st.Run(context.Background(), in)
			}
		}
		if err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// Graphs of ten times as many nodes take at most eleven times as many steps, whatever their kind: statements of this package are
// counted by the coverage of the go command, in every walk.
func TestWalks(t *testing.T) {
	if *walkNodes == 0 {
		t.Skip("it builds the tests of this package with coverage, and takes minutes: run it with -nodes 20000")
	}
	dir := t.TempDir()
	exe := filepath.Join(dir, "walks")
	if out, err := exec.Command("go", "test", "-c", "-covermode=count", "-vet=off", "-coverpkg=.", "-o", exe, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	counts := func(kind string, n int) map[string]int {
		profile := filepath.Join(dir, "profile")
		if out, err := exec.Command(exe, "-test.run=^TestWalk$", "-test.coverprofile="+profile, "-walk="+kind, fmt.Sprint("-nodes=", n)).CombinedOutput(); err != nil {
			t.Fatalf("%s of %d nodes: %v: %s", kind, n, err, out)
		}
		f, err := os.Open(profile)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		list := make(map[string]int)
		for lines := bufio.NewScanner(f); lines.Scan(); {
			var many, count int
			if place, rest, ok := strings.Cut(lines.Text(), " "); ok && !strings.Contains(place, "_test.go") {
				if _, err := fmt.Sscan(rest, &many, &count); err == nil {
					list[place] = many * count
				}
			}
		}
		return list
	}
	for _, kind := range slices.Sorted(maps.Keys(long(2))) {
		few, many := counts(kind, *walkNodes/10), counts(kind, *walkNodes)
		var sums [2]int
		worst, most := "", 0
		for place, n := range many {
			sums[0], sums[1] = sums[0]+few[place], sums[1]+n
			if more := n - 11*few[place]; more > most {
				worst, most = place, more
			}
		}
		ratio := float64(sums[1]) / float64(sums[0])
		if ratio > 11 {
			t.Errorf("%s: %d steps, and %d for ten times as many nodes, %.2f times as many, most of the others at %s", kind, sums[0], sums[1], ratio, worst)
		}
		t.Logf("%-18s %9d %10d %6.2f", kind, sums[0], sums[1], ratio)
	}
}
