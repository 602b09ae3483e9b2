package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Gelu returns a·Φ(a), element by element, Φ being the distribution of a standard
// normal variable: correctly rounded in float32, within 0.501 ulp in float64. ±0
// and +∞ stay, −∞ gives the limit, −0. ONNX Gelu with approximate = "none".
func Gelu[T num.Floating](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	gelu.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

// GeluTanh returns an approximation of Gelu, element by element:
//
//	a·(1 + tanh(√(2/π)·(a + 0.044715·a³))) ÷ 2
//
// The formula itself is correctly rounded in float32, and within 0.501 ulp in float64.
// ±0 and +∞ stay, −∞ gives the limit, −0. ONNX Gelu with approximate = "tanh".
func GeluTanh[T num.Floating](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	geluTanh.Call(exec.Ref(&r), opts, exec.Ref(&a))
	return r
}

var gelu = pointwise.Operator{About: plan.About{Name: "Gelu"}, Function: true, Cost: 70, Rows: exec.One(&simd.Gelu, &rows1{F32: geluRow32, F64: geluRow64})}

var geluTanh = pointwise.Operator{About: plan.About{Name: "GeluTanh"}, Function: true, Cost: 30, Rows: exec.One(&simd.GeluTanh, &rows1{F32: geluTanhRow32, F64: geluTanhRow64})}

// geluRow32 and geluRow64 define Gelu.
func geluRow32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Gelu32(x)
	}
}

func geluRow64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.Gelu64(x)
	}
}

// geluTanhRow32 and geluTanhRow64 define GeluTanh.
func geluTanhRow32(dst, a []float32) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.GeluTanh32(x)
	}
}

func geluTanhRow64(dst, a []float64) {
	for i, x := range a[:len(dst)] {
		dst[i] = float.GeluTanh64(x)
	}
}

var geluOp = plan.Operator{About: plan.About{Name: "Gelu", Shared: true, FLOPs: plan.FLOPs{Each: 1}, Versions: []int{20}, Attrs: []string{"approximate"}}, Least: 1, Takes: plan.Floats,
	Planned: func(c *plan.Use, p *plan.Draft) {
		by, a := &gelu, c.With("Gelu", 0)
		if approximate(c) {
			by = &geluTanh
		}
		p.Stretched(a.DType(), c, 1)
		p.By(c, 0, func(r *tensor.Any, opts []Option) { by.Call(r, opts, a) })
	}}

// approximate reports whether a call wants GeluTanh.
func approximate(c *plan.Use) bool {
	switch s := c.Attrs.Str("approximate", "none"); s {
	case "none":
		return false
	case "tanh":
		return true
	default:
		panic(plan.Fail("Gelu", tensor.ErrValue, "approximate is %q, want none or tanh", s))
	}
}
