//go:build linux && (amd64 || arm64) && !purego

package simd

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/num"
)

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

type number interface{ integer | float32 | float64 }

// canonical is the rule for computed NaNs.
func canonical[T number](v T) T {
	if v == v {
		return v
	}
	if _, ok := any(v).(float32); ok {
		return fromBits[T](0x7fc00000)
	}
	return fromBits[T](0x7ff8000000000000)
}

// checked has the names of the functions that tests compared, all levels as one.
var checked = make(map[string]bool)

func check2[R, T any](t *testing.T, name string, f func(dst []R, a, b []T), want func(a, b T) R) {
	t.Helper()
	if f == nil {
		return // not at this level; TestAllChecked sees to it that it is at one
	}
	checked[name] = true
	t.Run(name, func(t *testing.T) {
		stream := streamOf(name)
		checked[name+"Stream"] = stream != nil
		compare(t, 2, func(dst []R, in [3][]T) {
			if stream != nil && ahead != nil {
				stream(erase(dst), erase(in[0]), erase(in[1]), nil, ahead)
			} else {
				f(dst, in[0], in[1])
			}
		}, func(in [3]T) R { return want(in[0], in[1]) })
	})
}

func check1[R, T any](t *testing.T, name string, f func(dst []R, a []T), want func(a T) R) {
	t.Helper()
	if f == nil {
		return
	}
	checked[name] = true
	t.Run(name, func(t *testing.T) {
		stream := streamOf(name)
		checked[name+"Stream"] = stream != nil
		compare(t, 1, func(dst []R, in [3][]T) {
			if stream != nil && ahead != nil {
				stream(erase(dst), erase(in[0]), nil, nil, ahead)
			} else {
				f(dst, in[0])
			}
		}, func(in [3]T) R { return want(in[0]) })
	})
}

func plus[T number](a, b T) T                { return canonical(a + b) }
func minus[T number](a, b T) T               { return canonical(a - b) }
func times[T number](a, b T) T               { return canonical(a * b) }
func over[T float32 | float64](a, b T) T     { return canonical(a / b) }
func larger[T number](a, b T) T              { return canonical(max(a, b)) }
func smaller[T number](a, b T) T             { return canonical(min(a, b)) }
func isEqual[T number](a, b T) bool          { return a == b }
func isNotEqual[T number](a, b T) bool       { return a != b }
func isLess[T number](a, b T) bool           { return a < b }
func isLessOrEqual[T number](a, b T) bool    { return a <= b }
func isGreater[T number](a, b T) bool        { return a > b }
func isGreaterOrEqual[T number](a, b T) bool { return a >= b }

func TestRows2(t *testing.T) {
	levels(t, func(t *testing.T, l cpu.Level) {
		check2(t, "addI8", Add[l].I8, plus[int8])
		check2(t, "addI16", Add[l].I16, plus[int16])
		check2(t, "addI32", Add[l].I32, plus[int32])
		check2(t, "addI64", Add[l].I64, plus[int64])
		check2(t, "addU8", Add[l].U8, plus[uint8])
		check2(t, "addU16", Add[l].U16, plus[uint16])
		check2(t, "addU32", Add[l].U32, plus[uint32])
		check2(t, "addU64", Add[l].U64, plus[uint64])
		check2(t, "addF32", Add[l].F32, plus[float32])
		check2(t, "addF64", Add[l].F64, plus[float64])
		check2(t, "subI8", Sub[l].I8, minus[int8])
		check2(t, "subI16", Sub[l].I16, minus[int16])
		check2(t, "subI32", Sub[l].I32, minus[int32])
		check2(t, "subI64", Sub[l].I64, minus[int64])
		check2(t, "subU8", Sub[l].U8, minus[uint8])
		check2(t, "subU16", Sub[l].U16, minus[uint16])
		check2(t, "subU32", Sub[l].U32, minus[uint32])
		check2(t, "subU64", Sub[l].U64, minus[uint64])
		check2(t, "subF32", Sub[l].F32, minus[float32])
		check2(t, "subF64", Sub[l].F64, minus[float64])
		check2(t, "mulI16", Mul[l].I16, times[int16])
		check2(t, "mulI32", Mul[l].I32, times[int32])
		check2(t, "mulI64", Mul[l].I64, times[int64])
		check2(t, "mulU16", Mul[l].U16, times[uint16])
		check2(t, "mulU32", Mul[l].U32, times[uint32])
		check2(t, "mulU64", Mul[l].U64, times[uint64])
		check2(t, "mulF32", Mul[l].F32, times[float32])
		check2(t, "mulF64", Mul[l].F64, times[float64])
		check2(t, "divF32", Div[l].F32, over[float32])
		check2(t, "divF64", Div[l].F64, over[float64])
		check2(t, "maxI8", Max[l].I8, larger[int8])
		check2(t, "maxI16", Max[l].I16, larger[int16])
		check2(t, "maxI32", Max[l].I32, larger[int32])
		check2(t, "maxI64", Max[l].I64, larger[int64])
		check2(t, "maxU8", Max[l].U8, larger[uint8])
		check2(t, "maxU16", Max[l].U16, larger[uint16])
		check2(t, "maxU32", Max[l].U32, larger[uint32])
		check2(t, "maxU64", Max[l].U64, larger[uint64])
		check2(t, "maxF32", Max[l].F32, larger[float32])
		check2(t, "maxF64", Max[l].F64, larger[float64])
		check2(t, "minI8", Min[l].I8, smaller[int8])
		check2(t, "minI16", Min[l].I16, smaller[int16])
		check2(t, "minI32", Min[l].I32, smaller[int32])
		check2(t, "minI64", Min[l].I64, smaller[int64])
		check2(t, "minU8", Min[l].U8, smaller[uint8])
		check2(t, "minU16", Min[l].U16, smaller[uint16])
		check2(t, "minU32", Min[l].U32, smaller[uint32])
		check2(t, "minU64", Min[l].U64, smaller[uint64])
		check2(t, "minF32", Min[l].F32, smaller[float32])
		check2(t, "minF64", Min[l].F64, smaller[float64])
	})
}

