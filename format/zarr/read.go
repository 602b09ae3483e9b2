package zarr

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"strconv"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/ram"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// A walk visits the chunks that a part of an array meets, the last axis fastest.
type walk struct {
	chunk, from, to []int
	index           []int // the next chunk; nil: there is none
}

func newWalk(chunk, from, to []int) *walk {
	w := &walk{chunk: chunk, from: from, to: to, index: make([]int, len(from))}
	for i := range from {
		if from[i] == to[i] {
			w.index = nil
			break
		}
		w.index[i] = from[i] / chunk[i]
	}
	return w
}

// next returns the index of a chunk, the first of its elements in the part, and the number of such
// elements along each axis; nil at the end.
func (w *walk) next() (index, first, shape []int) {
	if w.index == nil {
		return nil, nil, nil
	}
	index, first, shape = slices.Clone(w.index), make([]int, len(w.from)), make([]int, len(w.from))
	if index == nil {
		index = []int{} // of rank 0
	}
	for i, c := range w.chunk {
		first[i] = max(w.from[i], index[i]*c)
		shape[i] = min(w.to[i]-first[i], c-(first[i]-index[i]*c))
	}
	axis := len(w.index) - 1
	for ; axis >= 0; axis-- {
		if w.index[axis]++; w.index[axis] <= (w.to[axis]-1)/w.chunk[axis] {
			break
		}
		w.index[axis] = w.from[axis] / w.chunk[axis]
	}
	if axis < 0 {
		w.index = nil
	}
	return index, first, shape
}

func less(a, b []int) []int {
	out := make([]int, len(a))
	for i := range a {
		out[i] = a[i] - b[i]
	}
	return out
}

func origin(index, chunk []int) []int {
	out := make([]int, len(index))
	for i := range index {
		out[i] = index[i] * chunk[i]
	}
	return out
}

// region checks a part of the array and returns its shape.
func (a *Array) region(from, to []int) ([]int, error) {
	m := &a.meta
	if m.varies() {
		return nil, noTensor()
	}
	if len(from) != len(m.Shape) || len(to) != len(m.Shape) {
		return nil, fail(ErrShape, "a part from %v to %v of an array of %d axes", from, to, len(m.Shape))
	}
	shape := make([]int, len(from))
	for i := range from {
		if from[i] < 0 || to[i] < from[i] || to[i] > m.Shape[i] {
			return nil, fail(ErrShape, "a part from %v to %v of an array of shape %v", from, to, m.Shape)
		}
		shape[i] = to[i] - from[i]
	}
	return shape, nil
}

// end returns the end of a part that begins at from and has the given shape.
func end(from, shape []int) ([]int, error) {
	if len(from) != len(shape) {
		return nil, fail(ErrShape, "a tensor of rank %d at %v", len(shape), from)
	}
	to := slices.Clone(shape)
	for i := range from {
		if from[i] > 1<<(strconv.IntSize-1)-1-to[i] {
			return nil, fail(ErrShape, "a tensor of shape %v at %v", shape, from)
		}
		to[i] += from[i]
	}
	return to, nil
}

// blank makes a tensor whose elements the caller writes, and its memory.
func (a *Array) blank(shape []int) (t tensor.Any, buf *mem.Buffer, err error) {
	n, err := bytesOf(a.meta.DType, shape)
	if err != nil {
		return t, nil, err
	}
	if a.set.MaxBytes != 0 && int64(n) > a.set.MaxBytes {
		return t, nil, fail(format.ErrLimit, "a part of shape %v has %d bytes; the most accepted is %d, which the option MaxBytes sets", shape, n, a.set.MaxBytes)
	}
	alloc := mem.AllocDirty
	if a.meta.DType.IsPartial() {
		alloc = mem.Alloc // not every byte is a valid element
	}
	lay, err := layout.RowMajor(shape...)
	if err == nil {
		buf, err = alloc(n)
	}
	if err == nil {
		t, err = tensor.FromBytes(a.meta.DType, buf, 0, lay)
	}
	if err != nil {
		return t, nil, fail(err, "shape %v: %v", shape, err)
	}
	return t, buf, nil
}

// Slice returns a copy of the elements from from to below to. It reads the chunks that hold
// them, several at once; of shards, only the inner chunks.
func (a *Array) Slice(ctx context.Context, from, to []int) (tensor.Any, error) {
	t, _, err := a.slice(ctx, from, to)
	return t, err
}

