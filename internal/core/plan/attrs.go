package plan

import "github.com/ashlar-go/ashlar/tensor"

// Attrs is op.Attrs.
type Attrs = interface {
	Has(name string) bool
	Int(name string, def int64) int64
	Ints(name string) ([]int64, bool)
	Float(name string, def float32) float32
	Floats(name string) ([]float32, bool)
	Str(name, def string) string
	Tensor(name string) (tensor.Any, bool)
}

// NoAttrs is the absence of attributes.
type NoAttrs struct{}

// Has returns false.
func (NoAttrs) Has(string) bool { return false }

// Int returns def.
func (NoAttrs) Int(_ string, def int64) int64 { return def }

// Ints returns nothing.
func (NoAttrs) Ints(string) ([]int64, bool) { return nil, false }

// Float returns def.
func (NoAttrs) Float(_ string, def float32) float32 { return def }

// Floats returns nothing.
func (NoAttrs) Floats(string) ([]float32, bool) { return nil, false }

// Str returns def.
func (NoAttrs) Str(_, def string) string { return def }

// Tensor returns nothing.
func (NoAttrs) Tensor(string) (tensor.Any, bool) { return tensor.Any{}, false }
