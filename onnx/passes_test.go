package onnx

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// pictures builds a random graph of convolutions and of operators that may be part of them.
func pictures(r *rand.Rand, batch int) func(b *Builder) {
	return func(b *Builder) {
		const c, h, w = 6, 5, 7
		weight := func(shape ...int) string { return b.Weight(b.fresh("w"), noise(r, shape...)) }
		scalar := func(v float32) string { return b.Weight(b.fresh("s"), tensor.Scalar(v).Any()) }
		values := []string{b.Input("x", dtype.Float32, batch, c, h, w)}
		pick := func() string { return values[r.IntN(len(values))] }
		for range 4 + r.IntN(10) {
			x := values[max(0, len(values)-1-r.IntN(2))]
			switch r.IntN(20) {
			case 18:
				x = b.Nodes("Dropout", 2, []string{x})[0]
			case 19:
				x = b.Nodes("MaxPool", 2, []string{x}, IntsAttr("kernel_shape", 3, 3), IntsAttr("pads", 1, 1, 1, 1))[0]
			case 0, 1, 2:
				in := []string{x, weight(c, c, 3, 3)}
				if r.IntN(2) == 0 {
					in = append(in, weight(c))
				}
				if x = b.Node("Conv", in, IntsAttr("pads", 1, 1, 1, 1)); r.IntN(2) == 0 {
					x = b.Node("Relu", []string{x})
				}
			case 3:
				x = b.Node("Conv", []string{x, weight(c, 1, 3, 1), weight(c)}, IntsAttr("pads", 1, 0, 1, 0), IntAttr("group", c))
			case 4, 5:
				x = b.Node("BatchNormalization", []string{x, weight(c), weight(c), weight(c), b.Weight(b.fresh("v"), noiseAbove(r, c))})
			case 6:
				x = b.Node("Relu", []string{x})
			case 7:
				x = b.Node("Clip", []string{x, scalar(-0.5), scalar(0.75)})
			case 8:
				x = b.Node([]string{"LeakyRelu", "Erf", "HardSigmoid", "Tanh", "Neg", "Elu"}[r.IntN(6)], []string{x})
			case 9, 10:
				x = b.Node([]string{"Mul", "Add", "Sub", "Div", "Max"}[r.IntN(5)], shuffled(r, x, pick()))
			case 11:
				s := b.Node("Sigmoid", []string{x})
				x = b.Node("Mul", shuffled(r, x, s))
			case 12:
				gate := b.Node("Sigmoid", []string{b.Node("GlobalAveragePool", []string{x})})
				x = b.Node("Mul", shuffled(r, x, gate))
			case 13:
				shape := [][]int{{c, 1, 1}, {1, c, 1, 1}, {1}, {}, {w}, {h, 1}, {1, 1, h, w}}[r.IntN(7)]
				x = b.Node([]string{"Add", "Mul", "PRelu"}[r.IntN(3)], []string{x, weight(shape...)})
			case 14:
				x = b.Node("Add", []string{b.Node("Conv", []string{x, weight(c, c, 1, 1)}), b.Node("Conv", []string{pick(), weight(c, c, 1, 1)})})
			case 15, 16:
				amounts, window, in := []int64{0, 0, 1, 0, 0, 0, 1, 2}, []int64{0, 0, 0, 0}, []tensor.Any(nil)
				switch r.IntN(6) {
				case 0: // too much, which the Conv's own padding can't take back
					amounts[3], amounts[7] = 3, -1
				case 1: // of the channels
					amounts[1], amounts[5] = 1, -1
				case 2:
					in = append(in, tensor.Scalar(float32(math.Copysign(0.5*float64(r.IntN(2)), -1))).Any())
				case 3:
					in = append(in, tensor.Scalar[float32](0).Any())
					amounts, window = []int64{0, 0, 0, 0, 0, 0, 1, 0}, []int64{1, 0, 0, 2}
				}
				list := []string{x, b.Weight(b.fresh("amounts"), tensor.FromSlice(amounts, 8).Any())}
				for _, v := range in {
					list = append(list, b.Weight(b.fresh("v"), v))
				}
				mode := []string{"constant", "constant", "constant", "edge"}[r.IntN(4)]
				x = b.Node("Pad", list, StringAttr("mode", mode))
				x = b.Node("Conv", []string{x, weight(c, c, 3, 3)}, IntsAttr("pads", window...))
			default:
				yes := b.Node("Greater", []string{b.Node("ReduceSum", []string{x}, IntAttr("keepdims", 0)), scalar(0)})
				v := x
				x = choose(b, yes, func(b *Builder) string {
					return b.Node("Relu", []string{b.Node("Conv", []string{v, b.Weight("inner", noise(r, c, c, 1, 1))})})
				}, func(b *Builder) string { return b.Node("Neg", []string{v}) })
			}
			values = append(values, x)
		}
		for k, v := range slices.Compact([]string{values[len(values)/2], values[len(values)-1]}) {
			b.OutputOf(b.Rename(b.Node("Identity", []string{v}), fmt.Sprint("y", k)), Type{})
		}
	}
}

