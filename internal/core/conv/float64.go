package conv

import "github.com/ashlar-go/ashlar/internal/core/simd"

// WidenF32 and NarrowF64 convert rows between float32 and float64, rounding once; NaNs are canonical.
func WidenF32(dst []float64, src []float32) {
	if simd.TryWidenF32(dst, src, false) {
		return
	}
	for i, v := range src[:len(dst)] {
		dst[i] = float64(v)
	}
	Canon64(dst)
}

// NarrowF64 converts a row of float64 to float32, rounded once; NaNs are canonical.
func NarrowF64(dst []float32, src []float64) {
	if simd.TryNarrowF64(dst, src, false) {
		return
	}
	for i, v := range src[:len(dst)] {
		dst[i] = float32(v)
	}
	Canon32(dst)
}
