package op

import (
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
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
	present(name, a, b)
	d := a.DType()
	if isLazy(a, b) {
		noted(r, note{name: name, cost: 4, args: []arg{argOf(name, a), argOf(name, b)},
			run: func(r *tensor.Any, in []*tensor.Any, opts []Option) { nextAfter(r, in[0], in[1], opts) }}, d, opts, a.LayoutRef(), b.LayoutRef())
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
	must(name, row != nil, d)
	s := read(opts)
	aim(r, name, &s, d, a.LayoutRef(), b.LayoutRef())
	exec.Elementwise(&exec.Job{Name: name, Ctx: s.ctx(), Cost: 4}, r, []*tensor.Any{a, b}, &exec.Kernel{Row: exec.RowOf(row)})
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
	for i := range dst {
		if x, y := a[i], b[i]; x.IsNaN() || y.IsNaN() {
			dst[i] = num.F16FromBits(0x7e00)
		} else {
			dst[i] = num.F16FromBits(nextWord(x.Bits(), y.Bits()))
		}
	}
}

func nextAfterRowBF16(dst, a, b []num.BF16) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		if x, y := a[i], b[i]; x.IsNaN() || y.IsNaN() {
			dst[i] = num.BF16FromBits(0x7fc0)
		} else {
			dst[i] = num.BF16FromBits(nextWord(x.Bits(), y.Bits()))
		}
	}
}

var nextAfterOp = opN{about: about{name: "NextAfter", why: "of floats of 16 bits and more, as in NumPy"}, least: 2, takes: floats &^ float8s,
	planned: func(c *Call, p *Plan) {
		oneType("NextAfter", c.Inputs[:2]...)
		a, b := c.with("NextAfter", 0), c.with("NextAfter", 1)
		p.stretched(a.DType(), c, 2)
		p.by(c, 0, func(r *tensor.Any, opts []Option) { nextAfter(r, a, b, opts) })
	}}
