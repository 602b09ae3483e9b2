package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestPages compares the pages and charts with the figures.
func TestPages(t *testing.T) {
	root := filepath.Join("..", "..")
	files, err := made(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s isn't what the figures make (%v): run go run ./tables in bench", name, err)
		}
	}
}

func TestMean(t *testing.T) {
	var m mean
	m.add(0.5)
	m.add(8)
	if m.String() != "2.00" {
		t.Errorf("the mean of 0.5 and 8 is %s, want 2.00", m)
	}
}
