package judge

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/layout"
)

// A Dim is an input or an output of a Linear: a number of some bits.
type Dim struct {
	Name string
	Bits int
}

// A Linear is a linear map over F2, from the bits of its inputs to the bits of its outputs:
// Triton's linear layout. Source: arXiv 2505.23819.
type Linear struct {
	in, out []Dim
	cols    []uint64 // the image of each input bit: the outputs side by side, the first lowest
}

// NewLinear returns the map that takes bit i of the inputs, counted through them in order,
// to cols[i]. An image holds the outputs side by side, the first in the lowest bits.
// NewLinear fails if the numbers of bits don't fit, or the inputs or the outputs have more
// than 62 bits.
func NewLinear(in, out []Dim, cols []uint64) (Linear, error) {
	const op = "NewLinear"
	count := func(dims []Dim) (n int) {
		for _, d := range dims {
			if d.Bits < 0 || d.Bits > 62 || n > 62 {
				return 63
			}
			n += d.Bits
		}
		return n
	}
	n, m := count(in), count(out)
	if n > 62 || m > 62 {
		return Linear{}, fail(op, layout.ErrLimit, "more than 62 bits")
	}
	if len(cols) != n {
		return Linear{}, fail(op, layout.ErrShape, "%d images for %d bits of inputs", len(cols), n)
	}
	for i, c := range cols {
		if c>>m != 0 {
			return Linear{}, fail(op, layout.ErrRange, "image %d, %d, has more than the %d bits of the outputs", i, c, m)
		}
	}
	return Linear{append([]Dim{}, in...), append([]Dim{}, out...), append([]uint64{}, cols...)}, nil
}

// In and Out return the inputs and the outputs.
func (l Linear) In() []Dim  { return append([]Dim{}, l.in...) }
func (l Linear) Out() []Dim { return append([]Dim{}, l.out...) }

// Columns returns the images of the bits of the inputs.
func (l Linear) Columns() []uint64 { return append([]uint64{}, l.cols...) }

// At returns the outputs for the inputs x, which lie side by side, the first lowest.
func (l Linear) At(x uint64) (y uint64) {
	for i, c := range l.cols {
		if x>>i&1 == 1 {
			y ^= c
		}
	}
	return y
}

// LinearOf returns a layout as a linear map. Its inputs are the coordinates of the modes,
// dim0, dim1, …; its output is the offset. If there is no exact map, the error is a
// *Mismatch: an extent that is no power of two, an offset other than 0 at the origin, or the
// first coordinate whose offset isn't the XOR of its bits' offsets, since an addition
// carries.
func LinearOf(c layout.Composed) (Linear, error) {
	const op = "LinearOf"
	in := c.Inner()
	if in.Rank() > 62 {
		return Linear{}, fail(op, layout.ErrLimit, "%d modes, more than 62", in.Rank())
	}
	var dims []Dim
	n := 0
	for k, e := range in.Shape() {
		if !isPower(e) {
			return Linear{}, &Mismatch{op, in.Size(), nil, 0, 0, fmt.Sprintf("mode %d has %d coordinates, no power of two; a linear map has a coordinate there", k, e)}
		}
		dims = append(dims, Dim{"dim" + strconv.Itoa(k), log2(e)})
		n += log2(e)
	}
	origin, err := c.Offset(0)
	if err != nil {
		return Linear{}, err
	}
	if origin != 0 {
		return Linear{}, &Mismatch{op, 0, coordOf(in.Shape(), 0), 0, origin, fmt.Sprintf("the offset is %d, a linear map has 0", origin)}
	}
	cols := make([]uint64, n)
	var all uint64
	for i := range cols {
		off, err := c.Offset(1 << i)
		if err != nil {
			return Linear{}, err
		}
		if off < 0 {
			return Linear{}, &Mismatch{op, 1 << i, coordOf(in.Shape(), 1<<i), 0, off, fmt.Sprintf("the offset %d is negative", off)}
		}
		cols[i] = uint64(off)
		all |= uint64(off)
	}
	l, err := NewLinear(dims, []Dim{{"offset", bits.Len64(all)}}, cols)
	if err != nil {
		return Linear{}, err
	}
	return l, l.equals(op, c)
}

