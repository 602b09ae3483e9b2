package onnx

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/ended"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// A Stream keeps no input of its caller, whether the run was prepared, was plain, was refused or failed.
func TestStreamKeepsNoInputs(t *testing.T) {
	s := session(t, func(b *Builder) {
		b.OutputOf(b.Rename(b.Node("ReduceSum", []string{b.Node("Neg", []string{b.Input("x", dtype.Float32, nil)})}), "y"), Type{})
	})
	for _, o := range []Options{{}, {MaxMemory: 12}, {Observe: func(*NodeRun) {}}, {MaxMemory: -1}} {
		st, err := s.Stream(&StreamOptions{Options: o})
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			gone := make(chan bool)
			func() {
				x := make([]float32, 1<<16)
				runtime.AddCleanup(&x[0], func(gone chan bool) { close(gone) }, gone)
				_, _ = st.Run(context.Background(), map[string]tensor.Any{"x": tensor.FromSlice(x, len(x)).Any()})
			}()
			for range 100 {
				runtime.GC()
				select {
				case <-gone:
				default:
					runtime.Gosched()
					continue
				}
				break
			}
			select {
			case <-gone:
			default:
				t.Errorf("limit %d: the stream keeps the input", o.MaxMemory)
			}
		}
		runtime.KeepAlive(st)
	}
}

// A Stream keeps at most Options.MaxMemory with the weights, whatever shapes its runs have and however they end.
func TestStreamKeepsWhatItMay(t *testing.T) {
	s := session(t, func(b *Builder) {
		x, state := b.Input("x", dtype.Float32, "n", 8), b.Input("s", dtype.Float32, "n", 8)
		w := b.Weight("w", tensor.Full[float32](1, 8).Any())
		y := b.Node("Relu", []string{b.Node("Add", []string{b.Node("Add", []string{x, state}), w})})
		y = b.Rename(y, "y")
		b.Output(y, dtype.Float32, "n", 8)
		b.Output(b.Rename(b.Node("Transpose", []string{y}), "z"), dtype.Float32, 8, "n")
	})
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.SampledFrom([]int64{40, 200, 1000, 3000, 10_000}).Draw(t, "limit")
		o := &StreamOptions{Options: Options{MaxMemory: limit}}
		if rapid.Bool().Draw(t, "with a state") {
			o.State = map[string]string{"y": "s"}
		}
		st, err := s.Stream(o)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		for range rapid.IntRange(1, 8).Draw(t, "runs") {
			n := rapid.SampledFrom([]int{1, 2, 5, 20}).Draw(t, "n")
			in := map[string]tensor.Any{"x": tensor.New[float32](n, 8).Any()}
			if o.State == nil || rapid.Bool().Draw(t, "give the state") {
				in["s"] = tensor.New[float32](n, 8).Any()
			}
			ctx := context.Background()
			if rapid.Bool().Draw(t, "ends") {
				ctx = ended.After(rapid.IntRange(0, 12).Draw(t, "looks"))
			}
			_, err := st.Run(ctx, in)
			if kept := st.Kept(); kept+s.weights > limit {
				t.Fatalf("%d bytes are kept beside weights of %d, the limit is %d; the run gave %v", kept, s.weights, limit, err)
			}
		}
	})
}

// A product packs what it reads: the scratch of a small one is small, and that of one below the work of a thread the same with
// any number of threads. Where a run with one thread needs less, its error says so.
func TestScratchOfProducts(t *testing.T) {
	live := func(s *Session, in vals, threads int) (int64, error) {
		_, err := s.Run(context.Background(), in, &Options{Threads: threads, MaxMemory: 1})
		var e *MemoryError
		if !errors.As(err, &e) {
			t.Fatal(err)
		}
		return e.Need, err
	}
	for _, c := range []struct {
		a, b []int
		most int64
	}{
		{[]int{4, 8, 64}, []int{4, 64, 8}, 20_000}, {[]int{1, 4, 8, 64}, []int{1, 4, 64, 8}, 20_000}, {[]int{8, 8, 8}, []int{8, 8, 8}, 10_000},
		{[]int{64}, []int{64}, 2000}, {[]int{8, 64}, []int{64}, 5000}, {[]int{2, 3, 64, 64}, []int{64, 64}, 500_000}, {[]int{1000, 2}, []int{2, 1000}, 20_000_000},
	} {
		s := session(t, func(b *Builder) {
			x, w := b.Input("x", dtype.Float32, wholes(c.a)...), b.Input("w", dtype.Float32, wholes(c.b)...)
			b.OutputOf(b.Node("MatMul", []string{x, w}), Type{})
		})
		in := vals{"x": tensor.New[float32](c.a...).Any(), "w": tensor.New[float32](c.b...).Any()}
		one, err := live(s, in, 1)
		if one > c.most {
			t.Errorf("%v by %v needs %d bytes, want at most %d", c.a, c.b, one, c.most)
		}
		if strings.Contains(err.Error(), "Threads") {
			t.Errorf("with one thread: %v", err)
		}
		several, err := live(s, in, 2)
		if advises := strings.Contains(err.Error(), "set Options.Threads to 1"); advises != (several > one) {
			t.Errorf("%v by %v: %d with one thread: %v", c.a, c.b, one, err)
		}
		if len(c.a) < 4 && c.most < 100_000 && several != one {
			t.Errorf("%v by %v needs %d bytes with one thread, %d with several", c.a, c.b, one, several)
		}
	}
}