// The product is rounded, and then the sum.
func TestRows3(t *testing.T) {
	levels(t, func(t *testing.T, l cpu.Level) {
		check3(t, "mulAddF32", MulAdd[l].F32, canonical[float32])
		check3(t, "mulAddF64", MulAdd[l].F64, canonical[float64])
		for name, of := range map[string]*Rows1{"exp": Exp[l], "log": Log[l], "tanh": Tanh[l], "sigmoid": Sigmoid[l], "relu": Relu[l],
			"fastExp": FastExp[l], "fastLog": FastLog[l], "fastTanh": FastTanh[l], "fastSigmoid": FastSigmoid[l]} {
			check3(t, name+"MulAddF32", of.MulAddF32, func(sum float32) float32 {
				y := [1]float32{sum}
				of.F32(y[:], y[:])
				return y[0]
			})
		}
	})
}

// check3 is of a function of a product and a sum, each rounded.
func check3[T float32 | float64](t *testing.T, name string, f func(dst, a, b, c []T), of func(sum T) T) {
	if f == nil {
		return
	}
	checked[name] = true
	t.Run(name, func(t *testing.T) {
		stream := streamOf(name)
		checked[name+"Stream"] = stream != nil
		compare(t, 3, func(dst []T, in [3][]T) {
			if stream != nil && ahead != nil {
				stream(erase(dst), erase(in[0]), erase(in[1]), erase(in[2]), ahead)
			} else {
				f(dst, in[0], in[1], in[2])
			}
		}, func(in [3]T) T { return of(T(in[0]*in[1]) + in[2]) })
	})
}

func TestComparisons(t *testing.T) {
	levels(t, func(t *testing.T, l cpu.Level) {
		check2(t, "equalI32", Equal[l].I32, isEqual[int32])
		check2(t, "equalI64", Equal[l].I64, isEqual[int64])
		check2(t, "equalU8", Equal[l].U8, isEqual[uint8])
		check2(t, "equalF32", Equal[l].F32, isEqual[float32])
		check2(t, "equalF64", Equal[l].F64, isEqual[float64])
		check2(t, "notEqualI32", NotEqual[l].I32, isNotEqual[int32])
		check2(t, "notEqualI64", NotEqual[l].I64, isNotEqual[int64])
		check2(t, "notEqualU8", NotEqual[l].U8, isNotEqual[uint8])
		check2(t, "notEqualF32", NotEqual[l].F32, isNotEqual[float32])
		check2(t, "notEqualF64", NotEqual[l].F64, isNotEqual[float64])
		check2(t, "lessI32", Less[l].I32, isLess[int32])
		check2(t, "lessI64", Less[l].I64, isLess[int64])
		check2(t, "lessU8", Less[l].U8, isLess[uint8])
		check2(t, "lessF32", Less[l].F32, isLess[float32])
		check2(t, "lessF64", Less[l].F64, isLess[float64])
		check2(t, "lessOrEqualI32", LessOrEqual[l].I32, isLessOrEqual[int32])
		check2(t, "lessOrEqualI64", LessOrEqual[l].I64, isLessOrEqual[int64])
		check2(t, "lessOrEqualU8", LessOrEqual[l].U8, isLessOrEqual[uint8])
		check2(t, "lessOrEqualF32", LessOrEqual[l].F32, isLessOrEqual[float32])
		check2(t, "lessOrEqualF64", LessOrEqual[l].F64, isLessOrEqual[float64])
		check2(t, "greaterI32", Greater[l].I32, isGreater[int32])
		check2(t, "greaterI64", Greater[l].I64, isGreater[int64])
		check2(t, "greaterU8", Greater[l].U8, isGreater[uint8])
		check2(t, "greaterF32", Greater[l].F32, isGreater[float32])
		check2(t, "greaterF64", Greater[l].F64, isGreater[float64])
		check2(t, "greaterOrEqualI32", GreaterOrEqual[l].I32, isGreaterOrEqual[int32])
		check2(t, "greaterOrEqualI64", GreaterOrEqual[l].I64, isGreaterOrEqual[int64])
		check2(t, "greaterOrEqualU8", GreaterOrEqual[l].U8, isGreaterOrEqual[uint8])
		check2(t, "greaterOrEqualF32", GreaterOrEqual[l].F32, isGreaterOrEqual[float32])
		check2(t, "greaterOrEqualF64", GreaterOrEqual[l].F64, isGreaterOrEqual[float64])
	})
}

