package format

import (
	"errors"
	"fmt"
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
