package csv

import (
	"errors"
	"fmt"
)

// The reasons for which a text, a tensor or a call is refused, for errors.Is.
// Two more are package format's: format.ErrType for a type that has no text, and
// format.ErrLimit for a row longer than is accepted. Errors of the source or
// destination are wrapped unchanged.
var (
	ErrFormat = errors.New("not a valid table")   // quotes out of place, or rows of different lengths
	ErrValue  = errors.New("not an element")      // a cell is no number of the type
	ErrShape  = errors.New("not a table's shape") // a tensor that is no table
	ErrOption = errors.New("invalid option")      // an option has a value that it can't have
)

// Error has the place in the text, the fault and the remedy. Unwrap returns one of
// the reasons above or the error of the source or destination.
type Error struct {
	Line   int // of the text, from 1; 0 if it isn't about a place in it
	Column int // the cell in its row, from 1; 0 if it is about the whole line
	Text   string
	Err    error
}

func (e *Error) Error() string {
	s := "csv: "
	if e.Line > 0 {
		s += fmt.Sprintf("line %d", e.Line)
		if e.Column > 0 {
			s += fmt.Sprintf(", column %d", e.Column)
		}
		s += ": "
	}
	return s + e.Text
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

func fail(line, column int, err error, format string, args ...any) *Error {
	return &Error{Line: line, Column: column, Text: fmt.Sprintf(format, args...), Err: err}
}
