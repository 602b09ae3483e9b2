package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/tensor"
)

// And returns whether a and b are both true, element by element. Shapes broadcast. ONNX And.
func And(a, b tensor.Tensor[bool], opts ...Option) (r tensor.Tensor[bool]) {
	and.Call(exec.Ref(&r), opts, exec.Ref(&a), exec.Ref(&b))
	return r
}

var and = pointwise.Operator{About: plan.About{Name: "And", Shapes: true, Orion: &orionLogic, Versions: []int{1, 7}, Attrs: []string{"axis", "broadcast"}}, Rows: exec.Two(nil, &rows2{Bool: andRow})}

// andRow defines And.
func andRow(dst, a, b []bool) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] && b[i]
	}
}
