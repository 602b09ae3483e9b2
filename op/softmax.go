package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Softmax returns eᵃ divided by the sum of all eᵃ along axis, computed from the
// distance to the largest: e = exp(a − max) rounded, their sum in the fixed order
// of this package rounded, e ÷ sum rounded. NaN anywhere makes the line NaN, and
// so does +∞. Fixed point is rounded once and never fails. ONNX Softmax; before opset 13 a line is axis and all after it.
func Softmax[T num.Float | num.Narrow | num.Fixed](a tensor.Tensor[T], axis int, opts ...Option) tensor.Tensor[T] {
	return softened("Softmax", a, axisOf("Softmax", axis, a.Rank()), 1, opts, softmaxRow32, softmaxRow64)
}

// softmaxRow32 and softmaxRow64 define Softmax.
func softmaxRow32(row []float32) {
	exponentials(row, shifted(row))
	s := float32(sumRow(row))
	if simd.TryDivNumber32(row, row, s) {
		return
	}
	for i, e := range row {
		row[i] = e / s
	}
}

func softmaxRow64(row []float64) {
	expRow64(row, shifted(row))
	s := sumRow(row)
	if simd.TryDivNumber64(row, row, s) {
		return
	}
	for i, e := range row {
		row[i] = e / s
	}
}

// exponentials is expRow32 with the instruction set in use.
func exponentials(dst, a []float32) {
	if r := simd.Exp.Best(); r != nil {
		r.F32(dst, a)
		return
	}
	expRow32(dst, a)
}

// shifted subtracts the largest element from all of a row, which has some, in
// place. −∞ throughout gives NaN, as ∞ − ∞ does.
func shifted[T num.Float](row []T) []T {
	top, ok := maxOf(row)
	if !ok {
		top = row[0]
		for _, v := range row[1:] {
			if greaterFloat(v, top) {
				top = v
			}
		}
	}
	switch r := any(row).(type) {
	case []float32:
		ok = simd.TrySubNumber32(r, r, float32(top))
	case []float64:
		ok = simd.TrySubNumber64(r, r, float64(top))
	}
	if ok {
		return row
	}
	for i, v := range row {
		row[i] = v - top
	}
	return row
}

// softened applies a row function of the softmax family.
func softened[T num.Float | num.Narrow | num.Fixed](name string, a tensor.Tensor[T], axis, tail int, opts []Option, f32 func([]float32), f64 func([]float64)) tensor.Tensor[T] {
	if dtype.Of[T]().IsFixed() {
		return mapLines(name, a, axis, tail, opts, softmaxFamily(name))
	}
	s := read(opts)
	dst := target[T](name, &s, a.Shape())
	if mustCopy(&a, &dst) {
		a = a.Clone()
	}
	alongAxis(job{name: name, ctx: s.ctx(), cost: 20}, a, axis, tail, dst, f32, f64)
	return dst
}

// softAxis reads the axis of the softmax family and how many axes make a line.
func softAxis(name string, c *Call, rank int) (axis, tail int) {
	if c.Opset >= 13 {
		return axisOf(name, int(c.Attrs.Int("axis", -1)), rank), 1
	}
	axis = int(c.Attrs.Int("axis", 1))
	if axis == rank { // a line of nothing is one element
		return rank, 0
	}
	axis = axisOf(name, axis, rank)
	return axis, rank - axis
}

var softmax = opN{about: about{name: "Softmax", onnx: []int{1, 11, 13}, attrs: []string{"axis"}}, least: 1, fast: softmaxFast,
	infer: func(c *Call) []tensor.Any {
		softAxis("Softmax", c, c.in(0).Rank())
		return one(spec("Softmax", c.in(0).DType(), tensor.Shape(c.in(0))...))
	},
	run: perType{dtype.Float8E4M3: runSoftmax[num.F8E4M3], dtype.Float8E5M2: runSoftmax[num.F8E5M2],
		dtype.Float16: runSoftmax[num.F16], dtype.BFloat16: runSoftmax[num.BF16], dtype.Float32: runSoftmax[float32],
		dtype.Float64: runSoftmax[float64],
		dtype.FP8x23:  runSoftmax[num.FP8x23], dtype.FP16x16: runSoftmax[num.FP16x16], dtype.FP32x32: runSoftmax[num.FP32x32], dtype.FP64x64: runSoftmax[num.FP64x64]}}

func runSoftmax[T num.Float | num.Narrow | num.Fixed](c *Call) []tensor.Any {
	a := as[T]("Softmax", c, 0)
	axis, tail := softAxis("Softmax", c, a.Rank())
	return one(softened("Softmax", a, axis, tail, options(c), softmaxRow32, softmaxRow64))
}
