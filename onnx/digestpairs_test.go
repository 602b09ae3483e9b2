package onnx

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/receipt"
	"github.com/ashlar-go/ashlar/tensor"
)

// variedModel has an attribute of each kind that operators read, a branch, a loop, functions with references and defaults, a state and a
// sparse weight.
func variedModel() *Model {
	vector := Type{Kind: KindTensor, Elem: ElemFloat32, HasShape: true, Shape: []Dim{{Value: -1, Param: "n"}, {Value: 2}}}
	state := Type{Kind: KindTensor, Elem: ElemFloat32, HasShape: true, Shape: []Dim{{Value: -1, Param: "n"}, {Value: 2}}}
	branch := func(op string) *Graph {
		return &Graph{Nodes: []Node{{Op: op, Inputs: []string{"t"}, Outputs: []string{"m" + op}}}, Outputs: []ValueInfo{{Name: "m" + op}}}
	}
	body := &Graph{Inputs: []ValueInfo{{Name: "i"}, {Name: "going"}, {Name: "v"}}, Outputs: []ValueInfo{{Name: "going"}, {Name: "w"}},
		Nodes: []Node{{Op: "Add", Inputs: []string{"v", "step"}, Outputs: []string{"w"}}}, Initializers: []TensorProto{floatsOf("step", 3)}}
	two := int64sOf("two", 2)
	return &Model{IR: 10, Producer: "p", Opsets: []Opset{{"", 18}, {"own", 1}},
		Functions: []Function{
			{Domain: "own", Name: "F", Inputs: []string{"a"}, Outputs: []string{"b"}, Attributes: []string{"slope"}, Defaults: []Attribute{FloatAttr("more", 0.25)}, Opsets: []Opset{{"", 18}},
				Nodes: []Node{
					{Op: "LeakyRelu", Inputs: []string{"a"}, Outputs: []string{"mid"}, Attributes: []Attribute{{Name: "alpha", Type: AttrFloat, Ref: "slope"}}},
					{Op: "LeakyRelu", Inputs: []string{"mid"}, Outputs: []string{"b"}, Attributes: []Attribute{{Name: "alpha", Type: AttrFloat, Ref: "more"}}}}}},
		Graph: &Graph{Name: "g", Inputs: []ValueInfo{{Name: "x", Type: vector}, {Name: "s", Type: state}, {Name: "c", Type: Type{Kind: KindTensor, Elem: ElemBool, HasShape: true}}},
			Outputs:      []ValueInfo{{Name: "y"}, {Name: "z"}},
			Values:       []ValueInfo{{Name: "t", Type: vector}},
			Initializers: []TensorProto{floatsOf("bias", 1, -2), two},
			Sparse:       []SparseTensor{{floatsOf("sparse", 5), int64sOf("", 1), []int64{2}}},
			Nodes: []Node{
				{Name: "turn", Op: "Transpose", Inputs: []string{"x"}, Outputs: []string{"xt"}, Attributes: []Attribute{IntsAttr("perm", 1, 0)}},
				{Op: "Transpose", Inputs: []string{"xt"}, Outputs: []string{"t"}},
				{Op: "If", Inputs: []string{"c"}, Outputs: []string{"u"}, Attributes: []Attribute{{Name: "then_branch", Type: AttrGraph, Value: branch("Neg")}, {Name: "else_branch", Type: AttrGraph, Value: branch("Exp")}}},
				{Op: "F", Domain: "own", Inputs: []string{"u"}, Outputs: []string{"f"}, Attributes: []Attribute{FloatAttr("slope", 0.5)}},
				{Op: "Add", Inputs: []string{"f", "sparse"}, Outputs: []string{"g"}},
				{Op: "Loop", Inputs: []string{"two", "", "g"}, Outputs: []string{"l"}, Attributes: []Attribute{{Name: "body", Type: AttrGraph, Value: body}}},
				{Op: "Constant", Outputs: []string{"k"}, Attributes: []Attribute{{Name: "value_floats", Type: AttrFloats, Value: []float32{1, 7}}}},
				{Op: "Add", Inputs: []string{"l", "k"}, Outputs: []string{"o"}},
				{Op: "TopK", Inputs: []string{"o", "two"}, Outputs: []string{"y", "at"}, Attributes: []Attribute{IntAttr("axis", 1), IntAttr("largest", 0)}},
				{Op: "Add", Inputs: []string{"o", "s"}, Outputs: []string{"z"}}}}}
}