func (a *Array) slice(ctx context.Context, from, to []int) (t tensor.Any, buf *mem.Buffer, err error) {
	shape, err := a.region(from, to)
	if err != nil {
		return t, nil, err
	}
	if t, buf, err = a.blank(shape); err != nil {
		return t, nil, err
	}
	if err := a.read(ctx, from, to, t); err != nil {
		buf.Close()
		return tensor.Any{}, nil, err
	}
	return t, buf, nil
}

// Read returns all elements.
func (a *Array) Read(ctx context.Context) (tensor.Any, error) {
	return a.Slice(ctx, make([]int, len(a.meta.Shape)), a.meta.Shape)
}

// ReadInto reads into t the part that begins at place and has the shape of t. t may be a
// view. ReadInto needs memory for a result only where the layout of t is nested. After an error
// the elements of t are undefined.
func (a *Array) ReadInto(ctx context.Context, place []int, t tensor.Any) error {
	if err := a.fits(t, nil); err != nil {
		return err
	}
	to, err := end(place, t.Shape())
	if err == nil {
		_, err = a.region(place, to)
	}
	if err != nil {
		return err
	}
	if t.IsReadOnly() {
		return fail(ErrShape, "a tensor that is read-only")
	}
	if nested(t) {
		c, err := a.Slice(ctx, place, to)
		if err == nil {
			err = tensor.Copy(t, c)
		}
		return err
	}
	return a.read(ctx, place, to, t)
}

// read fills t, which has the shape of the part.
func (a *Array) read(ctx context.Context, from, to []int, t tensor.Any) error {
	if err := needContext(ctx); err != nil {
		return err
	}
	if a.shard != nil {
		return a.readShards(ctx, from, to, t)
	}
	w := newWalk(a.pipe.shape, from, to)
	return parallel(ctx, a.set.Workers, func() func(context.Context) error {
		index, first, shape := w.next()
		if index == nil {
			return nil
		}
		return func(ctx context.Context) error {
			dst, err := window(t, less(first, from), shape)
			if err != nil {
				return err
			}
			work := a.pipe.borrow()
			defer a.pipe.scratch.Put(work)
			key := a.ChunkKey(index...)
			first := less(first, origin(index, a.pipe.shape))
			p, b, err := a.value(ctx, key, work, dst, first)
			if errors.Is(err, fs.ErrNotExist) {
				return at(key, a.absent(dst))
			}
			if err == nil {
				err = p.put(work, b, dst, first)
			}
			return at(key, err)
		}
	})
}

// absent fills dst, a part of an absent chunk.
func (a *Array) absent(dst tensor.Any) error {
	if a.set.Whole {
		return fail(ErrAbsent, "the chunk isn't there, and every chunk of this array was written: it was removed since, or the array isn't finished")
	}
	return tensor.Copy(dst, a.fill)
}

// value returns a value of the store and the pipeline that decodes it. The bytes lie in dst or in work if they can. If the bytes of a
// chunk are its elements, value reads only a run that holds the elements for dst, and sets first to their place in the run.
func (a *Array) value(ctx context.Context, key string, work *work, dst tensor.Any, first []int) (*pipeline, []byte, error) {
	o, ok := a.store.(Opener)
	if !ok {
		b, err := a.store.Get(ctx, key, int64(a.pipe.most))
		return a.pipe, b, err
	}
	v, err := o.Open(ctx, key)
	if err != nil {
		return nil, nil, err
	}
	defer v.Close()
	if v.size > int64(a.pipe.most) {
		return nil, nil, fail(format.ErrLimit, "a value of %d bytes for a chunk of %d", v.size, a.pipe.n)
	}
	if to := a.pipe.direct(dst); to != nil && len(a.pipe.stages) == 0 && v.size == int64(len(to)) {
		b, err := v.readAt(to, 0, v.size)
		runtime.KeepAlive(dst)
		return a.pipe, b, err
	}
	p, off, n := a.pipe, 0, v.size
	if v.all == nil && v.size == int64(p.n) {
		p, off = p.rows(first, dst.Shape())
		n = int64(p.n)
	}
	b, err := v.readAt(work.stored, int64(off), n)
	if err == nil {
		work.stored = b
	}
	return p, b, err
}

