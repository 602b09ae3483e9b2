package cast

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
)

// The rows between numbers and their codes in integers. Scales, zero points and addends are as long as the result, but for functions whose names end
// in Row: there all elements have one.

type code interface{ int8 | uint8 | int16 | uint16 }

// Quantize sets dst[i] to a[i]/scale[i], rounded to float32, then to the nearest integer, ties to even, plus zero[i], a whole number, saturated. NaN
// is 0.
func Quantize[T code](dst []T, a, scale, zero []float32) {
	done := false
	switch dst := any(dst).(type) {
	case []int8:
		done = simd.TryQuantizeI8(dst, a, scale, zero)
	case []uint8:
		done = simd.TryQuantizeU8(dst, a, scale, zero)
	case []int16:
		done = simd.TryQuantizeI16(dst, a, scale, zero)
	case []uint16:
		done = simd.TryQuantizeU16(dst, a, scale, zero)
	}
	if done {
		return
	}
	for i := range dst {
		dst[i] = saturated[T](math.RoundToEven(float64(float32(a[i]/scale[i]))) + float64(zero[i]))
	}
}

// QuantizeRow is Quantize with one scale and one zero point.
func QuantizeRow[T code](dst []T, a []float32, scale, zero float32) {
	done := false
	switch dst := any(dst).(type) {
	case []int8:
		done = simd.TryQuantizeRowI8(dst, a, scale, zero)
	case []uint8:
		done = simd.TryQuantizeRowU8(dst, a, scale, zero)
	case []int16:
		done = simd.TryQuantizeRowI16(dst, a, scale, zero)
	case []uint16:
		done = simd.TryQuantizeRowU16(dst, a, scale, zero)
	}
	if done {
		return
	}
	for i := range dst {
		dst[i] = saturated[T](math.RoundToEven(float64(float32(a[i]/scale))) + float64(zero))
	}
}

// Dequantize sets dst[i] to (a[i] − zero[i])·scale[i], rounded once. NaN is canonical.
func Dequantize[T code](dst []float32, a []T, scale, zero []float32) {
	done := false
	switch a := any(a).(type) {
	case []int8:
		done = simd.TryDequantizeI8(dst, a, scale, zero)
	case []uint8:
		done = simd.TryDequantizeU8(dst, a, scale, zero)
	case []int16:
		done = simd.TryDequantizeI16(dst, a, scale, zero)
	case []uint16:
		done = simd.TryDequantizeU16(dst, a, scale, zero)
	}
	if done {
		return
	}
	for i := range dst {
		dst[i] = float32((float32(a[i]) - zero[i]) * scale[i])
	}
	CanonicalRow(dst)
}

// DequantizeRow is Dequantize with one scale and one zero point.
func DequantizeRow[T code](dst []float32, a []T, scale, zero float32) {
	done := false
	switch a := any(a).(type) {
	case []int8:
		done = simd.TryDequantizeRowI8(dst, a, scale, zero)
	case []uint8:
		done = simd.TryDequantizeRowU8(dst, a, scale, zero)
	case []int16:
		done = simd.TryDequantizeRowI16(dst, a, scale, zero)
	case []uint16:
		done = simd.TryDequantizeRowU16(dst, a, scale, zero)
	}
	if done {
		return
	}
	for i := range dst {
		dst[i] = float32((float32(a[i]) - zero) * scale)
	}
	CanonicalRow(dst)
}

// FloatsOf sets dst to integers, each rounded.
func FloatsOf[F num.Float, T num.Integer](dst []F, a []T) {
	a = a[:len(dst)]
	done := false
	if dst, ok := any(dst).([]float32); ok {
		switch a := any(a).(type) {
		case []int8:
			done = simd.TryFloatI8(dst, a)
		case []uint8:
			done = simd.TryFloatU8(dst, a)
		case []int16:
			done = simd.TryFloatI16(dst, a)
		case []uint16:
			done = simd.TryFloatU16(dst, a)
		}
	}
	if done {
		return
	}
	for i, v := range a {
		dst[i] = F(v)
	}
}

// Clamp saturates codes of 8 bits to a type of fewer.
func Clamp(row []byte, d dtype.DType) {
	var lows, highs [256]byte
	least, most := byte(0), byte(1)<<d.Bits()-1
	if d.IsSigned() {
		most >>= 1
		least = ^most
	}
	conv.Fill(lows[:], least)
	conv.Fill(highs[:], most)
	low, high := simd.Max.Best(), simd.Min.Best()
	for len(row) > 0 {
		part := row[:min(len(row), len(lows))]
		row = row[len(part):]
		switch codes := conv.As[int8](part); {
		case low == nil || high == nil:
			for i := range part {
				if d.IsSigned() {
					codes[i] = max(int8(least), min(codes[i], int8(most)))
				} else {
					part[i] = min(part[i], most)
				}
			}
		case d.IsSigned():
			low.I8(codes, codes, conv.As[int8](lows[:]))
			high.I8(codes, codes, conv.As[int8](highs[:]))
		default:
			high.U8(part, part, highs[:])
		}
	}
}

