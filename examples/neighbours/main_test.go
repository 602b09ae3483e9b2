package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/tensor"
)

func write(t testing.TB, name string, a tensor.Any) string {
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := npy.Write(f, a, nil); err != nil {
		t.Fatal(err)
	}
	return path
}

// The neighbours are those that a sort of all products finds, in batches of any size.
func TestNeighbours(t *testing.T) {
	const n, queries, width, k = 300, 7, 4, 5
	x, q := tensor.RandomIntegers[int64](1, -3, 4, n, width), tensor.RandomIntegers[int64](2, -3, 4, queries, width) // products are exact, and many equal
	floats := func(a tensor.Tensor[int64]) tensor.Any {
		f := tensor.New[float32](a.Shape()...)
		for i, v := range a.Elems() {
			f.Elems()[i] = float32(v)
		}
		return f.Any()
	}
	var want strings.Builder
	for i := range queries {
		at := make([]int, n)
		products := make([]int64, n)
		for j := range n {
			at[j] = j
			for c := range width {
				products[j] += q.At(i, c) * x.At(j, c)
			}
		}
		slices.SortStableFunc(at, func(a, b int) int { return int(products[b] - products[a]) })
		fmt.Fprintln(&want, strings.Trim(fmt.Sprint(at[:k]), "[]"))
	}
	embeddings, asked := write(t, "x.npy", floats(x)), write(t, "q.npy", floats(q))
	for _, batch := range []int{1, 3, 7, 100} {
		var got strings.Builder
		if _, err := run(&got, embeddings, asked, k, batch, false); err != nil || got.String() != want.String() {
			t.Errorf("batches of %d: %v\n%swant\n%s", batch, err, got.String(), want.String())
		}
	}
	var got strings.Builder
	if _, err := run(&got, embeddings, asked, n+1, 2, true); err != nil || len(strings.Fields(got.String())) != n*queries {
		t.Errorf("more neighbours than there are: %v, %d of them", err, len(strings.Fields(got.String())))
	}
}

func TestRefuses(t *testing.T) {
	two := write(t, "two.npy", tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2).Any())
	three := write(t, "three.npy", tensor.FromSlice([]float32{1, 2, 3}, 1, 3).Any())
	whole := write(t, "whole.npy", tensor.FromSlice([]int64{1, 2}, 1, 2).Any())
	line := write(t, "line.npy", tensor.FromSlice([]float32{1, 2}, 2).Any())
	for _, c := range []struct {
		x, q     string
		k, batch int
		want     string
	}{{two, three, 1, 1, "of 3"}, {two, whole, 1, 1, "want float32"}, {line, two, 1, 1, "two axes"}, {two, two, 0, 1, "-k is 0"},
		{two, two, 1, 0, "-batch 0"}, {"none.npy", two, 1, 1, "none.npy"}} {
		if _, err := run(&strings.Builder{}, c.x, c.q, c.k, c.batch, false); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func Example() {
	dir, err := os.MkdirTemp("", "neighbours")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "x.npy")
	f, err := os.Create(path)
	if err != nil {
		panic(err)
	}
	if err := npy.Write(f, tensor.FromSlice([]float32{1, 0, 0, 1, 2, 1}, 3, 2).Any(), nil); err != nil {
		panic(err)
	}
	f.Close()
	if _, err := run(os.Stdout, path, path, 2, 64, false); err != nil {
		panic(err)
	}
	// Output:
	// 2 0
	// 1 2
	// 2 0
}
