package onnx

import (
	"fmt"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx/internal/text"
	"github.com/ashlar-go/ashlar/onnx/internal/wire"
	"github.com/ashlar-go/ashlar/tensor"
	"google.golang.org/protobuf/encoding/protowire"
)

// someStrings is the table of descriptions, whose strings aren't known.
var someStrings = text.NewTable(nil)

// in returns the value with the numbers that its strings have in a table, to which it may add them.
func (v Value) in(t *text.Table) (Value, error) {
	switch {
	case v.seq != nil && v.seq.kind != KindOptional:
		items := make([]*Value, len(v.seq.items))
		for i, item := range v.seq.items {
			w, err := item.in(t)
			if err != nil {
				return v, err
			}
			items[i] = &w
		}
		return Value{seq: &sequence{v.seq.kind, items, v.seq.elem}}, nil
	case v.text == nil || v.text == t || v.a.IsSpec():
		return v, nil
	}
	a, err := t.Renumbered(v.text, v.a)
	return Value{a: a, text: t}, err
}

// StringsValue returns a tensor of strings as a Value; an empty shape makes it one string. Strings may hold any bytes.
// It panics, as tensor.FromSlice does, when the shape isn't of as many elements.
func StringsValue(shape []int, list ...string) Value {
	t := text.NewTable(nil)
	v := make([]int32, len(list))
	for i, s := range list {
		v[i] = t.Add(s)
	}
	return Value{a: shaped(v, shape), text: t}
}

// Strings returns the elements of a tensor of strings in row-major order, nil for other values.
func (v Value) Strings() []string {
	if v.text == nil || v.a.IsSpec() {
		return nil
	}
	return v.text.Strings(v.a)
}

// Shape returns the shape of a tensor, also of one of strings; nil for other values.
func (v Value) Shape() []int {
	if !v.isTensor() {
		return nil
	}
	return v.a.Shape()
}

// An elem is the element type of a value: a dtype.DType, or one of those below.
type elem uint16

const (
	noElem   elem = elem(dtype.Invalid) // it isn't known
	ofString elem = 1 << 8
	ofMap    elem = 1 << 9
)

func (e elem) String() string {
	switch e {
	case ofString:
		return "string"
	case ofMap:
		return "map"
	}
	return dtype.DType(e).String()
}

// elem returns the element type of the values of a type, noElem if it isn't known or no Value holds it.
func (t *Type) elem() elem {
	t = t.tensor()
	switch {
	case t.Kind == KindMap && t.isMap():
		return ofMap
	case t.Kind != KindTensor:
		return noElem
	case t.Elem == ElemString:
		return ofString
	}
	d, _ := t.Elem.DType()
	return elem(d)
}

// describedAs describes a tensor without elements, the zero Value if the shape is too large.
func describedAs(e elem, shape ...int) Value {
	var text *text.Table
	if e == ofString {
		e, text = elem(dtype.Int32), someStrings
	}
	s, err := tensor.NewSpec(dtype.DType(e), shape...)
	if err != nil {
		return Value{}
	}
	return Value{a: s.Any(), text: text}
}

// NewStringsProto describes a tensor of strings under a name, for a model to be written.
func NewStringsProto(name string, shape []int, list ...string) (TensorProto, error) {
	t := TensorProto{Name: name, Type: ElemString}
	for _, n := range shape {
		t.Dims = append(t.Dims, int64(n))
	}
	n, err := t.Len()
	if err == nil && n != len(list) {
		err = failf("%w: %d strings for %v", tensor.ErrShape, len(list), &t)
	}
	if err != nil {
		return TensorProto{}, in(fmt.Sprintf("tensor %q", name), err)
	}
	if n > 0 {
		t.body, t.list, t.count = wire.Message{Bytes: wire.AppendStrings(nil, stringField, list)}, stringField, n
	}
	return t, nil
}

const stringField protowire.Number = 6

// checkStrings is check for a tensor of strings.
func (t *TensorProto) checkStrings() error {
	n, err := t.Len()
	switch {
	case err != nil:
		return err
	case len(t.Dims) > maxRank:
		return tooManyAxes(len(t.Dims))
	case t.External != nil || t.Segment || len(t.Raw) > 0 || t.list != 0 && t.list != stringField:
		return failf("strings stand elsewhere than in string_data, their place")
	case n > math.MaxInt32 || n != t.count:
		return failf("string_data has %d entries; %v needs %d", t.count, t, n)
	}
	return nil
}

