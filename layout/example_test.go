package layout_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/layout"
)

func Example() {
	// A 4×6 matrix, row by row, and its second and fourth column, read upwards.
	l := layout.MustParse("(4,6):(6,1)")
	idx, err := layout.ParseSlice("::-1, 1::2")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, off, err := l.Slice(idx...)
	fmt.Println(m, "from", off, err)
	// Output: (4,3):(-6,2) from 19 <nil>
}

func ExampleNew() {
	fmt.Println(layout.New([]int{4, 6}, []int{1, 4}))
	fmt.Println(layout.New([]int{4, 6}, []int{1}))
	// Output:
	// (4,6):(1,4) <nil>
	// ():() layout.New: 2 extents and 1 strides; give one stride per extent
}

func ExampleRowMajor() {
	fmt.Println(layout.RowMajor(2, 3, 4))
	// Output: (2,3,4):(12,4,1) <nil>
}

func ExampleColMajor() {
	fmt.Println(layout.ColMajor(2, 3, 4))
	// Output: (2,3,4):(1,2,6) <nil>
}

func ExampleParse() {
	fmt.Println(layout.Parse(" ((2, 2), (4)) : ((1, 8), (2)) "))
	fmt.Println(layout.Parse("(4,x):(1,4)"))
	// Output:
	// ((2,2),4):((1,8),2) <nil>
	// ():() layout.Parse: "(4,x):(1,4)" at byte 3: want a number
}

func ExampleMustParse() {
	fmt.Println(layout.MustParse("12:1"))
	// Output: 12:1
}

func ExampleParseSlice() {
	fmt.Println(layout.ParseSlice("1:3, ::-1, ..., 2, newaxis"))
	// Output: [1:3 ::-1 ... 2 None] <nil>
}

func ExampleRange() {
	l := layout.MustParse("10:1")
	fmt.Println(l.Slice(layout.Range(1, layout.None, 3))) // 1, 4, 7
	fmt.Println(l.Slice(layout.Range(-2, 2, -2)))         // 8, 6, 4
	// Output:
	// 3:3 1 <nil>
	// 3:-2 8 <nil>
}

func ExamplePoint() {
	l := layout.MustParse("(4,6):(6,1)")
	fmt.Println(l.Slice(layout.Point(-1)))
	// Output: 6:1 18 <nil>
}

func ExampleNewAxis() {
	l := layout.MustParse("(4,6):(6,1)")
	fmt.Println(l.Slice(layout.NewAxis()))
	// Output: (1,4,6):(0,6,1) 0 <nil>
}

func ExampleEllipsis() {
	l := layout.MustParse("(2,3,4):(12,4,1)")
	fmt.Println(l.Slice(layout.Ellipsis(), layout.Point(0)))
	// Output: (2,3):(12,4) 0 <nil>
}

func ExampleIndex_String() {
	fmt.Println(layout.Range(layout.None, 3, 1), layout.Range(5, 1, -1), layout.Point(2))
	// Output: :3 5:1:-1 2
}

func ExampleLayout_Rank() {
	l := layout.MustParse("((2,2),4):((1,8),2)")
	fmt.Println(l.Rank(), l.Leaves(), l.Flat())
	// Output: 2 3 false
}

func ExampleLayout_Leaves() {
	l := layout.MustParse("((2,2),4):((1,8),2)")
	for i := range l.Leaves() {
		fmt.Println(l.Leaf(i))
	}
	// Output:
	// 2 1
	// 2 8
	// 4 2
}

func ExampleLayout_Leaf() {
	l := layout.MustParse("((2,2),4):((1,8),2)")
	ext, str := l.Leaf(1)
	fmt.Println(ext, str)
	// Output: 2 8
}

func ExampleLayout_Flat() {
	flat, nested := layout.MustParse("(4,4):(4,1)"), layout.MustParse("((2,2),4):((1,8),2)")
	fmt.Println(flat.Flat(), nested.Flat())
	// Output: true false
}

func ExampleLayout_Dim() {
	l := layout.MustParse("((2,2),4):((1,8),2)")
	fmt.Println(l.Dim(0), l.Dim(1))
	// Output: 4 4
}

func ExampleLayout_Shape() {
	l := layout.MustParse("((2,3),4):((1,8),2)")
	fmt.Println(l.Shape(), l.ShapeString())
	// Output: [6 4] ((2,3),4)
}

func ExampleLayout_ShapeString() {
	l := layout.MustParse("((2,3),4):((1,8),2)")
	fmt.Println(l.ShapeString())
	// Output: ((2,3),4)
}

func ExampleLayout_Stride() {
	l := layout.MustParse("(4,(2,2),(2,2)):(0,(1,2),(1,8))")
	for i := range l.Rank() {
		fmt.Println(l.Stride(i)) // of one mode, and whether it has a single one
	}
	// Output:
	// 0 true
	// 1 true
	// 0 false
}

func ExampleLayout_Size() {
	l := layout.MustParse("(4,6):(0,1)")
	fmt.Println(l.Size())
	// Output: 24
}

func ExampleLayout_Span() {
	l := layout.MustParse("(3,4):(-1,3)")
	fmt.Println(l.Span())
	// Output: -2 9
}

func ExampleLayout_Equal() {
	l := layout.MustParse("(2,2):(1,2)")
	fmt.Println(l.Equal(layout.MustParse("(2,2):(1,2)")), l.Equal(layout.MustParse("4:1")))
	// Output: true false
}