// equals finds the first coordinate at which a layout differs from the map. The inner
// layout adds where the map takes the XOR; a swizzle is linear itself. So the two differ
// exactly where an addition of the inner layout carries, first at the smallest coordinate
// of two bits whose offsets carry.
func (l Linear) equals(op string, c layout.Composed) error {
	in := c.Inner()
	w, ok := c.Outer().(layout.Swizzle)
	if !ok || c.Base() != 0 { // an outer layout: by enumeration
		offs, err := offsets(op, c)
		if err != nil {
			return err
		}
		for i, off := range offs {
			if got := int(l.At(uint64(i))); got != off {
				return l.carries(op, in, i, got, off)
			}
		}
		return nil
	}
	var seen uint64
	for high := range l.cols {
		off, err := in.Offset(1 << high)
		if err != nil {
			return err
		}
		if off < 0 {
			return &Mismatch{op, 1 << high, coordOf(in.Shape(), 1<<high), 0, off, fmt.Sprintf("the offset %d is negative", off)}
		}
		if uint64(off)&seen == 0 {
			seen |= uint64(off)
			continue
		}
		for low := range high {
			other, err := in.Offset(1 << low)
			if err != nil {
				return err
			}
			if other&off != 0 {
				i := 1<<high | 1<<low
				return l.carries(op, in, i, int(l.At(uint64(i))), w.At(off+other))
			}
		}
	}
	return nil
}

func (l Linear) carries(op string, in layout.Layout, i, got, want int) error {
	return &Mismatch{op, i, coordOf(in.Shape(), i), got, want, fmt.Sprintf("the offset is %d, and the XOR of the offsets of its bits %d: adding them carries", want, got)}
}

// Layout returns the map as a layout. Its modes are the inputs, and its offsets are the
// outputs side by side. It is a plain layout if there is one, else one under the smallest
// swizzle that works, in the order of SolveSwizzle. If there is none, the error is a
// *Mismatch with the first coordinate at which the images of two bits overlap. No strides
// add up to their XOR, and no swizzle of the outputs' bits separates them.
func (l Linear) Layout() (layout.Composed, error) {
	const op = "Linear.Layout"
	width := 0
	for _, d := range l.out {
		width += d.Bits
	}
	moved := make([]uint64, len(l.cols))
	list := swizzles(width)
	for _, w := range list {
		var seen uint64
		apart := true
		for i, c := range l.cols {
			moved[i] = uint64(w.At(int(c)))
			apart = apart && seen&moved[i] == 0
			seen |= moved[i]
		}
		if !apart {
			continue
		}
		modes := make([]layout.Layout, 0, len(l.in))
		at := 0
		for _, d := range l.in {
			ext, str := []int{}, []int{}
			for range d.Bits {
				ext, str = append(ext, 2), append(str, int(moved[at]))
				at++
			}
			m, err := layout.New(ext, str)
			if err != nil {
				return layout.Composed{}, err
			}
			modes = append(modes, m.Coalesce())
		}
		if len(modes) == 0 {
			return layout.Composed{}, nil
		}
		inner, err := layout.Join(modes...)
		if err != nil {
			return layout.Composed{}, err
		}
		return layout.NewComposed(w, 0, inner)
	}
	for high, c := range l.cols {
		for low, d := range l.cols[:high] {
			if c&d == 0 {
				continue
			}
			i := 1<<high | 1<<low
			shape := make([]int, len(l.in))
			for k, d := range l.in {
				shape[k] = 1 << d.Bits
			}
			why := fmt.Sprintf("the images of its bits, %d and %d, overlap, so strides give %d instead of %d; none of the %d swizzles of %d bits takes them apart", d, c, c+d, c^d, len(list), width)
			return layout.Composed{}, &Mismatch{op, i, coordOf(shape, i), int(c + d), int(c ^ d), why}
		}
	}
	return layout.Composed{}, fail(op, ErrNone, "%v has no layout", l)
}

// Inverse returns the map from outputs to inputs: for a layout, from an offset to the
// element's coordinates in the tile. It fails with ErrNone if two inputs have the same
// output or an output has no input.
func (l Linear) Inverse() (Linear, error) {
	const op = "Linear.Inverse"
	n, m := len(l.cols), 0
	for _, d := range l.out {
		m += d.Bits
	}
	rows := make([]uint64, 0, n) // the pivot rows: images beside the inputs that make them
	from := make([]uint64, 0, n)
	for i, c := range l.cols {
		x := uint64(1) << i
		for k, r := range rows {
			if c^r < c {
				c, x = c^r, x^from[k]
			}
		}
		if c == 0 {
			return Linear{}, fail(op, ErrNone, "inputs %d and 0 have the same outputs", x)
		}
		for k, r := range rows {
			if r^c < r {
				rows[k], from[k] = r^c, from[k]^x
			}
		}
		at := 0
		for at < len(rows) && rows[at] > c {
			at++
		}
		rows = append(rows[:at], append([]uint64{c}, rows[at:]...)...)
		from = append(from[:at], append([]uint64{x}, from[at:]...)...)
	}
	if n < m {
		return Linear{}, fail(op, ErrNone, "%d bits of inputs don't reach all %d bits of outputs", n, m)
	}
	cols := make([]uint64, m)
	for k, r := range rows {
		cols[bits.TrailingZeros64(r)] = from[k]
	}
	return NewLinear(l.out, l.in, cols)
}

