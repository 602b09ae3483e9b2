package layout_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/layout"
)

func ExampleInt() {
	fmt.Println(layout.Int(4))
	// Output: 4
}

func ExampleInts() {
	fmt.Println(layout.Ints(2, 3), layout.Ints())
	// Output: (2,3) ()
}

func ExampleList() {
	fmt.Println(layout.List(layout.Ints(2, 3), layout.Int(4)))
	// Output: ((2,3),4)
}

func ExampleHole() {
	fmt.Println(layout.List(layout.Hole(), layout.Int(1)))
	// Output: (_,1)
}

func ExampleTuple_Int() {
	fmt.Println(layout.Int(4).Int())
	fmt.Println(layout.Ints(4).Int())
	// Output:
	// 4 true
	// 0 false
}

func ExampleTuple_IsList() {
	fmt.Println(layout.Int(4).IsList(), layout.Ints(4).IsList())
	// Output: false true
}

func ExampleTuple_IsHole() {
	fmt.Println(layout.Hole().IsHole(), layout.Int(0).IsHole())
	// Output: true false
}

func ExampleTuple_Rank() {
	t := layout.MustParseTuple("((2,3),4)")
	fmt.Println(t.Rank(), t.Depth())
	// Output: 2 2
}

func ExampleTuple_Depth() {
	for _, s := range []string{"4", "(2,3)", "((2,2),3)"} {
		fmt.Println(s, layout.MustParseTuple(s).Depth())
	}
	// Output:
	// 4 0
	// (2,3) 1
	// ((2,2),3) 2
}

func ExampleTuple_Entry() {
	t := layout.MustParseTuple("((2,3),4)")
	for i := range t.Rank() {
		fmt.Println(t.Entry(i))
	}
	// Output:
	// (2,3)
	// 4
}

func ExampleTuple_Flatten() {
	fmt.Println(layout.MustParseTuple("((2,3),4)").Flatten())
	fmt.Println(layout.MustParseTuple("(_,4)").Flatten())
	// Output:
	// [2 3 4] <nil>
	// [] layout.Tuple.Flatten: (_,4) has a hole
}

func ExampleTuple_Product() {
	fmt.Println(layout.MustParseTuple("((2,3),4)").Product())
	// Output: 24 <nil>
}

func ExampleTuple_Equal() {
	fmt.Println(layout.Ints(4).Equal(layout.Ints(4)), layout.Ints(4).Equal(layout.Int(4)))
	// Output: true false
}

func ExampleTuple_String() {
	fmt.Println(layout.List(layout.Ints(2, 3), layout.Hole()).String())
	// Output: ((2,3),_)
}

func ExampleParseTuple() {
	fmt.Println(layout.ParseTuple("( (2, 3), _ )"))
	fmt.Println(layout.ParseTuple("(2, 3"))
	// Output:
	// ((2,3),_) <nil>
	// 0 layout.ParseTuple: "(2, 3" at byte 5: want ',' or ')'
}

func ExampleMustParseTuple() {
	fmt.Println(layout.MustParseTuple("((2,3),4)"))
	// Output: ((2,3),4)
}

func ExampleCongruent() {
	a, b := layout.MustParseTuple("((2,3),4)"), layout.MustParseTuple("((1,2),6)")
	fmt.Println(layout.Congruent(a, b), layout.Congruent(a, layout.Ints(6, 4)))
	// Output: true false
}

func ExampleCompatible() {
	shape := layout.MustParseTuple("((2,2),6)")
	for _, s := range []string{"24", "(4,6)", "((2,2),6)", "(6,4)"} {
		fmt.Println(s, layout.Compatible(layout.MustParseTuple(s), shape))
	}
	// Output:
	// 24 true
	// (4,6) true
	// ((2,2),6) true
	// (6,4) false
}

func ExampleWeaklyCompatible() {
	fmt.Println(layout.WeaklyCompatible(layout.Ints(2, 3), layout.MustParseTuple("((2,2),6)")))
	// Output: true
}

