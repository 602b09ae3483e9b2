package ashlar_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/layout"
)

const layoutsPage = "docs/layouts.md"

// TestLayouts runs the page, and draws its pictures anew: every one is made by a command that the page shows.
func TestLayouts(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "ashlar"), "./cmd/ashlar").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	commands, programs := runPage(t, filepath.FromSlash(layoutsPage))
	if commands < 20 || programs != 1 {
		t.Errorf("ran %d commands and %d programs, want at least 20 and 1", commands, programs)
	}
	text, err := os.ReadFile(filepath.FromSlash(layoutsPage))
	if err != nil {
		t.Fatal(err)
	}
	var drawn, shown []string
	for _, m := range regexp.MustCompile(`(?m)^\$ (ashlar layout .*) --svg /tmp/([a-z-]+)\.svg`).FindAllStringSubmatch(string(text), -1) {
		got := output(t, layoutsPage, exec.Command("bash", "-ec", m[1]+" --svg -"))
		file := filepath.Join("docs", "layouts", m[2]+".svg")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(file); err != nil || string(want) != got {
			t.Errorf("%s isn't what %s draws; go test -run TestLayouts -update . writes it: %v", file, m[1], err)
		}
		drawn = append(drawn, m[2])
	}
	for _, m := range regexp.MustCompile(`!\[[^\]]+\]\(layouts/([a-z-]+)\.svg\)`).FindAllStringSubmatch(string(text), -1) {
		shown = append(shown, m[1])
	}
	files, err := filepath.Glob(filepath.FromSlash("docs/layouts/*"))
	if err != nil || len(drawn) < 8 || len(files) != len(drawn) || !slices.Equal(drawn, shown) {
		t.Errorf("%v: the page draws %v and shows %v, %d files are there", err, drawn, shown, len(files))
	}
}

// The page, the help of the command and the comment of layout.Eval give one grammar and name every function.
func TestLayoutGrammar(t *testing.T) {
	read := func(file string) string {
		b, err := os.ReadFile(filepath.FromSlash(file))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	comment := regexp.MustCompile(`(?m)^//\t?`).ReplaceAllString(read("layout/eval.go"), "")
	grammar := ""
	for _, f := range fences(t, layoutsPage) {
		if f.lang == "text grammar" {
			grammar = f.text
		}
	}
	if grammar == "" || !strings.Contains(comment, grammar) {
		t.Errorf("the comment of layout.Eval has another grammar than %s:\n%s", layoutsPage, grammar)
	}
	functions := regexp.MustCompile(`(?m)^\s+\{"(\w+)", "[ATBn?+]+", `).FindAllStringSubmatch(read("layout/functions.go"), -1)
	if len(functions) < 30 {
		t.Errorf("found %d functions", len(functions))
	}
	for _, m := range functions {
		for _, file := range []string{layoutsPage, "cmd/ashlar/layout.go", "layout/eval.go"} {
			if !regexp.MustCompile(`\b` + m[1] + `\b`).MatchString(read(file)) {
				t.Errorf("%s doesn't name %s", file, m[1])
			}
		}
	}
}

// The page's layout of a matrix in TT-NN's tiles is the formula that the page gives for it, on every element.
func TestTTNNTiles(t *testing.T) {
	for _, c := range []struct {
		expr         string
		rows, across int
	}{
		{"tile_to_shape (16,16):(16,1) (32,32) (1,0)", 32, 32},
		{"tile_to_shape (tile_to_shape (16,16):(16,1) (32,32) (1,0)) (64,96) (1,0)", 64, 96},
	} {
		l, err := layout.Eval(c.expr)
		if err != nil {
			t.Fatal(err)
		}
		for r := range c.rows {
			for col := range c.across {
				tile, face := r/32*(c.across/32)+col/32, r%32/16*2+col%32/16
				want := tile*1024 + face*256 + r%16*16 + col%16
				if got, err := l.OffsetAt(layout.Ints(r, col)); err != nil || got != want {
					t.Fatalf("%s: (%d,%d) lies at %d, %v; the formula says %d", c.expr, r, col, got, err, want)
				}
			}
		}
	}
}
