package device

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/ashlar-go/ashlar/internal/core/ram"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

// Core is a core of the software accelerator. A kernel runs on one. Bytes and Shards return
// the parts of its arguments in the core's own L1; Read and Write reach all pages. A kernel
// reads the bytes of other cores as they were before its launch. Its own writes become
// visible to all when all cores are done. If one core fails, they never do.
//
// Only the goroutine of a kernel may use its Core.
type Core struct {
	Coord
	dev    *Sim
	queue  *simQueue // whose kernel runs; nil outside one
	args   []Tensor
	local  []*local // in the order they were asked for
	writes []write
	moved  Traffic
}

// local is a core's copy of its part of a buffer.
type local struct {
	buf      *buffer
	at       int // of the bank among the buffer's
	was, now []byte
}

// L1 returns the raw memory of the core.
func (c *Core) L1() *Bank { return &Bank{c.dev, c.dev.pools[L1], c.bank()} }

func (c *Core) bank() int { return c.Y*c.dev.model.Grid.X + c.X }

// argument returns the buffer of t, which must be one of the kernel's arguments.
func (c *Core) argument(op string, t Tensor) (*buffer, error) {
	if c.queue == nil {
		return nil, fail(op, ErrKernel, "core %v runs no kernel; ForEachCore gives one that does", c.Coord)
	}
	for _, a := range c.args {
		if t.h != nil && a.h.root == t.h.root {
			return a.h.root.buf.(*simBuffer).b, nil
		}
	}
	return nil, fail(op, ErrSpace, "the tensor isn't an argument of the kernel; give it to ForEachCore")
}

// own returns the core's part of a tensor.
func (c *Core) own(op string, t Tensor) (*local, error) {
	b, err := c.argument(op, t)
	if err != nil {
		return nil, err
	}
	if b.pool.kind != L1 {
		return nil, fail(op, ErrSpace, "%s is in DRAM, not in the L1 of core %v; Read gets its pages", b.name, c.Coord)
	}
	if l := c.cached(b); l != nil {
		return l, nil
	}
	for at, bank := range b.banks {
		if bank == c.bank() {
			c.dev.mu.Lock()
			was := bytes.Clone(c.queue.bytes(b)[at*b.bytes : (at+1)*b.bytes])
			c.dev.mu.Unlock()
			l := &local{b, at, was, ram.Make(len(was))} // aligned for every element
			copy(l.now, was)
			c.local = append(c.local, l)
			return l, nil
		}
	}
	return nil, fail(op, ErrSpace, "core %v has nothing of %s", c.Coord, b.name)
}

func (c *Core) cached(b *buffer) *local {
	for _, l := range c.local {
		if l.buf == b {
			return l
		}
	}
	return nil
}

// Bytes returns the core's part of a tensor in L1, slot after slot, holes included. The
// kernel may change it. Bytes fails if t isn't an argument of the kernel, is in DRAM, or has
// no part on this core.
func (c *Core) Bytes(t Tensor) ([]byte, error) {
	l, err := c.own("device.Bytes", t)
	if err != nil {
		return nil, err
	}
	return l.now[:t.p.BankBytes()], nil
}

// Shard is a shard on a core.
type Shard struct {
	Origin []int      // the coordinates of its first element, in the axes of PageGrid
	Tensor tensor.Any // its elements, without holes, but with the padding of its pages
}

// Shards returns the core's shards of a tensor in L1 as tensors over Bytes, to which a kernel
// may write. It fails as Bytes does, and if a format encodes the elements.
func (c *Core) Shards(t Tensor) ([]Shard, error) {
	const op = "device.Shards"
	l, err := c.own(op, t)
	if err != nil {
		return nil, err
	}
	p := t.p
	if f := p.spec.Format(); f != nil {
		return nil, fail(op, tensor.ErrView, "%s are no elements that a tensor holds; Bytes has them", f.Name())
	}
	var list []Shard
	for turn := 0; turn*len(p.banks)+l.at < p.count; turn++ {
		origin, lay, err := p.shardLayout(turn*len(p.banks) + l.at)
		if err != nil {
			return nil, tensor.Wrap(op, err)
		}
		from := turn * product(p.shard) * p.slot
		a, err := tensor.FromBytes(p.spec.DType(), mem.Borrow(l.now, nil), from, lay)
		if err != nil {
			return nil, tensor.Wrap(op, err)
		}
		list = append(list, Shard{origin, a})
	}
	return list, nil
}

