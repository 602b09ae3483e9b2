package zarr

import (
	"math"
	"math/bits"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/tensor"
)

// Array is an array of a store, opened by its metadata. Its methods may be called
// concurrently. Two Arrays of one path don't know of each other: while Write changes a
// part of a chunk through one of them, nobody else may write that chunk; see Lock.
type Array struct {
	store   Store
	path    string
	meta    Metadata
	fill    tensor.Any
	pipe    *pipeline               // of a chunk, or of an inner chunk
	shard   *sharding               // nil: chunks are not shards
	view    bool                    // elements are computed from the stored elements
	cf      *cf                     // decodes by the CF conventions; nil: elements aren't decoded so
	writing func() *[256]sync.Mutex // by a hash of the key: a chunk that is read and written again
	set     Options
}

// Options control how an array is read. A nil *Options means the zero value.
type Options struct {
	// Workers limits the number of chunks that are read or written at once; 0 means the number
	// of processors. A worker takes the memory of two chunks, or of two inner chunks of a shard.
	// It takes one more for each level of shards beyond the first, and Ahead. When it writes, it
	// also takes the memory of a chunk or shard, and of a second one if it changes only a part.
	Workers int
	// MaxBytes limits the bytes of the elements of a chunk, of a shard and of the result of
	// Slice, and of the texts that Strings returns. If it is 0, a chunk has at most 2 GiB. A shard
	// that is read whole may have, beside its chunks, as many unused bytes as these, and 1 MiB for
	// each inner chunk.
	MaxBytes int64
	// Unfinished opens an array also while it isn't finished: chunks that aren't written yet are the fill value.
	Unfinished bool
	// Whole is for an array of which every chunk was written: to read an absent chunk is an error that wraps ErrAbsent, and
	// doesn't give the fill value. Inner chunks may be absent from a shard that is there.
	Whole bool
	// CF decodes numbers by the attributes of the CF conventions: scale_factor and add_offset, _FillValue and missing_value, units of
	// time, and _Unsigned of netCDF. An array that is opened so is read only.
	//
	//   - Integers become float64; float16, bfloat16 and float32 become float32. The result is the number times the factor plus the
	//     offset, computed in float64. Missing values become NaN. In version 2 the fill value is a missing value if xarray or
	//     kerchunk wrote the array, which the attribute _ARRAY_DIMENSIONS shows. It then stands in place of _FillValue, as in xarray.
	//     A missing value that no element can have is ignored. An integer that float64 can't represent is an error, unless it is scaled.
	//   - Numbers of days, hours, minutes, seconds or less since a date become datetime64: int64 with a unit in Metadata.Type. For
	//     integers the unit is the second, or the stored unit if that is smaller. For floats it is the nanosecond, or the microsecond
	//     if the date is far from 1970. Missing values become NaT. A time beyond int64 is an error. A fill value that is no such time or
	//     number is a missing value.
	//   - Integers with the attribute dtype "bool", as xarray writes truth values, become bool: false is 0.
	//   - The calendars are standard, gregorian and proleptic_gregorian. Numbers of another calendar, of months and of years stay as they are.
	//
	// Structs, strings and arrays without these attributes stay as they are. The rules: cfconventions.org, chapters 2.5, 4.4 and 8.1;
	// the attribute _Unsigned: docs.unidata.ucar.edu, NetCDF Users Guide, Attribute Conventions.
	CF bool
}

func settingsOf(o *Options) (s Options) {
	if o != nil {
		s = *o
	}
	if s.Workers <= 0 {
		s.Workers = runtime.GOMAXPROCS(0)
	}
	return s
}

// bytesOf returns the size of a shape in bytes.
func bytesOf(d dtype.DType, shape []int) (int, error) {
	n := uint(d.Size())
	if slices.Contains(shape, 0) {
		return 0, nil
	}
	for _, e := range shape {
		hi, lo := bits.Mul(n, uint(e))
		if hi != 0 || lo > 1<<(strconv.IntSize-1)-1 {
			return 0, fail(format.ErrLimit, "shape %v of %v is larger than the address space", shape, d)
		}
		n = lo
	}
	return int(n), nil
}

