package op

import (
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Conv copies an operand that isn't contiguous, also with the Relu after it.
func TestScratchOfCopies(t *testing.T) {
	x, w := tensor.New[float32](1, 8, 16, 4).Permute(0, 3, 1, 2).Any(), tensor.New[float32](4, 4, 1, 1).Any()
	conv := as(plan.OpOf(&convOp))
	scratch := func(o *Op, in ...tensor.Any) int64 {
		p, err := o.Plan(&Call{Inputs: in})
		if err != nil {
			t.Fatal(err)
		}
		return p.Scratch()
	}
	plain := scratch(conv, x.Contiguous(), w)
	rectified, _ := withRelu(conv)
	for _, o := range []*Op{conv, rectified} {
		if got := scratch(o, x, w); got != plain+4*8*16*4 {
			t.Errorf("%d bytes, want %d and those of the copy", got, plain)
		}
	}
	if got := scratch(as(plan.OpOf(&add)), x, x); got != 0 {
		t.Errorf("Add takes %d bytes", got)
	}
}
