package onnx

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/tensortest"
)

// Nodes of other domains run where package op has their operators, at the opset of the domain.
func TestDomains(t *testing.T) {
	graph := pb{}.str(2, "g").
		bytes(11, valueOf("x", tensorType(1, 3))).
		bytes(1, nodeOf("Gelu", "x", "a").str(7, "com.microsoft")).
		bytes(1, nodeOf("QuickGelu", "a", "b").str(7, "com.microsoft")).
		bytes(1, nodeOf("Binarizer", "b", "y").str(7, "ai.onnx.ml")).
		bytes(12, valueOf("y", tensorType(1, 3)))
	model := modelOf(graph)
	x := tensor.FromSlice([]float32{-1, 0, 2})
	g := op.Gelu(x)
	want := op.Cast[float32](op.Greater(op.Mul(g, op.Sigmoid(op.Mul(g, tensor.Scalar[float32](1.702)))), tensor.Scalar[float32](0)))
	runs := func(model pb, assumed string) {
		t.Helper()
		m := mustDecode(t, model)
		if got := fmt.Sprint(m.AssumedOpsets()); got != assumed {
			t.Errorf("the opsets that are taken are %s, want %s", got, assumed)
		}
		s, err := NewSession(m)
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.Run(context.Background(), map[string]tensor.Any{"x": x.Any()}, nil)
		if err != nil {
			t.Fatal(err)
		}
		tensortest.Equal(t, out["y"], want.Any())
		in := map[string]Value{"x": TensorValue(x.Any())}
		if d, err := VerifyNode(context.Background(), m, receiptOf(t, m, in, Options{ReceiptNodes: true}), "a", in, nil); d != nil || err != nil {
			t.Errorf("the receipt of a node: %v, %v", d, err)
		}
	}
	runs(model, "[{com.microsoft 1} {ai.onnx.ml 5}]") // as ONNX Runtime
	runs(model.bytes(8, pb{}.str(1, "com.microsoft").int(2, 1)).bytes(8, pb{}.str(1, "ai.onnx.ml").int(2, 3)), "[]")
}

// A domain that isn't imported is an error where it is ONNX's own or no domain of the library. Domains that a function imports count in it.
func TestDomainsNotImported(t *testing.T) {
	for domain, want := range map[string]string{
		"":             "the model doesn't say which opset its nodes are of",
		"ai.onnx":      "the model doesn't say which opset its nodes are of",
		"org.example":  `the model imports no opset of the domain "org.example"`,
		"com.microsof": `the model imports no opset of the domain "com.microsof"`,
	} {
		m := &Model{IR: 8, Opsets: []Opset{{microsoftDomain, 1}}, Graph: &Graph{Name: "g", Nodes: []Node{{Op: "Gelu", Domain: domain, Inputs: []string{"x"}, Outputs: []string{"y"}}},
			Inputs: []ValueInfo{{Name: "x", Type: Type{Kind: KindTensor, Elem: ElemOf(dtype.Float32)}}}, Outputs: []ValueInfo{{Name: "y"}}}}
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("domain %q: %v", domain, err)
		}
		if got := m.AssumedOpsets(); got != nil {
			t.Errorf("domain %q: %v are taken", domain, got)
		}
		m.Functions = []Function{{Domain: "f", Name: "F", Opsets: []Opset{{mlDomain, 1}}, Nodes: []Node{{Op: "Binarizer", Domain: mlDomain}, {Op: "FlexAttention", Domain: preview}}}}
		if got := fmt.Sprint(m.AssumedOpsets()); got != "[{ai.onnx.preview 1}]" {
			t.Errorf("%s are taken of the function's domains", got)
		}
	}
}
