package quantize_test

import (
	"context"
	"fmt"
	"log"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/onnx/quantize"
	"github.com/ashlar-go/ashlar/tensor"
)

func Example() {
	b := onnx.NewBuilder("product")
	w := tensor.FromSlice([]float32{1, -2, 0.5, 0.25}, 2, 2)
	b.Output(b.Rename(b.Node("MatMul", []string{b.Input("x", dtype.Float32, "n", 2), b.Weight("w", w.Any())}), "y"), dtype.Float32, "n", 2)
	m, err := b.Model(13)
	if err != nil {
		log.Fatal(err)
	}
	samples := func(f func(string, map[string]onnx.Value) error) error {
		for _, v := range [][]float32{{-1, 2}, {1, 1}, {0.5, -1}} { // numbers as the model will see them
			if err := f(fmt.Sprint(v), map[string]onnx.Value{"x": onnx.TensorValue(tensor.FromSlice(v, 1, 2).Any())}); err != nil {
				return err
			}
		}
		return nil
	}
	ctx := context.Background()
	q, r, err := quantize.Static(ctx, m, samples, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Quantized, "of", r.Products, "products")
	list, err := quantize.Compare(ctx, m, q, samples, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: at most %.3f away, relative %.4f\n", list[0].Name, list[0].Largest, list[0].Error)
	// Output:
	// 1 of 1 products
	// y: at most 0.017 away, relative 0.0065
}
