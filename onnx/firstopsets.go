package onnx

import (
	"fmt"
	"slices"
	"strings"
)

// Forms that operators had in the first opsets, said by forms of later ones. Source: docs/Changelog.md of
// github.com/onnx/onnx.

// asInSix lists operators whose definition of opset 6 differs from that before only in element types, and in the
// attribute consumed_inputs, which means nothing: it allowed a result to overwrite an input.
var asInSix = []string{"Abs", "Add", "BatchNormalization", "Ceil", "Clip", "Div", "Elu", "Exp", "Floor", "Gemm", "HardSigmoid",
	"InstanceNormalization", "LeakyRelu", "Log", "Max", "Mean", "Min", "Mul", "Neg", "PRelu", "Reciprocal", "Relu", "Sigmoid",
	"Sqrt", "Sub", "Sum", "Tanh"}

func init() {
	first := []int{1}
	for _, name := range asInSix {
		composites[keyOf("", name, "")] = &composite{name: name, versions: first, build: sixth}
	}
	for _, b := range []*composite{
		{name: "Affine", versions: first, build: affine},
		{name: "Cast", versions: first, build: castByName},
		{name: "Concat", versions: first, build: concatFirst},
		{name: "Dropout", versions: []int{1, 6}, build: dropoutFirst},
		{name: "DynamicSlice", versions: first, build: dynamicSlice},
		{name: "GlobalLpPool", versions: first, build: globalLpPool},
		{name: "ImageScaler", versions: first, build: imageScaler},
		{name: "LpPool", versions: first, build: lpPoolFirst},
		{name: "MeanVarianceNormalization", versions: first, build: normalizationFirst},
		{name: "Pad", versions: first, build: padFirst},
		{name: "ParametricSoftplus", versions: first, build: parametricSoftplus},
		{name: "Reshape", versions: first, build: reshapeFirst},
		{name: "Scale", versions: first, build: scale},
		{name: "ScaledTanh", versions: first, build: scaledTanh},
		{name: "Selu", versions: first, build: seluFirst},
		{name: "Split", versions: first, build: splitFirst},
		{name: "ThresholdedRelu", versions: first, build: func(n *Node) *Function { return later(n, 10, nil) }},
		{name: "Tile", versions: first, build: tileFirst},
		{name: "Upsample", versions: first, build: upsampleFirst},
	} {
		composites[keyOf("", b.name, "")] = b
	}
}

// later is a body of one node: n in the form of a later opset, with its attributes but for those left out, and more.
func later(n *Node, opset int64, leftOut []string, more ...Attribute) *Function {
	b := earlySketch(n, opset)
	var attrs []Attribute
	for _, name := range b.Attributes {
		if name != "consumed_inputs" && !slices.Contains(leftOut, name) {
			attrs = append(attrs, given(name, name))
		}
	}
	b.Nodes = []Node{{Op: n.Op, Inputs: b.Inputs, Outputs: b.Outputs, Attributes: append(attrs, more...)}}
	return &b.Function
}

// earlySketch begins a body with the inputs x, x1, … and the outputs y, y1, … of n, which takes whatever attributes n has.
func earlySketch(n *Node, opset int64) *sketch {
	b := newSketch(n)
	b.Opsets[0].Version = opset
	number := func(name string, i int) string {
		if i == 0 {
			return name
		}
		return fmt.Sprint(name, i)
	}
	for i := range n.Inputs {
		b.Inputs = append(b.Inputs, number("x", i))
	}
	for i := range n.Outputs {
		b.Outputs = append(b.Outputs, number("y", i))
	}
	for i := range n.Attributes {
		b.Attributes = append(b.Attributes, n.Attributes[i].Name)
	}
	return b
}

func sixth(n *Node) *Function {
	return later(n, 6, nil)
}

// seluFirst is Selu, whose defaults had fewer digits.
func seluFirst(n *Node) *Function {
	var more []Attribute
	for _, a := range []Attribute{FloatAttr("alpha", 1.6732), FloatAttr("gamma", 1.0507)} {
		if n.Attr(a.Name) == nil {
			more = append(more, a)
		}
	}
	return later(n, 6, nil, more...)
}

func concatFirst(n *Node) *Function {
	if n.Attr("axis") == nil {
		return later(n, 4, nil, IntAttr("axis", 1))
	}
	return later(n, 4, nil)
}

