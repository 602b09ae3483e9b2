package num

import "math"

// The bits of the canonical NaNs: quiet, positive, payload zero. Hardware disagrees on the sign and payload of the NaNs it makes
// (0/0 is ffc00000 on amd64 and 7fc00000 on arm64), so every computed NaN is replaced by one of these.
const (
	CanonF8E4M3 = 0x7f
	CanonF8E5M2 = 0x7e
	CanonF4E2M1 = 0x8  // which has no NaN: -0
	CanonFNUZ   = 0x80 // of F8E4M3FNUZ and F8E5M2FNUZ
	CanonF8E8M0 = 0xff
	CanonF16    = 0x7e00
	CanonBF16   = 0x7fc0
	Canon32     = 0x7fc00000
	Canon64     = 0x7ff8000000000000
)

// NaN32 returns the canonical float32 NaN, whose bits are [Canon32].
func NaN32() float32 { return math.Float32frombits(Canon32) }

// NaN64 returns the canonical float64 NaN, whose bits are [Canon64]. It is not [math.NaN], whose payload is 1.
func NaN64() float64 { return math.Float64frombits(Canon64) }
