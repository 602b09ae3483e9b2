package onnx_test

import (
	"context"
	"fmt"
	"log"
	"path/filepath"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// The last layers of a network become a model of their own.
func ExampleExtract() {
	m, err := onnx.Open(filepath.FromSlash("../testdata/digits.onnx"))
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	part, err := onnx.Extract(m, []string{"gemm2"}, []string{"probability"})
	if err != nil {
		log.Fatal(err)
	}
	s, err := onnx.NewSession(part)
	if err != nil {
		log.Fatal(err)
	}
	scores := tensor.New[float32](1, 10)
	scores.Set(20, 0, 3)
	out, err := s.Run(context.Background(), map[string]tensor.Any{"gemm2": scores.Any()}, nil)
	if err != nil {
		log.Fatal(err)
	}
	p, _ := tensor.As[float32](out["probability"])
	fmt.Printf("%d of %d nodes; class 3 has probability %.4f\n", len(part.Graph.Nodes), len(m.Graph.Nodes), p.At(0, 3))
	_, err = onnx.Extract(m, []string{"conv9"}, nil)
	fmt.Println(err)
	// Output:
	// 1 of 10 nodes; class 3 has probability 1.0000
	// onnx: ../testdata/digits.onnx: graph "digits": value: input "conv9": there is no value of this name
}

// The cost of a network with a batch of 8 pictures, counted from its shapes.
func ExampleModel_Cost() {
	m, err := onnx.Open(filepath.FromSlash("../testdata/digits.onnx"))
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	batch, err := tensor.NewSpec(dtype.Float32, 8, 1, 8, 8)
	if err != nil {
		log.Fatal(err)
	}
	c, err := m.Cost(map[string]tensor.Any{"image": batch.Any()})
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range c.Nodes[:3] {
		fmt.Printf("%s: %d FLOPs for %v.\n", n.Node.Op, n.FLOPs, n.Types)
	}
	fmt.Printf("%d FLOPs in all, exact: %v.\n", c.FLOPs, c.Exact)
	// Output:
	// Conv: 155648 FLOPs for [float32[8,16,8,8]].
	// Relu: 8192 FLOPs for [float32[8,16,8,8]].
	// Conv: 4734976 FLOPs for [float32[8,32,8,8]].
	// 5333728 FLOPs in all, exact: true.
}
