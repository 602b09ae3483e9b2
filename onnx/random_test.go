package onnx

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/internal/ended"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/op/all"
	"github.com/ashlar-go/ashlar/tensor"
)

var models = flag.Int("models", 0, "how many random models to run, instead of two for each operator")

// randomModel is a model of one to three operators, the first of which is given, on whatever comes.
func randomModel(seed uint64, first *op.Op) *Model {
	r := rand.New(rand.NewPCG(seed, 1))
	g := &Graph{Name: "random"}
	opsets := []int64{1, 6, 7, 9, 10, 11, 12, 13, 14, 16, 17, 18, 19, 20, 21, 22, 23, 25, 27}
	ops := all.Operators()
	var values []string
	main := elemTypes[r.IntN(len(elemTypes))]
	for i := range 1 + r.IntN(3) {
		o := first
		if i > 0 {
			o = ops[r.IntN(len(ops))]
		}
		n := Node{Op: o.Name()}
		names := o.Attributes()
		if i > 0 && r.IntN(3) == 0 {
			f := valueOps[keyOf("", simpleOps[r.IntN(len(simpleOps))], "")]
			n.Op, names = f.name, f.attrs
		}
		for j := range 1 + r.IntN(2) + r.IntN(2)*r.IntN(3) {
			switch k := r.IntN(10); {
			case k == 0 && j > 0:
				n.Inputs = append(n.Inputs, "")
			case k <= 4 && len(values) > 0:
				n.Inputs = append(n.Inputs, values[r.IntN(len(values))])
			default:
				name := fmt.Sprintf("v%d_%d", i, j)
				t := randomTensor(r, name, j, main)
				if k < 7 {
					g.Initializers = append(g.Initializers, t)
				} else {
					v := ValueInfo{Name: name, Type: Type{Kind: KindTensor, Elem: t.Type, HasShape: true}}
					for _, d := range t.Dims {
						v.Type.Shape = append(v.Type.Shape, Dim{Value: d})
					}
					g.Inputs = append(g.Inputs, v)
				}
				values = append(values, name)
				n.Inputs = append(n.Inputs, name)
			}
		}
		for j := range 1 + r.IntN(2)*r.IntN(3) {
			name := fmt.Sprintf("y%d_%d", i, j)
			n.Outputs = append(n.Outputs, name)
			values = append(values, name)
			g.Outputs = append(g.Outputs, ValueInfo{Name: name})
		}
		for _, name := range names {
			if r.IntN(4) == 0 {
				n.Attributes = append(n.Attributes, randomAttr(r, name))
			}
		}
		g.Nodes = append(g.Nodes, wrapped(r, n))
	}
	return &Model{IR: 8, Opsets: []Opset{{"", opsets[r.IntN(len(opsets))]}}, Graph: g}
}

var simpleOps = []string{"SequenceEmpty", "SequenceConstruct", "SequenceInsert", "SequenceErase", "SequenceAt", "SequenceLength", "SplitToSequence",
	"ConcatFromSequence", "Optional", "OptionalHasElement", "OptionalGetElement"}

// wrapped is a node, or one that has it in a graph inside.
func wrapped(r *rand.Rand, n Node) Node {
	inner := &Graph{Nodes: []Node{n}}
	add := func(name string) { inner.Outputs = append(inner.Outputs, ValueInfo{Name: name}) }
	body := func(name string) Attribute { return Attribute{Name: name, Type: AttrGraph, Value: inner} }
	out := Node{Outputs: n.Outputs}
	switch r.IntN(8) {
	case 0:
		out.Op, out.Attributes = "If", []Attribute{body("then_branch"), body("else_branch")}
		out.Inputs = []string{n.Inputs[0]}
	case 1:
		out.Op, out.Attributes = "Loop", []Attribute{body("body")}
		out.Inputs = []string{n.Inputs[len(n.Inputs)-1]}
		inner.Inputs = []ValueInfo{{Name: "i"}, {Name: "going"}}
		add("going")
	case 2:
		out.Op, out.Attributes = "Scan", []Attribute{body("body"), IntAttr("num_scan_inputs", 1)}
		inner.Inputs = []ValueInfo{{Name: n.Inputs[0]}}
		out.Inputs = []string{n.Inputs[0]}
	case 3:
		out.Op, out.Attributes = "SequenceMap", []Attribute{body("body")}
		inner.Inputs = []ValueInfo{{Name: n.Inputs[0]}}
		out.Inputs = []string{n.Inputs[0]}
	default:
		return n
	}
	for _, name := range n.Outputs {
		add(name)
	}
	if out.Op == "Loop" && r.IntN(2) == 0 { // carry the first result
		out.Inputs = append(out.Inputs, "", n.Inputs[0])
		inner.Inputs = append(inner.Inputs, ValueInfo{Name: n.Inputs[0]})
	}
	return out
}

