package main

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/device"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

// Cases about banks and cores are run on the software accelerator: a tensor is copied to it,
// and its raw bytes are compared with the bytes of the host's storage, where the suite says that
// they are. Bytes that the suite says nothing of are to read as memory that was never written.

const unwritten = 0xEE

// deviceCase is the common part of the cases.
type deviceCase struct {
	stored
	Name, Kind, Strategy string
	Orientation          string
	Grid                 [][4]int
	Shard                []int `json:"shard_shape"`
}

// onDevice is a tensor on the accelerator, the same bytes on the host, and the elements.
type onDevice struct {
	dev   *device.Sim
	t     device.Tensor
	pages []byte // of the host's storage, one after the other
	flat  []byte // of the elements, in row-major order; nil where a format encodes them
	base  int    // the tensor's address
}

// sample returns a tensor whose elements differ as much as they can.
func (c *deviceCase) sample() (tensor.Any, pack.Options, error) {
	d, o, err := c.options()
	if err != nil {
		return tensor.Any{}, o, err
	}
	x, err := tensor.Make(d, c.Shape...)
	if err != nil {
		return tensor.Any{}, o, err
	}
	if o.Format != nil {
		f := typed[float32](x).Elems()
		for i := range f {
			f[i] = float32(i%4093) - 2000
		}
		return x, o, nil
	}
	b, _ := tensor.Bytes(x)
	state := uint32(1)
	for i := range b {
		state = state*1664525 + 1013904223
		b[i] = byte(state >> 24)
	}
	return x, o, nil
}

// config is the memory config of a sharded case; some have the shards that upstream's
// helpers choose.
func (c *deviceCase) config(s pack.Spec, auto string) (m device.MemoryConfig, err error) {
	helpers := map[string]device.Sharding{"height": device.HeightSharded, "width": device.WidthSharded, "block": device.BlockSharded}
	if k, ok := helpers[auto]; ok {
		if m, err = device.Shards(s, device.MemoryConfig{Sharding: k, Cores: c.cores()[:1], ColMajor: c.Orientation == "COL_MAJOR"}); err == nil && c.Shard != nil && !slices.Equal(m.Shard, c.Shard) {
			err = fmt.Errorf("shards of %v, want %v", m.Shard, c.Shard)
		}
		return m, err
	}
	kinds := map[string]device.Sharding{"HEIGHT_SHARDED": device.HeightSharded, "WIDTH_SHARDED": device.WidthSharded, "BLOCK_SHARDED": device.BlockSharded, "ND": device.NDSharded}
	var ok bool
	if m.Sharding, ok = kinds[c.Kind]; !ok {
		return m, fmt.Errorf("kind %q", c.Kind)
	}
	m.Memory, m.Shard, m.ColMajor = device.L1, c.Shard, c.Orientation == "COL_MAJOR"
	m.Grid2D = c.Kind == "ND" && c.Strategy == "GRID_2D"
	m.Cores = c.cores()
	return m, nil
}

func (c *deviceCase) cores() (list []device.Range) {
	for _, r := range c.Grid {
		list = append(list, device.Range{First: device.Coord{X: r[0], Y: r[1]}, Last: device.Coord{X: r[2], Y: r[3]}})
	}
	return list
}

