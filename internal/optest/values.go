package optest

import (
	"bytes"
	endian "encoding/binary"
	"math"
	"math/rand/v2"
	"runtime"
	"unsafe"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/reach"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// The bits of floats at which operators differ: zeros, denormals, ones, extremes,
// infinities, and NaNs: canonical, signed, with a payload, and signalling.
var (
	bits8e4  = []uint16{0, 0x80, 1, 0x87, 0x38, 0xb8, 0x7e, 0xfe, 0x7f, 0xff, 0x30, 0x44}
	bits8e5  = []uint16{0, 0x80, 1, 0x83, 0x3c, 0xbc, 0x7b, 0xfb, 0x7c, 0xfc, 0x7e, 0xfd, 0x42}
	bits16   = []uint16{0, 0x8000, 1, 0x83ff, 0x3c00, 0xbc00, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01, 0x4248}
	bitsBF16 = []uint16{0, 0x8000, 1, 0x807f, 0x3f80, 0xbf80, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0xffc1, 0x7f81, 0x4049}
	bits32   = []uint32{0, 1 << 31, 1, 0x807fffff, 0x3f800000, 0xbf800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001, 0x40490fdb}
	bits64   = []uint64{0, 1 << 63, 1, 1<<63 | 1<<51, 0x3ff << 52, 0xbff << 52, 0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff << 52, 0xfff << 52, 0x7ff8 << 48, 0xfff8000000012345, 0x7ff0000000000001, 0x400921fb54442d18}
)

// calm and wild are the numbers of elements in 256 that are special values or have random
// bits. Sums of calm values stay finite.
const (
	calm = 0
	wild = 96
)

// fill sets every element of a contiguous tensor at random. With nonzero, integers aren't 0.
func fill(rng *rand.Rand, a tensor.Any, special int, nonzero bool) {
	switch a.DType() {
	case dtype.Bool:
		d := elems[bool](&a)
		for i := range d {
			d[i] = rng.IntN(2) == 1
		}
	case dtype.Int8:
		fillInts(rng, elems[int8](&a), math.MinInt8, math.MaxInt8, special, nonzero)
	case dtype.Int16:
		fillInts(rng, elems[int16](&a), math.MinInt16, math.MaxInt16, special, nonzero)
	case dtype.Int32:
		fillInts(rng, elems[int32](&a), math.MinInt32, math.MaxInt32, special, nonzero)
	case dtype.Int64:
		fillInts(rng, elems[int64](&a), math.MinInt64, math.MaxInt64, special, nonzero)
	case dtype.Uint8:
		fillInts(rng, elems[uint8](&a), 0, math.MaxUint8, special, nonzero)
	case dtype.Uint16:
		fillInts(rng, elems[uint16](&a), 0, math.MaxUint16, special, nonzero)
	case dtype.Uint32:
		fillInts(rng, elems[uint32](&a), 0, math.MaxUint32, special, nonzero)
	case dtype.Uint64:
		fillInts(rng, elems[uint64](&a), 0, math.MaxUint64, special, nonzero)
	case dtype.Float8E4M3:
		fillFloats(rng, elems[num.F8E4M3](&a), bits8e4, special, num.FromBits[num.F8E4M3], num.FromFloat64[num.F8E4M3])
	case dtype.Float8E5M2:
		fillFloats(rng, elems[num.F8E5M2](&a), bits8e5, special, num.FromBits[num.F8E5M2], num.FromFloat64[num.F8E5M2])
	case dtype.Float16:
		fillFloats(rng, elems[num.F16](&a), bits16, special, num.FromBits[num.F16], num.FromFloat64[num.F16])
	case dtype.BFloat16:
		fillFloats(rng, elems[num.BF16](&a), bitsBF16, special, num.FromBits[num.BF16], num.FromFloat64[num.BF16])
	case dtype.Float32:
		fillFloat32(rng, elems[float32](&a), special)
	case dtype.Float64:
		fillFloat64(rng, elems[float64](&a), special)
	case dtype.FP8x23:
		fillFixed(rng, elems[fixed.FP8x23](&a))
	case dtype.FP16x16:
		fillFixed(rng, elems[fixed.FP16x16](&a))
	case dtype.FP32x32:
		fillFixed(rng, elems[fixed.FP32x32](&a))
	case dtype.FP64x64:
		fillFixed(rng, elems[fixed.FP64x64](&a))
	case dtype.Complex64:
		fillFloat32(rng, parts[float32](&a), special)
	case dtype.Complex128:
		fillFloat64(rng, parts[float64](&a), special)
	default: // a byte each
		b := a.Run(a.LayoutRef())
		for i := range b {
			b[i] = byte(rng.Uint64())
		}
		if a.DType().Mend(b); nonzero {
			for i := range b {
				b[i] = max(b[i], 1)
			}
		}
	}
	runtime.KeepAlive(a)
}

// elems returns the elements of a contiguous tensor.
func elems[T num.Elem](a *tensor.Any) []T { return reach.Run[T](a, a.LayoutRef()) }

// parts returns the real and imaginary parts of a contiguous tensor.
func parts[T float32 | float64](a *tensor.Any) []T {
	b := a.Run(a.LayoutRef())
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), 2*a.Len())
}

