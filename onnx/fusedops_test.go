package onnx

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/tensortest"
	"pgregory.net/rapid"
)

// microsoftModel is a model of nodes, which give y, of ONNX's domain or com.microsoft.
func microsoftModel(inputs map[string]tensor.Any, nodes ...Node) *Model {
	g := &Graph{Name: "g", Nodes: nodes, Outputs: []ValueInfo{{Name: "y"}}}
	for name, a := range inputs {
		g.Inputs = append(g.Inputs, ValueInfo{Name: name, Type: Type{Kind: KindTensor, Elem: ElemOf(a.DType())}})
	}
	return &Model{IR: 8, Opsets: []Opset{{Version: 18}, {Domain: microsoftDomain, Version: 1}}, Graph: g}
}

func runModel(m *Model, inputs map[string]tensor.Any) (tensor.Any, error) {
	s, err := NewSession(m)
	if err != nil {
		return tensor.Any{}, err
	}
	out, err := s.Run(context.Background(), inputs, nil)
	return out["y"], err
}

// part is a node with an output of its own.
func part(op string, out string, in []string, attrs ...Attribute) Node {
	return Node{Op: op, Inputs: in, Outputs: []string{out}, Attributes: attrs}
}

// ofMicrosoft is a node of com.microsoft that gives y.
func ofMicrosoft(op string, in []string, attrs ...Attribute) Node {
	n := part(op, "y", in, attrs...)
	n.Domain = microsoftDomain
	return n
}

// castTo is a tensor in another element type.
func castTo(t *rapid.T, a tensor.Any, d dtype.DType) tensor.Any {
	o, _ := op.Lookup("Cast")
	out, err := o.Run(&op.Call{Inputs: []tensor.Any{a}, Attrs: op.AttrMap{"to": int64(ElemOf(d))}, Opset: 18, Outputs: 1})
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

// drawn is a random tensor.
func drawn(t *rapid.T, d dtype.DType, shape ...int) tensor.Any {
	mean, spread := float32(0), float32(2)
	if d.IsInteger() {
		spread = 40
	}
	if d == dtype.Uint8 {
		mean = 100
	}
	return castTo(t, tensor.RandomNormal[float32](rapid.Uint64().Draw(t, "seed"), mean, spread, shape...).Any(), d)
}

var floatTypes = []dtype.DType{dtype.Float32, dtype.Float64, dtype.Float16, dtype.BFloat16}

// A fused operator has the bits of its parts, one after the other.
func TestFusedParts(t *testing.T) {
	for name, draw := range map[string]func(t *rapid.T) (in map[string]tensor.Any, fused Node, parts []Node){
		"FusedConv": drawConv, "FusedGemm": drawGemm, "QLinearConv": drawQLinearConv, "NhwcMaxPool": drawMaxPool,
	} {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			in, fused, parts := draw(t)
			got, err := runModel(microsoftModel(in, fused), in)
			if err != nil {
				t.Fatal(err)
			}
			want, err := runModel(microsoftModel(in, parts...), in)
			if err != nil {
				t.Fatal(err)
			}
			if got.DType() != want.DType() || got.String() != want.String() {
				t.Fatalf("got %v\n%v, want %v\n%v", tensor.Describe(got), got, tensor.Describe(want), want)
			}
		}))
	}
}

// drawWindow draws the axes of a picture, the axes of a kernel, and the attributes of a window.
func drawWindow(t *rapid.T) (picture, kernel []int, attrs []Attribute) {
	axes := rapid.IntRange(1, 3).Draw(t, "axes")
	var pads, strides, dilations []int64
	for range axes {
		kernel = append(kernel, rapid.IntRange(1, 3).Draw(t, "kernel"))
		picture = append(picture, rapid.IntRange(5, 8).Draw(t, "picture"))
		strides, dilations = append(strides, rapid.Int64Range(1, 2).Draw(t, "stride")), append(dilations, rapid.Int64Range(1, 2).Draw(t, "dilation"))
	}
	for range 2 {
		for _, k := range kernel {
			pads = append(pads, rapid.Int64Range(0, int64(k-1)).Draw(t, "pad"))
		}
	}
	if attrs = []Attribute{IntsAttr("strides", strides...), IntsAttr("dilations", dilations...)}; rapid.Bool().Draw(t, "auto") {
		return picture, kernel, []Attribute{attrs[0], StringAttr("auto_pad", "SAME_UPPER")}
	}
	return picture, kernel, append(attrs, IntsAttr("pads", pads...))
}