func ExamplePrefixProduct() {
	fmt.Println(layout.PrefixProduct(layout.MustParseTuple("((2,3),4)")))
	// Output: ((1,2),6) <nil>
}

func ExampleInnerProduct() {
	fmt.Println(layout.InnerProduct(layout.MustParseTuple("((2,3),4)"), layout.MustParseTuple("((2,1),2)")))
	// Output: 15 <nil>
}

func ExampleShapeDiv() {
	fmt.Println(layout.ShapeDiv(layout.MustParseTuple("((3,4),6)"), layout.Int(36)))
	fmt.Println(layout.ShapeDiv(layout.Ints(6, 4), layout.Ints(3, 2)))
	// Output:
	// ((1,1),2) <nil>
	// (2,2) <nil>
}

func ExampleLayout_Extents() {
	l := layout.MustParse("((2,2),4):((1,8),2)")
	fmt.Println(l.Extents())
	// Output: ((2,2),4)
}

func ExampleLayout_Strides() {
	l := layout.MustParse("((2,2),4):((1,8),2)")
	fmt.Println(l.Strides())
	// Output: ((1,8),2)
}

func ExampleOf() {
	shape := layout.MustParseTuple("((2,2),4)")
	fmt.Println(layout.Of(shape, layout.MustParseTuple("((1,8),2)")))
	// Output: ((2,2),4):((1,8),2) <nil>
}

func ExampleLayout_OffsetAt() {
	l := layout.MustParse("((2,2),4):((1,8),2)")
	for _, s := range []string{"7", "(3,1)", "((1,1),1)"} {
		fmt.Println(l.OffsetAt(layout.MustParseTuple(s)))
	}
	// Output:
	// 11 <nil>
	// 11 <nil>
	// 11 <nil>
}

func ExampleLayout_CoordOf() {
	l := layout.MustParse("((2,2),4):((1,8),2)")
	fmt.Println(l.CoordOf(7))
	// Output: ((1,1),1) <nil>
}

func ExampleLayout_Fix() {
	l := layout.MustParse("((2,2),3):((1,4),8)")
	fmt.Println(l.Fix(layout.MustParseTuple("(_,1)")))
	fmt.Println(l.Fix(layout.MustParseTuple("((_,1),_)")))
	// Output:
	// ((2,2)):((1,4)) 8 <nil>
	// (2,3):(1,8) 4 <nil>
}

func ExampleRowMajorOf() {
	fmt.Println(layout.RowMajorOf(layout.MustParseTuple("((2,3),4)")))
	// Output: ((2,3),4):((12,4),1) <nil>
}

func ExampleColMajorOf() {
	fmt.Println(layout.ColMajorOf(layout.MustParseTuple("((2,3),4)")))
	// Output: ((2,3),4):((1,2),6) <nil>
}

func ExampleOrdered() {
	fmt.Println(layout.Ordered(layout.Ints(2, 3, 4), layout.Ints(2, 0, 1)))
	// Output: (2,3,4):(12,1,3) <nil>
}

func ExampleJoin() {
	fmt.Println(layout.Join(layout.MustParse("(2,2):(1,8)"), layout.MustParse("4:2")))
	// Output: ((2,2),4):((1,8),2) <nil>
}

func ExampleLayout_Flatten() {
	l := layout.MustParse("((2,2),4):((1,8),2)")
	fmt.Println(l.Flatten())
	// Output: (2,2,4):(1,8,2)
}

func ExampleLayout_CoalesceByMode() {
	l := layout.MustParse("(2,(1,6)):(1,(6,2))")
	fmt.Println(l.CoalesceByMode(layout.Ints(1, 1)))
	// Output: (2,6):(1,2) <nil>
}

func ExampleLayout_Filter() {
	l := layout.MustParse("(2,4,3):(1,0,2)")
	fmt.Println(l.Filter())
	// Output: 6:1
}

func ExampleLayout_Nullspace() {
	l := layout.MustParse("(2,4,3):(1,0,2)")
	fmt.Println(l.Nullspace())
	// Output: 4:2
}

