package onnx

import (
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

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
