package exec

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/tensor"
)

// Option is the content of an option. Four fields of four words at most: such a struct lives in registers, a larger one
// is copied through memory, which stalls the processor.
type Option struct {
	Into  *tensor.Any
	More  *More
	Flags Flags
}

// Flags are the options of a call that are yes or no, a bit for each; package plan names them.
type Flags uint32

// More has the options that must stay one pointer further away than Into. A context is handed to other threads, and
// escape analysis doesn't tell fields apart, so beside it every Into target would move to the heap.
type More struct {
	Ctx   context.Context
	Ahead *simd.Prefetch // the Into target is part of a tensor that is too large for the caches: the prefetch of its row
}
