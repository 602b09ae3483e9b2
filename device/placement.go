package device

import (
	"slices"

	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

// Placement is the place of each page of a tensor: the result of Place. The tensor's pages
// are a grid, cut into shards, which are boxes of pages, numbered in row-major order as
// pages are. Shard s is in bank s mod n of the n Banks, the (s div n)th there. In a bank
// pages take slots of SlotBytes, in the row-major order of their shard; a shard at the
// edge of the tensor has the slots of a whole one, and those without a page are holes.
//
// Interleaved pages are shards of one page. A grid decides by giving as many banks as
// there are shards.
type Placement struct {
	spec   pack.Spec
	config MemoryConfig
	model  Model
	page   [2]int // rows and columns of elements of a page
	pages  []int  // the number of pages along each axis; two axes or more
	shard  []int  // the pages of a shard along each axis
	shards []int  // the number of shards along each axis
	count  int    // of shards
	banks  []int
	slot   int // bytes
	slots  int // of a bank
}

// Place returns the places of a tensor's pages on a device.
//
// A page is a tile. Without tiles it is a row, or the piece of a row in a shard that is
// narrower than the tensor. For all shards of rows, the tensor's width is padded to a
// multiple of the shard's, and the Spec of the Placement has that padding.
//
// Height, width and block shards are about the tensor's matrix. Height shards are to be
// as wide as it, width shards as high, and each core has at most one. An NDSharded
// config has shards of any rank up to the padded shape's; axes before the shard's count
// as one with its first.
//
// It fails when a shard isn't made of whole tiles, or of groups that the format encodes
// together; doesn't fit the memory, the tensor's rank or the matrix; when the cores are
// too few, not in the grid, or named twice; and when a size doesn't fit an int.
func (c MemoryConfig) Place(s pack.Spec, m Model) (Placement, error) {
	const op = "device.Place"
	if err := m.check(op); err != nil {
		return Placement{}, err
	}
	if s.DType().Size() == 0 {
		return Placement{}, fail(op, tensor.ErrDType, "the spec is the zero value; pack.NewSpec makes one")
	}
	if c.Memory > L1 || c.Sharding > NDSharded {
		return Placement{}, fail(op, tensor.ErrShape, "%v in %v: there is no such config; memory is DRAM or L1", c.Sharding, c.Memory)
	}
	c.Shard, c.Cores = slices.Clone(c.Shard), slices.Clone(c.Cores)
	p := Placement{spec: s, config: c, model: m}
	if err := p.cut(op); err != nil {
		return Placement{}, err
	}
	if err := p.deal(op); err != nil {
		return Placement{}, err
	}
	return p, nil
}

// cut finds the pages and the shards.
func (p *Placement) cut(op string) error {
	c, box := &p.config, slices.Clone(p.config.Shard)
	rows := p.spec.Tile() == (pack.Tile{})
	if c.Sharding == Interleaved && (len(box) > 0 || len(c.Cores) > 0 || c.ColMajor || c.Grid2D) {
		return fail(op, tensor.ErrShape, "%v pages have no shards and no cores; leave them out", c.Sharding)
	}
	if c.Sharding != Interleaved {
		if slices.ContainsFunc(box, func(n int) bool { return n < 1 }) || len(box) == 0 || c.Sharding != NDSharded && len(box) != 2 {
			return fail(op, tensor.ErrShape, "a shard of %s: want extents from 1 up, two but for %v", ints(box), NDSharded)
		}
		if rows {
			if err := p.widen(op, box[len(box)-1]); err != nil {
				return err
			}
		}
	}
	h, w := p.spec.PhysicalShape()
	tensorShape := []int{h, w}
	switch c.Sharding {
	case HeightSharded:
		if box[1] != w {
			return fail(op, tensor.ErrShape, "height shards of %s are %d wide and the matrix %d, of %v; make them as wide", ints(box), box[1], w, p.spec)
		}
	case WidthSharded:
		if box[0] != h {
			return fail(op, tensor.ErrShape, "width shards of %s are %d high and the matrix %d, of %v; make them as high", ints(box), box[0], h, p.spec)
		}
	case NDSharded:
		padded := p.spec.Padded().Shape()
		if len(box) > len(padded) {
			return fail(op, tensor.ErrShape, "a shard of %s has more axes than the padded shape %s", ints(box), ints(padded))
		}
		if len(box) == 1 {
			box = []int{1, box[0]}
		}
		if lead := len(padded) - len(box); len(box) > 2 {
			tensorShape = slices.Clone(padded[lead:])
			for _, n := range padded[:lead] {
				tensorShape[0] *= n // of the padded shape's size, or 0
			}
		}
	}
	p.page = [2]int{1, w}
	if !rows {
		p.page = [2]int{p.spec.Tile().Height, p.spec.Tile().Width}
	} else if c.Sharding != Interleaved {
		p.page[1] = box[len(box)-1]
	} else if w == 0 {
		_, p.page[1] = p.spec.PageShape()
	}
	if c.Sharding == Interleaved {
		box = p.page[:]
	}
	k := len(box) - 2
	if box[k]%p.page[0] != 0 || box[k+1]%p.page[1] != 0 {
		return fail(op, tensor.ErrShape, "a shard of %s isn't made of whole tiles of %v", ints(box), p.spec.Tile())
	}
	if f := p.spec.Format(); f != nil && rows && p.spec.StorageLen() > 0 && p.page[1]%max(f.Group(), 1) != 0 {
		return fail(op, tensor.ErrShape, "pages of %d elements: %s encodes %d together; make rows and shards multiples of it", p.page[1], f.Name(), f.Group())
	}
	p.pages, p.shard = tensorShape, slices.Clone(box)
	for i, n := range p.page {
		p.pages[k+i] /= n
		p.shard[k+i] /= n
	}
	return nil
}

// widen pads the width of rows to a multiple of the shard's.
func (p *Placement) widen(op string, width int) error {
	s := &p.spec
	o := pack.Options{Format: s.Format(), Align: s.Alignment()}
	plain, err := pack.NewSpec(s.DType(), s.Shape(), &o)
	if given := s.Padded().Shape(); err != nil || !slices.Equal(plain.Padded().Shape(), given) {
		o.Align, o.Padded = nil, given // a padded shape that no alignment explains
	}
	list := o.Align
	if o.Padded != nil {
		list = o.Padded
	}
	if len(list) == 0 {
		return nil
	}
	last, ok := roundUp(list[len(list)-1], width)
	if !ok {
		return fail(op, tensor.ErrOverflow, "a width of %v, padded to shards of %d, doesn't fit an int", p.spec, width)
	}
	list[len(list)-1] = last
	if p.spec, err = pack.NewSpec(s.DType(), s.Shape(), &o); err != nil {
		return tensor.Wrap(op, err)
	}
	return nil
}

// deal finds the banks and the slots.
func (p *Placement) deal(op string) (err error) {
	c := &p.config
	p.shards, p.count = make([]int, len(p.pages)), 1
	volume, fits := 1, true
	for i, n := range p.pages {
		p.shards[i] = divUp(n, p.shard[i])
		p.count *= p.shards[i] // no more than pages
		if fits {
			volume, fits = mul(volume, p.shard[i])
		}
	}
	if p.banks, err = c.banks(op, &p.model); err != nil {
		return err
	}
	switch n := len(p.banks); {
	case (c.Sharding == HeightSharded || c.Sharding == WidthSharded) && p.count > n:
		return fail(op, tensor.ErrShape, "%v %s makes %d shards of %v, for %d cores; make shards larger, or the grid", c.Sharding, ints(c.Shard), p.count, p.spec, n)
	case c.Grid2D && (c.Sharding != NDSharded || len(p.shards) != 2):
		return fail(op, tensor.ErrShape, "Grid2D is about ND shards of two extents")
	case c.Sharding == BlockSharded || c.Grid2D:
		if p.banks, err = c.inGrid(op, &p.model, p.shards[0], p.shards[1]); err != nil {
			return err
		}
	}
	size, align := p.model.bytes(c.Memory)
	bytes, all := 0, false
	unit := p.spec.DType().Size()
	if f := p.spec.Format(); f != nil {
		unit = 8 // no format takes more for an element
	}
	if fits {
		_, fits = mul(p.page[0]*p.page[1], unit)
	}
	if fits {
		p.slot, fits = roundUp(p.PageBytes(), align)
	}
	if n := len(p.banks); fits && p.count > 0 {
		if p.slots, fits = mul(volume, divUp(p.count, n)); fits {
			if bytes, fits = mul(p.slots, p.slot); fits {
				_, all = mul(bytes, n)
			}
		}
	} else {
		all = true
	}
	switch {
	case !fits || !all:
		return fail(op, tensor.ErrOverflow, "the shards of %v, %v, don't fit an int of bytes", p.spec, c)
	case bytes > size:
		return fail(op, tensor.ErrMemory, "%v, %v, needs %d bytes in each bank of %v, which has %d; make shards smaller, and more", p.spec, c, bytes, c.Memory, size)
	}
	return nil
}

// Spec returns the description of the tensor as it is on the device, where rows may be
// padded further.
func (p *Placement) Spec() pack.Spec { return p.spec }

// Config returns the memory config.
func (p *Placement) Config() MemoryConfig { return p.config }

// Model returns the numbers of the device.
func (p *Placement) Model() Model { return p.model }

// PageShape returns the rows and columns of elements of a page.
func (p *Placement) PageShape() (height, width int) { return p.page[0], p.page[1] }

// PageBytes returns the bytes of a page.
func (p *Placement) PageBytes() int {
	n := p.page[0] * p.page[1]
	if f := p.spec.Format(); f != nil {
		return f.Size(n)
	}
	return n * p.spec.DType().Size()
}

// SlotBytes returns the distance of pages in a bank: PageBytes, aligned.
func (p *Placement) SlotBytes() int { return p.slot }

// Slots returns the number of slots of each bank.
func (p *Placement) Slots() int { return p.slots }

// BankBytes returns the bytes that the tensor takes in each bank.
func (p *Placement) BankBytes() int { return p.slots * p.slot }

// Pages returns the number of pages, 0 for the zero value.
func (p *Placement) Pages() int {
	if len(p.pages) == 0 {
		return 0
	}
	return product(p.pages)
}

// PageGrid returns the number of pages along each axis, in a new slice. The axes are the
// rows and columns of the matrix, or the axes of the shards.
func (p *Placement) PageGrid() []int { return slices.Clone(p.pages) }

// ShardGrid returns the number of shards along each axis, in a new slice.
func (p *Placement) ShardGrid() []int { return slices.Clone(p.shards) }

// ShardPages returns the number of pages of a shard along each axis, in a new slice.
func (p *Placement) ShardPages() []int { return slices.Clone(p.shard) }

// Banks returns the banks that shards are dealt to, in that order, in a new slice. Some
// may get none.
func (p *Placement) Banks() []int { return slices.Clone(p.banks) }

// Holes returns the number of slots of all banks without a page.
func (p *Placement) Holes() int { return len(p.banks)*p.slots - p.Pages() }

func product(v []int) int {
	n := 1
	for _, x := range v {
		n *= x
	}
	return n
}

// Page returns the place of a page: the bank, and the first byte, counted from the
// beginning of the tensor in each bank. It fails if there is no such page.
func (p *Placement) Page(i int) (bank, offset int, err error) {
	if i < 0 || i >= p.Pages() {
		return 0, 0, fail("device.Page", tensor.ErrIndex, "there is no page %d of %d", i, p.Pages())
	}
	at, offset := p.at(i)
	return p.banks[at], offset, nil
}

// at is Page with the number of the bank among Banks.
func (p *Placement) at(i int) (at, offset int) {
	shard, within := 0, 0
	countS, countW := 1, 1
	for k := len(p.pages) - 1; k >= 0; k-- {
		x := i % p.pages[k]
		i /= p.pages[k]
		shard += x / p.shard[k] * countS
		within += x % p.shard[k] * countW
		countS *= p.shards[k]
		countW *= p.shard[k]
	}
	n := len(p.banks)
	return shard % n, (shard/n*countW + within) * p.slot
}

// PageIn returns the page in a slot of bank number at among Banks, or -1 for a hole. It
// fails if there is no such bank or slot.
func (p *Placement) PageIn(at, slot int) (int, error) {
	if at < 0 || at >= len(p.banks) || slot < 0 || slot >= p.slots {
		return 0, fail("device.PageIn", tensor.ErrIndex, "there is no slot %d of bank %d; there are %d banks of %d", slot, at, len(p.banks), p.slots)
	}
	return p.in(at, slot), nil
}

func (p *Placement) in(at, slot int) int {
	volume := product(p.shard)
	shard, within := slot/volume*len(p.banks)+at, slot%volume
	page, count, hole := 0, 1, shard >= p.count
	for k := len(p.pages) - 1; k >= 0; k-- {
		x := shard%p.shards[k]*p.shard[k] + within%p.shard[k]
		shard, within = shard/p.shards[k], within/p.shard[k]
		hole = hole || x >= p.pages[k]
		page += x * count
		count *= p.pages[k]
	}
	if hole {
		return -1
	}
	return page
}

// Element returns the place of an element by one index per axis of the shape: the bank,
// and the first byte. It fails if an index is outside its axis, and for elements that a
// format encodes.
func (p *Placement) Element(idx ...int) (bank, offset int, err error) {
	const op = "device.Element"
	if f := p.spec.Format(); f != nil {
		return 0, 0, fail(op, tensor.ErrView, "an element of %s has no bytes of its own; Page tells where its tile is", f.Name())
	}
	if len(p.pages) == 0 {
		return 0, 0, fail(op, tensor.ErrIndex, "the placement is the zero value; Place makes one")
	}
	lay := p.spec.Layout()
	switch _, axis := lay.At(idx); {
	case axis == lay.Rank():
		return 0, 0, fail(op, tensor.ErrIndex, "%d indices for rank %d of shape %s", len(idx), lay.Rank(), ints(p.spec.Shape()))
	case axis >= 0:
		return 0, 0, fail(op, tensor.ErrIndex, "index %d is outside axis %d of shape %s", idx[axis], axis, ints(p.spec.Shape()))
	}
	all := p.spec.Storage()
	e, _ := all.At(append(make([]int, all.Rank()-len(idx)), idx...))
	at, offset := p.element(e)
	return p.banks[at], offset, nil
}

// element is where number e of the storage is.
func (p *Placement) element(e int) (at, offset int) {
	n := p.page[0] * p.page[1]
	at, offset = p.at(e / n)
	return at, offset + e%n*p.spec.DType().Size()
}
