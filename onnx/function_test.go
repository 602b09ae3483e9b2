package onnx

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

// local is the domain of functions in tests.
const local = "local"

// callOf is a node that calls a function.
func callOf(name, fn string, in, out []string, attrs ...Attribute) Node {
	return Node{Name: name, Op: fn, Domain: local, Inputs: in, Outputs: out, Attributes: attrs}
}

func nodeFor(op string, in, out []string, attrs ...Attribute) Node {
	return Node{Op: op, Inputs: in, Outputs: out, Attributes: attrs}
}

// floats is the type float32[n].
func floats(n int64) Type {
	return Type{Kind: KindTensor, Elem: ElemFloat32, HasShape: true, Shape: []Dim{{Value: n}}}
}

// modelWith is a model of opset 16 from x, float32[3], to y, that defines functions.
func modelWith(nodes []Node, functions ...Function) *Model {
	for i := range functions {
		functions[i].Domain = local
		if functions[i].Opsets == nil {
			functions[i].Opsets = []Opset{{"", 16}, {local, 1}}
		}
	}
	return &Model{IR: 8, Opsets: []Opset{{"", 16}, {local, 1}}, Functions: functions, Graph: &Graph{Name: "g", Nodes: nodes,
		Inputs: []ValueInfo{{Name: "x", Type: floats(3)}}, Outputs: []ValueInfo{{Name: "y", Type: floats(3)}}}}
}

// runWith runs a model, as it is and from its file, on x = -1, 0, 2.
func runWith(t *testing.T, m *Model) ([]float32, error) {
	t.Helper()
	file, err := Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	var results [2][]float32
	var errs [2]error
	for i := range results {
		if i == 1 {
			if m, err = Decode(file); err != nil {
				t.Fatal(err)
			}
		}
		var s *Session
		if s, errs[i] = NewSession(m); errs[i] != nil {
			continue
		}
		var out map[string]tensor.Any
		out, errs[i] = s.Run(context.Background(), map[string]tensor.Any{"x": tensor.FromSlice([]float32{-1, 0, 2}).Any()}, &Options{MaxMemory: 1 << 20})
		if errs[i] == nil {
			for v := range tensor.ValuesOf[float32](out["y"]) {
				results[i] = append(results[i], v)
			}
		}
	}
	if fmt.Sprint(results[0], errs[0]) != fmt.Sprint(results[1], errs[1]) {
		t.Errorf("%v %v; from the file %v %v", results[0], errs[0], results[1], errs[1])
	}
	return results[0], errs[0]
}

var negZero = float32(math.Copysign(0, -1))

// scaleFn multiplies by an attribute, 2 unless the call says otherwise, and adds an optional second input.
var scaleFn = Function{Name: "Scale", Inputs: []string{"v", "bias"}, Outputs: []string{"out", "doubled"}, Attributes: []string{"unused"},
	Defaults: []Attribute{FloatAttr("by", 2)}, Nodes: []Node{
		nodeFor("Constant", nil, []string{"c"}, Attribute{Name: "value_float", Type: AttrFloat, Ref: "by"}),
		nodeFor("Mul", []string{"v", "c"}, []string{"out"}),
		nodeFor("Add", []string{"out", "out"}, []string{"doubled"}),
	}}

