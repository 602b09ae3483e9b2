package ashlar_test

import "go/ast"

// checkMarks keeps marked slices, see simd.Past, where rows alone see them. One function of internal/core/exec makes them, and it
// is called in the arguments of a call. A row doesn't append to its result dst, look at its capacity, cut that, or keep dst in
// a field. It can't return dst, as it returns nothing or a bool.
func checkMarks(tr *tree) (bad []string) {
	for _, f := range tr.files {
		if f.test {
			continue
		}
		for _, d := range f.ast.Decls {
			fn, _ := d.(*ast.FuncDecl)
			arguments := make(map[ast.Node]bool)
			ast.Inspect(d, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				for _, a := range call.Args {
					arguments[a] = true
				}
				made := fn != nil && fn.Name.Name == "marked" && f.dir == "internal/core/exec"
				if sel, ok := call.Fun.(*ast.SelectorExpr); ok && named(sel.X, "simd") && sel.Sel.Name == "Past" && !made {
					bad = append(bad, tr.at(n)+": a marked slice: only marked of internal/core/exec makes one")
				}
				if named(call.Fun, "marked") && f.dir == "internal/core/exec" && !arguments[n] {
					bad = append(bad, tr.at(n)+": a marked slice outside the arguments of a row's call")
				}
				return true
			})
			if fn != nil && fn.Body != nil && within(f.dir, "op", "internal/core/exec", "internal/core/simd") && isRow(fn) {
				ast.Inspect(fn.Body, func(n ast.Node) bool {
					if misused(n) {
						bad = append(bad, tr.at(n)+": dst may be marked by simd.Past: pass it, index it, or slice it by two numbers")
					}
					return true
				})
			}
		}
	}
	return bad
}

// isRow reports whether a function may be a row. The first parameter of one is dst, a slice or a Run, and it returns nothing or
// a bool. A method that is a row is called Row.
func isRow(fn *ast.FuncDecl) bool {
	if fn.Recv != nil && fn.Name.Name != "Row" {
		return false
	}
	t := fn.Type
	if len(t.Params.List) == 0 || len(t.Params.List[0].Names) == 0 || t.Params.List[0].Names[0].Name != "dst" {
		return false
	}
	if array, ok := t.Params.List[0].Type.(*ast.ArrayType); !named(t.Params.List[0].Type, "Run") && (!ok || array.Len != nil) {
		return false
	}
	return t.Results == nil || len(t.Results.List) == 1 && named(t.Results.List[0].Type, "bool")
}

// misused reports whether a node does with dst what a row must not do with a marked slice.
func misused(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		return (named(n.Fun, "append") || named(n.Fun, "cap")) && ofDst(n.Args[0])
	case *ast.SliceExpr:
		return n.Slice3 && ofDst(n.X)
	case *ast.AssignStmt:
		for i, l := range n.Lhs {
			if _, field := l.(*ast.SelectorExpr); field && len(n.Rhs) == len(n.Lhs) && ofDst(n.Rhs[i]) {
				return true
			}
		}
	case *ast.KeyValueExpr:
		return ofDst(n.Value)
	}
	return false
}

// ofDst reports whether an expression is dst or a slice of it.
func ofDst(e ast.Expr) bool {
	if s, ok := e.(*ast.SliceExpr); ok {
		e = s.X
	}
	return named(e, "dst")
}

func named(e ast.Expr, name string) bool {
	i, ok := e.(*ast.Ident)
	return ok && i.Name == name
}
