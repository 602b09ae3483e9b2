package ashlar_test

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestArchitecture holds the tree to its own rules. Each rule is a function over the parsed tree; TestRulesCanFail
// (arch_fixture_test.go) runs every one of them on a small tree that breaks it.
func TestArchitecture(t *testing.T) {
	tr, err := load(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			for _, m := range r.check(tr) {
				t.Error(m)
			}
		})
	}
}

var rules = []struct {
	name  string
	check func(*tree) []string
}{
	{"imports", checkImports},
	{"dependencies", checkDependencies},
	{"modules", checkModules},
	{"files", checkFiles},
	{"map", checkMap},
	{"calls", checkCalls},
	{"typed", checkTyped},
	{"words", checkWords},
	{"examples", checkExamples},
	{"seeds", checkSeeds},
}

const modulePath = "github.com/ashlar-go/ashlar"

// levels is the import table: a package imports own packages of lower levels only, in every module of the tree.
// format/… stands for all packages below format/. Commands, examples, nested modules and the packages of internal/ that
// have no level here are tools: they import anything, and nothing with a level imports them. So do test files.
var levels = map[string]int{
	"internal/core/modes": -3, "layout": -2, "num/fixed": -2, "num": -1, "internal/core/ram": -1, "mem": 0, "internal/core/float": 0, "internal/core/cpu": 0, "internal/core/jsontext": 0,
	"dtype": 1, "text": 1, "internal/published": 1, "internal/core/simd": 1, "internal/core/walk": 1, "receipt": 1,
	"internal/core/conv": 2, "internal/core/order": 2, "internal/core/handed": 2, "judge": 2,
	"tensor":             3,
	"internal/core/exec": 4, "internal/core/reach": 4, "onnx/internal/wire": 4, "onnx/internal/text": 5, "internal/core/disk": 4, "format": 5, "internal/core/formats": 6,
	"internal/core/packed": 5, "op/option": 5, "pack": 7, "internal/core/plan": 6, "internal/core/cast": 7, "internal/core/move": 8, "internal/core/pointwise": 8,
	"internal/core/reduce": 9, "internal/core/contract": 9, "op": 10, "tensortest": 5,
	"sound": 11, "op/ml": 11, "op/train": 11, "op/all": 12, "device": 11, "device/grid": 3, "device/mesh": 12, "onnx": 13, "onnx/imagedecoder": 13, "format/…": 8,
	"format/zarr/internal/request": 4,
	"draw":                         12, "onnx/serve": 14, "onnx/weights": 14, "onnx/quantize": 14, "chunk/internal/expr": 11, "chunk": 12, "format/zarr/s3": 12,
	"onnx/picture": 15, "text/vectors": 14, "text/endpoints": 15, "chunk/job": 13, "judge/ask": 13,
}

// only limits a package to these own imports; never refuses single ones that the levels would let through.
var (
	only = map[string][]string{
		"dtype":              {"num", "num/fixed"},
		"internal/core/simd": {"num", "internal/core/cpu", "internal/core/float"},
		"internal/core/walk": {"layout", "internal/core/modes"},
		"draw":               {"layout", "tensor", "pack", "device"},
	}
	never = map[string][]string{"format/…": {"op"}, "op": {"pack"}}
)

// outside lists the modules that the root module may require directly, and the packages whose non-test files import
// them; none means tests and the tools in internal/ alone. Another module needs a note in docs/ with its reason.
var outside = map[string][]string{
	"golang.org/x/sys":                  {"mem", "internal/core/cpu"},
	"golang.org/x/image":                {"format", "draw", "onnx/imagedecoder", "examples/ocr"}, // draw, ocr: the bitmap fonts of their pictures
	"google.golang.org/protobuf":        {"onnx"},                                                // its package protowire alone: see checkDependencies
	"github.com/klauspost/compress":     {"format"},
	"github.com/ulikunitz/xz":           {"format"}, // its package lzma: see docs/scale.md
	"github.com/spf13/cobra":            {"cmd"},
	"github.com/schollz/progressbar/v3": {"cmd"},
	"pgregory.net/rapid":                nil,
	"github.com/google/go-cmp":          nil,
}