// strings returns the elements of a tensor of strings, for callers that hold the model's bytes.
func (m *Model) strings(t *TensorProto) (list []string, err error) {
	release, err := wire.Hold(t.from)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := t.checkStrings(); err != nil {
		return nil, err
	}
	var f wire.Field
	list = make([]string, 0, t.count)
	for body := t.body; t.list != 0; {
		ok, err := body.Next(&f)
		if err != nil || !ok {
			return list, err
		}
		if f.Num == stringField {
			list = append(list, string(f.Body.Bytes))
		}
	}
	return list, nil
}

// Strings returns the elements of the tensor of strings that t describes, in row-major order.
func (m *Model) Strings(t *TensorProto) (list []string, err error) {
	err = m.use(func() (err error) {
		if t == nil || t.Type != ElemString {
			return failf("%w: %v isn't a tensor of strings", tensor.ErrValue, t)
		}
		list, err = m.strings(t)
		return in(fmt.Sprintf("tensor %q", t.Name), err)
	})
	return list, err
}

// loadValue is load for tensors of all types. Strings get their numbers from a table.
func (m *Model) loadValue(t *TensorProto, to *text.Table) (v Value, err error) {
	if t.Type != ElemString {
		v.a, err = m.load(t)
		return v, err
	}
	list, err := m.strings(t)
	if err != nil {
		return v, err
	}
	shape, err := t.Shape()
	if err != nil {
		return v, err
	}
	return stringsValue(to, shape, list)
}

// stringsValue returns a tensor of strings, as many as the shape asks for, which it adds to a table.
func stringsValue(t *text.Table, shape []int, list []string) (Value, error) {
	a, err := t.Tensor(shape, list)
	return Value{a: a, text: t}, err
}

// MapValue returns a map as a Value, with its keys in ascending order.
func MapValue[K int64 | string, V int64 | float32 | float64 | string](m map[K]V) Value {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	vals := make([]V, len(keys))
	for i, k := range keys {
		vals[i] = m[k]
	}
	return mapOf(listValue(keys), listValue(vals))
}

// listValue returns a list as a tensor of one axis.
func listValue[T int64 | float32 | float64 | string](list []T) Value {
	switch list := any(list).(type) {
	case []string:
		return StringsValue([]int{len(list)}, list...)
	case []int64:
		return Value{a: tensor.FromSlice(list, len(list)).Any()}
	case []float32:
		return Value{a: tensor.FromSlice(list, len(list)).Any()}
	case []float64:
		return Value{a: tensor.FromSlice(list, len(list)).Any()}
	}
	return Value{}
}

// mapOf returns a map of keys to values, two tensors of one axis.
func mapOf(keys, vals Value) Value {
	return Value{seq: &sequence{KindMap, []*Value{&keys, &vals}, vals.elem()}}
}

// MapOf returns the map that v is. It reports false unless v is a map of these types.
func MapOf[K int64 | string, V int64 | float32 | float64 | string](v Value) (map[K]V, bool) {
	if v.Kind() != KindMap {
		return nil, false
	}
	keys, ok := elemsOf[K](v.seq.items[0])
	vals, ok2 := elemsOf[V](v.seq.items[1])
	if !ok || !ok2 {
		return nil, false
	}
	m := make(map[K]V, len(keys))
	for i, k := range keys {
		m[k] = vals[i]
	}
	return m, true
}

// elemsOf returns the elements of a tensor of T.
func elemsOf[T int64 | float32 | float64 | string](v *Value) (list []T, ok bool) {
	switch list := any(&list).(type) {
	case *[]string:
		if *list = v.Strings(); v.text == nil {
			return nil, false
		}
	case *[]int64:
		if v.elem() != elem(dtype.Int64) {
			return nil, false
		}
		*list = slices.Collect(tensor.ValuesOf[int64](v.a))
	case *[]float32:
		if v.elem() != elem(dtype.Float32) {
			return nil, false
		}
		*list = slices.Collect(tensor.ValuesOf[float32](v.a))
	case *[]float64:
		if v.elem() != elem(dtype.Float64) {
			return nil, false
		}
		*list = slices.Collect(tensor.ValuesOf[float64](v.a))
	}
	return list, true
}

// isMap reports whether a Value holds maps of a type.
func (t *Type) isMap() bool {
	return t.Kind == KindMap && (t.Elem == ElemInt64 || t.Elem == ElemString) && t.Of != nil && t.Of.Kind == KindTensor &&
		slices.Contains([]ElemType{ElemInt64, ElemFloat32, ElemFloat64, ElemString}, t.Of.Elem)
}