func floatsOf(name string, v ...float32) TensorProto {
	t, _ := NewTensorProto(name, tensor.FromSlice(v, len(v)).Any())
	return t
}

func int64sOf(name string, v ...int64) TensorProto {
	t, _ := NewTensorProto(name, tensor.FromSlice(v, len(v)).Any())
	return t
}

// Changes calls try after each change of one place inside v, and undoes the change. Of long lists it takes some entries.
func Changes(v reflect.Value, where string, try func(where string)) {
	set := func(how string, to reflect.Value) {
		old := reflect.New(v.Type()).Elem()
		old.Set(v)
		v.Set(to)
		try(where + how)
		v.Set(old)
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				Changes(v.Field(i), where+"."+f.Name, try)
			}
		}
	case reflect.Pointer:
		if !v.IsNil() && v.Type().Elem().Kind() == reflect.Struct {
			Changes(v.Elem(), where, try)
		}
	case reflect.Interface:
		for _, to := range []any{float32(0.125), int64(1), "q", []int64{0, 1}, []int64{1, 0}, []float32{2, 3}, []string{"q"}} {
			if v.Type().NumMethod() == 0 {
				set(fmt.Sprintf(" = %T %v", to, to), reflect.ValueOf(to))
			}
		}
		if !v.IsNil() && v.Elem().Kind() == reflect.Pointer {
			Changes(v.Elem(), where, try)
		}
	case reflect.Slice:
		for i := 0; i < v.Len(); i += 1 + v.Len()/256 {
			set(fmt.Sprintf(" without %d", i), reflect.AppendSlice(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, 0), v.Slice(0, i)), v.Slice(i+1, v.Len())))
			set(fmt.Sprintf(" with %d twice", i), reflect.Append(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, 0), v), v.Index(i)))
			if i > 0 {
				swapped := reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, 0), v)
				swapped.Index(0).Set(v.Index(i))
				swapped.Index(i).Set(v.Index(0))
				set(fmt.Sprintf(" with %d first", i), swapped)
			}
			Changes(v.Index(i), fmt.Sprintf("%s[%d]", where, i), try)
		}
		set(" with a zero", reflect.Append(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, 0), v), reflect.Zero(v.Type().Elem())))
	case reflect.String:
		for _, s := range []string{"", "q", "x", "slope", "more", "ai.onnx", "n", v.String() + "q"} {
			set(fmt.Sprintf(" = %q", s), reflect.ValueOf(s).Convert(v.Type()))
		}
	case reflect.Bool:
		set(" is another", reflect.ValueOf(!v.Bool()))
	case reflect.Float32:
		set(" = 9", reflect.ValueOf(float32(9)))
	case reflect.Int, reflect.Int32, reflect.Int64:
		for _, n := range []int64{-1, 0, 1, 2, v.Int() + 1} {
			set(fmt.Sprintf(" = %d", n), reflect.ValueOf(n).Convert(v.Type()))
		}
	case reflect.Uint8:
		for _, bit := range []uint64{1, 0x40} {
			set(fmt.Sprintf(" with bit %d", bit), reflect.ValueOf(uint8(v.Uint()^bit)).Convert(v.Type()))
		}
	}
}

