package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The README has the output, and each layout gets a picture.
func TestLayouts(t *testing.T) {
	var out bytes.Buffer
	dir := t.TempDir()
	if err := run(&out, 32, 32, 4, dir); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), out.String()) {
		t.Errorf("README.md hasn't the output:\n%s", &out)
	}
	for _, name := range []string{"row-major", "column-major", "padded", "swizzled"} {
		b, err := os.ReadFile(filepath.Join(dir, name+".svg"))
		if err != nil || !strings.Contains(string(b), "</svg>") {
			t.Errorf("the picture of %s: %v, %d bytes", name, err, len(b))
		}
	}
}

// A tile for which no swizzle does is reported, a size without meaning is an error.
func TestLayoutsWithout(t *testing.T) {
	var out bytes.Buffer
	if err := run(&out, 5, 7, 4, ""); err != nil || !strings.Contains(out.String(), "none of the 45 swizzles") {
		t.Errorf("%v\n%s", err, &out)
	}
	for _, c := range [][3]int{{-1, 4, 4}, {4, 4, 0}, {1 << 20, 1 << 20, 4}} {
		if err := run(new(bytes.Buffer), c[0], c[1], c[2], ""); err == nil {
			t.Errorf("%v: no error", c)
		}
	}
	if err := run(new(bytes.Buffer), 4, 4, 4, filepath.Join(t.TempDir(), "missing")); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Error(err)
	}
}
