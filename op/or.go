package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/tensor"
)

// Or returns whether a or b is true, element by element. Shapes broadcast. ONNX Or.
func Or(a, b tensor.Tensor[bool], opts ...Option) (r tensor.Tensor[bool]) {
	or.Call(exec.Ref(&r), opts, exec.Ref(&a), exec.Ref(&b))
	return r
}

var or = pointwise.Operator{About: plan.About{Name: "Or", Shapes: true, Orion: &orionLogic, Versions: []int{1, 7}, Attrs: []string{"axis", "broadcast"}}, Rows: exec.Two(nil, &rows2{Bool: orRow})}

// orRow defines Or.
func orRow(dst, a, b []bool) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] || b[i]
	}
}
