package draw

import (
	"fmt"
	"io"
	"io/fs"
)

// Error has the function that failed, its input, and the reason. Unwrap returns layout.ErrLimit for more than the package
// draws, and layout.ErrShape for extents or options that don't fit.
type Error struct {
	Op   string // "NewMap"
	Text string // the input, the fault, and the way out
	Err  error
}

func (e *Error) Error() string { return "draw." + e.Op + ": " + e.Text }

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// writable returns an error for a nil writer, before anything is drawn.
func writable(op string, w io.Writer) error {
	if w == nil {
		return fail(op, fs.ErrInvalid, "the writer is nil")
	}
	return nil
}

func fail(op string, reason error, format string, args ...any) error {
	return &Error{Op: op, Text: fmt.Sprintf(format, args...), Err: reason}
}
