package op

import (
	"math"
	"math/big"

	"github.com/ashlar-go/ashlar/num"
)

// Functions of fixed-point numbers that package num doesn't have: those of operators alone.

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
