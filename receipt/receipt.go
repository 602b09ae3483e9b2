package receipt

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Version is the version of the form that this package writes and reads.
const Version = 1

// Rules is the version of the rules by which results are computed. It increases when an operator gives other bits than
// before for the same operands. Receipts of different versions can't be compared.
const Rules = 1

// The modes of runs. The results of each are the same on every machine, and differ between the modes.
const (
	Exact    = "exact"
	Integers = "integers" // quantized operators of a model run on integers: see onnx.NewIntegerSession
)

// The kinds of program.
const (
	Model = "model" // of package onnx
	Plan  = "plan"  // of package chunk
)

// A Digest is a SHA-256. The text of one has 64 hexadecimal digits in lower case.
type Digest [sha256.Size]byte

// String returns the 64 hexadecimal digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// A Receipt names a program, its inputs, and the outputs that it computed. The zero value is no receipt.
type Receipt struct {
	Kind     string // Model or Plan
	Rules    int64  // Rules of the program that wrote it
	Program  Program
	Profile  Profile
	Inputs   []Item // in the order of the program
	Outputs  []Item
	Seeds    []Seed    // of the operators that take random numbers
	Sampling *Sampling // nil unless a program sampled tokens
	Nodes    []Node    // the nodes of a model, or the chunks of a plan; empty unless requested

	root, tree Digest // as the file has them
	parsed     bool
}

// A Program is a model, or the expression of a plan.
type Program struct {
	Graph   Digest // of the graph without the weights
	Weights []Item // in the order of their names
}

// A Profile describes the way a program ran.
type Profile struct {
	Mode      string   // Exact or Integers
	Fixed     string   // the fixed-point format of all real numbers, "" for none
	Opsets    []Opset  // in the order of their domains
	Operators []string // operators that the running program added to this library's, as domain.name
}

// An Opset is the version of a set of operators.
type Opset struct {
	Domain  string
	Version int64
}

// An Item is the digest of a tensor or of another value.
type Item struct {
	Name   string
	Type   string // element type and shape, as float32[2,3]
	Digest Digest // of a tensor: tensor.Digest
}

// A Seed is the seed of a node's random numbers.
type Seed struct {
	Node string
	From string // attribute, or the rule that gives a node without the attribute its seed
	Seed string // a number
}

// Sampling describes a program that samples tokens from a model's outputs.
type Sampling struct {
	Settings Digest // of the settings, as the program writes them
	Tokens   Digest // tensor.Digest of the tokens
}

// A Node has the results of one node, in one iteration of the loops around it.
type Node struct {
	Node    string // its place in the graph, from the outside in
	Results []Item
}

// String counts the parts of the receipt, as in: 1 input, 8 weights, 1 output.
func (r *Receipt) String() string {
	counted := func(n int, of string) string {
		if n != 1 {
			of += "s"
		}
		return fmt.Sprintf("%d %s", n, of)
	}
	text := counted(len(r.Inputs), "input")
	if r.Kind != Plan {
		text += ", " + counted(len(r.Program.Weights), "weight")
	}
	text += ", " + counted(len(r.Outputs), "output")
	switch {
	case len(r.Nodes) == 0:
	case r.Kind == Plan:
		text += ", " + counted(len(r.Nodes), "chunk")
	default:
		text += ", " + counted(len(r.Nodes), "node")
	}
	return text
}

// Digest returns the digest of the program: the digest of its JSON, which has the graph's digest and the weights.
func (p *Program) Digest() Digest {
	return sha256.Sum256(put(nil, p.fields()))
}

// Root returns the digest of the whole receipt except the nodes.
func (r *Receipt) Root() Digest { return sha256.Sum256(put(nil, r.body())) }

// NodesRoot returns the root of the Merkle tree over the JSON of the nodes, with the hash of RFC 6962, section 2.1.
func (r *Receipt) NodesRoot() Digest {
	t := Tree{}
	for i := range r.Nodes {
		t.Add(put(nil, r.Nodes[i].fields()))
	}
	return t.Root()
}

// Check compares the roots in a file with the roots of its contents. They differ if the file was changed after the receipt
// was made. Check returns nil for a receipt that Parse didn't read.
func (r *Receipt) Check() *Difference {
	if !r.parsed {
		return nil
	}
	if d := r.Root(); r.root != d {
		return &Difference{"the root, which isn't that of the contents of the receipt,", r.root.String(), d.String()}
	}
	if d := r.NodesRoot(); len(r.Nodes) > 0 && r.tree != d {
		return &Difference{"the root of the nodes, which isn't that of the nodes in the receipt,", r.tree.String(), d.String()}
	}
	return nil
}

// MaxNodes is the most nodes of a receipt, and the most items of each other list.
const MaxNodes = 1 << 18

// MaxSize is the most bytes of a receipt.
const MaxSize = 128 << 20

// An Error names a fault of a receipt, and its place.
type Error struct {
	Offset int // in the file; negative if the error isn't about a place
	Text   string
}

func (e *Error) Error() string {
	if e.Offset < 0 {
		return "receipt: " + e.Text
	}
	return fmt.Sprintf("receipt: byte %d: %s", e.Offset, e.Text)
}

func fail(format string, args ...any) *Error { return &Error{-1, fmt.Sprintf(format, args...)} }
