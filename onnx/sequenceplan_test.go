package onnx

import (
	"context"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

// An output that is a sequence has items of its own: a plan counts the copies of those that are inputs, weights, or there twice.
func TestPlanSequenceOutputs(t *testing.T) {
	for name, build := range map[string]func(b *Builder, x, w, y string) string{
		"new":     func(b *Builder, x, w, y string) string { return b.Node("SequenceConstruct", []string{y, y}) },
		"inputs":  func(b *Builder, x, w, y string) string { return b.Node("SequenceConstruct", []string{x, y}) },
		"weights": func(b *Builder, x, w, y string) string { return b.Node("SequenceConstruct", []string{w, y}) },
		"twice":   func(b *Builder, x, w, y string) string { return b.Node("SequenceConstruct", []string{y, x, y, w, w}) },
		"inserted": func(b *Builder, x, w, y string) string {
			return b.Node("SequenceInsert", []string{b.Node("SequenceConstruct", []string{y}), x})
		},
		"passed": func(b *Builder, x, w, y string) string {
			return b.Node("Identity", []string{b.Node("SequenceConstruct", []string{w, y})})
		},
		"views": func(b *Builder, x, w, y string) string { return b.Node("SplitToSequence", []string{y}) },
		"split": func(b *Builder, x, w, y string) string {
			return b.Node("SequenceInsert", []string{b.Node("SplitToSequence", []string{w}), y})
		},
	} {
		s := session(t, func(b *Builder) {
			x, w := b.Input("x", dtype.Float32, 30), b.Weight("w", tensor.Arange[float32](0, 30, 1).Any())
			seq := b.Rename(build(b, x, w, b.Node("Abs", []string{x})), "seq")
			b.OutputOf(seq, Type{})
		})
		in := map[string]Value{"x": TensorValue(tensor.Arange[float32](0, 30, 1).Any())}
		p, err := s.PlanValues(in)
		if err != nil || !p.Exact {
			t.Fatal(name, p, err)
		}
		if _, err := s.RunValues(context.Background(), in, &Options{MaxMemory: p.Weights + p.Live}); err != nil {
			t.Errorf("%s, planned as %d bytes: %v", name, p.Live, err)
		}
	}
}
