package main

import (
	"archive/tar"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// The inputs are the inputs of record.mjs, which printed these numbers.
func TestPackageInputs(t *testing.T) {
	for _, tc := range []struct {
		in   packageInput
		want []float32
	}{
		{packageInput{Type: "float32", Shape: []int{3}, Fill: "noise", Low: -1, High: 1, Seed: 2}, []float32{-0.5255387425422668, 0.10135640949010849, 0.7473171353340149}},
		{packageInput{Type: "float32", Shape: []int{4}, Fill: "wave", Low: 0, High: 1, Period: 4}, []float32{1, 0.5, 0, 0.5}},
		{packageInput{Type: "float32", Shape: []int{2}}, []float32{0, 0}},
		{packageInput{Type: "float32", Shape: []int{1, 2}, Values: []any{1.5, -2.0}}, []float32{1.5, -2}},
	} {
		v, err := tc.in.value(1)
		if err != nil {
			t.Fatal(err)
		}
		if tc.in.Fill == "wave" {
			v, err = tc.in.value(0)
		}
		if got := slices.Collect(tensor.ValuesOf[float32](v.Tensor())); err != nil || !slices.Equal(got, tc.want) {
			t.Errorf("%+v: %v, %v; want %v", tc.in, got, err, tc.want)
		}
	}
	for _, in := range []packageInput{{Type: "float32", Shape: []int{2}, Values: []any{1.0}}, {Type: "float7"}, {Type: "float32", Fill: "odd"}} {
		if v, err := in.value(0); err == nil {
			t.Errorf("%+v gives %v", in, v)
		}
	}
}

func TestPackageRecords(t *testing.T) {
	got := onnx.TensorValue(tensor.FromSlice([]float32{1, 2, 3, 4}, 4).Any())
	for _, tc := range []struct {
		want packageRecord
		says string
	}{
		{packageRecord{"float32", []int{4}, 0, []any{1.0, 2.0, 3.0, 4.0}}, ""},
		{packageRecord{"float32", []int{4}, 3, []any{1.0, 4.0}}, ""},
		{packageRecord{"float32", []int{4}, 3, []any{1.0, 5.0}}, "element 3 is 4, want 5"},
		{packageRecord{"float32", []int{4}, 3, []any{1.0}}, "1 elements are recorded, not 2"},
		{packageRecord{"float32", []int{2, 2}, 0, nil}, "got float32[4], want float32[2 2]"},
		{packageRecord{"int64", []int{4}, 0, nil}, "want int64"},
	} {
		if _, err := tc.want.compare(got, tolerance{}); tc.says == "" && err != nil || tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)) {
			t.Errorf("%+v: %v, want %q", tc.want, err, tc.says)
		}
	}
}

// An archive writes models, and these in its own folder alone.
func TestUnpack(t *testing.T) {
	pack := func(names ...string) string {
		archive := filepath.Join(t.TempDir(), "a.tgz")
		f, err := os.Create(archive)
		if err != nil {
			t.Fatal(err)
		}
		z := gzip.NewWriter(f)
		w := tar.NewWriter(z)
		for _, name := range names {
			if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o666, Size: 2}); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write([]byte("ab")); err != nil {
				t.Fatal(err)
			}
		}
		if w.Close() != nil || z.Close() != nil || f.Close() != nil {
			t.Fatal("the archive can't be written")
		}
		return archive
	}
	out := filepath.Join(t.TempDir(), "out")
	if err := unpack(pack("package/a/b.onnx", "package/c.txt"), out); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(out, "a", "b.onnx")); err != nil || string(b) != "ab" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(out, "c.txt")); err == nil {
		t.Error("it wrote what is no model")
	}
	if err := unpack(pack("package/../../x.onnx"), filepath.Join(t.TempDir(), "out")); err == nil {
		t.Error("it left its folder")
	}
}
