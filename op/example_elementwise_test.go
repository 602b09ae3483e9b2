package op_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

func ExampleAbs() {
	a := tensor.FromSlice([]float32{-1.5, 0, 2})
	fmt.Println(op.Abs(a))
	// Output:
	// [1.5 0.  2. ]
}

func ExampleAdd() {
	a := tensor.FromSlice([]float32{1, 2, 3})
	b := tensor.FromSlice([]float32{10, 20, 30})
	fmt.Println(op.Add(a, b))
	// Output:
	// [11. 22. 33.]
}

func ExampleCeil() {
	a := tensor.FromSlice([]float32{-1.5, 0.5, 2})
	fmt.Println(op.Ceil(a))
	// Output:
	// [-1.  1.  2.]
}

func ExampleCelu() {
	a := tensor.FromSlice([]float32{-2, -0.5, 0.5, 2})
	fmt.Println(op.Celu(a, 1))
	// Output:
	// [-0.86466473 -0.39346933  0.5         2.        ]
}

func ExampleClip() {
	a := tensor.FromSlice([]float32{-2, 0.5, 7})
	fmt.Println(op.Clip(a, -1, 1))
	// Output:
	// [-1.   0.5  1. ]
}

func ExampleDiv() {
	a := tensor.FromSlice([]float32{1, 2, 3})
	b := tensor.FromSlice([]float32{2, 4, 8})
	fmt.Println(op.Div(a, b))
	// Output:
	// [0.5   0.5   0.375]
}

func ExampleElu() {
	a := tensor.FromSlice([]float32{-2, -0.5, 0.5, 2})
	fmt.Println(op.Elu(a, 1))
	// Output:
	// [-0.86466473 -0.39346933  0.5         2.        ]
}

func ExampleErf() {
	a := tensor.FromSlice([]float32{-1, 0, 1})
	fmt.Println(op.Erf(a))
	// Output:
	// [-0.8427008  0.         0.8427008]
}

func ExampleExp() {
	a := tensor.FromSlice([]float32{0, 1, -1})
	fmt.Println(op.Exp(a))
	// Output:
	// [1.         2.7182817  0.36787945]
}

func ExampleFMod() {
	a := tensor.FromSlice([]float32{5, -5, 5.5})
	b := tensor.FromSlice([]float32{3, 3, -2})
	fmt.Println(op.FMod(a, b))
	// Output:
	// [ 2.  -2.   1.5]
}

func ExampleFloor() {
	a := tensor.FromSlice([]float32{-1.5, 0.5, 2})
	fmt.Println(op.Floor(a))
	// Output:
	// [-2.  0.  2.]
}

func ExampleHardSigmoid() {
	a := tensor.FromSlice([]float32{-4, -1, 0, 4})
	fmt.Println(op.HardSigmoid(a, 0.2, 0.5))
	// Output:
	// [0.  0.3 0.5 1. ]
}

func ExampleHardSwish() {
	a := tensor.FromSlice([]float32{-4, -1, 1, 4})
	fmt.Println(op.HardSwish(a))
	// Output:
	// [-0.         -0.33333334  0.6666667   4.        ]
}

func ExampleLeakyRelu() {
	a := tensor.FromSlice([]float32{-2, -0.5, 0.5, 2})
	fmt.Println(op.LeakyRelu(a, 0.1))
	// Output:
	// [-0.2  -0.05  0.5   2.  ]
}

func ExampleLog() {
	a := tensor.FromSlice([]float32{1, 2, 0})
	fmt.Println(op.Log(a))
	// Output:
	// [0.        0.6931472      -inf]
}

func ExampleMax() {
	a := tensor.FromSlice([]float32{1, 5, 3})
	b := tensor.FromSlice([]float32{4, 2, 3})
	fmt.Println(op.Max(a, b))
	// Output:
	// [4. 5. 3.]
}

func ExampleMean() {
	a := tensor.FromSlice([]float32{1, 2, 3})
	b := tensor.FromSlice([]float32{10, 20, 30})
	fmt.Println(op.Mean([]tensor.Tensor[float32]{a, b}))
	// Output:
	// [ 5.5 11.  16.5]
}

func ExampleMin() {
	a := tensor.FromSlice([]float32{1, 5, 3})
	b := tensor.FromSlice([]float32{4, 2, 3})
	fmt.Println(op.Min(a, b))
	// Output:
	// [1. 2. 3.]
}

func ExampleMod() {
	a := tensor.FromSlice([]int32{5, -5, 7})
	b := tensor.FromSlice([]int32{3, 3, -4})
	fmt.Println(op.Mod(a, b))
	// Output:
	// [ 2  1 -1]
}

func ExampleMul() {
	a := tensor.FromSlice([]float32{1, 2, 3})
	b := tensor.FromSlice([]float32{10, 20, 30})
	fmt.Println(op.Mul(a, b))
	// Output:
	// [10. 40. 90.]
}