func fillFloat32(rng *rand.Rand, dst []float32, special int) {
	fillFloats(rng, dst, bits32, special, math.Float32frombits, func(v float64) float32 { return float32(v) })
}

func fillFloat64(rng *rand.Rand, dst []float64, special int) {
	fillFloats(rng, dst, bits64, special, math.Float64frombits, func(v float64) float64 { return v })
}

func fillInts[T num.Integer](rng *rand.Rand, dst []T, least, most T, special int, nonzero bool) {
	edges := []T{0, 1, least, most, most - 1, least + 1, 2, 3, 0 - T(1)}
	for i := range dst {
		switch p := rng.IntN(256); {
		case p < special/2:
			dst[i] = edges[rng.IntN(len(edges))]
		case p < special:
			dst[i] = T(rng.Uint64())
		default:
			dst[i] = T(rng.IntN(23)) - 11
			if least == 0 {
				dst[i] = T(rng.IntN(23))
			}
		}
		if nonzero && dst[i] == 0 {
			dst[i] = 1
		}
	}
}

// fillFixed sets numbers of [-1/2, 1/2], for which sums and products have a result.
func fillFixed[T num.Fixed](rng *rand.Rand, dst []T) {
	for i := range dst {
		dst[i], _ = fixed.FromFloat64[T](float64(rng.IntN(1<<21)-1<<20) / (1 << 21))
	}
}

func fillFloats[T any, B uint16 | uint32 | uint64](rng *rand.Rand, dst []T, edges []B, special int, fromBits func(B) T, round func(float64) T) {
	for i := range dst {
		switch p := rng.IntN(256); {
		case p < special/2:
			dst[i] = fromBits(edges[rng.IntN(len(edges))])
		case p < special:
			dst[i] = fromBits(B(rng.Uint64()))
		default:
			// Not normally distributed: math's functions differ between platforms.
			dst[i] = round(float64(rng.IntN(1<<20)+rng.IntN(1<<20)-1<<20) / (1 << 18))
		}
	}
}

// poison fills memory that belongs to no operand, with NaNs for floats, and with bytes that
// are easy to recognise for other types.
func poison(b []byte, d dtype.DType) {
	word := []byte{0x7f} // a NaN of a narrow float, too
	switch d {
	case dtype.Bool:
		word = []byte{1, 0, 0}
	case dtype.Float32:
		word = endian.NativeEndian.AppendUint32(nil, 0x7fd5d5d5)
	case dtype.Float64:
		word = endian.NativeEndian.AppendUint64(nil, 0x7ffd5d5d5d5d5d5d)
	}
	for i := range b {
		b[i] = word[i%len(word)]
	}
	d.Mend(b)
}

// content returns the bits of a's elements in row-major order, each in ascending byte order.
func content(a tensor.Any) []byte {
	var b bytes.Buffer
	if err := tensor.Encode(&b, a); err != nil {
		panic(err)
	}
	return b.Bytes()
}
