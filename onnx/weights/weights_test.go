package weights_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/tensor"

	_ "github.com/ashlar-go/ashlar/onnx/weights"
)

func Example() {
	f, err := format.Open("../../testdata/digits.onnx")
	if err != nil {
		panic(err)
	}
	defer f.Close()
	name := f.Names()[0]
	i, err := f.Info(name)
	if err != nil {
		panic(err)
	}
	part, err := f.Tensor(name, tensor.I(0))
	if err != nil {
		panic(err)
	}
	fmt.Println(f.About(), len(f.Names()), name, i, part.Shape())
	// Output: ONNX 8 conv1.weight float32[16,1,3,3] [1 3 3]
}
