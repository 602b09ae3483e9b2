package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Range is ONNX's: start, start+delta, … before limit, as many as (limit-start)/delta
// rounded up; element i is start + i·delta, in float32 for the narrow floats, which
// then round once. A delta of 0 is an error, as is a number that isn't finite. Typed
// programs call tensor.Arange.
var rangeOp = opN{about: about{name: "Range", onnx: []int{11, 27}, why: "ONNX counts in 16 bits and more alone"}, least: 3,
	infer: inferRange,
	typed: perType{dtype.Int8: runRange[int8], dtype.Int16: runRange[int16], dtype.Int32: runRange[int32], dtype.Int64: runRange[int64],
		dtype.Uint8: runRange[uint8], dtype.Uint16: runRange[uint16], dtype.Uint32: runRange[uint32], dtype.Uint64: runRange[uint64],
		dtype.Float16: runNarrowRange[num.F16], dtype.BFloat16: runNarrowRange[num.BF16], dtype.Float32: runRange[float32], dtype.Float64: runRange[float64]}}

func bound[T num.Elem](c *Call) (v [3]T) {
	for i := range v {
		a := as[T]("Range", c, i)
		if a.Len() != 1 {
			panic(fail("Range", tensor.ErrShape, "input %d is %s; want one number", i, tensor.Describe(a.Any())))
		}
		v[i] = a.Item()
	}
	return v
}

func runRange[T num.Native](c *Call) []tensor.Any {
	v := bound[T](c)
	return one(tensor.Arange(v[0], v[1], v[2]).Any())
}

func runNarrowRange[T num.Elem](c *Call) []tensor.Any {
	v := bound[T](c)
	var w [3]float32
	widenFor[T]()(w[:], v[:])
	return one(Cast[T](tensor.Arange(w[0], w[1], w[2])).Any())
}

// inferRange counts the elements, which are never made for it.
func inferRange(c *Call) []tensor.Any {
	oneType("Range", c.Inputs[:3]...)
	d := c.in(0).DType()
	return one(spec("Range", d, countRange[d](c)))
}

// countRange has the length of a range for each type that has ranges.
var countRange = [dtype.Count]func(c *Call) int{dtype.Int8: countOfRange[int8], dtype.Int16: countOfRange[int16], dtype.Int32: countOfRange[int32], dtype.Int64: countOfRange[int64],
	dtype.Uint8: countOfRange[uint8], dtype.Uint16: countOfRange[uint16], dtype.Uint32: countOfRange[uint32], dtype.Uint64: countOfRange[uint64],
	dtype.Float16: countOfNarrowRange[num.F16], dtype.BFloat16: countOfNarrowRange[num.BF16], dtype.Float32: countOfRange[float32], dtype.Float64: countOfRange[float64]}

func countOfRange[T num.Native](c *Call) int {
	v := bound[T](c)
	return rangeLen(v)
}

func countOfNarrowRange[T num.Elem](c *Call) int {
	v := bound[T](c)
	var w [3]float32
	widenFor[T]()(w[:], v[:])
	return rangeLen(w)
}

func rangeLen[T num.Native](v [3]T) int {
	n, ok := conv.RangeCount(v[0], v[1], v[2])
	if !ok {
		panic(fail("Range", tensor.ErrValue, "no range from %v to %v by %v; the step must not be 0, all three must be finite, and the count must fit an int", v[0], v[1], v[2]))
	}
	return n
}