const maxLines = 600 // of a Go file that isn't a test

// A tree is the repository as the rules see it.
type tree struct {
	texts map[string]string // every text file by its path
	files []*source         // every Go file outside testdata folders
	fset  *token.FileSet
}

type source struct {
	path, dir string
	test      bool
	ast       *ast.File
}

var textFile = regexp.MustCompile(`\.(go|md|s|mod|work|py|txt|sh)$|^\.ci/`)

func load(fsys fs.FS) (*tree, error) {
	tr := &tree{texts: make(map[string]string), fset: token.NewFileSet()}
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if strings.HasPrefix(name, ".") && name != "." && name != ".ci" {
				return fs.SkipDir
			}
			return nil
		}
		if !textFile.MatchString(p) {
			return nil
		}
		text, err := fs.ReadFile(fsys, p)
		if err != nil {
			return err
		}
		tr.texts[p] = string(text)
		if !strings.HasSuffix(p, ".go") || inTestdata(p) {
			return nil
		}
		f, err := parser.ParseFile(tr.fset, p, text, parser.ParseComments)
		if err != nil {
			return err
		}
		tr.files = append(tr.files, &source{path: p, dir: path.Dir(p), test: strings.HasSuffix(p, "_test.go"), ast: f})
		return nil
	})
	return tr, err
}

func inTestdata(p string) bool { return slices.Contains(strings.Split(p, "/"), "testdata") }

