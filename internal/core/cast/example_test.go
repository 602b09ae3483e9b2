package cast_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
)

// Narrow floats are computed in float32, other types in themselves.
func Example() {
	fmt.Println(cast.ComputedIn(dtype.BFloat16), cast.ComputedIn(dtype.Int16))
	// Output: float32 int16
}
