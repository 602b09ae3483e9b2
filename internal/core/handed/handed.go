// Package handed has functions that package tensor hands to the engine: they read and make its hidden fields. Package reach knows
// the types that have tensors in them.
package handed

import (
	"unsafe"

	"github.com/ashlar-go/ashlar/dtype"
)

// Functions of package tensor, set when it is initialized.
var (
	// CheckWord panics unless n elements of type from, which begin at p, may be seen as of type to. op is the caller's name.
	CheckWord func(op string, from, to dtype.DType, p unsafe.Pointer, n int)

	EmptyLike any // func(dtype.DType, layout.Layout) tensor.Any
	Foreign   any // func(any, dtype.DType, layout.Layout) tensor.Any
	Lazy      any // func(any, dtype.DType, ...int) tensor.Any
	LazyBy    any // func(tensor.Any) (any, bool)
)
