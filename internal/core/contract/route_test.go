package contract

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
)

var update = flag.Bool("update", false, "write testdata/routes.txt again")

// geometry returns a convolution of [1, c, side…] by a cube of kernel elements in some axes.
func geometry(c, m, side, kernel, stride, dilation, group, axes int) *Convolution {
	g := &Convolution{Group: group, N: 1, C: c, M: m, Patch: 1, K: c / group}
	reach := (kernel-1)*dilation + 1
	for range axes {
		s := Span{In: side, Kernel: kernel, Stride: stride, Dilation: dilation, Begin: reach / 2, End: reach / 2}
		s.Out = (s.In+s.Begin+s.End-reach)/stride + 1
		g.S = append(g.S, s)
		g.Patch *= s.Out
		g.K *= kernel
	}
	g.Shape = OutShape(g.N, g.M, g.S)
	return g
}

// TestRoutes compares the ways that the table chooses with testdata/routes.txt, and wants every line of the table to decide somewhere.
func TestRoutes(t *testing.T) {
	var out strings.Builder
	fmt.Fprintf(&out, "%-52s %-9s %-9s %-9s %-9s %s\n", "channels, kernel, side", "planes", "kept", "last", "no rows", "fixed")
	decided := map[string]bool{}
	shapes := 0
	line := func(c, m, side, kernel, stride, dilation, group, axes int) {
		g := geometry(c, m, side, kernel, stride, dilation, group, axes)
		text := fmt.Sprintf("%d to %d, %d", c, m, kernel) + strings.Repeat("×"+strconv.Itoa(kernel), axes-1) + ", " + strconv.Itoa(side)
		for _, p := range []struct {
			n    int
			name string
		}{{stride, "stride"}, {dilation, "dilation"}, {group, "group"}} {
			if p.n > 1 {
				text += fmt.Sprintf(", %s %d", p.name, p.n)
			}
		}
		fmt.Fprintf(&out, "%-52s", text)
		for i, at := range []Case{
			{Type: dtype.Float32, Rows: true},
			{Type: dtype.Float32, Rows: true, Kept: true},
			{Type: dtype.Float32, Rows: true, Kept: true, Last: true},
			{Type: dtype.Float64},
			{Type: dtype.FP16x16},
		} {
			to, why := g.Route(at)
			decided[why] = true
			if text = to.String(); i < 4 {
				text = fmt.Sprintf("%-9s", text)
			}
			fmt.Fprint(&out, " ", text)
		}
		out.WriteByte('\n')
		shapes++
	}
	for _, ends := range [][2]int{{1, 8}, {1, 32}, {3, 64}, {16, 4}, {64, 7}, {64, 8}, {64, 64}, {256, 512}, {512, 512}} {
		for _, side := range []int{7, 8, 28, 112} {
			for _, kernel := range []int{1, 3, 5} {
				line(ends[0], ends[1], side, kernel, 1, 1, 1, 2)
			}
		}
	}
	for _, channels := range []int{32, 64, 272} { // depthwise
		for _, side := range []int{7, 16, 17, 56} {
			for _, kernel := range []int{3, 5, 17} {
				line(channels, channels, side, kernel, 1, 1, channels, 2)
			}
		}
	}
	for _, group := range []int{2, 4, 16, 32} {
		line(64, 64, 28, 1, 1, 1, group, 2)
		line(64, 64, 28, 3, 1, 1, group, 2)
		line(64, 128, 28, 3, 2, 1, group, 2)
	}
	for _, step := range []int{2, 3, 7} { // strides and dilations
		line(64, 64, 56, 1, step, 1, 1, 2)
		line(64, 64, 56, 3, step, 1, 1, 2)
		line(64, 64, 56, 3, 1, step, 1, 2)
		line(16, 4, 56, 3, step, step, 1, 2)
		line(64, 64, 56, 3, step, step, 64, 2)
	}
	for _, axes := range []int{1, 3} {
		for _, ends := range [][2]int{{1, 16}, {16, 4}, {32, 64}} {
			for _, kernel := range []int{1, 3, 9} {
				line(ends[0], ends[1], 20, kernel, 1, 1, 1, axes)
			}
		}
	}
	line(64, 64, 20, 3, 1, 1, 64, 3)
	line(1, 4, 1<<20, 3, 1, 1, 1, 1)
	line(1, 4, 1<<20, 3, 1<<17, 1<<18, 1, 1)
	line(16, 16, 1<<20, 3, 1, 1, 1, 1)
	line(16, 16, 1<<20, 3, 2, 1, 1, 1)
	line(16, 16, 1<<10, 3, 1, 1<<8, 1, 2)
	line(64, 64, 1<<12, 3, 1, 1<<10, 1, 2)
	line(64, 64, 1<<12, 3, 1, 1<<10, 64, 2)
	line(64, 16, 1<<8, 7, 1, 1, 1, 1)
	line(256, 256, 1<<20, 3, 1, 1<<18, 1, 1)
	line(0, 4, 8, 1, 1, 1, 1, 2)
	for i := range routes {
		if !decided[routes[i].why] {
			t.Errorf("no shape goes to %v because %q", routes[i].to, routes[i].why)
		}
	}
	if shapes < 200 {
		t.Errorf("%d shapes; want 200", shapes)
	}
	const file = "testdata/routes.txt"
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, lines := strings.Split(out.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(lines)) {
		if i >= len(got) || i >= len(lines) || got[i] != lines[i] {
			t.Fatalf("%s differs from line %d on; -update writes it again", file, i+1)
		}
	}
}

