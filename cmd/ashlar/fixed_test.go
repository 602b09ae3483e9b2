package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/internal/classes"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A model in fixed point says the same class, and diff says how far its scores are from the scores in float32.
func TestRunFixed(t *testing.T) {
	inRoot(t)
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name+".npy") }
	run := func(args ...string) *call {
		t.Helper()
		c := newCall(nil).with(args...)
		if c.code != 0 {
			t.Fatalf("%v: exit %d: %s", args, c.code, c.err.String())
		}
		return c
	}
	run("run", "testdata/digits.onnx", "testdata/seven.png", "-o", "probability="+file("float"))
	for _, format := range []string{"FP8x23", "FP16x16"} {
		if c := run("run", "--fixed", format, "testdata/digits.onnx", "testdata/seven.png"); !strings.Contains(c.out.String(), "seven") {
			t.Errorf("%s: %s", format, c.out.String())
		}
		run("run", "--fixed", format, "testdata/digits.onnx", "testdata/seven.png", "-o", "probability="+file(format))
		a, err := npy.Open(file(format), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := tensor.Describe(a); got != strings.ToLower(format)+"[1,10]" {
			t.Errorf("%s: the output is %s", format, got)
		}
		run("diff", "--atol", "1e-3", file("float"), file(format))
		if c := newCall(nil).with("diff", file("float"), file(format)); c.code != 1 || !strings.Contains(c.out.String(), "elements differ") {
			t.Errorf("%s: exit %d: %s%s", format, c.code, c.out.String(), c.err.String())
		}
	}
	for format, shown := range map[string]string{"float16": "float16", "": `""`} {
		if c := newCall(nil).with("run", "--fixed", format, "testdata/digits.onnx", "testdata/seven.png"); c.code != 2 ||
			!strings.Contains(c.err.String(), "--fixed "+shown+": want FP8x23, FP16x16, FP32x32 or FP64x64") {
			t.Errorf("%q: exit %d: %s", format, c.code, c.err.String())
		}
	}
}

// Each of 540 digits gets the same class as in float32.
func TestFixedDigits(t *testing.T) {
	inRoot(t)
	pixels, err := npy.Open("testdata/digits-test.npy", nil)
	if err != nil {
		t.Fatal(err)
	}
	x := op.Mul(op.Cast[float32](held[uint8](t, pixels)), tensor.Scalar[float32](1.0/255)).Reshape(-1, 1, 8, 8)
	m, err := onnx.Open("testdata/digits.onnx")
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	classes := func(s *onnx.Session, err error) tensor.Tensor[int64] {
		t.Helper()
		var out map[string]tensor.Any
		if err == nil {
			out, err = s.Run(t.Context(), map[string]tensor.Any{"image": x.Any()}, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		scores, _ := classes.Floats(out["probability"])
		return op.ArgMax(tensor.FromSlice(scores, x.Dim(0), 10), 1, op.ArgOptions{})
	}
	want := classes(onnx.NewSession(m))
	for _, d := range []dtype.DType{dtype.FP8x23, dtype.FP16x16, dtype.FP32x32} {
		if got := classes(onnx.NewFixedSession(m, d)); op.ReduceSum(op.Cast[int64](op.NotEqual(got, want)), nil).Item() != 0 {
			t.Errorf("%v: other classes than in float32", d)
		}
	}
}

// Fixed point goes through every format of files that holds numbers and comes back as it was.
func TestConvertFixed(t *testing.T) {
	inRoot(t)
	dir := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		c := newCall(nil).with(args...)
		if c.code != 0 {
			t.Fatalf("%v: exit %d: %s", args, c.code, c.err.String())
		}
		return c.out.String()
	}
	for _, d := range []string{"fp8x23", "fp16x16", "fp32x32", "fp64x64"} {
		at := func(ext string) string { return filepath.Join(dir, d+"."+ext) }
		run("convert", "testdata/digits-test.npy", at("npy"), "--dtype", d, "--slice", "0")
		run("convert", at("npy"), at("npz"), "--name", "x")
		run("convert", at("npz"), at("safetensors"))
		run("convert", at("safetensors"), at("csv"))
		run("convert", at("csv"), at("bin"), "--dtype", d)
		run("convert", at("bin"), at("tsv"), "--dtype", d, "--shape", "8,8")
		for _, ext := range []string{"npz", "safetensors"} {
			run("diff", at("npy"), at(ext)+"#x")
		}
		run("convert", at("tsv"), at("again.npy"), "--dtype", d)
		run("diff", at("npy"), at("again.npy"))
		if got := run("info", at("safetensors")); !strings.Contains(got, d+"[8,8]") && !strings.Contains(got, d+" [8,8]") {
			t.Error(got)
		}
		run("show", at("safetensors"))
	}
	c := newCall(nil).with("convert", "testdata/digits.onnx", filepath.Join(dir, "no.bin"), "--name", "none", "--dtype", "fp8x23")
	if c.code == 0 {
		t.Error("there is no weight of that name")
	}
}
