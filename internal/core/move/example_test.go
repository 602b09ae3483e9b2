package move_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/internal/core/move"
)

// Neighbours along an axis are so many elements apart in row-major order.
func Example() {
	fmt.Println(move.Steps([]int{2, 3, 4}))
	// Output: [12 4 1]
}
