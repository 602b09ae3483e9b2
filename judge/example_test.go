package judge_test

import (
	"context"
	"fmt"

	"github.com/ashlar-go/ashlar/judge"
	"github.com/ashlar-go/ashlar/layout"
)

// The elements of a column of a row-major tile lie in one bank.
func ExampleConflicts() {
	tile := judge.Plain(layout.MustParse("(32,32):(32,1)"))
	r, err := judge.Conflicts(tile, judge.NVIDIA, 32, judge.Columns(32, 1))
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d cycles for %d phases\n", r.Cycles, r.Phases)
	// Output: 1024 cycles for 32 phases
}

// A warp that reads a column moves eight times the bytes that it wants.
func ExampleTransactions() {
	tile := judge.Plain(layout.MustParse("(128,128):(128,1)"))
	gpu, err := judge.ParseLines("nvidia")
	if err != nil {
		panic(err)
	}
	for _, a := range []judge.Access{judge.Rows(256, 4), judge.Columns(256, 1)} {
		t, err := judge.Transactions(tile, gpu, 256, 32, a)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%v: %d of %d bytes, loads of %d elements\n", a, t.Useful/8, t.Moved, t.Widest)
	}
	// Output:
	// row:4/256: 65536 of 65536 bytes, loads of 4 elements
	// column:1/256: 65536 of 524288 bytes, loads of 1 elements
}

func ExampleParseLines() {
	m, err := judge.ParseLines("amd")
	if err != nil {
		panic(err)
	}
	fmt.Println(m)
	// Output: 64/128/64/16
}

// The threads follow the columns, which are contiguous, with four elements each.
func ExampleSolveOrder() {
	tile := judge.Plain(layout.MustParse("(128,128):(1,128)"))
	gpu, err := judge.ParseLines("nvidia")
	if err != nil {
		panic(err)
	}
	o, err := judge.SolveOrder(context.Background(), tile, gpu, 256, 32, 256)
	if err != nil {
		panic(err)
	}
	fmt.Println(o.Access, o.Traffic.Sectors, o.Proven())
	// Output: tv:4:(256,(4,16)):(4,(1,1024)) 2048 true
}

// Rows that are one element longer put a column into all banks.
func ExampleReport_Clean() {
	padded := judge.Plain(layout.MustParse("(32,32):(33,1)"))
	r, err := judge.Conflicts(padded, judge.NVIDIA, 32, judge.Columns(32, 1))
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Clean())
	// Output: true
}

func ExampleRows() {
	fmt.Println(judge.Rows(16, 4))
	// Output: row:4/16
}

func ExampleColumns() {
	fmt.Println(judge.Columns(32, 1))
	// Output: column
}

func ExampleMatrices() {
	fmt.Println(judge.Matrices())
	// Output: ldmatrix
}

// Thread t has the four elements of row t: the layout takes (t, value) to a coordinate of an 8×4 tile.
func ExampleThreadValues() {
	tile := judge.Plain(layout.MustParse("(8,4):(4,1)"))
	own := judge.ThreadValues(layout.MustParse("(8,4):(1,8)"), 4)
	r, err := judge.Conflicts(tile, judge.NVIDIA, 32, own)
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Worst == nil)
	// Output: true
}

func ExampleParseAccess() {
	a, err := judge.ParseAccess("tv:2:(32,4):(1,32)")
	if err != nil {
		panic(err)
	}
	fmt.Println(a)
	// Output: tv:2:(32,4):(1,32)
}

func ExampleParseBanks() {
	b, err := judge.ParseBanks("tensix")
	if err != nil {
		panic(err)
	}
	fmt.Println(b)
	// Output: 16x16 single
}

// The swizzle that CUTLASS uses for such a tile is the smallest there is.
func ExampleSolveSwizzle() {
	tile := judge.Plain(layout.MustParse("(64,64):(64,1)"))
	r, err := judge.SolveSwizzle(context.Background(), tile, judge.NVIDIA, 16, judge.Rows(32, 8), judge.Matrices())
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Swizzle)
	// Output: Sw<3,3,3>
}

