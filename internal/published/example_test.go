package published_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/internal/published"
	"github.com/ashlar-go/ashlar/layout"
)

// NVIDIA/cutlass#3177: right are the offsets 0 6 7 8 9 15.
func Example() {
	a, b := layout.MustParse("(4,6,8):(2,3,5)"), layout.MustParse("6:3")
	fmt.Println(published.PyCute.Compose(a, b))
	fmt.Println(published.CuteGen.Compose(a, b))
	// Output:
	// ():() refused
	// (2,3):(6,3) <nil>
}
