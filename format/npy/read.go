package npy

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/internal/core/ram"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// Options control how a file is read. A nil *Options means the zero value.
type Options struct {
	// As is the element type of raw bytes (V1, |V2, …) if it has their size.
	// Types that the file names stay as they are.
	As dtype.DType
	// MaxBytes limits the bytes of an array's elements; a larger array is an error. If it
	// is 0, only the file's length limits an npy file. An npz entry can inflate to a
	// thousand times its size: its limit is 48 MiB, or 8 times the archive's size if
	// that is more.
	MaxBytes int64
}

func settingsOf(o *Options) Options {
	if o == nil {
		return Options{}
	}
	return *o
}

// within returns an error for an array of more bytes than limit.
func within(h Header, limit int64) error {
	if n := int64(h.Bytes()); n > limit {
		return fail(int64(h.Offset), format.ErrLimit, "shape %s of %v is %d bytes, the most accepted is %d; the option MaxBytes sets that", shapeText(h.Shape), h.DType, n, limit)
	}
	return nil
}

// short returns the error about a file that holds too few bytes for its shape.
func short(h Header, have int64) error {
	return fail(int64(h.Offset)+have, format.ErrShort, "the file holds %d bytes of elements, shape %s of %v wants %d", have, shapeText(h.Shape), h.DType, h.Bytes())
}

// Read reads one array from r: the header and exactly the bytes of its elements,
// so several arrays can follow each other in one stream. Memory grows with the
// bytes that have arrived, to at most twice the elements' size.
func Read(r io.Reader, opts *Options) (tensor.Any, error) {
	s := settingsOf(opts)
	h, err := readHeader(r, s)
	if err != nil {
		return tensor.Any{}, err
	}
	if s.MaxBytes != 0 {
		if err := within(h, s.MaxBytes); err != nil {
			return tensor.Any{}, err
		}
	}
	first := chunk
	if have, ok := remaining(r); ok {
		if have < int64(h.Bytes()) {
			return tensor.Any{}, short(h, have)
		}
		first = h.Bytes()
	}
	return readElements(r, h, first)
}

// remaining returns the number of bytes that r still holds, if r can tell.
func remaining(r io.Reader) (int64, bool) {
	switch r := r.(type) {
	case interface{ Len() int }: // bytes.Reader, bytes.Buffer, strings.Reader
		return int64(r.Len()), true
	case *os.File:
		info, err := r.Stat()
		if err != nil || !info.Mode().IsRegular() {
			return 0, false
		}
		at, err := r.Seek(0, io.SeekCurrent)
		return max(info.Size()-at, 0), err == nil
	}
	return 0, false
}

// chunk is the number of bytes allocated for elements that the source may not have.
const chunk = 1 << 20

// readElements reads the elements that h announces. It allocates first bytes
// and doubles them until the source has delivered all.
func readElements(r io.Reader, h Header, first int) (tensor.Any, error) {
	buf, err := readBytes(r, h, first)
	if err != nil {
		return tensor.Any{}, err
	}
	return finish(buf, h)
}

func readBytes(r io.Reader, h Header, first int) (*mem.Buffer, error) {
	want := h.Bytes()
	size := min(want, first)
	buf, err := mem.AllocDirty(size)
	if err != nil {
		return nil, fail(int64(h.Offset), err, "%d bytes of elements: %v", want, err)
	}
	for got := 0; ; {
		n, err := io.ReadFull(r, buf.Bytes()[got:])
		if got += n; err == io.EOF || err == io.ErrUnexpectedEOF {
			err = short(h, int64(got))
		} else if err != nil {
			err = fail(int64(h.Offset+got), err, "reading elements: %v", err)
		}
		var bigger *mem.Buffer
		if err == nil {
			if got == want {
				return buf, nil
			}
			if size = want; got <= want/2 {
				size = 2 * got
			}
			if bigger, err = mem.AllocDirty(size); err != nil {
				err = fail(int64(h.Offset), err, "%d bytes of elements: %v", want, err)
			}
		}
		if err != nil {
			buf.Close()
			return nil, err
		}
		copy(bigger.Bytes(), buf.Bytes())
		buf.Close()
		buf = bigger
	}
}

