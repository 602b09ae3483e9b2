package ml_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	_ "github.com/ashlar-go/ashlar/internal/seeded"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/op/ml"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/tensortest"
	"pgregory.net/rapid"
)

// mlAttrs has attributes of the operators of ai.onnx.ml, for 4 features.
var mlAttrs = map[string]op.AttrMap{
	"Scaler":           {"offset": []float32{1, 2, 3, 4}, "scale": []float32{0.5}},
	"Imputer":          {"imputed_value_floats": []float32{1.5}, "imputed_value_int64s": []int64{1, 2, 3, 4}},
	"LinearRegressor":  {"coefficients": []float32{1, 2, 3, 4, 5, 6, 7, 8}, "intercepts": []float32{9, 10}, "targets": int64(2)},
	"LinearClassifier": {"coefficients": []float32{1, -2, 3, -4}, "intercepts": []float32{9}, "classlabels_ints": []int64{5, 6}, "post_transform": "LOGISTIC", "multi_class": int64(0)},
	"TreeEnsembleRegressor": treesAttrs(op.AttrMap{"n_targets": int64(2), "target_treeids": []int64{0, 0, 1, 1}, "target_nodeids": []int64{1, 2, 1, 2}, "target_ids": []int64{0, 1, 1, 0},
		"target_weights": []float32{1, 2, 4, 8}}),
	"TreeEnsembleClassifier": treesAttrs(op.AttrMap{"classlabels_int64s": []int64{5, 6}, "class_treeids": []int64{0, 0, 1, 1}, "class_nodeids": []int64{1, 2, 1, 2}, "class_ids": []int64{0, 1, 1, 0},
		"class_weights": []float32{1, 2, 4, 8}}),
	"OneHotEncoder": {"cats_int64s": []int64{0, -1}},
	"SVMRegressor":  {"kernel_params": []float32{0, 0, 0}, "n_supports": int64(2), "support_vectors": []float32{0, 1, 0, 1, 1, 0, 0, 1}, "coefficients": []float32{1, 1}, "rho": []float32{0.5}},
	"SVMClassifier": {"kernel_params": []float32{0, 0, 0}, "vectors_per_class": []int64{1, 1}, "support_vectors": []float32{0, 1, 0, 1, 1, 0, 0, 1}, "coefficients": []float32{1, 0}, "rho": []float32{0},
		"classlabels_ints": []int64{5, 6}},
	"TreeEnsemble": {"n_targets": int64(2), "tree_roots": []int64{0, 1}, "nodes_featureids": []int64{0, 3}, "nodes_modes": tensor.FromSlice([]uint8{0, 3}), "nodes_splits": tensor.FromSlice([]float32{0, 1}),
		"nodes_truenodeids": []int64{0, 2}, "nodes_trueleafs": []int64{1, 1}, "nodes_falsenodeids": []int64{1, 3}, "nodes_falseleafs": []int64{1, 1}, "nodes_missing_value_tracks_true": []int64{0, 1},
		"leaf_targetids": []int64{0, 1, 1, 0}, "leaf_weights": tensor.FromSlice([]float32{1, 2, 4, 8})},
}

// treesAttrs adds two stumps: feature 0 ≤ 0, and feature 3 > 1, where NaN counts as true.
func treesAttrs(a op.AttrMap) op.AttrMap {
	a["nodes_treeids"] = []int64{0, 0, 0, 1, 1, 1}
	a["nodes_nodeids"] = []int64{0, 1, 2, 0, 1, 2}
	a["nodes_featureids"] = []int64{0, 0, 0, 3, 0, 0}
	a["nodes_values"] = []float32{0, 0, 0, 1, 0, 0}
	a["nodes_modes"] = []string{"BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_GT", "LEAF", "LEAF"}
	a["nodes_truenodeids"] = []int64{1, 0, 0, 1, 0, 0}
	a["nodes_falsenodeids"] = []int64{2, 0, 0, 2, 0, 0}
	a["nodes_missing_value_tracks_true"] = []int64{0, 0, 0, 1, 0, 0}
	return a
}

// with returns a with some attributes changed.
func with(m op.AttrMap, more op.AttrMap) op.AttrMap {
	out := op.AttrMap{}
	for _, l := range []op.AttrMap{m, more} {
		for k, v := range l {
			out[k] = v
		}
	}
	return out
}

