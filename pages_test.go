package ashlar_test

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Pages of tables: what another library calls a thing, what it is here, and a note. The second column is Go code, which
// must compile with pagePreamble before it, or the words left out, and then the note says why.

const pagePreamble = `package page

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/format/image"
	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/format/raw"
	"github.com/ashlar-go/ashlar/format/safetensors"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/op/ml"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/tensortest"
)

var (
	t, u, a    tensor.Tensor[float32]
	c          tensor.Tensor[complex64]
	m          tensor.Tensor[bool]
	at         tensor.Tensor[int64]
	ints       tensor.Tensor[int32]
	q          tensor.Tensor[int8]
	by         op.Quantization[float32, int8]
	i, j, k, n int
	x          float32
	w          io.Writer
	tb         testing.TB
	buf        *mem.Buffer
	spec, other tensor.Spec
	ctx        context.Context
	model      *onnx.Model
	session    *onnx.Session
	stream     *onnx.Stream
)

func init() { fmt.Print(dtype.Count, npy.MaxHeader, raw.ErrSize, image.PNG, layout.None, mem.Large, num.Canon32, fixed.Wrap, safetensors.MaxHeader) }

var _, _, _, _, _ = op.Operators, ml.Operators, tensor.Describe, tensortest.Equal, format.Open

`

var codeSpan = regexp.MustCompile("`([^`]*)`")

// tables returns the rows of a page's tables: their cells, and their lines.
func tables(t *testing.T, page string) (rows [][]string, lines []int) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		cells := strings.Split(strings.TrimSpace(line), "|")
		if cells[0] != "" || len(cells) < 2 || strings.HasPrefix(cells[1], "---") {
			continue
		}
		if len(cells) != 5 {
			t.Errorf("%s:%d: %d cells, want 3", page, n, len(cells)-2)
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows, lines = append(rows, cells[1:4]), append(lines, n)
	}
	return rows, lines
}

// statement makes a statement of an expression, a call or a statement.
func statement(code string) string {
	e, err := parser.ParseExpr(code)
	if _, isCall := e.(*ast.CallExpr); err != nil || isCall {
		return code
	}
	return "_ = " + code
}

// compiledPages are those pages, and how many lines their tables have at least.
var compiledPages = map[string]int{"docs/coming-from-numpy.md": 95, "docs/from-cytnx.md": 60, "docs/from-serrano.md": 40, "docs/from-orion.md": 60,
	"docs/from-pytorch.md": 40, "docs/from-gonum.md": 20, "docs/from-onnxruntime.md": 15}

func TestPages(t *testing.T) {
	compiles(t)
	var src strings.Builder // of all pages: one build
	src.WriteString(pagePreamble)
	for page, least := range compiledPages {
		if _, programs := runPage(t, filepath.FromSlash(page)); programs == 0 {
			t.Errorf("%s shows no program", page)
		}
		rows, lines := tables(t, filepath.FromSlash(page))
		count := 0
		for i, row := range rows {
			if row[1] == "Ashlar" {
				continue
			}
			count++
			spans := codeSpan.FindAllStringSubmatch(row[1], -1)
			out := strings.HasPrefix(row[1], "left out")
			if len(spans) == 0 && !out || out && len(row[2]) < 10 {
				t.Errorf("%s:%d: neither code nor left out for a reason: %s", page, lines[i], row[1])
			}
			if !out {
				for _, s := range spans {
					fmt.Fprintf(&src, "func _() {\n//line %s:%d\n%s\n}\n", page, lines[i], statement(s[1]))
				}
			}
		}
		if count < least {
			t.Errorf("%s has %d lines, want %d", page, count, least)
		}
	}
	file := filepath.Join(t.TempDir(), "page.go")
	if err := os.WriteFile(file, []byte(src.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-gcflags=-e", "-o", os.DevNull, file).CombinedOutput(); err != nil {
		t.Errorf("the code of the pages doesn't compile:\n%s", out)
	}
}

// TestKinds wants each page to say its kind in its first line, docs/README.md to name it, and links between pages to lead somewhere.
func TestKinds(t *testing.T) {
	index, err := os.ReadFile(filepath.FromSlash("docs/README.md"))
	if err != nil {
		t.Fatal(err)
	}
	kind := regexp.MustCompile(`^# .+\n\n\*(Tutorial|How-to|Reference|Explanation)\.\* `)
	code := regexp.MustCompile("(?s)```.*?\n```|`[^`\n]*`")
	target := regexp.MustCompile(`\]\(([\w./-]+)(?:#[\w-]+)?\)`)
	pages := []string{"README.md", "CONTRIBUTING.md", "SECURITY.md"}
	for _, pattern := range []string{"docs/*.md", "docs/howto/*.md"} {
		list, err := filepath.Glob(filepath.FromSlash(pattern))
		if err != nil || len(list) < 9 {
			t.Fatal(list, err)
		}
		pages = append(pages, list...)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		name, below := strings.CutPrefix(filepath.ToSlash(page), "docs/")
		if below && name != "README.md" && !kind.Match(text) {
			t.Errorf("%s doesn't begin with its kind, as *How-to.*", page)
		}
		if below && name != "README.md" && !strings.Contains(string(index), "]("+name+")") {
			t.Errorf("docs/README.md doesn't name %s", name)
		}
		for _, m := range target.FindAllStringSubmatch(code.ReplaceAllString(string(text), ""), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s: the link %s leads nowhere", page, m[1])
			}
		}
	}
}

// README.md and CHANGELOG.md agree on the version that isn't released.
func TestReleased(t *testing.T) {
	readme, err1 := os.ReadFile("README.md")
	changes, err2 := os.ReadFile("CHANGELOG.md")
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	open := regexp.MustCompile(`(?m)^## (v\S+)\n\n[Nn]ot released yet`).FindSubmatch(changes)
	said := regexp.MustCompile(`(v[\d.]+) is not released yet`).FindSubmatch(readme)
	switch {
	case open == nil && said == nil:
	case open == nil || said == nil || !bytes.Equal(open[1], said[1]):
		t.Errorf("not released: %q in CHANGELOG.md, %q in README.md", open, said)
	}
}

// docs/memory.md shows the picture that ExampleTensor_Data draws.
func TestMemoryPicture(t *testing.T) {
	src, err := os.ReadFile(filepath.FromSlash("tensor/sharing_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	_, picture, ok := strings.Cut(string(src), "\t// Output:\n")
	if !ok {
		t.Fatal("the example has no output")
	}
	var want strings.Builder
	for line := range strings.Lines(picture) {
		text, isOutput := strings.CutPrefix(line, "\t// ")
		if !isOutput {
			break
		}
		want.WriteString(text)
	}
	found := 0
	for _, f := range fences(t, filepath.FromSlash("docs/memory.md")) {
		if f.lang == "text" && f.text == want.String() {
			found++
		}
	}
	if found != 1 {
		t.Errorf("docs/memory.md doesn't show the picture\n%s", want.String())
	}
}

// The check finds what isn't there.
func TestPagesCanFail(t *testing.T) {
	compiles(t)
	file := filepath.Join(t.TempDir(), "page.go")
	if err := os.WriteFile(file, []byte(pagePreamble+"func _() {\nt.NoSuchMethod(1)\n}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", os.DevNull, file).CombinedOutput(); err == nil || !strings.Contains(string(out), "NoSuchMethod") {
		t.Errorf("a method that doesn't exist compiles: %v\n%s", err, out)
	}
}
