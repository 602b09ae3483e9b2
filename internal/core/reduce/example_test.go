package reduce_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/internal/core/reduce"
)

// A row is summed in float64 and in one order, on every machine.
func Example() {
	fmt.Println(reduce.SumRow([]float32{1e8, 1, -1e8}))
	// Output: 1
}
