package argfuzz

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/chunk"
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/judge"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/receipt"
	"github.com/ashlar-go/ashlar/tensor"
)

// TestNilContext: every function that takes a context says that it is nil.
func TestNilContext(t *testing.T) {
	ctx, none := t.Context(), context.Context(nil)
	s, how := zarr.Memory(), zarr.Metadata{DType: dtype.Float32, Shape: []int{4}, Chunks: []int{2}}
	a, err := zarr.Create(ctx, s, "a", how, nil)
	if err != nil {
		t.Fatal(err)
	}
	g, err := zarr.CreateGroup(ctx, s, "g", nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := onnx.Open("../../testdata/digits.onnx")
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	session, err := onnx.NewSession(m)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := session.Stream(nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := layout.Eval("(8,8):(8,1)")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := chunk.NewPlan(nil, chunk.Target{Array: chunk.FromTensor("x", tensor.New[float32](4).Any(), 2), Store: s, Path: "to"})
	if err != nil {
		t.Fatal(err)
	}
	x, y := tensor.New[float32](4), tensor.New[float32](2)
	image := tensor.New[float32](1, 1, 8, 8).Any()
	second := func(_ any, err error) error { return err }
	calls := map[string]func() error{
		"zarr.Create":      func() error { return second(zarr.Create(none, s, "b", how, nil)) },
		"zarr.CreateGroup": func() error { return second(zarr.CreateGroup(none, s, "h", nil)) },
		"zarr.Lock":        func() error { return second(zarr.Lock(none, s, "a", "me")) },
		"zarr.Open":        func() error { return second(zarr.Open(none, s, "a", nil)) },
		"zarr.OpenGroup":   func() error { return second(zarr.OpenGroup(none, s, "g")) },
		"zarr.Remove":      func() error { return zarr.Remove(none, s, "b") },
		"zarr.URL":         func() error { return second(zarr.URL(none, "http://127.0.0.1:1")) },
		"zarr.WriteZip":    func() error { return zarr.WriteZip(none, new(bytes.Buffer), s) },
		"ChunkSize":        func() error { _, _, err := a.ChunkSize(none, 0); return err },
		"DeleteChunk":      func() error { return a.DeleteChunk(none, 0) },
		"Finish":           func() error { return a.Finish(none) },
		"Index":            func() error { return second(a.Index(none, tensor.I(0))) },
		"Read":             func() error { return second(a.Read(none)) },
		"ReadChunk":        func() error { return second(a.ReadChunk(none, 0)) },
		"ReadInto":         func() error { return a.ReadInto(none, []int{0}, x.Any()) },
		"Slice":            func() error { return second(a.Slice(none, []int{0}, []int{2})) },
		"State":            func() error { return second(a.State(none)) },
		"StoredChunks":     func() error { return second(a.StoredChunks(none)) },
		"Write":            func() error { return a.Write(none, []int{0}, x.Any()) },
		"WriteChunk":       func() error { return a.WriteChunk(none, y.Any(), 0) },
		"Group.Arrays":     func() error { return second(g.Arrays(none)) },
		"Group.Open":       func() error { return second(g.Open(none, "a", nil)) },
		"Consolidate":      func() error { return g.Consolidate(none) },
		"FindFaults":       func() error { return second(judge.FindFaults(none, 1, 1)) },
		"SolveSwizzle":     func() error { return second(judge.SolveSwizzle(none, l, judge.NVIDIA, 16, judge.Rows(8, 1))) },
		"SolveXOR":         func() error { return second(judge.SolveXOR(none, l, judge.NVIDIA, 16, judge.Rows(8, 1))) },
		"Verify":           func() error { return second(onnx.Verify(none, m, new(receipt.Receipt), nil, nil)) },
		"VerifyNode":       func() error { return second(onnx.VerifyNode(none, m, new(receipt.Receipt), "x", nil, nil)) },
		"Call":             func() error { return second(session.Call(none, image)) },
		"Run":              func() error { return second(session.Run(none, nil, nil)) },
		"RunValues":        func() error { return second(session.RunValues(none, nil, nil)) },
		"RunSlices":        func() error { return second(onnx.RunSlices[float32](none, session, make([]float32, 64))) },
		"Stream.Run":       func() error { return second(stream.Run(none, map[string]tensor.Any{"image": image})) },
		"op.Context":       func() error { return tensor.Try(func() { op.Context(none) }) },
		"op.Threads":       func() error { return tensor.Try(func() { op.Threads(none) }) },
		"op.WithThreads":   func() error { return tensor.Try(func() { op.WithThreads(none, 1) }) },
		"Plan.Run":         func() error { return plan.Run(none, nil) },
		"Plan.Begin":       func() error { return plan.Begin(none, nil) },
		"Plan.RunTask":     func() error { return plan.RunTask(none, 0, 0) },
		"Plan.Lock":        func() error { return second(plan.Lock(none)) },
		"Plan.Receipt":     func() error { return second(plan.Receipt(none)) },
		"Plan.Finish":      func() error { return plan.Finish(none) },
		"Plan.End":         func() error { return plan.End(none) },
	}
	dir, err := zarr.Dir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	web, err := zarr.HTTP("http://127.0.0.1:1/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]zarr.Store{"memory": zarr.Memory(), "dir": dir, "HTTP": web} {
		calls[name+".Get"] = func() error { return second(s.Get(none, "a", 10)) }
		calls[name+".GetRange"] = func() error { return second(s.GetRange(none, "a", 0, 10)) }
		calls[name+".Size"] = func() error { return second(s.Size(none, "a")) }
		if name != "HTTP" { // a store of HTTP reads single keys alone
			calls[name+".List"] = func() error { return second(s.List(none, "")) }
			calls[name+".Set"] = func() error { return s.Set(none, "a", nil) }
			calls[name+".Delete"] = func() error { return s.Delete(none, "a") }
		}
	}
	for name, f := range calls {
		if err := f(); err == nil || !strings.Contains(err.Error(), "context is nil") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
