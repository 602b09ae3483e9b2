package onnx

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/tensor"
)

// Operators of package op on tensors of strings, which hold numbers of a table. The operators that move elements, or compare them
// for equality, run on the numbers. The operators of stringops.go look at the strings themselves.

// move runs the step's operator on numbers of strings.
func (k *valueCall) move(m plan.Moves) ([]Value, error) {
	inputs := make([]tensor.Any, len(k.in))
	for j := range k.in {
		if !k.in[j].known() {
			continue
		}
		var err error
		if m.In>>min(j, 63)&1 == 0 {
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
	outs, err := k.apply(inputs)
	if err != nil {
		return nil, err
	}
	return k.marked(outs, m.Out), nil
}

// marked returns tensors as results, of which out says which hold strings.
func (k *valueCall) marked(outs []tensor.Any, out uint) []Value {
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

// unique is Unique: in the order of strings it runs on their places in that order.
func (k *valueCall) unique() ([]Value, error) {
	if k.fr == nil || k.attrs.Int("sorted", 1) == 0 {
		return k.move(plan.Moves{In: 1, Out: 1})
	}
	v, err := k.strings(0)
	if err != nil {
		return nil, err
	}
	a, t := v.a, v.text
	list := numbersIn(a)
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

// often is how many elements are worked on between two looks at the context.
const often = 1 << 12

// mapped returns f of each string of v, which it computes once for each different one.
func mapped[T any](k *valueCall, v *Value, f func(s string) (T, error)) ([]T, error) {
	if err := k.fr.room(times(v.a.Len(), 8)); err != nil {
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