// String writes the images of the bits of each input, in Triton's notation: one number for
// each output.
//
//	{dim0 = [[8], [16]], dim1 = [[1], [2], [4]]}
func (l Linear) String() string {
	var b strings.Builder
	b.WriteByte('{')
	at := 0
	for k, d := range l.in {
		if k > 0 {
			b.WriteString(", ")
		}
		b.WriteString(d.Name + " = [")
		for i := range d.Bits {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteByte('[')
			c := l.cols[at]
			for j, o := range l.out {
				if j > 0 {
					b.WriteString(", ")
				}
				b.WriteString(strconv.FormatUint(c&(1<<o.Bits-1), 10))
				c >>= o.Bits
			}
			b.WriteByte(']')
			at++
		}
		b.WriteByte(']')
	}
	b.WriteByte('}')
	return b.String()
}

// Matrix writes the matrix: a row for each bit of the outputs, bit 0 first, a column for
// each bit of the inputs.
func (l Linear) Matrix() string {
	var b strings.Builder
	m := 0
	for _, d := range l.out {
		m += d.Bits
	}
	for i := range m {
		for k, c := range l.cols {
			if k > 0 {
				b.WriteByte(' ')
			}
			b.WriteByte('0' + byte(c>>i&1))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// ParseLinear reads Triton's notation:
//
//	{register = [[0, 1], [8, 0]], lane = [[0, 2]]}
//
// A name may stand before the brackets, = or : behind the inputs, and inputs may have
// quotes. If there is one output, its images may be numbers and its name is offset.
// Otherwise the outputs are dim0, dim1, …. They have as many bits as their images need.
func ParseLinear(text string) (Linear, error) {
	const op = "ParseLinear"
	if len(text) > 1<<16 {
		return Linear{}, fail(op, layout.ErrLimit, "more than %d bytes", 1<<16)
	}
	s := strings.TrimSpace(text)
	if i := strings.IndexByte(s, '{'); i >= 0 {
		s = s[i+1:]
	} else {
		return Linear{}, fail(op, layout.ErrSyntax, "want {name = [[…], …], …}")
	}
	p := scanner{text: s}
	var in []Dim
	var images [][]uint64
	outs := 0
	for !p.take('}') {
		if len(in) > 0 && !p.take(',') {
			return Linear{}, fail(op, layout.ErrSyntax, "want ',' or '}' %s", p.here())
		}
		name := p.name()
		if name == "" || !p.take('=') && !p.take(':') || !p.take('[') {
			return Linear{}, fail(op, layout.ErrSyntax, "want name = [ %s", p.here())
		}
		d := Dim{Name: name}
		for !p.take(']') {
			if d.Bits > 0 && !p.take(',') {
				return Linear{}, fail(op, layout.ErrSyntax, "want ',' or ']' %s", p.here())
			}
			var image []uint64
			list := p.take('[')
			for {
				n, ok := p.number()
				if !ok || n < 0 {
					return Linear{}, fail(op, layout.ErrSyntax, "want a number from 0 on %s", p.here())
				}
				image = append(image, uint64(n))
				if !list || p.take(']') {
					break
				}
				if !p.take(',') {
					return Linear{}, fail(op, layout.ErrSyntax, "want ',' or ']' %s", p.here())
				}
			}
			if outs > 0 && len(image) != outs {
				return Linear{}, fail(op, layout.ErrShape, "an image of %d outputs after one of %d", len(image), outs)
			}
			outs = len(image)
			images = append(images, image)
			if d.Bits++; len(images) > 62 {
				return Linear{}, fail(op, layout.ErrLimit, "more than 62 bits of inputs")
			}
		}
		in = append(in, d)
	}
	out := make([]Dim, outs)
	for k := range out {
		var all uint64
		for _, image := range images {
			all |= image[k]
		}
		if out[k] = (Dim{"dim" + strconv.Itoa(k), bits.Len64(all)}); outs == 1 {
			out[k].Name = "offset"
		}
	}
	cols := make([]uint64, len(images))
	for i, image := range images {
		at := 0
		for k, v := range image {
			if at < 63 {
				cols[i] |= v << at
			}
			at += out[k].Bits
		}
	}
	return NewLinear(in, out, cols)
}
