package quantize

import (
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// channels makes BatchNormalization, and sums with and products with constants for each channel, part of the Conv before them, if nothing else
// reads its result. Numbers are computed in float64 and rounded once.
func (p *program) channels() {
	maker, readers := p.makers(), p.readers()
	for i := range p.g.Nodes {
		n := &p.g.Nodes[i]
		if len(n.Outputs) != 1 || len(n.Inputs) < 2 || p.kept[n.Outputs[0]] != "" {
			continue
		}
		for k, in := range n.Inputs[:2] {
			at, ok := maker[in]
			if !ok || readers[in] != 1 || !onnxs(&p.g.Nodes[at], "Conv") || p.kept[in] != "" {
				continue
			}
			conv := &p.g.Nodes[at]
			w, ok := p.floats[conv.Inputs[1]]
			if !ok || w.Len() == 0 {
				break
			}
			by, plus, ok := p.affine(n, k, w.Dim(0), w.Rank())
			if ok && p.scaled(conv, w, by, plus) { // nothing gives the result of n any more
				conv.Outputs = []string{n.Outputs[0]}
				maker[n.Outputs[0]] = at
				n.Op, n.Inputs, n.Outputs = "", nil, []string{p.fresh(n.Outputs[0] + ".gone")}
			}
			break
		}
	}
	p.sweep()
}

// scaled multiplies the weights of a Conv, and adds to its bias.
func (p *program) scaled(conv *onnx.Node, w tensor.Tensor[float32], by, plus []float64) bool {
	all, bias := slices.Collect(tensor.ValuesOf[float32](w.Any())), make([]float32, len(by))
	var old []float32
	if len(conv.Inputs) > 2 && conv.Inputs[2] != "" {
		b, ok := p.floats[conv.Inputs[2]]
		if !ok {
			return false
		}
		old = slices.Collect(tensor.ValuesOf[float32](b.Any()))
	}
	each := len(all) / len(by)
	for c := range by {
		for i := c * each; i < (c+1)*each; i++ {
			all[i] = float32(float64(all[i]) * by[c])
		}
		b := 0.0
		if old != nil {
			b = float64(old[c])
		}
		bias[c] = float32(float64(b*by[c]) + plus[c])
	}
	finite := func(v float32) bool { return !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0) }
	for _, list := range [][]float32{all, bias} {
		if slices.ContainsFunc(list, func(v float32) bool { return !finite(v) }) {
			return false
		}
	}
	name := conv.Outputs[0]
	conv.Inputs = []string{conv.Inputs[0], p.weight(name+".folded", tensor.FromSlice(all, w.Shape()...).Any()), p.weight(name+".shift", tensor.FromSlice(bias, len(bias)).Any())}
	return true
}

// affine returns the factor and the addend that node n has for each channel of its input k.
func (p *program) affine(n *onnx.Node, k, channels, rank int) (by, plus []float64, ok bool) {
	by, plus = make([]float64, channels), make([]float64, channels)
	for c := range by {
		by[c] = 1
	}
	switch {
	case onnxs(n, "BatchNormalization") && k == 0 && len(n.Inputs) == 5 && (n.Attr("training_mode") == nil || n.Attr("training_mode").Value == int64(0)):
		epsilon := float32(1e-5)
		if a := n.Attr("epsilon"); a != nil {
			epsilon, _ = a.Value.(float32)
		}
		var rows [4][]float32 // scale, bias, mean and variance
		for j := range rows {
			t, is := p.floats[n.Inputs[1+j]]
			if !is || t.Len() != channels {
				return nil, nil, false
			}
			rows[j] = slices.Collect(tensor.ValuesOf[float32](t.Any()))
		}
		for c := range by {
			by[c] = float64(rows[0][c]) / math.Sqrt(float64(rows[3][c])+float64(epsilon))
			plus[c] = float64(rows[1][c]) - float64(float64(rows[2][c])*by[c])
		}
		return by, plus, true
	case onnxs(n, "Add", "Mul", "Sub", "Div"):
		t, is := p.floats[n.Inputs[1-k]]
		if !is || k == 1 && onnxs(n, "Sub", "Div") || t.Rank() > rank {
			return nil, nil, false
		}
		for axis := range t.Rank() {
			if from := t.Rank() - axis; t.Dim(axis) != 1 && (from != rank-1 || t.Dim(axis) != channels) {
				return nil, nil, false
			}
		}
		list := slices.Collect(tensor.ValuesOf[float32](t.Any()))
		for c := range by {
			v := float64(list[c%len(list)])
			switch n.Op {
			case "Add":
				plus[c] = v
			case "Sub":
				plus[c] = -v
			case "Mul":
				by[c] = v
			case "Div":
				by[c] = 1 / v
			}
		}
		return by, plus, true
	}
	return nil, nil, false
}
