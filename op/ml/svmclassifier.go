package ml

import (
	"math"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// SVMClassifierOptions is a support vector machine that tells classes apart: with support vectors each pair of them, the pairs of the first
// class first, else each class by itself.
type SVMClassifierOptions struct {
	SVM
	VectorsPerClass []int64   // how many support vectors each class has; none of a linear machine
	ProbA, ProbB    []float32 // of each pair of classes: the slope and the place of the sigmoid that makes a probability
	PostTransform   string    // of the scores: "NONE", as "" is, "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO" or "PROBIT"
}

// SVMClassifier returns the label of each row of x [N, features] or [features], and the scores.
//
// With support vectors each pair of classes has a score, which votes for the first of the pair if it is positive, and
// else for the second. The label is the class with most votes, of equals the first. The scores belong to the pairs; with
// ProbA and ProbB they are the probabilities of the classes, by the second method of Wu, Lin and Weng. The score s of
// two classes without probabilities becomes −s and s, which LOGISTIC transforms; with another PostTransform 1 − s and s.
// A single class is the label of all rows, with two scores of 0, or the probability 1.
//
// Without support vectors each class has a score, and the label is the class with the largest. Of two classes it is the second
// if the largest is positive, or from 0.5 on if no coefficient is negative.
//
// x is rounded to float32, the rest is computed in float64, and scores are rounded once. It panics when numbers of
// coefficients, labels or pairs don't fit. An Into target takes the scores. SVMClassifier of the domain ai.onnx.ml, as
// ONNX Runtime computes it: onnxruntime/core/providers/cpu/ml/svmclassifier.cc of github.com/microsoft/onnxruntime.
func SVMClassifier[T float32 | float64 | int32 | int64](x tensor.Tensor[T], labels []int64, o SVMClassifierOptions, opts ...op.Option) (label tensor.Tensor[int64], scores tensor.Tensor[float32]) {
	*exec.Ref(&label) = o.classes(x.Any(), labels).both(exec.Ref(&scores), opts)
	return label, scores
}

func (m *SVMClassifierOptions) classes(x tensor.Any, labels []int64) *classification {
	const name = "SVMClassifier"
	plan.Present(name, &x)
	rows, features := plan.Rows(name, x)
	checkTransform(name, m.PostTransform)
	classes := len(labels)
	if classes < 1 {
		panic(plan.Fail(name, tensor.ErrValue, "it has no labels; give one for each class"))
	}
	if len(m.VectorsPerClass) == 0 {
		return m.linear(x, rows, features, labels)
	}
	kernel, vectors := m.kernel(name, features)
	starts := make([]int, classes+1)
	if len(m.VectorsPerClass) != classes {
		panic(plan.Fail(name, tensor.ErrShape, "vectors_per_class has %d numbers for %d labels; want one for each", len(m.VectorsPerClass), classes))
	}
	for i, n := range m.VectorsPerClass {
		if n < 0 || n > int64(vectors-starts[i]) {
			panic(plan.Fail(name, tensor.ErrShape, "class %d has %d support vectors, where %d are left", i, n, vectors-starts[i]))
		}
		starts[i+1] = starts[i] + int(n)
	}
	pairs := 0
	if classes > 1 {
		pairs = len(m.Rho)
	}
	switch {
	case starts[classes] != vectors:
		panic(plan.Fail(name, tensor.ErrShape, "the classes have %d support vectors, and there are %d", starts[classes], vectors))
	case classes == 1: // nothing to tell apart
	case pairs != classes*(classes-1)/2:
		panic(plan.Fail(name, tensor.ErrShape, "rho has %d numbers; %d classes make %d pairs", pairs, classes, classes*(classes-1)/2))
	case len(m.Coefficients) != (classes-1)*vectors:
		panic(plan.Fail(name, tensor.ErrShape, "%d coefficients; %d classes and %d support vectors need %d", len(m.Coefficients), classes, vectors, (classes-1)*vectors))
	case len(m.ProbA) != len(m.ProbB) || len(m.ProbA) != 0 && len(m.ProbA) != pairs:
		panic(plan.Fail(name, tensor.ErrShape, "prob_a has %d numbers and prob_b %d, for %d pairs", len(m.ProbA), len(m.ProbB), pairs))
	}
	wide, likely, post := max(pairs, 2), len(m.ProbA) > 0, m.PostTransform
	if likely {
		wide = classes
	}
	coefficients, rho, a, b := m.Coefficients, m.Rho, m.ProbA, m.ProbB
	k := new(classification)
	k.scores = singlesTable(name, x, rows, features, wide, 8*(features+classes)*max(vectors, 1)+40*wide, func(in []float64, row int, v []float64) {
		near := make([]float64, vectors)
		for i := range near {
			near[i] = kernel(in, i)
		}
		score, votes := make([]float64, 0, pairs), make([]int, classes)
		for i := range classes {
			for j := i + 1; j < classes; j++ {
				sum := dot64(near[starts[i]:starts[i+1]], coefficients[(j-1)*vectors+starts[i]:])
				sum += dot64(near[starts[j]:starts[j+1]], coefficients[i*vectors+starts[j]:])
				sum += float64(rho[len(score)])
				score = append(score, sum)
				if sum > 0 {
					votes[i]++
				} else {
					votes[j]++
				}
			}
		}
		best := 0
		for i, n := range votes {
			if n > votes[best] {
				best = i
			}
		}
		k.labels[row] = labels[best]
		switch {
		case likely:
			coupled(v, score, a, b)
			transformScores(v, post)
		case pairs == 0:
		case pairs > 1:
			copy(v, score)
			transformScores(v, post)
		case post == "" || post == "NONE" || post == "LOGISTIC":
			v[0], v[1] = -score[0], score[0]
			transformScores(v, post)
		default:
			if post == "PROBIT" {
				transformScores(score, post)
			}
			v[0], v[1] = 1-score[0], score[0]
		}
	}, plan.ListOf(coefficients), plan.ListOf(m.SupportVectors), plan.ListOf(rho), plan.ListOf(a), plan.ListOf(b), plan.ListOf(labels))
	k.scores.Takes(0, 8*float64(vectors+pairs+classes))
	return k
}

// linear is a machine without support vectors.
func (m *SVMClassifierOptions) linear(x tensor.Any, rows, features int, labels []int64) *classification {
	const name = "SVMClassifier"
	classes := len(labels)
	if len(m.Coefficients) != classes*features || features == 0 {
		panic(plan.Fail(name, tensor.ErrShape, "%d coefficients for %d labels and %d features; give one for each of both", len(m.Coefficients), classes, features))
	}
	if len(m.Rho) == 0 {
		panic(plan.Fail(name, tensor.ErrShape, "rho has no numbers; want one or more"))
	}
	coefficients, rho, post, positive, likely := m.Coefficients, float64(m.Rho[0]), m.PostTransform, true, len(m.ProbA) > 0
	for _, c := range coefficients {
		positive = positive && c >= 0
	}
	k := new(classification)
	k.scores = singlesTable(name, x, rows, features, classes, 4*len(coefficients)+40*classes, func(in []float64, row int, v []float64) {
		best := 0
		for i := range v {
			v[i] = dot64(in, coefficients[i*features:]) + rho
			if v[i] > v[best] {
				best = i
			}
		}
		if top := v[best]; classes == 2 && !likely && (positive && top >= 0.5 || !positive && top > 0) {
			best = 1
		}
		k.labels[row] = labels[best]
		if classes > 1 || post == "PROBIT" {
			transformScores(v, post)
		}
	}, plan.ListOf(coefficients), plan.ListOf(labels))
	return k
}

// coupled sets p to the probabilities of classes that fit the probabilities of each pair best: method 2 of "Probability Estimates for
// Multi-class Classification by Pairwise Coupling", T.-F. Wu, C.-J. Lin and R. C. Weng, 2004. It stops, as ONNX Runtime
// does, after 100 rounds or when the largest error is below 0.005 ÷ classes.
func coupled(p, score []float64, a, b []float32) {
	n := len(p)
	r, q, qp := make([]float64, n*n), make([]float64, n*n), make([]float64, n)
	pair := 0
	for i := range n {
		p[i] = 1 / float64(n)
		for j := i + 1; j < n; j++ {
			v := 1 - float.Sigmoid64(float64(score[pair]*float64(a[pair]))+float64(b[pair]))
			v = min(max(v, 1e-7), 1-1e-7)
			r[i*n+j], r[j*n+i] = v, 1-v
			pair++
		}
	}
	for i := range n {
		for j := range n {
			if j != i {
				q[i*n+i] += float64(r[j*n+i] * r[j*n+i])
				q[i*n+j] = -float64(r[j*n+i] * r[i*n+j])
			}
		}
	}
	for range 100 {
		var pqp, worst float64
		for i := range n {
			qp[i] = 0
			for j := range n {
				qp[i] += float64(q[i*n+j] * p[j])
			}
			pqp += float64(p[i] * qp[i])
		}
		for i := range n {
			worst = max(worst, math.Abs(qp[i]-pqp))
		}
		if worst < 0.005/float64(n) {
			return
		}
		for i := range n {
			d := (pqp - qp[i]) / q[i*n+i]
			p[i] += d
			pqp = (pqp + float64(d*(float64(d*q[i*n+i])+float64(2*qp[i])))) / (1 + d) / (1 + d)
			for j := range n {
				qp[j] = (qp[j] + float64(d*q[i*n+j])) / (1 + d)
				p[j] /= 1 + d
			}
		}
	}
}

var svmClassifier = plan.Operator{About: plan.About{Name: "SVMClassifier", Domain: mlDomain, Versions: []int{1}, Why: mlWhy,
	Attrs: []string{"classlabels_ints", "classlabels_strings", "coefficients", "kernel_params", "kernel_type", "post_transform", "prob_a", "prob_b", "rho",
		"support_vectors", "vectors_per_class"}}, Least: 1, Takes: plan.Tabular,
	Planned: func(c *plan.Use, p *plan.Draft) {
		const name = "SVMClassifier"
		m := SVMClassifierOptions{SVM: svmOf(name, c), PostTransform: c.Attrs.Str("post_transform", "NONE")}
		m.VectorsPerClass, _ = c.Attrs.Ints("vectors_per_class")
		m.ProbA, _ = c.Attrs.Floats("prob_a")
		m.ProbB, _ = c.Attrs.Floats("prob_b")
		planClasses(p, c, m.classes(c.In(0), plan.Labels(name, c, "classlabels_ints", "classlabels_strings")))
	}}