// TestOneTable finds comparisons of an extent, a type or a level with a constant outside the table: the files of float convolutions choose
// nothing by themselves. GemmK is a rule, and 0, 1 and 2 are no thresholds.
func TestOneTable(t *testing.T) {
	extents := []string{"N", "C", "M", "K", "Patch", "Group", "In", "Out", "Kernel", "Stride", "Dilation", "cg", "mg", "DType"}
	named := map[string]bool{} // constants
	for name := range Measured() {
		named[name] = true
	}
	check := func(name, text string) (found []string) {
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, name, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if d, ok := n.(*ast.GenDecl); ok && d.Tok == token.CONST {
				for _, s := range d.Specs {
					for _, id := range s.(*ast.ValueSpec).Names {
						named[id.Name] = id.Name != "GemmK"
					}
				}
			}
			return true
		})
		constant := func(e ast.Expr) bool {
			switch e := e.(type) {
			case *ast.BasicLit:
				return len(e.Value) > 1 || e.Value > "2"
			case *ast.Ident:
				return named[e.Name]
			case *ast.SelectorExpr:
				p, ok := e.X.(*ast.Ident)
				return ok && (p.Name == "cpu" || p.Name == "dtype")
			}
			return false
		}
		extent := func(e ast.Expr) (ok bool) {
			ast.Inspect(e, func(n ast.Node) bool {
				if s, is := n.(*ast.SelectorExpr); is && slices.Contains(extents, s.Sel.Name) {
					ok = true
				}
				return true
			})
			return ok
		}
		ast.Inspect(f, func(n ast.Node) bool {
			b, ok := n.(*ast.BinaryExpr)
			if !ok || !slices.Contains([]token.Token{token.LSS, token.LEQ, token.GTR, token.GEQ, token.EQL, token.NEQ}, b.Op) {
				return true
			}
			if extent(b.X) && constant(b.Y) || extent(b.Y) && constant(b.X) {
				found = append(found, set.Position(b.Pos()).String())
			}
			return true
		})
		return found
	}
	for _, name := range []string{"convolution.go", "direct.go", "filter.go", "windows.go", "../../../op/conv.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range check(name, string(text)) {
			t.Errorf("%s: a comparison with a constant; route.go has the thresholds", at)
		}
	}
	if n := len(check("x.go", "package x\nconst small = 9\nfunc f(g *G) bool { return g.M < 8 || small > g.S[0].Out || g.K == 2 || x.DType() == dtype.Int8 }")); n != 3 {
		t.Errorf("%d comparisons found in an example of 3", n)
	}
}

// TestMeasured wants each number of measured.go in the map that a calibration takes, under its name.
func TestMeasured(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "measured.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[*int]string)
	for name, n := range Measured() {
		all[n] = name
	}
	if len(all) != len(Measured()) {
		t.Error("two names of one number")
	}
	names := 0
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for _, id := range n.Names {
				if names++; Measured()[id.Name] == nil {
					t.Errorf("Measured has no %s", id.Name)
				}
			}
		case *ast.KeyValueExpr:
			if of, ok := n.Value.(*ast.UnaryExpr); ok && n.Key.(*ast.BasicLit).Value != strconv.Quote(of.X.(*ast.Ident).Name) {
				t.Errorf("%s is another's name", n.Key.(*ast.BasicLit).Value)
			}
		}
		return true
	})
	if names != len(all) {
		t.Errorf("%d numbers in the file, %d in the map", names, len(all))
	}
}
