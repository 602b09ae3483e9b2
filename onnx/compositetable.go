package onnx

// The table of the composites; firstopsets.go has the composites of the first opsets.

func init() {
	for _, b := range []*composite{
		{name: "FlexAttention", domain: preview, versions: []int{1}, build: flexAttention},
		{name: "SwiGLU", versions: []int{28}, build: swiGLU},
		{name: "FusedConv", domain: microsoftDomain, versions: []int{1}, build: fusedConv, wrong: func(n *Node) string { return wrongActivation(n, convActivations, true) }},
		{name: "FusedGemm", domain: microsoftDomain, versions: []int{1}, build: fusedGemm, wrong: func(n *Node) string { return wrongActivation(n, gemmActivations, false) }},
		{name: "NhwcMaxPool", domain: microsoftDomain, versions: []int{1}, build: nhwcMaxPool},
		{name: "QLinearConv", domain: microsoftDomain, versions: []int{1}, build: nhwcQLinearConv,
			asks: func(n *Node) bool { return n.Attr("channels_last") != nil }, wrong: wrongLayout},
	} {
		composites[keyOf(b.domain, b.name, "")] = b
	}
}
