package op

import (
	"context"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ScatterMode is how ScatterElements and ScatterND combine an update with what is
// there.
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
// Updates come in row-major order, each combined with what the ones before left:
// with ScatterReplace the last one stays and elements keep their bits; with the
// others each step is an operation of its own, as Add, Mul, Max and Min have it:
// rounded, integers wrapping, and defined for numbers alone. It panics, before
// anything is written, when an index lies outside the axis. ONNX ScatterElements.
func ScatterElements[T num.Elem](a tensor.Tensor[T], indices tensor.Tensor[int64], updates tensor.Tensor[T], axis int, mode ScatterMode, opts ...Option) (r tensor.Tensor[T]) {
	scatteredElements("ScatterElements", a.Any(), indices.Any(), updates.Any(), axis, mode).into(exec.Ref(&r), opts)
	return r
}

func scatteredElements(name string, a, indices, updates tensor.Any, axis int, mode ScatterMode) *transfer {
	present(name, &a, &indices, &updates)
	shape, by := a.Shape(), indices.Shape()
	axis = elementAxis(name, shape, indices, axis)
	checkScatter(name, a, updates, by, mode)
	return &transfer{name: name, d: a.DType(), shape: shape, in: []tensor.Any{a, indices, updates}, picky: true, fill: func(_ context.Context, dst words, in []words) {
		at := in[1].places(name)
		checkPlaces(name, at, by, shape[axis], axis)
		dst.copy(0, in[0], 0, dst.len())
		if len(at) == 0 {
			return // however many rows of none there are
		}
		alongRows(shape, by, axis, 0, elements(by[:len(by)-1]), func(from, n int, x conv.Axis) {
			combine(dst, at[from:from+n], x, in[2], from, mode)
		})
	}}
}

// checkScatter checks the updates of ScatterElements and ScatterND.
func checkScatter(name string, a, updates tensor.Any, shape []int, mode ScatterMode) {
	oneType(name, a, updates)
	if lay := updates.Layout(); !sameShape(&lay, shape) {
		panic(fail(name, tensor.ErrShape, "updates have shape %s, the indices ask for %s", lay.ShapeString(), shapeText(shape)))
	}
	switch d := a.DType(); mode {
	case ScatterReplace:
	case ScatterAdd, ScatterMul, ScatterMax, ScatterMin:
		if !reals.has(d) {
			panic(fail(name, tensor.ErrDType, "mode %q is not defined for %v; convert the operands with op.Cast", string(mode), d))
		}
	default:
		panic(fail(name, tensor.ErrValue, "mode %q; modes are none, add, mul, max and min", string(mode)))
	}
}

// combine puts updates in, one after the other: that at from and those after it go where indices lead to.
func combine(dst words, at []int64, x conv.Axis, updates words, from int, mode ScatterMode) {
	if mode == ScatterReplace {
		conv.Put(dst.mem, updates.mem[from*dst.size:], dst.size, at, x, 1)
		return
	}
	to, by := numericOf(dst), numericOf(updates)
	switch {
	case mode == ScatterAdd && to.d == dtype.Float32:
		addAt(elemsOf[float32](to.of), at, x, elemsOf[float32](by.of)[from:], num.NaN32())
		return
	case mode == ScatterAdd && to.d == dtype.Float64:
		addAt(elemsOf[float64](to.of), at, x, elemsOf[float64](by.of)[from:], num.NaN64())
		return
	}
	for i, v := range at {
		k := x.First + i*x.Step + int(v+int64(x.N)&(v>>63))*x.Stride
		if to.d.IsFloat() {
			// In float64 sums and products of narrower types are exact, or
			// round as if only once.
			to.setFloat(k, combineFloat(to.float(k), by.float(from+i), mode))
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

func combineWord(to numeric, i int, from numeric, k int, mode ScatterMode) {
	switch mode {
	case ScatterAdd:
		to.setBits(i, to.bits(i)+from.bits(k))
	case ScatterMul:
		to.setBits(i, to.bits(i)*from.bits(k))
	default:
		if more := from.key(k) > to.key(i); more == (mode == ScatterMax) {
			to.setBits(i, from.bits(k))
		}
	}
}

// scatterMode reads a node's attribute, which opset 16 brought.
func scatterMode(c *Call) ScatterMode { return ScatterMode(c.Attrs.Str("reduction", "none")) }

var scatterElements = opN{about: about{name: "ScatterElements", onnx: []int{11, 13, 16, 18}, attrs: []string{"axis", "reduction"}}, least: 3,
	move: func(c *Call) *transfer {
		return scatteredElements("ScatterElements", c.in(0), c.in(1), c.in(2), attrInt(c, "axis", 0), scatterMode(c))
	}}

// Scatter is what ONNX called ScatterElements in opsets 9 and 10.
var scatterOp = opN{about: about{name: "Scatter", flops: flops{free: true}, onnx: []int{9}, attrs: []string{"axis"}}, least: 3,
	move: func(c *Call) *transfer {
		return scatteredElements("Scatter", c.in(0), c.in(1), c.in(2), attrInt(c, "axis", 0), ScatterReplace)
	}}
