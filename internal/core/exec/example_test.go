package exec_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/tensor"
)

// A row adds runs of elements. Elementwise finds them: here b is stretched, and a lies in
// memory column by column.
func ExampleElementwise() {
	add := exec.Kernel{Row: exec.RowOf(exec.Forget[exec.Row2](func(dst, a, b []int32) {
		for i := range dst {
			dst[i] = a[i] + b[i]
		}
	}))}
	a := tensor.FromSlice([]int32{0, 1, 2, 3, 4, 5}, 3, 2).Transpose()
	b := tensor.FromSlice([]int32{10, 20, 30}, 3)
	dst := tensor.New[int32](2, 3)
	exec.Elementwise(&exec.Job{Name: "Add", Cost: 1}, exec.Ref(&dst), []*tensor.Any{exec.Ref(&a), exec.Ref(&b)}, &add)
	fmt.Println(dst)
	// Output:
	// [[10 22 34]
	//  [11 23 35]]
}

func ExampleSame() {
	a := []int{1}
	fmt.Println(exec.Same(1, 1), exec.Same(1, 2), exec.Same(a, a))
	// Output: true false false
}
