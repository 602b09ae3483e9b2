package format_test

import (
	"go/parser"
	"go/token"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/gguf"
	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/format/safetensors"
	"github.com/ashlar-go/ashlar/tensor"
)

// The package comments name the element types that are written, and no others.
func TestElementTypesOfComments(t *testing.T) {
	for name, write := range map[string]func(a tensor.Any) error{
		"npy":         func(a tensor.Any) error { return npy.Write(io.Discard, a, nil) },
		"safetensors": func(a tensor.Any) error { return safetensors.Write(io.Discard, []string{"x"}, []tensor.Any{a}, nil) },
		"gguf":        func(a tensor.Any) error { return gguf.Write(io.Discard, []string{"x"}, []tensor.Any{a}, nil) },
	} {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(name, "doc.go"), nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Fatal(err)
		}
		_, section, found := strings.Cut(f.Doc.Text(), "# Element types")
		section, _, _ = strings.Cut(section, "\n# ")
		table := ""
		for line := range strings.Lines(section) {
			if strings.HasPrefix(line, "\t") {
				table += line
			}
		}
		if !found || table == "" {
			t.Errorf("the comment of %s has no table of element types", name)
		}
		names := regexp.MustCompile(`\b[a-z][a-z0-9_]+\b`).FindAllString(table, -1)
		for _, kind := range []string{"int", "uint"} {
			if strings.Contains(table, kind+"8 … "+kind+"64") {
				names = append(names, kind+"16", kind+"32")
			}
		}
		for _, d := range dtype.All() {
			a, err := tensor.Make(d, 8)
			if err != nil {
				t.Fatal(err)
			}
			err = write(a)
			if says := slices.Contains(names, d.String()); says != (err == nil) {
				t.Errorf("the comment of %s has %v: %v; writing it: %v", name, d, says, err)
			}
		}
	}
}
