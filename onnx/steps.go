package onnx

import (
	"context"
	"maps"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Step is what a prepared run does at one time: one node, or several that a session made one step.
type Step struct {
	Nodes   []*Node     // the first is the one that errors and Options.Observe name
	Depth   int         // 0 in the model's graph, 1 in a branch inside one of its nodes, and so on
	How     string      // see Session.Steps
	Kernel  string      // the level of ASHLAR_CPU if the operator of the first node has rows or tiles for it; else ""
	Results []StepValue // those that something reads
}

// A StepValue is a result of a Step.
type StepValue struct {
	Name  string
	Value tensor.Any // a Spec; the zero Any where only a run can describe it
	Bytes int64      // 0 where that isn't known
	At    int64      // where it begins in the memory that the values of a run have in common; -1 if it isn't there
	In    string     // the value whose memory it has a part of: it is a view of it, or is joined with others there
}

// Steps says how a session prepares its runs with these inputs, which may be descriptions (tensor.Spec). An input may be left out whose
// shape the model declares. How is:
//   - constant: the results are the same in every run, and computed once;
//   - view: they are views of the first input, or a copy where its layout has no such view;
//   - planned: the step is planned once, and writes its result to its place;
//   - plain: the run plans it each time;
//   - branch: it runs one of the graphs inside its node, whose steps follow.
//
// Errors are those of Plan.
func (s *Session) Steps(inputs map[string]tensor.Any) (list []Step, err error) {
	st, err := s.Stream(StreamOptions{})
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
	all := make(map[string]tensor.Any)
	maps.Copy(all, inputs)
	for i, id := range s.c.inputs {
		name := s.c.g.Inputs[i].Name
		if _, ok := inputs[name]; !ok && !s.c.given[id] && known[id].isTensor() {
			all[name] = known[id].a
		}
	}
	vals, err := s.bind(valuesOf(all))
	if err != nil {
		return nil, err
	}
	if err = st.describe(all); err != nil {
		return nil, err
	}
	st.under = op.WithThreads(context.Background(), 1)
	limit := st.o.limit()
	if _, err = s.plan(st.under, valuesOf(all), vals, limit); err != nil {
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
	if s.passes.has("join") {
		z.joined(root)
	} else {
		z.places()
	}
	return root.list(nil, 0), nil
}

// list appends the steps of a graph.
func (d *drawing) list(list []Step, depth int) []Step {
	name := make(map[*slot]string)
	for id, s := range d.slots {
		if s != nil {
			name[s] = d.c.names[id]
		}
	}
	for i := range d.steps {
		s := &d.c.steps[i]
		if !d.c.runs(i) {
			continue
		}
		step := Step{Nodes: append([]*Node{s.node}, s.also...), Depth: depth, How: [...]string{"constant", "view", "planned", "plain", "branch", "view"}[d.steps[i].how]}
		for _, id := range s.out {
			if id < 0 || d.slots[id] == nil {
				continue
			}
			slot := d.slots[id]
			v := StepValue{Name: d.c.names[id], Value: slot.like, Bytes: slot.bytes(), At: -1}
			switch {
			case slot.part != nil:
				v.In = name[slot.part]
			case len(slot.whole) > 0:
				v.In = name[slot.whole[0]]
			case slot.as != nil:
				v.In = name[slot.as]
			case slot.common():
				v.At = int64(slot.at)
			}
			step.Results = append(step.Results, v)
		}
		if o := d.c.ops[i]; d.steps[i].how == planned && len(s.in) > 0 && s.in[0] >= 0 && d.vals[s.in[0]].isTensor() {
			if l := cpu.Current(); l > cpu.Generic && plan.FastFor(o, d.vals[s.in[0]].a.DType(), l) {
				step.Kernel = l.String()
			}
		}
		list = append(list, step)
		for k, e := range d.steps[i].ways {
			if e != nil && (k == 0 || e != d.steps[i].ways[0]) {
				list = e.list(list, depth+1)
			}
		}
	}
	return list
}
