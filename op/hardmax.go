package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// Hardmax returns 1 where the largest element of each line along axis is, 0
// elsewhere: the position that ArgMax gives, so the first of equals, or the first
// NaN. ONNX Hardmax; before opset 13 a line is axis and all after it.
func Hardmax[T num.Fractional](a tensor.Tensor[T], axis int, opts ...Option) (r tensor.Tensor[T]) {
	hardmax.Along(exec.Ref(&r), exec.Ref(&a), axis, opts)
	return r
}

// hardmaxLines defines Hardmax.
func hardmaxLines[T num.Float](dst, _, a []T, n int, _ bool) {
	for ; len(a) > 0; dst, a = dst[n:], a[n:] {
		top := 0
		for i, v := range a[:n] {
			if move.GreaterFloat(v, a[top]) {
				top = i
			}
		}
		clear(dst[:n])
		dst[top] = 1
	}
}

func hardmaxFixed[T num.Fixed](dst, x []T, mode []fixed.Mode) error {
	top := 0
	for i, v := range x {
		if move.GreaterFixed(v, x[top]) {
			top = i
		}
	}
	clear(dst)
	dst[top], _ = fixed.FromInt64[T](1)
	return nil
}

var hardmax = reduce.Liner{About: plan.About{Name: "Hardmax", Versions: []int{1, 11, 13}, Attrs: []string{"axis"}},
	F32: hardmaxLines[float32], F64: hardmaxLines[float64],
	Fixed: reduce.FixedMap{FP8x23: hardmaxFixed[fixed.FP8x23], FP16x16: hardmaxFixed[fixed.FP16x16], FP32x32: hardmaxFixed[fixed.FP32x32], FP64x64: hardmaxFixed[fixed.FP64x64]}}
