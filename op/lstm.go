package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// LSTM runs a layer of long short-term memory over sequences x [steps, batch, features].
// The weights are w [D, 4·H, features] of the input and r [D, 4·H, H] of the state, whose rows
// belong to the gates i, o, f and c. It returns the states of all steps
// [steps, D, batch, H], the last states and the last cells, both [D, batch, H]. With
// BatchFirst x is [batch, steps, features], and the results are [batch, steps, D, H] and
// [batch, D, H]. A step takes x, the state h and the cell c to h' and c'. W, R and P are
// the rows of a gate, b and b' its two biases:
//
//	i, f = f(x·Wᵀ + (b + b') + h·Rᵀ + P⊙c)
//	c' = f⊙c + i⊙g(x·Wᵀ + (b + b') + h·Rᵀ)
//	o = f(x·Wᵀ + (b + b') + h·Rᵀ + P⊙c')
//	h' = o⊙h(c')
//
// The functions f, g and h are Sigmoid, Tanh and Tanh unless o names others. A product of
// matrices contracts in the fixed order of MatMul. It, each activation, and each other
// product, sum and difference, from the left, is rounded for itself. So the bits are the
// same on all processors. Narrow floats are computed in float32, the states between the
// steps included; only results are rounded, once. A sequence of Lengths steps has states of
// 0 after them; a reverse direction begins with the last of them. The last state of a
// sequence without steps is the initial one. NaN stays NaN. An Into target takes the states
// of all steps. It panics when shapes don't fit, a length is beyond the steps, or an
// activation is unknown. ONNX LSTM.
func LSTM[T num.Floating](x, w, r tensor.Tensor[T], o RecurrentOptions[T], opts ...Option) (y, yh, yc tensor.Tensor[T]) {
	lstmCell.checked(o.operands(exec.Ref(&x), exec.Ref(&w), exec.Ref(&r)), o.attributes()).call([3]*tensor.Any{exec.Ref(&y), exec.Ref(&yh), exec.Ref(&yc)}, opts)
	return y, yh, yc
}

var lstmCell = cell{name: "LSTM", gates: 4, activations: []string{"Sigmoid", "Tanh", "Tanh"}, inputs: 8, outputs: 3, f32: lstmStep[float32], f64: lstmStep[float64]}

// lstmStep computes a step of LSTM.
func lstmStep[T num.Float](u *unrolled[T], step int) {
	n := u.units
	u.weights.times(u.product, 4*n, u.h)
	for b := range u.batch {
		g, product, h := u.live(step, b)
		if g == nil {
			continue
		}
		u.add(g, g, product)
		i, o, f, z, c, t := g[:n], g[n:2*n], g[2*n:3*n], g[3*n:], u.c[b*n:(b+1)*n], u.scratch
		open := u.f[0]
		switch {
		case u.peep != nil:
			u.mul(t, u.peep[:n], c)
			u.add(i, i, t)
			open(i, i)
			if !u.inputForget {
				u.mul(t, u.peep[2*n:], c)
				u.add(f, f, t)
				open(f, f)
			}
		case u.inputForget:
			open(g[:2*n], g[:2*n])
		default:
			open(g[:3*n], g[:3*n])
		}
		if u.inputForget {
			u.sub(f, u.ones, i)
		}
		u.f[1](z, z)
		u.mul(f, f, c)
		u.mul(i, i, z)
		u.add(c, f, i)
		if u.peep != nil {
			u.mul(t, u.peep[n:2*n], c)
			u.add(o, o, t)
			open(o, o)
		}
		u.f[2](h, c)
		u.mul(h, o, h)
		u.done(step, b)
	}
}

var lstm = plan.Operator{About: plan.About{Kept: func(o *plan.Op, c *plan.Call) (*plan.Op, int64) { return lstmCell.keep(o, c) }, Name: "LSTM", Versions: []int{1, 7, 14, 22},
	Attrs: []string{"activation_alpha", "activation_beta", "activations", "clip", "direction", "hidden_size", "input_forget", "layout", "output_sequence"},
	Why:   "of floats alone: Cast first"}, Least: 3, Most: 8, Takes: plan.Floats,
	Planned: func(c *plan.Use, p *plan.Draft) { planRecurrent(p, &lstmCell, c) }}
