package onnx

import (
	"slices"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A trace is what a run did, node by node, those of branches among the others: what a Stream does again.
type trace struct {
	records []record
	inputs  []*slot // by place among the graph's inputs; nil for one that was left out
	outputs []*slot
	kept    []Value // held: values that are the same in every run
	broken  bool    // a node can't be done again this way: a loop, a program's own operator, or what is no tensor of numbers
}

// A slot is a tensor of a trace.
type slot struct {
	tensor tensor.Any // as the noted run had it; if it isn't fixed only its type and shape are left of it
	fixed  bool       // it is the same in every run: a weight, or what follows from weights and shapes alone
	whole  *slot      // whose memory it is a view of; nil if it has its own
	made   int        // the record that gives it, -1 for an input
	used   int        // the last record that reads it, or a view of it; len(records) if it outlives the run
	at     int        // where its memory begins
}

// A record is an operator that ran, or a condition that chose a branch.
type record struct {
	c     *compiled
	i     int
	op    *op.Op   // nil: the condition in[0] was yes
	call  *op.Call // without its inputs
	in    []*slot  // nil where one is absent
	out   []*slot
	yes   bool
	views bool // the results are views of in[0] and change with nothing else
}

// slotOf returns the slot of a value: its own, or a new one of what no record gave.
func (t *trace) slotOf(v *Value) *slot {
	if v.slot == nil {
		v.slot = &slot{tensor: v.a, fixed: true, made: -1}
	}
	return v.slot
}

// begin gives the inputs of a run their slots.
func (t *trace) begin(c *compiled, vals []Value, inputs map[string]Value) {
	t.inputs = make([]*slot, len(c.inputs))
	for i, id := range c.inputs {
		if _, ok := inputs[c.g.Inputs[i].Name]; !ok {
			continue
		}
		v := &vals[id]
		v.slot = &slot{tensor: v.a, made: -1}
		t.inputs[i] = v.slot
		t.broken = t.broken || !v.isTensor() || v.text != nil
	}
}

// release lets go of what is held.
func (t *trace) release() {
	for i := range t.kept {
		if v := &t.kept[i]; v.own != nil {
			if v.own.refs--; v.own.refs == 0 {
				v.a.Close()
			}
		}
	}
	t.kept = nil
}

// end notes which slots are the outputs.
func (t *trace) end(c *compiled, vals []Value) {
	for _, id := range c.outputs {
		v := &vals[id]
		t.broken = t.broken || !v.isTensor() || v.text != nil
		t.outputs = append(t.outputs, t.slotOf(v))
	}
	t.lifetimes()
}

// ran notes that step i gave outs.
func (t *trace) ran(c *compiled, i int, vals []Value, call *op.Call, outs []Value) {
	s := &c.steps[i]
	if t.broken = t.broken || s.own; t.broken {
		return
	}
	r := record{c: c, i: i, op: c.ops[i], call: &op.Call{Attrs: call.Attrs, Opset: call.Opset, Outputs: call.Outputs}}
	fixed := !c.ops[i].Unsteady()
	others := true
	for j, id := range s.in {
		if id < 0 || !vals[id].known() {
			r.in = append(r.in, nil)
			continue
		}
		in := t.slotOf(&vals[id])
		r.in = append(r.in, in)
		fixed = fixed && in.fixed
		others = others && (j == 0 || in.fixed)
	}
	if s.node.Op == "Shape" || s.node.Op == "Size" {
		fixed = true
	}
	for j := range outs {
		o := &outs[j]
		if !o.known() {
			r.out = append(r.out, nil)
			continue
		}
		o.slot = &slot{tensor: o.a, fixed: fixed, made: len(t.records)}
		r.out = append(r.out, o.slot)
		if fixed {
			hold(o)
			t.kept = append(t.kept, *o)
			continue
		}
		for _, in := range r.in {
			if in != nil && !in.fixed && o.a.SameData(in.tensor) {
				o.slot.whole = in
				r.views = r.views || others && in == r.in[0]
				t.broken = t.broken || !others || in != r.in[0]
			}
		}
	}
	t.records = append(t.records, r)
}

// chose notes which branch a condition led to.
func (t *trace) chose(c *compiled, i int, cond *Value, yes bool) {
	if in := t.slotOf(cond); !in.fixed && !t.broken {
		t.records = append(t.records, record{c: c, i: i, in: []*slot{in}, yes: yes})
	}
}

// lifetimes says of each slot which record reads it last.
func (t *trace) lifetimes() {
	for i, r := range t.records {
		for _, s := range r.in {
			for ; s != nil; s = s.whole {
				s.used = i
			}
		}
		for _, s := range r.out {
			if s != nil {
				s.used = i
			}
		}
	}
	for _, s := range t.outputs {
		for ; s != nil; s = s.whole {
			s.used = len(t.records)
		}
	}
}

// bytes is how much memory a slot of its own takes.
func (s *slot) bytes() int64 { return max(size(s.tensor), 0) }

// places finds where the results begin that have memory of their own, but for those that are apart, and returns how much
// they take together. One whose last reader has run makes room for later ones.
func (t *trace) places(apart map[*slot]bool) int {
	type run struct{ from, till int }
	var free []run
	end := 0
	const line = 64
	gone := make(map[int][]*slot)
	for k := range t.records {
		for _, s := range t.records[k].out {
			if s == nil || s.fixed || s.whole != nil || apart[s] {
				continue
			}
			n := (int(s.bytes()) + line - 1) &^ (line - 1)
			best := -1
			for i, r := range free {
				if r.till-r.from >= n && (best < 0 || r.till-r.from < free[best].till-free[best].from) {
					best = i
				}
			}
			if best >= 0 {
				s.at = free[best].from
				if free[best].from += n; free[best].from == free[best].till {
					free = slices.Delete(free, best, best+1)
				}
			} else if last := len(free) - 1; last >= 0 && free[last].till == end { // grows
				s.at = free[last].from
				end, free = s.at+n, free[:last]
			} else {
				s.at = end
				end += n
			}
			if n > 0 && s.used < len(t.records) {
				gone[s.used] = append(gone[s.used], s)
			}
		}
		for _, s := range gone[k] {
			n := (int(s.bytes()) + line - 1) &^ (line - 1)
			i, _ := slices.BinarySearchFunc(free, s.at, func(r run, at int) int { return r.from - at })
			free = slices.Insert(free, i, run{s.at, s.at + n})
			if i+1 < len(free) && free[i].till == free[i+1].from {
				free[i].till = free[i+1].till
				free = slices.Delete(free, i+1, i+2)
			}
			if i > 0 && free[i-1].till == free[i].from {
				free[i-1].till = free[i].till
				free = slices.Delete(free, i, i+1)
			}
		}
	}
	return end
}
