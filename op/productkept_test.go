package op

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// TestProductKept compares plans that keep the right matrix with MatMul and Gemm: few rows and many, batches, transposed operands, addends, NaN,
// new inputs, and other weights.
func TestProductKept(t *testing.T) {
	keeps := 0
	rapid.Check(t, func(t *rapid.T) {
		if rapid.Bool().Draw(t, "single") {
			keeps += productKept[float32](t)
		} else {
			keeps += productKept[float64](t)
		}
	})
	if simd.Product32.Best() != nil && keeps == 0 {
		t.Error("no product keeps its weights")
	}
}

func productKept[T num.Float](t *rapid.T) int {
	size := func(name string, list ...int) int { return rapid.SampledFrom(list).Draw(t, name) }
	m, n, k := size("m", 1, 1, 1, 2, 3, 5, 33, 129), size("n", 0, 1, 4, 5, 10, 63, 64, 65, 200, 300), size("k", 0, 1, 3, 64, 256, 257, 700)
	name, turned := rapid.SampledFrom([]string{"MatMul", "Gemm"}).Draw(t, "operator"), false
	attrs := AttrMap{}
	x, w := []int{m, k}, []int{k, n}
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
	var plus tensor.Any
	alpha := float32(1)
	switch {
	case name == "MatMul" && rapid.Bool().Draw(t, "batch"):
		x = append([]int{rapid.IntRange(0, 3).Draw(t, "entries"), 1}, x...)
	case name == "MatMul" && m == 1 && rapid.Bool().Draw(t, "vector"):
		x = x[1:]
	case name == "Gemm":
		if turned = rapid.Bool().Draw(t, "transB"); turned {
			attrs["transB"] = int64(1)
			w = []int{n, k}
		}
		if rapid.Bool().Draw(t, "transA") {
			attrs["transA"] = int64(1)
			x = []int{k, m}
		}
		if rapid.Bool().Draw(t, "alpha") {
			alpha = 0.3
			attrs["alpha"] = alpha
		}
		if rapid.Bool().Draw(t, "plus") {
			plus = random[T](r, rapid.SampledFrom([][]int{{n}, {1, 1}, {m, 1}, {m, n}}).Draw(t, "addend")...).Any()
		}
	}
	weights, other := random[T](r, w...), random[T](r, w...)
	data := []tensor.Tensor[T]{random[T](r, x...), random[T](r, x...), random[T](r, x...)}
	if data[1].Len() > 0 {
		at := make([]int, len(x))
		for i := range at {
			at[i] = r.IntN(x[i])
		}
		data[1].Set(T(math.NaN()), at...)
	}
	o, _ := Lookup(name)
	inputs := func(x, w tensor.Tensor[T]) []tensor.Any {
		in := []tensor.Any{x.Any(), w.Any()}
		if name == "Gemm" {
			in = append(in, plus)
		}
		return in
	}
	form, _ := withWeights(o, &Call{Inputs: inputs(data[0], weights), Opset: 13, Attrs: attrs})
	into := tensor.EmptyLike[T](data[0])
	compare := func(what string, got []tensor.Any, err error, x, w tensor.Tensor[T]) {
		if err != nil {
			t.Fatal(err)
		}
		want, err := o.Run(&Call{Inputs: inputs(x, w), Opset: 13, Attrs: attrs})
		if err != nil {
			t.Fatal(err)
		}
		a, _ := tensor.Bytes(got[0])
		b, _ := tensor.Bytes(want[0])
		if !bytes.Equal(a, b) {
			t.Fatalf("%s: got %v, want %v", what, got[0], want[0])
		}
	}
	p, err := form.Plan(&Call{Inputs: inputs(into, weights), Opset: 13, Attrs: attrs, Fixed: []bool{false, true, true}})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range data {
		into.CopyFrom(x)
		got, err := p.Run()
		compare("kept", got, err, x, weights)
	}
	q, err := form.Plan(&Call{Inputs: inputs(into, other), Opset: 13, Attrs: attrs, Fixed: []bool{false, true, true}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := q.Run()
	compare("other weights", got, err, data[2], other)
	if q.Keeps() != 0 {
		t.Fatalf("other weights are kept: %d bytes", q.Keeps())
	}
	if p.Keeps() > 0 {
		return 1
	}
	return 0
}
