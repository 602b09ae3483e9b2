package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInfoPicture(t *testing.T) {
	file := filepath.Join(t.TempDir(), "digits.svg")
	c := newCall(nil).with("info", "../../testdata/digits.onnx", "--svg", file)
	b, err := os.ReadFile(file)
	if c.code != 0 || err != nil || !strings.Contains(string(b), ">MaxPool<") || !strings.Contains(c.out.String(), "10 nodes") {
		t.Errorf("exit %d, %v: %s%s", c.code, err, c.out.String(), c.err.String())
	}
	if c = newCall(nil).with("info", "../../testdata/digits.onnx", "--svg", "-"); c.code != 0 || c.out.String() != string(b) {
		t.Errorf("exit %d: %s", c.code, c.err.String())
	}
	for _, args := range [][]string{{"info", "../../testdata/digits.onnx", "../../testdata/digits.onnx", "--svg", file}, {"info", "graph_test.go", "--svg", file}} {
		if c := newCall(nil).with(args...); c.code == 0 || c.err.Len() == 0 {
			t.Errorf("%v: exit %d", args, c.code)
		}
	}
}
