package tensor_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"
)

// sources parses the package without its tests.
func sources(t *testing.T) (*token.FileSet, []*ast.File) {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return fset, files
}

// tensorOf returns X of Tensor[X], "" for another expression.
func tensorOf(e ast.Expr) string {
	if p, ok := e.(*ast.StarExpr); ok {
		e = p.X
	}
	if x, ok := e.(*ast.IndexExpr); ok {
		if id, ok := x.X.(*ast.Ident); ok && id.Name == "Tensor" {
			return types.ExprString(x.Index)
		}
	}
	return ""
}

// Each method of Tensor[T] is compiled for each T that a program names, and so are the
// functions it calls. So there are few, and none makes the compiler go on with another T.
func TestFewMethods(t *testing.T) {
	const most = 40
	fset, files := sources(t)
	var methods []string
	for _, f := range files {
		for _, d := range f.Decls {
			m, ok := d.(*ast.FuncDecl)
			if !ok || m.Recv == nil {
				continue
			}
			elem := tensorOf(m.Recv.List[0].Type)
			if elem == "" {
				continue
			}
			methods = append(methods, m.Name.Name)
			ast.Inspect(m, func(n ast.Node) bool {
				if e, ok := n.(ast.Expr); ok {
					if of := tensorOf(e); of != "" && of != elem {
						t.Errorf("%v: %s names Tensor[%s]", fset.Position(e.Pos()), m.Name.Name, of)
					}
				}
				return true
			})
		}
	}
	if len(methods) > most {
		t.Errorf("Tensor has %d methods, more than %d; a function of the package, or a method of Any, is compiled where it is called: %v", len(methods), most, methods)
	}
	if len(methods) < 10 {
		t.Errorf("only %d methods are found: %v", len(methods), methods)
	}
}

// A tensor of one type is none of another, and handles don't compare: the compiler says so.
func TestConversions(t *testing.T) {
	fset, files := sources(t)
	var decl ast.Decl
	for _, f := range files {
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE && g.Specs[0].(*ast.TypeSpec).Name.Name == "Tensor" {
				decl = g
			}
		}
	}
	if decl == nil {
		t.Fatal("there is no type Tensor")
	}
	src := &strings.Builder{}
	src.WriteString("package p\ntype Any struct{ st *int }\n")
	spec := decl.(*ast.GenDecl).Specs[0].(*ast.TypeSpec)
	src.WriteString("type Tensor[T any] " + types.ExprString(spec.Type) + "\n")
	for _, c := range []struct {
		code string
		ok   bool
	}{
		{"var _ = Tensor[int8](x)", true},
		{"var y = x", true},
		{"var _ = Tensor[float32](x)", false},
		{"var _ = Tensor[uint8](x)", false},
		{"var _ = (*Tensor[float32])(&x)", false},
		{"var _ Tensor[float32] = x", false},
		{"var _ = x == x", false},
		{"var _ map[Tensor[int8]]bool", false},
	} {
		f, err := parser.ParseFile(fset, "p.go", src.String()+"var x Tensor[int8]\n"+c.code, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := new(types.Config).Check("p", fset, []*ast.File{f}, nil); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.code, err)
		}
	}
}
