package published_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/internal/published"
	"github.com/ashlar-go/ashlar/layout"
)

// NVIDIA/cutlass#3177: right are the offsets 0 6 7 8 9 15, which no layout has. Pycute's rules refuse.
func Example() {
	l, err := published.CuteGen.Compose(layout.MustParse("(4,6,8):(2,3,5)"), layout.MustParse("6:3"))
	if err != nil {
		panic(err)
	}
	fmt.Println(l)
	// Output: (2,3):(6,3)
}
