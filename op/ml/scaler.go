package ml

import (
	"context"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// The operators of the domain ai.onnx.ml that take tables of features.
const (
	mlDomain = "ai.onnx.ml"
	mlWhy    = "ONNX gives it float32, float64, int32 and int64 alone: Cast first"
)

// Scaler returns (x − offset)·scale as float32, computed in float64 and rounded once.
// offset and scale have one number, or one for each index of the last axis. It panics
// when they have another number of them, or x has no axis. Integers of 64 bits are
// rounded to float64 first; NaN stays NaN. Scaler of the domain ai.onnx.ml.
func Scaler[T float32 | float64 | int32 | int64](x tensor.Tensor[T], offset, scale []float32, opts ...op.Option) (r tensor.Tensor[float32]) {
	scaled(x.Any(), offset, scale).Into(exec.Ref(&r), opts)
	return r
}

func scaled(x tensor.Any, offset, scale []float32) *move.Transfer {
	const name = "Scaler"
	plan.Present(name, &x)
	n := columnsOf(name, x)
	perColumn(name, "offset", len(offset), n, x)
	perColumn(name, "scale", len(scale), n, x)
	return &move.Transfer{Name: name, D: dtype.Float32, Shape: x.Shape(), In: []tensor.Any{x, plan.ListOf(offset), plan.ListOf(scale)}, Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		src, to := move.NumericOf(in[0]), move.NumericOf(dst)
		exec.Split(name, ctx, dst.Len(), 10, func(from, till int) {
			for i := from; i < till; i++ {
				c := i % n
				to.SetFloat(i, (src.Real(i)-float64(offset[c%len(offset)]))*float64(scale[c%len(scale)]))
			}
		})
	}}
}

// perColumn panics unless there is one number, or one for each column.
func perColumn(name, what string, n, columns int, x tensor.Any) {
	if n != 1 && (n != columns || n == 0) {
		panic(plan.Fail(name, tensor.ErrShape, "%s has %d numbers, input 0 is %s; want 1 or %d, one for each index of the last axis", what, n, tensor.Describe(x), columns))
	}
}

var scaler = plan.Operator{About: plan.About{Name: "Scaler", Domain: mlDomain, Versions: []int{1}, Attrs: []string{"offset", "scale"}, Why: mlWhy}, Least: 1, Takes: plan.Tabular,
	Move: func(c *plan.Use) plan.Mover {
		offset, scale := floatsOr(c, "offset", 0), floatsOr(c, "scale", 1)
		return scaled(c.In(0), offset, scale)
	}}

// floatsOr returns an attribute of numbers, or def alone.
func floatsOr(c *plan.Use, name string, def float32) []float32 {
	if v, ok := c.Attrs.Floats(name); ok {
		return v
	}
	return []float32{def}
}

// columnsOf returns the extent of the last axis.
func columnsOf(name string, x tensor.Any) int {
	if x.Rank() == 0 {
		panic(plan.Fail(name, tensor.ErrShape, "a tensor of rank 0 has no axis of features"))
	}
	return x.Dim(x.Rank() - 1)
}
