package gguf

import (
	"errors"
	"fmt"

	"github.com/ashlar-go/ashlar/format"
)

// The reasons for which a file or a call is refused, for errors.Is. All but ErrVersion are package format's.
var (
	ErrFormat  = format.ErrFormat
	ErrShort   = format.ErrShort
	ErrVersion = errors.New("unsupported version") // version 1, an unknown one, or the other byte order
	ErrType    = format.ErrType
	ErrLimit   = format.ErrLimit // more keys, tensors or axes than are accepted
	ErrName    = format.ErrName  // no tensor or key of this name, or a name that can't be written
)

// Error is an error of this package. It has the place, the reason and the way out.
type Error = format.Error

func fail(at int64, name string, err error, text string, args ...any) *Error {
	return &Error{Format: "gguf", Name: name, Offset: at, Text: fmt.Sprintf(text, args...), Err: err}
}

// in adds the file's name to an error that was made without it.
func in(path string, err error) error {
	var e *Error
	if errors.As(err, &e) && e.Path != "" {
		return err
	}
	return format.Within(path, err)
}
