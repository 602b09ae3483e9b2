package image

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// The kinds of an [Error], for errors.Is.
var (
	// ErrFormat: the data is not a PNG or JPEG, or breaks the rules of its format, or ends early.
	ErrFormat = errors.New("not a readable picture")
	// ErrTooLarge: the header declares a picture that the limits don't admit; see [Options.MaxPixels].
	ErrTooLarge = errors.New("picture too large")
	// ErrOption: an option has a value that it can't have.
	ErrOption = errors.New("invalid option")
	// ErrTensor: a tensor's shape or element type isn't one that a picture can have.
	ErrTensor = errors.New("not a picture's tensor")
)

// Error is the type of this package's own errors. Errors of the reader or writer are wrapped instead.
type Error struct {
	Op     string // the function: "image.Read", "image.Config", "image.Write", …
	Format Format // 0 if the format isn't known, or the error isn't about it
	Text   string // the fault, and the way out if there is one
	Err    error  // one of the Err values above
	Cause  error  // a decoder's own error, or nil
}

func (e *Error) Error() string {
	if e.Format != 0 {
		return e.Op + ": " + e.Format.String() + ": " + e.Text
	}
	return e.Op + ": " + e.Text
}

// Unwrap returns Err and, if there is one, Cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Cause}
}

// fail makes an error; blame sets Op and Format.
func fail(kind error, format string, args ...any) *Error {
	return &Error{Err: kind, Text: fmt.Sprintf(format, args...)}
}

// ended turns an end of the file in the middle of a picture into an Error, and returns other errors unchanged.
func ended(err error, where string) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return &Error{Err: ErrFormat, Text: "the file ends in the middle of " + where, Cause: io.ErrUnexpectedEOF}
	}
	return err
}

// blame completes an error of reading in. If the source failed, its error is returned, whatever error followed from it. An
// error that is no Error is a decoder's.
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
