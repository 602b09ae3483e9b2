package fixed

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// Bits returns x in units of its format; the method Bits gives each format's own word.
func Bits[T Number](x T) Int128 { return wordOf(x) }

// FromBits returns the number of w units, or an overflow.
func FromBits[T Number](w Int128, mode ...Mode) (T, error) {
	x, err := finish[T]("FromBits", w.magnitude(), joinModes(mode), formatOf[T](), 0, Int128{}, Int128{})
	if e, ok := err.(*Error); ok {
		e.text = w.String() + " units"
	}
	return x, err
}

// FromBig returns n·2^-frac, rounded once, or an overflow. It takes n over.
func FromBig[T Number](n *big.Int, frac uint, mode ...Mode) (T, error) {
	f, how := formatOf[T](), joinModes(mode)
	neg := n.Sign() < 0
	n.Abs(n)
	if frac > f.frac {
		n = quotient(n, new(big.Int).Lsh(big.NewInt(1), frac-f.frac), how)
	} else {
		n.Lsh(n, f.frac-frac)
	}
	m := magnitudeOf(n)
	m.neg = neg
	x, err := finish[T]("FromBig", m, how, f, 0, Int128{}, Int128{})
	if e, ok := err.(*Error); ok {
		e.text = "a number of " + strconv.Itoa(max(0, n.BitLen()-int(f.frac))) + " bits before the point"
	}
	return x, err
}

// FromInt64 returns n, exactly, or an overflow.
func FromInt64[T Number](n int64, mode ...Mode) (T, error) {
	f := formatOf[T]()
	m := int128(n).magnitude().shiftLeft(f.frac)
	x, err := finish[T]("FromInt64", m, joinModes(mode), f, 0, Int128{}, Int128{})
	if e, ok := err.(*Error); ok {
		e.text = strconv.FormatInt(n, 10)
	}
	return x, err
}

// FromFloat64 returns v, rounded once. A NaN is an error, and an infinity an overflow. A float32 converts to float64 exactly.
func FromFloat64[T Number](v float64, mode ...Mode) (T, error) {
	f, how := formatOf[T](), joinModes(mode)
	var x T
	var err error
	switch {
	case v != v:
		err = noValue("FromFloat64", "there is no NaN", f, 0, Int128{}, Int128{})
	case math.IsInf(v, 0):
		x, err = finish[T]("FromFloat64", magnitude{over: true, neg: v < 0}, how&^Wrap, f, 0, Int128{}, Int128{})
	default:
		b := math.Float64bits(v)
		e := int(b>>52&0x7ff) - 1075 // v is lo 2^e
		m := magnitude{lo: b & (1<<52 - 1), neg: v < 0}
		if e > -1075 {
			m.lo |= 1 << 52
		} else {
			e++
		}
		if e += int(f.frac); e >= 0 {
			m = m.shiftLeft(uint(e))
		} else {
			m = m.shiftRight(uint(min(-e, 128)), how)
		}
		x, err = finish[T]("FromFloat64", m, how, f, 0, Int128{}, Int128{})
	}
	if e, ok := err.(*Error); ok {
		e.text = strconv.FormatFloat(v, 'g', -1, 64)
	}
	return x, err
}

// Convert returns x in another format, rounded once: fixed.Convert[fixed.FP32x32](x).
func Convert[To, From Number](x From, mode ...Mode) (To, error) {
	f, g, how := formatOf[From](), formatOf[To](), joinModes(mode)
	m := wordOf(x).magnitude()
	if g.frac >= f.frac {
		m = m.shiftLeft(g.frac - f.frac)
	} else {
		m = m.shiftRight(f.frac-g.frac, how)
	}
	return finish[To]("Convert", m, how, f, 1, wordOf(x), Int128{})
}

// ToInt64 returns x as an integer, rounded once. Only numbers of [FP64x64] that round to 2^63 overflow.
func ToInt64[T Number](x T, mode ...Mode) (int64, error) {
	f, how := formatOf[T](), joinModes(mode)
	m := wordOf(x).magnitude().shiftRight(f.frac, how)
	if m.lo>>63 != 0 && !m.neg { // -2^63 is a number of FP64x64, its last
		switch {
		case how&Wrap != 0:
		case how&Saturate != 0:
			m.lo--
		default:
			return 0, &Error{Func: "ToInt64", Format: "FP64x64", Err: ErrOverflow, of: f, args: [2]Int128{wordOf(x)}, n: 1}
		}
	}
	if m.neg {
		return -int64(m.lo), nil
	}
	return int64(m.lo), nil
}

// Float64 returns x, exactly.
func (x FP8x23) Float64() float64 { return float64(x.bits) * 0x1p-23 }

// Float64 returns x, exactly.
func (x FP16x16) Float64() float64 { return float64(x.bits) * 0x1p-16 }

// Float64 returns x, rounded to nearest, ties to even.
func (x FP32x32) Float64() float64 { return int128(x.bits).magnitude().float(32, 53) }

// Float64 returns x, rounded to nearest, ties to even.
func (x FP64x64) Float64() float64 { return x.bits.magnitude().float(64, 53) }

// Float32 returns x, rounded once to nearest, ties to even.
func (x FP8x23) Float32() float32 { return float32(x.Float64()) }

