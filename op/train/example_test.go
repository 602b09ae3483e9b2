package train_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/op/train"
	"github.com/ashlar-go/ashlar/tensor"
)

func ExampleMomentum() {
	x, g, v := tensor.Full[float32](1, 1), tensor.Full[float32](0.5, 1), tensor.Full[float32](0.25, 1)
	x, v = train.Momentum(x, g, v, train.Options{Rate: 0.5, Step: 1}, train.MomentumOptions{Alpha: 0.5, Beta: 1})
	fmt.Println(x, v)
	// Output:
	// [0.6875] [0.625]
}

func ExampleAdagrad() {
	x, g, h := tensor.Full[float32](1, 1), tensor.Full[float32](3, 1), tensor.Full[float32](16, 1)
	x, h = train.Adagrad(x, g, h, train.Options{Rate: 0.5}, train.AdagradOptions{})
	fmt.Println(x, h)
	// Output:
	// [0.7] [25.]
}

func ExampleAdam() {
	x, g := tensor.Full[float32](1, 1), tensor.Full[float32](4, 1)
	v, h := tensor.New[float32](1), tensor.New[float32](1)
	x, v, h = train.Adam(x, g, v, h, train.Options{Rate: 0.5, Step: 1}, train.AdamOptions{Alpha: 0.5, Beta: 0.75})
	fmt.Println(x, v, h)
	// Output:
	// [0.5] [2.] [4.]
}
