package onnx

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/ram"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// isPrepared reports whether the last run of a session on one goroutine was prepared.
func isPrepared(s *Session) bool {
	st, _ := s.streams.Get().(*Stream)
	if st == nil {
		return false
	}
	defer s.streams.Put(st)
	return st.last != nil && st.ready == st.last && string(st.buf) != st.vain
}

// Runs on the same shapes give the bits that the first one gives, whatever came between.
func TestRunAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	for seed := range 12 {
		build := network
		x := func() vals { return vals{"x": noise(r, 1, 3, 16, 16)} }
		if seed > 0 {
			build = chain(rand.New(rand.NewPCG(uint64(seed), 1)))
			x = func() vals { return vals{"x": noise(r, 2+r.IntN(2), 6)} }
		}
		s := session(t, build)
		var kept []vals
		var was []string
		for i := range 12 {
			in := x()
			want, wantErr := plainly(s, context.Background(), in, Options{})
			got, err := s.Run(context.Background(), in, &Options{Threads: 1 + i%3})
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("model %d, run %d: %v, want %v", seed, i, err, wantErr)
			}
			if len(got) != len(want) {
				t.Errorf("model %d, run %d: %d outputs, want %d", seed, i, len(got), len(want))
			}
			for name, w := range want {
				if g := got[name]; tensor.Describe(g) != tensor.Describe(w) || !slices.Equal(bitsOf(g), bitsOf(w)) {
					t.Errorf("model %d, run %d, output %q: got %v, want %v", seed, i, name, g, w)
				}
			}
			kept, was = append(kept, got), append(was, fmt.Sprint(got))
		}
		for i := range kept { // outputs are the caller's: later runs leave them as they are
			if fmt.Sprint(kept[i]) != was[i] {
				t.Errorf("model %d: the outputs of run %d have changed", seed, i)
			}
		}
	}
}

// The second run of a shape is prepared, the first isn't; nor is one that would take more than the limit.
func TestRunAgainPrepares(t *testing.T) {
	s := session(t, network)
	r := rand.New(rand.NewPCG(4, 6))
	run := func(o Options) error {
		_, err := s.Run(context.Background(), vals{"x": noise(r, 1, 3, 16, 16)}, &o)
		return err
	}
	soon := func() bool { // with the race detector a pool forgets some of its streams
		for range 50 {
			if err := run(Options{}); err != nil {
				t.Fatal(err)
			}
			if isPrepared(s) {
				return true
			}
		}
		return false
	}
	if err := run(Options{}); err != nil || isPrepared(s) {
		t.Fatalf("first run: %v, prepared is %v", err, isPrepared(s))
	}
	if !soon() {
		t.Error("no run is prepared")
	}
	p, err := s.Plan(vals{"x": noise(r, 1, 3, 16, 16)})
	if err != nil {
		t.Fatal(err)
	}
	if err := run(Options{MaxMemory: p.Weights + p.Live}); err != nil {
		t.Errorf("a run in as much memory as is planned: %v", err)
	}
	if err := run(Options{MaxMemory: (p.Weights + p.Live) / 2}); !errors.Is(err, tensor.ErrMemory) {
		t.Errorf("a run in half the memory that is planned: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Run(ctx, vals{"x": noise(r, 1, 3, 16, 16)}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("in a context that has ended: %v", err)
	}
	for _, in := range []vals{{"x": noise(r, 1, 3, 16, 15)}, {"x": ints(1)}, {}, {"x": noise(r, 1, 3, 16, 16), "z": ints(1)}, {"x": tensor.Any{}}} {
		_, want := plainly(s, context.Background(), in, Options{})
		if _, err := s.Run(context.Background(), in, nil); err == nil || fmt.Sprint(err) != fmt.Sprint(want) {
			t.Errorf("%v: %v, want %v", in, err, want)
		}
	}
	if !soon() {
		t.Error("no run is prepared after errors")
	}
}

// Several goroutines may run a session again and again, with inputs that are views.
func TestRunAgainConcurrently(t *testing.T) {
	s := session(t, network)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(9, uint64(g)))
			for range 10 {
				wide := noise(r, 1, 3, 16, 32)
				in := vals{"x": wide.Slice(tensor.R(tensor.None, tensor.None, 1), tensor.R(tensor.None, tensor.None, 1), tensor.R(tensor.None, tensor.None, 1), tensor.R(tensor.None, tensor.None, 2))}
				want, err := plainly(s, context.Background(), in, Options{})
				if err != nil {
					t.Error(err)
					return
				}
				got, err := s.Run(context.Background(), in, nil)
				if err != nil {
					t.Error(err)
					return
				}
				for name, w := range want {
					if !slices.Equal(bitsOf(got[name]), bitsOf(w)) {
						t.Errorf("output %q differs", name)
					}
				}
			}
		})
	}
	wg.Wait()
}

// After the model's Close a session that has prepared runs fails as any other, and nothing of the arena stays in use.
func TestRunAgainClosed(t *testing.T) {
	s := session(t, func(b *Builder) {
		x := b.Input("x", dtype.Float32, 512, 1024)
		b.Output(b.Rename(b.Node("Exp", []string{b.Node("Neg", []string{x})}), "y"), dtype.Float32, 512, 1024)
	})
	swept := func() int64 {
		for range 3 { // the collector empties a pool in two steps
			ram.Sweep()
		}
		return mem.Stats().Live
	}
	before := swept() // what other tests hold
	in := vals{"x": tensor.New[float32](512, 1024).Any()}
	for range 3 {
		out, err := s.Run(context.Background(), in, nil)
		if err != nil {
			t.Fatal(err)
		}
		out["y"].Close()
	}
	if err := s.c.m.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(context.Background(), in, nil); !errors.Is(err, tensor.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	in["x"].Close()
	if live := swept() - before; live > 1<<20 {
		t.Errorf("%d bytes are live", live)
	}
}
