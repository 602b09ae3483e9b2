package tensortest

import (
	"fmt"
	"math"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// An element is a value of any type, as the comparisons see it. Complex numbers
// have two parts.
type element struct {
	bits    [2]uint64  // of the representation
	order   [2]uint64  // of the value among all of its type; -0 and 0 are one
	value   [2]float64 // of an integer beyond 2^53 rounded
	integer bool       // then the difference of orders is the exact one
	boolean bool
}

// A reader gives the elements of a tensor.
type reader struct {
	at  func(idx []int) element
	any func(idx []int) any
}

// open returns the reader of a, or what is wrong with it.
func open(name string, a tensor.Any) (r reader, problem string) {
	var err error
	switch x := a.(type) {
	case nil:
		return r, name + " is nil"
	case tensor.Tensor[bool]:
		r, err = read(x, boolean)
	case tensor.Tensor[int8]:
		r, err = read(x, signed[int8])
	case tensor.Tensor[int16]:
		r, err = read(x, signed[int16])
	case tensor.Tensor[int32]:
		r, err = read(x, signed[int32])
	case tensor.Tensor[int64]:
		r, err = read(x, signed[int64])
	case tensor.Tensor[uint8]:
		r, err = read(x, unsigned[uint8])
	case tensor.Tensor[uint16]:
		r, err = read(x, unsigned[uint16])
	case tensor.Tensor[uint32]:
		r, err = read(x, unsigned[uint32])
	case tensor.Tensor[uint64]:
		r, err = read(x, unsigned[uint64])
	case tensor.Tensor[num.F8E4M3]:
		r, err = read(x, func(v num.F8E4M3) element { return float(uint64(v.Bits()), 8, v.Float64()) })
	case tensor.Tensor[num.F8E5M2]:
		r, err = read(x, func(v num.F8E5M2) element { return float(uint64(v.Bits()), 8, v.Float64()) })
	case tensor.Tensor[num.F16]:
		r, err = read(x, func(v num.F16) element { return float(uint64(v.Bits()), 16, v.Float64()) })
	case tensor.Tensor[num.BF16]:
		r, err = read(x, func(v num.BF16) element { return float(uint64(v.Bits()), 16, v.Float64()) })
	case tensor.Tensor[float32]:
		r, err = read(x, single)
	case tensor.Tensor[float64]:
		r, err = read(x, double)
	case tensor.Tensor[complex64]:
		r, err = read(x, func(v complex64) element { return pair(single(real(v)), single(imag(v))) })
	case tensor.Tensor[complex128]:
		r, err = read(x, func(v complex128) element { return pair(double(real(v)), double(imag(v))) })
	case tensor.Tensor[num.FP8x23]:
		r, err = read(x, func(v num.FP8x23) element { return fixed(int64(v.Bits()), v.Float64()) })
	case tensor.Tensor[num.FP16x16]:
		r, err = read(x, func(v num.FP16x16) element { return fixed(int64(v.Bits()), v.Float64()) })
	case tensor.Tensor[num.FP32x32]:
		r, err = read(x, func(v num.FP32x32) element { return fixed(v.Bits(), v.Float64()) })
	case tensor.Tensor[num.FP64x64]:
		r, err = read(x, wide)
	default:
		return r, fmt.Sprintf("%s is a %T, whose elements can't be read", name, a)
	}
	if err != nil {
		return r, fmt.Sprintf("%s can't be read: %v", name, err)
	}
	return r, ""
}

func read[T num.Elem](x tensor.Tensor[T], f func(T) element) (reader, error) {
	return reader{
		at:  func(idx []int) element { return f(x.At(idx...)) },
		any: func(idx []int) any { return x.At(idx...) },
	}, tensor.Try(func() { x.Data() })
}

func boolean(v bool) element {
	e := element{boolean: true, integer: true}
	if v {
		e.bits[0], e.order[0], e.value[0] = 1, 1, 1
	}
	return e
}

func signed[T num.Int](v T) element {
	return element{bits: [2]uint64{uint64(v)}, order: [2]uint64{uint64(v) ^ 1<<63}, value: [2]float64{float64(v)}, integer: true}
}

func unsigned[T num.Uint](v T) element {
	return element{bits: [2]uint64{uint64(v)}, order: [2]uint64{uint64(v)}, value: [2]float64{float64(v)}, integer: true}
}

func single(v float32) element { return float(uint64(math.Float32bits(v)), 32, float64(v)) }
func double(v float64) element { return float(math.Float64bits(v), 64, v) }

// float makes an element of the bits of a float of some width, the sign first.
func float(bits uint64, width int, v float64) element {
	sign := uint64(1) << (width - 1)
	order := uint64(1)<<63 + bits&^sign
	if bits&sign != 0 {
		order = uint64(1)<<63 - bits&^sign
	}
	return element{bits: [2]uint64{bits}, order: [2]uint64{order}, value: [2]float64{v}}
}

func pair(re, im element) element {
	re.bits[1], re.order[1], re.value[1] = im.bits[0], im.order[0], im.value[0]
	return re
}

// fixed makes an element of a fixed-point number of so many units.
func fixed(units int64, v float64) element {
	return element{bits: [2]uint64{uint64(units)}, order: [2]uint64{uint64(units) ^ 1<<63}, value: [2]float64{v}}
}

// wide is fixed for words of 128 bits. Steps count no further than 2^63 - 1 from 0.
func wide(v num.FP64x64) element {
	w := v.Bits()
	units := int64(w.Lo)
	if w.Hi != units>>63 { // the word has more than 64 bits
		units = w.Hi>>63 ^ math.MaxInt64
	}
	e := fixed(units, v.Float64())
	e.bits = [2]uint64{w.Lo, uint64(w.Hi)}
	return e
}

// nan reports which parts are NaN.
func (e element) nan() [2]bool { return [2]bool{e.value[0] != e.value[0], e.value[1] != e.value[1]} }

// difference is |e - w|: infinite for a NaN against another value.
func (e element) difference(w element) float64 {
	if e.nan() != w.nan() {
		return math.Inf(1)
	}
	if e.integer {
		return float64(apart(e.order[0], w.order[0]))
	}
	var d [2]float64
	for k := range d {
		if e.order[k] != w.order[k] && e.value[k] == e.value[k] {
			d[k] = math.Abs(e.value[k] - w.value[k])
		}
	}
	if d[1] == 0 {
		return d[0]
	}
	return size(d)
}

// steps is how many values of the type the parts are apart, the larger number of
// both; false for a NaN against another value.
func (e element) steps(w element) (uint64, bool) {
	if e.nan() != w.nan() {
		return 0, false
	}
	var n uint64
	for k := range e.order {
		if e.value[k] == e.value[k] {
			n = max(n, apart(e.order[k], w.order[k]))
		}
	}
	return n, true
}

func (e element) magnitude() float64 { return size(e.value) }

// size is the absolute value of a complex number.
func size(v [2]float64) float64 {
	a, b := math.Abs(v[0]), math.Abs(v[1])
	if b == 0 {
		return a
	}
	return math.Hypot(a, b)
}

func apart(a, b uint64) uint64 { return max(a, b) - min(a, b) }

// text writes a value, and its bits where the value alone doesn't tell it from
// another one of bits w.
func text(v any, e, w element) string {
	s := fmt.Sprint(v)
	if e.bits != w.bits && e.nan() == w.nan() && e.nan() != [2]bool{} {
		bits := fmt.Sprintf("%#x", e.bits[0])
		if e.bits[1] != 0 || w.bits[1] != 0 {
			bits += fmt.Sprintf(", %#x", e.bits[1])
		}
		s += " (bits " + bits + ")"
	}
	return s
}
