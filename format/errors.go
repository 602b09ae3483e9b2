package format

import (
	"errors"
	"fmt"

	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// The reasons for which several formats refuse a file or a call, for errors.Is. Errors of the source or the destination
// are wrapped unchanged.
var (
	ErrFormat = errors.New("not a valid file")         // the bytes break the format
	ErrShort  = errors.New("file too short")           // the file ends before its header or its elements do
	ErrType   = errors.New("unsupported element type") // a type that no tensor, or no file, holds, or an ambiguous one
	ErrLimit  = errors.New("over a limit")             // more than is accepted; the text says which limit and how to raise it
	ErrName   = errors.New("no such array")            // the file has no array of the name, or can't have it
)

// Error says in which file and where a fault is, its reason, and the way out. Unwrap returns a sentinel error of this package
// or of the format's package, or the error of the source or destination.
type Error struct {
	Format string // the package
	Path   string // the file, archive or archive/entry; "" where the caller gave a reader
	Name   string // the array, or a key; "" where the error is about the file, or Path has it
	Offset int64  // the byte of the file or entry that Text is about; -1 if it is about the whole
	Text   string
	Err    error
}

func (e *Error) Error() string {
	s := e.Format + ": "
	if e.Path != "" {
		s += e.Path + ": "
	}
	if e.Offset >= 0 {
		s += fmt.Sprintf("byte %d: ", e.Offset)
	}
	if e.Name != "" {
		s += fmt.Sprintf("%.100q: ", e.Name)
	}
	return s + e.Text
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// Within adds the name of the file, or the archive, to an Error that was made without it.
func Within(path string, err error) error {
	var e *Error
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
func WrongIndex(format, name string, err error) error {
	var own *tensor.Error
	if !errors.As(err, &own) || own.Op != "tensor.Slice" {
		return nil
	}
	return &Error{Format: format, Name: name, Offset: -1, Text: own.Text, Err: own}
}

// Mapped maps a file into memory and calls open with the mapping, for a format whose errors are Errors. The result of open owns
// the buffer. On an error the buffer is closed.
func Mapped[F any](name, path string, open func(buf *mem.Buffer) (F, error)) (f F, err error) {
	buf, err := mem.Map(path)
	if err != nil {
		return f, &Error{Format: name, Path: path, Offset: -1, Text: Bare(err).Error(), Err: err}
	}
	if f, err = open(buf); err != nil {
		buf.Close()
	}
	return f, Within(path, err)
}

// Guarded calls read, which reads a mapped file. It returns an Error if the file has shrunk.
func Guarded(name string, read func() error) error {
	err := mem.Guard(read)
	if errors.Is(err, mem.ErrShrunk) {
		return &Error{Format: name, Offset: -1, Text: Bare(err).Error(), Err: err}
	}
	return err
}
