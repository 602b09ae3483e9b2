package zarr

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/ram"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// A Codec is an entry in the metadata's list of codecs.
type Codec struct {
	Name          string         `json:"name"`
	Configuration map[string]any `json:"configuration,omitempty"`
}

// UnmarshalJSON reads a codec, also in the short form, its name alone.
func (c *Codec) UnmarshalJSON(b []byte) error {
	var e extension
	err := e.UnmarshalJSON(b)
	if err == nil && len(e.Configuration) > 0 {
		err = decode(e.Configuration, &c.Configuration)
	}
	c.Name = e.Name
	return err
}

// codecList is the list of codecs of a document. It leaves out codecs that aren't known and
// needn't be understood.
type codecList []Codec

func (l *codecList) UnmarshalJSON(b []byte) error {
	var entries []json.RawMessage
	if err := json.Unmarshal(b, &entries); err != nil || entries == nil {
		return err
	}
	*l = codecList{}
	for _, e := range entries {
		var name extension
		if err := name.UnmarshalJSON(e); err != nil {
			return err
		}
		if codecs[name.Name] == nil && !strings.HasPrefix(name.Name, numcodecs) && !mustUnderstand(e) {
			continue
		}
		var c Codec
		if err := c.UnmarshalJSON(e); err != nil {
			return err
		}
		*l = append(*l, c)
	}
	return nil
}

// numcodecs begins the names of filters and compressors of version 2.
const numcodecs = "numcodecs."

// Gzip compresses chunks at a level from 0, no compression, to 9, the best.
func Gzip(level int) Codec { return Codec{"gzip", map[string]any{"level": level}} }

// Zstd compresses chunks. The level is one of the reference implementation, -131072 to
// 22. It is rounded to one of the encoder's four levels.
func Zstd(level int) Codec {
	return Codec{"zstd", map[string]any{"level": level, "checksum": false}}
}

// CRC32C adds a checksum of four bytes to each chunk.
func CRC32C() Codec { return Codec{Name: "crc32c"} }

// Transpose stores the axes of a chunk in the given order.
func Transpose(order ...int) Codec {
	return Codec{"transpose", map[string]any{"order": order}}
}

