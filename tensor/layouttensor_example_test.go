package tensor_test

import (
	"fmt"
	"strings"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

// The examples of this file come from the page that describes Mojo's
// LayoutTensor, with the results that the code there gives.

func ExampleTile() {
	t := tensor.FromSlice([]int32{
		1, 2, 3, 4,
		2, 3, 4, 5,
		5, 4, 3, 2,
		1, 1, 1, 1}, 4, 4)
	fmt.Println(tensor.Tile(t, []int{2, 2}, 1, 0))
	edge := tensor.Tile(t, []int{3, 3}, 1, 1)
	fmt.Println(edge, edge.Any().Clipped(3, 3))
	// Output:
	// [[5 4]
	//  [1 1]]
	// [[1]] true
}

func ExampleTiles() {
	t := tensor.Arange[int32](0, 15, 1).View(3, 5)
	for at, tile := range tensor.Tiles(t, 2, 4) {
		fmt.Println(at, tile.Shape(), tile.At(0, 0))
	}
	// Output:
	// [0 0] [2 4] 0
	// [0 1] [2 1] 4
	// [1 0] [1 4] 10
	// [1 1] [1 1] 14
}

func ExampleTiledIterator() {
	t := tensor.Arange[int32](0, 15, 1).View(5, 3)
	for it := tensor.TiledIterator(t, []int{2, 2}, 0, 0, 1); it.Valid(); it.Next(1) {
		fmt.Println(tensor.Flatten(it.Tile()))
	}
	// Output:
	// [2 5]
	// [ 8 11]
	// [14]
}

func ExampleTileIterator_Circular() {
	t := tensor.Arange[int32](0, 6, 1)
	it := tensor.TiledIterator(t, []int{2}, 0, 1).Circular()
	for range 4 {
		fmt.Print(it.Tile(), " ")
		it.Next(1)
	}
	// Output: [2 3] [4 5] [0 1] [2 3]
}

func ExampleLayoutIterator() {
	t := tensor.Arange[int32](0, 64, 1)
	it := tensor.CircularLayoutIterator(t, layout.MustParse("(2,2):(8,1)"), 16, 32)
	it.Next(2) // from 32 to 48, and round to 0
	fmt.Println(it.Tile())
	// Output:
	// [[0 1]
	//  [8 9]]
}

func ExampleSplit() {
	rows := tensor.Split(tensor.Arange[int32](0, 10, 1), 0, 3)
	fmt.Println(rows[0], rows[1], rows[2])
	// Output: [0 1 2 3] [4 5 6 7] [8 9]
}

func ExampleSplitPart() {
	t := tensor.Arange[int32](0, 10, 1)
	for i := range 3 {
		fmt.Println(tensor.SplitPart(t, 0, 3, i, 8)) // parts of a multiple of 8
	}
	// Output:
	// [0 1 2 3 4 5 6 7]
	// [8 9]
	// []
}

func ExampleDistribute() {
	t := tensor.Arange[int32](0, 16, 1).View(4, 4)
	threads := layout.MustParse("(2,2):(2,1)")
	for thread := range 4 {
		fmt.Println(thread, tensor.Flatten(tensor.Distribute(t, threads, thread, nil)), tensor.Flatten(tensor.Distribute(t, threads, thread, &tensor.DistributeOptions{Axes: []int{0}})))
	}
	// Output:
	// 0 [ 0  2  8 10] [ 0  1  2  3  8  9 10 11]
	// 1 [ 1  3  9 11] [ 0  1  2  3  8  9 10 11]
	// 2 [ 4  6 12 14] [ 4  5  6  7 12 13 14 15]
	// 3 [ 5  7 13 15] [ 4  5  6  7 12 13 14 15]
}

func ExampleDistributeOptions() {
	t := tensor.Arange[int32](0, 16, 1).View(4, 4)
	w, err := layout.NewSwizzle(1, 0, 2)
	if err != nil {
		panic(err)
	}
	for thread := range 4 {
		fmt.Print(tensor.Distribute(t, layout.MustParse("(2,2):(2,1)"), thread, &tensor.DistributeOptions{Swizzle: w}).At(0, 0), " ")
	}
	// Output: 0 1 5 4
}

func ExampleVectorize() {
	t := tensor.Arange[int32](0, 256, 1).View(16, 16)
	v := tensor.Vectorize(t, 4, 4)
	fmt.Println(v.Shape(), v.Layout(), v.ElemLayout(), v.ElemLen())
	fmt.Println(v.At(1, 0))
	// Output:
	// [4 4] (4,4):(64,4) (4,4):(16,1) 16
	// [64 65 66 67 80 81 82 83 96 97 98 99 112 113 114 115]
}

// Vectors at the edge lack lanes, so kernels need no code of their own for it.
func ExampleVectors() {
	t := tensor.Arange[int32](0, 6, 1)
	v := tensor.Vectorize(t, 4)
	lanes := make([]int32, v.ElemLen())
	for i := range v.Len() {
		n := v.Load(lanes, i)
		fmt.Println(lanes, n, v.Full(i))
		for k := range lanes {
			lanes[k] += 10
		}
		v.Store(lanes, i)
	}
	fmt.Println(t)
	// Output:
	// [0 1 2 3] 4 true
	// [4 5 0 0] 2 false
	// [10 11 12 13 14 15]
}

func ExampleVectors_CopyFrom() {
	rows := tensor.Vectorize(tensor.Arange[int32](0, 8, 1).View(2, 4), 1, 4)
	columns := tensor.New[int32](4, 2)
	tensor.Vectorize(columns, 4, 1).CopyFrom(rows) // vector i to vector i, lane to lane
	fmt.Println(columns)
	// Output:
	// [[0 4]
	//  [1 5]
	//  [2 6]
	//  [3 7]]
}

func ExampleFromVectors() {
	v := tensor.FromVectors([]int32{0, 1, 2, 3, 4, 5, 6, 7}, layout.MustParse("2:4"), layout.MustParse("2:2"))
	fmt.Println(v)
	fmt.Println(v.Lanes())
	// Output:
	// [0, 2] [4, 6]
	// [[0 2]
	//  [4 6]]
}

func ExampleSlice2D() {
	t := tensor.Arange[int32](1, 17, 1).View(4, 4)
	fmt.Println(tensor.Slice2D(t, 0, 1, tensor.R(1, 3), tensor.R(0, 2)))
	u := tensor.Arange[int32](0, 60, 1).View(3, 4, 5)
	fmt.Println(tensor.Slice2D(u, 0, 2, tensor.R(1, 3), tensor.R(0, 2), 1))
	// Output:
	// [[ 5  6]
	//  [ 9 10]]
	// [[25 26]
	//  [45 46]]
}

func ExampleSlice1D() {
	u := tensor.Arange[int32](0, 60, 1).View(3, 4, 5)
	fmt.Println(tensor.Slice1D(u, 0, tensor.R(1, 3), 1, 2))
	// Output: [27 47]
}

// The page's example keeps row-major order; the reference reads Layout((3,4))
// column by column, which is (3,4):(1,3) here.
func ExampleReshapeLayout() {
	t := tensor.Arange[int32](0, 12, 1).View(2, 6)
	fmt.Println(tensor.ReshapeLayout(t, layout.MustParse("(3,4):(4,1)")))
	fmt.Println(tensor.ReshapeLayout(t, layout.MustParse("(3,4):(1,3)")))
	// Output:
	// [[ 0  1  2  3]
	//  [ 4  5  6  7]
	//  [ 8  9 10 11]]
	// [[ 0  3  6  9]
	//  [ 1  4  7 10]
	//  [ 2  5  8 11]]
}

func ExampleCompose() {
	t := tensor.Arange[int32](0, 16, 1).View(4, 4)
	blocks := tensor.Compose(t, layout.MustParse("((2,2),(2,2)):((1,4),(2,8))")) // 2×2 blocks, counted down the columns
	fmt.Println(blocks.Layout())
	fmt.Println(blocks)
	// Output:
	// ((2,2),(2,2)):((4,1),(8,2))
	// [[ 0  8  2 10]
	//  [ 4 12  6 14]
	//  [ 1  9  3 11]
	//  [ 5 13  7 15]]
}

func ExampleCoalesce() {
	t := tensor.FromLayout([]int32{0, 1, 2, 3, 4, 5}, layout.MustParse("(2,3):(1,2)"))
	fmt.Println(tensor.Coalesce(t)) // the first axis is fastest in memory
	fmt.Println(tensor.Coalesce(t.Contiguous()).Shape(), t.Any().Stride(1))
	// Output:
	// [0 1 2 3 4 5]
	// [2 3] 2
}

func ExampleDistance() {
	t := tensor.Arange[int32](0, 200, 1)
	a, b := t.S("100:"), t.S("50:")
	fmt.Println(tensor.Distance(a, b), tensor.Distance(b, a))
	// Output: 50 -50
}

func ExampleCopyColex() {
	rows := tensor.Arange[int32](0, 6, 1).View(2, 3)
	a, b := tensor.New[int32](3, 2), tensor.New[int32](3, 2)
	tensor.CopyColex(a, rows)   // column by column
	tensor.CopyLogical(b, rows) // row by row
	fmt.Println(a)
	fmt.Println(b)
	// Output:
	// [[0 4]
	//  [3 2]
	//  [1 5]]
	// [[0 1]
	//  [2 3]
	//  [4 5]]
}

func ExampleCopyFromAsync() {
	src := tensor.Arange[int32](1, 9, 1)
	dst := tensor.Full[int32](-1, 8)
	var group tensor.CopyGroup
	tensor.CopyFromAsync(dst, &group, src, tensor.AsyncCopy{Masked: true, Bound: 5})
	group.Wait()
	fmt.Println(dst)
	// Output: [1 2 3 4 5 0 0 0]
}

func ExampleTensor_Fill() {
	fmt.Println(tensor.New[float32](3, 4).Fill(0.5).At(2, 3))
	// Output: 0.5
}

func ExampleAny_WriteTo() {
	t := tensor.New[float32](2, 3).Fill(1)
	var plain, nested, vectors strings.Builder
	t.Any().WriteTo(&plain) // a space behind each element, a newline between rows
	t.Any().WriteNested(&nested)
	tensor.Vectorize(t, 1, 3).WriteTo(&vectors)
	fmt.Printf("%q\n%s\n%q\n", plain.String(), nested.String(), vectors.String())
	// Output:
	// "1.0 1.0 1.0 \n1.0 1.0 1.0 "
	// [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
	// "[1.0, 1.0, 1.0] \n[1.0, 1.0, 1.0] "
}

func ExampleLoad() {
	t := tensor.Arange[int32](0, 12, 1).View(3, 4)
	lanes := make([]int32, 4)
	fmt.Println(tensor.Load(t, lanes, 1, 2), lanes)             // across the edge
	fmt.Println(tensor.Load(t.Transpose(), lanes, 1, 0), lanes) // along the strides
	fmt.Println(tensor.StoreRow(t, []int32{-1, -1}, 2, 3), t.At(2, 3))
	// Output:
	// 2 [6 7 0 0]
	// 3 [1 5 9 0]
	// 1 -1
}

func ExampleLoadRowAligned() {
	t := tensor.EmptyLayout[float32](layout.MustParse("(2,8):(8,1)"), 32).Fill(2)
	lanes := make([]float32, 8)
	fmt.Println(tensor.LoadRowAligned(t, lanes, 1, 0), tensor.Try(func() { tensor.LoadRowAligned(t, lanes[:4], 0, 1) }))
	t.Any().Prefetch(1, 0)
	tensor.StoreRowAligned(t, lanes, 0, 0)
	// Output: 8 tensor.LoadRowAligned: the address is 4 bytes past a multiple of 16; LoadRow and StoreRow take any
}

func ExampleAtCoord() {
	t := tensor.FromLayout(tensor.Arange[int32](0, 16, 1).Elems(), layout.MustParse("((2,2),4):((1,8),2)"))
	nested := layout.MustParseTuple("((1,1),1)")
	fmt.Println(t.At(3, 1), tensor.AtCoord(t, nested), tensor.AtCoord(t, layout.Int(7)))
	tensor.SetCoord(t, -1, nested)
	fmt.Println(t.At(3, 1))
	// Output:
	// 11 11 11
	// -1
}

func ExampleBitCast() {
	t := tensor.FromSlice([]float32{1, -0.5})
	bits := tensor.BitCast[uint32](t)
	fmt.Printf("%x\n", bits)
	bits.Set(0x40000000, 0)
	fmt.Println(t)
	// Output:
	// [3f800000 bf000000]
	// [ 2.  -0.5]
}

func ExampleRecast() {
	t := tensor.FromSlice([]uint16{0x0101, 0x0202, 0x0303, 0x0404}, 2, 2)
	fmt.Println(tensor.Recast[uint8](t).Shape(), tensor.Recast[uint32](t).Shape())
	// Output: [2 4] [2 1]
}

func ExampleReal() {
	z := tensor.FromSlice([]complex64{1 + 2i, 3 - 4i})
	re := tensor.Real[float32](z)
	re.Set(7, 0)
	fmt.Println(re, z)
	// Output: [7. 3.] [7.+2.j 3.-4.j]
}

func ExampleImag() {
	z := tensor.FromSlice([]complex128{1 + 2i, 3 - 4i})
	im := tensor.Imag[float64](z)
	for i, v := range im.All() {
		im.Set(-v, i...)
	}
	fmt.Println(z)
	// Output: [1.-2.j 3.+4.j]
}

func ExampleTensor_ReadOnly() {
	t := tensor.New[int32](2)
	view := t.ReadOnly()
	t.Set(7, 1)
	fmt.Println(view, view.IsReadOnly(), tensor.Try(func() { view.Set(1, 0) }) != nil)
	// Output: [0 7] true true
}
