package onnx

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/receipt"
	"github.com/ashlar-go/ashlar/tensor"
)

// A quantizedGraph is a picture's convolution, pool and product between DequantizeLinear and QuantizeLinear.
type quantizedGraph struct {
	relu, perChannel bool
	zero             uint8   // of the result of the convolution
	bias             float64 // its scale over the product of the operands' scales
	axis             int64   // of the scales of the weights
	twice            bool    // the result of the convolution is read as it is, too
}

func randomBytes(r *rand.Rand, shape ...int) tensor.Any {
	a := tensor.New[int8](shape...)
	for i := range a.Elems() {
		a.Elems()[i] = int8(r.IntN(255) - 127)
	}
	return a.Any()
}

// build makes it of floats, or by hand of integers.
func (g quantizedGraph) build(b *Builder, integers bool) {
	r := rand.New(rand.NewPCG(1, 2))
	if integers {
		b.Import("com.microsoft", 1)
	}
	x := b.Input("x", dtype.Float32, 1, 3, 9, 8)
	one := func(name string, v float32) string { return b.Weight(name, tensor.Scalar(v).Any()) }
	xs, xz := one("xs", 1.0/64), b.Weight("xz", tensor.Scalar(uint8(119)).Any())
	ys, yz := one("ys", 1.0/16), b.Weight("yz", tensor.Scalar(g.zero).Any())
	ws := tensor.FromSlice([]float32{1.0 / 128, 1.0 / 256, 3.0 / 512, 1.0 / 64}, 4)
	if !g.perChannel {
		ws = tensor.FromSlice([]float32{1.0 / 128}, 1)
	}
	bs, bias := make([]float32, ws.Len()), tensor.New[int32](4)
	for i, v := range ws.Elems() {
		bs[i] = float32(float64(v) / 64 * g.bias)
	}
	for i := range bias.Elems() {
		bias.Elems()[i] = int32(r.IntN(20000) - 10000)
	}
	wz := b.Weight("wz", tensor.New[int8](ws.Len()).Any())
	w, wScale, wBias := b.Weight("w", randomBytes(r, 4, 3, 3, 3)), b.Weight("ws", ws.Any()), b.Weight("b", bias.Any())
	v, vs, vz := b.Weight("v", randomBytes(r, 5, 48)), one("vs", 1.0/200), b.Weight("vz", tensor.Scalar(int8(3)).Any())
	zs, zz := one("zs", 0.75), b.Weight("zz", tensor.Scalar(int8(-7)).Any())
	q := func(x, s, z string) string { return b.Node("QuantizeLinear", []string{x, s, z}) }
	dq := func(attrs ...Attribute) func(in ...string) string {
		return func(in ...string) string { return b.Node("DequantizeLinear", in, attrs...) }
	}
	pool := func(x string) string {
		return b.Node("Flatten", []string{b.Node("MaxPool", []string{x}, IntsAttr("kernel_shape", 2, 2), IntsAttr("strides", 2, 2))})
	}
	x = q(x, xs, xz)
	var y string
	if integers {
		x = b.Node("QLinearConv", []string{x, xs, xz, w, wScale, wz, ys, yz, wBias}, IntsAttr("pads", 0, 1, 0, 1))
		x = pool(x)
		y = b.Rename(b.Node("com.microsoft.QGemm", []string{x, ys, yz, v, vs, vz, "", zs, zz}, IntAttr("transB", 1)), "last")
	} else {
		var at []Attribute
		if g.perChannel {
			at = append(at, IntAttr("axis", g.axis))
		}
		x = b.Node("Conv", []string{dq()(x, xs, xz), dq(at...)(w, wScale, wz), dq(IntAttr("axis", 0))(wBias, b.Weight("bs", tensor.FromSlice(bs, len(bs)).Any()))}, IntsAttr("pads", 0, 1, 0, 1))
		if g.twice {
			b.OutputOf(b.Rename(b.Node("Neg", []string{x}), "other"), Type{})
		}
		if g.relu {
			x = b.Node("Relu", []string{x})
		}
		x = dq()(q(x, ys, yz), ys, yz)
		x = b.Node("MaxPool", []string{x}, IntsAttr("kernel_shape", 2, 2), IntsAttr("strides", 2, 2))
		x = dq()(q(x, ys, yz), ys, yz)
		x = b.Node("Flatten", []string{x})
		x = dq()(q(x, ys, yz), ys, yz)
		y = q(b.Node("Gemm", []string{x, dq()(v, vs, vz)}, IntAttr("transB", 1)), zs, zz)
	}
	b.OutputOf(b.Rename(dq()(y, zs, zz), "y"), Type{})
}

