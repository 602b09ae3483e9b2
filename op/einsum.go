package op

import (
	"math"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Einsum multiplies operands and sums as the equation says: "ij,jk->ik" is a matrix
// product. Each operand has a letter per axis; equal letters are one axis, a letter
// twice in an operand is its diagonal, "..." stands for axes that broadcast. The
// letters after "->" are the result's axes, and all others are summed over. Without
// "->" the result has the axes of "..." and then the letters that stand there once,
// in ASCII order. Spaces don't matter.
//
// Axes of one operand alone are summed first, as by ReduceSum. Then operands are
// contracted in pairs, as by MatMul with its order of sums: of more than two always
// the pair that takes the fewest multiplications, the first of equals, so that the
// pairs depend on shapes alone. Integers wrap.
//
// It panics when the equation is malformed, an operand's rank isn't what it says,
// or extents of a letter differ (1 broadcasts against any). ONNX Einsum; NumPy
// einsum.
func Einsum[T num.Number](equation string, operands []tensor.Tensor[T], opts ...Option) tensor.Tensor[T] {
	anys := make([]tensor.Any, len(operands))
	for i := range operands {
		anys[i] = operands[i].Any()
	}
	e := einsumOf(equation, anys)
	s := read(opts)
	dst := target[T]("Einsum", &s, e.shape())
	terms := make([]term[T], len(operands))
	for i, t := range operands {
		terms[i] = diagonals(t, e.in[i])
	}
	for len(terms) > 1 {
		a, b := cheapest(e, terms)
		x, y := terms[a], terms[b]
		terms = slices.Delete(slices.Delete(terms, b, b+1), a, a+1)
		kept := keptBy(e, terms)
		terms = append(terms, contract(e, x.sum(kept, y), y.sum(kept, x), kept, s.quiet()))
	}
	last := terms[0].sum(e.out, term[T]{})
	order := make([]int, len(e.out))
	for i, l := range e.out {
		order[i] = slices.Index(last.names, l)
	}
	dst.CopyFrom(last.t.Permute(order...))
	return dst
}

// An axis of an equation is a letter, or a negative number for one that an ellipsis
// stands for: -1 is the last.
type letter = int

// einsum is a parsed equation with the extents of its letters.
type einsum struct {
	in     [][]letter
	out    []letter
	extent map[letter]int
}

func einsumOf(equation string, operands []tensor.Any) *einsum {
	text := strings.ReplaceAll(equation, " ", "")
	left, right, explicit := strings.Cut(text, "->")
	parts := strings.Split(left, ",")
	if len(parts) != len(operands) || len(operands) == 0 {
		panic(fail("Einsum", tensor.ErrShape, "equation %q names %d operands, there are %d", equation, len(parts), len(operands)))
	}
	e := &einsum{extent: map[letter]int{}}
	count, dots := map[letter]int{}, 0
	for i, p := range parts {
		if operands[i].IsZero() {
			panic(fail("Einsum", tensor.ErrShape, "operand %d is absent", i))
		}
		list := lettersOf(equation, p, operands[i].Rank())
		e.in = append(e.in, list)
		for axis, l := range list {
			n := operands[i].Dim(axis)
			if have, ok := e.extent[l]; ok && have != n && have != 1 && n != 1 {
				panic(fail("Einsum", tensor.ErrShape, "equation %q: %s has extent %d in operand %d and %d before", equation, letterText(l), n, i, have))
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
		e.out = lettersOf(equation, right, len(strings.Replace(right, "...", "", 1))+dots)
		if !strings.Contains(right, "...") {
			e.out = lettersOf(equation, right, len(right))
		}
		for i, l := range e.out {
			if _, ok := e.extent[l]; !ok {
				panic(fail("Einsum", tensor.ErrShape, "equation %q: the result has %s, which no operand has", equation, letterText(l)))
			}
			if slices.Contains(e.out[:i], l) {
				panic(fail("Einsum", tensor.ErrShape, "equation %q: the result has %s twice", equation, letterText(l)))
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
				panic(fail("Einsum", tensor.ErrShape, "equation %q: %q is no letter", equation, r))
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
		panic(fail("Einsum", tensor.ErrShape, "equation %q: %q doesn't describe an operand of rank %d", equation, part, rank))
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

// A term is an operand, or what became of some, with a distinct letter per axis.
type term[T num.Number] struct {
	t     tensor.Tensor[T]
	names []letter
}

// diagonals leaves one axis of each letter.
func diagonals[T num.Number](t tensor.Tensor[T], names []letter) term[T] {
	names = slices.Clone(names)
	for i := 0; i < len(names); i++ {
		for j := i + 1; j < len(names); j++ {
			if names[i] != names[j] {
				continue
			}
			if t.Dim(i) != t.Dim(j) { // 1 against n
				shape := t.Shape()
				shape[i] = max(shape[i], shape[j])
				shape[j] = shape[i]
				t = t.BroadcastTo(shape...)
			}
			if !exec.Ref(&t).LayoutRef().Flat() {
				t = t.Contiguous() // a nested axis may have no single stride
			}
			t = tensor.MoveAxis(tensor.Diagonal(t, 0, i, j), -1, i)
			names = slices.Delete(names, j, j+1)
			j--
		}
	}
	return term[T]{t, names}
}

// sum adds up the axes that neither the result nor the other term has.
func (x term[T]) sum(kept []letter, other term[T]) term[T] {
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
	return term[T]{ReduceSum(x.t, axes), names}
}

// keptBy returns the letters that the result or one of the terms has.
func keptBy[T num.Number](e *einsum, terms []term[T]) []letter {
	kept := slices.Clone(e.out)
	for _, x := range terms {
		kept = append(kept, x.names...)
	}
	return kept
}

// cheapest returns the pair of terms that takes the fewest multiplications.
func cheapest[T num.Number](e *einsum, terms []term[T]) (a, b int) {
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
func contract[T num.Number](e *einsum, x, y term[T], kept []letter, opts []Option) term[T] {
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
	p := MatMul(x.matrices(e, batch, left, inner), y.matrices(e, batch, inner, right), opts...)
	names := slices.Concat(batch, left, right)
	shape := make([]int, len(names))
	for i, l := range names {
		shape[i] = e.extent[l]
	}
	return term[T]{p.Reshape(shape...), names}
}

// matrices returns a term with the letters of each list as one axis.
func (x term[T]) matrices(e *einsum, lists ...[]letter) tensor.Tensor[T] {
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

var einsumOp = opN{about: about{name: "Einsum", onnx: []int{12}, attrs: []string{"equation"}}, least: 1, most: -1,
	infer: func(c *Call) []tensor.Any {
		oneType("Einsum", c.Inputs...)
		return one(spec("Einsum", c.in(0).DType(), einsumOf(c.Attrs.Str("equation", ""), c.Inputs).shape()...))
	},
	typed: perType{dtype.Int8: runEinsum[int8], dtype.Int16: runEinsum[int16], dtype.Int32: runEinsum[int32], dtype.Int64: runEinsum[int64],
		dtype.Uint8: runEinsum[uint8], dtype.Uint16: runEinsum[uint16], dtype.Uint32: runEinsum[uint32], dtype.Uint64: runEinsum[uint64],
		dtype.Float8E4M3: runEinsum[num.F8E4M3], dtype.Float8E5M2: runEinsum[num.F8E5M2], dtype.Float16: runEinsum[num.F16],
		dtype.BFloat16: runEinsum[num.BF16], dtype.Float32: runEinsum[float32], dtype.Float64: runEinsum[float64],
		dtype.Complex64: runEinsum[complex64], dtype.Complex128: runEinsum[complex128]}}

func runEinsum[T num.Number](c *Call) []tensor.Any {
	einsumOf(c.Attrs.Str("equation", ""), c.Inputs) // sees what is absent
	operands := make([]tensor.Tensor[T], len(c.Inputs))
	for i := range operands {
		operands[i] = as[T]("Einsum", c, i)
	}
	return one(Einsum(c.Attrs.Str("equation", ""), operands, options(c)...).Any())
}
