package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Tile returns a repeated as a whole, repeats[i] times along axis i. It panics
// unless there is a repeat of at least 0 for every axis. Elements keep their bits.
// ONNX Tile.
func Tile[T num.Elem](a tensor.Tensor[T], repeats []int, opts ...Option) (r tensor.Tensor[T]) {
	tiled(a.Any(), repeats).Into(exec.Ref(&r), opts)
	return r
}

func tiled(a tensor.Any, repeats []int) *move.Transfer {
	plan.Present("Tile", &a)
	shape := a.Shape()
	if len(repeats) != len(shape) {
		panic(plan.Fail("Tile", tensor.ErrShape, "%d repeats for a tensor of rank %d", len(repeats), len(shape)))
	}
	out, maps := make([]int, len(shape)), make([]move.Mapping, len(shape))
	for i, r := range repeats {
		if r < 0 {
			panic(plan.Fail("Tile", tensor.ErrShape, "axis %d is repeated %d times", i, r))
		}
		n := shape[i]
		out[i] = plan.Extent("Tile", i, n, r)
		switch {
		case out[i] == n:
		case n == 1:
			maps[i] = move.Mapping{N: r, At: func(int) move.Piece { return move.Piece{N: r} }}
		default:
			maps[i] = move.Mapping{N: out[i], At: func(place int) move.Piece { return move.Piece{From: place % n, N: n - place%n, Step: 1} }}
		}
	}
	return &move.Transfer{Name: "Tile", D: a.DType(), Shape: out, In: []tensor.Any{a}, Price: plan.Taking(move.RemapScratch(maps), 0), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		move.Remap("Tile", ctx, dst, in[0], shape, maps, nil)
	}}
}

var tile = plan.Operator{About: plan.About{Name: "Tile", Shapes: true, PerAxis: 0b10, Moves: plan.Moves{In: 1, Out: 1}, FLOPs: plan.FLOPs{Free: true}, Versions: []int{6, 13}}, Least: 2,
	Move: func(c *plan.Use) plan.Mover {
		repeats, _ := move.Ints("Tile", c, 1)
		return tiled(c.In(0), repeats)
	}}
