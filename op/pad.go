package op

import (
	"context"
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// PadMode is what Pad puts around a tensor.
type PadMode string

// The modes of Pad, as ONNX and NumPy name them.
const (
	PadConstant  PadMode = "constant"  // one value
	PadEdge      PadMode = "edge"      // the nearest element
	PadReflect   PadMode = "reflect"   // the elements mirrored at the first and last one, which aren't doubled
	PadSymmetric PadMode = "symmetric" // the elements mirrored at the edge, so that they are; not ONNX's
	PadWrap      PadMode = "wrap"      // the elements from the other end
)

// Pad returns a with before[i] elements more in front of axis i and after[i]
// behind it; negative ones remove elements. PadWrap repeats what they leave, as ONNX
// Runtime does, the others may reach what is removed. The modes other than PadConstant go on for as long as there is room to
// fill, and panic on an axis that is empty but not to stay so; value is for
// PadConstant alone. It panics unless both lists have
// a number for every axis, or when more is removed than there is. Elements keep
// their bits. ONNX Pad, numpy.pad.
func Pad[T num.Elem](a tensor.Tensor[T], before, after []int, mode PadMode, value T, opts ...Option) (r tensor.Tensor[T]) {
	padded(a.Any(), before, after, mode, tensor.Scalar(value).Any()).into(exec.Ref(&r), opts)
	return r
}

func padded(a tensor.Any, before, after []int, mode PadMode, value tensor.Any) *transfer {
	present("Pad", &a)
	shape := a.Shape()
	if len(before) != len(shape) || len(after) != len(shape) {
		panic(fail("Pad", tensor.ErrShape, "%d amounts before and %d after for a tensor of rank %d", len(before), len(after), len(shape)))
	}
	switch mode {
	case PadConstant, PadEdge, PadReflect, PadSymmetric, PadWrap:
	default:
		panic(fail("Pad", tensor.ErrValue, "mode %q; modes are constant, edge, reflect, symmetric and wrap", string(mode)))
	}
	out, maps := make([]int, len(shape)), make([]mapping, len(shape))
	for i, n := range shape {
		b, e := before[i], after[i]
		if b > math.MaxInt/4 || e > math.MaxInt/4 || n > math.MaxInt/4 {
			panic(fail("Pad", tensor.ErrOverflow, "axis %d of extent %d with %d before and %d after doesn't fit an int", i, n, b, e))
		}
		if b < -n || e < -n || n+b+e < 0 {
			panic(fail("Pad", tensor.ErrShape, "%d before and %d after remove more than the extent %d of axis %d", b, e, n, i))
		}
		out[i] = n + b + e
		var cut int // from the front
		if mode == PadWrap {
			cut, n = max(0, -b), n+min(b, 0)+min(e, 0)
		}
		if n <= 0 && out[i] > 0 && mode != PadConstant {
			panic(fail("Pad", tensor.ErrShape, "axis %d is empty; mode %q has nothing to repeat", i, string(mode)))
		}
		if b != 0 || e != 0 {
			maps[i] = mapping{out[i], func(place int) run {
				u := padRun(mode, place-b-cut, n)
				if u.from >= 0 {
					u.from += cut
				}
				return u
			}}
		}
	}
	in := []tensor.Any{a}
	if !value.IsZero() {
		in = append(in, value)
	}
	return &transfer{name: "Pad", d: a.DType(), shape: out, in: in, scratch: remapScratch(maps), fill: func(ctx context.Context, dst words, in []words) {
		pad := make([]byte, dst.size)
		if len(in) > 1 {
			pad = in[1].mem
		}
		remap("Pad", ctx, dst, in[0], shape, maps, pad)
	}}
}

// padRun returns which of n entries stands at i, and how many more go on from it.
func padRun(mode PadMode, i, n int) run {
	switch {
	case i >= 0 && i < n:
		return run{0, i, n - i, 1}
	case mode == PadConstant && i < 0:
		return run{0, -1, -i, 1}
	case mode == PadConstant:
		return run{0, -1, math.MaxInt, 1}
	case (mode == PadEdge || n == 1) && i < 0:
		return run{0, 0, -i, 0}
	case mode == PadEdge || n == 1:
		return run{0, n - 1, math.MaxInt, 0}
	case mode == PadWrap:
		i = ((i % n) + n) % n
		return run{0, i, n - i, 1}
	case mode == PadSymmetric:
		if i = ((i % (2 * n)) + 2*n) % (2 * n); i < n {
			return run{0, i, n - i, 1}
		}
		return run{0, 2*n - 1 - i, 2*n - i, -1}
	}
	turn := 2 * (n - 1)
	if i = ((i % turn) + turn) % turn; i < n {
		return run{0, i, n - i, 1}
	}
	return run{0, turn - i, turn - i, -1}
}

var pad = opN{about: about{name: "Pad", flops: flops{free: true}, onnx: []int{2, 11, 13, 18, 19, 21, 23, 24, 25}, attrs: []string{"mode", "pads", "value"}}, least: 1, most: 4,
	move: func(c *Call) *transfer {
		a := c.in(0)
		var amounts, axes []int
		var value tensor.Any
		var some bool
		if c.Opset < 11 {
			takes("Pad", c, 1)
			amounts, _ = attrInts(c, "pads")
			v := c.Attrs.Float("value", 0)
			switch a.DType() {
			case dtype.Float32:
				value = tensor.Scalar(v).Any()
			case dtype.Float64:
				value = tensor.Scalar(float64(v)).Any()
			case dtype.Float16:
				value = inType(tensor.Scalar(v).Any(), dtype.Float16)
			default:
				panic(fail("Pad", tensor.ErrDType, "is not defined for %v before opset 11; convert the operand with op.Cast", a.DType()))
			}
		} else {
			needs("Pad", c, 2)
			amounts, _ = ints("Pad", c, 1)
			if value = c.in(2); !value.IsZero() {
				oneType("Pad", a, value)
				if value.Len() != 1 {
					panic(fail("Pad", tensor.ErrShape, "the constant is %s; want one element", tensor.Describe(value)))
				}
			}
			if c.Opset < 18 {
				takes("Pad", c, 3)
			} else {
				axes, some = ints("Pad", c, 3)
			}
		}
		if !some {
			for i := range a.Rank() {
				axes = append(axes, i)
			}
		}
		if len(amounts) != 2*len(axes) {
			panic(fail("Pad", tensor.ErrShape, "%d amounts for %d axes; want two for each", len(amounts), len(axes)))
		}
		before, after := make([]int, a.Rank()), make([]int, a.Rank())
		seen := make([]bool, a.Rank())
		for k, x := range axes {
			i := axisOf("Pad", x, a.Rank())
			if seen[i] {
				panic(fail("Pad", tensor.ErrAxis, "axis %d is named twice in %s", x, listText(axes)))
			}
			seen[i] = true
			before[i], after[i] = amounts[k], amounts[len(axes)+k]
		}
		return padded(a, before, after, PadMode(c.Attrs.Str("mode", "constant")), value)
	}}
