// Command train trains a small network on the digits of testdata, and writes it as two ONNX models: of float32, and of integers.
//
//	go run ./examples/train [-epochs 60] FOLDER
//
// Two thirds of the 540 pictures are for training, the others for the test. The command prints the number of test pictures that each model
// gets right, and the sizes of the files.
// The models have the same bytes on every machine.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

const (
	pixels, hidden, classes = 64, 48, 10

	batch    = 36
	rate     = float32(0.05)
	momentum = float32(0.9)
)

type matrix = tensor.Tensor[float32]

func main() {
	epochs := flag.Int("epochs", 60, "how often the network sees each picture")
	data := flag.String("data", "testdata", "the `folder` of digits-test.npy and digits-test-labels.npy")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: train [-epochs N] [-data FOLDER] FOLDER")
		os.Exit(2)
	}
	if err := run(os.Stdout, *data, flag.Arg(0), *epochs); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, data, folder string, epochs int) error {
	x, labels, err := read(data)
	if err != nil {
		return err
	}
	n := x.Dim(0) * 2 / 3
	teach, test := x.Slice(tensor.R(0, n)), x.Slice(tensor.R(n, x.Dim(0)))
	var net network
	if err := tensor.Try(func() { net = learn(teach, labels[:n], epochs) }); err != nil {
		return err
	}
	for _, kind := range []struct {
		name  string
		build func(b *onnx.Builder, x string, net network) string
	}{{"float32", floats}, {"int8", integers}} {
		b := onnx.NewBuilder("digits")
		y := kind.build(b, b.Input("pixels", dtype.Float32, "batch", pixels), net)
		b.Output(b.Rename(b.Node("Softmax", []string{y}), "classes"), dtype.Float32, "batch", classes)
		m, err := b.Model(13)
		if err != nil {
			return err
		}
		file, err := onnx.Encode(m)
		if err != nil {
			return err
		}
		path := filepath.Join(folder, "digits-"+kind.name+".onnx")
		if err := os.WriteFile(path, file, 0o644); err != nil {
			return err
		}
		right, err := score(m, test, labels[n:])
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-8s %d of %d right, %d bytes\n", kind.name, right, test.Dim(0), len(file))
	}
	return nil
}

// read returns the pictures as rows of numbers in [0, 1], and their digits.
func read(folder string) (x matrix, labels []uint8, err error) {
	a, err := npy.Open(filepath.Join(folder, "digits-test.npy"), nil)
	if err != nil {
		return x, nil, err
	}
	b, err := npy.Open(filepath.Join(folder, "digits-test-labels.npy"), nil)
	if err != nil {
		return x, nil, err
	}
	pictures, ok := tensor.As[uint8](a)
	digits, fine := tensor.As[uint8](b)
	if !ok || !fine || pictures.Rank() != 3 || digits.Rank() != 1 || digits.Len() != pictures.Dim(0) {
		return x, nil, fmt.Errorf("%s has %s and %s; want uint8 pictures, and a uint8 digit for each", folder, tensor.Describe(a), tensor.Describe(b))
	}
	x = op.Cast[float32](pictures).Reshape(pictures.Dim(0), pixels)
	return op.Div(x, x.Scalar(255)), digits.Elems(), nil
}

// A network is two layers: relu(x·w1 + b1)·w2 + b2.
type network struct{ w1, b1, w2, b2 matrix }

