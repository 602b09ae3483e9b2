package zarr

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/ashlar-go/ashlar/format"
)

// inflate reads at most most bytes, into dst if it has room. It allocates memory as the
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
					return nil, fail(format.ErrLimit, "more than the %d bytes that it has come out of %d", most, compressed)
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

// decoder decodes no more bytes than the capacity of dst.
var decoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderConcurrency(0))
})

var (
	encoderMu sync.Mutex
	encoders  = make(map[zstdKind]*zstd.Encoder)
)

type zstdKind struct {
	level    zstd.EncoderLevel
	checksum bool
}

func encoder(k zstdKind) (*zstd.Encoder, error) {
	encoderMu.Lock()
	defer encoderMu.Unlock()
	if w := encoders[k]; w != nil {
		return w, nil
	}
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(k.level), zstd.WithEncoderCRC(k.checksum))
	if err == nil {
		encoders[k] = w
	}
	return w, err
}

func unzstd(dst, b []byte, most int) ([]byte, error) {
	d, err := decoder()
	if err != nil {
		return nil, err
	}
	room := min(most, 64<<20+32*len(b))
	var frame zstd.Header
	if frame.Decode(b) == nil && frame.HasFCS && frame.FrameContentSize < uint64(room) { // other frames may follow
		room = max(int(frame.FrameContentSize), 512)
	}
	if cap(dst) < room {
		dst = make([]byte, 0, room)
	}
	for {
		out, err := d.DecodeAll(b, dst[:0:room])
		if err == nil || !errors.Is(err, zstd.ErrDecoderSizeExceeded) {
			return out, err
		}
		if room == most {
			return nil, fail(format.ErrLimit, "zstd: more than the %d bytes that the chunk has come out of %d", most, len(b))
		}
		room = min(most, 4*room)
		dst = make([]byte, 0, room)
	}
}

// A stage maps bytes to bytes. It may use the capacity of dst, which isn't b's. decode
// refuses to make more than most bytes.
type stage struct {
	name   string
	encode func(dst, b []byte) ([]byte, error) // nil: it is read only
	decode func(dst, b []byte, most int) ([]byte, error)
	grow   func(n int) int // the most bytes that encode makes of n; nil: n
	varies bool            // it may make fewer
}