func ExampleSolveXOR() {
	tile := judge.Plain(layout.MustParse("(32,32):(32,1)"))
	r, err := judge.SolveXOR(context.Background(), tile, judge.NVIDIA, 32, judge.Rows(32, 1), judge.Columns(32, 1))
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Matrix)
	// Output: y0 = x0 ^ x5, y1 = x1 ^ x6, y2 = x2 ^ x7, y3 = x3 ^ x8, y4 = x4 ^ x9
}

// Four words and two banks: no map separates words 0 and 1, words 0 and 2, and words 0 and 3.
func ExampleSolveXOR_none() {
	square := judge.Plain(layout.MustParse("(2,2):(1,2)"))
	var pairs []judge.Access
	for _, tv := range []string{"(2,1):(1,0)", "(2,1):(2,0)", "(2,1):(3,0)"} {
		pairs = append(pairs, judge.ThreadValues(layout.MustParse(tv), 1))
	}
	r, err := judge.SolveXOR(context.Background(), square, judge.Banks{Count: 2, Width: 4}, 32, pairs...)
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Why)
	// Output: every linear map from the 2 bits of words to the 1 bits of banks sends a difference of a phase to 0: all kernels were searched
}

func ExampleXOR_At() {
	m := judge.XOR{Rows: []uint64{0b101, 0b010, 0b100}} // y0 = x0 ^ x2
	fmt.Println(m.At(0b110))
	// Output: 7
}

func ExampleLinearOf() {
	c, err := layout.Eval("Sw<2,0,3> o (8,8):(8,1)")
	if err != nil {
		panic(err)
	}
	l, err := judge.LinearOf(c)
	if err != nil {
		panic(err)
	}
	fmt.Println(l)
	// Output: {dim0 = [[9], [18], [32]], dim1 = [[1], [2], [4]]}
}

// Strides of 1 and 3 share a bit, so a sum of offsets carries.
func ExampleLinearOf_none() {
	_, err := judge.LinearOf(judge.Plain(layout.MustParse("(4,4):(1,3)")))
	fmt.Println(err)
	// Output: judge.LinearOf: at coordinate (1,1): the offset is 4, and the XOR of the offsets of its bits 2: adding them carries
}

func ExampleLinear_Layout() {
	l, err := judge.ParseLinear("{dim0 = [[9], [18], [32]], dim1 = [[1], [2], [4]]}")
	if err != nil {
		panic(err)
	}
	c, err := l.Layout()
	if err != nil {
		panic(err)
	}
	fmt.Println(c)
	// Output: Sw<2,0,3> ∘ 0 ∘ (8,8):(8,1)
}

func ExampleLinear_Inverse() {
	l, err := judge.ParseLinear("{row = [[5]], col = [[1], [2]]}")
	if err != nil {
		panic(err)
	}
	back, err := l.Inverse()
	if err != nil {
		panic(err)
	}
	fmt.Println(back)
	// Output: {offset = [[0, 1], [0, 2], [1, 1]]}
}

func ExampleLinear_Matrix() {
	l, err := judge.ParseLinear("{row = [[5]], col = [[1], [2]]}")
	if err != nil {
		panic(err)
	}
	fmt.Print(l.Matrix())
	// Output:
	// 1 1 0
	// 0 0 1
	// 1 0 0
}

// Lane 2 has its register 0 at (1,0). In the argument lane stands above the two bits of register, in the result dim1
// above the four bits of dim0.
func ExampleParseLinear() {
	l, err := judge.ParseLinear("{register = [[0, 1], [8, 0]], lane = [[0, 2], [1, 0]]}")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.At(0b1000))
	// Output: 1
}

func ExampleNewLinear() {
	in := []judge.Dim{{Name: "row", Bits: 1}, {Name: "col", Bits: 2}}
	out := []judge.Dim{{Name: "offset", Bits: 3}}
	l, err := judge.NewLinear(in, out, []uint64{5, 1, 2})
	if err != nil {
		panic(err)
	}
	fmt.Println(l)
	// Output: {row = [[5]], col = [[1], [2]]}
}

func ExampleFit() {
	offsets := []int{10, 13, 22, 25, 34, 37}
	l, base, err := judge.Fit(layout.Int(6), func(i int) int { return offsets[i] })
	if err != nil {
		panic(err)
	}
	fmt.Println(l, "from offset", base)
	// Output: (2,3):(3,12) from offset 10
}