// drawActivation draws one of a list with its parameters: as attributes of a node of its own, and as floats.
func drawActivation(t *rapid.T, list []activation) (f activation, attrs []Attribute, params []float32) {
	f = rapid.SampledFrom(list).Draw(t, "activation")
	for _, name := range f.params {
		v := rapid.Float32Range(-1, 2).Draw(t, name)
		attrs, params = append(attrs, FloatAttr(name, v)), append(params, v)
	}
	return f, attrs, params
}

func drawConv(t *rapid.T) (in map[string]tensor.Any, fused Node, parts []Node) {
	d := rapid.SampledFrom(floatTypes).Draw(t, "type")
	picture, kernel, attrs := drawWindow(t)
	group, channels, n := rapid.IntRange(1, 2).Draw(t, "group"), rapid.IntRange(1, 3).Draw(t, "channels"), rapid.IntRange(1, 2).Draw(t, "batch")
	attrs = append(attrs, IntAttr("group", int64(group)))
	m := group * rapid.IntRange(1, 3).Draw(t, "outputs")
	in = map[string]tensor.Any{"x": drawn(t, d, append([]int{n, group * channels}, picture...)...), "w": drawn(t, d, append([]int{m, channels}, kernel...)...)}
	names := []string{"x", "w"}
	if rapid.Bool().Draw(t, "bias") {
		in["b"], names = drawn(t, d, m), append(names, "b")
	}
	parts = []Node{part("Conv", "c", slices.Clone(names), attrs...)}
	last := "c"
	if rapid.Bool().Draw(t, "residual") {
		conv, err := runModel(microsoftModel(in, part("Conv", "y", names, attrs...)), in)
		if err != nil {
			t.Fatal(err)
		}
		in["z"], names = drawn(t, d, conv.Shape()...), append(append(names, "")[:3], "z")
		parts, last = append(parts, part("Add", "s", []string{"c", "z"})), "s"
		if in["b"].IsZero() {
			names[2] = ""
		}
	}
	if rapid.IntRange(0, 6).Draw(t, "plain") == 0 {
		return in, ofMicrosoft("FusedConv", names, attrs...), append(parts, part("Identity", "y", []string{last}))
	}
	f, own, params := drawActivation(t, convActivations)
	fusedAttrs := append(slices.Clone(attrs), StringAttr("activation", f.op))
	if params != nil {
		fusedAttrs = append(fusedAttrs, FloatsAttr("activation_params", params...))
	}
	if f.op == "Clip" {
		for i, name := range f.params {
			v, err := NewTensorProto("", castTo(t, tensor.Scalar(params[i]).Any(), d))
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, part("Constant", name, nil, Attribute{Name: "value", Type: AttrTensor, Value: &v}))
		}
		parts = append(parts, part("Clip", "y", []string{last, "min", "max"}))
	} else {
		parts = append(parts, part(f.op, "y", []string{last}, own...))
	}
	return in, ofMicrosoft("FusedConv", names, fusedAttrs...), parts
}

