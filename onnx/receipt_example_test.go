package onnx_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/op"
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
	if _, err := s.Run(context.Background(), inputs, &onnx.Options{Receipt: &r, ReceiptNodes: true}); err != nil {
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
	d, err := onnx.Verify(context.Background(), m, got, given, nil)
	fmt.Println(d, err)
	got.Nodes[0].Results[0].Digest[0]++ // someone claims another result
	d, err = onnx.Verify(context.Background(), m, got, given, nil)
	fmt.Println(d.What, d.Value.Tensor(), err)
	// Output:
	// <nil> <nil>
	// node 0 "matmul1" (MatMul, opset 13): result "y" [[  3. 320.]] <nil>
}

// A program that draws tokens puts them into the receipt of the last run. Whoever checks it draws again.
func ExampleSampled() {
	b := onnx.NewBuilder("next token")
	token := b.Input("token", dtype.Int64, 1)
	table := b.Weight("table", tensor.FromSlice([]float32{0, 2, 1, 1, 0, 2, 2, 1, 0}, 3, 3).Any())
	b.Output(b.Rename(b.Node("Gather", []string{table, token}), "logits"), dtype.Float32, 1, 3)
	m, err := b.Model(18)
	if err != nil {
		log.Fatal(err)
	}
	s, err := onnx.NewSession(m)
	if err != nil {
		log.Fatal(err)
	}
	draw := func(seed uint64) (r receipt.Receipt) {
		tokens := []int64{0}
		for i := range uint64(6) {
			last := tensor.FromSlice(tokens[len(tokens)-1:], 1).Any()
			out, err := s.Run(context.Background(), map[string]tensor.Any{"token": last}, &onnx.Options{Receipt: &r})
			if err != nil {
				log.Fatal(err)
			}
			logits, _ := tensor.As[float32](out["logits"])
			tokens = append(tokens, op.Multinomial[int64](logits, 1, seed+i).At(0, 0))
		}
		r.Sampling = onnx.Sampled(fmt.Sprintf("multinomial, temperature 1, seeds from %d", seed), tokens...)
		return r
	}
	theirs, ours := draw(7), draw(7)
	fmt.Println(receipt.Compare(&theirs, &ours))
	theirs.Sampling = onnx.Sampled("multinomial, temperature 1, seeds from 7", 0, 1, 2) // others than were drawn
	d, err := receipt.Compare(&theirs, &ours)
	fmt.Println(d.What, err)
	// Output:
	// <nil> <nil>
	// the digest of the tokens <nil>
}

// A program has the certificate of its model, and checks the machine before it answers anyone.
func ExampleSession_CheckCertificate() {
	model := func(factor float32) *onnx.Model {
		b := onnx.NewBuilder("scaled")
		x := b.Input("x", dtype.Float32, 2, 3)
		b.Output(b.Node("Mul", []string{x, b.Weight("factor", tensor.Scalar(factor).Any())}), dtype.Float32, 2, 3)
		m, err := b.Model(18)
		if err != nil {
			log.Fatal(err)
		}
		return m
	}
	ctx := context.Background()
	s, err := onnx.NewSession(model(2))
	if err != nil {
		log.Fatal(err)
	}
	rule := &receipt.Rule{Seed: 1, Runs: 4, Inputs: []receipt.Range{{Name: "x", Type: "float32[2,3]", From: "-1", To: "1"}}}
	certificate, err := s.Certify(ctx, rule)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.CheckCertificate(ctx, certificate))
	other, err := onnx.NewSession(model(2.5))
	if err != nil {
		log.Fatal(err)
	}
	var differs *onnx.CertificateError
	fmt.Println(errors.As(other.CheckCertificate(ctx, certificate), &differs), differs.What)
	// Output:
	// <nil>
	// true weight "factor"
}
