package onnx

import (
	"fmt"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// NewFixedSession is NewSession for a run in fixed point: every real number of the model, in
// weights, constants, inputs, results and outputs, is one of the format d. Floats are rounded
// to it once, when they are loaded or given; one that is beyond it is an error that names the
// tensor. Inputs may be of the format already. Integers stay, and Cast to a type of floats
// converts to d. op.InFixed describes the operators that don't take d.
func NewFixedSession(m *Model, d dtype.DType) (*Session, error) {
	if !d.IsFixed() {
		return nil, inFile("", failf("%v isn't a fixed-point format; these are fp8x23, fp16x16, fp32x32 and fp64x64", d))
	}
	return newSession(m, form{fixed: d})
}

// onlySizes reports whether a value only says how operators change sizes, as Resize: scales are
// float32 whatever the data is, and rounding them would change shapes.
func (c *compiled) onlySizes(id int) bool {
	read := false
	for i := range c.steps {
		s := &c.steps[i]
		at := slices.Index(s.in, id)
		if at < 0 {
			continue
		}
		if c.ops[i] == nil || !perAxis(c.ops[i], at) {
			return false
		}
		read = true
	}
	return read && !slices.Contains(c.outputs, id)
}

// toFixed rounds floats to a format; other tensors stay, and a description of floats gets the format.
func toFixed(a tensor.Any, d dtype.DType) (tensor.Any, error) {
	if a.IsZero() || !a.DType().IsFloat() {
		return a, nil
	}
	if a.IsSpec() {
		s, err := tensor.NewSpec(d, a.Shape()...)
		return s.Any(), err
	}
	out, err := converted(a, d)
	if err != nil {
		err = beyond(a, d, err)
	}
	return out, err
}

// converted returns the elements of a in another type, as CastLike.
func converted(a tensor.Any, d dtype.DType) (tensor.Any, error) {
	o, ok := op.Lookup("CastLike")
	like, err := tensor.Make(d, 0)
	if !ok || err != nil {
		return tensor.Any{}, failf("there is no conversion to %v", d)
	}
	out, err := o.Run(&op.Call{Inputs: []tensor.Any{a, like}, Attrs: op.AttrMap(nil), Opset: 19})
	if err != nil {
		return tensor.Any{}, err
	}
	return out[0], nil
}

// valueToFixed is toFixed for the tensors of a value.
func valueToFixed(v Value, d dtype.DType) (Value, error) {
	var err error
	if v.seq == nothing {
		return v, nil
	}
	if v.seq == nil {
		v.a, err = toFixed(v.a, d)
		return v, err
	}
	items := make([]*Value, len(v.seq.items))
	for i, item := range v.seq.items {
		w, err := valueToFixed(*item, d)
		if err != nil {
			return v, in(fmt.Sprintf("element %d", i), err)
		}
		items[i] = &w
	}
	of := v.seq.elem
	if dtype.DType(of).IsFloat() {
		of = elem(d)
	}
	return Value{seq: &sequence{v.seq.kind, items, of}}, nil
}

// reaches are the formats, where their numbers end on both sides, and half of their units. Next
// to the ends of the wide ones float64 has nothing as fine as a unit.
var reaches = [...]struct {
	d         dtype.DType
	end, half float64
}{
	{dtype.FP8x23, 1 << 8, 1.0 / (1 << 24)}, {dtype.FP16x16, 1 << 15, 1.0 / (1 << 17)},
	{dtype.FP32x32, 1 << 31, 0}, {dtype.FP64x64, 1 << 63, 0},
}

// beyond says which element of a tensor is farthest from a format it doesn't fit, and which
// format has room for it.
func beyond(a tensor.Any, d dtype.DType, err error) error {
	at := tensor.Float64s(a)
	if at == nil {
		return err
	}
	var least, end float64 // the least number that fits d, and the first beyond it
	for _, f := range reaches {
		if f.d == d {
			least, end = -f.end-f.half, f.end-f.half
		}
	}
	var far float64
	var place []int
	shape := a.Shape()
	for i := range a.Len() {
		idx := make([]int, len(shape))
		for k := len(shape) - 1; k >= 0; k-- {
			idx[k], i = i%shape[k], i/shape[k]
		}
		v := at(idx...)
		if v != v {
			return failf("%w: element %v is NaN, which %v doesn't have", fixed.ErrDomain, idx, d)
		}
		if (v < least || v >= end) && (place == nil || max(v, -v) > far) {
			far, place = max(v, -v), idx
		}
	}
	if place == nil {
		return err
	}
	room := "no format has room for it"
	for _, f := range reaches {
		if far < f.end-f.half {
			room = fmt.Sprintf("%v has room", f.d)
			break
		}
	}
	return failf("%w: element %v is %v, which is beyond %v; %s", fixed.ErrOverflow, place, at(place...), d, room)
}