// matrices builds a random graph of products and of operators that may be part of them.
func matrices(r *rand.Rand, batch int) func(b *Builder) {
	return func(b *Builder) {
		const heads, rows, n = 2, 5, 6
		weight := func(shape ...int) string { return b.Weight(b.fresh("w"), noise(r, shape...)) }
		scalar := func(v float32) string { return b.Weight(b.fresh("s"), tensor.Scalar(v).Any()) }
		first := b.Input("x", dtype.Float32, batch, heads, rows, n)
		flat := b.Node("Reshape", []string{first, b.Weight("flat", tensor.FromSlice([]int64{-1, n}, 2).Any())})
		deep, wide := []string{first}, []string{flat}
		for range 4 + r.IntN(10) {
			values, gemm := &deep, r.IntN(3) == 0
			if gemm {
				values = &wide
			}
			x := (*values)[max(0, len(*values)-1-r.IntN(2))]
			other := (*values)[r.IntN(len(*values))]
			switch r.IntN(9) {
			case 0, 1, 2:
				switch {
				case gemm:
					x = b.Node("Gemm", []string{x, weight(n, n), weight(n)}, IntAttr("transB", int64(r.IntN(2))), FloatAttr("alpha", float32(1+r.IntN(2))))
				case r.IntN(3) == 0: // to one column and back
					x = b.Node("MatMul", []string{x, weight(n, 1)})
					x = b.Node("Neg", []string{b.Node("Add", []string{x, weight(1)})})
					x = b.Node("MatMul", []string{x, weight(1, n)})
				default:
					x = b.Node("MatMul", []string{x, weight([][]int{{n, n}, {heads, n, n}}[r.IntN(2)]...)})
				}
			case 3:
				x = b.Node([]string{"Relu", "Erf", "Tanh", "Neg"}[r.IntN(4)], []string{x})
			case 4, 5:
				x = b.Node([]string{"Mul", "Add", "Sub", "Div"}[r.IntN(4)], shuffled(r, x, other))
			case 6:
				if gemm {
					continue
				}
				key := b.Node("Transpose", []string{other}, IntsAttr("perm", 0, 1, 3, 2))
				x = b.Node("MatMul", []string{x, key})
				if r.IntN(2) == 0 {
					x = b.Node("Add", []string{b.Node("Div", []string{x, scalar(1.5)}), weight([][]int{{rows}, {rows, rows}, {batch, 1, 1, rows}}[r.IntN(3)]...)})
				}
				x = b.Node("MatMul", []string{b.Node("Softmax", []string{x}, IntAttr("axis", []int64{-1, -1, 3, 2}[r.IntN(4)])), other})
			default:
				shape := [][]int{{n}, {1, n}, {1}, {}}[r.IntN(4)]
				if !gemm {
					shape = [][]int{{n}, {rows, 1}, {heads, 1, 1}, {batch, 1, 1, n}, {batch, 1, rows, n}, {1, heads, 1, n}, {}}[r.IntN(7)]
				}
				x = b.Node([]string{"Add", "Mul"}[r.IntN(2)], shuffled(r, x, weight(shape...)))
			}
			*values = append(*values, x)
		}
		for k, v := range []string{deep[len(deep)-1], wide[len(wide)-1]} {
			b.OutputOf(b.Rename(b.Node("Identity", []string{v}), fmt.Sprint("y", k)), Type{})
		}
	}
}

