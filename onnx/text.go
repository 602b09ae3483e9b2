package onnx

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/ashlar-go/ashlar/onnx/internal/text"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// Operators of package op on tensors of strings, which hold numbers of a table. Those that move elements, or compare them
// for equality, run on the numbers. The others of this file and textops.go look at the strings themselves.

// once is something that is made of a node's attributes when it is needed first.
type once struct {
	sync.Once
	v   any
	err error
}

// memory is what an operator made of the attributes of its node.
type memory struct {
	sync.Mutex
	v any
}

// keep returns what make made of the step's attributes, the first time or before.
func keep[T any](k *flowCall, make func() (T, error)) (v T, err error) {
	k.s.read.Do(func() { k.s.read.v, k.s.read.err = make() })
	if k.s.read.err != nil {
		return v, k.s.read.err
	}
	return k.s.read.v.(T), nil
}

// all are the inputs or outputs of an operator that has any number.
const all = ^uint(0)

// moves says of operators that move elements or compare them which inputs, and then which outputs, hold strings.
var moves = map[string]struct{ in, out uint }{
	"ai.onnx.ml.ArrayFeatureExtractor": {1, 1},
	"CenterCropPad":                    {1, 1}, "Compress": {1, 1}, "Concat": {all, 1}, "DepthToSpace": {1, 1}, "Equal": {3, 0},
	"Expand": {1, 1}, "Flatten": {1, 1}, "Gather": {1, 1}, "GatherElements": {1, 1}, "GatherND": {1, 1}, "Identity": {1, 1},
	"OneHot": {4, 1}, "Pad": {5, 1}, "Reshape": {1, 1}, "ReverseSequence": {1, 1}, "Scatter": {5, 1}, "ScatterElements": {5, 1},
	"ScatterND": {5, 1}, "Shape": {1, 0}, "Size": {1, 0}, "Slice": {1, 1}, "SpaceToDepth": {1, 1}, "Split": {1, all},
	"Squeeze": {1, 1}, "Tile": {1, 1}, "Transpose": {1, 1}, "Trilu": {1, 1}, "Unique": {1, 1}, "Unsqueeze": {1, 1}, "Where": {6, 1},
}

// textFlows are the operators on strings and maps, and the forms for strings of those that package op has.
func textFlows() (list []*flow) {
	for name, m := range moves {
		domain := ""
		if own, ok := strings.CutPrefix(name, mlDomain+"."); ok {
			domain, name = mlDomain, own
		}
		f := computed(name, 0, -1, func(k *flowCall) ([]Value, error) { return k.move(m.in, m.out) }, nil)
		f.domain, f.asks = domain, func(*Node) bool { return false }
		list = append(list, f)
	}
	cast := func(name string, versions ...int) *flow {
		f := simple(name, 1, 2, castStrings, nil, versions...)
		f.asks = func(n *Node) bool {
			a := n.Attr("to")
			return a != nil && a.Value == int64(ElemString)
		}
		return f
	}
	list = append(list, cast("Cast", 6, 9, 13, 19, 21, 23, 24, 25), cast("CastLike", 15, 19, 21, 23, 24, 25),
		simple("StringNormalizer", 1, 1, normalizeStrings, []string{"case_change_action", "is_case_sensitive", "locale", "stopwords"}, 10),
		simple("StringConcat", 2, 2, concatStrings, nil, 20),
		computed("StringSplit", 1, 1, splitStrings, []string{"delimiter", "maxsplit"}, 20),
		simple("RegexFullMatch", 1, 1, matchStrings, []string{"pattern"}, 20),
	)
	return append(list, mlFlows()...)
}

// table is that of the strings among the results.
func (k *flowCall) table() *text.Table {
	if k.fr != nil {
		return k.fr.text
	}
	return k.c.text
}

// numbers returns input j, which must be a tensor of numbers.
func (k *flowCall) numbers(j int) (tensor.Any, error) {
	if k.in[j].text != nil {
		return tensor.Any{}, input(j, failf("%w: it is %v; the operator takes numbers there", tensor.ErrDType, k.in[j]))
	}
	return k.tensor(j)
}

// strings returns input j, which must be a tensor of strings.
func (k *flowCall) strings(j int) (*Value, error) {
	if k.in[j].text == nil {
		return nil, input(j, failf("%w: it is %v; the operator takes strings there", tensor.ErrDType, k.in[j]))
	}
	return &k.in[j], nil
}

// apply runs the step's operator of package op; while inferring it describes the results.
func (k *flowCall) apply(inputs []tensor.Any) ([]tensor.Any, error) {
	return k.applyAs(k.c.ops[k.i], k.s.node, int(k.s.opset), inputs)
}

