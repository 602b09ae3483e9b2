package chunk

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// A reduction holds no more than its plan says, whatever it reduces, and the plan says no more than some times that.
func TestReducedMemory(t *testing.T) {
	const rows, columns = 160, 1000 // more than two pieces
	worst := 0.0
	for _, name := range reducerNames() {
		for _, d := range []dtype.DType{dtype.Bool, dtype.Int16, dtype.Int64, dtype.BFloat16, dtype.Float32, dtype.Float64} {
			x, err := tensor.Make(d, rows, columns)
			if err != nil {
				t.Fatal(err)
			}
			for _, axes := range [][]int{{0}, {1}, nil, {}} {
				for _, chunks := range [][]int{{rows, columns}, {rows / 4, columns / 4}} {
					a := Reduce(name, FromTensor("x", x, chunks...), Reducing{Axes: axes})
					if a.err != nil || reducers[name].block == nil { // an evaluator doesn't see what Quantile collects
						continue
					}
					b := all(a.n.shape)
					e := &evaluator{ctx: op.WithThreads(context.Background(), 1)}
					if _, err := e.eval(a.n, b); err != nil {
						t.Fatalf("%s of %v: %v", name, d, err)
					}
					c := a.n.kind.cost(a.n, b)
					if e.most > c.peak {
						t.Errorf("%s of %v over %v in chunks of %v holds %d bytes, %d were planned", name, d, axes, chunks, e.most, c.peak)
					}
					if c.peak > 1<<16 {
						worst = max(worst, float64(c.peak)/float64(max(e.most, 1)))
					}
				}
			}
		}
	}
	t.Logf("at most %.1f times are planned", worst)
}

// A pass over a part holds no more than its plan says: operands that are computed before it count, too.
func TestMappedMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SampledFrom([]dtype.DType{dtype.Int32, dtype.Float32, dtype.Float64}).Draw(t, "type")
		shape := []int{400, 300}
		values := []Array{}
		for range 3 {
			s := slices.Clone(shape)
			s[rapid.IntRange(0, 1).Draw(t, "axis")] = rapid.SampledFrom([]int{1, 0}).Draw(t, "extent")
			for i := range s {
				if s[i] == 0 {
					s[i] = shape[i]
				}
			}
			x, err := run(named("CastLike"), nil, tensor.Full[int64](1, s...).Any(), tensor.EmptyOf(d))
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, FromTensor(string(rune('a'+len(values))), x, s...))
		}
		for range rapid.IntRange(1, 8).Draw(t, "operators") {
			name := rapid.SampledFrom([]string{"Add", "Mul", "Sub", "Div", "Max", "Abs", "Neg"}).Draw(t, "operator")
			in := []Array{rapid.SampledFrom(values).Draw(t, "x")}
			if name != "Abs" && name != "Neg" {
				in = append(in, rapid.SampledFrom(values).Draw(t, "y"))
			}
			if name == "Div" { // other values may be 0
				in[1] = values[0]
			}
			values = append(values, Map(name, nil, in...))
		}
		a := values[len(values)-1]
		if a.err != nil {
			t.Fatal(a.err)
		}
		b := all(a.n.shape)
		c := a.n.kind.cost(a.n, b)
		e := &evaluator{ctx: op.WithThreads(context.Background(), 1)}
		before := mem.Stats().Live
		mem.SetBound(mem.SetBound(0))
		if _, err := e.eval(a.n, b); err != nil {
			t.Fatal(err)
		}
		held := mem.Stats().Peak - before
		e.release(0, tensor.Any{})
		if pages := int64(len(values)+8) << 12; held > c.peak+pages {
			t.Fatalf("the pass holds %d bytes, %d were planned", held, c.peak)
		}
	})
}

// Over no axes each element is a line of its own.
func TestNoAxes(t *testing.T) {
	nan := float32(math.NaN())
	x := tensor.FromSlice([]float32{1, nan, -3, 0}, 2, 2).Any()
	for name, want := range map[string][]float32{"NanMax": {1, nan, -3, 0}, "NanMin": {1, nan, -3, 0}, "NanSum": {1, 0, -3, 0}, "NanMean": {1, nan, -3, 0},
		"Median": {1, nan, -3, 0}, "Var": {0, nan, 0, 0}, "Ptp": {0, nan, 0, 0}, "ReduceMax": {1, nan, -3, 0}, "ReduceMean": {1, nan, -3, 0}} {
		equal(t, name, computed(t, Reduce(name, FromTensor("x", x, 1, 2), Reducing{Axes: []int{}}), Options{}, RunOptions{}), tensor.FromSlice(want, 2, 2).Any())
	}
}
