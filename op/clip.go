package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// Clip returns a limited to lo … hi, element by element: Min(Max(a, lo), hi). So
// it is hi where lo > hi, and NaN where any of the three is NaN; −0 < +0. For no
// limit give the type's smallest or largest value, ±∞ for floats, as an absent
// bound of ONNX Clip is.
func Clip[T num.Real](a tensor.Tensor[T], lo, hi T, opts ...Option) (r tensor.Tensor[T]) {
	limit(exec.Ref(&r), exec.Ref(&a), exec.WordOf(lo), exec.WordOf(hi), opts)
	return r
}

// limit is Clip for a run-time element type, whose numbers lo and hi are.
func limit(r, a *tensor.Any, lo, hi exec.Word, opts []Option) {
	d, by := a.DType(), &clipping
	if plan.Read("Clip", opts).Orion {
		by = &orionClipping
	}
	by.Compute(r, &[2]exec.Word{wideWord(d, lo), wideWord(d, hi)}, opts, []*tensor.Any{a})
}

var clipping = pointwise.Operator{About: plan.About{Name: "Clip"}, Cost: 2,
	Rows: exec.With(&simd.Clip, &rowsP{I8: clipRow[int8], I16: clipRow[int16], I32: clipRow[int32], I64: clipRow[int64],
		U8: clipRow[uint8], U16: clipRow[uint16], U32: clipRow[uint32], U64: clipRow[uint64],
		F32: clipRow[float32], F64: clipRow[float64]}),
	Fixed: &pointwise.FixedP{FP8x23: clippedFixed[fixed.FP8x23], FP16x16: clippedFixed[fixed.FP16x16], FP32x32: clippedFixed[fixed.FP32x32], FP64x64: clippedFixed[fixed.FP64x64]}}

func clippedFixed[T num.Fixed](x, lo, hi T, mode ...fixed.Mode) (T, error) {
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
	if widen := cast.WidenOf(d); widen != nil {
		from, wide := w, exec.Word{} // in the heap then, as widen is unknown
		widen(wide.Run(), from.Run())
		return wide
	}
	return w
}

var clip = plan.Operator{About: plan.About{Name: "Clip", Shapes: true, Follows: true, FLOPs: plan.FLOPs{Each: 2}, Orion: &inOrion{input: orionClip}, Versions: []int{6, 11, 12, 13}, Attrs: []string{"min", "max"}}, Least: 1, Most: 3, Takes: plan.Reals | plan.Fixeds,
	Planned: planClip}

// planClip takes the bounds from inputs, from opset 11 on, or from attributes.
func planClip(c *plan.Use, p *plan.Draft) {
	a := c.With("Clip", 0)
	d := a.DType()
	p.Stretched(d, c, 1)
	p.Last, p.ByInput = true, true
	lo, hi := move.EndsOf(d)
	if c.Opset < 11 {
		plan.Takes("Clip", c, 1)
		for _, b := range []struct {
			w    *exec.Word
			attr string
		}{{&lo, "min"}, {&hi, "max"}} {
			if c.Attrs.Has(b.attr) {
				x := pointwise.InType(tensor.Scalar(c.Attrs.Float(b.attr, 0)).Any(), d)
				*b.w = exec.Item(&x)
			}
		}
		p.By(c, 0, func(r *tensor.Any, opts []Option) { limit(r, a, lo, hi, opts) })
		p.After = func(int, bool) plan.Tail {
			return clipping.Tail(a, func() [2]exec.Word { return [2]exec.Word{lo, hi} })
		}
		return
	}
	plan.OneType("Clip", c.Inputs...)
	var bounds [2]*tensor.Any
	for i := range bounds {
		if b := c.In(i + 1); !b.IsZero() {
			if b.Len() != 1 {
				panic(plan.Fail("Clip", tensor.ErrShape, "input %d, a bound, has shape %s; it must be a scalar", i+1, plan.ShapeText(b.Shape())))
			}
			bounds[i] = c.With("Clip", i+1)
		}
	}
	ends := func() [2]exec.Word {
		w := [2]exec.Word{lo, hi}
		for i, b := range bounds {
			if b != nil {
				w[i] = exec.Item(b)
			}
		}
		return w
	}
	p.By(c, 0, func(r *tensor.Any, opts []Option) {
		w := ends()
		limit(r, a, w[0], w[1], opts)
	})
	p.After = func(k int, _ bool) plan.Tail {
		if k > 0 { // the result is a bound
			return nil
		}
		return clipping.Tail(a, ends)
	}
}