// ran returns the digests of the outputs of a run, and of the run of a Stream whose state begins by itself; "" if one is refused.
func ran(m *Model) string {
	in := map[string]tensor.Any{"x": tensor.FromSlice([]float32{1, -2, 3, 4}, 2, 2).Any(), "s": tensor.New[float32](2, 2).Any(), "c": tensor.Scalar(true).Any()}
	s, err := NewSession(m)
	if err != nil {
		return ""
	}
	out, err := s.RunValues(context.Background(), valuesOf(in), &Options{MaxIterations: 100})
	if err != nil {
		return ""
	}
	text := ""
	add := func(name string, v Value) {
		d, _ := v.Digest()
		text += fmt.Sprintf("%s %v %x\n", name, v, d[:4])
	}
	for i := range m.Graph.Outputs {
		add(m.Graph.Outputs[i].Name, out[m.Graph.Outputs[i].Name])
	}
	st, err := s.Stream(&StreamOptions{State: map[string]string{"z": "s"}, Options: Options{MaxIterations: 100}})
	if err != nil {
		return ""
	}
	defer st.Close()
	delete(in, "s")
	for range 2 {
		if out, err := st.Run(context.Background(), in); err == nil {
			add("z", TensorValue(out["z"]))
		}
	}
	return text
}

// Models that differ in one place and have one digest give the same results, or one of them is refused.
func TestOneDigestOneRun(t *testing.T) {
	all, same := 0, 0
	pairs := func(m *Model, part any, where string) {
		base, err := m.Digests()
		if err != nil {
			t.Fatal(err)
		}
		want := ran(m)
		Changes(reflect.ValueOf(part), where, func(where string) {
			all++
			p, err := m.Digests()
			if err != nil || p.Digest() != base.Digest() {
				return
			}
			same++
			if got := ran(m); got != "" && want != "" && got != want {
				t.Errorf("%s: the digest is the same, the results are\n%sand were\n%s", where, got, want)
			}
		})
	}
	m := variedModel()
	if ran(m) == "" {
		t.Fatal("the model doesn't run")
	}
	pairs(m, m, "model")
	if all < 1500 || same < 200 {
		t.Errorf("%d models, %d of them with the digest of the first", all, same)
	}
	t.Logf("%d models, %d of them with the digest of the first", all, same)
	// What no file says, but a program: an attribute with a value and a reference, and a dimension with a number and a name.
	for i := range m.Graph.Nodes {
		for j := range m.Graph.Nodes[i].Attributes {
			a := &m.Graph.Nodes[i].Attributes[j]
			a.Ref = "slope"
			pairs(m, a, fmt.Sprintf("node %d: attribute %q", i, a.Name))
			if a.Ref = ""; ran(m) == "" {
				t.Error("the model doesn't run any more")
			}
		}
	}
	m.Functions[0].Nodes[0].Attributes[0].Value = float32(1)
	pairs(m, &m.Functions[0].Nodes[0].Attributes[0], "an attribute of a function")
	m = variedModel()
	m.Functions[0].Defaults[0].Ref = "q"
	pairs(m, &m.Functions[0].Defaults[0], "a default")
	m = variedModel()
	m.Graph.Inputs[0].Type.Shape[1].Param, m.Graph.Inputs[1].Type.Shape[1] = "m", Dim{Value: -1, Param: "m"}
	pairs(m, &m.Graph.Inputs[0], "a dimension")
}

