package onnx

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// mappedModel writes a model of some products to a file and opens that.
func mappedModel(t *testing.T) (*Model, string) {
	b := NewBuilder("mapped")
	x := b.Input("x", dtype.Float32, "n", 64)
	for range 8 {
		x = b.Node("MatMul", []string{x, b.Weight(b.fresh("w"), tensor.RandomNormal[float32](1, 0, 0.1, 64, 64).Any())})
	}
	b.Output(b.Rename(x, "y"), dtype.Float32, "n", 64)
	m, err := b.Model(13)
	if err != nil {
		t.Fatal(err)
	}
	file, err := Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.onnx")
	if err := os.WriteFile(path, file, 0o644); err != nil {
		t.Fatal(err)
	}
	if m, err = Open(path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m, path
}

// A call that needs a closed model fails with tensor.ErrClosed, also through another model that has its tensors.
func TestClosedModel(t *testing.T) {
	m, _ := mappedModel(t)
	s, err := NewSession(m)
	if err != nil {
		t.Fatal(err)
	}
	a, err := m.Tensor(&m.Graph.Initializers[0])
	if err != nil {
		t.Fatal(err)
	}
	w := m.Graph.Initializers[0]
	other := &Model{IR: 8, Opsets: m.Opsets, Graph: m.Graph}
	x := map[string]tensor.Any{"x": tensor.New[float32](1, 64).Any()}
	if _, err := Encode(other); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func() error{
		"Check":           m.Check,
		"NewSession":      func() error { _, err := NewSession(m); return err },
		"NewFixedSession": func() error { _, err := NewFixedSession(m, dtype.FP16x16); return err },
		"integers":        func() error { _, err := NewIntegerSession(m); return err },
		"Tensor":          func() error { _, err := m.Tensor(&w); return err },
		"Encode":          func() error { _, err := Encode(m); return err },
		"Run":             func() error { _, err := s.Run(context.Background(), x, nil); return err },
		"Plan":            func() error { _, err := s.Plan(x); return err },
		"other's session": func() error { _, err := NewSession(other); return err },
		"other's tensor":  func() error { _, err := other.Tensor(&w); return err },
		"other's file":    func() error { _, err := Encode(other); return err },
		"clone": func() error {
			if !littleEndian { // then the tensor was a copy
				return tensor.ErrClosed
			}
			_, err := tensor.Clone(a)
			return err
		},
	} {
		if err := f(); !errors.Is(err, tensor.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if in, copied := m.Weights(); in != 0 || copied != 0 {
		t.Errorf("a closed model has %d bytes in place and %d copied", in, copied)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// A model that a program put together closes as any other does, and its sessions and streams with it. Its weights stay the
// program's.
func TestClosedBuilt(t *testing.T) {
	b := NewBuilder("built")
	b.Output(b.Node("Mul", []string{b.Input("x", dtype.Float32, 1), b.Weight("w", vec(2))}), dtype.Float32, 1)
	m, err := b.Model(17)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSession(m)
	if err != nil {
		t.Fatal(err)
	}
	st, err := s.Stream(nil)
	if err != nil {
		t.Fatal(err)
	}
	in := vals{"x": vec(3)}
	for range 3 {
		if _, err := st.Run(context.Background(), in); err != nil {
			t.Fatal(err)
		}
	}
	other := &Model{IR: 8, Opsets: m.Opsets, Graph: m.Graph}
	for range 2 {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	for name, f := range map[string]func() error{
		"Check":      m.Check,
		"NewSession": func() error { _, err := NewSession(m); return err },
		"Encode":     func() error { _, err := Encode(m); return err },
		"Tensor":     func() error { _, err := m.Tensor(&m.Graph.Initializers[0]); return err },
		"Run":        func() error { _, err := s.Run(context.Background(), in, nil); return err },
		"Stream":     func() error { _, err := s.Stream(nil); return err },
		"Stream.Run": func() error { _, err := st.Run(context.Background(), in); return err },
	} {
		if err := f(); !errors.Is(err, tensor.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if in, copied := m.Weights(); in != 0 || copied != 0 {
		t.Errorf("a closed model has %d bytes in place and %d copied", in, copied)
	}
	if err := errors.Join(other.Check(), st.Close()); err != nil {
		t.Error(err)
	}
}

// A model that is closed while it runs: each run gives its result or tensor.ErrClosed.
func TestCloseWhileRunning(t *testing.T) {
	for range 20 {
		m, _ := mappedModel(t)
		s, err := NewSession(m)
		if err != nil {
			t.Fatal(err)
		}
		x := map[string]tensor.Any{"x": tensor.New[float32](64, 64).Any()}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for {
					if _, err := s.Run(context.Background(), x, nil); err != nil {
						if !errors.Is(err, tensor.ErrClosed) {
							t.Error(err)
						}
						return
					}
				}
			})
		}
		time.Sleep(2 * time.Millisecond)
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
	}
}

// A model that nobody closes gives its mapping back once nothing refers to it; a session of it keeps it.
func TestModelIsCollected(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("which files are mapped is read from /proc")
	}
	m, path := mappedModel(t)
	m.Close()
	mapped := func() bool {
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(maps), path)
	}
	s := func() *Session {
		m, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewSession(m)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}()
	runtime.GC()
	if _, err := s.Run(context.Background(), map[string]tensor.Any{"x": tensor.New[float32](1, 64).Any()}, nil); err != nil || !mapped() {
		t.Fatalf("a session runs: %v; its file is mapped: %v", err, mapped())
	}
	s = nil
	for mapped() {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}

// A file that becomes shorter under a model is an error of the model's methods.
func TestShrunkModel(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems differ in what becomes of the pages beyond a file's end")
	}
	m, path := mappedModel(t)
	s, err := NewSession(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	x := map[string]tensor.Any{"x": tensor.New[float32](1, 64).Any()}
	if _, err := s.Run(context.Background(), x, nil); !errors.Is(err, mem.ErrShrunk) {
		t.Errorf("Run: %v", err)
	}
	if _, err := NewFixedSession(m, dtype.FP16x16); !errors.Is(err, mem.ErrShrunk) {
		t.Errorf("NewFixedSession: %v", err)
	}
	if _, err := Encode(m); !errors.Is(err, mem.ErrShrunk) {
		t.Errorf("Encode: %v", err)
	}
}

// A missing model, session, tensor or context is an error.
func TestNothing(t *testing.T) {
	m, _ := mappedModel(t)
	s, err := NewSession(m)
	if err != nil {
		t.Fatal(err)
	}
	var none *Model
	var noContext context.Context
	for name, f := range map[string]func() error{
		"Check":           none.Check,
		"NewSession":      func() error { _, err := NewSession(nil); return err },
		"NewFixedSession": func() error { _, err := NewFixedSession(nil, dtype.FP16x16); return err },
		"integers":        func() error { _, err := NewIntegerSession(nil); return err },
		"Model.Tensor":    func() error { _, err := none.Tensor(&TensorProto{}); return err },
		"Tensor":          func() error { _, err := m.Tensor(nil); return err },
		"Encode":          func() error { _, err := Encode(nil); return err },
		"OpenFS":          func() error { _, err := OpenFS(nil, "m"); return err },
		"NewTensorProto":  func() error { _, err := NewTensorProto("w", tensor.Any{}); return err },
		"TensorAttr":      func() error { _, err := TensorAttr("w", tensor.Any{}); return err },
		"Session.Run":     func() error { _, err := (*Session)(nil).Run(context.Background(), nil, nil); return err },
		"Session.Plan":    func() error { _, err := new(Session).Plan(nil); return err },
		"Run": func() error {
			_, err := s.Run(noContext, map[string]tensor.Any{"x": tensor.New[float32](1, 64).Any()}, nil)
			return err
		},
		"outputs": func() error { b := new(Builder); b.Nodes("Split", -1, nil); _, err := b.Model(13); return err },
	} {
		if err := f(); !errors.Is(err, tensor.ErrValue) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if none.Close() != nil || none.Opset("") != 0 || none.Inputs() != nil || (*Node)(nil).Attr("x") != nil || (*TensorProto)(nil).Storage() != "" {
		t.Error("no model has something")
	}
}
