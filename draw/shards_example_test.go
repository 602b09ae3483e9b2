package draw_test

import (
	"fmt"
	"os"

	"github.com/ashlar-go/ashlar/device"
	"github.com/ashlar-go/ashlar/draw"
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/pack"
)

// Five rows on two cores: the last shard has holes.
func ExampleShards() {
	s, err := pack.NewSpec(dtype.BFloat16, []int{5, 6}, nil)
	if err != nil {
		panic(err)
	}
	p, err := device.MemoryConfig{
		Memory: device.L1, Sharding: device.HeightSharded, Shard: []int{3, 6}, Cores: []device.Range{device.Grid(2, 1)},
	}.Place(s, device.Wormhole())
	if err != nil {
		panic(err)
	}
	picture, err := draw.NewShards(p)
	if err != nil {
		panic(err)
	}
	if err := picture.WriteText(os.Stdout); err != nil {
		panic(err)
	}
	// Output:
	// tensor  bfloat16[5,6]
	// config  L1, height sharded [3,6] on (0,0)-(1,0)
	// device  wormhole, 64 cores of L1
	// pages   5 of 12 bytes, 16 apart
	// cores   2 with 3 slots each, 48 bytes
	// holes   1
	//
	// core   bytes  pages  holes  elements    page numbers
	// (0,0)  48     3      0      [0:3, 0:6]  0-2
	// (1,0)  48     2      1      [3:5, 0:6]  3-4
}

func ExampleBars() {
	b := draw.Bars{Title: "bytes", Rows: []draw.Bar{{Label: "one", Value: 1000}, {Label: "two", Value: 2500}}}
	var n counter
	fmt.Println(b.WriteSVG(&n), n > 500)
	// Output: <nil> true
}

type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}
