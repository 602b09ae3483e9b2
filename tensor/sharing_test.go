package tensor_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/ashlar-go/ashlar/tensor"
)

// One storage under two tensors: each line says which element of the tensor lies at
// an offset of the storage.
func ExampleTensor_Data() {
	a := tensor.Arange[int32](10, 16, 1).View(2, 3)
	b := a.S(":, ::-2").Transpose()
	draw := func(name string, t tensor.Tensor[int32]) {
		data, off := t.Data()
		lay := t.Layout()
		places := make([]string, len(data))
		for i := range t.Any().Indices() {
			o, _ := lay.At(i)
			places[off+o] = fmt.Sprint(i)
		}
		fmt.Printf("%-8s", name)
		for _, p := range places {
			fmt.Printf(" %-6s", p)
		}
		fmt.Printf(" %v, element 0 at %d\n", lay, off)
	}
	data, _ := a.Data()
	fmt.Printf("%-8s", "storage")
	for _, v := range data {
		fmt.Printf(" %-6d", v)
	}
	fmt.Println(" one run of memory")
	draw("a", a)
	draw("b", b)
	b.Set(99, 0, 1)
	fmt.Println("b.Set(99, 0, 1) makes a.At(1, 2)", a.At(1, 2))
	// Output:
	// storage  10     11     12     13     14     15     one run of memory
	// a        [0 0]  [0 1]  [0 2]  [1 0]  [1 1]  [1 2]  (2,3):(3,1), element 0 at 0
	// b        [1 0]         [0 0]  [1 1]         [0 1]  (2,2):(-2,3), element 0 at 2
	// b.Set(99, 0, 1) makes a.At(1, 2) 99
}

// Reads of one storage by many goroutines, each through handles of its own: the race
// detector sees no write.
func TestConcurrentReads(t *testing.T) {
	for _, n := range []int{1 << 8, 1 << 17} { // a block of the Go heap, and memory outside
		x := tensor.Arange[int32](0, int32(n), 1).View(4, -1)
		want := values(x.Transpose())
		var all sync.WaitGroup
		for k := range 8 {
			all.Go(func() {
				v := x.Transpose()
				release := v.Any().Pin()
				defer release()
				for i := range 20 {
					if got := v.At(i, k%4); got != int32(k%4*(n/4)+i) {
						t.Errorf("got %d", got)
					}
				}
				_ = x.S(":, :5").String()
				if !slices.Equal(values(v), want) || !slices.Equal(v.Clone().Transpose().Elems(), x.Elems()) ||
					!slices.Equal(tensor.Take(v, 1, 0).Elems(), tensor.Flatten(x.S("0")).Elems()) || !v.Any().Overlaps(x.Any()) {
					t.Error("a reader saw other elements")
				}
			})
		}
		all.Wait()
	}
}

// Writes to elements that no other goroutine touches need no lock, in one storage too.
func TestConcurrentWritesApart(t *testing.T) {
	x := tensor.New[int32](8, 100)
	var all sync.WaitGroup
	for i, row := range tensor.Axis(x, 0) {
		all.Go(func() { row.Fill(int32(i)) })
	}
	all.Wait()
	for i, v := range x.All() {
		if v != int32(i[0]) {
			t.Fatalf("%d at %v", v, i)
		}
	}
}
