package move

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
)

// Some operators that move elements use a few of them as numbers. Their work on a number takes
// longer than the choice of its type.

// SetBits sets element i of a type of at most 8 bytes.
func (w Words) SetBits(i int, v uint64) {
	switch w.Size {
	case 1:
		w.Mem[i] = uint8(v)
	case 2:
		binary.NativeEndian.PutUint16(w.Mem[2*i:], uint16(v))
	case 4:
		binary.NativeEndian.PutUint32(w.Mem[4*i:], uint32(v))
	default:
		binary.NativeEndian.PutUint64(w.Mem[8*i:], v)
	}
}

// A Numeric has words of real numbers, or of bools.
type Numeric struct {
	Words
	D dtype.DType
}

// NumericOf returns words as numbers of the type of their tensor.
func NumericOf(w Words) Numeric { return Numeric{w, w.Of.DType()} }

// NumericIn returns the elements of a Run.
func NumericIn(r exec.Run, d dtype.DType) Numeric {
	return Numeric{Words{Mem: exec.Bytes(r, d), Size: d.Size()}, d}
}

// Float returns element i of a float type; every type goes into float64 exactly.
func (w Numeric) Float(i int) float64 {
	v := w.Bits(i)
	switch w.D {
	case dtype.Float64:
		return math.Float64frombits(v)
	case dtype.Float32:
		return float64(math.Float32frombits(uint32(v)))
	}
	return w.D.Format().Value(uint16(v))
}

// SetFloat sets element i of a float type to v, rounded once; NaN is canonical.
func (w Numeric) SetFloat(i int, v float64) {
	var b uint64
	switch w.D {
	case dtype.Float64:
		if b = math.Float64bits(v); v != v {
			b = math.Float64bits(num.NaN64())
		}
	case dtype.Float32:
		if b = uint64(math.Float32bits(float32(v))); v != v {
			b = uint64(math.Float32bits(num.NaN32()))
		}
	default:
		b = uint64(w.D.Format().Round(v))
	}
	w.SetBits(i, b)
}

// Floats sets dst to the elements of a float type from element at on. NaNs may become canonical.
func (w Numeric) Floats(dst []float64, at int) {
	if w.D == dtype.Float32 {
		conv.WidenF32(dst, ElemsOf[float32](w.Of)[at:])
	} else {
		cast.LoadFloats(dst, exec.RunOf(w.Mem), w.D, at)
	}
}

// Float64s returns the elements of a float type. For a float64 tensor they are its own memory,
// else a copy.
func (w Numeric) Float64s(name string) []float64 {
	if w.D == dtype.Float64 {
		return ElemsOf[float64](w.Of)
	}
	v := plan.RoomFor[float64](name, w.Len())
	w.Floats(v, 0)
	return v
}

// SetFloats is SetFloat for the elements from element at on.
func (w Numeric) SetFloats(at int, v []float64) {
	switch w.D {
	case dtype.Float32:
		conv.NarrowF64(ElemsOf[float32](w.Of)[at:at+len(v)], v)
	case dtype.Float64:
		row := ElemsOf[float64](w.Of)[at : at+len(v)]
		copy(row, v)
		conv.Canon64(row)
	case dtype.Float16:
		conv.NarrowDoubles(ElemsOf[num.F16](w.Of)[at:], v)
	case dtype.BFloat16:
		conv.NarrowDoubles(ElemsOf[num.BF16](w.Of)[at:], v)
	default:
		for i := range v {
			w.SetFloat(at+i, v[i])
		}
	}
}

// Key returns a number that orders the elements of any real type. Smaller elements have smaller
// keys, and the two zeros have the same one. All NaNs have the largest key, the number of all
// ones.
func (w Numeric) Key(i int) uint64 {
	v := w.Bits(i)
	sign := uint64(1) << (8*w.Size - 1)
	all := sign | (sign - 1)
	if !w.D.IsFloat() {
		if w.D.IsSigned() {
			return v ^ sign
		}
		return v
	}
	switch mag := v &^ sign; {
	case mag == 0:
		return sign
	case mag > Largest(w.D):
		return all
	}
	if v&sign != 0 {
		return ^v & all
	}
	return v | sign
}

// Pair is Key for fixed point of 16 bytes too, whose lower half is the second number.
func (w Numeric) Pair(i int) [2]uint64 {
	if w.D == dtype.FP64x64 {
		v := ElemsOf[fixed.FP64x64](w.Of)[i].Bits()
		return [2]uint64{uint64(v.Hi) ^ 1<<63, v.Lo}
	}
	return [2]uint64{w.Key(i)}
}

// Largest returns the bits of the largest number of a float type, infinity where there is one.
// NaNs are above it.
func Largest(d dtype.DType) uint64 {
	switch d {
	case dtype.Float64:
		return 0x7ff << 52
	case dtype.Float32:
		return 0x7f800000
	}
	_, most := d.Format().Ends()
	return uint64(most)
}

// Real returns element i of any real type; an int64 is rounded to float64.
func (w Numeric) Real(i int) float64 {
	v := w.Bits(i)
	switch {
	case w.D.IsFloat():
		return w.Float(i)
	case w.D.IsSigned():
		up := 64 - 8*w.Size
		return float64(int64(v<<up) >> up)
	}
	return float64(v)
}

