package zarr

import (
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
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

// parse checks an index of a shard of size bytes: its checksum, and that no chunk lies in
// the index, in another or outside.
func (s *sharding) parse(b []byte, size int64) ([]uint64, error) {
	from, to := uint64(0), uint64(size)
	if s.start {
		from = uint64(s.size())
	} else {
		to -= uint64(s.size())
	}
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
		if off < from || n > to || off > to-n {
			return nil, fail(ErrFormat, "inner chunk %d is at byte %d, %d bytes, outside those of the shard, %d to %d", i, off, n, from, to)
		}
		if n > 0 {
			there = append(there, i)
		}
	}
	order := func(a, b int) int { return cmp.Compare(index[2*a], index[2*b]) }
	if !slices.IsSortedFunc(there, order) {
		slices.SortFunc(there, order)
	}
	for k := 1; k < len(there); k++ {
		a, b := there[k-1], there[k]
		if index[2*a]+index[2*a+1] > index[2*b] {
			return nil, fail(ErrFormat, "the inner chunks %d and %d of the shard overlap", a, b)
		}
	}
	return index, nil
}

// place returns which inner chunk of its shard one of the array is.
func (s *sharding) place(inner []int) (k int) {
	for i, g := range s.grid {
		k = k*g + inner[i]%g
	}
	return k
}
