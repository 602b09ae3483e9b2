package pointwise

import (
	"math"
	"math/bits"

	"github.com/ashlar-go/ashlar/internal/core/cast"
)

// Rows of fixed-point words. A product of two words of 32 bits fits 64, so that a result
// beyond the format shows at the end; words of 64 bits are looked at by sign and magnitude.

// FixedWords are the words of fixed-point formats that have rows here.
type FixedWords interface{ int32 | int64 }

func AddWords[T FixedWords](dst, a, b []T, s *cast.State) {
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

func SubWords[T FixedWords](dst, a, b []T, s *cast.State) {
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

func NegWords[T FixedWords](dst, a []T, s *cast.State) {
	for i, x := range a[:len(dst)] {
		v := -x
		if x&v < 0 { // the least word
			v = beyondWord(s, v, false)
		}
		dst[i] = v
	}
}

func AbsWords[T FixedWords](dst, a []T, s *cast.State) {
	for i, x := range a[:len(dst)] {
		v := max(x, -x)
		if v < 0 {
			v = beyondWord(s, v, false)
		}
		dst[i] = v
	}
}

// beyondWord is beyond for words of either width.
func beyondWord[T FixedWords](s *cast.State, low T, neg bool) T {
	least := int64(T(-1) << 31)
	if all := T(math.MaxInt32); all+1 > all { // 64 bits
		least = math.MinInt64
	}
	return T(s.Beyond(int64(low), neg, least))
}

func MulWords32(dst, a, b []int32, s *cast.State) {
	a, b = a[:len(dst)], b[:len(dst)]
	half := int64(1)<<(s.Frac-1) - 1
	for i := range dst {
		v := int64(a[i]) * int64(b[i])
		dst[i] = s.Word32((v + half + v>>s.Frac&1) >> s.Frac) // a tie goes to the even one
	}
}

func SquareWords32(dst, a []int32, s *cast.State) { MulWords32(dst, a, a, s) }

func DivWords32(dst, a, b []int32, s *cast.State) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i, x := range a {
		d := size64(int64(b[i]))
		if d == 0 {
			s.Failed.Store(true)
			continue
		}
		n := size64(int64(x)) << s.Frac
		q, r := n/d, n%d
		if 2*r > d || 2*r == d && q&1 == 1 {
			q++
		}
		v := int64(q)
		if x < 0 != (b[i] < 0) {
			v = -v
		}
		dst[i] = s.Word32(v)
	}
}

func MulWords64(dst, a, b []int64, s *cast.State) {
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
			v = s.Beyond(v, neg, -1<<63)
		}
		dst[i] = v
	}
}

func SquareWords64(dst, a []int64, s *cast.State) { MulWords64(dst, a, a, s) }

// size64 returns |x|, of which 2^63 is one.
func size64(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}
