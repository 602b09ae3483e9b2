package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Where returns a where cond is true and b elsewhere, bit for bit. The three
// shapes broadcast. It panics if they don't. ONNX Where.
func Where[T num.Elem](cond tensor.Tensor[bool], a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	where.Call(exec.Ref(&r), opts, exec.Ref(&cond), exec.Ref(&a), exec.Ref(&b))
	return r
}

// where chooses between words: between floats it would branch, and mispredict.
var where = pointwise.Operator{About: plan.About{Name: "Where", Shapes: true, Moves: plan.Moves{In: 0b110, Out: 1}, FLOPs: plan.FLOPs{Free: true}, Orion: &inOrion{truth: 1}, Versions: []int{9, 16}}, Clean: true,
	Rows: exec.Choose(&simd.Where, &simd.RowsWhere{U8: whereWords[uint8], U16: whereWords[uint16], U32: whereWords[uint32], U64: whereWords[uint64],
		U128: whereWords[[2]uint64]})}

// whereWords defines Where.
func whereWords[W any](dst []W, mask []bool, a, b []W) {
	mask, a, b = mask[:len(dst)], a[:len(dst)], b[:len(dst)]
	for i := range dst {
		v := b[i]
		if mask[i] {
			v = a[i]
		}
		dst[i] = v
	}
}