func (tr *tree) at(n ast.Node) string {
	p := tr.fset.Position(n.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// dirs returns the folders that hold a Go package, with its non-test files; a folder with tests alone has none.
func (tr *tree) dirs() map[string][]*source {
	m := make(map[string][]*source)
	for _, f := range tr.files {
		if f.test {
			m[f.dir] = m[f.dir][:len(m[f.dir]):len(m[f.dir])]
			continue
		}
		m[f.dir] = append(m[f.dir], f)
	}
	return m
}

func sortedDirs(m map[string][]*source) []string {
	var names []string
	for d := range m {
		names = append(names, d)
	}
	slices.Sort(names)
	return names
}

// under reports whether folder d is top or lies below it.
func under(d, top string) bool { return d == top || strings.HasPrefix(d, top+"/") }

// apart are nested modules that go.work leaves out, as their requirements would change the versions of the root's.
var apart = []string{"beam", "format/zarr/blobstore", "format/zarr/s3/servertest"}

// ranked returns the name under which levels knows a folder.
func ranked(dir string) (string, bool) {
	if _, ok := levels[dir]; ok {
		return dir, true
	}
	if under(dir, "format") && !slices.Contains(apart, dir) {
		return "format/…", true
	}
	return dir, false
}

// isTool reports whether a folder may import anything.
func (tr *tree) isTool(dir string) bool {
	if _, ok := ranked(dir); ok {
		return false
	}
	return under(dir, "cmd") || under(dir, "examples") || under(dir, "internal") || under(dir, "docs") || tr.nested(dir) != ""
}

// nested returns the folder of the nested module that dir lies in, or "".
func (tr *tree) nested(dir string) string {
	for d := dir; d != "."; d = path.Dir(d) {
		if _, ok := tr.texts[d+"/go.mod"]; ok {
			return d
		}
	}
	return ""
}

// own returns the folder of an import path of this repository.
func own(importPath string) (string, bool) {
	if importPath == modulePath {
		return ".", true
	}
	return strings.CutPrefix(importPath, modulePath+"/")
}

func importPath(spec *ast.ImportSpec) string {
	p, _ := strconv.Unquote(spec.Path.Value)
	return p
}

func checkImports(tr *tree) (bad []string) {
	for _, dir := range sortedDirs(tr.dirs()) {
		if _, ok := ranked(dir); !ok && dir != "." && !tr.isTool(dir) {
			bad = append(bad, fmt.Sprintf("%s: the import table doesn't know this package: give it a level in arch_test.go, in line with the design", dir))
		}
	}
	for _, f := range tr.files {
		if f.test || tr.isTool(f.dir) {
			if mod := tr.nested(f.dir); under(mod, "linalg") {
				for _, spec := range f.ast.Imports {
					if to, ok := own(importPath(spec)); ok && under(to, "internal") {
						bad = append(bad, fmt.Sprintf("%s: %s imports %s: linalg is written against the exported packages alone", tr.at(spec), f.dir, to))
					}
				}
			}
			continue
		}
		from, known := ranked(f.dir)
		for _, spec := range f.ast.Imports {
			to, ok := own(importPath(spec))
			if !ok {
				continue
			}
			target, targetKnown := ranked(to)
			allowed, limited := only[from]
			switch {
			case f.dir == ".":
				bad = append(bad, fmt.Sprintf("%s: the root package imports %s: it is the map of the tree and re-exports nothing", tr.at(spec), to))
			case !known:
				// reported above
			case !targetKnown:
				bad = append(bad, fmt.Sprintf("%s: %s imports %s, a tool: move what it needs to a package with a level", tr.at(spec), f.dir, to))
			case limited && !slices.Contains(allowed, target):
				bad = append(bad, fmt.Sprintf("%s: %s imports %s: of this repository it may import %s only", tr.at(spec), f.dir, to, strings.Join(allowed, ", ")))
			case slices.Contains(never[from], target):
				bad = append(bad, fmt.Sprintf("%s: %s imports %s: %s packages never do", tr.at(spec), f.dir, to, from))
			case levels[target] >= levels[from]:
				bad = append(bad, fmt.Sprintf("%s: %s (level %d) imports %s (level %d): imports go to lower levels only; move the code down, or declare an interface below",
					tr.at(spec), f.dir, levels[from], to, levels[target]))
			}
		}
	}
	return bad
}

func isStandard(p string) bool {
	first, _, _ := strings.Cut(p, "/")
	return !strings.Contains(first, ".")
}

// moduleOf returns the listed module that an import path belongs to, or "".
func moduleOf(p string) string {
	for m := range outside {
		if under(p, m) {
			return m
		}
	}
	return ""
}

func checkDependencies(tr *tree) (bad []string) {
	direct := regexp.MustCompile(`(?m)^(?:require)?\s+(\S+\.\S+/\S+) v\S+$`)
	for _, m := range direct.FindAllStringSubmatch(tr.texts["go.mod"], -1) {
		if _, ok := outside[m[1]]; !ok {
			bad = append(bad, fmt.Sprintf("go.mod requires %s: do without it, or add it to the table in arch_test.go and a note to docs/ saying why", m[1]))
		}
	}
	for _, f := range tr.files {
		if tr.nested(f.dir) != "" {
			continue
		}
		for _, spec := range f.ast.Imports {
			p := importPath(spec)
			if _, isOwn := own(p); isOwn || isStandard(p) {
				continue
			}
			mod := moduleOf(p)
			free := f.test || tr.isTool(f.dir) && under(f.dir, "internal")
			switch {
			case mod == "":
				bad = append(bad, fmt.Sprintf("%s: %s imports %s: do without it, or add its module to the table in arch_test.go and a note to docs/ saying why", tr.at(spec), f.dir, p))
			case mod == "google.golang.org/protobuf" && p != mod+"/encoding/protowire":
				bad = append(bad, fmt.Sprintf("%s: %s imports %s: of protobuf only encoding/protowire is used", tr.at(spec), f.dir, p))
			case !free && !slices.ContainsFunc(outside[mod], func(d string) bool { return under(f.dir, d) }):
				bad = append(bad, fmt.Sprintf("%s: %s imports %s: the table in arch_test.go gives its module to %q, to tests and to tools in internal/ only", tr.at(spec), f.dir, p, outside[mod]))
			}
		}
	}
	return bad
}

// checkModules wants every nested module in go.work, named by its folder, and replacing the root by the checkout.
func checkModules(tr *tree) (bad []string) {
	for _, p := range sortedTexts(tr) {
		dir := path.Dir(p)
		if path.Base(p) != "go.mod" || dir == "." || inTestdata(p) {
			continue
		}
		text := tr.texts[p]
		if !regexp.MustCompile(`(?m)^module ` + regexp.QuoteMeta(modulePath+"/"+dir) + `$`).MatchString(text) {
			bad = append(bad, fmt.Sprintf("%s: the module isn't called %s/%s: name it after its folder", p, modulePath, dir))
		}
		if !slices.Contains(apart, dir) && !regexp.MustCompile(`(?m)^\s*(use\s+)?\./`+regexp.QuoteMeta(dir)+`$`).MatchString(tr.texts["go.work"]) {
			bad = append(bad, fmt.Sprintf("%s: go.work doesn't list the module: add ./%s", p, dir))
		}
		up := strings.TrimSuffix(strings.Repeat("../", strings.Count(dir, "/")+1), "/")
		if strings.Contains(text, modulePath+" v") && !regexp.MustCompile(`(?m)^\s*(replace\s+)?`+regexp.QuoteMeta(modulePath+" => "+up)+`/?$`).MatchString(text) {
			bad = append(bad, fmt.Sprintf("%s: no replace of the root: add replace %s => %s", p, modulePath, up))
		}
	}
	return bad
}

// checkSeeds wants the tests of a folder that draw with rapid to have the fixed seed of internal/seeded.
func checkSeeds(tr *tree) (bad []string) {
	seeded, draws := make(map[string]bool), make(map[string]string)
	for _, f := range tr.files {
		for _, spec := range f.ast.Imports {
			switch spec.Path.Value {
			case strconv.Quote(modulePath + "/internal/seeded"):
				seeded[f.dir] = true
			case strconv.Quote("pgregory.net/rapid"):
				draws[f.dir] = tr.at(spec)
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(draws)) {
		if !seeded[dir] && dir != "internal/seeded" {
			bad = append(bad, draws[dir]+": rapid draws anew in each run: import internal/seeded in a test of "+dir)
		}
	}
	return bad
}

func sortedTexts(tr *tree) []string {
	var names []string
	for p := range tr.texts {
		names = append(names, p)
	}
	slices.Sort(names)
	return names
}

var emptyName = regexp.MustCompile(`^(utils?|helpers?|common|misc)$`)

func checkFiles(tr *tree) (bad []string) {
	for _, f := range tr.files {
		if n := strings.Count(tr.texts[f.path], "\n"); n > maxLines && !f.test && !ast.IsGenerated(f.ast) {
			bad = append(bad, fmt.Sprintf("%s has %d lines, more than %d: split it by subject", f.path, n, maxLines))
		}
		words := strings.Split(strings.TrimSuffix(path.Base(f.path), ".go"), "_")
		words = append(words, strings.Split(f.dir, "/")...)
		if i := slices.IndexFunc(words, emptyName.MatchString); i >= 0 {
			bad = append(bad, fmt.Sprintf("%s: %q says nothing: name the file or folder after what it holds", f.path, words[i]))
		}
	}
	return bad
}

// checkMap compares the tree with the map in doc.go: lines that begin with a tab and a folder's name ending in a slash, or the
// name of a file ending in .go.
func checkMap(tr *tree) (bad []string) {
	listed := make(map[string]bool)
	for _, f := range tr.files {
		if f.path != "doc.go" {
			continue
		}
		if len(f.ast.Decls) > 0 {
			bad = append(bad, "doc.go declares something: it is the map of the tree and re-exports nothing")
		}
		for line := range strings.Lines(f.ast.Doc.Text()) {
			first, _, _ := strings.Cut(strings.TrimPrefix(line, "\t"), " ")
			switch {
			case !strings.HasPrefix(line, "\t"):
			case strings.HasSuffix(first, "/"):
				listed[strings.TrimSuffix(first, "/")] = true
			case strings.HasSuffix(first, ".go") && first != "op/NAME.go" && !slices.ContainsFunc(tr.files, func(f *source) bool { return f.path == first }):
				bad = append(bad, "doc.go names "+first+", which isn't there: name the file that has the subject now")
			}
		}
	}
	dirs := tr.dirs()
	for _, dir := range sortedDirs(dirs) {
		covered := dir == "."
		for d := dir; d != "." && !covered; d = path.Dir(d) {
			covered = listed[d]
		}
		if !covered {
			bad = append(bad, fmt.Sprintf("doc.go doesn't name the folder %s/: add a line saying what lives there", dir))
		}
	}
	for dir := range listed {
		if !slices.ContainsFunc(sortedDirs(dirs), func(d string) bool { return under(d, dir) }) {
			bad = append(bad, fmt.Sprintf("doc.go names %s/, where no package is: delete the line", dir))
		}
	}
	slices.Sort(bad)
	return bad
}

// exactMath are the functions of package math whose result is the same on every platform: exact, or one rounding.
var exactMath = strings.Fields(`Abs Ceil Copysign Float32bits Float32frombits Float64bits Float64frombits Floor Frexp Inf IsInf IsNaN
	Ldexp Max Min Mod Modf NaN Nextafter Nextafter32 Remainder Round RoundToEven Signbit Sqrt Trunc FMA`)

func within(dir string, tops ...string) bool {
	return slices.ContainsFunc(tops, func(t string) bool { return under(dir, t) })
}

// checkCalls refuses calls and imports that break a promise of the package they stand in.
func checkCalls(tr *tree) (bad []string) {
	report := func(n ast.Node, format string, args ...any) {
		bad = append(bad, tr.at(n)+": "+fmt.Sprintf(format, args...))
	}
	for _, f := range tr.files {
		if f.test || tr.nested(f.dir) != "" {
			continue
		}
		sameBits := within(f.dir, "num", "op", "tensor", "layout", "dtype", "pack", "internal/core")
		mathName := ""
		for _, spec := range f.ast.Imports {
			switch p := importPath(spec); {
			case p == "math":
				mathName = "math"
				if spec.Name != nil {
					mathName = spec.Name.Name
				}
			case p == "math/cmplx" && sameBits:
				report(spec, "math/cmplx differs between platforms: write the function in num")
			case p == "unsafe" && !within(f.dir, "mem", "tensor", "device", "internal"):
				report(spec, "unsafe is for mem, tensor, device and internal/: use the slices that tensor gives out")
			case p == "reflect" && within(f.dir, "op", "internal/core", "tensor", "layout", "num"):
				report(spec, "reflect in %s: use generics or a table by dtype", f.dir)
			}
		}
		mathFunc := func(e ast.Expr) string {
			if sel, ok := ast.Unparen(e).(*ast.SelectorExpr); ok && mathName != "" {
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == mathName {
					return sel.Sel.Name
				}
			}
			return ""
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Name.Name == "init" && n.Recv == nil && within(f.dir, "op", "internal/core/exec", "internal/core/plan", "internal/core/cast", "internal/core/pointwise", "internal/core/move", "internal/core/reduce", "internal/core/contract", "internal/core/float", "num") {
					report(n, "func init in %s: it links its tables into every program; write a static literal", f.dir)
				}
			case *ast.CallExpr:
				fn, isIdent := ast.Unparen(n.Fun).(*ast.Ident)
				if isIdent && fn.Name == "panic" && within(f.dir, "format", "onnx") {
					report(n, "panic in %s: outside data gets an error that names the place", f.dir)
				}
				if isIdent && fn.Name == "float32" && len(n.Args) == 1 {
					if call, ok := ast.Unparen(n.Args[0]).(*ast.CallExpr); ok && mathFunc(call.Fun) == "FMA" {
						report(n, "float32(math.FMA(…)) rounds twice: use float.FMA32")
						return false
					}
				}
			case *ast.SelectorExpr:
				name := mathFunc(n)
				switch {
				case name == "FMA" && f.dir != "internal/core/float":
					report(n, "math.FMA outside internal/core/float: use float.FMA64, or float.FMA32 for float32")
				case sameBits && ast.IsExported(name) && callable(name) && !slices.Contains(exactMath, name):
					report(n, "math.%s differs between platforms: use the function of package internal/core/float", name)
				}
			}
			return true
		})
	}
	return bad
}

// checkTyped refuses typed tensors below the façades of package op: each element type that names one has the
// compiler build all methods of tensor.Tensor again.
func checkTyped(tr *tree) (bad []string) {
	for _, f := range tr.files {
		if f.test || !within(f.dir, "op") {
			continue
		}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.IsExported() {
					continue
				}
			case *ast.GenDecl:
				if t, ok := d.Specs[0].(*ast.TypeSpec); ok && t.Name.IsExported() {
					continue
				}
			}
			ast.Inspect(d, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Tensor" {
					if x, ok := sel.X.(*ast.Ident); ok && x.Name == "tensor" {
						bad = append(bad, tr.at(n)+": a typed tensor below a façade: take a *tensor.Any, and its elements as a slice")
					}
				}
				return true
			})
		}
	}
	return bad
}