func ExampleCompose() {
	a := layout.MustParse("(6,2):(8,2)")
	fmt.Println(layout.Compose(a, layout.MustParse("(4,3):(3,1)")))
	_, err := layout.Compose(a, layout.MustParse("3:4"))
	fmt.Println(err)
	// Output:
	// ((2,2),3):((24,2),8) <nil>
	// layout.Compose: (6,2):(8,2) ∘ 3:4: leaf 3:4 of the second crosses leaf 6:8 of the first unevenly
}

func ExampleComposeByMode() {
	fmt.Println(layout.ComposeByMode(layout.MustParse("(8,6):(6,1)"), layout.MustParse("2:4"), layout.MustParse("3:2")))
	// Output: (2,3):(24,2) <nil>
}

func ExampleComplement() {
	fmt.Println(layout.Complement(layout.MustParse("4:2"), 24))
	fmt.Println(layout.Complement(layout.MustParse("(2,2):(1,6)"), 24))
	// Output:
	// (2,3):(1,8) <nil>
	// (3,2):(2,12) <nil>
}

func ExampleRightInverse() {
	fmt.Println(layout.RightInverse(layout.MustParse("(8,4):(4,1)")))
	// Output: (4,8):(8,1)
}

func ExampleLeftInverse() {
	fmt.Println(layout.LeftInverse(layout.MustParse("(4,2):(1,5)")))
	// Output: (5,2):(1,4) <nil>
}

func ExampleMaxCommonVector() {
	fmt.Println(layout.MaxCommonVector(layout.MustParse("(8,4):(1,8)"), layout.MustParse("(8,4):(1,16)")))
	// Output: 8
}

func ExampleMaxCommonLayout() {
	fmt.Println(layout.MaxCommonLayout(layout.MustParse("(4,8):(8,1)"), layout.MustParse("(4,8):(8,1)")))
	// Output: (8,4):(4,1)
}

func ExampleLogicalDivide() {
	fmt.Println(layout.LogicalDivide(layout.MustParse("(4,2,3):(2,1,8)"), layout.MustParse("4:2")))
	fmt.Println(layout.LogicalDivide(layout.MustParse("10:1"), layout.MustParse("4:1"))) // 12 > 10
	// Output:
	// ((2,2),(2,3)):((4,1),(2,8)) <nil>
	// (4,3):(1,4) <nil>
}

func ExampleZippedDivide() {
	fmt.Println(layout.ZippedDivide(layout.MustParse("(4,2,3):(2,1,8)"), layout.MustParse("4:2")))
	// Output: ((2,2),(2,3)):((4,1),(2,8)) <nil>
}

func ExampleTiledDivide() {
	fmt.Println(layout.TiledDivide(layout.MustParse("(4,2,3):(2,1,8)"), layout.MustParse("4:2")))
	// Output: ((2,2),2,3):((4,1),2,8) <nil>
}

func ExampleFlatDivide() {
	fmt.Println(layout.FlatDivide(layout.MustParse("(4,2,3):(2,1,8)"), layout.MustParse("4:2")))
	// Output: (2,2,2,3):(4,1,2,8) <nil>
}

func ExampleLogicalDivideByMode() {
	fmt.Println(layout.LogicalDivideByMode(layout.MustParse("(8,8):(8,1)"), layout.MustParse("2:1"), layout.MustParse("4:1")))
	// Output: ((2,4),(4,2)):((8,16),(1,4)) <nil>
}

func ExampleZippedDivideByMode() {
	fmt.Println(layout.ZippedDivideByMode(layout.MustParse("(8,8):(8,1)"), layout.MustParse("2:1"), layout.MustParse("4:1")))
	// Output: ((2,4),(4,2)):((8,1),(16,4)) <nil>
}

func ExampleTiledDivideByMode() {
	fmt.Println(layout.TiledDivideByMode(layout.MustParse("(8,8):(8,1)"), layout.MustParse("2:1"), layout.MustParse("4:1")))
	// Output: ((2,4),4,2):((8,1),16,4) <nil>
}

func ExampleFlatDivideByMode() {
	fmt.Println(layout.FlatDivideByMode(layout.MustParse("(8,8):(8,1)"), layout.MustParse("2:1"), layout.MustParse("4:1")))
	// Output: (2,4,4,2):(8,1,16,4) <nil>
}

