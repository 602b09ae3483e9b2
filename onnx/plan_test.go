package onnx

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// counted counts how often each node of a session is inferred.
func counted(s *Session) []atomic.Int64 {
	n := make([]atomic.Int64, len(s.c.ops))
	for i, o := range s.c.ops {
		s.c.ops[i] = spy(o, func(_ *op.Call, outs []tensor.Any, err error) ([]tensor.Any, error) {
			n[i].Add(1)
			return outs, err
		}, nil)
	}
	return n
}

// reshaped is relu(x + w) in the shape that an input of the graph says; w has a default.
func reshaped(b *Builder) {
	x, to := b.Input("x", dtype.Float32, "n"), b.Input("to", dtype.Int64, nil)
	b.Weight("w", vec(1))
	y := b.Node("Relu", []string{b.Node("Add", []string{x, b.Input("w", dtype.Float32, nil)})})
	b.Output(b.Rename(b.Node("Reshape", []string{y, to}), "y"), dtype.Float32)
}

func ints(v ...int64) tensor.Any { return tensor.FromSlice(v, len(v)).Any() }

// A plan is made once for inputs that it doesn't differ for, and again for others.
func TestPlanIsKept(t *testing.T) {
	every := tensor.FromSlice([]int64{2, 0, 3, 0}, 4).Any().Slice(tensor.R(tensor.None, tensor.None, 2))
	s := session(t, reshaped)
	n := counted(s)
	for i, c := range []struct {
		inputs vals
		limit  int64
		plan   bool // Plan, not Run
		again  bool // the nodes are inferred
		shape  []int
	}{
		{vals{"x": spec(t, dtype.Float32, 6), "to": ints(2, 3)}, 0, true, true, nil},
		{vals{"x": vec(1, 2, 3, 4, 5, 6), "to": ints(2, 3)}, 0, false, false, []int{2, 3}},
		{vals{"x": vec(6, 5, 4, 3, 2, 1), "to": every}, -1, false, false, []int{2, 3}},
		{vals{"x": vec(6, 5, 4, 3, 2, 1), "to": ints(3, 2)}, 0, false, true, []int{3, 2}},
		{vals{"x": vec(6, 5, 4, 3, 2, 1), "to": ints(3, 2)}, 0, true, false, nil},
		{vals{"x": vec(6, 5, 4, 3, 2, 1), "to": ints(3, 2)}, 1 << 20, false, true, []int{3, 2}},
		{vals{"x": vec(1, 2, 3), "to": ints(3, 1)}, 0, false, true, []int{3, 1}},
		{vals{"x": vec(1, 2, 3), "to": ints(3, 1), "w": vec(1)}, 0, false, true, []int{3, 1}},
		{vals{"x": vec(3, 2, 1), "to": ints(3, 1), "w": vec(1)}, 0, false, false, []int{3, 1}},
		{vals{"x": vec(3, 2, 1), "to": ints(3, 1), "w": vec(1, 2, 3)}, 0, false, true, []int{3, 1}},
		{vals{"x": vec(1), "to": ints(1, -1), "w": tensor.New[float32](small + 1).Any()}, 0, false, true, []int{1, small + 1}},
		{vals{"x": vec(1), "to": ints(1, -1), "w": tensor.New[float32](small + 1).Any()}, 0, false, true, []int{1, small + 1}},
		{vals{"x": vec(1, 2, 3), "to": spec(t, dtype.Int64, 2)}, 0, true, true, nil},
		{vals{"x": vec(1, 2, 3), "to": ints(3, 1)}, 0, false, true, []int{3, 1}},
	} {
		for k := range n {
			n[k].Store(0)
		}
		if c.plan {
			p, err := s.Plan(c.inputs)
			if err != nil {
				t.Fatal(err)
			}
			*p = Plan{Weights: 1 << 60} // it is the caller's
		} else {
			out, err := plainly(s, context.Background(), c.inputs, Options{MaxMemory: c.limit})
			if err != nil {
				t.Fatal(err)
			}
			if got := out["y"].Shape(); !slices.Equal(got, c.shape) {
				t.Errorf("call %d: shape %v, want %v", i, got, c.shape)
			}
		}
		want := int64(0)
		if c.again {
			want = 1
		}
		if !c.plan { // a run of a program's operator compares its results with them
			want++
		}
		for k := range n {
			if got := n[k].Load(); got != want {
				t.Errorf("call %d: node %d is inferred %d times, want %d", i, k, got, want)
			}
		}
	}
}

