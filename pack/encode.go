package pack

import (
	"fmt"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/reach"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// widened returns x as float32 if that is exact.
func widened(op string, x tensor.Any) (out tensor.Any, err error) {
	if x.IsSpec() || x.Foreign() != nil {
		return x, fail(op, tensor.ErrDType, "%s has no elements to encode", kind(x))
	}
	switch x.DType() {
	case dtype.Float32:
		return x, nil
	case dtype.BFloat16:
		return widen(x, num.WidenRow[num.BF16])
	case dtype.Float16:
		return widen(x, num.WidenRow[num.F16])
	case dtype.Float8E4M3:
		return widen(x, num.WidenRow[num.F8E4M3])
	case dtype.Float8E5M2:
		return widen(x, num.WidenRow[num.F8E5M2])
	}
	if f := x.DType().Format(); f != 0 { // a byte each
		err = tensor.Try(func() {
			dense := x.Contiguous()
			wide := tensor.Empty[float32](x.Shape()...)
			to := run(wide)
			for i, v := range dense.Run(dense.LayoutRef()) {
				to[i] = float32(f.Value(uint16(v)))
			}
			runtime.KeepAlive(&dense)
			out = wide.Any()
		})
		return out, err
	}
	return tensor.Any{}, fail(op, tensor.ErrDType, "formats encode float32 and narrower floats, not %v; convert it with op.Cast", x.DType())
}

// run returns the elements of a row-major tensor. The caller keeps t alive past their last use.
func run[T num.Elem](t tensor.Tensor[T]) []T {
	data, from := t.Data()
	return data[from : from+t.Len()]
}

func widen[T num.Elem](x tensor.Any, row func(dst []float32, src []T)) (out tensor.Any, err error) {
	err = tensor.Try(func() {
		dense := x.Contiguous()
		wide := tensor.Empty[float32](x.Shape()...)
		row(run(wide), reach.Run[T](&dense, dense.LayoutRef()))
		runtime.KeepAlive(&dense)
		out = wide.Any()
	})
	return out, err
}

// kind names the kind of a tensor without elements.
func kind(x tensor.Any) string {
	if x.IsSpec() {
		return "tensor.Spec"
	}
	return fmt.Sprintf("%T", x.Foreign())
}

// bandLen is the approximate number of elements that are gathered at a time.
const bandLen = 1 << 14

// bands calls f for bands of the storage's matrices: some whole rows, or rows of tiles.
// lead has the indices of the matrix; the band is its rows [row, row+n).
func (p *Tensor) bands(f func(lead []int, row, n int) error) error {
	shape := p.paddedShape()
	k := len(shape) - 2
	height, width := shape[k], shape[k+1]
	n := max(bandLen/width/p.tile.Height, 1) * p.tile.Height
	lead := make([]int, k)
	for {
		for row := 0; row < height; row += n {
			if err := f(lead, row, min(n, height-row)); err != nil {
				return err
			}
		}
		i := k - 1
		for ; i >= 0; i-- {
			if lead[i]++; lead[i] < shape[i] {
				break
			}
			lead[i] = 0
		}
		if i < 0 {
			return nil
		}
	}
}

// part returns the part of x in the band: a matrix, or false if the whole band is
// padding.
func part(x tensor.Tensor[float32], lead []int, row, n int) (tensor.Tensor[float32], bool) {
	rows := x.Dim(len(lead))
	for i, at := range lead {
		if at >= x.Dim(i) {
			return x, false
		}
	}
	if row >= rows || x.Len() == 0 {
		return x, false
	}
	idx := make([]tensor.Index, 0, len(lead)+1)
	for _, at := range lead {
		idx = append(idx, tensor.I(at))
	}
	return x.Slice(append(idx, tensor.R(row, min(row+n, rows)))...), true
}

// encode writes x in p's format. x has as many axes as the padded shape.
func (p *Tensor) encode(x tensor.Tensor[float32], padding float32) error {
	if p.tile == (Tile{}) {
		return p.encodeRows(x, padding)
	}
	page, done := p.tile.Len(), 0
	size := p.size(page)
	to := p.buf.Bytes()[p.from:]
	_, width := p.PhysicalShape()
	scratch := make([]float32, 0, max(bandLen, width*p.tile.Height))
	err := p.bands(func(lead []int, row, n int) error {
		band := scratch[:n*width]
		piece, some := part(x, lead, row, n)
		if !some || piece.Len() < len(band) {
			conv.Fill(band, padding)
		}
		if some {
			if err := p.gather(band, piece, n, width); err != nil {
				return err
			}
		}
		for at := 0; at < len(band); at += page {
			p.format.Encode(to[done:done+size], band[at:at+page], done/size*page)
			done += size
		}
		return nil
	})
	runtime.KeepAlive(p.buf)
	return err
}

// gather writes a matrix to the beginning of n rows of tiles.
func (p *Tensor) gather(band []float32, x tensor.Tensor[float32], n, width int) error {
	lay, err := p.tile.Layout(n, width)
	if err != nil {
		return err
	}
	return copyPieces(tensor.FromLayout(band, lay).Any(), x.Any(), nil, false)
}

// decode writes p's values to x, which has as many axes as the padded shape.
func (p *Tensor) decode(x tensor.Tensor[float32]) error {
	if p.tile == (Tile{}) {
		return p.decodeRows(x)
	}
	page, done := p.tile.Len(), 0
	size := p.size(page)
	from := p.buf.Bytes()[p.from:]
	_, width := p.PhysicalShape()
	scratch := make([]float32, 0, max(bandLen, width*p.tile.Height))
	return p.bands(func(lead []int, row, n int) error {
		band := scratch[:n*width]
		tiles := len(band) / page
		piece, some := part(x, lead, row, n)
		if !some {
			done += tiles * size
			return nil
		}
		for at := 0; at < len(band); at += page {
			p.format.Decode(band[at:at+page], from[done:done+size], done/size*page)
			done += size
		}
		lay, err := p.tile.Layout(n, width)
		if err != nil {
			return err
		}
		return copyPieces(tensor.FromLayout(band, lay).Any(), piece.Any(), nil, true)
	})
}

// encodeRows is encode without tiles: all elements are one run.
func (p *Tensor) encodeRows(x tensor.Tensor[float32], padding float32) error {
	if p.Len() < p.StorageLen() {
		whole := tensor.Full(padding, p.paddedShape()...)
		if err := copyPieces(whole.Any(), x.Any(), nil, false); err != nil {
			return err
		}
		x = whole
	}
	dense := x.Contiguous()
	p.format.Encode(p.run(0, dense.Len()), run(dense), 0)
	runtime.KeepAlive(dense)
	runtime.KeepAlive(p.buf)
	return nil
}

func (p *Tensor) decodeRows(x tensor.Tensor[float32]) error {
	if p.Len() == p.StorageLen() {
		p.format.Decode(run(x), p.run(0, x.Len()), 0)
		runtime.KeepAlive(x)
		return nil
	}
	whole := tensor.Empty[float32](p.paddedShape()...)
	p.format.Decode(run(whole), p.run(0, whole.Len()), 0)
	return copyPieces(whole.Any(), x.Any(), nil, true)
}

// UnpackRows writes rows of a matrix to dst, from number row on, as many as dst has. It
// decodes only these rows, or all rows of their tiles. op.MatMulPacked multiplies by it.
// dst may lie in the storage of p. UnpackRows fails if p isn't of rank 2 or has no format,
// if dst has other columns or more rows than there are, and as Unpack does.
func (p Tensor) UnpackRows(dst tensor.Tensor[float32], row int) error {
	const op = "pack.UnpackRows"
	if err := p.open(op); err != nil {
		return err
	}
	switch {
	case p.Rank() != 2 || dst.Rank() != 2:
		return fail(op, tensor.ErrShape, "rows of %s to %s; both must be matrices", ints(p.Shape()), ints(dst.Shape()))
	case p.format == nil:
		return fail(op, tensor.ErrDType, "the elements of %v aren't encoded; View and Unpack give them", p.Spec)
	case dst.Dim(1) != p.Dim(1) || row < 0 || row > p.Dim(0)-dst.Dim(0):
		return fail(op, tensor.ErrShape, "%s for rows from %d of %s", ints(dst.Shape()), row, ints(p.Shape()))
	case dst.Len() == 0:
		return nil
	}
	defer runtime.KeepAlive(p.buf)
	_, width := p.PhysicalShape()
	end := row + dst.Dim(0)
	if p.tile == (Tile{}) {
		start := row * width
		skip := start % p.format.Group()
		g := p.format.Group()
		n := min((end*width-start+skip+g-1)/g*g, p.StorageLen()-start+skip)
		values := make([]float32, n)
		p.format.Decode(values, p.run(start-skip, len(values)), start-skip)
		whole := tensor.FromSlice(values[skip:skip+dst.Dim(0)*width], dst.Dim(0), width)
		return wrapped(op, copyPieces(whole.Any(), dst.Any(), nil, true))
	}
	shared := false
	if err := tensor.Try(func() { data, _ := dst.Data(); shared = conv.Overlap(data, p.buf.Bytes()) }); err != nil {
		return tensor.Wrap(op, err)
	}
	if shared { // otherwise a band would overwrite bytes that aren't decoded yet
		own := tensor.Empty[float32](dst.Shape()...)
		if err := p.UnpackRows(own, row); err != nil {
			return err
		}
		return wrapped(op, tensor.Copy(dst.Any(), own.Any()))
	}
	h, page := p.tile.Height, p.tile.Len()
	n := max(bandLen/width/h, 1) * h
	scratch := make([]float32, min(n, (end+h-1)/h*h-row/h*h)*width)
	for r := row / h * h; r < end; r += n {
		rows := min(n, (end+h-1)/h*h-r)
		band := scratch[:rows*width]
		for at := 0; at < len(band); at += page {
			first := r*width + at
			p.format.Decode(band[at:at+page], p.run(first, page), first)
		}
		lay, err := p.tile.Layout(rows, width)
		if err != nil {
			return tensor.Wrap(op, err)
		}
		from, to := max(row, r), min(end, r+rows)
		part := dst.Slice(tensor.R(from-row, to-row))
		if err := copyPieces(tensor.FromLayout(band, lay).Any(), part.Any(), []int{from - r, 0}, true); err != nil {
			return tensor.Wrap(op, err)
		}
	}
	return nil
}

// wrapped is in, but nil for nil.
func wrapped(op string, err error) error {
	if err == nil {
		return nil
	}
	return tensor.Wrap(op, err)
}
