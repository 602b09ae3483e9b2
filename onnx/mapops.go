package onnx

import (
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// Operators of the domain ai.onnx.ml on maps. Source: docs/Operators-ml.md of github.com/onnx/onnx.

// vocabulary returns the attribute of strings or that of integers as keys.
func (k *valueCall) vocabulary(strings, ints string) (keys Value, err error) {
	names, _ := k.attrs.Strs(strings)
	numbers, _ := k.attrs.Ints(ints)
	switch {
	case len(names) > 0 && len(numbers) > 0:
		return keys, failf("%w: it has both %s and %s", tensor.ErrValue, strings, ints)
	case len(names) == 0:
		return k.fresh(tensor.FromSlice(numbers, len(numbers)).Any()), nil
	}
	if k.fr == nil {
		return k.inferred(ofString, []int{len(names)})
	}
	list := make([]int32, len(names))
	for i, s := range names {
		if list[i], err = k.intern(s); err != nil {
			return keys, err
		}
	}
	return k.stringsOf(list, []int{len(list)}), nil
}

// zipMap makes a map of each row: from labels to its numbers.
func zipMap(k *valueCall) (Value, error) {
	a, err := k.numbers(0)
	if err != nil {
		return Value{}, err
	}
	keys, err := k.vocabulary("classlabels_strings", "classlabels_int64s")
	if err != nil {
		return Value{}, err
	}
	rows, columns := 1, 0
	switch a.Rank() {
	case 1:
		columns = a.Dim(0)
	case 2:
		rows, columns = a.Dim(0), a.Dim(1)
	default:
		return Value{}, input(0, failf("%w: it is %v; want [rows, classes] or [classes]", tensor.ErrShape, k.in[0]))
	}
	if n := keys.a.Len(); n != columns {
		return Value{}, input(0, failf("%w: it has %d columns for %d labels", tensor.ErrShape, columns, n))
	}
	if k.fr == nil {
		return Value{}, op.ErrUnknown
	}
	if err := k.roomFor(3 * rows); err != nil {
		return Value{}, err
	}
	list := []tensor.Any{a}
	if a.Rank() == 2 {
		from := make([]int, rows+1)
		for i := range from {
			from[i] = i
		}
		if list, err = parts(a, 0, from, true); err != nil {
			return Value{}, err
		}
	}
	items := make([]*Value, rows)
	for i, row := range list {
		vals := k.fresh(row)
		items[i] = &Value{seq: &sequence{KindMap, []*Value{&keys, &vals}, vals.elem()}}
	}
	return sequenceOf(ofMap, items), nil
}

// mapInput returns the keys and values of input 0, which must be a map.
func (k *valueCall) mapInput() (keys, vals *Value, err error) {
	v := &k.in[0]
	if v.Kind() != KindMap {
		return nil, nil, input(0, failf("%w: it is %v; the operator takes a map", tensor.ErrDType, *v))
	}
	return v.seq.items[0], v.seq.items[1], nil
}

// places are where the keys of a map stand.
func (v *Value) places() map[any]int64 {
	m := make(map[any]int64, v.a.Len())
	i := int64(0)
	v.eachKey(func(key any) {
		m[key] = i
		i++
	})
	return m
}

// vectorize is DictVectorizer: the values of the keys that a vocabulary lists, zeros for the keys that the map doesn't have.
func vectorize(k *valueCall) (Value, error) {
	keys, vals, err := k.mapInput()
	if err != nil {
		return Value{}, err
	}
	words, err := k.vocabulary("string_vocabulary", "int64_vocabulary")
	if err != nil {
		return Value{}, err
	}
	if (words.text == nil) != (keys.text == nil) {
		return Value{}, input(0, failf("%w: it is %v, and the vocabulary is of %v", tensor.ErrDType, k.in[0], words.elem()))
	}
	shape := []int{1, words.a.Len()}
	if k.fr == nil {
		return k.inferred(vals.elem(), shape)
	}
	at := make([]int64, 0, words.a.Len())
	places, absent := keys.places(), int64(vals.a.Len())
	words.eachKey(func(key any) {
		p, ok := places[key]
		if !ok {
			p = absent
		}
		at = append(at, p)
	})
	zero, err := tensor.Make(vals.a.DType(), 1)
	if err != nil {
		return Value{}, err
	}
	list, err := k.pick(vals.a, zero, at)
	if err != nil {
		return Value{}, err
	}
	return k.like(list.Reshape(shape...), vals), nil
}

// eachKey goes over the elements of a tensor of int64 or strings.
func (v *Value) eachKey(f func(key any)) {
	for x := range v.a.Values() {
		if i, ok := x.(int32); ok && v.text != nil {
			x = v.text.At(i)
		}
		f(x)
	}
}

// pick returns the elements of a, followed by one more, at places.
func (k *valueCall) pick(a, more tensor.Any, at []int64) (tensor.Any, error) {
	join, _ := op.Lookup("Concat")
	both, err := join.Run(&op.Call{Inputs: []tensor.Any{a, more}, Attrs: op.AttrMap{"axis": int64(0)}, Opset: 13})
	if err != nil {
		return tensor.Any{}, err
	}
	gather, _ := op.Lookup("Gather")
	out, err := gather.Run(&op.Call{Inputs: []tensor.Any{both[0], tensor.FromSlice(at, len(at)).Any()}, Attrs: op.AttrMap(nil), Opset: 13})
	if err != nil {
		return tensor.Any{}, err
	}
	return out[0], nil
}

// castMap is CastMap: the values of a map in the order of its keys, or each at the place that its key says.
func castMap(k *valueCall) (Value, error) {
	keys, vals, err := k.mapInput()
	if err != nil {
		return Value{}, err
	}
	if keys.text != nil {
		return Value{}, input(0, failf("%w: it is %v; the keys must be integers", tensor.ErrDType, k.in[0]))
	}
	to := map[string]ElemType{"TO_FLOAT": ElemFloat32, "TO_INT64": ElemInt64, "TO_STRING": ElemString}[k.attrs.Str("cast_to", "TO_FLOAT")]
	if to == ElemUndefined {
		return Value{}, inAttr("cast_to", failf("%w: it is %.40q; want TO_FLOAT, TO_INT64 or TO_STRING", tensor.ErrValue, k.attrs.Str("cast_to", "")))
	}
	n, form := vals.a.Len(), k.attrs.Str("map_form", "DENSE")
	most := k.attrs.Int("max_map", 1)
	places := keys.places()
	var at []int64
	switch form {
	case "DENSE":
		order := slices.Collect(tensor.ValuesOf[int64](keys.a))
		slices.Sort(order)
		for _, key := range order {
			at = append(at, places[key])
		}
	case "SPARSE":
		if most < 0 {
			return Value{}, inAttr("max_map", failf("%w: it is %d", tensor.ErrValue, most))
		}
		if err := k.roomFor(int(min(most, 1<<40) / 16)); err != nil {
			return Value{}, err
		}
		for key := range tensor.ValuesOf[int64](keys.a) {
			if key < 0 || key >= most {
				return Value{}, input(0, failf("%w: key %d; max_map allows 0 to %d", tensor.ErrIndex, key, most-1))
			}
		}
		for key := range most {
			p, ok := places[key]
			if !ok {
				p = int64(n)
			}
			at = append(at, p)
		}
	default:
		return Value{}, inAttr("map_form", failf("%w: it is %.40q; want DENSE or SPARSE", tensor.ErrValue, form))
	}
	e := (&Type{Kind: KindTensor, Elem: to}).elem()
	shape := []int{1, len(at)}
	if k.fr == nil {
		return k.inferred(e, shape)
	}
	zero, err := tensor.Make(vals.a.DType(), 1)
	if err != nil {
		return Value{}, err
	}
	if vals.text != nil && to != ElemString { // the number of a missing key is 0
		i, err := k.intern("0")
		if err != nil {
			return Value{}, err
		}
		zero = shaped([]int32{i}, []int{1})
	}
	if vals.text == nil && to == ElemString {
		v, err := k.castTo(vals.a)
		if err != nil {
			return Value{}, err
		}
		if zero, err = tensor.Make(dtype.Int32, 1); err != nil {
			return Value{}, err
		}
		vals = &v
	}
	a, err := k.pick(vals.a, zero, at)
	if err != nil {
		return Value{}, err
	}
	v := k.like(a.Reshape(shape...), vals)
	switch {
	case to == ElemString:
		return v, nil
	case v.text != nil:
		return k.castFrom(&v, dtype.DType(e))
	}
	cast, _ := op.Lookup("Cast")
	outs, err := k.applyAs(cast, &Node{Attributes: []Attribute{IntAttr("to", int64(to))}}, 13, []tensor.Any{v.a})
	if err != nil {
		return Value{}, err
	}
	return k.fresh(outs[0]), nil
}
