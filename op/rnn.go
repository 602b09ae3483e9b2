package op

import (
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// RNN runs a layer of simple recurrent units over sequences x [steps, batch, features],
// with weights w [D, H, features] of the input and r [D, H, H] of the state. It returns the
// states of all steps [steps, D, batch, H] and the last states [D, batch, H]. With
// BatchFirst x is [batch, steps, features], and the results are [batch, steps, D, H] and
// [batch, D, H]. A step takes x and the state h to h', with two biases b and b':
//
//	h' = f(x·wᵀ + (b + b') + h·rᵀ)
//
// The function f is Tanh unless o names another. Rounding, narrow floats, Lengths, NaN,
// Into and errors are as of LSTM. ONNX RNN.
func RNN[T num.Floating](x, w, r tensor.Tensor[T], o RecurrentOptions[T], opts ...Option) (y, yh tensor.Tensor[T]) {
	rnnCell.checked(o.operands(exec.Ref(&x), exec.Ref(&w), exec.Ref(&r)), o.attributes()).call([3]*tensor.Any{exec.Ref(&y), exec.Ref(&yh), new(tensor.Any)}, opts)
	return y, yh
}

var rnnCell = cell{name: "RNN", gates: 1, activations: []string{"Tanh"}, inputs: 6, outputs: 2, f32: rnnStep[float32], f64: rnnStep[float64]}

// rnnStep computes a step of RNN.
func rnnStep[T num.Float](u *unrolled[T], step int) {
	u.weights.times(u.product, u.units, u.h)
	for b := range u.batch {
		g, product, h := u.live(step, b)
		if g == nil {
			continue
		}
		u.add(g, g, product)
		u.f[0](h, g)
		cast.CanonicalRow(h)
		u.done(step, b)
	}
}

var rnn = plan.Operator{About: plan.About{Kept: func(o *plan.Op, c *plan.Call) (*plan.Op, int64) { return rnnCell.keep(o, c) }, Name: "RNN", Versions: []int{1, 7, 14, 22},
	Attrs: []string{"activation_alpha", "activation_beta", "activations", "clip", "direction", "hidden_size", "layout", "output_sequence"},
	Why:   "of floats alone: Cast first"}, Least: 3, Most: 6, Takes: plan.Floats,
	Planned: func(c *plan.Use, p *plan.Draft) { planRecurrent(p, &rnnCell, c) }}
