package zarr

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

// shardCodec is the configuration of the codec sharding_indexed.
type shardCodec struct {
	chunk  []int
	codecs []Codec
	index  []Codec
	start  bool
}

func parseSharding(c Codec) (s shardCodec, err error) {
	raw, err := json.Marshal(c.Configuration)
	if err != nil {
		return s, fail(ErrFormat, "%v", err)
	}
	var d struct {
		Chunk    *integers `json:"chunk_shape"`
		Codecs   codecList `json:"codecs"`
		Index    codecList `json:"index_codecs"`
		Location *string   `json:"index_location"`
	}
	if err := decode(raw, &d); err != nil {
		return s, err
	}
	if d.Chunk == nil || d.Codecs == nil || d.Index == nil {
		return s, fail(ErrFormat, "chunk_shape, codecs or index_codecs are absent")
	}
	if err := chained(d.Codecs); err != nil {
		return s, err
	}
	if err := chained(d.Index); err != nil {
		return s, within("index_codecs", err)
	}
	if l := d.Location; l != nil && *l != "start" && *l != "end" {
		return s, fail(ErrFormat, "index_location is %.20q; it is start or end", *l)
	}
	return shardCodec{*d.Chunk, d.Codecs, d.Index, d.Location != nil && *d.Location == "start"}, nil
}

// sharding is the codec sharding_indexed: inner chunks one after the other, and an index
// of their places. Source: zarr-specs, v3/codecs/sharding-indexed.
type sharding struct {
	shape []int     // of a shard
	grid  []int     // inner chunks along each axis of it
	n     int       // inner chunks
	limit int       // Options.MaxBytes
	start bool      // the index is at the start
	index *pipeline // of uint64, the places and sizes
	inner *pipeline
	fill  tensor.Any // of an absent inner chunk
}

// maxDepth is the most levels of nested shards. Each takes the memory of a chunk.
const maxDepth = 4

func shardingOf(c Codec, e element, shape []int, fill tensor.Any, depth int) (*sharding, error) {
	if depth > maxDepth {
		return nil, fail(format.ErrLimit, "more than %d shards in each other", maxDepth)
	}
	config, err := parseSharding(c)
	if err != nil {
		return nil, err
	}
	if e.chars > 0 && len(config.chunk) == len(shape)-1 {
		config.chunk = append(config.chunk, shape[len(shape)-1])
	}
	return newSharding(e, shape, fill, config, depth)
}

func newSharding(e element, shape []int, fill tensor.Any, c shardCodec, depth int) (*sharding, error) {
	if e.varies {
		return nil, fail(ErrCodec, "strings of variable length, by vlen-utf8, in shards")
	}
	s := &sharding{shape: shape, n: 1, limit: e.limit, start: c.start, fill: fill}
	if len(c.chunk) != len(shape) {
		return nil, fail(ErrFormat, "inner chunks of shape %v in shards of %v", c.chunk, shape)
	}
	for i, n := range c.chunk {
		if n < 1 || shape[i]%n != 0 {
			return nil, fail(ErrFormat, "inner chunks of shape %v don't divide shards of %v", c.chunk, shape)
		}
		s.grid = append(s.grid, shape[i]/n)
		s.n *= shape[i] / n // can't overflow: it is at most the bytes of a chunk
	}
	if s.n > 1<<27 {
		return nil, fail(format.ErrLimit, "a shard of %d inner chunks", s.n)
	}
	var err error
	if s.index, err = newPipeline(c.index, elementOf(dtype.Uint64), append(slices.Clone(s.grid), 2), tensor.Any{}, maxDepth); err != nil {
		return nil, within("index_codecs", err)
	}
	if slices.ContainsFunc(s.index.stages, func(s stage) bool { return s.varies }) {
		return nil, fail(ErrCodec, "index_codecs: an index whose size varies")
	}
	s.inner, err = newPipeline(c.codecs, e, c.chunk, fill, depth)
	return s, err
}

// size returns the number of bytes of the index.
func (s *sharding) size() int { return s.index.most }

// off returns the offset of the index, from the end if it is negative.
func (s *sharding) off() int64 {
	if s.start {
		return 0
	}
	return -int64(s.size())
}

// tight returns the largest number of bytes of a shard without unused ones.
func (s *sharding) tight() int { return plus(times(s.n, s.inner.tight), s.size()) }

// unused is the number of bytes for each inner chunk that no chunk may use. As many as the chunks take are allowed beside them.
const unused = 1 << 20

// most returns the largest number of bytes of a shard that is read whole. Unused bytes count up to Options.MaxBytes.
func (s *sharding) most() int {
	tight := s.tight()
	return max(tight, min(plus(tight, times(s.n, plus(s.inner.most, unused))), s.limit))
}

const noChunk = math.MaxUint64

