package npy

import (
	"fmt"

	"github.com/ashlar-go/ashlar/format"
)

// The reasons for which a file is refused, for errors.Is. They are package format's.
var (
	ErrFormat = format.ErrFormat
	ErrType   = format.ErrType
	ErrShort  = format.ErrShort
	ErrLimit  = format.ErrLimit
	ErrName   = format.ErrName // an npz has no array of this name
)

// Error is an error of this package. It has the place, the reason and the way out.
type Error = format.Error

func fail(at int64, err error, text string, args ...any) error {
	return &Error{Format: "npy", Offset: at, Text: fmt.Sprintf(text, args...), Err: err}
}