// shardLayout returns where a shard begins, and the layout of its elements in its bank,
// counted in elements from its first slot.
func (p *Placement) shardLayout(s int) (origin []int, lay layout.Layout, err error) {
	page, err := p.pageLayout()
	if err != nil {
		return nil, lay, err
	}
	rank := len(p.pages)
	origin = make([]int, rank)
	modes := make([]layout.Layout, rank)
	step := p.slot / p.spec.DType().Size() // slots are aligned to elements: an element divides a page, and both are powers of two or multiples
	for k := rank - 1; k >= 0; k-- {
		first := s % p.shards[k] * p.shard[k]
		s /= p.shards[k]
		n := min(p.shard[k], p.pages[k]-first)
		var ext, str []int
		unit := 1
		if i := k - (rank - 2); i >= 0 {
			lo, hi := page.ModeLeaves(i)
			for ; lo < hi; lo++ {
				e, d := page.Leaf(lo)
				ext, str = append(ext, e), append(str, d)
			}
			unit = p.page[i]
		}
		origin[k] = first * unit
		if modes[k], err = leavesOf(append(ext, n), append(str, step)); err != nil {
			return nil, lay, err
		}
		step *= p.shard[k]
	}
	lay, err = layout.Join(modes...)
	return origin, lay, err
}

// Read copies a page of an argument to dst, whose length is PageBytes. It counts the bytes
// if they come from DRAM or another core. It fails if t isn't an argument, if there is no
// such page, or if dst has another length.
func (c *Core) Read(t Tensor, page int, dst []byte) error {
	b, at, from, err := c.reach("device.Read", t, page, len(dst))
	if err != nil {
		return err
	}
	if l := c.cached(b); l != nil && l.at == at {
		copy(dst, l.now[from:])
		return nil
	}
	c.dev.mu.Lock()
	copy(dst, c.queue.bytes(b)[at*b.bytes+from:])
	c.dev.mu.Unlock()
	switch {
	case b.pool.kind == DRAM:
		c.moved.DRAMToL1 += int64(len(dst))
	case b.banks[at] != c.bank():
		c.moved.CoreToCore += int64(len(dst))
	}
	return nil
}

// Write copies src to a page of an argument: see Read. The copies take place when all cores
// are done, in the order of the cores, after their changes in Bytes.
func (c *Core) Write(t Tensor, page int, src []byte) error {
	b, at, to, err := c.reach("device.Write", t, page, len(src))
	if err != nil {
		return err
	}
	switch {
	case b.pool.kind == DRAM:
		c.moved.L1ToDRAM += int64(len(src))
	case b.banks[at] != c.bank():
		c.moved.CoreToCore += int64(len(src))
	}
	c.writes = append(c.writes, write{buf: b, at: at*b.bytes + to, bytes: bytes.Clone(src)})
	return nil
}

func (c *Core) reach(op string, t Tensor, page, n int) (b *buffer, at, off int, err error) {
	if b, err = c.argument(op, t); err != nil {
		return nil, 0, 0, err
	}
	switch p := t.p; {
	case page < 0 || page >= p.Pages():
		return nil, 0, 0, fail(op, tensor.ErrIndex, "there is no page %d of %d", page, p.Pages())
	case n != p.PageBytes():
		return nil, 0, 0, fail(op, tensor.ErrShape, "%d bytes for a page of %d", n, p.PageBytes())
	default:
		at, off = p.at(page)
		return b, at, off, nil
	}
}

// changes returns the writes of the core.
func (c *Core) changes() (out []write) {
	for _, l := range c.local {
		for i := 0; i < len(l.now); i++ {
			if l.now[i] == l.was[i] {
				continue
			}
			from := i
			for i < len(l.now) && l.now[i] != l.was[i] {
				i++
			}
			out = append(out, write{buf: l.buf, at: l.at*l.buf.bytes + from, bytes: l.now[from:i]})
		}
	}
	return append(out, c.writes...)
}

