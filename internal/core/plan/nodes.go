package plan

import (
	"slices"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// How operators read attributes and operands that several of them share.

// OneOf panics unless got is one of the wanted values. It names the operator, the attribute and the values.
func OneOf(name, what, got string, want ...string) {
	if !slices.Contains(want, got) {
		text := ""
		for i, w := range want {
			if i > 0 {
				text += ", "
			}
			text += w
		}
		panic(Fail(name, tensor.ErrValue, "%s %q; there are %s", what, got, text))
	}
}

// Texts returns an attribute of strings; nil without it.
func Texts(name string, c *Use, attr string) []string {
	a, ok := c.Attrs.(interface {
		Strs(name string) ([]string, bool)
	})
	if !ok {
		if c.Attrs.Has(attr) {
			panic(Fail(name, ErrUnsupported, "attribute %q holds strings, and the Attrs, a %T, has no method Strs", attr, c.Attrs))
		}
		return nil
	}
	v, _ := a.Strs(attr)
	return v
}

// Labels returns the labels of a classifier, the attribute attr. It panics where the node has them as strings.
func Labels(name string, c *Use, attr, strings string) []int64 {
	if c.Attrs.Has(strings) && len(Texts(name, c, strings)) > 0 {
		panic(Fail(name, ErrUnsupported, "strings are for package onnx; give %s, and look the strings up by them", attr))
	}
	v, _ := c.Attrs.Ints(attr)
	return v
}

// Remembered returns the result of make for the attributes of a node. Attrs with a method Keep(make func() any) any keep
// the first result. Others have it made again.
func Remembered(c *Use, make func() any) any {
	if k, ok := c.Attrs.(interface{ Keep(make func() any) any }); ok {
		return k.Keep(make)
	}
	return make()
}

// Rows returns the rows and columns of [rows, columns], or of one row [columns].
func Rows(name string, x tensor.Any) (rows, columns int) {
	switch x.Rank() {
	case 1:
		return 1, x.Dim(0)
	case 2:
		return x.Dim(0), x.Dim(1)
	}
	panic(Fail(name, tensor.ErrShape, "input 0 is %s; want [rows, features] or [features]", tensor.Describe(x)))
}

// ListOf returns a list as an operand. An Into target in its memory is then written after the list is read.
func ListOf[T num.Elem](v []T) tensor.Any { return tensor.FromSlice(v).Any() }
