package onnx

import (
	"context"
	"errors"
	"math"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// heavy are models whose operators make copies and other steps on the way to their results, and the shape of their input.
var heavy = map[string]struct {
	d     dtype.DType
	shape []int
	build func(b *Builder, x string) string
}{
	"channel shuffle": {dtype.Float32, []int{1, 64, 64, 64}, func(b *Builder, x string) string {
		v := b.Node("Reshape", []string{x, b.Weight("to", tensor.FromSlice([]int64{1, 2, 32, 64, 64}).Any())})
		v = b.Node("Transpose", []string{v}, IntsAttr("perm", 0, 2, 1, 3, 4))
		v = b.Node("Reshape", []string{v, b.Weight("back", tensor.FromSlice([]int64{1, 64, 64, 64}).Any())})
		return b.Node("Gather", []string{v, b.Weight("half", tensor.Arange[int64](0, 32, 1).Any())}, IntAttr("axis", 1))
	}},
	"convolutions of float16": {dtype.Float16, []int{1, 32, 64, 64}, func(b *Builder, x string) string {
		w, err := tensor.Make(dtype.Float16, 32, 32, 3, 3)
		if err != nil {
			panic(err)
		}
		for i := range 3 {
			x = b.Node("Relu", []string{b.Node("Conv", []string{x, b.Weight(string(rune('a'+i)), w)}, IntsAttr("pads", 1, 1, 1, 1))})
		}
		return x
	}},
	"products of transposed matrices": {dtype.Float32, []int{300, 700}, func(b *Builder, x string) string {
		t := b.Node("Transpose", []string{x})
		t = b.Node("MatMul", []string{b.Node("MatMul", []string{x, t}), x})
		return b.Node("Softmax", []string{b.Node("Transpose", []string{t})}, IntAttr("axis", 0))
	}},
	"a long line": {dtype.Float32, []int{1, 16, 100000}, func(b *Builder, x string) string {
		x = b.Node("Conv", []string{x, b.Weight("w", tensor.Full[float32](0.1, 16, 16, 3).Any())})
		return b.Node("ReduceMean", []string{x}, IntsAttr("axes", 2))
	}},
	"attention": {dtype.Float32, []int{1, 4, 256, 64}, func(b *Builder, x string) string {
		return b.Node("Attention", []string{x, x, x})
	}},
}

// TestMemory runs models with the least limit that their plan admits, and looks at the memory they took. One byte less is refused.
func TestMemory(t *testing.T) {
	const small = 256 << 10 // bytes of all but tensors
	for name, h := range heavy {
		b := NewBuilder(name)
		x := b.Input("x", h.d, wholes(h.shape)...)
		y := b.Rename(h.build(b, x), "y")
		b.OutputOf(y, Type{})
		opset := int64(23)
		if name == "a long line" {
			opset = 13
		}
		m, err := b.Model(opset)
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewSession(m)
		if err != nil {
			t.Fatal(err)
		}
		a, err := tensor.Make(h.d, h.shape...)
		if err != nil {
			t.Fatal(err)
		}
		in := map[string]tensor.Any{"x": a}
		p, err := s.Plan(in)
		if err != nil || !p.Exact {
			t.Fatalf("%s: plan %+v, %v", name, p, err)
		}
		limit := p.Weights + p.Live
		took, left := int64(math.MaxInt64), int64(math.MaxInt64)
		for range 5 { // some runs fill pools
			mem.SetBound(mem.SetBound(1 << 30))
			live := mem.Stats().Live
			out, err := s.Run(context.Background(), in, &Options{MaxMemory: limit})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			took = min(took, mem.Stats().Peak-live)
			out["y"].Close()
			left = min(left, mem.Stats().Live-live)
		}
		if left > 0 && !raced() {
			t.Errorf("%s: %d bytes are left", name, left)
		}
		if took > p.Live+small && !raced() {
			t.Errorf("%s: it took %d bytes, the plan says %d", name, took, p.Live)
		}
		t.Logf("%s: took %.2f of the plan's %.1f MiB", name, float64(took)/float64(p.Live), float64(p.Live)/(1<<20))
		var e *MemoryError
		if _, err := s.Run(context.Background(), in, &Options{MaxMemory: limit - 1}); !errors.As(err, &e) || e.Need != limit {
			t.Errorf("%s: one byte less gives %v", name, err)
		}
	}
}

// raced reports whether the race detector is on, under which a sync.Pool drops some of its items.
func raced() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

func wholes(shape []int) (dims []any) {
	for _, n := range shape {
		dims = append(dims, n)
	}
	return dims
}
