package draw_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/ashlar-go/ashlar/draw"
	"github.com/ashlar-go/ashlar/layout"
)

func ExampleMap() {
	matrix, err := layout.Eval("(4,4):(4,1)")
	if err != nil {
		panic(err)
	}
	threads := layout.MustParse("(2,2):(2,1)")
	m, err := draw.NewMap(matrix, &draw.MapOptions{Threads: &threads})
	if err != nil {
		panic(err)
	}
	m.WriteText(os.Stdout, nil)
	// Output:
	//        0      1       2      3
	// 0:  0 t0   1 t1 │  2 t0   3 t1
	// 1:  4 t2   5 t3 │  6 t2   7 t3
	//   ──────────────┼──────────────
	// 2:  8 t0   9 t1 │ 10 t0  11 t1
	// 3: 12 t2  13 t3 │ 14 t2  15 t3
	//
	// memory
	//  0: 0,0  0,1  0,2  0,3
	//  4: 1,0  1,1  1,2  1,3
	//  8: 2,0  2,1  2,2  2,3
	// 12: 3,0  3,1  3,2  3,3
}

func ExampleNewMap() {
	large, err := layout.Eval("row_major (1024,1024)")
	if err != nil {
		panic(err)
	}
	_, err = draw.NewMap(large, nil)
	fmt.Println(err, errors.Is(err, layout.ErrLimit))
	// Output:
	// draw.NewMap: (1024,1024) has 1048576 coordinates, at most 8192 are drawn: draw a part of it, A[0:16, 0:16] true
}

func ExampleMap_WriteSVG() {
	tiles, err := layout.Eval("(8,8):(8,1) / <2,4>")
	if err != nil {
		panic(err)
	}
	m, err := draw.NewMap(tiles, nil)
	if err != nil {
		panic(err)
	}
	var b bytes.Buffer
	m.WriteSVG(&b)
	_, title, _ := strings.Cut(b.String(), "\n")
	title, _, _ = strings.Cut(title, "\n")
	fmt.Println(title)
	// Output:
	// <title>((2,4),(4,2)):((8,16),(1,4))</title>
}

func ExampleMap_WritePNG() {
	matrix, err := layout.Eval("(2,2):(2,1)")
	if err != nil {
		panic(err)
	}
	m, err := draw.NewMap(matrix, nil)
	if err != nil {
		panic(err)
	}
	var b bytes.Buffer
	m.WritePNG(&b)
	fmt.Printf("%q\n", b.String()[:4])
	// Output:
	// "\x89PNG"
}

func ExampleMap_Cells() {
	matrix := layout.MustParse("(64,64):(64,1)")
	c, err := layout.NewComposed(layout.Swizzle{}, 0, matrix)
	if err != nil {
		panic(err)
	}
	values := layout.MustParse("(32,2):(1,32)")
	m, err := draw.NewMap(c, &draw.MapOptions{From: []int{31, 0}, To: []int{33, 1}, Values: &values})
	if err != nil {
		panic(err)
	}
	rows, cols, row, col := m.Grid()
	fmt.Printf("%d rows of %d from row %d and column %d, by thread: %v.\n", rows, cols, row, col, strings.HasPrefix(m.By(), "thread of "))
	for _, x := range m.Cells() {
		fmt.Printf("%v at %d: %s, group %d.\n", x.Coord, x.Offset, x.Label, x.Group)
	}
	fmt.Println(m.Titles())
	fmt.Println(m.Cuts())
	// Output:
	// 2 rows of 1 from row 31 and column 0, by thread: true.
	// 31,0 at 1984: t31 v0, group 7.
	// 32,0 at 2048: t0 v1, group 0.
	// []
	// [false false] [false]
}

// Sixteen threads have two neighbours of a row each, and a cell has its thread and its value.
func ExampleTextOptions() {
	tile := layout.MustParse("(4,8):(1,4)")
	whole, err := layout.NewComposed(layout.Swizzle{}, 0, tile)
	if err != nil {
		panic(err)
	}
	own := layout.MustParse("((4,4),2):((8,1),4)")
	m, err := draw.NewMap(whole, &draw.MapOptions{Values: &own})
	if err != nil {
		panic(err)
	}
	if err := m.WriteText(os.Stdout, &draw.TextOptions{Owners: true}); err != nil {
		panic(err)
	}
	// Output:
	//         0       1       2       3       4       5       6       7
	// 0:  t0 v0   t0 v1   t1 v0   t1 v1   t2 v0   t2 v1   t3 v0   t3 v1
	// 1:  t4 v0   t4 v1   t5 v0   t5 v1   t6 v0   t6 v1   t7 v0   t7 v1
	// 2:  t8 v0   t8 v1   t9 v0   t9 v1  t10 v0  t10 v1  t11 v0  t11 v1
	// 3: t12 v0  t12 v1  t13 v0  t13 v1  t14 v0  t14 v1  t15 v0  t15 v1
}
