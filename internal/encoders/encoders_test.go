package encoders

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the encoders of the examples anew")

// Examples are the folders in the tree.
var examples = map[string]Kind{
	"../../examples/embeddings/encoder": {Family: "bert", Hidden: 16, Layers: 1, Length: 32},
	"../../examples/names/labels": {Labels: []string{"O", "B-PER", "I-PER", "B-LOC", "I-LOC"}, Table: map[string]int{
		"anna": 1, "marie": 2, "peter": 1, "smith": 2, "weber": 2, "berlin": 3, "paris": 3, "london": 3, "street": 4, "road": 4, "bridge": 3}},
}

// TestExamples compares the folders in the tree with their program.
func TestExamples(t *testing.T) {
	for folder, k := range examples {
		if *update {
			if err := Write(folder, k); err != nil {
				t.Fatal(err)
			}
		}
		files, err := Files(k)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range files {
			got, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(name)))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s/%s isn't as the program writes it: go test ./internal/encoders -args -update (%v)", folder, name, err)
			}
		}
	}
}
