package judge_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/ashlar-go/ashlar/judge"
	"github.com/ashlar-go/ashlar/layout"
)

// The columns of a row-major tile lie in one bank each.
func ExampleConflicts() {
	tile := judge.Plain(layout.MustParse("(32,32):(32,1)"))
	r, err := judge.Conflicts(tile, judge.NVIDIA, 32, judge.Columns(32, 1))
	fmt.Println(r.Conflicts(), "conflicts,", r.PerStep[0], "in a step", err)
	padded := judge.Plain(layout.MustParse("(32,32):(33,1)"))
	r, err = judge.Conflicts(padded, judge.NVIDIA, 32, judge.Columns(32, 1))
	fmt.Println(r.Conflicts(), "conflicts, clean:", r.Clean(), err)
	// Output:
	// 992 conflicts, 31 in a step <nil>
	// 0 conflicts, clean: true <nil>
}

// Rows, Columns and Matrices touch a tile in the common ways.
func ExampleParseAccess() {
	for _, text := range []string{"row", "column:4/16", "ldmatrix", "tv:2:(32,4):(1,32)"} {
		a, err := judge.ParseAccess(text)
		fmt.Println(a, err)
	}
	fmt.Println(judge.Rows(32, 1), judge.Columns(16, 4), judge.Matrices())
	// Output:
	// row <nil>
	// column:4/16 <nil>
	// ldmatrix <nil>
	// tv:2:(32,4):(1,32) <nil>
	// row column:4/16 ldmatrix
}

// A thread–value layout takes (thread, value) to a coordinate: here thread t has the four
// elements of row t.
func ExampleThreadValues() {
	own := judge.ThreadValues(layout.MustParse("(8,4):(1,8)"), 4)
	tile := judge.Plain(layout.MustParse("(8,4):(4,1)"))
	r, err := judge.Conflicts(tile, judge.NVIDIA, 32, own)
	fmt.Println(r.Steps, "step of", r.Phases, "phase,", r.Conflicts(), "conflicts", err)
	// Output: 1 step of 1 phase, 0 conflicts <nil>
}

func ExampleParseBanks() {
	b, err := judge.ParseBanks("tensix")
	fmt.Println(b, err)
	b, err = judge.ParseBanks("64x4")
	fmt.Println(b.Count, b.Width, err)
	// Output:
	// 16x16 single <nil>
	// 64 4 <nil>
}

// The swizzle that CUTLASS uses for such a tile is the smallest there is.
func ExampleSolveSwizzle() {
	tile := judge.Plain(layout.MustParse("(64,64):(64,1)"))
	r, err := judge.SolveSwizzle(context.Background(), tile, judge.NVIDIA, 16, judge.Rows(32, 8), judge.Matrices())
	fmt.Println(r.Found, r.Swizzle, r.Searched, "of", r.Space, err)
	// Output: true Sw<3,3,3> 239 of 323 <nil>
}

func ExampleSolveXOR() {
	tile := judge.Plain(layout.MustParse("(32,32):(32,1)"))
	r, err := judge.SolveXOR(context.Background(), tile, judge.NVIDIA, 32, judge.Rows(32, 1), judge.Columns(32, 1))
	fmt.Println(r.Matrix, r.Fewest, err)
	r, err = judge.SolveXOR(context.Background(), tile, judge.Banks{Count: 16, Width: 4}, 64, judge.ThreadValues(layout.MustParse("(8,1):(1,0)"), 1), judge.ThreadValues(layout.MustParse("(8,1):(32,0)"), 1))
	fmt.Println(r.Found, r.Matrix, err)
	// Output:
	// y0 = x0 ^ x5, y1 = x1 ^ x6, y2 = x2 ^ x7, y3 = x3 ^ x8, y4 = x4 ^ x9 true <nil>
	// true y0 = x0 ^ x5, y1 = x1 ^ x6, y2 = x2 ^ x7 <nil>
}

