package op

import (
	"cmp"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Saturate makes Cast to float8 give the largest finite value instead of an
// infinity, or of NaN where there is none, and operators on fixed point the last number
// of the format instead of failing on a result beyond it.
func Saturate() Option { return Option{flags: saturate} }

// Cast returns a with every element converted to To:
//
//   - a float to an integer toward zero, what is too large or too small to the
//     largest or smallest integer, NaN to 0;
//   - an integer to an integer of fewer bits, or of another sign, by its low bits;
//   - to a float with one rounding, to nearest, ties to even; what is too large
//     becomes an infinity (NaN in float8_e4m3), unless Saturate; every NaN the
//     canonical one;
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
func Cast[To, From num.Elem](a tensor.Tensor[From], opts ...Option) tensor.Tensor[To] {
	ins, j := [3]*tensor.Tensor[From]{&a}, job{name: "Cast", cost: 2}
	j.heed(opts)
	k := kernel[From, To]{via: convert[To, From]{}, past: dtype.Of[From]().IsFloat() && !dtype.Of[From]().IsNarrow()} // others look at NaNs again
	if read(opts).saturate {
		k.via = convertSaturate[To, From]{}
	}
	if t := ready[To](opts); t != nil && !dtype.Of[To]().IsFixed() && dense(&j, t, nil, &ins, 1, &k) {
		return *t
	}
	return generalCast(&j, &ins, &k, opts)
}

// generalCast is Cast for all other cases. Its frame is large, so it stays out of Cast's.
//
//go:noinline
func generalCast[To, From num.Elem](j *job, ins *[3]*tensor.Tensor[From], k *kernel[From, To], opts []Option) tensor.Tensor[To] {
	s, a := read(opts), ins[0]
	if isLazy(a) {
		n := note{name: "Cast", cost: 2, args: []arg{argOf("Cast", a)}, also: kept(opts), alone: dtype.Of[To]().IsFixed(),
			run: func(in []any, opts []Option) { Cast[To](*in[0].(*tensor.Tensor[From]), opts...) }}
		return noted[To](n, opts, a.LayoutRef())
	}
	var dst tensor.Tensor[To]
	if s.into == nil && !a.IsContiguous() {
		dst = tensor.EmptyLike[To](*a)
	} else {
		var few [8]int
		dst = target[To]("Cast", &s, appendShape(few[:0], a.LayoutRef()))
	}
	if to := dtype.Of[To](); to.IsFixed() {
		state := stateOf(&s, to)
		return failing(job{name: "Cast"}, &s, dst, state, func(out *tensor.Tensor[To]) {
			elementwise(job{name: "Cast", ctx: s.ctx(), cost: 5}, out, ins, 1, &kernel[From, To]{via: convertFixed[To, From]{state}}, nil, nil)
		}, func(idx []int) error {
			return state.again(func(s *fixedState) { toFixed(make([]To, 1), []From{a.At(idx...)}, s) })
		})
	}
	j.ctx = s.ctx()
	elementwise(*j, &dst, ins, 1, k, nil, nil)
	return dst
}

type (
	convert[To, From num.Elem]         struct{}
	convertSaturate[To, From num.Elem] struct{}
	convertFixed[To, From num.Elem]    struct{ s *fixedState }
)

func (convert[To, From]) row(dst []To, a []From)         { convertRow(dst, a, false) }
func (convertSaturate[To, From]) row(dst []To, a []From) { convertRow(dst, a, true) }

func (c convertFixed[To, From]) row(dst []To, a []From) { toFixed(dst, a, c.s) }

// convertRow defines Cast. dst and src are slices of elements, src no shorter.
// Numbers pass through the widest type of their kind, which holds them all, so
// that no pair of types needs a loop of its own; a few pairs have one.
func convertRow(dst, src any, saturate bool) {
	if convertDirectly(dst, src) {
		return
	}
	n := lengthOf(dst)
	switch src.(type) {
	case []int8, []int16, []int32, []int64:
		var w [256]int64
		for at := 0; at < n; at += len(w) {
			m := min(n-at, len(w))
			loadInts(w[:m], src, at)
			storeInts(dst, at, w[:m], saturate)
		}
	case []bool, []uint8, []uint16, []uint32, []uint64:
		var w [256]uint64
		for at := 0; at < n; at += len(w) {
			m := min(n-at, len(w))
			loadUints(w[:m], src, at)
			storeUints(dst, at, w[:m], saturate)
		}
	case []num.FP8x23, []num.FP16x16, []num.FP32x32, []num.FP64x64:
		var w [256]num.FP64x64
		for at := 0; at < n; at += len(w) {
			m := min(n-at, len(w))
			loadFixed(w[:m], src, at)
			storeFixed(dst, at, w[:m], saturate)
		}
	case []complex64, []complex128:
		var w [256]complex128
		for at := 0; at < n; at += len(w) {
			m := min(n-at, len(w))
			loadComplex(w[:m], src, at)
			storeComplex(dst, at, w[:m], saturate)
		}
	default:
		var w [256]float64
		for at := 0; at < n; at += len(w) {
			m := min(n-at, len(w))
			loadFloats(w[:m], src, at)
			storeFloats(dst, at, w[:m], saturate)
		}
	}
}

// convertDirectly handles equal types, and the pairs that rows of num convert.
func convertDirectly(dst, src any) bool {
	switch d := dst.(type) {
	case []float32:
		switch s := src.(type) {
		case []float32:
			copy(d, s)
			return true
		case []float64:
			conv.NarrowF64(d, s[:len(d)])
			return true
		case []num.F16:
			conv.WidenF16(d, s[:len(d)])
		case []num.BF16:
			conv.WidenBF16(d, s[:len(d)])
		case []num.F8E4M3:
			num.WidenF8E4M3(d, s[:len(d)])
		case []num.F8E5M2:
			num.WidenF8E5M2(d, s[:len(d)])
		default:
			return false
		}
		conv.Canon32(d)
		return true
	case []num.F16:
		switch s := src.(type) {
		case []num.F16:
			copy(d, s)
			return true
		case []float32:
			conv.NarrowF16(d, s[:len(d)])
			return true
		}
	case []num.BF16:
		switch s := src.(type) {
		case []num.BF16:
			copy(d, s)
			return true
		case []float32:
			conv.NarrowBF16(d, s[:len(d)])
			return true
		}
	case []num.F8E4M3:
		return copied(d, src)
	case []num.F8E5M2:
		return copied(d, src)
	case []float64:
		if s, ok := src.([]float32); ok {
			conv.WidenF32(d, s[:len(d)])
			return true
		}
		return copied(d, src)
	case []complex64:
		return copied(d, src)
	case []complex128:
		return copied(d, src)
	}
	return false
}

func copied[T num.Elem](dst []T, src any) bool {
	s, ok := src.([]T)
	if ok {
		copy(dst, s)
	}
	return ok
}

var cast = opN{about: about{name: "Cast", onnx: []int{6, 9, 13, 19, 21, 23, 24, 25}, attrs: []string{"to", "saturate"}}, least: 1,
	run: perType{dtype.Bool: runCast[bool], dtype.Int8: runCast[int8], dtype.Int16: runCast[int16], dtype.Int32: runCast[int32],
		dtype.Int64: runCast[int64], dtype.Uint8: runCast[uint8], dtype.Uint16: runCast[uint16], dtype.Uint32: runCast[uint32],
		dtype.Uint64: runCast[uint64], dtype.Float8E4M3: runCast[num.F8E4M3], dtype.Float8E5M2: runCast[num.F8E5M2],
		dtype.Float16: runCast[num.F16], dtype.BFloat16: runCast[num.BF16], dtype.Float32: runCast[float32],
		dtype.Float64: runCast[float64], dtype.Complex64: runCast[complex64], dtype.Complex128: runCast[complex128],
		dtype.FP8x23: runCast[num.FP8x23], dtype.FP16x16: runCast[num.FP16x16], dtype.FP32x32: runCast[num.FP32x32], dtype.FP64x64: runCast[num.FP64x64]},
	infer: func(c *Call) []tensor.Any {
		return one(spec("Cast", castTo(c), tensor.Shape(c.in(0))...))
	}}

// castTypes is the meaning of the attribute to: the codes of
// TensorProto.DataType in onnx.proto, as far as there are types for them. The
// missing ones are 0, undefined, 8, strings, and 18 and 20, float8 of the FNUZ kind.
var castTypes = [...]dtype.DType{1: dtype.Float32, 2: dtype.Uint8, 3: dtype.Int8, 4: dtype.Uint16, 5: dtype.Int16, 6: dtype.Int32,
	7: dtype.Int64, 9: dtype.Bool, 10: dtype.Float16, 11: dtype.Float64, 12: dtype.Uint32, 13: dtype.Uint64, 14: dtype.Complex64,
	15: dtype.Complex128, 16: dtype.BFloat16, 17: dtype.Float8E4M3, 19: dtype.Float8E5M2}

func castTo(c *Call) dtype.DType { return typeOf("Cast", c.Attrs.Int("to", 0)) }

// typeOf returns the element type of an ONNX code.
func typeOf(name string, code int64) dtype.DType {
	if code < 0 || code >= int64(len(castTypes)) || castTypes[code] == dtype.Invalid {
		panic(fail(name, tensor.ErrDType, "the code of an element type is %d; those that can be had are 1 to 7, 9 to 17 and 19", code))
	}
	return castTypes[code]
}

func runCast[From num.Elem](c *Call) []tensor.Any {
	a := as[From]("Cast", c, 0)
	return one(castAny("Cast", c, a, castTo(c)))
}

// castAny is Cast to a type known at run time: a itself if that is its own, else a
// tensor with the layout that Clone gives, as Cast's. It has no code of its own per
// pair of types: it goes through the result as it stands in memory.
func castAny[From num.Elem](name string, c *Call, a tensor.Tensor[From], to dtype.DType) tensor.Any {
	if to == a.DType() {
		return a
	}
	lay := a.CloneLayout()
	out, elems := castMake[to](lay)
	n := a.Len()
	if n == 0 {
		return out
	}
	row := func(dst, src any) { convertRow(dst, src, c.Attrs.Int("saturate", 1) != 0) }
	state := stateOf(&settings{}, to)
	if to.IsFixed() {
		row = func(dst, src any) { toFixed(dst, src, state) }
	}
	data, base := a.Data()
	whole := lay.Equal(a.Layout()) // without holes
	var seq sequence
	if !whole {
		slowest := make([]int, lay.Rank())
		for i := range slowest {
			slowest[i] = i
		}
		slices.SortStableFunc(slowest, func(i, j int) int {
			s, _ := lay.Stride(i)
			t, _ := lay.Stride(j)
			return cmp.Compare(t, s)
		})
		turned := a.Permute(slowest...)
		seq.of(turned.LayoutRef())
	}
	split(name, c.Context, (n+runLen-1)/runLen, 2*runLen, func(from, upTo int) {
		var tile []From
		for i := from * runLen; i < min(upTo*runLen, n); i += runLen {
			m := min(runLen, n-i)
			if whole {
				row(elems(i, m), data[base+i:base+i+m])
				continue
			}
			if tile == nil {
				tile = make([]From, runLen)
			}
			gather(&seq, tile[:m], data, base, i)
			row(elems(i, m), tile[:m])
		}
	})
	for i := 0; i < n && state.failed.Load(); i++ {
		idx := unravel(i, a.Shape())
		_, one := castMake[to](spec(name, to).Layout())
		if err := state.again(func(s *fixedState) { toFixed(one(0, 1), []From{a.At(idx...)}, s) }); err != nil {
			panic(unfit(name, idx, err))
		}
	}
	return out
}

// castMake makes a tensor of a run-time type and gives access to stretches of its
// elements, boxed.
var castMake = [dtype.Count]func(lay layout.Layout) (tensor.Any, func(at, n int) any){
	dtype.Bool: castMaker[bool], dtype.Int8: castMaker[int8], dtype.Int16: castMaker[int16], dtype.Int32: castMaker[int32],
	dtype.Int64: castMaker[int64], dtype.Uint8: castMaker[uint8], dtype.Uint16: castMaker[uint16], dtype.Uint32: castMaker[uint32],
	dtype.Uint64: castMaker[uint64], dtype.Float8E4M3: castMaker[num.F8E4M3], dtype.Float8E5M2: castMaker[num.F8E5M2],
	dtype.Float16: castMaker[num.F16], dtype.BFloat16: castMaker[num.BF16], dtype.Float32: castMaker[float32],
	dtype.Float64: castMaker[float64], dtype.Complex64: castMaker[complex64], dtype.Complex128: castMaker[complex128],
	dtype.FP8x23: castMaker[num.FP8x23], dtype.FP16x16: castMaker[num.FP16x16], dtype.FP32x32: castMaker[num.FP32x32], dtype.FP64x64: castMaker[num.FP64x64]}

func castMaker[To num.Elem](lay layout.Layout) (tensor.Any, func(at, n int) any) {
	t := tensor.EmptyLayout[To](lay, 1)
	return t, func(at, n int) any {
		data, off := t.Data()
		return data[off+at : off+at+n]
	}
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
