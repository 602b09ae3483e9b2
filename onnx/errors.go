package onnx

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// An Error gives a fault and its place: the file and, from the outside in, the graph, node and attribute.
type Error struct {
	File  string   // as given to Open or OpenFS; empty for bytes
	Place []string // such as: graph "main", node 17 "conv3" (Conv), attribute "pads"
	Err   error
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("onnx: ")
	if e.File != "" {
		b.WriteString(e.File)
		b.WriteString(": ")
	}
	for _, p := range e.Place {
		b.WriteString(p)
		b.WriteString(": ")
	}
	if e.Err != nil {
		b.WriteString(e.Err.Error())
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// in adds a place around err. An UnsupportedError has its places inside.
func in(place string, err error) error {
	switch e := err.(type) {
	case nil, *UnsupportedError:
		return err
	case *Error:
		return &Error{File: e.File, Place: append([]string{place}, e.Place...), Err: e.Err}
	}
	return &Error{Place: []string{place}, Err: err}
}

// blamed names the step of an error, or the one of its parts that fails.
func (c *compiled) blamed(s *step, err error) error {
	var b *plan.Blame
	if errors.As(err, &b) {
		if part, ok := b.Part.(*step); ok {
			s = part
		}
	}
	return in(c.label(s), err)
}

// inFile names the file of err; name may be empty.
func inFile(name string, err error) error {
	switch e := err.(type) {
	case nil:
		return nil
	case *Error:
		return &Error{File: name, Place: e.Place, Err: e.Err}
	case *UnsupportedError:
		return &UnsupportedError{File: name, List: e.List}
	}
	return &Error{File: name, Err: err}
}

// plain is the text of err to stand behind a place.
func plain(err error) string { return strings.TrimPrefix(err.Error(), "onnx: ") }

// failf is an Error without a place yet.
func failf(format string, args ...any) error { return &Error{Err: fmt.Errorf(format, args...)} }

// noContext is the error of a nil context.
func noContext() error {
	return failf("%w: the context is nil; context.Background() is one without an end", tensor.ErrValue)
}

// named is a kind of thing with its name in quotes, or with its number when it has no name.
func named(kind, name string, i int) string {
	if name == "" {
		return fmt.Sprintf("%s %d", kind, i)
	}
	return fmt.Sprintf("%s %.100q", kind, name)
}

// inAttr names an attribute in an error.
func inAttr(name string, err error) error { return in(fmt.Sprintf("attribute %q", name), err) }

// ErrUnsupported is the error that every UnsupportedError wraps: the model may be well formed, this library can't run it. It is
// op's.
var ErrUnsupported = op.ErrUnsupported

// Unsupported is one thing in a model that this library doesn't have.
type Unsupported struct {
	Place  string // node 17 "conv3" (Conv, opset 11); input "x"
	Op     string // the operator with its domain; empty when the place isn't a node
	Opset  int64  // the version of the operator set the model imports; 0 when the place isn't a node
	Reason string
}

// String returns the place and the reason.
func (u Unsupported) String() string { return u.Place + ": " + u.Reason }

// An UnsupportedError lists everything in a model that this library doesn't have.
type UnsupportedError struct {
	File string
	List []Unsupported
}

// Error puts one line per entry.
func (e *UnsupportedError) Error() string {
	var b strings.Builder
	b.WriteString("onnx: ")
	if e.File != "" {
		b.WriteString(e.File + ": ")
	}
	if len(e.List) == 1 {
		b.WriteString("unsupported: " + e.List[0].String())
		return b.String()
	}
	fmt.Fprintf(&b, "%d unsupported:", len(e.List))
	for _, u := range e.List {
		b.WriteString("\n  " + u.String())
	}
	return b.String()
}

// Is reports whether target is ErrUnsupported.
func (e *UnsupportedError) Is(target error) bool { return target == ErrUnsupported }

// refuses reports whether an operator's error means that it refuses the model's node, whatever the values.
func refuses(err error) bool {
	return errors.Is(err, tensor.ErrDType) || errors.Is(err, ErrUnsupported)
}
