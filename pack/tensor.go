package pack

import (
	"bytes"
	"cmp"
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/reach"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// Tensor is a tensor with the storage that its Spec describes. It is a value: b := a makes
// a second handle on the same storage. The zero value has no storage. Its DType is the
// type of the values. Unpack and At return its elements, and without a Format also View.
type Tensor struct {
	Spec
	buf  *mem.Buffer
	from int // the first byte in buf
}

// Any returns p as a tensor whose elements are no []T of a Go type: see tensor.Any.Foreign.
func (p Tensor) Any() tensor.Any { return reach.Foreign(p, p.DType(), p.Layout()) }

// Pack returns a copy of x in the storage that the options describe. Without options, it
// has rows of unchanged elements.
//
// A Format encodes float32 values. Values of bfloat16, float16 and float8 are converted to
// float32 first, which is exact. Pack fails as NewSpec does, for a type that a format can't
// hold, if x is closed, and if there is no memory.
func Pack(x tensor.Any, opts *Options) (Tensor, error) {
	const op = "pack.Pack"
	o := *cmp.Or(opts, new(Options))
	padding := o.Padding
	if x.IsZero() {
		return Tensor{}, fail(op, tensor.ErrDType, "there is no tensor: it is the zero value")
	}
	if p, ok := x.Foreign().(Tensor); ok {
		t, err := p.unpack(op)
		if err != nil {
			return Tensor{}, err
		}
		x = t
	}
	if o.Format != nil {
		wide, err := widened(op, x)
		if err != nil {
			return Tensor{}, err
		}
		x = wide
	}
	if f, ok := o.Format.(*blocks); ok {
		if err := f.writable(op); err != nil {
			return Tensor{}, err
		}
	}
	s, err := NewSpec(x.DType(), x.Shape(), opts)
	if err == nil {
		err = s.whole()
	}
	if err != nil {
		return Tensor{}, tensor.Wrap(op, err)
	}
	if padding.IsZero() {
		if padding, err = tensor.Make(x.DType()); err != nil {
			return Tensor{}, tensor.Wrap(op, err)
		}
	}
	if padding.DType() != x.DType() || padding.Rank() != 0 {
		return Tensor{}, fail(op, tensor.ErrDType, "the padding is %s; want a tensor of rank 0 and type %v", tensor.Describe(padding), x.DType())
	}
	if padding, err = tensor.Clone(padding); err != nil { // it may be a Spec, or closed
		return Tensor{}, fail(op, tensor.Wrap(op, err).Err, "the padding: %s", tensor.Wrap(op, err).Text)
	}
	alloc := mem.AllocDirty
	if s.DType().IsPartial() {
		alloc = mem.Alloc // not every byte is a valid element
	}
	buf, err := alloc(s.Bytes())
	if err != nil {
		return Tensor{}, fail(op, tensor.ErrMemory, "%v: %v", s, err)
	}
	p := Tensor{Spec: s, buf: buf}
	if err := p.fill(x, padding); err != nil {
		buf.Close()
		return Tensor{}, tensor.Wrap(op, err)
	}
	return p, nil
}

// fill writes x and padding to p's storage.
func (p *Tensor) fill(x, padding tensor.Any) error {
	if p.StorageLen() == 0 {
		return nil
	}
	padded := p.paddedShape()
	x, err := tensor.Reshape(x, append(slices.Repeat([]int{1}, len(padded)-x.Rank()), x.Shape()...)...)
	if err != nil {
		return err
	}
	if p.format != nil {
		return failing(func() error {
			values, _ := tensor.As[float32](x) // widened has converted it
			pad, _ := tensor.As[float32](padding)
			return p.encode(values, pad.Item())
		})
	}
	all, err := p.view()
	if err != nil {
		return err
	}
	if p.Len() < p.StorageLen() {
		flat, err := tensor.FromBytes(p.DType(), p.buf, p.from, rowMajor(p.StorageLen()))
		if err == nil {
			err = tensor.Copy(flat, padding)
		}
		if err != nil {
			return err
		}
	}
	return copyPieces(all, x, nil, false)
}

// failing returns f's error, or the error with which f panics if there is no memory for
// intermediate rows.
func failing(f func() error) error {
	var err error
	if e := tensor.Try(func() { err = f() }); e != nil {
		return e
	}
	return err
}

func rowMajor(shape ...int) layout.Layout {
	lay, err := layout.RowMajor(shape...)
	if err != nil {
		panic(tensor.Wrap("pack", err)) // can't happen: the size was checked
	}
	return lay
}

// view returns the tensor of the padded shape over the storage.
func (p *Tensor) view() (tensor.Any, error) {
	return tensor.FromBytes(p.DType(), p.buf, p.from, p.Storage())
}

// copyPieces copies small to the part of large that begins at at, or back; at nil is the
// beginning. Both have the same rank. A part of a tile may have no layout, such as 28 of
// its 32 columns, since they cut a face. So copyPieces cuts the region at the ends of its
// axes' leaves, into a few parts along an axis, each of which has a layout.
func copyPieces(large, small tensor.Any, at []int, back bool) error {
	lay := large.Layout()
	rank := large.Rank()
	if at == nil {
		at = make([]int, rank)
	}
	idx := make([]tensor.Index, rank)
	from := make([]tensor.Index, rank)
	var cut func(axis int) error
	cut = func(axis int) error {
		if axis < rank {
			first := at[axis]
			for _, r := range pieces(&lay, axis, first, first+small.Dim(axis)) {
				idx[axis], from[axis] = tensor.R(r[0], r[1]), tensor.R(r[0]-first, r[1]-first)
				if err := cut(axis + 1); err != nil {
					return err
				}
			}
			return nil
		}
		l, err := tensor.Slice(large, idx...)
		if err != nil {
			return err
		}
		s, err := tensor.Slice(small, from...)
		if err != nil {
			return err
		}
		if back {
			l, s = s, l
		}
		return tensor.Copy(l, s)
	}
	return cut(0)
}

// pieces cuts [from, to) of an axis into ranges for slices of the axis. Each range has as
// many steps of one leaf as fit, within one step of the next coarser leaf.
func pieces(lay *layout.Layout, axis, from, to int) (list [][2]int) {
	lo, hi := lay.ModeLeaves(axis)
	for from < to {
		unit, end := lay.Dim(axis), from
		for k := hi - 1; k >= lo && end == from; k-- {
			ext, _ := lay.Leaf(k)
			outer := unit
			if unit /= ext; from%unit == 0 {
				end = from + (min(to, from/outer*outer+outer)-from)/unit*unit
			}
		}
		list = append(list, [2]int{from, end})
		from = end
	}
	return list
}

// Unpack returns the values without padding in a new row-major tensor of type DType.
// It fails if p is closed or the zero value, or there is no memory.
func (p Tensor) Unpack() (tensor.Any, error) { return p.unpack("pack.Unpack") }

func (p *Tensor) unpack(op string) (tensor.Any, error) {
	if err := p.open(op); err != nil {
		return tensor.Any{}, err
	}
	out, err := tensor.Make(p.DType(), p.Shape()...)
	if err != nil {
		return tensor.Any{}, tensor.Wrap(op, err)
	}
	if err := p.unpackTo(out); err != nil {
		return tensor.Any{}, tensor.Wrap(op, err)
	}
	return out, nil
}

// unpackTo writes the values to out, which is row-major and of p's type and shape.
func (p *Tensor) unpackTo(out tensor.Any) error {
	if p.Len() == 0 {
		return nil
	}
	shaped, err := tensor.Reshape(out, append(slices.Repeat([]int{1}, len(p.paddedShape())-p.Rank()), p.Shape()...)...)
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(p.buf)
	if p.format != nil {
		values, _ := tensor.As[float32](shaped) // every format decodes to float32
		return failing(func() error { return p.decode(values) })
	}
	all, err := p.view()
	if err != nil {
		return err
	}
	return copyPieces(all, shaped, nil, true)
}

func (p *Tensor) open(op string) error {
	switch {
	case p.buf == nil:
		return fail(op, tensor.ErrClosed, "the tensor is the zero value; Pack makes one")
	case p.buf.Closed():
		return fail(op, tensor.ErrClosed, "the storage is closed, its memory is given back; close it after its last use")
	}
	return nil
}

// View returns a tensor of the padded shape over the storage itself, with the layout
// Storage. It fails if a format encodes the elements, and as Unpack does.
func (p Tensor) View() (tensor.Any, error) {
	const op = "pack.View"
	if err := p.open(op); err != nil {
		return tensor.Any{}, err
	}
	if p.format != nil {
		return tensor.Any{}, fail(op, tensor.ErrView, "%s are no elements that a tensor holds; Unpack copies them", p.format.Name())
	}
	v, err := p.view()
	if err != nil {
		return tensor.Any{}, tensor.Wrap(op, err)
	}
	return v, nil
}

// FromBytes returns the tensor of the given Spec whose storage is buf from byte from on.
// Elements without a format are in the machine's byte order, and aligned for their type.
// FromBytes fails if buf is closed or too short, or the elements aren't aligned.
func FromBytes(s Spec, buf *mem.Buffer, from int) (Tensor, error) {
	const op = "pack.FromBytes"
	if s.DType() == dtype.Invalid {
		return Tensor{}, fail(op, tensor.ErrDType, "the spec is the zero value; NewSpec makes one")
	}
	if buf == nil || buf.Closed() {
		return Tensor{}, fail(op, tensor.ErrClosed, "the buffer is nil or closed")
	}
	if err := s.whole(); err != nil {
		return Tensor{}, tensor.Wrap(op, err)
	}
	if have, want := buf.Len(), s.Bytes(); from < 0 || from > have || want > have-from {
		return Tensor{}, fail(op, tensor.ErrShape, "%v has %d bytes; from byte %d of %d there are %d", s, want, from, have, max(have-max(from, 0), 0))
	}
	p := Tensor{s, buf, from}
	if s.format == nil && s.StorageLen() > 0 {
		if _, err := p.View(); err != nil {
			return Tensor{}, tensor.Wrap(op, err)
		}
	}
	return p, nil
}

// Data returns the storage as a tensor of rank 1 over it: the elements in its order,
// padding included, or the bytes of a format. It fails if p is closed or the zero
// value.
func (p Tensor) Data() (tensor.Any, error) {
	const op = "pack.Data"
	if err := p.open(op); err != nil {
		return tensor.Any{}, err
	}
	d, n := p.DType(), p.StorageLen()
	if p.format != nil {
		d, n = dtype.Uint8, p.Bytes()
	}
	a, err := tensor.FromBytes(d, p.buf, p.from, rowMajor(n))
	if err != nil {
		return tensor.Any{}, tensor.Wrap(op, err)
	}
	return a, nil
}

// Memory describes the memory behind p. It panics if p is closed or the zero value.
func (p Tensor) Memory() tensor.Storage {
	if err := p.open("pack.Memory"); err != nil {
		panic(err)
	}
	return tensor.Storage{Kind: p.buf.Kind(), Bytes: p.buf.Len(), Align: p.buf.Align(), ReadOnly: p.buf.ReadOnly()}
}

// Close releases the storage, for every handle on it: later accesses fail. A second call
// does nothing.
func (p Tensor) Close() error {
	if p.buf == nil {
		return nil
	}
	return p.buf.Close()
}

// At returns an element as float64, which holds every value of 32 bits or fewer;
// integers beyond 2^53 are rounded. Indices count from 0. With a format, At decodes the
// tile or group of the element. It fails if the number of indices isn't the rank, if an
// index is outside its axis, and as Unpack does.
func (p Tensor) At(idx ...int) (float64, error) {
	const op = "pack.At"
	if err := p.open(op); err != nil {
		return 0, err
	}
	lay := p.Layout()
	switch _, axis := lay.At(idx); {
	case axis == p.Rank():
		return 0, fail(op, tensor.ErrIndex, "%d indices for rank %d of shape %s", len(idx), p.Rank(), ints(p.Shape()))
	case axis >= 0:
		return 0, fail(op, tensor.ErrIndex, "index %d is outside axis %d of shape %s", idx[axis], axis, ints(p.Shape()))
	}
	all := p.Storage()
	at := append(make([]int, all.Rank()-len(idx)), idx...)
	off, _ := all.At(at)
	if p.format == nil {
		one, err := tensor.FromBytes(p.DType(), p.buf, p.from+off*p.DType().Size(), rowMajor())
		if err != nil {
			return 0, tensor.Wrap(op, err)
		}
		v := tensor.Float64s(one)()
		runtime.KeepAlive(p.buf)
		return v, nil
	}
	run := p.format.Group()
	if p.tile != (Tile{}) {
		run = p.tile.Len()
	}
	first := off / run * run
	dst := make([]float32, min(run, p.StorageLen()-first))
	p.format.Decode(dst, p.run(first, len(dst)), first)
	runtime.KeepAlive(p.buf)
	return float64(dst[off-first]), nil
}

// run returns the bytes of n elements from number first of the storage on. They are a
// tile, or a part of rows that begins at a multiple of the group.
func (p *Tensor) run(first, n int) []byte {
	all := p.buf.Bytes()[p.from:]
	if p.tile == (Tile{}) {
		return all[p.size(first):p.size(first+n)]
	}
	page := p.tile.Len()
	size := p.size(page)
	return all[first/page*size:][:n/page*size]
}

// Equal reports whether two tensors have the same type, shape and format, and the
// same bits in each element; padding, tiles and the rest of the storage may differ.
// NaNs of the same bits are equal, and -0 isn't 0. It fails as Unpack does.
func (p Tensor) Equal(q Tensor) (bool, error) {
	if p.DType() != q.DType() || !sameFormat(p.format, q.format) || !p.Spec.Spec.Equal(q.Spec.Spec) {
		return false, nil
	}
	a, err := p.Unpack()
	if err != nil {
		return false, err
	}
	b, err := q.Unpack()
	if err != nil {
		return false, err
	}
	x, _ := tensor.Bytes(a)
	y, _ := tensor.Bytes(b)
	same := bytes.Equal(x, y)
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
	return same, nil
}
