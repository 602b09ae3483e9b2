package ml

import (
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// TreeEnsembleScores is TreeEnsembleRegressor for float16, float32 and float64, with targets of x's type. It is the
// operator TreeEnsemble of the domain ai.onnx.ml.
func TreeEnsembleScores[T num.F16 | float32 | float64](x tensor.Tensor[T], targets int, e TreeEnsemble, opts ...op.Option) (r tensor.Tensor[T]) {
	scored(x.Any(), targets, &planted{e: e}).Into(exec.Ref(&r), opts)
	return r
}

func scored(x tensor.Any, targets int, p *planted) *move.Transfer {
	m := p.regressed("TreeEnsemble", x, targets)
	m.D = x.DType()
	return m
}

// planted is an ensemble with its forest for some features and targets, which a node of a graph keeps.
type planted struct {
	e                 TreeEnsemble
	features, targets int
	f                 *forest
}

// plant makes the ensemble of a node, or returns that made before.
func plant(name string, c *plan.Use, targets int, read func() TreeEnsemble) *planted {
	_, features := plan.Rows(name, c.In(0))
	return plan.Remembered(c, func() any {
		p := &planted{e: read(), features: features, targets: targets}
		p.f = p.e.forest(name, features, targets)
		return p
	}).(*planted)
}

// forest returns the forest for features and targets.
func (p *planted) forest(name string, features, targets int) *forest {
	if p.f != nil && p.features == features && p.targets == targets {
		return p.f
	}
	return p.e.forest(name, features, targets)
}

// modes are the comparisons by their numbers.
var modes = [...]string{"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER"}

// treesOf reads a node of TreeEnsemble. Its nodes are comparisons alone; leaves, which come behind them here, are numbered
// by themselves.
func treesOf(c *plan.Use) (e TreeEnsemble) {
	const name = "TreeEnsemble"
	features, _ := c.Attrs.Ints("nodes_featureids")
	n := len(features)
	list := func(attr string, n int) []int64 {
		v, _ := c.Attrs.Ints(attr)
		return sameLen(name, attr, v, n)
	}
	next := [2][]int64{list("nodes_falsenodeids", n), list("nodes_truenodeids", n)}
	isLeaf := [2][]int64{list("nodes_falseleafs", n), list("nodes_trueleafs", n)}
	kinds, splits := sameLen(name, "nodes_modes", tensorOf(name, c, "nodes_modes"), n), sameLen(name, "nodes_splits", tensorOf(name, c, "nodes_splits"), n)
	missing, _ := c.Attrs.Ints("nodes_missing_value_tracks_true")
	if len(missing) > 0 {
		sameLen(name, "nodes_missing_value_tracks_true", missing, n)
	}
	weights := tensorOf(name, c, "leaf_weights")
	targets := list("leaf_targetids", len(weights))
	members := tensorOf(name, c, "membership_values")
	roots, _ := c.Attrs.Ints("tree_roots")
	owner := make([]int, n+len(weights)) // the tree of each node and leaf, from 1
	nodes := make([]TreeNode, n)
	for tree, root := range roots {
		open := []int64{root}
		if root < 0 || root >= int64(n) {
			panic(plan.Fail(name, tensor.ErrIndex, "tree %d begins with node %d of %d", tree, root, n))
		}
		for len(open) > 0 {
			i := open[len(open)-1]
			open = open[:len(open)-1]
			if owner[i] == tree+1 {
				continue
			}
			if owner[i] != 0 {
				panic(plan.Fail(name, tensor.ErrValue, "trees %d and %d share node or leaf %d; give each its own", owner[i]-1, tree, i))
			}
			if owner[i] = tree + 1; i >= int64(n) {
				at := int(i) - n
				e.Nodes = append(e.Nodes, TreeNode{Tree: int64(tree), ID: i, Mode: "LEAF"})
				e.Votes = append(e.Votes, TreeVote{Tree: int64(tree), Node: i, Target: plan.AsInt(targets[at]), Weight: weights[at]})
				continue
			}
			to := [2]int64{}
			for side := range to {
				v, most := next[side][i], int64(n)
				if isLeaf[side][i] != 0 {
					most = int64(len(weights))
				}
				if v < 0 || v >= most {
					panic(plan.Fail(name, tensor.ErrIndex, "node %d leads to %d, where %d are", i, v, most))
				}
				if to[side] = v; isLeaf[side][i] != 0 {
					to[side] += int64(n)
				}
			}
			kind := kinds[i]
			if !(kind >= 0 && kind < float64(len(modes))) {
				panic(plan.Fail(name, tensor.ErrValue, "node %d has mode %v; modes are 0 to %d", i, kind, len(modes)-1))
			}
			nodes[i] = TreeNode{Tree: int64(tree), ID: i, Mode: modes[int(kind)], Feature: plan.AsInt(features[i]), Value: splits[i], True: to[1], False: to[0], MissingTrue: len(missing) > 0 && missing[i] != 0}
			open = append(open, to[0], to[1])
		}
	}
	// The members of the sets stand in the order of the nodes, each list with NaN at its end.
	for i := range nodes {
		if int(kinds[i]) != len(modes)-1 {
			continue
		}
		end := slices.IndexFunc(members, func(v float64) bool { return v != v })
		if end < 0 {
			panic(plan.Fail(name, tensor.ErrValue, "membership_values has no list for node %d; end each with NaN", i))
		}
		nodes[i].Members, members = append([]float64{}, members[:end]...), members[end+1:]
	}
	for i := range nodes {
		if owner[i] > 0 {
			e.Nodes = append(e.Nodes, nodes[i])
		}
	}
	slices.SortStableFunc(e.Nodes, func(a, b TreeNode) int { return int(a.Tree - b.Tree) })
	at := func(attr string, def int64, names ...string) string {
		v := c.Attrs.Int(attr, def)
		if v < 0 || v >= int64(len(names)) {
			panic(plan.Fail(name, tensor.ErrValue, "%s is %d; want 0 to %d", attr, v, len(names)-1))
		}
		return names[v]
	}
	e.Aggregate = at("aggregate_function", 1, "AVERAGE", "SUM", "MIN", "MAX")
	e.PostTransform = at("post_transform", 0, "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
	return e
}

// tensorOf returns the elements of an attribute that is a tensor, nothing if there is none.
func tensorOf(name string, c *plan.Use, attr string) []float64 {
	t, ok := c.Attrs.Tensor(attr)
	if !ok || t.IsZero() {
		return nil
	}
	if d := t.DType(); !plan.Reals.Has(d) {
		panic(plan.Fail(name, tensor.ErrDType, "attribute %s holds %v; want numbers", attr, d))
	}
	w := move.NumericOf(move.WordsOf(t))
	v := plan.RoomFor[float64](name, w.Len())
	for i := range v {
		v[i] = w.Real(i)
	}
	return v
}

// contains reports whether sorted members have x.
func contains(members []float64, x float64) bool {
	_, ok := slices.BinarySearch(members, x)
	return ok && !math.IsNaN(x)
}

var treeEnsemble = plan.Operator{About: plan.About{Name: "TreeEnsemble", Domain: mlDomain, Versions: []int{5}, Why: "ONNX gives it float16, float32 and float64 alone: Cast first",
	Attrs: []string{"aggregate_function", "leaf_targetids", "leaf_weights", "membership_values", "n_targets", "nodes_falseleafs", "nodes_falsenodeids", "nodes_featureids",
		"nodes_hitrates", "nodes_missing_value_tracks_true", "nodes_modes", "nodes_splits", "nodes_trueleafs", "nodes_truenodeids", "post_transform", "tree_roots"}},
	Least: 1, Takes: 1<<dtype.Float16 | 1<<dtype.Float32 | 1<<dtype.Float64, Move: func(c *plan.Use) plan.Mover {
		targets := plan.AttrInt(c, "n_targets", 1)
		return scored(c.In(0), targets, plant("TreeEnsemble", c, targets, func() TreeEnsemble { return treesOf(c) }))
	}}
