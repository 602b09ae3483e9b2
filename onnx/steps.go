package onnx

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Step is the work of a prepared run at one time: one node, or several that a session made one step.
type Step struct {
	Nodes    []*Node     // the first is the one that errors and Options.Observe name
	Depth    int         // 0 in the model's graph, 1 in a branch inside one of its nodes, and so on
	Branch   string      // the attribute that holds the branch; "" in the model's graph
	How      string      // see Session.Steps
	Integers bool        // it runs on the integers of quantized operands: see NewIntegerSession
	Kept     int64       // bytes of weights that it keeps packed where Options.MaxMemory has room for them
	Kernel   string      // the level of ASHLAR_CPU if the operator of the first node has rows or tiles for it; else ""
	FLOPs    int64       // of the first node, if that is a convolution whose FLOPs are known
	Last     bool        // it is a convolution whose input or result lies channels last
	Why      string      // why a convolution stays in planes; "" for other steps
	Reads    []StepRead  // values that may differ from run to run, each once; a step that chooses a branch reads the results of its graphs, too
	Results  []StepValue // the results that something reads
}

// String returns the operators of the nodes, as Conv+Relu. Several of one operator in a row have a number, as 3 DequantizeLinear.
func (s *Step) String() string {
	var ops, names []string
	for _, n := range s.Nodes {
		if n != nil {
			names = append(names, opName(n.Domain, n.Op))
		}
	}
	for len(names) > 0 {
		name, count := names[0], 1
		for count < len(names) && names[count] == name {
			count++
		}
		if names = names[count:]; count > 1 {
			name = fmt.Sprintf("%d %s", count, name)
		}
		ops = append(ops, name)
	}
	return strings.Join(ops, "+")
}

// Way returns How, Integers, Kernel, Kept and Branch as one text: "planned on integers, avx2, keeps 4096 bytes".
func (s *Step) Way() string {
	way := s.How
	if s.Integers {
		way += " on integers"
	}
	if s.Kernel != "" {
		way += ", " + s.Kernel
	}
	if s.Kept > 0 {
		way += fmt.Sprintf(", keeps %d bytes", s.Kept)
	}
	if s.Branch != "" {
		way += ", in " + s.Branch
	}
	return way
}

// A StepRead is a value that a Step reads.
type StepRead struct {
	Name string
	Step int // the index of the step that gives it, -1 for an input of the model
}

// A StepValue is a result of a Step.
type StepValue struct {
	Name  string
	Value tensor.Any // a Spec, without the layout of a view; the zero Any where only a run can describe it
	Bytes int64      // 0 where that isn't known
	At    int64      // where it begins in the memory that the values of a run have in common; -1 if it isn't there
	In    string     // the value whose memory it has a part of: it is a view of it, is joined with others there, or becomes it by a branch

	Region *Region // of the results that lie channels last together, or don't; nil if this one can't
	lay    *layout.Layout
}

// Layout returns the layout of a result, if it is known before the run: of a step that is planned, and of a constant.
func (v *StepValue) Layout() (lay layout.Layout, ok bool) {
	if v.lay == nil {
		return lay, false
	}
	return *v.lay, true
}

// Place says where a value lies that isn't a constant's.
func (v *StepValue) Place() string {
	switch {
	case v.Value.IsZero():
		return "known in a run"
	case v.In != "":
		return "in " + v.In
	case v.At >= 0:
		return fmt.Sprintf("at %d", v.At)
	}
	return "its own"
}

// Steps says how a session prepares its runs with these inputs, which may be descriptions (tensor.Spec). An input may be left out whose
// shape the model declares in numbers alone. How is:
//   - constant: the results are the same in every run, and computed once;
//   - view: they are views of the first input, or a copy where its layout has no such view;
//   - planned: the step is planned once, and writes its result to its place;
//   - plain: the run plans it each time;
//   - branch: it runs one of the graphs inside its node, whose steps follow.
//
// It returns the errors of Plan.
func (s *Session) Steps(inputs map[string]tensor.Any) (list []Step, err error) {
	st, err := s.Stream(nil)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	err = s.use(func() error {
		list, err = s.steps(st, inputs)
		return err
	})
	return list, err
}