// place puts a sample on an accelerator. Something else is there before it, so that it
// doesn't begin where the memory does.
func (c *deviceCase) place(m device.Model, config func(pack.Spec) (device.MemoryConfig, error)) (*onDevice, error) {
	x, o, err := c.sample()
	if err != nil {
		return nil, err
	}
	dev, err := device.New(m, nil)
	if err != nil {
		return nil, err
	}
	host, err := pack.Pack(x, &o)
	if err != nil {
		return nil, err
	}
	conf, err := config(host.Spec)
	if err != nil {
		return nil, err
	}
	before, err := pack.NewSpec(x.DType(), []int{3}, nil)
	if err != nil {
		return nil, err
	}
	if _, err := device.Empty(before, dev, device.MemoryConfig{Memory: conf.Memory}); err != nil {
		return nil, err
	}
	t, err := device.ToDevice(host.Any(), dev, conf)
	if err != nil {
		return nil, err
	}
	s := t.Spec()
	wide, err := pack.Pack(x, &pack.Options{Tile: o.Tile, Format: o.Format, Align: s.Alignment()})
	if err != nil {
		return nil, err
	}
	if !wide.Identical(s) {
		return nil, fmt.Errorf("on the accelerator it is %v, not %v", s, wide.Spec)
	}
	data, err := wide.Data()
	if err != nil {
		return nil, err
	}
	p := &onDevice{dev: dev, t: t}
	if p.pages = bytesOf(data); o.Format == nil {
		p.flat = bytesOf(x)
	}
	if p.base, err = t.Address(); err != nil {
		return nil, err
	}
	return p, p.back(x)
}

// back compares the tensor that the accelerator gives back with x.
func (p *onDevice) back(x tensor.Any) error {
	host, err := device.FromDevice(p.t)
	if err != nil {
		return err
	}
	data, err := host.Data()
	if err != nil {
		return err
	}
	// Rows may be padded, and the padding is nobody's: the elements alone are compared.
	got, err := host.Unpack()
	if err != nil {
		return err
	}
	if p.flat == nil {
		if !bytes.Equal(bytesOf(data), p.pages) {
			return errors.New("the bytes that come back aren't those that went")
		}
		return nil
	}
	if !bytes.Equal(bytesOf(got), p.flat) {
		return fmt.Errorf("%s comes back with other bits", tensor.Describe(x))
	}
	return nil
}

// bytesOf returns a copy of a tensor's elements, which outlives it.
func bytesOf(a tensor.Any) []byte {
	b, _ := tensor.Bytes(a)
	b = bytes.Clone(b)
	runtime.KeepAlive(a)
	return b
}

// bank reads bytes of a bank of the tensor, from the tensor's address on.
func (p *onDevice) bank(n, offset, size int) ([]byte, error) {
	m := p.t.MemoryConfig().Memory
	b := p.dev.Bank
	var raw *device.Bank
	if m == device.DRAM {
		raw = b(n)
	} else {
		at := p.dev.Model().Coord(m, n)
		raw = p.dev.Core(at.X, at.Y).L1()
	}
	out := make([]byte, size)
	_, err := raw.ReadAt(out, int64(p.base+offset))
	runtime.KeepAlive(p) // without the tensor its memory is unwritten
	return out, err
}

// expect compares bytes of a bank.
func (p *onDevice) expect(what string, bank, offset int, want []byte) error {
	got, err := p.bank(bank, offset, len(want))
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%s: bank %d, byte %d: got %x, want %x", what, bank, offset, first32(got), first32(want))
	}
	return nil
}

func first32(b []byte) []byte { return b[:min(len(b), 32)] }

// slot says that a slot's bytes are unwritten but for the bytes of its page.
func (p *onDevice) slot(bank, slot, slotBytes int, page []byte) error {
	want := bytes.Repeat([]byte{unwritten}, slotBytes)
	copy(want, page)
	return p.expect(fmt.Sprintf("slot %d", slot), bank, slot*slotBytes, want)
}

// element is the bytes of an element.
func (p *onDevice) element(i int) []byte {
	size := p.t.DType().Size()
	return p.flat[i*size:][:size]
}

// coords returns the indices of element i.
func coords(i int, shape []int) []int {
	at := make([]int, len(shape))
	for k := len(shape) - 1; k >= 0; k-- {
		at[k] = i % shape[k]
		i /= shape[k]
	}
	return at
}

// interleavedMap is a tensor over the banks of a memory.
type interleavedMap struct {
	deviceCase
	Device       string
	Banks        int `json:"num_banks"`
	Alignment    int
	PageBytes    int      `json:"page_bytes"`
	AlignedBytes int      `json:"aligned_page_bytes"`
	Pages        int      `json:"num_pages"`
	PerBank      int      `json:"pages_per_bank_max"`
	BankBytes    int      `json:"bytes_per_bank"`
	PageMap      [][3]int `json:"pages"`
	Elements     [][4]int
}