// SetReal sets element i of any real type. Integers are rounded to nearest, ties to even, and
// saturate. NaN gives 0 in them.
func (w Numeric) SetReal(i int, v float64) {
	if w.D.IsFloat() {
		w.SetFloat(i, v)
		return
	}
	v = math.RoundToEven(v)
	n := w.D.Bits()
	if w.D.IsSigned() {
		w.SetBits(i, uint64(cast.ToInt(v, int64(math.MinInt64)>>(64-n), int64(math.MaxInt64)>>(64-n), math.Ldexp(1, n-1))))
		return
	}
	w.SetBits(i, cast.ToInt(v, 0, ^uint64(0)>>(64-n), math.Ldexp(1, n)))
}

// Reals sets dst to the elements of any real type from element at on; NaNs may become canonical.
func (w Numeric) Reals(dst []float64, at int) {
	switch w.D {
	case dtype.Int8, dtype.Int4, dtype.Int2:
		cast.FloatsOf(dst, exec.Of[int8](exec.RunOf(w.Mem))[at:])
	case dtype.Uint8, dtype.Uint4, dtype.Uint2:
		cast.FloatsOf(dst, w.Mem[at:])
	case dtype.Int16:
		cast.FloatsOf(dst, ElemsOf[int16](w.Of)[at:])
	case dtype.Uint16:
		cast.FloatsOf(dst, ElemsOf[uint16](w.Of)[at:])
	case dtype.Int32:
		cast.FloatsOf(dst, ElemsOf[int32](w.Of)[at:])
	case dtype.Int64:
		cast.FloatsOf(dst, ElemsOf[int64](w.Of)[at:])
	case dtype.Uint32:
		cast.FloatsOf(dst, ElemsOf[uint32](w.Of)[at:])
	case dtype.Uint64:
		cast.FloatsOf(dst, ElemsOf[uint64](w.Of)[at:])
	default:
		w.Floats(dst, at)
	}
}

// Singles is Reals for integers of 16 bits or less, float32, float16 and bfloat16, whose numbers float32 has.
func (w Numeric) Singles(dst []float32, at int) {
	switch n := at + len(dst); w.D {
	case dtype.Int8, dtype.Int4, dtype.Int2:
		cast.FloatsOf(dst, exec.Of[int8](exec.RunOf(w.Mem))[at:n])
	case dtype.Int16:
		cast.FloatsOf(dst, ElemsOf[int16](w.Of)[at:n])
	case dtype.Uint16:
		cast.FloatsOf(dst, ElemsOf[uint16](w.Of)[at:n])
	case dtype.Float32:
		copy(dst, ElemsOf[float32](w.Of)[at:n])
	case dtype.Float16:
		conv.WidenF16(dst, ElemsOf[num.F16](w.Of)[at:n])
	case dtype.BFloat16:
		conv.WidenBF16(dst, ElemsOf[num.BF16](w.Of)[at:n])
	default:
		cast.FloatsOf(dst, w.Mem[at:n])
	}
}

// SetReals is SetReal for the elements from element at on.
func (w Numeric) SetReals(at int, v []float64) {
	switch w.D {
	case dtype.Int8, dtype.Int4, dtype.Int2:
		setWhole(exec.Of[int8](exec.RunOf(w.Mem))[at:], v, w.D.Bits())
	case dtype.Uint8, dtype.Uint4, dtype.Uint2:
		setWhole(w.Mem[at:], v, w.D.Bits())
	case dtype.Int16:
		setWhole(ElemsOf[int16](w.Of)[at:], v, 16)
	case dtype.Uint16:
		setWhole(ElemsOf[uint16](w.Of)[at:], v, 16)
	case dtype.Int32:
		setWhole(ElemsOf[int32](w.Of)[at:], v, 32)
	case dtype.Int64:
		setWhole(ElemsOf[int64](w.Of)[at:], v, 64)
	case dtype.Uint32:
		setWhole(ElemsOf[uint32](w.Of)[at:], v, 32)
	case dtype.Uint64:
		setWhole(ElemsOf[uint64](w.Of)[at:], v, 64)
	default:
		w.SetFloats(at, v)
	}
}

// setWhole sets integers of a number of bits.
func setWhole[T num.Integer](dst []T, v []float64, bits int) {
	least, most, beyond := T(0), ^T(0)>>(8*int(unsafe.Sizeof(T(0)))-bits), math.Ldexp(1, bits)
	if ^T(0) < 0 {
		most = T(1)<<(bits-1) - 1
		least, beyond = -most-1, math.Ldexp(1, bits-1)
	}
	for i, x := range v {
		dst[i] = cast.ToInt(math.RoundToEven(x), least, most, beyond)
	}
}

// SetQuantized sets element i to a multiple of its scale with a zero point: rounded to nearest,
// ties to even, the zero point added, saturated. NaN is 0. A float8 is rounded once, and
// saturated if saturate is true. Orion truncates the sum, toward zero.
func (w Numeric) SetQuantized(i int, v, zero float64, saturate bool) {
	switch {
	case w.Orion && w.D == dtype.Int8:
		w.SetReal(i, math.Trunc(max(-math.MaxInt8, min(v+zero, math.MaxInt8))))
	case w.Orion && !w.D.IsFloat():
		w.SetReal(i, math.Trunc(v+zero))
	case !w.D.IsFloat():
		w.SetReal(i, math.RoundToEven(v)+zero)
	case saturate:
		w.SetBits(i, uint64(w.D.Format().Saturate(v+zero)))
	default:
		w.SetFloat(i, v+zero)
	}
}

// Before moves element i of a float type to the next smaller number.
func (w Numeric) Before(i int) {
	v := w.Bits(i)
	switch f := w.Float(i); {
	case f > 0:
		v--
	case f < 0:
		v++
	default: // the smallest number below 0
		v = 1<<(8*w.Size-1) | 1
	}
	w.SetBits(i, v)
}
