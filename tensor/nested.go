package tensor

import (
	"strconv"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
)

// FromNested returns a tensor of the elements of nested slices: T gives rank 0, []T
// rank 1, [][]T rank 2, and so on up to 8 levels; []any may stand for any level, and
// for more. The elements are copied. An empty slice hides the extents of the levels
// in it, which are 0 then. It panics when the slices of a level differ in length, with
// the indices of the first that does, when an entry is no T, and when slices nest
// deeper than 1000.
func FromNested[T num.Elem](nest any) Tensor[T] {
	const op = "tensor.FromNested"
	shape := []int{}
	for v := nest; ; {
		l, ok := listOf[T](v)
		if !ok {
			break
		}
		if len(shape) == maxNest { // of []any that hold themselves too
			panic(&Error{op, sprintf("more than %d slices in each other", maxNest), ErrShape})
		}
		shape = append(shape, l.n)
		if l.n == 0 {
			shape = append(shape, make([]int, l.levels-1)...)
			break
		}
		v = l.at(0)
	}
	t := create[T](op, shape, true)
	f := filling[T]{op, shape, make([]int, 0, len(shape)), t.st.elems()}
	f.fill(nest)
	return t
}

// A list is one slice of a nest.
type list struct {
	n, levels int // entries, and how many levels of slices its type says
	at        func(i int) any
}

func listAs[E any](v []E, levels int) (list, bool) {
	return list{len(v), levels, func(i int) any { return v[i] }}, true
}

func listOf[T num.Elem](v any) (list, bool) {
	switch v := v.(type) {
	case []T:
		return listAs(v, 1)
	case [][]T:
		return listAs(v, 2)
	case [][][]T:
		return listAs(v, 3)
	case [][][][]T:
		return listAs(v, 4)
	case [][][][][]T:
		return listAs(v, 5)
	case [][][][][][]T:
		return listAs(v, 6)
	case [][][][][][][]T:
		return listAs(v, 7)
	case [][][][][][][][]T:
		return listAs(v, 8)
	case []any:
		return listAs(v, 1)
	}
	return list{}, false
}

// filling copies a nest's elements to the front of rest, one by one.
type filling[T num.Elem] struct {
	op    string
	shape []int
	path  []int
	rest  []T
}

func (f *filling[T]) fill(v any) {
	level := len(f.path)
	l, isList := listOf[T](v)
	switch {
	case isList && level == len(f.shape):
		f.fail("is a slice, others at its level are elements")
	case isList && l.n != f.shape[level]:
		f.fail(sprintf("has %d entries, others at its level have %d", l.n, f.shape[level]))
	case isList:
		if row, ok := v.([]T); ok {
			copy(f.rest, row)
			f.rest = f.rest[len(row):]
			return
		}
		for i := range l.n {
			f.path = append(f.path, i)
			f.fill(l.at(i))
			f.path = f.path[:level]
		}
	default:
		e, ok := v.(T)
		switch {
		case !ok:
			f.fail(sprintf("is of type %T, not of %v or slices of it", v, Tensor[T]{}.DType()))
		case level < len(f.shape):
			f.fail("is an element, others at its level are slices")
		}
		f.rest[0] = e
		f.rest = f.rest[1:]
	}
}

func (f *filling[T]) fail(text string) {
	where := "the nest"
	if len(f.path) > 0 {
		where = "entry " + indexPath(f.path)
	}
	panic(&Error{f.op, where + " " + text, ErrShape})
}

// indexPath writes indices as Go does: [1][0].
func indexPath(path []int) string {
	text := ""
	for _, i := range path {
		text += "[" + strconv.Itoa(i) + "]"
	}
	return text
}

// Nested returns a copy of the elements as nested slices: T for rank 0, []T for rank
// 1, [][]T for rank 2 and so on up to 8; from there on the outer levels are []any. So
// t.Nested().([][]float32) is a matrix of float32. FromNested is its inverse, but for
// extents behind one that is 0. It panics when those before it ask for more than 2^20
// slices.
func (t Tensor[T]) Nested() any {
	if t.Rank() == 0 {
		return t.Item()
	}
	checkLists("tensor.Nested", &t.lay)
	shape := t.lay.Shape()
	n1 := t.Flatten().Elems()
	// Level k of the ladder is the entries of the axes before the last k-1.
	step := len(shape) - 1
	if step == 0 {
		return n1
	}
	n2 := group(n1, shape[:step+1])
	if step--; step == 0 {
		return n2
	}
	n3 := group(n2, shape[:step+1])
	if step--; step == 0 {
		return n3
	}
	n4 := group(n3, shape[:step+1])
	if step--; step == 0 {
		return n4
	}
	n5 := group(n4, shape[:step+1])
	if step--; step == 0 {
		return n5
	}
	n6 := group(n5, shape[:step+1])
	if step--; step == 0 {
		return n6
	}
	n7 := group(n6, shape[:step+1])
	if step--; step == 0 {
		return n7
	}
	n8 := group(n7, shape[:step+1])
	if step--; step == 0 {
		return n8
	}
	outer := make([]any, 0, len(n8))
	for _, l := range group(n8, shape[:step+1]) {
		outer = append(outer, l)
	}
	for step--; step > 0; step-- {
		var next []any
		for _, l := range group(outer, shape[:step+1]) {
			next = append(next, l)
		}
		outer = next
	}
	return outer
}

// checkLists refuses to make more than a million lists without an element: how many
// extents before one of 0 ask for is limited by nothing else.
func checkLists(op string, lay *layout.Layout) {
	n := 1
	for i := range lay.Rank() {
		e := lay.Dim(i)
		if e == 0 && n > 1<<20 {
			panic(&Error{op, sprintf("%s is %d lists without an element; the most is %d", lay.ShapeString(), n, 1<<20), ErrMemory})
		}
		n *= max(e, 1) // fits in a layout that exists
	}
}

// group cuts a list into slices as long as the last extent of shape, as many as the
// others make.
func group[E any](list []E, shape []int) [][]E {
	n, each := 1, shape[len(shape)-1]
	for _, e := range shape[:len(shape)-1] {
		n *= e
	}
	groups := make([][]E, n)
	for i := range groups {
		groups[i] = list[i*each : (i+1)*each : (i+1)*each]
	}
	return groups
}