func absolute[T number](a T) T {
	if a < 0 {
		return -a
	}
	return a
}

func negative[T number](a T) T { return -a }

func rectified[T number](a T) T {
	if a <= 0 {
		return 0
	}
	return canonical(a)
}

func root[T float32 | float64](a T) T { return canonical(T(math.Sqrt(float64(a)))) }

func without[T any](sign uint64) func(a T) T {
	return func(a T) T { return fromBits[T](bits(a) &^ sign) }
}
func flipped[T any](sign uint64) func(a T) T {
	return func(a T) T { return fromBits[T](bits(a) ^ sign) }
}

func TestRows1(t *testing.T) {
	levels(t, func(t *testing.T, l cpu.Level) {
		check1(t, "absI8", Abs[l].I8, absolute[int8])
		check1(t, "absI16", Abs[l].I16, absolute[int16])
		check1(t, "absI32", Abs[l].I32, absolute[int32])
		check1(t, "absI64", Abs[l].I64, absolute[int64])
		check1(t, "negI8", Neg[l].I8, negative[int8])
		check1(t, "negI16", Neg[l].I16, negative[int16])
		check1(t, "negI32", Neg[l].I32, negative[int32])
		check1(t, "negI64", Neg[l].I64, negative[int64])
		check1(t, "reluI8", Relu[l].I8, rectified[int8])
		check1(t, "reluI16", Relu[l].I16, rectified[int16])
		check1(t, "reluI32", Relu[l].I32, rectified[int32])
		check1(t, "reluI64", Relu[l].I64, rectified[int64])
		check1(t, "reluF32", Relu[l].F32, rectified[float32])
		check1(t, "reluF64", Relu[l].F64, rectified[float64])
		check1(t, "absF32", Abs[l].F32, without[float32](1<<31))
		check1(t, "absF64", Abs[l].F64, without[float64](1<<63))
		check1(t, "negF32", Neg[l].F32, flipped[float32](1<<31))
		check1(t, "negF64", Neg[l].F64, flipped[float64](1<<63))
		check1(t, "sqrtF32", Sqrt[l].F32, root[float32])
		check1(t, "sqrtF64", Sqrt[l].F64, root[float64])
		check1(t, "reciprocalF32", Reciprocal[l].F32, func(a float32) float32 { return canonical(1 / a) })
		check1(t, "reciprocalF64", Reciprocal[l].F64, func(a float64) float64 { return canonical(1 / a) })
		check1(t, "squareF32", Square[l].F32, func(a float32) float32 { return canonical(a * a) })
		check1(t, "squareF64", Square[l].F64, func(a float64) float64 { return canonical(a * a) })
		for name, of := range map[string]struct {
			rows *Rows1
			want func(float64) float64
		}{"round": {Round[l], math.RoundToEven}, "floor": {Floor[l], math.Floor}, "ceil": {Ceil[l], math.Ceil}, "trunc": {Trunc[l], math.Trunc}} {
			check1(t, name+"F32", of.rows.F32, func(a float32) float32 { return canonical(float32(of.want(float64(a)))) })
			check1(t, name+"F64", of.rows.F64, func(a float64) float64 { return canonical(of.want(a)) })
		}
	})
}

func TestFunctions(t *testing.T) {
	levels(t, func(t *testing.T, l cpu.Level) {
		check1(t, "expF32", Exp[l].F32, float.Exp32)
		check1(t, "logF32", Log[l].F32, float.Log32)
		check1(t, "tanhF32", Tanh[l].F32, float.Tanh32)
		check1(t, "sigmoidF32", Sigmoid[l].F32, float.Sigmoid32)
		check1(t, "erfMarked", Erf[l].F32, float.Erf32)
		check2(t, "pow32Marked", Pow[l].F32, float.Pow32)
		check2(t, "pow64Marked", Pow[l].F64, float.Pow64)
		check1(t, "geluMarked", Gelu[l].F32, float.Gelu32)
		check1(t, "geluTanhMarked", GeluTanh[l].F32, float.GeluTanh32)
		check1(t, "mishMarked", Mish[l].F32, float.Mish32)
		check1(t, "sinMarked", Sin[l].F32, float.Sin32)
		check1(t, "cosMarked", Cos[l].F32, float.Cos32)
		check1(t, "tanMarked", Tan[l].F32, float.Tan32)
		check1(t, "sin64Marked", Sin[l].F64, float.Sin64)
		check1(t, "cos64Marked", Cos[l].F64, float.Cos64)
		check1(t, "tan64Marked", Tan[l].F64, float.Tan64)
	})
}