func (c *interleavedMap) run() error {
	m := device.Wormhole()
	config := device.MemoryConfig{Memory: device.DRAM}
	m.DRAMBanks, m.DRAMAlign = c.Banks, c.Alignment
	if strings.Contains(c.Device, "_l1_") {
		config.Memory = device.L1
		m.Grid, m.L1Align = device.Coord{X: c.Banks, Y: 1}, c.Alignment
	}
	p, err := c.place(m, func(pack.Spec) (device.MemoryConfig, error) { return config, nil })
	if err != nil {
		return err
	}
	place := p.t.Placement()
	if err := allEqual([]stated{{"bytes of a page", place.PageBytes(), c.PageBytes}, {"of a slot", place.SlotBytes(), c.AlignedBytes}, {"pages", place.Pages(), c.Pages},
		{"slots", place.Slots(), c.PerBank}, {"bytes of a bank", place.BankBytes(), c.BankBytes}, {"banks", len(place.Banks()), c.Banks}}); err != nil {
		return err
	}
	if len(c.PageMap) == 0 {
		return errors.New("the case has no pages")
	}
	page := func(i int) []byte { return p.pages[i*c.PageBytes:][:c.PageBytes] }
	for _, want := range c.PageMap {
		bank, offset, err := place.Page(want[0])
		if err != nil {
			return err
		}
		if got := [3]int{want[0], bank, offset}; got != want {
			return fmt.Errorf("page: got %v, want %v", got, want)
		}
		if err := p.expect("page", want[1], want[2], page(want[0])); err != nil {
			return err
		}
	}
	for bank := range c.Banks {
		for slot := range c.PerBank {
			var b []byte
			if i := slot*c.Banks + bank; i < c.Pages {
				b = page(i)
			}
			if err := p.slot(bank, slot, c.AlignedBytes, b); err != nil {
				return err
			}
		}
	}
	for _, want := range c.Elements {
		bank, offset, err := place.Element(coords(want[0], c.Shape)...)
		if err != nil {
			return err
		}
		if bank != want[2] || offset != want[3] {
			return fmt.Errorf("element: got %d, %d, want %v", bank, offset, want)
		}
		if err := p.expect("element", want[2], want[3], p.element(want[0])); err != nil {
			return err
		}
	}
	return nil
}

// stated is something known by name.
type stated struct {
	name      string
	got, want any
}

func allEqual(facts []stated) error {
	for _, f := range facts {
		if fmt.Sprint(f.got) != fmt.Sprint(f.want) {
			return fmt.Errorf("%s: got %v, want %v", f.name, f.got, f.want)
		}
	}
	return nil
}

// shardPages is which page is in each slot of each core.
type shardPages struct {
	deviceCase
	Auto, Error     string
	Alignment       []int
	Padded          []int                  `json:"padded_shape"`
	Physical        []int                  `json:"physical_shape"`
	Page            []int                  `json:"page_shape"`
	Logical         []int                  `json:"logical_2d_shape"`
	PageBytes       int                    `json:"page_bytes"`
	Packed          int                    `json:"packed_bytes"`
	Shards          int                    `json:"num_shards"`
	MostShards      int                    `json:"max_shards_per_core"`
	CoresWithData   int                    `json:"num_cores_with_data"`
	Resolved        string                 `json:"resolved_memory_layout"`
	Strides         []int                  `json:"strides_upstream"`
	TensorPages     []int                  `json:"tensor_shape_in_pages_squeezed"`
	ShardPages      []int                  `json:"shard_shape_in_pages_squeezed"`
	LegacyShardSpec *struct{ Shape []int } `json:"legacy_shard_spec"`
	NDShardSpec     *struct {
		Shape    []int `json:"shard_shape"`
		Strategy string
	} `json:"nd_shard_spec"`
	Cores []struct {
		Core  [2]int
		Pages []int `json:"host_pages"`
	}
}

