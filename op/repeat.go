package op

import (
	"context"
	"math"
	"sort"

	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Repeat returns a with each entry along axis repeated in place: entry i counts[i]
// times, or all counts[0] times when there is one count. It panics when a count is
// negative or there is another number of them. Elements keep their bits.
// numpy.repeat; Tile repeats the whole.
func Repeat[T num.Elem](a tensor.Tensor[T], counts []int, axis int, opts ...Option) (r tensor.Tensor[T]) {
	repeated(a.Any(), counts, axis).Into(exec.Ref(&r), opts)
	return r
}

func repeated(a tensor.Any, counts []int, axis int) *move.Transfer {
	plan.Present("Repeat", &a)
	shape := a.Shape()
	axis = plan.AxisOf("Repeat", axis, len(shape))
	n := shape[axis]
	if len(counts) != n && len(counts) != 1 {
		panic(plan.Fail("Repeat", tensor.ErrShape, "%d counts for axis %d of extent %d; want one, or one for each entry", len(counts), axis, n))
	}
	total := 0
	of := func(i int) int { return counts[min(i, len(counts)-1)] }
	for i, c := range counts[:min(n, len(counts))] {
		if c < 0 {
			panic(plan.Fail("Repeat", tensor.ErrShape, "entry %d of axis %d is repeated %d times", i, axis, c))
		}
		if c > math.MaxInt-total {
			panic(plan.Fail("Repeat", tensor.ErrOverflow, "the counts add up to more than fits an int"))
		}
		total += c
	}
	if len(counts) == 1 {
		total = plan.Extent("Repeat", axis, n, total)
	}
	out := append([]int{}, shape...)
	out[axis] = total
	plan.Spec("Repeat", a.DType(), out...)
	return &move.Transfer{Name: "Repeat", D: a.DType(), Shape: out, In: []tensor.Any{a}, Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		if before, n, after := move.Around(shape, axis); len(counts) == 1 && after == 1 {
			exec.Split("Repeat", ctx, before*n, max(1, counts[0]/4), func(from, to int) {
				each := counts[0] * dst.Size
				conv.Each(dst.Mem[from*each:to*each], in[0].Mem[from*dst.Size:to*dst.Size], dst.Size, counts[0])
			})
			return
		}
		var pieces []move.Piece
		to := 0
		for i := range n {
			if of(i) > 0 {
				pieces = append(pieces, move.Piece{To: to, From: i, N: of(i), Step: 0})
				to += of(i)
			}
		}
		maps := make([]move.Mapping, len(shape))
		maps[axis] = move.Mapping{N: to, At: func(place int) move.Piece {
			k := sort.Search(len(pieces), func(k int) bool { return pieces[k].To > place })
			return pieces[k-1] // no mapping is asked within a piece
		}}
		move.Remap("Repeat", ctx, dst, in[0], shape, maps, nil)
	}}
}
