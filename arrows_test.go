package ashlar_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An arrow leads from a file to another file of its package that declares a function, method, field, type, variable or
// constant that the first uses. Files that are read from the first to the last of an order have their arrows downward; an
// arrow that leads back up belongs to a circle of files that are understood together or not at all. No order is listed:
// the test takes the one with the fewest arrows up that it finds, so that a package is charged for its circles alone.

// maxUp is the share of the arrows of a package that may lead up, and fewUp the number that may in any package.
const (
	maxUp = 0.10
	fewUp = 3
)

// upward bounds the share of the packages that maxUp doesn't fit.
var upward = map[string]float64{
	"op":                     0.05,
	"cmd/ashlar":             0.02,
	"chunk":                  0.13,
	"device":                 0.16,
	"format/zarr":            0.14,
	"internal/core/contract": 0.31,
	"internal/core/plan":     0.24,
	"onnx/serve":             0.28,
	"pack":                   0.25,
}

// TestArrows bounds the share of arrows that lead up in each package of this module. With -v it prints the shares.
func TestArrows(t *testing.T) {
	pkgs, exports := listed(t)
	for _, p := range pkgs {
		dir, ok := own(p.ImportPath)
		if !ok {
			continue
		}
		arrows := p.arrows(t, exports)
		up := upIn(sifted(p.GoFiles, arrows), arrows)
		bound, known := upward[dir]
		if !known {
			bound = maxUp
		}
		share := float64(len(up)) / float64(max(1, len(arrows)))
		t.Logf("%-22s %3d files %4d arrows %3d up (%.1f %%)", dir, len(p.GoFiles), len(arrows), len(up), 100*share)
		if share > bound && len(up) > fewUp {
			t.Errorf("%s: %d of %d arrows between files lead up, more than %.0f %%: move what these files share to one that stands below both\n\t%s",
				dir, len(up), len(arrows), 100*bound, strings.Join(up, "\n\t"))
		}
	}
}

// A listedPackage is what go list says of a package.
type listedPackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// listed returns the packages of this module and those they import, and the file of each that holds its exported types.
func listed(t *testing.T) (pkgs []listedPackage, exports map[string]string) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", "./...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	exports = make(map[string]string)
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listedPackage
		if err := d.Decode(&p); err == io.EOF {
			return pkgs, exports
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs, exports[p.ImportPath] = append(pkgs, p), p.Export
	}
}

// arrows returns a name for each pair of a file and another whose name it uses.
func (p listedPackage) arrows(t *testing.T, exports map[string]string) map[[2]string]string {
	fset := token.NewFileSet()
	files := make([]*ast.File, len(p.GoFiles))
	for i, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files[i] = f
	}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	info := types.Info{Uses: make(map[*ast.Ident]types.Object)}
	pkg, err := config.Check(p.ImportPath, fset, files, &info)
	if err != nil {
		t.Fatal(err)
	}
	file := func(at token.Pos) string { return filepath.Base(fset.Position(at).Filename) }
	arrows := make(map[[2]string]string)
	for id, obj := range info.Uses {
		if obj.Pkg() != pkg {
			continue
		}
		pair := [2]string{file(id.Pos()), file(obj.Pos())}
		if name, ok := arrows[pair]; pair[0] != pair[1] && (!ok || obj.Name() < name) {
			arrows[pair] = obj.Name()
		}
	}
	return arrows
}

// sifted orders files: users first, then file after file moves to the place where the fewest of its arrows lead up, until
// none finds a better one.
func sifted(names []string, arrows map[[2]string]string) []string {
	at := func(from, to string) int {
		if _, ok := arrows[[2]string{from, to}]; ok {
			return 1
		}
		return 0
	}
	rank := make(map[string]int) // uses less users
	for pair := range arrows {
		rank[pair[0]]++
		rank[pair[1]]--
	}
	order := slices.Sorted(slices.Values(names))
	slices.SortStableFunc(order, func(a, b string) int { return rank[b] - rank[a] })
	for moved := true; moved; {
		moved = false
		for _, f := range slices.Clone(order) {
			old := slices.Index(order, f)
			order = slices.Delete(order, old, old+1)
			up, here, least, place := 0, 0, 0, 0 // arrows up of f at a place, less those at the first
			for i, g := range order {
				up += at(f, g) - at(g, f)
				if i+1 == old {
					here = up
				}
				if up < least {
					least, place = up, i+1
				}
			}
			if least == here {
				place = old
			}
			moved = moved || place != old
			order = slices.Insert(order, place, f)
		}
	}
	return order
}

// upIn writes the arrows that lead up in an order.
func upIn(order []string, arrows map[[2]string]string) (up []string) {
	for i, from := range order {
		for _, to := range order[:i] {
			if name, ok := arrows[[2]string{from, to}]; ok {
				up = append(up, fmt.Sprintf("%s uses %s of %s", from, name, to))
			}
		}
	}
	return up
}
