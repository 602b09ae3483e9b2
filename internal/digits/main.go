// Digits writes the digits model of testdata from the weights that docs/digits/train.py has trained:
//
//	go run ./internal/digits weights.npz testdata/digits.onnx
//
// docs/digits/README.md describes the network and its training.
package main

import (
	"fmt"
	"os"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: digits weights.npz model.onnx")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "digits:", err)
		os.Exit(1)
	}
}

// write makes the model at path from the npz file of the weights.
func write(weights, path string) error {
	z, err := npy.OpenZip(weights, nil)
	if err != nil {
		return err
	}
	defer z.Close()
	m, err := build(z)
	if err != nil {
		return fmt.Errorf("%s: %w", weights, err)
	}
	b, err := onnx.Encode(m)
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o644)
}

// arrays are the names of the weights in the npz file, with the types and shapes that the nodes below need.
var arrays = []struct{ name, spec string }{
	{"conv1.weight", "float32[16,1,3,3]"}, {"conv1.bias", "float32[16]"},
	{"conv2.weight", "float32[32,16,3,3]"}, {"conv2.bias", "float32[32]"},
	{"dense1.weight", "float32[512,48]"}, {"dense1.bias", "float32[48]"},
	{"dense2.weight", "float32[48,10]"}, {"dense2.bias", "float32[10]"},
}

// build returns the model. Besides the weights z holds the number of test images and of those answered correctly.
func build(z *npy.Zip) (*onnx.Model, error) {
	b := onnx.NewBuilder("digits")
	for _, a := range arrays {
		w, err := z.Tensor(a.name)
		if err != nil {
			return nil, err
		}
		if got := tensor.Describe(w); got != a.spec {
			return nil, fmt.Errorf("%s is %s, the network wants %s", a.name, got, a.spec)
		}
		b.Weight(a.name, w)
	}
	correct, err := count(z, "correct")
	if err != nil {
		return nil, err
	}
	images, err := count(z, "images")
	if err != nil {
		return nil, err
	}

	x := b.Input("image", dtype.Float32, "N", 1, 8, 8)
	for _, layer := range []string{"conv1", "conv2"} {
		x = b.Node("Conv", []string{x, layer + ".weight", layer + ".bias"}, onnx.IntsAttr("kernel_shape", 3, 3), onnx.IntsAttr("pads", 1, 1, 1, 1))
		x = b.Node("Relu", []string{x})
	}
	x = b.Node("MaxPool", []string{x}, onnx.IntsAttr("kernel_shape", 2, 2), onnx.IntsAttr("strides", 2, 2))
	x = b.Node("Flatten", []string{x}, onnx.IntAttr("axis", 1))
	x = b.Node("Gemm", []string{x, "dense1.weight", "dense1.bias"})
	x = b.Node("Relu", []string{x})
	x = b.Node("Gemm", []string{x, "dense2.weight", "dense2.bias"})
	x = b.Node("Softmax", []string{x}, onnx.IntAttr("axis", 1))
	b.Output(x, dtype.Float32, "N", 10)
	m, err := b.Model(13)
	if err != nil {
		return nil, err
	}

	// The builder names values after their operators. Callers ask for the output by name.
	last := &m.Graph.Nodes[len(m.Graph.Nodes)-1]
	last.Outputs[0], m.Graph.Outputs[0].Name = "probability", "probability"
	m.Graph.Inputs[0].Doc = "grey pictures of 8x8 pixels, from 0 (paper) to 1 (ink)"
	m.Graph.Outputs[0].Doc = "how likely each of the digits 0 to 9 is; they sum to 1"
	m.Doc = "Recognises a handwritten digit in a picture of 8x8 pixels, white ink on black."
	m.Version = 1
	m.Metadata = []onnx.Entry{
		{Key: "accuracy", Value: accuracy(correct, images)},
		{Key: "training", Value: "docs/digits/train.py"},
		{Key: "data", Value: "E. Alpaydin, C. Kaynak: Optical Recognition of Handwritten Digits, UCI 1998, doi:10.24432/C50P49, CC BY 4.0"},
		{Key: "license", Value: "Apache-2.0"},
	}
	return m, nil
}

// accuracy is the model's accuracy as its metadata gives it.
func accuracy(correct, images int64) string {
	return fmt.Sprintf("%d of %d test images (%.2f %%)", correct, images, 100*float64(correct)/float64(images))
}

// count reads a single int64.
func count(z *npy.Zip, name string) (int64, error) {
	a, err := z.Tensor(name)
	if err != nil {
		return 0, err
	}
	n, ok := tensor.As[int64](a)
	if !ok || n.Len() != 1 {
		return 0, fmt.Errorf("%s is %s, not one int64", name, tensor.Describe(a))
	}
	return n.Reshape().Item(), nil
}
