package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// IsInf reports which elements are infinite, as math.IsInf does: +∞ alone with a positive sign, −∞ alone with a negative one,
// and both with 0. ONNX IsInf, with its attributes detect_negative and detect_positive.
func IsInf[T num.Floating](a tensor.Tensor[T], sign int, opts ...Option) (r tensor.Tensor[bool]) {
	infinite(sign <= 0, sign >= 0).Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

// infinite returns the question that asks about the infinities wanted.
func infinite(negative, positive bool) *pointwise.Operator {
	switch {
	case negative && positive:
		return &infiniteTests[3]
	case negative:
		return &infiniteTests[2]
	case positive:
		return &infiniteTests[1]
	}
	return &infiniteTests[0]
}

var infiniteTests = [4]pointwise.Operator{
	{About: plan.About{Name: "IsInf"}, Rows: exec.Test(&rowsTest{F32: neverRow[float32], F64: neverRow[float64]})},
	{About: plan.About{Name: "IsInf"}, Rows: exec.Test(&rowsTest{F32: isPlusInfRow[float32], F64: isPlusInfRow[float64]})},
	{About: plan.About{Name: "IsInf"}, Rows: exec.Test(&rowsTest{F32: isMinusInfRow[float32], F64: isMinusInfRow[float64]})},
	{About: plan.About{Name: "IsInf"}, Rows: exec.Test(&rowsTest{F32: isInfRow[float32], F64: isInfRow[float64]})},
}

// The rows that define IsInf.

func neverRow[T num.Float](dst []bool, a []T) { clear(dst) }

func isPlusInfRow[T num.Float](dst []bool, a []T) {
	for i, x := range a[:len(dst)] {
		dst[i] = x-x != 0 && x > 0
	}
}

func isMinusInfRow[T num.Float](dst []bool, a []T) {
	for i, x := range a[:len(dst)] {
		dst[i] = x-x != 0 && x < 0
	}
}

func isInfRow[T num.Float](dst []bool, a []T) {
	for i, x := range a[:len(dst)] {
		dst[i] = x-x != 0 && x == x
	}
}

var isInf = plan.Operator{About: plan.About{Name: "IsInf", FLOPs: plan.FLOPs{Each: 1}, Orion: &inOrion{also: 1<<dtype.Int8 | 1<<dtype.Int32, input: orionIsInf}, Versions: []int{10, 20}, Attrs: []string{"detect_negative", "detect_positive"}, Why: "integers have no infinity"}, Least: 1, Takes: plan.Floats,
	Planned: func(c *plan.Use, p *plan.Draft) {
		a, by := c.With("IsInf", 0), infinite(c.Attrs.Int("detect_negative", 1) != 0, c.Attrs.Int("detect_positive", 1) != 0)
		p.Stretched(dtype.Bool, c, 1)
		p.By(c, 0, func(r *tensor.Any, opts []Option) { by.Call(r, opts, a) })
	}}