func (c *shardPages) run() error {
	if c.Auto != "" && c.NDShardSpec != nil {
		c.Shard = c.NDShardSpec.Shape
	}
	p, err := c.place(device.Wormhole(), func(s pack.Spec) (device.MemoryConfig, error) { return c.config(s, c.Auto) })
	if c.Error != "" {
		if err == nil {
			return fmt.Errorf("got %v, want the error %s", p.t, c.Error)
		}
		if !errors.As(err, new(*tensor.Error)) {
			return err
		}
		return nil
	}
	if err != nil {
		return err
	}
	place, s := p.t.Placement(), p.t.Spec()
	h, w := s.PhysicalShape()
	ph, pw := place.PageShape()
	shards, used := 1, 0
	for _, n := range place.ShardGrid() {
		shards *= n
	}
	if err := allEqual([]stated{{"alignment", s.Alignment(), c.Alignment}, {"padded shape", s.Padded().Shape(), c.Padded}, {"physical shape", []int{h, w}, c.Physical},
		{"page", []int{ph, pw}, c.Page}, {"bytes of a page", place.PageBytes(), c.PageBytes}, {"bytes", s.Bytes(), c.Packed}, {"shards", shards, c.Shards}}); err != nil {
		return err
	}
	banks := place.Banks()
	if len(banks) != len(c.Cores) {
		return fmt.Errorf("%d cores, want %d", len(banks), len(c.Cores))
	}
	slotBytes := (c.PageBytes + 15) / 16 * 16
	for at, want := range c.Cores {
		if got := p.dev.Model().Coord(device.L1, banks[at]); got != (device.Coord{X: want.Core[0], Y: want.Core[1]}) {
			return fmt.Errorf("core %d is %v, want %v", at, got, want.Core)
		}
		if place.Slots() != len(want.Pages) {
			return fmt.Errorf("%d slots, want %d", place.Slots(), len(want.Pages))
		}
		some := false
		for slot, page := range want.Pages {
			if got, err := place.PageIn(at, slot); err != nil || got != page {
				return fmt.Errorf("core %v, slot %d: got page %d, %v, want %d", want.Core, slot, got, err, page)
			}
			var b []byte
			if page >= 0 {
				some = true
				b = p.pages[page*c.PageBytes:][:c.PageBytes]
				if bank, offset, err := place.Page(page); err != nil || bank != banks[at] || offset != slot*slotBytes {
					return fmt.Errorf("page %d: got bank %d, byte %d, %v, want %v, slot %d", page, bank, offset, err, want.Core, slot)
				}
			}
			if err := p.slot(banks[at], slot, slotBytes, b); err != nil {
				return err
			}
		}
		if some {
			used++
		}
	}
	return allEqual([]stated{{"cores with pages", used, c.CoresWithData}})
}

// shardElements is where elements are.
type shardElements struct {
	deviceCase
	Alignment    int
	PageBytes    int `json:"page_bytes"`
	AlignedBytes int `json:"aligned_page_bytes"`
	Elements     [][4]int
}

func (c *shardElements) run() error {
	m := device.Wormhole()
	m.L1Align = c.Alignment
	p, err := c.place(m, func(s pack.Spec) (device.MemoryConfig, error) { return c.config(s, c.Kind) })
	if err != nil {
		return err
	}
	place := p.t.Placement()
	if err := allEqual([]stated{{"bytes of a page", place.PageBytes(), c.PageBytes}, {"of a slot", place.SlotBytes(), c.AlignedBytes}}); err != nil {
		return err
	}
	if len(c.Elements) == 0 {
		return errors.New("the case has no elements")
	}
	for _, want := range c.Elements {
		bank, offset, err := place.Element(coords(want[0], c.Shape)...)
		if err != nil {
			return err
		}
		if at := m.Coord(device.L1, bank); at != (device.Coord{X: want[1], Y: want[2]}) || offset != want[3] {
			return fmt.Errorf("element: got %v, byte %d, want %v", at, offset, want)
		}
		if err := p.expect("element", bank, want[3], p.element(want[0])); err != nil {
			return err
		}
	}
	return nil
}
