package quantize

import "github.com/ashlar-go/ashlar/onnx"

// Share counts the operations of the nodes that convolve and multiply matrices, and how many of them are on integers. The steps are a session's, and the
// cost is its model's, for the same inputs. Nodes whose operations aren't known, as in loops, don't count.
func Share(steps []onnx.Step, cost *onnx.Cost) (integers, all int64) {
	on := make(map[*onnx.Node]bool)
	for i := range steps {
		for _, n := range steps[i].Nodes {
			on[n] = steps[i].Integers
		}
	}
	for i := range cost.Nodes {
		n := &cost.Nodes[i]
		some := max(n.FLOPs, 0)
		switch n.Node.Op {
		case "ConvInteger", "MatMulInteger", "QLinearConv", "QLinearMatMul", "QGemm", "MatMulIntegerToFloat", "DynamicQuantizeMatMul":
			integers += some
		case "Conv", "Gemm", "MatMul", "FusedMatMul", "MatMulNBits":
			if on[n.Node] {
				integers += some
			}
		default:
			continue
		}
		all += some
	}
	return integers, all
}
