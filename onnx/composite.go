package onnx

// A composite is an operator that consists of others. It is used where package op has none of the name.
type composite struct {
	name, domain string
	versions     []int
	build        func(n *Node) *Function // for a node that applies it
	asks         func(n *Node) bool      // whether it runs a node that package op has an operator for; nil: never
	wrong        func(n *Node) string    // why it can't run a node, "" if it can; nil: it always can
}

// asked reports whether b runs a node, whatever package op has.
func (b *composite) asked(n *Node) bool { return b != nil && b.asks != nil && b.asks(n) }

// refuses says why b can't run a node, "" if it can.
func (b *composite) refuses(n *Node, opset int64) string {
	if why := meaning(b, opset); why != "" || b.wrong == nil {
		return why
	}
	return b.wrong(n)
}

// Name returns the operator's name.
func (b *composite) Name() string { return b.name }

// Domain returns the operator's domain.
func (b *composite) Domain() string { return b.domain }

// Versions returns the opsets that define it.
func (b *composite) Versions() []int { return b.versions }

// composites are the operators of this kind, by name and domain.
var composites = make(map[opKey]*composite)

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

// constant adds a Constant of an attribute of the call, or of a value.
func (b *sketch) constant(name string, a Attribute) string { return b.node(name, "Constant", nil, a) }

// given is an attribute of a node of the body that the call gives under the name from.
func given(name, from string) Attribute { return Attribute{Name: name, Ref: from} }

// givenAll are attributes of a node of the body that the call gives under the same names.
func givenAll(names []string) (list []Attribute) {
	for _, name := range names {
		list = append(list, given(name, name))
	}
	return list
}
