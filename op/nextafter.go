package op

import (
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// NextAfter returns the number beside a in the direction of b, element by element:
// b itself if the two are equal, NaN if either is. Shapes broadcast. It panics if
// they don't. IEEE 754 nextUp and nextDown; NumPy nextafter.
func NextAfter[T num.Float | num.F16 | num.BF16](a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	nextAfter(exec.Ref(&r), exec.Ref(&a), exec.Ref(&b), opts)
	return r
}

func nextAfter(r, a, b *tensor.Any, opts []Option) {
	const name = "NextAfter"
	plan.Present(name, a, b)
	d := a.DType()
	if pointwise.IsLazy(a, b) {
		pointwise.Noted(r, pointwise.Note{Name: name, Cost: 4, Args: []pointwise.Arg{pointwise.ArgOf(name, a), pointwise.ArgOf(name, b)},
			Run: func(r *tensor.Any, in []*tensor.Any, opts []Option) { nextAfter(r, in[0], in[1], opts) }}, d, opts, a.LayoutRef(), b.LayoutRef())
		return
	}
	var row exec.Row2
	switch d {
	case dtype.Float32:
		row = exec.Forget[exec.Row2](nextAfterRow32)
	case dtype.Float64:
		row = exec.Forget[exec.Row2](nextAfterRow64)
	case dtype.Float16:
		row = exec.Forget[exec.Row2](nextAfterRowF16)
	case dtype.BFloat16:
		row = exec.Forget[exec.Row2](nextAfterRowBF16)
	}
	plan.Must(name, row != nil, d)
	s := plan.Read(name, opts)
	plan.Aim(r, name, &s, d, a.LayoutRef(), b.LayoutRef())
	exec.Elementwise(&exec.Job{Name: name, Ctx: s.Ctx(), Cost: 4}, r, []*tensor.Any{a, b}, &exec.Kernel{Row: exec.RowOf(row)})
}

// nextWord returns the word beside x in the direction of y. Both are signs and
// magnitudes, as floats are that aren't NaN.
func nextWord[T num.Uint](x, y T) T {
	top := ^(^T(0) >> 1)
	order := func(w T) T { // sorts as the numbers do, the zeros together
		if w&top != 0 {
			return top - w&^top
		}
		return top + w
	}
	switch ox, oy := order(x), order(y); {
	case ox == oy:
		return y
	case x&^top == 0: // away from either zero comes the smallest number of y's sign
		return y&top | 1
	case (ox < oy) == (x&top == 0):
		return x + 1
	}
	return x - 1
}

func nextAfterRow32(dst, a, b []float32) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		if x, y := a[i], b[i]; x != x || y != y {
			dst[i] = num.NaN32()
		} else {
			dst[i] = math.Float32frombits(nextWord(math.Float32bits(x), math.Float32bits(y)))
		}
	}
}

func nextAfterRow64(dst, a, b []float64) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		if x, y := a[i], b[i]; x != x || y != y {
			dst[i] = num.NaN64()
		} else {
			dst[i] = math.Float64frombits(nextWord(math.Float64bits(x), math.Float64bits(y)))
		}
	}
}

func nextAfterRowF16(dst, a, b []num.F16) {
	a, b = a[:len(dst)], b[:len(dst)]
	for d, i := conv.As[uint16](dst), 0; i < len(d); i++ {
		if x, y := a[i], b[i]; x.IsNaN() || y.IsNaN() {
			d[i] = num.CanonF16
		} else {
			d[i] = nextWord(x.Bits(), y.Bits())
		}
	}
}

func nextAfterRowBF16(dst, a, b []num.BF16) {
	a, b = a[:len(dst)], b[:len(dst)]
	for d, i := conv.As[uint16](dst), 0; i < len(d); i++ {
		if x, y := a[i], b[i]; x.IsNaN() || y.IsNaN() {
			d[i] = num.CanonBF16
		} else {
			d[i] = nextWord(x.Bits(), y.Bits())
		}
	}
}

var nextAfterOp = plan.Operator{About: plan.About{Name: "NextAfter", Why: "of floats of 16 bits and more, as in NumPy"}, Least: 2, Takes: plan.Floats &^ plan.Float8s,
	Planned: func(c *plan.Use, p *plan.Draft) {
		plan.OneType("NextAfter", c.Inputs[:2]...)
		a, b := c.With("NextAfter", 0), c.With("NextAfter", 1)
		p.Stretched(a.DType(), c, 2)
		p.By(c, 0, func(r *tensor.Any, opts []Option) { nextAfter(r, a, b, opts) })
	}}
