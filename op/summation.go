package op

import (
	"math"
	"math/bits"

	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/internal/simd"
	"github.com/ashlar-go/ashlar/num"
)

// The sum of a sequence, for every operator that adds up elements of a float
// type: float64 accumulators in an order that the sequence alone decides, so
// that a result has the same bits whatever the memory, the threads or the
// instruction set. Blocks of 4096; element i of a block goes to lane i mod 32,
// each lane starts at −0 and adds in increasing i; then lane j += lane j+h for
// h = 16, 8, 4, 2, 1. Block sums are added pairwise, level by level, an odd last
// one moving up unchanged. The empty sum is +0.

const (
	sumLanes = 32
	sumBlock = 4096
)

// summer adds a sequence. take needs multiples of 32 elements but at the end of
// a block.
type summer struct {
	lane  [sumLanes]float64
	n     int         // elements in the block so far
	block [52]float64 // block[k] is the sum of 2^k blocks where bit k of count is set
	count uint64
}

func (s *summer) start() {
	s.n, s.count = 0, 0
	s.clear()
}

func (s *summer) clear() {
	negZero := math.Copysign(0, -1)
	for i := range s.lane {
		s.lane[i] = negZero
	}
}

// added says that n elements went into the lanes, and closes a full block.
func (s *summer) added(n int) {
	if s.n += n; s.n == sumBlock {
		s.close()
	}
}

// close folds the lanes and puts the block's sum in its place.
func (s *summer) close() {
	for h := sumLanes / 2; h > 0; h /= 2 {
		for j := range h {
			s.lane[j] += s.lane[j+h]
		}
	}
	s.put(s.lane[0])
	s.n = 0
	s.clear()
}

// put puts the sum of the next block in its place.
func (s *summer) put(sum float64) {
	k := 0
	for ; s.count>>k&1 == 1; k++ {
		sum = s.block[k] + sum
	}
	s.block[k] = sum
	s.count++
}

// total returns the sum of everything taken since start.
func (s *summer) total() float64 {
	if s.n > 0 {
		s.close()
	}
	if s.count == 0 {
		return 0
	}
	var sum float64
	first := true
	for c := s.count; c != 0; c &= c - 1 { // the smallest, rightmost group moves up until it meets its left neighbour
		k := bits.TrailingZeros64(c)
		if first {
			sum, first = s.block[k], false
			continue
		}
		sum = s.block[k] + sum
	}
	return sum
}

// addTerms adds the elements of x.
func addTerms[T num.Float](s *summer, x []T) {
	for len(x) > 0 {
		m := min(len(x), sumBlock-s.n)
		addLanes(&s.lane, x[:m])
		s.added(m)
		x = x[m:]
	}
}

// addLanes adds x[i] to lane i mod 32, eight lanes in registers at a time.
func addLanes[T num.Float](lane *[sumLanes]float64, x []T) {
	whole := len(x) &^ (sumLanes - 1)
	if whole > 0 && !tryLanes(lane, x[:whole]) {
		for l := 0; l < sumLanes; l += 8 {
			a0, a1, a2, a3 := lane[l], lane[l+1], lane[l+2], lane[l+3]
			a4, a5, a6, a7 := lane[l+4], lane[l+5], lane[l+6], lane[l+7]
			for i := l; i+8 <= whole; i += sumLanes {
				v := x[i : i+8 : i+8]
				a0 += float64(v[0])
				a1 += float64(v[1])
				a2 += float64(v[2])
				a3 += float64(v[3])
				a4 += float64(v[4])
				a5 += float64(v[5])
				a6 += float64(v[6])
				a7 += float64(v[7])
			}
			lane[l], lane[l+1], lane[l+2], lane[l+3] = a0, a1, a2, a3
			lane[l+4], lane[l+5], lane[l+6], lane[l+7] = a4, a5, a6, a7
		}
	}
	for i, v := range x[whole:] {
		lane[i] += float64(v)
	}
}

// tryLanes does it with an instruction set, if there is one.
func tryLanes[T num.Float](lane *[sumLanes]float64, x []T) bool {
	switch any((*T)(nil)).(type) {
	case *float32:
		return simd.TrySumLanes32(lane, conv.As[float32](x))
	default:
		return simd.TrySumLanes64(lane, conv.As[float64](x))
	}
}

// trySums sums lines of at most a block each with an instruction set, if there is one.
func trySums[T num.Float](dst []float64, x []T, step, n int) bool {
	switch any((*T)(nil)).(type) {
	case *float32:
		return simd.TrySumLines32(dst, conv.As[float32](x), step, n)
	default:
		return simd.TrySumLines64(dst, conv.As[float64](x), step, n)
	}
}

// addSquares adds (x−shift)², each square entering the sum with one rounding.
func addSquares[T num.Float](s *summer, x []T, shift float64) {
	for len(x) > 0 {
		m := min(len(x), sumBlock-s.n)
		whole := 0
		if trySquares(&s.lane, x[:m], shift) {
			whole = m &^ (sumLanes - 1)
		}
		for i, v := range x[whole:m] {
			d := float64(v) - shift
			s.lane[i%sumLanes] = num.FMA64(d, d, s.lane[i%sumLanes])
		}
		s.added(m)
		x = x[m:]
	}
}

// trySquares adds the squares of as many elements as are a multiple of 32 with an instruction set, if there is one.
func trySquares[T num.Float](lane *[sumLanes]float64, x []T, shift float64) bool {
	switch any((*T)(nil)).(type) {
	case *float32:
		return simd.TrySquareLanes32(lane, conv.As[float32](x), shift)
	default:
		return simd.TrySquareLanes64(lane, conv.As[float64](x), shift)
	}
}
