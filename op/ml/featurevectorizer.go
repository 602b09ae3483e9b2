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

// FeatureVectorizer returns the rows of all x side by side, as float32. Each of them is [rows, …], where all other axes
// together are the features of a row, or one row [features]. sizes says how many columns of the result each takes: further features are left out, and missing ones are
// 0; without sizes it is as many as there are. Elements are rounded once. It panics when numbers of rows differ, or
// sizes are of another number, and for a scalar. FeatureVectorizer of the domain ai.onnx.ml; ranks of 3 and more are as in ONNX Runtime.
func FeatureVectorizer[T float32 | float64 | int32 | int64](xs []tensor.Tensor[T], sizes []int, opts ...op.Option) (r tensor.Tensor[float32]) {
	list := make([]tensor.Any, len(xs))
	for i := range xs {
		list[i] = xs[i].Any()
	}
	besides(list, sizes).Into(exec.Ref(&r), opts)
	return r
}

func besides(xs []tensor.Any, sizes []int) *move.Transfer {
	const name = "FeatureVectorizer"
	plan.PresentAll(name, xs)
	if len(xs) == 0 {
		panic(plan.Fail(name, tensor.ErrShape, "it has no operands; give one or more"))
	}
	if sizes != nil && len(sizes) != len(xs) {
		panic(plan.Fail(name, tensor.ErrShape, "%d sizes for %d operands; give one for each", len(sizes), len(xs)))
	}
	rows, wide := 0, 0
	columns, size := make([]int, len(xs)), make([]int, len(xs))
	for i, x := range xs {
		shape := append([]int{1}, x.Shape()...)
		if len(shape) > 2 {
			shape = shape[1:]
		}
		if len(shape) == 1 {
			panic(plan.Fail(name, tensor.ErrShape, "operand %d is %s; want [rows, features], with any axes of features, or [features]", i, tensor.Describe(x)))
		}
		n, m := shape[0], 1
		for axis, e := range shape[1:] {
			m = plan.Extent(name, axis+1, m, e)
		}
		if i > 0 && n != rows {
			panic(plan.Fail(name, tensor.ErrShape, "operand %d is %s, and operand 0 has %d rows; give as many", i, tensor.Describe(x), rows))
		}
		rows, columns[i], size[i] = n, m, m
		if sizes != nil {
			size[i] = sizes[i]
		}
		if size[i] < 0 || wide+size[i] < wide {
			panic(plan.Fail(name, tensor.ErrShape, "size %d of operand %d can't be had", size[i], i))
		}
		wide += size[i]
	}
	plan.OneType(name, xs...)
	return &move.Transfer{Name: name, D: dtype.Float32, Shape: []int{rows, wide}, In: xs, Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		to := move.NumericOf(dst)
		exec.Split(name, ctx, rows, 10*min(wide, 1<<20)+1, func(from, till int) {
			for row := from; row < till; row++ {
				at := row * wide
				for i := range in {
					src := move.NumericOf(in[i])
					for k := range min(size[i], columns[i]) {
						to.SetReal(at+k, src.Real(row*columns[i]+k))
					}
					for k := columns[i]; k < size[i]; k++ {
						to.SetReal(at+k, 0)
					}
					at += size[i]
				}
			}
		})
	}}
}

var featureVectorizer = plan.Operator{About: plan.About{Name: "FeatureVectorizer", Domain: mlDomain, Versions: []int{1}, Attrs: []string{"inputdimensions"}, Why: mlWhy},
	Least: 1, Most: -1, Takes: plan.Tabular, Move: func(c *plan.Use) plan.Mover {
		sizes, _ := plan.AttrInts(c, "inputdimensions")
		return besides(c.Inputs, sizes)
	}}
