package onnx

import (
	"fmt"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// The operators on sequences and optionals. Sequences don't change: an operator makes a new one, whose items are the items of
// the old one. Source: docs/Operators.md of github.com/onnx/onnx.

// sequence returns input j, which must be a sequence.
func (k *valueCall) sequence(j int) (*sequence, error) {
	if k.in[j].Kind() != KindSequence {
		return nil, input(j, failf("%w: it is %v; the operator takes a sequence", tensor.ErrDType, k.in[j]))
	}
	return k.in[j].seq, nil
}

// given reports whether input j is there.
func (k *valueCall) given(j int) bool { return j < len(k.s.in) && k.s.in[j] >= 0 }

// place returns the position that input j speaks of, among n; def if it is absent.
func (k *valueCall) place(j, n, def int) (int, error) {
	if !k.given(j) {
		return def, nil
	}
	at, err := whole(&k.in[j])
	switch {
	case err != nil:
		return 0, input(j, err)
	case at < -int64(len(k.in[0].seq.items)) || at >= int64(n):
		return 0, input(j, failf("%w: position %d in a sequence of %d", tensor.ErrShape, at, len(k.in[0].seq.items)))
	case at < 0:
		at += int64(len(k.in[0].seq.items))
	}
	return int(at), nil
}

func emptySequence(k *valueCall) (Value, error) {
	d := (&Type{Kind: KindTensor, Elem: ElemType(k.attrs.Int("dtype", int64(ElemFloat32)))}).elem()
	if d == noElem {
		return Value{}, inAttr("dtype", failf("%w: sequences of %v", ErrUnsupported, ElemType(k.attrs.Int("dtype", 1))))
	}
	if dtype.DType(d).IsFloat() && k.c.fixed != dtype.Invalid {
		d = elem(k.c.fixed)
	}
	return sequenceOf(d, nil), nil
}

func construct(k *valueCall) (Value, error) {
	items := make([]*Value, len(k.in))
	for j := range k.in {
		if _, err := k.tensor(j); err != nil {
			return Value{}, err
		}
		v := k.in[j]
		if items[j] = &v; v.elem() != k.in[0].elem() {
			return Value{}, input(j, failf("%w: it holds %v, the first %v; a sequence is of one type", tensor.ErrDType, v.elem(), k.in[0].elem()))
		}
	}
	return sequenceOf(k.in[0].elem(), items), nil
}

func insert(k *valueCall) (Value, error) {
	seq, err := k.sequence(0)
	if err != nil {
		return Value{}, err
	}
	if _, err := k.tensor(1); err != nil {
		return Value{}, err
	}
	v := k.in[1]
	if d := seq.elem; d != noElem && d != v.elem() {
		return Value{}, input(1, failf("%w: it holds %v, the sequence is of %v", tensor.ErrDType, v.elem(), d))
	}
	at, err := k.place(2, len(seq.items)+1, len(seq.items))
	if err == nil {
		err = k.roomFor(len(seq.items) + 1)
	}
	if err != nil {
		return Value{}, err
	}
	items := make([]*Value, 0, len(seq.items)+1)
	items = append(append(append(items, seq.items[:at]...), &v), seq.items[at:]...)
	return sequenceOf(v.elem(), items), nil
}

func erase(k *valueCall) (Value, error) {
	seq, err := k.sequence(0)
	if err != nil {
		return Value{}, err
	}
	at, err := k.place(1, len(seq.items), len(seq.items)-1)
	if err == nil && at < 0 {
		err = input(0, failf("%w: the sequence is empty", tensor.ErrShape))
	}
	if err != nil {
		return Value{}, err
	}
	return sequenceOf(seq.elem, slices.Delete(slices.Clone(seq.items), at, at+1)), nil
}

func sequenceAt(k *valueCall) (Value, error) {
	seq, err := k.sequence(0)
	if err != nil {
		return Value{}, err
	}
	at, err := k.place(1, len(seq.items), 0)
	if err != nil {
		return Value{}, err
	}
	return *seq.items[at], nil
}

func sequenceLength(k *valueCall) (Value, error) {
	seq, err := k.sequence(0)
	if err != nil {
		return Value{}, err
	}
	return k.fresh(tensor.Scalar(int64(len(seq.items))).Any()), nil
}

// splitToSequence cuts a tensor into parts of the size, or the sizes, that input 1 says; without it into single entries,
// with the axis or, by keepdims, without.
func splitToSequence(k *valueCall) (Value, error) {
	a, err := k.tensor(0)
	if err != nil {
		return Value{}, err
	}
	axis, err := axisIn(k.attrs.Int("axis", 0), a.Rank())
	if err != nil {
		return Value{}, inAttr("axis", err)
	}
	n, each := a.Dim(axis), 1
	var sizes []int
	if k.given(1) {
		if each, sizes, err = k.sizes(n); err != nil {
			return Value{}, input(1, err)
		}
	}
	count := len(sizes)
	if sizes == nil {
		count = n / each
		if n%each > 0 {
			count++
		}
	}
	if err := k.roomFor(count); err != nil {
		return Value{}, err
	}
	from := make([]int, count+1)
	for i := range count {
		if from[i+1] = min(from[i], n-each) + each; sizes != nil {
			from[i+1] = from[i] + sizes[i]
		}
	}
	if sizes == nil {
		from[count] = n
	}
	list, err := parts(a, axis, from, !k.given(1) && k.attrs.Int("keepdims", 1) == 0)
	if err != nil {
		return Value{}, err
	}
	items := make([]*Value, len(list))
	for i, part := range list {
		v := k.like(part, &k.in[0])
		if k.fr == nil { // a view
			v.own = k.in[0].own
		}
		items[i] = &v
	}
	return sequenceOf(k.in[0].elem(), items), nil
}

// sizes returns the sizes that input 1 of SplitToSequence gives for an axis of n: one size, or all.
func (k *valueCall) sizes(n int) (each int, sizes []int, err error) {
	split, err := k.numbers(1)
	if err != nil {
		return 0, nil, err
	}
	if split.Rank() == 0 {
		size, err := whole(&k.in[1])
		if err == nil && size < 1 {
			err = failf("%w: parts of %d; want at least 1", tensor.ErrShape, size)
		}
		return int(min(size, int64(max(n, 1)))), nil, err
	}
	if split.IsSpec() {
		return 0, nil, op.ErrUnknown
	}
	rest := int64(n)
	add := func(size int64) bool {
		if size < 0 || size > rest {
			err = failf("%w: a part of %d where %d of %d are left", tensor.ErrShape, size, rest, n)
			return false
		}
		rest -= size
		sizes = append(sizes, int(size))
		return true
	}
	sizes = []int{}
	switch {
	case split.Rank() != 1:
		return 0, nil, failf("%w: the sizes are %s; want a number or a list", tensor.ErrShape, tensor.Describe(split))
	case split.DType() == dtype.Int64:
		tensor.ValuesOf[int64](split)(add)
	case split.DType() == dtype.Int32:
		tensor.ValuesOf[int32](split)(func(size int32) bool { return add(int64(size)) })
	default:
		return 0, nil, failf("%w: the sizes are %s; want int64 or int32", tensor.ErrDType, tensor.Describe(split))
	}
	if err == nil && rest > 0 {
		err = failf("%w: the parts leave %d of %d", tensor.ErrShape, rest, n)
	}
	return 1, sizes, err
}

// concatFromSequence joins the items along an axis, by new_axis one that they don't have.
func concatFromSequence(k *valueCall) (Value, error) {
	seq, err := k.sequence(0)
	if err != nil {
		return Value{}, err
	}
	if len(seq.items) == 0 {
		return Value{}, input(0, failf("%w: the sequence is empty, so that the result has no shape", tensor.ErrShape))
	}
	if seq.elem == ofMap {
		return Value{}, input(0, failf("%w: it is %v; the operator joins tensors", tensor.ErrDType, k.in[0]))
	}
	if k.s.node.Attr("axis") == nil {
		return Value{}, failf(`it has no attribute "axis"`)
	}
	stacked := k.attrs.Int("new_axis", 0) != 0
	rank := seq.items[0].a.Rank()
	if stacked {
		rank++
	}
	axis, err := axisIn(k.attrs.Int("axis", 0), rank)
	if err != nil {
		return Value{}, inAttr("axis", err)
	}
	list := make([]tensor.Any, len(seq.items))
	known := true
	for i, item := range seq.items {
		list[i] = item.a
		known = known && hasValue(item.a)
		if !stacked || item.a.Rank() != rank-1 {
			continue
		}
		if list[i], err = withAxis(item.a, axis); err != nil {
			return Value{}, in(fmt.Sprintf("element %d", i), err)
		}
	}
	o, _ := op.Lookup("Concat")
	call := &op.Call{Inputs: list, Attrs: op.AttrMap{"axis": int64(axis)}, Opset: 13}
	if k.fr != nil {
		call.Context = k.fr.ctx
	}
	outs, err := o.Infer(call)
	if err == nil && k.fr != nil {
		err = k.fr.room(size(outs[0]))
	}
	if err == nil && (k.fr != nil || known && reach(outs[0]) <= small) {
		outs, err = o.Run(call)
	}
	if err != nil {
		return Value{}, err
	}
	return k.like(outs[0], seq.items[0]), nil
}

// withAxis is a with an axis of extent 1 more.
func withAxis(a tensor.Any, axis int) (tensor.Any, error) {
	shape := slices.Insert(a.Shape(), axis, 1)
	if a.IsSpec() {
		s, err := tensor.NewSpec(a.DType(), shape...)
		return s.Any(), err
	}
	return tensor.Reshape(a, shape...)
}

func optional(k *valueCall) (Value, error) {
	if !k.given(0) {
		return Nothing(), nil
	}
	return k.in[0], nil
}

func hasElement(k *valueCall) (Value, error) {
	return k.fresh(tensor.Scalar(k.given(0) && k.in[0].seq != nothing).Any()), nil
}

func getElement(k *valueCall) (Value, error) {
	if k.in[0].seq == nothing {
		return Value{}, input(0, failf("%w: the optional holds nothing; OptionalHasElement tells", tensor.ErrValue))
	}
	return k.in[0], nil
}