// Float32 returns x, rounded once to nearest, ties to even.
func (x FP16x16) Float32() float32 { return float32(x.Float64()) }

// Float32 returns x, rounded once to nearest, ties to even.
func (x FP32x32) Float32() float32 { return float32(int128(x.bits).magnitude().float(32, 24)) }

// Float32 returns x, rounded once to nearest, ties to even.
func (x FP64x64) Float32() float32 { return float32(x.bits.magnitude().float(64, 24)) }

// float returns m 2^-frac, rounded to so many bits in integers: float32 of an int64 is rounded twice on 386.
func (m magnitude) float(frac, digits uint) float64 {
	n := uint(bits.Len64(m.lo))
	if m.hi != 0 {
		n = 64 + uint(bits.Len64(m.hi))
	}
	shift := n - min(n, digits)
	v := float64(m.shiftRight(shift, 0).lo) * math.Float64frombits(uint64(1023+shift-frac)<<52) // both exact
	if m.neg {
		return -v
	}
	return v
}

// Format returns x as a decimal with that many digits after the point, rounded to nearest, ties to even. With -1 they are the fewest
// that [Parse] turns back into x. As many digits as the format has bits after the point give x exactly.
func Format[T Number](x T, digits int) string {
	return formatOf[T]().text(wordOf(x), digits)
}

func (f *format) text(w Int128, digits int) string {
	m := w.magnitude()
	abs := m.big()
	scaled := new(big.Int)
	if digits >= 0 {
		scaled = f.decimal(abs, digits)
	} else {
		ten, half := big.NewInt(10), new(big.Int)
		power := big.NewInt(1)
		for digits = 0; ; digits++ {
			// |scaled/10^digits - x| is at most half a unit if |scaled 2^frac - abs 10^digits| is at most 10^digits/2; a tie goes to the even one.
			scaled = f.decimal(abs, digits)
			d := new(big.Int).Lsh(scaled, f.frac)
			d.Abs(d.Sub(d, half.Mul(abs, power)))
			if cmp := d.Lsh(d, 1).Cmp(power); cmp < 0 || cmp == 0 && m.lo&1 == 0 {
				break
			}
			power.Mul(power, ten)
		}
	}
	s := scaled.String()
	if len(s) <= digits {
		s = strings.Repeat("0", digits+1-len(s)) + s
	}
	if digits > 0 {
		s = s[:len(s)-digits] + "." + s[len(s)-digits:]
	}
	if m.neg {
		s = "-" + s
	}
	return s
}

// decimal returns abs 10^digits in units of 1, rounded.
func (f *format) decimal(abs *big.Int, digits int) *big.Int {
	n := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	return quotient(n.Mul(n, abs), new(big.Int).Lsh(big.NewInt(1), f.frac), 0)
}

// Parse returns the number that s is in decimal, rounded once: digits with an optional sign, point and exponent, as in -12.5e-3.
func Parse[T Number](s string, mode ...Mode) (T, error) {
	f, how := formatOf[T](), joinModes(mode)
	digits, exp, neg, ok := splitDecimal(s)
	if !ok {
		var zero T
		return zero, &Error{Func: "Parse", Format: f.name, Err: ErrSyntax, text: quoted(s), reason: "it wants a decimal number such as -12.5 or 1e-3"}
	}
	var m magnitude
	switch {
	case digits == "" || len(digits)+exp < -40: // below 10^-40, which is less than half a unit of any format
	case len(digits)+exp > 60: // 10^60 and more
		m.over = true
		how &^= Wrap
	default:
		n, _ := new(big.Int).SetString(digits, 10)
		n.Lsh(n, f.frac)
		power := big.NewInt(int64(max(exp, -exp)))
		power.Exp(big.NewInt(10), power, nil)
		if exp < 0 {
			n = quotient(n, power, how)
		} else {
			n.Mul(n, power)
		}
		m = magnitudeOf(n)
	}
	m.neg = neg
	x, err := finish[T]("Parse", m, how, f, 0, Int128{}, Int128{})
	if e, ok := err.(*Error); ok {
		e.text = quoted(s)
	}
	return x, err
}

// quoted is s in an error, cut if it is long.
func quoted(s string) string {
	if len(s) > 60 {
		return strconv.Quote(s[:60]) + "…"
	}
	return strconv.Quote(s)
}

// splitDecimal splits a decimal number into its digits without the zeros in front, and the power of ten they are to be multiplied by.
func splitDecimal(s string) (digits string, exp int, neg, ok bool) {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		neg = s[0] == '-'
		s = s[1:]
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e := s[i+1:]
		if e != "" && (e[0] == '-' || e[0] == '+') {
			e = e[1:]
		}
		if e == "" || strings.Trim(e, "0123456789") != "" {
			return "", 0, false, false
		}
		n, err := strconv.Atoi(s[i+1:])
		if exp = n; err != nil || n > 1<<30 || n < -1<<30 {
			exp = 1 << 30
			if s[i+1] == '-' {
				exp = -exp
			}
		}
		s = s[:i]
	}
	whole, part, _ := strings.Cut(s, ".")
	digits = whole + part
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return "", 0, false, false
	}
	return strings.TrimLeft(digits, "0"), exp - len(part), neg, true
}
