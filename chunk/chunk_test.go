package chunk

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/tensor"
)

// stored32 writes random elements to a new array of a store in memory.
func zarrOf(t testing.TB, x tensor.Any, chunks ...int) *zarr.Array {
	t.Helper()
	a, err := zarr.Create(context.Background(), zarr.Memory(), "x", zarr.Metadata{DType: x.DType(), Shape: x.Shape(), Chunks: chunks})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Write(context.Background(), make([]int, x.Rank()), x); err != nil {
		t.Fatal(err)
	}
	return a
}

func random(r *rand.Rand, shape ...int) tensor.Any {
	n := 1
	for _, e := range shape {
		n *= e
	}
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return tensor.FromSlice(x, shape...).Any()
}

// computed runs a plan for one array.
func computed(t testing.TB, a Array, o Options, r RunOptions) tensor.Any {
	t.Helper()
	store := zarr.Memory()
	p, err := NewPlan(o, Target{Array: a, Store: store, Path: "r"})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	z, err := zarr.Open(context.Background(), store, "r")
	if err != nil {
		t.Fatal(err)
	}
	out, err := z.Read(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestVertical(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	x := random(r, 100, 37)
	a := From("x", zarrOf(t, x, 7, 10))
	mean := Reduce("ReduceMean", a, Reducing{Axes: []int{0}})
	d := Map("Sub", nil, a, mean)
	sq := Map("Mul", nil, d, d)
	v := Reduce("ReduceMean", sq, Reducing{Axes: []int{0}})
	got := computed(t, v, Options{}, RunOptions{})
	want := computed(t, Reduce("Var", a, Reducing{Axes: []int{0}}), Options{}, RunOptions{})
	t.Log(got, want)
	all := computed(t, Reduce("Std", a, Reducing{}), Options{}, RunOptions{})
	t.Log(all)
	t.Log(computed(t, Reduce("ArgMax", a, Reducing{Axes: []int{0}}), Options{}, RunOptions{}))
}
