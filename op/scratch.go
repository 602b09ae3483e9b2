package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

// Scratch returns how many bytes a run takes at most besides operands and results: copies of
// operands that aren't contiguous, wider numbers that narrow ones are computed in, steps on the way to the result, and the
// blocks of matrix products, for each of the Threads of the call. Operands may be tensor.Specs, which count as
// contiguous. What small slices take, some KiB, isn't counted.
func (p *Plan) Scratch() int64 {
	if p.op.table == nil {
		return 0
	}
	return int64(min(p.scratch(), 1<<62)) // of a double, 1<<63 - 1 isn't one
}

func (p *Plan) scratch() (n float64) {
	in, out := p.call.Inputs, p.out
	if out == nil {
		out = p.to
	}
	if p.op.fixed != dtype.Invalid && len(in) > 0 && !p.op.table.Supports(in[0].DType()) {
		n += room(8, in, out) // computed in float64
	}
	switch t := p.op.table.(type) {
	case *reduction:
		switch d := in0(in).DType(); {
		case d.IsFixed():
			return n + room(0, in, out)
		case t.collects && len(out) > 0: // a sequence, and its keys twice; some leave what append left
			return n + float64(float64(Threads(p.call.Context))*float64(5*d.Size()+8))*room(1, in[:1])/max(1, room(1, out[:1]))
		}
	case *liner:
		if in0(in).DType().IsFixed() {
			return n + room(0, in, out)
		}
	case *pointwise:
		if t.zero { // a divisor of 0 is looked for
			return n + copies(in)
		}
	case *opN:
		moved := p.moved
		if moved == nil && t.move != nil { // the plan is one of InFixed or InOrion
			_ = tensor.Try(func() { moved = t.move(p.call) })
		}
		return n + t.scratch(p.call, out, moved) + copies(in)
	}
	return n // the others take operands as they are laid out
}

// in0 returns the first operand, or one of no type.
func in0(in []tensor.Any) tensor.Any {
	if len(in) == 0 {
		return tensor.Any{}
	}
	return in[0]
}

// copies returns the bytes of operands that aren't contiguous.
func copies(in []tensor.Any) (n float64) {
	for i, a := range in {
		if !a.IsZero() && !a.IsSpec() && !a.IsContiguous() {
			n += room(0, in[i:i+1])
		}
	}
	return n
}

// takesUp is what operators written by hand take.
type takesUp uint16

const (
	inBlocks    takesUp = 1 << iota // the blocks of matrix products
	inWhole                         // operands and results in 8 bytes an element
	inHeads                         // queries, keys and values, and their weights
	inDoubles                       // operands twice and results, in float64
	inStepwise                      // operands twice and results
	inWidened                       // operands and results in float32
	inColumns                       // the columns of a transposed convolution
	inPatches                       // the patches of a deformed convolution
	inLastLine                      // lines that are normalized: the last axis,
	inAxisLine                      // the attribute's,
	inTailLine                      // that and those after it,
	inGroupLine                     // the axes after the first two and a group of the second,
	inAllLine                       // or all
)

