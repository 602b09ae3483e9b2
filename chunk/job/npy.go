package job

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/format/zarr"
)

// npyChunk is about how many bytes of an npy file are read at once.
const npyChunk = 4 << 20

// npyStore shows an npy file as a Zarr array whose chunks are parts of the file. Nothing is mapped, so that memory
// holds what tasks read and no more.
type npyStore struct {
	zarr.Store // of the metadata
	f          *os.File
	h          npy.Header
	shape      []int // in the order of the file, the last axis fastest
	chunks     []int
}

// newNpyStore reads the header. A chunk has about most bytes.
func newNpyStore(ctx context.Context, f *os.File, size int64, most int) (*npyStore, error) {
	h, err := npy.ReadHeader(io.NewSectionReader(f, 0, size))
	if err != nil {
		return nil, err
	}
	if n := int64(h.Bytes()); n > size-int64(h.Offset) {
		return nil, &npy.Error{Offset: size, Text: fmt.Sprintf("its elements are %d bytes, and %d are there", n, size-int64(h.Offset)), Err: npy.ErrShort}
	}
	s := &npyStore{Store: zarr.Memory(), f: f, h: h, shape: slices.Clone(h.Shape)}
	m := zarr.Metadata{DType: h.DType, Shape: h.Shape, Codecs: []zarr.Codec{zarr.Bytes(h.BigEndian)}}
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
	_, err = zarr.Create(ctx, s.Store, "", m)
	return s, err
}

// Get returns the metadata, or reads a chunk. What reaches beyond the array is 0.
func (s *npyStore) Get(ctx context.Context, key string) ([]byte, error) {
	numbers, ok := strings.CutPrefix(key, "c")
	if !ok {
		return s.Store.Get(ctx, key)
	}
	absent := &fs.PathError{Op: "get", Path: key, Err: fs.ErrNotExist}
	var index []int
	for _, n := range strings.Split(numbers, "/")[1:] {
		i, err := strconv.Atoi(n)
		if err != nil {
			return nil, absent
		}
		index = append(index, i)
	}
	if s.h.Fortran {
		slices.Reverse(index)
	}
	if len(index) != len(s.shape) {
		return nil, absent
	}
	size := s.h.DType.Size()
	total, from, to := size, int64(0), make([]int, len(s.shape)) // bytes of the chunk, its first element, its extents within the array
	for i, e := range s.shape {
		begin := index[i] * s.chunks[i]
		if index[i] < 0 || begin >= e {
			return nil, absent
		}
		to[i] = min(s.chunks[i], e-begin)
		total *= s.chunks[i]
	}
	// What lies together in the file: the last axes that are whole, and a part of the one before them.
	inner, run, rows := len(s.shape), size, 1
	for whole := true; inner > 0 && whole; {
		inner--
		run *= to[inner]
		whole = to[inner] == s.shape[inner]
	}
	for _, n := range to[:inner] {
		rows *= n
	}
	for i := range s.shape {
		from = from*int64(s.shape[i]) + int64(index[i]*s.chunks[i])
	}
	b := make([]byte, total)
	at := make([]int, inner)
	for range rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		src, dst := int64(0), 0
		for i := range s.shape {
			k := 0
			if i < inner {
				k = at[i]
			}
			src, dst = src*int64(s.shape[i])+int64(k), dst*s.chunks[i]+k
		}
		if _, err := s.f.ReadAt(b[dst*size:dst*size+run], int64(s.h.Offset)+(from+src)*int64(size)); err != nil {
			if err == io.EOF {
				err = fmt.Errorf("the file became shorter: %w", io.ErrUnexpectedEOF)
			}
			return nil, err
		}
		for i := inner - 1; i >= 0; i-- {
			if at[i]++; at[i] < to[i] {
				break
			}
			at[i] = 0
		}
	}
	if s.h.DType == dtype.Bool { // a byte that isn't 0 is true
		for i := range b {
			b[i] = min(b[i], 1)
		}
	}
	return b, nil
}
