package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/tensor"
)

// Xor returns whether just one of a and b is true, element by element. Shapes broadcast. ONNX Xor.
func Xor(a, b tensor.Tensor[bool], opts ...Option) (r tensor.Tensor[bool]) {
	xor.Call(exec.Ref(&r), opts, exec.Ref(&a), exec.Ref(&b))
	return r
}

var xor = pointwise.Operator{About: plan.About{Name: "Xor", Orion: &orionLogic, Versions: []int{1, 7}, Attrs: []string{"axis", "broadcast"}}, Rows: exec.Two(nil, &rows2{Bool: xorRow})}

// xorRow defines Xor.
func xorRow(dst, a, b []bool) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] != b[i]
	}
}