func shuffled(r *rand.Rand, list ...string) []string {
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

func noiseAbove(r *rand.Rand, n int) tensor.Any {
	a := tensor.New[float32](n)
	for i := range a.Elems() {
		a.Elems()[i] = r.Float32() + 0.1
	}
	return a.Any()
}

// Each pass keeps the bits, alone and with the others, in runs and in prepared runs, and leaves fewer steps.
func TestPasses(t *testing.T) {
	sets := []string{"none", "all"}
	for _, p := range passes {
		sets = append(sets, p.name, "-"+p.name)
	}
	steps := make(map[string]int)
	trials := 20
	if *lengthy {
		trials = 60
	}
	for trial := range trials {
		batch := 1 + trial%2
		graph, in := pictures, vals{"x": noise(rand.New(rand.NewPCG(uint64(trial), 5)), batch, 6, 5, 7)}
		if trial%4 > 1 {
			graph, in = matrices, vals{"x": noise(rand.New(rand.NewPCG(uint64(trial), 5)), batch, 2, 5, 6)}
		}
		var want vals
		for _, set := range sets {
			t.Setenv("ASHLAR_PASSES", set)
			s := session(t, graph(rand.New(rand.NewPCG(uint64(trial), 6)), batch))
			steps[set] += len(s.c.steps)
			got, err := plainly(s, context.Background(), in, Options{})
			if err != nil {
				t.Fatal(set, err)
			}
			if want == nil {
				want = got
			}
			for name, w := range want {
				if g := got[name]; tensor.Describe(g) != tensor.Describe(w) || !slices.Equal(bitsOf(g), bitsOf(w)) {
					t.Fatalf("graph %d, passes %s, output %q: got %v, want %v", trial, set, name, g, w)
				}
			}
			follows(t, fmt.Sprintf("graph %d, passes %s", trial, set), s, nil, []vals{in, in, in})
		}
	}
	for _, p := range passes {
		if p.run != nil && p.name != "trim" && (steps[p.name] >= steps["none"] || p.name != "rectify" && steps["-"+p.name] <= steps["all"]) {
			t.Errorf("pass %s leaves %d of %d steps alone, and %d are left of %d without it", p.name, steps[p.name], steps["none"], steps["all"], steps["-"+p.name])
		}
	}
}

// BatchNormalization that trains has no lines that an operator after it could take.
func TestPassesTraining(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	build := func(b *Builder) {
		x := b.Input("x", dtype.Float32, 2, 3, 4)
		v := b.Weight("v", noiseAbove(rand.New(rand.NewPCG(3, 3)), 3))
		y := b.Node("BatchNormalization", []string{x, v, v, v, v}, IntAttr("training_mode", 1))
		y = b.Node("Relu", []string{y})
		b.OutputOf(b.Rename(b.Node("Neg", []string{y}), "y"), Type{})
	}
	in := vals{"x": noise(r, 2, 3, 4)}
	var want []byte
	for _, set := range []string{"none", "all"} {
		t.Setenv("ASHLAR_PASSES", set)
		m := NewBuilder("g")
		build(m)
		model, err := m.Model(15)
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewSession(model)
		if err != nil {
			t.Fatal(err)
		}
		got, err := plainly(s, context.Background(), in, Options{})
		if err != nil {
			t.Fatal(set, err)
		}
		if want == nil {
			want = bitsOf(got["y"])
		}
		if !slices.Equal(bitsOf(got["y"]), want) {
			t.Errorf("passes %s: %v", set, got["y"])
		}
		follows(t, set, s, nil, []vals{in, in})
	}
}

// A name that there isn't is refused by one that lists those there are, before anything else.
func TestPassesNamed(t *testing.T) {
	t.Setenv("ASHLAR_PASSES", "fold,fuse")
	b := NewBuilder("g")
	network(b)
	m, err := b.Model(13)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = NewSession(m); err == nil || !strings.Contains(err.Error(), `there is no pass "fuse"; there are fold, trim, pad, swish, rectify, follow, weigh, last, join, all, none and check`) {
		t.Error(err)
	}
}

// A level of ASHLAR_CPU that there isn't is refused by an error that lists those there are. The variable is read when the program begins, so
// the test runs itself with it set.
func TestLevelNamed(t *testing.T) {
	if os.Getenv("ASHLAR_CPU") != "no" {
		self := exec.Command(os.Args[0], "-test.run=^TestLevelNamed$")
		self.Env = append(os.Environ(), "ASHLAR_CPU=no")
		out, err := self.CombinedOutput()
		var failed *exec.ExitError
		if err != nil && !errors.As(err, &failed) {
			t.Skipf("this platform starts no processes: %v", err)
		}
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	b := NewBuilder("g")
	network(b)
	m, err := b.Model(13)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = NewSession(m); err == nil || !strings.Contains(err.Error(), `ASHLAR_CPU="no": this processor and build have generic`) || !errors.Is(err, tensor.ErrValue) {
		t.Error(err)
	}
}

// A check compares each run with one without passes, and names the pass that changes an output.
func TestPassesChecked(t *testing.T) {
	t.Setenv("ASHLAR_PASSES", "check")
	in := vals{"x": noise(rand.New(rand.NewPCG(2, 5)), 1, 6, 5, 7)}
	build := pictures(rand.New(rand.NewPCG(3, 6)), 1)
	both := func(s *Session) (errs []error) {
		for range 3 {
			_, err := s.Run(context.Background(), in, nil)
			errs = append(errs, err)
		}
		st, err := s.Stream(nil)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		for range 3 {
			_, err := st.Run(context.Background(), in)
			errs = append(errs, err)
		}
		return errs
	}
	for _, err := range both(session(t, build)) {
		if err != nil {
			t.Fatal(err)
		}
	}
	defer func(old []pass) { passes = old }(passes)
	neg, _ := op.Lookup("Neg")
	passes = append(slices.Clone(passes), pass{"negate", func(c *compiled) {
		for i, o := range c.ops {
			if o != nil && o.Name() == "Identity" {
				c.ops[i] = neg
			}
		}
	}})
	for i, err := range both(session(t, build)) {
		if err == nil || !strings.Contains(err.Error(), `pass "negate" changes output "y0"`) {
			t.Errorf("run %d: %v", i, err)
		}
	}
	random := session(t, func(b *Builder) {
		b.Input("x", dtype.Float32, 1, 6, 5, 7)
		b.OutputOf(b.Rename(b.Node("Relu", []string{b.Node("RandomNormalLike", []string{"x"})}), "y"), Type{})
	})
	for i, err := range both(random) {
		if err != nil {
			t.Errorf("random numbers, run %d: %v", i, err)
		}
	}
}

// A result that nothing reads isn't asked for, but for outputs of the graph and the values that a graph inside a node reads.
func TestPassTrim(t *testing.T) {
	for _, reader := range []string{"", "output", "node", "graph"} {
		s := session(t, func(b *Builder) {
			x := b.Input("x", dtype.Float32, 1, 1, 4, 4)
			out := b.Nodes("MaxPool", 2, []string{x}, IntsAttr("kernel_shape", 2, 2))
			y := b.Nodes("Dropout", 2, []string{out[0]})
			switch reader {
			case "output":
				b.OutputOf(b.Rename(out[1], "at"), Type{})
			case "node":
				b.OutputOf(b.Rename(b.Node("Not", []string{y[1]}), "z"), Type{})
			case "graph":
				never := b.Weight("no", tensor.Scalar(false).Any())
				b.OutputOf(b.Rename(choose(b, never, func(b *Builder) string { return b.Node("Neg", []string{out[1]}) },
					func(b *Builder) string { return b.Node("Abs", []string{out[1]}) }), "z"), Type{})
			}
			b.OutputOf(b.Rename(b.Node("Neg", []string{y[0]}), "y"), Type{})
		})
		for i := range s.c.steps {
			n := s.c.steps[i].node
			want := 1
			if n.Op == "MaxPool" && (reader == "output" || reader == "graph") || n.Op == "Dropout" && reader == "node" {
				want = 2
			}
			if got := len(s.c.steps[i].out); got != want {
				t.Errorf("with %q, %s gives %d results, want %d", reader, n.Op, got, want)
			}
		}
		in := vals{"x": noise(rand.New(rand.NewPCG(3, 3)), 1, 1, 4, 4)}
		if _, err := plainly(s, context.Background(), in, Options{}); err != nil {
			t.Error(reader, err)
		}
		follows(t, reader, s, nil, []vals{in, in})
	}
}

// A Pad is part of a Conv only where its amounts are known, its value is +0, and the Conv has a padding of its own.
func TestPassPad(t *testing.T) {
	x := noise(rand.New(rand.NewPCG(7, 7)), 1, 2, 5, 6)
	amounts := tensor.FromSlice([]int64{0, 0, 1, 2, 0, 0, 0, 1}, 8).Any()
	node := func(opset int64, conv []Attribute, pad ...Attribute) func(b *Builder) (string, []Attribute, int64) {
		return func(b *Builder) (string, []Attribute, int64) {
			list := []string{b.Input("x", dtype.Float32, 1, 2, 5, 6)}
			if opset >= 11 {
				list = append(list, b.Weight("amounts", amounts))
			}
			return b.Node("Pad", list, pad...), conv, opset
		}
	}
	cases := map[string]struct {
		make  func(b *Builder) (string, []Attribute, int64)
		steps int
	}{
		"attributes": {node(9, nil, IntsAttr("pads", 0, 0, 1, 2, 0, 0, 0, 1)), 1},
		"value":      {node(9, nil, IntsAttr("pads", 0, 0, 1, 2, 0, 0, 0, 1), FloatAttr("value", 1)), 2},
		"channels":   {node(9, nil, IntsAttr("pads", 0, 1, 1, 2, 0, -1, 0, 1)), 2},
		"inputs":     {node(18, nil), 1},
		"reflect":    {node(18, nil, StringAttr("mode", "reflect")), 2},
		"valid":      {node(18, []Attribute{StringAttr("auto_pad", "VALID"), IntsAttr("pads", 9, 9, 9, 9)}), 1},
		"same":       {node(18, []Attribute{StringAttr("auto_pad", "SAME_UPPER"), IntsAttr("strides", 2, 2)}), 2},
		"default": {func(b *Builder) (string, []Attribute, int64) { // a run may give other amounts
			return b.Node("Pad", []string{b.Input("x", dtype.Float32, 1, 2, 5, 6), b.Weight(b.Input("amounts", dtype.Int64, 8), amounts)}), nil, 18
		}, 2},
		"axes": {func(b *Builder) (string, []Attribute, int64) {
			two := b.Weight("two", tensor.FromSlice([]int64{1, 0, 0, 1}, 4).Any())
			return b.Node("Pad", []string{b.Input("x", dtype.Float32, 1, 2, 5, 6), two, "", b.Weight("axes", tensor.FromSlice([]int64{2, 3}, 2).Any())}), nil, 18
		}, 2},
		"read twice": {func(b *Builder) (string, []Attribute, int64) {
			y, _, opset := node(18, nil)(b)
			b.OutputOf(b.Rename(b.Node("Neg", []string{y}), "z"), Type{})
			return y, nil, opset
		}, 3},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := NewBuilder("g")
			y, conv, opset := c.make(b)
			w := noise(rand.New(rand.NewPCG(8, 8)), 3, 2, 3, 2)
			b.OutputOf(b.Rename(b.Node("Conv", []string{y, b.Weight("w", w)}, conv...), "y"), Type{})
			m, err := b.Model(opset)
			if err != nil {
				t.Fatal(err)
			}
			var want []byte
			for _, set := range []string{"none", "pad"} {
				t.Setenv("ASHLAR_PASSES", set)
				s, err := NewSession(m)
				if err != nil {
					t.Fatal(err)
				}
				got, err := plainly(s, context.Background(), vals{"x": x}, Options{})
				if err != nil {
					t.Fatal(err)
				}
				if set == "none" {
					want = bitsOf(got["y"])
				} else if !slices.Equal(bitsOf(got["y"]), want) || len(s.c.steps) != c.steps {
					t.Errorf("%d steps, want %d; got %v", len(s.c.steps), c.steps, got["y"])
				}
			}
		})
	}
}