// parse decodes the index b of a shard of size bytes. It checks the checksum, and that no
// chunk overlaps the index or another chunk, or reaches outside.
func (s *sharding) parse(b []byte, size int64) ([]uint64, error) {
	from, to := uint64(0), uint64(size)
	if s.start {
		from = uint64(s.size())
	} else {
		to -= uint64(s.size())
	}
	entries, err := s.entries()
	if err == nil {
		err = s.index.put(new(work), b, entries, make([]int, len(s.grid)+1))
	}
	if err != nil {
		return nil, within("the index of the shard", err)
	}
	index := make([]uint64, 2*s.n)
	raw, _ := tensor.Bytes(entries)
	for i := range index {
		index[i] = word(raw[8*i : 8*i+8])
	}
	var there []int
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

// entries makes a tensor for the index.
func (s *sharding) entries() (tensor.Any, error) {
	return tensor.Make(dtype.Uint64, s.index.shape...)
}

// decode returns the elements of a shard, in dst if it has room.
func (s *sharding) decode(dst, b []byte) ([]byte, error) {
	size := s.size()
	if len(b) < size {
		return nil, fail(ErrFormat, "a shard of %d bytes has no room for its index of %d", len(b), size)
	}
	at := 0
	if !s.start {
		at = len(b) - size
	}
	index, err := s.parse(slices.Clone(b[at:at+size]), int64(len(b)))
	if err != nil {
		return nil, err
	}
	n, err := bytesOf(s.inner.d, s.shape)
	if err != nil {
		return nil, err
	}
	out := sized(dst, n)
	s.inner.d.Mend(out) // the bytes left from an earlier use
	lay, err := layout.RowMajor(s.shape...)
	if err != nil {
		return nil, err
	}
	t, err := tensorOver(out, s.inner.d, lay)
	if err != nil {
		return nil, err
	}
	w := newWalk(s.inner.shape, make([]int, len(s.shape)), s.shape)
	work := s.inner.borrow()
	defer s.inner.scratch.Put(work)
	for i := 0; ; i++ {
		inner, first, shape := w.next()
		if inner == nil {
			return out, nil
		}
		part, err := window(t, first, shape)
		if err == nil && index[2*i] == noChunk && index[2*i+1] == noChunk {
			err = tensor.Copy(part, s.fill)
		} else if err == nil {
			from, n := index[2*i], index[2*i+1]
			err = s.inner.put(work, b[from:from+n:from+n], part, make([]int, len(shape)))
		}
		if err != nil {
			return nil, in(inner, err)
		}
	}
}

// encode makes a shard of its elements; it encodes within inner chunks at once.
func (s *sharding) encode(ctx context.Context, t tensor.Any, within int) ([]byte, error) {
	fill, _ := tensor.Bytes(s.fill)
	chunks, k := make([][]byte, s.n), 0 // nil: it consists of the fill value
	w := newWalk(s.inner.shape, make([]int, len(s.shape)), s.shape)
	err := parallel(ctx, within, func() func(context.Context) error {
		index, first, _ := w.next()
		if index == nil {
			return nil
		}
		n := k
		k++
		return func(context.Context) error {
			part, err := window(t, first, s.inner.shape)
			if err != nil {
				return err
			}
			work := s.inner.borrow()
			defer s.inner.scratch.Put(work)
			b, empty, err := s.inner.encode(work, part, fill)
			if err != nil {
				return in(index, err)
			}
			if !empty {
				chunks[n] = append([]byte{}, b...)
			}
			runtime.KeepAlive(part) // b may be its memory
			return nil
		}
	})
	runtime.KeepAlive(s.fill)
	if err != nil {
		return nil, err
	}
	entries, err := s.entries()
	if err != nil {
		return nil, err
	}
	size := s.size()
	for _, b := range chunks {
		size = plus(size, len(b))
	}
	out := make([]byte, 0, size)
	if s.start {
		out = out[:s.size()]
	}
	raw, _ := tensor.Bytes(entries)
	for i, b := range chunks {
		at, n := uint64(noChunk), uint64(noChunk)
		if b != nil {
			at, n = uint64(len(out)), uint64(len(b))
		}
		out, chunks[i] = append(out, b...), nil
		putWord(raw[16*i:16*i+8], at)
		putWord(raw[16*i+8:16*i+16], n)
	}
	index, _, err := s.index.encode(new(work), entries, nil)
	if err != nil {
		return nil, err
	}
	if s.start {
		copy(out, index)
	} else {
		out = append(out, index...)
	}
	runtime.KeepAlive(entries) // index and raw may be its memory
	return out, nil
}

// place returns the number, within its shard, of an inner chunk of the array.
func (s *sharding) place(inner []int) (k int) {
	for i, g := range s.grid {
		k = k*g + inner[i]%g
	}
	return k
}
