package device

import (
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/tensor"
)

// Bytes that move are counted by where they go, and a core reads the bytes from before the launch.
func TestTraffic(t *testing.T) {
	dev := open(t)
	rows := MemoryConfig{Memory: L1, Sharding: HeightSharded, Shard: []int{1, 4}, Cores: []Range{Grid(4, 1)}}
	x := tensor.Arange[int32](0, 16, 1).Reshape(4, 4) // four pages of 16 bytes
	count := func(what string, want Traffic, f func() error) {
		t.Helper()
		dev.ResetTraffic()
		if err := f(); err != nil || dev.Traffic() != want {
			t.Errorf("%s: %+v, %v, want %+v", what, dev.Traffic(), err, want)
		}
	}
	var dram, l1 Tensor
	count("to DRAM", Traffic{ToDevice: 64}, func() (err error) { dram, err = ToDevice(x.Any(), dev, MemoryConfig{}); return err })
	count("to L1", Traffic{DRAMToL1: 64}, func() (err error) { l1, err = ToDevice(dram.Any(), dev, rows); return err })
	count("back to DRAM", Traffic{L1ToDRAM: 64}, func() error { return second(ToDevice(l1.Any(), dev, MemoryConfig{})) })
	count("in DRAM", Traffic{DRAMToL1: 64, L1ToDRAM: 64}, func() error {
		return must(Copy(dev.NewQueue(), must(Empty(dram.Spec(), dev, MemoryConfig{})).Any(), dram.Any())).Wait()
	})
	count("to the host", Traffic{ToHost: 64}, func() error { return second(FromDevice(l1)) })
	count("nothing new", Traffic{}, func() error { return second(ToDevice(l1.Any(), dev, rows)) })
	columns := rows
	columns.ColMajor = true
	columns.Cores = []Range{{Coord{1, 0}, Coord{2, 1}}} // (1,0), (1,1), (2,0), (2,1): page 2 stays on its core
	count("between cores", Traffic{CoreToCore: 48}, func() error { return second(ToDevice(l1.Any(), dev, columns)) })

	// Each core gives its row to the next, and one row of DRAM to its own.
	count("a kernel", Traffic{CoreToCore: 4 * 16, DRAMToL1: 4 * 16, L1ToDRAM: 4 * 16}, func() error {
		return dev.ForEachCore(func(c *Core) error {
			page := make([]byte, 16)
			if err := c.Read(l1, (c.X+1)%4, page); err != nil { // another core's
				return err
			}
			if err := c.Write(dram, c.X, page); err != nil {
				return err
			}
			if err := c.Read(dram, c.X, page); err != nil { // as it was at the launch
				return err
			}
			own, err := c.Bytes(l1)
			if err != nil {
				return err
			}
			copy(own, page)
			return c.Read(l1, c.X, page) // its own: no traffic
		}, l1, dram)
	})
	if got := onHost(t, dram); !slices.Equal(got, []int32{4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3}) {
		t.Errorf("DRAM: %v", got)
	}
	if got := onHost(t, l1); !slices.Equal(got, x.Elems()) {
		t.Errorf("L1: %v", got)
	}
	// Two cores that write one page do it in the order of the grid.
	if err := dev.ForEachCore(func(c *Core) error {
		return c.Write(l1, 0, slices.Repeat([]byte{byte(c.X), 0, 0, 0}, 4))
	}, l1); err != nil || onHost(t, l1)[0] != 3 {
		t.Errorf("%v, %v", onHost(t, l1), err)
	}
	// A kernel without shards runs everywhere.
	ran := make([]bool, 12)
	if err := dev.ForEachCore(func(c *Core) error { ran[c.Y*4+c.X] = true; return nil }, dram); err != nil || slices.Contains(ran, false) {
		t.Errorf("%v, %v", ran, err)
	}
}

func second[T any](_ T, err error) error { return err }

// other is a device of another make, as far as tensors can tell.
type other struct{ *Sim }

type otherBuffer struct {
	Buffer
	dev other
}

type otherQueue struct{ Queue }

func (o other) Alloc(k Memory, banks []int, bytes int, name string) (Buffer, error) {
	b, err := o.Sim.Alloc(k, banks, bytes, name)
	return otherBuffer{b, o}, err
}
func (b otherBuffer) Device() Device { return b.dev }
func (o other) NewQueue() Queue      { return otherQueue{o.Sim.NewQueue()} }

func (q otherQueue) Copy(moves []Move, seen func() error) (Event, error) {
	moves = slices.Clone(moves)
	for i := range moves {
		for _, p := range []*Place{&moves[i].To, &moves[i].From} {
			if b, ok := p.Buffer.(otherBuffer); ok {
				p.Buffer = b.Buffer
			}
		}
	}
	return q.Queue.Copy(moves, seen)
}

// Tensors work on whatever is a Device.
func TestDevice(t *testing.T) {
	dev := other{open(t)}
	x := full(5, 100)
	a := must(ToDevice(x.Any(), dev, MemoryConfig{Memory: L1}))
	b := must(Empty(a.Spec(), dev, MemoryConfig{}))
	e := must(Copy(a.Device().NewQueue(), b.Any(), a.Any()))
	if err := e.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := onHost(t, b); !slices.Equal(got, x.Elems()) {
		t.Errorf("%v", got)
	}
	if _, err := ToDevice(a.Any(), open(t), MemoryConfig{}); err == nil {
		t.Error("a copy from one device to another, without the host")
	}
	a.Deallocate()
	if a.IsAllocated() || dev.Used(L1, 0) != 0 {
		t.Error("Deallocate")
	}
}

func TestTrafficString(t *testing.T) {
	const want = "1 bytes to the device, 2 to the host, 3 from DRAM to L1, 4 from L1 to DRAM, 5 between cores"
	if got := (Traffic{1, 2, 3, 4, 5}).String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
