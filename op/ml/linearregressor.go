package ml

import (
	"context"
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// LinearOptions is a linear model: for each score, as many coefficients as there are features, and
// an intercept.
type LinearOptions struct {
	Coefficients  []float32 // score by score, the first one first
	Intercepts    []float32 // one for each score; 0 without them
	PostTransform string    // of the scores: "NONE", as "" is, "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO" or "PROBIT"
}

// LinearRegressor returns the targets [N, targets] of x [N, features] or [features]: for each
// the sum of features times coefficients, plus the intercept. They are float32, computed in
// float64 in the order of features and rounded once. NaN goes on into all targets. It panics
// when the numbers of coefficients or intercepts don't fit. LinearRegressor of the domain
// ai.onnx.ml.
func LinearRegressor[T float32 | float64 | int32 | int64](x tensor.Tensor[T], targets int, o LinearOptions, opts ...op.Option) (r tensor.Tensor[float32]) {
	o.scores("LinearRegressor", x.Any(), targets, targets, func(v []float64, _ int) { transformScores(v, o.PostTransform) }).Into(exec.Ref(&r), opts)
	return r
}

// scores returns a transfer that computes given scores of each row, which finish turns
// into the wide ones of the result.
func (m *LinearOptions) scores(name string, x tensor.Any, given, wide int, finish func(v []float64, row int), lists ...tensor.Any) *move.Transfer {
	plan.Present(name, &x)
	rows, features := plan.Rows(name, x)
	checkTransform(name, m.PostTransform)
	if given < 1 {
		panic(plan.Fail(name, tensor.ErrValue, "a model of %d scores; want 1 or more", given))
	}
	if n := len(m.Coefficients); n%given != 0 || n/given != features {
		panic(plan.Fail(name, tensor.ErrShape, "%d coefficients for %d scores of input 0, %s; want %d for each", n, given, tensor.Describe(x), features))
	}
	if n := len(m.Intercepts); n != 0 && n != given {
		panic(plan.Fail(name, tensor.ErrShape, "%d intercepts for %d scores; give one for each, or none", n, given))
	}
	coefficients, intercepts := m.Coefficients, m.Intercepts
	return scoreTable(name, x, rows, wide, 4*len(coefficients)+40*wide, func(src move.Numeric, row int, v []float64) {
		var some [64]float64
		for at := 0; at < features; at += len(some) {
			x := some[:min(len(some), features-at)]
			src.Reals(x, row*features+at)
			for t := range given {
				sum := v[t]
				for i, c := range coefficients[t*features+at:][:len(x)] {
					sum += float64(x[i] * float64(c))
				}
				v[t] = sum
			}
		}
		for t, c := range intercepts {
			v[t] += float64(c)
		}
		finish(v, row)
	}, append(lists, plan.ListOf(coefficients), plan.ListOf(intercepts))...)
}

// scoreTable returns a transfer to float32[rows, wide]. f sets the scores of a row, by lists besides x.
func scoreTable(name string, x tensor.Any, rows, wide, cost int, f func(src move.Numeric, row int, v []float64), lists ...tensor.Any) *move.Transfer {
	return scoreTables(name, x, rows, wide, cost, func(src move.Numeric, row int, v []float64) {
		for ; len(v) > 0; v = v[wide:] {
			f(src, row, v[:wide])
			row++
		}
	}, lists...)
}

// scoreTables is scoreTable for a function that sets the scores of several rows, from one on.
func scoreTables(name string, x tensor.Any, rows, wide, cost int, f func(src move.Numeric, row int, v []float64), lists ...tensor.Any) *move.Transfer {
	most := max(1, min(rows, 16, 1<<12/max(wide, 1))) // rows at a time
	return &move.Transfer{Name: name, D: dtype.Float32, Shape: []int{rows, wide}, In: append([]tensor.Any{x}, lists...), Price: plan.Taking(0, 8*float64(most)*float64(wide)), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		src, to := move.NumericOf(in[0]), move.NumericOf(dst)
		exec.Split(name, ctx, rows, cost, func(from, till int) {
			room := plan.RoomFor[float64](name, min(most, till-from)*wide)
			for ; from < till; from += most {
				v := room[:min(most, till-from)*wide]
				clear(v)
				f(src, from, v)
				to.SetFloats(from*wide, v)
			}
		})
	}}
}

// checkTransform panics for an unknown post_transform.
func checkTransform(name, post string) {
	switch post {
	case "", "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT":
		return
	}
	panic(plan.Fail(name, tensor.ErrValue, "post_transform is %.40q; want NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT", post))
}

// transformScores applies a post_transform to the scores of a row. PROBIT is ONNX's formula,
// which is off by some 0.002. SOFTMAX_ZERO leaves scores within 1e-7 of 0 near 0.
func transformScores(v []float64, post string) {
	top := math.Inf(-1)
	for _, x := range v {
		top = max(top, x)
	}
	switch post {
	case "LOGISTIC":
		for i, x := range v {
			e := float.Exp64(-math.Abs(x))
			if v[i] = 1 / (1 + e); x < 0 {
				v[i] = e / (1 + e)
			}
		}
	case "PROBIT":
		for i, x := range v {
			v[i] = probit(x)
		}
	case "SOFTMAX":
		var sum float64
		for i, x := range v {
			v[i] = float.Exp64(x - top)
			sum += v[i]
		}
		for i := range v {
			v[i] /= sum
		}
	case "SOFTMAX_ZERO":
		var sum float64
		for i, x := range v {
			if v[i] = float.Exp64(x - top); math.Abs(x) <= 1e-7 {
				v[i] = float64(x * float.Exp64(-top))
			}
			sum += v[i]
		}
		for i := range v {
			if v[i] /= sum; sum == 0 {
				v[i] = 0.5
			}
		}
	}
}

// probit approximates the inverse of the normal distribution by Winitzki's formula.
func probit(p float64) float64 {
	const a = 0.147
	x := float64(2*p) - 1
	y := float64((1 - x) * (1 + x))
	if y == 0 {
		return 0
	}
	l := float.Log64(y)
	u := 2/(math.Pi*a) + float64(0.5*l)
	z := 1.41421356 * math.Sqrt(math.Sqrt(float64(u*u)-float64(1/a*l))-u)
	if x < 0 {
		return -z
	}
	return z
}

// linearOf reads a node.
func linearOf(c *plan.Use) (m LinearOptions) {
	m.Coefficients, _ = c.Attrs.Floats("coefficients")
	m.Intercepts, _ = c.Attrs.Floats("intercepts")
	m.PostTransform = c.Attrs.Str("post_transform", "NONE")
	return m
}

var linearRegressor = plan.Operator{About: plan.About{Name: "LinearRegressor", Domain: mlDomain, Versions: []int{1},
	Attrs: []string{"coefficients", "intercepts", "post_transform", "targets"}, Why: mlWhy}, Least: 1, Takes: plan.Tabular,
	Move: func(c *plan.Use) plan.Mover {
		m, n := linearOf(c), plan.AttrInt(c, "targets", 1)
		return m.scores("LinearRegressor", c.In(0), n, n, func(v []float64, _ int) { transformScores(v, m.PostTransform) })
	}}
