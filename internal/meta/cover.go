package meta

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/op/all"
	"github.com/ashlar-go/ashlar/tensor"
)

// excused are the things that no graph has, with the reason.
var excused = map[Thing]string{
	{anOperator, "SequenceEmpty"}:       "Reference gives each node values whose types it can ask for",
	{aRoute, contract.Exact.String()}:   "it is of fixed point, which ONNX lacks",
	{aRoute, contract.Patches.String()}: "it needs lines of millions of elements",
}

// A Coverage counts in how many graphs things are.
type Coverage struct {
	hits   map[Thing]int
	graphs int
}

// NewCoverage returns the counts of no graph, at the level of this process.
func NewCoverage() *Coverage {
	v := &Coverage{hits: make(map[Thing]int)}
	for _, name := range valueOperators {
		v.hits[Thing{anOperator, name}] = 0
	}
	for _, o := range all.Operators() {
		v.hits[Thing{anOperator, nameOf(o)}] = 0
		for _, d := range dtype.All() {
			if onnx.ElemOf(d) != onnx.ElemUndefined && fast(o, d) {
				v.hits[Thing{aKernel, nameOf(o) + " " + d.String()}] = 0
			}
		}
	}
	for _, d := range dtype.All() {
		if onnx.ElemOf(d) != onnx.ElemUndefined {
			v.hits[Thing{aType, d.String()}] = 0
		}
	}
	v.hits[Thing{aType, "string"}] = 0
	for _, name := range passNames {
		v.hits[Thing{aPass, name}] = 0
	}
	for to := contract.Exact; to <= contract.Direct; to++ {
		v.hits[Thing{aRoute, to.String()}] = 0
	}
	return v
}

// valueOperators are the ones that package op lacks, since they take strings, sequences, optionals or graphs.
var valueOperators = []string{"If", "Loop", "Scan", "SequenceMap", "SequenceConstruct", "SequenceEmpty", "SequenceInsert", "SequenceErase", "SequenceAt", "SequenceLength", "SplitToSequence",
	"ConcatFromSequence", "Optional", "OptionalHasElement", "OptionalGetElement", "StringNormalizer", "StringConcat", "StringSplit", "RegexFullMatch", "ai.onnx.ml.CategoryMapper"}

// fast reports whether the level of this process has kernels for an operator on a type.
func fast(o *op.Op, d dtype.DType) bool {
	return cpu.Current() > cpu.Generic && o.Supports(d) && plan.FastFor((*plan.Op)(o), d, cpu.Current())
}

// Add counts the things that a case has in its first set. Of the passes of a session it looks at one, the next one in each
// case.
func (v *Coverage) Add(c *Case) error {
	seen := make(map[Thing]bool)
	f := frame{m: c.Model, seen: func(n *onnx.Node, s scope) { things(c.Model, n, s, seen) }}
	if err := f.graph(c.Model.Graph, maps.Clone(c.Sets[0].In)); err != nil {
		return err
	}
	name := passNames[v.graphs%len(passNames)]
	if changed, err := c.changes(name); err != nil {
		return fmt.Errorf("pass %s: %w", name, err)
	} else if changed {
		seen[Thing{aPass, name}] = true
	}
	v.graphs++
	for t := range seen {
		if _, ok := v.hits[t]; ok {
			v.hits[t]++
		}
	}
	return nil
}

// Search adds small graphs that are drawn for a thing, until one has it. It gives up after 60 graphs. Each graph is given to
// try, too.
func (v *Coverage) Search(t Thing, try func(c *Case) error) error {
	for seed := uint64(0); seed < 60 && v.hits[t] == 0; seed++ {
		c := newCase(seed, 8, t)
		if err := try(c); err != nil {
			return err
		}
		if err := v.Add(c); err != nil {
			return err
		}
	}
	return nil
}

