package device_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/device"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

// A tensor goes to the cores of an accelerator in blocks, and comes back.
func Example() {
	dev, err := device.Open("sim:wormhole", nil)
	if err != nil {
		panic(err)
	}
	defer dev.Close()
	x := tensor.Arange[float32](0, 128*128, 1).Reshape(128, 128)
	p, err := pack.Pack(x.Any(), &pack.Options{Tile: pack.TileOf(32, 32)})
	if err != nil {
		panic(err)
	}
	t, err := device.ToDevice(p.Any(), dev, device.MemoryConfig{
		Memory: device.L1, Sharding: device.BlockSharded, Shard: []int{64, 64}, Cores: []device.Range{device.Grid(2, 2)},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(t)
	fmt.Println(t.MemoryConfig())
	fmt.Println(t.Placement().Element(64, 0)) // in bank 8: core (0,1)
	back, err := device.FromDevice(t)
	if err != nil {
		panic(err)
	}
	fmt.Println(back.Equal(p))
	t.Deallocate()
	_, err = device.FromDevice(t)
	fmt.Println(err)
	// Output:
	// float32[128,128] in tiles of 32×32 in L1 of wormhole, 4 cores from (0,0)
	// L1, block sharded [64,64] on (0,0)-(1,1)
	// 8 0 <nil>
	// true <nil>
	// device.FromDevice: the tensor is deallocated; Share before Deallocate keeps another handle
}

// Eight elements don't fill a layout of 4 by 4.
func ExampleTensor_View() {
	dev, _ := device.Open("sim:2x2", nil)
	t, err := device.ToDevice(tensor.Arange[float32](0, 8, 1).Any(), dev, device.MemoryConfig{})
	if err != nil {
		panic(err)
	}
	_, err = t.View(0, layout.MustParse("(4,4):(4,1)"))
	fmt.Println(err)
	part, err := t.View(1, layout.MustParse("(2,2):(1,4)"))
	if err != nil {
		panic(err)
	}
	back, err := device.FromDevice(part)
	if err != nil {
		panic(err)
	}
	fmt.Println(back.Unpack())
	// Output:
	// device.View: (4,4):(4,1) from element 0 reaches outside the 8 elements of the buffer
	// [[1. 5.]
	//  [2. 6.]] <nil>
}

// A queue's copies aren't seen before somebody waits.
func ExampleCopy() {
	dev, _ := device.Open("sim:2x2", nil)
	t, err := device.ToDevice(tensor.New[num.BF16](4).Any(), dev, device.MemoryConfig{Memory: device.L1})
	if err != nil {
		panic(err)
	}
	q := dev.NewQueue()
	event, err := device.Copy(q, t.Any(), tensor.Full(num.FromFloat64[num.BF16](1), 4).Any())
	if err != nil {
		panic(err)
	}
	_, err = device.FromDevice(t)
	fmt.Println(err)
	if err := event.Wait(); err != nil {
		panic(err)
	}
	back, err := device.FromDevice(t)
	if err != nil {
		panic(err)
	}
	fmt.Println(back.Unpack())
	// Output:
	// device.FromDevice: bfloat16[4] is being written by a queue; Wait for the event first
	// [1. 1. 1. 1.] <nil>
}

// Each core doubles the rows that it has.
func ExampleSim_ForEachCore() {
	dev, _ := device.Open("sim:2x2", nil)
	x := tensor.Arange[float32](0, 8, 1).Reshape(4, 2)
	t, err := device.ToDevice(x.Any(), dev, device.MemoryConfig{
		Memory: device.L1, Sharding: device.HeightSharded, Shard: []int{1, 2}, Cores: []device.Range{device.Grid(2, 2)},
	})
	if err != nil {
		panic(err)
	}
	err = dev.ForEachCore(func(c *device.Core) error {
		shards, err := c.Shards(t)
		if err != nil {
			return err
		}
		for _, s := range shards {
			rows, _ := tensor.As[float32](s.Tensor)
			for i := range rows.Dim(1) {
				rows.Set(2*rows.At(0, i), 0, i)
			}
		}
		return nil
	}, t)
	if err != nil {
		panic(err)
	}
	back, _ := device.FromDevice(t)
	fmt.Println(back.Unpack())
	fmt.Println(dev.ForEachCore(func(c *device.Core) error {
		if c.X == 1 {
			panic("no")
		}
		return nil
	}, t))
	// Output:
	// [[ 0.  2.]
	//  [ 4.  6.]
	//  [ 8. 10.]
	//  [12. 14.]] <nil>
	// device.ForEachCore: core (1,0): panic: no
}

// A strict device refuses a width of 1 in bfloat16.
func ExampleMinWidth() {
	dev, _ := device.Open("sim:wormhole", &device.Options{Strict: true})
	x := tensor.New[num.BF16](64, 1)
	fmt.Println(device.MinWidth(x.DType(), nil))
	_, err := device.ToDevice(x.Any(), dev, device.MemoryConfig{})
	fmt.Println(err)
	// Output:
	// 2
	// device.ToDevice: bfloat16[64,1] is 1 wide; on a strict device the width of bfloat16 is a multiple of 2
}
