package op

import (
	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// CausalConvWithState convolves each channel of x [batch, channels, steps] with its own weights w [channels, 1, k], so that a step sees itself and the
// k−1 steps before it. Those before the first are state [batch, channels, k−1], 0 where it is the zero Tensor. bias is [channels] or the
// zero Tensor. It returns the result, of x's shape, and the last k−1 steps of state and x, the state of the next call. The
// convolution is rounded as Conv rounds it; then, with o.ThenSiLU, of float32 and float64 the Sigmoid and the product, of float16 and bfloat16 only the product.
// An Into target takes the result. It panics when shapes don't fit. ONNX CausalConvWithState.
func CausalConvWithState[T num.Float | num.F16 | num.BF16](x, w, bias, state tensor.Tensor[T], o CausalConvWithStateOptions, opts ...Option) (y, next tensor.Tensor[T]) {
	convolvedCausally(exec.Ref(&y), exec.Ref(&next), [4]*tensor.Any{exec.Ref(&x), exec.Ref(&w), exec.Ref(&bias), exec.Ref(&state)}, o.ThenSiLU, opts)
	return y, next
}

// CausalConvWithStateOptions says what follows the convolution of CausalConvWithState.
type CausalConvWithStateOptions struct {
	ThenSiLU bool // each result y becomes y·Sigmoid(y): "silu" of ONNX's attribute activation
}

// causalOf checks the shapes and types of a call and returns the shape of the state. Inputs may be Specs.
func causalOf(in *[4]*tensor.Any) []int {
	const name = "CausalConvWithState"
	x, w, bias, state := in[0], in[1], in[2], in[3]
	d := x.DType()
	plan.Must(name, attended.Has(d), d)
	for i, a := range in {
		if !a.IsZero() && a.DType() != d {
			panic(plan.NotHeld(name, a, i, d))
		}
	}
	if x.Rank() != 3 {
		panic(plan.Fail(name, tensor.ErrShape, "input 0 is %s; want [batch, channels, steps]", operandText(x)))
	}
	if w.Rank() != 3 || w.Dim(0) != x.Dim(1) || w.Dim(1) != 1 || w.Dim(2) < 1 {
		panic(plan.Fail(name, tensor.ErrShape, "input 1, the weights, is %s; want [%d,1,k], for the channels of %s", operandText(w), x.Dim(1), operandText(x)))
	}
	if !bias.IsZero() && !plan.SameShape(bias.LayoutRef(), []int{x.Dim(1)}) {
		panic(plan.Fail(name, tensor.ErrShape, "input 2, the bias, is %s; want [%d]", operandText(bias), x.Dim(1)))
	}
	want := []int{x.Dim(0), x.Dim(1), w.Dim(2) - 1}
	if !state.IsZero() && !plan.SameShape(state.LayoutRef(), want) {
		panic(plan.Fail(name, tensor.ErrShape, "input 3, the state, is %s; want %s", operandText(state), plan.ShapeText(want)))
	}
	return want
}

// convolvedCausally is CausalConvWithState for a run-time element type.
func convolvedCausally(y, next *tensor.Any, in [4]*tensor.Any, silu bool, opts []Option) {
	const name = "CausalConvWithState"
	plan.Present(name, in[0], in[1])
	shape, s := causalOf(&in), plan.Read(name, opts)
	x, d, quiet := in[0], in[0].DType(), s.Quiet()
	plan.AimShape(y, name, &s, d, x.Shape())
	before := *in[3]
	if before.IsZero() {
		before = numberOf(d, 0).BroadcastTo(shape...)
	}
	var all tensor.Any
	concatenated(&all, 2, []tensor.Any{before, *x}, quiet)
	*next = all.Slice(tensor.Colon, tensor.Colon, tensor.R(x.Dim(2), all.Dim(2))).Clone()
	defer all.Close()
	if y.Len() == 0 {
		return
	}
	convolved(y, &all, in[1], in[2], contract.Window{}, x.Dim(1), onto(y, quiet))
	if !silu {
		return
	}
	v := *y
	if d.IsNarrow() {
		v = inSingle(name, y)
	}
	var g tensor.Any
	sigmoid.Call(&g, quiet, &v)
	mul.Call(&g, onto(&g, quiet), &v, &g)
	if d.IsNarrow() {
		narrowInto(name, y, &g)
		v.Close()
	} else {
		y.CopyFrom(g)
		g.Close()
	}
}

var causalConvWithState = plan.Operator{About: plan.About{Name: "CausalConvWithState", Convolves: true, Shared: true, Versions: []int{27}, Attrs: []string{"activation"}, Why: whyAttended}, Least: 2, Most: 4, Takes: attended,
	Planned: func(c *plan.Use, p *plan.Draft) {
		const name = "CausalConvWithState"
		in, silu := causalCall(c)
		allThere(name, c)
		n := min(max(c.Outputs, 1), 2)
		if !p.Brief {
			d, shape := in[0].DType(), causalOf(&in)
			p.Out = []tensor.Any{plan.Spec(name, d, in[0].Shape()...), plan.Spec(name, d, shape...)}[:n]
			x, w := float64(in[0].Len()), float64(in[1].Len())
			p.Price = contract.PriceOf(d, []contract.Span{{Kernel: in[1].Dim(2)}}, x, w, float64(in[1].Dim(2)), x)
			p.Copies(0, 2, 1)
		}
		p.List(c, n, func(to []tensor.Any, opts []Option) {
			var outs [2]tensor.Any
			convolvedCausally(&outs[0], &outs[1], in, silu, opts)
			copy(to, outs[:])
		})
	}}

// causalCall reads a node.
func causalCall(c *plan.Use) (in [4]*tensor.Any, silu bool) {
	for i := range in {
		in[i] = c.Or(i)
	}
	switch a := c.Attrs.Str("activation", "none"); a {
	case "none":
	case "silu", "swish":
		silu = true
	default:
		panic(plan.Fail("CausalConvWithState", tensor.ErrValue, "activation %.40q; want none, silu or swish", a))
	}
	return in, silu
}
