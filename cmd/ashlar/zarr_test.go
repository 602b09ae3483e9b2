package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is converted to Zarr and back is the same, as a folder and as a zip file.
func TestZarr(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	ashlar := func(want int, args ...string) string {
		t.Helper()
		c := newCall(nil).with(args...)
		if c.code != want {
			t.Fatalf("%v: exit code %d\n%s%s", args, c.code, c.out.String(), c.err.String())
		}
		return c.out.String() + c.err.String()
	}
	const digits, model = "../../testdata/digits-test.npy", "../../testdata/digits.onnx"
	ashlar(0, "convert", digits, at("x.zarr"))
	ashlar(0, "convert", digits, at("c.zarr.zip"), "--chunks", "100,8,3")
	if out := ashlar(0, "info", at("c.zarr.zip")); !strings.Contains(out, "chunks [100,8,3]") {
		t.Error(out)
	}
	ashlar(0, "diff", digits, at("c.zarr.zip"))
	ashlar(1, "convert", digits, at("d.zarr"), "--chunks", "100,8")
	ashlar(2, "convert", digits, at("d.npy"), "--chunks", "100,8,8")
	ashlar(0, "convert", at("x.zarr"), at("x.zarr.zip"))
	ashlar(0, "convert", at("x.zarr.zip"), at("y.npy"))
	ashlar(0, "diff", digits, at("y.npy"))
	ashlar(0, "convert", model, at("w.zarr"))
	ashlar(0, "diff", at("w.zarr"), model)
	ashlar(0, "convert", at("w.zarr"), at("b.npy"), "--name", "conv1.bias")
	ashlar(0, "diff", at("b.npy"), model+"#conv1.bias")
	if out := ashlar(0, "info", at("x.zarr")); !strings.Contains(out, "uint8[540,8,8], chunks [540,8,8], zstd, version 3") {
		t.Error(out)
	}
	if out := ashlar(0, "show", at("x.zarr"), "--slice", "0, ::4, ::4"); !strings.Contains(out, "uint8[2,2]") {
		t.Error(out)
	}
	if out := ashlar(1, "convert", digits, at("x.zarr")); !strings.Contains(out, "never replaced") {
		t.Error(out)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 6 {
		t.Errorf("%v %v", list, err)
	}
}