// randomInt is a small number most often, else one that is too large for something.
func randomInt(r *rand.Rand) int64 {
	if r.IntN(8) == 0 {
		wild := []int64{64, 8400, 1 << 20, 1 << 31, 1 << 36, 1 << 45, 1 << 61, math.MaxInt64, math.MinInt64, -1 << 40}
		return wild[r.IntN(len(wild))]
	}
	return int64(r.IntN(8)) - 2
}

var elemTypes = []ElemType{ElemFloat32, ElemFloat32, ElemFloat32, ElemInt64, ElemInt64, ElemInt32, ElemBool, ElemUint8, ElemInt8, ElemFloat64, ElemFloat16, ElemBFloat16, ElemComplex64}

// randomTensor is one without elements, with other extents of any size, or a small one. Operands but the first are often
// lists of integers.
func randomTensor(r *rand.Rand, name string, operand int, main ElemType) TensorProto {
	t := TensorProto{Name: name, Type: main}
	if r.IntN(5) == 0 {
		t.Type = elemTypes[r.IntN(len(elemTypes))]
	}
	rank := r.IntN(6)
	if operand > 0 && r.IntN(2) == 0 {
		t.Type, rank = ElemInt64, r.IntN(2)
	}
	for range rank {
		t.Dims = append(t.Dims, int64(1+r.IntN(4)))
	}
	if rank > 0 && r.IntN(3) == 0 {
		for i := range t.Dims {
			if r.IntN(2) == 0 {
				t.Dims[i] = max(0, randomInt(r))
				if large := []int64{8400, 1 << 20, 1 << 30, 1 << 45}; r.IntN(2) == 0 {
					t.Dims[i] = large[r.IntN(len(large))]
				}
			}
		}
		t.Dims[r.IntN(rank)] = 0
	}
	n, err := t.Len()
	if err != nil {
		t.Dims, n = []int64{0}, 0
	}
	d, _ := t.Type.DType()
	t.Raw = make([]byte, n*d.Size())
	for i := range n {
		at := t.Raw[i*d.Size():]
		switch v := randomInt(r); {
		case t.Type == ElemBool:
			at[0] = byte(v & 1)
		case t.Type == ElemFloat32:
			binary.LittleEndian.PutUint32(at, math.Float32bits(float32(v)))
		case d.Size() == 8:
			binary.LittleEndian.PutUint64(at, uint64(v))
		default:
			at[0] = byte(v)
		}
	}
	return t
}

// randomAttr has most often the kind that an attribute of this name has in ONNX.
func randomAttr(r *rand.Rand, name string) Attribute {
	list := strings.HasSuffix(name, "s") || slices.Contains([]string{"perm", "kernel_shape", "output_shape", "shape", "output_padding", "split"}, name)
	kind := r.IntN(12)
	switch {
	case kind == 0:
		return FloatAttr(name, float32(randomInt(r)))
	case kind == 1 || name == "mode" || name == "equation" || name == "auto_pad":
		texts := []string{"", "linear", "cubic", "nearest", "ij->ji", "ab,bc->ac", "i,j->", "SAME_UPPER", "VALID", "constant", "reflect", "wrap"}
		return StringAttr(name, texts[r.IntN(len(texts))])
	case kind == 2 || name == "value":
		t := randomTensor(r, "", 0, ElemFloat32)
		return Attribute{Name: name, Type: AttrTensor, Value: &t}
	case list == (kind < 11):
		v := make([]int64, r.IntN(6))
		for i := range v {
			v[i] = randomInt(r)
		}
		return IntsAttr(name, v...)
	}
	return IntAttr(name, randomInt(r))
}

