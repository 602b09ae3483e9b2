package num

import (
	"math"
	"strconv"
)

// narrow32 rounds a float32, given as its bits without the sign, to a format with mbits bits of fraction and the given exponent bias,
// to nearest, ties to even. It returns the bits as if the exponent had no upper bound: infinities, NaNs and values too large come out
// at or above the code of infinity, for the caller to fold.
func narrow32(abs uint32, mbits, bias uint32) uint32 {
	if abs < (128-bias)<<23 {
		// Below the smallest normal number, 2^(1-bias), the results have a fixed unit: 2^(1-bias-mbits). It is the unit in the last place
		// of magic, so that one addition rounds to it; a sum that reaches the smallest normal number carries into the exponent by itself.
		magic := (128 - bias - mbits + 23) << 23
		return math.Float32bits(math.Float32frombits(abs)+math.Float32frombits(magic)) - magic
	}
	shift := 23 - mbits
	return (abs+(1<<(shift-1)-1)+abs>>shift&1)>>shift - (127-bias)<<mbits
}

// narrow64 is narrow32 from float64.
func narrow64(abs uint64, mbits, bias uint64) uint64 {
	if abs < (1024-bias)<<52 {
		magic := (1024 - bias - mbits + 52) << 52
		return math.Float64bits(math.Float64frombits(abs)+math.Float64frombits(magic)) - magic
	}
	shift := 52 - mbits
	return (abs+(1<<(shift-1)-1)+abs>>shift&1)>>shift - (1023-bias)<<mbits
}

const (
	abs32 = 1<<31 - 1
	abs64 = 1<<63 - 1
	inf32 = 0x7f800000
	inf64 = 0x7ff0000000000000
)

// shortest returns the decimal with the fewest digits that same accepts for x.
func shortest(x float64, same func(float64) bool) string {
	var buf [32]byte
	for digits := range 17 {
		b := strconv.AppendFloat(buf[:0], x, 'e', digits, 64)
		if y, err := strconv.ParseFloat(string(b), 64); err == nil && same(y) {
			return format(y, 64)
		}
	}
	return format(x, 64)
}

// format writes x as fmt does, with the fewest digits that give it back in a float of that many bits.
func format(x float64, bits int) string {
	verb := byte('g')
	if a := math.Abs(x); a >= 1e-4 && a < 1e21 {
		verb = 'f'
	}
	return strconv.FormatFloat(x, verb, -1, bits)
}
