package onnx

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// While shapes are inferred, values of up to small elements that follow from others like them are computed, because the
// graph may use them as shapes. All of that together reads and writes up to evaluated bytes, and takes up to patience:
// what lies beyond counts as unknown.
const (
	small     = 1024
	evaluated = 16 << 20
	patience  = time.Second
)

// maxRank is the most axes that a tensor of a graph may have, as in files of arrays.
const maxRank = 64

// maxAxes is how many axes the values known at one time may have together; more count as unknown. Descriptions of them
// take some 20 bytes an axis.
const maxAxes = 1 << 20

// shaping lists the operators whose results are computed while shapes are inferred: those that exporters use to compute
// shapes, and that take time by the number of elements of operands and result, both of which are small.
var shaping = []string{"Abs", "Add", "And", "Cast", "Ceil", "Clip", "Concat", "ConstantOfShape", "Div", "Equal", "Expand",
	"Flatten", "Floor", "Gather", "GatherElements", "GatherND", "Greater", "GreaterOrEqual", "Identity", "Less", "LessOrEqual",
	"Max", "Min", "Mod", "Mul", "Neg", "NonZero", "Not", "Or", "Range", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum",
	"Reshape", "Round", "ScatterElements", "ScatterND", "Shape", "Size", "Slice", "Split", "Sqrt", "Squeeze", "Sub", "Sum",
	"Tile", "Transpose", "Unsqueeze", "Where"}

// sizing lists the inputs that have an element, or two, for each axis of a tensor.
var sizing = map[string][]int{
	"CenterCropPad": {1}, "Col2Im": {1, 2}, "ConstantOfShape": {0}, "Expand": {1}, "MaxUnpool": {2}, "Pad": {1, 3},
	"ReduceL1": {1}, "ReduceL2": {1}, "ReduceLogSum": {1}, "ReduceLogSumExp": {1}, "ReduceMax": {1}, "ReduceMean": {1},
	"ReduceMin": {1}, "ReduceProd": {1}, "ReduceSum": {1}, "ReduceSumSquare": {1}, "Reshape": {1}, "Resize": {1, 2, 3},
	"Slice": {1, 2, 3, 4}, "Squeeze": {1}, "Tile": {1}, "Unsqueeze": {1}, "Upsample": {1},
}

// axial lists the attributes that have an element, or two, for each axis of a tensor.
var axial = []string{"axes", "dilations", "kernel_shape", "output_padding", "output_shape", "pads", "perm", "scales", "shape",
	"starts", "ends", "strides"}

// tooManyAxes is the error about a rank beyond maxRank.
func tooManyAxes(rank int) error {
	return failf("%w: its rank is %d; the most is %d", tensor.ErrShape, rank, maxRank)
}

// checkAxes refuses a call whose attributes or inputs speak of more axes than a tensor may have.
func checkAxes(n *Node, inputs []tensor.Any) error {
	for i := range n.Attributes {
		a := &n.Attributes[i]
		length := 0
		switch v := a.Value.(type) {
		case []int64:
			length = len(v)
		case []float32:
			length = len(v)
		}
		if length > 2*maxRank && slices.Contains(axial, a.Name) {
			return in(fmt.Sprintf("attribute %q", a.Name), failf("%w: %d elements are too many for a rank of at most %d", tensor.ErrShape, length, maxRank))
		}
	}
	for _, j := range sizing[n.Op] {
		if j < len(inputs) && !inputs[j].IsZero() && inputs[j].Len() > 2*maxRank {
			return in(fmt.Sprintf("input %d", j), failf("%w: %d elements are too many for a rank of at most %d", tensor.ErrShape, inputs[j].Len(), maxRank))
		}
	}
	return nil
}

// checkRanks refuses results with more axes than a tensor may have.
func checkRanks(outs []tensor.Any) error {
	for j, o := range outs {
		if !o.IsZero() && o.Rank() > maxRank {
			return in(fmt.Sprintf("output %d", j), tooManyAxes(o.Rank()))
		}
	}
	return nil
}

// call is step i applied to values, of which an absent input is the zero Any.
func (c *compiled) call(i int, vals []tensor.Any, ctx context.Context) (*op.Call, *attrs) {
	s := &c.steps[i]
	a := &attrs{node: s.node, tensors: c.attrs[i]}
	call := &op.Call{Attrs: a, Opset: int(c.opset), Outputs: len(s.out), Context: ctx, Inputs: make([]tensor.Any, len(s.in))}
	for j, id := range s.in {
		if id >= 0 {
			call.Inputs[j] = vals[id]
		}
	}
	return call, a
}

// An inference is what one pass over the graph may still spend.
type inference struct {
	ctx   context.Context // ends with patience
	bytes int             // of operands and results of what is computed
	axes  int             // of values
}

