package onnx

import (
	"cmp"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// Operators of the domain ai.onnx.ml on strings and maps. One that package op has for numbers runs on numbers in place of
// strings, and its labels become strings afterwards. Source: docs/Operators-ml.md of github.com/onnx/onnx.

const mlDomain = "ai.onnx.ml"

func mlFlows() []*flow {
	list := []*flow{
		simple("ZipMap", 1, 1, zipMap, []string{"classlabels_int64s", "classlabels_strings"}, 1),
		simple("DictVectorizer", 1, 1, vectorize, []string{"int64_vocabulary", "string_vocabulary"}, 1),
		simple("CastMap", 1, 1, castMap, []string{"cast_to", "map_form", "max_map"}, 1),
		relabelled("CategoryMapper", categories, []string{"cats_int64s", "cats_strings", "default_int64", "default_string"}, 1),
		relabelled("LabelEncoder", encoded, []string{"classes_strings", "default_string", "keys_strings", "values_strings"}, 1, 2, 4),
		relabelled("OneHotEncoder", func(k *flowCall) (*labelling, error) { return k.given0("cats_strings", "cats_int64s") }, nil, 1),
		relabelled("LinearClassifier", func(k *flowCall) (*labelling, error) { return k.classes("classlabels_ints") }, nil, 1),
		relabelled("SVMClassifier", func(k *flowCall) (*labelling, error) { return k.classes("classlabels_ints") }, nil, 1),
		relabelled("TreeEnsembleClassifier", func(k *flowCall) (*labelling, error) { return k.classes("classlabels_int64s") }, nil, 1, 3),
	}
	for _, f := range list {
		f.domain = mlDomain
	}
	return append(list, relabelled("TfIdfVectorizer", func(k *flowCall) (*labelling, error) { return k.given0("pool_strings", "pool_int64s") }, nil, 9))
}

// stringAttrs are the attributes that make an operator one of strings, by their presence.
var stringAttrs = []string{"cats_strings", "classes_strings", "classlabels_strings", "keys_strings", "keys_tensor", "pool_strings", "values_strings", "values_tensor"}

// asksStrings reports whether an attribute of n asks for strings.
func asksStrings(n *Node) bool {
	for _, name := range stringAttrs {
		a := n.Attr(name)
		if a == nil {
			continue
		}
		switch v := a.Value.(type) {
		case []string:
			if len(v) > 0 {
				return true
			}
		case *TensorProto:
			if v.Type == ElemString {
				return true
			}
		}
	}
	return false
}

// A labelling is an operator of package op that runs on numbers in place of strings.
type labelling struct {
	name   string           // of the operator
	node   *Node            // its attributes
	opset  int              // whose meaning it has; 0 for the node's
	places map[string]int64 // what stands for a string of input 0, of others −1; nil where the input is numbers
	labels []string         // what output 0 stands for, by number; nil where it is numbers
}

// relabelled is the form for strings of an operator that make describes.
func relabelled(name string, make func(k *flowCall) (*labelling, error), attrs []string, versions ...int) *flow {
	f := computed(name, 1, 1, func(k *flowCall) ([]Value, error) {
		l, err := keep(k, func() (*labelling, error) { return make(k) })
		if err != nil {
			return nil, err
		}
		return k.label(l)
	}, attrs, versions...)
	f.asks = asksStrings
	if name == "CategoryMapper" {
		f.asks = nil
	}
	return f
}

// label runs a labelling.
func (k *flowCall) label(l *labelling) ([]Value, error) {
	a, err := k.labelled(l)
	if err != nil {
		return nil, err
	}
	o, ok := op.Lookup(l.name)
	if !ok {
		return nil, failf("%w: the operator isn't implemented", ErrUnsupported)
	}
	if d := k.c.fixed; d != dtype.Invalid {
		o = op.InFixed(o, d)
	}
	outs, err := k.applyAs(o, l.node, cmp.Or(l.opset, int(k.s.opset)), []tensor.Any{a})
	if err != nil {
		return nil, err
	}
	vals := k.marked(outs, 0)
	switch {
	case l.labels == nil:
	case k.fr == nil:
		vals[0] = describedAs(ofString, outs[0].Shape()...)
	default:
		list := make([]int32, 0, outs[0].Len())
		for i := range tensor.ValuesOf[int64](outs[0]) {
			n, err := k.intern(l.labels[i])
			if err != nil {
				return nil, err
			}
			list = append(list, n)
		}
		vals[0] = k.stringsOf(list, outs[0].Shape())
	}
	return vals, nil
}

// labelled returns what input 0 gives the operator.
func (k *flowCall) labelled(l *labelling) (tensor.Any, error) {
	if l.places == nil {
		return k.numbers(0)
	}
	v, err := k.strings(0)
	if err != nil {
		return tensor.Any{}, err
	}
	if k.fr == nil {
		d, err := k.inferred(elem(dtype.Int64), v.a.Shape())
		return d.a, err
	}
	list, err := mapped(k, v, func(s string) (int64, error) {
		if i, ok := l.places[s]; ok {
			return i, nil
		}
		return -1, nil
	})
	if err != nil {
		return tensor.Any{}, err
	}
	return shaped(list, v.a.Shape()), nil
}

// with returns the step's node with other attributes, without those that are named.
func (k *flowCall) with(without []string, attrs ...Attribute) *Node {
	n := *k.s.node
	n.Attributes = slices.DeleteFunc(slices.Clone(n.Attributes), func(a Attribute) bool { return slices.Contains(without, a.Name) })
	n.Attributes = append(n.Attributes, attrs...)
	return &n
}

// consecutive are the numbers from first on, n of them.
func consecutive(first int64, n int) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = first + int64(i)
	}
	return list
}

