package op

import (
	"slices"

	"github.com/ashlar-go/ashlar/tensor"
)

// AttrMap is attributes by name: int64, float32, string, []int64, []float32, []string and
// tensors, as a tensor.Any or typed. One of another type counts as absent.
type AttrMap map[string]any

func attr[T any](m AttrMap, name string, def T) T {
	if v, ok := m[name].(T); ok {
		return v
	}
	return def
}

// Has reports whether there is an attribute.
func (m AttrMap) Has(name string) bool { _, ok := m[name]; return ok }

// Int returns an int64, or def.
func (m AttrMap) Int(name string, def int64) int64 { return attr(m, name, def) }

// Ints returns a copy of a []int64.
func (m AttrMap) Ints(name string) ([]int64, bool) {
	v, ok := m[name].([]int64)
	return slices.Clone(v), ok
}

// Float returns a float32, or def.
func (m AttrMap) Float(name string, def float32) float32 { return attr(m, name, def) }

// Floats returns a copy of a []float32.
func (m AttrMap) Floats(name string) ([]float32, bool) {
	v, ok := m[name].([]float32)
	return slices.Clone(v), ok
}

// Str returns a string, or def.
func (m AttrMap) Str(name, def string) string { return attr(m, name, def) }

// Strs returns a copy of a []string.
func (m AttrMap) Strs(name string) ([]string, bool) {
	v, ok := m[name].([]string)
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
	return tensor.Any{}, false
}