func (o *opN) scratch(c *Call, out []tensor.Any, moved any) (n float64) {
	in := c.Inputs
	is := func(what takesUp) bool { return o.takesUp&what != 0 }
	d := dtype.Invalid
	if o.by < len(in) {
		d = in[o.by].DType()
	}
	if d.IsNarrow() && (o.move == nil || is(inBlocks)) || is(inWidened) {
		n += room(4, in, out)
	}
	if d.IsFixed() {
		n += room(0, in, out)
	}
	if is(inWhole) {
		n += room(8, in, out)
	}
	if is(inStepwise) {
		n += room(0, in, in, out)
	}
	if is(inDoubles) {
		n += room(8, in, in, out)
	}
	if line := o.line(c); line > 0 { // of float64, and scales for it
		n += float64(float64(24*Threads(c.Context)) * line)
	}
	if moved, ok := moved.(*transfer); ok {
		n += moved.scratch + float64(float64(Threads(c.Context))*moved.each)
	}
	if len(in) < 2 || len(out) < 1 || in[1].IsZero() || out[0].IsZero() {
		return n
	}
	x, w, y := in[0], in[1], out[0]
	if is(inHeads) && x.Rank() == 3 && w.Rank() == 2 && c.Attrs != nil { // com.microsoft's Attention makes queries, keys and values itself
		keys, heads := float64(x.Dim(1)), float64(float64(x.Dim(0))*float64(max(1, c.Attrs.Int("num_heads", 1))))
		n += bytesIn(24, []int{x.Dim(0), x.Dim(1), w.Dim(1)}) + float64(12*min(max(mostWeights, heads*keys), heads*keys*keys))
	}
	if is(inHeads) && x.Rank() > 2 && w.Rank() > 2 {
		rows, last := room(1, in[:1])/max(1, float64(x.Dim(x.Rank()-1))), float64(w.Dim(w.Rank()-2)) // queries of all heads, and keys
		if x.Rank() == 3 && c.Attrs != nil {
			rows *= float64(max(1, c.Attrs.Int("num_heads", 1), c.Attrs.Int("q_num_heads", 1)))
		}
		n += room(0, in, in) + float64(12*min(max(mostWeights, rows*last/max(1, float64(x.Dim(x.Rank()-2)))), rows*last))
	}
	width, volume := float64(max(4, d.Size())), 1.0
	for axis := 2; axis < w.Rank(); axis++ {
		volume *= float64(w.Dim(axis))
	}
	// plane is how many elements of a channel there are.
	plane := func(a tensor.Any) float64 {
		return room(1, []tensor.Any{a}) / max(1, float64(a.Dim(0))*float64(a.Dim(1)))
	}
	switch {
	case is(inColumns) && x.Rank() > 1 && y.Rank() > 1:
		n += float64(width * float64(y.Dim(1)) * volume * plane(x))
	case is(inPatches) && x.Rank() > 1 && y.Rank() > 1:
		n += float64(width * float64(x.Dim(1)) * volume * plane(y))
	}
	if is(inBlocks) { // the blocks of each thread
		n += float64(float64(Threads(c.Context)) * min(4<<20, width*(float64(volume*room(1, in[:1]))+room(1, in[1:2]))))
	}
	return n
}

// line returns how many elements are normalized together, 0 where none are.
func (o *opN) line(c *Call) float64 {
	x := in0(c.Inputs)
	if x.IsZero() || c.Attrs == nil || x.Rank() == 0 {
		return 0
	}
	all, axis := room(1, c.Inputs[:1]), attrInt(c, "axis", -1)
	if axis < 0 {
		axis += x.Rank()
	}
	if axis < 0 || axis >= x.Rank() {
		return 0
	}
	switch {
	case o.takesUp&inTailLine != 0:
		n := 1.0
		for _, e := range x.Shape()[axis:] {
			n *= float64(e)
		}
		return n
	case o.takesUp&inLastLine != 0:
		return float64(x.Dim(-1))
	case o.takesUp&inAxisLine != 0:
		return float64(x.Dim(axis))
	case o.takesUp&inGroupLine != 0:
		if x.Rank() < 2 {
			return 0
		}
		return all / max(1, float64(x.Dim(0))*float64(max(1, c.Attrs.Int("num_groups", int64(x.Dim(1))))))
	case o.takesUp&inAllLine != 0:
		return all
	}
	return 0
}

// bytesIn returns how many bytes elements of a size and in a shape take.
func bytesIn(size int, shape []int) float64 {
	n := float64(size)
	for _, e := range shape {
		n *= float64(e)
	}
	return n
}

// room is how many bytes tensors take with elements of a size, or of their own if that is 0.
func room(size int, lists ...[]tensor.Any) (n float64) {
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
