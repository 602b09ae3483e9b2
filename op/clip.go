package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Clip returns a limited to lo … hi, element by element: Min(Max(a, lo), hi). So
// it is hi where lo > hi, and NaN where any of the three is NaN; −0 < +0. For no
// limit give the type's smallest or largest value, ±∞ for floats, as an absent
// bound of ONNX Clip is.
func Clip[T num.Native | num.Narrow | num.Fixed](a tensor.Tensor[T], lo, hi T, opts ...Option) (r tensor.Tensor[T]) {
	limit(exec.Ref(&r), exec.Ref(&a), exec.WordOf(lo), exec.WordOf(hi), opts)
	return r
}

// limit is Clip for a run-time element type, whose numbers lo and hi are.
func limit(r, a *tensor.Any, lo, hi exec.Word, opts []Option) {
	present("Clip", a)
	d, inOrion := a.DType(), read(opts).orion
	switch {
	case d.IsFixed() && inOrion:
		orionClipFixed.call(r, "Clip", a, lo, hi, opts)
	case d.IsFixed():
		clipFixed.call(r, "Clip", a, lo, hi, opts)
	case inOrion:
		formula(r, "Clip", 2, &orionClipRows, nil, a, wideWord(d, lo), wideWord(d, hi), opts)
	default:
		formula(r, "Clip", 2, &clipRows, &simd.Clip, a, wideWord(d, lo), wideWord(d, hi), opts)
	}
}

var clipRows = rowsP{I8: clipRow[int8], I16: clipRow[int16], I32: clipRow[int32], I64: clipRow[int64],
	U8: clipRow[uint8], U16: clipRow[uint16], U32: clipRow[uint32], U64: clipRow[uint64],
	F32: clipRow[float32], F64: clipRow[float64]}

var clipFixed = fixedP{FP8x23: clippedFixed[num.FP8x23], FP16x16: clippedFixed[num.FP16x16], FP32x32: clippedFixed[num.FP32x32], FP64x64: clippedFixed[num.FP64x64]}

func clippedFixed[T num.Fixed](x, lo, hi T, mode ...num.FixedMode) (T, error) {
	x, _ = maxFixed(x, lo)
	return minFixed(x, hi)
}

// clipRow defines Clip.
func clipRow[T num.Native](dst, a []T, lo, hi T) {
	for i, x := range a[:len(dst)] {
		dst[i] = min(max(x, lo), hi)
	}
}

// wideWord returns a narrow float as the float32 that it is computed in; others as they are.
func wideWord(d dtype.DType, w exec.Word) exec.Word {
	if widen := widenOf(d); widen != nil {
		from, wide := w, exec.Word{} // in the heap then, as widen is unknown
		widen(wide.Run(), from.Run())
		return wide
	}
	return w
}

var clip = opN{about: about{name: "Clip", flops: flops{each: 2}, orion: &inOrion{input: orionClip}, onnx: []int{6, 11, 12, 13}, attrs: []string{"min", "max"}}, least: 1, most: 3, fast: clipFast,
	takes: reals | fixeds,
	run:   runClip,
	infer: func(c *Call) []tensor.Any {
		clipChecked(c)
		return one(spec("Clip", c.in(0).DType(), c.in(0).Shape()...))
	}}

// clipChecked refuses bounds of other types and shapes, and before opset 11 all.
func clipChecked(c *Call) {
	if c.Opset < 11 {
		takes("Clip", c, 1)
		return
	}
	oneType("Clip", c.Inputs...)
	clipBound("Clip", c, 1)
	clipBound("Clip", c, 2)
}

// clipBound refuses a bound that isn't a single number.
func clipBound(name string, c *Call, i int) {
	if b := c.in(i); !b.IsZero() && b.Len() != 1 {
		panic(fail(name, tensor.ErrShape, "input %d, a bound, has shape %s; it must be a scalar", i, shapeText(b.Shape())))
	}
}

// runClip takes the bounds from inputs, from opset 11 on, or from attributes.
func runClip(c *Call) []tensor.Any {
	lo, hi := endsOf(c.in(0).DType())
	bound := func(w *exec.Word, i int, attr string) {
		switch {
		case c.Opset < 11 && c.Attrs.Has(attr):
			x := castAny("Cast", &Call{Attrs: NoAttrs{}}, tensor.Scalar(c.Attrs.Float(attr, 0)).Any(), c.in(0).DType())
			*w = exec.Item(&x)
		case c.Opset >= 11 && !c.in(i).IsZero():
			*w = exec.Item(c.with("Clip", i))
		}
	}
	clipChecked(c)
	a := c.with("Clip", 0)
	bound(&lo, 1, "min")
	bound(&hi, 2, "max")
	var r tensor.Any
	limit(&r, a, lo, hi, options(c))
	return one(r)
}