// placed numbers strings by where they stand, of equals the last.
func placed(list []string) map[string]int64 {
	m := make(map[string]int64, len(list))
	for i, s := range list {
		m[s] = int64(i)
	}
	return m
}

// classes is a classifier whose labels are strings.
func (k *flowCall) classes(attr string) (*labelling, error) {
	list, _ := k.attrs.Strs("classlabels_strings")
	node := k.with([]string{"classlabels_strings", attr}, Ints(attr, consecutive(1, len(list))...))
	return &labelling{name: node.Op, node: node, labels: append([]string{""}, list...)}, nil
}

// given0 is an operator that knows strings of its input by a list in an attribute.
func (k *flowCall) given0(strings, ints string) (*labelling, error) {
	list, ok := k.attrs.Strs(strings)
	if !ok {
		return nil, inAttr(strings, failf("it isn't there, and input 0 holds strings"))
	}
	places := make(map[string]int64, len(list))
	numbers := make([]int64, len(list))
	for i, s := range list { // of equals all have the number of the first
		if at, ok := places[s]; ok {
			numbers[i] = at
			continue
		}
		places[s], numbers[i] = int64(i), int64(i)
	}
	node := k.with([]string{strings, ints}, Ints(ints, numbers...))
	return &labelling{name: node.Op, node: node, places: places}, nil
}

// categories is CategoryMapper, by LabelEncoder.
func categories(k *flowCall) (*labelling, error) {
	names, _ := k.attrs.Strs("cats_strings")
	numbers, _ := k.attrs.Ints("cats_int64s")
	if len(names) != len(numbers) {
		return nil, failf("%w: %d cats_strings and %d cats_int64s; give one for each", tensor.ErrShape, len(names), len(numbers))
	}
	if k.in[0].text != nil {
		node := &Node{Attributes: []Attribute{Ints("keys_int64s", consecutive(0, len(names))...), Ints("values_int64s", numbers...),
			Int("default_int64", k.attrs.Int("default_int64", -1))}}
		return &labelling{name: "LabelEncoder", node: node, opset: 2, places: placed(names)}, nil
	}
	node := &Node{Attributes: []Attribute{Ints("keys_int64s", numbers...), Ints("values_int64s", consecutive(1, len(names))...), Int("default_int64", 0)}}
	return &labelling{name: "LabelEncoder", node: node, opset: 2, labels: append([]string{k.attrs.Str("default_string", "_Unused")}, names...)}, nil
}

