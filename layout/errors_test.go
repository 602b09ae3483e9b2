package layout

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/errors.txt")

// TestErrors compares the text of every error with testdata/errors.txt: call,
// sentinel and text, one line each.
func TestErrors(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("the numbers in the texts are those of 64 bits")
	}
	const top = math.MaxInt
	a, b, col := MustParse("(4,6):(6,1)"), MustParse("((2,2),4):((1,8),2)"), MustParse("(6,4):(1,6)")
	parse := func(s string) error { _, err := Parse(s); return err }
	subscript := func(s string) error { _, err := ParseSlice(s); return err }
	slice := func(l Layout, s string) error {
		idx, err := ParseSlice(s)
		if err == nil {
			_, _, err = l.Slice(idx...)
		}
		return err
	}
	second := func(_ Layout, err error) error { return err }
	outside := func(_ int, err error) error { return err }
	coord := func(_ []int, err error) error { return err }
	cut := func(_ Layout, _ int, err error) error { return err }
	tuple := func(s string) error { _, err := ParseTuple(s); return err }
	nest := func(_ Tuple, err error) error { return err }
	listed := coord
	swizzle := func(_ Swizzle, err error) error { return err }
	composed := func(_ Composed, err error) error { return err }
	wide := must(New([]int{top}, []int{1}))
	backward, twos := MustParse("4:-1"), MustParse("4:2")
	rows, overlapping := MustParse("(3,4):(4,1)"), MustParse("(4,4):(1,2)")
	var out bytes.Buffer
	for _, c := range []struct {
		call string
		err  error
	}{
		{"New lengths", second(New([]int{2, 3}, []int{1}))},
		{"New negative", second(New([]int{2, -3}, []int{1, 1}))},
		{"New size", second(New([]int{top, 2}, []int{1, 1}))},
		{"New offset", second(New([]int{3}, []int{top}))},
		{"New span", second(New([]int{2, 2}, []int{top - 1, -5}))},
		{"New modes", second(New(make([]int, maxRank+1), make([]int, maxRank+1)))},
		{"RowMajor negative", second(RowMajor(2, -1))},
		{"RowMajor size", second(RowMajor(top, 2))},
		{"ColMajor modes", second(ColMajor(make([]int, maxRank+1)...))},
		{"Offset", outside(a.Offset(24))},
		{"Coord", coord(b.Coord(-1))},
		{"Slice indices", slice(a, "1, 2, 3")},
		{"Slice ellipses", cut(a.Slice(Ellipsis(), Ellipsis()))},
		{"Slice point", slice(a, "1, -7")},
		{"Slice nested point", slice(b, "4")},
		{"Slice step", cut(a.Slice(Range(0, 2, 0)))},
		{"Slice nested step", cut(b.Slice(Range(0, 2, 0)))},
		{"Slice leaves", slice(b, "1:")},
		{"Permute count", second(a.Permute(0))},
		{"Permute repeated", second(a.Permute(1, -1))},
		{"BroadcastTo rank", second(a.BroadcastTo(6))},
		{"BroadcastTo extent", second(a.BroadcastTo(2, 4, 7))},
		{"BroadcastTo negative", second(a.BroadcastTo(-2, 4, 6))},
		{"BroadcastTo size", second(a.BroadcastTo(top, 4, 6))},
		{"View count", second(a.View(5, 5))},
		{"View negative", second(a.View(-1, 24))},
		{"View size", second(a.View(top, top))},
		{"View split", second(col.View(4, 6))},
		{"View merge", second(col.View(24))},
		{"View nested", second(b.View(16))},
		{"Parse empty", parse("")},
		{"Parse word", parse("(4,x):(1,2)")},
		{"Parse strides", parse("(4,6)")},
		{"Parse bracket", parse("(4,6:1")},
		{"Parse comma", parse("(4,):(1)")},
		{"Parse tuple", parse("(4,()):(1,())")},
		{"Parse nesting", parse("(4,(2,3)):(1,4,8)")},
		{"Parse bare", parse("4:(1)")},
		{"Parse end", parse("4:1 2")},
		{"Parse number", parse("4:99999999999999999999")},
		{"Parse negative", parse("(4,-6):(1,1)")},
		{"Parse deep", parse("((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1")},
		{"ParseTuple comma", tuple("(1,)")},
		{"ParseTuple bracket", tuple("(1")},
		{"ParseTuple end", tuple("1,2")},
		{"Tuple.Flatten", listed(MustParseTuple("(2,_)").Flatten())},
		{"Tuple.Product", outside(Ints(top, 2).Product())},
		{"PrefixProduct hole", nest(PrefixProduct(MustParseTuple("(2,_)")))},
		{"PrefixProduct size", nest(PrefixProduct(Ints(top, 2, 2)))},
		{"InnerProduct nesting", outside(InnerProduct(Ints(1, 2), Ints(1, 2, 3)))},
		{"InnerProduct size", outside(InnerProduct(Ints(top), Ints(2)))},
		{"ShapeDiv divide", nest(ShapeDiv(Ints(4, 6), Int(3)))},
		{"ShapeDiv rank", nest(ShapeDiv(Ints(4, 6), Ints(2)))},
		{"ShapeDiv hole", nest(ShapeDiv(Hole(), Ints(2)))},
		{"Of nesting", second(Of(Ints(2, 3), Ints(1, 2, 6)))},
		{"Of hole", second(Of(MustParseTuple("(2,_)"), MustParseTuple("(2,_)")))},
		{"Of empty list", second(Of(MustParseTuple("(2,())"), MustParseTuple("(2,())")))},
		{"OffsetAt nesting", outside(b.OffsetAt(MustParseTuple("((1,0,0),2)")))},
		{"OffsetAt range", outside(b.OffsetAt(MustParseTuple("((1,2),2)")))},
		{"OffsetAt hole", outside(b.OffsetAt(MustParseTuple("(_,2)")))},
		{"CoordOf", nest(b.CoordOf(16))},
		{"Fix nesting", cut(b.Fix(MustParseTuple("(_,_,_)")))},
		{"Ordered order", second(Ordered(Ints(2, 3), Ints(1, 2, 3)))},
		{"Ordered size", second(Ordered(Ints(top, 3), Ints(1, 2)))},
		{"Join rank", second(Join(a, Layout{}))},
		{"CoalesceByMode", second(a.CoalesceByMode(Ints(1, 1, 1)))},
		{"Compose uneven", second(Compose(MustParse("(6,2):(8,2)"), MustParse("3:4")))},
		{"Compose carry", second(Compose(MustParse("(6,2):(1,7)"), MustParse("(3,2):(2,3)")))},
		{"Compose negative", second(Compose(a, MustParse("2:-1")))},
		{"Compose empty", second(Compose(MustParse("0:1"), MustParse("2:1")))},
		{"Compose size", second(Compose(MustParse("2:2"), wide))},
		{"ComposeByMode rank", second(ComposeByMode(a, make([]Layout, 3)...))},
		{"ComposeByMode uneven", second(ComposeByMode(b, MustParse("3:1")))},
		{"Complement overlap", second(Complement(MustParse("(4,3):(1,2)"), 24))},
		{"Complement negative", second(Complement(MustParse("4:-1"), 24))},
		{"Complement size", second(Complement(a, -1))},
		{"LeftInverse overlap", second(LeftInverse(MustParse("(4,3):(1,2)")))},
		{"LeftInverse multiple", second(LeftInverse(MustParse("(2,2):(2,5)")))},
		{"LogicalDivide complement", second(LogicalDivide(a, MustParse("4:-1")))},
		{"LogicalDivide uneven", second(LogicalDivide(a, MustParse("3:1")))},
		{"ZippedDivideByMode rank", second(ZippedDivideByMode(a, make([]Layout, 3)...))},
		{"LogicalProduct complement", second(LogicalProduct(MustParse("(4,3):(1,2)"), a))},
		{"LogicalProduct uneven", second(LogicalProduct(MustParse("(2,2):(2,8)"), MustParse("3:1")))},
		{"TileToShape rank", second(TileToShape(a, []int{8}))},
		{"TileToShape order", second(TileToShape(a, []int{8, 12}, 1))},
		{"TileToShape blocks", second(TileToShape(a, []int{8, 13}))},
		{"Upcast zero", second(a.Upcast(0))},
		{"Upcast divide", second(a.Upcast(4))},
		{"Upcast filled", second(rows.Upcast(8))},
		{"Upcast overlap", second(overlapping.Upcast(4))},
		{"Upcast negative", second(backward.Upcast(2))},
		{"Downcast ones", second(twos.Downcast(2))},
		{"Downcast negative", second(backward.Downcast(2))},
		{"Downcast size", second(a.Downcast(top))},
		{"Recast width", second(a.Recast(8, 0))},
		{"Recast divide", second(a.Recast(8, 40))},
		{"NewSwizzle negative", swizzle(NewSwizzle(-1, 0, 3))},
		{"NewSwizzle shift", swizzle(NewSwizzle(3, 0, 2))},
		{"NewSwizzle size", swizzle(NewSwizzle(3, 30, 40))},
		{"Swizzle.Upcast", swizzle(Swizzle{2, 1, -3}.Upcast(4))},
		{"Swizzle.Downcast", swizzle(Swizzle{2, 1, -3}.Downcast(3))},
		{"NewComposed negative", composed(NewComposed(a, -1, a))},
		{"NewComposed empty", composed(NewComposed(MustParse("0:1"), 0, a))},
		{"NewComposed size", composed(NewComposed(Swizzle{}, top, a))},
		{"Composed.Offset", outside(Composed{inner: a}.Offset(24))},
		{"ParseSlice comma", subscript("1,,2")},
		{"ParseSlice word", subscript("1:3, all")},
		{"ParseSlice two", subscript("1 2")},
		{"ParseSlice step", subscript("::0")},
		{"ParseSlice dots", subscript("..., 1, ...")},
		{"ParseSlice number", subscript("99999999999999999999:")},
		{"ParseSlice colons", subscript("1:2:3:4")},
	} {
		var typed *Error
		if !errors.As(c.err, &typed) || typed.Unwrap() == nil {
			t.Errorf("%s: %v is no *Error with a reason", c.call, c.err)
			continue
		}
		fmt.Fprintf(&out, "%s\t%v\t%v\n", c.call, typed.Unwrap(), c.err)
	}
	const file = "testdata/errors.txt"
	if *update {
		if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	gotLines, wantLines := bytes.Split(out.Bytes(), []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range max(len(gotLines), len(wantLines)) {
		g, w := line(gotLines, i), line(wantLines, i)
		if g != w {
			t.Errorf("line %d (-update rewrites the file)\n got %s\nwant %s", i+1, g, w)
		}
	}
}

func line(lines [][]byte, i int) string {
	if i < len(lines) {
		return string(lines[i])
	}
	return ""
}

// TestPanics has the accessors that want an index inside: they panic with an
// error, as a slice does.
func TestPanics(t *testing.T) {
	for _, s := range []string{"(4,6):(6,1)", "((2,2),4):((1,8),2)", "((1,1),1,1,1,1,1,1,1,1):((1,1),1,1,1,1,1,1,1,1)"} {
		l := MustParse(s)
		for name, f := range map[string]func(int){
			"Dim":        func(i int) { l.Dim(i) },
			"Mode":       func(i int) { l.Mode(i) },
			"ModeLeaves": func(i int) { l.ModeLeaves(i) },
			"Stride":     func(i int) { l.Stride(i) },
			"Leaf":       func(i int) { l.Leaf(i + l.Leaves() - l.Rank()) },
		} {
			for _, i := range []int{l.Rank(), math.MaxInt / 2, -l.Leaves() - 1, math.MinInt} {
				func() {
					defer func() {
						if _, ok := recover().(error); !ok {
							t.Errorf("%s: %s(%d) doesn't panic", l, name, i)
						}
					}()
					f(i)
				}()
			}
		}
	}
}
