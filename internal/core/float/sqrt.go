package float

import (
	"math"

	"github.com/ashlar-go/ashlar/num"
)

// Sqrt32 returns the square root of x, correctly rounded for all x: ±0 for ±0, +Inf for +Inf, NaN for x < 0 and NaN.
//
// The float64 root is correctly rounded to 53 bits. A root of at least 2·24+2 bits can be rounded again without harm.
func Sqrt32(x float32) float32 {
	if !(x >= 0) { // before the conversion, as in Tanh32
		return num.NaN32()
	}
	return float32(math.Sqrt(float64(x)))
}