func TestFunctions(t *testing.T) {
	cond := func(name, value string) Node {
		return nodeFor("If", []string{name}, []string{value},
			Attribute{Name: "then_branch", Type: AttrGraph, Value: &Graph{Nodes: []Node{callOf("", "Scale", []string{"v"}, []string{"a"}, Attribute{Name: "by", Type: AttrFloat, Ref: "by"})}, Outputs: []ValueInfo{{Name: "a"}}}},
			Attribute{Name: "else_branch", Type: AttrGraph, Value: &Graph{Nodes: []Node{nodeFor("Neg", []string{"v"}, []string{"a"})}, Outputs: []ValueInfo{{Name: "a"}}}})
	}
	for _, c := range []struct {
		name  string
		nodes []Node
		fns   []Function
		want  []float32
	}{
		{"default", []Node{callOf("", "Scale", []string{"x"}, []string{"y"})}, []Function{scaleFn}, []float32{-2, 0, 4}},
		{"attribute", []Node{callOf("", "Scale", []string{"x"}, []string{"", "y"}, FloatAttr("by", 3))}, []Function{scaleFn}, []float32{-6, 0, 12}},
		{"twice, last node first", []Node{callOf("", "Scale", []string{"m"}, []string{"y"}), callOf("", "Scale", []string{"x"}, []string{"m"}, FloatAttr("by", 5))},
			[]Function{scaleFn}, []float32{-10, 0, 20}},
		{"nested", []Node{callOf("", "Outer", []string{"x"}, []string{"y"}, FloatAttr("by", 3))}, []Function{scaleFn,
			{Name: "Outer", Inputs: []string{"x"}, Outputs: []string{"y"}, Attributes: []string{"by"}, Nodes: []Node{
				callOf("", "Scale", []string{"x"}, []string{"z"}, Attribute{Name: "by", Type: AttrFloat, Ref: "by"}),
				callOf("", "Scale", []string{"z"}, []string{"y"})}}}, []float32{-6, 0, 12}},
		{"an attribute that nobody gives", []Node{callOf("", "F", []string{"x"}, []string{"y"})}, []Function{
			{Name: "F", Inputs: []string{"x"}, Outputs: []string{"y"}, Attributes: []string{"alpha"}, Nodes: []Node{
				nodeFor("Elu", []string{"x"}, []string{"y"}, Attribute{Name: "alpha", Type: AttrFloat, Ref: "alpha"})}}},
			[]float32{float32(-0.63212055882855767840), 0, 2}},
		{"an input handed on", []Node{callOf("", "F", []string{"x"}, []string{"y"})}, []Function{
			{Name: "F", Inputs: []string{"x"}, Outputs: []string{"x"}}}, []float32{-1, 0, 2}},
		{"one value as two outputs", []Node{callOf("", "F", []string{"x"}, []string{"a", "b"}), nodeFor("Add", []string{"a", "b"}, []string{"y"})}, []Function{
			{Name: "F", Inputs: []string{"x"}, Outputs: []string{"z", "z"}, Nodes: []Node{nodeFor("Neg", []string{"x"}, []string{"z"})}}}, []float32{2, negZero, -4}},
		{"an If inside", []Node{nodeFor("ReduceSum", []string{"x"}, []string{"s"}, IntAttr("keepdims", 0)), nodeFor("Constant", nil, []string{"zero"}, FloatAttr("value_float", 0)),
			nodeFor("Greater", []string{"s", "zero"}, []string{"c"}), callOf("", "F", []string{"c", "x"}, []string{"y"}, FloatAttr("by", 7))},
			[]Function{scaleFn, {Name: "F", Inputs: []string{"c", "v"}, Outputs: []string{"y"}, Attributes: []string{"by"}, Nodes: []Node{cond("c", "y")}}},
			[]float32{-7, 0, 14}},
		{"a call inside an If", []Node{nodeFor("Constant", nil, []string{"sh"}, IntsAttr("value_ints")), nodeFor("ConstantOfShape", []string{"sh"}, []string{"no"}), nodeFor("Cast", []string{"no"}, []string{"c"}, IntAttr("to", 9)),
			nodeFor("If", []string{"c"}, []string{"y"},
				Attribute{Name: "then_branch", Type: AttrGraph, Value: &Graph{Nodes: []Node{callOf("", "Scale", []string{"x"}, []string{"a"})}, Outputs: []ValueInfo{{Name: "a"}}}},
				Attribute{Name: "else_branch", Type: AttrGraph, Value: &Graph{Nodes: []Node{callOf("", "Scale", []string{"x"}, []string{"a"}, FloatAttr("by", -1))}, Outputs: []ValueInfo{{Name: "a"}}}})},
			[]Function{scaleFn}, []float32{1, negZero, -2}},
		{"a graph as an attribute", []Node{nodeFor("Constant", nil, []string{"one"}, FloatAttr("value_float", 1)),
			callOf("", "F", []string{"x"}, []string{"y"}, Attribute{Name: "g", Type: AttrGraph, Value: &Graph{Nodes: []Node{nodeFor("Add", []string{"x", "one"}, []string{"r"})}, Outputs: []ValueInfo{{Name: "r"}}}})},
			[]Function{{Name: "F", Inputs: []string{"a"}, Outputs: []string{"b"}, Attributes: []string{"g"}, Nodes: []Node{
				nodeFor("Constant", nil, []string{"sh"}, IntsAttr("value_ints")), nodeFor("ConstantOfShape", []string{"sh"}, []string{"no"}), nodeFor("Cast", []string{"no"}, []string{"x"}, IntAttr("to", 9)),
				nodeFor("If", []string{"x"}, []string{"b"}, Attribute{Name: "then_branch", Type: AttrGraph, Ref: "g"}, Attribute{Name: "else_branch", Type: AttrGraph, Ref: "g"})}}},
			[]float32{0, 1, 3}},
		{"an operator of the library's name", []Node{{Op: "Relu", Inputs: []string{"x"}, Outputs: []string{"y"}}}, nil, []float32{0, 0, 2}},
		{"a function's own opset", []Node{callOf("", "F", []string{"x"}, []string{"y"})}, []Function{
			{Name: "F", Inputs: []string{"x"}, Outputs: []string{"y"}, Opsets: []Opset{{"", 6}}, Nodes: []Node{
				nodeFor("Constant", nil, []string{"c"}, Attribute{Name: "value", Type: AttrTensor, Value: &TensorProto{Type: ElemFloat32, Dims: []int64{1}, Raw: []byte{0, 0, 0, 64}}}),
				nodeFor("Mul", []string{"x", "c"}, []string{"y"}, IntAttr("broadcast", 1))}}}, []float32{-2, 0, 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := runWith(t, modelWith(c.nodes, c.fns...))
			if err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("got %v, %v; want %v", got, err, c.want)
			}
		})
	}
}

