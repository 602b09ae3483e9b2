package steps

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
)

// A number is an element of a real type: z for integers, bools and the words of fixed point, f for floats.
type number struct {
	z *big.Int
	f float64
}

// word returns the bits of an element of at most 8 bytes.
func word(b []byte) uint64 {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.NativeEndian.Uint16(b))
	case 4:
		return uint64(binary.NativeEndian.Uint32(b))
	}
	return binary.NativeEndian.Uint64(b)
}

func unword(w uint64, size int) []byte {
	switch size {
	case 1:
		return []byte{byte(w)}
	case 2:
		return binary.NativeEndian.AppendUint16(nil, uint16(w))
	case 4:
		return binary.NativeEndian.AppendUint32(nil, uint32(w))
	}
	return binary.NativeEndian.AppendUint64(nil, w)
}

// A small float has exponent and mantissa bits, and a bias. With ieee its largest exponent is for infinities and NaNs.
type small struct {
	exp, man, bias int
	ieee           bool
	nan            uint64
	signless       bool
}

var smalls = map[dtype.DType]*small{
	dtype.Float16: {5, 10, 15, true, 0x7e00, false}, dtype.BFloat16: {8, 7, 127, true, 0x7fc0, false},
	dtype.Float8E5M2: {5, 2, 15, true, 0x7e, false}, dtype.Float8E4M3: {4, 3, 7, false, 0x7f, false},
	dtype.Float8E4M3FNUZ: {4, 3, 8, false, 0x80, false}, dtype.Float8E5M2FNUZ: {5, 2, 16, false, 0x80, false},
	dtype.Float4E2M1: {2, 1, 1, false, 0x8, false}, dtype.Float8E8M0: {8, 0, 127, false, 0xff, true},
}

// value is the number that a code stands for.
func (s *small) value(w uint64) float64 {
	bits := s.exp + s.man
	sign := 1.0
	if w>>bits != 0 {
		sign = -1
	}
	body := w & (1<<bits - 1)
	e, m := int(body>>s.man), float64(body&(1<<s.man-1))
	switch {
	case s.signless:
		if w == s.nan {
			return math.NaN()
		}
		return math.Ldexp(1, e-s.bias)
	case s.ieee && e == 1<<s.exp-1:
		if m != 0 {
			return math.NaN()
		}
		return sign * math.Inf(1)
	case s.exp == 4 && s.bias == 7 && body == s.nan, s.nan == 0x80 && w == s.nan: // float8_e4m3, and those without -0
		return math.NaN()
	case e == 0:
		return math.Copysign(math.Ldexp(m, 1-s.bias-s.man), sign)
	}
	return math.Copysign(math.Ldexp(m+float64(int(1)<<s.man), e-s.bias-s.man), sign)
}

// largest is the code of the largest finite number.
func (s *small) largest() uint64 {
	most := uint64(1)<<(s.exp+s.man) - 1
	switch {
	case s.ieee:
		return most - 1<<s.man
	case s.exp == 4 && s.bias == 7:
		return most - 1
	}
	return most
}

// code rounds to nearest, ties to even.
func (s *small) code(x float64) uint64 {
	if x != x {
		return s.nan
	}
	sign := uint64(0)
	if math.Signbit(x) {
		sign, x = 1<<(s.exp+s.man), -x
	}
	lo, hi := uint64(0), s.largest()+1 // value(lo) <= x < value(hi), where the number behind the largest continues its row
	val := func(w uint64) float64 {
		if w > s.largest() {
			return 2*s.value(s.largest()) - s.value(s.largest()-1)
		}
		return s.value(w)
	}
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; val(mid) <= x {
			lo = mid
		} else {
			hi = mid
		}
	}
	down, up := x-val(lo), val(hi)-x
	if down > up || down == up && lo%2 == 1 {
		lo = hi
	}
	if lo > s.largest() {
		switch {
		case s.ieee:
			return sign | lo
		case s.exp == 2:
			return sign | s.largest()
		}
		return s.nan
	}
	if lo == 0 && s.nan == 0x80 {
		return 0
	}
	return sign | lo
}

// fraction is the bits of a fixed-point type behind the point.
func fraction(d dtype.DType) uint {
	return map[dtype.DType]uint{dtype.FP8x23: 23, dtype.FP16x16: 16, dtype.FP32x32: 32, dtype.FP64x64: 64}[d]
}

// partial is the bits of an integer type smaller than a byte.
func partial(d dtype.DType) int {
	switch d {
	case dtype.Int2, dtype.Uint2:
		return 2
	case dtype.Int4, dtype.Uint4:
		return 4
	}
	return 0
}

// decode returns the number of an element.
func decode(d dtype.DType, b []byte) number {
	switch {
	case d == dtype.Float32:
		return number{f: float64(math.Float32frombits(uint32(word(b))))}
	case d == dtype.Float64:
		return number{f: math.Float64frombits(word(b))}
	case smalls[d] != nil:
		return number{f: smalls[d].value(word(b))}
	case d == dtype.FP64x64:
		z := new(big.Int).SetInt64(int64(binary.NativeEndian.Uint64(b)))
		return number{z: z.Lsh(z, 64).Add(z, new(big.Int).SetUint64(binary.NativeEndian.Uint64(b[8:])))}
	case partial(d) > 0:
		if d.IsSigned() {
			return number{z: big.NewInt(int64(int8(b[0])))}
		}
	}
	w, n := word(b), 8*len(b)
	if d.IsFixed() || d.IsSigned() {
		return number{z: big.NewInt(int64(w) << (64 - n) >> (64 - n))}
	}
	return number{z: new(big.Int).SetUint64(w)}
}