// Amounts whose sum with the Conv's own is no int64 stay a Pad, which refuses them.
func TestPassPadHuge(t *testing.T) {
	b := NewBuilder("g")
	y := b.Node("Pad", []string{b.Input("x", dtype.Float32, 1, 1, 2, 2)}, IntsAttr("pads", 0, 0, math.MaxInt64, 0, 0, 0, 0, 0))
	w := tensor.New[float32](1, 1, 1, 1).Any()
	b.OutputOf(b.Rename(b.Node("Conv", []string{y, b.Weight("w", w)}, IntsAttr("pads", 1, 0, 0, 0)), "y"), Type{})
	m, err := b.Model(9)
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range []string{"none", "pad"} {
		t.Setenv("ASHLAR_PASSES", set)
		s, err := NewSession(m)
		if err == nil {
			_, err = plainly(s, context.Background(), vals{"x": noise(rand.New(rand.NewPCG(1, 1)), 1, 1, 2, 2)}, Options{})
		}
		if err == nil || !strings.Contains(err.Error(), "Pad") {
			t.Errorf("passes %s: %v", set, err)
		}
	}
}

// Scores beyond the number that is made at once come in parts: of lines, of heads, of sequences, of operands that stretch, or not at all where a
// Softmax goes along another axis. A value that something else reads stays.
func TestPassWeigh(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	cases := map[string]struct {
		q, k, v []int
		mask    []int // nil: none
		axis    int64
		read    bool // something else reads the scores
		steps   int
	}{
		"lines":     {[]int{1, 1, 2100, 3}, []int{1, 1, 3, 700}, []int{1, 1, 700, 2}, []int{2100, 700}, -1, false, 1},
		"long":      {[]int{3, 2}, []int{2, 600000}, []int{600000, 2}, []int{3, 1}, -1, false, 1},
		"heads":     {[]int{2, 5, 350, 3}, []int{2, 5, 3, 351}, []int{2, 5, 351, 4}, []int{2, 1, 1, 351}, -1, false, 1},
		"sequences": {[]int{7, 2, 100, 3}, []int{7, 2, 3, 800}, []int{7, 2, 800, 1}, []int{1, 2, 100, 800}, 3, false, 1},
		"one key":   {[]int{3, 4, 300, 3}, []int{4, 3, 500}, []int{1, 500, 5}, nil, -1, false, 1},
		"few lines": {[]int{600, 3}, []int{900, 3, 2}, []int{900, 2, 2}, []int{900, 600, 1}, -1, false, 1},
		"stretched": {[]int{1, 5, 2}, []int{1, 2, 6}, []int{3, 6, 4}, []int{1, 5, 6}, -1, false, 1},
		"one row":   {[]int{4}, []int{4, 600}, []int{600, 3}, []int{600}, -1, false, 1},
		"columns":   {[]int{2, 900, 3}, []int{2, 3, 800}, []int{2, 800, 2}, []int{800}, 1, false, 1},
		"no keys":   {[]int{2, 5, 3}, []int{2, 3, 0}, []int{2, 0, 4}, nil, 1, false, 1},
		"read":      {[]int{2, 5, 3}, []int{2, 3, 6}, []int{2, 6, 4}, nil, -1, true, 4},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			build := func(b *Builder) {
				s := b.Node("MatMul", []string{b.Input("q", dtype.Float32, dims(c.q)...), b.Input("k", dtype.Float32, dims(c.k)...)})
				if c.mask != nil {
					s = b.Node("Add", []string{s, b.Input("m", dtype.Float32, dims(c.mask)...)})
				}
				if c.read {
					b.OutputOf(b.Rename(b.Node("Neg", []string{s}), "z"), Type{})
				}
				w := b.Node("Softmax", []string{s}, IntAttr("axis", c.axis))
				b.OutputOf(b.Rename(b.Node("MatMul", []string{w, b.Input("v", dtype.Float32, dims(c.v)...)}), "y"), Type{})
			}
			in := vals{"q": noise(r, c.q...), "k": noise(r, c.k...), "v": noise(r, c.v...)}
			if c.mask != nil {
				in["m"] = noise(r, c.mask...)
			}
			var want []byte
			for _, set := range []string{"none", "all"} {
				t.Setenv("ASHLAR_PASSES", set)
				s := session(t, build)
				got, err := plainly(s, context.Background(), in, Options{})
				if err != nil {
					t.Fatal(set, err)
				}
				if set == "none" {
					want = bitsOf(got["y"])
					continue
				}
				if len(s.c.steps) != c.steps {
					t.Errorf("%d steps, want %d", len(s.c.steps), c.steps)
				}
				if !slices.Equal(bitsOf(got["y"]), want) {
					t.Error("other bits than without passes")
				}
				follows(t, set, s, nil, []vals{in, in, in})
			}
		})
	}
}