// runRandom takes a model from its file to its results. Nothing panics, works on without end, or takes more memory than it may.
// It reports whether the model ran to its end.
func runRandom(t *testing.T, seed uint64, first *op.Op) (ran bool) {
	m := randomModel(seed, first)
	step := "Encode"
	what := func() string {
		var ops []string
		for _, n := range m.Graph.Nodes {
			ops = append(ops, n.Op)
		}
		return fmt.Sprintf("model %d (%s), %s", seed, strings.Join(ops, ", "), step)
	}
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s: %v\n%s", what(), r, debug.Stack())
		}
	}()
	before := allocated()
	within := func(bytes int) {
		if got := allocated() - before; got > uint64(bytes) {
			t.Errorf("%s: %d bytes allocated", what(), got)
		}
	}
	file, err := Encode(m)
	if err != nil {
		t.Fatalf("%s: %v", what(), err)
	}
	bound := 64<<20 + 8*len(file)
	step = "Decode"
	if m, err = Decode(file); err != nil {
		t.Fatalf("%s: %v", what(), err)
	}
	step = "Check"
	if err := m.Check(); err != nil {
		within(bound)
		return false
	}
	step = "NewSession"
	s, err := NewSession(m)
	within(bound)
	if err != nil {
		return false
	}
	step = "Plan"
	inputs := make(map[string]tensor.Any)
	for _, v := range m.Inputs() {
		shape := make([]int, len(v.Type.Shape))
		for i, d := range v.Type.Shape {
			shape[i] = int(d.Value)
		}
		d, _ := v.Type.Elem.DType()
		if inputs[v.Name], err = tensor.Make(d, shape...); err != nil {
			return false
		}
	}
	_, err = s.Plan(inputs)
	within(bound)
	if err != nil {
		return false
	}
	step = "Run"
	_, err = s.RunValues(ended.After(20_000), valuesOf(inputs), &Options{MaxMemory: 8 << 20, MaxIterations: 100})
	within(bound + 128<<20)
	return err == nil
}

// TestRandomModels runs models of random operators; each operator is the first of as many as any other.
func TestRandomModels(t *testing.T) {
	ops := all.Operators()
	n := max(*models, 2*len(ops))
	tried, ran, total := make(map[string]int), make(map[string]int), 0
	for i := range n {
		o := ops[i%len(ops)]
		tried[o.Name()]++
		if runRandom(t, uint64(i), o) {
			ran[o.Name()]++
			total++
		}
	}
	t.Logf("%d of %d models ran to their end, with %d of %d operators first", total, n, len(ran), len(ops))
	for _, o := range ops {
		if tried[o.Name()] == 0 {
			t.Errorf("no model has %s", o.Name())
		}
	}
}

// FuzzOperators looks for models of random operators that panic, last or take memory.
func FuzzOperators(f *testing.F) {
	for i := range uint64(8) {
		f.Add(i, uint16(i))
	}
	ops := all.Operators()
	f.Fuzz(func(t *testing.T, seed uint64, first uint16) { runRandom(t, seed, ops[int(first)%len(ops)]) })
}