// The squares 0, 1, 4 could still be 0, 1 and the beginning of a second pair; 9 ends that.
func ExampleFit_none() {
	_, _, err := judge.Fit(layout.Int(6), func(i int) int { return i * i })
	fmt.Println(err)
	// Output: judge.Fit: at coordinate 3: no layout of shape 6 agrees up to here: its parts add up to 5
}

func ExampleInfer() {
	b, err := judge.Infer(layout.MustParse("(2,2):(24,2)"), layout.MustParse("(6,2):(8,2)"))
	if err != nil {
		panic(err)
	}
	fmt.Println(b)
	// Output: (2,2):(3,6)
}

func ExampleInfer_none() {
	_, err := judge.Infer(layout.MustParse("(4,2):(8,3)"), layout.MustParse("(6,2):(8,2)"))
	fmt.Println(err)
	// Output: judge.Infer: at coordinate (0,1): no B gives this offset: (6,2):(8,2) has no offset 3
}

// Rows of 64 elements go to rows of 80: vectors of 8 everywhere.
func ExampleRelay() {
	from := judge.Plain(layout.MustParse("(8,64):(64,1)"))
	to := judge.Plain(layout.MustParse("(8,64):(80,1)"))
	m, err := judge.Relay(from, to, 8)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d moves, vectors of %d everywhere\n", m.Moves, m.Uniform)
	// Output: 64 moves, vectors of 8 everywhere
}

func ExampleStridedOf() {
	c, err := layout.Eval("(4,6):(6,1)[1:3, ::2]")
	if err != nil {
		panic(err)
	}
	s, err := judge.StridedOf(c, 4)
	if err != nil {
		panic(err)
	}
	fmt.Println(s)
	// Output: shape=(2,3), strides=(24,8), itemsize=4, offset=24
}

func ExampleStrided_Layout() {
	s := judge.Strided{Shape: []int{4, 5}, Strides: []int{20, 4}, Item: 4}
	c, err := s.Layout()
	if err != nil {
		panic(err)
	}
	fmt.Println(c.Inner())
	// Output: (4,5):(5,1)
}

func ExampleTiledOf() {
	c, err := layout.Eval("tile_to_shape (tile_to_shape (16,16):(16,1) (32,32) (1,0)) (64,96) (1,0)")
	if err != nil {
		panic(err)
	}
	t, err := judge.TiledOf(c.Inner())
	if err != nil {
		panic(err)
	}
	fmt.Println(t)
	// Output: 64×96 in tiles of 32×32
}

func ExampleTiled_Layout() {
	t := judge.Tiled{Height: 64, Width: 64, TileHeight: 32, TileWidth: 32, ShardHeight: 64, ShardWidth: 64}
	l, err := t.Layout()
	if err != nil {
		panic(err)
	}
	fmt.Println(l)
	// Output: (((16,2),2),((16,2),2)):(((16,512),2048),((1,256),1024))
}

func ExampleParse() {
	for _, text := range []string{
		"make_layout(make_shape(_4{}, Int<5>{}), LayoutRight{})",
		"Layout.row_major(4, 5)",
		"shape=(4, 5), strides=(20, 4), itemsize=4",
		"{dim0 = [[8], [16]], dim1 = [[1], [2], [4]]}",
	} {
		c, err := judge.Parse(text)
		if err != nil {
			panic(err)
		}
		fmt.Println(c.Inner())
	}
	// Output:
	// (4,5):(5,1)
	// (4,5):(5,1)
	// (4,5):(5,1)
	// (4,8):(8,1)
}

