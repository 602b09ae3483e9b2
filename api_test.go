package ashlar_test

import (
	"go/ast"
	"go/printer"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestAPI compares what the packages export with api.txt: one line for each name, of package, kind, name and signature.
// With -update it writes the file anew. The difference is what a review of an API reads.
func TestAPI(t *testing.T) {
	tr, err := load(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(api(tr), "\n") + "\n"
	if *update {
		if err := os.WriteFile("api.txt", []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile("api.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(string(text), "\r\n", "\n")
	for line := range strings.Lines(got) {
		if !strings.Contains("\n"+want, "\n"+line) {
			t.Errorf("api.txt lacks\n+%s", line)
		}
	}
	for line := range strings.Lines(want) {
		if !strings.Contains("\n"+got, "\n"+line) {
			t.Errorf("api.txt has, and no package exports\n-%s", line)
		}
	}
	if t.Failed() {
		t.Log("go test . -run API -update writes api.txt anew: read the difference before you commit it")
	} else if got != want {
		t.Error("api.txt has a line twice, or out of order")
	}
}

// TestAPILines has one declaration of each kind, and the names that are nobody's.
func TestAPILines(t *testing.T) {
	const text = `package p

const A, b = 1, 2
const (
	C Kind = iota
	D
)
var V = 1
type Kind uint8
type S[T any] struct {
	X, y int
	Kind
}
type I interface{ M(n int) error }
type Same = S[int]
type hidden struct{ X int }
func F[T any](a, b T,
	more ...int) (n int, err error) { return 0, nil }
func (s *S[T]) Do() {}
func (h hidden) Do() {}
func g() {}
`
	tr, err := load(fstest.MapFS{"p/p.go": {Data: []byte(text)}, "p/internal/q/q.go": {Data: []byte("package q\nfunc F() {}\n")},
		"cmd/main.go": {Data: []byte("package main\nfunc F() {}\n")}})
	if err != nil {
		t.Fatal(err)
	}
	want := `p const A
p const C Kind
p const D Kind
p field S.Kind Kind
p field S.X int
p func F[T any](a, b T, more ...int) (n int, err error)
p method I.M(n int) error
p method S.Do()
p type I interface
p type Kind uint8
p type S[T any] struct
p type Same = S[int]
p var V`
	if got := strings.Join(api(tr), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestAliases refuses an exported alias of a type that other modules can't import: no documentation shows its fields and
// methods.
func TestAliases(t *testing.T) {
	tr, err := load(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range hiddenAliases(tr) {
		t.Errorf("%s: declare the type where its users find it", bad)
	}
}

// The test must see an alias of an internal type.
func TestAliasesCanFail(t *testing.T) {
	tr, err := load(fstest.MapFS{"p/p.go": {Data: []byte("package p\nimport (\n\tx \"m/internal/q\"\n\t\"m/r\"\n)\ntype A = x.T\ntype B = r.T\ntype c = x.T\ntype D x.T\ntype E = []x.T\n")}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"p.A is an alias of x.T", "p.E is an alias of []x.T"}
	if got := hiddenAliases(tr); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// hiddenAliases returns the exported aliases that name a type of an internal package.
func hiddenAliases(tr *tree) (bad []string) {
	for _, f := range tr.files {
		if f.test || f.ast.Name.Name == "main" || slices.Contains(strings.Split(f.dir, "/"), "internal") {
			continue
		}
		hidden := make(map[string]bool) // names of imports
		for _, i := range f.ast.Imports {
			path := strings.Trim(i.Path.Value, `"`)
			name := path[strings.LastIndexByte(path, '/')+1:]
			if i.Name != nil {
				name = i.Name.Name
			}
			hidden[name] = slices.Contains(strings.Split(path, "/"), "internal")
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			s, ok := n.(*ast.TypeSpec)
			if !ok || s.Assign == token.NoPos || !s.Name.IsExported() {
				return true
			}
			ast.Inspect(s.Type, func(n ast.Node) bool {
				if x, ok := n.(*ast.SelectorExpr); ok {
					if id, ok := x.X.(*ast.Ident); ok && hidden[id.Name] {
						bad = append(bad, f.dir+"."+s.Name.Name+" is an alias of "+printed(s.Type))
					}
				}
				return true
			})
			return false
		})
	}
	slices.Sort(bad)
	return bad
}

// api returns a line for each exported name of the packages that others can import, sorted.
func api(tr *tree) []string {
	var lines []string
	add := func(pkg, kind, name, rest string) {
		for part := range strings.SplitSeq(name, ".") {
			if !ast.IsExported(part) {
				return
			}
		}
		lines = append(lines, strings.TrimRight(pkg+" "+kind+" "+name+rest, " "))
	}
	for _, f := range tr.files {
		if f.test || f.ast.Name.Name == "main" || under(f.dir, "web") || slices.Contains(strings.Split(f.dir, "/"), "internal") {
			continue
		}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				kind, name := "func", d.Name.Name
				if d.Recv != nil {
					kind, name = "method", receiver(d.Recv.List[0].Type)+"."+name
				}
				add(f.dir, kind, name, signature(d.Type))
			case *ast.GenDecl:
				var typ ast.Expr
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.ValueSpec:
						if s.Type != nil || s.Values != nil { // else the type of the constant before
							typ = s.Type
						}
						for _, n := range s.Names {
							add(f.dir, d.Tok.String(), n.Name, " "+printed(typ))
						}
					case *ast.TypeSpec:
						fields, rest := members(s)
						add(f.dir, "type", s.Name.Name, rest)
						for _, m := range fields {
							add(f.dir, m.kind, s.Name.Name+"."+m.name, m.rest)
						}
					}
				}
			}
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines) // a name of two platforms is one
}

type member struct{ kind, name, rest string }

// members returns the fields or methods that a type's declaration has, and its line from the name on.
func members(s *ast.TypeSpec) (list []member, rest string) {
	var fields *ast.FieldList
	kind := "field"
	switch typ := s.Type.(type) {
	case *ast.StructType:
		fields, rest = typ.Fields, "struct"
	case *ast.InterfaceType:
		if kind, rest = "method", "interface"; !slices.ContainsFunc(typ.Methods.List, func(f *ast.Field) bool { return f.Names == nil }) {
			fields = typ.Methods
			break
		}
		rest = printed(typ) // a constraint
	default:
		rest = printed(typ)
	}
	if s.Assign != token.NoPos {
		rest = "= " + rest
	}
	rest = " " + rest
	if s.TypeParams != nil {
		rest = "[" + parameters(s.TypeParams) + "]" + rest
	}
	if fields == nil {
		return nil, rest
	}
	for _, f := range fields.List {
		typ := " " + printed(f.Type)
		if fn, ok := f.Type.(*ast.FuncType); ok && kind == "method" {
			typ = signature(fn)
		}
		for _, n := range f.Names {
			list = append(list, member{kind, n.Name, typ})
		}
		if f.Names == nil { // embedded
			name, _, _ := strings.Cut(strings.TrimLeft(typ, " *"), "[")
			list = append(list, member{kind, name[strings.LastIndexByte(name, '.')+1:], typ})
		}
	}
	return list, rest
}

// signature writes a function's type from its parameters on.
func signature(f *ast.FuncType) string {
	text := ""
	if f.TypeParams != nil {
		text = "[" + parameters(f.TypeParams) + "]"
	}
	text += "(" + parameters(f.Params) + ")"
	if r := f.Results; r.NumFields() == 1 && r.List[0].Names == nil {
		text += " " + printed(r.List[0].Type)
	} else if r.NumFields() > 0 {
		text += " (" + parameters(r) + ")"
	}
	return text
}

func parameters(l *ast.FieldList) string {
	var texts []string
	for _, f := range l.List {
		text := ""
		for i, n := range f.Names {
			if i > 0 {
				text += ", "
			}
			text += n.Name
		}
		texts = append(texts, strings.TrimSpace(text+" "+printed(f.Type)))
	}
	return strings.Join(texts, ", ")
}

// printed writes an expression in one line, nothing for nil.
func printed(e ast.Expr) string {
	if e == nil {
		return ""
	}
	var b strings.Builder
	if err := printer.Fprint(&b, token.NewFileSet(), e); err != nil {
		panic(err) // e is no node
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