func (s *Session) steps(st *Stream, inputs map[string]tensor.Any) ([]Step, error) {
	known, err := s.c.described(inputs)
	if err != nil {
		return nil, err
	}
	all, numbers := valuesOf(inputs), make(map[string]tensor.Any)
	maps.Copy(numbers, inputs)
	for i, id := range s.c.inputs {
		name := s.c.g.Inputs[i].Name
		if _, ok := inputs[name]; !ok && !s.c.given[id] && known[id].isTensor() {
			if all[name] = known[id]; known[id].text == nil {
				numbers[name] = known[id].a
			}
		}
	}
	vals, err := s.bind(all)
	if err != nil {
		return nil, err
	}
	if err = st.describe(numbers); err != nil {
		return nil, err
	}
	st.under = op.WithThreads(context.Background(), 1)
	limit := st.o.limit()
	if _, err = s.plan(st.under, all, vals, limit); err != nil {
		return nil, err
	}
	z, root, err := st.outlined(vals, limit)
	if err != nil {
		return nil, err
	}
	defer z.drop()
	for _, ids := range [][]int{s.c.outputs, s.c.inputs} {
		for _, id := range ids {
			if slot := root.slots[id]; slot != nil && slot.common() {
				slot.apart = true
			}
		}
	}
	if s.passes.has("last") {
		z.lastly(root, limit-s.weights, limit <= 0)
	}
	if s.passes.has("join") {
		z.joined(root)
	} else {
		z.places()
	}
	l := listing{names: make(map[*slot]string)}
	made := make(map[int]int)
	for _, id := range s.c.inputs {
		made[id] = -1
	}
	l.add(root, 0, made)
	return l.steps, nil
}

// A listing is steps as they are listed, and the names of values.
type listing struct {
	steps []Step
	names map[*slot]string
}

// add lists the steps of a graph. made maps values to the steps that give them; add adds the values of this graph.
func (l *listing) add(d *drawing, depth int, made map[int]int) {
	for id, s := range d.slots {
		if s != nil && l.names[s] == "" {
			l.names[s] = d.c.names[id]
		}
	}
	for i := range d.steps {
		s := &d.c.steps[i]
		if !d.c.runs(i) {
			continue
		}
		step := Step{Nodes: append([]*Node{s.node}, s.also...), Depth: depth, Integers: s.integers, How: [...]string{"constant", "view", "planned", "plain", "branch", "view"}[d.steps[i].how]}
		if depth > 0 {
			step.Branch = d.c.attr
		}
		seen := make(map[StepRead]bool)
		for id := range s.reads() {
			if how := d.steps[i].how; how != already && (how != choosing || id == s.in[0]) {
				step.read(d, id, made, seen)
			}
		}
		if o := d.c.ops[i]; d.steps[i].how == planned && len(s.in) > 0 && s.in[0] >= 0 && d.vals[s.in[0]].isTensor() {
			if level := cpu.Current(); level > cpu.Generic && plan.FastFor((*plan.Op)(o), d.vals[s.in[0]].a.DType(), level) {
				step.Kernel = level.String()
			}
			if call, _, err := d.c.call(i, d.vals, nil); err == nil {
				call.Fixed = d.fixed(i)
				if p, err := o.Plan(call); err == nil {
					step.Kept = draftOf(p).KeepsAs(d.runsLast(i))
				}
			}
		}
		if o := d.c.ops[i]; o != nil && about(o).Convolves && d.steps[i].how != already {
			step.FLOPs, step.Last = int64(d.steps[i].flops), d.steps[i].how == planned && d.runsLast(i)
			step.Why = d.stays(i)
		}
		at := len(l.steps)
		l.steps = append(l.steps, step)
		for k, e := range d.steps[i].ways {
			if e == nil || k > 0 && e == d.steps[i].ways[0] {
				continue
			}
			inside := make(map[int]int)
			for _, o := range e.c.captures {
				if from, ok := made[o.from]; ok {
					inside[o.id] = from
				}
			}
			l.add(e, depth+1, inside)
			for _, id := range e.c.outputs {
				l.steps[at].read(e, id, inside, seen)
			}
		}
		for _, id := range s.out {
			if id < 0 || d.slots[id] == nil {
				continue
			}
			made[id] = at
			slot := d.slots[id]
			v := StepValue{Name: d.c.names[id], Value: slot.like, Bytes: slot.bytes(), At: -1, Region: slot.region}
			if how := d.steps[i].how; !slot.loose && (how == planned || how == already) {
				lay := slot.like.Layout()
				if slot.last {
					lay, _ = layoutLast(slot.like.Shape())
				}
				v.lay = &lay
			}
			switch {
			case slot.loose:
			case slot.part != nil:
				v.In = l.names[slot.part]
			case len(slot.whole) > 0:
				v.In = l.names[slot.whole[0]]
			case slot.as != nil:
				v.In = l.names[slot.as]
			case slot.common():
				v.At = int64(slot.at)
			}
			l.steps[at].Results = append(l.steps[at].Results, v)
		}
	}
}

// read notes that a step reads a value of a graph.
func (s *Step) read(d *drawing, id int, made map[int]int, seen map[StepRead]bool) {
	from, ok := made[id]
	if !ok || d.slots[id] == nil || d.slots[id].fixed {
		return
	}
	if r := (StepRead{d.c.names[id], from}); !seen[r] {
		seen[r] = true
		s.Reads = append(s.Reads, r)
	}
}
