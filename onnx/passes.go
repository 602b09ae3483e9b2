package onnx

import (
	"math"
	"os"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A pass takes a graph of steps to one that does the same in less time. The results of the steps that stay have the same bits.
type pass struct {
	name string
	run  func(c *compiled) // nil: the name is asked for elsewhere
}

// passes are all of them, in the order in which a session makes them.
var passes = []pass{
	{"fold", nil}, // nodes that read constants alone run once: Session.fold
	{"trim", (*compiled).trim},
	{"pad", (*compiled).pad},
	{"swish", (*compiled).swish},
	{"rectify", (*compiled).rectify},
	{"follow", (*compiled).follow},
	{"weigh", (*compiled).weigh},
	{"last", nil}, // results lie channels last: outline.lastly
	{"join", nil}, // the inputs of a Concat are made where its result has them: outline.joined
}

// A passSet is the passes that a session makes, a bit for each.
type passSet uint

// allPasses makes all of them.
const allPasses = ^passSet(0)

// only returns a set of named passes.
func only(names ...string) (set passSet) {
	for i, p := range passes {
		if slices.Contains(names, p.name) {
			set |= 1 << i
		}
	}
	return set
}

// has reports whether the pass of a name is made.
func (p passSet) has(name string) bool { return p&only(name) != 0 }

// passesOf reads the variable ASHLAR_PASSES: "all", "none", "check", which is all and has runs compared, or names between commas. A name after a
// minus sign leaves that pass out.
func passesOf(text string) (passSet, error) {
	switch text {
	case "", "all", checkPasses:
		return allPasses, nil
	case "none":
		return 0, nil
	}
	set := passSet(0)
	if strings.HasPrefix(text, "-") {
		set = allPasses
	}
	for _, word := range strings.Split(text, ",") {
		name, without := strings.CutPrefix(word, "-")
		i := slices.IndexFunc(passes, func(p pass) bool { return p.name == name })
		if i < 0 {
			var names []string
			for _, p := range passes {
				names = append(names, p.name)
			}
			return 0, failf("%w: ASHLAR_PASSES: there is no pass %.40q; there are %s, all, none and check", tensor.ErrValue, name, strings.Join(names, ", "))
		}
		if set |= 1 << i; without {
			set &^= 1 << i
		}
	}
	return set, nil
}

// improve makes the passes of a set over a graph and those inside its nodes.
func (c *compiled) improve(set passSet) {
	c.all(func(b *compiled) bool {
		for i, p := range passes {
			if p.run != nil && set>>i&1 == 1 {
				p.run(b)
			}
		}
		return true
	})
}

// passesVar is the variable that says which passes sessions make. With checkPasses all runs are compared with runs without passes.
const passesVar, checkPasses = "ASHLAR_PASSES", "check"

// passesSet is passesOf for the environment.
func passesSet() (passSet, error) { return passesOf(os.Getenv(passesVar)) }

// uses counts the readers of each value: steps, graphs inside them, and the outputs. maker has the step that makes a value in runs, if it
// has no other result.
func (c *compiled) uses() (reads []int, maker map[int]int) {
	reads, maker = make([]int, len(c.names)), make(map[int]int)
	for _, id := range c.outputs {
		reads[id]++
	}
	for i := range c.steps {
		for id := range c.steps[i].reads() {
			reads[id]++
		}
		if s := &c.steps[i]; len(s.out) == 1 && s.out[0] >= 0 && c.ops[i] != nil && !s.own && !s.folded && s.text == nil && s.value == nil {
			maker[s.out[0]] = i
		}
	}
	return reads, maker
}

// without drops the steps that are part of others.
func (c *compiled) without(gone []bool) {
	left := 0
	for i := range c.steps {
		if !gone[i] {
			c.steps[left], c.ops[left], c.attrs[left] = c.steps[i], c.ops[i], c.attrs[i]
			left++
		}
	}
	clear(c.steps[left:])
	c.steps, c.ops, c.attrs = c.steps[:left], c.ops[:left], c.attrs[:left]
	c.lifetimes()
}

// trim asks for no results that nothing reads, as the mask of a Dropout, where the first one is the same without them.
func (c *compiled) trim() {
	reads, _ := c.uses()
	for i := range c.steps {
		s := &c.steps[i]
		if c.ops[i] == nil || s.own || s.text != nil || s.value != nil || !about(c.ops[i]).Trims {
			continue
		}
		for n := len(s.out); n > 1 && (s.out[n-1] < 0 || reads[s.out[n-1]] == 0); n-- {
			s.out = s.out[:n-1]
		}
	}
	c.lifetimes()
}

// pad makes the zeros that a Pad puts around the planes of a Conv the padding of the Conv, if nothing else reads them.
func (c *compiled) pad() {
	reads, _ := c.uses()
	maker := make(map[int]int)
	gone := make([]bool, len(c.steps))
	for i := range c.steps {
		s := &c.steps[i]
		if c.isOp(i, "Pad") && !s.folded {
			maker[s.out[0]] = i
		}
		if !c.isOp(i, "Conv") || len(s.in) < 2 || s.in[0] < 0 || reads[s.in[0]] != 1 {
			continue
		}
		j, ok := maker[s.in[0]]
		if !ok {
			continue
		}
		at := &attrs{node: s.node}
		around := c.zeros(j)
		own := make([]int64, len(around))
		if pads, ok := at.Ints("pads"); ok && at.Str("auto_pad", "NOTSET") == "NOTSET" {
			own = pads
		}
		if strings.HasPrefix(at.Str("auto_pad", ""), "SAME") || len(around) == 0 || len(own) != len(around) || at.wrong != nil || !small32(own) {
			continue
		}
		for k := range around {
			around[k] += own[k]
		}
		conv := (*plan.Op)(c.ops[i])
		c.ops[i] = (*op.Op)(plan.VariantOf(conv, dtype.Invalid, nil, func(u *plan.Use, p *plan.Draft) {
			d := *u
			d.Attrs = padding{u.Attrs, around}
			plan.Planned(conv, &d, p)
		}))
		s.in = slices.Clone(s.in)
		s.in[0], gone[j] = c.steps[j].in[0], true
		s.also = slices.Concat([]*Node{c.steps[j].node}, c.steps[j].also, s.also)
	}
	c.without(gone)
}

// padding is the attributes of a Conv but for its padding.
type padding struct {
	plan.Attrs
	pads []int64
}

func (p padding) Ints(name string) ([]int64, bool) {
	if name == "pads" {
		return p.pads, true
	}
	return p.Attrs.Ints(name)
}

func (p padding) Str(name, def string) string {
	if name == "auto_pad" {
		return def
	}
	return p.Attrs.Str(name, def)
}

// zeros returns how many zeros a Pad puts around the planes of images, as the attribute pads of a Conv says it: nil for any other Pad.
func (c *compiled) zeros(j int) []int64 {
	s := &c.steps[j]
	at := &attrs{node: s.node}
	amounts, _ := at.Ints("pads")
	if s.opset >= 11 {
		if len(s.in) < 2 || len(s.in) > 3 && s.in[3] >= 0 {
			return nil
		}
		amounts = elementsOf[int64](c, s.in[1])
		if len(s.in) > 2 && s.in[2] >= 0 && !slices.EqualFunc(elementsOf[float32](c, s.in[2]), []float32{0}, sameBits) {
			return nil
		}
	}
	rank := len(amounts) / 2
	if at.Str("mode", "constant") != "constant" || !sameBits(at.Float("value", 0), 0) || at.wrong != nil || rank < 3 || len(amounts)%2 != 0 || !small32(amounts) {
		return nil
	}
	if slices.ContainsFunc(amounts[:2], nonzero) || slices.ContainsFunc(amounts[rank:rank+2], nonzero) {
		return nil
	}
	return slices.Concat(amounts[2:rank], amounts[rank+2:])
}

func nonzero(v int64) bool { return v != 0 }

// small32 reports whether numbers are neither negative nor so large that a sum of two might be.
func small32(list []int64) bool { return slices.Min(list) >= 0 && slices.Max(list) <= math.MaxInt32 }

func sameBits(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }

// swish makes a step of a Sigmoid and the product of its operand with it, if nothing else reads it.
func (c *compiled) swish() {
	swish, _ := op.Lookup("Swish")
	sigmoid, _ := op.Lookup("Sigmoid")
	mul, _ := op.Lookup("Mul")
	reads, maker := c.uses()
	gone := make([]bool, len(c.steps))
	for i := range c.steps {
		s := &c.steps[i]
		if c.ops[i] != mul || len(s.in) != 2 || len(s.node.Attributes) > 0 {
			continue
		}
		for k, id := range s.in {
			if j, ok := maker[id]; ok && reads[id] == 1 && c.ops[j] == sigmoid && len(c.steps[j].in) == 1 && c.steps[j].in[0] == s.in[1-k] {
				c.ops[i], gone[j] = swish, true
				s.in = []int{s.in[1-k]}
				s.also = slices.Concat(s.also, []*Node{c.steps[j].node}, c.steps[j].also)
				break
			}
		}
	}
	c.without(gone)
}

// rectify makes a Relu part of the Conv or Gemm before it, if nothing else reads that one's result.
func (c *compiled) rectify() {
	reads, maker := c.uses()
	gone := make([]bool, len(c.steps))
	for i := range c.steps {
		s, o := &c.steps[i], c.ops[i]
		if o == nil || s.own || !about(o).Rectifier || len(s.in) != 1 || s.in[0] < 0 || reads[s.in[0]] != 1 {
			continue
		}
		if j, ok := maker[s.in[0]]; ok && !gone[j] {
			if both, ok := plan.Rectified((*plan.Op)(c.ops[j])); ok {
				c.ops[j], c.steps[j].out, gone[i] = (*op.Op)(both), s.out, true
				c.steps[j].also = slices.Concat(c.steps[j].also, []*Node{s.node}, s.also)
			}
		}
	}
	c.without(gone)
}

// mostFollowers is how many nodes a step has besides its own at most: each of them goes over those before it.
const mostFollowers = 64

// follow makes elementwise operators part of the product, the convolution or the BatchNormalization before them, if nothing else reads its result. Graphs of
// narrow floats stay as they are, since these are computed in float32.
func (c *compiled) follow() {
	for id := range c.vals {
		if v := &c.vals[id]; v.isTensor() && v.a.DType().IsNarrow() {
			return
		}
	}
	for i := range c.g.Inputs {
		if d, ok := c.g.Inputs[i].Type.Elem.DType(); ok && d.IsNarrow() {
			return
		}
	}
	reads, maker := c.uses()
	pixels := c.pixels()
	gone := make([]bool, len(c.steps))
	for i := range c.steps {
		s, next := &c.steps[i], c.ops[i]
		if next == nil || s.own || s.text != nil || s.value != nil || len(s.out) != 1 || s.out[0] < 0 || !about(next).Follows {
			continue
		}
		first, at := -1, 0 // the last of the steps that it may be part of, and as which input
		for k, id := range s.in {
			if j, ok := maker[id]; ok && reads[id] == 1 && j > first && about(c.ops[j]).Leads && len(c.steps[j].also) < mostFollowers {
				first, at = j, k
			}
		}
		if first < 0 || pixels[s.in[at]] && !pixels[s.out[0]] {
			continue
		}
		lead := c.steps[first]
		n, tensors, outer := len(lead.in), c.attrs[i], *s
		call := func() plan.Call {
			return plan.Call{Attrs: &attrs{node: outer.node, tensors: tensors, kept: outer.kept}, Opset: int(outer.opset), Outputs: 1}
		}
		// The step stands where the later node stood: all that it reads is made before.
		c.ops[i], c.attrs[i] = (*op.Op)(plan.Followed((*plan.Op)(c.ops[first]), n, (*plan.Op)(next), at, call, &outer)), c.attrs[first]
		others := slices.Delete(slices.Clone(s.in), at, at+1)
		lead.in, lead.out = slices.Concat(lead.in, others), s.out
		lead.also = slices.Concat(lead.also, []*Node{s.node}, s.also)
		c.steps[i], gone[first] = lead, true
	}
	c.without(gone)
}

// pixels marks values whose planes have one element, as the weights of squeeze-and-excite: results of pools of whole planes, and of products,
// convolutions and elementwise operators of such values and constants. One that meets whole planes stretches.
func (c *compiled) pixels() []bool {
	is := make([]bool, len(c.names))
	for i := range c.steps {
		s, o := &c.steps[i], c.ops[i]
		if o == nil || s.own || len(s.out) != 1 || s.out[0] < 0 {
			continue
		}
		facts, all, some := about(o), true, false
		for id := range s.reads() {
			known := c.vals[id].known()
			all, some = all && (is[id] || known), some || is[id]
		}
		is[s.out[0]] = all && some && (facts.Follows || facts.Leads) ||
			slices.Contains([]string{"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"}, o.Name())
	}
	return is
}

// weigh makes one step of a product of matrices, a Softmax of its lines, and a product of these with another matrix, if nothing else reads
// the values between them: attention. The elementwise nodes around the products are part of it where follow made them part of these.
func (c *compiled) weigh() {
	reads, maker := c.uses()
	gone := make([]bool, len(c.steps))
	// product reports whether step i multiplies two matrices that runs make, perhaps with elementwise nodes after it.
	product := func(i int) bool {
		s := &c.steps[i]
		if c.ops[i] == nil || c.ops[i].Name() != "MatMul" || s.own || s.value != nil || s.text != nil || len(s.out) != 1 || len(s.in) < 2 || s.in[1] < 0 || c.vals[s.in[1]].known() {
			return false
		}
		for _, n := range s.also {
			if o, ok := op.Lookup(n.Op); !ok || !about(o).Follows || about(o).Leads { // scales of channels aren't stretched
				return false
			}
		}
		return true
	}
	for i := range c.steps {
		s := c.steps[i]
		if c.fixed != dtype.Invalid || !product(i) || s.in[0] < 0 || reads[s.in[0]] != 1 {
			continue
		}
		j, ok := maker[s.in[0]]
		if !ok || !c.isOp(j, "Softmax") || len(c.steps[j].in) != 1 || reads[c.steps[j].in[0]] != 1 {
			continue
		}
		k, ok := maker[c.steps[j].in[0]]
		if !ok || gone[k] || !product(k) {
			continue
		}
		first, along := c.steps[k], c.steps[j]
		var calls [3]func() plan.Call
		var parts [3]any
		for n, at := range []int{k, j, i} {
			step, tensors := c.steps[at], c.attrs[at]
			parts[n] = &step
			calls[n] = func() plan.Call {
				return plan.Call{Attrs: &attrs{node: step.node, tensors: tensors, kept: step.kept}, Opset: int(step.opset), Outputs: 1}
			}
		}
		scores, softmax, product := (*plan.Op)(c.ops[k]), (*plan.Op)(c.ops[j]), (*plan.Op)(c.ops[i])
		c.ops[i] = (*op.Op)(plan.Weighed(scores, len(first.in), softmax, product, calls, parts))
		first.also = slices.Concat(first.also, []*Node{along.node}, along.also, []*Node{s.node}, s.also)
		first.in, first.out = slices.Concat(first.in, s.in[1:]), s.out
		c.attrs[i], c.steps[i] = c.attrs[k], first
		gone[j], gone[k] = true, true
	}
	c.without(gone)
}
