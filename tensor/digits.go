package tensor

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
)

// kind is a type of floats; its values are handed over as float64.
type kind struct {
	bits  int                     // strconv's name of the type, where it has one: the others are printed as a float64 of few digits
	round func(x float64) float64 // to the nearest value of the type; nil for the types of strconv
	ratio func(a, b float64) float64
}

var (
	double = kind{bits: 64, ratio: divide}
	single = kind{bits: 32, ratio: func(a, b float64) float64 { return float64(float32(a) / float32(b)) }}
	half   = kind{64, roundHalf, func(a, b float64) float64 { return roundHalf(a / b) }} // as NumPy, which has this type
)

// kindOf returns the kind of a type of floats, or of the parts of a complex number.
func kindOf(d dtype.DType) kind {
	switch d {
	case dtype.Float64, dtype.Complex128:
		return double
	case dtype.Float32, dtype.Complex64, dtype.Float8E8M0: // as float32: the shortest decimal of 0.25 would be 0.2
		return single
	case dtype.Float16:
		return half
	}
	f := d.Format()
	return kind{64, func(x float64) float64 { return f.Value(f.Round(x)) }, divide}
}

func divide(a, b float64) float64 { return a / b }

func roundHalf(x float64) float64 { return num.FromFloat64[num.F16](x).Float64() }

// short returns a float64 whose shortest decimal is that of x, x > 0, in its type:
// the one of fewest digits that rounds to x, and of those the nearest.
func (k kind) short(x float64) float64 {
	if k.round == nil {
		return x
	}
	for more := range 17 { // digits after the first
		text := strconv.FormatFloat(x, 'e', more, 64)
		near, _ := strconv.ParseFloat(text, 64)
		if k.round(near) == x {
			return near
		}
		// At a power of two the interval reaches further up than down, so the
		// decimal on the other side may lie in it.
		digits, exponent, _ := strings.Cut(text, "e")
		n, _ := strconv.Atoi(strings.Replace(digits, ".", "", 1))
		e, _ := strconv.Atoi(exponent)
		if near < x {
			n++
		} else {
			n--
		}
		far, _ := strconv.ParseFloat(strconv.Itoa(n)+"e"+strconv.Itoa(e-more), 64)
		if k.round(far) == x {
			return far
		}
	}
	return x
}

// reads reports whether a decimal reads back as x. The exact digits of x may not,
// where the shortest decimal does: 6.10987272699921e-151 is exactly
// 6.1098727269992093…e-151, and 6.109872726999209e-151 is nearer to the float64 below.
func (k kind) reads(text string, x float64) bool {
	v, _ := strconv.ParseFloat(text, k.bits)
	if k.round != nil {
		v = k.round(v)
	}
	return v == x
}

// positional writes |x| with the fewest digits that tell it apart, but at least
// least and at most most after the point (rounded there, zeros at the end cut).
// Digits past the fewest are exact ones, or zeros where the exact ones don't read back.
// Negative is no limit; with a least, all digits before the point are exact too.
func (k kind) positional(x float64, least, most int) (whole, frac string) {
	x = math.Abs(x)
	whole = "0"
	if x != 0 {
		whole, frac, _ = strings.Cut(strconv.FormatFloat(k.short(x), 'f', -1, k.bits), ".")
	}
	if most >= 0 && len(frac) > most {
		whole, frac, _ = strings.Cut(strconv.FormatFloat(x, 'f', most, 64), ".")
		frac = strings.TrimRight(frac, "0")
	}
	if len(frac) <= least {
		if text := strconv.FormatFloat(x, 'f', least, 64); k.reads(text, x) {
			whole, frac, _ = strings.Cut(text, ".")
		}
		frac += strings.Repeat("0", least-len(frac))
	}
	return whole, frac
}

// scientific is positional with a power of ten, whose exponent has a sign and at
// least two digits.
func (k kind) scientific(x float64, least, most int) (whole, frac, exp string) {
	x = math.Abs(x)
	split := func(text string) {
		whole, exp, _ = strings.Cut(text, "e")
		whole, frac, _ = strings.Cut(whole, ".")
	}
	if split("0e+00"); x != 0 {
		split(strconv.FormatFloat(k.short(x), 'e', -1, k.bits))
	}
	if most >= 0 && len(frac) > most {
		split(strconv.FormatFloat(x, 'e', most, 64))
		frac = strings.TrimRight(frac, "0")
	}
	if len(frac) < least {
		if text := strconv.FormatFloat(x, 'e', least, 64); k.reads(text, x) {
			split(text)
		}
		frac += strings.Repeat("0", least-len(frac))
	}
	return whole, frac, exp
}

