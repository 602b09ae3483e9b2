package grid_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/device/grid"
)

// Eight devices under two names, on a ring.
func ExampleParseMesh() {
	m, err := grid.ParseMesh("row=2,col=4 on ring8")
	if err != nil {
		panic(err)
	}
	on, err := m.ParsePlacement("col:R row:S(0)")
	if err != nil {
		panic(err)
	}
	fmt.Println(m.Len(), m.Coord(5), on)
	fmt.Println(m.Box([]int{129, 64}, on, 5))
	_, err = m.ParsePlacement("row:R row:S(0)")
	fmt.Println(err)
	// Output:
	// 8 [1 1] [S(0) R]
	// [65 0] [64 64] <nil>
	// grid.ParsePlacement: "row:S(0)": axis row of the mesh is used twice
}

// A reduce-scatter on a ring of four: in the order of the devices it takes more bytes than a sum in any order would.
func ExampleMesh_Plan() {
	m, err := grid.ParseMesh("x=4 on ring4")
	if err != nil {
		panic(err)
	}
	e, err := m.Plan([]int{16, 64}, 4, []grid.OnAxis{{Kind: grid.PartialSum}}, []grid.OnAxis{{Kind: grid.Sharded}})
	if err != nil {
		panic(err)
	}
	fmt.Println(e.Name, e.Bytes, e.Bound, e.Busiest())
	for _, s := range e.Stages[0].Steps {
		fmt.Println(s.First, s.Extent, "meets on", s.At, "for", s.To)
	}
	// Output:
	// reduce-scatter 14336 14336 3072
	// [0 0] [4 64] meets on [0 0 0 0] for [0]
	// [4 0] [4 64] meets on [0 1 1 1] for [1]
	// [8 0] [4 64] meets on [0 1 2 2] for [2]
	// [12 0] [4 64] meets on [0 0 3 3] for [3]
}

// A placement is a layout over named axes.
func ExampleMesh_NamedAxes() {
	m, err := grid.ParseMesh("row=2,col=2")
	if err != nil {
		panic(err)
	}
	a, err := m.NamedAxes([]int{4, 6}, []grid.OnAxis{{Kind: grid.Sharded}, {}})
	fmt.Println(a, err)
	fmt.Println(m.Placement([]int{4, 6}, a))
	_, err = m.NamedAxes([]int{5, 6}, []grid.OnAxis{{Kind: grid.Sharded}, {}})
	fmt.Println(err)
	// Output:
	// S[(2,2,6):(1@row,6,1)] + R[2:1@col] <nil>
	// [S(0) R] <nil>
	// judge.AxesOfMesh: 2 devices of axis "row" don't divide 5, axis 0 of shape (5,6)
}
