// Package expr is the language of package chunk's expressions: NumPy's spelling, the precedence of Python's operators,
// and Python's arithmetic of numbers. It doesn't know arrays or functions. Parse makes a tree of a text, and package chunk
// makes an array of the tree. Fold computes operators whose operands are numbers.
package expr

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Kind is the kind of a Node.
type Kind uint8

// The kinds of values, and from Name on the kinds of nodes that stand for a value.
const (
	Int Kind = iota + 1
	Big      // an integer beyond int64
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
	Argument   // an argument of a Call with the name Text
)

// String returns the name of a kind for errors.
func (k Kind) String() string {
	if k >= Name {
		return "an array"
	}
	return [...]string{"nothing", "an integer", "an integer beyond int64", "a number", "a truth value", "a text", "a list", "None"}[k]
}

// A Node is a part of an expression.
type Node struct {
	Kind  Kind
	At    int   // its first byte, or the byte of the operator between or behind its operands
	Int   int64 // 0 or 1 for a Bool
	Big   *big.Int
	Float float64
	Text  string
	In    []Node // operands, arguments, items of a List
	Index []layout.Index
}

// IsNumber reports whether the node is an integer or a Float.
func (n Node) IsNumber() bool { return n.IsInteger() || n.Kind == Float }

// IsInteger reports whether the node is an Int or a Big.
func (n Node) IsInteger() bool { return n.Kind == Int || n.Kind == Big }

// Integer returns the value of an Int or a Big.
func (n Node) Integer() *big.Int {
	if n.Kind == Big {
		return n.Big
	}
	return big.NewInt(n.Int)
}

// Value returns the value of a number, rounded once. A large integer is an infinity.
func (n Node) Value() float64 {
	if n.IsInteger() {
		v, _ := new(big.Float).SetInt(n.Integer()).Float64()
		return v
	}
	return n.Float
}

// maxBits is how many bits an integer may have.
const maxBits = 1 << 14

// whole is the node of an integer.
func whole(at int, i *big.Int) (Node, error) {
	switch {
	case i.IsInt64():
		return Node{Kind: Int, At: at, Int: i.Int64()}, nil
	case i.BitLen() > maxBits:
		return Node{}, Wrong(at, tensor.ErrValue, "an integer of more than %d bits is too large", maxBits)
	}
	return Node{Kind: Big, At: at, Big: i}, nil
}

// Constants are the values with names.
var Constants = map[string]Node{
	"None": {Kind: None}, "True": {Kind: Bool, Int: 1}, "False": {Kind: Bool},
	"pi": {Kind: Float, Float: math.Pi}, "e": {Kind: Float, Float: math.E},
	"inf": {Kind: Float, Float: math.Inf(1)}, "nan": {Kind: Float, Float: math.NaN()},
}

// ErrSyntax is the reason that a text isn't an expression, for any arrays.
var ErrSyntax = errors.New("syntax")

// An Error is a fault of a text and its place.
type Error struct {
	At  int // the byte
	Err error
}

func (e *Error) Error() string { return fmt.Sprintf("byte %d: %v", e.At, e.Err) }

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// A reason is a text with the error that errors.Is finds.
type reason struct {
	text string
	is   error
}

func (r *reason) Error() string { return r.text }

func (r *reason) Unwrap() error { return r.is }

// Wrong makes an *Error with its own text that wraps another error.
func Wrong(at int, is error, format string, args ...any) error {
	return &Error{at, &reason{fmt.Sprintf(format, args...), is}}
}