func TestRuntimeML(t *testing.T) {
	nan := math.NaN()
	x := tensor.FromSlice([]float64{-1, 0, 0, 2, 1, 2, 3, nan}, 2, 4)
	f := tensor.FromSlice([]float32{-1, 0, 0, 2, 1, 2, 3, 4}, 2, 4)
	for _, c := range []struct {
		op   string
		more op.AttrMap
		x    tensor.Any
		want string
	}{
		{"Scaler", nil, x.Any(), "[[-1. -1. -1.5 -1.] [0. 0. 0. nan]]"},
		{"Normalizer", op.AttrMap{"norm": "MAX"}, f.Any(), "[[-0.5 0. 0. 1.] [0.25 0.5 0.75 1.]]"},
		{"Normalizer", op.AttrMap{"norm": "L1"}, tensor.FromSlice([]float64{1e300, -3e300}).Any(), "[0.25 -0.75]"},
		{"Imputer", nil, x.Any(), "[[-1. 1.5 1.5 2.] [1. 2. 3. nan]]"},
		{"Imputer", op.AttrMap{"replaced_value_float": float32(nan)}, x.Any(), "[[-1. 0. 0. 2.] [1. 2. 3. 1.5]]"},
		{"Imputer", nil, tensor.New[int32](1, 4).Any(), "[[1 2 3 4]]"},
		{"LinearRegressor", nil, f.Any(), "[[16. 21.] [39. 80.]]"},
		{"LinearClassifier", op.AttrMap{"post_transform": "NONE"}, f.Any(), "[5 5]; [[-0. 0.] [1. -1.]]"},
		{"LinearClassifier", op.AttrMap{"post_transform": "SOFTMAX"}, f.Any(), "[5 5]; [[0.5 0.5] [0.8807971 0.11920292]]"},
		{"LinearClassifier", op.AttrMap{"post_transform": "SOFTMAX_ZERO"}, f.Any(), "[5 5]; [[0.5 0.5] [0.8807971 0.11920292]]"},
		{"LinearClassifier", op.AttrMap{"coefficients": []float32{0, 1, 0, 0}, "classlabels_ints": []int64{7}, "intercepts": []float32{-1}}, f.Any(), "[0 7]; [[0.26894143] [0.7310586]]"},
		{"TreeEnsembleRegressor", nil, x.Any(), "[[1. 4.] [0. 6.]]"},
		{"TreeEnsembleRegressor", op.AttrMap{"aggregate_function": "AVERAGE", "base_values": []float32{10, 20}}, x.Any(), "[[10.5 22.] [10. 23.]]"},
		{"TreeEnsembleRegressor", op.AttrMap{"aggregate_function": "MIN"}, x.Any(), "[[1. 4.] [0. 2.]]"},
		{"TreeEnsembleRegressor", op.AttrMap{"aggregate_function": "MAX"}, x.Any(), "[[1. 4.] [0. 4.]]"},
		{"TreeEnsembleRegressor", op.AttrMap{"target_weights_as_tensor": tensor.FromSlice([]float64{0.1, 0, 0, 0})}, x.Any(), "[[0.1 0.] [0. 0.]]"},
		{"TreeEnsembleClassifier", nil, x.Any(), "[6 6]; [[1. 4.] [0. 6.]]"},
		{"TreeEnsembleClassifier", op.AttrMap{"class_ids": []int64{0, 0, 0, 0}, "class_weights": []float32{0.25, 0.125, 0.5, 0}}, x.Any(), "[6 6]; [[0.25 0.75] [0.375 0.625]]"},
		{"TreeEnsembleClassifier", op.AttrMap{"class_ids": []int64{0, 0, 0, 0}, "class_weights": []float32{-2, 1, 1, 0}, "base_values": []float32{0.5}}, x.Any(), "[5 6]; [[0.5 -0.5] [-2.5 2.5]]"},
		{"FeatureVectorizer", op.AttrMap{"inputdimensions": []int64{2}}, f.Any(), "[[-1. 0.] [1. 2.]]"},
		{"FeatureVectorizer", op.AttrMap{"inputdimensions": []int64{3}}, x.Reshape(2, 2, 1, 2).Any(), "[[-1. 0. 0.] [1. 2. 3.]]"},
		{"OneHotEncoder", nil, x.Any(), "[[[0. 1.] [1. 0.] [1. 0.] [0. 0.]] [[0. 0.] [0. 0.] [0. 0.] [0. 0.]]]"},
		{"SVMRegressor", nil, f.Any(), "[[3.5] [11.5]]"},
		{"SVMRegressor", op.AttrMap{"kernel_type": "POLY", "kernel_params": []float32{1, 1, 2}}, f.Any(), "[[13.5] [85.5]]"},
		{"SVMRegressor", op.AttrMap{"n_supports": int64(0), "coefficients": []float32{1, 0, 0, -1}, "one_class": int64(1)}, f.Any(), "[[-1.] [-1.]]"},
		{"SVMRegressor", op.AttrMap{"post_transform": "LOGISTIC"}, f.Any(), "[[3.5] [11.5]]"}, // as ONNX Runtime 1.30.0 gives it
		{"SVMClassifier", op.AttrMap{"classlabels_ints": []int64{7}, "vectors_per_class": []int64{2}}, f.Any(), "[7 7]; [[0. 0.] [0. 0.]]"},
		{"SVMClassifier", op.AttrMap{"classlabels_ints": []int64{7}, "vectors_per_class": []int64{2}, "prob_a": []float32{1}, "prob_b": []float32{1}}, f.Any(), "[7 7]; [[1.] [1.]]"},
		{"SVMClassifier", nil, f.Any(), "[5 5]; [[-2. 2.] [-6. 6.]]"},
		{"SVMClassifier", op.AttrMap{"post_transform": "LOGISTIC"}, f.Any(), "[5 5]; [[0.11920292 0.8807971] [0.00247262 0.99752736]]"},
		{"SVMClassifier", op.AttrMap{"vectors_per_class": []int64{}, "coefficients": []float32{1, 0, 0, 0, 0, 1, 0, 0}}, f.Any(), "[6 6]; [[-1. 0.] [1. 2.]]"},
		{"TreeEnsemble", nil, x.Any(), "[[1. 4.] [0. 6.]]"},
		{"TreeEnsemble", op.AttrMap{"aggregate_function": int64(3), "nodes_modes": tensor.FromSlice([]uint8{6, 3}), "membership_values": tensor.FromSlice([]float32{1, 5, float32(nan)})}, x.Any(), "[[0. 4.] [1. 4.]]"},
		{"TreeEnsembleClassifier", op.AttrMap{"class_ids": []int64{0, 0, 0, 0}, "class_weights": []float32{-2, 1, 2, 0}, "post_transform": "LOGISTIC"}, x.Any(), "[5 6]; [[0.5 0.5] [0.04742587 0.95257413]]"},
	} {
		o, _ := ml.Lookup(c.op)
		out, err := o.Run(&op.Call{Inputs: []tensor.Any{c.x}, Attrs: with(mlAttrs[c.op], c.more), Opset: 3})
		if err != nil {
			t.Errorf("%s, %v: %v", c.op, c.more, err)
			continue
		}
		var lines []string
		for _, a := range out {
			lines = append(lines, strings.NewReplacer("[ ", "[", " ]", "]").Replace(strings.Join(strings.Fields(fmt.Sprint(a)), " ")))
		}
		if got := strings.Join(lines, "; "); got != c.want {
			t.Errorf("%s, %v: %s, want %s", c.op, c.more, got, c.want)
		}
	}
}

