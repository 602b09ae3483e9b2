package ml

import (
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// TreeEnsemble is decision trees whose leaves vote for targets or classes.
type TreeEnsemble struct {
	Nodes         []TreeNode // trees are in the order of their first nodes
	Votes         []TreeVote
	Base          []float64 // one for each target or class, added at the end; 0 without them
	Aggregate     string    // of a regressor's votes: "SUM", as "" is, "AVERAGE", "MIN" or "MAX"
	PostTransform string    // of the scores: "NONE", as "" is, "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO" or "PROBIT"
}

// TreeNode is a leaf, or compares a feature with a value.
type TreeNode struct {
	Tree, ID    int64
	Mode        string // "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER" or "LEAF"
	Feature     int
	Value       float64
	Members     []float64 // of BRANCH_MEMBER, in place of Value: the numbers that compare as true
	True, False int64     // the nodes of the tree that come next
	MissingTrue bool      // NaN goes to True; else it compares as NaN does
}

// TreeVote is the number that a leaf adds to a target or class. A vote of a branch counts nothing.
type TreeVote struct {
	Tree, Node int64
	Target     int
	Weight     float64
}

// TreeEnsembleRegressor returns the targets [N, targets] of x [N, features] or [features]:
// the votes of the leaves that a row reaches, aggregated in the order of trees, plus Base.
// AVERAGE divides the sum by the number of trees. A target without a vote is 0 before Base.
// Features are compared and votes are summed in float64, and the result is rounded once to
// float32. It panics when a node or vote names a node, feature or target that isn't there,
// when a tree has two nodes of one number, two roots or a cycle, and for an unknown mode.
// TreeEnsembleRegressor of the domain ai.onnx.ml.
func TreeEnsembleRegressor[T float32 | float64 | int32 | int64](x tensor.Tensor[T], targets int, e TreeEnsemble, opts ...op.Option) (r tensor.Tensor[float32]) {
	(&planted{e: e}).regressed("TreeEnsembleRegressor", x.Any(), targets).Into(exec.Ref(&r), opts)
	return r
}

func (p *planted) regressed(name string, x tensor.Any, targets int) *move.Transfer {
	plan.Present(name, &x)
	e := &p.e
	rows, features := plan.Rows(name, x)
	switch e.Aggregate {
	case "", "SUM", "AVERAGE", "MIN", "MAX":
	default:
		panic(plan.Fail(name, tensor.ErrValue, "aggregate_function is %.40q; want SUM, AVERAGE, MIN or MAX", e.Aggregate))
	}
	f := p.forest(name, features, targets)
	if n := len(e.Base); n != 0 && n != targets {
		panic(plan.Fail(name, tensor.ErrShape, "%d base values for %d targets; give one for each, or none", n, targets))
	}
	aggregate, post, base := e.Aggregate, e.PostTransform, e.Base
	return scoreTables(name, x, rows, targets, f.cost(targets), func(src move.Numeric, row int, v []float64) {
		f.vote(src, row*features, features, v, targets, aggregate)
		for ; len(v) > 0; v = v[targets:] {
			for i, b := range base {
				v[i] += b
			}
			transformScores(v[:targets], post)
		}
	}, plan.ListOf(base))
}

// A forest is the trees of an ensemble, checked.
type forest struct {
	nodes   []treeNode
	roots   []uint32
	votes   []vote      // those of a leaf follow each other
	ends    [][2]uint32 // of each node: its first vote, and the one after its last
	members [][]float64 // of the nodes that ask for them, sorted
	plain   bool        // all comparisons are branchLEQ

	alike, positive bool // all votes are for one target, and none is negative or NaN
}

type treeNode struct {
	value   float64 // of BRANCH_MEMBER the index of its members
	feature int
	next    [2]uint32 // where the comparison is false, and true; of a leaf itself
	kind    treeKind
	missing bool
}

type vote struct {
	target int
	weight float64
}

type treeKind uint8

const (
	leaf treeKind = iota
	branchLEQ
	branchLT // becomes branchLEQ
	branchGTE
	branchGT
	branchEQ
	branchNEQ
	branchMember
)

var treeKinds = map[string]treeKind{"LEAF": leaf, "BRANCH_LEQ": branchLEQ, "BRANCH_LT": branchLT, "BRANCH_GTE": branchGTE, "BRANCH_GT": branchGT,
	"BRANCH_EQ": branchEQ, "BRANCH_NEQ": branchNEQ, "BRANCH_MEMBER": branchMember}

func (f *forest) cost(targets int) int { return 50*len(f.roots) + 40*min(targets, 1<<20) + 1 }

// forest checks the ensemble.
func (e *TreeEnsemble) forest(name string, features, targets int) *forest {
	checkTransform(name, e.PostTransform)
	if targets < 1 {
		panic(plan.Fail(name, tensor.ErrValue, "%d targets; want 1 or more", targets))
	}
	type key struct{ tree, node int64 }
	at := make(map[key]int, len(e.Nodes))
	f := &forest{nodes: make([]treeNode, len(e.Nodes)), ends: make([][2]uint32, len(e.Nodes)), plain: features > 0, alike: true, positive: true}
	var trees []int64 // in order
	for i, n := range e.Nodes {
		k := key{n.Tree, n.ID}
		if _, twice := at[k]; twice {
			panic(plan.Fail(name, tensor.ErrValue, "tree %d has two nodes %d; give each its own number", n.Tree, n.ID))
		}
		at[k] = i
		if i == 0 || n.Tree != e.Nodes[i-1].Tree {
			trees = append(trees, n.Tree)
		}
	}
	parents := make([]int, len(e.Nodes))
	for i, n := range e.Nodes {
		kind, ok := treeKinds[n.Mode]
		f.nodes[i] = treeNode{kind: kind, feature: n.Feature, value: n.Value, missing: n.MissingTrue}
		switch {
		case ok && kind == leaf:
			f.nodes[i] = treeNode{value: math.NaN(), next: [2]uint32{uint32(i), uint32(i)}}
			continue
		case ok && kind == branchLT: // at most the next smaller number
			f.nodes[i].kind = branchLEQ
			if f.nodes[i].value = math.Nextafter(n.Value, math.Inf(-1)); math.IsInf(n.Value, -1) {
				f.nodes[i].value = math.NaN()
			}
		case ok && kind == branchMember:
			f.nodes[i].value = float64(len(f.members))
			f.members = append(f.members, slices.Sorted(slices.Values(n.Members)))
		case !ok:
			panic(plan.Fail(name, tensor.ErrValue, "node %d of tree %d has mode %.40q; want BRANCH_LEQ, BRANCH_LT, BRANCH_GTE, BRANCH_GT, BRANCH_EQ, BRANCH_NEQ, BRANCH_MEMBER or LEAF", n.ID, n.Tree, n.Mode))
		}
		f.plain = f.plain && f.nodes[i].kind == branchLEQ
		if n.Feature < 0 || n.Feature >= features {
			panic(plan.Fail(name, tensor.ErrIndex, "node %d of tree %d compares feature %d; input 0 has %d features", n.ID, n.Tree, n.Feature, features))
		}
		for side, id := range [2]int64{n.False, n.True} {
			to, ok := at[key{n.Tree, id}]
			if !ok {
				panic(plan.Fail(name, tensor.ErrIndex, "node %d of tree %d leads to node %d, which the tree doesn't have", n.ID, n.Tree, id))
			}
			f.nodes[i].next[side] = uint32(to)
			parents[to]++
		}
	}
	root := map[int64]int{}
	var open []int
	for i, n := range e.Nodes {
		if parents[i] != 0 {
			continue
		}
		if r, two := root[n.Tree]; two {
			panic(plan.Fail(name, tensor.ErrValue, "no node of tree %d leads to its nodes %d and %d; a tree has one root", n.Tree, e.Nodes[r].ID, n.ID))
		}
		root[n.Tree] = i
		open = append(open, i)
	}
	for len(open) > 0 { // a node comes here when all that lead to it have been here
		i := open[len(open)-1]
		open = open[:len(open)-1]
		if f.nodes[i].kind == leaf {
			continue
		}
		for _, to := range f.nodes[i].next {
			to := int(to)
			if parents[to]--; parents[to] == 0 {
				open = append(open, to)
			}
		}
	}
	if i := slices.IndexFunc(parents, func(n int) bool { return n > 0 }); i >= 0 {
		panic(plan.Fail(name, tensor.ErrValue, "node %d of tree %d is on a cycle, or behind one; the branches of a tree lead to its leaves", e.Nodes[i].ID, e.Nodes[i].Tree))
	}
	for _, t := range trees {
		if i, ok := root[t]; ok {
			f.roots = append(f.roots, uint32(i))
			delete(root, t) // its nodes may be apart
		}
	}
	owners := make([]uint32, len(e.Votes))
	for i, v := range e.Votes {
		n, ok := at[key{v.Tree, v.Node}]
		switch {
		case !ok:
			panic(plan.Fail(name, tensor.ErrIndex, "vote %d is of node %d of tree %d, which isn't there", i, v.Node, v.Tree))
		case v.Target < 0 || v.Target >= targets:
			panic(plan.Fail(name, tensor.ErrIndex, "vote %d is for %d; targets or classes are 0 to %d", i, v.Target, targets-1))
		}
		f.alike, f.positive = f.alike && v.Target == e.Votes[0].Target, f.positive && v.Weight >= 0
		if owners[i] = uint32(n); f.nodes[n].kind == leaf {
			f.ends[n][1]++
		}
	}
	var end uint32
	for i, n := range f.ends {
		f.ends[i] = [2]uint32{end, end}
		end += n[1]
	}
	f.votes = make([]vote, end)
	for i, v := range e.Votes {
		if n := owners[i]; f.nodes[n].kind == leaf {
			f.votes[f.ends[n][1]] = vote{v.Target, v.Weight}
			f.ends[n][1]++
		}
	}
	return f
}

// down returns the node that comes after node i for a row, and what i was. Every comparison is branchLEQ. Nothing here depends on x in a way that a
// processor has to guess.
func down[T float32 | float64 | int32 | int64](nodes []treeNode, i uint32, row []T) (uint32, treeKind) {
	n := &nodes[i]
	x, side := float64(row[n.feature]), 0
	if x <= n.value {
		side = 1
	}
	if x != x && n.missing {
		side = 1
	}
	return n.next[side], n.kind
}

// four goes from four nodes to the leaves that four rows reach.
func four[T float32 | float64 | int32 | int64](nodes []treeNode, at *[4]uint32, rows *[4][]T) {
	a, b, c, d := at[0], at[1], at[2], at[3]
	for {
		var ka, kb, kc, kd treeKind
		a, ka = down(nodes, a, rows[0])
		b, kb = down(nodes, b, rows[1])
		c, kc = down(nodes, c, rows[2])
		d, kd = down(nodes, d, rows[3])
		if ka|kb|kc|kd == leaf {
			*at = [4]uint32{a, b, c, d}
			return
		}
	}
}

// leafOf returns the leaf that a row reaches.
func leafOf[T float32 | float64 | int32 | int64](f *forest, i uint32, row []T) uint32 {
	for n := &f.nodes[i]; n.kind != leaf; n = &f.nodes[i] {
		var yes bool
		switch x := float64(row[n.feature]); n.kind {
		case branchLEQ:
			yes = x <= n.value || x != x && n.missing
		case branchGTE:
			yes = x >= n.value || x != x && n.missing
		case branchGT:
			yes = x > n.value || x != x && n.missing
		case branchEQ:
			yes = x == n.value || x != x && n.missing
		case branchMember:
			yes = contains(f.members[int(n.value)], x) || x != x && n.missing
		default:
			yes = x != n.value // also of NaN
		}
		if i = n.next[0]; yes {
			i = n.next[1]
		}
	}
	return i
}

// vote aggregates the votes for rows from element first on, on v of zeros.
func (f *forest) vote(src move.Numeric, first, features int, v []float64, targets int, aggregate string) {
	n := first + len(v)/targets*features
	switch src.D {
	case dtype.Float32:
		votesOf(f, move.ElemsOf[float32](src.Of)[first:n], features, v, targets, aggregate)
	case dtype.Float64:
		votesOf(f, move.ElemsOf[float64](src.Of)[first:n], features, v, targets, aggregate)
	case dtype.Int32:
		votesOf(f, move.ElemsOf[int32](src.Of)[first:n], features, v, targets, aggregate)
	case dtype.Int64:
		votesOf(f, move.ElemsOf[int64](src.Of)[first:n], features, v, targets, aggregate)
	default: // float16
		row := plan.RoomFor[float32]("TreeEnsemble", features)
		for ; first < n; first += features {
			src.Singles(row, first)
			votesOf(f, row, features, v[:targets], targets, aggregate)
			v = v[targets:]
		}
	}
}

func votesOf[T float32 | float64 | int32 | int64](f *forest, rows []T, features int, v []float64, targets int, aggregate string) {
	var seen []bool
	if aggregate == "MIN" || aggregate == "MAX" {
		seen = make([]bool, len(v))
	}
	count := func(i int, leaf uint32) { // the votes of a leaf, for row i
		ends := f.ends[leaf]
		for _, t := range f.votes[ends[0]:ends[1]] {
			switch at := i*targets + t.target; {
			case seen == nil:
				v[at] += t.weight
			case !seen[at]:
				v[at], seen[at] = t.weight, true
			case aggregate == "MIN":
				v[at] = min(v[at], t.weight)
			default:
				v[at] = max(v[at], t.weight)
			}
		}
	}
	n, roots := len(v)/targets, f.roots
	row := func(i int) []T { return rows[i*features : (i+1)*features] }
	for n == 1 && f.plain && len(roots) >= 4 { // four trees at a time
		at := [4]uint32{roots[0], roots[1], roots[2], roots[3]}
		four(f.nodes, &at, &[4][]T{rows, rows, rows, rows})
		for _, leaf := range at {
			count(0, leaf)
		}
		roots = roots[4:]
	}
	for _, root := range roots {
		i := 0
		for ; f.plain && i+4 <= n; i += 4 { // four rows at a time
			at := [4]uint32{root, root, root, root}
			four(f.nodes, &at, &[4][]T{row(i), row(i + 1), row(i + 2), row(i + 3)})
			for k, leaf := range at {
				count(i+k, leaf)
			}
		}
		for ; i < n; i++ {
			count(i, leafOf(f, root, row(i)))
		}
	}
	if aggregate == "AVERAGE" && len(f.roots) > 0 {
		for i := range v {
			v[i] /= float64(len(f.roots))
		}
	}
}

// ensembleOf reads a node. Its votes are the attributes of a prefix, target_ or class_.
func ensembleOf(name string, c *plan.Use, prefix string) (e TreeEnsemble) {
	ids, _ := c.Attrs.Ints("nodes_nodeids")
	n := len(ids)
	list := func(attr string, n int) []int64 {
		v, _ := c.Attrs.Ints(attr)
		return sameLen(name, attr, v, n)
	}
	trees, features := list("nodes_treeids", n), list("nodes_featureids", n)
	yes, no := list("nodes_truenodeids", n), list("nodes_falsenodeids", n)
	modes, values := sameLen(name, "nodes_modes", plan.Texts(name, c, "nodes_modes"), n), sameLen(name, "nodes_values", realsOf(name, c, "nodes_values"), n)
	missing, _ := c.Attrs.Ints("nodes_missing_value_tracks_true")
	if len(missing) > 0 {
		sameLen(name, "nodes_missing_value_tracks_true", missing, n)
	}
	for i, id := range ids {
		e.Nodes = append(e.Nodes, TreeNode{Tree: trees[i], ID: id, Mode: modes[i], Feature: plan.AsInt(features[i]), Value: values[i], True: yes[i], False: no[i], MissingTrue: len(missing) > 0 && missing[i] != 0})
	}
	weights := realsOf(name, c, prefix+"weights")
	n = len(weights)
	trees, ids, targets := list(prefix+"treeids", n), list(prefix+"nodeids", n), list(prefix+"ids", n)
	for i, w := range weights {
		e.Votes = append(e.Votes, TreeVote{Tree: trees[i], Node: ids[i], Target: plan.AsInt(targets[i]), Weight: w})
	}
	e.Base = realsOf(name, c, "base_values")
	e.PostTransform = c.Attrs.Str("post_transform", "NONE")
	return e
}

// sameLen returns an attribute, which must have n elements.
func sameLen[T any](name, attr string, v []T, n int) []T {
	if len(v) != n {
		panic(plan.Fail(name, tensor.ErrShape, "attribute %s has %d elements; its kin have %d", attr, len(v), n))
	}
	return v
}

// realsOf returns an attribute of floats, or that of a name that ends in _as_tensor.
func realsOf(name string, c *plan.Use, attr string) (v []float64) {
	if t, ok := c.Attrs.Tensor(attr + "_as_tensor"); ok && t.Len() > 0 {
		if d := t.DType(); d != dtype.Float32 && d != dtype.Float64 {
			panic(plan.Fail(name, tensor.ErrDType, "attribute %s_as_tensor holds %v; want float32 or float64", attr, d))
		}
		w := move.NumericOf(move.WordsOf(t))
		return slices.Clone(w.Float64s(name))
	}
	f, _ := c.Attrs.Floats(attr)
	for _, x := range f {
		v = append(v, float64(x))
	}
	return v
}

var treeEnsembleRegressor = plan.Operator{About: plan.About{Name: "TreeEnsembleRegressor", Domain: mlDomain, Versions: []int{1, 3}, Why: mlWhy,
	Attrs: []string{"aggregate_function", "base_values", "base_values_as_tensor", "n_targets", "nodes_falsenodeids", "nodes_featureids", "nodes_hitrates",
		"nodes_hitrates_as_tensor", "nodes_missing_value_tracks_true", "nodes_modes", "nodes_nodeids", "nodes_treeids", "nodes_truenodeids", "nodes_values",
		"nodes_values_as_tensor", "post_transform", "target_ids", "target_nodeids", "target_treeids", "target_weights", "target_weights_as_tensor"}}, Least: 1, Takes: plan.Tabular,
	Move: func(c *plan.Use) plan.Mover {
		const name = "TreeEnsembleRegressor"
		targets := plan.AttrInt(c, "n_targets", 1)
		p := plant(name, c, targets, func() TreeEnsemble {
			e := ensembleOf(name, c, "target_")
			e.Aggregate = c.Attrs.Str("aggregate_function", "SUM")
			return e
		})
		return p.regressed(name, c.In(0), targets)
	}}
