package zarr

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/tensor"
)

// ReadChunk returns the part of a chunk that is within the array. For an absent chunk it
// returns a read-only tensor of fill values that takes the memory of one element.
func (a *Array) ReadChunk(ctx context.Context, index ...int) (tensor.Any, error) {
	if err := needContext(ctx); err != nil {
		return tensor.Any{}, err
	}
	from, shape, err := a.box(a.meta.Chunks, index)
	if err != nil {
		return tensor.Any{}, err
	}
	if _, ok, err := a.ChunkSize(ctx, index...); err == nil && !ok && !a.set.Whole && !a.meta.varies() {
		return tensor.BroadcastTo(a.fill, shape...)
	}
	to, err := end(from, shape)
	if err != nil {
		return tensor.Any{}, err
	}
	return a.Slice(ctx, from, to)
}

// ChunkSize returns the number of bytes that a chunk takes in the store, and whether it
// exists. It doesn't read the chunk.
func (a *Array) ChunkSize(ctx context.Context, index ...int) (n int64, ok bool, err error) {
	if err := needContext(ctx); err != nil {
		return 0, false, err
	}
	if _, _, err := a.box(a.meta.Chunks, index); err != nil {
		return 0, false, err
	}
	key := a.ChunkKey(index...)
	n, err = a.store.Size(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	return n, err == nil, at(key, err)
}

// DeleteChunk removes a chunk, so that its elements are the fill value. To delete an absent chunk is no
// error.
func (a *Array) DeleteChunk(ctx context.Context, index ...int) error {
	if err := needContext(ctx); err != nil {
		return err
	}
	if _, _, err := a.box(a.meta.Chunks, index); err != nil {
		return err
	}
	defer a.alone(index)()
	key := a.ChunkKey(index...)
	if a.view {
		return at(key, fail(errors.ErrUnsupported, "fields, elements by CF and strings of variable length are read only"))
	}
	return at(key, a.store.Delete(ctx, key))
}

// chunkPrefix begins the keys of all chunks.
func (a *Array) chunkPrefix() string {
	prefix := a.path
	if prefix != "" {
		prefix += "/"
	}
	if a.meta.Version == 3 && !a.meta.V2Keys {
		prefix += "c"
	}
	return prefix
}

// StoredChunks returns the indices of the chunks that the store has, the last axis fastest.
// It lists the store once.
func (a *Array) StoredChunks(ctx context.Context) ([][]int, error) {
	if err := needContext(ctx); err != nil {
		return nil, err
	}
	m := &a.meta
	prefix := a.chunkPrefix()
	keys, err := a.store.List(ctx, prefix)
	if err != nil {
		return nil, at(prefix, err)
	}
	var list [][]int
	for _, key := range keys {
		text := strings.TrimPrefix(strings.TrimPrefix(key, prefix), m.Separator)
		index, axes := []int{}, len(m.Shape)
		if m.chars > 0 {
			axes--
		}
		for part := range strings.SplitSeq(text, m.Separator) {
			if n, err := strconv.Atoi(part); err == nil && len(index) < axes {
				index = append(index, n)
			}
		}
		if m.chars > 0 {
			index = append(index, 0)
		}
		if _, _, err := a.box(m.Chunks, index); err == nil && a.ChunkKey(index...) == key {
			list = append(list, index)
		}
	}
	slices.SortFunc(list, slices.Compare)
	return list, nil
}

// Remove deletes all values at a path of a store and below it, first the metadata. Nobody may
// write there meanwhile.
func Remove(ctx context.Context, s Store, p string) error {
	if err := needContext(ctx); err != nil {
		return err
	}
	p, err := place(s, p)
	if err != nil {
		return err
	}
	for _, name := range nodes {
		key := path.Join(p, name)
		if err := s.Delete(ctx, key); err != nil {
			return at(key, err)
		}
	}
	if r, ok := s.(interface {
		removeAll(ctx context.Context, p string) error
	}); ok {
		return at(p, r.removeAll(ctx, p))
	}
	prefix := p
	if p != "" {
		prefix += "/"
	}
	keys, err := s.List(ctx, prefix)
	for _, key := range keys {
		if err == nil {
			err = s.Delete(ctx, key)
		}
	}
	return at(p, err)
}

// rows finds the shortest run of a chunk's bytes that holds the part that begins at first. It returns the run's pipeline and offset, and
// sets first to the part's place in the run. If bytes aren't simply the elements in order, the run is the whole chunk.
func (p *pipeline) rows(first, shape []int) (rows *pipeline, off int) {
	if len(p.stages) > 0 || p.stored != nil || p.shard != nil {
		return p, 0
	}
	rows = &pipeline{d: p.d, shape: slices.Clone(p.shape), coded: p.coded, big: p.big, n: p.n}
	for i := range shape {
		step := rows.n / p.shape[i]
		off += first[i] * step
		first[i], rows.shape[i], rows.n = 0, shape[i], step*shape[i]
		if shape[i] > 1 {
			break
		}
	}
	rows.most = rows.n
	return rows, off
}
