package tensor

import (
	"errors"
	"runtime/debug"

	"github.com/ashlar-go/ashlar/internal/core/ram"
	"github.com/ashlar-go/ashlar/layout"
)

// The reasons an operation can fail, for errors.Is. The reasons that layouts share are
// the same values there.
var (
	ErrShape    = layout.ErrShape    // shapes that don't fit each other or the data
	ErrAxis     = layout.ErrAxis     // an axis outside the rank, or repeated
	ErrIndex    = layout.ErrRange    // an index outside its axis
	ErrOverflow = layout.ErrOverflow // a size or an offset that doesn't fit an int
	ErrView     = layout.ErrView     // the result exists only as a copy
	ErrSyntax   = layout.ErrSyntax   // a slice text that can't be read
	ErrDType    = errors.New("dtype")
	ErrReadOnly = errors.New("read-only")
	ErrClosed   = errors.New("closed") // the storage was closed, or the tensor is the zero value
	ErrLazy     = errors.New("lazy")   // the elements aren't computed yet
	ErrValue    = errors.New("value")  // an element a function has no result for
	ErrMemory   = errors.New("memory") // more memory than allowed
	ErrAlign    = errors.New("align")  // an address that isn't a multiple of the wanted alignment
)

// Error says which function failed, on which arguments, and why. A programmer's mistake
// panics with one; functions that read outside data return one. Unwrap gives
// one of the sentinels above, or the error of a context.
type Error struct {
	Op   string // "tensor.View"
	Text string // the arguments, the clash, and the way out
	Err  error
}

func (e *Error) Error() string { return e.Op + ": " + e.Text }

// Unwrap returns the sentinel.
func (e *Error) Unwrap() error { return e.Err }

// Try runs f and returns the *Error or *layout.Error it panics with, if it does: that
// is a mistake of f's. So it does, with an error that wraps mem.ErrShrunk, where f
// touches elements of a mapped file that became shorter; without Try that ends the
// program. Any other panic goes on. So does a runtime error: if it comes from this
// module it is a mistake there, which no caller can mend.
func Try(f func()) (err error) {
	if f == nil {
		return &Error{"tensor.Try", "there is nothing to run: the function is nil", ErrValue}
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Error:
			err = r
		case *layout.Error:
			err = r
		default:
			if err = ram.Fault(r); err == nil {
				panic(r)
			}
			err = &Error{"tensor.Try", err.Error(), err}
		}
	}()
	f()
	return nil
}

// none is the error for the zero Any, or nil.
func none(op string, a Any) error {
	if a.IsZero() {
		return &Error{op, "there is no tensor: it is the zero value", ErrDType}
	}
	return nil
}

// noNil panics for the zero Any.
func noNil(op string, a Any) {
	if err := none(op, a); err != nil {
		panic(err)
	}
}

// Wrap makes an error of another package, or of a function that op is made of, one of
// the function op: that of package layout or this one keeps its text and its reason.
func Wrap(op string, err error) *Error {
	if err == nil {
		panic(&Error{"tensor.Wrap", "there is no error: it is nil", ErrValue})
	}
	var l *layout.Error
	if errors.As(err, &l) {
		return &Error{Op: op, Text: l.Text, Err: l.Err}
	}
	var e *Error
	if errors.As(err, &e) {
		return &Error{Op: op, Text: e.Text, Err: e.Err}
	}
	return &Error{Op: op, Text: err.Error(), Err: err}
}
