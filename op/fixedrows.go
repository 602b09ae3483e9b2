package op

import "math/bits"

// Rows of fixed-point words. A product of two words of 32 bits fits 64, so that what is
// beyond shows at the end; words of 64 bits are looked at by sign and magnitude.

func addWords32(dst, a, b []int32, s *fixedState) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = s.word32(int64(a[i]) + int64(b[i]))
	}
}

func subWords32(dst, a, b []int32, s *fixedState) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = s.word32(int64(a[i]) - int64(b[i]))
	}
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

func negWords32(dst, a []int32, s *fixedState) {
	for i, x := range a[:len(dst)] {
		dst[i] = s.word32(-int64(x))
	}
}

func absWords32(dst, a []int32, s *fixedState) {
	for i, x := range a[:len(dst)] {
		dst[i] = s.word32(max(int64(x), -int64(x)))
	}
}

func negWords64(dst, a []int64, s *fixedState) {
	for i, x := range a[:len(dst)] {
		v := -x
		if x == -1<<63 {
			v = s.beyond(v, false, -1<<63)
		}
		dst[i] = v
	}
}

func absWords64(dst, a []int64, s *fixedState) {
	for i, x := range a[:len(dst)] {
		v := max(x, -x)
		if x == -1<<63 {
			v = s.beyond(x, false, -1<<63)
		}
		dst[i] = v
	}
}

func addWords64(dst, a, b []int64, s *fixedState) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i, x := range a {
		y := b[i]
		v := x + y
		if (x^v)&(y^v) < 0 {
			v = s.beyond(v, x < 0, -1<<63)
		}
		dst[i] = v
	}
}

func subWords64(dst, a, b []int64, s *fixedState) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i, x := range a {
		y := b[i]
		v := x - y
		if (x^y)&(x^v) < 0 {
			v = s.beyond(v, x < 0, -1<<63)
		}
		dst[i] = v
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
func maxWords32(dst, a, b []int32, _ *fixedState) { maxRow(dst, a, b) }
func maxWords64(dst, a, b []int64, _ *fixedState) { maxRow(dst, a, b) }
func minWords32(dst, a, b []int32, _ *fixedState) { minRow(dst, a, b) }
func minWords64(dst, a, b []int64, _ *fixedState) { minRow(dst, a, b) }
func reluWords32(dst, a []int32, _ *fixedState)   { reluRow(dst, a) }
func reluWords64(dst, a []int64, _ *fixedState)   { reluRow(dst, a) }
