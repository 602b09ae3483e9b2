package meta

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A scope has the values that nodes see, by name.
type scope = map[string]onnx.Value

// A Case is a model with inputs, and the outputs that count.
type Case struct {
	Seed  uint64
	Model *onnx.Model
	Sets  []Set // at least one; later ones have other elements, or other extents, too

	Parted []string // inputs whose first axis is that of a batch
}

// A Set is inputs of a model, and its outputs for them.
type Set struct{ In, Want scope }

// A Thing is something that a graph may have when it runs.
type Thing struct{ Kind, Name string }

// Kinds of things. A kernel is an operator on a type for which the level has kernels, and a route a way to compute a
// convolution.
const (
	anOperator = "operator"
	aType      = "type"
	aPass      = "pass"
	aRoute     = "route"
	aKernel    = "kernel"
)

var kinds = []string{anOperator, aType, aPass, aRoute, aKernel}

func (t Thing) String() string { return t.Kind + " " + t.Name }

// compare returns an error that names the first output, by name, whose type, shape or bits aren't as wanted.
func compare(want, got scope) error {
	if len(want) != len(got) {
		return fmt.Errorf("%d outputs, want %d", len(got), len(want))
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		w, err := want[name].Digest()
		if err != nil {
			return err
		}
		g, err := got[name].Digest()
		if err != nil {
			return fmt.Errorf("output %s: %w", name, err)
		}
		if w != g {
			return fmt.Errorf("output %s %s", name, differ(want[name], got[name]))
		}
	}
	return nil
}

// differ says where a value differs from another one.
func differ(want, got onnx.Value) string {
	if want.String() != got.String() || want.Kind() != onnx.KindTensor {
		return fmt.Sprintf("is %v, want %v", got, want)
	}
	if list := want.Strings(); list != nil {
		return fmt.Sprintf("is %.300q, want %.300q", got.Strings(), list)
	}
	w, g := want.Tensor(), got.Tensor()
	for at := range w.Indices() {
		a, b := w.Slice(ints(at)...), g.Slice(ints(at)...)
		x, _ := tensor.Digest(a)
		if y, _ := tensor.Digest(b); x != y {
			return fmt.Sprintf("%v at %v is %v, want %v", want, at, b, a)
		}
	}
	return "differs"
}

func ints(at []int) (list []tensor.Index) {
	for _, i := range at {
		list = append(list, tensor.I(i))
	}
	return list
}

var passNames = []string{"fold", "trim", "pad", "swish", "rectify", "follow", "weigh", "last", "join"}

func nameOf(o *op.Op) string { return strings.TrimPrefix(o.Domain()+"."+o.Name(), ".") }

// domains are where nodes of a drawn model come from besides ONNX, with a version: functions of the model, and operators of the library that ONNX
// lacks.
const (
	functions = "meta.functions"
	extras    = "meta.extras"
)
