package op

import (
	"math"
	"math/bits"
)

// Rows of fixed-point words. A product of two words of 32 bits fits 64, so that what is
// beyond shows at the end; words of 64 bits are looked at by sign and magnitude.

type fixedWords interface{ int32 | int64 }

func addWords[T fixedWords](dst, a, b []T, s *fixedState) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i, x := range a {
		y := b[i]
		v := x + y
		if (x^v)&(y^v) < 0 {
			v = beyondWord(s, v, x < 0)
		}
		dst[i] = v
	}
}

func subWords[T fixedWords](dst, a, b []T, s *fixedState) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i, x := range a {
		y := b[i]
		v := x - y
		if (x^y)&(x^v) < 0 {
			v = beyondWord(s, v, x < 0)
		}
		dst[i] = v
	}
}

func negWords[T fixedWords](dst, a []T, s *fixedState) {
	for i, x := range a[:len(dst)] {
		v := -x
		if x&v < 0 { // the least word
			v = beyondWord(s, v, false)
		}
		dst[i] = v
	}
}

func absWords[T fixedWords](dst, a []T, s *fixedState) {
	for i, x := range a[:len(dst)] {
		v := max(x, -x)
		if v < 0 {
			v = beyondWord(s, v, false)
		}
		dst[i] = v
	}
}

// beyondWord is beyond for words of either width.
func beyondWord[T fixedWords](s *fixedState, low T, neg bool) T {
	least := int64(T(-1) << 31)
	if all := T(math.MaxInt32); all+1 > all { // 64 bits
		least = math.MinInt64
	}
	return T(s.beyond(int64(low), neg, least))
}

func mulWords32(dst, a, b []int32, s *fixedState) {
	a, b = a[:len(dst)], b[:len(dst)]
	half := int64(1)<<(s.frac-1) - 1
	for i := range dst {
		v := int64(a[i]) * int64(b[i])
		dst[i] = s.word32((v + half + v>>s.frac&1) >> s.frac) // a tie goes to the even one
	}
}

func squareWords32(dst, a []int32, s *fixedState) { mulWords32(dst, a, a, s) }

func divWords32(dst, a, b []int32, s *fixedState) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i, x := range a {
		d := size64(int64(b[i]))
		if d == 0 {
			s.failed.Store(true)
			continue
		}
		n := size64(int64(x)) << s.frac
		q, r := n/d, n%d
		if 2*r > d || 2*r == d && q&1 == 1 {
			q++
		}
		v := int64(q)
		if x < 0 != (b[i] < 0) {
			v = -v
		}
		dst[i] = s.word32(v)
	}
}

func mulWords64(dst, a, b []int64, s *fixedState) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i, x := range a {
		y := b[i]
		hi, lo := bits.Mul64(size64(x), size64(y))
		m, rest := hi<<32|lo>>32, lo<<32
		over := hi>>32 != 0
		if rest > 1<<63 || rest == 1<<63 && m&1 == 1 {
			m++
			over = over || m == 0
		}
		neg := (x < 0) != (y < 0)
		v := int64(m)
		if neg {
			v = -v
		}
		if over || m > 1<<63 || m == 1<<63 && !neg {
			v = s.beyond(v, neg, -1<<63)
		}
		dst[i] = v
	}
}

func squareWords64(dst, a []int64, s *fixedState) { mulWords64(dst, a, a, s) }

// size64 returns |x|, of which 2^63 is one.
func size64(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

// The rows of integers order words, too.
func maxWords[T fixedWords](dst, a, b []T, _ *fixedState) { maxRow(dst, a, b) }
func minWords[T fixedWords](dst, a, b []T, _ *fixedState) { minRow(dst, a, b) }
func reluWords[T fixedWords](dst, a []T, _ *fixedState)   { reluRow(dst, a) }
