package ask

import (
	"context"

	"github.com/ashlar-go/ashlar/judge"
	"github.com/ashlar-go/ashlar/layout"
)

// Matrices is a matrix instruction, or the names that begin with a prefix.
type Matrices struct {
	*judge.MatrixInstruction
	Operands []Operand `json:"operands,omitempty"`
	Names    []string  `json:"names,omitempty"`
}

// An Operand is a fragment with its thread–value layout.
type Operand struct {
	judge.Fragment
	Layout  string `json:"layout"`
	Threads int    `json:"threads"`
	Values  int    `json:"values"` // elements of a thread
}

// Instruction finds the instruction A, or the names that begin with A.
func Instruction(_ context.Context, q *Question) (*Matrices, error) {
	m, err := judge.Instruction(q.A)
	if err != nil {
		if names := judge.Instructions(q.A); len(names) > 0 {
			return &Matrices{Names: names}, nil
		}
		return nil, in("a", false, err)
	}
	out := &Matrices{MatrixInstruction: m}
	for _, f := range m.Fragments {
		out.Operands = append(out.Operands, Operand{f, f.TV.String(), f.TV.Dim(0), f.TV.Dim(1)})
	}
	return out, nil
}

// Loaded is a load of an operand, with the layout from which it comes.
type Loaded struct {
	*judge.Load
	Layout string `json:"layout"`
	Clean  bool   `json:"clean"`            // there are no conflicts
	Answer string `json:"answer,omitempty"` // the swizzle without conflicts
	Why    string `json:"why,omitempty"`
}

// Load tells how the operand By of the instruction What comes from the layout A, and finds the swizzle without conflicts. It
// is without them for the other accesses of the question too.
func Load(ctx context.Context, q *Question) (*Loaded, error) {
	m, err := judge.Instruction(q.What)
	if err != nil {
		return nil, in("what", true, err)
	}
	b, err := judge.ParseBanks(q.Banks)
	if err != nil {
		return nil, in("banks", true, err)
	}
	r := reader{Question: q}
	l := r.layout("a", q.A)
	var others []judge.Access
	for _, text := range q.Access {
		a, err := judge.ParseAccess(text)
		if err != nil && r.err == nil {
			r.err = in("access", true, err)
		}
		others = append(others, a)
	}
	if r.err != nil {
		return nil, r.err
	}
	load, err := judge.SolveLoad(ctx, l, b, m, q.By, others...)
	if err != nil {
		return nil, in("a", false, err)
	}
	out := &Loaded{Load: load, Layout: Text(l), Clean: load.Report.Clean()}
	if s := load.Swizzle; s != nil {
		if out.Why = s.Why(); s.Found {
			out.Answer = s.Swizzle.String()
		}
	}
	return out, nil
}

// Matrix is the tile of a fragment, in the order in which its thread–value layout counts.
func (o *Operand) Matrix() (layout.Composed, error) {
	l, err := layout.ColMajor(o.Shape()...)
	return judge.Plain(l), err
}
