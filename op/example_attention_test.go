package op_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

func ExampleAttention() {
	q := tensor.FromSlice([]float32{8, 0, 0, 8}, 1, 1, 2, 2)
	k := tensor.FromSlice([]float32{8, 0, 0, 8, 8, 8}, 1, 1, 3, 2)
	v := tensor.FromSlice([]float32{1, 2, 3}, 1, 1, 3, 1)
	y, _, _ := op.Attention(q, k, v, op.AttentionOptions[float32]{})
	fmt.Println(y.Reshape(2))
	y, _, _ = op.Attention(q, k, v, op.AttentionOptions[float32]{Causal: true}) // each query sees its own key and those before it
	fmt.Println(y.Reshape(2))
	// Output:
	// [2.  2.5]
	// [1. 2.]
}

func ExampleCausalConvWithState() {
	x := tensor.FromSlice([]float32{1, 2, 3, 4}, 1, 1, 4)
	sum := tensor.Full[float32](1, 1, 1, 3)
	none := tensor.Tensor[float32]{}
	whole, _ := op.CausalConvWithState(x, sum, none, none, op.CausalConvWithStateOptions{})
	first, state := op.CausalConvWithState(x.Slice(tensor.Colon, tensor.Colon, tensor.R(0, 2)), sum, none, none, op.CausalConvWithStateOptions{})
	rest, _ := op.CausalConvWithState(x.Slice(tensor.Colon, tensor.Colon, tensor.R(2, 4)), sum, none, state, op.CausalConvWithStateOptions{})
	fmt.Println(whole)
	fmt.Println(first, rest)
	// Output:
	// [[[1. 3. 6. 9.]]]
	// [[[1. 3.]]] [[[6. 9.]]]
}

func ExampleLinearAttention() {
	q := tensor.FromSlice([]float32{1, 0, 0, 1}, 1, 2, 2)
	k := tensor.FromSlice([]float32{1, 0, 1, 1}, 1, 2, 2)
	v := tensor.FromSlice([]float32{5, 7}, 1, 2, 1)
	y, state := op.LinearAttention(q, k, v, op.LinearAttentionOptions[float32]{Heads: 1, KVHeads: 1, Scale: 1})
	fmt.Println(y)
	fmt.Println(state)
	// Output:
	// [[[5.]
	//   [7.]]]
	// [[[[12.]
	//    [ 7.]]]]
}

func ExampleRotaryEmbedding() {
	x := tensor.FromSlice([]float32{1, 2, 3, 4, 1, 2, 3, 4}, 1, 1, 2, 4)
	cos := tensor.FromSlice([]float32{1, 1, 0, 0}, 2, 2) // no turn at position 0, a quarter at position 1
	sin := tensor.FromSlice([]float32{0, 0, 1, 1}, 2, 2)
	at := tensor.FromSlice([]int64{0, 1}, 1, 2)
	fmt.Println(op.RotaryEmbedding(x, cos, sin, at, op.RotaryEmbeddingOptions{}))
	// Output:
	// [[[[ 1.  2.  3.  4.]
	//    [-3. -4.  1.  2.]]]]
}

func ExampleSwish() {
	x := tensor.FromSlice([]float32{-1, 0, 2})
	fmt.Println(op.Swish(x, 1))
	// Output:
	// [-0.26894143  0.          1.7615942 ]
}

func ExampleTensorScatter() {
	cache := tensor.New[int32](1, 4, 2)
	step := tensor.FromSlice([]int32{1, 2, 3, 4}, 1, 2, 2)
	at := tensor.FromSlice([]int64{3})
	fmt.Println(op.TensorScatter(cache, step, at, -2, op.TensorScatterOptions{Circular: true}))
	// Output:
	// [[[3 4]
	//   [0 0]
	//   [0 0]
	//   [1 2]]]
}
