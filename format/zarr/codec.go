package zarr

import (
	"bytes"
	"cmp"
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
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// A Codec is an entry of the list of codecs, as the metadata has it.
type Codec struct {
	Name          string         `json:"name"`
	Configuration map[string]any `json:"configuration,omitempty"`
}

// UnmarshalJSON takes also the short form of a codec, its name alone.
func (c *Codec) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &c.Name)
	}
	type plain Codec
	return json.Unmarshal(b, (*plain)(c))
}

// codecList is a list of codecs of a document. A codec that isn't known and needn't be
// understood is left out.
type codecList []Codec

func (l *codecList) UnmarshalJSON(b []byte) error {
	var entries []json.RawMessage
	if err := json.Unmarshal(b, &entries); err != nil || entries == nil {
		return err
	}
	*l = codecList{}
	for _, e := range entries {
		var c Codec
		if err := json.Unmarshal(e, &c); err != nil {
			return err
		}
		if slices.Contains(codecNames, c.Name) || strings.HasPrefix(c.Name, numcodecs) || mustUnderstand(e) {
			*l = append(*l, c)
		}
	}
	return nil
}

// numcodecs begins the names of filters and compressors of version 2.
const numcodecs = "numcodecs."

var codecNames = []string{"transpose", "bytes", "endian", "gzip", "zlib", "zstd", "crc32c", "blosc", "sharding_indexed"}

// Gzip compresses chunks, at a level of 0, not at all, to 9, best.
func Gzip(level int) Codec { return Codec{"gzip", map[string]any{"level": level}} }

// Zstd compresses chunks. The level is one of the reference implementation, -131072 to
// 22, and rounded to one of the four that the encoder here has.
func Zstd(level int) Codec {
	return Codec{"zstd", map[string]any{"level": level, "checksum": false}}
}

// CRC32C adds a checksum of four bytes to each chunk.
func CRC32C() Codec { return Codec{Name: "crc32c"} }

// Transpose stores the axes of a chunk in this order.
func Transpose(order ...int) Codec {
	return Codec{"transpose", map[string]any{"order": order}}
}

// Bytes stores elements in descending byte order if big is set; without it in the list
// they are stored in ascending order.
func Bytes(big bool) Codec {
	order := "little"
	if big {
		order = "big"
	}
	return Codec{"bytes", map[string]any{"endian": order}}
}

// int reads a number of the configuration.
func (c Codec) int(key string, otherwise int) int {
	switch v := c.Configuration[key].(type) {
	case float64:
		return int(v)
	case int:
		return v
	}
	return otherwise
}

func (c Codec) text(key string) string {
	s, _ := c.Configuration[key].(string)
	return s
}

// A stage maps bytes to bytes. It may use the capacity of dst, which isn't b's. decode
// refuses to make more than most bytes.
type stage struct {
	name   string
	encode func(dst, b []byte) ([]byte, error) // nil: it is read only
	decode func(dst, b []byte, most int) ([]byte, error)
}