// things notes a node that ran: its operator, and the types of the values around it, and its kernel for each type that it reads.
func things(m *onnx.Model, n *onnx.Node, s scope, seen map[Thing]bool) {
	name := n.Op
	if n.Domain != "" && n.Domain != extras {
		name = n.Domain + "." + n.Op
	}
	seen[Thing{anOperator, name}] = true
	for i, value := range slices.Concat(n.Inputs, n.Outputs) {
		a := s[value]
		if value == "" || a.Kind() != onnx.KindTensor {
			continue
		}
		if a.Strings() != nil {
			seen[Thing{aType, "string"}] = true
			continue
		}
		d := a.Tensor().DType()
		seen[Thing{aType, d.String()}] = true
		if i < len(n.Inputs) {
			seen[Thing{aKernel, name + " " + d.String()}] = true
		}
	}
	if n.Op != "Conv" || n.Domain != "" {
		return
	}
	x, w := s[n.Inputs[0]].Tensor(), s[n.Inputs[1]].Tensor()
	u := &plan.Use{Call: plan.Call{Attrs: attributesOf(n)}}
	g := contract.ConvOf(n.Op, &x, &w, nil, contract.WindowOf(u), int(plan.AttrInt(u, "group", 1)))
	kept := slices.ContainsFunc(m.Graph.Initializers, func(t onnx.TensorProto) bool { return t.Name == n.Inputs[1] })
	for _, last := range []bool{false, true} { // as a session may choose
		to, _ := g.Route(contract.Case{Type: x.DType(), Rows: cpu.Current() > cpu.Generic, Last: last && kept, Kept: kept})
		seen[Thing{aRoute, to.String()}] = true
	}
}

// attributesOf are the attributes of a node for an operator.
func attributesOf(n *onnx.Node) op.AttrMap {
	m := make(op.AttrMap)
	for _, a := range n.Attributes {
		m[a.Name] = a.Value
	}
	return m
}

// changes reports whether a pass alone changes the steps of the first set. It doesn't for a case whose steps can't be listed,
// since it has other inputs than tensors of numbers.
func (c *Case) changes(pass string) (bool, error) {
	in := make(map[string]tensor.Any)
	for name, v := range c.Sets[0].In {
		if v.Kind() != onnx.KindTensor || v.Strings() != nil {
			return false, nil
		}
		in[name] = v.Tensor()
	}
	var list [2]string
	for i, set := range []string{"none", pass} {
		back := passes(set)
		s, err := onnx.NewSession(c.Model)
		back()
		if err != nil {
			return false, err
		}
		steps, err := s.Steps(in)
		if err != nil {
			return false, err
		}
		p, err := s.Plan(in)
		if err != nil {
			return false, err
		}
		list[i] = fmt.Sprintln(p.Weights) // results of weights are weights after the pass fold
		for _, step := range steps {
			list[i] += fmt.Sprintln(step.String(), step.How, step.Last)
			for _, v := range step.Results {
				list[i] += fmt.Sprintln(v.Name, v.In)
			}
		}
	}
	return list[0] != list[1], nil
}

// Missing returns the things that no graph has, but for those that are excused; and excused ones that one has.
func (v *Coverage) Missing() (missing, wrong []Thing) {
	for t, n := range v.hits {
		switch _, ok := excused[t]; {
		case n == 0 && !ok:
			missing = append(missing, t)
		case n > 0 && ok:
			wrong = append(wrong, t)
		}
	}
	for _, list := range [][]Thing{missing, wrong} {
		slices.SortFunc(list, compareThings)
	}
	return missing, wrong
}

func compareThings(a, b Thing) int {
	return cmp.Or(cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)), cmp.Compare(a.Name, b.Name))
}

// String is a line for each kind of things: how many of them graphs have, and the names of the others.
func (v *Coverage) String() (text string) {
	missing, _ := v.Missing()
	for _, kind := range kinds {
		most, hit, left := 0, 0, 0
		for t, n := range v.hits {
			if t.Kind == kind {
				most++
				hit += min(n, 1)
			}
		}
		var names []string
		for _, t := range missing {
			if t.Kind == kind {
				names = append(names, t.Name)
			}
		}
		if left = len(names); left > 8 {
			names = append(names[:8:8], fmt.Sprintf("and %d others", left-8))
		}
		if kind == aPass {
			kind = "passe"
		}
		text += fmt.Sprintf("%ss: %d of %d, %d excused", kind, hit, most, most-hit-left)
		if left > 0 {
			text += fmt.Sprintf(", never %s", strings.Join(names, ", "))
		}
		text += "\n"
	}
	return text
}

// Table has a line for each thing: how many graphs have it. Passes are looked for in a part of the graphs each.
func (v *Coverage) Table() (text string) {
	for _, t := range slices.SortedFunc(maps.Keys(v.hits), compareThings) {
		text += fmt.Sprintf("%7d %v", v.hits[t], t)
		if why, ok := excused[t]; ok {
			text += ": " + why
		}
		text += "\n"
	}
	return text
}