// Three lines through a plane of four words leave no room for a map onto two banks.
func ExampleSolveXOR_none() {
	square := judge.Plain(layout.MustParse("(2,2):(1,2)"))
	var pairs []judge.Access
	for _, tv := range []string{"(2,1):(1,0)", "(2,1):(2,0)", "(2,1):(3,0)"} {
		pairs = append(pairs, judge.ThreadValues(layout.MustParse(tv), 1))
	}
	r, err := judge.SolveXOR(context.Background(), square, judge.Banks{Count: 2, Width: 4}, 32, pairs...)
	fmt.Println(r.Found, r.Decided, r.Spaces, err)
	fmt.Println(r.Why)
	// Output:
	// false true 3 <nil>
	// every linear map from the 2 bits of words to the 1 bits of banks sends a difference of a phase to 0: all kernels were searched
}

func ExampleXOR_At() {
	m := judge.XOR{Rows: []uint64{0b101, 0b010, 0b100}}
	fmt.Println(m, m.Terms())
	for x := range 8 {
		fmt.Print(m.At(x), " ")
	}
	fmt.Println()
	// Output:
	// y0 = x0 ^ x2 1
	// 0 1 2 3 5 4 7 6
}

func ExampleLinearOf() {
	c, err := layout.Eval("Sw<2,0,3> o (8,8):(8,1)")
	if err != nil {
		panic(err)
	}
	l, err := judge.LinearOf(c)
	fmt.Println(l, err)
	back, err := l.Layout()
	fmt.Println(back, err)

	_, err = judge.LinearOf(judge.Plain(layout.MustParse("(4,4):(1,3)")))
	fmt.Println(err)
	// Output:
	// {dim0 = [[9], [18], [32]], dim1 = [[1], [2], [4]]} <nil>
	// Sw<2,0,3> ∘ 0 ∘ (8,8):(8,1) <nil>
	// judge.LinearOf: at coordinate (1,1): the offset is 4, and the XOR of the offsets of its bits 2: adding them carries
}

func ExampleParseLinear() {
	l, err := judge.ParseLinear("{register = [[0, 1], [8, 0]], lane = [[0, 2], [1, 0]]}")
	fmt.Println(l, err)
	for _, d := range append(l.In(), l.Out()...) {
		fmt.Print(d.Name, " ", d.Bits, "; ")
	}
	fmt.Println(l.Columns(), l.At(3))
	// Output:
	// {register = [[0, 1], [8, 0]], lane = [[0, 2], [1, 0]]} <nil>
	// register 2; lane 2; dim0 4; dim1 2; [16 8 32 1] 24
}

func ExampleNewLinear() {
	l, err := judge.NewLinear([]judge.Dim{{Name: "row", Bits: 1}, {Name: "col", Bits: 2}}, []judge.Dim{{Name: "offset", Bits: 3}}, []uint64{5, 1, 2})
	fmt.Println(l, err)
	fmt.Print(l.Matrix())
	back, err := l.Inverse()
	fmt.Println(back, err)
	// Output:
	// {row = [[5]], col = [[1], [2]]} <nil>
	// 1 1 0
	// 0 0 1
	// 1 0 0
	// {offset = [[0, 1], [0, 2], [1, 1]]} <nil>
}

func ExampleFit() {
	l, base, err := judge.Fit(layout.Int(6), func(i int) int { return 10 + []int{0, 3, 12, 15, 24, 27}[i] })
	fmt.Println(l, base, err)
	_, _, err = judge.Fit(layout.Int(6), func(i int) int { return i * i })
	var bad *judge.Mismatch
	fmt.Println(errors.As(err, &bad), bad.Index)
	// Output:
	// (2,3):(3,12) 10 <nil>
	// true 3
}

func ExampleInfer() {
	c, a := layout.MustParse("(2,2):(24,2)"), layout.MustParse("(6,2):(8,2)")
	b, err := judge.Infer(c, a)
	fmt.Println(b, err)
	_, err = judge.Infer(layout.MustParse("(4,2):(8,3)"), a)
	fmt.Println(err)
	// Output:
	// (2,2):(3,6) <nil>
	// judge.Infer: at coordinate (0,1): no B gives this offset: (6,2):(8,2) has no offset 3
}

