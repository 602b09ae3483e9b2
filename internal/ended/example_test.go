package ended_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/internal/ended"
)

func ExampleAfter() {
	ctx := ended.After(2)
	fmt.Println(ctx.Err(), ctx.Err(), ctx.Err(), ctx.Looks())
	// Output: <nil> <nil> context canceled 3
}
