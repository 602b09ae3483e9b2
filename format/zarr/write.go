package zarr

import (
	"context"
	"errors"
	"hash/maphash"
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/tensor"
)

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

// Write writes t at a place. If it covers only a part of a chunk, it reads the chunk first
// and writes all of it. A tensor of a nested layout is copied first.
func (a *Array) Write(ctx context.Context, place []int, t tensor.Any) error {
	if err := needContext(ctx); err != nil {
		return err
	}
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
	if t, err = straight(t); err != nil {
		return err
	}
	within := max(1, a.set.Workers/a.count(place, to)) // inner chunks at once of each shard
	w := newWalk(a.meta.Chunks, place, to)
	return parallel(ctx, a.set.Workers, func() func(context.Context) error {
		index, first, shape := w.next()
		if index == nil {
			return nil
		}
		return func(ctx context.Context) error {
			part, err := window(t, less(first, place), shape)
			if err == nil {
				defer a.alone(index)()
				err = a.change(ctx, part, index, first, within)
			}
			return err
		}
	})
}

// count returns the number of chunks that a part meets, at most the number of workers.
func (a *Array) count(from, to []int) int {
	count := 1
	for i := range from {
		if to[i] > from[i] {
			count *= min((to[i]-1)/a.meta.Chunks[i]+1-from[i]/a.meta.Chunks[i], a.set.Workers)
		}
		count = min(count, a.set.Workers)
	}
	return count
}

var seed = maphash.MakeSeed()

// alone locks a chunk against other writers that use a. The function that it returns
// unlocks it.
func (a *Array) alone(index []int) func() {
	all := a.writing()
	mu := &all[maphash.String(seed, a.ChunkKey(index...))%uint64(len(all))]
	mu.Lock()
	return mu.Unlock
}

// change writes a part of a chunk that begins at the element first of the array.
func (a *Array) change(ctx context.Context, part tensor.Any, index, first []int, within int) error {
	from, whole, err := a.box(a.meta.Chunks, index)
	if err != nil {
		return err
	}
	if slices.Equal(whole, part.Shape()) {
		return a.writeChunk(ctx, part, index, within)
	}
	chunk, buf, err := a.blank(whole)
	if err != nil {
		return err
	}
	defer buf.Close()
	if err := a.ReadInto(ctx, from, chunk); err != nil {
		return err
	}
	dst, err := window(chunk, less(first, from), part.Shape())
	if err == nil {
		err = tensor.Copy(dst, part)
	}
	if err != nil {
		return err
	}
	return a.writeChunk(ctx, chunk, index, within)
}

// WriteChunk writes a chunk. t has the shape of the tensor that ReadChunk returns. The chunk
// exists afterwards, even if all elements are the fill value. Inner chunks of a shard that
// consist of the fill value are left out.
func (a *Array) WriteChunk(ctx context.Context, t tensor.Any, index ...int) error {
	if err := needContext(ctx); err != nil {
		return err
	}
	_, shape, err := a.box(a.meta.Chunks, index)
	if err == nil {
		err = a.fits(t, shape)
	}
	if err == nil {
		t, err = straight(t)
	}
	if err != nil {
		return err
	}
	defer a.alone(index)()
	return a.writeChunk(ctx, t, index, a.set.Workers)
}

// writeChunk writes a chunk. It fills the part beyond the array.
func (a *Array) writeChunk(ctx context.Context, t tensor.Any, index []int, within int) error {
	key := a.ChunkKey(index...)
	if a.view {
		return at(key, fail(errors.ErrUnsupported, "fields, elements by CF and strings of variable length are read only"))
	}
	if err := ended(ctx); err != nil {
		return at(key, err)
	}
	if !slices.Equal(t.Shape(), a.meta.Chunks) {
		full, buf, err := a.blank(a.meta.Chunks)
		if err != nil {
			return err
		}
		defer buf.Close()
		var part tensor.Any
		if err = tensor.Copy(full, a.fill); err == nil {
			part, err = cut(full, t.Shape())
		}
		if err == nil {
			err = tensor.Copy(part, t)
		}
		if err != nil {
			return err
		}
		t = full
	}
	if a.shard != nil {
		b, err := a.shard.encode(ctx, t, within)
		if err == nil {
			err = a.store.Set(ctx, key, b)
		}
		return at(key, err)
	}
	work := a.pipe.borrow()
	defer a.pipe.scratch.Put(work)
	b, _, err := a.pipe.encode(work, t, nil)
	if err == nil {
		err = a.store.Set(ctx, key, b)
	}
	runtime.KeepAlive(t) // b may be its memory
	return at(key, err)
}
