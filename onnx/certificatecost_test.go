package onnx

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/receipt"
	"github.com/ashlar-go/ashlar/tensor"
)

// wordEncoder returns an encoder of words with the sizes of all-MiniLM-L6-v2, 22.7 million numbers, whose weights are made up.
func wordEncoder() (*Model, error) {
	const words, wide, inner, heads, layers = 30522, 384, 1536, 12, 6
	b := NewBuilder("encoder")
	seed := uint64(0)
	keep := func(a tensor.Any) string {
		seed++
		return b.Weight(fmt.Sprint("w", seed), a)
	}
	weight := func(shape ...int) string { return keep(tensor.RandomNormal(seed, 0, float32(0.05), shape...).Any()) }
	row := func(v float32) string { return keep(tensor.Full(v, wide).Any()) }
	list := func(v ...int64) string { return keep(tensor.FromSlice(v, len(v)).Any()) }
	linear := func(x string, in, out int) string {
		return b.Node("Add", []string{b.Node("MatMul", []string{x, weight(in, out)}), weight(out)})
	}
	norm := func(x string) string {
		return b.Node("LayerNormalization", []string{x, row(1), row(0)}, FloatAttr("epsilon", 1e-12))
	}
	ids := b.Input("ids", dtype.Int64, "batch", "length")
	x := norm(b.Node("Gather", []string{weight(words, wide), ids}))
	for range layers {
		head := func(perm ...int64) string {
			return b.Node("Transpose", []string{b.Node("Reshape", []string{linear(x, wide, wide), list(0, 0, heads, wide/heads)})}, IntsAttr("perm", perm...))
		}
		scores := b.Node("MatMul", []string{head(0, 2, 1, 3), head(0, 2, 3, 1)})
		scores = b.Node("Softmax", []string{b.Node("Mul", []string{scores, keep(tensor.Scalar(float32(0.17677669)).Any())})}, IntAttr("axis", -1))
		mixed := b.Node("Transpose", []string{b.Node("MatMul", []string{scores, head(0, 2, 1, 3)})}, IntsAttr("perm", 0, 2, 1, 3))
		mixed = b.Node("Reshape", []string{mixed, list(0, 0, wide)})
		x = norm(b.Node("Add", []string{linear(mixed, wide, wide), x}))
		x = norm(b.Node("Add", []string{linear(b.Node("Gelu", []string{linear(x, wide, inner)}), inner, wide), x}))
	}
	b.Output(b.Node("ReduceMean", []string{x, list(1)}, IntAttr("keepdims", 0)), dtype.Float32, "batch", wide)
	return b.Model(20)
}

// The time of a certificate at load: of an encoder as large as all-MiniLM-L6-v2, over 16 words and over 128.
func BenchmarkCertificate(b *testing.B) {
	ctx := context.Background()
	m, err := wordEncoder()
	if err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(b.TempDir(), "encoder.onnx")
	if data, err := Encode(m); err != nil || os.WriteFile(file, data, 0o600) != nil {
		b.Fatal("the model isn't written", err)
	}
	certify := func(b *testing.B, runs int64, kind string) *receipt.Certificate {
		s, err := NewSession(m)
		if err != nil {
			b.Fatal(err)
		}
		c, err := s.Certify(ctx, &receipt.Rule{Seed: 1, Runs: runs, Inputs: []receipt.Range{{Name: "ids", Type: kind, From: "0", To: "30522"}}})
		if err != nil {
			b.Fatal(err)
		}
		return c
	}
	for _, c := range []struct {
		name string
		made *receipt.Certificate
	}{{"none", nil}, {"1x16", certify(b, 1, "int64[1,16]")}, {"4x16", certify(b, 4, "int64[1,16]")}, {"4x128", certify(b, 4, "int64[1,128]")}} {
		b.Run(c.name, func(b *testing.B) {
			for range b.N {
				m, err := Open(file)
				if err != nil {
					b.Fatal(err)
				}
				s, err := NewSession(m)
				if err == nil && c.made != nil {
					err = s.CheckCertificate(ctx, c.made)
				}
				if err != nil {
					b.Fatal(err)
				}
				m.Close()
			}
		})
	}
}
