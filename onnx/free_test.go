package onnx

import (
	"context"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

// halves is a network that halves a picture five times, doubles the last result and adds the one before it. Networks that find text do so. The
// last steps are one: a Conv with what follows it.
func halves(b *Builder) {
	conv := func(x string, name string, stride int64) string {
		return b.Node("Conv", []string{x, b.Weight(name, tensor.Full[float32](.1, 2, 2, 3, 3).Any())}, IntsAttr("pads", 1, 1, 1, 1), IntsAttr("strides", stride, stride))
	}
	x := b.Input("x", dtype.Float32, "batch", 2, "height", "width")
	var before string
	for i := range 5 {
		before, x = x, conv(x, "down"+string(rune('0'+i)), 2)
	}
	up := b.Node("Resize", []string{x, "", b.Weight("scales", tensor.FromSlice([]float32{1, 1, 2, 2}, 4).Any())}, StringAttr("mode", "nearest"))
	y := b.Node("HardSigmoid", []string{conv(before, "side", 1)})
	b.OutputOf(b.Node("Relu", []string{b.Node("Add", []string{y, up})}), Type{})
}

// An error of a step of several nodes names the node that fails, planned or prepared, and the sizes that are free.
func TestErrorOfAFusedStep(t *testing.T) {
	s := session(t, halves)
	fused := false
	for i := range s.c.steps {
		fused = fused || len(s.c.steps[i].also) > 1
	}
	if !fused {
		t.Fatal("no step has several nodes")
	}
	run := func(h, w int) string {
		_, err := s.Run(context.Background(), vals{"x": tensor.New[float32](1, 2, h, w).Any()}, nil)
		if err == nil {
			return ""
		}
		return err.Error()
	}
	for range 3 {
		got := run(483, 500)
		for _, want := range []string{`"add1" (Add, opset 13): op.Add: shapes`, `; the sizes of input "x" are free and were [1 2 483 500]; multiples of 32 fit, as [1 2 512 512]`} {
			if !strings.Contains(got, want) {
				t.Errorf("%s; want %s in it", got, want)
			}
		}
		if got := run(64, 96); got != "" {
			t.Error(got)
		}
	}
	// Where no size would do, none is to blame.
	s = session(t, func(b *Builder) {
		x := b.Input("x", dtype.Float32, "n", 3)
		w := b.Weight("w", tensor.Full[float32](1, 3, 3).Any())
		b.OutputOf(b.Node("Add", []string{b.Node("MatMul", []string{x, w}), b.Weight("b", tensor.Full[float32](1, 2).Any())}), Type{})
	})
	if _, err := s.Run(context.Background(), vals{"x": tensor.New[float32](5, 3).Any()}, nil); err == nil || strings.Contains(err.Error(), "free") || !strings.Contains(err.Error(), `"add1"`) {
		t.Error(err)
	}
}

// The nodes of an attention are blamed each by itself.
func TestErrorOfAnAttention(t *testing.T) {
	s := session(t, func(b *Builder) {
		q, k, v := b.Input("q", dtype.Float32, "n", 4), b.Input("k", dtype.Float32, 4, "m"), b.Input("v", dtype.Float32, "o", 4)
		scores := b.Node("Softmax", []string{b.Node("Mul", []string{b.Node("MatMul", []string{q, k}), b.Weight("scale", tensor.Scalar[float32](.5).Any())})}, IntAttr("axis", -1))
		b.OutputOf(b.Node("MatMul", []string{scores, v}), Type{})
	})
	in := vals{"q": tensor.New[float32](2, 4).Any(), "k": tensor.New[float32](4, 3).Any(), "v": tensor.New[float32](6, 4).Any()}
	if _, err := s.Run(context.Background(), in, nil); len(s.c.steps) != 1 || err == nil || !strings.Contains(err.Error(), `"matmul2"`) {
		t.Errorf("%d steps: %v", len(s.c.steps), err)
	}
}
