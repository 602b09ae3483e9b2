package ml

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// ArrayFeatureExtractor returns the elements of a at indices along its last axis: [..., n]
// for n indices, which count in row-major order. It panics when an index is out of
// range, or a has no axis. Elements keep their bits. ArrayFeatureExtractor of the domain
// ai.onnx.ml, whose result of a vector is a row [1, n].
func ArrayFeatureExtractor[T num.Elem, I int32 | int64](a tensor.Tensor[T], indices tensor.Tensor[I], opts ...op.Option) (r tensor.Tensor[T]) {
	extracted(a.Any(), indices.Any()).Into(exec.Ref(&r), opts)
	return r
}

func extracted(a, indices tensor.Any) *move.Transfer {
	const name = "ArrayFeatureExtractor"
	plan.Present(name, &a, &indices)
	move.WantInt(name, 1, indices)
	shape := a.Shape()
	if len(shape) == 0 {
		panic(plan.Fail(name, tensor.ErrShape, "a tensor of rank 0 has no axis to take elements along"))
	}
	last, n := shape[len(shape)-1], indices.Len()
	out := append(append([]int{}, shape[:len(shape)-1]...), n)
	return &move.Transfer{Name: name, D: a.DType(), Shape: out, In: move.OperandsOf(a, indices), Picky: true, Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		at := in[1].Places(name)
		for i, v := range at {
			if v < 0 || v >= int64(last) {
				panic(plan.Fail(name, tensor.ErrIndex, "index %d at %d; the last axis has %d elements", v, i, last))
			}
		}
		move.TakeEntries(name, ctx, dst, in, shape, len(shape)-1, at)
	}}
}

var arrayFeatureExtractor = plan.Operator{About: plan.About{Name: "ArrayFeatureExtractor", Moves: plan.Moves{In: 1, Out: 1}, Domain: "ai.onnx.ml", Versions: []int{1}}, Least: 2,
	Move: func(c *plan.Use) plan.Mover {
		m := extracted(c.In(0), c.In(1))
		if len(m.Shape) == 1 && !c.Orion() { // ONNX Runtime and ONNX's reference give a row, Orion a vector
			m.Shape = []int{1, m.Shape[0]}
		}
		return m
	}}
