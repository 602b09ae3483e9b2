package pytorch

import (
	"errors"
	"fmt"
)

// The reasons a file or a call can be refused, for errors.Is. An error of the file system is wrapped as it is.
var (
	ErrFormat = errors.New("not a valid file")         // the bytes break the format
	ErrShort  = errors.New("file too short")           // the file ends before its pickle or its elements do
	ErrType   = errors.New("unsupported element type") // a type, or a kind of tensor, that no tensor of this program holds
	ErrLimit  = errors.New("over a limit")             // more than is accepted
	ErrName   = errors.New("bad name")                 // no tensor of this name, or two of one
)

// Error has the place in a file, the fault and the way out. Unwrap gives one of the reasons above, or the error of the
// file system.
type Error struct {
	Path   string // the file; "" where there is none
	Name   string // the tensor; "" where the error is about the file
	Offset int64  // the byte of the file that Text is about; -1 if it is about the whole
	Text   string
	Err    error
}

func (e *Error) Error() string {
	s := "pytorch: "
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
