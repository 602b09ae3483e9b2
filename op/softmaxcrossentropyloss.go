package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// SoftmaxCrossEntropyLoss is NegativeLogLikelihoodLoss of LogSoftmax of scores [N, C, D1,
// …] along axis 1, which it returns too. An Into target takes the loss. ONNX SoftmaxCrossEntropyLoss.
func SoftmaxCrossEntropyLoss[T num.Floating, I int32 | int64](scores tensor.Tensor[T], target tensor.Tensor[I], weight tensor.Tensor[T], o LossOptions, opts ...Option) (loss, logProb tensor.Tensor[T]) {
	const name = "SoftmaxCrossEntropyLoss"
	s := plan.Read(name, opts)
	lossShape(name, scores.Any(), target.Any(), weight.Any(), o)
	logSoftmax.Along(exec.Ref(&logProb), exec.Ref(&scores), 1, s.Quiet())
	likelihoodLoss(exec.Ref(&loss), name, logProb.Any(), target.Any(), weight.Any(), o, opts)
	return loss, logProb
}

var softmaxCrossEntropyLoss = plan.Operator{About: plan.About{Name: "SoftmaxCrossEntropyLoss", Versions: []int{12, 13}, Attrs: []string{"ignore_index", "reduction"}}, Least: 2, Most: 3, Takes: plan.Floats,
	Planned: func(c *plan.Use, p *plan.Draft) {
		const name = "SoftmaxCrossEntropyLoss"
		o, x, n := lossOf(c), c.With(name, 0), min(max(c.Outputs, 1), 2)
		shape := lossShape(name, *x, c.In(1), c.In(2), o)
		if !p.Brief {
			p.Out = []tensor.Any{plan.Spec(name, x.DType(), shape...), plan.Spec(name, x.DType(), x.Shape()...)}[:n]
		}
		p.List(c, n, func(to []tensor.Any, opts []Option) {
			var logs tensor.Any
			logSoftmax.Along(&logs, x, 1, opts)
			var loss tensor.Any
			likelihoodLoss(&loss, name, logs, c.In(1), c.In(2), o, opts)
			copy(to, []tensor.Any{loss, logs})
		})
	}}
