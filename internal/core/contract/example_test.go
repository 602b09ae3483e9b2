package contract_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/internal/core/contract"
)

// A kernel of three with a margin of one on each side has as many positions as the axis is long.
func Example() {
	win := contract.Window{Kernel: []int{3}, Pads: []int{1, 1}}
	fmt.Println(contract.OutShape(1, 2, contract.SpansOf(&win, "Conv", []int{5})))
	// Output: [1 2 5]
}
