package op

import (
	"context"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ScatterMode is how ScatterElements and ScatterND combine an update with the
// element there.
type ScatterMode string

// The modes of ScatterElements and ScatterND, as ONNX names them.
const (
	ScatterReplace ScatterMode = "none" // the update takes its place
	ScatterAdd     ScatterMode = "add"
	ScatterMul     ScatterMode = "mul"
	ScatterMax     ScatterMode = "max"
	ScatterMin     ScatterMode = "min"
)

// ScatterElements returns a with updates put in: that at (i, j, k) goes to
// (i, indices(i,j,k), k) for axis 1, and so for others. Updates and indices have one
// shape, which on the other axes reaches no further than a. Indices may be negative.
// Updates come in row-major order, each combined with the result of the ones before:
// with ScatterReplace the last one stays and elements keep their bits; with the
// others each step is an operation of its own, as Add, Mul, Max and Min have it:
// rounded, integers wrapping, and defined for numbers alone. It panics, before
// anything is written, when an index lies outside the axis. ONNX ScatterElements.
func ScatterElements[T num.Elem](a tensor.Tensor[T], indices tensor.Tensor[int64], updates tensor.Tensor[T], axis int, mode ScatterMode, opts ...Option) (r tensor.Tensor[T]) {
	scatteredElements("ScatterElements", a.Any(), indices.Any(), updates.Any(), axis, mode).Into(exec.Ref(&r), opts)
	return r
}

func scatteredElements(name string, a, indices, updates tensor.Any, axis int, mode ScatterMode) *move.Transfer {
	plan.Present(name, &a, &indices, &updates)
	shape, by := a.Shape(), indices.Shape()
	axis = elementAxis(name, shape, indices, axis)
	checkScatter(name, a, updates, by, mode)
	return &move.Transfer{Name: name, D: a.DType(), Shape: shape, In: []tensor.Any{a, indices, updates}, Picky: true, Fill: func(_ context.Context, dst move.Words, in []move.Words) {
		at := in[1].Places(name)
		move.CheckPlaces(name, at, by, shape[axis], axis)
		dst.Copy(0, in[0], 0, dst.Len())
		if len(at) == 0 {
			return // however many rows of none there are
		}
		alongRows(shape, by, axis, 0, plan.Elements(by[:len(by)-1]), func(from, n int, x conv.Axis) {
			combine(dst, at[from:from+n], x, in[2], from, mode)
		})
	}}
}

// checkScatter checks the updates of ScatterElements and ScatterND.
func checkScatter(name string, a, updates tensor.Any, shape []int, mode ScatterMode) {
	plan.OneType(name, a, updates)
	if lay := updates.Layout(); !plan.SameShape(&lay, shape) {
		panic(plan.Fail(name, tensor.ErrShape, "updates have shape %s, the indices ask for %s", lay.ShapeString(), plan.ShapeText(shape)))
	}
	switch d := a.DType(); mode {
	case ScatterReplace:
	case ScatterAdd, ScatterMul, ScatterMax, ScatterMin:
		if !plan.Reals.Has(d) {
			panic(plan.Fail(name, tensor.ErrDType, "mode %q is not defined for %v; convert the operands with op.Cast", string(mode), d))
		}
	default:
		panic(plan.Fail(name, tensor.ErrValue, "mode %q; modes are none, add, mul, max and min", string(mode)))
	}
}

// combine puts updates in, one after the other: that at from and those after it go where indices lead to.
func combine(dst move.Words, at []int64, x conv.Axis, updates move.Words, from int, mode ScatterMode) {
	if mode == ScatterReplace {
		conv.Put(dst.Mem, updates.Mem[from*dst.Size:], dst.Size, at, x, 1)
		return
	}
	to, by := move.NumericOf(dst), move.NumericOf(updates)
	switch {
	case mode == ScatterAdd && to.D == dtype.Float32:
		addAt(move.ElemsOf[float32](to.Of), at, x, move.ElemsOf[float32](by.Of)[from:], num.NaN32())
		return
	case mode == ScatterAdd && to.D == dtype.Float64:
		addAt(move.ElemsOf[float64](to.Of), at, x, move.ElemsOf[float64](by.Of)[from:], num.NaN64())
		return
	}
	for i, v := range at {
		k := x.First + i*x.Step + int(v+int64(x.N)&(v>>63))*x.Stride
		if to.D.IsFloat() {
			// In float64 sums and products of narrower types are exact, or
			// round as if only once.
			to.SetFloat(k, combineFloat(to.Float(k), by.Float(from+i), mode))
		} else {
			combineWord(to, k, by, from+i, mode)
		}
	}
}

// addAt is combine for sums of floats.
func addAt[T num.Float](dst []T, at []int64, x conv.Axis, updates []T, nan T) {
	n, first := int64(x.N), x.First
	updates = updates[:len(at)]
	for i, v := range at {
		to := &dst[first+int(v+n&(v>>63))*x.Stride]
		sum := *to + updates[i]
		if sum != sum {
			sum = nan
		}
		*to = sum
		first += x.Step
	}
}

func combineFloat(a, b float64, mode ScatterMode) float64 {
	switch mode {
	case ScatterAdd:
		return a + b
	case ScatterMul:
		return a * b
	case ScatterMax:
		return max(a, b)
	}
	return min(a, b)
}

func combineWord(to move.Numeric, i int, from move.Numeric, k int, mode ScatterMode) {
	switch mode {
	case ScatterAdd:
		to.SetBits(i, to.Bits(i)+from.Bits(k))
	case ScatterMul:
		to.SetBits(i, to.Bits(i)*from.Bits(k))
	default:
		if more := from.Key(k) > to.Key(i); more == (mode == ScatterMax) {
			to.SetBits(i, from.Bits(k))
		}
	}
}

// scatterMode reads a node's attribute, which opset 16 brought.
func scatterMode(c *plan.Use) ScatterMode { return ScatterMode(c.Attrs.Str("reduction", "none")) }

var scatterElements = plan.Operator{About: plan.About{Name: "ScatterElements", Shapes: true, Moves: plan.Moves{In: 0b101, Out: 1}, Versions: []int{11, 13, 16, 18}, Attrs: []string{"axis", "reduction"}}, Least: 3,
	Move: func(c *plan.Use) plan.Mover {
		return scatteredElements("ScatterElements", c.In(0), c.In(1), c.In(2), plan.AttrInt(c, "axis", 0), scatterMode(c))
	}}

// Scatter is the name of ScatterElements in opsets 9 and 10 of ONNX.
var scatterOp = plan.Operator{About: plan.About{Name: "Scatter", Moves: plan.Moves{In: 0b101, Out: 1}, FLOPs: plan.FLOPs{Free: true}, Versions: []int{9}, Attrs: []string{"axis"}}, Least: 3,
	Move: func(c *plan.Use) plan.Mover {
		return scatteredElements("Scatter", c.In(0), c.In(1), c.In(2), plan.AttrInt(c, "axis", 0), ScatterReplace)
	}}
