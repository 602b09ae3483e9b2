package ask

import (
	"context"
	"strconv"
	"strings"

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

// Instruction finds the instruction with the name of the question, or the names that begin so.
func Instruction(_ context.Context, q *Question) (*Matrices, error) {
	m, err := judge.Instruction(q.What)
	if err != nil {
		if names := judge.Instructions(q.What); len(names) > 0 {
			return &Matrices{Names: names}, nil
		}
		return nil, in("what", false, err)
	}
	out := &Matrices{MatrixInstruction: m}
	for _, f := range m.Fragments {
		out.Operands = append(out.Operands, Operand{f, f.TV.String(), f.TV.Dim(0), f.TV.Dim(1)})
	}
	return out, nil
}

// Loaded tells how an operand comes from a layout: by a load to registers, by a descriptor, or by either.
type Loaded struct {
	Layout    string           `json:"layout"`
	Clean     bool             `json:"clean"` // there are no conflicts
	Load      *judge.Load      `json:"load,omitempty"`
	Canonical *judge.Canonical `json:"canonical,omitempty"` // of an instruction that reads shared memory
	Answer    string           `json:"answer,omitempty"`    // the swizzle without conflicts, or with a canonical layout
	Why       string           `json:"why,omitempty"`
}

// Load tells how an operand, By, of an instruction comes from the layout A, and finds the swizzle without conflicts. It is
// without them for the other accesses of the question too.
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
	for k, text := range q.Access {
		if strings.TrimSpace(text) != "" && r.err == nil {
			var a judge.Access
			a, err = judge.ParseAccess(text)
			r.err, others = in("access"+strconv.Itoa(k), true, err), append(others, a)
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	described := strings.HasPrefix(m.Name, "sm90.wgmma.") && (q.By == "A" || q.By == "B")
	if _, err := m.Fragment(q.By); err != nil && !described {
		return nil, in("by", true, err)
	}
	out := &Loaded{Layout: Text(l)}
	if described {
		c, err := judge.SolveCanonical(l, m, q.By)
		if err != nil {
			return nil, in("a", false, err)
		}
		if out.Canonical, out.Clean = c, c.Found && c.Report.Clean(); c.Mends {
			out.Answer, out.Why = c.Mend.String(), "the widest swizzle of the inner layout that a descriptor has"
		}
		return out, nil
	}
	if out.Load, err = judge.SolveLoad(ctx, l, b, m, q.By, others...); err != nil {
		return nil, in("a", false, err)
	}
	out.Clean = out.Load.Report.Clean()
	out.Answer, out.Why = swizzleOf(out.Load.Swizzle)
	return out, nil
}

// swizzleOf writes the answer of a search, if there was one.
func swizzleOf(s *judge.SwizzleResult) (answer, why string) {
	if s == nil {
		return "", ""
	}
	if answer = "none"; s.Found {
		answer = s.Swizzle.String()
	}
	return answer, s.Why()
}

// Staged tells how a tile comes from the layout A, in global memory, to B.
type Staged struct {
	*judge.Stage
	From   string `json:"from"`
	To     string `json:"to"`
	Bits   int    `json:"bits"`
	Clean  bool   `json:"clean"` // there are no conflicts
	Answer string `json:"answer,omitempty"`
	Why    string `json:"why,omitempty"`
}

// Stage tells how a tile of elements Elem comes from A to B, by asynchronous copies of some threads or by boxes.
func Stage(ctx context.Context, q *Question) (*Staged, error) {
	r := reader{Question: q}
	m, align := r.lines()
	bits, threads := r.bits("elem", q.Elem), r.number("threads", q.Thread)
	from, to := r.layout("a", q.A), r.layout("b", q.B)
	b, err := judge.ParseBanks(q.Banks)
	switch {
	case err != nil:
		return nil, in("banks", true, err)
	case r.err != nil:
		return nil, r.err
	}
	s, err := judge.SolveStage(ctx, from, to, m, b, align, bits, threads)
	if err != nil {
		return nil, in("a", false, err)
	}
	out := &Staged{Stage: s, From: Text(from), To: Text(to), Bits: bits, Clean: s.Report == nil || s.Report.Clean()}
	out.Answer, out.Why = swizzleOf(s.Swizzle)
	return out, nil
}

// Matrix is the tile of a fragment, in the order in which its thread–value layout counts.
func (o *Operand) Matrix() (layout.Composed, error) {
	l, err := layout.ColMajor(o.Shape()...)
	return judge.Plain(l), err
}
