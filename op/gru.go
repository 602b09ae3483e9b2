package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// GRU runs a layer of gated recurrent units over sequences x [steps, batch, features].
// The weights are w [D, 3·H, features] of the input and r [D, 3·H, H] of the state, whose rows
// belong to the gates z, r and h. It returns the states of all steps
// [steps, D, batch, H] and the last states [D, batch, H]. With BatchFirst x is
// [batch, steps, features], and the results are [batch, steps, D, H] and [batch, D, H].
// A step takes x and the state h to h'. W and R are the rows of a gate, b and b' its two
// biases:
//
//	z, r = f(x·Wᵀ + (b + b') + h·Rᵀ)
//	n = g(x·Wᵀ + (b + b') + (r⊙h)·Rᵀ)
//	n = g(x·Wᵀ + b + r⊙(h·Rᵀ + b'))    with LinearBeforeReset
//	h' = (1 − z)⊙n + z⊙h
//
// The functions f and g are Sigmoid and Tanh unless o names others. Rounding, narrow
// floats, Lengths, NaN, Into and errors are as of LSTM. ONNX GRU.
func GRU[T num.Floating](x, w, r tensor.Tensor[T], o RecurrentOptions[T], opts ...Option) (y, yh tensor.Tensor[T]) {
	gruCell.checked(o.operands(exec.Ref(&x), exec.Ref(&w), exec.Ref(&r)), o.attributes()).call([3]*tensor.Any{exec.Ref(&y), exec.Ref(&yh), new(tensor.Any)}, opts)
	return y, yh
}

var gruCell = cell{name: "GRU", gates: 3, activations: []string{"Sigmoid", "Tanh"}, inputs: 6, outputs: 2, f32: gruStep[float32], f64: gruStep[float64]}

// gruStep computes a step of GRU.
func gruStep[T num.Float](u *unrolled[T], step int) {
	n := u.units
	u.weights.times(u.product, 3*n, u.h)
	rest := u.product[min(2*n, len(u.product)):]
	if u.linear {
		u.last.times(rest, 3*n, u.h)
	}
	for b := range u.batch {
		g, product, h := u.live(step, b)
		if g == nil {
			continue
		}
		u.add(g[:2*n], g[:2*n], product[:2*n])
		u.f[0](g[:2*n], g[:2*n])
		if u.linear {
			if u.bias != nil {
				u.add(product[2*n:], product[2*n:], u.bias)
			}
			u.mul(product[2*n:], g[n:2*n], product[2*n:])
		} else {
			u.mul(u.reset[b*n:(b+1)*n], g[n:2*n], h)
		}
	}
	if !u.linear {
		u.last.times(rest, 3*n, u.reset)
	}
	for b := range u.batch {
		g, product, h := u.live(step, b)
		if g == nil {
			continue
		}
		z, next := g[:n], g[2*n:]
		u.add(next, next, product[2*n:])
		u.f[1](next, next)
		u.sub(u.scratch, u.ones, z)
		u.mul(next, u.scratch, next)
		u.mul(z, z, h)
		u.add(h, next, z)
		u.done(step, b)
	}
}

var gru = plan.Operator{About: plan.About{Kept: func(o *plan.Op, c *plan.Call) (*plan.Op, int64) { return gruCell.keep(o, c) }, Name: "GRU", Versions: []int{1, 3, 7, 14, 22},
	Attrs: []string{"activation_alpha", "activation_beta", "activations", "clip", "direction", "hidden_size", "layout", "linear_before_reset", "output_sequence"},
	Why:   "of floats alone: Cast first"}, Least: 3, Most: 6, Takes: plan.Floats,
	Planned: func(c *plan.Use, p *plan.Draft) { planRecurrent(p, &gruCell, c) }}
