package ml_test

import (
	"fmt"
	"math"

	"github.com/ashlar-go/ashlar/op/ml"
	"github.com/ashlar-go/ashlar/tensor"
)

func ExampleScaler() {
	x := tensor.FromSlice([]float64{1, 2, 3, 4}, 2, 2)
	fmt.Println(ml.Scaler(x, []float32{1, 2}, []float32{0.5, 10}))
	// Output:
	// [[ 0.  0.]
	//  [ 1. 20.]]
}

func ExampleNormalizer() {
	x := tensor.FromSlice([]int32{3, -4, 0, 0}, 2, 2)
	fmt.Println(ml.Normalizer(x, "L2"))
	// Output:
	// [[ 0.6 -0.8]
	//  [ 0.   0. ]]
}

func ExampleImputer() {
	x := tensor.FromSlice([]float64{1, math.NaN(), math.NaN(), 4}, 2, 2)
	fmt.Println(ml.Imputer(x, math.NaN(), []float64{10, 20}))
	// Output:
	// [[ 1. 20.]
	//  [10.  4.]]
}

func ExampleLinearRegressor() {
	x := tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	fmt.Println(ml.LinearRegressor(x, 1, ml.LinearOptions{Coefficients: []float32{10, 1}, Intercepts: []float32{0.5}}))
	// Output:
	// [[12.5]
	//  [34.5]]
}

func ExampleLinearClassifier() {
	x := tensor.FromSlice([]float32{1, 2, 4, 3}, 2, 2)
	label, scores := ml.LinearClassifier(x, []int64{7, 8}, ml.LinearOptions{Coefficients: []float32{1, 0, 0, 1}})
	fmt.Println(label)
	fmt.Println(scores)
	// Output:
	// [8 7]
	// [[1. 2.]
	//  [4. 3.]]
}

func ExampleSVMRegressor() {
	x := tensor.FromSlice([]float32{0, 0, 1, 1}, 2, 2)
	m := ml.SVM{Kernel: "RBF", Gamma: 0.5, SupportVectors: []float32{0, 0, 1, 1}, Coefficients: []float32{1, -1}, Rho: []float32{0.5}}
	fmt.Println(ml.SVMRegressor(x, ml.SVMRegressorOptions{SVM: m}))
	fmt.Println(ml.SVMRegressor(x, ml.SVMRegressorOptions{SVM: m, OneClass: true}))
	// Output:
	// [[ 1.1321206 ]
	//  [-0.13212056]]
	// [[ 1.]
	//  [-1.]]
}

func ExampleSVMClassifier() {
	x := tensor.FromSlice([]float32{0, 0, 1, 1}, 2, 2)
	m := ml.SVM{SupportVectors: []float32{0, 1, 1, 1}, Coefficients: []float32{1, -1}, Rho: []float32{0.25}}
	label, scores := ml.SVMClassifier(x, []int64{7, 8}, ml.SVMClassifierOptions{SVM: m, VectorsPerClass: []int64{1, 1}})
	fmt.Println(label)
	fmt.Println(scores)
	label, scores = ml.SVMClassifier(x, []int64{7, 8}, ml.SVMClassifierOptions{SVM: m, VectorsPerClass: []int64{1, 1}, ProbA: []float32{-2}, ProbB: []float32{0}})
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
	fmt.Println(ml.FeatureVectorizer([]tensor.Tensor[int64]{a, b}, nil))
	// Output:
	// [[1. 2. 5.]
	//  [3. 4. 6.]]
}

func ExampleOneHotEncoder() {
	fmt.Println(ml.OneHotEncoder(tensor.FromSlice([]int64{2, 5, 1}), []int64{1, 2}, ml.OneHotEncoderOptions{}))
	// Output:
	// [[0. 1.]
	//  [0. 0.]
	//  [1. 0.]]
}

func ExampleTreeEnsembleScores() {
	x := tensor.FromSlice([]float64{0, 1}, 2, 1)
	votes := []ml.TreeVote{{Node: 1, Weight: 10}, {Node: 2, Weight: 20}}
	fmt.Println(ml.TreeEnsembleScores(x, 1, ml.TreeEnsemble{Nodes: stump, Votes: votes}))
	// Output:
	// [[10.]
	//  [20.]]
}

// stump is a tree of one comparison: feature 0 is at most 0.5.
var stump = []ml.TreeNode{
	{ID: 0, Mode: "BRANCH_LEQ", Feature: 0, Value: 0.5, True: 1, False: 2},
	{ID: 1, Mode: "LEAF"},
	{ID: 2, Mode: "LEAF"},
}

func ExampleTreeEnsembleRegressor() {
	x := tensor.FromSlice([]float32{0, 1}, 2, 1)
	votes := []ml.TreeVote{{Node: 1, Weight: 10}, {Node: 2, Weight: 20}}
	fmt.Println(ml.TreeEnsembleRegressor(x, 1, ml.TreeEnsemble{Nodes: stump, Votes: votes, Base: []float64{0.5}}))
	// Output:
	// [[10.5]
	//  [20.5]]
}

func ExampleTreeEnsembleClassifier() {
	x := tensor.FromSlice([]float32{0, 1}, 2, 1)
	votes := []ml.TreeVote{{Node: 1, Target: 0, Weight: 0.75}, {Node: 1, Target: 1, Weight: 0.25}, {Node: 2, Target: 1, Weight: 1}}
	label, scores := ml.TreeEnsembleClassifier(x, []int64{7, 8}, ml.TreeEnsemble{Nodes: stump, Votes: votes})
	fmt.Println(label)
	fmt.Println(scores)
	// Output:
	// [7 8]
	// [[0.75 0.25]
	//  [0.   1.  ]]
}

func ExampleBinarizer() {
	fmt.Println(ml.Binarizer(tensor.FromSlice([]int32{-1, 0, 1, 2}), 0))
	// Output:
	// [0 0 1 1]
}

func ExampleArrayFeatureExtractor() {
	a := tensor.Arange[float32](0, 8, 1).Reshape(2, 4)
	fmt.Println(ml.ArrayFeatureExtractor(a, tensor.FromSlice([]int64{3, 1})))
	// Output:
	// [[3. 1.]
	//  [7. 5.]]
}

func ExampleLabelEncoder() {
	x := tensor.FromSlice([]int64{1, 2, 9})
	fmt.Println(ml.LabelEncoder(x, []int64{1, 2}, []float32{0.5, 0.25}, -1))
	// Output:
	// [ 0.5   0.25 -1.  ]
}