// The rows of op.Fast give each element what they give it alone, which is within 2 units of the right value. (conformance/verify
// measures them on all inputs.)
func TestQuick(t *testing.T) {
	levels(t, func(t *testing.T, l cpu.Level) {
		for name, f := range map[string]struct {
			row   func(dst, a []float32)
			right func(float32) float32
		}{"fastExpF32": {FastExp[l].F32, float.Exp32}, "fastLogF32": {FastLog[l].F32, float.Log32},
			"fastTanhF32": {FastTanh[l].F32, float.Tanh32}, "fastSigmoidF32": {FastSigmoid[l].F32, float.Sigmoid32}} {
			check1(t, name, f.row, func(a float32) float32 {
				var y [1]float32
				f.row(y[:], []float32{a})
				got, want := math.Float32bits(y[0]), math.Float32bits(f.right(a))
				if d := int32(got) - int32(want); d < -2 || d > 2 {
					t.Errorf("%s %v of %v is %08x, want %08x", name, l, a, got, want)
				}
				return y[0]
			})
			in, out := make([]float32, 1<<20), make([]float32, 1<<20) // from all binades
			for i := range in {
				in[i] = math.Float32frombits(uint32(i) * 4099)
			}
			if f.row != nil {
				f.row(out, in)
			}
			for i := 0; i < len(in) && f.row != nil; i++ {
				if d := int32(bits(out[i])) - int32(bits(f.right(in[i]))); d < -2 || d > 2 {
					t.Fatalf("%s %v of %v is %v, %d units off", name, l, in[i], out[i], d)
				}
			}
		}
	})
}

// streamed returns a conversion that streams where the call at hand shall.
func streamed[R, T any](f func(dst []R, a []T, stream bool)) func(dst []R, a []T) {
	return func(dst []R, a []T) { f(dst, a, ahead != nil) }
}

func TestConversions(t *testing.T) {
	levels(t, func(t *testing.T, l cpu.Level) {
		check1(t, "canon32", func(dst, a []float32) { copy(dst, a); at(l, canon32s)(dst) }, canonical[float32])
		check1(t, "canon64", func(dst, a []float64) { copy(dst, a); at(l, canon64s)(dst) }, canonical[float64])
		check1(t, "widenBF16", at(l, widenBF16s), func(a uint16) (v float32) {
			num.WidenRow[num.BF16](unsafe.Slice(&v, 1), []num.BF16{num.FromBits[num.BF16](a)})
			return v
		})
		check1(t, "widenF32", streamed(at(l, widenF32s)), func(a float32) float64 { return canonical(float64(a)) })
		check1(t, "narrowF64", streamed(at(l, narrowF64s)), func(a float64) float32 { return canonical(float32(a)) })
		check1(t, "oddF64", func(dst []float32, a []float64) { at(l, oddF64s)(dst, a); at(l, canon32s)(dst) }, odd32)
		check1(t, "halvesU64", at(l, halvesU64s), func(a uint64) uint32 { return uint32(a) })
		check1(t, "widenF16", func(dst []float32, a []uint16) { at(l, widenF16s)(dst, a); at(l, canon32s)(dst) }, func(a uint16) float32 {
			return canonical(num.FromBits[num.F16](a).Float32())
		})
		check1(t, "narrowBF16", streamed(at(l, narrowBF16s)), func(a float32) uint16 { return num.FromFloat64[num.BF16](float64(a)).Bits() })
		check1(t, "narrowF16", streamed(at(l, narrowF16s)), func(a float32) uint16 { return num.FromFloat64[num.F16](float64(a)).Bits() })
	})
}

// odd32 returns the float32 nearest to a, and where a isn't one, of its two neighbours that whose last bit is set.
func odd32(a float64) float32 {
	f := float32(a)
	switch b := bits(f); {
	case float64(f) == a || a != a || b&1 == 1:
		return canonical(f)
	case math.Abs(float64(f)) < math.Abs(a):
		return math.Float32frombits(uint32(b) + 1)
	default:
		return math.Float32frombits(uint32(b) - 1)
	}
}

