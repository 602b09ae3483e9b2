package zarr

import (
	"context"
	"errors"
	"fmt"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/tensor"
)

// The reasons for which a hierarchy or a call is refused, for errors.Is. Two more are
// package format's: format.ErrType for an element type without a counterpart, and
// format.ErrLimit for more than is accepted. Errors of the store are wrapped unchanged;
// an absent key is fs.ErrNotExist.
var (
	ErrFormat = errors.New("not valid Zarr")       // metadata or a chunk breaks the format
	ErrCodec  = errors.New("unsupported codec")    // a codec, filter or extension that isn't known
	ErrLocked = errors.New("locked by another")    // somebody else holds the lock
	ErrNode   = errors.New("another kind of node") // an array where a group was looked for, or a group where an array was
	ErrShape  = errors.New("shapes don't fit")     // an index or a tensor that doesn't fit the array
	ErrScheme = errors.New("unknown scheme")       // a URL whose scheme isn't registered
	ErrAbsent = errors.New("absent chunk")         // a chunk isn't there, and the option Whole was given

	ErrChanged    = errors.New("changed")    // a value was replaced while several requests read it
	ErrUnfinished = errors.New("unfinished") // its chunks aren't all written yet: see Unfinished
)

// Error names the key in the store, the fault and the remedy. Unwrap returns one of the
// errors above or the error of the store.
type Error struct {
	Key  string // of the store; "" where the error is about a call
	Text string
	Err  error
}

func (e *Error) Error() string {
	if e.Key == "" {
		return "zarr: " + e.Text
	}
	return "zarr: " + e.Key + ": " + e.Text
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// needContext returns the error of a nil context.
func needContext(ctx context.Context) error {
	if ctx == nil {
		return fail(tensor.ErrValue, "the context is nil; context.Background() is one without an end")
	}
	return nil
}

// ended returns the error of a context that has ended, or is nil.
func ended(ctx context.Context) error {
	if err := needContext(ctx); err != nil {
		return err
	}
	return ctx.Err()
}

func fail(err error, format string, args ...any) error {
	return &Error{Text: fmt.Sprintf(format, args...), Err: err}
}

// at adds the key to an error that was made without it.
func at(key string, err error) error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		named := *e
		if named.Key == "" {
			named.Key = key
		}
		return &named
	}
	return &Error{Key: key, Text: err.Error(), Err: err}
}

// in adds the inner chunk to an error.
func in(index []int, err error) error { return within(fmt.Sprintf("inner chunk %v", index), err) }

// within adds the place in a value to an error.
func within(where string, err error) error {
	var e *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return fail(e.Err, "%s: %s", where, e.Text)
	}
	return fail(err, "%s: %v", where, err)
}

func tooLarge(most int64) error {
	return fail(format.ErrLimit, "a value of more than %d bytes, the most that are read here", most)
}