// castByName is Cast to a type that is named, as in FLOAT.
func castByName(n *Node) *Function {
	a := n.Attr("to")
	if a == nil || a.kind() != AttrString {
		return later(n, 6, nil)
	}
	name, _ := a.Value.(string)
	name = strings.ToLower(name)
	switch name {
	case "float":
		name = "float32"
	case "double":
		name = "float64"
	}
	to := ElemUndefined
	for e := range elems {
		if elems[e].name == name {
			to = ElemType(e)
		}
	}
	return later(n, 6, []string{"to"}, IntAttr("to", int64(to)))
}

// dropoutFirst trains unless is_test says otherwise. Its mask has the type of the data.
func dropoutFirst(n *Node) *Function {
	if a := n.Attr("is_test"); a != nil && a.Value != int64(0) {
		return later(n, 7, []string{"is_test"})
	}
	b := earlySketch(n, 15)
	ratio := FloatAttr("value_float", 0.5)
	if n.Attr("ratio") != nil {
		ratio = given("value_float", "ratio")
	}
	train := b.node("train", "Cast", []string{b.constant("one", IntAttr("value_int", 1))}, IntAttr("to", int64(ElemBool)))
	b.Nodes = append(b.Nodes, Node{Op: "Dropout", Inputs: []string{"x", b.constant("ratio", ratio), train}, Outputs: []string{"y", "mask"}})
	if len(n.Outputs) < 2 {
		b.Nodes[len(b.Nodes)-1].Outputs = []string{"y"}
	} else {
		b.node("y1", "CastLike", []string{"mask", "x"})
	}
	return &b.Function
}

func padFirst(n *Node) *Function {
	return later(n, 2, []string{"paddings"}, given("pads", "paddings"))
}

func reshapeFirst(n *Node) *Function {
	b := earlySketch(n, 13)
	b.node("y", "Reshape", []string{"x", b.constant("shape", given("value_ints", "shape"))})
	return &b.Function
}

// splitFirst is Split, which takes the sizes as an input, too.
func splitFirst(n *Node) *Function {
	if len(n.Inputs) < 2 || n.Inputs[1] == "" {
		return later(n, 2, nil)
	}
	b := earlySketch(n, 13)
	sizes := b.node("sizes", "Cast", []string{"x1"}, IntAttr("to", int64(ElemInt64)))
	b.Nodes = append(b.Nodes, Node{Op: "Split", Inputs: []string{"x", sizes}, Outputs: b.Outputs, Attributes: []Attribute{given("axis", "axis")}})
	return &b.Function
}

// tileFirst repeats along one axis: the inputs are the data, how often, and the axis.
func tileFirst(n *Node) *Function {
	b := earlySketch(n, 13)
	if len(n.Inputs) != 3 {
		return later(n, 6, nil) // which gives the error
	}
	zero, one := b.constant("zero", IntAttr("value_int", 0)), b.constant("one", IntAttr("value_int", 1))
	times := b.node("times", "Cast", []string{"x1"}, IntAttr("to", int64(ElemInt64)))
	axis := b.node("axis", "Cast", []string{"x2"}, IntAttr("to", int64(ElemInt64)))
	axes := b.node("axes", "Range", []string{zero, b.node("rank", "Size", []string{b.node("shape", "Shape", []string{"x"})}), one})
	repeats := b.node("repeats", "Where", []string{b.node("here", "Equal", []string{axes, axis}), times, one})
	b.node("y", "Tile", []string{"x", repeats})
	return &b.Function
}

// upsampleFirst stretches height and width.
func upsampleFirst(n *Node) *Function {
	scales := []float32{1, 1, 1, 1}
	for i, name := range []string{"height_scale", "width_scale"} {
		if a := n.Attr(name); a != nil {
			scales[2+i], _ = a.Value.(float32)
		}
	}
	return later(n, 7, []string{"height_scale", "width_scale"}, FloatsAttr("scales", scales...))
}

// lpPoolFirst has a p of floats.
func lpPoolFirst(n *Node) *Function {
	p := int64(2)
	if a := n.Attr("p"); a != nil {
		v, _ := a.Value.(float32)
		if p = 0; v == float32(int64(v)) {
			p = int64(v) // of others LpPool says that they aren't there
		}
	}
	return later(n, 2, []string{"p"}, IntAttr("p", p))
}