// Rows of 64 elements go to rows of 80: whole vectors of 8 everywhere.
func ExampleRelay() {
	m, err := judge.Relay(judge.Plain(layout.MustParse("(8,64):(64,1)")), judge.Plain(layout.MustParse("(8,64):(80,1)")), 8)
	fmt.Println(m.Moves, "moves, uniform vectors of", m.Uniform, err)
	m, err = judge.Relay(judge.Plain(layout.MustParse("(8,8):(8,1)")), judge.Plain(layout.MustParse("(8,8):(1,8)")), 8)
	fmt.Println(m.Moves, "moves, uniform vectors of", m.Uniform, err)
	// Output:
	// 64 moves, uniform vectors of 8 <nil>
	// 64 moves, uniform vectors of 1 <nil>
}

func ExampleStridedOf() {
	c, err := layout.Eval("(4,6):(6,1)[1:3, ::2]")
	if err != nil {
		panic(err)
	}
	s, err := judge.StridedOf(c, 4)
	fmt.Println(s, err)
	back, err := s.Layout()
	fmt.Println(back.Inner(), back.Base(), err)
	// Output:
	// shape=(2,3), strides=(24,8), itemsize=4, offset=24 <nil>
	// (2,3):(6,2) 6 <nil>
}

func ExampleTiledOf() {
	c, err := layout.Eval("tile_to_shape (tile_to_shape (16,16):(16,1) (32,32) (1,0)) (64,96) (1,0)")
	if err != nil {
		panic(err)
	}
	t, err := judge.TiledOf(c.Inner())
	fmt.Println(t, err)
	l, err := t.Layout()
	fmt.Println(l.Equal(c.Inner()), err)
	// Output:
	// 64×96 in tiles of 32×32 <nil>
	// true <nil>
}

func ExampleParse() {
	for _, text := range []string{
		"make_layout(make_shape(_4{}, Int<5>{}), LayoutRight{})",
		"Layout.row_major(4, 5)",
		"shape=(4, 5), strides=(20, 4), itemsize=4",
		"(8,8):(8,1) / <2,4>",
	} {
		c, err := judge.Parse(text)
		fmt.Println(c.Inner(), err)
	}
	// Output:
	// (4,5):(5,1) <nil>
	// (4,5):(5,1) <nil>
	// (4,5):(5,1) <nil>
	// ((2,4),(4,2)):((8,16),(1,4)) <nil>
}

func ExamplePrint() {
	c := judge.Plain(layout.MustParse("(4,8):(8,1)"))
	for _, s := range judge.Spellings {
		if s == "matrix" || !judge.IsSpelling(s) {
			continue
		}
		text, err := judge.Print(c, s, 4)
		fmt.Println(text, err)
	}
	// Output:
	// (4,8):(8,1) <nil>
	// make_layout(make_shape(Int<4>{}, Int<8>{}), make_stride(Int<8>{}, Int<1>{})) <nil>
	// shape=(4,8), strides=(32,4), itemsize=4 <nil>
	// Layout.row_major(4, 8) <nil>
	// {dim0 = [[8], [16]], dim1 = [[1], [2], [4]]} <nil>
	// 4×8, row-major <nil>
	// layout.MustParse("(4,8):(8,1)") <nil>
}

// NVIDIA/cutlass#2955.
func ExampleJudge() {
	v, err := judge.Judge("compose", layout.MustParse("(6,2):(1,7)"), layout.MustParse("(3,2):(2,3)"), 0)
	if err != nil {
		panic(err)
	}
	fmt.Print(v)
	// Output:
	// compose (6,2):(1,7) (3,2):(2,3)
	// exact    none: at coordinate (2,1): no layout of shape (3,2) agrees up to here: its parts add up to 7
	// pycute   (3,2):(2,3), wrong at coordinate (2,1): it gives 7, right is 8
	// cutegen  (3,2):(2,3), wrong at coordinate (2,1): it gives 7, right is 8
}

func ExampleFindFaults() {
	list, err := judge.FindFaults(context.Background(), 1, 2000)
	if err != nil {
		panic(err)
	}
	for _, f := range list {
		if f.Op == "logical_divide" && f.Kind == "smaller" && f.Rules == "cutegen" {
			fmt.Print(f.Verdict)
		}
	}
	// Output:
	// logical_divide (6,6):(1,6) 5:2
	// exact    (5,(2,4)):(2,(1,10))
	// pycute   (5,(2,4)):(2,(1,10)), right
	// cutegen  (5,(2,3)):(2,(1,10)), wrong at coordinate (0,6): it has 30 coordinates instead of 40, and this one is missing
}