// NarrowQuotients sets v[i] to v[i]/scale[i], rounded to float16 or bfloat16. Numbers have that type, so the quotient in float32 on the way changes
// nothing: it has twice the digits and two more. All may have one scale.
func NarrowQuotients(v, scale []float32, d dtype.DType) {
	switch r := simd.Div.Best(); {
	case len(scale) == 1 && simd.TryDivNumber32(v, v, scale[0], false):
	case len(scale) > 1 && r != nil:
		r.F32(v, v, scale)
	default:
		for i := range v {
			v[i] /= scale[min(i, len(scale)-1)]
		}
	}
	if d == dtype.Float16 {
		narrowed(v, conv.NarrowF16, conv.WidenF16)
	} else {
		narrowed(v, conv.NarrowBF16, conv.WidenBF16)
	}
}

func narrowed[T num.F16 | num.BF16](v []float32, narrow func([]T, []float32), widen func([]float32, []T)) {
	var w [256]T
	for at := 0; at < len(v); at += len(w) {
		part := v[at:min(at+len(w), len(v))]
		narrow(w[:len(part)], part)
		widen(part, w[:len(part)])
	}
}

// Quotients sets v[i] to v[i]/scale[i], rounded to float64, then to a float type.
func Quotients(v, scale []float64, d dtype.DType) {
	if r := simd.Div.Best(); r != nil {
		r.F64(v, v, scale)
	} else {
		for i := range v {
			v[i] /= scale[i]
		}
	}
	switch d {
	case dtype.Float32:
		var w [256]float32
		for at := 0; at < len(v); at += len(w) {
			part := v[at:min(at+len(w), len(v))]
			conv.NarrowF64(w[:len(part)], part)
			conv.WidenF32(part, w[:len(part)])
		}
	case dtype.Float16:
		roundDoubles[num.F16](v)
	case dtype.BFloat16:
		roundDoubles[num.BF16](v)
	default:
		if f := d.Format(); f != 0 {
			for i, x := range v {
				v[i] = f.Value(f.Round(x))
			}
		}
	}
}

func roundDoubles[T num.F16 | num.BF16](v []float64) {
	var w [256]T
	for at := 0; at < len(v); at += len(w) {
		part := v[at:min(at+len(w), len(v))]
		conv.NarrowDoubles(w[:len(part)], part)
		conv.WidenDoubles(part, w[:len(part)])
	}
}

// Rounded sets dst to numbers rounded to the nearest integer, ties to even, and then to float32; v changes.
func Rounded(dst []float32, v []float64) {
	if r := simd.Round.Best(); r != nil {
		r.F64(v, v)
	} else {
		for i, x := range v {
			v[i] = math.RoundToEven(x)
		}
	}
	conv.NarrowF64(dst, v)
}

// Offset adds zero points to numbers, which are rounded to the nearest integer before, ties to even, if whole is true.
func Offset(v, zero []float64, whole bool) {
	sum, round := simd.Add.Best(), simd.Round.Best()
	if sum == nil || round == nil {
		for i, x := range v {
			if whole {
				x = math.RoundToEven(x)
			}
			v[i] = x + zero[i]
		}
		return
	}
	if whole {
		round.F64(v, v)
	}
	sum.F64(v, v, zero)
}

// Differences sets v[i] to (v[i] − zero[i])·scale[i], each step rounded.
func Differences(v, zero, scale []float64) {
	less, times := simd.Sub.Best(), simd.Mul.Best()
	if less == nil || times == nil {
		for i, x := range v {
			v[i] = float64((x - zero[i]) * scale[i])
		}
		return
	}
	less.F64(v, v, zero)
	times.F64(v, v, scale)
}

// Requantize sets dst[i] to (sums[i] + plus[i])·factor[i]/scale, rounded to the nearest integer, ties to even, plus zero, saturated. plus has
// whole numbers below 2⁵², so the sum is exact. Every other step is rounded to float64. NaN is 0.
func Requantize[T int8 | uint8](dst []T, sums []int32, factor, plus []float64, scale, zero float64) {
	switch dst := any(dst).(type) {
	case []int8:
		if simd.TryRequantizeI8(dst, sums, factor, plus, scale, zero) {
			return
		}
	case []uint8:
		if simd.TryRequantizeU8(dst, sums, factor, plus, scale, zero) {
			return
		}
	}
	for i := range dst {
		dst[i] = saturated[T](math.RoundToEven(float64((float64(sums[i])+plus[i])*factor[i])/scale) + zero)
	}
}

// A Requantizer is Requantize of sums of channels.
type Requantizer struct {
	factor, plus []float64 // of each channel
	scale, zero  float64
	near         []float32 // factor / scale; nil where float32 has no room for some
}