// column is how a set of floats is written in one width: the findings of NumPy's
// FloatingFormat about them.
type column struct {
	kind
	at             func(i int) float64
	nan, inf       string
	sign           byte
	exponent       bool // 1.5e+02, else 150.
	least, most    int  // digits after the point, as for positional
	left, right    int  // columns before and after the point
	exponentDigits int
}

func newColumn(k kind, o *PrintOptions, sign byte, n int, at func(i int) float64) *column {
	c := &column{kind: k, at: at, nan: o.NaN, inf: o.Inf, sign: sign, least: -1, most: o.Precision}
	switch o.FloatMode {
	case Unique:
		c.most = -1
	case Fixed:
		c.least = o.Precision
	}
	largest, least := 0.0, math.Inf(1)
	finite, negative, negativeInf := 0, false, false
	for i := range n {
		x := at(i)
		if x-x != 0 {
			negativeInf = negativeInf || x < 0
			continue
		}
		finite++
		negative = negative || math.Signbit(x)
		if a := math.Abs(x); a != 0 {
			largest, least = max(largest, a), min(least, a)
		}
	}
	c.exponent = largest != 0 && (largest >= 1e8 || !o.Suppress && (least < 0.0001 || k.ratio(largest, least) > 1000))
	c.measure(n, o.FloatMode)
	if sign == ' ' && !negative {
		c.left++
	}
	if finite < n { // a point and the digits after it are room for nan and inf
		inf := utf8.RuneCountInString(o.Inf)
		if sign != '-' || negativeInf {
			inf++
		}
		c.left = max(c.left, max(inf, utf8.RuneCountInString(o.NaN))-c.right-1)
	}
	return c
}

// measure finds the widths that the finite values need.
func (c *column) measure(n int, mode FloatMode) {
	digits := 0
	for i := range n {
		x := c.at(i)
		if x-x != 0 {
			continue
		}
		var whole, frac, exp string
		if c.exponent {
			whole, frac, exp = c.scientific(x, c.least, c.most)
			c.exponentDigits = max(c.exponentDigits, len(exp)-1)
		} else {
			whole, frac = c.positional(x, c.least, c.most)
		}
		c.left, digits = max(c.left, len(c.signOf(x))+len(whole)), max(digits, len(frac))
	}
	c.right, c.least = digits, 0
	switch {
	case c.exponent:
		c.least, c.most, c.right = digits, digits, digits+2+c.exponentDigits
	case mode == Fixed || mode == MaxPrecEqual:
		c.least, c.most = digits, digits
	}
}

func (c *column) signOf(x float64) string {
	switch {
	case math.Signbit(x):
		return "-"
	case c.sign == '+':
		return "+"
	}
	return ""
}

// text writes value i.
func (c *column) text(i int) string {
	x := c.at(i)
	if x != x {
		s := c.nan
		if c.sign == '+' {
			s = "+" + s
		}
		return padLeft(s, c.left+c.right+1)
	}
	if x-x != 0 {
		return padLeft(c.signOf(x)+c.inf, c.left+c.right+1)
	}
	var whole, frac, exp string
	if c.exponent {
		whole, frac, exp = c.scientific(x, c.least, c.most)
		exp = "e" + exp[:1] + strings.Repeat("0", c.exponentDigits-len(exp[1:])) + exp[1:]
	} else {
		whole, frac = c.positional(x, c.least, c.most)
	}
	s := padLeft(c.signOf(x)+whole, c.left) + "." + frac + exp
	if n := c.right - len(frac) - len(exp); n > 0 {
		s += strings.Repeat(" ", n)
	}
	return s
}

// scalar writes a number that stands alone as Python does: 2.0, 1e+16.
func (k kind) scalar(x float64) string { return k.alone(x, ".0", "") }

// alone writes whole numbers with a suffix and positive ones with a sign.
func (k kind) alone(x float64, whole, plus string) string {
	sign := plus
	if math.Signbit(x) {
		sign = "-"
	}
	a := math.Abs(x)
	switch {
	case x != x:
		return plus + "nan"
	case x-x != 0:
		return sign + "inf"
	case a == 0 || a >= 1e-4 && a < 1e16:
		w, f := k.positional(x, -1, -1)
		if f == "" {
			return sign + w + whole
		}
		return sign + w + "." + f
	}
	w, f, e := k.scientific(x, -1, -1)
	if f != "" {
		f = "." + f
	}
	return sign + w + f + "e" + e
}

// complex writes a complex number that stands alone: (1+2j), or 2j when the real
// part is +0.
func (k kind) complex(z complex128) string {
	re, im := real(z), imag(z)
	if re == 0 && !math.Signbit(re) {
		return k.alone(im, "", "") + "j"
	}
	return "(" + k.alone(re, "", "") + k.alone(im, "", "+") + "j)"
}
