package onnx

import (
	"cmp"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/op/all"
	"github.com/ashlar-go/ashlar/tensor"
)

// Operators of the domain ai.onnx.ml on strings, which are labels. One that package op has for numbers runs on numbers in place of
// strings, and its labels become strings afterwards. Source: docs/Operators-ml.md of github.com/onnx/onnx.

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
	places map[string]int64 // the number that stands for a string of input 0; −1 for others; nil where the input is numbers
	labels []string         // the labels of output 0, by number; nil where it is numbers
}

// relabelled is the form for strings of an operator that make describes.
func relabelled(name string, make func(k *valueCall) (*labelling, error), attrs []string, versions ...int) *valueOp {
	f := computed(name, 1, 1, func(k *valueCall) ([]Value, error) {
		l, err := keep(k, func() (*labelling, error) { return make(k) })
		if err != nil {
			return nil, err
		}
		return k.label(l)
	}, attrs, versions...)
	f.asks = asksStrings
	return f
}

// label runs a labelling.
func (k *valueCall) label(l *labelling) ([]Value, error) {
	a, err := k.labelled(l)
	if err != nil {
		return nil, err
	}
	o, ok := all.Lookup(l.name)
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

// labelled returns input 0 as the numbers that the operator takes.
func (k *valueCall) labelled(l *labelling) (tensor.Any, error) {
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

// with returns the step's node with other attributes, without the named attributes.
func (k *valueCall) with(without []string, attrs ...Attribute) *Node {
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
func (k *valueCall) classes(attr string) (*labelling, error) {
	list, _ := k.attrs.Strs("classlabels_strings")
	node := k.with([]string{"classlabels_strings", attr}, IntsAttr(attr, consecutive(1, len(list))...))
	return &labelling{name: node.Op, node: node, labels: append([]string{""}, list...)}, nil
}

// given0 is an operator that knows strings of its input by a list in an attribute.
func (k *valueCall) given0(strings, ints string) (*labelling, error) {
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
	node := k.with([]string{strings, ints}, IntsAttr(ints, numbers...))
	return &labelling{name: node.Op, node: node, places: places}, nil
}

// categories is CategoryMapper, by LabelEncoder.
func categories(k *valueCall) (*labelling, error) {
	names, _ := k.attrs.Strs("cats_strings")
	numbers, _ := k.attrs.Ints("cats_int64s")
	if len(names) != len(numbers) {
		return nil, failf("%w: %d cats_strings and %d cats_int64s; give one for each", tensor.ErrShape, len(names), len(numbers))
	}
	if k.in[0].text != nil {
		node := &Node{Attributes: []Attribute{IntsAttr("keys_int64s", consecutive(0, len(names))...), IntsAttr("values_int64s", numbers...),
			IntAttr("default_int64", k.attrs.Int("default_int64", -1))}}
		return &labelling{name: "LabelEncoder", node: node, opset: 2, places: placed(names)}, nil
	}
	node := &Node{Attributes: []Attribute{IntsAttr("keys_int64s", numbers...), IntsAttr("values_int64s", consecutive(1, len(names))...), IntAttr("default_int64", 0)}}
	return &labelling{name: "LabelEncoder", node: node, opset: 2, labels: append([]string{k.attrs.Str("default_string", "_Unused")}, names...)}, nil
}

// encoded is LabelEncoder of all opsets, where keys or values are strings.
func encoded(k *valueCall) (*labelling, error) {
	l := &labelling{name: "LabelEncoder", opset: 2}
	unknown := k.attrs.Str("default_string", "_Unused")
	if k.s.opset < 2 {
		names, _ := k.attrs.Strs("classes_strings")
		keys := IntsAttr("keys_int64s", consecutive(0, len(names))...)
		if k.in[0].text != nil {
			l.places = placed(names)
			l.node = &Node{Attributes: []Attribute{keys, IntsAttr("values_int64s", consecutive(0, len(names))...), IntAttr("default_int64", k.attrs.Int("default_int64", -1))}}
			return l, nil
		}
		l.labels = append([]string{unknown}, names...)
		l.node = &Node{Attributes: []Attribute{keys, IntsAttr("values_int64s", consecutive(1, len(names))...), IntAttr("default_int64", 0)}}
		return l, nil
	}
	var without []string
	var more []Attribute
	if keys, ok := k.texts("keys"); ok {
		l.places = placed(keys)
		without = append(without, "keys_strings", "keys_tensor")
		more = append(more, IntsAttr("keys_int64s", consecutive(0, len(keys))...))
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
		more = append(more, IntsAttr("values_int64s", consecutive(1, len(values))...), IntAttr("default_int64", 0))
	}
	l.node, l.opset = k.with(append(without, "default_string"), more...), 0
	return l, nil
}

// texts returns the strings of the attributes NAME_strings or NAME_tensor.
func (k *valueCall) texts(name string) ([]string, bool) {
	if v, ok := k.attrs.tensors[name+"_tensor"]; ok && v.text != nil {
		return v.Strings(), true
	}
	list, ok := stringsIn(k.s.node.Attr(name + "_strings"))
	return list, ok && len(list) > 0
}
