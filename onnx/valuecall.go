package onnx

import (
	"fmt"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/onnx/internal/text"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A valueCall is one use of a valueOp, in a run or while inferring.
type valueCall struct {
	c      *compiled
	i      int // of the step
	s      *step
	attrs  *attrs
	in     []Value // the inputs; the zero Value where one is absent, or unknown while inferring
	around []Value // all values of the graph
	fr     *frame  // nil while inferring
	need   int64   // while inferring: bytes besides the results
}

// keep returns the value that make made of the step's attributes, the first time or before.
func keep[T any](k *valueCall, make func() (T, error)) (v T, err error) {
	k.s.read.Do(func() { k.s.read.v, k.s.read.err = make() })
	if k.s.read.err != nil {
		return v, k.s.read.err
	}
	return k.s.read.v.(T), nil
}

// table is that of the strings among the results.
func (k *valueCall) table() *text.Table {
	if k.fr != nil {
		return k.fr.text
	}
	return k.c.text
}

// numbers returns input j, which must be a tensor of numbers.
func (k *valueCall) numbers(j int) (tensor.Any, error) {
	if k.in[j].text != nil {
		return tensor.Any{}, input(j, failf("%w: it is %v; the operator takes numbers there", tensor.ErrDType, k.in[j]))
	}
	return k.tensor(j)
}

// strings returns input j, which must be a tensor of strings.
func (k *valueCall) strings(j int) (*Value, error) {
	if k.in[j].text == nil {
		return nil, input(j, failf("%w: it is %v; the operator takes strings there", tensor.ErrDType, k.in[j]))
	}
	return &k.in[j], nil
}

// apply runs the step's operator of package op; while inferring it describes the results.
func (k *valueCall) apply(inputs []tensor.Any) ([]tensor.Any, error) {
	return k.applyAs(k.c.ops[k.i], k.s.node, int(k.s.opset), inputs)
}

// applyAs is apply for an operator with the attributes of a node.
func (k *valueCall) applyAs(o *op.Op, node *Node, opset int, inputs []tensor.Any) ([]tensor.Any, error) {
	a := &attrs{node: node, tensors: k.attrs.tensors, kept: k.s.kept}
	call := &op.Call{Attrs: a, Opset: opset, Outputs: len(k.s.out), Inputs: inputs}
	if err := checkAxes(node, o, inputs); err != nil {
		return nil, err
	}
	outs, err := o.Infer(call)
	if k.fr != nil {
		if err == nil {
			var need int64
			for _, out := range outs {
				need = add(need, max(size(out), 0))
			}
			if err := k.fr.room(need); err != nil {
				return nil, err
			}
		}
		call.Context = k.fr.ctx
		outs, err = o.Run(call)
	}
	if a.wrong != nil {
		err = a.wrong
	}
	if err == nil {
		err = checkRanks(outs)
	}
	return outs, err
}

// intern adds a string to the table of the run.
func (k *valueCall) intern(s string) (int32, error) {
	t := k.fr.text
	if i, ok := t.Find(s); ok {
		return i, nil
	}
	if t.Len() == math.MaxInt32 {
		return 0, failf("%w: the run makes more than %d different strings", tensor.ErrMemory, math.MaxInt32)
	}
	if err := k.fr.room(int64(len(s)) + text.PerString); err != nil {
		return 0, err
	}
	return t.Add(s), nil
}

// stringsOf returns strings by their numbers as a result.
func (k *valueCall) stringsOf(list []int32, shape []int) Value {
	v := k.fresh(shaped(list, shape))
	v.text = k.table()
	return v
}

// inferred is a result that is known only in its type; nothing where shape is nil.
func (k *valueCall) inferred(e elem, shape []int) (Value, error) {
	v := describedAs(e, shape...)
	if !v.known() {
		return v, failf("%w: a result of shape %v", tensor.ErrShape, shape)
	}
	return v, nil
}

// tensors goes over the tensors that the inputs are or hold.
func (k *valueCall) tensors(yield func(*Value) bool) {
	for j := range k.in {
		v := &k.in[j]
		if v.seq == nil {
			if !yield(v) {
				return
			}
		} else if !v.seq.tensors(yield) {
			return
		}
	}
}

// tensors goes over the tensors that the items are or hold. It reports whether yield asked for all.
func (q *sequence) tensors(yield func(*Value) bool) bool {
	for _, item := range q.items {
		if item.seq == nil && !yield(item) || item.seq != nil && !item.seq.tensors(yield) {
			return false
		}
	}
	return true
}

// input names input j in an error.
func input(j int, err error) error { return in(fmt.Sprintf("input %d", j), err) }

// truth returns the only element of a tensor of bool.
func truth(v *Value) (bool, error) {
	if !v.isTensor() || v.a.DType() != dtype.Bool || v.a.Len() != 1 {
		return false, failf("%w: it is %v; a condition is one bool", tensor.ErrDType, *v)
	}
	if v.a.IsSpec() {
		return false, op.ErrUnknown
	}
	for b := range tensor.ValuesOf[bool](v.a) {
		return b, nil
	}
	return false, op.ErrUnknown
}

// whole returns the only element of a tensor of int64 or int32.
func whole(v *Value) (int64, error) {
	if !v.isTensor() || v.text != nil || v.a.DType() != dtype.Int64 && v.a.DType() != dtype.Int32 || v.a.Len() != 1 {
		return 0, failf("%w: it is %v; it must be one int64", tensor.ErrDType, *v)
	}
	if v.a.IsSpec() {
		return 0, op.ErrUnknown
	}
	if v.a.DType() == dtype.Int32 {
		for x := range tensor.ValuesOf[int32](v.a) {
			return int64(x), nil
		}
	}
	for x := range tensor.ValuesOf[int64](v.a) {
		return x, nil
	}
	return 0, op.ErrUnknown
}

// axisIn resolves a possibly negative axis.
func axisIn(axis int64, rank int) (int, error) {
	if axis < -int64(rank) || axis >= int64(rank) {
		return 0, failf("%w: axis %d of a tensor of rank %d", tensor.ErrAxis, axis, rank)
	}
	if axis < 0 {
		axis += int64(rank)
	}
	return int(axis), nil
}

// fresh is a new tensor as a result.
func (k *valueCall) fresh(a tensor.Any) Value { return Value{a: a, own: fresh} }

// tensor returns input j, which must be a tensor.
func (k *valueCall) tensor(j int) (tensor.Any, error) {
	if !k.in[j].isTensor() {
		return tensor.Any{}, input(j, failf("%w: it is %v; the operator takes a tensor there", tensor.ErrDType, k.in[j]))
	}
	return k.in[j].a, nil
}

// like is a new tensor that holds strings if v does.
func (k *valueCall) like(a tensor.Any, v *Value) Value {
	out := k.fresh(a)
	if v.text != nil {
		out.text = k.table()
	}
	return out
}

// roomFor fails where a sequence of n items takes more memory than there may be, while inferring where it is long.
func (k *valueCall) roomFor(n int) error {
	const itemSize = 256 // about the bytes that an item takes besides its elements
	need := times(n, itemSize)
	if k.fr != nil {
		err := k.fr.room(need)
		if err == nil && need > plan.MostScratch { // without a limit, too: the Go heap would end the program
			var b *mem.Buffer
			if b, err = mem.AllocDirty(int(min(need, math.MaxInt))); err != nil {
				return failf("%w: a sequence of %d items: %v", tensor.ErrMemory, n, err)
			}
			err = b.Close()
		}
		return err
	}
	if n > small {
		return op.ErrUnknown
	}
	k.need = max(k.need, need)
	return nil
}

// times is the bytes of n items of a size, or the largest number.
func times(n int, size int64) int64 { return min(int64(n), math.MaxInt64/size) * size }

// parts cuts a along an axis: extents from[i] to from[i+1], or single entries without the axis. They are views.
func parts(a tensor.Any, axis int, from []int, drop bool) (list []tensor.Any, err error) {
	list = make([]tensor.Any, len(from)-1)
	if a.IsSpec() {
		shape := a.Shape()
		for i := range list {
			part := slices.Clone(shape)
			if part[axis] = from[i+1] - from[i]; drop {
				part = slices.Delete(part, axis, axis+1)
			}
			s, err := tensor.NewSpec(a.DType(), part...)
			if err != nil {
				return nil, err
			}
			list[i] = s.Any()
		}
		return list, nil
	}
	if !a.LayoutRef().Flat() { // a part of a nested axis may have no view
		if a, err = tensor.Contiguous(a); err != nil {
			return nil, err
		}
	}
	idx := make([]tensor.Index, a.Rank())
	for i := range idx {
		idx[i] = tensor.Colon
	}
	for i := range list {
		if idx[axis] = tensor.R(from[i], from[i+1]); drop {
			idx[axis] = tensor.I(from[i])
		}
		if list[i], err = tensor.Slice(a, idx...); err != nil {
			return nil, err
		}
	}
	return list, nil
}