// callable tells the functions of package math from its constants.
func callable(name string) bool {
	constants := []string{"E", "Pi", "Phi", "Sqrt2", "SqrtE", "SqrtPi", "SqrtPhi", "Ln2", "Log2E", "Ln10", "Log10E"}
	return !slices.Contains(constants, name) && !strings.HasPrefix(name, "Max") && !strings.HasPrefix(name, "Min") && !strings.HasPrefix(name, "SmallestNonzero")
}

// The words are put together here so that this file doesn't break its own rule.
var (
	unfinished = regexp.MustCompile(`(?i)\b(TO` + `DO|FIX` + `ME|XX` + `X)\b|not (yet )?impl` + `emented|place` + `holder|\bfor n` + `ow\b`)
	machine    = regexp.MustCompile(`\.\./sha` + `red|/wo` + `rk/`)
)

// checkWords refuses words that mark unfinished work, and paths outside the repository where nothing reads them.
func checkWords(tr *tree) (bad []string) {
	for _, p := range sortedTexts(tr) {
		s := bufio.NewScanner(strings.NewReader(tr.texts[p]))
		s.Buffer(nil, 1<<24)
		for line := 1; s.Scan(); line++ {
			if w := unfinished.FindString(s.Text()); w != "" && !inTestdata(p) {
				bad = append(bad, fmt.Sprintf("%s:%d: %q marks something unfinished: finish it, or say plainly what doesn't work", p, line, w))
			}
			if w := machine.FindString(s.Text()); w != "" && !within(p, ".ci", "conformance") {
				bad = append(bad, fmt.Sprintf("%s:%d: %q lies outside the repository: only .ci and conformance may name it", p, line, w))
			}
		}
		if err := s.Err(); err != nil {
			bad = append(bad, fmt.Sprintf("%s: %v", p, err))
		}
	}
	return bad
}