// Which of the model's functions and the library's operators runs a node.
func TestFunctionShadowing(t *testing.T) {
	negate := func(domain, name, overload string) Function {
		return Function{Domain: domain, Name: name, Overload: overload, Inputs: []string{"x"}, Outputs: []string{"y"}, Opsets: []Opset{{"", 16}},
			Nodes: []Node{nodeFor("Neg", []string{"x"}, []string{"y"})}}
	}
	for _, c := range []struct {
		name string
		node Node
		fn   Function
		want string
	}{
		{"the library's", Node{Op: "Relu"}, negate("", "Relu", ""), "[0 0 2]"},
		{"the model's, there is no operator", Node{Op: "Rely"}, negate("ai.onnx", "Rely", ""), "[1 -0 -2]"},
		{"the model's, the operator is of another opset", Node{Op: "Gelu"}, negate("", "Gelu", ""), "[1 -0 -2]"},
		{"the model's, it has an overload", Node{Op: "Relu", Overload: "b"}, negate("", "Relu", "b"), "[1 -0 -2]"},
		{"no overload", Node{Op: "Relu", Overload: "c"}, negate("", "Relu", "b"), `node 0 (Relu, opset 16): the model defines no function with overload "c"`},
	} {
		c.node.Inputs, c.node.Outputs = []string{"x"}, []string{"y"}
		m := modelWith([]Node{c.node})
		m.Functions = []Function{c.fn}
		got, err := runWith(t, m)
		if text := fmt.Sprint(got); text != c.want && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, %v; want %s", c.name, got, err, c.want)
		}
	}
}

