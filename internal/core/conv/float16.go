package conv

import (
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
)

// WidenF16 is num.WidenF16, with the instruction set in use; so with the others.
func WidenF16(dst []float32, src []num.F16) {
	if simd.TryWidenF16(dst, As[uint16](src)) {
		return
	}
	num.WidenF16(dst, src)
}

// WidenBF16 is num.WidenBF16.
func WidenBF16(dst []float32, src []num.BF16) {
	if simd.TryWidenBF16(dst, As[uint16](src)) {
		return
	}
	num.WidenBF16(dst, src)
}

// NarrowF16 is num.NarrowF16.
func NarrowF16(dst []num.F16, src []float32) {
	if simd.TryNarrowF16(As[uint16](dst), src, false) {
		return
	}
	num.NarrowF16(dst, src)
}

// NarrowBF16 is num.NarrowBF16.
func NarrowBF16(dst []num.BF16, src []float32) {
	if simd.TryNarrowBF16(As[uint16](dst), src, false) {
		return
	}
	num.NarrowBF16(dst, src)
}
