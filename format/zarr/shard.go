package zarr

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"math"
	"slices"
	"sync"

	"github.com/ashlar-go/ashlar/tensor"
)

// sharding is the codec sharding_indexed: inner chunks one after the other, and an index
// of where each lies. Source: zarr-specs, v3/codecs/sharding-indexed.
type sharding struct {
	grid  []int // inner chunks along each axis of a shard
	n     int
	start bool // where the index is
	crc   bool
}

func newSharding(m Metadata) (*sharding, error) {
	s := &sharding{n: 1, start: m.IndexAtStart, crc: !m.IndexWithoutCRC}
	if len(m.Inner) != len(m.Chunks) {
		return nil, fail(ErrFormat, "inner chunks of shape %v in shards of %v", m.Inner, m.Chunks)
	}
	for i, e := range m.Inner {
		if e < 1 || m.Chunks[i]%e != 0 {
			return nil, fail(ErrFormat, "inner chunks of shape %v don't divide shards of %v", m.Inner, m.Chunks)
		}
		s.grid = append(s.grid, m.Chunks[i]/e)
		s.n *= m.Chunks[i] / e // below the bytes of a chunk, which fit
	}
	if s.n > 1<<27 {
		return nil, fail(ErrLimit, "a shard of %d inner chunks", s.n)
	}
	return s, nil
}

func (s *sharding) size() int {
	if s.crc {
		return 16*s.n + 4
	}
	return 16 * s.n
}

const noChunk = math.MaxUint64

// parse checks an index: its checksum, and that no chunk lies in the index of the
// beginning or in another.
func (s *sharding) parse(b []byte) ([]uint64, error) {
	if s.crc {
		n := len(b) - 4
		if crc32.Checksum(b[:n], castagnoli) != binary.LittleEndian.Uint32(b[n:]) {
			return nil, fail(ErrFormat, "the index of the shard doesn't have its checksum")
		}
	}
	index := make([]uint64, 2*s.n)
	var there []int
	for i := range index {
		index[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	for i := range s.n {
		off, n := index[2*i], index[2*i+1]
		if off == noChunk && n == noChunk {
			continue
		}
		if off > math.MaxInt64 || n > math.MaxInt64-off || s.start && off < uint64(s.size()) {
			return nil, fail(ErrFormat, "inner chunk %d is at byte %d, %d bytes, outside the shard", i, off, n)
		}
		if n > 0 {
			there = append(there, i)
		}
	}
	slices.SortFunc(there, func(a, b int) int { return cmp.Compare(index[2*a], index[2*b]) })
	for k := 1; k < len(there); k++ {
		a, b := there[k-1], there[k]
		if index[2*a]+index[2*a+1] > index[2*b] {
			return nil, fail(ErrFormat, "the inner chunks %d and %d of the shard overlap", a, b)
		}
	}
	return index, nil
}

// reader returns a function that reads inner chunks, and the index of each shard once.
func (s *sharding) reader(a *Array) func(ctx context.Context, index []int) (tensor.Any, error) {
	type opened struct {
		once  sync.Once
		index []uint64 // nil: the shard is absent
		err   error
	}
	var shards sync.Map
	return func(ctx context.Context, inner []int) (tensor.Any, error) {
		outer, k := make([]int, len(inner)), 0
		for i, g := range s.grid {
			outer[i] = inner[i] / g
			k = k*g + inner[i]%g
		}
		key := a.ChunkKey(outer...)
		v, _ := shards.LoadOrStore(key, new(opened))
		o := v.(*opened)
		o.once.Do(func() {
			off := int64(0)
			if !s.start {
				off = -int64(s.size())
			}
			var b []byte
			if b, o.err = a.store.GetRange(ctx, key, off, int64(s.size())); errors.Is(o.err, fs.ErrNotExist) {
				o.err = nil
			} else if o.err == nil {
				o.index, o.err = s.parse(b)
			}
		})
		if o.err != nil {
			return tensor.Any{}, at(key, o.err)
		}
		if o.index == nil || o.index[2*k] == noChunk && o.index[2*k+1] == noChunk {
			return a.filled(a.pipe.shape)
		}
		b, err := a.store.GetRange(ctx, key, int64(o.index[2*k]), int64(o.index[2*k+1]))
		var t tensor.Any
		if err == nil {
			t, err = a.pipe.decode(b)
		}
		return t, at(key, err)
	}
}

// encode makes the value of a shard.
func (s *sharding) encode(a *Array, t tensor.Any) ([]byte, error) {
	index := make([]byte, 0, s.size())
	var out []byte
	if s.start {
		out = make([]byte, s.size())
	}
	at := make([]int, len(s.grid))
	for range s.n {
		part, err := window(t, origin(at, a.pipe.shape), a.pipe.shape)
		if err != nil {
			return nil, err
		}
		b, err := a.pipe.encode(part)
		if err != nil {
			return nil, err
		}
		index = binary.LittleEndian.AppendUint64(index, uint64(len(out)))
		index = binary.LittleEndian.AppendUint64(index, uint64(len(b)))
		out = append(out, b...)
		for i := len(at) - 1; i >= 0; i-- {
			if at[i]++; at[i] < s.grid[i] {
				break
			}
			at[i] = 0
		}
	}
	if s.crc {
		index = binary.LittleEndian.AppendUint32(index, crc32.Checksum(index, castagnoli))
	}
	if s.start {
		copy(out, index)
		return out, nil
	}
	return append(out, index...), nil
}