// finish makes a tensor of buf, which it owns, with the bytes of the file.
func finish(buf *mem.Buffer, h Header) (tensor.Any, error) {
	b := buf.Bytes()
	if h.BigEndian != conv.BigEndian {
		conv.Reverse(b, conv.Unit(h.DType))
	}
	h.DType.Mend(b) // not every byte is a bool in Go
	lay, err := h.Layout()
	if err == nil {
		var a tensor.Any
		if a, err = tensor.FromBytes(h.DType, buf, 0, lay); err == nil {
			return a, nil
		}
	}
	buf.Close()
	return tensor.Any{}, fail(-1, err, "shape %s: %v", shapeText(h.Shape), err)
}

// Open reads the array in a file. It maps the file. The tensor uses the mapped
// elements, read-only, if they are in the machine's byte order and aligned for
// their type, as in NumPy's own files; otherwise Open copies them. Like NumPy, it
// ignores bytes after the last element. tensor.Close releases the mapping. A
// mapped file must not be truncated while the tensor is in use: an access beyond
// its new end is an error inside tensor.Try, and ends the program outside.
//
// With indices Open returns the part that they select, as [tensor.Slice] does. It
// reads no other elements, even if it copies. An index that doesn't fit gives a
// [format.Error] that wraps the one of tensor.Slice.
func Open(path string, opts *Options, idx ...tensor.Index) (tensor.Any, error) {
	buf, err := mem.Map(path)
	if errors.Is(err, mem.ErrNotFile) { // a pipe can be read, but not mapped
		f, err := os.Open(path)
		if err != nil {
			return tensor.Any{}, formats.Within(path, fail(-1, err, "%v", disk.Bare(err)))
		}
		defer f.Close()
		a, err := Read(f, opts)
		if err == nil {
			a, err = tensor.Slice(a, idx...)
			err = cmp.Or(formats.WrongIndex("npy", "", err), err)
		}
		return a, formats.Within(path, err)
	}
	if err != nil {
		return tensor.Any{}, formats.Within(path, fail(-1, err, "%v", disk.Bare(err)))
	}
	a, shared, err := fromFile(buf, 0, buf.Len(), settingsOf(opts), idx)
	if !shared {
		buf.Close()
	}
	return a, formats.Within(path, err)
}

// fromFile makes a tensor of an npy file, or of the part that idx selects. The file is n
// bytes from off on in the mapping buf. shared tells that the tensor uses buf.
func fromFile(buf *mem.Buffer, off, n int, s Options, idx []tensor.Index) (a tensor.Any, shared bool, err error) {
	var h Header
	err = ram.Guard(func() (err error) {
		h, err = readHeader(bytes.NewReader(buf.Bytes()[off:off+n]), s)
		return err
	})
	if errors.Is(err, mem.ErrShrunk) {
		err = fail(-1, err, "%v", disk.Bare(err))
	}
	if err == nil && s.MaxBytes != 0 {
		err = within(h, s.MaxBytes)
	}
	if err == nil && n-h.Offset < h.Bytes() {
		err = short(h, int64(n-h.Offset))
	}
	if err != nil {
		return tensor.Any{}, false, err
	}
	lay, err := h.Layout()
	if err == nil {
		a, shared, err = disk.SliceBytes(h.DType, buf, off+h.Offset, lay, h.BigEndian != conv.BigEndian, idx...)
	}
	if wrong := formats.WrongIndex("npy", "", err); wrong != nil {
		err = wrong
	} else if err != nil {
		err = fail(-1, err, "shape %s: %v", shapeText(h.Shape), err)
	}
	return a, shared, err
}
