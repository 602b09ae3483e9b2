package mesh_test

import (
	"fmt"
	"slices"

	"github.com/ashlar-go/ashlar/device"
	"github.com/ashlar-go/ashlar/device/grid"
	"github.com/ashlar-go/ashlar/device/mesh"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// 129 rows go to two devices, and all of them to both.
func Example() {
	m, err := grid.ParseMesh("x=2")
	if err != nil {
		panic(err)
	}
	devs, err := mesh.Open(m, device.Wormhole())
	if err != nil {
		panic(err)
	}
	defer devs.Close()
	x := tensor.Arange[float32](0, 129*4, 1).Reshape(129, 4)
	t, err := mesh.Distribute(x.Any(), devs, grid.OnAxis{Kind: grid.Sharded, Axis: 0})
	if err != nil {
		panic(err)
	}
	fmt.Println(t)
	for i := range m.Len() {
		part, err := t.Part(i)
		if err != nil {
			panic(err)
		}
		fmt.Println(part.Shape())
	}
	all, moved, err := t.To(grid.OnAxis{})
	if err != nil {
		panic(err)
	}
	fmt.Println(moved.Name, moved.Bytes, moved.Bound, moved.Links)
	second, err := all.Part(1)
	if err != nil {
		panic(err)
	}
	fmt.Println(second.At(0, 3))
	// Output:
	// float32[129,4] S(0) on x=2 on 2
	// [65 4]
	// [64 4]
	// all-gather 2064 2064 [{0 1 1040} {1 0 1024}]
	// 3
}

// A product whose k is cut at a multiple of 256 is that of one device, bit by bit.
func ExampleMatMul() {
	m, err := grid.ParseMesh("x=2")
	if err != nil {
		panic(err)
	}
	devs, err := mesh.Open(m, device.Wormhole())
	if err != nil {
		panic(err)
	}
	defer devs.Close()
	a := op.Sin(tensor.Arange[float32](0, 2*512, 1).Reshape(2, 512))
	b := op.Cos(tensor.Arange[float32](0, 512*2, 1).Reshape(512, 2))
	x, err := mesh.Distribute(a.Any(), devs, grid.OnAxis{Kind: grid.Sharded, Axis: 1})
	if err != nil {
		panic(err)
	}
	y, err := mesh.Distribute(b.Any(), devs, grid.OnAxis{Kind: grid.Sharded, Axis: 0})
	if err != nil {
		panic(err)
	}
	parts, err := mesh.MatMul(x, y)
	if err != nil {
		panic(err)
	}
	fmt.Println(parts)
	sum, err := parts.Gather()
	if err != nil {
		panic(err)
	}
	got, _ := tensor.As[float32](sum)
	fmt.Println(slices.Equal(got.Elems(), op.MatMul(a, b).Elems()))
	// Output:
	// float32[2,2] P(sum) on x=2 on 2
	// true
}

// Parts are added in the order of the devices: 2^24 + 1 + 1 in float32 is 2^24, and not 2^24 + 2.
func ExampleFromParts() {
	m, err := grid.ParseMesh("x=3 on ring3")
	if err != nil {
		panic(err)
	}
	devs, err := mesh.Open(m, device.Wormhole())
	if err != nil {
		panic(err)
	}
	defer devs.Close()
	var parts []tensor.Any
	for _, v := range []float32{1 << 24, 1, 1} {
		parts = append(parts, tensor.Full(v, 1).Any())
	}
	t, err := mesh.FromParts(devs, []int{1}, []grid.OnAxis{{Kind: grid.PartialSum}}, parts...)
	if err != nil {
		panic(err)
	}
	sum, moved, err := t.To(grid.OnAxis{})
	if err != nil {
		panic(err)
	}
	value, err := sum.Part(2)
	if err != nil {
		panic(err)
	}
	fmt.Println(moved.Name, value.At(0))
	// Output:
	// all-reduce 1.6777216e+07
}