func TestRefusalsML(t *testing.T) {
	x := tensor.New[float32](2, 4).Any()
	for _, c := range []struct {
		op   string
		more op.AttrMap
		want string
	}{
		{"Scaler", op.AttrMap{"offset": []float32{1, 2}}, "offset has 2 numbers"},
		{"Normalizer", op.AttrMap{"norm": "L3"}, `norm is "L3"`},
		{"Imputer", op.AttrMap{"imputed_value_floats": 1}, "asks for a list of float32"},
		{"LinearRegressor", op.AttrMap{"targets": int64(3)}, "8 coefficients for 3 scores"},
		{"LinearRegressor", op.AttrMap{"post_transform": "LOG"}, `post_transform is "LOG"`},
		{"LinearRegressor", op.AttrMap{"intercepts": []float32{1}}, "1 intercepts for 2 scores"},
		{"LinearClassifier", op.AttrMap{"classlabels_ints": []int64{1, 2, 3}}, "3 labels for 1 scores"},
		{"LinearClassifier", op.AttrMap{"classlabels_strings": []string{"a", "b"}}, "strings are for package onnx"},
		{"TreeEnsembleClassifier", op.AttrMap{"classlabels_strings": []string{"a", "b"}}, "strings are for package onnx"},
		{"TreeEnsembleClassifier", op.AttrMap{"classlabels_int64s": []int64{1}}, "it has 1 labels"},
		{"TreeEnsembleRegressor", op.AttrMap{"nodes_truenodeids": []int64{0, 0, 0, 1, 0, 0}}, "node 0 of tree 0 is on a cycle"},
		{"TreeEnsembleRegressor", op.AttrMap{"nodes_truenodeids": []int64{9, 0, 0, 1, 0, 0}}, "node 0 of tree 0 leads to node 9, which the tree doesn't have"},
		{"TreeEnsembleRegressor", op.AttrMap{"nodes_truenodeids": []int64{2, 0, 0, 1, 0, 0}}, "no node of tree 0 leads to its nodes 0 and 1"},
		{"TreeEnsembleRegressor", op.AttrMap{"nodes_featureids": []int64{0, 0, 0, 4, 0, 0}}, "node 0 of tree 1 compares feature 4"},
		{"TreeEnsembleRegressor", op.AttrMap{"nodes_featureids": []int64{0, 0, 0}}, "attribute nodes_featureids has 3 elements; its kin have 6"},
		{"TreeEnsembleRegressor", op.AttrMap{"nodes_nodeids": []int64{0, 1, 1, 0, 1, 2}}, "tree 0 has two nodes 1"},
		{"TreeEnsembleRegressor", op.AttrMap{"nodes_modes": []string{"BRANCH_IN", "LEAF", "LEAF", "LEAF", "LEAF", "LEAF"}}, `has mode "BRANCH_IN"`},
		{"TreeEnsembleRegressor", op.AttrMap{"target_ids": []int64{0, 0, 2, 0}}, "vote 2 is for 2; targets or classes are 0 to 1"},
		{"TreeEnsembleRegressor", op.AttrMap{"target_nodeids": []int64{0, 7, 2, 0}}, "vote 1 is of node 7 of tree 0"},
		{"TreeEnsembleRegressor", op.AttrMap{"base_values": []float32{1}}, "1 base values for 2 targets"},
		{"OneHotEncoder", op.AttrMap{"cats_int64s": []int64{7}, "zeros": int64(0)}, "element 0, 0, is none of the categories [7]"},
		{"OneHotEncoder", op.AttrMap{"cats_strings": []string{"a"}}, "strings are for package onnx"},
		{"SVMRegressor", op.AttrMap{"kernel_type": "COSINE"}, `kernel_type is "COSINE"`},
		{"SVMRegressor", op.AttrMap{"support_vectors": []float32{1, 2, 3}}, "the support vectors have 3 numbers"},
		{"SVMRegressor", op.AttrMap{"coefficients": []float32{1, 2, 3}}, "3 coefficients for 2 support vectors"},
		{"SVMRegressor", op.AttrMap{"post_transform": "ODD"}, `post_transform is "ODD"`},
		{"SVMClassifier", op.AttrMap{"vectors_per_class": []int64{1, 9}}, "class 1 has 9 support vectors, where 1 are left"},
		{"SVMClassifier", op.AttrMap{"vectors_per_class": []int64{-1, 2}}, "class 0 has -1 support vectors"},
		{"SVMClassifier", op.AttrMap{"rho": []float32{1, 2}}, "rho has 2 numbers; 2 classes make 1"},
		{"SVMClassifier", op.AttrMap{"prob_a": []float32{1}}, "prob_a has 1 numbers and prob_b 0"},
		{"SVMClassifier", op.AttrMap{"classlabels_ints": []int64{}}, "it has no labels"},
		{"TreeEnsemble", op.AttrMap{"tree_roots": []int64{0, 7}}, "tree 1 begins with node 7 of 2"},
		{"TreeEnsemble", op.AttrMap{"tree_roots": []int64{0, 0}}, "trees 0 and 1 share node or leaf 0"},
		{"TreeEnsemble", op.AttrMap{"nodes_truenodeids": []int64{9, 2}}, "node 0 leads to 9, where 4 are"},
		{"TreeEnsemble", op.AttrMap{"nodes_trueleafs": []int64{0, 1}}, "of tree 0 is on a cycle"},
		{"TreeEnsemble", op.AttrMap{"nodes_modes": tensor.FromSlice([]uint8{0, 7})}, "node 1 has mode 7"},
		{"TreeEnsemble", op.AttrMap{"nodes_modes": tensor.FromSlice([]uint8{0, 6})}, "membership_values has no list for node 1"},
		{"TreeEnsemble", op.AttrMap{"aggregate_function": int64(9)}, "aggregate_function is 9"},
		{"TreeEnsembleRegressor", op.AttrMap{"aggregate_function": "MEDIAN"}, `aggregate_function is "MEDIAN"`},
	} {
		o, _ := ml.Lookup(c.op)
		if _, err := o.Run(&op.Call{Inputs: []tensor.Any{x}, Attrs: with(mlAttrs[c.op], c.more), Opset: 3}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %v: %v, want %s", c.op, c.more, err, c.want)
		}
	}
}

