package plan

import (
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Price is the memory and the operations of a run. An operator says them when it plans a call.
type Price struct {
	all, each   float64 // bytes in all, and for each thread
	packs, work float64 // bytes of blocks for each thread, of those that have part in so many multiplications
	own, wide   copies
	size        int   // of an element of wide copies
	flops       int64 // 1 + the floating-point operations; 0 is nothing said
}

// copies is how often operands and results are held besides.
type copies struct{ in, out int }

// room is how many bytes the copies take.
func (c copies) room(size int, in, out []tensor.Any) float64 {
	return float64(float64(c.in)*Room(size, in)) + float64(float64(c.out)*Room(size, out))
}

// Taking returns a Price of bytes: see Takes.
func Taking(all, each float64) Price { return Price{all: all, each: each} }

// Copying returns a Price of copies: see Copies.
func Copying(size, in, out int) (p Price) {
	p.Copies(size, in, out)
	return p
}

// Takes says that a run takes bytes besides operands and results: all, and each for each thread of it.
func (p *Price) Takes(all, each float64) {
	p.all += float64(all)
	p.each += float64(each)
}

// Packs says that a run packs blocks of a product or convolution: bytes for each thread, 4 MiB at most, of work
// multiplications in all.
func (p *Price) Packs(each, work float64) { p.packs, p.work = each, work }

// Copies says that a run holds operands and results so many times besides, with elements of size bytes, or of their own if
// that is 0.
func (p *Price) Copies(size, in, out int) {
	if size == 0 {
		p.own.in, p.own.out = p.own.in+in, p.own.out+out
		return
	}
	p.size, p.wide = max(size, p.size), copies{p.wide.in + in, p.wide.out + out}
}

// Costs says how many floating-point operations a run does, a product and a sum being two; less than 0 is a number that
// isn't known.
func (p *Price) Costs(n int64) { p.flops = 1 + max(n, -1) }

// then adds the price of a step that runs after the others, whose memory is free by then. The operations stay.
func (p *Price) then(q *Price) {
	p.all, p.each = max(p.all, q.all), max(p.each, q.each)
	p.packs, p.work = max(p.packs, q.packs), max(p.work, q.work)
	p.own = copies{max(p.own.in, q.own.in), max(p.own.out, q.own.out)}
	p.wide, p.size = copies{max(p.wide.in, q.wide.in), max(p.wide.out, q.wide.out)}, max(p.size, q.size)
}

// Priced returns the price.
func (p *Price) Priced() *Price { return p }

// ScratchBytes is op.Plan.Scratch.
func (p *Draft) ScratchBytes() int64 {
	if p.Views {
		return 0
	}
	return int64(min(p.scratch(), 1<<62)) // of a double, 1<<63 - 1 isn't one
}

// ScratchAs is ScratchBytes where inputs that are Specs stand for tensors that may not be contiguous.
func (p *Draft) ScratchAs(strided []bool) int64 {
	p.Call.strided = strided
	return p.ScratchBytes()
}

// scratch is ScratchBytes as a float64, so that a sum is never beyond its type.
func (p *Draft) scratch() (n float64) {
	in, out := p.Call.Inputs, p.known()
	threads := float64(exec.Workers(p.Call.Context))
	n = p.all + float64(threads*p.each)
	n += p.own.room(0, in, out) + p.wide.room(p.size, in, out)
	if p.packs > 0 {
		if p.work < exec.SplitCost/4 { // where a helper looks for work: see exec.Least
			threads = 1
		}
		n += float64(threads * min(4<<20, p.packs))
	}
	if t := p.op.table; t != nil {
		if p.op.fixed != dtype.Invalid && len(in) > 0 && !t.Supports(in[0].DType()) {
			n += Room(8, in, out) // computed in float64
		}
		n += t.Scratch(p, out)
	}
	if s := p.Call.strided; len(s) > p.apart.from && slices.Contains(s[p.apart.from:], true) {
		n += p.apart.bytes
	}
	return n
}

// known returns the results as far as they are known.
func (p *Draft) known() []tensor.Any {
	if p.Out == nil && p.Late != nil && p.op.table == nil {
		_, _ = p.Results() // an operator of a program says its price there
	}
	if p.Out == nil {
		return p.To
	}
	return p.Out
}

// Strided returns the bytes of operands that aren't contiguous.
func (p *Draft) Strided() (n float64) {
	for i, a := range p.Call.Inputs {
		if !a.IsZero() && !a.IsContiguous() || a.IsSpec() && i < len(p.Call.strided) && p.Call.strided[i] {
			n += Room(0, p.Call.Inputs[i:i+1])
		}
	}
	return n
}

// Scratch returns the bytes that the operator takes besides the Price.
func (o *Operator) Scratch(p *Draft, out []tensor.Any) (n float64) {
	in, d := p.Call.Inputs, dtype.Invalid
	if o.By < len(in) {
		d = in[o.By].DType()
	}
	n = p.Strided()
	if d.IsNarrow() && (o.Move == nil || p.packs > 0) {
		n += Room(4, in, out)
	}
	if d.IsFixed() {
		n += Room(0, in, out)
	}
	return n
}

// BytesIn returns how many bytes elements of a size and in a shape take.
func BytesIn(size int, shape []int) float64 {
	n := float64(size)
	for _, e := range shape {
		n *= float64(e)
	}
	return n
}

// Room is how many bytes tensors take with elements of a size, or of their own if that is 0.
func Room(size int, lists ...[]tensor.Any) (n float64) {
	for _, list := range lists {
		for _, a := range list {
			if a.IsZero() {
				continue
			}
			width := size
			if size == 0 {
				width = a.DType().Size()
			}
			n += float64(float64(a.Len()) * float64(width))
		}
	}
	return n
}