// encode returns the element of a number: floats are rounded to nearest, and integers wrap. It reports false where fixed
// point lacks the number.
func encode(d dtype.DType, x number) ([]byte, bool) {
	switch {
	case d == dtype.Float32:
		if x.f != x.f {
			return unword(0x7fc00000, 4), true
		}
		return unword(uint64(math.Float32bits(float32(x.f))), 4), true
	case d == dtype.Float64:
		if x.f != x.f {
			return unword(0x7ff8<<48, 8), true
		}
		return unword(math.Float64bits(x.f), 8), true
	case smalls[d] != nil:
		return unword(smalls[d].code(x.f), d.Size()), true
	case d == dtype.Bool:
		return []byte{byte(x.z.Sign() & 1)}, true
	case d.IsFixed() && x.z.BitLen() >= 8*d.Size() && !(x.z.Sign() < 0 && new(big.Int).Not(x.z).BitLen() < 8*d.Size()):
		return make([]byte, d.Size()), false
	}
	low := new(big.Int).And(x.z, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	switch {
	case d == dtype.FP64x64:
		hi := new(big.Int).Rsh(x.z, 64)
		b := binary.NativeEndian.AppendUint64(nil, uint64(hi.Int64()))
		return binary.NativeEndian.AppendUint64(b, low), true
	case partial(d) > 0:
		b := []byte{byte(low)}
		d.Mend(b)
		return b, true
	}
	return unword(low, d.Size()), true
}

// bigOf is the value of a finite number.
func bigOf(d dtype.DType, x number) *big.Float {
	if x.z == nil {
		return new(big.Float).SetPrec(2200).SetFloat64(x.f)
	}
	v := new(big.Float).SetPrec(2200).SetInt(x.z)
	return v.SetMantExp(v, -int(fraction(d)))
}

// rounded is an exact value as a float type rounds it once.
func rounded(d dtype.DType, v *big.Float) number {
	switch {
	case d == dtype.Float64:
		f, _ := v.Float64()
		return number{f: f}
	case d == dtype.Float32:
		f, _ := v.Float32()
		return number{f: float64(f)}
	}
	f, acc := v.Float64() // to odd, so that another rounding is right
	if acc != big.Exact && math.Float64bits(f)&1 == 0 {
		to := math.Inf(1)
		if acc == big.Above {
			to = math.Inf(-1)
		}
		f = math.Nextafter(f, to)
	}
	return number{f: f}
}

// even rounds a value to an integer, ties to even.
func even(v *big.Float) *big.Int {
	z, _ := v.Int(nil)
	rest := new(big.Float).SetPrec(2200).Sub(v, new(big.Float).SetPrec(2200).SetInt(z))
	half := rest.Abs(rest).Cmp(big.NewFloat(0.5))
	if half > 0 || half == 0 && z.Bit(0) == 1 {
		z.Add(z, big.NewInt(int64(v.Sign())))
	}
	return z
}

// cast converts an element. ok is false where fixed point lacks it, and known where this model has a definition.
func cast(to, from dtype.DType, b []byte) (out []byte, ok, known bool) {
	if to == from {
		return b, true, true
	}
	if to.IsComplex() || from.IsComplex() {
		if to.IsComplex() && from.IsComplex() || to == dtype.Bool {
			return nil, false, false
		}
		z, half := to, dtype.Float64
		if from.IsComplex() {
			z = from
		}
		if z == dtype.Complex64 {
			half = dtype.Float32
		}
		if to == z {
			out, ok, known = cast(half, from, b)
			return append(canon(half, out), make([]byte, half.Size())...), ok, known
		}
		if out, ok, known = cast(to, half, b[:half.Size()]); to == half {
			out = canon(half, out)
		}
		return out, ok, known
	}
	x := decode(from, b)
	nan, inf := x.z == nil && x.f != x.f, x.z == nil && math.IsInf(x.f, 0)
	switch {
	case to == dtype.Bool:
		yes := nan || x.z == nil && x.f != 0 || x.z != nil && x.z.Sign() != 0
		if yes {
			return []byte{1}, true, true
		}
		return []byte{0}, true, true
	case to == dtype.Float8E8M0:
		return nil, false, false
	case to.IsFloat():
		if x.z != nil {
			x = rounded(to, bigOf(from, x))
		}
		out, ok = encode(to, x)
		return out, ok, true
	case to.IsFixed():
		if nan || inf {
			return make([]byte, to.Size()), false, true
		}
		v := bigOf(from, x)
		out, ok = encode(to, number{z: even(v.SetMantExp(v, int(fraction(to))))})
		return out, ok, true
	case partial(to) > 0:
		if nan || inf || x.z == nil && math.Abs(x.f) > 1<<30 || from.IsFixed() {
			return nil, false, false
		}
		out, ok = encode(to, number{z: even(bigOf(from, x))})
		return out, ok, true
	case x.z != nil && !from.IsFixed():
		out, ok = encode(to, x)
		return out, ok, true
	case nan:
		return make([]byte, to.Size()), true, true
	}
	bits := uint(8 * to.Size())
	least, most := new(big.Int), new(big.Int).Lsh(big.NewInt(1), bits)
	if to.IsSigned() {
		most.Rsh(most, 1)
		least.Neg(most)
	}
	most.Sub(most, big.NewInt(1))
	z := most
	switch {
	case inf && x.f < 0:
		z = least
	case !inf:
		if z, _ = bigOf(from, x).Int(nil); z.Cmp(most) > 0 {
			z = most
		} else if z.Cmp(least) < 0 {
			z = least
		}
	}
	out, ok = encode(to, number{z: z})
	return out, ok, true
}

// canon is a float, or the canonical NaN.
func canon(d dtype.DType, b []byte) []byte {
	if x := decode(d, b); x.f != x.f {
		b, _ = encode(d, x)
	}
	return slices.Clone(b)
}
