package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Inner returns the sums of products along the last axes of a and b, for every
// pair of the other axes: TensorDot over the last axis of each. With a scalar it is
// Mul, or And. It panics when the last axes differ. NumPy inner.
func Inner[T bool | num.Number](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	if a.Rank() == 0 || b.Rank() == 0 {
		if dtype.Of[T]() == dtype.Bool {
			and.call(exec.Ref(&r), exec.Ref(&a), exec.Ref(&b), opts)
			return r
		}
		mul.call(exec.Ref(&r), exec.Ref(&a), exec.Ref(&b), opts)
		return r
	}
	return TensorDot(a, b, []int{-1}, []int{-1}, opts...)
}

var innerOp = opN{about: about{name: "Inner"}, least: 2,
	infer: func(c *Call) []tensor.Any {
		oneType("Inner", c.Inputs[:2]...)
		if c.in(0).Rank() == 0 || c.in(1).Rank() == 0 {
			return one(spec("Inner", c.in(0).DType(), stretch("Inner", c.Inputs[:2]...)...))
		}
		return one(spec("Inner", c.in(0).DType(), dotOf("Inner", c.in(0), c.in(1), []int{-1}, []int{-1}).shape...))
	},
	typed: perType{dtype.Bool: runInner[bool], dtype.Int8: runInner[int8], dtype.Int16: runInner[int16], dtype.Int32: runInner[int32], dtype.Int64: runInner[int64],
		dtype.Uint8: runInner[uint8], dtype.Uint16: runInner[uint16], dtype.Uint32: runInner[uint32], dtype.Uint64: runInner[uint64],
		dtype.Float8E4M3: runInner[num.F8E4M3], dtype.Float8E5M2: runInner[num.F8E5M2], dtype.Float16: runInner[num.F16],
		dtype.BFloat16: runInner[num.BF16], dtype.Float32: runInner[float32], dtype.Float64: runInner[float64],
		dtype.Complex64: runInner[complex64], dtype.Complex128: runInner[complex128]}}

func runInner[T bool | num.Number](c *Call) []tensor.Any {
	return one(Inner(as[T]("Inner", c, 0), as[T]("Inner", c, 1), options(c)...).Any())
}
