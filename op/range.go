package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Range is ONNX's: start, start+delta, … before limit, as many as (limit-start)/delta
// rounded up; element i is start + i·delta, in float32 for the narrow floats, which
// then round once. A delta of 0 is an error, as is a number that isn't finite. Typed
// programs call tensor.Arange.
var rangeOp = opN{about: about{name: "Range", onnx: []int{11, 27}, why: "ONNX counts in 16 bits and more alone"}, least: 3,
	takes: integers | fixeds | 1<<dtype.Float16 | 1<<dtype.BFloat16 | 1<<dtype.Float32 | 1<<dtype.Float64,
	infer: func(c *Call) []tensor.Any {
		_, n := ranged(c, false)
		return one(spec("Range", c.in(0).DType(), n))
	},
	run: func(c *Call) []tensor.Any {
		r, _ := ranged(c, true)
		return one(r)
	}}

// ranged returns the range that a node asks for, and its length. Without fill it makes none
// but of fixed point.
func ranged(c *Call, fill bool) (r tensor.Any, n int) {
	const name = "Range"
	oneType(name, c.Inputs[:3]...)
	d := c.in(0).DType()
	var v [3]exec.Word
	for i := range v {
		a := c.with(name, i)
		if a.Len() != 1 {
			panic(fail(name, tensor.ErrShape, "input %d is %s; want one number", i, tensor.Describe(*a)))
		}
		v[i] = wideWord(d, exec.Item(a))
	}
	if !d.IsNarrow() {
		n = ranges[d](&r, &v, fill)
		return r, n
	}
	var wide tensor.Any
	if n = ranges[dtype.Float32](&wide, &v, fill); fill {
		convert(&r, name, d, &wide, nil)
	}
	return r, n
}

// ranges makes a range of each type that is computed in, of a start, a limit and a delta.
var ranges = [dtype.Count]func(r *tensor.Any, v *[3]exec.Word, fill bool) int{
	dtype.Int8: rangeOf[int8], dtype.Int16: rangeOf[int16], dtype.Int32: rangeOf[int32], dtype.Int64: rangeOf[int64],
	dtype.Uint8: rangeOf[uint8], dtype.Uint16: rangeOf[uint16], dtype.Uint32: rangeOf[uint32], dtype.Uint64: rangeOf[uint64],
	dtype.Float32: rangeOf[float32], dtype.Float64: rangeOf[float64],
	dtype.FP8x23: rangeOfFixed[num.FP8x23], dtype.FP16x16: rangeOfFixed[num.FP16x16], dtype.FP32x32: rangeOfFixed[num.FP32x32], dtype.FP64x64: rangeOfFixed[num.FP64x64]}

func rangeOf[T num.Native](r *tensor.Any, v *[3]exec.Word, fill bool) int {
	from, to, by := exec.Number[T](&v[0]), exec.Number[T](&v[1]), exec.Number[T](&v[2])
	n, ok := conv.RangeCount(from, to, by)
	if !ok {
		panic(fail("Range", tensor.ErrValue, "no range from %v to %v by %v; the step must not be 0, all three must be finite, and the count must fit an int", from, to, by))
	}
	if fill {
		*r = tensor.Arange(from, to, by).Any()
	}
	return n
}

func rangeOfFixed[T num.Fixed](r *tensor.Any, v *[3]exec.Word, _ bool) int {
	*r = tensor.Arange(exec.Number[T](&v[0]), exec.Number[T](&v[1]), exec.Number[T](&v[2])).Any()
	return r.Len()
}
