package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/tensor"
)

// Or returns whether a or b is true, element by element. Shapes broadcast. ONNX Or.
func Or(a, b tensor.Tensor[bool], opts ...Option) (r tensor.Tensor[bool]) {
	or.call(exec.Ref(&r), opts, exec.Ref(&a), exec.Ref(&b))
	return r
}

var or = pointwise{about: about{name: "Or", orion: &orionLogic, onnx: []int{1, 7}, attrs: []string{"axis", "broadcast"}}, rows: exec.Two(nil, &rows2{Bool: orRow})}

// orRow defines Or.
func orRow(dst, a, b []bool) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] || b[i]
	}
}
