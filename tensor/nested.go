package tensor

import (
	"reflect"
	"runtime"
	"slices"
	"strconv"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
)

// FromNested returns a tensor of the elements of nested slices: T gives rank 0, []T
// rank 1, [][]T rank 2, and so on; []any may stand for any level. The elements are
// copied. Numbers of other types than T are converted: each must be one that T has, as
// 0.5 and 3 are float32 and 0.1 isn't; NaN is NaN in every type of floats. An empty slice
// hides the extents of the levels in it, which are 0 then, as many as its type has. It
// panics with ErrValue for a number that T doesn't have, and with ErrShape when the slices
// of a level differ in length, an entry is neither T nor a number, and slices nest deeper
// than 1000; the error has the indices of the first such entry.
func FromNested[T num.Elem](nest any) Tensor[T] {
	const op = "tensor.FromNested"
	v := reflect.ValueOf(nest)
	shape := shapeOf(op, v)
	t, rest := made[T](op, shape)
	f := filling{op: op, dtype: dtype.Of[T](), shape: shape}
	f.copy = func(v any) bool {
		switch v := v.(type) {
		case T:
			rest[0] = v
			rest = rest[1:]
		case []T:
			rest = rest[copy(rest, v):]
		default:
			return false
		}
		return true
	}
	f.convert = func(re, im *exact) bool {
		p := &rest[0]
		rest = rest[1:]
		return convert(p, re, im)
	}
	f.fill(v)
	return t
}

// shapeOf returns the shape that the first entries of a nest say.
func shapeOf(op string, v reflect.Value) []int {
	shape := []int{}
	for v = inside(v); v.Kind() == reflect.Slice; v = inside(v.Index(0)) {
		if len(shape) == maxNest { // of []any that hold themselves too
			panic(&Error{op, sprintf("more than %d slices in each other", maxNest), ErrShape})
		}
		shape = append(shape, v.Len())
		if v.Len() == 0 {
			for t := v.Type().Elem(); t.Kind() == reflect.Slice; t = t.Elem() {
				shape = append(shape, 0)
			}
			break
		}
	}
	return shape
}

// inside returns what an any holds.
func inside(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

// filling copies a nest's elements one after the other.
type filling struct {
	op      string
	dtype   dtype.DType
	shape   []int
	path    []int
	copy    func(v any) bool         // sets the next elements to v, if it is one or a slice of them
	convert func(re, im *exact) bool // sets the next element to a number, if it is one of dtype
}

func (f *filling) fill(v reflect.Value) {
	v = inside(v)
	level := len(f.path)
	switch isList := v.Kind() == reflect.Slice; {
	case isList && level == len(f.shape):
		f.fail(ErrShape, "is a slice, others at its level are elements")
	case isList && v.Len() != f.shape[level]:
		f.fail(ErrShape, sprintf("has %d entries, others at its level have %d", v.Len(), f.shape[level]))
	case isList && level == len(f.shape)-1 && f.copy(v.Interface()):
	case isList:
		for i := range v.Len() {
			f.path = append(f.path, i)
			f.fill(v.Index(i))
			f.path = f.path[:level]
		}
	default:
		f.element(v)
	}
}

func (f *filling) element(v reflect.Value) {
	var e any
	if v.IsValid() {
		e = v.Interface()
	}
	if len(f.path) < len(f.shape) {
		f.fail(ErrShape, "is an element, others at its level are slices")
	}
	if f.copy(e) {
		return
	}
	re, im, ok := exactly(v)
	if !ok || f.dtype == dtype.Bool {
		f.fail(ErrShape, sprintf("is of type %T, not of %v or slices of it", e, f.dtype))
	}
	if !f.convert(&re, &im) {
		f.fail(ErrValue, sprintf("is %v of type %T, which is no %v; round it or take a wider type", e, e, f.dtype))
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

// Nested returns a copy of the elements as nested slices: T for rank 0, []T for rank
// 1, [][]T for rank 2 and so on up to 8; from there on the outer levels are []any. So
// Nested().([][]float32) is a matrix of float32. FromNested is its inverse, but for
// extents behind one that is 0. It panics when those before it ask for more than 2^20
// slices.
func (t Any) Nested() any {
	const op = "tensor.Nested"
	t.pointer(op)
	checkLists(op, &t.lay)
	whole := t.st
	contiguous(&t)
	nest := t.st.boxed().nest(t.origin(), t.lay.Shape())
	if t.st != whole { // a copy
		t.Close()
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
