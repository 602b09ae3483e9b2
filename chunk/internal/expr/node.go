// Package expr is the language of package chunk's expressions: NumPy's spelling, the precedence of Python's operators,
// and Python's arithmetic of numbers. It knows no arrays and no functions. Parse makes a tree of a text, package chunk
// makes an array of the tree, and Fold computes where both operands are numbers.
package expr

import (
	"errors"
	"fmt"
	"math"

	"github.com/ashlar-go/ashlar/layout"
)

// A Kind says what a Node is.
type Kind uint8

// The kinds of values, and from Name on those of the nodes that stand for a value.
const (
	Int Kind = iota + 1
	Float
	Bool
	Text
	List
	None
	Name       // Text
	Sign       // the operator Text of one or two operands
	Part       // Index of an operand
	Transposed // .T of an operand
	Call       // the function Text of arguments
	Argument   // one with the name Text, in a Call
)

// String names what has the kind, in errors.
func (k Kind) String() string {
	if k >= Name {
		return "an array"
	}
	return [...]string{"nothing", "an integer", "a number", "a truth value", "a text", "a list", "None"}[k]
}

// A Node is a part of an expression.
type Node struct {
	Kind  Kind
	At    int   // the byte where it begins, or of what stands between or behind operands
	Int   int64 // of a Bool 0 or 1
	Float float64
	Text  string
	In    []Node // operands, arguments, items of a List
	Index []layout.Index
}

// IsNumber reports whether the node is an Int or a Float.
func (n Node) IsNumber() bool { return n.Kind == Int || n.Kind == Float }

// Value returns the value of a number.
func (n Node) Value() float64 {
	if n.Kind == Int {
		return float64(n.Int)
	}
	return n.Float
}

// Constants are the values that have names.
var Constants = map[string]Node{
	"None": {Kind: None}, "True": {Kind: Bool, Int: 1}, "False": {Kind: Bool},
	"pi": {Kind: Float, Float: math.Pi}, "e": {Kind: Float, Float: math.E},
	"inf": {Kind: Float, Float: math.Inf(1)}, "nan": {Kind: Float, Float: math.NaN()},
}

// ErrSyntax says that a text isn't an expression, whatever the arrays are.
var ErrSyntax = errors.New("syntax")

// An Error says where a text is wrong.
type Error struct {
	At  int // the byte
	Err error
}

func (e *Error) Error() string { return fmt.Sprintf("byte %d: %v", e.At, e.Err) }

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// A reason is a text with what errors.Is finds.
type reason struct {
	text string
	is   error
}

func (r *reason) Error() string { return r.text }

func (r *reason) Unwrap() error { return r.is }

// Wrong makes an *Error that wraps another error and has a text of its own.
func Wrong(at int, is error, format string, args ...any) error {
	return &Error{at, &reason{fmt.Sprintf(format, args...), is}}
}
