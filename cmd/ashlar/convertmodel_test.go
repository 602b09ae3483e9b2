package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/onnx/weights"
	"github.com/ashlar-go/ashlar/tensor"
)

// A model with weights in another file is written with a file of its own, also when it takes the place of the one it came from.
func TestConvertModelWithFiles(t *testing.T) {
	inRoot(t)
	m, err := onnx.Open("testdata/digits.onnx")
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	dir := t.TempDir()
	file := filepath.Join(dir, "digits.onnx")
	if err := m.WriteExternal(file, 100); err != nil {
		t.Fatal(err)
	}
	part, weights := filepath.Join(dir, "part.onnx"), filepath.Join(dir, "w.npz")
	for _, args := range [][]string{{"convert", file, part, "--outputs", "gemm1"}, {"convert", file, weights}, {"convert", weights, file, "--into", file}} {
		if c := newCall(nil).with(args...); c.code != 0 {
			t.Fatalf("%v: exit %d: %s", args, c.code, c.err.String())
		}
	}
	var names []string
	list, err := os.ReadDir(dir)
	for _, e := range list {
		names = append(names, e.Name())
	}
	if want := []string{"digits.onnx", "digits.onnx.data", "part.onnx", "part.onnx.data", "w.npz"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%v, %v, want %v", names, err, want)
	}
	if c := newCall(nil).with("diff", file, "testdata/digits.onnx", "-i", "testdata/seven.png"); c.code != 0 || c.out.String() != "7 tensors, the same\n" {
		t.Errorf("exit %d: %s%s", c.code, c.out.String(), c.err.String())
	}
	c := newCall(nil).with("diff", part, "testdata/digits.onnx", "-i", "testdata/seven.png")
	if c.code != 1 || !strings.Contains(c.out.String(), "gemm1: only in "+part) || !strings.Contains(c.out.String(), "probability: only in testdata") {
		t.Errorf("exit %d: %s%s", c.code, c.out.String(), c.err.String())
	}
	if c := newCall(nil).with("convert", file, "-", "--outputs", "gemm1"); c.code != 1 || !strings.Contains(c.err.String(), "which standard output has no place for") {
		t.Errorf("exit %d: %s", c.code, c.err.String())
	}
	if err := os.Chmod(part, 0o444); err != nil {
		t.Fatal(err)
	}
	if c := newCall(nil).with("convert", file, part, "--outputs", "gemm1"); c.code != 1 || !strings.Contains(c.err.String(), "--force replaces it") {
		t.Errorf("exit %d: %s", c.code, c.err.String())
	}
}

// Weights of graphs inside nodes are among a model's, each under a name of its own.
func TestWeightsInside(t *testing.T) {
	b := onnx.NewBuilder("branches")
	x := b.Input("x", dtype.Float32, 2)
	yes := b.Input("yes", dtype.Bool)
	var bodies []*onnx.Builder
	for i, name := range []string{"then", "else"} {
		body := b.Body(name)
		w := body.Weight("w", tensor.FromSlice([]float32{float32(i), 1}, 2).Any())
		body.Output(body.Node("Add", []string{x, w}), dtype.Float32, 2)
		bodies = append(bodies, body)
	}
	b.Output(b.Node("If", []string{yes}, onnx.GraphAttr("then_branch", bodies[0]), onnx.GraphAttr("else_branch", bodies[1])), dtype.Float32, 2)
	m, err := b.Model(16)
	if err != nil {
		t.Fatal(err)
	}
	w := weights.Of(m)
	if !slices.Equal(w.Names(), []string{"w", "w.2"}) {
		t.Errorf("names %v", w.Names())
	}
	file, err := onnx.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	model, weights, other := filepath.Join(dir, "m.onnx"), filepath.Join(dir, "w.safetensors"), filepath.Join(dir, "n.onnx")
	if err := os.WriteFile(model, file, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"convert", model, weights}, {"convert", weights, other, "--into", model}} {
		if c := newCall(nil).with(args...); c.code != 0 {
			t.Fatalf("%v: exit %d: %s", args, c.code, c.err.String())
		}
	}
	if c := newCall(nil).with("diff", model, other); c.code != 0 || c.out.String() != "2 tensors, the same\n" {
		t.Errorf("exit %d: %s%s", c.code, c.out.String(), c.err.String())
	}
}
