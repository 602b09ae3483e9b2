package op

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/ashlar-go/ashlar/num"
)

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

// Functions that package num doesn't have.

func maxFixed[T num.Fixed](x, y T, mode ...num.FixedMode) (T, error) {
	if num.CompareFixed(x, y) < 0 {
		return y, nil
	}
	return x, nil
}

func minFixed[T num.Fixed](x, y T, mode ...num.FixedMode) (T, error) {
	if num.CompareFixed(y, x) < 0 {
		return y, nil
	}
	return x, nil
}

func reluFixed[T num.Fixed](x T, mode ...num.FixedMode) (T, error) {
	var zero T
	return maxFixed(x, zero)
}

func squareFixed[T num.Fixed](x T, mode ...num.FixedMode) (T, error) {
	return num.MulFixed(x, x, mode...)
}

func signFixed[T num.Fixed](x T, mode ...num.FixedMode) (T, error) {
	var zero T
	return num.FixedFromInt64[T](int64(num.CompareFixed(x, zero)))
}

func remFixed[T num.Fixed](x, y T, mode ...num.FixedMode) (T, error) { return num.RemFixed(x, y) }

// modFixed has the sign of y.
func modFixed[T num.Fixed](x, y T, mode ...num.FixedMode) (T, error) {
	var zero T
	r, err := num.RemFixed(x, y)
	if c := num.CompareFixed(r, zero); err == nil && c != 0 && (c < 0) != (num.CompareFixed(y, zero) < 0) {
		r, err = num.AddFixed(r, y)
	}
	return r, err
}

// floorDivFixed is the quotient of the words, rounded down.
func floorDivFixed[T num.Fixed](x, y T, mode ...num.FixedMode) (T, error) {
	d := num.FixedBits(y).Big()
	if d.Sign() == 0 {
		return num.DivFixed(x, y)
	}
	q, m := new(big.Int).DivMod(num.FixedBits(x).Big(), d, new(big.Int)) // m isn't negative
	if d.Sign() < 0 && m.Sign() != 0 {
		q.Sub(q, big.NewInt(1))
	}
	if q.IsInt64() {
		return num.FixedFromInt64[T](q.Int64(), mode...)
	}
	for _, how := range mode {
		if how&num.Wrap != 0 {
			return num.FixedFromInt64[T](int64(q.And(q, new(big.Int).SetUint64(math.MaxUint64)).Uint64()), mode...)
		}
	}
	f, _ := q.Float64() // beyond every format
	return num.FixedFromFloat64[T](f, mode...)
}

func pReluFixed[T num.Fixed](x, slope T, mode ...num.FixedMode) (T, error) {
	var zero T
	if num.CompareFixed(x, zero) < 0 {
		return num.MulFixed(x, slope, mode...)
	}
	return x, nil
}

func leakyReluFixed[T num.Fixed](x, alpha, _ T, mode ...num.FixedMode) (T, error) {
	return pReluFixed(x, alpha, mode...)
}

func thresholdedReluFixed[T num.Fixed](x, alpha, _ T, mode ...num.FixedMode) (y T, err error) {
	if num.CompareFixed(x, alpha) > 0 {
		y = x
	}
	return y, nil
}

// hardSigmoidFixed rounds alpha x + beta once.
func hardSigmoidFixed[T num.Fixed](x, alpha, beta T, mode ...num.FixedMode) (T, error) {
	var sum num.FixedSum[T]
	sum.AddProduct(alpha, x)
	sum.Add(beta)
	y, err := sum.Sum(num.Saturate)
	one, _ := num.FixedFromInt64[T](1)
	y, _ = minFixed(y, one)
	y, _ = reluFixed(y)
	return y, err
}

func eluFixed[T num.Fixed](x, alpha, _ T, mode ...num.FixedMode) (T, error) {
	var zero T
	if num.CompareFixed(x, zero) >= 0 {
		return x, nil
	}
	e, _ := num.ExpFixed(x) // below 1
	one, _ := num.FixedFromInt64[T](1)
	d, _ := num.SubFixed(e, one)
	return num.MulFixed(d, alpha, mode...)
}