// learn descends along the gradient of the cross-entropy, with momentum.
func learn(x matrix, labels []uint8, epochs int) network {
	net := network{
		tensor.RandomNormal[float32](1, 0, 0.15, pixels, hidden), tensor.New[float32](hidden),
		tensor.RandomNormal[float32](2, 0, 0.15, hidden, classes), tensor.New[float32](classes),
	}
	weights := []*matrix{&net.w1, &net.b1, &net.w2, &net.b2}
	speed := make([]matrix, len(weights))
	for i, w := range weights {
		speed[i] = tensor.New[float32](w.Shape()...)
	}
	n := x.Dim(0)
	for epoch := range epochs {
		order := tensor.RandomPermutation(uint64(epoch), n).Elems()
		for first := 0; first < n; first += batch {
			some := order[first:min(first+batch, n)]
			rows := make([]int, len(some))
			want := tensor.New[float32](len(some), classes)
			for i, at := range some {
				rows[i] = int(at)
				want.Set(1, i, int(labels[at]))
			}
			for i, g := range net.gradients(tensor.Take(x, 0, rows...), want) {
				speed[i] = op.Sub(op.Mul(speed[i], tensor.Scalar(momentum)), op.Mul(g, tensor.Scalar(rate)))
				*weights[i] = op.Add(*weights[i], speed[i])
			}
		}
	}
	return net
}

// gradients returns the gradients of w1, b1, w2 and b2.
func (net *network) gradients(x, want matrix) [4]matrix {
	sums := op.Add(op.MatMul(x, net.w1), net.b1)
	h := op.Relu(sums)
	y := op.Softmax(op.Add(op.MatMul(h, net.w2), net.b2), 1)
	dy := op.Div(op.Sub(y, want), tensor.Scalar(float32(x.Dim(0))))
	dh := op.Where(op.Greater(sums, sums.Scalar(0)), op.MatMul(dy, net.w2.Transpose()), dy.Scalar(0))
	return [4]matrix{op.MatMul(x.Transpose(), dh), op.ReduceSum(dh, []int{0}), op.MatMul(h.Transpose(), dy), op.ReduceSum(dy, []int{0})}
}

// floats builds the network as it is.
func floats(b *onnx.Builder, x string, net network) string {
	h := b.Node("Relu", []string{b.Node("Gemm", []string{x, b.Weight("w1", net.w1.Any()), b.Weight("b1", net.b1.Any())})})
	return b.Node("Gemm", []string{h, b.Weight("w2", net.w2.Any()), b.Weight("b2", net.b2.Any())})
}

// integers builds it with weights of int8. Rows of numbers become uint8 when the model runs.
func integers(b *onnx.Builder, x string, net network) string {
	h := b.Node("Relu", []string{layer(b, x, "w1", net.w1, net.b1)})
	return layer(b, h, "w2", net.w2, net.b2)
}

// layer builds x·w + bias with products of integers. Each column of w has a scale.
func layer(b *onnx.Builder, x, name string, w, bias matrix) string {
	scale := op.Div(op.ReduceMax(op.Abs(w), []int{0}), w.Scalar(127))
	small := op.Cast[int8](op.Round(op.Div(w, scale)))
	quantized := b.Nodes("DynamicQuantizeLinear", 3, []string{x}) // numbers, scale, zero point
	sums := b.Node("MatMulInteger", []string{quantized[0], b.Weight(name, small.Any()), quantized[2]})
	steps := b.Node("Mul", []string{quantized[1], b.Weight(name+".scale", scale.Any())})
	y := b.Node("Mul", []string{b.Node("Cast", []string{sums}, onnx.IntAttr("to", 1)), steps})
	return b.Node("Add", []string{y, b.Weight(name+".bias", bias.Any())})
}

// score returns the number of rows for which the model's largest number is at the label.
func score(m *onnx.Model, x matrix, labels []uint8) (right int, err error) {
	s, err := onnx.NewSession(m)
	if err != nil {
		return 0, err
	}
	out, err := s.Run(context.Background(), map[string]tensor.Any{"pixels": x.Any()}, nil)
	if err != nil {
		return 0, err
	}
	y, _ := tensor.As[float32](out["classes"])
	for i, label := range labels {
		best := 0
		for k := range classes {
			if y.At(i, k) > y.At(i, best) {
				best = k
			}
		}
		if best == int(label) {
			right++
		}
	}
	return right, nil
}