func ExampleNeg() {
	a := tensor.FromSlice([]float32{-1.5, 0, 2})
	fmt.Println(op.Neg(a))
	// Output:
	// [ 1.5 -0.  -2. ]
}

func ExamplePRelu() {
	a := tensor.FromSlice([]float32{-2, -1, 3})
	slope := tensor.FromSlice([]float32{0.5, 0.25, 0.5})
	fmt.Println(op.PRelu(a, slope))
	// Output:
	// [-1.   -0.25  3.  ]
}

func ExamplePow() {
	a := tensor.FromSlice([]float32{2, 3, 4})
	b := tensor.FromSlice([]float32{3, 2, 0.5})
	fmt.Println(op.Pow(a, b))
	// Output:
	// [8. 9. 2.]
}

func ExampleReciprocal() {
	a := tensor.FromSlice([]float32{4, -2, 0.5})
	fmt.Println(op.Reciprocal(a))
	// Output:
	// [ 0.25 -0.5   2.  ]
}

func ExampleRelu() {
	a := tensor.FromSlice([]float32{-1.5, 0, 2})
	fmt.Println(op.Relu(a))
	// Output:
	// [0. 0. 2.]
}

func ExampleRound() {
	a := tensor.FromSlice([]float32{0.5, 1.5, 2.5, -1.2})
	fmt.Println(op.Round(a))
	// Output:
	// [ 0.  2.  2. -1.]
}

func ExampleSelu() {
	a := tensor.FromSlice([]float32{-1, 0, 1})
	fmt.Println(op.Selu(a, 1.6732632, 1.050701))
	// Output:
	// [-1.1113307  0.         1.050701 ]
}

func ExampleSigmoid() {
	a := tensor.FromSlice([]float32{-1, 0, 1})
	fmt.Println(op.Sigmoid(a))
	// Output:
	// [0.26894143 0.5        0.7310586 ]
}

func ExampleSign() {
	a := tensor.FromSlice([]float32{-1.5, 0, 2})
	fmt.Println(op.Sign(a))
	// Output:
	// [-1.  0.  1.]
}

func ExampleSoftplus() {
	a := tensor.FromSlice([]float32{-1, 0, 1})
	fmt.Println(op.Softplus(a))
	// Output:
	// [0.3132617 0.6931472 1.3132616]
}

func ExampleSoftsign() {
	a := tensor.FromSlice([]float32{-1, 0, 3})
	fmt.Println(op.Softsign(a))
	// Output:
	// [-0.5   0.    0.75]
}

func ExampleSqrt() {
	a := tensor.FromSlice([]float32{4, 2, 0.25})
	fmt.Println(op.Sqrt(a))
	// Output:
	// [2.        1.4142135 0.5      ]
}

func ExampleSub() {
	a := tensor.FromSlice([]float32{1, 2, 3})
	b := tensor.FromSlice([]float32{10, 20, 30})
	fmt.Println(op.Sub(a, b))
	// Output:
	// [ -9. -18. -27.]
}

func ExampleSum() {
	a := tensor.FromSlice([]float32{1, 2, 3})
	b := tensor.FromSlice([]float32{10, 20, 30})
	fmt.Println(op.Sum([]tensor.Tensor[float32]{a, b, a}))
	// Output:
	// [12. 24. 36.]
}

func ExampleTanh() {
	a := tensor.FromSlice([]float32{-1, 0, 1})
	fmt.Println(op.Tanh(a))
	// Output:
	// [-0.7615942  0.         0.7615942]
}

func ExampleThresholdedRelu() {
	a := tensor.FromSlice([]float32{-2, -0.5, 0.5, 2})
	fmt.Println(op.ThresholdedRelu(a, 1))
	// Output:
	// [0. 0. 0. 2.]
}

func ExampleFuse() {
	a := tensor.FromSlice([]float32{0, 1, 2})
	b := tensor.FromSlice([]float32{1, 1, -1})
	// One pass over memory: the product and the sum never exist whole.
	y := op.Tanh(op.Add(op.Mul(op.Lazy(a), b), tensor.Scalar[float32](1)))
	fmt.Println(op.Fuse(y))
	// Output:
	// [ 0.7615942  0.9640276 -0.7615942]
}

func ExamplePrepare() {
	x, y := tensor.FromSlice([]float32{1, 2, 3}), tensor.New[float32](3)
	step := op.Prepare(op.Add(op.Mul(op.Lazy(x), tensor.Scalar[float32](10)), tensor.Scalar[float32](1)), op.Into(y))
	step()
	fmt.Println(y)
	x.Set(5, 0) // the operand changes, the plan stays
	step()
	fmt.Println(y)
	// Output:
	// [11. 21. 31.]
	// [51. 21. 31.]
}

func ExampleLazy() {
	a := op.Lazy(tensor.FromSlice([]float32{1, 4, 9}))
	root := op.Sqrt(a) // noted, not computed
	fmt.Println(root.Shape(), op.Fuse(op.Add(root, root)))
	// Output:
	// [3] [2. 4. 6.]
}
