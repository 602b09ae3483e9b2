package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// SoftmaxCrossEntropyLoss is NegativeLogLikelihoodLoss of LogSoftmax of scores [N, C, D1,
// …] along axis 1, which it returns too. ONNX SoftmaxCrossEntropyLoss.
func SoftmaxCrossEntropyLoss[T num.Float | num.Narrow, I int32 | int64](scores tensor.Tensor[T], target tensor.Tensor[I], weight tensor.Tensor[T], l Loss) (loss, logProb tensor.Tensor[T]) {
	lossShape("SoftmaxCrossEntropyLoss", scores.Any(), target.Any(), weight.Any(), l)
	logSoftmax.along(exec.Ref(&logProb), exec.Ref(&scores), 1, nil)
	*exec.Ref(&loss) = likelihoodLoss("SoftmaxCrossEntropyLoss", logProb.Any(), target.Any(), weight.Any(), l)
	return loss, logProb
}

var softmaxCrossEntropyLoss = opN{about: about{name: "SoftmaxCrossEntropyLoss", onnx: []int{12, 13}, attrs: []string{"ignore_index", "reduction"}}, least: 2, most: 3, takes: floats,
	infer: func(c *Call) []tensor.Any {
		const name = "SoftmaxCrossEntropyLoss"
		d := c.in(0).DType()
		out := []tensor.Any{spec(name, d, lossShape(name, c.in(0), c.in(1), c.in(2), lossOf(c))...), spec(name, d, c.in(0).Shape()...)}
		return out[:min(max(c.Outputs, 1), 2)]
	},
	run: func(c *Call) []tensor.Any {
		const name = "SoftmaxCrossEntropyLoss"
		lossShape(name, c.in(0), c.in(1), c.in(2), lossOf(c))
		for i, a := range c.Inputs {
			if a.IsSpec() {
				panic(unknown(name, i))
			}
		}
		var opts []Option
		if c.Context != nil {
			opts = []Option{Context(c.Context)}
		}
		var p tensor.Any
		logSoftmax.along(&p, c.with(name, 0), 1, opts)
		return []tensor.Any{likelihoodLoss(name, p, c.in(1), c.in(2), lossOf(c)), p}[:min(max(c.Outputs, 1), 2)]
	}}
