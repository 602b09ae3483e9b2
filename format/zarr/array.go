package zarr

import (
	"context"
	"errors"
	"io/fs"
	"math/bits"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

// Array is an array of a store, opened by its metadata. Its methods may be called
// concurrently; writes need that nobody else writes the same chunks.
type Array struct {
	store Store
	path  string
	meta  Metadata
	fill  tensor.Any
	pipe  *pipeline // of a chunk, or of an inner chunk
	shard *sharding // nil: chunks are not shards
	settings
}

// Option changes how an array is read: Workers, MaxBytes.
type Option struct {
	workers int
	max     int64
}

// Workers limits how many chunks are read or written at once; without it they are
// as many as the machine has processors.
func Workers(n int) Option { return Option{workers: max(n, 1)} }

// MaxBytes limits the elements of a chunk, of a shard and of what Slice returns to n bytes; without it a
// chunk has at most 2 GiB.
func MaxBytes(n int64) Option { return Option{max: max(n, 1)} }

type settings struct {
	workers int
	max     int64 // 0: not given
}

func settingsOf(opts []Option) settings {
	s := settings{workers: runtime.GOMAXPROCS(0)}
	for _, o := range opts {
		if o.workers > 0 {
			s.workers = o.workers
		}
		if o.max > 0 {
			s.max = o.max
		}
	}
	return s
}

// bytesOf is the size of a shape in bytes.
func bytesOf(d dtype.DType, shape []int) (int, error) {
	n := uint(d.Size())
	for _, e := range shape {
		hi, lo := bits.Mul(n, uint(e))
		if hi != 0 || lo > 1<<(strconv.IntSize-1)-1 {
			return 0, fail(ErrLimit, "shape %v of %v is larger than the address space", shape, d)
		}
		n = lo
	}
	return int(n), nil
}

// newArray makes an array of metadata, which it checks.
func newArray(store Store, path string, m Metadata, opts []Option) (*Array, error) {
	a := &Array{store: store, path: strings.Trim(path, "/"), meta: m, settings: settingsOf(opts)}
	most := a.max
	if most == 0 {
		most = 1 << 31
	}
	if n, err := bytesOf(m.DType, m.Chunks); err != nil {
		return nil, err
	} else if int64(n) > most {
		return nil, fail(ErrLimit, "a chunk of %v %v has %d bytes; the most accepted is %d, which the option MaxBytes sets", m.Chunks, m.DType, n, most)
	}
	inner := m.Chunks
	var err error
	if m.Inner != nil {
		inner = m.Inner
		if a.shard, err = newSharding(m); err != nil {
			return nil, err
		}
	}
	if a.pipe, err = newPipeline(m.Codecs, m.DType, inner); err != nil {
		return nil, err
	}
	a.fill = m.Fill
	if a.fill.IsZero() {
		if a.fill, err = tensor.Make(m.DType); err != nil {
			return nil, err
		}
	}
	if a.fill.DType() != m.DType || a.fill.Len() != 1 {
		return nil, fail(ErrType, "the fill value is %s; it must be one element of %v", tensor.Describe(a.fill), m.DType)
	}
	if a.fill, err = tensor.Reshape(a.fill); err != nil {
		return nil, err
	}
	a.meta.Fill = a.fill
	return a, nil
}

// Metadata returns what the metadata says. It isn't to be changed.
func (a *Array) Metadata() Metadata { return a.meta }

// Shape returns the extents.
func (a *Array) Shape() []int { return slices.Clone(a.meta.Shape) }

// DType returns the element type.
func (a *Array) DType() dtype.DType { return a.meta.DType }

// Chunks returns the shape of a chunk: what is written at once, also where it is a
// shard. Those at the end of an axis may reach beyond the array.
func (a *Array) Chunks() []int { return slices.Clone(a.meta.Chunks) }

// Inner returns the shape that is read at once: of an inner chunk of shards, else of a chunk.
func (a *Array) Inner() []int { return slices.Clone(a.pipe.shape) }

// FillValue returns the element that absent chunks consist of, a tensor of rank 0.
func (a *Array) FillValue() tensor.Any { return a.fill }

// Attributes returns the user's attributes, as encoding/json reads them.
func (a *Array) Attributes() map[string]any { return a.meta.Attributes }

// DimensionNames returns the names of the axes, "" for one without, or nil.
func (a *Array) DimensionNames() []string { return slices.Clone(a.meta.DimensionNames) }

// Grid returns how many chunks there are along each axis.
func (a *Array) Grid() []int {
	grid := make([]int, len(a.meta.Shape))
	for i, n := range a.meta.Shape {
		grid[i] = ceil(n, a.meta.Chunks[i])
	}
	return grid
}

func ceil(n, by int) int {
	if n == 0 {
		return 0
	}
	return (n-1)/by + 1
}

// ChunkKey returns the key of a chunk in the store.
func (a *Array) ChunkKey(index ...int) string {
	parts := make([]string, len(index))
	for i, n := range index {
		parts[i] = strconv.Itoa(n)
	}
	m := &a.meta
	key := strings.Join(parts, m.Separator)
	switch {
	case m.Version == 3 && !m.V2Keys && len(index) == 0:
		key = "c"
	case m.Version == 3 && !m.V2Keys:
		key = "c" + m.Separator + key
	case len(index) == 0:
		key = "0"
	}
	return path.Join(a.path, key)
}

// box returns where a chunk begins and the shape of its part within the array.
func (a *Array) box(chunk, index []int) (from, shape []int, err error) {
	m := &a.meta
	if len(index) != len(m.Shape) {
		return nil, nil, fail(ErrShape, "a chunk has %d indices, the array has %d axes", len(index), len(m.Shape))
	}
	from, shape = make([]int, len(index)), make([]int, len(index))
	for i, k := range index {
		if k < 0 || k >= ceil(m.Shape[i], chunk[i]) {
			return nil, nil, fail(ErrShape, "the chunk %v is outside the %v there are", index, a.Grid())
		}
		from[i] = k * chunk[i]
		shape[i] = min(chunk[i], m.Shape[i]-from[i])
	}
	return from, shape, nil
}

// cut is the part of t from the origin on.
func cut(t tensor.Any, shape []int) (tensor.Any, error) {
	return window(t, make([]int, len(shape)), shape)
}

func window(t tensor.Any, from, shape []int) (tensor.Any, error) {
	idx := make([]tensor.Index, len(shape))
	for i, n := range shape {
		idx[i] = tensor.R(from[i], from[i]+n)
	}
	return tensor.Slice(t, idx...)
}

// filled is a tensor of fill values, which takes the memory of one.
func (a *Array) filled(shape []int) (tensor.Any, error) { return tensor.BroadcastTo(a.fill, shape...) }

// ReadChunk returns a chunk, without what reaches beyond the array. An absent one is a
// read-only tensor of fill values that takes the memory of one element.
func (a *Array) ReadChunk(ctx context.Context, index ...int) (tensor.Any, error) {
	from, shape, err := a.box(a.meta.Chunks, index)
	if err != nil {
		return tensor.Any{}, err
	}
	if a.shard != nil {
		to := make([]int, len(from))
		for i := range to {
			to[i] = from[i] + shape[i]
		}
		return a.Slice(ctx, from, to)
	}
	t, err := a.load(ctx, index)
	if err != nil {
		return tensor.Any{}, err
	}
	return cut(t, shape)
}

// load reads a chunk that is no shard.
func (a *Array) load(ctx context.Context, index []int) (tensor.Any, error) {
	key := a.ChunkKey(index...)
	b, err := a.store.Get(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return a.filled(a.meta.Chunks)
	}
	var t tensor.Any
	if err == nil {
		t, err = a.pipe.decode(b)
	}
	return t, at(key, err)
}

// WriteChunk writes a chunk, whose tensor has the shape that ReadChunk gives.
func (a *Array) WriteChunk(ctx context.Context, t tensor.Any, index ...int) error {
	_, shape, err := a.box(a.meta.Chunks, index)
	if err != nil {
		return err
	}
	if err := a.fits(t, shape); err != nil {
		return err
	}
	if !slices.Equal(shape, a.meta.Chunks) {
		full, err := tensor.Make(a.meta.DType, a.meta.Chunks...)
		if err != nil {
			return err
		}
		rest, err := a.filled(a.meta.Chunks)
		if err == nil {
			err = tensor.Copy(full, rest)
		}
		var part tensor.Any
		if err == nil {
			part, err = cut(full, shape)
		}
		if err == nil {
			err = tensor.Copy(part, t)
		}
		if err != nil {
			return err
		}
		t = full
	}
	key := a.ChunkKey(index...)
	var b []byte
	if a.shard != nil {
		b, err = a.shard.encode(a, t)
	} else {
		b, err = a.pipe.encode(t)
	}
	if err == nil {
		err = a.store.Set(ctx, key, b)
	}
	return at(key, err)
}

func (a *Array) fits(t tensor.Any, shape []int) error {
	if t.IsZero() || t.DType() != a.meta.DType || shape != nil && !slices.Equal(t.Shape(), shape) {
		return fail(ErrShape, "a tensor %s where %v%v is wanted", describe(t), a.meta.DType, shape)
	}
	return nil
}

func describe(t tensor.Any) string {
	if t.IsZero() {
		return "without elements"
	}
	return tensor.Describe(t)
}

// region checks a part of the array and returns its shape.
func (a *Array) region(from, to []int) ([]int, error) {
	m := &a.meta
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

// each calls f for every chunk that a part meets, several at once: with its index, the
// first of its elements that counts, and how many along each axis.
func (a *Array) each(ctx context.Context, chunk, from, to []int, f func(ctx context.Context, index, first, shape []int) error) error {
	lo, grid, total := make([]int, len(from)), make([]int, len(from)), 1
	for i := range from {
		if from[i] == to[i] {
			return ctx.Err()
		}
		lo[i] = from[i] / chunk[i]
		grid[i] = (to[i]-1)/chunk[i] + 1 - lo[i]
		hi, n := bits.Mul(uint(total), uint(grid[i]))
		if hi != 0 || n > 1<<(strconv.IntSize-1)-1 {
			return fail(ErrLimit, "a part of more chunks than an int counts")
		}
		total = int(n)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(a.workers, total) {
		wg.Go(func() {
			for ctx.Err() == nil {
				k := int(next.Add(1)) - 1
				if k >= total {
					return
				}
				index, first, shape := make([]int, len(from)), make([]int, len(from)), make([]int, len(from))
				for i := len(grid) - 1; i >= 0; i-- {
					index[i] = lo[i] + k%grid[i]
					k /= grid[i]
					first[i] = max(from[i], index[i]*chunk[i])
					shape[i] = min(to[i]-first[i], (index[i]+1)*chunk[i]-first[i])
				}
				if err := f(ctx, index, first, shape); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
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

// Slice returns a copy of the elements from from to below to. It reads the chunks that
// hold them, of shards the inner ones, several at once; each takes memory while it is
// decoded.
func (a *Array) Slice(ctx context.Context, from, to []int) (tensor.Any, error) {
	shape, err := a.region(from, to)
	if err != nil {
		return tensor.Any{}, err
	}
	if n, err := bytesOf(a.meta.DType, shape); err != nil {
		return tensor.Any{}, err
	} else if a.max > 0 && int64(n) > a.max {
		return tensor.Any{}, fail(ErrLimit, "a part of shape %v has %d bytes; the most accepted is %d, which the option MaxBytes sets", shape, n, a.max)
	}
	out, err := tensor.Make(a.meta.DType, shape...)
	if err != nil {
		return tensor.Any{}, fail(err, "shape %v: %v", shape, err)
	}
	read := a.load
	if a.shard != nil {
		read = a.shard.reader(a)
	}
	err = a.each(ctx, a.pipe.shape, from, to, func(ctx context.Context, index, first, shape []int) error {
		t, err := read(ctx, index)
		if err == nil {
			t, err = window(t, less(first, origin(index, a.pipe.shape)), shape)
		}
		var dst tensor.Any
		if err == nil {
			dst, err = window(out, less(first, from), shape)
		}
		if err == nil {
			err = tensor.Copy(dst, t)
		}
		return err
	})
	if err != nil {
		return tensor.Any{}, err
	}
	return out, nil
}

// Read returns all elements.
func (a *Array) Read(ctx context.Context) (tensor.Any, error) {
	return a.Slice(ctx, make([]int, len(a.meta.Shape)), a.meta.Shape)
}

// Index returns the part that idx selects, as [tensor.Slice] does, a view of the box
// around it. An index that doesn't fit gives the error of tensor.Slice.
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
	box, err := a.Slice(ctx, from, to)
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
	b, ok := tensor.Bytes(box)
	if !ok {
		return tensor.Any{}, fail(ErrShape, "the part isn't contiguous")
	}
	// Spans below the first element belong to negative steps.
	return view(b, a.meta.DType, off-first, part)
}

// Write writes t at a place. Chunks that it covers in part are read first, and written
// again; concurrent calls must not share such a chunk.
func (a *Array) Write(ctx context.Context, place []int, t tensor.Any) error {
	if err := a.fits(t, nil); err != nil {
		return err
	}
	if len(place) != t.Rank() {
		return fail(ErrShape, "a tensor of rank %d at %v", t.Rank(), place)
	}
	to := t.Shape()
	for i := range place {
		if place[i] > 1<<(strconv.IntSize-1)-1-to[i] {
			return fail(ErrShape, "a tensor of shape %v at %v", t.Shape(), place)
		}
		to[i] += place[i]
	}
	if _, err := a.region(place, to); err != nil {
		return err
	}
	return a.each(ctx, a.meta.Chunks, place, to, func(ctx context.Context, index, first, shape []int) error {
		part, err := window(t, less(first, place), shape)
		if err != nil {
			return err
		}
		from, whole, err := a.box(a.meta.Chunks, index)
		if err != nil {
			return err
		}
		if slices.Equal(whole, shape) {
			return a.WriteChunk(ctx, part, index...)
		}
		old, err := a.ReadChunk(ctx, index...)
		if err != nil {
			return err
		}
		own, err := tensor.Make(a.meta.DType, whole...)
		if err == nil {
			err = tensor.Copy(own, old)
		}
		var dst tensor.Any
		if err == nil {
			dst, err = window(own, less(first, from), shape)
		}
		if err == nil {
			err = tensor.Copy(dst, part)
		}
		if err != nil {
			return err
		}
		return a.WriteChunk(ctx, own, index...)
	})
}
