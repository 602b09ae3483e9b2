package ml

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// SVM is a support vector machine. Without support vectors it is linear, and each feature has a coefficient.
type SVM struct {
	Kernel               string // "LINEAR", as "" is, "POLY", "RBF" or "SIGMOID"
	Gamma, Coef0, Degree float32
	SupportVectors       []float32 // as many numbers each as there are features, one vector after the other
	Coefficients         []float32
	Rho                  []float32 // the addend: one number, of a classifier one for each pair of classes
}

// SVMRegressor returns the target [N, 1] of each row of x [N, features] or [features]: the sum of coefficients times
// kernels of the row and each support vector, plus Rho; with o.OneClass 1 where that is positive, and −1 elsewhere. x is
// rounded to float32, the rest is computed in float64, and the result is rounded once. It panics when the numbers of
// coefficients don't fit. SVMRegressor of the domain ai.onnx.ml.
func SVMRegressor[T float32 | float64 | int32 | int64](x tensor.Tensor[T], o SVMRegressorOptions, opts ...op.Option) (r tensor.Tensor[float32]) {
	o.regressed(x.Any()).Into(exec.Ref(&r), opts)
	return r
}

// SVMRegressorOptions is a support vector machine that SVMRegressor evaluates.
type SVMRegressorOptions struct {
	SVM      SVM
	OneClass bool // 1 for a positive result, and −1 for others: ONNX's attribute one_class
}

func (o *SVMRegressorOptions) regressed(x tensor.Any) *move.Transfer {
	const name = "SVMRegressor"
	plan.Present(name, &x)
	rows, features := plan.Rows(name, x)
	m := &o.SVM
	kernel, vectors := m.kernel(name, features)
	if len(m.Rho) != 1 {
		panic(plan.Fail(name, tensor.ErrShape, "rho has %d numbers; want 1", len(m.Rho)))
	}
	if n := len(m.Coefficients); vectors == 0 && n != features || vectors > 0 && n != vectors {
		panic(plan.Fail(name, tensor.ErrShape, "%d coefficients for %d support vectors of %d features; give one for each vector, or without vectors for each feature", n, vectors, features))
	}
	coefficients, rho := m.Coefficients, float64(m.Rho[0])
	return singlesTable(name, x, rows, features, 1, 8*features*max(vectors, 1)+40, func(in []float64, _ int, v []float64) {
		var sum float64
		if vectors == 0 {
			sum = dot64(in, coefficients)
		} else {
			for k, c := range coefficients {
				sum += float64(float64(c) * kernel(in, k))
			}
		}
		if v[0] = sum + rho; o.OneClass {
			if v[0] > 0 {
				v[0] = 1
			} else {
				v[0] = -1
			}
		}
	}, plan.ListOf(coefficients), plan.ListOf(m.SupportVectors))
}

// singlesTable is scoreTable for a function of a row that is rounded to float32.
func singlesTable(name string, x tensor.Any, rows, features, wide, cost int, f func(in []float64, row int, v []float64), lists ...tensor.Any) *move.Transfer {
	t := scoreTables(name, x, rows, wide, cost, func(src move.Numeric, row int, v []float64) {
		in := plan.RoomFor[float64](name, features)
		for ; len(v) > 0; v = v[wide:] {
			for i := range in {
				in[i] = float64(float32(src.Real(row*features + i)))
			}
			f(in, row, v[:wide])
			row++
		}
	}, lists...)
	t.Takes(0, 8*float64(features))
	return t
}

func dot64(a []float64, b []float32) (sum float64) {
	for i, x := range a {
		sum += float64(x * float64(b[i]))
	}
	return sum
}

// kernel returns the kernel of a row and support vector k, and how many vectors there are.
func (m *SVM) kernel(name string, features int) (f func(in []float64, k int) float64, vectors int) {
	if n := len(m.SupportVectors); n > 0 {
		if features == 0 || n%features != 0 {
			panic(plan.Fail(name, tensor.ErrShape, "the support vectors have %d numbers; want %d for each", n, features))
		}
		vectors = n / features
	}
	vector := func(k int) []float32 { return m.SupportVectors[k*features : (k+1)*features] }
	gamma, coef0, degree := float64(m.Gamma), float64(m.Coef0), float64(m.Degree)
	switch m.Kernel {
	case "", "LINEAR":
		f = func(in []float64, k int) float64 { return dot64(in, vector(k)) }
	case "POLY":
		f = func(in []float64, k int) float64 {
			return float.Pow64(float64(gamma*dot64(in, vector(k)))+coef0, degree)
		}
	case "SIGMOID":
		f = func(in []float64, k int) float64 { return float.Tanh64(float64(gamma*dot64(in, vector(k))) + coef0) }
	case "RBF":
		f = func(in []float64, k int) float64 {
			var sum float64
			for i, y := range vector(k) {
				d := in[i] - float64(y)
				sum += float64(d * d)
			}
			return float.Exp64(-gamma * sum)
		}
	default:
		panic(plan.Fail(name, tensor.ErrValue, "kernel_type is %.40q; want LINEAR, POLY, RBF or SIGMOID", m.Kernel))
	}
	return f, vectors
}

// svmOf reads a node.
func svmOf(name string, c *plan.Use) (m SVM) {
	params, _ := c.Attrs.Floats("kernel_params")
	if n := len(params); n != 0 && n != 3 {
		panic(plan.Fail(name, tensor.ErrShape, "kernel_params has %d numbers; want gamma, coef0 and degree", n))
	} else if n == 3 {
		m.Gamma, m.Coef0, m.Degree = params[0], params[1], params[2]
	}
	m.Kernel = c.Attrs.Str("kernel_type", "LINEAR")
	m.Coefficients, _ = c.Attrs.Floats("coefficients")
	m.SupportVectors, _ = c.Attrs.Floats("support_vectors")
	m.Rho, _ = c.Attrs.Floats("rho")
	return m
}

var svmRegressor = plan.Operator{About: plan.About{Name: "SVMRegressor", Domain: mlDomain, Versions: []int{1}, Why: mlWhy,
	Attrs: []string{"coefficients", "kernel_params", "kernel_type", "n_supports", "one_class", "post_transform", "rho", "support_vectors"}}, Least: 1, Takes: plan.Tabular,
	Move: func(c *plan.Use) plan.Mover {
		const name = "SVMRegressor"
		checkTransform(name, c.Attrs.Str("post_transform", "NONE")) // which ONNX Runtime reads, and doesn't apply
		m := svmOf(name, c)
		if c.Attrs.Int("n_supports", 0) == 0 {
			m.SupportVectors = nil
		}
		o := SVMRegressorOptions{SVM: m, OneClass: c.Attrs.Int("one_class", 0) != 0}
		return o.regressed(c.In(0))
	}}