// applyAs is apply for an operator with the attributes of a node.
func (k *flowCall) applyAs(o *op.Op, node *Node, opset int, inputs []tensor.Any) ([]tensor.Any, error) {
	a := &attrs{node: node, tensors: k.attrs.tensors, kept: k.s.kept}
	call := &op.Call{Attrs: a, Opset: opset, Outputs: len(k.s.out), Inputs: inputs}
	if err := checkAxes(node, inputs); err != nil {
		return nil, err
	}
	outs, err := o.Infer(call)
	if k.fr != nil {
		if err == nil {
			var need int64
			for _, out := range outs {
				need = add(need, max(size(out), 0))
			}
			if err := k.fr.room(need); err != nil {
				return nil, err
			}
		}
		call.Context = k.fr.ctx
		outs, err = o.Run(call)
	}
	if a.wrong != nil {
		err = a.wrong
	}
	if err == nil {
		err = checkRanks(outs)
	}
	return outs, err
}

// move runs the step's operator on numbers of strings.
func (k *flowCall) move(in, out uint) ([]Value, error) {
	inputs := make([]tensor.Any, len(k.in))
	for j := range k.in {
		if !k.in[j].known() {
			continue
		}
		var err error
		if in>>min(j, 63)&1 == 0 {
			inputs[j], err = k.numbers(j)
		} else if _, err = k.strings(j); err == nil {
			inputs[j] = k.in[j].a
		}
		if err != nil {
			return nil, err
		}
	}
	if how := k.attrs.Str("reduction", "none"); how != "none" {
		return nil, inAttr("reduction", failf("%w: it is %.40q; strings aren't computed with", tensor.ErrDType, how))
	}
	if k.s.node.Op == "Unique" && k.fr != nil && k.attrs.Int("sorted", 1) != 0 {
		return k.unique(inputs[0])
	}
	outs, err := k.apply(inputs)
	if err != nil {
		return nil, err
	}
	return k.marked(outs, out), nil
}

// marked returns tensors as results, of which out says which hold strings.
func (k *flowCall) marked(outs []tensor.Any, out uint) []Value {
	vals := make([]Value, len(outs))
	for j, a := range outs {
		if a.IsZero() {
			continue
		}
		if vals[j] = k.fresh(a); out>>min(j, 63)&1 == 1 {
			vals[j].text = k.table()
		}
	}
	return vals
}

// unique is Unique in the order of strings: it runs on their places in that order.
func (k *flowCall) unique(a tensor.Any) ([]Value, error) {
	list := numbersIn(a)
	t := k.in[0].text
	order := slices.Clone(list)
	slices.Sort(order)
	order = slices.Compact(order)
	slices.SortFunc(order, func(i, j int32) int { return strings.Compare(t.At(i), t.At(j)) })
	place := make(map[int32]int32, len(order))
	for p, i := range order {
		place[i] = int32(p)
	}
	for i := range list {
		list[i] = place[list[i]]
	}
	outs, err := k.apply([]tensor.Any{shaped(list, a.Shape())})
	if err != nil {
		return nil, err
	}
	entries := numbersIn(outs[0])
	for i, p := range entries {
		entries[i] = order[p]
	}
	outs[0] = shaped(entries, outs[0].Shape())
	return k.marked(outs, 1), nil
}

// numbersIn returns a copy of the elements of a tensor of strings.
func numbersIn(a tensor.Any) []int32 {
	return slices.AppendSeq(make([]int32, 0, a.Len()), tensor.ValuesOf[int32](a))
}

// shaped returns a tensor over list.
func shaped[T int32 | int64 | float32 | float64 | uint64 | bool](list []T, shape []int) tensor.Any {
	return tensor.FromSlice(list, len(list)).Any().Reshape(shape...)
}

// intern adds a string to the table of the run.
func (k *flowCall) intern(s string) (int32, error) {
	t := k.fr.text
	if i, ok := t.Find(s); ok {
		return i, nil
	}
	if t.Len() == math.MaxInt32 {
		return 0, failf("%w: the run makes more than %d different strings", tensor.ErrMemory, math.MaxInt32)
	}
	if err := k.fr.room(int64(len(s)) + text.PerString); err != nil {
		return 0, err
	}
	return t.Add(s), nil
}

// often is how many elements are worked on between two looks at the context.
const often = 1 << 12

// mapped returns f of each string of v, which it computes once for each different one.
func mapped[T any](k *flowCall, v *Value, f func(s string) (T, error)) ([]T, error) {
	if err := k.fr.room(int64(v.a.Len()) * 8); err != nil {
		return nil, err
	}
	out := make([]T, 0, v.a.Len())
	known := make(map[int32]T)
	for i := range tensor.ValuesOf[int32](v.a) {
		r, ok := known[i]
		if !ok {
			var err error
			if r, err = f(v.text.At(i)); err != nil {
				return nil, in(fmt.Sprintf("element %d", len(out)), err)
			}
			known[i] = r
		}
		out = append(out, r)
		if len(out)%often == 0 {
			if err := k.fr.ctx.Err(); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// stringsOf returns strings by their numbers as a result.
func (k *flowCall) stringsOf(list []int32, shape []int) Value {
	v := k.fresh(shaped(list, shape))
	v.text = k.table()
	return v
}

// inferred is a result that is known only in its type; nothing where shape is nil.
func (k *flowCall) inferred(e elem, shape []int) (Value, error) {
	v := describedAs(e, shape...)
	if !v.known() {
		return v, failf("%w: a result of shape %v", tensor.ErrShape, shape)
	}
	return v, nil
}
