package draw_test

import (
	"os"

	"github.com/ashlar-go/ashlar/draw"
	"github.com/ashlar-go/ashlar/layout"
)

func ExampleMap() {
	matrix, err := layout.Eval("(4,4):(4,1)")
	if err != nil {
		panic(err)
	}
	threads := layout.MustParse("(2,2):(2,1)")
	m, err := draw.NewMap(matrix, draw.MapOptions{Threads: &threads})
	if err != nil {
		panic(err)
	}
	m.WriteText(os.Stdout, false)
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
