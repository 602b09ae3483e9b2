package onnx_test

import (
	"context"
	"fmt"
	"log"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/receipt"
	"github.com/ashlar-go/ashlar/tensor"
)

// A receipt of a run, and a check of it by someone who has the model and the inputs.
func ExampleVerify() {
	b := onnx.NewBuilder("sums")
	x := b.Input("x", dtype.Float32, "batch", 3)
	w := b.Weight("w", tensor.FromSlice([]float32{1, 0, 1, 10, 0, 100}, 3, 2).Any())
	b.Output(b.Rename(b.Node("MatMul", []string{x, w}), "y"), dtype.Float32, "batch", 2)
	m, err := b.Model(13)
	if err != nil {
		log.Fatal(err)
	}
	s, err := onnx.NewSession(m)
	if err != nil {
		log.Fatal(err)
	}
	inputs := map[string]tensor.Any{"x": tensor.FromSlice([]float32{1, 2, 3}, 1, 3).Any()}
	var r receipt.Receipt
	if _, err := s.Run(context.Background(), inputs, onnx.Options{Receipt: &r, ReceiptNodes: true}); err != nil {
		log.Fatal(err)
	}
	file, err := r.Encode()
	if err != nil {
		log.Fatal(err)
	}

	got, err := receipt.Parse(file) // on another machine
	if err != nil {
		log.Fatal(err)
	}
	given := map[string]onnx.Value{"x": onnx.TensorValue(inputs["x"])}
	d, err := onnx.Verify(context.Background(), m, got, given, onnx.Options{})
	fmt.Println(d, err)
	got.Nodes[0].Results[0].Digest[0]++ // someone claims another result
	d, err = onnx.Verify(context.Background(), m, got, given, onnx.Options{})
	fmt.Println(d.What, d.Value.Tensor(), err)
	// Output:
	// <nil> <nil>
	// node 0 "matmul1" (MatMul, opset 13): result "y" [[  3. 320.]] <nil>
}
