package op

import (
	"context"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/order"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// NonZero returns the coordinates of the elements of a that aren't zero, in
// row-major order: an int64 of shape (rank, how many), one column for each. Both
// zeros of a float are zero, NaN isn't; true isn't. Of rank 0 the result is (0,1)
// or (0,0). ONNX NonZero; numpy.nonzero has the rows one by one.
func NonZero[T num.Elem](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[int64]) {
	nonzeros(a.Any()).Into(exec.Ref(&r), opts)
	return r
}

func nonzeros(a tensor.Any) *move.Transfer {
	plan.Present("NonZero", &a)
	if a.IsSpec() {
		panic(plan.Unknown("NonZero", 0))
	}
	shape := a.Shape()
	truth := truths(move.WordsOf(a))
	n := conv.True(truth)
	return &move.Transfer{Name: "NonZero", D: dtype.Int64, Shape: []int{len(shape), n}, Fill: func(_ context.Context, dst move.Words, _ []move.Words) {
		if len(shape) == 0 || n == 0 {
			return
		}
		last, k := len(shape)-1, 0
		rows := order.Positions(dst.Mem)
		for r := range plan.Elements(shape[:last]) { // the runs of the last axis
			m := conv.Places(rows[last*n+k:], truth[r*shape[last]:(r+1)*shape[last]], 0)
			for i, rest := last-1, r; i >= 0; i-- {
				conv.Fill(rows[i*n+k:i*n+k+m], int64(rest%shape[i]))
				rest /= shape[i]
			}
			k += m
		}
	}}
}

// truths returns which elements aren't zero: 1 for those. Of bools it is these themselves.
func truths(w move.Words) []byte {
	d := w.Of.DType()
	if d == dtype.Bool {
		return w.Mem
	}
	out := make([]byte, w.Len())
	if d.IsFloat() && d.IsStored() { // the sign, where there is one, is at another place
		v := move.NumericOf(w)
		for i := range out {
			if v.Float(i) != 0 {
				out[i] = 1
			}
		}
	} else {
		conv.Nonzero(out, w.Mem, w.Size, d.IsFloat() || d.IsComplex(), d.IsComplex())
	}
	runtime.KeepAlive(w.Of)
	return out
}

var nonZero = plan.Operator{About: plan.About{Name: "NonZero", Shapes: true, Moves: plan.Moves{In: 1}, Orion: &orionUint32, Versions: []int{9, 13}}, Least: 1,
	Move: func(c *plan.Use) plan.Mover { return nonzeros(c.In(0)) }}
