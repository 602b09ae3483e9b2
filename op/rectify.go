package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/tensor"
)

// Rectify makes Conv and Gemm apply Relu to their result, while it is in the caches: the
// bits are as with Relu after them. Other operators don't look at it.
func Rectify() Option { return plan.WithFlags(plan.Rectify) }

// afterProduct has no method values, which would be filled in at the start of every program.
var afterProduct = contract.LastRows{
	Sum: func(d dtype.DType) exec.Row { return add.Row(d) },
	Cut: func(d dtype.DType) exec.Row { return relu.Row(d) },
}

// rectified applies Relu to a result where that isn't part of making it.
func rectified(s *plan.Settings, y *tensor.Any) {
	if s.Rectify {
		relu.Call(y, []Option{plan.WriteTo(y)}, y)
	}
}
