package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Tile returns a repeated as a whole, repeats[i] times along axis i. It panics
// unless there is a repeat of at least 0 for every axis. Elements keep their bits.
// ONNX Tile.
func Tile[T num.Elem](a tensor.Tensor[T], repeats []int, opts ...Option) (r tensor.Tensor[T]) {
	tiled(a.Any(), repeats).into(exec.Ref(&r), opts)
	return r
}

func tiled(a tensor.Any, repeats []int) *transfer {
	present("Tile", &a)
	shape := a.Shape()
	if len(repeats) != len(shape) {
		panic(fail("Tile", tensor.ErrShape, "%d repeats for a tensor of rank %d", len(repeats), len(shape)))
	}
	out, maps := make([]int, len(shape)), make([]mapping, len(shape))
	for i, r := range repeats {
		if r < 0 {
			panic(fail("Tile", tensor.ErrShape, "axis %d is repeated %d times", i, r))
		}
		n := shape[i]
		out[i] = extent("Tile", i, n, r)
		switch {
		case out[i] == n:
		case n == 1:
			maps[i] = mapping{r, func(int) run { return run{n: r} }}
		default:
			maps[i] = mapping{out[i], func(place int) run { return run{from: place % n, n: n - place%n, step: 1} }}
		}
	}
	return &transfer{name: "Tile", d: a.DType(), shape: out, in: []tensor.Any{a}, scratch: remapScratch(maps), fill: func(ctx context.Context, dst words, in []words) {
		remap("Tile", ctx, dst, in[0], shape, maps, nil)
	}}
}

var tile = opN{about: about{name: "Tile", flops: flops{free: true}, onnx: []int{6, 13}}, least: 2,
	move: func(c *Call) *transfer {
		repeats, _ := ints("Tile", c, 1)
		return tiled(c.in(0), repeats)
	}}