func ExamplePrint() {
	c := judge.Plain(layout.MustParse("(4,8):(8,1)"))
	for _, spelling := range []string{"cute", "numpy", "mojo", "triton", "ttnn", "go"} {
		text, err := judge.Print(c, spelling, 4)
		if err != nil {
			panic(err)
		}
		fmt.Println(text)
	}
	// Output:
	// make_layout(make_shape(Int<4>{}, Int<8>{}), make_stride(Int<8>{}, Int<1>{}))
	// shape=(4,8), strides=(32,4), itemsize=4
	// Layout.row_major(4, 8)
	// {dim0 = [[8], [16]], dim1 = [[1], [2], [4]]}
	// 4×8, row-major
	// layout.MustParse("(4,8):(8,1)")
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

func ExampleFactsOf() {
	c, err := judge.Parse("Sw<2,0,3> o (8,8):(8,1)")
	if err != nil {
		panic(err)
	}
	f := judge.FactsOf(c)
	fmt.Println(f.Size, f.Least, f.Most, *f.Injective, *f.Contiguous)
	// Output: 64 0 63 true true
}

func ExampleCompare() {
	rows, columns := judge.Plain(layout.MustParse("(4,8):(8,1)")), judge.Plain(layout.MustParse("(4,8):(1,4)"))
	d, err := judge.Compare(rows, columns)
	fmt.Println(d.Equal, d.Size, d.Offsets, d.First.Text(), err)
	// Output: 2 [32 32] true at coordinate (1,0): the offsets are 8 and 1 <nil>
}

func ExampleHolders() {
	broadcast := judge.Plain(layout.MustParse("(4,6):(0,1)"))
	coords, count, err := judge.Holders(broadcast, 2, 2)
	fmt.Println(coords, count, err)
	// Output: [8 9] 4 <nil>
}

func ExampleSwizzleResult_Why() {
	tile := judge.Plain(layout.MustParse("(32,32):(32,1)"))
	r, err := judge.SolveSwizzle(context.Background(), tile, judge.NVIDIA, 32, judge.Columns(32, 1))
	fmt.Println(r.Swizzle, r.Why(), err)
	// Output: Sw<5,0,5> the 190th of 191 swizzles of the tile's 10 bits, the smallest first <nil>
}

// The published rule takes the leaves of the second layout alone, so it misses the carry of two together.
func ExampleExplain() {
	e, err := judge.Explain("(6,2):(1,7) o (3,2):(2,3)")
	if err != nil {
		panic(err)
	}
	carry := e.Steps[len(e.Steps)-1]
	fmt.Println(carry.Text)
	fmt.Println(carry.Published[0].Rules, carry.Published[0].Wrong.Text())
	// Output:
	// the remainders by 6, the end of leaf 6:1, add up to 7: a carry, which no leaf has alone
	// pycute at coordinate (2,1): it gives 7, right is 8
}

// The accumulator of a matrix instruction over lanes and registers, as TIRx writes it.
func ExampleAxes() {
	c, err := judge.ParseAxes("S[(2,8,4,2):(2,4@laneid,1@laneid,1)]")
	if err != nil {
		panic(err)
	}
	places, err := c.Owners(3*8 + 4) // of row 3, column 4
	fmt.Println(c.Names(), places, err)
	tv, err := c.Threads([]int{16, 8}, "laneid")
	fmt.Println(tv, err)
	row, err := c.Compose(judge.Plain(layout.MustParse("(1,8):(8,1)")))
	fmt.Println(row, err)
	// Output:
	// [m laneid] [[0 14]] <nil>
	// ((4,8),(2,2)):((32,1),(16,8)) <nil>
	// S[(4,2):(1@laneid,1)] <nil>
}

// A tensor whose rows are cut over two devices, and held by four of each.
func ExampleAxesOfMesh() {
	a, err := judge.AxesOfMesh([]int{128, 64}, judge.Split{Extent: judge.Extent{Name: "row", Size: 2}, Of: 0}, judge.Split{Extent: judge.Extent{Name: "col", Size: 4}, Of: -1})
	fmt.Println(a, err)
	mesh, err := a.Mesh(128, 64)
	fmt.Println(mesh, err)
	_, err = judge.AxesOfMesh([]int{129, 64}, judge.Split{Extent: judge.Extent{Name: "row", Size: 2}, Of: 0})
	fmt.Println(err)
	// Output:
	// S[(2,64,64):(1@row,64,1)] + R[4:1@col] <nil>
	// [{{row 2} 0} {{col 4} -1}] <nil>
	// judge.AxesOfMesh: 2 devices of axis "row" don't divide 129, axis 0 of shape (129,64)
}
