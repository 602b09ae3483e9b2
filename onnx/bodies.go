package onnx

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A body is an operator that consists of others. It is used where package op has none of the name.
type body struct {
	name, domain string
	versions     []int
	build        func(n *Node) *Function // for a node that applies it
	asks         func(n *Node) bool      // whether it runs a node that package op has an operator for; nil: never
	wrong        func(n *Node) string    // why it can't run a node, "" if it can; nil: it always can
}

// asked reports whether b runs a node, whatever package op has.
func (b *body) asked(n *Node) bool { return b != nil && b.asks != nil && b.asks(n) }

// refuses says why b can't run a node, "" if it can.
func (b *body) refuses(n *Node, opset int64) string {
	if why := meaning(b, opset); why != "" || b.wrong == nil {
		return why
	}
	return b.wrong(n)
}

// Name returns the operator's name.
func (b *body) Name() string { return b.name }

// Domain returns the operator's domain.
func (b *body) Domain() string { return b.domain }

// Versions returns the opsets that define it.
func (b *body) Versions() []int { return b.versions }

const preview = "ai.onnx.preview"

// ownDomain has the parts of bodies that no operator of ONNX is.
const ownDomain = "ashlar.part"

// bodies are the operators of this kind, by name and domain.
var bodies = make(map[opKey]*body)

func init() {
	for _, b := range []*body{
		{name: "FlexAttention", domain: preview, versions: []int{1}, build: flexAttention},
		{name: "SwiGLU", versions: []int{28}, build: swiGLU},
		{name: "FusedConv", domain: microsoftDomain, versions: []int{1}, build: fusedConv, wrong: func(n *Node) string { return wrongActivation(n, convActivations, true) }},
		{name: "FusedGemm", domain: microsoftDomain, versions: []int{1}, build: fusedGemm, wrong: func(n *Node) string { return wrongActivation(n, gemmActivations, false) }},
		{name: "NhwcMaxPool", domain: microsoftDomain, versions: []int{1}, build: nhwcMaxPool},
		{name: "QLinearConv", domain: microsoftDomain, versions: []int{1}, build: nhwcQLinearConv,
			asks: func(n *Node) bool { return n.Attr("channels_last") != nil }, wrong: wrongLayout},
	} {
		bodies[keyOf(b.domain, b.name, "")] = b
	}
}

// partFlows are the operators of ownDomain.
func partFlows() []*flow {
	parts := []*flow{
		simple("Widen", 1, 1, widened, nil, 1),
		simple("ChannelsFirst", 1, 1, func(k *flowCall) (Value, error) { return turned(k, -1, 1) }, nil, 1),
		simple("ChannelsLast", 1, 1, func(k *flowCall) (Value, error) { return turned(k, 1, -1) }, nil, 1),
		simple("AddSame", 2, 2, addedSame, nil, 1),
	}
	for _, f := range parts {
		f.domain = ownDomain
	}
	return append(parts,
		&flow{name: "Apply", domain: ownDomain, versions: []int{1}, graphs: []string{"body"}, least: 1, most: -1, bodies: checkApply, infer: inferApply, run: runApply})
}

// A sketch puts the nodes of a body together.
type sketch struct{ Function }

func newSketch(n *Node, inputs ...string) *sketch {
	return &sketch{Function{Domain: n.Domain, Name: n.Op, Inputs: inputs, Opsets: []Opset{{"", 18}, {ownDomain, 1}}}}
}

// node adds a node and returns the name of its output, which is that of the node.
func (b *sketch) node(name, op string, inputs []string, attrs ...Attribute) string {
	b.Nodes = append(b.Nodes, Node{Name: name, Op: op, Inputs: inputs, Outputs: []string{name}, Attributes: attrs})
	return name
}

// part is node for an operator of ownDomain.
func (b *sketch) part(name, op string, inputs []string, attrs ...Attribute) string {
	b.node(name, op, inputs, attrs...)
	b.Nodes[len(b.Nodes)-1].Domain = ownDomain
	return name
}

// given is an attribute of a node of the body that the call gives under the name from.
func given(name, from string) Attribute { return Attribute{Name: name, Ref: from} }

