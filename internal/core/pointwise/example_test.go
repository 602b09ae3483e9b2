package pointwise_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/tensor"
)

// A table with a row is an operator: shapes that broadcast, strides and threads are the room's.
func Example() {
	larger := pointwise.Operator{About: plan.About{Name: "Larger"}, Rows: exec.Two(nil, &simd.Rows2{F32: func(dst, a, b []float32) {
		for i := range dst {
			dst[i] = max(a[i], b[i])
		}
	}})}
	var r tensor.Tensor[float32]
	a, b := tensor.FromSlice([]float32{1, 5, 3}, 3), tensor.FromSlice([]float32{2}, 1)
	larger.Call(exec.Ref(&r), nil, exec.Ref(&a), exec.Ref(&b))
	fmt.Println(r.Elems())
	// Output: [2 5 3]
}