func ExampleLayout_IsCompact() {
	for _, s := range []string{"(4,6):(1,4)", "(4,6):(1,5)", "(4,6):(0,1)"} {
		l := layout.MustParse(s)
		fmt.Println(s, l.IsCompact())
	}
	// Output:
	// (4,6):(1,4) true
	// (4,6):(1,5) false
	// (4,6):(0,1) false
}

func ExampleLayout_Runs() {
	l := layout.MustParse("(2,4,6):(100,6,1)")
	fmt.Println(l.Runs())
	// Output: [24 2] [1 100]
}

func ExampleLayout_Offset() {
	l := layout.MustParse("(4,6):(6,1)")
	for i := range 5 { // down the first column, then the second
		off, err := l.Offset(i)
		fmt.Println(off, err)
	}
	// Output:
	// 0 <nil>
	// 6 <nil>
	// 12 <nil>
	// 18 <nil>
	// 1 <nil>
}

func ExampleLayout_Coord() {
	l := layout.MustParse("((2,2),4):((1,8),2)")
	c, err := l.Coord(7)
	fmt.Println(c, err)
	fmt.Println(l.At(c))
	fmt.Println(l.Offset(7))
	// Output:
	// [3 1] <nil>
	// 11 -1
	// 11 <nil>
}

func ExampleLayout_At() {
	l := layout.MustParse("((2,2),4):((1,8),2)")
	fmt.Println(l.At([]int{3, 1})) // 3 is (1,1) in (2,2): 1 + 8, and 2
	fmt.Println(l.At([]int{3, 4})) // axis 1 has 4 positions
	// Output:
	// 11 -1
	// 0 1
}

func ExampleLayout_ModeLeaves() {
	l := layout.MustParse("(4,(2,2)):(2,(1,8))")
	fmt.Println(l.ModeLeaves(1))
	// Output: 1 3
}

func ExampleLayout_Mode() {
	l := layout.MustParse("(4,(2,(2,3))):(2,(1,(8,16)))")
	fmt.Println(l.Mode(1))
	// Output: (2,(2,3)):(1,(8,16))
}

func ExampleLayout_String() {
	fmt.Println(layout.Layout{}, layout.MustParse("12:1"), layout.MustParse("((2,2)):((1,8))"))
	// Output: ():() 12:1 ((2,2)):((1,8))
}

func ExampleLayout_IsRowMajor() {
	for _, s := range []string{"(4,6):(6,1)", "(4,1,6):(6,99,1)", "(4,6):(1,4)"} {
		l := layout.MustParse(s)
		fmt.Println(s, l.IsRowMajor())
	}
	// Output:
	// (4,6):(6,1) true
	// (4,1,6):(6,99,1) true
	// (4,6):(1,4) false
}

func ExampleLayout_Permute() {
	l := layout.MustParse("(2,3,4):(12,4,1)")
	fmt.Println(l.Permute(-1, 0, 1))
	// Output: (4,2,3):(1,12,4) <nil>
}

func ExampleLayout_Coalesce() {
	l := layout.MustParse("(2,(1,6)):(1,(6,2))")
	fmt.Println(l.Coalesce())
	// Output: 12:1
}

func ExampleLayout_BroadcastTo() {
	l := layout.MustParse("(4,1):(1,1)")
	fmt.Println(l.BroadcastTo(2, 4, 3))
	// Output: (2,4,3):(0,1,0) <nil>
}

func ExampleLayout_View() {
	l := layout.MustParse("(3,4,2):(4,1,12)")
	fmt.Println(l.View(12, 2))
	_, err := l.View(3, 8)
	fmt.Println(err)
	fmt.Println(errors.Is(err, layout.ErrView))
	// Output:
	// (12,2):(1,12) <nil>
	// layout.View: (3,4,2):(4,1,12) has no view of shape (3,8): axes 1 and 2 don't follow each other in memory; Reshape copies
	// true
}

func ExampleLayout_Slice() {
	l := layout.MustParse("(4,6):(6,1)")
	m, off, err := l.Slice(layout.Point(1), layout.Range(layout.None, layout.None, -2))
	fmt.Println(m, off, err)
	// Output: 3:-2 11 <nil>
}

func ExampleError() {
	_, err := layout.Parse("(4,6")
	var e *layout.Error
	if errors.As(err, &e) {
		fmt.Println(e.Op, "·", e.Text, "·", e.Err)
	}
	// Output: Parse · "(4,6" at byte 4: want ',' or ')' · syntax
}

// TestExamples wants an example with output for every exported function and method.
func TestExamples(t *testing.T) {
	fset := token.NewFileSet()
	var files, tests []*ast.File
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		f, err := parser.ParseFile(fset, e.Name(), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(e.Name(), "_test.go") {
			tests = append(tests, f)
		} else {
			files = append(files, f)
		}
	}
	has := map[string]bool{"Error_Error": true, "Error_Unwrap": true} // ExampleError shows them
	for _, e := range doc.Examples(tests...) {
		has[e.Name] = e.Output != ""
	}
	for _, f := range files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !fn.Name.IsExported() {
				continue
			}
			name := fn.Name.Name
			if fn.Recv != nil {
				recv := fn.Recv.List[0].Type
				if p, ok := recv.(*ast.StarExpr); ok {
					recv = p.X
				}
				name = recv.(*ast.Ident).Name + "_" + name
			}
			if !has[name] {
				t.Errorf("%s: no Example%s with an Output", fset.Position(fn.Pos()), name)
			}
		}
	}
}
