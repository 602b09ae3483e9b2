package plan

import (
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/tensor"
)

// Scratch returns how many bytes a run takes at most besides operands and results. They are for copies of
// operands that aren't contiguous, wider numbers that narrow ones are computed in, and steps on the way to the result. They are also
// for the blocks of matrix products, for each of the Threads of the call. Operands may be tensor.Specs, which count as
// contiguous. The memory of small slices, some KiB, isn't counted.
func (p *Plan) Scratch() int64 {
	if p.draft.op.table == nil || p.draft.Views {
		return 0
	}
	return int64(min(p.draft.Scratch(), 1<<62)) // of a double, 1<<63 - 1 isn't one
}

// Scratch is Plan.Scratch as a float64, so that a sum is never beyond its type.
func (p *Draft) Scratch() (n float64) {
	in, out := p.Call.Inputs, p.Out
	if out == nil {
		out = p.To
	}
	if p.op.fixed != dtype.Invalid && len(in) > 0 && !p.op.table.Supports(in[0].DType()) {
		n += Room(8, in, out) // computed in float64
	}
	if s := p.Call.strided; len(s) > p.apart.from && slices.Contains(s[p.apart.from:], true) {
		n += p.apart.bytes
	}
	return n + p.op.table.Scratch(p, out) + p.besides
}

// Copies returns the bytes of operands that aren't contiguous.
func (p *Draft) Copies() (n float64) {
	for i, a := range p.Call.Inputs {
		if !a.IsZero() && !a.IsContiguous() || a.IsSpec() && i < len(p.Call.strided) && p.Call.strided[i] {
			n += Room(0, p.Call.Inputs[i:i+1])
		}
	}
	return n
}

// takesUp is the memory that operators written by hand take.
type takesUp uint16

const (
	InBlocks    takesUp = 1 << iota // the blocks of products of its inputs, for each thread,
	InMatrices                      // of one matrix of each of two inputs,
	InWindows                       // or of a window's patches and its weights
	InWhole                         // operands and results in 8 bytes an element
	InHeads                         // queries, keys and values, and their weights
	InDoubles                       // operands twice and results, in float64
	InStepwise                      // operands twice and results
	InWidened                       // operands and results in float32
	InDouble                        // narrow ones in float64
	InColumns                       // the columns of a transposed convolution
	InPatches                       // the patches of a deformed convolution
	InLastLine                      // lines that are normalized: the last axis,
	InAxisLine                      // the attribute's,
	InTailLine                      // that and those after it,
	InGroupLine                     // the axes after the first two and a group of the second,
	InAllLine                       // or all
)