func (g quantizedGraph) model(t *testing.T, integers bool) *Model {
	t.Helper()
	b := NewBuilder("g")
	g.build(b, integers)
	m, err := b.Model(17)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// names are the operators of a session's steps.
func names(s *Session) (list []string) {
	for i := range s.c.steps {
		list = append(list, s.c.ops[i].Name())
	}
	return list
}

// A session of integers has the bits of the graph of integers, in runs and in streams, and stays near the floats.
func TestIntegerSession(t *testing.T) {
	in := vals{"x": noise(rand.New(rand.NewPCG(4, 4)), 1, 3, 9, 8)}
	roots := sha256.New()
	for _, g := range []quantizedGraph{{bias: 1}, {bias: 1, relu: true}, {bias: 1, relu: true, perChannel: true}, {bias: 1, zero: 90, perChannel: true}} {
		m := g.model(t, false)
		s, err := NewIntegerSession(m)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Join(names(s), " "), "QuantizeLinear QLinearConv MaxPool Flatten QGemm DequantizeLinear"; got != want {
			t.Fatalf("%+v: the steps are %s, want %s", g, got, want)
		}
		steps, err := s.Steps(nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range steps {
			st := &steps[i]
			if named := strings.HasPrefix(st.String(), "QuantizeLinear") || strings.HasPrefix(st.String(), "DequantizeLinear"); st.Integers == named || strings.Contains(st.Way(), "on integers") == named {
				t.Errorf("%+v: step %d, %v, is %s", g, i, st, st.Way())
			}
			if i > 0 && !slices.Contains(st.Reads, StepRead{steps[i-1].Results[0].Name, i - 1}) {
				t.Errorf("%+v: step %d, %v, reads %v", g, i, st, st.Reads)
			}
		}
		byHand, err := NewSession(g.model(t, true))
		if err != nil {
			t.Fatal(err)
		}
		floats, err := NewSession(m)
		if err != nil {
			t.Fatal(err)
		}
		want, err := plainly(byHand, context.Background(), in, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := plainly(s, context.Background(), in, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(bitsOf(got["y"]), bitsOf(want["y"])) {
			t.Fatalf("%+v: got %v, want %v", g, got["y"], want["y"])
		}
		follows(t, "integers", s, nil, []vals{in, in, in})
		near, err := plainly(floats, context.Background(), in, Options{})
		if err != nil {
			t.Fatal(err)
		}
		a, _ := tensor.As[float32](got["y"])
		b, _ := tensor.As[float32](near["y"])
		for i, v := range a.Elems() {
			if d := math.Abs(float64(v - b.Elems()[i])); d > 1.5 { // two steps of the last scale
				t.Errorf("%+v: element %d is %v, of floats %v", g, i, v, b.Elems()[i])
			}
		}
		fmt.Fprintln(roots, integerReceipt(t, s, m, in))
	}
	if got := hex.EncodeToString(roots.Sum(nil)); got != "1162278f64ee124af1a3dbb576a0a9df187b74806072e20da73f63c246d59df9" { // on every processor
		t.Errorf("the receipts have the digest %s", got)
	}
}

// integerReceipt makes the receipt of a run on integers and verifies it. Neither a run of floats nor another weight has it.
func integerReceipt(t *testing.T, s *Session, m *Model, in vals) receipt.Digest {
	t.Helper()
	ctx, given := context.Background(), map[string]Value{"x": TensorValue(in["x"])}
	var r, again, floats receipt.Receipt
	if _, err := s.Run(ctx, in, &Options{Receipt: &r, ReceiptNodes: true}); err != nil {
		t.Fatal(err)
	}
	var nodes []string
	for _, n := range r.Nodes {
		nodes = append(nodes, n.Node)
	}
	if want := []string{"quantizelinear1 (QuantizeLinear)", "conv1 (Conv)", "maxpool1 (MaxPool)", "flatten1 (Flatten)", "gemm1 (Gemm)", "last (DequantizeLinear)"}; r.Profile.Mode != receipt.Integers || len(nodes) != len(want) {
		t.Errorf("mode %q, nodes %q", r.Profile.Mode, nodes)
	}
	if d, err := Verify(ctx, m, &r, given, &Options{Threads: 3}); d != nil || err != nil {
		t.Errorf("%v, %v", d, err)
	}
	if _, err := VerifyNode(ctx, m, &r, nodes[1], given, nil); err == nil || !strings.Contains(err.Error(), "of a run on integers") {
		t.Errorf("a node alone: %v", err)
	}
	st, err := s.Stream(&StreamOptions{Options: Options{Receipt: &again}})
	for range 3 {
		if err == nil {
			_, err = st.Run(ctx, in)
		}
		if d, wrong := receipt.Compare(&r, &again); err != nil || d != nil || wrong != nil {
			t.Fatalf("a stream: %v, %v, %v", d, err, wrong)
		}
	}
	plain, err := NewSession(m)
	if err == nil {
		_, err = plain.Run(ctx, in, &Options{Receipt: &floats})
	}
	if d, other := receipt.Compare(&floats, &r); err != nil || other != nil || d == nil || d.What != "the mode" {
		t.Errorf("%v, %v, %v", d, other, err)
	}
	return r.Root()
}

// A node that doesn't follow the rule stays as it is, with the bits of NewSession.
func TestIntegerSessionLeaves(t *testing.T) {
	in := vals{"x": noise(rand.New(rand.NewPCG(4, 4)), 1, 3, 9, 8)}
	for name, g := range map[string]quantizedGraph{
		"Relu that the zero point doesn't do": {bias: 1, relu: true, zero: 90},
		"bias of another scale":               {bias: 1.001},
		"result that is read twice":           {bias: 1, twice: true},
	} {
		s, err := NewIntegerSession(g.model(t, false))
		if err != nil {
			t.Fatal(name, err)
		}
		if list := names(s); !slices.Contains(list, "Conv") || slices.Contains(list, "QLinearConv") || !slices.Contains(list, "QGemm") {
			t.Errorf("%s: the steps are %v", name, list)
		}
		if _, err := plainly(s, context.Background(), in, Options{}); err != nil {
			t.Error(name, err)
		}
	}
}

// A scale that is the default of an input is no constant: a run may give another one.
func TestIntegerSessionDefaults(t *testing.T) {
	m := quantizedGraph{bias: 1}.model(t, false)
	m.Graph.Inputs = append(m.Graph.Inputs, NewBuilder("").value("input", "ws", dtype.Float32, []any{1}))
	s, err := NewIntegerSession(m)
	if err != nil {
		t.Fatal(err)
	}
	if list := names(s); slices.Contains(list, "QLinearConv") || !slices.Contains(list, "QGemm") {
		t.Errorf("the steps are %v", list)
	}
}

// A session of integers counts its integer steps, and has the reason where there are none.
func TestIntegers(t *testing.T) {
	conv := func(b *Builder, weight string) string {
		scale, zero := b.Weight("scale", tensor.Scalar[float32](1).Any()), b.Weight("zero", tensor.Scalar[uint8](0).Any())
		x := b.Node("QuantizeLinear", []string{b.Input("x", dtype.Float32, 1, 1, 2, 2), scale, zero})
		x = b.Node("Conv", []string{b.Node("DequantizeLinear", []string{x, scale, zero}), weight})
		return b.Node("QuantizeLinear", []string{x, scale, zero})
	}
	for why, build := range map[string]func(b *Builder){
		"":                                func(b *Builder) { quantizedGraph{bias: 1}.build(b, false) },
		"no DequantizeLinear node":        func(b *Builder) { b.OutputOf(b.Node("Relu", []string{b.Input("x", dtype.Float32, 1)}), Type{}) },
		"the weights of 1 of its 1 Conv,": func(b *Builder) { b.OutputOf(conv(b, b.Weight("w", tensor.New[float32](1, 1, 1, 1).Any())), Type{}) },
		"as onnx.NewIntegerSession describes": func(b *Builder) { // the scale of the weights isn't a constant
			w := b.Node("DequantizeLinear", []string{b.Weight("w", tensor.New[int8](1, 1, 1, 1).Any()), b.Input("s", dtype.Float32), b.Weight("z", tensor.Scalar[int8](0).Any())})
			b.OutputOf(conv(b, w), Type{})
		},
	} {
		b := NewBuilder("g")
		build(b)
		m, err := b.Model(17)
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewIntegerSession(m)
		if err != nil {
			t.Fatal(err)
		}
		if n, got := s.Integers(); !strings.Contains(got, why) || (got == "") != (why == "") || (n > 0) != (why == "") {
			t.Errorf("%d steps, %q; want %q", n, got, why)
		}
	}
}
