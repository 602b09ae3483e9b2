package cast

import (
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
)

// The rows of Cast, for floats and integers and for fixed point. The kernel has the pair of types.
type (
	Narrowing uint8 // a num.Rounding, and whether to saturate
	Fixing    struct{ S *State }
)

const saturating Narrowing = 1 << 7

// NarrowingOf reads the rounding and the saturation from the options of a call.
func NarrowingOf(opts []plan.Option) (h Narrowing) {
	f := plan.FlagsOf(opts)
	switch {
	case f&plan.RoundNear != 0:
		h = Narrowing(num.Nearest)
	case f&plan.RoundDown != 0:
		h = Narrowing(num.Down)
	}
	if f&plan.Saturate != 0 {
		h |= saturating
	}
	return h
}

// Saturating returns the narrowing that saturates, or the one that doesn't.
func Saturating(yes bool) Narrowing {
	if yes {
		return saturating
	}
	return 0
}

func (h Narrowing) Row(dst exec.Run, to dtype.DType, in [3]exec.Run, from dtype.DType) {
	convertRow(dst, to, in[0], from, h)
}

// bits returns v as the bits of a narrow format.
func (h Narrowing) bits(f num.Format, v float64) uint16 {
	switch saturate := h&saturating != 0; {
	case f == num.FormatF8E8M0:
		return uint16(num.F8E8M0FromFloat64(v, num.Rounding(h&^saturating), saturate).Bits())
	case saturate:
		return f.Saturate(v)
	}
	return f.Round(v)
}

func (f *Fixing) Row(dst exec.Run, to dtype.DType, in [3]exec.Run, from dtype.DType) {
	ToFixed(dst, to, in[0], from, f.S)
}

// convertRow defines Cast. src is no shorter than dst. Numbers pass through the widest type of their
// kind, which holds them all. So no pair of types needs a loop of its own; a few pairs have one.
func convertRow(dst exec.Run, to dtype.DType, src exec.Run, from dtype.DType, h Narrowing) {
	if to == from && !to.IsInteger() && to != dtype.Bool && !to.IsFixed() {
		exec.Move(dst, src, to)
		return
	}
	if convertDirectly(dst, to, src, from) {
		return
	}
	n := len(dst)
	switch {
	case from.IsInteger() && from.IsSigned():
		var w [256]int64
		for at := 0; at < n; at += len(w) {
			m := min(n-at, len(w))
			loadInts(w[:m], src, from, at)
			storeInts(dst, to, at, w[:m], h)
		}
	case from.IsInteger() || from == dtype.Bool:
		var w [256]uint64
		for at := 0; at < n; at += len(w) {
			m := min(n-at, len(w))
			loadUints(w[:m], src, from, at)
			storeUints(dst, to, at, w[:m], h)
		}
	case from.IsFixed():
		var w [256]fixed.FP64x64
		for at := 0; at < n; at += len(w) {
			m := min(n-at, len(w))
			loadFixed(w[:m], src, from, at)
			storeFixed(dst, to, at, w[:m], h)
		}
	case from.IsComplex():
		var w [256]complex128
		for at := 0; at < n; at += len(w) {
			m := min(n-at, len(w))
			loadComplex(w[:m], src, from, at)
			storeComplex(dst, to, at, w[:m], h)
		}
	default:
		var w [256]float64
		for at := 0; at < n; at += len(w) {
			m := min(n-at, len(w))
			LoadFloats(w[:m], src, from, at)
			StoreFloats(dst, to, at, w[:m], h)
		}
	}
}

// convertDirectly handles the pairs of types that rows of package conv convert.
func convertDirectly(dst exec.Run, to dtype.DType, src exec.Run, from dtype.DType) bool {
	src = src[:len(dst)]
	switch {
	case to == dtype.Float32 && from == dtype.Float64:
		conv.NarrowF64(exec.Of[float32](dst), exec.Of[float64](src))
	case to == dtype.Float64 && from == dtype.Float32:
		conv.WidenF32(exec.Of[float64](dst), exec.Of[float32](src))
	case to == dtype.Float32 && from.IsNarrow():
		WidenOf(from)(dst, src)
		conv.Canon32(exec.Of[float32](dst))
	case from == dtype.Float32 && (to == dtype.Float16 || to == dtype.BFloat16):
		NarrowOf(to)(dst, src)
	case to == dtype.Float32 && (from == dtype.Uint8 || from == dtype.Bool):
		FloatsOf(exec.Of[float32](dst), exec.Of[uint8](src))
	case to == dtype.Float32 && from == dtype.Int8:
		FloatsOf(exec.Of[float32](dst), exec.Of[int8](src))
	case to == dtype.Float32 && from == dtype.Int32:
		FloatsOf(exec.Of[float32](dst), exec.Of[int32](src))
	case to == dtype.Float32 && from == dtype.Int64:
		FloatsOf(exec.Of[float32](dst), exec.Of[int64](src))
	default:
		return false
	}
	return true
}