// flexAttention is softmax(Q·Kᵀ·scale)·V, where graphs change the scores and the probabilities. Each head of K and V
// serves as many heads of Q, one after the other, as the numbers of heads say. It is computed in float32 at least, or in
// softmax_precision. Source: FlexAttention in onnx/defs/preview of github.com/onnx/onnx.
func flexAttention(n *Node) *Function {
	b := newSketch(n, "Q", "K", "V")
	b.Attributes, b.Outputs = []string{"scale", "softmax_precision", "score_mod", "prob_mod"}, []string{"Y"}
	in := map[string]string{}
	for _, name := range b.Inputs {
		if n.Attr("softmax_precision") != nil {
			in[name] = b.node("wide"+name, "Cast", []string{name}, given("to", "softmax_precision"))
		} else {
			in[name] = b.part("wide"+name, "Widen", []string{name})
		}
	}
	part := func(name, of string, start, end int64) string {
		return b.node(name, "Shape", []string{of}, Int("start", start), Int("end", end))
	}
	batch, heads := part("batch", "K", 0, 1), part("heads", "K", 1, 2)
	group := b.node("group", "Div", []string{part("allHeads", "Q", 1, 2), heads})
	grouped := func(name, of string) string { // [batch, heads of K, heads of Q for each, rows, columns]
		shape := b.node(name+"Shape", "Concat", []string{batch, heads, group, part(name+"Rest", of, 2, 4)}, Int("axis", 0))
		return b.node(name, "Reshape", []string{of, shape}, Int("allowzero", 1))
	}
	joined := func(name, of, last string) string { // [batch, heads of Q, rows, columns]
		shape := b.node(name+"Shape", "Concat", []string{part(name+"Rows", "Q", 0, 3), last}, Int("axis", 0))
		return b.node(name, "Reshape", []string{of, shape}, Int("allowzero", 1))
	}
	two := b.node("two", "Constant", nil, Ints("value_ints", 2))
	keys := b.node("keys", "Transpose", []string{b.node("key", "Unsqueeze", []string{in["K"], two})}, Ints("perm", 0, 1, 2, 4, 3))
	product := joined("product", b.node("products", "MatMul", []string{grouped("queries", in["Q"]), keys}), part("length", "K", 2, 3))
	var scale string
	if n.Attr("scale") != nil {
		scale = b.node("scale", "CastLike", []string{b.node("factor", "Constant", nil, given("value_float", "scale")), product})
	} else {
		size := b.node("size", "CastLike", []string{part("width", "Q", 3, 4), product})
		scale = b.node("scale", "Reciprocal", []string{b.node("root", "Sqrt", []string{size})})
	}
	scores := b.node("scores", "Mul", []string{product, scale})
	if n.Attr("score_mod") != nil {
		scores = b.part("score_mod", "Apply", []string{scores}, given("body", "score_mod"))
	}
	probs := b.node("probs", "Softmax", []string{scores}, Int("axis", 3))
	if n.Attr("prob_mod") != nil {
		probs = b.part("prob_mod", "Apply", []string{probs}, given("body", "prob_mod"))
	}
	value := b.node("value", "Unsqueeze", []string{in["V"], two})
	sum := b.node("sums", "MatMul", []string{grouped("weights", probs), value})
	b.node("Y", "CastLike", []string{joined("sum", sum, part("columns", "V", 3, 4)), "V"})
	return &b.Function
}

// swiGLU is Swish(A)·B. Source: SwiGLU in docs/Operators.md of github.com/onnx/onnx.
func swiGLU(n *Node) *Function {
	b := newSketch(n, "A", "B")
	b.Opsets[0].Version = 28
	b.Attributes, b.Outputs = []string{"alpha"}, []string{"Y"}
	b.node("Y", "Mul", []string{b.node("gate", "Swish", []string{"A"}, given("alpha", "alpha")), "B"})
	return &b.Function
}

// widened is a tensor in float32 if its floats are narrower.
func widened(k *flowCall) (Value, error) {
	a, err := k.tensor(0)
	if err != nil || a.DType() != dtype.Float16 && a.DType() != dtype.BFloat16 {
		return k.in[0], err
	}
	like := tensor.Scalar[float32](0).Any()
	o, _ := op.Lookup("CastLike")
	call := &op.Call{Inputs: []tensor.Any{a, like}, Attrs: op.NoAttrs{}, Opset: 19, Outputs: 1}
	run := o.Run
	if a.IsSpec() {
		run = o.Infer
	}
	out, err := run(call)
	if err != nil {
		return Value{}, err
	}
	return k.fresh(out[0]), nil
}

func checkApply(s *step) error {
	b := s.bodies[0]
	switch {
	case len(b.formals) != len(s.in):
		return b.wants("it has %d inputs; the operator gives it %d", len(b.formals), len(s.in))
	case len(b.outputs) != len(s.out):
		return b.wants("it has %d outputs; the operator takes %d", len(b.outputs), len(s.out))
	}
	return nil
}

func inferApply(f *inference, k *flowCall) ([]Value, account, error) {
	args, err := k.starts(0, len(k.in))
	if err != nil {
		return nil, account{}, err
	}
	outs, inside := f.body(k.s.bodies[0], k.around, args)
	return outs, inside, nil
}

func runApply(k *flowCall) ([]Value, error) {
	b := k.s.bodies[0]
	outs, err := k.fr.inside(b).call(k.around, heldAll(k.in))
	if err != nil {
		err = inAttr(b.attr, err)
	}
	return outs, err
}
