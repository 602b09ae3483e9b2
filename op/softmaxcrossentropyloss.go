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
	planned: func(c *Call, p *Plan) {
		const name = "SoftmaxCrossEntropyLoss"
		how, x, n := lossOf(c), c.with(name, 0), min(max(c.Outputs, 1), 2)
		shape := lossShape(name, *x, c.in(1), c.in(2), how)
		if !p.brief {
			p.out = []tensor.Any{spec(name, x.DType(), shape...), spec(name, x.DType(), x.Shape()...)}[:n]
		}
		p.list(c, n, func(to []tensor.Any, opts []Option) {
			var logs tensor.Any
			logSoftmax.along(&logs, x, 1, opts)
			copy(to, []tensor.Any{likelihoodLoss(name, logs, c.in(1), c.in(2), how), logs})
		})
	}}
