package op

import (
	"context"
	"math"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Triu returns the matrices in the last two axes of a with the elements below
// diagonal k set to zero: k = 0 is the main diagonal, 1 the one above it. It
// panics when a has fewer than two axes. Elements keep their bits. ONNX Trilu,
// numpy.triu.
func Triu[T num.Elem](a tensor.Tensor[T], k int, opts ...Option) (r tensor.Tensor[T]) {
	triangle(a.Any(), k, true).Into(exec.Ref(&r), opts)
	return r
}

// Tril is Triu with the elements above the diagonal set to zero. ONNX Trilu,
// numpy.tril.
func Tril[T num.Elem](a tensor.Tensor[T], k int, opts ...Option) (r tensor.Tensor[T]) {
	triangle(a.Any(), k, false).Into(exec.Ref(&r), opts)
	return r
}

func triangle(a tensor.Any, k int, upper bool) *move.Transfer {
	plan.Present("Trilu", &a)
	shape := a.Shape()
	if len(shape) < 2 {
		panic(plan.Fail("Trilu", tensor.ErrShape, "%s has no matrices; it needs two axes", tensor.Describe(a)))
	}
	return &move.Transfer{Name: "Trilu", D: a.DType(), Shape: shape, In: []tensor.Any{a}, Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		rows, cols := shape[len(shape)-2], shape[len(shape)-1]
		if dst.Len() == 0 {
			return
		}
		k := max(min(k, cols), -rows) // beyond, nothing changes
		zero := make([]byte, dst.Size)
		exec.Split("Trilu", ctx, dst.Len()/cols, cols/4, func(from, to int) {
			for r := from; r < to; r++ {
				on := max(0, min(r%rows+k, cols)) // the first element on the diagonal or above
				lo, hi := on, cols
				if !upper {
					lo, hi = 0, max(0, min(r%rows+k+1, cols))
				}
				at := r * cols
				dst.Fill(at, lo, zero)
				dst.Copy(at+lo, in[0], at+lo, hi-lo)
				dst.Fill(at+hi, cols-hi, zero)
			}
		})
	}}
}

var trilu = plan.Operator{About: plan.About{Name: "Trilu", Moves: plan.Moves{In: 1, Out: 1}, Shared: true, FLOPs: plan.FLOPs{Free: true}, Versions: []int{14}, Attrs: []string{"upper"}}, Least: 1, Most: 2,
	Move: func(c *plan.Use) plan.Mover {
		k := 0
		if v, ok := move.Ints("Trilu", c, 1); ok {
			if len(v) != 1 {
				panic(plan.Fail("Trilu", tensor.ErrShape, "k has %d elements; want one", len(v)))
			}
			k = max(min(v[0], math.MaxInt/2), math.MinInt/2)
		}
		return triangle(c.In(0), k, c.Attrs.Int("upper", 1) != 0)
	}}