func drawGemm(t *rapid.T) (in map[string]tensor.Any, fused Node, parts []Node) {
	d := rapid.SampledFrom(floatTypes).Draw(t, "type")
	m, n, k := rapid.IntRange(1, 9).Draw(t, "m"), rapid.IntRange(1, 9).Draw(t, "n"), rapid.IntRange(0, 9).Draw(t, "k")
	a, b := []int{m, k}, []int{k, n}
	attrs := []Attribute{FloatAttr("alpha", rapid.Float32Range(-1, 2).Draw(t, "alpha")), FloatAttr("beta", rapid.Float32Range(-1, 2).Draw(t, "beta"))}
	if rapid.Bool().Draw(t, "transA") {
		a, attrs = []int{k, m}, append(attrs, IntAttr("transA", 1))
	}
	if rapid.Bool().Draw(t, "transB") {
		b, attrs = []int{n, k}, append(attrs, IntAttr("transB", 1))
	}
	in = map[string]tensor.Any{"a": drawn(t, d, a...), "b": drawn(t, d, b...)}
	names := []string{"a", "b"}
	if rapid.Bool().Draw(t, "plus") {
		in["c"] = drawn(t, d, rapid.SampledFrom([][]int{{n}, {1}, {m, 1}, {m, n}}).Draw(t, "c")...)
		names = append(names, "c")
	}
	f, own, _ := drawActivation(t, gemmActivations)
	if rapid.Bool().Draw(t, "defaults") {
		own = nil
	}
	fusedAttrs := append(slices.Clone(attrs), StringAttr("activation", f.op))
	for _, a := range own {
		a.Name = "activation_" + a.Name
		fusedAttrs = append(fusedAttrs, a)
	}
	return in, ofMicrosoft("FusedGemm", names, fusedAttrs...), []Node{part("Gemm", "g", names, attrs...), part(f.op, "y", []string{"g"}, own...)}
}

// lastAxis returns the orders of axes that make the channels last and first, for a number of axes of space.
func lastAxis(space int) (last, first Attribute) {
	to, from := []int64{0}, []int64{0, int64(space + 1)}
	for i := range space {
		to, from = append(to, int64(i+2)), append(from, int64(i+1))
	}
	return IntsAttr("perm", append(to, 1)...), IntsAttr("perm", from...)
}

func drawQLinearConv(t *rapid.T) (in map[string]tensor.Any, fused Node, parts []Node) {
	bytes := []dtype.DType{dtype.Int8, dtype.Uint8}
	dx, dw := rapid.SampledFrom(bytes).Draw(t, "type"), rapid.SampledFrom(bytes).Draw(t, "weights")
	picture, kernel, attrs := drawWindow(t)
	group, channels, m := rapid.IntRange(1, 2).Draw(t, "group"), rapid.IntRange(1, 3).Draw(t, "channels"), rapid.IntRange(1, 3).Draw(t, "outputs")
	attrs = append(attrs, IntAttr("group", int64(group)))
	m *= group
	x := append(append([]int{rapid.IntRange(1, 2).Draw(t, "batch")}, picture...), group*channels)
	last := rapid.Bool().Draw(t, "last")
	if !last {
		x = append([]int{x[0], group * channels}, picture...)
	}
	scale := func() tensor.Any { return tensor.Scalar(rapid.Float32Range(0.1, 2).Draw(t, "scale")).Any() }
	in = map[string]tensor.Any{"x": drawn(t, dx, x...), "xs": scale(), "xz": drawn(t, dx), "w": drawn(t, dw, append([]int{m, channels}, kernel...)...), "ws": scale(), "wz": drawn(t, dw),
		"ys": scale(), "yz": drawn(t, dx)}
	names := []string{"x", "xs", "xz", "w", "ws", "wz", "ys", "yz"}
	if rapid.Bool().Draw(t, "bias") {
		in["b"] = tensor.Full[int32](5, m).Any()
		names = append(names, "b")
	}
	if !last {
		return in, ofMicrosoft("QLinearConv", names, append(slices.Clone(attrs), IntAttr("channels_last", 0))...), []Node{part("QLinearConv", "y", names, attrs...)}
	}
	toLast, toFirst := lastAxis(len(picture))
	return in, ofMicrosoft("QLinearConv", names, append(slices.Clone(attrs), IntAttr("channels_last", 1))...), []Node{part("Transpose", "first", names[:1], toFirst),
		part("QLinearConv", "q", append([]string{"first"}, names[1:]...), attrs...), part("Transpose", "y", []string{"q"}, toLast)}
}

