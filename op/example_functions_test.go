package op_test

import (
	"context"
	"fmt"
	"math"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

func ExampleAcos() {
	a := tensor.FromSlice([]float32{-1, 0, 0.5})
	fmt.Println(op.Acos(a))
	// Output:
	// [3.1415927 1.5707964 1.0471976]
}

func ExampleAcosh() {
	a := tensor.FromSlice([]float32{1, 2, 1e10})
	fmt.Println(op.Acosh(a))
	// Output:
	// [ 0.        1.316958 23.718998]
}

func ExampleAsin() {
	a := tensor.FromSlice([]float32{-1, 0, 0.5})
	fmt.Println(op.Asin(a))
	// Output:
	// [-1.5707964  0.         0.5235988]
}

func ExampleAsinh() {
	a := tensor.FromSlice([]float32{-1, 0, 1e10})
	fmt.Println(op.Asinh(a))
	// Output:
	// [-0.8813736  0.        23.718998 ]
}

func ExampleAtan() {
	a := tensor.FromSlice([]float32{-1, 0, 1e10})
	fmt.Println(op.Atan(a))
	// Output:
	// [-0.7853982  0.         1.5707964]
}

func ExampleAtan2() {
	y := tensor.FromSlice([]float32{1, 1, -1, -1})
	x := tensor.FromSlice([]float32{1, -1, -1, 1})
	fmt.Println(op.Atan2(y, x))
	// Output:
	// [ 0.7853982  2.3561945 -2.3561945 -0.7853982]
}

func ExampleAtanh() {
	a := tensor.FromSlice([]float32{-0.5, 0, 1})
	fmt.Println(op.Atanh(a))
	// Output:
	// [-0.54930615  0.                 inf]
}

func ExampleCbrt() {
	a := tensor.FromSlice([]float32{-8, 2, 27})
	fmt.Println(op.Cbrt(a))
	// Output:
	// [-2.         1.2599211  3.       ]
}

func ExampleCos() {
	a := tensor.FromSlice([]float32{0, math.Pi / 3, 1e6})
	fmt.Println(op.Cos(a))
	// Output:
	// [1.         0.49999997 0.93675214]
}

func ExampleCosh() {
	a := tensor.FromSlice([]float32{-1, 0, 1})
	fmt.Println(op.Cosh(a))
	// Output:
	// [1.5430807 1.        1.5430807]
}

func ExampleExp2() {
	a := tensor.FromSlice([]float32{-1, 0.5, 10})
	fmt.Println(op.Exp2(a))
	// Output:
	// [5.0000000e-01 1.4142135e+00 1.0240000e+03]
}

func ExampleExpm1() {
	a := tensor.FromSlice([]float32{-1, 0, 1e-10})
	fmt.Println(op.Expm1(a))
	// Output:
	// [-6.3212055e-01  0.0000000e+00  1.0000000e-10]
}

func ExampleGelu() {
	a := tensor.FromSlice([]float32{-1, 0, 1})
	fmt.Println(op.Gelu(a))
	// Output:
	// [-0.15865526  0.          0.8413448 ]
}

func ExampleGeluTanh() {
	a := tensor.FromSlice([]float32{-1, 0, 1})
	fmt.Println(op.GeluTanh(a))
	// Output:
	// [-0.15880801  0.          0.841192  ]
}

func ExampleHypot() {
	a := tensor.FromSlice([]float32{3, 5, 3e38})
	b := tensor.FromSlice([]float32{4, 12, 1e38})
	fmt.Println(op.Hypot(a, b))
	// Output:
	// [5.0000000e+00 1.3000000e+01 3.1622777e+38]
}

func ExampleLog10() {
	a := tensor.FromSlice([]float32{1, 2, 1000})
	fmt.Println(op.Log10(a))
	// Output:
	// [0.      0.30103 3.     ]
}

func ExampleLog1p() {
	a := tensor.FromSlice([]float32{0, 1, 1e-10})
	fmt.Println(op.Log1p(a))
	// Output:
	// [0.000000e+00 6.931472e-01 1.000000e-10]
}

func ExampleLog2() {
	a := tensor.FromSlice([]float32{1, 3, 1024})
	fmt.Println(op.Log2(a))
	// Output:
	// [ 0.         1.5849625 10.       ]
}

func ExampleMish() {
	a := tensor.FromSlice([]float32{-1, 0, 1})
	fmt.Println(op.Mish(a))
	// Output:
	// [-0.30340147  0.          0.8650984 ]
}

func ExampleRsqrt() {
	a := tensor.FromSlice([]float32{1, 2, 4})
	fmt.Println(op.Rsqrt(a))
	// Output:
	// [1.         0.70710677 0.5       ]
}

func ExampleSin() {
	a := tensor.FromSlice([]float32{0, math.Pi / 6, 1e6})
	fmt.Println(op.Sin(a))
	// Output:
	// [ 0.         0.5       -0.3499935]
}

func ExampleSinh() {
	a := tensor.FromSlice([]float32{-1, 0, 1})
	fmt.Println(op.Sinh(a))
	// Output:
	// [-1.1752012  0.         1.1752012]
}

func ExampleTan() {
	a := tensor.FromSlice([]float32{0, math.Pi / 4, 1e6})
	fmt.Println(op.Tan(a))
	// Output:
	// [ 0.          1.         -0.37362444]
}

// A product on one thread, in a program that uses more.
func ExampleWithThreads() {
	a := tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	ctx := op.WithThreads(context.Background(), 1)
	fmt.Println(op.MatMul(a, a, op.Context(ctx)))
	// Output:
	// [[ 7. 10.]
	//  [15. 22.]]
}
