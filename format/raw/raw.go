// Package raw reads files that hold elements and nothing else: no header, every
// element in ascending byte order (little-endian). The caller says what the
// elements are and how they lie; WriteFile writes such files, row-major.
//
// A layout says how they lie: layout.RowMajor(2, 3), layout.ColMajor(2, 3), or any
// other, with gaps too. Its offsets must begin at 0 and end with the file, so that
// a wrong type or shape is an error wherever it changes the size.
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
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// The reasons a file or a call can be refused, for errors.Is. An error of the file
// system or the source is wrapped as it is.
var (
	ErrSize   = errors.New("another size")        // the file has more or fewer bytes than the layout
	ErrLayout = errors.New("not a file's layout") // offsets below 0, or more bytes than an int counts
	ErrType   = format.ErrType
)

// MaxRank is the largest number of extents, those of nested modes counted, that a
// layout may have.
const MaxRank = 64

// Error is an error of this package: its place, its reason and the way out.
type Error = format.Error

func fail(path string, err error, text string, args ...any) error {
	return &Error{Format: "raw", Path: path, Offset: -1, Text: fmt.Sprintf(text, args...), Err: err}
}

// size returns how many bytes elements of type d at the offsets of lay have.
func size(path string, d dtype.DType, lay layout.Layout) (int, error) {
	if d.Size() == 0 {
		return 0, fail(path, ErrType, "no tensor holds %v", d)
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

// Open returns the elements of a file. The file is mapped and they are used where
// they lie, read-only; they are copied on a big-endian machine, and where a bool is
// a byte other than 0 and 1, which counts as true, or a byte is beyond a type of 2 or 4
// bits, whose elements are a byte each here, too, and the low bits count. tensor.Close gives the mapping
// back. A mapped file must not be truncated while the tensor is in use: an access
// beyond its new end is an error inside tensor.Try, and ends the program outside.
// What can't be mapped, a pipe, is read.
//
// With indices it gives the part that they select, as [tensor.Slice] does. No other
// elements are read, also where they are copied. An index that doesn't fit gives
// the error of tensor.Slice.
func Open(path string, d dtype.DType, lay layout.Layout, idx ...tensor.Index) (tensor.Any, error) {
	want, err := size(path, d, lay)
	if err != nil {
		return tensor.Any{}, err
	}
	buf, err := mem.Map(path)
	if errors.Is(err, mem.ErrNotFile) {
		f, err := os.Open(path)
		if err != nil {
			return tensor.Any{}, fail(path, err, "%v", format.Bare(err))
		}
		defer f.Close()
		a, err := read(path, f, d, lay, want)
		if err != nil {
			return tensor.Any{}, err
		}
		a, err = tensor.Slice(a, idx...)
		return a, format.Within(path, cmp.Or(format.WrongIndex("raw", "", err), err))
	}
	if err != nil {
		return tensor.Any{}, fail(path, err, "%v", format.Bare(err))
	}
	if have := buf.Len(); have != want {
		buf.Close()
		return tensor.Any{}, fail(path, ErrSize, "the file has %d bytes, %v of %v wants %d", have, lay, d, want)
	}
	a, shared, err := tensor.SliceBytes(d, buf, 0, lay, conv.BigEndian, idx...)
	if !shared {
		buf.Close()
	}
	if wrong := format.WrongIndex("raw", "", err); wrong != nil {
		err = format.Within(path, wrong)
	} else if err != nil {
		err = fail(path, err, "%v", format.Bare(err))
	}
	return a, err
}

// WriteFile writes the elements of t in row-major order, as [tensor.Encode] does. The
// file appears, or takes the place of an earlier one, when it is whole: after an error
// the earlier one is as it was.
func WriteFile(path string, t tensor.Any) error {
	return format.PutFile(path, func(w io.Writer) error { return tensor.Encode(w, t) })
}

// Read reads elements from r, which must end after them. Memory grows with what
// has arrived, to at most about twice the elements while they are read.
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

// place makes a tensor of bytes as they stood in the file, which it may change
// unless they are in order already.
func place(path string, buf *mem.Buffer, d dtype.DType, lay layout.Layout) (tensor.Any, error) {
	b := buf.Bytes()
	if conv.BigEndian {
		conv.Reverse(b, conv.Unit(d))
	}
	if d.Misfit(b) >= 0 {
		d.Mend(b)
	}
	a, err := tensor.FromBytes(d, buf, 0, lay)
	if err != nil {
		buf.Close()
		return tensor.Any{}, fail(path, err, "%v", err)
	}
	return a, nil
}