// direct returns the memory of dst if a chunk can be decoded into it, else nil.
func (p *pipeline) direct(dst tensor.Any) []byte {
	if p.stored != nil || p.d.IsPartial() || !slices.Equal(dst.Shape(), p.shape) {
		return nil
	}
	b, _ := tensor.Bytes(dst)
	return b
}

// put decodes a chunk into dst: the part of it that begins at its element first.
func (p *pipeline) put(work *work, b []byte, dst tensor.Any, first []int) error {
	if to := p.direct(dst); to != nil {
		out, err := p.decode(to, b)
		if err == nil && &out[0] != &to[0] {
			copy(to, out)
		}
		runtime.KeepAlive(dst)
		return err
	}
	if cap(work.plain) < p.n {
		work.plain = ram.Make(p.n)
	}
	out, err := p.decode(work.plain[:0], b)
	if err != nil {
		return err
	}
	lay, err := p.layout()
	if err != nil {
		return err
	}
	if &out[0] != &work.plain[:1][0] { // out may not be aligned
		out = append(work.plain[:0], out...)
	}
	t, err := tensorOver(out, p.d, lay)
	if err == nil {
		t, err = window(t, first, dst.Shape())
	}
	if err == nil {
		err = tensor.Copy(dst, t)
	}
	return err
}

// readShards fills t from the inner chunks, shard by shard.
func (a *Array) readShards(ctx context.Context, from, to []int, t tensor.Any) error {
	outer := newWalk(a.meta.Chunks, from, to)
	_, opens := a.store.(Opener)
	within := max(1, a.set.Workers/a.count(from, to))
	var shard *openShard
	var inner *walk
	defer func() {
		if shard != nil {
			shard.drop()
		}
	}()
	return parallel(ctx, a.set.Workers, func() func(context.Context) error {
		for {
			if shard != nil {
				index, first, shape := inner.next()
				if index == nil {
					shard.drop()
					shard = nil
					continue
				}
				s := shard
				s.users.Add(1)
				return func(ctx context.Context) error {
					defer s.drop()
					dst, err := window(t, less(first, from), shape)
					if err != nil {
						return err
					}
					return s.read(ctx, index, dst, less(first, origin(index, a.pipe.shape)))
				}
			}
			index, first, shape := outer.next()
			if index == nil {
				return nil
			}
			last := make([]int, len(first))
			for i := range last {
				last[i] = first[i] + shape[i]
			}
			key := a.ChunkKey(index...)
			if !opens {
				return func(ctx context.Context) error { return a.runs(ctx, key, t, from, first, last, within) }
			}
			shard = &openShard{a: a, key: key}
			shard.users.Add(1)
			inner = newWalk(a.pipe.shape, first, last)
		}
	})
}

// Index returns the part that idx selects, as [tensor.Slice] does. It reads the box around
// the part and returns a view of it. An index that doesn't fit gives the error of tensor.Slice.
func (a *Array) Index(ctx context.Context, idx ...tensor.Index) (tensor.Any, error) {
	shape := a.meta.Shape
	from, to := make([]int, len(shape)), make([]int, len(shape))
	for axis := range shape {
		one := make([]int, len(shape))
		one[axis] = 1
		lay, err := layout.New(shape, one)
		if err != nil {
			return tensor.Any{}, fail(err, "shape %v: %v", shape, err)
		}
		part, off, err := lay.Slice(idx...)
		if err != nil {
			return tensor.Any{}, tensor.Wrap("tensor.Slice", err)
		}
		if lo, hi := part.Span(); hi >= lo {
			from[axis], to[axis] = off+lo, off+hi+1
		}
	}
	box, buf, err := a.slice(ctx, from, to)
	if err != nil {
		return tensor.Any{}, err
	}
	strides, first := make([]int, len(shape)), 0
	for axis := range shape {
		strides[axis] = box.Stride(axis)
		first += from[axis] * strides[axis]
	}
	lay, err := layout.New(shape, strides)
	if err != nil {
		return tensor.Any{}, fail(err, "shape %v: %v", shape, err)
	}
	part, off, err := lay.Slice(idx...)
	if err != nil {
		return tensor.Any{}, tensor.Wrap("tensor.Slice", err)
	}
	if lo, hi := part.Span(); hi < lo {
		return tensor.Make(a.meta.DType, part.Shape()...)
	}
	// A span begins below the first element if a step is negative.
	return tensor.FromBytes(a.meta.DType, buf, (off-first)*a.meta.DType.Size(), part)
}