// A pipeline turns the elements of a chunk into the bytes of a value, and back.
type pipeline struct {
	d       dtype.DType
	shape   []int // of the chunk
	stored  []int // the axes in the order of the bytes; nil: as they are
	big     bool
	stages  []stage // in the order of encoding
	n       int     // bytes of the elements
	most    int     // bytes of a value
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

// slack is how many more bytes a stage may make of incompressible ones.
func slack(n int) int { return min(n, math.MaxInt/2) + min(n, math.MaxInt/2)/4 + 1<<16 }

// mosts returns the largest number of bytes that each stage may decode to, and that of a value.
func (p *pipeline) mosts() (list []int, value int) {
	n := p.n
	for i := range p.stages {
		m := n
		if i > 0 && m < 16*p.n { // a filter may store wider elements
			m = min(16*p.n+1<<16, math.MaxInt/4)
		}
		list = append(list, m)
		n = slack(max(n, m))
	}
	return list, n
}

// decode puts the elements of a chunk, in the machine's byte order, into dst where that
// has room. b is used up.
func (p *pipeline) decode(dst, b []byte) ([]byte, error) {
	most, value := p.mosts()
	if len(b) > value {
		return nil, fail(ErrLimit, "a value of %d bytes for a chunk of %d", len(b), p.n)
	}
	for i := len(p.stages) - 1; i >= 0; i-- {
		s := p.stages[i]
		var to []byte
		if i == 0 && cap(dst) >= p.n {
			to = dst[:0:p.n]
		}
		out, err := s.decode(to, b, most[i])
		if err != nil {
			var e *Error
			if errors.As(err, &e) {
				return nil, err
			}
			return nil, fail(ErrFormat, "%s: %v", s.name, err)
		}
		b = out
	}
	if len(b) != p.n {
		return nil, fail(ErrFormat, "the chunk has %d bytes of elements; %v of %v are %d", len(b), p.shape, p.d, p.n)
	}
	if p.big != conv.BigEndian {
		if unit := conv.Unit(p.d); unit > 1 {
			conv.Reverse(b, unit)
		}
	}
	p.d.Mend(b)
	return b, nil
}

// layout is how the elements of a chunk lie in its bytes.
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

// encode makes the value of a chunk, which lies in w or in t, and reports whether it consists of
// this element alone; then the value is nil.
func (p *pipeline) encode(w *work, t tensor.Any, unless []byte) (b []byte, same bool, err error) {
	if p.stored != nil {
		if t, err = tensor.Permute(t, p.stored...); err != nil {
			return nil, false, err
		}
	}
	swap := p.big != conv.BigEndian && conv.Unit(p.d) > 1
	b, direct := tensor.Bytes(t)
	if !direct || swap {
		if cap(w.plain) < p.n {
			w.plain = mem.Make(p.n)
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
	for i, s := range p.stages {
		if s.encode == nil {
			return nil, false, fail(ErrCodec, "the codec %s is read and not written", s.name)
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

// gather copies the elements of t to b.
func (p *pipeline) gather(b []byte, t tensor.Any) error {
	lay, err := layout.RowMajor(t.Shape()...)
	if err != nil {
		return err
	}
	p.d.Mend(b) // what was there before
	own, err := tensorOver(b, p.d, lay)
	if err != nil {
		return err
	}
	return tensor.Copy(own, t)
}

// newPipeline reads a list of codecs without sharding.
func newPipeline(codecs []Codec, d dtype.DType, shape []int) (*pipeline, error) {
	p := &pipeline{d: d, shape: shape}
	var err error
	if p.n, err = bytesOf(d, shape); err != nil {
		return nil, err
	}
	serialized := false
	for _, c := range codecs {
		switch c.Name {
		case "transpose":
			order, ok := orderOf(c.Configuration["order"], len(shape))
			if !ok || serialized {
				return nil, fail(ErrFormat, "transpose: its order is no permutation of %d axes, or it comes after bytes", len(shape))
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
		case "bytes", "endian":
			if serialized {
				return nil, fail(ErrFormat, "the codec bytes stands twice in the list, or after one of bytes")
			}
			switch e := c.text("endian"); {
			case e == "big":
				p.big = true
			case e != "little" && (e != "" || d.Size() > 1):
				return nil, fail(ErrFormat, "bytes: endian is %.20q; it is little or big", e)
			}
			serialized = true
			continue
		}
		var s stage
		if id, ok := strings.CutPrefix(c.Name, numcodecs); ok {
			s, err = filterOf(id, c, d, p.big)
		} else {
			s, err = stageOf(c, d)
		}
		if err != nil {
			return nil, err
		}
		p.stages = append(p.stages, s)
		serialized = true
	}
	_, p.most = p.mosts()
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
	case string: // of early drafts
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
func stageOf(c Codec, d dtype.DType) (stage, error) {
	switch c.Name {
	case "gzip":
		level := c.int("level", 6)
		if level < 0 || level > 9 {
			return stage{}, fail(ErrFormat, "gzip: level %d; it is 0 to 9", level)
		}
		var writers sync.Pool
		return stage{"gzip", func(dst, b []byte) ([]byte, error) {
			return deflate(&writers, dst, b, func(w io.Writer) (resetter, error) { return gzip.NewWriterLevel(w, level) })
		}, ungzip}, nil
	case "zlib":
		level := c.int("level", 1)
		if level < -1 || level > 9 {
			return stage{}, fail(ErrFormat, "zlib: level %d; it is -1 to 9", level)
		}
		var writers sync.Pool
		return stage{"zlib", func(dst, b []byte) ([]byte, error) {
			return deflate(&writers, dst, b, func(w io.Writer) (resetter, error) { return zlib.NewWriterLevel(w, level) })
		}, unzlib}, nil
	case "zstd":
		level := zstd.EncoderLevelFromZstd(c.int("level", 3))
		return stage{"zstd", func(dst, b []byte) ([]byte, error) {
			w, err := encoder(level)
			if err != nil {
				return nil, err
			}
			return w.EncodeAll(b, dst), nil
		}, unzstd}, nil
	case "crc32c":
		return stage{"crc32c", func(dst, b []byte) ([]byte, error) {
			return binary.LittleEndian.AppendUint32(append(dst, b...), crc32.Checksum(b, castagnoli)), nil
		}, func(_, b []byte, _ int) ([]byte, error) {
			n := len(b) - 4
			if n < 0 {
				return nil, errors.New("no room for a checksum")
			}
			if got, want := crc32.Checksum(b[:n], castagnoli), binary.LittleEndian.Uint32(b[n:]); got != want {
				return nil, fail(ErrFormat, "crc32c: the checksum is %08x, the bytes give %08x: they were changed", want, got)
			}
			return b[:n:n], nil
		}}, nil
	case "blosc":
		return stage{name: "blosc", decode: unblosc}, nil
	case "sharding_indexed":
		return stage{}, fail(ErrCodec, "sharding_indexed is read and written as the only codec of a chunk, not inside or beside others")
	}
	return stage{}, fail(ErrCodec, "the codec %.100q isn't known here; transpose, bytes, gzip, zstd, crc32c, blosc and sharding_indexed are", c.Name)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// inflate reads at most most bytes, into dst where that has room. It takes memory as the
// bytes come.
func inflate(r io.Reader, dst []byte, compressed, most int) ([]byte, error) {
	out := dst[:0:min(cap(dst), most)]
	if cap(out) == 0 {
		out = make([]byte, 0, min(most, 8*compressed+512))
	}
	for {
		if len(out) == cap(out) {
			if len(out) == most {
				var one [1]byte
				n, err := r.Read(one[:])
				for n == 0 && err == nil {
					n, err = r.Read(one[:])
				}
				if n > 0 {
					return nil, fail(ErrLimit, "more than the %d bytes that the chunk has come out of %d", most, compressed)
				}
				if err == io.EOF {
					err = nil
				}
				return out, err
			}
			bigger := make([]byte, len(out), min(most, 2*cap(out)+512))
			copy(bigger, out)
			out = bigger
		}
		n, err := r.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// A resetter is a writer that compresses.
type resetter interface {
	io.WriteCloser
	Reset(w io.Writer)
}

// deflate appends b to dst, compressed by a writer of a pool.
func deflate(pool *sync.Pool, dst, b []byte, make func(io.Writer) (resetter, error)) ([]byte, error) {
	out := bytes.NewBuffer(dst)
	w, ok := pool.Get().(resetter)
	if ok {
		w.Reset(out)
	} else {
		var err error
		if w, err = make(out); err != nil {
			return nil, err
		}
	}
	_, err := w.Write(b)
	err = cmp.Or(err, w.Close())
	pool.Put(w)
	return out.Bytes(), err
}

var gunzippers, unzlibbers sync.Pool

func ungzip(dst, b []byte, most int) ([]byte, error) {
	r, ok := gunzippers.Get().(*gzip.Reader)
	if !ok {
		r = new(gzip.Reader)
	}
	defer gunzippers.Put(r)
	if err := r.Reset(bytes.NewReader(b)); err != nil {
		return nil, unexpected(err)
	}
	return inflate(r, dst, len(b), most)
}

func unzlib(dst, b []byte, most int) ([]byte, error) {
	r, ok := unzlibbers.Get().(io.ReadCloser)
	var err error
	if ok {
		err = r.(zlib.Resetter).Reset(bytes.NewReader(b), nil)
	} else {
		r, err = zlib.NewReader(bytes.NewReader(b))
	}
	if err != nil {
		return nil, unexpected(err)
	}
	defer unzlibbers.Put(r)
	return inflate(r, dst, len(b), most)
}

// decoder decodes within the capacity of what it is given.
var decoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderConcurrency(0))
})

var (
	encoderMu sync.Mutex
	encoders  = make(map[zstd.EncoderLevel]*zstd.Encoder)
)

func encoder(level zstd.EncoderLevel) (*zstd.Encoder, error) {
	encoderMu.Lock()
	defer encoderMu.Unlock()
	if w := encoders[level]; w != nil {
		return w, nil
	}
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderCRC(false))
	if err == nil {
		encoders[level] = w
	}
	return w, err
}

func unzstd(dst, b []byte, most int) ([]byte, error) {
	d, err := decoder()
	if err != nil {
		return nil, err
	}
	room := min(most, 64<<20+32*len(b))
	if cap(dst) < room {
		dst = make([]byte, 0, room)
	}
	for {
		out, err := d.DecodeAll(b, dst[:0:room])
		if err == nil || !errors.Is(err, zstd.ErrDecoderSizeExceeded) {
			return out, err
		}
		if room == most {
			return nil, fail(ErrLimit, "zstd: more than the %d bytes that the chunk has come out of %d", most, len(b))
		}
		room = min(most, 4*room)
		dst = make([]byte, 0, room)
	}
}
