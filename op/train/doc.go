// Package train has the operators of ONNX's domain ai.onnx.preview.training: Adagrad, Adam and Momentum. Each makes one step
// of an optimizer along a gradient. The steps are worked out in float64 and rounded once.
//
// Functions panic, as in package op; tensor.Try turns a panic into an error.
package train

import (
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/op"
)

// Operators returns the operators of this package in their run-time form, in alphabetical order.
func Operators() []*op.Op { return index.All(tables, as) }

// Lookup returns the operator of this package that ONNX calls name.
func Lookup(name string) (*op.Op, bool) { return index.Lookup(name, tables, as) }

var index plan.Index[op.Op]

func as(o *plan.Op) *op.Op { return (*op.Op)(o) }

func tables() []plan.Table {
	return []plan.Table{
		&adagrad,
		&adam,
		&momentum,
	}
}
