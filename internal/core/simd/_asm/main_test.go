package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestCheckedIn wants the files of internal/core/simd to be what go run . writes.
func TestCheckedIn(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join("..", name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s isn't what the generator writes (%v): run go run . in internal/core/simd/_asm", name, err)
		}
	}
}
