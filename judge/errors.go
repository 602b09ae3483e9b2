package judge

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrNone is the reason that something doesn't exist: a layout, a swizzle or a conversion.
var ErrNone = errors.New("there is none")

// Error has the function that failed, its input and the reason. Unwrap returns ErrNone or
// an error value of package layout, and nil for a nil context.
type Error struct {
	Op   string // "Conflicts"
	Text string
	Err  error
}

func (e *Error) Error() string { return "judge." + e.Op + ": " + e.Text }

// Unwrap returns the sentinel.
func (e *Error) Unwrap() error { return e.Err }

// needContext returns the error of a nil context.
func needContext(ctx context.Context, op string) error {
	if ctx == nil {
		return fail(op, nil, "the context is nil; context.Background() is one without an end")
	}
	return nil
}

func fail(op string, err error, format string, args ...any) error {
	return &Error{op, clip(fmt.Sprintf(format, args...)), err}
}

func clip(s string) string {
	const half = 400
	if len(s) <= 2*half {
		return s
	}
	return s[:half] + "…" + s[len(s)-half:]
}

// A Mismatch is the first coordinate for which there is no answer.
type Mismatch struct {
	Op     string `json:"-"`
	Index  int    `json:"index"`           // the linear coordinate, the first mode fastest
	Coord  []int  `json:"coord,omitempty"` // per mode, if the modes are known
	Got    int    `json:"got"`             // the value of the nearest candidate
	Want   int    `json:"want"`
	Reason string `json:"reason"`
}

func (m *Mismatch) Error() string { return "judge." + m.Op + ": " + m.Text() }

// Unwrap returns ErrNone.
func (m *Mismatch) Unwrap() error { return ErrNone }

// Text returns the error without the name of the function.
func (m *Mismatch) Text() string {
	at := strconv.Itoa(m.Index)
	if len(m.Coord) > 1 {
		at = tupleText(m.Coord)
	}
	return "at coordinate " + at + ": " + m.Reason
}

func tupleText(v []int) string {
	s := make([]string, len(v))
	for i, n := range v {
		s[i] = strconv.Itoa(n)
	}
	return "(" + strings.Join(s, ",") + ")"
}
