package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// PRelu returns slope·a where a < 0 and a elsewhere, element by element; −0 and
// NaN stay. slope is stretched to a's shape, and it panics if it doesn't fit it.
// Integers wrap. ONNX PRelu.
func PRelu[T num.Native | num.Narrow | num.Fixed](a, slope tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	sloped(exec.Ref(&r), exec.Ref(&a), exec.Ref(&slope), opts)
	return r
}

// sloped is PRelu for a run-time element type, which both operands have.
func sloped(r, a, slope *tensor.Any, opts []Option) {
	present("PRelu", a, slope)
	refuseWider("PRelu", a, slope)
	pRelu.call(r, opts, a, slope)
}

var pRelu = pointwise{about: about{name: "PRelu"},
	rows: exec.Two(nil, &rows2{I8: pReluRow[int8], I16: pReluRow[int16], I32: pReluRow[int32], I64: pReluRow[int64],
		U8: pReluRow[uint8], U16: pReluRow[uint16], U32: pReluRow[uint32], U64: pReluRow[uint64],
		F32: pReluRow[float32], F64: pReluRow[float64]}),
	fixed: &fixed2{FP8x23: pReluFixed[fixed.FP8x23], FP16x16: pReluFixed[fixed.FP16x16], FP32x32: pReluFixed[fixed.FP32x32], FP64x64: pReluFixed[fixed.FP64x64]}}

// pReluRow defines PRelu.
func pReluRow[T num.Native](dst, a, slope []T) {
	a, slope = a[:len(dst)], slope[:len(dst)]
	for i := range dst {
		x := a[i]
		if x < 0 {
			x *= slope[i]
		}
		dst[i] = x
	}
}

// refuseWider panics unless b stretches to a's shape.
func refuseWider(name string, a, b *tensor.Any) {
	la, lb := a.LayoutRef(), b.LayoutRef()
	var few [8]int
	if shape := broadcastShape(name, few[:0], la, lb); !sameShape(la, shape) {
		panic(fail(name, tensor.ErrShape, "shape %s doesn't stretch to the first operand's, %s", lb.ShapeString(), la.ShapeString()))
	}
}

var pReluOp = opN{about: about{name: "PRelu", flops: flops{each: 1}, onnx: []int{6, 7, 9, 16}}, least: 2, takes: reals | fixeds,
	planned: func(c *Call, p *Plan) {
		oneType("PRelu", c.Inputs[:2]...)
		c = perChannel(c)
		a, slope := c.with("PRelu", 0), c.with("PRelu", 1)
		if !sameShape(a.LayoutRef(), stretch("PRelu", c.Inputs[:2]...)) {
			panic(fail("PRelu", tensor.ErrShape, "the slope has shape %s, which doesn't stretch to %s", shapeText(slope.Shape()), a.LayoutRef().ShapeString()))
		}
		p.stretched(a.DType(), c, 1)
		p.by(c, 0, func(r *tensor.Any, opts []Option) { sloped(r, a, slope, opts) })
	}}
