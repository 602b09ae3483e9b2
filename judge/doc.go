// Package judge says whether a layout is fit for a purpose, and what it is in other
// notations. It stands above package layout, which places elements; a program that
// only places elements doesn't need it.
//
//	Conflicts            bank conflicts of an access through a layout
//	SolveSwizzle         the smallest swizzle without conflicts, or that there is none
//	SolveXOR             the same for XOR matrices
//	Linear               a layout as a matrix over F2, in Triton's notation too
//	Strided, Tiled       a layout as NumPy's strides, as TT-NN's tiles and shards
//	Parse, Print         the spellings of CuTe, NumPy, Mojo, Triton and Go
//	Fit, Infer           the layout of a function; B with C = A ∘ B
//	Relay                the moves that take elements from one layout to another
//	Judge                an operation's exact answer, beside the published rules'
//
// Every answer is exact. Where there is none, the error is a *Mismatch, with the first
// coordinate that has none, or an *Error, with the reason. All work is bounded: what is
// too large is refused with layout.ErrLimit and the bound.
package judge

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/layout"
)

// MaxElements bounds the coordinates that this package enumerates.
const MaxElements = 1 << 22

// ErrNone says that something doesn't exist: no layout, no swizzle, no conversion.
var ErrNone = errors.New("there is none")

// Error says which function failed, on what and why. Unwrap gives ErrNone or a
// sentinel of package layout.
type Error struct {
	Op   string // "Conflicts"
	Text string
	Err  error
}

func (e *Error) Error() string { return "judge." + e.Op + ": " + e.Text }

// Unwrap returns the sentinel.
func (e *Error) Unwrap() error { return e.Err }

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
	Coord  []int  `json:"coord,omitempty"` // per mode, where the modes are known
	Got    int    `json:"got"`             // what the nearest candidate gives
	Want   int    `json:"want"`
	Reason string `json:"reason"`
}

func (m *Mismatch) Error() string { return "judge." + m.Op + ": " + m.Text() }

// Unwrap returns ErrNone.
func (m *Mismatch) Unwrap() error { return ErrNone }

// Text is the error without the name of the function.
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

// coordOf is a linear coordinate per mode.
func coordOf(shape []int, i int) []int {
	c := make([]int, len(shape))
	for k, e := range shape {
		if e > 0 {
			c[k] = i % e
			i /= e
		}
	}
	return c
}

// offsets returns the offsets of all linear coordinates. It fails when there are more
// than MaxElements, and when one is negative.
func offsets(op string, l layout.Composed) ([]int, error) {
	n := l.Size()
	if n > MaxElements {
		return nil, fail(op, layout.ErrLimit, "%s has %d elements, more than %d", text(l), n, MaxElements)
	}
	offs := make([]int, n)
	for i := range offs {
		off, err := l.Offset(i)
		if err != nil {
			return nil, err
		}
		if off < 0 {
			return nil, fail(op, layout.ErrRange, "%s: coordinate %d has the offset %d; memory begins at 0, so add a base", text(l), i, off)
		}
		offs[i] = off
	}
	return offs, nil
}

// Plain returns a layout without a swizzle and an offset as a Composed.
func Plain(l layout.Layout) layout.Composed {
	c, err := layout.NewComposed(layout.Swizzle{}, 0, l)
	if err != nil {
		panic(err) // nothing is added, so nothing overflows
	}
	return c
}

// text writes a layout without a swizzle and an offset as such.
func text(c layout.Composed) string {
	if l, ok := c.Plain(); ok {
		return l.String()
	}
	return c.String()
}

func isPower(n int) bool { return n > 0 && n&(n-1) == 0 }

func log2(n int) int { return bits.Len(uint(n)) - 1 }