// The conversions of 16-bit floats have few enough inputs for all of them, and the numbers around each halfway point.
func TestAll16(t *testing.T) {
	levels(t, func(t *testing.T, l cpu.Level) {
		for h := range 1 << 16 {
			in, out, want := []uint16{uint16(h)}, make([]float32, 1), make([]float32, 1)
			at(l, widenF16s)(out, in)
			num.WidenRow[num.F16](want, []num.F16{num.FromBits[num.F16](in[0])})
			if bits(out[0]) != bits(want[0]) && (out[0] == out[0] || want[0] == want[0]) { // NaNs become quiet
				t.Fatalf("float16 %#x widened: %#x, want %#x", h, bits(out[0]), bits(want[0]))
			}
			near := []float32{out[0], 0, 0, 0, 0, 0}
			up := num.FromBits[num.F16](uint16(h + 1)).Float32()
			near[1] = out[0]/2 + up/2
			near[2] = math.Nextafter32(near[1], out[0])
			near[3] = math.Nextafter32(near[1], up)
			got := make([]uint16, len(near))
			at(l, narrowF16s)(got, near, false)
			for i, f := range near {
				if w := num.FromFloat64[num.F16](float64(f)).Bits(); got[i] != w {
					t.Fatalf("%#x narrowed: %#x, want %#x", bits(f), got[i], w)
				}
			}
		}
	})
}

// The mask of a test of Where comes from a's bits, and ends at an unmapped page.
func checkWhere[T any](t *testing.T, name string, f func(dst []T, mask []bool, a, b []T)) {
	mem := guard(t, 4096)
	odd := func(a T) bool { return bits(a)%3&1 == 1 }
	stream := streamOf(name)
	checked[name] = true
	checked[name+"Stream"] = true
	check2(t, "masked "+name, func(dst, a, b []T) {
		mask := elements[bool](mem, len(a), 0)
		for i := range mask {
			mask[i] = odd(a[i])
		}
		if ahead != nil {
			stream(erase(dst), erase(mask), erase(a), erase(b), ahead)
		} else {
			f(dst, mask, a, b)
		}
	}, func(a, b T) T {
		if odd(a) {
			return a
		}
		return b
	})
}

func TestWhere(t *testing.T) {
	levels(t, func(t *testing.T, l cpu.Level) {
		checkWhere(t, "whereU8", Where[l].U8)
		checkWhere(t, "whereU16", Where[l].U16)
		checkWhere(t, "whereU32", Where[l].U32)
		checkWhere(t, "whereU64", Where[l].U64)
	})
}

func checkNumber[T float32 | float64](t *testing.T, name string, f func(dst, a []T, p T, stream bool), want func(a, p T) T) {
	for _, p := range []T{1.25, 0, T(math.Copysign(0, -1)), T(math.Inf(1)), T(math.NaN())} {
		check1(t, name, func(dst, a []T) { f(dst, a, p, ahead != nil) }, func(a T) T { return want(a, p) })
	}
}

func TestNumbers(t *testing.T) {
	levels(t, func(t *testing.T, l cpu.Level) {
		checkNumber(t, "subNumber32", at(l, subNumber32s), minus[float32])
		checkNumber(t, "subNumber64", at(l, subNumber64s), minus[float64])
		checkNumber(t, "divNumber32", at(l, divNumber32s), over[float32])
		checkNumber(t, "divNumber64", at(l, divNumber64s), over[float64])
		checkNumber(t, "expLess32", func(dst, a []float32, p float32, _ bool) { at(l, expLess32s)(dst, a, p) }, func(a, p float32) float32 { return float.Exp32(a - p) })
	})
}

func TestAffine(t *testing.T) {
	levels(t, func(t *testing.T, l cpu.Level) {
		r := rand.New(rand.NewPCG(8, 9))
		for _, c := range [][3]float64{{0.25, 1.5, -3}, {0, 0, math.Copysign(0, -1)}, {1e30, 1e-30, 0x1p-149}, {math.Inf(1), 1, 2}, {1, math.NaN(), 2}, {random[float64](r), random[float64](r), random[float64](r)}} {
			of := func(a float64) float64 { return float64((a-c[0])*c[1]) + c[2] }
			check1(t, "affineOdd", func(dst, a []float32) {
				at(l, affineOdds)(dst, a, c[0], c[1], c[2])
				at(l, canon32s)(dst)
			}, func(a float32) float32 { return odd32(of(float64(a))) })
			check1(t, "affine32", func(dst, a []float32) { at(l, affine32s)(dst, a, c[0], c[1], c[2]) }, func(a float32) float32 { return canonical(float32(of(float64(a)))) })
			check1(t, "affine64", func(dst, a []float64) { at(l, affine64s)(dst, a, c[0], c[1], c[2]) }, func(a float64) float64 { return canonical(of(a)) })
		}
	})
}

// TestAffineRows compares rows whose elements have a step each.
func TestAffineRows(t *testing.T) {
	levels(t, func(t *testing.T, l cpu.Level) {
		checked["affineRow32"], checked["affineRow64"] = true, true
		affineRows(t, at(l, affineRow32s))
		affineRows(t, at(l, affineRow64s))
	})
}

