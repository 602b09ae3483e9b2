package onnx

import (
	"context"
	"strings"
	"testing"

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
	if err := mustDecode(t, model).Check(); err == nil || !strings.Contains(err.Error(), `the model imports no opset of the domain "com.microsoft"`) {
		t.Errorf("without imports: %v", err)
	}
	model = model.bytes(8, pb{}.str(1, "com.microsoft").int(2, 1)).bytes(8, pb{}.str(1, "ai.onnx.ml").int(2, 3))
	s, err := NewSession(mustDecode(t, model))
	if err != nil {
		t.Fatal(err)
	}
	x := tensor.FromSlice([]float32{-1, 0, 2})
	out, err := s.Run(context.Background(), map[string]tensor.Any{"x": x.Any()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	g := op.Gelu(x)
	want := op.Cast[float32](op.Greater(op.Mul(g, op.Sigmoid(op.Mul(g, tensor.Scalar[float32](1.702)))), tensor.Scalar[float32](0)))
	tensortest.Equal(t, out["y"], want.Any())
}
