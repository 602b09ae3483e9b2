package main

import (
	"fmt"

	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// Recorded results of a network were computed in float32 by some program, with
// errors of its own: where a graph cancels (a variance as E[x²]−E[x]², say) they
// can be much larger than the tolerance of the case. The same graph in float64
// tells whose error it is. So a value that is outside the tolerance still passes
// if it is no farther from the float64 evaluation than the recorded value is; how
// many did is printed. A mistake of ours that both evaluations make must not pass
// that way: the recorded value must be near the float64 evaluation too, and only a
// quarter of the values of a case may be judged so.

// recordedError is how many tolerances a recorded value may be off the float64
// evaluation.
const recordedError = 50

// inFloat64 returns a copy of a model in which every float32 is a float64.
func inFloat64(m *onnx.Model) (*onnx.Model, error) {
	c := *m
	g := *m.Graph
	c.Graph = &g
	g.Initializers = append([]onnx.TensorProto(nil), g.Initializers...)
	for i := range g.Initializers {
		if err := widen(m, &g.Initializers[i]); err != nil {
			return nil, err
		}
	}
	g.Nodes = append([]onnx.Node(nil), g.Nodes...)
	for i := range g.Nodes {
		n := &g.Nodes[i]
		n.Attributes = append([]onnx.Attribute(nil), n.Attributes...)
		for k := range n.Attributes {
			a := &n.Attributes[k]
			switch v := a.Value.(type) {
			case *onnx.TensorProto:
				t := *v
				if err := widen(m, &t); err != nil {
					return nil, err
				}
				a.Value = &t
			case int64:
				if n.Op == "Cast" && a.Name == "to" && v == int64(onnx.ElemFloat32) {
					a.Value = int64(onnx.ElemFloat64)
				}
			}
		}
	}
	for _, list := range []*[]onnx.ValueInfo{&g.Inputs, &g.Outputs, &g.Values} {
		*list = append([]onnx.ValueInfo(nil), *list...)
		for i := range *list {
			if t := &(*list)[i].Type; t.Elem == onnx.ElemFloat32 {
				t.Elem = onnx.ElemFloat64
			}
		}
	}
	return &c, nil
}

// widen makes a float32 tensor of a model a float64 one.
func widen(m *onnx.Model, p *onnx.TensorProto) error {
	if p.Type != onnx.ElemFloat32 {
		return nil
	}
	a, err := m.Tensor(p)
	if err != nil {
		return err
	}
	*p, err = onnx.NewTensorProto(p.Name, op.Cast[float64](typed[float32](a)).Any())
	return err
}

// exact runs the model in float64 on the inputs of the case.
func (m *modelRun) exact() (map[string]tensor.Any, error) {
	wide, err := inFloat64(m.model)
	if err != nil {
		return nil, err
	}
	s, err := onnx.NewSession(wide)
	if err != nil {
		return nil, fmt.Errorf("in float64: %w", err)
	}
	inputs, err := m.fixed()
	if err != nil {
		return nil, err
	}
	for name, a := range inputs {
		if f, ok := tensor.As[float32](a); ok {
			inputs[name] = op.Cast[float64](f).Any()
		}
	}
	return s.Run(m.ctx, inputs, &onnx.Options{MaxMemory: -1})
}