// A receipt that leaves something out of a node, or says two things of it, isn't verified, though its roots are right.
func TestVerifyNodeForged(t *testing.T) {
	m := variedModel()
	vals := map[string]Value{"x": TensorValue(tensor.FromSlice([]float32{1, -2, 3, 4}, 2, 2).Any()), "s": TensorValue(tensor.New[float32](2, 2).Any()), "c": TensorValue(tensor.Scalar(true).Any())}
	r := receiptOf(t, m, vals, Options{ReceiptNodes: true})
	s, err := m.session(form{whole: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.RunValues(context.Background(), vals, &Options{Observe: func(r *NodeRun) {
		for i, v := range r.Values {
			if name := r.Names[i]; r.Depth == 0 && name != "" {
				vals[name] = TensorValue(v.Tensor().Clone())
			}
		}
	}}); err != nil {
		t.Fatal(err)
	}
	verify := func(r *receipt.Receipt, node string) (*Mismatch, error) {
		again, err := receipt.Parse(encodedReceipt(t, r))
		if err != nil {
			t.Fatal(err)
		}
		o := &Options{Observe: func(*NodeRun) {}, ReceiptNodes: true, Receipt: new(receipt.Receipt), Threads: 1}
		was := *o
		d, err := VerifyNode(context.Background(), m, again, node, vals, o)
		if o.Observe == nil || o.Receipt != was.Receipt || !o.ReceiptNodes {
			t.Error("VerifyNode changes the options of its caller")
		}
		return d, err
	}
	at := func(name string) int {
		return slices.IndexFunc(r.Nodes, func(n receipt.Node) bool { return len(n.Results) > 0 && n.Results[0].Name == name })
	}
	for _, name := range []string{"xt", "t", "u", "g", "l", "o", "y", "z"} {
		at := at(name)
		if d, err := verify(r, name); d != nil || err != nil {
			t.Fatalf("%s: %v, %v", name, d, err)
		}
		forge := func(what string, change func(f *receipt.Receipt, n *receipt.Node)) {
			f := *r
			f.Nodes, f.Inputs, f.Outputs = slices.Clone(r.Nodes), slices.Clone(r.Inputs), slices.Clone(r.Outputs)
			n := &f.Nodes[at]
			n.Results = slices.Clone(n.Results)
			change(&f, n)
			if d, err := verify(&f, name); d == nil && err == nil {
				t.Errorf("%s: %s: verified", name, what)
			}
		}
		wrong := func(item receipt.Item) receipt.Item { item.Digest[3] ^= 1; return item }
		forge("no results", func(_ *receipt.Receipt, n *receipt.Node) { n.Results = nil })
		for i := range r.Nodes[at].Results {
			forge("a result less", func(_ *receipt.Receipt, n *receipt.Node) { n.Results = slices.Delete(n.Results, i, i+1) })
			forge("another digest", func(_ *receipt.Receipt, n *receipt.Node) { n.Results[i] = wrong(n.Results[i]) })
			forge("another name", func(_ *receipt.Receipt, n *receipt.Node) { n.Results[i].Name = "x" })
			forge("a result twice", func(_ *receipt.Receipt, n *receipt.Node) { n.Results = append(n.Results, wrong(n.Results[i])) })
		}
		forge("the node twice", func(f *receipt.Receipt, n *receipt.Node) {
			f.Nodes = append(f.Nodes, receipt.Node{Node: n.Node, Results: []receipt.Item{wrong(n.Results[0])}})
		})
		for i, item := range r.Outputs {
			if slices.ContainsFunc(r.Nodes[at].Results, func(of receipt.Item) bool { return of.Name == item.Name }) {
				forge("another output", func(f *receipt.Receipt, _ *receipt.Node) { f.Outputs[i] = wrong(item) })
				forge("no output", func(f *receipt.Receipt, _ *receipt.Node) { f.Outputs = slices.Delete(f.Outputs, i, i+1) })
			}
		}
	}
	// An intermediate value isn't an input because the receipt says so.
	f := *r
	f.Nodes = slices.Clone(r.Nodes)
	f.Nodes[at("o")].Results = []receipt.Item{r.Inputs[1]}
	f.Nodes[at("o")].Results[0].Name = "o"
	item := r.Nodes[at("o")].Results[0]
	f.Inputs = append(slices.Clone(r.Inputs), item)
	if d, err := verify(&f, "y"); d == nil && err == nil {
		t.Error("an input that the model doesn't have stands for the result of a node")
	}
}

// A model without nodes has no nodes in a receipt.
func TestVerifyOfNodesThatThereAreNot(t *testing.T) {
	b := NewBuilder("none")
	b.Output(b.Input("x", dtype.Float32, 2), dtype.Float32, 2)
	m, err := b.Model(18)
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]Value{"x": TensorValue(vec(1, 2))}
	r := receiptOf(t, m, in, Options{})
	if d, err := Verify(context.Background(), m, r, in, nil); d != nil || err != nil {
		t.Errorf("%v, %v", d, err)
	}
	r.Nodes = []receipt.Node{{Node: "node 0 (Abs, opset 18)", Results: r.Outputs}}
	if d, err := Verify(context.Background(), m, r, in, nil); d == nil && err == nil {
		t.Error("nodes that the model doesn't have are verified")
	}
}
