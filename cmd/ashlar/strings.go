package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/onnx"
)

// Strings and maps come as JSON: lists in lists make a tensor of strings, objects maps.

// textFrom reads strings or a map of a type.
func textFrom(t *onnx.Type, s *source) (v onnx.Value, err error) {
	var b []byte
	if s.Path == "" {
		b, err = formats.All(&s.Source)
	} else if s.Size > mostStream {
		err = fmt.Errorf("it has %s; the most is %s", amount(s.Size), amount(mostStream))
	} else {
		b, err = os.ReadFile(s.Path)
	}
	if err != nil {
		return v, err
	}
	if t.Kind == onnx.KindMap && t.Of != nil {
		switch strings := t.Elem == onnx.ElemString; {
		case strings && t.Of.Elem == onnx.ElemInt64:
			return mapFrom[string, int64](b)
		case strings && t.Of.Elem == onnx.ElemFloat32:
			return mapFrom[string, float32](b)
		case strings && t.Of.Elem == onnx.ElemFloat64:
			return mapFrom[string, float64](b)
		case strings:
			return mapFrom[string, string](b)
		case t.Of.Elem == onnx.ElemInt64:
			return mapFrom[int64, int64](b)
		case t.Of.Elem == onnx.ElemFloat32:
			return mapFrom[int64, float32](b)
		case t.Of.Elem == onnx.ElemFloat64:
			return mapFrom[int64, float64](b)
		}
		return mapFrom[int64, string](b)
	}
	var x any
	if err := json.Unmarshal(b, &x); err != nil {
		return v, fmt.Errorf("the input takes strings, as JSON: %w", err)
	}
	var shape []int
	for level := x; ; {
		list, ok := level.([]any)
		if !ok {
			break
		}
		if shape = append(shape, len(list)); len(list) == 0 {
			break
		}
		level = list[0]
	}
	var list []string
	if err := flatten(x, shape, &list); err != nil {
		return v, err
	}
	return onnx.StringsValue(shape, list...), nil
}

func mapFrom[K int64 | string, V int64 | float32 | float64 | string](b []byte) (onnx.Value, error) {
	var m map[K]V
	if err := json.Unmarshal(b, &m); err != nil {
		return onnx.Value{}, fmt.Errorf("the input takes a map, as an object of JSON: %w", err)
	}
	return onnx.MapValue(m), nil
}

// flatten appends the strings of lists in lists, which have a shape.
func flatten(x any, shape []int, to *[]string) error {
	if len(shape) == 0 {
		s, ok := x.(string)
		if !ok {
			return fmt.Errorf("it holds %T where a string must stand", x)
		}
		*to = append(*to, s)
		return nil
	}
	list, ok := x.([]any)
	if !ok || len(list) != shape[0] {
		return fmt.Errorf("lists beside each other must have as many elements each; the first ones have %v", shape)
	}
	for _, y := range list {
		if err := flatten(y, shape[1:], to); err != nil {
			return err
		}
	}
	return nil
}

// textOf returns strings, maps and sequences of them as JSON writes them, and the same with the first most strings alone.
func textOf(v onnx.Value, most int) any {
	switch v.Kind() {
	case onnx.KindSequence:
		list := []any{}
		for _, item := range v.Items()[:min(len(v.Items()), most)] {
			list = append(list, textOf(item, most))
		}
		return list
	case onnx.KindMap:
		for _, m := range []func(onnx.Value) (any, bool){mapTo[string, float32], mapTo[int64, float32], mapTo[string, float64], mapTo[int64, float64],
			mapTo[string, int64], mapTo[int64, int64], mapTo[string, string], mapTo[int64, string]} {
			if x, ok := m(v); ok {
				return x
			}
		}
	case onnx.KindTensor:
		if t := v.Tensor(); !t.IsZero() {
			return values(t, most)
		}
		list := v.Strings()
		if len(list) > most {
			return list[:most]
		}
		return nest(list, v.Shape())
	}
	return v.String()
}

func mapTo[K int64 | string, V int64 | float32 | float64 | string](v onnx.Value) (any, bool) {
	m, ok := onnx.MapOf[K, V](v)
	out := make(map[K]any, len(m))
	for k, x := range m {
		out[k] = jsonValue(x)
	}
	return out, ok
}

// nest puts strings into lists in lists of a shape.
func nest(list []string, shape []int) any {
	if len(shape) == 0 {
		return list[0]
	}
	if len(shape) == 1 || slices.Contains(shape, 0) {
		return list
	}
	out := make([]any, shape[0])
	each := len(list) / shape[0]
	for i := range out {
		out[i] = nest(list[i*each:(i+1)*each], shape[1:])
	}
	return out
}

// printText writes strings and maps, each element of a sequence in a line.
func (p *program) printText(v onnx.Value) {
	const most = 1000
	e := json.NewEncoder(p.out)
	e.SetEscapeHTML(false)
	if v.Kind() != onnx.KindSequence {
		e.Encode(textOf(v, most))
		if list := v.Strings(); len(list) > most {
			fmt.Fprintf(p.out, "and %d strings more; --json prints up to %d\n", len(list)-most, mostValues)
		}
		return
	}
	items := v.Items()
	for _, item := range items[:min(len(items), most)] {
		e.Encode(textOf(item, most))
	}
	if n := len(items) - most; n > 0 {
		fmt.Fprintf(p.out, "and %d elements more; --json prints up to %d\n", n, mostValues)
	}
}

// holdsText reports whether a value is, or has, strings or maps.
func holdsText(v onnx.Value) bool {
	if v.Kind() == onnx.KindSequence {
		return slices.ContainsFunc(v.Items(), holdsText)
	}
	return v.Kind() == onnx.KindMap || v.Kind() == onnx.KindTensor && v.Tensor().IsZero()
}

// textKind is the word in a report in place of an element type.
func textKind(v onnx.Value) string {
	if v.Strings() != nil {
		return "string"
	}
	return v.String()
}

// isNumbers reports whether a result is a tensor of numbers.
func isNumbers(v onnx.Value) bool { return v.Kind() == onnx.KindTensor && !holdsText(v) }