// ConvertStream returns the row that converts such a pair with non-temporal stores, or nil if there
// is none.
func ConvertStream(to, from dtype.DType) simd.Stream {
	switch {
	case !simd.Has(cpu.Current()):
	case to == dtype.Float32 && from == dtype.Float64:
		return func(dst, a, _, _ exec.Run, _ *simd.Prefetch) {
			simd.TryNarrowF64(exec.Of[float32](dst), exec.Of[float64](a), true)
		}
	case to == dtype.Float64 && from == dtype.Float32:
		return func(dst, a, _, _ exec.Run, _ *simd.Prefetch) {
			simd.TryWidenF32(exec.Of[float64](dst), exec.Of[float32](a), true)
		}
	case to == dtype.Float16 && from == dtype.Float32:
		return func(dst, a, _, _ exec.Run, _ *simd.Prefetch) {
			simd.TryNarrowF16(exec.Of[uint16](dst), exec.Of[float32](a), true)
		}
	case to == dtype.BFloat16 && from == dtype.Float32:
		return func(dst, a, _, _ exec.Run, _ *simd.Prefetch) {
			simd.TryNarrowBF16(exec.Of[uint16](dst), exec.Of[float32](a), true)
		}
	}
	return nil
}

// ToInt converts toward zero and saturates; NaN gives 0. In Go the conversion of a number that
// doesn't fit depends on the machine, so ToInt never does it.
func ToInt[T num.Integer](v float64, least, most T, beyond float64) T {
	switch {
	case v >= beyond: // the first value too large, a power of two
		return most
	case v > float64(least):
		return T(v)
	case v != v:
		return 0
	}
	return least
}

// lowByte returns the low bits of v rounded to nearest, ties to even; 0 for infinities and NaN.
func lowByte(v float64) byte {
	if v = math.RoundToEven(v); v-v != 0 {
		return 0
	}
	return byte(int64(math.Mod(v, 256)))
}

// oddFloat returns v as a float64, rounded to odd: bits that don't fit are cut off and leave a trace
// in the last one. Every narrower float rounds the result as it would v itself.
func oddFloat(v uint64) float64 {
	if v >= 1<<53 {
		if v&0xfff != 0 {
			v |= 0x1000
		}
		v &^= 0xfff
	}
	return float64(v)
}

func oddSigned(v int64) float64 {
	if v < 0 {
		return -oddFloat(-uint64(v))
	}
	return oddFloat(uint64(v))
}

func canonComplex(v complex128) complex128 {
	re, im := real(v), imag(v)
	if re != re {
		re = num.NaN64()
	}
	if im != im {
		im = num.NaN64()
	}
	return complex(re, im)
}

func narrowComplex(v complex128) complex64 {
	re, im := float32(real(v)), float32(imag(v))
	if re != re {
		re = num.NaN32()
	}
	if im != im {
		im = num.NaN32()
	}
	return complex(re, im)
}

const (
	beyond7  = 1 << 7
	beyond15 = 1 << 15
	beyond31 = 1 << 31
	beyond63 = 1 << 63
	beyond64 = math.MaxUint64 + 1.0
)

// ComputedIn returns the type that elements of type d are computed in.
func ComputedIn(d dtype.DType) dtype.DType {
	if d.IsNarrow() {
		return dtype.Float32
	}
	return d
}

// WidenOf returns the conversion of a row of narrow floats to float32.
func WidenOf(d dtype.DType) exec.Row1 {
	switch d {
	case dtype.Float16:
		return exec.Forget[exec.Row1](conv.WidenF16)
	case dtype.BFloat16:
		return exec.Forget[exec.Row1](conv.WidenBF16)
	case dtype.Float8E4M3:
		return exec.Forget[exec.Row1](num.WidenRow[num.F8E4M3])
	case dtype.Float8E5M2:
		return exec.Forget[exec.Row1](num.WidenRow[num.F8E5M2])
	}
	return nil
}

// NarrowOf returns the conversion of a row of float32 to narrow floats: rounded to nearest, ties to
// even, NaNs canonical.
func NarrowOf(d dtype.DType) exec.Row1 {
	switch d {
	case dtype.Float16:
		return exec.Forget[exec.Row1](conv.NarrowF16)
	case dtype.BFloat16:
		return exec.Forget[exec.Row1](conv.NarrowBF16)
	case dtype.Float8E4M3:
		return exec.Forget[exec.Row1](num.NarrowRow[num.F8E4M3])
	case dtype.Float8E5M2:
		return exec.Forget[exec.Row1](num.NarrowRow[num.F8E5M2])
	}
	return nil
}
