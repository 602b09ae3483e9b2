package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/tensor"
)

// Not returns whether a is false, element by element. ONNX Not.
func Not(a tensor.Tensor[bool], opts ...Option) (r tensor.Tensor[bool]) {
	not.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var not = pointwise.Operator{About: plan.About{Name: "Not", Shapes: true, Versions: []int{1}}, Rows: exec.One(nil, &rows1{Bool: notRow})}

// notRow defines Not.
func notRow(dst, a []bool) {
	for i, x := range a[:len(dst)] {
		dst[i] = !x
	}
}