// newArray checks metadata and makes an array of it.
func newArray(store Store, path string, m Metadata, o *Options) (*Array, error) {
	set := settingsOf(o)
	e := element{d: m.DType, stored: m.DType, chars: m.chars, varies: m.varies()}
	if m.view != nil {
		e = *m.view
	}
	var c *cf
	if set.CF && m.Type == "" && m.view == nil {
		var err error
		if c, err = cfOf(&m, &e); err != nil {
			return nil, err
		}
	}
	most := set.MaxBytes
	if most == 0 {
		most = 1 << 31
	}
	e.limit = int(min(most, math.MaxInt))
	a := &Array{store: store, path: strings.Trim(path, "/"), meta: m, view: e.field != nil || c != nil || m.varies(), cf: c, set: set}
	a.writing = sync.OnceValue(func() *[256]sync.Mutex { return new([256]sync.Mutex) })
	if n, err := bytesOf(m.DType, m.Chunks); err != nil {
		return nil, err
	} else if int64(n) > most {
		return nil, fail(format.ErrLimit, "a chunk of %v %v has %d bytes; the most accepted is %d, which the option MaxBytes sets", m.Chunks, m.DType, n, most)
	}
	var err error
	a.fill = m.Fill
	if a.fill.IsZero() {
		if a.fill, err = tensor.Make(m.DType); err != nil {
			return nil, err
		}
	}
	if a.fill.DType() != m.DType || a.fill.Len() != max(m.chars, 1) {
		return nil, fail(format.ErrType, "the fill value is %s; it must be one element of %v", tensor.Describe(a.fill), m.DType)
	}
	if m.chars == 0 {
		if a.fill, err = tensor.Reshape(a.fill); err != nil {
			return nil, err
		}
	}
	a.meta.Fill = a.fill
	if m.Inner == nil {
		a.pipe, err = newPipeline(m.Codecs, e, m.Chunks, a.fill, 0)
		return a, err
	}
	if a.shard, err = newSharding(e, m.Chunks, a.fill, shardCodec{m.Inner, m.Codecs, m.indexCodecs(), m.IndexAtStart}, 1); err != nil {
		return nil, within("sharding_indexed", err)
	}
	a.pipe = a.shard.inner
	return a, nil
}

// Metadata returns the metadata. The caller must not change it.
func (a *Array) Metadata() Metadata { return a.meta }

// Shape returns the extents.
func (a *Array) Shape() []int { return slices.Clone(a.meta.Shape) }

// DType returns the element type.
func (a *Array) DType() dtype.DType { return a.meta.DType }

// Chunks returns the shape of a chunk, the unit of writing, also if it is a shard. The
// chunks at the end of an axis may reach beyond the array.
func (a *Array) Chunks() []int { return slices.Clone(a.meta.Chunks) }

// Inner returns the shape of the unit of reading: of an inner chunk of shards, else of a chunk.
func (a *Array) Inner() []int { return slices.Clone(a.pipe.shape) }

// FillValue returns the element that absent chunks consist of, a tensor of rank 0, or of rank 1 if Metadata.Type adds an axis.
func (a *Array) FillValue() tensor.Any { return a.fill }

// Attributes returns the user's attributes, as encoding/json reads them.
func (a *Array) Attributes() map[string]any { return a.meta.Attributes }

// Grid returns the number of chunks along each axis.
func (a *Array) Grid() []int {
	grid := make([]int, len(a.meta.Shape))
	for i, n := range a.meta.Shape {
		grid[i] = ceil(n, a.meta.Chunks[i])
	}
	return grid
}

func ceil(n, by int) int {
	if n == 0 {
		return 0
	}
	return (n-1)/by + 1
}

// ChunkKey returns the key of a chunk in the store.
func (a *Array) ChunkKey(index ...int) string {
	if axes := len(a.meta.Shape) - 1; a.meta.chars > 0 && len(index) > axes {
		index = index[:axes]
	}
	parts := make([]string, len(index))
	for i, n := range index {
		parts[i] = strconv.Itoa(n)
	}
	m := &a.meta
	key := strings.Join(parts, m.Separator)
	switch {
	case m.Version == 3 && !m.V2Keys && len(index) == 0:
		key = "c"
	case m.Version == 3 && !m.V2Keys:
		key = "c" + m.Separator + key
	case len(index) == 0:
		key = "0"
	}
	return path.Join(a.path, key)
}

// box returns the origin of a chunk and the shape of its part within the array.
func (a *Array) box(chunk, index []int) (from, shape []int, err error) {
	m := &a.meta
	if len(index) != len(m.Shape) {
		return nil, nil, fail(ErrShape, "a chunk has %d indices, the array has %d axes", len(index), len(m.Shape))
	}
	from, shape = make([]int, len(index)), make([]int, len(index))
	for i, k := range index {
		if k < 0 || k >= ceil(m.Shape[i], chunk[i]) {
			return nil, nil, fail(ErrShape, "the chunk %v is outside the %v there are", index, a.Grid())
		}
		from[i] = k * chunk[i]
		shape[i] = min(chunk[i], m.Shape[i]-from[i])
	}
	return from, shape, nil
}

// nested reports whether the layout of t is nested, so that a part of t may be no view.
func nested(t tensor.Any) bool {
	lay := t.Layout()
	return !lay.Flat()
}

// straight returns t, or a row-major copy if t is nested.
func straight(t tensor.Any) (tensor.Any, error) {
	if !nested(t) {
		return t, nil
	}
	c, err := tensor.Make(t.DType(), t.Shape()...)
	if err == nil {
		err = tensor.Copy(c, t)
	}
	return c, err
}

// cut returns the part of t that begins at the origin.
func cut(t tensor.Any, shape []int) (tensor.Any, error) {
	return window(t, make([]int, len(shape)), shape)
}

func window(t tensor.Any, from, shape []int) (tensor.Any, error) {
	idx := make([]tensor.Index, len(shape))
	for i, n := range shape {
		idx[i] = tensor.R(from[i], from[i]+n)
	}
	return tensor.Slice(t, idx...)
}