// A branchOrLeaf is a tree as it is drawn.
type branchOrLeaf struct {
	mode    string
	feature int
	value   float64
	missing bool
	yes, no *branchOrLeaf
	votes   []float64 // of a leaf, for each target
}

func (b *branchOrLeaf) reached(row []float64) []float64 {
	if b.yes == nil {
		return b.votes
	}
	x := row[b.feature]
	holds := map[string]bool{"BRANCH_LEQ": x <= b.value, "BRANCH_LT": x < b.value, "BRANCH_GTE": x >= b.value, "BRANCH_GT": x > b.value, "BRANCH_EQ": x == b.value, "BRANCH_NEQ": x != b.value}
	if holds[b.mode] || x != x && b.missing {
		return b.yes.reached(row)
	}
	return b.no.reached(row)
}

func TestTreesAgainstTheLoop(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	modes := []string{"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"}
	for range 200 {
		features, targets, rows := 1+r.IntN(5), 1+r.IntN(4), r.IntN(40)
		var e ml.TreeEnsemble
		var roots []*branchOrLeaf
		for tree := range int64(1 + r.IntN(6)) {
			next := int64(0)
			var grow func(depth int) (*branchOrLeaf, int64)
			grow = func(depth int) (*branchOrLeaf, int64) {
				id := next
				next++
				at := len(e.Nodes)
				e.Nodes = append(e.Nodes, ml.TreeNode{Tree: tree, ID: id, Mode: "LEAF"})
				if depth == 0 || r.IntN(5) == 0 {
					b := &branchOrLeaf{}
					for i := range targets {
						b.votes = append(b.votes, r.NormFloat64())
						e.Votes = append(e.Votes, ml.TreeVote{Tree: tree, Node: id, Target: i, Weight: b.votes[i]})
					}
					return b, id
				}
				b := &branchOrLeaf{mode: modes[r.IntN(6)], feature: r.IntN(features), value: float64(r.IntN(5)), missing: r.IntN(2) == 0}
				n := ml.TreeNode{Tree: tree, ID: id, Mode: b.mode, Feature: b.feature, Value: b.value, MissingTrue: b.missing}
				b.yes, n.True = grow(depth - 1)
				b.no, n.False = grow(depth - 1)
				e.Nodes[at] = n
				return b, id
			}
			b, _ := grow(4)
			roots = append(roots, b)
		}
		r.Shuffle(len(e.Votes), func(i, j int) { e.Votes[i], e.Votes[j] = e.Votes[j], e.Votes[i] })
		x := make([]float64, rows*features)
		for i := range x {
			if x[i] = float64(r.IntN(5)); r.IntN(9) == 0 {
				x[i] = math.NaN()
			}
		}
		var want []float32
		for row := range rows {
			sum := make([]float64, targets)
			for _, b := range roots {
				for i, v := range b.reached(x[row*features:][:features]) {
					sum[i] += v
				}
			}
			for _, v := range sum {
				want = append(want, float32(v))
			}
		}
		wide := tensor.FromSlice(x, rows, features)
		tensortest.Equal(t, ml.TreeEnsembleRegressor(wide, targets, e).Any(), tensor.FromSlice(want, rows, targets).Any())
		tensortest.Equal(t, ml.TreeEnsembleRegressor(op.Cast[float32](wide.Transpose()).Transpose(), targets, e).Any(), tensor.FromSlice(want, rows, targets).Any())
		if targets > 2 {
			labels := []int64{5, 6, 7, 8}[:targets]
			label, scores := ml.TreeEnsembleClassifier(wide, labels, e)
			tensortest.Equal(t, scores.Any(), tensor.FromSlice(want, rows, targets).Any())
			tensortest.Equal(t, label.Any(), op.Add(op.ArgMax(scores, 1, op.ArgOptions{}), tensor.Scalar[int64](5)).Reshape(rows).Any())
		}
	}
}

