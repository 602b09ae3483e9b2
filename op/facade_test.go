package op

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	gotypes "go/types"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
)

// TestFacades compares the constraint of each typed function with the element types that the
// run-time form of the operator supports: neither can do more than the other.
func TestFacades(t *testing.T) {
	if !*Long {
		t.Skip("it checks the types of the package and all that it imports: -long")
	}
	fset := token.NewFileSet()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
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
	config := gotypes.Config{Importer: importer.ForCompiler(fset, "source", nil), IgnoreFuncBodies: true, Error: func(error) {}}
	pkg, _ := config.Check("github.com/ashlar-go/ashlar/op", fset, files, nil)
	seen := 0
	for _, o := range Operators() {
		f, ok := pkg.Scope().Lookup(o.Name()).(*gotypes.Func)
		if !ok || !f.Exported() {
			continue
		}
		constraint := operandType(f.Type().(*gotypes.Signature))
		if constraint == nil {
			continue // it makes a tensor of numbers
		}
		seen++
		typed := elementTypes(constraint)
		var more, less []string
		for d := dtype.Bool; int(d) < dtype.Count; d++ {
			switch run := o.Supports(d); {
			case run && !typed[d]:
				more = append(more, d.String())
			case !run && typed[d]:
				less = append(less, d.String())
			}
		}
		if len(more)+len(less) > 0 {
			t.Errorf("%s: the run-time form takes %v besides, and doesn't take %v: change the constraint or the table", o.Name(), more, less)
		}
	}
	if seen < 150 {
		t.Errorf("only %d typed functions were found", seen)
	}
}

// operandType returns the constraint of the elements of the first tensor among the parameters.
func operandType(f *gotypes.Signature) *gotypes.Interface {
	for p := range f.Params().Variables() {
		t := p.Type()
		if s, ok := t.(*gotypes.Slice); ok {
			t = s.Elem()
		}
		if n, ok := t.(*gotypes.Named); ok && n.Obj().Name() == "Tensor" {
			if elem, ok := n.TypeArgs().At(0).(*gotypes.TypeParam); ok {
				return elem.Constraint().Underlying().(*gotypes.Interface)
			}
		}
	}
	return nil
}

// elementTypes returns the element types in a constraint.
func elementTypes(c *gotypes.Interface) map[dtype.DType]bool {
	set := map[dtype.DType]bool{}
	var add func(t gotypes.Type)
	add = func(t gotypes.Type) {
		switch t := t.(type) {
		case *gotypes.Union:
			for term := range t.Terms() {
				add(term.Type())
			}
		case *gotypes.Named:
			if in, ok := t.Underlying().(*gotypes.Interface); ok {
				add(in)
				return
			}
			set[named[t.Obj().Name()]] = true
		case *gotypes.Basic:
			set[named[t.Name()]] = true
		case *gotypes.Interface:
			for i := range t.NumEmbeddeds() {
				add(t.EmbeddedType(i))
			}
		}
	}
	add(c)
	return set
}

// named has the element types by the names of their Go types.
var named = map[string]dtype.DType{"bool": dtype.Bool, "int8": dtype.Int8, "int16": dtype.Int16, "int32": dtype.Int32, "int64": dtype.Int64,
	"uint8": dtype.Uint8, "uint16": dtype.Uint16, "uint32": dtype.Uint32, "uint64": dtype.Uint64,
	"F8E4M3": dtype.Float8E4M3, "F8E5M2": dtype.Float8E5M2, "F16": dtype.Float16, "BF16": dtype.BFloat16, "float32": dtype.Float32, "float64": dtype.Float64,
	"complex64": dtype.Complex64, "complex128": dtype.Complex128, "FP8x23": dtype.FP8x23, "FP16x16": dtype.FP16x16, "FP32x32": dtype.FP32x32, "FP64x64": dtype.FP64x64,
	"Int2": dtype.Int2, "Int4": dtype.Int4, "Uint2": dtype.Uint2, "Uint4": dtype.Uint4, "F4E2M1": dtype.Float4E2M1,
	"F8E4M3FNUZ": dtype.Float8E4M3FNUZ, "F8E5M2FNUZ": dtype.Float8E5M2FNUZ, "F8E8M0": dtype.Float8E8M0}