func affineRows[T float32 | float64](t *testing.T, f func(dst, a []T, mean, factor, bias []float64)) {
	r := rand.New(rand.NewPCG(12, 13))
	for n := range 70 {
		a, dst := atEnd(t, awkward[T](r, n, n%2 == 0)), atEnd(t, make([]T, n))
		mean, factor, bias := atEnd(t, awkward[float64](r, n, n%3 == 0)), atEnd(t, awkward[float64](r, n, n%5 == 0)), atEnd(t, awkward[float64](r, n, false))
		f(dst, a, mean, factor, bias)
		for i, v := range a {
			if got, want := bits(dst[i]), canonBits(T(float64((float64(v)-mean[i])*factor[i])+bias[i])); got != want {
				t.Fatalf("%T, element %d of %d: %#x, want %#x", v, i, n, got, want)
			}
		}
	}
}

func TestNormalize(t *testing.T) {
	levels(t, func(t *testing.T, l cpu.Level) {
		checked["normalize32"], checked["normalize64"], checked["normalizeRow32"], checked["normalizeRow64"] = true, true, true, true
		normalized(t, at(l, normalize32s), at(l, normalizeRow32s))
		normalized(t, at(l, normalize64s), at(l, normalizeRow64s))
	})
}

func normalized[T float32 | float64](t *testing.T, run func(dst, a []T, mean, factor, scale, bias float64, stream bool), row func(dst, a []T, mean, factor float64, scale, bias []float64, stream bool)) {
	r := rand.New(rand.NewPCG(14, 15))
	for n := range 70 {
		a, dst := atEnd(t, awkward[T](r, n, n%2 == 0)), atEnd(t, make([]T, n))
		scale, bias := atEnd(t, awkward[float64](r, n, n%3 == 0)), atEnd(t, awkward[float64](r, n, n%5 == 0))
		numbers := awkward[float64](r, 4, n%7 == 0)
		check := func(name string, of func(i int) (scale, bias float64)) {
			for i, v := range a {
				scale, bias := of(i)
				if got, want := bits(dst[i]), canonBits(T(float64((float64(v)-numbers[0])*numbers[1]*scale)+bias)); got != want {
					t.Fatalf("%s of %T, element %d of %d: %#x, want %#x", name, v, i, n, got, want)
				}
				dst[i] = 0
			}
		}
		for _, stream := range []bool{false, true} {
			row(dst, a, numbers[0], numbers[1], scale, bias, stream)
			check("row", func(i int) (float64, float64) { return scale[i], bias[i] })
			run(dst, a, numbers[0], numbers[1], numbers[2], numbers[3], stream)
			check("run", func(int) (float64, float64) { return numbers[2], numbers[3] })
		}
		Fence()
	}
}

// TestMeans compares the means of rows with sums of their elements in the order of package reduce.
func TestMeans(t *testing.T) {
	levels(t, func(t *testing.T, l cpu.Level) {
		r := rand.New(rand.NewPCG(10, 11))
		for _, c := range []struct {
			terms int
			f     func(dst []float32, x [][]float32, n float64)
		}{
			{2, func(dst []float32, x [][]float32, n float64) { at(l, mean2s)(dst, x[0], x[1], n) }},
			{3, func(dst []float32, x [][]float32, n float64) { at(l, mean3s)(dst, x[0], x[1], x[2], n) }},
			{4, func(dst []float32, x [][]float32, n float64) { at(l, mean4s)(dst, x[0], x[1], x[2], x[3], n) }},
			{6, func(dst []float32, x [][]float32, n float64) {
				at(l, mean6s)(dst, x[0], x[1], x[2], x[3], x[4], x[5], n)
			}},
			{9, func(dst []float32, x [][]float32, n float64) {
				at(l, mean9s)(dst, x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], n)
			}},
		} {
			checked[fmt.Sprintf("mean%d", c.terms)] = true
			var mem [10]guarded
			for i := range mem {
				mem[i] = guard(t, 4096)
			}
			for length := range 131 {
				for _, n := range []float64{float64(c.terms), 9, 0} {
					x := make([][]float32, c.terms)
					for k := range x {
						x[k] = elements[float32](mem[k], length, 0)
						for i := range x[k] {
							x[k][i] = random[float32](r)
						}
					}
					dst := elements[float32](mem[9], length, 0)
					c.f(dst, x, n)
					for i, got := range dst {
						var lane [16]float64
						for k := range x {
							lane[k] = float64(x[k][i])
						}
						for h := 8; h > 0; h /= 2 {
							for k := h; k < min(c.terms, 2*h); k++ {
								lane[k-h] += lane[k]
							}
						}
						if want := canonical(float32(lane[0] / n)); bits(got) != bits(want) {
							t.Fatalf("mean of %d rows of %d: element %d is %v, want %v", c.terms, length, i, got, want)
						}
					}
				}
			}
		}
	})
}

func TestClip(t *testing.T) {
	levels(t, func(t *testing.T, l cpu.Level) {
		checkClip(t, "clipF32", Clip[l].F32, Clip[l].StreamF32)
		checkClip(t, "clipF64", Clip[l].F64, Clip[l].StreamF64)
	})
}