// ForEachCore runs a function at the same time on the cores that have a shard of one of the
// tensors in their L1, or on all cores if none has, and waits for them. It is Launch on a new
// queue. If the function fails or panics, nothing is written, and the error wraps ErrKernel
// and names the first such core in the order of the grid. A kernel can't wait: within one,
// ForEachCore, Sync, every Wait and every copy that waits fail with ErrKernel.
func (d *Sim) ForEachCore(f func(c *Core) error, ts ...Tensor) error {
	if err := outside("device.ForEachCore"); err != nil {
		return err
	}
	for _, t := range ts {
		if err := t.ready("device.ForEachCore"); err != nil {
			return err
		}
	}
	q := d.NewQueue()
	if _, err := q.Launch(f, ts...); err != nil {
		return err
	}
	return q.Wait()
}

func (q *simQueue) Launch(kernel any, args ...Tensor) (Event, error) {
	const op = "device.Launch"
	f, ok := kernel.(func(*Core) error)
	if ok && f == nil {
		return nil, fail(op, tensor.ErrDType, "there is no kernel: it is nil")
	}
	if !ok {
		return nil, fail(op, tensor.ErrDType, "a kernel of type %T; the software accelerator runs a func(*device.Core) error", kernel)
	}
	d := q.dev
	args = slices.Clone(args)
	var uses []*buffer
	run := make([]bool, d.model.Banks(L1))
	some := false
	for _, t := range args {
		if err := t.open(op); err != nil {
			return nil, err
		}
		s, ok := t.h.root.buf.(*simBuffer)
		if !ok || s.b.dev != d {
			return nil, fail(op, ErrSpace, "an argument is in %v; copy it to %s", t.Space(), d.model.Name)
		}
		uses = append(uses, s.b)
		if s.b.pool.kind == L1 && t.p.config.Sharding != Interleaved {
			for at := range min(t.p.count, len(t.p.banks)) {
				run[t.p.banks[at]], some = true, true
			}
		}
	}
	e, err := q.add(op, uses, uses, func() ([]write, func() error, Traffic, error) {
		var cores []*Core
		for bank := range run {
			if run[bank] || !some {
				cores = append(cores, &Core{Coord: d.model.Coord(L1, bank), dev: d, queue: q, args: args})
			}
		}
		errs := make([]error, len(cores))
		var all sync.WaitGroup
		for i, c := range cores {
			all.Add(1)
			go func() {
				defer all.Done()
				c.run(f, &errs[i])
			}()
		}
		all.Wait()
		var out []write
		var sum Traffic
		for i, c := range cores {
			if errs[i] != nil {
				return nil, nil, Traffic{}, errs[i]
			}
			out = append(out, c.changes()...)
			sum.add(c.moved)
		}
		return out, nil, sum, nil
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// outside fails in the goroutine of a kernel, and in a function that a Wait calls: waiting there could
// stop for good, as the awaited command may be behind it in its queue.
func outside(op string) error {
	var pcs [64]uintptr
	for skip := 2; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		if n == 0 {
			return nil
		}
		frames := runtime.CallersFrames(pcs[:n])
		for more := true; more; {
			var f runtime.Frame
			f, more = frames.Next()
			if strings.HasSuffix(f.Function, "/device.(*Core).run") || strings.HasSuffix(f.Function, "/device.(*simEvent).deliver") {
				return fail(op, ErrKernel, "a kernel, or what a Wait calls, doesn't wait for commands, which may be behind it; wait on the host")
			}
		}
		if n < len(pcs) {
			return nil
		}
	}
}

// run calls the kernel, and makes an error of a panic, and of a goroutine that ends.
func (c *Core) run(f func(*Core) error, failure *error) {
	ended := false
	var err error
	defer func() {
		r := recover()
		c.queue = nil // for a caller that keeps c
		cause, _ := r.(error)
		if r == nil {
			cause = err
		}
		text := ""
		switch {
		case r != nil:
			text = fmt.Sprintf("panic: %v", r)
		case !ended:
			text = "the kernel ended its goroutine"
		case err != nil:
			text = fmt.Sprint(err) // that of a nil pointer in err can't say anything
		default:
			return
		}
		*failure = fail("device.ForEachCore", errors.Join(ErrKernel, cause), "core %v: %s", c.Coord, text)
	}()
	err = f(c)
	ended = true
}

// pageLayout returns the layout of the elements of a page.
func (p *Placement) pageLayout() (layout.Layout, error) {
	if t := p.spec.Tile(); t != (pack.Tile{}) {
		return t.Layout(t.Height, t.Width)
	}
	return layout.RowMajor(1, p.page[1])
}
