package onnx

import (
	"context"
	"fmt"
	"math"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// RunSlices is Session.Call for Go slices: it takes the elements of each of Inputs in row-major order, and returns the elements of
// each of Outputs. The inputs' elements all have type I, and the outputs' type O: other models take Call.
//
// The shape of an input is the one that the model declares. One open size, as N in float32[N,3], follows from the length
// of the slice. It is an error if the length doesn't fit, if more sizes than one are open, or if a type isn't the declared
// one; the error names the input. The slices aren't copied, and results are the caller's own.
func RunSlices[O, I num.Elem](ctx context.Context, s *Session, inputs ...[]I) ([][]O, error) {
	want := s.Inputs()
	list := make([]tensor.Any, len(inputs))
	for i, v := range inputs {
		list[i] = tensor.FromSlice(v).Any()
		if i >= len(want) {
			continue // Call says so
		}
		shape, err := want[i].shapeFor(list[i])
		if err != nil {
			return nil, inFile(s.c.m.file, in(fmt.Sprintf("input %q", want[i].Name), err))
		}
		list[i] = tensor.FromSlice(v, shape...).Any()
	}
	out, err := s.Call(ctx, list...)
	if err != nil {
		return nil, err
	}
	slices := make([][]O, len(out))
	for i, a := range out {
		t, ok := tensor.As[O](a)
		if !ok {
			var one O
			err := failf("%w: it is %s, not of %s; Session.Call gives it", tensor.ErrDType, tensor.Describe(a), tensor.Scalar(one).Any().DType())
			return nil, inFile(s.c.m.file, in(fmt.Sprintf("output %q", s.c.g.Outputs[i].Name), err))
		}
		slices[i] = t.Elems()
	}
	return slices, nil
}

// shapeFor returns the shape that v declares for a list of elements.
func (v *ValueInfo) shapeFor(list tensor.Any) ([]int, error) {
	n, t := list.Len(), &v.Type
	switch {
	case t.Kind != KindTensor:
		return nil, failf("wants %v, which is no tensor; Session.RunValues takes it", *t)
	case t.Elem != ElemOf(list.DType()):
		return nil, failf("%w: wants %v, got a slice of %s", tensor.ErrDType, *t, list.DType())
	case !t.HasShape:
		return []int{n}, nil
	}
	shape, fixed, open := make([]int, len(t.Shape)), int64(1), -1 // fixed is the product of known sizes, n + 1 if it is more than n
	for i, d := range t.Shape {
		switch shape[i] = int(min(d.Value, math.MaxInt)); {
		case d.Value < 0 && open >= 0:
			return nil, failf("%w: wants %v, got a slice of %d elements, which doesn't say all sizes; Session.Call takes a tensor", tensor.ErrShape, *t, n)
		case d.Value < 0:
			open = i
		case d.Value > 0 && fixed > int64(n)/d.Value:
			fixed = int64(n) + 1
		default:
			fixed *= d.Value
		}
	}
	if open >= 0 && fixed > 0 && int64(n)%fixed == 0 {
		shape[open] = int(int64(n) / fixed)
		return shape, nil
	}
	if open < 0 && fixed == int64(n) {
		return shape, nil
	}
	return nil, failf("%w: wants %v, got a slice of %d elements", tensor.ErrShape, *t, n)
}
