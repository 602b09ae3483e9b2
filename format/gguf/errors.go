package gguf

import (
	"errors"
	"fmt"

	"github.com/ashlar-go/ashlar/format"
)

// The reasons a file or a call can be refused, for errors.Is. All but ErrVersion are package format's.
var (
	ErrFormat  = format.ErrFormat
	ErrShort   = format.ErrShort
	ErrVersion = errors.New("unsupported version") // version 1, an unknown one, or the other byte order
	ErrType    = format.ErrType
	ErrLimit   = format.ErrLimit // more keys, tensors or axes than are accepted
	ErrName    = format.ErrName  // no tensor or key of this name, or one that can't be written
)

// Error is an error of this package: its place, its reason and the way out.
type Error = format.Error

func fail(at int64, name string, err error, text string, args ...any) *Error {
	return &Error{Format: "gguf", Name: name, Offset: at, Text: fmt.Sprintf(text, args...), Err: err}
}

// in names the file of an error that was made without knowing it.
func in(path string, err error) error {
	var e *Error
	if errors.As(err, &e) && e.Path != "" {
		return err
	}
	return format.Within(path, err)
}
