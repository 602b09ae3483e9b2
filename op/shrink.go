package op

import (
	"context"
	"math"

	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Shrink returns x + bias where x < −lambd, x − bias where x > lambd, and +0 elsewhere,
// element by element; NaN gives +0. Sums are in float64, rounded once. For integers a sum is exact
// if bias is a whole number, else in float64; it goes to an integer toward zero and saturates. ONNX
// Shrink, whose lambd is 0.5 and bias 0 by default.
func Shrink[T num.Native | num.Narrow](x tensor.Tensor[T], lambd, bias float64, opts ...Option) (r tensor.Tensor[T]) {
	shrunk(x.Any(), lambd, bias).Into(exec.Ref(&r), opts)
	return r
}

func shrunk(x tensor.Any, lambd, bias float64) *move.Transfer {
	plan.Present("Shrink", &x)
	d := x.DType()
	return &move.Transfer{Name: "Shrink", D: d, Shape: x.Shape(), In: move.OperandsOf(x), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		src, to := move.NumericOf(in[0]), move.NumericOf(dst)
		each := func(i int) { to.SetFloat(i, shrunkFloat(src.Float(i), lambd, bias)) }
		switch n := d.Bits(); {
		case d.IsFloat():
		case d.IsSigned():
			f := shrunkInteger(lambd, bias, int64(math.MinInt64)>>(64-n), int64(math.MaxInt64)>>(64-n), math.Ldexp(1, n-1))
			each = func(i int) { to.SetBits(i, uint64(f(src.Whole(i)))) }
		default:
			f := shrunkInteger(lambd, bias, 0, ^uint64(0)>>(64-n), math.Ldexp(1, n))
			each = func(i int) { to.SetBits(i, f(src.Bits(i))) }
		}
		exec.Split("Shrink", ctx, dst.Len(), 10, func(from, till int) {
			for i := from; i < till; i++ {
				each(i)
			}
		})
	}}
}

func shrunkFloat(v, lambd, bias float64) float64 {
	switch {
	case v < -lambd:
		return v + bias
	case v > lambd:
		return v - bias
	}
	return 0
}

// shrunkInteger returns Shrink for integers from least to most. Beyond is the power of two after most.
func shrunkInteger[T int64 | uint64](lambd, bias float64, least, most T, beyond float64) func(T) T {
	low, high := cast.ToInt(math.Ceil(-lambd), least, most, beyond), cast.ToInt(math.Floor(lambd), least, most, beyond)
	plus := func(v T, b float64) T { return cast.ToInt(float64(v)+b, least, most, beyond) }
	parts := 1 // of bias, each an int64
	for parts < 8 && math.Abs(bias)/float64(parts) >= 1<<63 {
		parts *= 2
	}
	if math.Trunc(bias) == bias && math.Abs(bias)/float64(parts) < 1<<63 {
		plus = func(v T, b float64) T {
			for range parts {
				switch s := v + T(int64(b/float64(parts))); {
				case b < 0 && s > v: // it wrapped
					return least
				case b > 0 && s < v:
					return most
				default:
					v = max(least, min(s, most))
				}
			}
			return v
		}
	}
	return func(v T) T {
		switch {
		case lambd != lambd:
		case v < low || -lambd >= beyond:
			return plus(v, bias)
		case v > high || lambd < float64(least):
			return plus(v, -bias)
		}
		return 0
	}
}

var shrink = plan.Operator{About: plan.About{Name: "Shrink", Versions: []int{9}, Attrs: []string{"bias", "lambd"}}, Least: 1, Takes: plan.Reals,
	Move: func(c *plan.Use) plan.Mover {
		return shrunk(c.In(0), float64(c.Attrs.Float("lambd", 0.5)), float64(c.Attrs.Float("bias", 0)))
	}}