func endian(big bool) binary.ByteOrder {
	if big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// Bytes stores elements in a byte order. If it is absent from the list, or its order is nil,
// they are stored in binary.LittleEndian.
func Bytes(order binary.ByteOrder) Codec {
	endian := "little"
	if order != nil && order.Uint16([]byte{0, 1}) == 1 {
		endian = "big"
	}
	return Codec{"bytes", map[string]any{"endian": endian}}
}

// int reads an integer of the configuration, from low to high.
func (c Codec) int(key string, otherwise, low, high int) (int, error) {
	n := otherwise
	switch v := c.Configuration[key].(type) {
	case float64:
		if n = int(v); float64(n) != v {
			n = low - 1
		}
	case int:
		n = v
	default:
		if _, there := c.Configuration[key]; there {
			n = low - 1
		}
	}
	if n < low || n > high {
		return 0, fail(ErrFormat, "%s: %s %s; it is %d to %d", strings.TrimPrefix(c.Name, numcodecs), key, shown(c.Configuration[key]), low, high)
	}
	return n, nil
}

// text reads a string of the configuration, "" if there is none.
func (c Codec) text(key string) (string, error) {
	v, there := c.Configuration[key]
	s, ok := v.(string)
	if there && !ok {
		return "", fail(ErrFormat, "%s: %s is %s; it is a string", strings.TrimPrefix(c.Name, numcodecs), key, shown(v))
	}
	return s, nil
}

// A pipeline turns the elements of a chunk into the bytes of a value, and back.
type pipeline struct {
	d       dtype.DType
	shape   []int       // of the chunk
	stored  []int       // the axes in the order of the bytes; nil: as they are
	coded   dtype.DType // of the elements behind the filters
	filters int         // the number of stages that make elements of elements
	big     bool
	shard   *sharding // nil: bytes are made of the elements one by one
	stages  []stage   // in the order of encoding
	n       int       // bytes of the elements
	most    int       // bytes of a value
	varies  bool      // strings of variable length, which take up to limit bytes
	limit   int       // Options.MaxBytes
	tight   int       // of a value whose shards have no unused bytes
	mosts   []int     // bytes that each stage may decode to
	scratch sync.Pool
}

// work is the memory that a chunk takes while it is read or written. It is used again.
type work struct{ stored, plain []byte }

func (p *pipeline) borrow() *work {
	if w, ok := p.scratch.Get().(*work); ok {
		return w
	}
	return new(work)
}

// slack returns the most bytes that a compressor makes of n.
func slack(n int) int { return plus(plus(n, n/8), 256) }

// plus and times stop at the largest int.
func plus(a, b int) int { return a + min(b, math.MaxInt-a) }

func times(a, b int) int {
	if b > 0 && a > math.MaxInt/b {
		return math.MaxInt
	}
	return a * b
}

// measure computes the largest number of bytes that each stage may decode to, and the largest of a value.
func (p *pipeline) measure() {
	p.most, p.tight = p.n, p.n
	if p.varies {
		p.most = max(p.limit, p.n)
	}
	if p.shard != nil { // no filters stand before it
		p.most, p.tight = p.shard.most(), p.shard.tight()
	}
	for _, s := range p.stages {
		p.mosts = append(p.mosts, p.most)
		if s.grow != nil {
			p.most, p.tight = s.grow(p.most), s.grow(p.tight)
		}
	}
}

// decode returns the elements of a chunk in the machine's byte order, in dst if it has
// room. It may overwrite b.
func (p *pipeline) decode(dst, b []byte) ([]byte, error) {
	if len(b) > p.most {
		return nil, fail(format.ErrLimit, "a value of %d bytes for a chunk of %d", len(b), p.n)
	}
	for i := len(p.stages); ; i-- {
		if i == p.filters {
			var err error
			if b, err = p.elements(dst, b); err != nil {
				return nil, err
			}
		}
		if i == 0 {
			break
		}
		s := p.stages[i-1]
		var to []byte
		if i == 1 && cap(dst) >= p.n && p.shard == nil {
			to = dst[:0:p.n]
		}
		out, err := s.decode(to, b, p.mosts[i-1])
		if err != nil {
			var e *Error
			if errors.As(err, &e) {
				return nil, err
			}
			return nil, fail(ErrFormat, "%s: %v", s.name, err)
		}
		b = out
	}
	if p.varies {
		return b, nil
	}
	if len(b) != p.n {
		return nil, p.wrong(len(b))
	}
	p.d.Mend(b)
	return b, nil
}

// elements makes elements in the machine's byte order of bytes. The elements of shards lie in dst if it has room.
func (p *pipeline) elements(dst, b []byte) ([]byte, error) {
	if p.shard != nil {
		return p.shard.decode(dst, b)
	}
	if unit := conv.Unit(p.coded); unit > 1 && p.big != conv.BigEndian {
		if len(b)%unit != 0 {
			return nil, p.wrong(len(b))
		}
		conv.Reverse(b, unit)
	}
	return b, nil
}

func (p *pipeline) wrong(n int) error {
	return fail(ErrFormat, "the chunk has %d bytes of elements; %v of %v are %d", n, p.shape, p.d, p.n)
}

// layout returns the layout of the elements in a chunk's bytes.
func (p *pipeline) layout() (layout.Layout, error) {
	if p.stored == nil {
		return layout.RowMajor(p.shape...)
	}
	strides, n := make([]int, len(p.shape)), 1
	for i := len(p.stored) - 1; i >= 0; i-- {
		strides[p.stored[i]] = n
		n *= p.shape[p.stored[i]]
	}
	return layout.New(p.shape, strides)
}

// encode makes the value of a chunk, which lies in w or in t. If all its elements equal unless,
// same is true and the value nil.
func (p *pipeline) encode(w *work, t tensor.Any, unless []byte) (b []byte, same bool, err error) {
	if p.stored != nil {
		if t, err = tensor.Permute(t, p.stored...); err != nil {
			return nil, false, err
		}
	}
	swap := p.shard == nil && p.big != conv.BigEndian && conv.Unit(p.d) > 1
	b, direct := tensor.Bytes(t)
	if !direct || swap {
		if cap(w.plain) < p.n {
			w.plain = ram.Make(p.n)
		}
		b = w.plain[:p.n]
		if err := p.gather(b, t); err != nil {
			return nil, false, err
		}
	}
	if n := len(unless); n > 0 && bytes.Equal(b[:n], unless) && bytes.Equal(b[n:], b[:len(b)-n]) {
		runtime.KeepAlive(t)
		return nil, true, nil
	}
	if swap {
		conv.Reverse(b, conv.Unit(p.d))
	}
	if p.shard != nil {
		if b, err = p.shard.encode(context.Background(), t, 1); err != nil {
			return nil, false, err
		}
	}
	for i, s := range p.stages {
		if s.encode == nil {
			return nil, false, readOnly(s.name)
		}
		var to []byte
		if i == len(p.stages)-1 {
			to = w.stored[:0]
		}
		if b, err = s.encode(to, b); err != nil {
			return nil, false, fail(err, "%s: %v", s.name, err)
		}
		if i == len(p.stages)-1 {
			w.stored = b
		}
	}
	return b, false, nil
}

func readOnly(name string) error {
	return fail(ErrCodec, "the codec %s is read and not written", name)
}

// written returns an error if a codec can only be read.
func (p *pipeline) written() error {
	for _, s := range p.stages {
		if s.encode == nil {
			return readOnly(s.name)
		}
	}
	if p.shard != nil {
		return cmp.Or(p.shard.inner.written(), p.shard.index.written())
	}
	return nil
}

// gather copies the elements of t to b.
func (p *pipeline) gather(b []byte, t tensor.Any) error {
	lay, err := layout.RowMajor(t.Shape()...)
	if err != nil {
		return err
	}
	p.d.Mend(b) // the bytes left from an earlier use
	own, err := tensorOver(b, p.d, lay)
	if err != nil {
		return err
	}
	return tensor.Copy(own, t)
}

// newPipeline reads a list of codecs. fill is the fill value of absent inner chunks; depth is the number of shards around
// the chunk.
func newPipeline(list []Codec, e element, shape []int, fill tensor.Any, depth int) (*pipeline, error) {
	p := &pipeline{d: e.d, coded: e.stored, shape: shape, limit: e.limit, varies: e.varies}
	var err error
	if p.n, err = bytesOf(e.d, shape); err != nil {
		return nil, err
	}
	if len(list) > maxCodecs {
		return nil, fail(format.ErrLimit, "%d codecs; the most accepted are %d", len(list), maxCodecs)
	}
	serialized, ordered, viewed := false, false, false
	now := storage{d: e.stored} // the elements behind the filters so far
	for i, c := range list {
		keys, known := codecs[c.Name]
		if known && strings.HasPrefix(c.Name, numcodecs) {
			keys = append(slices.Clone(keys), "id")
		}
		if known {
			if err := only(strings.TrimPrefix(c.Name, numcodecs), c.Configuration, keys...); err != nil {
				return nil, err
			}
		}
		switch c.Name {
		case "transpose":
			axes := len(shape)
			if e.chars > 0 {
				axes--
			}
			order, ok := orderOf(c.Configuration["order"], axes)
			if e.chars > 0 {
				order = append(order, axes)
			}
			if !ok || serialized {
				return nil, fail(ErrFormat, "transpose: its order is no permutation of %d axes, or it comes after bytes", axes)
			}
			if ordered {
				return nil, fail(ErrCodec, "transpose behind numcodecs.delta or numcodecs.packbits isn't read")
			}
			if p.stored == nil {
				p.stored = order
			} else {
				both := make([]int, len(order))
				for i, k := range order {
					both[i] = p.stored[k]
				}
				p.stored = both
			}
			continue
		case "vlen-utf8":
			if serialized || !e.varies || len(p.stages) > 0 {
				return nil, fail(ErrCodec, "vlen-utf8 of %v, or behind another codec; it makes bytes of strings of variable length", e.d)
			}
			serialized = true
			continue
		case "bytes", "endian":
			if e.varies {
				return nil, fail(ErrCodec, "%s of strings of variable length; vlen-utf8 is read", c.Name)
			}
		}
		switch c.Name {
		case "bytes", "endian":
			if serialized {
				return nil, fail(ErrFormat, "the codec bytes stands twice in the list, or after one of bytes")
			}
			switch e, err := c.text("endian"); {
			case err != nil:
				return nil, err
			case e == "big":
				p.big = true
			case e != "little" && (e != "" || now.d.Size() > 1):
				return nil, fail(ErrFormat, "bytes: endian is %.20q; it is little or big", e)
			}
			p.stages, viewed = append(e.views(p.big), p.stages...), true
			serialized, p.filters, p.coded = true, len(p.stages), now.d
			now.big = p.big
			continue
		case "sharding_indexed":
			if serialized || len(p.stages) > 0 {
				return nil, fail(ErrCodec, "sharding_indexed stands behind %.50q", list[i-1].Name)
			}
			stored := shape
			if p.stored != nil {
				stored = make([]int, len(shape))
				for i, k := range p.stored {
					stored[i] = shape[k]
				}
			}
			if p.shard, err = shardingOf(c, e, stored, fill, depth+1); err != nil {
				return nil, within("sharding_indexed", err)
			}
			serialized = true
			continue
		}
		// A filter before the codec bytes gets elements in the machine's byte order, a filter behind it elements in the stored order.
		filter := !serialized && c.kind() == ofElements
		if filter {
			now.big = conv.BigEndian
		}
		var s stage
		if id, ok := strings.CutPrefix(c.Name, numcodecs); ok {
			s, now, err = filterOf(id, c, now, filter)
		} else {
			s, err = stageOf(c)
		}
		if err != nil {
			return nil, err
		}
		if filter && (s.name == "delta" || s.name == "packbits") {
			if ordered = true; p.stored != nil {
				return nil, fail(ErrCodec, "transpose beside numcodecs.%s isn't read", s.name)
			}
		}
		p.stages = append(p.stages, s)
		serialized = serialized || !filter
	}
	if e.varies && !serialized {
		return nil, fail(ErrCodec, "strings of variable length without the codec vlen-utf8")
	}
	if !viewed && p.shard == nil && !e.varies { // the list of an array that was created may have no codec bytes
		views := e.views(false)
		p.stages, p.filters = append(views, p.stages...), len(views)
	}
	p.measure()
	return p, nil
}

func orderOf(v any, rank int) ([]int, bool) {
	var order []int
	switch v := v.(type) {
	case []int:
		order = v
	case []any:
		for _, x := range v {
			f, ok := x.(float64)
			if !ok || f != float64(int(f)) {
				return nil, false
			}
			order = append(order, int(f))
		}
	case string: // from early drafts
		for i := range rank {
			if v == "F" {
				i = rank - 1 - i
			} else if v != "C" {
				return nil, false
			}
			order = append(order, i)
		}
	}
	if len(order) != rank {
		return nil, false
	}
	seen := make([]bool, rank)
	for _, a := range order {
		if a < 0 || a >= rank || seen[a] {
			return nil, false
		}
		seen[a] = true
	}
	return order, true
}

// stageOf makes a codec of bytes.
func stageOf(c Codec) (stage, error) {
	switch c.Name {
	case "gzip":
		level, err := c.int("level", 6, 0, 9)
		var writers sync.Pool
		return stage{name: "gzip", encode: func(dst, b []byte) ([]byte, error) {
			return deflate(&writers, dst, b, func(w io.Writer) (resetter, error) { return gzip.NewWriterLevel(w, level) })
		}, decode: ungzip, grow: slack, varies: true}, err
	case "zlib":
		level, err := c.int("level", 1, -1, 9)
		var writers sync.Pool
		return stage{name: "zlib", encode: func(dst, b []byte) ([]byte, error) {
			return deflate(&writers, dst, b, func(w io.Writer) (resetter, error) { return zlib.NewWriterLevel(w, level) })
		}, decode: unzlib, grow: slack, varies: true}, err
	case "zstd":
		n, err := c.int("level", 3, -131072, 22)
		checksum, _ := c.Configuration["checksum"].(bool)
		kind := zstdKind{zstd.EncoderLevelFromZstd(n), checksum}
		return stage{name: "zstd", encode: func(dst, b []byte) ([]byte, error) {
			w, err := encoder(kind)
			if err != nil {
				return nil, err
			}
			return w.EncodeAll(b, dst), nil
		}, decode: unzstd, grow: slack, varies: true}, err
	case "crc32c":
		return checksum("crc32c", func(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }, false), nil
	case "blosc":
		return stage{name: "blosc", decode: unblosc, grow: slack, varies: true}, nil
	}
	return stage{}, unknown(c.Name)
}

// checksum makes a codec that puts a checksum of four bytes, the lowest first, behind the bytes or before them.
func checksum(name string, sum func([]byte) uint32, start bool) stage {
	return stage{name: name, encode: func(dst, b []byte) ([]byte, error) {
		if start {
			return append(binary.LittleEndian.AppendUint32(dst, sum(b)), b...), nil
		}
		return binary.LittleEndian.AppendUint32(append(dst, b...), sum(b)), nil
	}, decode: func(_, b []byte, _ int) ([]byte, error) {
		n := len(b) - 4
		if n < 0 {
			return nil, errors.New("no room for a checksum")
		}
		rest, stored := b[:n:n], b[n:]
		if start {
			stored, rest = b[:4], b[4:]
		}
		if got, want := sum(rest), binary.LittleEndian.Uint32(stored); got != want {
			return nil, fail(ErrFormat, "%s: the checksum is %08x, the bytes give %08x: they were changed", name, want, got)
		}
		return rest, nil
	}, grow: func(n int) int { return plus(n, 4) }}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)
