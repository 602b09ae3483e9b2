package image

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// What an [Error] is about.
var (
	// ErrFormat: the data is not a PNG or JPEG, or breaks the rules of its format, or ends early.
	ErrFormat = errors.New("not a readable picture")
	// ErrTooLarge: the header declares a picture that the limits don't admit; see [Options.MaxPixels].
	ErrTooLarge = errors.New("picture too large")
	// ErrOption: an option has a value that it can't have.
	ErrOption = errors.New("invalid option")
	// ErrTensor: a tensor's shape or element type is none of a picture.
	ErrTensor = errors.New("not a picture's tensor")
)

// Error is every error of this package, except those that a reader or writer given to it returns: these are wrapped.
type Error struct {
	Op     string // the function: "image.Read", "image.Config", "image.Write", …
	Format Format // 0 where the format is not known or not the matter
	Text   string // what was found, and the way out where there is one
	Err    error  // one of the Err values above
	Cause  error  // a decoder's own error, or nil
}

func (e *Error) Error() string {
	if e.Format != 0 {
		return e.Op + ": " + e.Format.String() + ": " + e.Text
	}
	return e.Op + ": " + e.Text
}

// Unwrap gives Err and, where there is one, the cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Cause}
}

// fail makes an error; blame adds what it leaves open.
func fail(kind error, format string, args ...any) *Error {
	return &Error{Err: kind, Text: fmt.Sprintf(format, args...)}
}

// ended describes a read error met where more was due.
func ended(err error, where string) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return &Error{Err: ErrFormat, Text: "the file ends in the middle of " + where, Cause: io.ErrUnexpectedEOF}
	}
	return err
}

// blame completes an error of reading in: the source's own failure goes before what it led to, and what is left is a
// decoder's.
func blame(op string, h Info, in *input, err error) error {
	var e *Error
	switch {
	case in.err != nil:
		return fmt.Errorf("%s: %w", op, in.err)
	case !errors.As(ended(err, "the picture"), &e):
		e = &Error{Err: ErrFormat, Text: strings.TrimPrefix(err.Error(), h.Format.String()+": "), Cause: err}
	}
	e.Op, e.Format = op, h.Format
	if h.Width != 0 {
		e.Text = fmt.Sprintf("picture of %d×%d: %s", h.Width, h.Height, e.Text)
	}
	return e
}
