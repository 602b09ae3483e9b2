// Package formats has what the readers and writers of the formats share: files of one array, sources as bytes, and errors that
// name the file and the array.
package formats

import (
	"cmp"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/internal/core/ram"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// Within adds the name of the file, or the archive, to an Error that was made without it.
func Within(path string, err error) error {
	var e *format.Error
	if !errors.As(err, &e) { // also nil
		return err
	}
	named := *e
	if named.Path != "" {
		path += "/" + named.Path
	}
	named.Path = path
	return &named
}

// WrongIndex returns the error of an index that doesn't fit the array name, if err is one of [tensor.Slice]; else nil.
func WrongIndex(by, name string, err error) error {
	var own *tensor.Error
	if !errors.As(err, &own) || own.Op != "tensor.Slice" {
		return nil
	}
	return &format.Error{Format: by, Name: name, Offset: -1, Text: own.Text, Err: own}
}

// Mapped maps a file into memory and calls open with the mapping, for a format whose errors are Errors. The result of open owns
// the buffer. On an error the buffer is closed.
func Mapped[F any](name, path string, open func(buf *mem.Buffer) (F, error)) (f F, err error) {
	buf, err := mem.Map(path)
	if err != nil {
		return f, &format.Error{Format: name, Path: path, Offset: -1, Text: disk.Bare(err).Error(), Err: err}
	}
	if f, err = open(buf); err != nil {
		buf.Close()
	}
	return f, Within(path, err)
}

// Guarded calls read, which reads a mapped file. It returns an Error if the file has shrunk.
func Guarded(name string, read func() error) error {
	err := ram.Guard(read)
	if errors.Is(err, mem.ErrShrunk) {
		return &format.Error{Format: name, Offset: -1, Text: disk.Bare(err).Error(), Err: err}
	}
	return err
}

// Read calls f with a reader of the source's bytes from the first. It names the file in an error.
func Read[T any](s *format.Source, f func(io.Reader) (T, error)) (t T, err error) {
	r, err := s.Reader()
	if err != nil {
		return t, err
	}
	defer r.Close()
	t, err = f(r)
	return t, disk.In(s.Path, err)
}

// All reads the whole source, and notes its size.
func All(s *format.Source) ([]byte, error) {
	b, err := Read(s, func(r io.Reader) ([]byte, error) {
		b, err := io.ReadAll(r)
		return b, disk.Bare(err)
	})
	s.Size = int64(len(b))
	return b, err
}

// Apart returns the names of arrays and their tensors. An array without a name gets the name "array".
func Apart(arrays []format.Array) (names []string, ts []tensor.Any) {
	for _, a := range arrays {
		names, ts = append(names, cmp.Or(a.Name, "array")), append(ts, a.Tensor)
	}
	return names, ts
}

// PutFile makes a file of the bytes that put writes, as [disk.Atomic.File] does, and names the file in an error.
func PutFile(path string, put func(io.Writer) error) error {
	err := disk.Atomic{}.File(path, put)
	if named := Within(path, err); named != err {
		return named
	}
	return disk.In(path, disk.Bare(err))
}

// Typed writes an element type and a shape: float32[2,3].
func Typed(elem string, shape []int) string { return format.Info{Type: elem, Shape: shape}.String() }

// Bytes returns the bytes that the elements of a shape take, at most the largest int64.
func Bytes(d dtype.DType, shape ...int) int64 {
	if slices.Contains(shape, 0) {
		return 0
	}
	size := int64(d.Size())
	for _, n := range shape {
		if size > math.MaxInt64/int64(n) {
			return math.MaxInt64
		}
		size *= int64(n)
	}
	return size
}

// One is a file of one array, read by functions. Header is nil if the file describes its elements nowhere.
type One struct {
	Header func() (about string, i format.Info, err error)
	Read   func() (tensor.Any, error)                   // reads the whole array
	Part   func(idx []layout.Index) (tensor.Any, error) // reads a part, or all; nil: Read is used
	about  string
}

// About returns the kind of file, once Info has read it.
func (o *One) About() string { return o.about }

// Names returns nil: the array has no name.
func (o *One) Names() []string { return nil }

// Close does nothing.
func (o *One) Close() error { return nil }

// Info describes the array.
func (o *One) Info(string) (i format.Info, err error) {
	if o.Header == nil {
		return i, format.ErrNoHeader
	}
	o.about, i, err = o.Header()
	return i, err
}

// Tensor reads the array, or the part that idx selects.
func (o *One) Tensor(_ string, idx ...layout.Index) (tensor.Any, error) {
	if o.Part != nil {
		return o.Part(idx)
	}
	t, err := o.Read()
	if err != nil {
		return tensor.Any{}, err
	}
	return tensor.Slice(t, idx...)
}
