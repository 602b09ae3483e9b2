package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ArrayFeatureExtractor returns the elements of a at indices along its last axis: [..., n]
// for n indices, which count in row-major order. It panics when an index is out of
// range, or a has no axis. Elements keep their bits. ArrayFeatureExtractor of the domain
// ai.onnx.ml, whose result of a vector is a row [1, n].
func ArrayFeatureExtractor[T num.Elem, I int32 | int64](a tensor.Tensor[T], indices tensor.Tensor[I], opts ...Option) (r tensor.Tensor[T]) {
	extracted(a.Any(), indices.Any()).into(exec.Ref(&r), opts)
	return r
}

func extracted(a, indices tensor.Any) *transfer {
	const name = "ArrayFeatureExtractor"
	present(name, &a, &indices)
	wantInt(name, 1, indices)
	shape := a.Shape()
	if len(shape) == 0 {
		panic(fail(name, tensor.ErrShape, "a tensor of rank 0 has no axis to take elements along"))
	}
	last, n := shape[len(shape)-1], indices.Len()
	out := append(append([]int{}, shape[:len(shape)-1]...), n)
	return &transfer{name: name, d: a.DType(), shape: out, in: operandsOf(a, indices), picky: true, fill: func(ctx context.Context, dst words, in []words) {
		at := in[1].places(name)
		for i, v := range at {
			if v < 0 || v >= int64(last) {
				panic(fail(name, tensor.ErrIndex, "index %d at %d; the last axis has %d elements", v, i, last))
			}
		}
		takeEntries(name, ctx, dst, in, shape, len(shape)-1, at)
	}}
}

var arrayFeatureExtractor = opN{about: about{name: "ArrayFeatureExtractor", domain: "ai.onnx.ml", onnx: []int{1}}, least: 2,
	move: func(c *Call) *transfer {
		m := extracted(c.in(0), c.in(1))
		if len(m.shape) == 1 && !c.orion() { // ONNX Runtime and ONNX's reference give a row, Orion a vector
			m.shape = []int{1, m.shape[0]}
		}
		return m
	}}
