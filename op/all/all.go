// Package all lists the operators of every domain: those of package op, and of op/ml and op/train. A program that imports it
// links all of them.
package all

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/op/ml"
	"github.com/ashlar-go/ashlar/op/train"
)

var list = sync.OnceValue(func() []*op.Op {
	l := slices.Concat(op.Operators(), ml.Operators(), train.Operators())
	slices.SortStableFunc(l, func(a, b *op.Op) int { return cmp.Compare(strings.ToLower(a.Name()), strings.ToLower(b.Name())) })
	return l
})

// Operators returns every operator in its run-time form, in alphabetical order. Of two of one name ONNX's own comes first.
func Operators() []*op.Op { return slices.Clone(list()) }

// Lookup returns the operator that ONNX calls name. Of two of one name it is ONNX's own.
func Lookup(name string) (*op.Op, bool) {
	if o, ok := op.Lookup(name); ok {
		return o, true
	}
	if o, ok := ml.Lookup(name); ok {
		return o, true
	}
	return train.Lookup(name)
}
