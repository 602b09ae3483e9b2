package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// PRelu returns slope·a where a < 0 and a elsewhere, element by element; −0 and
// NaN stay. slope is stretched to a's shape, and it panics if it doesn't fit it.
// Integers wrap. ONNX PRelu.
func PRelu[T num.Real](a, slope tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	sloped(exec.Ref(&r), exec.Ref(&a), exec.Ref(&slope), opts)
	return r
}

// sloped is PRelu for a run-time element type, which both operands have.
func sloped(r, a, slope *tensor.Any, opts []Option) {
	plan.Present("PRelu", a, slope)
	refuseWider("PRelu", a, slope)
	pRelu.Call(r, opts, a, slope)
}

var pRelu = pointwise.Operator{About: plan.About{Name: "PRelu"},
	Rows: exec.Two(nil, &rows2{I8: pReluRow[int8], I16: pReluRow[int16], I32: pReluRow[int32], I64: pReluRow[int64],
		U8: pReluRow[uint8], U16: pReluRow[uint16], U32: pReluRow[uint32], U64: pReluRow[uint64],
		F32: pReluRow[float32], F64: pReluRow[float64]}),
	Fixed: &pointwise.Fixed2{FP8x23: pReluFixed[fixed.FP8x23], FP16x16: pReluFixed[fixed.FP16x16], FP32x32: pReluFixed[fixed.FP32x32], FP64x64: pReluFixed[fixed.FP64x64]}}

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
	if shape := plan.BroadcastShape(name, few[:0], la, lb); !plan.SameShape(la, shape) {
		panic(plan.Fail(name, tensor.ErrShape, "shape %s doesn't stretch to the first operand's, %s", lb.ShapeString(), la.ShapeString()))
	}
}

var pReluOp = plan.Operator{About: plan.About{Name: "PRelu", FLOPs: plan.FLOPs{Each: 1}, Versions: []int{6, 7, 9, 16}}, Least: 2, Takes: plan.Reals | plan.Fixeds,
	Planned: func(c *plan.Use, p *plan.Draft) {
		plan.OneType("PRelu", c.Inputs[:2]...)
		c = perChannel(c)
		a, slope := c.With("PRelu", 0), c.With("PRelu", 1)
		if !plan.SameShape(a.LayoutRef(), plan.Stretch("PRelu", c.Inputs[:2]...)) {
			panic(plan.Fail("PRelu", tensor.ErrShape, "the slope has shape %s, which doesn't stretch to %s", plan.ShapeText(slope.Shape()), a.LayoutRef().ShapeString()))
		}
		p.Stretched(a.DType(), c, 1)
		p.Last, p.ByInput = true, true
		p.By(c, 0, func(r *tensor.Any, opts []Option) { sloped(r, a, slope, opts) })
	}}