func TestFunctionErrors(t *testing.T) {
	unary := func(name string, nodes ...Node) Function {
		return Function{Name: name, Inputs: []string{"x"}, Outputs: []string{"y"}, Nodes: nodes}
	}
	xy := func(fn string) Node { return callOf("", fn, []string{"x"}, []string{"y"}) }
	for _, c := range []struct {
		name  string
		nodes []Node
		fns   []Function
		want  string
	}{
		{"recursion", []Node{xy("F")}, []Function{unary("F", xy("F"))}, `node 0 (local.F): node 0 (local.F): function "local.F" calls itself: local.F calls local.F`},
		{"mutual recursion", []Node{xy("F")}, []Function{unary("F", xy("G")), unary("G", xy("F"))}, `function "local.F" calls itself: local.F calls local.G calls local.F`},
		{"defined twice", []Node{xy("F")}, []Function{unary("F", xy("G")), unary("F", xy("G"))}, `function "local.F": the model defines it twice`},
		{"missing", []Node{xy("F")}, []Function{unary("F", nodeFor("Foo", []string{"x"}, []string{"y"}))}, `node 0 (local.F): node 0 (Foo, opset 16): ONNX has no operator of this name up to opset 28`},
		{"names of the caller", []Node{nodeFor("Neg", []string{"x"}, []string{"z"}), callOf("f1", "F", []string{"x"}, []string{"y"})}, []Function{unary("F", nodeFor("Add", []string{"x", "z"}, []string{"y"}))},
			`node 1 "f1" (local.F): node 0 (Add): input 1 "z" is given a value by no node, input or initializer`},
		{"too many inputs", []Node{callOf("", "F", []string{"x", "x"}, []string{"y"})}, []Function{unary("F", nodeFor("Neg", []string{"x"}, []string{"y"}))}, `it has 2 inputs and 1 outputs; the function has 1 and 1`},
		{"unknown attribute", []Node{callOf("", "F", []string{"x"}, []string{"y"}, IntAttr("n", 1))}, []Function{unary("F", nodeFor("Neg", []string{"x"}, []string{"y"}))}, `attribute "n": the function has none of that name`},
		{"attribute of another type", []Node{callOf("", "Scale", []string{"x"}, []string{"y"}, IntAttr("by", 1))}, []Function{scaleFn}, `node 0 (local.Scale): node 0 (Constant): attribute "value_float": it is float, but stands for "by" of the function, which is int`},
		{"no output", []Node{xy("F")}, []Function{unary("F", nodeFor("Neg", []string{"x"}, []string{"z"}))}, `output 0 "y" of the function is given a value by none of its nodes`},
		{"an output twice", []Node{xy("F")}, []Function{unary("F", nodeFor("Neg", []string{"x"}, []string{"y"}), nodeFor("Abs", []string{"x"}, []string{"y"}))}, `node 0 (local.F): node 1 (Abs): value "y" is given by node 0 (Neg) and again by node 1 (Abs)`},
		{"an input again", []Node{xy("F")}, []Function{unary("F", nodeFor("Neg", []string{"x"}, []string{"x"}))}, `value "x" is given by an input of the function and again by node 0 (Neg)`},
		{"a left out input", []Node{callOf("", "F", []string{""}, []string{"y"})}, []Function{unary("F", nodeFor("Neg", []string{"x"}, []string{"y"}))}, `node 0 (local.F): node 0 (Neg, opset 16)`},
		{"a left out input handed on", []Node{callOf("", "F", nil, []string{"y"})}, []Function{{Name: "F", Inputs: []string{"x"}, Outputs: []string{"x"}}}, `output 0 is "x" of the function, an input that the call leaves out`},
		{"a cycle", []Node{callOf("a", "F", []string{"z"}, []string{"y"}), nodeFor("Neg", []string{"y"}, []string{"z"})}, []Function{unary("F", nodeFor("Neg", []string{"x"}, []string{"y"}))},
			`node 0 "a" (local.F): node 0 (Neg): input 0 "z" comes from node 1 (Neg), which itself waits for this node: a cycle`},
		{"shapes", []Node{callOf("f1", "F", []string{"x"}, []string{"y"})}, []Function{unary("F", nodeFor("Transpose", []string{"x"}, []string{"y"}, IntsAttr("perm", 0, 1)))},
			`node 0 "f1" (local.F): node 0 (Transpose, opset 16): `},
		{"a reference outside", []Node{nodeFor("Elu", []string{"x"}, []string{"y"}, Attribute{Name: "alpha", Type: AttrFloat, Ref: "a"})}, nil, `attribute "alpha": it stands for "a" of a function, but the node is in none`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := runWith(t, modelWith(c.nodes, c.fns...)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// An operator that a function lacks is listed once, however often the function is called.
func TestFunctionsListGapsOnce(t *testing.T) {
	m := modelWith([]Node{callOf("", "F", []string{"x"}, []string{"z"}), callOf("", "F", []string{"z"}, []string{"y"})},
		Function{Name: "F", Inputs: []string{"x"}, Outputs: []string{"y"}, Nodes: []Node{nodeFor("Foo", []string{"x"}, []string{"z"}), nodeFor("Bar", []string{"z"}, []string{"y"})}})
	var u *UnsupportedError
	if err := m.Check(); !errors.As(err, &u) || len(u.List) != 2 || u.List[1].String() != "node 0 (local.F): node 1 (Bar, opset 16): ONNX has no operator of this name up to opset 28" {
		t.Errorf("got %v", err)
	}
}

// Functions that call the next one twice are refused before they take much.
func TestFunctionsDoubling(t *testing.T) {
	var fns []Function
	for i := range 40 {
		next := fmt.Sprint("F", i+1)
		fn := Function{Name: fmt.Sprint("F", i), Inputs: []string{"x"}, Outputs: []string{"y"}, Nodes: []Node{
			callOf("", next, []string{"x"}, []string{"z"}), callOf("", next, []string{"z"}, []string{"y"})}}
		if i == 39 {
			fn.Nodes = []Node{nodeFor("Neg", []string{"x"}, []string{"y"})}
		}
		fns = append(fns, fn)
	}
	before := allocated()
	err := modelWith([]Node{callOf("", "F0", []string{"x"}, []string{"y"})}, fns...).Check()
	if !errors.Is(err, tensor.ErrMemory) || !strings.Contains(err.Error(), "more than 524288 nodes, names and attributes") || len(err.Error()) > 5000 {
		t.Errorf("got %v", err)
	}
	if got := allocated() - before; got > 128<<20 {
		t.Errorf("took %d bytes", got)
	}
	runtime.GC()
	for depth, ok := range map[int]bool{12: true, 65: false} { // a chain of calls
		var fns []Function
		for i := range depth {
			n := callOf("", fmt.Sprint("F", i+1), []string{"x"}, []string{"y"})
			if i == depth-1 {
				n = nodeFor("Neg", []string{"x"}, []string{"y"})
			}
			fns = append(fns, Function{Name: fmt.Sprint("F", i), Inputs: []string{"x"}, Outputs: []string{"y"}, Nodes: []Node{n}})
		}
		if _, err := runWith(t, modelWith([]Node{callOf("", "F0", []string{"x"}, []string{"y"})}, fns...)); (err == nil) != ok {
			t.Errorf("%d functions: %v", depth, err)
		}
	}
}

// A graph of many nodes, and of many calls, is checked and run in time by their number.
func TestManyNodes(t *testing.T) {
	n := 10_000
	if *lengthy {
		n = 100_000
	}
	nodes := make([]Node, n)
	for i := range nodes {
		nodes[i] = nodeFor("Neg", []string{fmt.Sprint("v", i)}, []string{fmt.Sprint("v", i+1)})
		if i%20 == 1 {
			nodes[i].Op, nodes[i].Domain = "Minus", local
		}
	}
	nodes[0].Inputs[0], nodes[n-1].Outputs[0] = "x", "y"
	s, err := NewSession(modelWith(nodes, Function{Name: "Minus", Inputs: []string{"x"}, Outputs: []string{"y"}, Nodes: []Node{nodeFor("Neg", []string{"x"}, []string{"y"})}}))
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Run(context.Background(), map[string]tensor.Any{"x": tensor.FromSlice([]float32{-1, 0, 2}).Any()}, nil)
	if got := fmt.Sprint(out["y"]); got != "[-1.  0.  2.]" || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
}

// A Relu in a function becomes part of the Conv before it, and the plan sees the nodes of the function.
func TestFunctionsPlan(t *testing.T) {
	b := NewBuilder("g")
	x := b.Input("x", dtype.Float32, 1, 1, 4, 4)
	w := b.Weight("w", tensor.Full[float32](1, 1, 1, 3, 3).Any())
	b.g.Nodes = []Node{callOf("", "Block", []string{x, w}, []string{"y"})}
	b.OutputOf("y", Type{})
	b.used["y"] = true
	m := &Model{IR: 8, Opsets: []Opset{{"", 16}, {local, 1}}, Graph: &b.g, Functions: []Function{{Domain: local, Name: "Block", Inputs: []string{"x", "w"}, Outputs: []string{"y"},
		Opsets: []Opset{{"", 16}}, Nodes: []Node{nodeFor("Conv", []string{"x", "w"}, []string{"c"}), nodeFor("Relu", []string{"c"}, []string{"y"})}}}}
	s, err := NewSession(m)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.c.steps) != 1 {
		t.Errorf("%d steps, want the Conv with its Relu", len(s.c.steps))
	}
	p, err := s.Plan(map[string]tensor.Any{"x": tensor.Full[float32](-1, 1, 1, 4, 4).Any()})
	if err != nil || !p.Exact || p.Live != 16+612 || p.Node != "node 0 (local.Block): node 0 (Conv, opset 16)" {
		t.Errorf("plan %+v, %v", p, err)
	}
}

// Operators that consist of others.
func TestBodies(t *testing.T) {
	// Two heads of Q share the one of K and V.
	q, k, w := tensor.FromSlice([]float32{1, 0, 0, 1, 2, 0, 0, 2}, 1, 2, 2, 2), tensor.FromSlice([]float32{1, 0, 0, 1}, 1, 1, 2, 2), tensor.FromSlice([]float32{1, 2}, 1, 1, 2, 1)
	b := NewBuilder("g")
	b.Input("q", dtype.Float32, 1, 2, 2, 2)
	b.Input("k", dtype.Float32, 1, 1, 2, 2)
	b.Input("v", dtype.Float32, 1, 1, 2, 1)
	two := b.Weight("two", tensor.Scalar[float32](2).Any())
	double := b.Body("double")
	double.OutputOf(double.Node("Mul", []string{double.InputOf("s", Type{}), two}), Type{})
	b.Rename(b.Node("FlexAttention", []string{"q", "k", "v"}, FloatAttr("scale", 1), GraphAttr("score_mod", double)), "y")
	b.g.Nodes[0].Domain = preview
	b.OutputOf("y", Type{})
	m, err := b.Model(26)
	if err != nil {
		t.Fatal(err)
	}
	m.Opsets = append(m.Opsets, Opset{preview, 1})
	s, err := NewSession(m)
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Run(context.Background(), map[string]tensor.Any{"q": q.Any(), "k": k.Any(), "v": w.Any()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for v := range tensor.ValuesOf[float32](out["y"]) {
		p := 1 / (1 + math.Exp([]float64{-2, 2, -4, 4}[i])) // of the first row of V
		if want := p + 2*(1-p); math.Abs(float64(v)-want) > 1e-6 {
			t.Errorf("element %d is %v, want %v", i, v, want)
		}
		i++
	}
	p, err := s.Plan(map[string]tensor.Any{"q": q.Any(), "k": k.Any(), "v": w.Any()})
	if err != nil || !p.Exact {
		t.Errorf("plan %+v, %v", p, err)
	}
}
