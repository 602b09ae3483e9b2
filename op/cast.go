package op

import (
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// Saturate makes Cast to float8 give the largest finite value instead of an
// infinity, or of NaN where there is none, and operators on fixed point the last number
// of the format instead of failing on a result beyond it.
func Saturate() Option { return Option{flags: saturate} }

// RoundScales makes Cast to float8_e8m0 round to the power of two that r says; without it,
// or with num.Up, to the one above. ONNX's attribute round_mode.
func RoundScales(r num.Rounding) Option {
	switch r {
	case num.Down:
		return Option{flags: roundDown}
	case num.Nearest:
		return Option{flags: roundNear}
	}
	return Option{}
}

// Cast returns a with every element converted to To:
//
//   - a float to an integer toward zero, what is too large or too small to the
//     largest or smallest integer, NaN to 0;
//   - an integer to an integer of fewer bits, or of another sign, by its low bits;
//     To a type of 2 or 4 bits the low bits of what is rounded to nearest, ties to even;
//   - to a float with one rounding, to nearest, ties to even; what is too large
//     becomes an infinity (NaN where there is none), unless Saturate; every NaN the
//     canonical one. To float4_e2m1, without infinity and NaN, it saturates, and NaN
//     becomes -0;
//   - to float8_e8m0 with one rounding, see RoundScales; 0, what is too large and what is
//     too small become NaN, unless Saturate, and what is below 0 NaN always;
//   - to fixed point with one rounding, to nearest, ties to even; NaN is an error that
//     names its index, and so is what is beyond the format, unless Saturate or, but for
//     infinities, Wrap; from fixed point as from a float;
//   - to bool, whether it isn't 0 (NaN isn't), and from bool to 0 or 1;
//   - a real number to a complex one with an imaginary part of +0, a complex one to
//     a real one without its imaginary part.
//
// To its own type it is a copy, bit for bit. A result of its own has the layout
// that Clone gives: the axes of a permuted tensor keep their order in memory.
// ONNX Cast, whose attribute saturate, 1 by default, is Saturate.
func Cast[To, From num.Elem](a tensor.Tensor[From], opts ...Option) (r tensor.Tensor[To]) {
	convert(exec.Ref(&r), "Cast", dtype.Of[To](), exec.Ref(&a), opts)
	return r
}

// CastAs is Cast for an operand whose element type is known at run time only. An operand of
// type To is returned itself unless there is an Into target. It panics where Cast does, and
// for an operand without elements. See tensor.As for a conversion that changes no element.
func CastAs[To num.Elem](a tensor.Any, opts ...Option) (r tensor.Tensor[To]) {
	if t, ok := tensor.As[To](a); ok && read(opts).into == nil {
		return t
	}
	convert(exec.Ref(&r), "CastAs", dtype.Of[To](), &a, opts)
	return r
}

// convert is Cast for run-time element types, under the name of the operator that it is a part of.
func convert(r *tensor.Any, name string, to dtype.DType, a *tensor.Any, opts []Option) {
	present(name, a)
	from := a.DType()
	j := exec.Job{Name: name, Cost: 2}
	heed(&j, opts)
	k := exec.Kernel{Via: howTo(opts), Operand: from, Result: to, Stream: convertStream(to, from)}
	ins := []*tensor.Any{a}
	if t := ready(opts, to); t != nil && !to.IsFixed() && exec.Dense(&j, t, ins, &k) {
		*r = *t
		return
	}
	generalConvert(r, &j, to, ins, &k, opts)
}

// generalConvert is convert for all other cases. Its frame is large, so it stays out of convert's.
//
//go:noinline
func generalConvert(r *tensor.Any, j *exec.Job, to dtype.DType, ins []*tensor.Any, k *exec.Kernel, opts []Option) {
	s, a := read(opts), ins[0]
	name, from := j.Name, a.DType()
	if isLazy(a) {
		n := note{name: name, cost: 2, args: []arg{argOf(name, a)}, also: kept(opts), alone: to.IsFixed(),
			run: func(r *tensor.Any, in []*tensor.Any, opts []Option) { convert(r, name, to, in[0], opts) }}
		noted(r, n, to, opts, a.LayoutRef())
		return
	}
	must(name, from != dtype.Invalid, from)
	if s.into == nil {
		*r = tensor.EmptyLikeOf(to, a)
	} else {
		aim(r, name, &s, to, a.LayoutRef())
	}
	j.Ctx = s.ctx()
	if to.IsFixed() {
		state := stateOf(&s, to)
		j.Cost = 5
		k.Via = &fixing{state}
		failingOf(*j, &s, r, state, func(out *tensor.Any) { exec.Elementwise(j, out, ins, k) }, func(idx []int) error {
			return state.again(func(s *fixedState) {
				var one exec.Word
				toFixed(one.Run(), to, exec.At(a, idx), from, s)
			})
		})
		return
	}
	exec.Elementwise(j, r, ins, k)
}

// The rows of Cast. What they convert is in the kernel.
type (
	how    uint8 // a num.Rounding, and whether to saturate
	fixing struct{ s *fixedState }
)

const saturating how = 1 << 7

func howTo(opts []Option) (h how) {
	var f flags
	for i := range opts {
		f |= opts[i].flags
	}
	switch {
	case f&roundNear != 0:
		h = how(num.Nearest)
	case f&roundDown != 0:
		h = how(num.Down)
	}
	if f&saturate != 0 {
		h |= saturating
	}
	return h
}

func (h how) Row(dst exec.Run, to dtype.DType, in [3]exec.Run, from dtype.DType) {
	convertRow(dst, to, in[0], from, h)
}

// bits returns the number of a narrow format that v becomes.
func (h how) bits(f num.Format, v float64) uint16 {
	switch r := num.Rounding(h &^ saturating); {
	case f == num.FormatF8E8M0 && h&saturating != 0:
		return uint16(num.F8E8M0Saturate(v, r).Bits())
	case f == num.FormatF8E8M0:
		return uint16(num.F8E8M0FromFloat64(v, r).Bits())
	case h&saturating != 0:
		return f.Saturate(v)
	}
	return f.Round(v)
}

func (f *fixing) Row(dst exec.Run, to dtype.DType, in [3]exec.Run, from dtype.DType) {
	toFixed(dst, to, in[0], from, f.s)
}

// convertRow defines Cast. src is no shorter than dst. Numbers pass through the widest
// type of their kind, which holds them all, so that no pair of types needs a loop of its
// own; a few pairs have one.
func convertRow(dst exec.Run, to dtype.DType, src exec.Run, from dtype.DType, h how) {
	if to == from && !to.IsInteger() && to != dtype.Bool && !to.IsFixed() {
		exec.Move(dst, src, to)
		return
	}
	if convertDirectly(dst, to, src, from) {
		return
	}
	n := len(dst)
	switch {
	case from.IsInteger() && from.IsSigned():
		var w [256]int64
		for at := 0; at < n; at += len(w) {
			m := min(n-at, len(w))
			loadInts(w[:m], src, from, at)
			storeInts(dst, to, at, w[:m], h)
		}
	case from.IsInteger() || from == dtype.Bool:
		var w [256]uint64
		for at := 0; at < n; at += len(w) {
			m := min(n-at, len(w))
			loadUints(w[:m], src, from, at)
			storeUints(dst, to, at, w[:m], h)
		}
	case from.IsFixed():
		var w [256]fixed.FP64x64
		for at := 0; at < n; at += len(w) {
			m := min(n-at, len(w))
			loadFixed(w[:m], src, from, at)
			storeFixed(dst, to, at, w[:m], h)
		}
	case from.IsComplex():
		var w [256]complex128
		for at := 0; at < n; at += len(w) {
			m := min(n-at, len(w))
			loadComplex(w[:m], src, from, at)
			storeComplex(dst, to, at, w[:m], h)
		}
	default:
		var w [256]float64
		for at := 0; at < n; at += len(w) {
			m := min(n-at, len(w))
			loadFloats(w[:m], src, from, at)
			storeFloats(dst, to, at, w[:m], h)
		}
	}
}

// convertDirectly handles the pairs that rows of num convert.
func convertDirectly(dst exec.Run, to dtype.DType, src exec.Run, from dtype.DType) bool {
	src = src[:len(dst)]
	switch {
	case to == dtype.Float32 && from == dtype.Float64:
		conv.NarrowF64(exec.Of[float32](dst), exec.Of[float64](src))
	case to == dtype.Float64 && from == dtype.Float32:
		conv.WidenF32(exec.Of[float64](dst), exec.Of[float32](src))
	case to == dtype.Float32 && from.IsNarrow():
		widenOf(from)(dst, src)
		conv.Canon32(exec.Of[float32](dst))
	case from == dtype.Float32 && (to == dtype.Float16 || to == dtype.BFloat16):
		narrowOf(to)(dst, src)
	default:
		return false
	}
	return true
}

// convertStream returns what stores such a pair past the caches; nil if nothing does.
func convertStream(to, from dtype.DType) simd.Stream {
	switch {
	case !simd.Has(cpu.Current()):
	case to == dtype.Float32 && from == dtype.Float64:
		return func(dst, a, _, _ exec.Run, _ *simd.Prefetch) {
			simd.TryNarrowF64(exec.Of[float32](dst), exec.Of[float64](a), true)
		}
	case to == dtype.Float64 && from == dtype.Float32:
		return func(dst, a, _, _ exec.Run, _ *simd.Prefetch) {
			simd.TryWidenF32(exec.Of[float64](dst), exec.Of[float32](a), true)
		}
	case to == dtype.Float16 && from == dtype.Float32:
		return func(dst, a, _, _ exec.Run, _ *simd.Prefetch) {
			simd.TryNarrowF16(exec.Of[uint16](dst), exec.Of[float32](a), true)
		}
	case to == dtype.BFloat16 && from == dtype.Float32:
		return func(dst, a, _, _ exec.Run, _ *simd.Prefetch) {
			simd.TryNarrowBF16(exec.Of[uint16](dst), exec.Of[float32](a), true)
		}
	}
	return nil
}

var cast = opN{about: about{name: "Cast", flops: flops{free: true}, converts: true, onnx: []int{6, 9, 13, 19, 21, 23, 24, 25}, attrs: []string{"to", "saturate", "round_mode"}}, least: 1,
	planned: func(c *Call, p *Plan) { planCast(p, "Cast", c, castTo(c)) }}

// castTypes is the meaning of the attribute to: the codes of
// TensorProto.DataType in onnx.proto. The missing ones are 0, undefined, and 8, strings.
var castTypes = [...]dtype.DType{1: dtype.Float32, 2: dtype.Uint8, 3: dtype.Int8, 4: dtype.Uint16, 5: dtype.Int16, 6: dtype.Int32,
	7: dtype.Int64, 9: dtype.Bool, 10: dtype.Float16, 11: dtype.Float64, 12: dtype.Uint32, 13: dtype.Uint64, 14: dtype.Complex64,
	15: dtype.Complex128, 16: dtype.BFloat16, 17: dtype.Float8E4M3, 18: dtype.Float8E4M3FNUZ, 19: dtype.Float8E5M2,
	20: dtype.Float8E5M2FNUZ, 21: dtype.Uint4, 22: dtype.Int4, 23: dtype.Float4E2M1, 24: dtype.Float8E8M0, 25: dtype.Uint2, 26: dtype.Int2}

func castTo(c *Call) dtype.DType { return typeOf("Cast", c.Attrs.Int("to", 0)) }

// typeOf returns the element type of an ONNX code.
func typeOf(name string, code int64) dtype.DType {
	if code < 0 || code >= int64(len(castTypes)) || castTypes[code] == dtype.Invalid {
		panic(fail(name, tensor.ErrDType, "the code of an element type is %d; those that can be had are 1 to 7 and 9 to 26", code))
	}
	return castTypes[code]
}

// inType returns a, or Cast of it where it has another type; of a Spec a Spec.
func inType(a tensor.Any, to dtype.DType) (r tensor.Any) {
	switch {
	case a.DType() == to:
		return a
	case a.IsSpec():
		return spec("Cast", to, a.Shape()...)
	}
	convert(&r, "Cast", to, &a, nil)
	return r
}

// planCast plans Cast as ONNX has it: the operand itself if that is its own type, else a tensor with the
// layout that Clone gives.
func planCast(p *Plan, name string, c *Call, to dtype.DType) {
	a := c.with(name, 0)
	p.gives(to, a.Shape()...)
	if to == a.DType() {
		p.view(func() tensor.Any { return *a })
		return
	}
	var flags flags
	if !to.IsFixed() && c.Attrs.Int("saturate", 1) != 0 {
		flags |= saturate
	}
	if to == dtype.Float8E8M0 {
		switch mode := c.Attrs.Str("round_mode", "up"); mode {
		case "up":
		case "down":
			flags |= roundDown
		case "nearest":
			flags |= roundNear
		default:
			panic(fail(name, tensor.ErrValue, "round_mode is %.40q; want up, down or nearest", mode))
		}
	}
	p.by(c, flags, func(r *tensor.Any, opts []Option) { convert(r, name, to, a, opts) })
}

// toInt converts toward zero and saturates; NaN gives 0. Go leaves the conversion
// of what doesn't fit to the machine, so it is never asked to.
func toInt[T num.Integer](v float64, least, most T, beyond float64) T {
	switch {
	case v >= beyond: // the first value too large, a power of two
		return most
	case v > float64(least):
		return T(v)
	case v != v:
		return 0
	}
	return least
}

// lowByte returns the low bits of v rounded to nearest, ties to even; 0 for infinities and NaN.
func lowByte(v float64) byte {
	if v = math.RoundToEven(v); v-v != 0 {
		return 0
	}
	return byte(int64(math.Mod(v, 256)))
}

// oddFloat returns v as a float64 that every narrower float rounds to as it would
// v itself: bits that don't fit are cut off and leave a trace in the last one.
func oddFloat(v uint64) float64 {
	if v >= 1<<53 {
		if v&0xfff != 0 {
			v |= 0x1000
		}
		v &^= 0xfff
	}
	return float64(v)
}

func oddSigned(v int64) float64 {
	if v < 0 {
		return -oddFloat(-uint64(v))
	}
	return oddFloat(uint64(v))
}

func canonComplex(v complex128) complex128 {
	re, im := real(v), imag(v)
	if re != re {
		re = num.NaN64()
	}
	if im != im {
		im = num.NaN64()
	}
	return complex(re, im)
}

func narrowComplex(v complex128) complex64 {
	re, im := float32(real(v)), float32(imag(v))
	if re != re {
		re = num.NaN32()
	}
	if im != im {
		im = num.NaN32()
	}
	return complex(re, im)
}

const (
	beyond7  = 1 << 7
	beyond15 = 1 << 15
	beyond31 = 1 << 31
	beyond63 = 1 << 63
	beyond64 = math.MaxUint64 + 1.0
)
