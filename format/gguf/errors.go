package gguf

import (
	"errors"
	"fmt"
)

// The reasons a file or a call can be refused, for errors.Is. An error of the file system or of the destination is wrapped as
// it is.
var (
	ErrFormat  = errors.New("not a valid file")         // the bytes break the format
	ErrShort   = errors.New("file too short")           // the file ends before its header or its elements do
	ErrVersion = errors.New("unsupported version")      // version 1, an unknown one, or the other byte order
	ErrType    = errors.New("unsupported element type") // a type that no tensor, or no file, holds
	ErrLimit   = errors.New("over a limit")             // more keys, tensors or axes than are accepted
	ErrName    = errors.New("bad name")                 // no tensor or key of this name, or one that can't be written
)

// Error says where in which file, what was found and what to do. Unwrap gives one of the sentinels above, or the error of the
// file system or destination.
type Error struct {
	Path   string // the file; "" where there is none
	Name   string // the tensor or the key; "" where the error is about the file
	Offset int64  // the byte of the file that Text is about; -1 if it is about the whole
	Text   string
	Err    error
}

func (e *Error) Error() string {
	s := "gguf: "
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

func fail(at int64, name string, err error, format string, args ...any) *Error {
	return &Error{Name: name, Offset: at, Text: fmt.Sprintf(format, args...), Err: err}
}

// in names the file of an error that was made without knowing it.
func in(path string, err error) error {
	var e *Error
	if errors.As(err, &e) && e.Path == "" {
		named := *e
		named.Path = path
		return &named
	}
	return err
}
