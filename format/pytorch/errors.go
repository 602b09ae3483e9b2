package pytorch

import (
	"fmt"

	"github.com/ashlar-go/ashlar/format"
)

// The reasons a file or a call can be refused, for errors.Is. They are package format's.
var (
	ErrFormat = format.ErrFormat
	ErrShort  = format.ErrShort // the file ends before its pickle or its elements do
	ErrType   = format.ErrType  // a type, or a kind of tensor, that no tensor of this program holds
	ErrLimit  = format.ErrLimit
	ErrName   = format.ErrName // no tensor of this name, or two of one
)

// Error is an error of this package: its place, its reason and the way out.
type Error = format.Error

func fail(at int64, name string, err error, text string, args ...any) *Error {
	return &Error{Format: "pytorch", Name: name, Offset: at, Text: fmt.Sprintf(text, args...), Err: err}
}
