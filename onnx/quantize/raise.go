package quantize

import (
	"fmt"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// lowestOpset and wantedOpset bound the opsets that raise brings to the second: DequantizeLinear has a scale for each channel from 13 on.
const lowestOpset, wantedOpset = 7, 13

// raise brings the nodes of an older opset to 13. Source: docs/Changelog.md of github.com/onnx/onnx.
func (p *program) raise() error {
	from := p.m.Opset("")
	if from >= wantedOpset {
		return nil
	}
	if from < lowestOpset {
		return fmt.Errorf("quantize: %w: the model imports opset %d; export it with %d or a later one", tensor.ErrValue, from, wantedOpset)
	}
	for g := range p.g.All() {
		var nodes []onnx.Node
		top := g == p.g
		if !top && slices.ContainsFunc(g.Nodes, func(n onnx.Node) bool { return older(&n, from) }) {
			return fmt.Errorf("quantize: %w: a graph inside a node has operators of opset %d; export the model with %d or a later one", tensor.ErrValue, from, wantedOpset)
		}
		if !top {
			continue
		}
		for i := range g.Nodes {
			list, err := p.raised(g.Nodes[i], from)
			if err != nil {
				return fmt.Errorf("quantize: node %.100q (%s): %w", label(&g.Nodes[i]), g.Nodes[i].Op, err)
			}
			nodes = append(nodes, list...)
		}
		g.Nodes = nodes
	}
	for i := range p.m.Opsets {
		if d := p.m.Opsets[i].Domain; d == "" || d == "ai.onnx" {
			p.m.Opsets[i].Version = wantedOpset
		}
	}
	return nil
}

// moved are the attributes that became inputs, in their order, and since which opset.
var moved = map[string]struct {
	since int64
	attrs []string
}{
	"Slice": {10, []string{"starts", "ends", "axes"}}, "TopK": {10, []string{"k"}}, "Clip": {11, []string{"min", "max"}}, "Pad": {11, []string{"pads", "value"}},
	"Squeeze": {13, []string{"axes"}}, "Unsqueeze": {13, []string{"axes"}}, "ReduceSum": {13, []string{"axes"}}, "Split": {13, []string{"split"}},
}

// older reports whether a node means something else, or nothing, in opset 13.
func older(n *onnx.Node, from int64) bool {
	m, ok := moved[n.Op]
	return onnxs(n, n.Op) && (ok && m.since > from || slices.Contains([]string{"Softmax", "LogSoftmax", "Hardmax", "Upsample", "Scatter"}, n.Op) ||
		n.Op == "Resize" && from < 11 || n.Op == "Dropout" && from < 12)
}

// raised is a node as nodes of opset 13.
func (p *program) raised(n onnx.Node, from int64) ([]onnx.Node, error) {
	if !older(&n, from) {
		return []onnx.Node{n}, nil
	}
	n.Inputs, n.Attributes = slices.Clone(n.Inputs), slices.Clone(n.Attributes)
	drop := func(names ...string) {
		n.Attributes = slices.DeleteFunc(n.Attributes, func(a onnx.Attribute) bool { return slices.Contains(names, a.Name) })
	}
	scales := func(scales string) {
		mode := "nearest"
		if a := n.Attr("mode"); a != nil {
			mode, _ = a.Value.(string)
		}
		if mode == "bilinear" || mode == "trilinear" {
			mode = "linear"
		}
		n.Op, n.Inputs = "Resize", []string{n.Inputs[0], "", scales}
		n.Attributes = []onnx.Attribute{onnx.StringAttr("mode", mode), onnx.StringAttr("coordinate_transformation_mode", "asymmetric"), onnx.StringAttr("nearest_mode", "floor")}
	}
	switch n.Op {
	case "Dropout":
		drop("ratio")
		return []onnx.Node{n}, nil
	case "Scatter":
		n.Op = "ScatterElements"
		return []onnx.Node{n}, nil
	case "Resize":
		scales(n.Inputs[1])
		return []onnx.Node{n}, nil
	case "Upsample":
		if from < 9 {
			a := n.Attr("scales")
			list, ok := a.Value.([]float32)
			if !ok {
				return nil, fmt.Errorf("%w: the attribute scales is missing", tensor.ErrValue)
			}
			n.Inputs = append(n.Inputs, p.weight(n.Outputs[0]+".scales", tensor.FromSlice(list, len(list)).Any()))
		}
		scales(n.Inputs[1])
		return []onnx.Node{n}, nil
	case "Softmax", "LogSoftmax", "Hardmax":
		return p.lastAxis(n), nil
	}
	for _, name := range moved[n.Op].attrs {
		in, a := "", n.Attr(name)
		place := n.Outputs[0] + "." + name
		switch {
		case a == nil && name == "min":
			in = p.weight(place, tensor.Scalar[float32](-math.MaxFloat32).Any())
		case a == nil && name == "max":
			in = p.weight(place, tensor.Scalar[float32](math.MaxFloat32).Any())
		case a == nil:
		default:
			switch v := a.Value.(type) {
			case []int64:
				in = p.weight(place, tensor.FromSlice(v, len(v)).Any())
			case int64: // of TopK
				in = p.weight(place, tensor.FromSlice([]int64{v}, 1).Any())
			case float32:
				in = p.weight(place, tensor.Scalar(v).Any())
			}
		}
		n.Inputs = append(n.Inputs, in)
	}
	for len(n.Inputs) > 1 && n.Inputs[len(n.Inputs)-1] == "" {
		n.Inputs = n.Inputs[:len(n.Inputs)-1]
	}
	drop(moved[n.Op].attrs...)
	return []onnx.Node{n}, nil
}

// lastAxis is a Softmax or its like over the axes from one on, which opset 13 has over one axis alone.
func (p *program) lastAxis(n onnx.Node) []onnx.Node {
	axis := int64(1)
	if a := n.Attr("axis"); a != nil {
		axis, _ = a.Value.(int64)
	}
	n.Attributes = []onnx.Attribute{onnx.IntAttr("axis", -1)}
	if axis == -1 {
		return []onnx.Node{n}
	}
	x, out := n.Inputs[0], n.Outputs[0]
	shape, flat, result := p.fresh(out+".shape"), p.fresh(out+".flat"), p.fresh(out+".rows")
	n.Inputs, n.Outputs = []string{flat}, []string{result}
	return []onnx.Node{
		{Op: "Shape", Name: p.fresh(shape + ".Shape"), Inputs: []string{x}, Outputs: []string{shape}},
		{Op: "Flatten", Name: p.fresh(flat + ".Flatten"), Inputs: []string{x}, Outputs: []string{flat}, Attributes: []onnx.Attribute{onnx.IntAttr("axis", axis)}},
		n,
		{Op: "Reshape", Name: p.fresh(out + ".Reshape"), Inputs: []string{result, shape}, Outputs: []string{out}},
	}
}
