package handed_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/handed"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

func Example() {
	emptyLike := handed.EmptyLike.(func(dtype.DType, layout.Layout) tensor.Any)
	fmt.Println(emptyLike(dtype.Int8, layout.MustParse("(2,3):(1,2)")).Layout())
	// Output: (2,3):(1,2)
}
