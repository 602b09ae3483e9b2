package onnx

import (
	"fmt"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

// Sparse weights, and Constants that hold one, become dense tensors in each run that reads them. So the plan and
// Options.MaxMemory see the dense form, whose size no file bounds, and it goes after its last use. Source:
// SparseTensorProto in onnx/onnx.proto of github.com/onnx/onnx.

// constantOf is a node that gives a sparse weight.
func constantOf(t *SparseTensor) *Node {
	return &Node{Name: t.Values.Name, Op: "Constant", Outputs: []string{t.Values.Name},
		Attributes: []Attribute{{Name: "sparse_value", Type: AttrSparseTensor, Value: t}}}
}

// dense runs such a node.
var dense *valueOp

func init() { dense = simple("Constant", 0, 0, densified, []string{"sparse_value"}, 11) }

// checkSparse looks at a sparse tensor, which the only attribute of step s holds.
func (c *compiled) checkSparse(s *step, t *SparseTensor, missing func(format string, args ...any)) error {
	a := &s.node.Attributes[0]
	if a.Name != "sparse_value" || len(s.out) != 1 || s.out[0] < 0 || len(s.in) != 0 {
		return failf("it has attribute %.40q, %d inputs and %d outputs; a Constant has a sparse_value and one output", a.Name, len(s.in), len(s.out))
	}
	why := t.Values.unsupported()
	if t.Values.Type == ElemString {
		why = "strings in sparse form"
	}
	if why != "" {
		missing("%s", why)
		return nil
	}
	if _, err := c.m.places(t); err != nil {
		return err
	}
	if err := t.Values.checkElems(); err != nil {
		return in("values", err)
	}
	s.value = dense
	return nil
}

// places returns the position in the dense form of each value that a sparse tensor lists, and fails unless they ascend.
func (m *Model) places(t *SparseTensor) ([]int64, error) {
	n, _, err := t.Values.check()
	if err != nil {
		return nil, in("values", err)
	}
	whole := TensorProto{Dims: t.Dims}
	size, err := whole.Len()
	if err != nil {
		return nil, err
	}
	shape, err := whole.Shape()
	switch {
	case err != nil:
		return nil, err
	case len(t.Values.Dims) != 1:
		return nil, in("values", failf("%w: their shape is %v; it has one axis", tensor.ErrShape, t.Values.Dims))
	case t.Indices.Type != ElemInt64:
		return nil, in("indices", failf("%w: they are of %v; they are of int64", tensor.ErrDType, t.Indices.Type))
	}
	rank := len(shape)
	d := t.Indices.Dims
	if flat := len(d) == 1; flat && d[0] != int64(n) || !flat && (len(d) != 2 || d[0] != int64(n) || d[1] != int64(rank)) {
		return nil, in("indices", failf("%w: their shape is %v; for %d values of rank %d it is [%d] or [%d,%d]", tensor.ErrShape, d, n, rank, n, n, rank))
	}
	list, err := m.load(&t.Indices)
	if err != nil {
		return nil, in("indices", err)
	}
	places := make([]int64, 0, n)
	var at int64
	k, axis := 0, 0
	for v := range tensor.ValuesOf[int64](list) {
		limit := int64(size)
		if len(d) == 2 {
			limit = int64(shape[axis])
		}
		if v < 0 || v >= limit {
			return nil, in("indices", failf("%w: index %d of value %d is outside of [0,%d)", tensor.ErrShape, v, k, limit))
		}
		if at = at*limit + v; len(d) == 1 {
			at = v
		}
		if axis++; len(d) == 2 && axis < rank {
			continue
		}
		if k > 0 && at <= places[k-1] {
			return nil, in("indices", failf("%w: that of value %d isn't greater than the one before", tensor.ErrValue, k))
		}
		places = append(places, at)
		k, at, axis = k+1, 0, 0
	}
	for len(places) < n { // of rank 0 there are no indices
		if len(places) == 1 {
			return nil, in("values", failf("%w: %d for one element", tensor.ErrShape, n))
		}
		places = append(places, 0)
	}
	return places, nil
}

// densified is the dense form of the sparse tensor that the call's node holds.
func densified(k *valueCall) (Value, error) {
	t := k.s.node.Attributes[0].Value.(*SparseTensor)
	d, _ := t.Values.Type.DType()
	whole := TensorProto{Dims: t.Dims}
	shape, err := whole.Shape()
	if err != nil {
		return Value{}, err
	}
	s, err := tensor.NewSpec(d, shape...)
	if err != nil {
		return Value{}, err
	}
	a := s.Any()
	if k.fr == nil && reach(a) > small {
		a, err = toFixedIf(a, k.c.fixed)
		return Value{a: a}, err
	}
	if k.fr != nil {
		if err := k.fr.room(size(a)); err != nil {
			return Value{}, err
		}
	}
	places, err := k.c.m.places(t)
	if err != nil {
		return Value{}, err
	}
	values, err := k.c.m.load(&t.Values)
	if err != nil {
		return Value{}, in("values", err)
	}
	if a, err = tensor.Make(d, shape...); err != nil {
		return Value{}, err
	}
	from, ok := tensor.Bytes(values)
	to, also := tensor.Bytes(a)
	if !ok || !also {
		return Value{}, failf("the elements of %v have no bytes", d)
	}
	w := d.Size()
	for i, at := range places {
		copy(to[int(at)*w:][:w], from[i*w:])
	}
	if a, err = toFixedIf(a, k.c.fixed); err != nil {
		return Value{}, in(fmt.Sprintf("tensor %q", k.s.node.Outputs[0]), err)
	}
	return k.fresh(a), nil
}

// toFixedIf is toFixed where a session runs in fixed point.
func toFixedIf(a tensor.Any, d dtype.DType) (tensor.Any, error) {
	if d == dtype.Invalid {
		return a, nil
	}
	return toFixed(a, d)
}
