package safetensors

import (
	"fmt"

	"github.com/ashlar-go/ashlar/format"
)

// The reasons for which a file or a call is refused, for errors.Is. They are package format's.
var (
	ErrFormat = format.ErrFormat
	ErrShort  = format.ErrShort
	ErrType   = format.ErrType
	ErrLimit  = format.ErrLimit // a header or a rank larger than is accepted
	ErrName   = format.ErrName  // no tensor of this name, or a name that can't be written
)

// Error is an error of this package. It has the place, the reason and the way out.
type Error = format.Error

func fail(at int64, name string, err error, text string, args ...any) *Error {
	return &Error{Format: "safetensors", Name: name, Offset: at, Text: fmt.Sprintf(text, args...), Err: err}
}