func dims(shape []int) (list []any) {
	for _, e := range shape {
		list = append(list, e)
	}
	return list
}

// The gate of squeeze-and-excite is no part of the convolution of one element in each plane: the step would stretch.
func TestFollowStretches(t *testing.T) {
	for _, pool := range []string{"GlobalAveragePool", "MaxPool"} {
		s := session(t, func(b *Builder) {
			x := b.Input("x", dtype.Float32, 1, 8, 6, 6)
			attrs := []Attribute{}
			if pool == "MaxPool" {
				attrs = append(attrs, IntsAttr("kernel_shape", 1, 1))
			}
			v := b.Node(pool, []string{x}, attrs...)
			v = b.Node("Relu", []string{b.Node("Conv", []string{v, b.Weight("w", tensor.New[float32](8, 8, 1, 1).Any())})})
			v = b.Node("HardSigmoid", []string{b.Node("Conv", []string{v, b.Weight("u", tensor.New[float32](8, 8, 1, 1).Any())})})
			b.Output(b.Rename(b.Node("Mul", []string{v, x}), "y"), dtype.Float32, 1, 8, 6, 6)
		})
		steps := 3
		if pool == "GlobalAveragePool" {
			steps++
		}
		if len(s.c.steps) != steps {
			t.Errorf("%s: %d steps, want %d", pool, len(s.c.steps), steps)
		}
	}
}
