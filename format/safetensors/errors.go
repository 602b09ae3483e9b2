package safetensors

import (
	"errors"
	"fmt"
)

// The reasons a file or a call can be refused, for errors.Is. An error of the
// file system or of the destination is wrapped as it is.
var (
	ErrFormat = errors.New("not a valid file")         // the bytes break the format
	ErrShort  = errors.New("file too short")           // the file ends before its header or its elements do
	ErrType   = errors.New("unsupported element type") // a type that no tensor, or no file, holds
	ErrLimit  = errors.New("over a limit")             // a header or a rank larger than is accepted
	ErrName   = errors.New("bad name")                 // no tensor of this name, or a name that can't be written
)

// Error says where in which file, what was found and what to do. Unwrap gives
// one of the sentinels above, or the error of the file system or destination.
type Error struct {
	Path   string // the file; "" where there is none
	Name   string // the tensor; "" where the error is about the file
	Offset int64  // the byte of the file that Text is about; -1 if it is about the whole
	Text   string
	Err    error
}

func (e *Error) Error() string {
	s := "safetensors: "
	if e.Path != "" {
		s += e.Path + ": "
	}
	if e.Offset >= 0 {
		s += fmt.Sprintf("byte %d: ", e.Offset)
	}
	if e.Name != "" {
		s += fmt.Sprintf("tensor %.100q: ", e.Name)
	}
	return s + e.Text
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

func fail(at int64, name string, err error, format string, args ...any) *Error {
	return &Error{Name: name, Offset: at, Text: fmt.Sprintf(format, args...), Err: err}
}

// in names the file of an error that was made without knowing it.
func in(path string, err error) error {
	var e *Error
	if errors.As(err, &e) {
		named := *e
		named.Path = path
		return &named
	}
	return err
}
