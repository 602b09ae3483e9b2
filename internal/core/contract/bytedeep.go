package contract

import (
	"github.com/ashlar-go/ashlar/internal/core/simd"
)

// A depthwise convolution of bytes has rows of channels. Its elements are int16, and two kernel positions are a pair.

// deepTiles widens the elements of depthwise convolutions.
type deepTiles struct{ plainBytes }

func (deepTiles) Widen(dst []int16, src []byte, flip byte, zero int16) {
	if p := simd.ByteProducts.Best(); p != nil {
		p.Widen(dst, src, flip, zero)
	} else {
		plainBytes{}.Widen(dst, src, flip, zero)
	}
}

// deepPlace returns where the weight of channel m and kernel position k of n is: by blocks of channels, and in them by pairs of positions.
func deepPlace(n, m, k int) int {
	const cols = simd.ByteColumns
	return (m/cols*roundUp(n, 2)+k/2*2)*cols + 2*simd.DeepOrder[m%cols] + k%2
}

// deepLine makes the sums of n outputs of blocks of channels. An output reads from row elements after the one before it, at offs.
func deepLine(sums []int32, a []int16, row int, offs []int, most int, weights []int16, n, blocks int) {
	const cols = simd.ByteColumns
	if simd.ByteProducts.Best().Deep(sums, a, row, offs, most, weights, n, blocks) {
		return
	}
	for i := range n {
		for b := range blocks {
			to := sums[(i*blocks+b)*cols:][:cols]
			clear(to)
			for k, at := range offs {
				x, w := a[i*row+at+b*cols:][:cols], weights[(b*len(offs)+k/2*2)*cols+k%2:]
				for c := range to {
					to[c] += int32(x[c]) * int32(w[2*simd.DeepOrder[c]])
				}
			}
		}
	}
}