// checkNumbers is check1 for a row with two numbers and its second entry.
func checkNumbers[T float32 | float64](t *testing.T, name string, p, q T, f func(dst, a []T, p, q T), stream func(dst, a []T, p, q T, ahead *Prefetch), want func(a T) T) {
	t.Helper()
	checked[name+"Stream"] = true
	checked[name] = true
	check1(t, name+" with numbers", func(dst, a []T) {
		if ahead != nil {
			stream(dst, a, p, q, ahead)
		} else {
			f(dst, a, p, q)
		}
	}, want)
}

func checkClip[T float32 | float64](t *testing.T, name string, f func(dst, a []T, p, q T), stream func(dst, a []T, p, q T, ahead *Prefetch)) {
	r := rand.New(rand.NewPCG(3, 4))
	limits := [][2]T{{-1, 1}, {1, -1}, {fromBits[T](bits(T(0))), T(math.Copysign(0, -1))}, {T(math.NaN()), 1}, {-1, T(math.NaN())}, {T(math.Inf(-1)), T(math.Inf(1))}, {random[T](r), random[T](r)}}
	for _, lim := range limits {
		checkNumbers(t, name, lim[0], lim[1], f, stream, func(a T) T { return canonical(min(max(a, lim[0]), lim[1])) })
	}
}

// checkLanes compares a fold with its definition: element i goes into accumulator i mod len(lanes), whole times that
// many elements.
func checkLanes[A, T any](t *testing.T, name string, n int, f func(lane []A, x []T), want func(acc A, x T) A) {
	checked[name] = true
	t.Run(name, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		mem, state := guard(t, 16384), guard(t, 1)
		for length := 0; length <= 5*n; length++ {
			for _, at := range []int{0, -1, int(bytesOf[T]())} {
				x, lane, expect := elements[T](mem, length, at), elements[A](state, n, 0), make([]A, n)
				fill(r, x)
				if length%2 == 0 { // no infinities, NaNs or edges, after which all sums are alike
					for i := range x {
						x[i] = plain[T](r)
					}
				}
				for i := range lane {
					lane[i] = plain[A](r)
				}
				copy(expect, lane)
				for i, v := range x[:length/n*n] {
					expect[i%n] = want(expect[i%n], v)
				}
				f(lane, x)
				for i := range lane {
					if bits(same(lane[i])) != bits(same(expect[i])) {
						t.Fatalf("accumulator %d of %d elements: %v, want %v", i, length, lane[i], expect[i])
					}
				}
			}
		}
	})
}

// same makes NaNs equal: accumulators may hold any.
func same[T any](v T) T {
	switch x := any(v).(type) {
	case float32:
		return any(canonical(x)).(T)
	case float64:
		return any(canonical(x)).(T)
	}
	return v
}

func plain[T any](r *rand.Rand) (v T) {
	switch p := any(&v).(type) {
	case *float32:
		*p = float32(r.NormFloat64())
	case *float64:
		*p = r.NormFloat64()
	}
	return v
}

func TestLanes(t *testing.T) {
	levels(t, func(t *testing.T, l cpu.Level) {
		checkLanes(t, "sumLanes32", 32, func(s []float64, x []float32) { at(l, sumLanes32s)((*[32]float64)(s), x) }, func(s float64, x float32) float64 { return s + float64(x) })
		checkLanes(t, "sumLanes64", 32, func(s []float64, x []float64) { at(l, sumLanes64s)((*[32]float64)(s), x) }, func(s float64, x float64) float64 { return s + x })
		square := func(s, x float64) float64 { return float.FMA64(x-0.3, x-0.3, s) }
		checkLanes(t, "squareLanes32", 32, func(s []float64, x []float32) {
			at(l, squareLanes32s)((*[32]float64)(s), x, 0.3)
		}, func(s float64, x float32) float64 { return square(s, float64(x)) })
		checkLanes(t, "squareLanes64", 32, func(s []float64, x []float64) {
			at(l, squareLanes64s)((*[32]float64)(s), x, 0.3)
		}, square)
		checkColumns(t, "sumColumns32", math.Copysign(0, -1), at(l, sumColumns32s), func(x float32) float64 { return float64(x) }, plus)
		checkColumns(t, "sumColumns64", math.Copysign(0, -1), at(l, sumColumns64s), func(x float64) float64 { return x }, plus)
		inf := math.Inf(1)
		checkColumns(t, "maxColumns32", float32(-inf), at(l, maxColumns32s), itself[float32], larger[float32])
		checkColumns(t, "maxColumns64", -inf, at(l, maxColumns64s), itself[float64], larger[float64])
		checkColumns(t, "minColumns32", float32(inf), at(l, minColumns32s), itself[float32], smaller[float32])
		checkColumns(t, "minColumns64", inf, at(l, minColumns64s), itself[float64], smaller[float64])
	})
}

func itself[T any](x T) T { return x }

