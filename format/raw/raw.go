// Package raw reads files that hold only elements: no header, every element in
// little-endian byte order. The caller gives the element type and the layout.
// WriteFile writes such files, row-major.
//
// The layout may be any, such as layout.RowMajor(2, 3), or one with gaps. Its offsets
// must begin at 0 and end with the file, so that a wrong type or shape is an error if
// it changes the size.
package raw

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// The reasons for which a file or a call is refused, for errors.Is: an error is a [format.Error]. Errors of the
// file system or the source are wrapped unchanged. A type that no tensor holds is format.ErrType.
var (
	ErrSize   = errors.New("another size")        // the file has more or fewer bytes than the layout
	ErrLayout = errors.New("not a file's layout") // offsets below 0, or more bytes than an int counts
)

// MaxRank is the largest number of extents that a layout may have, with the extents
// of nested modes.
const MaxRank = 64

func fail(path string, err error, text string, args ...any) error {
	return &format.Error{Format: "raw", Path: path, Offset: -1, Text: fmt.Sprintf(text, args...), Err: err}
}

// size returns the number of bytes of elements of type d at the offsets of lay.
func size(path string, d dtype.DType, lay layout.Layout) (int, error) {
	if d.Size() == 0 {
		return 0, fail(path, format.ErrType, "no tensor holds %v", d)
	}
	if n := lay.Leaves(); n > MaxRank {
		return 0, fail(path, ErrLayout, "a layout of %d extents; the most is %d", n, MaxRank)
	}
	lo, hi := lay.Span()
	if hi < lo {
		return 0, nil
	}
	if lo != 0 {
		return 0, fail(path, ErrLayout, "%v begins at offset %d; the first element of a file is at 0", lay, lo)
	}
	const most = int(^uint(0) >> 1)
	if hi >= most/d.Size() {
		return 0, fail(path, ErrLayout, "%v of %v is larger than the address space", lay, d)
	}
	return (hi + 1) * d.Size(), nil
}

// Open returns the elements of a file. It maps the file. The tensor uses the mapped
// elements, read-only. Open copies them on a big-endian machine, and bools if a byte
// is neither 0 nor 1; such a byte counts as true. An element of 2 or 4 bits takes a
// byte, and bits beyond it are an error that wraps tensor.ErrValue, as packed elements
// have them. tensor.Close releases the mapping. A mapped file must not be truncated while the tensor is in use: an access
// beyond its new end is an error inside tensor.Try, and ends the program outside. A
// pipe, which can't be mapped, is read.
//
// With indices Open returns the part that they select, as [tensor.Slice] does. It
// reads no other elements, even if it copies. An index that doesn't fit gives the
// error of tensor.Slice.
func Open(path string, d dtype.DType, lay layout.Layout, idx ...tensor.Index) (tensor.Any, error) {
	want, err := size(path, d, lay)
	if err != nil {
		return tensor.Any{}, err
	}
	buf, err := mem.Map(path)
	if errors.Is(err, mem.ErrNotFile) {
		f, err := os.Open(path)
		if err != nil {
			return tensor.Any{}, fail(path, err, "%v", disk.Bare(err))
		}
		defer f.Close()
		a, err := read(path, f, d, lay, want)
		if err != nil {
			return tensor.Any{}, err
		}
		a, err = tensor.Slice(a, idx...)
		return a, formats.Within(path, cmp.Or(formats.WrongIndex("raw", "", err), err))
	}
	if err != nil {
		return tensor.Any{}, fail(path, err, "%v", disk.Bare(err))
	}
	if have := buf.Len(); have != want {
		buf.Close()
		return tensor.Any{}, fail(path, ErrSize, "the file has %d bytes, %v of %v wants %d", have, lay, d, want)
	}
	if err = fits(path, buf, d, lay, idx...); err != nil {
		buf.Close()
		return tensor.Any{}, err
	}
	a, shared, err := disk.SliceBytes(d, buf, 0, lay, conv.BigEndian, idx...)
	if !shared {
		buf.Close()
	}
	if wrong := formats.WrongIndex("raw", "", err); wrong != nil {
		err = formats.Within(path, wrong)
	} else if err != nil {
		err = fail(path, err, "%v", disk.Bare(err))
	}
	return a, err
}

// WriteFile writes the elements of t in row-major order, as [tensor.Encode] does. The
// file appears, or replaces an earlier one, when it is whole; after an error the earlier
// file is unchanged.
func WriteFile(path string, t tensor.Any) error {
	return formats.PutFile(path, func(w io.Writer) error { return tensor.Encode(w, t) })
}

// Read reads elements from r, which must end after them, as Open does. Memory grows with
// the bytes that have arrived, to at most about twice the elements' size.
func Read(r io.Reader, d dtype.DType, lay layout.Layout) (tensor.Any, error) {
	if r == nil {
		return tensor.Any{}, fail("", ErrSize, "the reader is nil")
	}
	want, err := size("", d, lay)
	if err != nil {
		return tensor.Any{}, err
	}
	return read("", r, d, lay, want)
}

func read(path string, r io.Reader, d dtype.DType, lay layout.Layout, want int) (tensor.Any, error) {
	b, err := io.ReadAll(io.LimitReader(r, int64(want)))
	var more [1]byte
	extra := 0
	if err == nil && len(b) == want {
		if extra, err = io.ReadFull(r, more[:]); err == io.EOF {
			err = nil
		}
	}
	switch {
	case err != nil:
		return tensor.Any{}, fail(path, err, "reading: %v", err)
	case len(b) < want:
		return tensor.Any{}, fail(path, ErrSize, "the data ends after %d bytes, %v of %v wants %d", len(b), lay, d, want)
	case extra > 0:
		return tensor.Any{}, fail(path, ErrSize, "more data follows the %d bytes that %v of %v wants", want, lay, d)
	}
	return place(path, mem.Borrow(b, nil), d, lay)
}

// place makes a tensor of the bytes of a file. If they aren't valid elements in the
// machine's byte order, it may change them.
func place(path string, buf *mem.Buffer, d dtype.DType, lay layout.Layout) (tensor.Any, error) {
	if err := fits(path, buf, d, lay); err != nil {
		buf.Close()
		return tensor.Any{}, err
	}
	b := buf.Bytes()
	if conv.BigEndian {
		conv.Reverse(b, conv.Unit(d))
	}
	d.Mend(b) // bools, and bytes between elements
	a, err := tensor.FromBytes(d, buf, 0, lay)
	if err != nil {
		buf.Close()
		return tensor.Any{}, fail(path, err, "%v", err)
	}
	return a, nil
}

// fits returns an error where an element of 2 or 4 bits has bits beyond it.
func fits(path string, buf *mem.Buffer, d dtype.DType, lay layout.Layout, idx ...tensor.Index) error {
	if d.PerByte() == 1 {
		return nil
	}
	bytes, _, err := disk.SliceBytes(dtype.Uint8, buf, 0, lay, false, idx...)
	if err != nil {
		return nil // the elements have the same error
	}
	return tensor.Encode(&fitting{path: path, d: d}, bytes)
}

// A fitting is a writer for elements. It fails at the first byte that is none.
type fitting struct {
	path string
	d    dtype.DType
	n    int // elements before
}

func (f *fitting) Write(b []byte) (int, error) {
	if i := f.d.Misfit(b); i >= 0 {
		return i, fail(f.path, tensor.ErrValue, "element %d is the byte 0x%02x, no %v, which has %d bits in a byte of its own; read packed elements as uint8, and give them to DType.Unpack",
			f.n+i, b[i], f.d, f.d.Bits())
	}
	f.n += len(b)
	return len(b), nil
}
