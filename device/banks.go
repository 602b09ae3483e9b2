package device

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// empty is the byte that unwritten memory reads.
const empty = 0xEE

// A pool is the banks of one kind of memory. A buffer has the same address in each of its
// banks: the lowest one that is free in all of them, or the highest in L1.
type pool struct {
	kind        Memory
	size, align int
	banks       [][]span // the spans in use, by address
}

// A span is the part of a bank that a buffer has.
type span struct {
	addr, end int
	buf       *buffer
	at        int // the bank's number among the buffer's
}

// buffer is the memory of a tensor on the software accelerator: the same number of bytes in
// each of some banks. The device's lock guards it.
type buffer struct {
	dev     *Sim
	pool    *pool
	name    string
	banks   []int
	addr    int
	bytes   int // of each bank
	memory  *mem.Buffer
	data    []byte               // bank after bank, as everyone sees it; nil once freed
	views   map[*simQueue][]byte // as a queue sees it that has written it
	refs    int                  // tensors, and commands at work
	pending int                  // commands that may write it and that nobody has waited for
}

func newPool(m *Model, k Memory) *pool {
	size, align := m.bytes(k)
	return &pool{k, size &^ (align - 1), align, make([][]span, m.Banks(k))}
}

// find returns an address from which n bytes are free in all of the banks.
func (p *pool) find(banks []int, n int) (addr int, ok bool) {
	if n > p.size {
		return 0, false
	}
	if p.kind == L1 {
		addr = p.size - n
	}
	for again := true; again; {
		again = false
		for _, b := range banks {
			list := p.banks[b]
			if p.kind == L1 {
				// the last that begins before the end of the candidate
				i := sort.Search(len(list), func(i int) bool { return list[i].addr >= addr+n }) - 1
				if i >= 0 && list[i].end > addr {
					if addr, again = list[i].addr-n, true; addr < 0 {
						return 0, false
					}
				}
				continue
			}
			i := sort.Search(len(list), func(i int) bool { return list[i].end > addr })
			if i < len(list) && list[i].addr-addr < n {
				if addr, again = list[i].end, true; addr > p.size-n {
					return 0, false
				}
			}
		}
	}
	return addr, true
}

// alloc takes n bytes in each of the banks. The buffer has one reference.
func (p *pool) alloc(op string, dev *Sim, banks []int, n int, name string) (*buffer, error) {
	n, ok := roundUp(n, p.align)
	total, fits := mul(n, len(banks))
	if !ok || !fits {
		return nil, fail(op, tensor.ErrOverflow, "%s: %d bytes in each of %d banks don't fit an int", name, n, len(banks))
	}
	addr, ok := p.find(banks, n)
	if !ok {
		return nil, fail(op, tensor.ErrMemory, "%s: %d bytes in each of %d banks of %v are not to be had at one address; %s", name, n, len(banks), p.kind, p.resident(banks))
	}
	memory, err := mem.AllocDirty(total)
	if err != nil {
		return nil, fail(op, tensor.ErrMemory, "%s: %v", name, err)
	}
	b := &buffer{dev: dev, pool: p, name: name, banks: banks, addr: addr, bytes: n, memory: memory, data: memory.Bytes(), refs: 1}
	for i := range b.data {
		b.data[i] = empty
	}
	if n > 0 {
		for at, bank := range banks {
			list := p.banks[bank]
			i := sort.Search(len(list), func(i int) bool { return list[i].addr > addr })
			p.banks[bank] = slices.Insert(list, i, span{addr, addr + n, b, at})
		}
	}
	return b, nil
}

// release drops a reference, and with the last one frees the memory.
func (b *buffer) release() {
	if b.refs--; b.refs > 0 || b.data == nil {
		return
	}
	if b.bytes > 0 {
		for _, bank := range b.banks {
			list := b.pool.banks[bank]
			i := sort.Search(len(list), func(i int) bool { return list[i].addr >= b.addr })
			b.pool.banks[bank] = slices.Delete(list, i, i+1)
		}
	}
	b.data, b.views = nil, nil
	b.memory.Close()
}

// resident lists the buffers in the banks, the largest first.
func (p *pool) resident(banks []int) string {
	seen := map[*buffer]bool{}
	var list []*buffer
	used, fullest := 0, 0
	for _, bank := range banks {
		sum := 0
		for _, s := range p.banks[bank] {
			sum += s.end - s.addr
			if !seen[s.buf] {
				seen[s.buf] = true
				list = append(list, s.buf)
			}
		}
		if sum >= used {
			used, fullest = sum, bank
		}
	}
	if len(list) == 0 {
		return fmt.Sprintf("each has %d, and nothing is there", p.size)
	}
	slices.SortFunc(list, func(a, b *buffer) int {
		if a.bytes != b.bytes {
			return b.bytes - a.bytes
		}
		return a.addr - b.addr
	})
	var names []string
	for _, b := range list[:min(len(list), 4)] {
		names = append(names, fmt.Sprintf("%s (%d)", b.name, b.bytes))
	}
	if more := len(list) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("each has %d, in bank %d %d are in use; resident: %s. Deallocate what is done with", p.size, fullest, used, strings.Join(names, ", "))
}

// A Bank is the raw memory of a bank of DRAM, or of a core's L1, as everyone sees it. The
// writes of a command that nobody has waited for aren't there yet. A byte that was never
// written, or was deallocated, reads as 0xEE. Bank implements io.ReaderAt and io.WriterAt.
type Bank struct {
	dev  *Sim
	pool *pool
	n    int
}

// Len returns the bytes of the bank.
func (b *Bank) Len() int { return b.pool.size }

// ReadAt reads bytes from an address. It fails if one is outside the bank, or the device
// is closed.
func (b *Bank) ReadAt(dst []byte, addr int64) (int, error) {
	err := b.each("device.ReadAt", len(dst), addr, func(s *span, in, at, n int) {
		copy(dst[at:at+n], s.buf.data[s.at*s.buf.bytes+in:])
	}, func() {
		for i := range dst {
			dst[i] = empty
		}
	})
	if err != nil {
		return 0, err
	}
	return len(dst), nil
}

// WriteAt writes the bytes that belong to buffers; other bytes are lost. It fails as
// ReadAt does.
func (b *Bank) WriteAt(src []byte, addr int64) (int, error) {
	err := b.each("device.WriteAt", len(src), addr, func(s *span, in, at, n int) {
		copy(s.buf.data[s.at*s.buf.bytes+in:], src[at:at+n])
		for _, v := range s.buf.views { // of queues that wrote elsewhere in it
			copy(v[s.at*s.buf.bytes+in:], src[at:at+n])
		}
	}, func() {})
	if err != nil {
		return 0, err
	}
	return len(src), nil
}

// each calls f for the parts of n bytes from addr that buffers have: where it begins in
// the buffer's part of the bank, and where among the bytes.
func (b *Bank) each(op string, n int, addr int64, f func(s *span, in, at, n int), first func()) error {
	b.dev.mu.Lock()
	defer b.dev.mu.Unlock()
	if b.dev.closed {
		return fail(op, tensor.ErrClosed, "%s is closed", b.dev.model.Name)
	}
	if addr < 0 || addr > int64(b.pool.size) || n > b.pool.size-int(addr) {
		return fail(op, tensor.ErrIndex, "%d bytes from %d are outside the %d of the bank", n, addr, b.pool.size)
	}
	first()
	from := int(addr)
	for _, s := range b.pool.banks[b.n] {
		lo, hi := max(s.addr, from), min(s.end, from+n)
		if lo < hi {
			f(&s, lo-s.addr, lo-from, hi-lo)
		}
	}
	return nil
}