// budget is how many bytes an inference within limit may read and write; a limit that isn't positive is none.
func budget(limit int64) int {
	if limit > 0 {
		return int(min(evaluated, limit))
	}
	return evaluated
}

// infer fills in vals, which holds what is known of inputs and constants: tensors, or Specs; the zero Any is unknown. A
// value goes after its last use. after is called for each step once its outputs are known, or known to be unknown; failed
// for each operator's error, and ends the inference by returning one itself. Both may be nil. Values are computed within
// ctx and limit bytes, if that is positive.
func (c *compiled) infer(ctx context.Context, limit int64, vals []tensor.Any, after func(i int), failed func(i int, err error) error) error {
	f := inference{bytes: budget(limit), axes: maxAxes}
	var cancel context.CancelFunc
	f.ctx, cancel = context.WithTimeout(ctx, patience)
	defer cancel()
	last := c.lastUses()
	for i := range c.steps {
		if i&0xff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		s := &c.steps[i]
		if c.ops[i] != nil {
			outs, err := c.inferStep(&f, i, vals)
			if n := len(outs); err == nil && n > 0 && slices.ContainsFunc(s.out[min(n, len(s.out)):], func(id int) bool { return id >= 0 }) {
				err = failf("it names %d outputs, the operator gives %d", len(s.out), n)
			}
			if err != nil && !errors.Is(err, op.ErrUnknown) && failed != nil {
				if err := failed(i, err); err != nil {
					return err
				}
			}
			for j, id := range s.out {
				if id >= 0 && j < len(outs) && !outs[j].IsZero() && outs[j].Rank() <= f.axes {
					f.axes -= outs[j].Rank()
					vals[id] = outs[j]
				}
			}
		}
		if after != nil {
			after(i)
		}
		for _, ids := range [][]int{s.in, s.out} {
			for _, id := range ids {
				if id >= 0 && last[id] == i && !vals[id].IsZero() {
					f.axes += vals[id].Rank() // of an input or a constant more than was taken
					vals[id] = tensor.Any{}
				}
			}
		}
	}
	return nil
}

// lastUses returns the last step that reads or writes each value: what is known of it goes then, of outputs, too.
func (c *compiled) lastUses() []int {
	last := make([]int, len(c.names))
	for i := range c.steps {
		for _, ids := range [][]int{c.steps[i].in, c.steps[i].out} {
			for _, id := range ids {
				if id >= 0 {
					last[id] = i
				}
			}
		}
	}
	return last
}

// inferStep returns what is known about the outputs of step i, nothing if an input is unknown.
func (c *compiled) inferStep(f *inference, i int, vals []tensor.Any) ([]tensor.Any, error) {
	s := &c.steps[i]
	known := slices.Contains(shaping, s.node.Op)
	work := 0
	for _, id := range s.in {
		if id < 0 {
			continue
		}
		if vals[id].IsZero() {
			return nil, nil
		}
		if known = known && hasValue(vals[id]); known {
			work += int(size(vals[id]))
		}
	}
	call, a := c.call(i, vals, f.ctx)
	err := checkAxes(s.node, call.Inputs)
	if err != nil {
		return nil, err
	}
	outs, err := c.ops[i].Infer(call)
	if a.wrong != nil {
		return nil, a.wrong
	}
	if err == nil {
		err = checkRanks(outs)
	}
	if err != nil || !known {
		return outs, err
	}
	done, empty := true, true
	for _, o := range outs {
		if o.IsZero() {
			continue
		}
		if reach(o) > small {
			return outs, nil
		}
		done, empty = done && !o.IsSpec(), empty && o.Len() == 0
		work += int(size(o))
	}
	switch {
	case done || work > f.bytes || f.ctx.Err() != nil:
		return outs, nil
	case empty: // the value is the shape
		for j, o := range outs {
			if o.IsZero() {
				continue
			}
			if outs[j], err = tensor.Make(o.DType(), o.Shape()...); err != nil {
				return nil, err
			}
		}
		return outs, nil
	}
	f.bytes -= work
	if ran, err := c.ops[i].Run(call); err == nil && checkRanks(ran) == nil {
		return ran, nil
	}
	return outs, nil // the run will say what is wrong
}

// hasValue reports whether a is a tensor small enough to compute with, not only a description.
func hasValue(a tensor.Any) bool {
	return !a.IsSpec() && reach(a) <= small
}

// reach is the number of elements a tensor would have if its extents of 0 were 1, at most small+1: a tensor without
// elements may have other extents that are huge.
func reach(a tensor.Any) int {
	n := 1
	for axis := range a.Rank() {
		if n *= max(1, min(a.Dim(axis), small+1)); n > small {
			return small + 1
		}
	}
	return n
}