// FeatureVectorizer takes all axes but the first as features, whatever the rank and the layout.
func TestFeatureVectorizerRanks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.IntRange(0, 3).Draw(t, "rows")
		var xs, tables []tensor.Tensor[float64]
		for range rapid.IntRange(1, 3).Draw(t, "operands") {
			features := rapid.SliceOfN(rapid.IntRange(0, 3), 1, 4).Draw(t, "features")
			x := tensor.RandomNormal[float64](7, 0, 1, append([]int{rows}, features...)...)
			if rapid.Bool().Draw(t, "reversed") {
				x = x.Flip(-1)
			}
			xs, tables = append(xs, x), append(tables, x.Contiguous().Reshape(rows, tensor.New[bool](features...).Len()))
		}
		if got, want := ml.FeatureVectorizer(xs, nil), op.Cast[float32](op.Concat(tables, 1)); got.String() != want.String() {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
	if err := tensor.Try(func() { ml.FeatureVectorizer([]tensor.Tensor[int64]{tensor.Scalar[int64](1)}, nil) }); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("a scalar: %v", err)
	}
}

func TestBinarizerStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := tensor.Try(func() { ml.Binarizer(tensor.New[int8](2, 3), 0, op.Context(ctx)) }); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that is done: %v", err)
	}
}