// encoded is LabelEncoder of all opsets, where keys or values are strings.
func encoded(k *flowCall) (*labelling, error) {
	l := &labelling{name: "LabelEncoder", opset: 2}
	unknown := k.attrs.Str("default_string", "_Unused")
	if k.s.opset < 2 {
		names, _ := k.attrs.Strs("classes_strings")
		keys := Ints("keys_int64s", consecutive(0, len(names))...)
		if k.in[0].text != nil {
			l.places = placed(names)
			l.node = &Node{Attributes: []Attribute{keys, Ints("values_int64s", consecutive(0, len(names))...), Int("default_int64", k.attrs.Int("default_int64", -1))}}
			return l, nil
		}
		l.labels = append([]string{unknown}, names...)
		l.node = &Node{Attributes: []Attribute{keys, Ints("values_int64s", consecutive(1, len(names))...), Int("default_int64", 0)}}
		return l, nil
	}
	var without []string
	var more []Attribute
	if keys, ok := k.texts("keys"); ok {
		l.places = placed(keys)
		without = append(without, "keys_strings", "keys_tensor")
		more = append(more, Ints("keys_int64s", consecutive(0, len(keys))...))
	}
	if values, ok := k.texts("values"); ok {
		if v, ok := k.attrs.tensors["default_tensor"]; ok {
			if list := v.Strings(); len(list) == 1 {
				unknown = list[0]
			} else {
				return nil, inAttr("default_tensor", failf("%w: it is %v; want one string", tensor.ErrShape, v))
			}
		}
		l.labels = append([]string{unknown}, values...)
		without = append(without, "values_strings", "values_tensor", "default_tensor", "default_int64")
		more = append(more, Ints("values_int64s", consecutive(1, len(values))...), Int("default_int64", 0))
	}
	l.node, l.opset = k.with(append(without, "default_string"), more...), 0
	return l, nil
}

// texts returns the strings of the attributes NAME_strings or NAME_tensor.
func (k *flowCall) texts(name string) ([]string, bool) {
	if v, ok := k.attrs.tensors[name+"_tensor"]; ok && v.text != nil {
		return v.Strings(), true
	}
	list, ok := stringsIn(k.s.node.Attr(name + "_strings"))
	return list, ok && len(list) > 0
}

// vocabulary returns the attribute of strings or that of integers as keys.
func (k *flowCall) vocabulary(strings, ints string) (keys Value, err error) {
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
func zipMap(k *flowCall) (Value, error) {
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
func (k *flowCall) mapInput() (keys, vals *Value, err error) {
	v := &k.in[0]
	if v.Kind() != KindMap {
		return nil, nil, input(0, failf("%w: it is %v; the operator takes a map", tensor.ErrDType, *v))
	}
	return v.seq.items[0], v.seq.items[1], nil
}

// places are where the keys of a map stand.
func (keys *Value) places() map[any]int64 {
	m := make(map[any]int64, keys.a.Len())
	i := int64(0)
	keys.eachKey(func(key any) {
		m[key] = i
		i++
	})
	return m
}

// vectorize is DictVectorizer: the values of the keys that a vocabulary lists, zeros for those that the map doesn't have.
func vectorize(k *flowCall) (Value, error) {
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
func (k *flowCall) pick(a, more tensor.Any, at []int64) (tensor.Any, error) {
	join, _ := op.Lookup("Concat")
	both, err := join.Run(&op.Call{Inputs: []tensor.Any{a, more}, Attrs: op.AttrMap{"axis": int64(0)}, Opset: 13})
	if err != nil {
		return tensor.Any{}, err
	}
	gather, _ := op.Lookup("Gather")
	out, err := gather.Run(&op.Call{Inputs: []tensor.Any{both[0], tensor.FromSlice(at, len(at)).Any()}, Attrs: op.NoAttrs{}, Opset: 13})
	if err != nil {
		return tensor.Any{}, err
	}
	return out[0], nil
}

// castMap is CastMap: the values of a map in the order of its keys, or each at the place that its key says.
func castMap(k *flowCall) (Value, error) {
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
	if vals.text != nil && to != ElemString { // of what isn't there the number is 0
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
	outs, err := k.applyAs(cast, &Node{Attributes: []Attribute{Int("to", int64(to))}}, 13, []tensor.Any{v.a})
	if err != nil {
		return Value{}, err
	}
	return k.fresh(outs[0]), nil
}
