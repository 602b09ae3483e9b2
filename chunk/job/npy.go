package job

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/format/zarr"
)

// npyChunk is about how many bytes of an npy file are read at once.
const npyChunk = 16 << 20

// npyStore shows an npy file as a Zarr array. A chunk is a range of the file: its last axes are whole, one before them is cut,
// and the others have one element. Nothing is mapped, so that memory holds the bytes that tasks read and no more.
type npyStore struct {
	zarr.Store // of the metadata
	f          *os.File
	h          npy.Header
	shape      []int // in the order of the file, the last axis fastest
	chunks     []int
}

// newNpyStore reads the header. A chunk has about most bytes.
func newNpyStore(ctx context.Context, f *os.File, size int64, most int) (*npyStore, error) {
	h, err := npy.ReadHeader(io.NewSectionReader(f, 0, size), nil)
	if err != nil {
		return nil, err
	}
	if n := int64(h.Bytes()); n > size-int64(h.Offset) {
		return nil, &format.Error{Format: "npy", Offset: size, Text: fmt.Sprintf("its elements are %d bytes, and %d are there", n, size-int64(h.Offset)), Err: format.ErrShort}
	}
	s := &npyStore{Store: zarr.Memory(), f: f, h: h, shape: slices.Clone(h.Shape)}
	var endian binary.ByteOrder = binary.LittleEndian
	if h.BigEndian {
		endian = binary.BigEndian
	}
	m := zarr.Metadata{DType: h.DType, Shape: h.Shape, Codecs: []zarr.Codec{zarr.Bytes(endian)}}
	if h.Fortran {
		slices.Reverse(s.shape)
		order := make([]int, len(s.shape))
		for i := range order {
			order[i] = len(order) - 1 - i
		}
		m.Codecs = slices.Insert(m.Codecs, 0, zarr.Transpose(order...))
	}
	left := most / h.DType.Size()
	s.chunks = make([]int, len(s.shape))
	for i := len(s.shape) - 1; i >= 0; i-- {
		s.chunks[i] = max(1, min(s.shape[i], left))
		left /= s.chunks[i]
	}
	m.Chunks = slices.Clone(s.chunks)
	if h.Fortran {
		slices.Reverse(m.Chunks)
	}
	_, err = zarr.Create(ctx, s.Store, "", m, nil)
	return s, err
}

// chunk returns the range of a chunk's elements, in bytes from the file's first element on, and the bytes of a whole chunk. It is
// false where there is no such chunk.
func (s *npyStore) chunk(key string) (begin, end, whole int64, ok bool) {
	numbers, ok := strings.CutPrefix(key, "c")
	var index []int
	for _, n := range strings.Split(numbers, "/")[1:] {
		i, err := strconv.Atoi(n)
		ok = ok && err == nil
		index = append(index, i)
	}
	if s.h.Fortran {
		slices.Reverse(index)
	}
	if !ok || len(index) != len(s.shape) {
		return 0, 0, 0, false
	}
	size := int64(s.h.DType.Size())
	inside := size
	whole = size
	for i, e := range s.shape {
		first := index[i] * s.chunks[i]
		if index[i] < 0 || first >= e {
			return 0, 0, 0, false
		}
		begin = begin*int64(e) + int64(first)
		inside *= int64(min(s.chunks[i], e-first))
		whole *= int64(s.chunks[i])
	}
	return begin * size, begin*size + inside, whole, true
}

// Open returns the metadata, or a chunk.
func (s *npyStore) Open(ctx context.Context, key string) (*zarr.Value, error) {
	if !strings.HasPrefix(key, "c") {
		b, err := s.Store.Get(ctx, key, math.MaxInt64)
		return zarr.NewValue(bytes.NewReader(b), int64(len(b)), nil), err
	}
	begin, end, whole, ok := s.chunk(key)
	if !ok {
		return nil, &fs.PathError{Op: "get", Path: key, Err: fs.ErrNotExist}
	}
	off := int64(s.h.Offset)
	return zarr.NewValue(&part{s.f, off + begin, off + end, s.h.DType == dtype.Bool}, whole, nil), ctx.Err()
}

// Size returns the bytes of the metadata or of a whole chunk.
func (s *npyStore) Size(ctx context.Context, key string) (int64, error) {
	_, _, whole, ok := s.chunk(key)
	if !ok {
		return s.Store.Size(ctx, key)
	}
	return whole, ctx.Err()
}

// States implements zarr.Stater: one state, the size and time of the file.
func (s *npyStore) States(ctx context.Context, prefix string, f func(key, state string)) error {
	info, err := s.f.Stat()
	if err == nil {
		f(prefix, fmt.Sprint(info.Size(), info.ModTime().UnixNano()))
	}
	return err
}

// A part is a range of a file, and as many zeros behind it as are asked for.
type part struct {
	f          io.ReaderAt
	begin, end int64
	truth      bool // a byte that isn't 0 is 1
}

// ReadAt implements io.ReaderAt.
func (p *part) ReadAt(b []byte, off int64) (int, error) {
	n := max(0, min(int64(len(b)), p.end-p.begin-off))
	if n > 0 {
		if k, err := p.f.ReadAt(b[:n], p.begin+off); int64(k) < n {
			if err == io.EOF {
				err = fmt.Errorf("the file became shorter: %w", io.ErrUnexpectedEOF)
			}
			return k, err
		}
	}
	clear(b[n:])
	if p.truth {
		for i := range b {
			b[i] = min(b[i], 1)
		}
	}
	return len(b), nil
}
