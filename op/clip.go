package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Clip returns a limited to lo … hi, element by element: Min(Max(a, lo), hi). So
// it is hi where lo > hi, and NaN where any of the three is NaN; −0 < +0. For no
// limit give the type's smallest or largest value, ±∞ for floats, as an absent
// bound of ONNX Clip is.
func Clip[T num.Native | num.Narrow | num.Fixed](a tensor.Tensor[T], lo, hi T, opts ...Option) tensor.Tensor[T] {
	if dtype.Of[T]().IsFixed() {
		f := &clipFixed
		if read(opts).orion {
			f = &orionClipFixed
		}
		return applyFixedP("Clip", f, &a, lo, hi, opts)
	}
	rows, quick := &clipRows, &simd.Clip
	if s := read(opts); s.orion {
		rows, quick = &orionClipRows, nil
	}
	return applyWith("Clip", 2, rows, quick, &a, lo, hi, [2]float32{widened1(lo), widened1(hi)}, opts)
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

// widened1 returns a narrow float as a float32; 0 for other types.
func widened1[T num.Elem](v T) float32 {
	switch v := any(&v).(type) {
	case *num.F16:
		return v.Float32()
	case *num.BF16:
		return v.Float32()
	case *num.F8E4M3:
		return v.Float32()
	case *num.F8E5M2:
		return v.Float32()
	}
	return 0
}

var clip = opN{about: about{name: "Clip", onnx: []int{6, 11, 12, 13}, attrs: []string{"min", "max"}}, least: 1, most: 3, fast: clipFast,
	run: perType{dtype.Int8: runClip[int8], dtype.Int16: runClip[int16], dtype.Int32: runClip[int32], dtype.Int64: runClip[int64],
		dtype.Uint8: runClip[uint8], dtype.Uint16: runClip[uint16], dtype.Uint32: runClip[uint32], dtype.Uint64: runClip[uint64],
		dtype.Float8E4M3: runClip[num.F8E4M3], dtype.Float8E5M2: runClip[num.F8E5M2], dtype.Float16: runClip[num.F16],
		dtype.BFloat16: runClip[num.BF16], dtype.Float32: runClip[float32], dtype.Float64: runClip[float64],
		dtype.FP8x23: runClip[num.FP8x23], dtype.FP16x16: runClip[num.FP16x16], dtype.FP32x32: runClip[num.FP32x32], dtype.FP64x64: runClip[num.FP64x64]},
	infer: func(c *Call) []tensor.Any {
		if c.Opset >= 11 {
			oneType("Clip", c.Inputs...)
			clipBound("Clip", c, 1)
			clipBound("Clip", c, 2)
		}
		return one(spec("Clip", c.in(0).DType(), tensor.Shape(c.in(0))...))
	}}

// clipBound refuses a bound that isn't a single number.
func clipBound(name string, c *Call, i int) {
	if b := c.in(i); b != nil && tensor.Len(b) != 1 {
		panic(fail(name, tensor.ErrShape, "input %d, a bound, has shape %s; it must be a scalar", i, shapeText(tensor.Shape(b))))
	}
}

// runClip takes the bounds from inputs, from opset 11 on, or from attributes.
func runClip[T num.Native | num.Narrow | num.Fixed](c *Call) []tensor.Any {
	lo, hi := lowest[T](), highest[T]()
	if c.Opset < 11 {
		if c.Attrs.Has("min") {
			lo = castTo1[T](tensor.Scalar(c.Attrs.Float("min", 0))).Item()
		}
		if c.Attrs.Has("max") {
			hi = castTo1[T](tensor.Scalar(c.Attrs.Float("max", 0))).Item()
		}
	} else {
		oneType("Clip", c.Inputs...)
		clipBound("Clip", c, 1)
		clipBound("Clip", c, 2)
		if b := as[T]("Clip", c, 1); !b.IsZero() {
			lo = b.Item()
		}
		if b := as[T]("Clip", c, 2); !b.IsZero() {
			hi = b.Item()
		}
	}
	return one(Clip(as[T]("Clip", c, 0), lo, hi, options(c)...))
}
