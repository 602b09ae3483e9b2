package npy

import (
	"errors"
	"fmt"
)

// The reasons a file can be refused, for errors.Is. An error of the source or
// the destination itself is wrapped as it is.
var (
	ErrFormat = errors.New("not a valid file")         // the bytes break the format
	ErrType   = errors.New("unsupported element type") // an element type without a counterpart, or an ambiguous one
	ErrShort  = errors.New("file too short")           // the file ends before its header or its elements do
	ErrLimit  = errors.New("over a limit")             // more than is accepted; the text says which limit and how to raise it
	ErrName   = errors.New("no such array")            // an npz has no array of this name
)

// Error says where in which file, what was found and what to do. Unwrap gives
// one of the sentinels above or the error of the source or destination.
type Error struct {
	Path   string // the file, archive or archive/entry; "" where the caller gave a reader
	Offset int64  // the byte of the file or entry that Text is about; -1 if it is about the whole
	Text   string
	Err    error
}

func (e *Error) Error() string {
	s := "npy: "
	if e.Path != "" {
		s += e.Path + ": "
	}
	if e.Offset >= 0 {
		s += fmt.Sprintf("byte %d: ", e.Offset)
	}
	return s + e.Text
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

func fail(at int64, err error, format string, args ...any) error {
	return &Error{Offset: at, Text: fmt.Sprintf(format, args...), Err: err}
}

// in names the file of an error that was made without knowing it.
func in(path string, err error) error {
	var e *Error
	if errors.As(err, &e) {
		named := *e
		if named.Path == "" {
			named.Path = path
		} else {
			named.Path = path + "/" + named.Path
		}
		return &named
	}
	return err
}
