package num

import "math"

// A Format names a floating-point format of at most 16 bits, for code that learns the format of its numbers at run time. It converts
// by the parameters of the format alone. The conversions of [F16] and the other types give the same bits, and are faster for the four
// formats of [Narrow]. The zero Format names none; its methods work as those for F8E5M2.
type Format uint8

// The formats. An F8E8M0 is the exponent alone.
const (
	FormatF8E5M2 Format = iota + 1
	FormatF8E4M3
	FormatF16
	FormatBF16
	FormatF4E2M1
	FormatF8E4M3FNUZ
	FormatF8E5M2FNUZ
	FormatF8E8M0
	FormatF6E2M3
	FormatF6E3M2
)

// A rule says which special values a format has.
type rule uint8

const (
	ieee         rule = iota // the code above the largest number is infinity, and all codes above that are NaNs
	oneNaN                   // the code above the largest number is NaN: the FN of other names
	finite                   // nothing
	unsignedZero             // the sign alone is NaN, not -0: FNUZ
	scales                   // no sign, no zero, no fraction; the largest code is NaN
)

// parameters holds for each format: bits with the sign, bits of fraction, exponent bias, codes of the largest number and of the
// canonical NaN, and the factor that corrects the exponent of a float64.
var parameters = [...]struct {
	bits, fraction, bias uint8
	rule                 rule
	most, nan            uint16
	scale                float64 // 2^(1023-bias)
}{
	{8, 2, 15, ieee, 0x7b, CanonF8E5M2, 0x1p1008},
	FormatF8E5M2:     {8, 2, 15, ieee, 0x7b, CanonF8E5M2, 0x1p1008},
	FormatF8E4M3:     {8, 3, 7, oneNaN, 0x7e, CanonF8E4M3, 0x1p1016},
	FormatF16:        {16, 10, 15, ieee, 0x7bff, CanonF16, 0x1p1008},
	FormatBF16:       {16, 7, 127, ieee, 0x7f7f, CanonBF16, 0x1p896},
	FormatF4E2M1:     {4, 1, 1, finite, 7, CanonF4E2M1, 0x1p1022},
	FormatF8E4M3FNUZ: {8, 3, 8, unsignedZero, 0x7f, CanonFNUZ, 0x1p1015},
	FormatF8E5M2FNUZ: {8, 2, 16, unsignedZero, 0x7f, CanonFNUZ, 0x1p1007},
	FormatF8E8M0:     {8, 0, 127, scales, 0xfe, CanonF8E8M0, 0x1p896},
	FormatF6E2M3:     {6, 3, 1, finite, 0x1f, 0x20, 0x1p1022},
	FormatF6E3M2:     {6, 2, 3, finite, 0x1f, 0x20, 0x1p1020},
}

// Bits returns how many bits a number has, with its sign.
func (f Format) Bits() int { return int(parameters[f].bits) }

// Value returns the number with these bits, exactly; for a NaN it returns the canonical NaN. Bits beyond the format don't count.
func (f Format) Value(bits uint16) float64 {
	p := &parameters[f]
	if p.rule == scales {
		if bits&0xff == CanonF8E8M0 {
			return NaN64()
		}
		return math.Float64frombits(uint64(bits&0xff+1023-127) << 52)
	}
	sign := uint16(1) << ((p.bits - 1) & 15)
	mag := bits & (sign - 1)
	if mag-1 >= p.most { // 0, or above the largest
		switch {
		case mag == 0 && (bits&sign == 0 || p.rule != unsignedZero):
			return math.Float64frombits(uint64(bits&sign) << ((64 - p.bits) & 63))
		case mag == p.most+1 && p.rule == ieee:
			return math.Inf(1 - 2*int(bits&sign/sign))
		}
		return NaN64()
	}
	// The product makes subnormal numbers normal, and is exact.
	v := math.Float64frombits(uint64(mag)<<((52-p.fraction)&63)) * p.scale
	return math.Float64frombits(math.Float64bits(v) | uint64(bits&sign)<<((64-p.bits)&63))
}

// Round returns the bits of the number nearest to v, ties to even. A number that is too large becomes infinity, or NaN in a format
// without infinity. A NaN becomes the canonical NaN. F4E2M1, F6E2M3 and F6E3M2 have neither: a number that is too large becomes the
// largest of its sign, and NaN becomes -0. F8E8M0 rounds as [F8E8M0FromFloat64] with [Nearest] does.
func (f Format) Round(v float64) uint16 { return f.round(v, false) }

// Saturate is Round, but a number that is too large, infinities included, becomes the largest of its sign. In F8E8M0 a number that is
// too small, 0 included, becomes the smallest.
func (f Format) Saturate(v float64) uint16 { return f.round(v, true) }

func (f Format) round(v float64, saturate bool) uint16 {
	p := &parameters[f]
	if p.rule == scales {
		return uint16(scaleOf(v, Nearest, saturate))
	}
	if v != v {
		return p.nan
	}
	b := math.Float64bits(v)
	sign := uint16(b>>63) << (p.bits - 1)
	c := uint64(p.most) + 1
	if b&abs64 < inf64 {
		c = narrow64(b&abs64, uint64(p.fraction), uint64(p.bias))
	}
	switch {
	case c > uint64(p.most) && (saturate || p.rule == finite):
		c = uint64(p.most)
	case c > uint64(p.most) && p.rule == ieee:
		c = uint64(p.most) + 1
	case c > uint64(p.most), c == 0 && p.rule == unsignedZero && sign != 0:
		if c > 0 {
			return p.nan
		}
		return 0
	}
	return uint16(c) | sign
}

// Ends returns the bits of the smallest and the largest value: infinities where the format has them.
func (f Format) Ends() (least, most uint16) {
	p := &parameters[f]
	switch most = p.most; p.rule {
	case ieee:
		most++
	case scales:
		return 0, most
	}
	return most | 1<<(p.bits-1), most
}

// A Rounding says to which of two powers of two a number between them is rounded.
type Rounding uint8

// The roundings of an F8E8M0.
const (
	Up      Rounding = iota // to the larger one
	Down                    // to the smaller one
	Nearest                 // to the nearer one, from the middle to the larger one
)

// scaleOf rounds to an F8E8M0.
func scaleOf(v float64, r Rounding, saturate bool) uint8 {
	switch {
	case v != v, v < 0, v == 0 && !saturate:
		return CanonF8E8M0
	case v == 0:
		return 0
	case v > math.MaxFloat64:
		if saturate {
			return CanonF8E8M0 - 1
		}
		return CanonF8E8M0
	}
	m, e := math.Frexp(v) // v is m·2^e; m is at least 1/2 and below 1
	e += 127 - 1
	if r == Up && m > 0.5 || r == Nearest && m >= 0.75 {
		e++
	}
	switch {
	case e >= 0 && e < CanonF8E8M0:
		return uint8(e)
	case !saturate:
		return CanonF8E8M0
	case e < 0:
		return 0
	}
	return CanonF8E8M0 - 1
}
