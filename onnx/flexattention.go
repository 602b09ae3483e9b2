package onnx

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
		return b.node(name, "Shape", []string{of}, IntAttr("start", start), IntAttr("end", end))
	}
	batch, heads := part("batch", "K", 0, 1), part("heads", "K", 1, 2)
	group := b.node("group", "Div", []string{part("allHeads", "Q", 1, 2), heads})
	grouped := func(name, of string) string { // [batch, heads of K, heads of Q for each, rows, columns]
		shape := b.node(name+"Shape", "Concat", []string{batch, heads, group, part(name+"Rest", of, 2, 4)}, IntAttr("axis", 0))
		return b.node(name, "Reshape", []string{of, shape}, IntAttr("allowzero", 1))
	}
	joined := func(name, of, last string) string { // [batch, heads of Q, rows, columns]
		shape := b.node(name+"Shape", "Concat", []string{part(name+"Rows", "Q", 0, 3), last}, IntAttr("axis", 0))
		return b.node(name, "Reshape", []string{of, shape}, IntAttr("allowzero", 1))
	}
	two := b.node("two", "Constant", nil, IntsAttr("value_ints", 2))
	keys := b.node("keys", "Transpose", []string{b.node("key", "Unsqueeze", []string{in["K"], two})}, IntsAttr("perm", 0, 1, 2, 4, 3))
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
	probs := b.node("probs", "Softmax", []string{scores}, IntAttr("axis", 3))
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
