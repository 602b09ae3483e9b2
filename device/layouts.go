package device

import (
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

// PageLayouts returns the map from pages to places as two layouts: the number of the bank
// among Banks, and the byte in the bank. They have the axes of PageGrid. The extents are
// rounded up to whole shards, so that the layouts hold the places of pages and of holes. The
// first leaf of an axis counts within a shard.
//
// PageLayouts fails if the map is no layout. That is so if shards wrap around the banks in
// the middle of an axis other than the first, as 3 columns of shards do on 2 banks.
func (p *Placement) PageLayouts() (bank, offset layout.Layout, err error) {
	return p.layouts("device.PageLayouts", nil)
}

// ElementLayouts is PageLayouts for the elements themselves, by the coordinates of the
// padded shape, in which the axes before the shards' axes are one: (core, byte). It fails
// as PageLayouts does, and for elements that a format encodes.
func (p *Placement) ElementLayouts() (bank, offset layout.Layout, err error) {
	const op = "device.ElementLayouts"
	if f := p.spec.Format(); f != nil {
		return bank, offset, fail(op, tensor.ErrView, "an element of %s has no bytes of its own; PageLayouts has its tile", f.Name())
	}
	page, err := p.pageLayout()
	if err != nil {
		return bank, offset, tensor.Wrap(op, err)
	}
	return p.layouts(op, &page)
}

// A leaf is an extent and its strides in the two layouts.
type leaf struct{ n, bank, offset int }

// layouts makes the two layouts of pages, or of elements within them.
func (p *Placement) layouts(op string, page *layout.Layout) (bank, offset layout.Layout, err error) {
	rank, n := len(p.pages), len(p.banks)
	modes := make([][]leaf, rank)
	volume, turn := product(p.shard), 1 // turn: the shards of the axes further in
	within := p.slot
	for k := rank - 1; k >= 0; k-- {
		if page != nil && k >= rank-2 {
			lo, hi := page.ModeLeaves(k - (rank - 2))
			for i := lo; i < hi; i++ {
				ext, str := page.Leaf(i)
				modes[k] = append(modes[k], leaf{ext, 0, str * p.spec.DType().Size()})
			}
		}
		modes[k] = append(modes[k], leaf{p.shard[k], 0, within})
		within *= p.shard[k]
		count := p.shards[k]
		switch {
		case p.count <= n: // each shard has a bank to itself
			modes[k] = append(modes[k], leaf{count, turn, 0})
		case turn >= n && turn%n == 0:
			modes[k] = append(modes[k], leaf{count, 0, turn / n * volume * p.slot})
		case turn < n && n%turn == 0:
			around := n / turn
			if count > around && count%around != 0 && product(p.shards[:k]) > 1 {
				return bank, offset, p.inexact(op, k)
			}
			modes[k] = append(modes[k], leaf{min(count, around), turn, 0})
			if count > around {
				modes[k] = append(modes[k], leaf{divUp(count, around), 0, volume * p.slot})
			}
		case count > 1:
			return bank, offset, p.inexact(op, k)
		}
		turn *= count
	}
	banks, offsets := make([]layout.Layout, rank), make([]layout.Layout, rank)
	for k, leaves := range modes {
		var ext, toBank, toOffset []int
		for _, l := range leaves {
			ext, toBank, toOffset = append(ext, l.n), append(toBank, l.bank), append(toOffset, l.offset)
		}
		if banks[k], err = leavesOf(ext, toBank); err == nil {
			offsets[k], err = leavesOf(ext, toOffset)
		}
		if err != nil {
			return bank, offset, tensor.Wrap(op, err)
		}
	}
	if bank, err = layout.Join(banks...); err == nil {
		offset, err = layout.Join(offsets...)
	}
	if err != nil {
		return bank, offset, tensor.Wrap(op, err)
	}
	return bank, offset, nil
}

// leavesOf returns the layout of the leaves of a mode, without extents of 1.
func leavesOf(ext, str []int) (layout.Layout, error) {
	var e, s []int
	for i, n := range ext {
		if n != 1 {
			e, s = append(e, n), append(s, str[i])
		}
	}
	if len(e) == 0 {
		e, s = []int{1}, []int{0}
	}
	return layout.New(e, s) // Join nests it
}

func (p *Placement) inexact(op string, axis int) error {
	return fail(op, tensor.ErrView, "shards go around the %d banks within axis %d of %s shards; no layout is that map, Page and Element compute it", len(p.banks), axis, ints(p.shards))
}