// checkExamples wants a comment on every package, an Example that runs on every package with a level, and one on every
// operator: an exported function of op that returns a tensor.
func checkExamples(tr *tree) (bad []string) {
	tests := make(map[string][]*ast.File)
	for _, f := range tr.files {
		if f.test {
			tests[f.dir] = append(tests[f.dir], f.ast)
		}
	}
	dirs := tr.dirs()
	for _, dir := range sortedDirs(dirs) {
		files := dirs[dir]
		if len(files) == 0 {
			continue
		}
		if !slices.ContainsFunc(files, func(f *source) bool { return f.ast.Doc != nil }) {
			bad = append(bad, fmt.Sprintf("%s: no package comment: say what the package is for and how it is used", dir))
		}
		if _, ok := ranked(dir); !ok {
			continue
		}
		has := make(map[string]bool)
		for _, e := range doc.Examples(tests[dir]...) {
			if e.Output != "" || e.EmptyOutput {
				name, _, _ := strings.Cut(e.Name, "_")
				has[name], has["any"] = true, true
			}
		}
		if !has["any"] {
			bad = append(bad, fmt.Sprintf("%s: no Example with an Output comment: show the package at work", dir))
		}
		for _, f := range files {
			if !within(dir, "op") {
				break
			}
			for _, d := range f.ast.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.IsExported() && returnsTensor(fn) && !has[fn.Name.Name] {
					bad = append(bad, fmt.Sprintf("%s: op.%s has no Example with an Output comment: write Example%s", tr.at(fn), fn.Name.Name, fn.Name.Name))
				}
			}
		}
	}
	return bad
}

func returnsTensor(fn *ast.FuncDecl) (found bool) {
	if fn.Type.Results == nil {
		return false
	}
	ast.Inspect(fn.Type.Results, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			x, ok := sel.X.(*ast.Ident)
			found = found || ok && x.Name == "tensor" && sel.Sel.Name == "Tensor"
		}
		return !found
	})
	return found
}
