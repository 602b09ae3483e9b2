package conv

import (
	"math"
	"unsafe"

	"github.com/ashlar-go/ashlar/internal/core/simd"
)

// Canon32 sets every NaN of a computed row to the canonical quiet one. amd64 makes
// ffc00000 of 0/0 where others make 7fc00000. Which operand's payload survives differs
// too. Two elements are looked at as one word. Without its sign a NaN is above
// 7f800000, so adding 007fffff carries into the top bit.
func Canon32(row []float32) {
	if simd.TryCanon32(row) {
		return
	}
	const abs, add, top = 0x7fffffff7fffffff, 0x007fffff007fffff, 0x8000000080000000
	n := len(row) &^ 15
	if n > 0 && uintptr(unsafe.Pointer(&row[0]))&7 == 0 {
		words := unsafe.Slice((*[8]uint64)(unsafe.Pointer(&row[0])), n/16)
		for i := range words {
			w := &words[i]
			any := (w[0]&abs + add) | (w[1]&abs + add) | (w[2]&abs + add) | (w[3]&abs + add) |
				(w[4]&abs + add) | (w[5]&abs + add) | (w[6]&abs + add) | (w[7]&abs + add)
			if any&top != 0 {
				canon32(row[16*i : 16*i+16])
			}
		}
		row = row[n:]
	}
	canon32(row)
}

func canon32(row []float32) {
	for i, v := range row {
		if v != v {
			row[i] = math.Float32frombits(0x7fc00000)
		}
	}
}

// Canon64 is Canon32 for float64.
func Canon64(row []float64) {
	if simd.TryCanon64(row) {
		return
	}
	for i, v := range row {
		if v != v {
			row[i] = math.Float64frombits(0x7ff8000000000000)
		}
	}
}
