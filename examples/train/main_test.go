package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The README has the output, and the models have the same bytes on every machine.
func TestTrain(t *testing.T) {
	var out bytes.Buffer
	dir := t.TempDir()
	if err := run(&out, "../../testdata", dir, 60); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), out.String()) {
		t.Errorf("README.md hasn't the output:\n%s", &out)
	}
	for name, want := range map[string]string{
		"digits-float32.onnx": "329e964f1bca92f4fcb503949a530383a70ebdb53e57342a76800628d985deee",
		"digits-int8.onnx":    "c65771fec4a4982da7b5320469e7e234ace3c3d7aed06cd781a7575a1504f75f",
	} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(b)); got != want {
			t.Errorf("%s has the digest %s, want %s", name, got, want)
		}
	}
}

// A folder without pictures, and one that takes no files, are errors that name a path.
func TestTrainPaths(t *testing.T) {
	for _, c := range []struct{ data, folder, want string }{
		{"nowhere", t.TempDir(), filepath.Join("nowhere", "digits-test.npy")},
		{"../../testdata", filepath.Join(t.TempDir(), "missing"), "missing"},
	} {
		if err := run(new(bytes.Buffer), c.data, c.folder, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c, err)
		}
	}
}
