package quantize

import (
	"fmt"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// Dynamic returns m with MatMulInteger in place of MatMul and Gemm, as suits encoders. DynamicQuantizeLinear takes the range of the first operand in
// each run, so there are no samples. Weights are int8 from -127 to 127 with a scale for each column. Conv stays in float32, and so
// do products of two activations. Nodes of opset 7 to 12 are brought to 13. Of the options Keep counts.
//
// It fails with ErrNothing for a model without such nodes, or whose nodes are on integers already, and with tensor.ErrValue for an
// unknown name in Keep. The result shares the file of m.
func Dynamic(m *onnx.Model, o *Options) (*onnx.Model, *Report, error) {
	codes := make(map[string][3]string) // the integers of an activation, their scale and zero point
	return replaced(m, o, func(e *emitter, n *onnx.Node, w product) string {
		x := n.Inputs[0]
		if codes[x] == ([3]string{}) {
			c := [3]string{e.fresh(x + ".integers"), e.fresh(x + ".scale"), e.fresh(x + ".zero")}
			codes[x] = c
			e.nodes = append(e.nodes, onnx.Node{Name: e.fresh(x + ".DynamicQuantizeLinear"), Op: "DynamicQuantizeLinear", Inputs: []string{x}, Outputs: c[:]})
		}
		c, out := codes[x], n.Outputs[0]
		all, steps := channelSteps(w.weights, 1, w.weights.Dim(1), w.alpha, func(int) float64 { return 0 })
		base := n.Inputs[1]
		sum := e.add("MatMulInteger", e.fresh(out+".sum"), nil, c[0], e.weight(base+".integers", tensor.FromSlice(all, w.weights.Shape()...).Any()), c[2])
		by := e.add("Mul", e.fresh(out+".scale"), nil, c[1], e.weight(base+".scale", tensor.FromSlice(steps, len(steps)).Any()))
		float := e.add("Cast", e.fresh(out+".float"), []onnx.Attribute{onnx.IntAttr("to", 1)}, sum)
		return e.add("Mul", e.fresh(out+".product"), nil, float, by)
	})
}

// Blocks returns m with com.microsoft.MatMulNBits in place of MatMul and Gemm: weights of 4 or 8 bits, each block of which has a scale in float32, and
// activations of float32. A block is a power of two from 16 on, of weights of one column. The weight with the largest
// magnitude gets the smallest integer, and 0 the middle one. Products of two activations and matrices with fewer rows than a block stay. Of the options Keep counts.
//
// It fails with ErrNothing for a model without such nodes, or whose nodes are on integers already. It fails with tensor.ErrValue for
// an unknown name in Keep, and for other bits and blocks. The result shares the file of m.
func Blocks(m *onnx.Model, bits, block int, o *Options) (*onnx.Model, *Report, error) {
	if bits != 4 && bits != 8 || block < 16 || block > 1<<16 || block&(block-1) != 0 {
		return nil, nil, fmt.Errorf("quantize: %w: blocks of %d weights of %d bits; want a power of two from 16 to 65536, and 4 or 8 bits", tensor.ErrValue, block, bits)
	}
	q, r, err := replaced(m, o, func(e *emitter, n *onnx.Node, w product) string {
		rows, columns := w.weights.Dim(0), w.weights.Dim(1)
		if rows < block {
			return ""
		}
		codes, scales := packed(w, bits, block)
		out := e.fresh(n.Outputs[0] + ".product")
		e.nodes = append(e.nodes, onnx.Node{Name: e.fresh(out + ".MatMulNBits"), Op: "MatMulNBits", Domain: "com.microsoft", Outputs: []string{out},
			Inputs:     []string{n.Inputs[0], e.weight(n.Inputs[1]+".integers", codes.Any()), e.weight(n.Inputs[1]+".scales", scales.Any())},
			Attributes: []onnx.Attribute{onnx.IntAttr("K", int64(rows)), onnx.IntAttr("N", int64(columns)), onnx.IntAttr("bits", int64(bits)), onnx.IntAttr("block_size", int64(block))}})
		return out
	})
	if err == nil && q.Opset("com.microsoft") == 0 {
		q.Opsets = append(q.Opsets, onnx.Opset{Domain: "com.microsoft", Version: 1})
	}
	return q, r, err
}

// A product is the weights of a MatMul or Gemm as a matrix of rows and columns, and the number that they are multiplied by.
type product struct {
	weights tensor.Tensor[float32]
	alpha   float64
}

// packed are weights in blocks, with as many in a byte as it has room for.
func packed(w product, bits, block int) (tensor.Tensor[uint8], tensor.Tensor[float32]) {
	rows, columns := w.weights.Dim(0), w.weights.Dim(1)
	blocks, middle, each := (rows+block-1)/block, 1<<(bits-1), 8/bits
	codes, scales := tensor.New[uint8](columns, blocks, block/each), tensor.New[float32](columns*blocks)
	at := func(row, c int) float64 { return float64(w.weights.At(row, c)) * w.alpha }
	for c := range columns {
		for k := range blocks {
			far := 0.0
			for row := k * block; row < min(rows, (k+1)*block); row++ {
				if v := at(row, c); math.Abs(v) > math.Abs(far) {
					far = v
				}
			}
			scale := float32(far / float64(-middle))
			scales.Elems()[c*blocks+k] = scale
			for i := range block {
				code := middle
				if row := k*block + i; row < rows && scale != 0 {
					code = int(max(0, min(float64(2*middle-1), math.RoundToEven(at(row, c)/float64(scale))+float64(middle))))
				}
				codes.Elems()[((c*blocks+k)*block+i)/each] |= uint8(code << (i % each * bits))
			}
		}
	}
	return codes, scales
}

// replaced replaces the products of activations and weights. by writes the product without a bias, and returns its name, "" for one that stays.
func replaced(m *onnx.Model, o *Options, by func(e *emitter, n *onnx.Node, w product) string) (*onnx.Model, *Report, error) {
	p, err := newProgram(m, o)
	if err != nil {
		return nil, nil, err
	}
	if err := p.raise(); err != nil {
		return nil, nil, err
	}
	r, e := new(Report), p.emitter()
	for i := range p.g.Nodes {
		n := &p.g.Nodes[i]
		if !onnxs(n, "MatMul", "Gemm") {
			e.nodes = append(e.nodes, *n)
			continue
		}
		r.Products++
		w, beta, why := p.matrix(n)
		if kept := p.kept[n.Outputs[0]]; kept != "" {
			why = kept
		}
		result := ""
		if why == "" {
			if result = by(e, n, w); result == "" {
				why = "its matrix has fewer rows than a block"
			}
		}
		if why != "" {
			r.Floats = append(r.Floats, fmt.Sprintf("%s (%s): %s", label(n), n.Op, why))
			e.nodes = append(e.nodes, *n)
			continue
		}
		r.Quantized++
		if len(n.Inputs) > 2 && n.Inputs[2] != "" {
			bias := n.Inputs[2]
			if beta != 1 {
				bias = e.add("Mul", e.fresh(n.Outputs[0]+".bias"), nil, bias, e.weight(n.Outputs[0]+".beta", tensor.Scalar(beta).Any()))
			}
			e.add("Add", n.Outputs[0], nil, result, bias)
		} else {
			last := &e.nodes[len(e.nodes)-1]
			last.Outputs = slices.Clone(last.Outputs)
			last.Outputs[0] = n.Outputs[0]
		}
	}
	if r.Quantized == 0 {
		why := "it has no MatMul or Gemm"
		if len(r.Floats) > 0 {
			why = r.Floats[0]
		}
		return nil, nil, fmt.Errorf("quantize: %w: %s", ErrNothing, why)
	}
	outputs := p.g.Outputs
	q := e.model(nil)
	q.Graph.Outputs = outputs
	e.sweep()
	if *p.err != nil {
		return nil, nil, *p.err
	}
	return q, r, q.Check()
}

// matrix returns the weights of a product and the factor of its bias, or why it stays in float32.
func (p *program) matrix(n *onnx.Node) (w product, beta float32, why string) {
	w.alpha, beta = 1, 1
	t, ok := p.floats[n.Inputs[1]]
	if !ok || t.Rank() != 2 || t.Len() == 0 {
		return w, beta, "its weights are no constant matrix of float32"
	}
	if n.Op == "Gemm" {
		if a := n.Attr("transA"); a != nil && a.Value != int64(0) {
			return w, beta, "it transposes its first operand"
		}
		if a := n.Attr("transB"); a != nil && a.Value != int64(0) {
			t = t.Permute(1, 0).Clone()
		}
		if a := n.Attr("alpha"); a != nil {
			if v, ok := a.Value.(float32); ok {
				w.alpha = float64(v)
			}
		}
		if a := n.Attr("beta"); a != nil {
			if v, ok := a.Value.(float32); ok {
				beta = v
			}
		}
	}
	w.weights = t.Contiguous()
	return w, beta, ""
}
