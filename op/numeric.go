package op

import (
	"encoding/binary"
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
)

// Some operators that move elements look at a few of them as numbers. What they do
// with one costs more than finding out its type.

// setBits sets element i of a type of at most 8 bytes.
func (w words) setBits(i int, v uint64) {
	switch w.size {
	case 1:
		w.mem[i] = uint8(v)
	case 2:
		binary.NativeEndian.PutUint16(w.mem[2*i:], uint16(v))
	case 4:
		binary.NativeEndian.PutUint32(w.mem[4*i:], uint32(v))
	default:
		binary.NativeEndian.PutUint64(w.mem[8*i:], v)
	}
}

// A numeric is words of real numbers, or of bools.
type numeric struct {
	words
	d dtype.DType
}

func numericOf(w words) numeric { return numeric{w, w.of.DType()} }

// numericIn returns the elements of a Run.
func numericIn(r exec.Run, d dtype.DType) numeric {
	return numeric{words{mem: exec.Bytes(r, d), size: d.Size()}, d}
}

// float returns element i of a float type; every type goes into float64 exactly.
func (w numeric) float(i int) float64 {
	v := w.bits(i)
	switch w.d {
	case dtype.Float64:
		return math.Float64frombits(v)
	case dtype.Float32:
		return float64(math.Float32frombits(uint32(v)))
	}
	return w.d.Format().Value(uint16(v))
}

// setFloat sets element i of a float type to v, rounded once; NaN is canonical.
func (w numeric) setFloat(i int, v float64) {
	var b uint64
	switch w.d {
	case dtype.Float64:
		if b = math.Float64bits(v); v != v {
			b = math.Float64bits(num.NaN64())
		}
	case dtype.Float32:
		if b = uint64(math.Float32bits(float32(v))); v != v {
			b = uint64(math.Float32bits(num.NaN32()))
		}
	default:
		b = uint64(w.d.Format().Round(v))
	}
	w.setBits(i, b)
}

// floats sets dst to the elements of a float type from element at on; NaNs may become
// canonical.
func (w numeric) floats(dst []float64, at int) {
	switch w.d {
	case dtype.Float32:
		conv.WidenF32(dst, elemsOf[float32](w.of)[at:])
	case dtype.Float64:
		copy(dst, elemsOf[float64](w.of)[at:])
	default:
		for i := range dst {
			dst[i] = w.float(at + i)
		}
	}
}

// float64s returns the elements of a float type: those themselves of a float64, else a copy.
func (w numeric) float64s(name string) []float64 {
	if w.d == dtype.Float64 {
		return elemsOf[float64](w.of)
	}
	v := roomFor[float64](name, w.len())
	w.floats(v, 0)
	return v
}

// setFloats is setFloat for the elements from element at on.
func (w numeric) setFloats(at int, v []float64) {
	switch w.d {
	case dtype.Float32:
		conv.NarrowF64(elemsOf[float32](w.of)[at:at+len(v)], v)
	case dtype.Float64:
		row := elemsOf[float64](w.of)[at : at+len(v)]
		copy(row, v)
		conv.Canon64(row)
	default:
		for i := range v {
			w.setFloat(at+i, v[i])
		}
	}
}

// key returns a number that orders the elements of any real type: smaller elements
// have smaller keys, the two zeros the same one, and all NaNs the largest, which is
// last, the number of all ones.
func (w numeric) key(i int) uint64 {
	v := w.bits(i)
	sign := uint64(1) << (8*w.size - 1)
	all := sign | (sign - 1)
	if !w.d.IsFloat() {
		if w.d.IsSigned() {
			return v ^ sign
		}
		return v
	}
	switch mag := v &^ sign; {
	case mag == 0:
		return sign
	case mag > largest(w.d):
		return all
	}
	if v&sign != 0 {
		return ^v & all
	}
	return v | sign
}

// pair is key for fixed point of 16 bytes, too, whose lower half is the second number.
func (w numeric) pair(i int) [2]uint64 {
	if w.d == dtype.FP64x64 {
		v := elemsOf[fixed.FP64x64](w.of)[i].Bits()
		return [2]uint64{uint64(v.Hi) ^ 1<<63, v.Lo}
	}
	return [2]uint64{w.key(i)}
}

// largest returns the bits of the largest number of a float type, infinity where there is
// one; above it are NaNs.
func largest(d dtype.DType) uint64 {
	switch d {
	case dtype.Float64:
		return 0x7ff << 52
	case dtype.Float32:
		return 0x7f800000
	}
	_, most := d.Format().Ends()
	return uint64(most)
}

// real returns element i of any real type; an int64 is rounded to float64.
func (w numeric) real(i int) float64 {
	v := w.bits(i)
	switch {
	case w.d.IsFloat():
		return w.float(i)
	case w.d.IsSigned():
		up := 64 - 8*w.size
		return float64(int64(v<<up) >> up)
	}
	return float64(v)
}

// setReal sets element i of any real type: integers to the nearest, even on a tie,
// saturating, and NaN to 0.
func (w numeric) setReal(i int, v float64) {
	if w.d.IsFloat() {
		w.setFloat(i, v)
		return
	}
	v = math.RoundToEven(v)
	n := w.d.Bits()
	if w.d.IsSigned() {
		w.setBits(i, uint64(toInt(v, int64(math.MinInt64)>>(64-n), int64(math.MaxInt64)>>(64-n), math.Ldexp(1, n-1))))
		return
	}
	w.setBits(i, toInt(v, 0, ^uint64(0)>>(64-n), math.Ldexp(1, n)))
}