func TestLabelEncoderWithoutValues(t *testing.T) {
	o, _ := ml.Lookup("LabelEncoder")
	c := &op.Call{Inputs: []tensor.Any{tensor.New[int64](2).Any()}, Attrs: op.AttrMap{"keys_int64s": []int64{1}}, Opset: 4}
	if out, err := o.Run(c); err == nil {
		t.Errorf("keys without values give %v", out)
	}
}

// Keys, values and indices are of many types, and defaults are as in ONNX.
func TestLabelsAndFeatures(t *testing.T) {
	units := func(v float64) tensor.Tensor[fixed.FP16x16] { return op.Cast[fixed.FP16x16](tensor.Scalar(v)) }
	for _, c := range []struct {
		op    string
		in    []tensor.Any
		attrs op.AttrMap
		want  tensor.Any
	}{
		{"LabelEncoder", []tensor.Any{tensor.FromSlice([]int64{2, 7, 1}).Any()}, op.AttrMap{"keys_int64s": []int64{1, 2}, "values_floats": []float32{0.5, 0.25}, "default_float": float32(3)}, tensor.FromSlice([]float32{0.25, 3, 0.5}).Any()},
		{"LabelEncoder", []tensor.Any{tensor.FromSlice([]float32{float32(math.NaN()), 0, 7}).Any()}, op.AttrMap{"keys_floats": []float32{float32(math.Copysign(0, -1)), float32(math.NaN())}, "values_int64s": []int64{5, 6}}, tensor.FromSlice([]int64{6, 5, -1}).Any()},
		{"LabelEncoder", []tensor.Any{units(4).Any()}, op.AttrMap{"keys_tensor": units(4).Any(), "values_tensor": tensor.FromSlice([]int64{9}).Any(), "default_tensor": tensor.FromSlice([]int64{0}).Any()}, tensor.Scalar(int64(9)).Any()},
		{"LabelEncoder", []tensor.Any{tensor.FromSlice([]int64{2, 7}).Any()}, op.AttrMap{"keys_int64s": []int64{2}, "values_tensor": tensor.FromSlice([]int32{5}).Any()}, tensor.FromSlice([]int32{5, -1}).Any()},
		{"ArrayFeatureExtractor", []tensor.Any{tensor.FromSlice([]int64{4, 5, 6}).Any(), tensor.FromSlice([]int64{2, 0}).Any()}, nil, tensor.FromSlice([]int64{6, 4}, 1, 2).Any()},
		{"LabelEncoder", []tensor.Any{tensor.FromSlice([]int64{2, 7}).Any()}, op.AttrMap{"keys_int64s": []int64{2}, "values_tensor": tensor.FromSlice([]float64{0.5}).Any()}, tensor.FromSlice([]float64{0.5, math.Copysign(0, -1)}).Any()},
	} {
		o, _ := ml.Lookup(c.op)
		v := o.Versions()
		call := &op.Call{Inputs: c.in, Attrs: c.attrs, Opset: v[len(v)-1]}
		if c.attrs == nil {
			call.Attrs = op.AttrMap(nil)
		}
		out, err := o.Run(call)
		if err != nil {
			t.Errorf("%s, %v: %v", c.op, c.attrs, err)
			continue
		}
		tensortest.Equal(t, out[0], c.want)
	}
}