// A run that uses a kept plan is refused as any other is.
func TestKeptPlanRefuses(t *testing.T) {
	s := session(t, residual)
	n := counted(s)
	in := vals{"x": vec(1, 2, 3)}
	if _, err := s.Plan(in); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Run(ctx, in, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("in a context that has ended: %v", err)
	}
	if n[0].Load() != 1 {
		t.Errorf("inferred %d times", n[0].Load())
	}
	for range 2 {
		if _, err := s.Run(context.Background(), in, &Options{MaxMemory: 8}); !errors.Is(err, tensor.ErrMemory) {
			t.Errorf("with too little memory: %v", err)
		}
	}
	if n[0].Load() != 2 {
		t.Errorf("inferred %d times with two limits", n[0].Load())
	}
	for range 2 {
		if _, err := s.Run(context.Background(), vals{"x": vec(1, 2)}, nil); err == nil {
			t.Error("a shape that the graph doesn't have is taken")
		}
	}
}

// A plan that fails isn't kept, nor is one that a context ended.
func TestFailedPlanIsNotKept(t *testing.T) {
	s := session(t, reshaped)
	wrong := vals{"x": vec(1, 2, 3), "to": ints(2, 2)}
	for range 2 {
		if _, err := s.Plan(wrong); err == nil {
			t.Error("3 elements in shape [2 2] have a plan")
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	first := s.c.ops[0]
	s.c.ops[0] = spy(first, func(_ *op.Call, outs []tensor.Any, err error) ([]tensor.Any, error) {
		cancel()
		return outs, err
	}, nil)
	right := vals{"x": vec(1, 2, 3), "to": ints(1, 3)}
	if _, err := s.Run(ctx, right, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if k, _ := s.last.Load().(*kept); k != nil {
		t.Error("a plan is kept")
	}
}

// Any sequence of calls on one session, and any at the same time, give the plans and the results of a new session.
func TestKeptPlanIsRight(t *testing.T) {
	s := session(t, reshaped)
	rapid.Check(t, func(t *rapid.T) {
		var wg sync.WaitGroup
		defer wg.Wait()
		for range rapid.IntRange(1, 4).Draw(t, "calls") {
			x := tensor.RandomNormal[float32](rapid.Uint64Range(0, 2).Draw(t, "seed"), 0, 1, rapid.IntRange(1, 3).Draw(t, "n"))
			in := vals{"x": x.Any(), "to": rapid.SampledFrom([]tensor.Any{ints(1, -1), ints(-1, 1), ints(-1), ints(-1)}).Draw(t, "to")}
			if rapid.Bool().Draw(t, "give w") {
				in["w"] = vec(make([]float32, rapid.SampledFrom([]int{1, x.Len()}).Draw(t, "w"))...)
			}
			limit := rapid.SampledFrom([]int64{0, -1, 1000, 40}).Draw(t, "limit")
			other := &Session{c: s.c, weights: s.weights, streams: new(sync.Pool)}
			wg.Go(func() {
				got, err := s.Plan(in)
				want, fail := other.Plan(in)
				if err != nil || fail != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("planned %+v, %v; anew %+v, %v", got, err, want, fail)
				}
				a, err := s.Run(context.Background(), in, &Options{MaxMemory: limit})
				other.last.Store((*kept)(nil))
				b, fail := other.Run(context.Background(), in, &Options{MaxMemory: limit})
				if (err == nil) != (fail == nil) || err != nil && err.Error() != fail.Error() {
					t.Errorf("failed with %v; anew %v", err, fail)
				} else if err == nil && (tensor.Describe(a["y"]) != tensor.Describe(b["y"]) || a["y"].String() != b["y"].String()) {
					t.Errorf("gave %v; anew %v", a["y"], b["y"])
				}
			})
		}
	})
}
