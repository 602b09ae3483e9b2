package op_test

import (
	"fmt"
	"math"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

func ExampleScaler() {
	x := tensor.FromSlice([]float64{1, 2, 3, 4}, 2, 2)
	fmt.Println(op.Scaler(x, []float32{1, 2}, []float32{0.5, 10}))
	// Output:
	// [[ 0.  0.]
	//  [ 1. 20.]]
}

func ExampleNormalizer() {
	x := tensor.FromSlice([]int32{3, -4, 0, 0}, 2, 2)
	fmt.Println(op.Normalizer(x, "L2"))
	// Output:
	// [[ 0.6 -0.8]
	//  [ 0.   0. ]]
}

func ExampleImputer() {
	x := tensor.FromSlice([]float64{1, math.NaN(), math.NaN(), 4}, 2, 2)
	fmt.Println(op.Imputer(x, math.NaN(), []float64{10, 20}))
	// Output:
	// [[ 1. 20.]
	//  [10.  4.]]
}

func ExampleLinearRegressor() {
	x := tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	fmt.Println(op.LinearRegressor(x, 1, op.Linear{Coefficients: []float32{10, 1}, Intercepts: []float32{0.5}}))
	// Output:
	// [[12.5]
	//  [34.5]]
}

func ExampleLinearClassifier() {
	x := tensor.FromSlice([]float32{1, 2, 4, 3}, 2, 2)
	label, scores := op.LinearClassifier(x, []int64{7, 8}, op.Linear{Coefficients: []float32{1, 0, 0, 1}})
	fmt.Println(label)
	fmt.Println(scores)
	// Output:
	// [8 7]
	// [[1. 2.]
	//  [4. 3.]]
}

func ExampleSVMRegressor() {
	x := tensor.FromSlice([]float32{0, 0, 1, 1}, 2, 2)
	m := op.SVM{Kernel: "RBF", Gamma: 0.5, SupportVectors: []float32{0, 0, 1, 1}, Coefficients: []float32{1, -1}, Rho: []float32{0.5}}
	fmt.Println(op.SVMRegressor(x, m, false))
	fmt.Println(op.SVMRegressor(x, m, true))
	// Output:
	// [[ 1.1321206 ]
	//  [-0.13212056]]
	// [[ 1.]
	//  [-1.]]
}

func ExampleSVMClassifier() {
	x := tensor.FromSlice([]float32{0, 0, 1, 1}, 2, 2)
	m := op.SVM{SupportVectors: []float32{0, 1, 1, 1}, Coefficients: []float32{1, -1}, Rho: []float32{0.25}}
	label, scores := op.SVMClassifier(x, []int64{7, 8}, op.SVC{SVM: m, VectorsPerClass: []int64{1, 1}})
	fmt.Println(label)
	fmt.Println(scores)
	label, scores = op.SVMClassifier(x, []int64{7, 8}, op.SVC{SVM: m, VectorsPerClass: []int64{1, 1}, ProbA: []float32{-2}, ProbB: []float32{0}})
	fmt.Println(label)
	fmt.Printf("%.4f\n", scores)
	// Output:
	// [7 8]
	// [[-0.25  0.25]
	//  [ 0.75 -0.75]]
	// [7 8]
	// [[0.6213 0.3787]
	//  [0.1824 0.8176]]
}

func ExampleFeatureVectorizer() {
	a, b := tensor.FromSlice([]int64{1, 2, 3, 4}, 2, 2), tensor.FromSlice([]int64{5, 6}, 2, 1)
	fmt.Println(op.FeatureVectorizer([]tensor.Tensor[int64]{a, b}, nil))
	// Output:
	// [[1. 2. 5.]
	//  [3. 4. 6.]]
}

func ExampleOneHotEncoder() {
	fmt.Println(op.OneHotEncoder(tensor.FromSlice([]int64{2, 5, 1}), []int64{1, 2}, true))
	// Output:
	// [[0. 1.]
	//  [0. 0.]
	//  [1. 0.]]
}

func ExampleTfIdfVectorizer() {
	x := tensor.FromSlice([]int64{1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8}, 2, 6)
	grams := op.NGrams{Pool: []int64{2, 3, 5, 4, 5, 6, 7, 8, 6, 7}, Starts: []int{0, 4}, Outputs: []int{0, 1, 2, 3, 4, 5, 6}, Mode: "TF", Least: 2, Most: 2}
	fmt.Println(op.TfIdfVectorizer(x, grams))
	// Output:
	// [[0. 0. 0. 0. 0. 0. 0.]
	//  [0. 0. 0. 0. 1. 0. 1.]]
}

func ExampleTreeEnsembleScores() {
	x := tensor.FromSlice([]float64{0, 1}, 2, 1)
	votes := []op.TreeVote{{Node: 1, Weight: 10}, {Node: 2, Weight: 20}}
	fmt.Println(op.TreeEnsembleScores(x, 1, op.TreeEnsemble{Nodes: stump, Votes: votes}))
	// Output:
	// [[10.]
	//  [20.]]
}

// stump is a tree of one comparison: feature 0 is at most 0.5.
var stump = []op.TreeNode{
	{ID: 0, Mode: "BRANCH_LEQ", Feature: 0, Value: 0.5, True: 1, False: 2},
	{ID: 1, Mode: "LEAF"},
	{ID: 2, Mode: "LEAF"},
}

func ExampleTreeEnsembleRegressor() {
	x := tensor.FromSlice([]float32{0, 1}, 2, 1)
	votes := []op.TreeVote{{Node: 1, Weight: 10}, {Node: 2, Weight: 20}}
	fmt.Println(op.TreeEnsembleRegressor(x, 1, op.TreeEnsemble{Nodes: stump, Votes: votes, Base: []float64{0.5}}))
	// Output:
	// [[10.5]
	//  [20.5]]
}

func ExampleTreeEnsembleClassifier() {
	x := tensor.FromSlice([]float32{0, 1}, 2, 1)
	votes := []op.TreeVote{{Node: 1, Target: 0, Weight: 0.75}, {Node: 1, Target: 1, Weight: 0.25}, {Node: 2, Target: 1, Weight: 1}}
	label, scores := op.TreeEnsembleClassifier(x, []int64{7, 8}, op.TreeEnsemble{Nodes: stump, Votes: votes})
	fmt.Println(label)
	fmt.Println(scores)
	// Output:
	// [7 8]
	// [[0.75 0.25]
	//  [0.   1.  ]]
}
