package op

import (
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// NextAfter returns the number beside a in the direction of b, element by element:
// b itself if the two are equal, NaN if either is. Shapes broadcast. It panics if
// they don't. IEEE 754 nextUp and nextDown; NumPy nextafter.
func NextAfter[T num.Float | num.F16 | num.BF16](a, b tensor.Tensor[T], opts ...Option) tensor.Tensor[T] {
	var p any
	switch any((*T)(nil)).(type) {
	case *float32:
		p = nextAfterRow32
	case *float64:
		p = nextAfterRow64
	case *num.F16:
		p = nextAfterRowF16
	case *num.BF16:
		p = nextAfterRowBF16
	}
	if isLazy(&a, &b) {
		return noted[T](note{name: "NextAfter", cost: 4, args: []arg{argOf("NextAfter", &a), argOf("NextAfter", &b)},
			run: func(in []any, opts []Option) {
				NextAfter(*in[0].(*tensor.Tensor[T]), *in[1].(*tensor.Tensor[T]), opts...)
			}}, opts, a.LayoutRef(), b.LayoutRef())
	}
	s := read(opts)
	var few [8]int
	dst := target[T]("NextAfter", &s, broadcast2("NextAfter", few[:0], a.LayoutRef(), b.LayoutRef()))
	k := kernel[T, T]{two: p.(func(dst, a, b []T))}
	elementwise(job{name: "NextAfter", ctx: s.ctx(), cost: 4}, &dst, &[3]*tensor.Tensor[T]{&a, &b}, 2, &k, nil, nil)
	return dst
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

var nextAfterOp = opN{about: about{name: "NextAfter", why: "of floats of 16 bits and more, as in NumPy"}, least: 2,
	run: perType{dtype.Float16: runNextAfter[num.F16], dtype.BFloat16: runNextAfter[num.BF16],
		dtype.Float32: runNextAfter[float32], dtype.Float64: runNextAfter[float64]},
	infer: func(c *Call) []tensor.Any {
		oneType("NextAfter", c.Inputs[:2]...)
		return one(spec("NextAfter", c.in(0).DType(), stretch("NextAfter", c.Inputs[:2]...)...))
	}}

func runNextAfter[T num.Float | num.F16 | num.BF16](c *Call) []tensor.Any {
	return one(NextAfter(as[T]("NextAfter", c, 0), as[T]("NextAfter", c, 1), options(c)...))
}
