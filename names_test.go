package ashlar_test

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var symbol = regexp.MustCompile(`^[a-z0-9]+\.[A-Z]\w*(\.[A-Z]\w*)?$`)

// TestPaths finds the files that pages name by their path.
func TestPaths(t *testing.T) {
	pages, err := filepath.Glob(filepath.FromSlash("docs/*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal("no pages: ", err)
	}
	named := regexp.MustCompile(`\b(?:op|tensor|layout|mem|num|onnx|chunk|pack|device|format|judge|internal|cmd)/[\w/]+\.go\b`)
	for _, page := range append(pages, "README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range named.FindAllString(string(text), -1) {
			if _, err := os.Stat(filepath.FromSlash(file)); err != nil {
				t.Errorf("%s names %s: %v", page, file, err)
			}
		}
	}
}

// TestNames resolves the names in docs/from-*.md, but those that TestPages compiles: each row of a table has, in its second column, exported symbols of
// this repository in backquotes (`op.Add`, `tensor.Tensor.Fill`, `tensor.AsyncCopy.Keep`), or says what is left out.
// What a page shows runs.
func TestNames(t *testing.T) {
	pages, err := filepath.Glob(filepath.FromSlash("docs/from-*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal("no docs/from-*.md: ", err)
	}
	tr, err := load(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	known := exported(tr)
	code := regexp.MustCompile("`([^`]*)`")
	for _, page := range pages {
		if _, compiled := compiledPages[filepath.ToSlash(page)]; compiled {
			continue // TestPages wants code there, which resolves its names
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for i, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| ---") || strings.Contains(line, "| Ashlar |") {
				continue
			}
			cells := strings.Split(strings.ReplaceAll(line, `\|`, "¦"), "|")
			if !strings.HasPrefix(line, "|") || len(cells) < 4 {
				continue
			}
			rows++
			found := strings.Contains(cells[2], "left out")
			for _, m := range code.FindAllStringSubmatch(cells[2], -1) {
				if !symbol.MatchString(m[1]) {
					continue
				}
				if found = true; !known[m[1]] {
					t.Errorf("%s:%d: there is no %s", page, i+1, m[1])
				}
			}
			if !found {
				t.Errorf("%s:%d: the second column names no symbol, and doesn't say \"left out\": %s", page, i+1, line)
			}
		}
		if rows < 10 {
			t.Errorf("%s: %d rows", page, rows)
		}
		runPage(t, page)
	}
}

// exported returns the exported symbols of all packages outside internal/: package.Name, and package.Type.Name for
// methods and fields.
func exported(tr *tree) map[string]bool {
	known := make(map[string]bool)
	for _, line := range api(tr) {
		f := strings.Fields(line) // package, kind, name and the rest
		name, _, _ := strings.Cut(f[2], "(")
		name, _, _ = strings.Cut(name, "[")
		known[path.Base(f[0])+"."+name] = true
	}
	return known
}

// receiver returns the name of a receiver's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// TestFirstWords wants a comment over a function, a method or a type to begin with its name. A type may have an article before it.
func TestFirstWords(t *testing.T) {
	tr, err := load(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range tr.files {
		if f.test || ast.IsGenerated(f.ast) {
			continue
		}
		for _, d := range f.ast.Decls {
			for name, doc := range documented(d) {
				if n++; !regexp.MustCompile(`^(An? |The )?` + name + `\b`).MatchString(doc.Text()) {
					t.Errorf("%s: the comment over %s doesn't begin with it", tr.fset.Position(doc.Pos()), name)
				}
			}
		}
	}
	if n < 5_000 {
		t.Errorf("%d comments", n)
	}
}

// documented returns the names of a declaration that have a comment of their own.
func documented(d ast.Decl) map[string]*ast.CommentGroup {
	docs := make(map[string]*ast.CommentGroup)
	switch d := d.(type) {
	case *ast.FuncDecl:
		docs[d.Name.Name] = d.Doc
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if s, ok := s.(*ast.TypeSpec); ok {
				if docs[s.Name.Name] = s.Doc; s.Doc == nil && len(d.Specs) == 1 {
					docs[s.Name.Name] = d.Doc
				}
			}
		}
	}
	for name, doc := range docs {
		if doc == nil || strings.TrimSpace(doc.Text()) == "" {
			delete(docs, name)
		}
	}
	return docs
}
