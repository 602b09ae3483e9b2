package serve

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// A shared run gives each request the bits that it would get alone, whatever comes together.
func TestBatchSameBits(t *testing.T) {
	for _, model := range []string{"digits", "two"} {
		make := func() Model { return digits(t) }
		body := image
		if model == "two" { // two inputs, another free axis, two types
			make = func() Model {
				return build(t, "two", func(b *onnx.Builder) {
					x, k := b.Input("x", dtype.Float32, "N", "len"), b.Input("k", dtype.Int64, "N")
					column := b.Node("Unsqueeze", []string{b.Node("Cast", []string{k}, onnx.IntAttr("to", 1)), b.Weight("axis", tensor.FromSlice([]int64{1}, 1).Any())})
					b.Output(b.Rename(b.Node("Softmax", []string{b.Node("Mul", []string{x, column})}, onnx.IntAttr("axis", 1)), "y"), dtype.Float32, "N", "len")
					b.Output(b.Rename(b.Node("Add", []string{k, k}), "twice"), dtype.Int64, "N")
				})
			}
			body = func(first, n int) string {
				r, wide := rand.New(rand.NewPCG(uint64(first), 2)), 1+first%3
				var x, k []string
				for range n {
					k = append(k, strconv.Itoa(r.IntN(5)))
					for range wide {
						x = append(x, strconv.FormatFloat(r.NormFloat64(), 'g', 6, 32))
					}
				}
				return fmt.Sprintf(`{"id":"%d","inputs":[{"name":"k","datatype":"INT64","shape":[%d],"data":[%s]},{"name":"x","datatype":"FP32","shape":[%d,%d],"data":[%s]}]}`,
					first, n, strings.Join(k, ","), n, wide, strings.Join(x, ","))
			}
		}
		alone, shared := server(t, Options{}, make()), server(t, Options{BatchDelay: 5 * time.Millisecond, MaxBatch: 16}, make())
		if shared.models[model].batches == nil {
			t.Fatalf("%s runs alone", model)
		}
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				rows := 1 + i%7
				if i%50 == 0 {
					rows = 20 // too many to share
				}
				want, got := infer(alone, model, body(i, rows)), infer(shared, model, body(i, rows))
				if want.Code != 200 || got.Code != 200 || !bytes.Equal(want.Body.Bytes(), got.Body.Bytes()) {
					t.Errorf("%s %d: alone %d %s\nshared %d %s", model, i, want.Code, want.Body, got.Code, got.Body)
				}
			})
		}
		wg.Wait()
		settle(t, shared)
		m := shared.models[model]
		if m.runs.n == 0 || m.rows.sum < 200 || m.rows.n >= 150 {
			t.Errorf("%s: %d runs of %v requests: none was shared", model, m.rows.n, m.rows.sum)
		}
		if len(m.batches.open) != 0 {
			t.Errorf("%s: %d batches are open", model, len(m.batches.open))
		}
	}
}

// Models share runs where all inputs and outputs have the same first axis, declared or inferred, and their rows don't depend
// on each other.
func TestBatchWhich(t *testing.T) {
	open := onnx.Type{Kind: onnx.KindTensor, Elem: onnx.ElemFloat32}
	double := func(in, out []any) func(b *onnx.Builder) {
		return func(b *onnx.Builder) {
			x := b.Input("x", dtype.Float32, in...)
			y := b.Rename(b.Node("Add", []string{x, x}), "y")
			if out == nil {
				b.OutputOf(y, open)
				return
			}
			b.Output(y, dtype.Float32, out...)
		}
	}
	for _, c := range []struct {
		name   string
		shares bool
		build  func(b *onnx.Builder)
	}{
		{"named", true, double([]any{"N", 3}, []any{"N", 3})},
		{"of two names", true, double([]any{"N", 3}, []any{"M", 3})},
		{"unnamed", true, double([]any{nil, nil}, []any{nil, nil})},
		{"an output without a shape", true, double([]any{"N", "len"}, nil)},
		{"fixed", false, double([]any{1, 3}, []any{1, 3})},
		{"a fixed output", false, func(b *onnx.Builder) {
			b.OutputOf(b.Rename(b.Node("ReduceMean", []string{b.Input("x", dtype.Float32, "N", 3)}, onnx.IntsAttr("axes", 0)), "y"), open)
		}},
		{"an input without a shape", false, func(b *onnx.Builder) {
			b.OutputOf(b.Rename(b.Node("Neg", []string{b.InputOf("x", open)}), "y"), open)
		}},
		{"transposed", false, func(b *onnx.Builder) {
			b.OutputOf(b.Rename(b.Node("Transpose", []string{b.Input("x", dtype.Float32, "N", nil)}), "y"), open)
		}},
		{"inputs of two names", false, func(b *onnx.Builder) {
			b.OutputOf(b.Rename(b.Node("Add", []string{b.Input("x", dtype.Float32, "N"), b.Input("z", dtype.Float32, "M")}), "y"), open)
		}},
		{"rows that depend on each other", false, func(b *onnx.Builder) {
			x := b.Input("x", dtype.Float32, "N", 3)
			b.Output(b.Rename(b.Node("Sub", []string{x, b.Node("ReduceMean", []string{x}, onnx.IntsAttr("axes", 0))}), "y"), dtype.Float32, "N", 3)
		}},
		{"rows that name others", false, func(b *onnx.Builder) {
			b.OutputOf(b.Rename(b.Node("Gather", []string{b.Input("x", dtype.Float32, nil, 2), b.Input("i", dtype.Int64, nil)}), "y"), open)
		}},
	} {
		var log bytes.Buffer
		s := server(t, Options{BatchDelay: time.Millisecond, Log: slog.New(slog.NewTextHandler(&log, nil))}, build(t, "m", c.build))
		if shares := s.models["m"].batches != nil; shares != c.shares || shares == strings.Contains(log.String(), "requests for this model run alone") {
			t.Errorf("%s: it shares runs: %v\n%s", c.name, shares, log.String())
		}
	}
}

// A request that makes a shared run fail gets its error; the others get their results.
func TestBatchFails(t *testing.T) {
	s := server(t, Options{BatchDelay: 20 * time.Millisecond, MaxBatch: 8}, dividing(t))
	if s.models["dividing"].batches == nil {
		t.Fatal("it runs alone")
	}
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			w := infer(s, "dividing", quotient(100*i, i%5))
			switch {
			case i%5 == 0 && (w.Code != 500 || !strings.Contains(errorOf(t, w.Body.Bytes()), "Div")):
				t.Errorf("%d: %d %s, want an error", i, w.Code, w.Body)
			case i%5 != 0 && (w.Code != 200 || !strings.Contains(w.Body.String(), fmt.Sprintf(`"data":[%d]`, 100*i/(i%5)))):
				t.Errorf("%d: %d %s", i, w.Code, w.Body)
			}
		})
	}
	wg.Wait()
	settle(t, s)
}

// Requests that end while they wait leave a batch, the last one ends it.
func TestBatchLeft(t *testing.T) {
	s := server(t, Options{BatchDelay: time.Hour, MaxBatch: 8, Timeout: 50 * time.Millisecond}, dividing(t))
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			if w := infer(s, "dividing", quotient(1, 1)); w.Code != 504 {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	wg.Wait()
	settle(t, s)
	if n := len(s.models["dividing"].batches.open); n != 0 {
		t.Errorf("%d batches are open", n)
	}
}
