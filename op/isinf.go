package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// IsInf reports which elements are infinite: −∞ and +∞, or one of them with Negative or Positive. ONNX IsInf.
func IsInf[T num.Floating](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[bool]) {
	negative, positive := plan.Has(opts, plan.Negative), plan.Has(opts, plan.Positive)
	infinite(negative || !positive, positive || !negative).Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

// Negative makes IsInf report −∞ alone, and with Positive both infinities. It is 0 of ONNX's attribute detect_positive.
func Negative() Option { return plan.WithFlags(plan.Negative) }

// Positive makes IsInf report +∞ alone, and with Negative both infinities. It is 0 of ONNX's attribute detect_negative.
func Positive() Option { return plan.WithFlags(plan.Positive) }

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
	{About: plan.About{Name: "IsInf", Own: plan.Negative | plan.Positive}, Rows: exec.Test(&rowsTest{F32: neverRow[float32], F64: neverRow[float64]})},
	{About: plan.About{Name: "IsInf", Own: plan.Negative | plan.Positive}, Rows: exec.Test(&rowsTest{F32: isPlusInfRow[float32], F64: isPlusInfRow[float64]})},
	{About: plan.About{Name: "IsInf", Own: plan.Negative | plan.Positive}, Rows: exec.Test(&rowsTest{F32: isMinusInfRow[float32], F64: isMinusInfRow[float64]})},
	{About: plan.About{Name: "IsInf", Own: plan.Negative | plan.Positive}, Rows: exec.Test(&rowsTest{F32: isInfRow[float32], F64: isInfRow[float64]})},
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