func ExampleLogicalProduct() {
	fmt.Println(layout.LogicalProduct(layout.MustParse("(2,2):(4,1)"), layout.MustParse("6:1")))
	// Output: ((2,2),(2,3)):((4,1),(2,8)) <nil>
}

func ExampleZippedProduct() {
	fmt.Println(layout.ZippedProduct(layout.MustParse("(2,2):(4,1)"), layout.MustParse("(2,3):(1,2)")))
	// Output: ((2,2),(2,3)):((4,1),(2,8)) <nil>
}

func ExampleTiledProduct() {
	fmt.Println(layout.TiledProduct(layout.MustParse("(2,2):(4,1)"), layout.MustParse("(2,3):(1,2)")))
	// Output: ((2,2),2,3):((4,1),2,8) <nil>
}

func ExampleFlatProduct() {
	fmt.Println(layout.FlatProduct(layout.MustParse("(2,2):(4,1)"), layout.MustParse("(2,3):(1,2)")))
	// Output: (2,2,2,3):(4,1,2,8) <nil>
}

func ExampleLogicalProductByMode() {
	fmt.Println(layout.LogicalProductByMode(layout.MustParse("(2,5):(5,1)"), layout.MustParse("3:5"), layout.MustParse("4:6")))
	// Output: ((2,3),(5,4)):((5,10),(1,30)) <nil>
}

func ExampleBlockedProduct() {
	fmt.Println(layout.BlockedProduct(layout.MustParse("(2,5):(5,1)"), layout.MustParse("(3,4):(1,3)")))
	// Output: ((2,3),(5,4)):((5,10),(1,30)) <nil>
}

func ExampleRakedProduct() {
	fmt.Println(layout.RakedProduct(layout.MustParse("(2,5):(5,1)"), layout.MustParse("(3,4):(1,3)")))
	// Output: ((3,2),(4,5)):((10,5),(30,1)) <nil>
}

func ExampleTileToShape() {
	block := layout.MustParse("(2,5):(5,1)")
	fmt.Println(layout.TileToShape(block, []int{6, 20}))
	fmt.Println(layout.TileToShape(block, []int{6, 20}, 1, 0))
	// Output:
	// ((2,3),(5,4)):((5,10),(1,30)) <nil>
	// ((2,3),(5,4)):((5,40),(1,10)) <nil>
}

func ExampleLayout_Upcast() {
	l := layout.MustParse("(4,3):(2,4)")
	fmt.Println(l.Upcast(2))
	fmt.Println(l.Upcast(4))
	// Output:
	// (4,3):(1,2) <nil>
	// (2,3):(1,1) <nil>
}

func ExampleLayout_Downcast() {
	l := layout.MustParse("(4,2):(2,1)")
	fmt.Println(l.Downcast(4))
	// Output: (4,8):(8,1) <nil>
}

func ExampleLayout_Spread() {
	l := layout.MustParse("((2,2),3):((1,6),2)")
	fmt.Println(l.Spread(2))
	// Output: ((2,2),3):((2,12),4) <nil>
}

func ExampleLayout_Recast() {
	l := layout.MustParse("(8,4):(1,8)")
	fmt.Println(l.Recast(8, 32))
	fmt.Println(l.Recast(8, 4))
	// Output:
	// (2,4):(1,2) <nil>
	// (16,4):(1,16) <nil>
}