// nearTie is half an integer less the most that a quotient is off. Three float32s in it are each off by 2⁻²⁴ of it. A code saturates beyond 512.
const nearTie = 0.5 - 0x1p-13

// RequantizerOf returns the Requantizer of factors and addends by channel.
func RequantizerOf(factor, plus []float64, scale, zero float64) *Requantizer {
	q := &Requantizer{factor, plus, scale, zero, make([]float32, len(factor))}
	for i, f := range factor {
		by := math.Abs(f / scale)
		if plus[i] != 0 || !(by >= 0x1p-100 && by <= 0x1p60 && math.Abs(f) >= 0x1p-900 && math.Abs(f) <= 0x1p900) {
			q.near = nil
			return q
		}
		q.near[i] = float32(f / scale)
	}
	return q
}

// RequantizeChannels sets dst to the codes of sums + plus of channels from one on. It may change sums.
func RequantizeChannels[T int8 | uint8](q *Requantizer, dst []T, sums, plus []int32, channel int) {
	exact := func(from, to int) {
		for i := from; i < to; i++ {
			sums[i] += plus[i]
		}
		Requantize(dst[from:to], sums[from:], q.factor[channel+from:], q.plus[channel+from:], q.scale, q.zero)
	}
	var doubts [doubtRoom]uint8
	for at := 0; at < len(dst); at += doubtRoom {
		n, ok := min(len(dst)-at, doubtRoom), false
		if some := doubts[:n]; q.near != nil {
			sums, plus, by, zero := sums[at:], plus[at:], q.near[channel+at:], float32(q.zero)
			switch dst := any(dst[at : at+n]).(type) {
			case []int8:
				ok = simd.TryRequantizeNearI8(dst, some, sums, plus, by, zero, nearTie)
			case []uint8:
				ok = simd.TryRequantizeNearU8(dst, some, sums, plus, by, zero, nearTie)
			}
		}
		if !ok {
			exact(at, len(dst))
			return
		}
		settle(doubts[:n], at, exact)
	}
}

// doubtRoom is how many codes are made before those in doubt are made again.
const doubtRoom = 256

// settle calls exact for the elements in doubt, which are from one on, and for the rest at once from the sixteenth part on.
func settle(doubts []uint8, at int, exact func(from, to int)) {
	left := len(doubts) / 16
	for i := nextDoubt(doubts, 0); i < len(doubts); i = nextDoubt(doubts, i+1) {
		if left--; left < 0 {
			exact(at+i, at+len(doubts))
			return
		}
		exact(at+i, at+i+1)
	}
}

// nextDoubt returns the place of the first element from one on that isn't 0, or how many there are.
func nextDoubt(doubts []uint8, from int) int {
	for from+8 <= len(doubts) && binary.LittleEndian.Uint64(doubts[from:]) == 0 {
		from += 8
	}
	for from < len(doubts) && doubts[from] == 0 {
		from++
	}
	return from
}

// A Quantum is a scale and a zero point.
type Quantum struct{ Scale, Zero float64 }

// SumCodes sets dst to the codes of the sums of a and b. exact sets a range of them. It is called for those that float32 doesn't tell.
func SumCodes[T int8 | uint8](dst, a, b []T, qa, qb, q Quantum, exact func(from, to int)) {
	byA, byB := qa.Scale/q.Scale, qb.Scale/q.Scale
	most := float64(510 * (math.Abs(byA) + math.Abs(byB)) * 0x1p-22) // that a quotient is off
	if !(most < 1./64) {
		exact(0, len(dst))
		return
	}
	x, y, plus, zero := float32(byA), float32(byB), float32(-(float64(qa.Zero*byA) + float64(qb.Zero*byB))), float32(q.Zero)
	tie := float32(0.5 - 0x1p-20 - most)
	var doubts [doubtRoom]uint8
	for at := 0; at < len(dst); at += doubtRoom {
		n, ok := min(len(dst)-at, doubtRoom), false
		some := doubts[:n]
		switch dst := any(dst[at : at+n]).(type) {
		case []int8:
			ok = simd.TrySumNearI8(dst, some, any(a[at:]).([]int8), any(b[at:]).([]int8), x, y, plus, zero, tie)
		case []uint8:
			ok = simd.TrySumNearU8(dst, some, any(a[at:]).([]uint8), any(b[at:]).([]uint8), x, y, plus, zero, tie)
		}
		if !ok {
			exact(at, len(dst))
			return
		}
		settle(some, at, exact)
	}
}

// saturated returns a whole number as a code; NaN is 0.
func saturated[T code](v float64) T {
	least, most := T(0), ^T(0)
	if most < 0 {
		most = T(1)<<(8*unsafe.Sizeof(most)-1) - 1
		least = -most - 1
	}
	return ToInt(v, least, most, float64(most)+1)
}