// oneNode is the file of a model of one node on initializers.
func oneNode(t *testing.T, opset int64, n Node, weights ...TensorProto) []byte {
	for i := range weights {
		weights[i].Name = fmt.Sprint("w", i)
		n.Inputs = append(n.Inputs, weights[i].Name)
	}
	n.Outputs = []string{"y"}
	file, err := Encode(&Model{IR: 8, Opsets: []Opset{{"", opset}}, Graph: &Graph{Nodes: []Node{n}, Initializers: weights, Outputs: []ValueInfo{{Name: "y"}}}})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func int64s(t *testing.T, shape []int, v ...int64) TensorProto {
	p, err := NewTensorProto("", tensor.FromSlice(v, shape...).Any())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestCheckRunsNothingLarge checks small files whose results would be large.
func TestCheckRunsNothingLarge(t *testing.T) {
	const many = 400_000_000
	scalar := func(v int64) TensorProto { return int64s(t, nil, v) }
	empty := TensorProto{Type: ElemFloat32, Dims: []int64{1 << 45, 0}, Raw: []byte{}}
	for name, file := range map[string][]byte{
		"Range":    oneNode(t, 13, Node{Op: "Range"}, scalar(0), scalar(many), scalar(1)),
		"Hann":     oneNode(t, 17, Node{Op: "HannWindow"}, scalar(many)),
		"Expand":   oneNode(t, 13, Node{Op: "Expand"}, scalar(1), int64s(t, []int{1}, many)),
		"Unique":   oneNode(t, 11, Node{Op: "Unique", Attributes: []Attribute{IntAttr("axis", 0)}}, empty),
		"CumSum":   oneNode(t, 14, Node{Op: "CumSum"}, empty, scalar(0)),
		"Tile":     oneNode(t, 13, Node{Op: "Tile"}, empty, int64s(t, []int{2}, 2, 0)),
		"EyeLike":  oneNode(t, 9, Node{Op: "EyeLike"}, empty),
		"Compress": oneNode(t, 11, Node{Op: "Compress", Attributes: []Attribute{IntAttr("axis", 0)}}, empty, TensorProto{Type: ElemBool, Dims: []int64{1}, Raw: []byte{1}}),
	} {
		before := allocated()
		m, err := Decode(file)
		if err != nil {
			t.Fatal(err)
		}
		_ = m.Check()
		s, err := NewSession(m)
		if err == nil && name == "Range" {
			_, err = s.Run(context.Background(), nil, &Options{MaxMemory: 1 << 20})
			if err == nil || !strings.Contains(err.Error(), "limit") {
				t.Errorf("Range: %v", err)
			}
		}
		if got := allocated() - before; got > 4<<20 {
			t.Errorf("%s: %d bytes", name, got)
		}
	}
}

// TestRankIsBounded has tensors of 65 axes from every place.
func TestRankIsBounded(t *testing.T) {
	ones := func(n int) []int64 { return slices.Repeat([]int64{1}, n) }
	long := TensorProto{Type: ElemInt64, Dims: ones(65), Raw: make([]byte, 8)}
	one := TensorProto{Type: ElemInt64, Dims: ones(1), Raw: make([]byte, 8)}
	for name, file := range map[string][]byte{
		"weight":    oneNode(t, 13, Node{Op: "Abs"}, long),
		"Reshape":   oneNode(t, 13, Node{Op: "Reshape"}, one, int64s(t, []int{65}, ones(65)...)),
		"Unsqueeze": oneNode(t, 11, Node{Op: "Unsqueeze", Attributes: []Attribute{IntsAttr("axes", make([]int64, 1_000_000)...)}}, one),
		"axes":      oneNode(t, 13, Node{Op: "Unsqueeze"}, one, int64s(t, []int{100_000}, make([]int64, 100_000)...)),
		"of shape":  oneNode(t, 13, Node{Op: "ConstantOfShape"}, int64s(t, []int{65}, ones(65)...)),
	} {
		m, err := Decode(file)
		if err == nil {
			err = m.Check()
		}
		if err == nil {
			var s *Session
			if s, err = NewSession(m); err == nil {
				_, err = s.Run(context.Background(), nil, nil)
			}
		}
		if err == nil || len(err.Error()) > 500 || !strings.Contains(err.Error(), "64") {
			t.Errorf("%s: %.300v", name, err)
		}
	}
	info := ValueInfo{Name: "x", Type: Type{Kind: KindTensor, Elem: ElemFloat32, HasShape: true, Shape: make([]Dim, 65)}}
	m := &Model{Opsets: []Opset{{"", 13}}, Graph: &Graph{Inputs: []ValueInfo{info}, Outputs: []ValueInfo{{Name: "x"}}}}
	if err := m.Check(); err == nil || !strings.Contains(err.Error(), `input "x": `) {
		t.Errorf("an input: %v", err)
	}
	if _, err := m.Tensor(&TensorProto{Type: ElemInt64, Dims: ones(65), Raw: make([]byte, 8)}); err == nil {
		t.Error("a tensor of rank 65")
	}
}
