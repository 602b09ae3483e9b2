package conv

import (
	"math"

	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
)

// WidenF16 is num.WidenRow[num.F16], with the instruction set in use. NaNs may become quiet.
func WidenF16(dst []float32, src []num.F16) {
	if simd.TryWidenF16(dst, As[uint16](src)) {
		return
	}
	num.WidenRow[num.F16](dst, src)
}

// WidenBF16 is num.WidenRow[num.BF16], with the instruction set in use. NaNs may become quiet.
func WidenBF16(dst []float32, src []num.BF16) {
	if simd.TryWidenBF16(dst, As[uint16](src)) {
		return
	}
	num.WidenRow[num.BF16](dst, src)
}

// NarrowF16 is num.NarrowRow[num.F16], with the instruction set in use.
func NarrowF16(dst []num.F16, src []float32) {
	if simd.TryNarrowF16(As[uint16](dst), src, false) {
		return
	}
	num.NarrowRow[num.F16](dst, src)
}

// NarrowBF16 is num.NarrowRow[num.BF16], with the instruction set in use.
func NarrowBF16(dst []num.BF16, src []float32) {
	if simd.TryNarrowBF16(As[uint16](dst), src, false) {
		return
	}
	num.NarrowRow[num.BF16](dst, src)
}

// WidenDoubles converts a row of 16-bit floats to float64. NaNs may become canonical.
func WidenDoubles[T num.F16 | num.BF16](dst []float64, src []T) {
	var room [256]float32
	for at := 0; at < len(dst); at += len(room) {
		part := dst[at:min(at+len(room), len(dst))]
		w := room[:len(part)]
		switch s := any(src[at:][:len(part)]).(type) {
		case []num.F16:
			WidenF16(w, s)
		case []num.BF16:
			WidenBF16(w, s)
		}
		WidenF32(part, w)
	}
}

// NarrowDoubles converts a row of float64 to 16-bit floats, rounded once, with canonical NaNs.
func NarrowDoubles[T num.F16 | num.BF16](dst []T, src []float64) {
	var room [256]float32
	for at := 0; at < len(src); at += len(room) {
		part := src[at:min(at+len(room), len(src))]
		w := room[:len(part)]
		OddF64(w, part)
		switch d := any(dst[at:][:len(part)]).(type) {
		case []num.F16:
			NarrowF16(d, w)
		case []num.BF16:
			NarrowBF16(d, w)
		}
	}
}

// OddF64 rounds to odd: it takes that one of the two nearest whose last bit is set. A second rounding then has the same
// result as a single one.
func OddF64(dst []float32, src []float64) {
	if simd.TryOddF64(dst, src) {
		return
	}
	for i, v := range src[:len(dst)] {
		f := float32(v)
		if b, w := math.Float32bits(f), float64(f); b&1 == 0 && math.Abs(w) < math.Abs(v) {
			f = math.Float32frombits(b + 1)
		} else if b&1 == 0 && math.Abs(w) > math.Abs(v) {
			f = math.Float32frombits(b - 1)
		}
		dst[i] = f
	}
}
