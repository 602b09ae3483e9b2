package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// IsInf reports which elements are infinite: −∞ if negative is set, +∞ if positive
// is. ONNX IsInf, whose detect_negative and detect_positive are set by default.
func IsInf[T num.Float | num.Narrow](a tensor.Tensor[T], negative, positive bool, opts ...Option) (r tensor.Tensor[bool]) {
	infinite(negative, positive).call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

// infinite returns the question that asks about the infinities wanted.
func infinite(negative, positive bool) *pointwise {
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

var infiniteTests = [4]pointwise{
	{about: about{name: "IsInf"}, rows: exec.Test(&rowsTest{F32: neverRow[float32], F64: neverRow[float64]})},
	{about: about{name: "IsInf"}, rows: exec.Test(&rowsTest{F32: isPlusInfRow[float32], F64: isPlusInfRow[float64]})},
	{about: about{name: "IsInf"}, rows: exec.Test(&rowsTest{F32: isMinusInfRow[float32], F64: isMinusInfRow[float64]})},
	{about: about{name: "IsInf"}, rows: exec.Test(&rowsTest{F32: isInfRow[float32], F64: isInfRow[float64]})},
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

var isInf = opN{about: about{name: "IsInf", flops: flops{each: 1}, orion: &inOrion{also: 1<<dtype.Int8 | 1<<dtype.Int32, input: orionIsInf}, onnx: []int{10, 20}, attrs: []string{"detect_negative", "detect_positive"}, why: "integers have no infinity"}, least: 1, takes: floats,
	planned: func(c *Call, p *Plan) {
		a, by := c.with("IsInf", 0), infinite(c.Attrs.Int("detect_negative", 1) != 0, c.Attrs.Int("detect_positive", 1) != 0)
		p.stretched(dtype.Bool, c, 1)
		p.by(c, 0, func(r *tensor.Any, opts []Option) { by.call(r, opts, a) })
	}}
