package op

import (
	"context"
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// PadMode says which elements Pad puts around a tensor.
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
// behind it; negative ones remove elements. PadWrap repeats the elements left, as ONNX
// Runtime does, the others may reach removed elements. The modes other than PadConstant go on for as long as there is room to
// fill, and panic on an axis that is empty but not to stay so; value is for
// PadConstant alone. It panics unless both lists have
// a number for every axis, or when more is removed than there is. Elements keep
// their bits. ONNX Pad, numpy.pad.
func Pad[T num.Elem](a tensor.Tensor[T], before, after []int, mode PadMode, value T, opts ...Option) (r tensor.Tensor[T]) {
	padded(a.Any(), before, after, mode, tensor.Scalar(value).Any()).Into(exec.Ref(&r), opts)
	return r
}

func padded(a tensor.Any, before, after []int, mode PadMode, value tensor.Any) *move.Transfer {
	plan.Present("Pad", &a)
	shape := a.Shape()
	if len(before) != len(shape) || len(after) != len(shape) {
		panic(plan.Fail("Pad", tensor.ErrShape, "%d amounts before and %d after for a tensor of rank %d", len(before), len(after), len(shape)))
	}
	switch mode {
	case PadConstant, PadEdge, PadReflect, PadSymmetric, PadWrap:
	default:
		panic(plan.Fail("Pad", tensor.ErrValue, "mode %q; modes are constant, edge, reflect, symmetric and wrap", string(mode)))
	}
	out, maps := make([]int, len(shape)), make([]move.Mapping, len(shape))
	for i, n := range shape {
		b, e := before[i], after[i]
		if b > math.MaxInt/4 || e > math.MaxInt/4 || n > math.MaxInt/4 {
			panic(plan.Fail("Pad", tensor.ErrOverflow, "axis %d of extent %d with %d before and %d after doesn't fit an int", i, n, b, e))
		}
		if b < -n || e < -n || n+b+e < 0 {
			panic(plan.Fail("Pad", tensor.ErrShape, "%d before and %d after remove more than the extent %d of axis %d", b, e, n, i))
		}
		out[i] = n + b + e
		var cut int // from the front
		if mode == PadWrap {
			cut, n = max(0, -b), n+min(b, 0)+min(e, 0)
		}
		if n <= 0 && out[i] > 0 && mode != PadConstant {
			panic(plan.Fail("Pad", tensor.ErrShape, "axis %d is empty; mode %q has nothing to repeat", i, string(mode)))
		}
		if b != 0 || e != 0 {
			maps[i] = move.Mapping{N: out[i], At: func(place int) move.Piece {
				u := padPiece(mode, place-b-cut, n)
				if u.From >= 0 {
					u.From += cut
				}
				return u
			}}
		}
	}
	in := []tensor.Any{a}
	if !value.IsZero() {
		in = append(in, value)
	}
	last := func(a tensor.Any) *move.Transfer {
		return padded(a, plan.LastShape(before), plan.LastShape(after), mode, value)
	}
	if len(shape) < 3 {
		last = nil
	}
	outside := func() []byte {
		if value.IsZero() {
			return make([]byte, a.DType().Size())
		}
		return move.WordsOf(value).Mem
	}
	return &move.Transfer{Name: "Pad", D: a.DType(), Shape: out, In: in, Last: last, Maps: maps, Outside: outside, Price: plan.Taking(move.RemapScratch(maps), 0), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		pad := make([]byte, dst.Size)
		if len(in) > 1 {
			pad = in[1].Mem
		}
		move.Remap("Pad", ctx, dst, in[0], shape, maps, pad)
	}}
}

// padPiece returns which of n entries stands at i, and how many more go on from it.
func padPiece(mode PadMode, i, n int) move.Piece {
	switch {
	case i >= 0 && i < n:
		return move.Piece{To: 0, From: i, N: n - i, Step: 1}
	case mode == PadConstant && i < 0:
		return move.Piece{To: 0, From: -1, N: -i, Step: 1}
	case mode == PadConstant:
		return move.Piece{To: 0, From: -1, N: math.MaxInt, Step: 1}
	case (mode == PadEdge || n == 1) && i < 0:
		return move.Piece{To: 0, From: 0, N: -i, Step: 0}
	case mode == PadEdge || n == 1:
		return move.Piece{To: 0, From: n - 1, N: math.MaxInt, Step: 0}
	case mode == PadWrap:
		i = ((i % n) + n) % n
		return move.Piece{To: 0, From: i, N: n - i, Step: 1}
	case mode == PadSymmetric:
		if i = ((i % (2 * n)) + 2*n) % (2 * n); i < n {
			return move.Piece{To: 0, From: i, N: n - i, Step: 1}
		}
		return move.Piece{To: 0, From: 2*n - 1 - i, N: 2*n - i, Step: -1}
	}
	turn := 2 * (n - 1)
	if i = ((i % turn) + turn) % turn; i < n {
		return move.Piece{To: 0, From: i, N: n - i, Step: 1}
	}
	return move.Piece{To: 0, From: turn - i, N: turn - i, Step: -1}
}

var pad = plan.Operator{About: plan.About{Name: "Pad", PerAxis: 0b1010, Moves: plan.Moves{In: 0b101, Out: 1}, FLOPs: plan.FLOPs{Free: true}, Versions: []int{2, 11, 13, 18, 19, 21, 23, 24, 25}, Attrs: []string{"mode", "pads", "value"}}, Least: 1, Most: 4,
	Move: func(c *plan.Use) plan.Mover {
		a := c.In(0)
		var amounts, axes []int
		var value tensor.Any
		var some bool
		if c.Opset < 11 {
			plan.Takes("Pad", c, 1)
			amounts, _ = plan.AttrInts(c, "pads")
			v := c.Attrs.Float("value", 0)
			switch a.DType() {
			case dtype.Float32:
				value = tensor.Scalar(v).Any()
			case dtype.Float64:
				value = tensor.Scalar(float64(v)).Any()
			case dtype.Float16:
				value = pointwise.InType(tensor.Scalar(v).Any(), dtype.Float16)
			default:
				panic(plan.Fail("Pad", tensor.ErrDType, "is not defined for %v before opset 11; convert the operand with op.Cast", a.DType()))
			}
		} else {
			plan.Needs("Pad", c, 2)
			amounts, _ = move.Ints("Pad", c, 1)
			if value = c.In(2); !value.IsZero() {
				plan.OneType("Pad", a, value)
				if value.Len() != 1 {
					panic(plan.Fail("Pad", tensor.ErrShape, "the constant is %s; want one element", tensor.Describe(value)))
				}
			}
			if c.Opset < 18 {
				plan.Takes("Pad", c, 3)
			} else {
				axes, some = move.Ints("Pad", c, 3)
			}
		}
		if !some {
			for i := range a.Rank() {
				axes = append(axes, i)
			}
		}
		if len(amounts) != 2*len(axes) {
			panic(plan.Fail("Pad", tensor.ErrShape, "%d amounts for %d axes; want two for each", len(amounts), len(axes)))
		}
		before, after := make([]int, a.Rank()), make([]int, a.Rank())
		seen := make([]bool, a.Rank())
		for k, x := range axes {
			i := plan.AxisOf("Pad", x, a.Rank())
			if seen[i] {
				panic(plan.Fail("Pad", tensor.ErrAxis, "axis %d is named twice in %s", x, plan.ListText(axes)))
			}
			seen[i] = true
			before[i], after[i] = amounts[k], amounts[len(axes)+k]
		}
		return padded(a, before, after, PadMode(c.Attrs.Str("mode", "constant")), value)
	}}
