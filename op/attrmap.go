package op

import (
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/tensor"
)

// AttrMap is attributes by name: numbers as int64, int, float32 or float64, a string, lists of one of these, and tensors, as
// a tensor.Any or typed. A float64 is rounded to float32, the type of ONNX's attributes. A call is an error that names the
// attribute when the operator asks for another kind of value than it holds.
type AttrMap map[string]any

// asked panics for an attribute of another kind than asked for; an absent one has none.
func (m AttrMap) asked(name, kind string) {
	if v, ok := m[name]; ok {
		panic(plan.Fail("AttrMap", tensor.ErrDType, "attribute %q is a %T, and the operator asks for %s", name, v, kind))
	}
}

// single rounds a number, which panics if it is finite and no float32 is near it.
func (m AttrMap) single(name string, v float64) float32 {
	f := float32(v)
	if math.IsInf(float64(f), 0) && !math.IsInf(v, 0) {
		panic(plan.Fail("AttrMap", tensor.ErrValue, "attribute %q is %v, more than a float32 holds", name, v))
	}
	return f
}

// Has reports whether there is an attribute.
func (m AttrMap) Has(name string) bool { _, ok := m[name]; return ok }

// Int returns an int64, or def.
func (m AttrMap) Int(name string, def int64) int64 {
	switch v := m[name].(type) {
	case int64:
		return v
	case int:
		return int64(v)
	}
	m.asked(name, "an integer")
	return def
}

// Ints returns a copy of a []int64.
func (m AttrMap) Ints(name string) ([]int64, bool) {
	switch v := m[name].(type) {
	case []int64:
		return slices.Clone(v), true
	case []int:
		list := make([]int64, len(v))
		for i, e := range v {
			list[i] = int64(e)
		}
		return list, true
	}
	m.asked(name, "a list of integers")
	return nil, false
}

// Float returns a float32, or def.
func (m AttrMap) Float(name string, def float32) float32 {
	switch v := m[name].(type) {
	case float32:
		return v
	case float64:
		return m.single(name, v)
	}
	m.asked(name, "a float32")
	return def
}

// Floats returns a copy of a []float32.
func (m AttrMap) Floats(name string) ([]float32, bool) {
	switch v := m[name].(type) {
	case []float32:
		return slices.Clone(v), true
	case []float64:
		list := make([]float32, len(v))
		for i, e := range v {
			list[i] = m.single(name, e)
		}
		return list, true
	}
	m.asked(name, "a list of float32")
	return nil, false
}

// Str returns a string, or def.
func (m AttrMap) Str(name, def string) string {
	if v, ok := m[name].(string); ok {
		return v
	}
	m.asked(name, "a string")
	return def
}

// Strs returns a copy of a []string.
func (m AttrMap) Strs(name string) ([]string, bool) {
	v, ok := m[name].([]string)
	if !ok {
		m.asked(name, "a list of strings")
	}
	return slices.Clone(v), ok
}

// Tensor returns a tensor.
func (m AttrMap) Tensor(name string) (tensor.Any, bool) {
	switch v := m[name].(type) {
	case tensor.Any:
		return v, true
	case interface{ Any() tensor.Any }:
		return v.Any(), true
	}
	m.asked(name, "a tensor")
	return tensor.Any{}, false
}
