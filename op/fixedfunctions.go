package op

import (
	"math"
	"math/big"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
)

// Functions of fixed-point numbers that package num doesn't have: the functions of operators alone.

func maxFixed[T num.Fixed](x, y T, mode ...fixed.Mode) (T, error) {
	if fixed.Compare(x, y) < 0 {
		return y, nil
	}
	return x, nil
}

func minFixed[T num.Fixed](x, y T, mode ...fixed.Mode) (T, error) {
	if fixed.Compare(y, x) < 0 {
		return y, nil
	}
	return x, nil
}

func reluFixed[T num.Fixed](x T, mode ...fixed.Mode) (T, error) {
	var zero T
	return maxFixed(x, zero)
}

func squareFixed[T num.Fixed](x T, mode ...fixed.Mode) (T, error) {
	return fixed.Mul(x, x, mode...)
}

func signFixed[T num.Fixed](x T, mode ...fixed.Mode) (T, error) {
	var zero T
	return fixed.FromInt64[T](int64(fixed.Compare(x, zero)))
}

func remFixed[T num.Fixed](x, y T, mode ...fixed.Mode) (T, error) { return fixed.Rem(x, y) }

// modFixed has the sign of y.
func modFixed[T num.Fixed](x, y T, mode ...fixed.Mode) (T, error) {
	var zero T
	r, err := fixed.Rem(x, y)
	if c := fixed.Compare(r, zero); err == nil && c != 0 && (c < 0) != (fixed.Compare(y, zero) < 0) {
		r, err = fixed.Add(r, y)
	}
	return r, err
}

// floorDivFixed is the quotient of the words, rounded down.
func floorDivFixed[T num.Fixed](x, y T, mode ...fixed.Mode) (T, error) {
	d := fixed.Bits(y).Big()
	if d.Sign() == 0 {
		return fixed.Div(x, y)
	}
	q, m := new(big.Int).DivMod(fixed.Bits(x).Big(), d, new(big.Int)) // m isn't negative
	if d.Sign() < 0 && m.Sign() != 0 {
		q.Sub(q, big.NewInt(1))
	}
	if q.IsInt64() {
		return fixed.FromInt64[T](q.Int64(), mode...)
	}
	for _, how := range mode {
		if how&fixed.Wrap != 0 {
			return fixed.FromInt64[T](int64(q.And(q, new(big.Int).SetUint64(math.MaxUint64)).Uint64()), mode...)
		}
	}
	f, _ := q.Float64() // beyond every format
	return fixed.FromFloat64[T](f, mode...)
}

func pReluFixed[T num.Fixed](x, slope T, mode ...fixed.Mode) (T, error) {
	var zero T
	if fixed.Compare(x, zero) < 0 {
		return fixed.Mul(x, slope, mode...)
	}
	return x, nil
}

func leakyReluFixed[T num.Fixed](x, alpha, _ T, mode ...fixed.Mode) (T, error) {
	return pReluFixed(x, alpha, mode...)
}

func thresholdedReluFixed[T num.Fixed](x, alpha, _ T, mode ...fixed.Mode) (y T, err error) {
	if fixed.Compare(x, alpha) > 0 {
		y = x
	}
	return y, nil
}

// hardSigmoidFixed rounds alpha x + beta once.
func hardSigmoidFixed[T num.Fixed](x, alpha, beta T, mode ...fixed.Mode) (T, error) {
	var sum fixed.Sum[T]
	sum.AddProduct(alpha, x)
	sum.Add(beta)
	y, err := sum.Sum(fixed.Saturate)
	one, _ := fixed.FromInt64[T](1)
	y, _ = minFixed(y, one)
	y, _ = reluFixed(y)
	return y, err
}

func eluFixed[T num.Fixed](x, alpha, _ T, mode ...fixed.Mode) (T, error) {
	var zero T
	if fixed.Compare(x, zero) >= 0 {
		return x, nil
	}
	e, _ := fixed.Exp(x) // below 1
	one, _ := fixed.FromInt64[T](1)
	d, _ := fixed.Sub(e, one)
	return fixed.Mul(d, alpha, mode...)
}