func ExampleSwizzle() {
	w, err := layout.NewSwizzle(2, 0, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	for row := range 4 { // of 8 banks each
		for i := range 8 {
			fmt.Printf("%3d", w.At(8*row+i))
		}
		fmt.Println()
	}
	// Output:
	//   0  1  2  3  4  5  6  7
	//   9  8 11 10 13 12 15 14
	//  18 19 16 17 22 23 20 21
	//  27 26 25 24 31 30 29 28
}

func ExampleNewSwizzle() {
	fmt.Println(layout.NewSwizzle(3, 3, 3))
	fmt.Println(layout.NewSwizzle(2, 0, 1))
	// Output:
	// Sw<3,3,3> <nil>
	// Sw<0,0,0> layout.NewSwizzle: Sw<2,0,1>: a shift of less than 2 bits lets bits flip themselves
}

func ExampleSwizzle_Bits() {
	w, err := layout.NewSwizzle(2, 0, 3)
	fmt.Println(w.Bits(), w.Base(), w.Shift(), err)
	// Output: 2 0 3 <nil>
}

func ExampleSwizzle_Base() {
	w, err := layout.NewSwizzle(2, 4, 3)
	fmt.Println(w.Base(), err)
	// Output: 4 <nil>
}

func ExampleSwizzle_Shift() {
	w, err := layout.NewSwizzle(2, 4, -3)
	fmt.Println(w.Shift(), err)
	// Output: -3 <nil>
}

func ExampleSwizzle_Size() {
	w, err := layout.NewSwizzle(2, 0, 3)
	fmt.Println(w.Size(), err)
	// Output: 32 <nil>
}

func ExampleSwizzle_At() {
	w, err := layout.NewSwizzle(2, 0, 3)
	fmt.Println(w.At(10), w.At(w.At(10)), err)
	// Output: 11 10 <nil>
}

func ExampleSwizzle_String() {
	w, err := layout.NewSwizzle(2, 0, 3)
	fmt.Println(w.String(), err)
	// Output: Sw<2,0,3> <nil>
}

func ExampleSwizzle_Upcast() {
	w, err := layout.NewSwizzle(3, 4, 3) // of bytes
	fmt.Println(w, err)
	fmt.Println(w.Upcast(2)) // of 16-bit words
	// Output:
	// Sw<3,4,3> <nil>
	// Sw<3,3,3> <nil>
}

func ExampleSwizzle_Downcast() {
	w, err := layout.NewSwizzle(3, 3, 3)
	fmt.Println(w, err)
	fmt.Println(w.Downcast(2))
	// Output:
	// Sw<3,3,3> <nil>
	// Sw<3,4,3> <nil>
}

// swizzled is an 8×8 tile whose columns fall into different banks.
func swizzled() layout.Composed {
	w, err := layout.NewSwizzle(3, 0, 3)
	if err != nil {
		panic(err)
	}
	c, err := layout.NewComposed(w, 0, layout.MustParse("(8,8):(8,1)"))
	if err != nil {
		panic(err)
	}
	return c
}

func ExampleNewComposed() {
	c := swizzled()
	fmt.Println(c)
	for row := range 4 { // where column 0 lies
		off, err := c.OffsetAt(layout.Ints(row, 0))
		fmt.Println(off, err)
	}
	// Output:
	// Sw<3,0,3> ∘ 0 ∘ (8,8):(8,1)
	// 0 <nil>
	// 9 <nil>
	// 18 <nil>
	// 27 <nil>
}

func ExampleComposed_Outer() {
	fmt.Println(swizzled().Outer())
	// Output: Sw<3,0,3>
}

func ExampleComposed_Base() {
	fmt.Println(swizzled().Base())
	// Output: 0
}

func ExampleComposed_Inner() {
	fmt.Println(swizzled().Inner())
	// Output: (8,8):(8,1)
}

func ExampleComposed_Size() {
	fmt.Println(swizzled().Size())
	// Output: 64
}

func ExampleComposed_Offset() {
	fmt.Println(swizzled().Offset(1)) // the second row of the first column
	// Output: 9 <nil>
}

func ExampleComposed_OffsetAt() {
	fmt.Println(swizzled().OffsetAt(layout.Ints(1, 0)))
	// Output: 9 <nil>
}

func ExampleComposed_Fix() {
	fmt.Println(swizzled().Fix(layout.List(layout.Int(2), layout.Hole())))
	// Output: Sw<3,0,3> ∘ 16 ∘ 8:1 <nil>
}

func ExampleComposed_String() {
	fmt.Println(swizzled().String())
	// Output: Sw<3,0,3> ∘ 0 ∘ (8,8):(8,1)
}