// checkColumns joins columns of rows that lie anywhere, in any order, some of them twice.
func checkColumns[A, T float32 | float64](t *testing.T, name string, start A, f func(dst []A, x []T, rows, ends []int64, w int), wide func(x T) A, join func(a, b A) A) {
	checked[name] = true
	t.Run(name, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		const most = 5000
		mem, out := guard(t, most*int(bytesOf[T]())), guard(t, 6*300*int(bytesOf[A]()))
		for w := 0; w <= 300; w += 1 + w/100*7 {
			x := elements[T](mem, w+r.IntN(most-w), 0)
			if fill(r, x); w%3 > 0 { // no infinities, NaNs or edges, after which all are alike
				for i := range x {
					x[i] = plain[T](r)
				}
			}
			rows := make([]int64, r.IntN(140))
			for i := range rows {
				rows[i] = int64(r.IntN(len(x) - w + 1))
			}
			levels := r.IntN(6)
			ends := make([]int64, 1<<levels)
			for i := range ends {
				ends[i] = int64(r.IntN(len(rows) + 1))
			}
			slices.Sort(ends)
			ends[len(ends)-1] = int64(len(rows))
			dst := elements[A](out, (levels+1)*w, 0)
			f(dst, x, rows, ends, w)
			for k := range w {
				sums, from := make([]A, len(ends)), int64(0)
				for l, end := range ends {
					sums[l] = start
					for _, at := range rows[from:end] {
						sums[l] = join(sums[l], wide(x[int(at)+k]))
					}
					from = end
				}
				for ; len(sums) > 1; sums = sums[:len(sums)/2] {
					for l := range len(sums) / 2 {
						sums[l] = join(sums[2*l], sums[2*l+1])
					}
				}
				if got := dst[levels*w+k]; bits(same(got)) != bits(same(sums[0])) {
					t.Fatalf("column %d of %d, %d rows, %d lanes: %v, want %v", k, w, len(rows), len(ends), got, sums[0])
				}
			}
		}
	})
}

func TestPositions(t *testing.T) {
	levels(t, func(t *testing.T, l cpu.Level) {
		checkPositions(t, "argMaxRow32", at(l, argMaxRow32s), math.MinInt32, func(v, best float32) bool { return beyond(v, best, 1) })
		checkPositions(t, "argMaxRow64", at(l, argMaxRow64s), math.MinInt64, func(v, best float64) bool { return beyond(v, best, 1) })
		checkPositions(t, "argMinRow32", at(l, argMinRow32s), math.MinInt32, func(v, best float32) bool { return beyond(v, best, -1) })
		checkPositions(t, "argMinRow64", at(l, argMinRow64s), math.MinInt64, func(v, best float64) bool { return beyond(v, best, -1) })
	})
}

// beyond reports whether v takes the place of best as the largest, for way -1 the smallest.
func beyond[T float32 | float64](v, best, way T) bool {
	if v == 0 && best == 0 {
		return math.Copysign(1, float64(v))*float64(way) > math.Copysign(1, float64(best))*float64(way)
	}
	return best == best && (v != v || v*way > best*way)
}

// checkPositions runs 20 rows of elements, few different ones among them, over one row of positions.
func checkPositions[I int32 | int64, T float32 | float64](t *testing.T, name string, f func(key, at []I, a []T, i I), least I, better func(v, best T) bool) {
	checked[name] = true
	t.Run(name, func(t *testing.T) {
		r := rand.New(rand.NewPCG(9, 10))
		var mem [3]guarded
		for i := range mem {
			mem[i] = guard(t, 4096)
		}
		for n := 0; n <= 150; n++ {
			key, at, a := elements[I](mem[0], n, 0), elements[I](mem[1], n, 0), elements[T](mem[2], n, 0)
			best, want := make([]T, n), make([]I, n)
			for i := range key {
				key[i], at[i] = least, -1
			}
			for row := range 20 {
				fill(r, a)
				for i, v := range a {
					if row == 0 || better(v, best[i]) {
						best[i], want[i] = v, I(row)
					}
				}
				f(key, at, a, I(row))
			}
			for i := range at {
				if at[i] != want[i] {
					t.Fatalf("position %d of %d: %d, want %d", i, n, at[i], want[i])
				}
			}
		}
	})
}

// TestMain wants every kernel that the tables list, a Try calls or a row marks elements by to have been compared.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if last := cpu.Level(len(Add) - 1); code == 0 && cpu.Current() == cpu.Detect() && (cpu.Detect() == last || runtime.GOARCH == "arm64") && flag.Lookup("test.run").Value.String() == "" {
		var text []byte
		for _, name := range []string{"tables_", "marked_", "keys_"} {
			list, err := os.ReadFile(name + runtime.GOARCH + ".go")
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				panic(err)
			}
			text = append(text, list...)
		}
		for _, f := range regexp.MustCompile(`(\w+)(?:AVX2|AVX512|NEON)\b`).FindAllStringSubmatch(string(text), -1) {
			if !checked[f[1]] {
				fmt.Println("FAIL: no test compares", f[1])
				code = 1
			}
		}
	}
	os.Exit(code)
}
