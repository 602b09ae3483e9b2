package tensor

import (
	"runtime"
	"slices"
	"strconv"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
)

// FromNested returns a tensor of the elements of nested slices: T gives rank 0, []T rank 1,
// and so on up to 8 levels; []any may stand for any level, and for more levels. The
// elements are copied. Numbers of another type, one of Go's or of package num, are
// converted: each must be one that T has, as 3 and 0.5 are float32 and 0.1 isn't. NaN is
// one in each type that has some. An empty slice hides the extents of the levels in it,
// which are 0 then. It panics with ErrValue for a number that T doesn't have. It panics
// with ErrShape when the slices of a level differ in length, an entry is neither T nor a
// number, or slices nest deeper than 1000. The error has the indices of the first such
// entry.
func FromNested[T num.Elem](nest any) Tensor[T] {
	const op = "tensor.FromNested"
	shape := []int{}
	for v := nest; ; {
		l, ok := listIn(v)
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
	t, rest := made[T](op, shape)
	f := filling{op: op, dtype: dtype.Of[T](), shape: shape,
		row: func(v any, n int) bool {
			row, ok := v.([]T)
			if ok = ok && len(row) == n; ok {
				rest = rest[copy(rest, row):]
			}
			return ok
		},
		one: func(v any) bool {
			e, ok := v.(T)
			if ok {
				rest[0] = e
				rest = rest[1:]
			}
			return ok
		},
		number: func(re, im *exact) bool {
			setNumber(&rest[0], re, im)
			r, i, _ := exactly(rest[0])
			rest = rest[1:]
			return r.same(re) && i.same(im)
		},
	}
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

func listOf[T any](v any) (list, bool) {
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
	}
	return list{}, false
}

// lists know the slices of each type.
var lists = [...]func(v any) (list, bool){
	listOf[bool], listOf[int], listOf[uint], listOf[int8], listOf[int16], listOf[int32],
	listOf[int64], listOf[uint8], listOf[uint16], listOf[uint32], listOf[uint64], listOf[float32],
	listOf[float64], listOf[complex64], listOf[complex128], listOf[num.F16], listOf[num.BF16], listOf[num.F8E4M3],
	listOf[num.F8E5M2], listOf[fixed.FP8x23], listOf[fixed.FP16x16], listOf[fixed.FP32x32], listOf[fixed.FP64x64],
	listOf[num.Int2], listOf[num.Int4], listOf[num.Uint2], listOf[num.Uint4], listOf[num.F4E2M1], listOf[num.F8E4M3FNUZ], listOf[num.F8E5M2FNUZ], listOf[num.F8E8M0],
}

// listIn returns v as a list, if it is one.
func listIn(v any) (list, bool) {
	if v, ok := v.([]any); ok {
		return listAs(v, 1)
	}
	for _, of := range lists {
		if l, ok := of(v); ok {
			return l, true
		}
	}
	return list{}, false
}

// filling copies a nest's elements one after the other. Its functions set the next
// elements and report whether they did.
type filling struct {
	op     string
	dtype  dtype.DType
	shape  []int
	path   []int
	row    func(v any, n int) bool  // to v, which must be a slice of n elements
	one    func(v any) bool         // to v, which must be an element
	number func(re, im *exact) bool // to a number, which must be one of dtype
}

func (f *filling) fill(v any) {
	level := len(f.path)
	left := len(f.shape) - level
	if left == 0 && f.one(v) || left == 1 && f.row(v, f.shape[level]) {
		return
	}
	re, im, ok := exactly(v)
	if f.dtype == dtype.Bool {
		_, ok = v.(bool)
	}
	if ok && left > 0 {
		f.fail(ErrShape, "is an element, others at its level are slices")
	}
	if ok {
		if !f.number(&re, &im) {
			f.fail(ErrValue, sprintf("is %v of type %T, which is no %v; round it or take a wider type", v, v, f.dtype))
		}
		return
	}
	l, ok := listIn(v)
	switch {
	case !ok:
		f.fail(ErrShape, sprintf("is of type %T, not of %v or slices of it", v, f.dtype))
	case left == 0:
		f.fail(ErrShape, "is a slice, others at its level are elements")
	case l.n != f.shape[level]:
		f.fail(ErrShape, sprintf("has %d entries, others at its level have %d", l.n, f.shape[level]))
	}
	for i := range l.n {
		f.path = append(f.path, i)
		f.fill(l.at(i))
		f.path = f.path[:level]
	}
}

func (f *filling) fail(reason error, text string) {
	where := "the nest"
	if len(f.path) > 0 {
		where = "entry " + indexPath(f.path)
	}
	panic(&Error{f.op, where + " " + text, reason})
}

// indexPath writes indices as Go does: [1][0].
func indexPath(path []int) string {
	text := ""
	for _, i := range path {
		text += "[" + strconv.Itoa(i) + "]"
	}
	return text
}

// Nested returns a copy of the elements as nested slices: T for rank 0, []T for rank 1, and
// so on up to rank 8; from there on the outer levels are []any. So Nested().([][]float32)
// is a matrix of float32. FromNested is its inverse, except for extents after an extent of
// 0. It panics when the extents before that 0 ask for more than 2^20 slices.
func (a Any) Nested() any {
	const op = "tensor.Nested"
	a.pointer(op)
	checkLists(op, &a.lay)
	whole := a.st
	contiguous(&a)
	nest := a.st.boxed().nest(a.origin(), a.lay.Shape())
	if a.st != whole { // a copy
		a.Close()
	}
	runtime.KeepAlive(whole)
	return nest
}

// nest returns a copy of the elements from one on as nested slices.
func (s sliceOf[T]) nest(from int, shape []int) any {
	if len(shape) == 0 {
		return s[from]
	}
	n := 1
	for _, e := range shape {
		n *= e
	}
	n1 := slices.Clone([]T(s[from : from+n]))
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
	for i := range walk.Ref(lay).Rank() {
		e := walk.Ref(lay).Dim(i)
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
