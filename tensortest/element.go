package tensortest

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// An element is a value of any type in the form that comparisons use. Complex numbers
// have two parts.
type element struct {
	bits    [2]uint64  // the representation
	order   [2]uint64  // the rank of the value among all of its type; the same for -0 and 0
	value   [2]float64 // rounded for an integer beyond 2^53
	integer bool       // the difference of orders is the exact difference
	boolean bool
}

// A reader reads the elements of a tensor.
type reader struct {
	a      tensor.Any
	dtype  dtype.DType
	size   int // of an element in bytes
	memory []byte
	first  int // the place of element 0 in memory, in elements
}

// open returns the reader of a, or the reason why a can't be read.
func open(name string, a tensor.Any) (r reader, problem string) {
	switch {
	case a.IsZero():
		return r, name + " is no tensor: it is the zero value"
	case a.IsSpec():
		return r, name + " is a tensor.Spec, whose elements can't be read"
	case a.Foreign() != nil:
		return r, fmt.Sprintf("%s is a %T, whose elements can't be read", name, a.Foreign())
	}
	r.a, r.dtype, r.size = a, a.DType(), a.DType().Size()
	if err := tensor.Try(func() { r.memory, r.first = r.a.Memory() }); err != nil {
		return r, fmt.Sprintf("%s can't be read: %v", name, err)
	}
	return r, ""
}

// any returns the element at idx in its own type.
func (r *reader) any(idx []int) any { return r.a.At(idx...) }

func (r *reader) at(idx []int) element {
	off, _ := r.a.LayoutRef().At(idx)
	e := decode(r.dtype, r.memory[(r.first+off)*r.size:][:r.size])
	runtime.KeepAlive(r)
	return e
}

// decode makes an element of its bytes.
func decode(d dtype.DType, b []byte) element {
	w, unused := word(b), max(64-8*len(b), 0)
	units := int64(w<<unused) >> unused // as two's complement
	switch {
	case d == dtype.Bool:
		return element{bits: [2]uint64{w}, order: [2]uint64{w}, value: [2]float64{float64(w)}, integer: true, boolean: true}
	case d.IsInteger() && d.IsSigned():
		return element{bits: [2]uint64{w}, order: [2]uint64{uint64(units) ^ 1<<63}, value: [2]float64{float64(units)}, integer: true}
	case d.IsInteger():
		return element{bits: [2]uint64{w}, order: [2]uint64{w}, value: [2]float64{float64(w)}, integer: true}
	case d.IsFloat() && !d.IsSigned():
		return element{bits: [2]uint64{w}, order: [2]uint64{w}, value: [2]float64{d.Format().Value(uint16(w))}}
	case d.Format() != 0:
		return float(w, d.Bits(), d.Format().Value(uint16(w)))
	}
	switch d {
	case dtype.Float32:
		return float(w, 32, float64(math.Float32frombits(uint32(w))))
	case dtype.Float64:
		return float(w, 64, math.Float64frombits(w))
	case dtype.Complex64:
		return pair(decode(dtype.Float32, b[:4]), decode(dtype.Float32, b[4:]))
	case dtype.Complex128:
		return pair(decode(dtype.Float64, b[:8]), decode(dtype.Float64, b[8:]))
	case dtype.FP8x23:
		return inUnits(units, fixed.FP8x23FromBits(int32(units)).Float64())
	case dtype.FP16x16:
		return inUnits(units, fixed.FP16x16FromBits(int32(units)).Float64())
	case dtype.FP32x32:
		return inUnits(units, fixed.FP32x32FromBits(units).Float64())
	case dtype.FP64x64: // the upper half first
		return wide(fixed.FP64x64FromBits(fixed.Int128{Hi: int64(w), Lo: word(b[8:])}))
	}
	panic(fmt.Sprintf("tensortest: no element has type %v", d))
}

// word returns the first 8 bytes, or as many as there are, as an integer.
func word(b []byte) uint64 {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.NativeEndian.Uint16(b))
	case 4:
		return uint64(binary.NativeEndian.Uint32(b))
	}
	return binary.NativeEndian.Uint64(b)
}

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

// inUnits makes an element of a fixed-point number, given in units.
func inUnits(units int64, v float64) element {
	return element{bits: [2]uint64{uint64(units)}, order: [2]uint64{uint64(units) ^ 1<<63}, value: [2]float64{v}}
}

// wide is inUnits for words of 128 bits. The order of values is clamped to an int64.
func wide(v fixed.FP64x64) element {
	w := v.Bits()
	units := int64(w.Lo)
	if w.Hi != units>>63 { // the word has more than 64 bits
		units = w.Hi>>63 ^ math.MaxInt64
	}
	e := inUnits(units, v.Float64())
	e.bits = [2]uint64{w.Lo, uint64(w.Hi)}
	return e
}

// nan reports which parts are NaN.
func (e element) nan() [2]bool { return [2]bool{e.value[0] != e.value[0], e.value[1] != e.value[1]} }

// difference returns |e - w|: infinite for a NaN against another value.
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

// steps returns the distance in values of the type, the larger one of both parts. It
// returns false for a NaN against another value.
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

// size returns the absolute value of a complex number.
func size(v [2]float64) float64 {
	a, b := math.Abs(v[0]), math.Abs(v[1])
	if b == 0 {
		return a
	}
	return math.Hypot(a, b)
}

func apart(a, b uint64) uint64 { return max(a, b) - min(a, b) }

// text writes a value. It adds the bits of a NaN if e and w are NaNs with different bits.
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
