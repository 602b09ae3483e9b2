package onnx

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/tensortest"
)

// session builds a model, writes it, reads it back and opens a session.
func session(t *testing.T, build func(b *Builder)) *Session {
	t.Helper()
	b := NewBuilder("g")
	build(b)
	m, err := b.Model(13)
	if err != nil {
		t.Fatal(err)
	}
	file, err := Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	if m, err = Decode(file); err != nil {
		t.Fatal(err)
	}
	s, err := NewSession(m)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustRun(t *testing.T, s *Session, inputs map[string]tensor.Any) map[string]tensor.Any {
	t.Helper()
	out, err := s.Run(context.Background(), inputs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

type vals = map[string]tensor.Any

func vec(v ...float32) tensor.Any { return tensor.FromSlice(v, len(v)).Any() }

func checkVec(t *testing.T, a tensor.Any, want ...float32) {
	t.Helper()
	if a.IsZero() {
		t.Error("no such output")
		return
	}
	if got := elements(t, a); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// relu(x + w) + x
func residual(b *Builder) {
	x := b.Input("x", dtype.Float32, 3)
	y := b.Node("Relu", []string{b.Node("Add", []string{x, b.Weight("w", vec(1, -1, 0))})})
	b.Output(b.Rename(b.Node("Add", []string{y, x}), "y"), dtype.Float32, 3)
}

func TestRun(t *testing.T) {
	s := session(t, residual)
	x := vec(1, 0, -5)
	for range 2 { // the weights survive a run
		checkVec(t, mustRun(t, s, vals{"x": x})["y"], 3, 0, -5)
	}
	checkVec(t, x, 1, 0, -5)
}

func TestRunConcurrently(t *testing.T) {
	s := session(t, network)
	r := rand.New(rand.NewPCG(3, 4))
	var inputs [4]vals
	var want [4][]byte
	for i := range inputs {
		inputs[i] = vals{"x": noise(r, 1, 3, 16, 16)}
		want[i] = bitsOf(mustRun(t, s, inputs[i])["y"])
	}
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			for k := range 5 {
				at := (i + k) % len(inputs)
				out, err := s.Run(context.Background(), inputs[at], &Options{Threads: i % 3})
				if err != nil {
					t.Error(err)
					return
				}
				if !bytes.Equal(bitsOf(out["y"]), want[at]) {
					t.Errorf("goroutine %d, run %d: other bits than alone", i, k)
				}
			}
		})
	}
	wg.Wait()
}

// Before IR version 4 initializers are inputs too: such an input may be given or left out.
func TestInitializerAsInput(t *testing.T) {
	s := session(t, func(b *Builder) {
		x := b.Input("x", dtype.Float32, 2)
		b.Weight("w", vec(10, 20))
		b.Output(b.Rename(b.Node("Add", []string{x, b.Input("w", dtype.Float32, 2)}), "y"), dtype.Float32, 2)
	})
	checkVec(t, mustRun(t, s, vals{"x": vec(1, 2)})["y"], 11, 22)
	checkVec(t, mustRun(t, s, vals{"x": vec(1, 2), "w": vec(5, 6)})["y"], 6, 8)
	checkVec(t, mustRun(t, s, vals{"x": vec(1, 2)})["y"], 11, 22)
	if in := s.c.m.Inputs(); len(in) != 1 || in[0].Name != "x" {
		t.Errorf("inputs that are needed: %v", in)
	}
}

func TestInputErrors(t *testing.T) {
	s := session(t, func(b *Builder) {
		x := b.Input("x", dtype.Float32, "batch", 1, nil)
		y := b.Input("y", dtype.Float32, "batch", 1, "n")
		b.Output(b.Node("Add", []string{x, y}), dtype.Float32, "batch", 1, nil)
	})
	ok := tensor.New[float32](2, 1, 3)
	for _, c := range []struct {
		in   vals
		want string
	}{
		{vals{"x": ok.Any()}, `onnx: no value for the input y float32[batch,1,n]`},
		{vals{}, `onnx: no value for the input x float32[batch,1,?], y float32[batch,1,n]`},
		{vals{"x": ok.Any(), "y": ok.Any(), "z": ok.Any()}, `onnx: there is no input "z"; the inputs are x, y`},
		{vals{"x": ok.Any(), "Y": ok.Any(), "X": ok.Any()}, `onnx: no value for the input y float32[batch,1,n]; there is no input "X", "Y"`},
		{vals{"x": ok.Any(), "y": tensor.Any{}}, `onnx: input "y": wants float32[batch,1,n], got nil`},
		{vals{"x": tensor.New[float64](2, 1, 3).Any(), "y": ok.Any()}, `onnx: input "x": wants float32[batch,1,?], got float64[2,1,3]: convert it with op.Cast, or by astype in NumPy`},
		{vals{"x": tensor.New[float32](2, 3).Any(), "y": ok.Any()}, `onnx: input "x": wants float32[batch,1,?], got float32[2,3]: the rank is 2, not 3`},
		{vals{"x": tensor.New[float32](2, 2, 3).Any(), "y": ok.Any()}, `onnx: input "x": wants float32[batch,1,?], got float32[2,2,3]: axis 1 is 2, not 1`},
		{vals{"x": ok.Any(), "y": tensor.New[float32](4, 1, 3).Any()}, `onnx: input "y": wants float32[batch,1,n], got float32[4,1,3]: axis 0 is 4, but input "x" made "batch" 2`},
		{vals{"x": spec(t, dtype.Float32, 2, 1, 3), "y": ok.Any()}, `onnx: input "x": it is a description without elements`},
		{vals{"x": tensor.New[float32](2, 1, 4).Any(), "y": ok.Any()}, `onnx: node 0 "add1" (Add, opset 13): op.Add: shapes (2,1,4) and (2,1,3) don't broadcast: axis 2 is 4 and 3; the sizes of input "y" are free and were [2 1 3]; multiples of 2 fit, as [2 1 4]`},
	} {
		if _, err := s.Run(context.Background(), c.in, nil); err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
	mustRun(t, s, vals{"x": ok.Any(), "y": ok.Any()})
}

// A node that names more outputs than its operator gives is found before anything runs.
func TestTooManyOutputs(t *testing.T) {
	s := session(t, func(b *Builder) {
		list := b.Nodes("Relu", 2, []string{b.Input("x", dtype.Float32, "n")})
		b.Output(b.Node("Add", list), dtype.Float32, "n")
	})
	want := `onnx: node 0 "relu1" (Relu, opset 13): it names 2 outputs, the operator gives 1`
	if _, err := s.Plan(vals{"x": vec(1, 2)}); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func spec(t *testing.T, d dtype.DType, shape ...int) tensor.Any {
	t.Helper()
	s, err := tensor.NewSpec(d, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return s.Any()
}

// spied sees the results of an operator, and may change them.
type spied = func(c *op.Call, outs []tensor.Any, err error) ([]tensor.Any, error)

// spy returns an operator that stands in for o; infer and run may be nil.
func spy(o *op.Op, infer, run spied) *op.Op {
	through := func(f func(*op.Op, *op.Call) ([]tensor.Any, error), see spied) func(c *op.Call) ([]tensor.Any, error) {
		return func(c *op.Call) ([]tensor.Any, error) {
			outs, err := f(o, c)
			if see != nil {
				return see(c, outs, err)
			}
			return outs, err
		}
	}
	return op.New(op.Info{Name: o.Name(), Domain: o.Domain(), Versions: o.Versions(), Attributes: o.Attributes(), Supports: o.Supports},
		through((*op.Op).Infer, infer), through((*op.Op).Run, run))
}

// closed reports whether a's storage was given back.
func closed(a tensor.Any) bool {
	err := tensor.Try(func() { a.At(0) })
	return errors.Is(err, tensor.ErrClosed)
}

// Results are closed as soon as no later node needs them; a view of their elements counts as needing them. Inputs,
// weights and outputs stay.
func TestResultsAreClosed(t *testing.T) {
	s := session(t, func(b *Builder) {
		x := b.Input("x", dtype.Float32, 2)
		w := b.Weight("w", vec(1, 1))
		a := b.Node("Relu", []string{x})   // 0
		v := b.Node("Relu", []string{a})   // 1: a view of a
		c := b.Node("Add", []string{v, w}) // 2
		d := b.Node("Relu", []string{w})   // 3: a view of w
		e := b.Node("Add", []string{c, d}) // 4
		f := b.Node("Relu", []string{e})   // 5: a view of e, and an output
		b.Node("Relu", []string{x})        // 6: nobody reads it
		b.Node("Relu", []string{w})        // 7: a view of w that nobody reads
		g := b.Node("Relu", []string{x})   // 8: a view of x, and an output
		y := b.Node("Add", []string{f, c}) // 9
		b.Output(b.Rename(y, "y"), dtype.Float32, 2)
		b.Output(b.Rename(f, "f"), dtype.Float32, 2)
		b.Output(b.Rename(g, "g"), dtype.Float32, 2)
		b.Output(w, dtype.Float32, 2)
	})
	made := make(map[int]tensor.Any)
	view := map[int]bool{1: true, 3: true, 5: true, 7: true, 8: true}
	wantClosed := map[int][]int{2: {0, 1}, 6: {6}, 9: {2}} // after step → results closed by it
	for i := range s.c.ops {
		s.c.steps[i].folded = false
		s.c.ops[i] = spy(s.c.ops[i], nil, func(c *op.Call, outs []tensor.Any, err error) ([]tensor.Any, error) {
			if view[i] {
				outs = []tensor.Any{c.Inputs[0]}
			}
			made[i] = outs[0]
			return outs, err
		})
	}
	gone := make(map[int]bool)
	x := vec(1, 2)
	out, err := s.Run(context.Background(), vals{"x": x}, &Options{Progress: func(done, total int, n *Node) {
		if total != 10 || n == nil {
			t.Errorf("progress %d of %d at %v", done, total, n)
		}
		for _, i := range wantClosed[done-1] {
			gone[i] = true
		}
		for i, a := range made {
			if closed(a) != gone[i] {
				t.Errorf("after node %d: result of node %d closed: %v, want %v", done-1, i, closed(a), gone[i])
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	checkVec(t, out["y"], 5, 7)
	checkVec(t, out["f"], 3, 4)
	checkVec(t, out["g"], 1, 2)
	checkVec(t, out["w"], 1, 1)
	if out["g"].SameData(x) || out["w"].SameData(s.c.vals[s.c.inits[0]].a) {
		t.Error("an output shares elements with an input or a weight")
	}
	if closed(x) {
		t.Error("the input was closed")
	}
	for name, a := range out {
		if err := a.Close(); err != nil {
			t.Errorf("closing %s: %v", name, err)
		}
	}
	checkVec(t, mustRun(t, s, vals{"x": vec(0, 0)})["w"], 1, 1)
}

// A run that fails gives back its memory.
func TestErrorsOfNodes(t *testing.T) {
	s := session(t, residual)
	var first tensor.Any
	s.c.ops[0] = spy(s.c.ops[0], nil, func(_ *op.Call, outs []tensor.Any, err error) ([]tensor.Any, error) {
		first = outs[0]
		return outs, err
	})
	relu := s.c.ops[1]
	broken := &tensor.Error{Op: "op.Relu", Text: "it is broken", Err: tensor.ErrValue}
	s.c.ops[1] = spy(relu, nil, func(*op.Call, []tensor.Any, error) ([]tensor.Any, error) { return nil, broken })
	_, err := s.Run(context.Background(), vals{"x": vec(1, 2, 3)}, nil)
	if want := `onnx: node 1 "relu1" (Relu, opset 13): Relu: op.Relu: it is broken`; err == nil || err.Error() != want || !errors.Is(err, tensor.ErrValue) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if !closed(first) {
		t.Error("a result is left open after the error")
	}
	s.c.ops[1] = spy(relu, nil, func(*op.Call, []tensor.Any, error) ([]tensor.Any, error) { return nil, nil })
	_, err = s.Run(context.Background(), vals{"x": vec(1, 2, 3)}, nil)
	if want := `onnx: node 1 "relu1" (Relu, opset 13): Relu: its run returns 0 results, its infer says 1`; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.c.ops[1] = spy(relu, nil, func(_ *op.Call, outs []tensor.Any, err error) ([]tensor.Any, error) { cancel(); return outs, err })
	_, err = s.Run(ctx, vals{"x": vec(1, 2, 3)}, nil)
	if want := `onnx: node 2 "add2" (Add, opset 13): context canceled`; !errors.Is(err, context.Canceled) || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// Plan's figures, counted by hand: 4 bytes × 256 elements = 1024 per value.
func TestPlan(t *testing.T) {
	s := session(t, func(b *Builder) {
		x := b.Input("x", dtype.Float32, "n", 256)
		a := b.Node("Add", []string{x, b.Weight("w", tensor.New[float32](1, 256).Any())}) // live: a
		c := b.Node("Relu", []string{a})                                                  // a c
		d := b.Node("Concat", []string{a, c, c}, IntAttr("axis", 0))                      // a c d, which is three of them
		e := b.Node("Relu", []string{d})                                                  // d e
		b.Output(e, dtype.Float32, nil, 256)
	})
	for _, n := range []int{1, 5, 0} {
		p, err := s.Plan(vals{"x": spec(t, dtype.Float32, n, 256)})
		if err != nil {
			t.Fatal(err)
		}
		want := Plan{Weights: 1024, Live: int64(n) * 6 * 1024, Node: `node 3 "relu2" (Relu, opset 13)`, Exact: true}
		if n == 0 {
			want.Node = ""
		}
		if p.Weights != want.Weights || p.Live != want.Live || p.Node != want.Node || p.Exact != want.Exact {
			t.Errorf("n = %d: got %+v, want %+v", n, *p, want)
		}
	}
}

func TestMaxMemory(t *testing.T) {
	s := session(t, func(b *Builder) {
		x := b.Input("x", dtype.Float32, nil)
		b.Output(b.Node("Add", []string{b.Node("Concat", []string{x, x, x}, IntAttr("axis", 0)), b.Weight("w", vec(1))}), dtype.Float32, nil)
	})
	x := tensor.New[float32](1 << 20)
	run := func(limit int64) error {
		_, err := s.Run(context.Background(), vals{"x": x.Any()}, &Options{MaxMemory: limit})
		return err
	}
	const need = 24<<20 + 4
	for _, limit := range []int64{need, -1, 0} {
		if err := run(limit); err != nil {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
	var m *MemoryError
	err := run(need - 1)
	want := `onnx: the run needs 24.0 MiB (weights 4 bytes, results 24.0 MiB at node 1 "add1" (Add, opset 13)), more than the limit of 24.0 MiB; raise Options.MaxMemory or give smaller inputs`
	if !errors.As(err, &m) || !errors.Is(err, tensor.ErrMemory) || m.Need != need || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if _, err := s.Run(context.Background(), vals{"x": tensor.New[float32](1).Any()}, &Options{MaxMemory: 100}); err != nil {
		t.Error(err)
	}

	// Sizes that show only on the way are held to the same limit, before the node runs where they can be inferred then.
	unknown := func(*op.Call, []tensor.Any, error) ([]tensor.Any, error) {
		return nil, fmt.Errorf("later: %w", op.ErrUnknown)
	}
	for _, late := range []bool{false, true} {
		concat := s.c.ops[0]
		calls, ran := 0, false
		s.c.ops[0] = spy(concat, func(c *op.Call, outs []tensor.Any, err error) ([]tensor.Any, error) {
			if calls++; calls == 1 || late {
				return unknown(c, outs, err)
			}
			return outs, err
		}, func(_ *op.Call, outs []tensor.Any, err error) ([]tensor.Any, error) { ran = true; return outs, err })
		err := run(8 << 20)
		if !errors.As(err, &m) || !strings.HasPrefix(err.Error(), `onnx: node 0 "concat1" (Concat, opset 13): the run needs 12.0 MiB (weights 4 bytes, results so far`) {
			t.Errorf("late %v: got %v", late, err)
		}
		if ran != late {
			t.Errorf("late %v: the node ran: %v", late, ran)
		}
		calls = 0
		if err := run(-1); err != nil {
			t.Error(err)
		}
		calls = 0
		if p, err := s.Plan(vals{"x": x.Any()}); err != nil || p.Exact || p.Live != 0 {
			t.Errorf("got %+v, %v", p, err)
		}
		s.c.ops[0] = concat
	}
}

// Element types that operators refuse are all listed before the first node runs, types that only the inputs decide too.
func TestRefusedTypes(t *testing.T) {
	s := session(t, func(b *Builder) {
		x := b.Input("x", dtype.Float32, nil)
		a := b.Node("Relu", []string{b.Node("Relu", []string{x})})
		b.Output(a, dtype.Float32, nil)
		b.Output(b.Node("Relu", []string{x}), dtype.Float32, nil)
	})
	refuse := func(*op.Call, []tensor.Any, error) ([]tensor.Any, error) {
		return nil, &tensor.Error{Op: "op.Relu", Text: "not today", Err: tensor.ErrDType}
	}
	odd := func(*op.Call, []tensor.Any, error) ([]tensor.Any, error) {
		return nil, &tensor.Error{Op: "op.Relu", Text: "not like this", Err: op.ErrUnsupported}
	}
	ran := false
	s.c.ops[0] = spy(s.c.ops[0], nil, func(_ *op.Call, outs []tensor.Any, err error) ([]tensor.Any, error) { ran = true; return outs, err })
	s.c.ops[1] = spy(s.c.ops[1], refuse, nil)
	s.c.ops[2] = spy(s.c.ops[2], odd, nil)
	_, err := s.Run(context.Background(), vals{"x": vec(1)}, nil)
	var u *UnsupportedError
	if !errors.As(err, &u) || len(u.List) != 2 || ran || u.List[0].String() != `node 1 "relu2" (Relu, opset 13): Relu: op.Relu: not today` ||
		u.List[1].String() != `node 2 "relu3" (Relu, opset 13): Relu: op.Relu: not like this` {
		t.Errorf("got %v, ran: %v", err, ran)
	}
}

func TestConstants(t *testing.T) {
	file := modelOf(pb{}.str(2, "g").bytes(11, valueOf("x", tensorType(1, 2))).
		bytes(1, pb{}.str(2, "v").str(4, "Constant").bytes(5, pb{}.str(1, "value").bytes(5, pb{}.packed(1, 2).int(2, 1).f32(4, 1).f32(4, 2)).int(20, 4))).
		bytes(1, pb{}.str(2, "f").str(4, "Constant").bytes(5, pb{}.str(1, "value_float").f32(2, 10).int(20, 1))).
		bytes(1, pb{}.str(2, "fs").str(4, "Constant").bytes(5, pb{}.str(1, "value_floats").f32(7, 100).f32(7, 200).int(20, 6))).
		bytes(1, pb{}.str(2, "i").str(4, "Constant").bytes(5, pb{}.str(1, "value_int").int(3, 7).int(20, 2))).
		bytes(1, pb{}.str(2, "is").str(4, "Constant").bytes(5, pb{}.str(1, "value_ints").packed(8, 1, 2, 3).int(20, 7))).
		bytes(1, pb{}.str(1, "x").str(1, "v").str(2, "a").str(4, "Add")).
		bytes(1, pb{}.str(1, "a").str(1, "f").str(2, "b").str(4, "Add")).
		bytes(1, pb{}.str(1, "b").str(1, "fs").str(2, "y").str(4, "Add")).
		bytes(1, pb{}.str(1, "is").str(1, "i").str(2, "z").str(4, "Add")).
		bytes(12, valueOf("y", nil)).bytes(12, valueOf("z", nil)).bytes(12, valueOf("is", nil)))
	s, err := NewSession(mustDecode(t, file))
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	out, err := s.Run(context.Background(), vals{"x": vec(0, 0)}, &Options{Progress: func(_, n int, _ *Node) { total = n }})
	if err != nil {
		t.Fatal(err)
	}
	checkVec(t, out["y"], 111, 212)
	if got := elements(t, out["z"]); !reflect.DeepEqual(got, []int64{8, 9, 10}) {
		t.Errorf("z: %v", got)
	}
	if got := elements(t, out["is"]); !reflect.DeepEqual(got, []int64{1, 2, 3}) {
		t.Errorf("is: %v", got)
	}
	if total != 3 { // z follows from constants
		t.Errorf("%d nodes to run, want 3", total)
	}
}

// Weights that Encode wrote are used in the mapped file; misaligned weights are copied.
func TestWeightsInPlace(t *testing.T) {
	b := NewBuilder("g")
	x := b.Input("x", dtype.Float32, 2)
	b.Output(b.Rename(b.Node("Add", []string{x, b.Weight("w", vec(1, 2))}), "y"), dtype.Float32, 2)
	m, err := b.Model(13)
	if err != nil {
		t.Fatal(err)
	}
	file, err := Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	shifted := append(pb{}.str(2, "a"), file...) // moves everything by three bytes
	for _, c := range []struct {
		name            string
		file            []byte
		inPlace, copied int64
	}{{"aligned", file, 8, 0}, {"shifted", shifted, 0, 8}} {
		if !littleEndian { // then all are copied
			c.inPlace, c.copied = 0, 8
		}
		path := filepath.Join(t.TempDir(), c.name+".onnx")
		if err := os.WriteFile(path, c.file, 0o666); err != nil {
			t.Fatal(err)
		}
		m, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if p, k := m.Weights(); p != c.inPlace || k != c.copied {
			t.Errorf("%s: %d bytes in place, %d copied; want %d, %d", c.name, p, k, c.inPlace, c.copied)
		}
		s, err := NewSession(m)
		if err != nil {
			t.Fatal(err)
		}
		raw := m.Graph.Initializers[0].Raw
		mem, _ := tensor.Bytes(s.c.vals[s.c.inits[0]].a)
		if same := &raw[0] == &mem[0]; same != (c.inPlace > 0) {
			t.Errorf("%s: the weight is the file's own bytes: %v", c.name, same)
		}
		checkVec(t, mustRun(t, s, vals{"x": vec(1, 1)})["y"], 2, 3)
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAttributeKinds(t *testing.T) {
	a := &attrs{node: &Node{Attributes: []Attribute{IntAttr("i", 3), IntsAttr("is", 1, 2), FloatAttr("f", 2.5), FloatsAttr("fs", 1), StringAttr("s", "x"),
		{Name: "t", Type: AttrTensor, Value: &TensorProto{}}}}, tensors: map[string]Value{"t": {a: vec(1)}}}
	if !a.Has("i") || a.Has("none") || a.Int("i", 0) != 3 || a.Int("none", 9) != 9 || a.Float("f", 0) != 2.5 || a.Float("none", 1) != 1 || a.Str("s", "") != "x" || a.Str("none", "d") != "d" {
		t.Error("a scalar is read wrong")
	}
	if v, ok := a.Ints("is"); !ok || len(v) != 2 {
		t.Error("ints are read wrong")
	}
	if v, ok := a.Floats("fs"); !ok || len(v) != 1 {
		t.Error("floats are read wrong")
	}
	if v, ok := a.Tensor("t"); !ok || v.IsZero() {
		t.Error("the tensor is read wrong")
	}
	if _, ok := a.Tensor("none"); ok || a.wrong != nil {
		t.Errorf("absent: %v", a.wrong)
	}
	if got := a.Int("f", 7); got != 7 || a.wrong == nil || a.wrong.Error() != `onnx: attribute "f": it holds float, the operator asks for int` {
		t.Errorf("got %d and %v", got, a.wrong)
	}

	// in a run
	b := NewBuilder("g")
	x := b.Input("x", dtype.Float32, 2)
	b.Output(b.Node("Concat", []string{x, x}, FloatAttr("axis", 0)), dtype.Float32, 4)
	m, err := b.Model(13)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSession(m)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Run(context.Background(), vals{"x": vec(1, 2)}, nil)
	if want := `onnx: node 0 "concat1" (Concat, opset 13): attribute "axis": it holds float, the operator asks for int`; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestAmount(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1023: "1023 bytes", 1536: "1.5 KiB", 1 << 20: "1.0 MiB", 3 << 29: "1.5 GiB"} {
		if got := amount(n); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
	if add(math.MaxInt64, 1) != math.MaxInt64 || add(1, 2) != 3 {
		t.Error("add")
	}
}

// A Relu that alone reads a Conv or Gemm is part of it, with the same bits; others stay.
func TestRectify(t *testing.T) {
	build := func(shared bool) func(b *Builder) {
		return func(b *Builder) {
			x := b.Input("x", dtype.Float32, 1, 2, 3, 3)
			c := b.Node("Conv", []string{x, b.Weight("w", tensor.FromSlice([]float32{1, -2, -3, 4}, 2, 2, 1, 1).Any())})
			r := b.Node("Relu", []string{c})
			g := b.Node("Gemm", []string{b.Node("Flatten", []string{r}), b.Weight("v", tensor.Linspace[float32](-1, 1, 36).Reshape(18, 2).Any())})
			y := b.Node("Relu", []string{g})
			b.Output(b.Rename(y, "y"), dtype.Float32, 1, 2)
			if shared {
				b.Output(b.Rename(c, "c"), dtype.Float32, 1, 2, 3, 3)
				b.Output(b.Rename(b.Node("Neg", []string{g}), "n"), dtype.Float32, 1, 2)
			}
		}
	}
	x := tensor.Linspace[float32](-4, 5, 18).Reshape(1, 2, 3, 3)
	var outs [2]map[string]tensor.Any
	for i, shared := range []bool{false, true} {
		s := session(t, build(shared))
		if want := []int{3, 6}[i]; len(s.c.steps) != want {
			t.Errorf("shared %v: %d steps, want %d", shared, len(s.c.steps), want)
		}
		var err error
		if outs[i], err = s.Run(context.Background(), vals{"x": x.Any()}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := elements(t, outs[0]["y"]), elements(t, outs[1]["y"]); !reflect.DeepEqual(got, want) || reflect.DeepEqual(want, []float32{0, 0}) {
		t.Errorf("%v, want %v", got, want)
	}
}

// An observer sees each node with its results, the nodes of a loop's body before the loop.
func TestObserve(t *testing.T) {
	b := NewBuilder("observed")
	x := b.Input("x", dtype.Float32, 2)
	body := b.Body("body")
	body.Input("i", dtype.Int64)
	more := body.Input("more", dtype.Bool)
	carried := body.Input("carried", dtype.Float32, 2)
	body.OutputOf(body.Node("Identity", []string{more}), Type{})
	body.OutputOf(body.Node("Add", []string{carried, x}), Type{})
	three, err := TensorAttr("value", tensor.Scalar[int64](3).Any())
	if err != nil {
		t.Fatal(err)
	}
	out := b.Rename(b.Node("Loop", []string{b.Node("Constant", nil, three), "", b.Node("Neg", []string{x})}, GraphAttr("body", body)), "y")
	b.Output(out, dtype.Float32, 2)
	m, err := b.Model(16)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSession(m)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	var last time.Duration
	_, err = s.Run(context.Background(), vals{"x": vec(1, 2)}, &Options{Observe: func(r *NodeRun) {
		got = append(got, fmt.Sprintf("%d %s %s %d %v", r.Depth, r.Node.Op, strings.Join(r.Names, " "), r.Bytes, r.Values[0].Tensor()))
		if r.Time < 0 || r.Depth == 0 && r.Start < last {
			t.Errorf("%s began at %v and took %v", r.Node.Op, r.Start, r.Time)
		}
		if r.Depth == 0 {
			last = r.Start
		}
	}})
	want := []string{
		"0 Neg neg1 8 [-1. -2.]",
		"1 Identity identity1 1 True", "1 Add add1 8 [0. 0.]",
		"1 Identity identity1 1 True", "1 Add add1 8 [1. 2.]",
		"1 Identity identity1 1 True", "1 Add add1 8 [2. 4.]",
		"0 Loop y 8 [2. 4.]",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, got\n%s", err, strings.Join(got, "\n"))
	}
}

// A run with few threads gives the same bits, and a session names its inputs and outputs.
func TestSessionThreads(t *testing.T) {
	m, err := Open(filepath.Join("..", "testdata", "digits.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	s, err := NewSession(m)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(s.Inputs(), s.Outputs()); got != "[image float32[N,1,8,8]] [probability float32[N,10]]" {
		t.Errorf("the session takes and gives %s", got)
	}
	x := vals{"image": tensor.RandomNormal[float32](1, 0, 1, 64, 1, 8, 8).Any()}
	want, err := s.Run(context.Background(), x, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 2, 1000} {
		got, err := s.Run(context.Background(), x, &Options{Threads: n})
		if err != nil {
			t.Fatalf("%d threads: %v", n, err)
		}
		tensortest.Equal(t, got["probability"], want["probability"])
	}
	if _, err := s.Run(context.Background(), x, &Options{Threads: -1}); !errors.Is(err, tensor.ErrValue) {
		t.Errorf("-1 threads: %v", err)
	}
	if (&Session{}).Inputs() != nil || (*Session)(nil).Outputs() != nil {
		t.Error("no session has inputs or outputs")
	}
}
