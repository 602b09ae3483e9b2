package op

import (
	"math"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Einsum multiplies operands and sums as the equation says: "ij,jk->ik" is a matrix
// product. Each operand has a letter per axis; equal letters are one axis, a letter
// twice in an operand is its diagonal, "..." stands for axes that broadcast. The
// letters and "..." after "->" are the result's axes, and all others are summed over. Without
// "->" the result has the axes of "..." and then the letters that stand there once,
// in ASCII order. Spaces don't matter.
//
// Axes of one operand alone are summed first, as by ReduceSum. Then operands are
// contracted in pairs, as by MatMul with its order of sums: of more than two always
// the pair that takes the fewest multiplications, the first of equals, so that the
// pairs depend on shapes alone. Integers wrap. A sum of nothing is 0.
//
// It panics when the equation is malformed, an operand's rank isn't the equation's,
// or extents of a letter differ (1 broadcasts against any). ONNX Einsum; NumPy
// einsum.
func Einsum[T num.Number](equation string, operands []tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	summation(exec.Ref(&r), equation, exec.Refs(operands), opts)
	return r
}

// summation is Einsum for operands of one run-time element type.
func summation(r *tensor.Any, equation string, operands []*tensor.Any, opts []Option) {
	e := einsumOf(equation, operands)
	s := plan.Read("Einsum", opts)
	plan.AimShape(r, "Einsum", &s, operands[0].DType(), e.shape())
	for _, n := range e.extent {
		if n == 0 { // all are sums of nothing, whatever else is on the way to them
			zero, _ := tensor.Make(r.DType())
			r.CopyFrom(zero.BroadcastTo(e.shape()...))
			return
		}
	}
	terms := make([]term, len(operands))
	for i, t := range operands {
		terms[i] = diagonals(*t, e.in[i])
	}
	for len(terms) > 1 {
		a, b := e.cheapest(terms)
		x, y := terms[a], terms[b]
		terms = slices.Delete(slices.Delete(terms, b, b+1), a, a+1)
		kept := e.keptBy(terms)
		terms = append(terms, e.contract(x.sum(kept, y), y.sum(kept, x), kept, s.Quiet()))
	}
	last := terms[0].sum(e.out, term{})
	order := make([]int, len(e.out))
	for i, l := range e.out {
		order[i] = slices.Index(last.names, l)
	}
	r.CopyFrom(last.t.Permute(order...))
}

// A letter is an axis of an equation, or a negative number for one that an ellipsis
// stands for: -1 is the last.
type letter = int

// einsum is a parsed equation with the extents of its letters.
type einsum struct {
	in     [][]letter
	out    []letter
	extent map[letter]int
}

// flops counts, for each combination of indices, a product for each operand but one and the sum.
func (e *einsum) flops() int64 {
	n := int64(len(e.in))
	for _, size := range e.extent {
		n = plan.ProductOfAll(n, int64(size))
	}
	return n
}

func einsumOf(equation string, operands []*tensor.Any) *einsum {
	plan.Present("Einsum", operands...)
	text := strings.ReplaceAll(equation, " ", "")
	left, right, explicit := strings.Cut(text, "->")
	parts := strings.Split(left, ",")
	if len(parts) != len(operands) || len(operands) == 0 {
		panic(plan.Fail("Einsum", tensor.ErrShape, "equation %q names %d operands, there are %d", equation, len(parts), len(operands)))
	}
	e := &einsum{extent: map[letter]int{}}
	count, dots := map[letter]int{}, 0
	for i, p := range parts {
		list := lettersOf(equation, p, operands[i].Rank())
		e.in = append(e.in, list)
		for axis, l := range list {
			n := operands[i].Dim(axis)
			if have, ok := e.extent[l]; ok && have != n && have != 1 && n != 1 {
				panic(plan.Fail("Einsum", tensor.ErrShape, "equation %q: %s has extent %d in operand %d and %d before", equation, letterText(l), n, i, have))
			}
			if have, ok := e.extent[l]; !ok || have == 1 {
				e.extent[l] = n
			}
			if count[l]++; l < 0 {
				dots = max(dots, -l)
			}
		}
	}
	if explicit {
		rank := len(right)
		if strings.Contains(right, "...") {
			rank += dots - len("...")
		}
		e.out = lettersOf(equation, right, rank)
		for i, l := range e.out {
			if _, ok := e.extent[l]; !ok {
				panic(plan.Fail("Einsum", tensor.ErrShape, "equation %q: the result has %s, which no operand has", equation, letterText(l)))
			}
			if slices.Contains(e.out[:i], l) {
				panic(plan.Fail("Einsum", tensor.ErrShape, "equation %q: the result has %s twice", equation, letterText(l)))
			}
		}
		return e
	}
	for l := -dots; l < 0; l++ {
		e.out = append(e.out, l)
	}
	for l := range letter(128) {
		if count[l] == 1 {
			e.out = append(e.out, l)
		}
	}
	return e
}

func letterText(l letter) string {
	if l < 0 {
		return "an axis of ..."
	}
	return "'" + string(rune(l)) + "'"
}

// lettersOf reads the letters of one operand.
func lettersOf(equation, part string, rank int) []letter {
	var list []letter
	before, after, dots := strings.Cut(part, "...")
	add := func(s string) {
		for _, r := range s {
			if r > 'z' || !('a' <= r || 'A' <= r && r <= 'Z') {
				panic(plan.Fail("Einsum", tensor.ErrShape, "equation %q: %q is no letter", equation, r))
			}
			list = append(list, letter(r))
		}
	}
	add(before)
	if dots {
		for l := -(rank - len(before) - len(after)); l < 0; l++ {
			list = append(list, l)
		}
	}
	add(after)
	if len(list) != rank {
		panic(plan.Fail("Einsum", tensor.ErrShape, "equation %q: %q doesn't describe an operand of rank %d", equation, part, rank))
	}
	return list
}

// shape returns the extents of the result.
func (e *einsum) shape() []int {
	shape := make([]int, len(e.out))
	for i, l := range e.out {
		shape[i] = e.extent[l]
	}
	return shape
}

// A term is an operand, or the result of some, with a distinct letter per axis.
type term struct {
	t     tensor.Any
	names []letter
}

// diagonals leaves one axis of each letter.
func diagonals(t tensor.Any, names []letter) term {
	names = slices.Clone(names)
	for i := 0; i < len(names); i++ {
		for j := i + 1; j < len(names); j++ {
			if names[i] == names[j] {
				t = diagonal(t, i, j)
				names = slices.Delete(names, j, j+1)
				j--
			}
		}
	}
	return term{t, names}
}

// diagonal returns the elements with one index on axes i and j, of which the second, j, goes.
func diagonal(t tensor.Any, i, j int) tensor.Any {
	if t.Dim(i) == t.Dim(j) {
		if !walk.Ref(t.LayoutRef()).Flat() {
			t = t.Contiguous() // a nested axis may have no single stride
		}
		t = tensor.Diagonal(*exec.Typed[bool](&t), 0, i, j).Any() // which doesn't look at elements
		return moveAxis(t, t.Rank()-1, i)
	}
	gone, stays := j, i // 1 against n
	if t.Dim(i) == 1 {
		gone, stays = i, j-1
	}
	return moveAxis(t.Slice(append(slices.Repeat([]tensor.Index{tensor.Colon}, gone), tensor.I(0))...), stays, i)
}

// moveAxis returns a view with an axis elsewhere.
func moveAxis(t tensor.Any, from, to int) tensor.Any {
	var order []int
	for k := range t.Rank() {
		if k != from {
			order = append(order, k)
		}
	}
	return t.Permute(slices.Insert(order, to, from)...)
}

// sum adds up the axes that neither the result nor the other term has.
func (x term) sum(kept []letter, other term) term {
	var axes []int
	var names []letter
	for i, l := range x.names {
		if slices.Contains(kept, l) || slices.Contains(other.names, l) {
			names = append(names, l)
		} else {
			axes = append(axes, i)
		}
	}
	if axes == nil {
		return x
	}
	var sums tensor.Any
	reduceSum.Call(&sums, &x.t, axes, 0, nil)
	return term{sums, names}
}

// keptBy returns the letters that the result or one of the terms has.
func (e *einsum) keptBy(terms []term) []letter {
	kept := slices.Clone(e.out)
	for _, x := range terms {
		kept = append(kept, x.names...)
	}
	return kept
}

// cheapest returns the pair of terms that takes the fewest multiplications.
func (e *einsum) cheapest(terms []term) (a, b int) {
	least := math.Inf(1)
	for i := range terms {
		for j := i + 1; j < len(terms); j++ {
			cost := 1.0
			for _, l := range terms[i].names {
				cost *= float64(e.extent[l])
			}
			for _, l := range terms[j].names {
				if !slices.Contains(terms[i].names, l) {
					cost *= float64(e.extent[l])
				}
			}
			if cost < least {
				least, a, b = cost, i, j
			}
		}
	}
	return a, b
}

// contract multiplies two terms as matrices: letters of both that stay are the
// batch, letters of both that go are summed over.
func (e *einsum) contract(x, y term, kept []letter, opts []Option) term {
	var batch, left, inner, right []letter
	for _, l := range x.names {
		switch both := slices.Contains(y.names, l); {
		case both && slices.Contains(kept, l):
			batch = append(batch, l)
		case both:
			inner = append(inner, l)
		default:
			left = append(left, l)
		}
	}
	for _, l := range y.names {
		if !slices.Contains(x.names, l) {
			right = append(right, l)
		}
	}
	a, b := x.matrices(e, batch, left, inner), y.matrices(e, batch, inner, right)
	var p tensor.Any
	matrixProduct(&p, &a, &b, opts)
	names := slices.Concat(batch, left, right)
	shape := make([]int, len(names))
	for i, l := range names {
		shape[i] = e.extent[l]
	}
	return term{p.Reshape(shape...), names}
}

// matrices returns a term with the letters of each list as one axis.
func (x term) matrices(e *einsum, lists ...[]letter) tensor.Any {
	var order, full, shape []int
	for _, list := range lists {
		n := 1
		for _, l := range list {
			order = append(order, slices.Index(x.names, l))
			full = append(full, e.extent[l])
			n *= e.extent[l]
		}
		shape = append(shape, n)
	}
	return x.t.Permute(order...).BroadcastTo(full...).Reshape(shape...)
}

// pointers returns pointers to inputs.
func pointers(in []tensor.Any) []*tensor.Any {
	refs := make([]*tensor.Any, len(in))
	for i := range in {
		refs[i] = &in[i]
	}
	return refs
}

var einsumOp = plan.Operator{About: plan.About{Name: "Einsum", Versions: []int{12}, Attrs: []string{"equation"}}, Least: 1, Most: -1, Takes: plan.Numbers,
	Planned: func(c *plan.Use, p *plan.Draft) {
		plan.OneType("Einsum", c.Inputs...)
		equation, ins := c.Attrs.Str("equation", ""), pointers(c.Inputs)
		for i := range c.Inputs {
			c.Like("Einsum", i, 0)
		}
		if !p.Brief {
			e := einsumOf(equation, ins)
			p.Gives(c.In(0).DType(), e.shape()...)
			blocksOf(&p.Price, c.Inputs)
			p.Copies(0, 2, 1)
			p.Costs(e.flops())
		}
		p.By(c, 0, func(r *tensor.Any, opts []Option) { summation(r, equation, ins, opts) })
	}}
