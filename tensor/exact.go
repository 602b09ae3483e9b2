package tensor

import (
	"math/big"
	"unsafe"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
)

// An exact is a real number of any type.
type exact struct {
	big.Float // 0 for NaN
	nan       bool
}

func (x *exact) setFloat(v float64) {
	if x.nan = v != v; !x.nan {
		x.SetFloat64(v)
	}
}

// setFixed makes x a number of so many units of 2^-frac.
func (x *exact) setFixed(units fixed.Int128, frac int) {
	x.SetInt(units.Big())
	x.SetMantExp(&x.Float, -frac)
}

// float returns x rounded.
func (x *exact) float() float64 {
	if x.nan {
		return num.NaN64()
	}
	v, _ := x.Float64()
	return v
}

// float32 returns x rounded.
func (x *exact) float32() float32 {
	if x.nan {
		return num.NaN32()
	}
	v, _ := x.Float32()
	return v
}

func (x *exact) same(y *exact) bool { return x.nan == y.nan && x.Cmp(&y.Float) == 0 }

// exactly returns the real and the imaginary part of v, and whether it is a number.
func exactly(v any) (re, im exact, ok bool) {
	switch v := v.(type) {
	case int:
		re.SetInt64(int64(v))
	case int8:
		re.SetInt64(int64(v))
	case int16:
		re.SetInt64(int64(v))
	case int32:
		re.SetInt64(int64(v))
	case int64:
		re.SetInt64(v)
	case uint:
		re.SetUint64(uint64(v))
	case uint8:
		re.SetUint64(uint64(v))
	case uint16:
		re.SetUint64(uint64(v))
	case uint32:
		re.SetUint64(uint64(v))
	case uint64:
		re.SetUint64(v)
	case float32:
		re.setFloat(float64(v))
	case float64:
		re.setFloat(v)
	case complex64:
		re.setFloat(float64(real(v)))
		im.setFloat(float64(imag(v)))
	case complex128:
		re.setFloat(real(v))
		im.setFloat(imag(v))
	case num.F16, num.BF16, num.F8E4M3, num.F8E5M2, num.F4E2M1, num.F8E4M3FNUZ, num.F8E5M2FNUZ, num.F8E8M0:
		re.setFloat(v.(interface{ Float64() float64 }).Float64())
	case num.Int2, num.Int4, num.Uint2, num.Uint4:
		re.SetInt64(v.(interface{ Int64() int64 }).Int64())
	case fixed.FP8x23:
		re.setFixed(fixed.Bits(v), 23)
	case fixed.FP16x16:
		re.setFixed(fixed.Bits(v), 16)
	case fixed.FP32x32:
		re.setFixed(fixed.Bits(v), 32)
	case fixed.FP64x64:
		re.setFixed(fixed.Bits(v), 64)
	default:
		return re, im, false
	}
	return re, im, true
}

// setNumber sets the element that p points to, a number, to the one of these parts, or
// to another number where its type doesn't have that.
func setNumber(p any, re, im *exact) {
	switch p := p.(type) {
	case *float32:
		*p = re.float32()
	case *float64:
		*p = re.float()
	case *complex64:
		*p = complex(re.float32(), im.float32())
	case *complex128:
		*p = complex(re.float(), im.float())
	case *fixed.FP8x23:
		*p = fixedOf[fixed.FP8x23](re, 23)
	case *fixed.FP16x16:
		*p = fixedOf[fixed.FP16x16](re, 16)
	case *fixed.FP32x32:
		*p = fixedOf[fixed.FP32x32](re, 32)
	case *fixed.FP64x64:
		*p = fixedOf[fixed.FP64x64](re, 64)
	default:
		var bits uint64
		switch d := dtype.At(p); {
		case d.Format() != 0:
			bits = uint64(d.Format().Round(re.float()))
		case d.IsSigned():
			i, _ := re.Int64()
			bits = uint64(i)
		default:
			bits, _ = re.Uint64()
		}
		setBits(p, bits)
	}
}

// setBits sets the element that p points to, an integer or a float of 16 bits or less, to the
// one with these bits. Bits beyond its type don't count.
func setBits(p any, bits uint64) {
	at := (*[2]unsafe.Pointer)(unsafe.Pointer(&p))[1] // the pointer that an interface holds
	switch d := dtype.At(p); d.Size() {
	case 1:
		b := unsafe.Slice((*byte)(at), 1)
		b[0] = byte(bits)
		d.Mend(b)
	case 2:
		*(*uint16)(at) = uint16(bits)
	case 4:
		*(*uint32)(at) = uint32(bits)
	default:
		*(*uint64)(at) = bits
	}
}

// fixedOf returns x cut off to a whole number of units of 2^-frac; 0 where there is none.
func fixedOf[T num.Fixed](x *exact, frac int) T {
	if x.IsInf() {
		var z T
		return z
	}
	units, _ := new(big.Float).SetMantExp(&x.Float, frac).Int(nil)
	v, _ := fixed.FromBig[T](units, uint(frac))
	return v
}