// Scratch returns the bytes that the operator takes besides operands and results, by its TakesUp.
func (o *Operator) Scratch(p *Draft, out []tensor.Any) (n float64) {
	c, in, moved := p.Call, p.Call.Inputs, p.moved
	n = p.Copies()
	takes := func(all, each float64) { n += all + float64(float64(exec.Workers(c.Context))*each) }
	_ = tensor.Try(func() {
		if o.counts(c); o.Room != nil {
			takes(o.Room(c, out))
		}
		if moved == nil && o.Move != nil { // the plan is one of InFixed or InOrion
			moved = o.Move(c)
		}
	})
	is := func(what takesUp) bool { return o.TakesUp&what != 0 }
	d := dtype.Invalid
	if o.By < len(in) {
		d = in[o.By].DType()
	}
	if d.IsNarrow() && (o.Move == nil || is(InBlocks|InMatrices|InWindows)) || is(InWidened) {
		n += Room(4, in, out)
	}
	if d.IsNarrow() && is(InDouble) { // besides the same of float32
		n += Room(4, in, out)
	}
	if d.IsFixed() {
		n += Room(0, in, out)
	}
	if is(InWhole) {
		n += Room(8, in, out)
	}
	if is(InStepwise) {
		n += Room(0, in, in, out)
	}
	if is(InDoubles) {
		n += Room(8, in, in, out)
	}
	if line := o.line(c); line > 0 { // of float64, and scales for it
		n += float64(float64(24*exec.Workers(c.Context)) * line)
	}
	if moved != nil {
		takes(moved.Takes())
	}
	if is(InBlocks | InMatrices) {
		switch {
		case d == dtype.Bool: // a product of int64
			n += Room(8, in, out)
		case d.IsComplex(): // products of parts, and a sum of two
			n += Room(0, in, out, out)
		}
	}
	if len(in) < 2 || len(out) < 1 || in[1].IsZero() || out[0].IsZero() {
		return n
	}
	x, w, y := in[0], in[1], out[0]
	if is(InHeads) && x.Rank() == 3 && w.Rank() == 2 && c.Attrs != nil { // com.microsoft's Attention makes queries, keys and values itself
		keys, heads := float64(x.Dim(1)), float64(float64(x.Dim(0))*float64(max(1, c.Attrs.Int("num_heads", 1))))
		n += BytesIn(24, []int{x.Dim(0), x.Dim(1), w.Dim(1)}) + float64(12*min(max(MostWeights, heads*keys), heads*keys*keys))
	}
	if is(InHeads) && x.Rank() > 2 && w.Rank() > 2 {
		rows, last := Room(1, in[:1])/max(1, float64(x.Dim(x.Rank()-1))), float64(w.Dim(w.Rank()-2)) // queries of all heads, and keys
		if x.Rank() == 3 && c.Attrs != nil {
			rows *= float64(max(1, c.Attrs.Int("num_heads", 1), c.Attrs.Int("q_num_heads", 1)))
		}
		n += Room(0, in, in) + float64(12*min(max(MostWeights, rows*last/max(1, float64(x.Dim(x.Rank()-2)))), rows*last))
	}
	width, volume := float64(max(4, d.Size())), 1.0
	for axis := 2; axis < w.Rank(); axis++ {
		volume *= float64(w.Dim(axis))
	}
	// plane is how many elements of a channel there are.
	plane := func(a tensor.Any) float64 {
		return Room(1, []tensor.Any{a}) / max(1, float64(a.Dim(0))*float64(a.Dim(1)))
	}
	switch {
	case is(InColumns) && x.Rank() > 1 && y.Rank() > 1:
		n += float64(width * float64(y.Dim(1)) * volume * plane(x))
	case is(InPatches) && x.Rank() > 1 && y.Rank() > 1:
		n += float64(width * float64(x.Dim(1)) * volume * plane(y))
	}
	if each, work := o.blocks(in, y, volume); each > 0 {
		threads, least := 1.0, float64(exec.SplitCost/4) // where a helper looks for work: see exec.Least
		if is(InWindows) {
			least /= 3 // a convolution counts at least two additions more for an output
		}
		if work >= least {
			threads = float64(exec.Workers(c.Context))
		}
		n += float64(threads * min(4<<20, width*each))
	}
	return n
}

// blocks returns how many elements a thread packs at most, and the work of all in multiplications. volume is that of a window.
func (o *Operator) blocks(in []tensor.Any, y tensor.Any, volume float64) (each, work float64) {
	x, w := in[0], in[1]
	matrix := func(a tensor.Any) (n, longer float64) {
		shape := a.Shape()
		n, longer = 1, 1
		for _, e := range shape[max(0, len(shape)-2):] {
			n, longer = n*float64(e), max(longer, float64(e))
		}
		return n, longer
	}
	switch {
	case o.TakesUp&InMatrices != 0:
		a, k := matrix(x)
		b, _ := matrix(w)
		return a + b, float64(y.Len()) * k
	case o.TakesUp&InWindows != 0:
		work = max(Room(1, in[:1]), float64(y.Len())) * Room(1, in[1:2])
		if w.Rank() > 0 {
			work /= max(1, float64(w.Dim(0)))
		}
		return float64(volume*Room(1, in[:1])) + Room(1, in[1:2]), work
	case o.TakesUp&InBlocks != 0:
		return Room(1, in), exec.SplitCost
	}
	return 0, 0
}

// line returns how many elements are normalized together, 0 where none are.
func (o *Operator) line(c *Use) float64 {
	x := Nth(c.Inputs, 0)
	if x.IsZero() || c.Attrs == nil || x.Rank() == 0 {
		return 0
	}
	all, axis := Room(1, c.Inputs[:1]), AttrInt(c, "axis", -1)
	if axis < 0 {
		axis += x.Rank()
	}
	if axis < 0 || axis >= x.Rank() {
		return 0
	}
	switch {
	case o.TakesUp&InTailLine != 0:
		n := 1.0
		for _, e := range x.Shape()[axis:] {
			n *= float64(e)
		}
		return n
	case o.TakesUp&InLastLine != 0:
		return float64(x.Dim(-1))
	case o.TakesUp&InAxisLine != 0:
		return float64(x.Dim(axis))
	case o.TakesUp&InGroupLine != 0:
		if x.Rank() < 2 {
			return 0
		}
		return all / max(1, float64(x.Dim(0))*float64(max(1, c.Attrs.Int("num_groups", int64(x.Dim(1))))))
	case o.TakesUp&InAllLine != 0:
		return all
	}
	return 0
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

// MostWeights is how many weights are computed at once, unless the weights of one query of each sequence and head are more: then queries go by
// a few at a time. The bits don't depend on it.
const MostWeights = 2 << 20
