package ml

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// LinearClassifier returns the label of each row of x [N, features] or [features], and the
// scores [N, classes] of all labels, which are computed as LinearRegressor computes targets.
// Coefficients for one score and two labels give a score s of the second, and −s of the first.
// The label is that of the largest score, of equals the first; NaN is passed over. With one
// label it is that of scores from 0 on, or after a PostTransform from 0.5 on; else 0. Without
// labels the classes are 0, 1, …. It panics when the numbers of coefficients, intercepts
// and labels don't fit. An Into target takes the scores. LinearClassifier of the domain
// ai.onnx.ml. Package onnx runs it with labels that are strings, too.
func LinearClassifier[T float32 | float64 | int32 | int64](x tensor.Tensor[T], labels []int64, o LinearOptions, opts ...op.Option) (label tensor.Tensor[int64], scores tensor.Tensor[float32]) {
	*exec.Ref(&label) = o.classes(x.Any(), labels).both(exec.Ref(&scores), opts)
	return label, scores
}

// A classification is scores, and labels that they decide.
type classification struct {
	scores *move.Transfer
	labels []int64 // set as scores are computed
}

// both computes the scores to r, and returns the labels.
func (k *classification) both(r *tensor.Any, opts []op.Option) tensor.Any {
	k.labels = plan.RoomFor[int64](k.scores.Name, k.scores.Shape[0])
	k.scores.Into(r, opts)
	return tensor.FromSlice(k.labels, len(k.labels)).Any()
}

// planClasses plans a node, whose labels and scores are k's.
func planClasses(p *plan.Draft, c *plan.Use, k *classification) {
	m := k.scores
	c.With(m.Name, 0)
	if !p.Brief {
		p.Out = []tensor.Any{plan.Spec(m.Name, dtype.Int64, m.Shape[0]), plan.Spec(m.Name, m.D, m.Shape...)}
	}
	p.List(c, 2, func(to []tensor.Any, opts []op.Option) { to[0] = k.both(&to[1], opts) })
}

func (m *LinearOptions) classes(x tensor.Any, labels []int64) *classification {
	const name = "LinearClassifier"
	plan.Present(name, &x)
	_, features := plan.Rows(name, x)
	given := len(m.Intercepts)
	if given == 0 && features > 0 {
		given = len(m.Coefficients) / features
	}
	if given == 0 {
		given = len(labels)
	}
	two := given == 1 && len(labels) == 2
	if len(labels) != 0 && len(labels) != given && !two {
		panic(plan.Fail(name, tensor.ErrShape, "%d labels for %d scores; give one for each, or two for one score", len(labels), given))
	}
	wide, post := given, m.PostTransform
	if two {
		wide = 2
	}
	k := new(classification)
	k.scores = m.scores(name, x, given, wide, func(v []float64, row int) {
		if two {
			v[0], v[1] = -v[0], v[0]
		}
		if wide > 1 {
			k.labels[row] = labelOf(labels, v)
			transformScores(v, post)
			return
		}
		transformScores(v, post)
		least := 0.5
		if post == "" || post == "NONE" {
			least = 0
		}
		if !(v[0] >= least) {
			k.labels[row] = 0
		} else if k.labels[row] = 1; len(labels) > 0 {
			k.labels[row] = labels[0]
		}
	}, plan.ListOf(labels))
	return k
}

// labelOf returns the label of the largest score as a float32, of equals the first.
func labelOf(labels []int64, v []float64) int64 {
	at := -1
	for i, x := range v {
		if x == x && (at < 0 || float32(x) > float32(v[at])) {
			at = i
		}
	}
	at = max(at, 0)
	if len(labels) > 0 {
		return labels[at]
	}
	return int64(at)
}

// multi_class doesn't change the scores.
var linearClassifier = plan.Operator{About: plan.About{Name: "LinearClassifier", Domain: mlDomain, Versions: []int{1},
	Attrs: []string{"classlabels_ints", "classlabels_strings", "coefficients", "intercepts", "multi_class", "post_transform"}, Why: mlWhy}, Least: 1, Takes: plan.Tabular,
	Planned: func(c *plan.Use, p *plan.Draft) {
		m := linearOf(c)
		planClasses(p, c, m.classes(c.In(0), plan.Labels("LinearClassifier", c, "classlabels_ints", "classlabels_strings")))
	}}