// globalLpPool is the p-norm over all axes but the first two.
func globalLpPool(n *Node) *Function {
	b := earlySketch(n, 18)
	two, one := b.constant("two", IntAttr("value_int", 2)), b.constant("one", IntAttr("value_int", 1))
	axes := b.node("axes", "Range", []string{two, b.node("rank", "Size", []string{b.node("shape", "Shape", []string{"x"})}), one})
	p := float32(2)
	if a := n.Attr("p"); a != nil {
		switch v := a.Value.(type) {
		case float32:
			p = v
		case int64:
			p = float32(v)
		}
	}
	switch p {
	case 1, 2:
		b.node("y", fmt.Sprint("ReduceL", p), []string{"x", axes}, IntAttr("noop_with_empty_axes", 1))
	default:
		power := b.node("power", "CastLike", []string{b.constant("p", FloatAttr("value_float", p)), "x"})
		sum := b.node("sum", "ReduceSum", []string{b.node("powers", "Pow", []string{b.node("size", "Abs", []string{"x"}), power}), axes}, IntAttr("noop_with_empty_axes", 1))
		b.node("y", "Pow", []string{sum, b.node("root", "Reciprocal", []string{power})})
	}
	return &b.Function
}

// normalizationFirst takes the means of each channel, or of all if across_channels is set, and may leave the variance as it is.
func normalizationFirst(n *Node) *Function {
	set := func(name string, def bool) bool {
		if a := n.Attr(name); a != nil {
			return a.Value != int64(0)
		}
		return def
	}
	axes := []int64{0, 2, 3}
	if set("across_channels", false) {
		axes = []int64{0, 1, 2, 3}
	}
	if set("normalize_variance", true) {
		return later(n, 9, []string{"across_channels", "normalize_variance"}, IntsAttr("axes", axes...))
	}
	b := earlySketch(n, 13)
	b.node("y", "Sub", []string{"x", b.node("mean", "ReduceMean", []string{"x"}, IntsAttr("axes", axes...))})
	return &b.Function
}

// factors adds constants of the attributes of a call, in the type of x, with a default for each.
func (b *sketch) factors(n *Node, defaults ...Attribute) (names []string) {
	for _, d := range defaults {
		v := FloatAttr("value_float", d.Value.(float32))
		if n.Attr(d.Name) != nil {
			v = given("value_float", d.Name)
		}
		names = append(names, b.node(d.Name, "CastLike", []string{b.constant(d.Name+"Given", v), "x"}))
	}
	return names
}

// affine is alpha · x + beta.
func affine(n *Node) *Function {
	b := earlySketch(n, 15)
	f := b.factors(n, FloatAttr("alpha", 1), FloatAttr("beta", 0))
	b.node("y", "Add", []string{b.node("scaled", "Mul", []string{"x", f[0]}), f[1]})
	return &b.Function
}

// scale is scale · x.
func scale(n *Node) *Function {
	b := earlySketch(n, 15)
	b.node("y", "Mul", append([]string{"x"}, b.factors(n, FloatAttr("scale", 1))...))
	return &b.Function
}

// dynamicSlice is Slice of opset 10 without steps.
func dynamicSlice(n *Node) *Function {
	b := earlySketch(n, 10)
	b.node("y", "Slice", b.Inputs)
	return &b.Function
}

// scaledTanh is alpha · tanh(beta · x).
func scaledTanh(n *Node) *Function {
	b := earlySketch(n, 15)
	f := b.factors(n, FloatAttr("alpha", 1), FloatAttr("beta", 1))
	b.node("y", "Mul", []string{b.node("tanh", "Tanh", []string{b.node("scaled", "Mul", []string{"x", f[1]})}), f[0]})
	return &b.Function
}

// parametricSoftplus is alpha · log(1 + exp(beta · x)).
func parametricSoftplus(n *Node) *Function {
	b := earlySketch(n, 15)
	f := b.factors(n, FloatAttr("alpha", 1), FloatAttr("beta", 1))
	b.node("y", "Mul", []string{b.node("softplus", "Softplus", []string{b.node("scaled", "Mul", []string{"x", f[1]})}), f[0]})
	return &b.Function
}

// imageScaler multiplies pictures, [batch, channels, height, width], by scale, and adds the bias of each channel.
func imageScaler(n *Node) *Function {
	b := earlySketch(n, 15)
	f := b.factors(n, FloatAttr("scale", 1))
	scaled := "scaled"
	if n.Attr("bias") == nil {
		scaled = "y"
	}
	if b.node(scaled, "Mul", []string{"x", f[0]}); scaled != "y" {
		list := b.node("bias", "CastLike", []string{b.constant("biases", given("value_floats", "bias")), "x"})
		channels := b.node("channels", "Reshape", []string{list, b.constant("shape", IntsAttr("value_ints", -1, 1, 1))})
		b.node("y", "Add", []string{scaled, channels})
	}
	return &b.Function
}