func drawMaxPool(t *rapid.T) (in map[string]tensor.Any, fused Node, parts []Node) {
	picture, kernel, attrs := drawWindow(t)
	var k []int64
	for _, n := range kernel {
		k = append(k, int64(n))
	}
	attrs = append(attrs, IntsAttr("kernel_shape", k...), IntAttr("ceil_mode", rapid.Int64Range(0, 1).Draw(t, "ceil")))
	in = map[string]tensor.Any{"x": drawn(t, rapid.SampledFrom([]dtype.DType{dtype.Int8, dtype.Uint8}).Draw(t, "type"), append(append([]int{2}, picture...), 3)...)}
	toLast, toFirst := lastAxis(len(picture))
	return in, ofMicrosoft("NhwcMaxPool", []string{"x"}, attrs...), []Node{part("Transpose", "first", []string{"x"}, toFirst), part("MaxPool", "p", []string{"first"}, attrs...),
		part("Transpose", "y", []string{"p"}, toLast)}
}

// A wrong node of a fused operator is an error before the run that says why.
func TestFusedErrors(t *testing.T) {
	x, w := tensor.New[float32](1, 1, 4, 4).Any(), tensor.New[float32](1, 1, 3, 3).Any()
	in := map[string]tensor.Any{"x": x, "w": w}
	conv := func(attrs ...Attribute) Node { return ofMicrosoft("FusedConv", []string{"x", "w"}, attrs...) }
	for _, c := range []struct {
		node Node
		want string
	}{
		{conv(StringAttr("activation", "Gelu")), `attribute "activation" is "Gelu"; the activations are Relu, Tanh, Sigmoid, LeakyRelu, Clip, HardSigmoid, HardSwish`},
		{conv(StringAttr("activation", "Clip")), `attribute "activation_params" has 0 floats; Clip takes 2`},
		{conv(IntAttr("activation", 1)), `attribute "activation" is "1"`},
		{conv(StringAttr("activation", "Relu"), IntAttr("alpha", 1)), `attribute "alpha": the function has none of that name`},
		{ofMicrosoft("FusedConv", []string{"x", "w", "", "w"}), `Z is float32[1,1,3,3], the convolution float32[1,1,2,2]; they have one shape`},
		{ofMicrosoft("FusedGemm", []string{"x", "w"}, StringAttr("activation", "Clip")), `the activations are Celu, Elu, HardSigmoid`},
		{ofMicrosoft("FusedGemm", []string{"x", "w"}), `both must be matrices`},
		{ofMicrosoft("QLinearConv", []string{"x"}, StringAttr("channels_last", "1")), `attribute "channels_last": it holds string, the operator asks for int`},
		{ofMicrosoft("NhwcMaxPool", []string{"x"}), `no kernel extents for 2 spatial axes`},
	} {
		if _, err := runModel(microsoftModel(in, c.node), in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.node.Op, err, c.want)
		}
	}
	flat := map[string]tensor.Any{"x": tensor.New[uint8](2, 3).Any()}
	if _, err := runModel(microsoftModel(flat, ofMicrosoft("NhwcMaxPool", []string{"x"}, IntsAttr("kernel_shape", 1))), flat); err == nil || !strings.Contains(err.Error(), "want an axis of batches") {
		t.Error(err)
	}
}

// A stream runs them, too.
func TestFusedStream(t *testing.T) {
	x, w, z := tensor.RandomNormal[float32](1, 0, 1, 1, 2, 6, 6), tensor.RandomNormal[float32](2, 0, 1, 3, 2, 3, 3), tensor.RandomNormal[float32](3, 0, 1, 1, 3, 4, 4)
	in := map[string]tensor.Any{"x": x.Any(), "w": w.Any(), "z": z.Any()}
	s, err := NewSession(microsoftModel(in, ofMicrosoft("FusedConv", []string{"x", "w", "", "z"}, StringAttr("activation", "Relu"))))
	if err != nil {
		t.Fatal(err)
	}
	st, err := s.Stream(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := op.Relu(op.Add(op.Conv(x, w, tensor.Tensor[float32]{}, op.Window{}, 1), z))
	for i := range 5 {
		out, err := st.Run(context.Background(), in)
		if err != nil {
			t.Fatal(fmt.Sprint(i, " ", err))
		}
		tensortest.Equal(t, out["y"], want.Any())
	}
}
