package layout

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The reasons an operation on layouts can fail, for errors.Is.
var (
	ErrShape    = errors.New("shape")           // extents or ranks that don't fit each other
	ErrAxis     = errors.New("axis")            // an axis outside the rank, or repeated
	ErrRange    = errors.New("out of range")    // a coordinate outside its extent
	ErrOverflow = errors.New("overflow")        // a size or an offset that doesn't fit an int
	ErrView     = errors.New("not a view")      // the result exists only as a copy
	ErrSyntax   = errors.New("syntax")          // text that isn't a layout or a slice
	ErrLimit    = errors.New("limit")           // more modes or nesting than is accepted
	ErrDivide   = errors.New("does not divide") // extents or strides that don't divide each other
	ErrOverlap  = errors.New("overlap")         // leaves whose offsets coincide or interleave
)

// Error reports that a function failed, its arguments, and the reason. Unwrap gives
// one of the sentinels above.
type Error struct {
	Op   string // "Parse"
	Text string // the arguments, the conflict, and the way out
	Err  error
}

func (e *Error) Error() string { return "layout." + e.Op + ": " + e.Text }

// Unwrap returns the sentinel.
func (e *Error) Unwrap() error { return e.Err }

// fail makes an Error; long texts among the arguments are cut in the middle.
func fail(op string, err error, format string, args ...any) error {
	for i, a := range args {
		switch a := a.(type) {
		case string:
			args[i] = clip(a)
		case fmt.Stringer:
			args[i] = clip(a.String())
		}
	}
	return &Error{Op: op, Text: fmt.Sprintf(format, args...), Err: err}
}

func clip(s string) string {
	const half = 160
	if len(s) <= 2*half {
		return s
	}
	return s[:half] + "…" + s[len(s)-half:]
}

// tupleText writes (2,3), () for none and 4 for a single number in (4).
func tupleText(v []int) string {
	var b strings.Builder
	b.WriteByte('(')
	for i, x := range v {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(x))
	}
	b.WriteByte(')')
	return b.String()
}
