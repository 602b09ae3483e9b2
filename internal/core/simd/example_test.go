package simd_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/internal/core/simd"
)

func Example() {
	a, b, sum := []float32{1, 2, 3}, []float32{10, 20, 30}, make([]float32, 3)
	if rows := simd.Add.Best(); rows != nil {
		rows.F32(sum, a, b)
	} else { // this platform has no kernels
		for i := range sum {
			sum[i] = a[i] + b[i]
		}
	}
	fmt.Println(sum)
	// Output: [11 22 33]
}
