package chunk

import (
	"context"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// An evaluator computes the parts that one task needs, on one goroutine.
type evaluator struct {
	ctx  context.Context // under which operators use one thread
	held []tensor.Any    // the tensors that the evaluation has allocated, to be given back
	now  int64           // their bytes
	most int64           // that there were at once
}

func (e *evaluator) eval(n *node, b box) (tensor.Any, error) {
	if err := e.ctx.Err(); err != nil {
		return tensor.Any{}, err
	}
	return n.kind.eval(e, n, b)
}

// own notes a tensor that was allocated here.
func (e *evaluator) own(t tensor.Any) tensor.Any {
	if !t.IsZero() {
		e.held = append(e.held, t)
		e.now += bytesOf(t.DType(), t.Shape())
		e.most = max(e.most, e.now)
	}
	return t
}

// release gives back the tensors that were allocated since len(e.held) was mark. It leaves the one that keep is a view of.
func (e *evaluator) release(mark int, keep tensor.Any) {
	rest := e.held[:mark]
	for _, t := range e.held[mark:] {
		if !keep.IsZero() && t.SameData(keep) {
			rest = append(rest, t)
		} else {
			e.now -= bytesOf(t.DType(), t.Shape())
			t.Close() // its memory goes to the next part; a tensor that can't be closed stays the collector's
		}
	}
	clear(e.held[len(rest):])
	e.held = rest
}

// named returns the operator with a name in ONNX's own domain, or nil.
func named(name string) *op.Op {
	if o, ok := op.Lookup(name); ok && o.Domain() == "" {
		return o
	}
	return nil
}

// opset is the one whose meaning operators have here.
const opset = 24

// call runs an operator that has one result.
func (e *evaluator) call(name string, attrs op.Attrs, in ...tensor.Any) (tensor.Any, error) {
	return e.run(named(name), attrs, in...)
}

// run runs an operator and owns its result, unless that shares elements with an operand.
func (e *evaluator) run(o *op.Op, attrs op.Attrs, in ...tensor.Any) (tensor.Any, error) {
	t, err := result(o, op.Call{Inputs: in, Attrs: attrs, Context: e.ctx})
	if err != nil {
		return t, err
	}
	for _, a := range in {
		if t.Overlaps(a) {
			return t, nil
		}
	}
	return e.own(t), nil
}

// run runs an operator, or notes the call with lazy operands, which take no context.
func run(o *op.Op, attrs op.Attrs, in ...tensor.Any) (tensor.Any, error) {
	return result(o, op.Call{Inputs: in, Attrs: attrs})
}

// result completes a call and returns its only result.
func result(o *op.Op, c op.Call) (tensor.Any, error) {
	if c.Opset = opset; c.Attrs == nil {
		c.Attrs = op.AttrMap(nil)
	}
	out, err := o.Run(&c)
	if err != nil {
		return tensor.Any{}, err
	}
	return out[0], nil
}

// reduce runs a reduction over axes, which go. Where an operator takes no axes as all, each element is a line of its own.
func (e *evaluator) reduce(name string, t tensor.Any, axes []int) (tensor.Any, error) {
	o := named(name)
	attrs := op.AttrMap{"keepdims": int64(0)}
	switch {
	case slices.Contains(o.Attributes(), "noop_with_empty_axes"):
		attrs["noop_with_empty_axes"] = int64(1)
	case len(axes) == 0:
		var err error
		if t, err = tensor.Reshape(t, append(t.Shape(), 1)...); err != nil {
			return t, err
		}
		axes = []int{t.Rank() - 1}
	}
	list := make([]int64, len(axes))
	for i, a := range axes {
		list[i] = int64(a)
	}
	return e.run(o, attrs, t, tensor.FromSlice(list, len(list)).Any())
}

// cast converts to an element type.
func (e *evaluator) cast(t tensor.Any, d dtype.DType) (tensor.Any, error) {
	if t.DType() == d {
		return t, nil
	}
	return e.call("CastLike", nil, t, tensor.EmptyOf(d))
}
