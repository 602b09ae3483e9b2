package text

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/reach"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Table numbers distinct strings from 0, the number of the empty one. A tensor of strings is one of int32 that holds
// such numbers: operators that move elements, or compare them for equality, work on them. A run has one table, which
// continues that of the session, so that equal strings have equal numbers.
type Table struct {
	base  *Table // its numbers come first; it doesn't grow any more
	start int    // how many those are
	list  []string
	ids   map[string]int32
	Bytes int64 // about how many bytes list and ids take
}

// PerString is about how many bytes a string takes in a table besides its own.
const PerString = 64

// NewTable returns a table that continues another one, which may be nil.
func NewTable(base *Table) *Table {
	t := &Table{base: base, ids: make(map[string]int32)}
	if base == nil {
		t.Add("")
		t.Bytes = 0
		return t
	}
	t.start = base.Len()
	return t
}

// At returns the string of a number.
func (t *Table) At(i int32) string {
	for int(i) < t.start {
		t = t.base
	}
	return t.list[int(i)-t.start]
}

// Find returns the number of a string.
func (t *Table) Find(s string) (int32, bool) {
	for ; t != nil; t = t.base {
		if i, ok := t.ids[s]; ok {
			return i, true
		}
	}
	return 0, false
}

// Add returns the number of a string, which it may add.
func (t *Table) Add(s string) int32 {
	i, ok := t.Find(s)
	if !ok {
		i = int32(t.Len())
		t.list, t.ids[s] = append(t.list, s), i
		t.Bytes += int64(len(s)) + PerString
	}
	return i
}

// Len is how many strings there are.
func (t *Table) Len() int { return t.start + len(t.list) }

// Tensor returns strings, as many as the shape asks for, as a tensor of their numbers.
func (t *Table) Tensor(shape []int, list []string) (tensor.Any, error) {
	a, err := tensor.Make(dtype.Int32, shape...)
	if err != nil {
		return a, err
	}
	to := reach.Run[int32](&a, a.LayoutRef())
	for i, s := range list {
		to[i] = t.Add(s)
	}
	return a, nil
}

// Renumbered returns a tensor of numbers of another table with the numbers that the strings have in t.
func (t *Table) Renumbered(from *Table, a tensor.Any) (tensor.Any, error) {
	numbers := make(map[int32]int32)
	b, err := tensor.Make(dtype.Int32, a.Shape()...)
	if err != nil {
		return b, err
	}
	to, at := reach.Run[int32](&b, b.LayoutRef()), 0
	for i := range tensor.ValuesOf[int32](a) {
		j, ok := numbers[i]
		if !ok {
			j = t.Add(from.At(i))
			numbers[i] = j
		}
		to[at] = j
		at++
	}
	return b, nil
}

// Strings returns the strings of a tensor of numbers, in row-major order.
func (t *Table) Strings(a tensor.Any) []string {
	list := make([]string, 0, a.Len())
	for i := range tensor.ValuesOf[int32](a) {
		list = append(list, t.At(i))
	}
	return list
}
