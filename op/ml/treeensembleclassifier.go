package ml

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// TreeEnsembleClassifier returns the label of each row of x [N, features] or [features], and
// the scores [N, classes], which are sums of votes as in TreeEnsembleRegressor. The
// label belongs to the largest sum as a float32, of equals the first; NaN is passed over.
// When all votes for two labels are for one of them, the sum s is for the second. Then its
// score is s, and that of the first 1 − s if no weight is negative and the PostTransform is
// NONE or PROBIT, else −s; Base may have one number. An Into target takes the scores. It
// panics as TreeEnsembleRegressor does, and for less than two labels. TreeEnsembleClassifier
// of the domain ai.onnx.ml. Package onnx runs it with labels that are strings, too.
func TreeEnsembleClassifier[T float32 | float64 | int32 | int64](x tensor.Tensor[T], labels []int64, e TreeEnsemble, opts ...op.Option) (label tensor.Tensor[int64], scores tensor.Tensor[float32]) {
	*exec.Ref(&label) = (&planted{e: e}).classes(x.Any(), labels).both(exec.Ref(&scores), opts)
	return label, scores
}

func (p *planted) classes(x tensor.Any, labels []int64) *classification {
	const name = "TreeEnsembleClassifier"
	plan.Present(name, &x)
	e := &p.e
	rows, features := plan.Rows(name, x)
	n := len(labels)
	severalLabels(name, n)
	if e.Aggregate != "" && e.Aggregate != "SUM" {
		panic(plan.Fail(name, tensor.ErrValue, "Aggregate is %.40q; the votes for classes are summed", e.Aggregate))
	}
	f := p.forest(name, features, n)
	one, positive := n == 2 && f.alike && len(e.Votes) > 0, f.positive
	base, post := e.Base, e.PostTransform
	if b := len(base); b != 0 && b != n && !(one && b == 1) {
		panic(plan.Fail(name, tensor.ErrShape, "%d base values for %d classes; give one for each, or none", b, n))
	}
	only := 0 // the class that all votes are for
	if one {
		only = e.Votes[0].Target
	}
	positive = positive && (post == "" || post == "NONE" || post == "PROBIT")
	k := new(classification)
	k.scores = scoreTables(name, x, rows, n, f.cost(n), func(src move.Numeric, row int, all []float64) {
		f.vote(src, row*features, features, all, n, "")
		for ; len(all) > 0; all = all[n:] {
			v := all[:n]
			if len(base) == 1 {
				v[only] += base[0]
			} else {
				for i, b := range base {
					v[i] += b
				}
			}
			if one {
				s := v[only]
				if v[0], v[1] = -s, s; positive {
					v[0] = 1 - s
				}
			}
			k.labels[row] = labelOf(labels, v)
			transformScores(v, post)
			row++
		}
	}, plan.ListOf(base), plan.ListOf(labels))
	return k
}

func severalLabels(name string, n int) {
	if n < 2 {
		panic(plan.Fail(name, op.ErrUnsupported, "it has %d labels; give two or more", n))
	}
}

var treeEnsembleClassifier = plan.Operator{About: plan.About{Name: "TreeEnsembleClassifier", Domain: mlDomain, Versions: []int{1, 3}, Why: mlWhy,
	Attrs: []string{"base_values", "base_values_as_tensor", "class_ids", "class_nodeids", "class_treeids", "class_weights", "class_weights_as_tensor", "classlabels_int64s",
		"classlabels_strings", "nodes_falsenodeids", "nodes_featureids", "nodes_hitrates", "nodes_hitrates_as_tensor", "nodes_missing_value_tracks_true", "nodes_modes",
		"nodes_nodeids", "nodes_treeids", "nodes_truenodeids", "nodes_values", "nodes_values_as_tensor", "post_transform"}}, Least: 1, Takes: plan.Tabular,
	Planned: func(c *plan.Use, p *plan.Draft) {
		const name = "TreeEnsembleClassifier"
		labels := plan.Labels(name, c, "classlabels_int64s", "classlabels_strings")
		severalLabels(name, len(labels))
		planClasses(p, c, plant(name, c, len(labels), func() TreeEnsemble { return ensembleOf(name, c, "class_") }).classes(c.In(0), labels))
	}}
