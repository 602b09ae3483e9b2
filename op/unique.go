package op

import (
	"cmp"
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/order"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Unique returns the different entries of a along axis: in ascending order, an
// entry of several elements by the first that differs, or with o.Unsorted in the
// order in which they first occur. NaNs are equal to each other and last, the two
// zeros are equal; of equals the first stands for all, bit for bit. The other
// results are where each first occurs, for every entry of a which one it is, and
// how often each occurs. An Into target takes the entries. ONNX Unique, which without an axis takes the flattened
// tensor: a.Reshape(-1) is that.
func Unique[T bool | num.Real](a tensor.Tensor[T], axis int, o UniqueOptions, opts ...Option) (entries tensor.Tensor[T], first, inverse, counts tensor.Tensor[int64]) {
	plan.Present("Unique", exec.Ref(&a))
	s := plan.Read("Unique", opts)
	out := uniqueOf(a.Any(), plan.AxisOf("Unique", axis, a.Rank()), !o.Unsorted)
	plan.Deliver(exec.Ref(&entries), "Unique", &s, out[0])
	return entries, *exec.Typed[int64](&out[1]), *exec.Typed[int64](&out[2]), *exec.Typed[int64](&out[3])
}

// UniqueOptions says in which order Unique returns entries.
type UniqueOptions struct {
	Unsorted bool // as they first occur: 0 of ONNX's attribute sorted
}

func uniqueOf(a tensor.Any, axis int, sorted bool) []tensor.Any {
	perm := []int{axis}
	for i := range a.Rank() {
		if i != axis {
			perm = append(perm, i)
		}
	}
	rows := move.WordsOf(pointwise.Viewed(tensor.Permute(a, perm...)))
	n := a.Dim(axis)
	_, _, m := move.Around(rows.Of.Shape(), 0)
	plan.Fits("Unique", n, 4*8) // of entries without elements there may be any number
	arranged, differ := arrangedRows(rows, n, m)

	// Groups of equals, each beginning with its first entry.
	heads, counts := make([]int, 0, n), make([]int64, 0, n)
	inverse := make([]int64, n)
	for k, i := range arranged {
		if k == 0 || differ(arranged[k-1], i) {
			heads, counts = append(heads, int(i)), append(counts, 0)
		}
		inverse[i] = int64(len(heads) - 1)
		counts[len(heads)-1]++
	}
	if !sorted {
		heads, counts = inTurn(heads, counts, inverse)
	}
	first := make([]int64, len(heads))
	for k, i := range heads {
		first[k] = int64(i)
	}
	shape := rows.Of.Shape()
	shape[0] = len(heads)
	entries := tensor.EmptyOf(a.DType(), shape...)
	if to := move.WordsOf(entries); m == 1 {
		conv.Take(to.Mem, rows.Mem, to.Size, first, conv.Axis{Stride: 1})
	} else {
		conv.Pick(to.Mem, rows.Mem, m*to.Size, m*to.Size, heads, false)
	}
	runtime.KeepAlive(rows.Of)
	back := make([]int, len(perm))
	for i, p := range perm {
		back[p] = i
	}
	return []tensor.Any{pointwise.Viewed(tensor.Contiguous(pointwise.Viewed(tensor.Permute(entries, back...)))),
		tensor.FromSlice(first).Any(), tensor.FromSlice(inverse).Any(), tensor.FromSlice(counts).Any()}
}

// arrangedRows returns the order of n rows of m elements, of equals the first first, and
// a function that says whether two rows differ.
func arrangedRows(rows move.Words, n, m int) (at []int64, differ func(i, j int64) bool) {
	at = make([]int64, n)
	switch {
	case m != 1 || rows.Size > 8:
	case rows.Size == 8:
		return at, arrangeKeys[uint64](at, rows)
	default:
		return at, arrangeKeys[uint32](at, rows)
	}
	v := move.NumericOf(rows)
	per := max(1, v.Size/8) // keys of an element
	keys := plan.RoomFor[uint64]("Unique", n, m, per)
	for i := 0; i < len(keys); i += per {
		key := v.Pair(i / per)
		copy(keys[i:i+per], key[:])
	}
	width := int64(m * per) // of an entry
	compare := func(i, j int64) int {
		return slices.Compare(keys[i*width:(i+1)*width], keys[j*width:(j+1)*width])
	}
	for i := range at {
		at[i] = int64(i)
	}
	slices.SortFunc(at, func(i, j int64) int { return cmp.Or(compare(i, j), cmp.Compare(i, j)) })
	return at, func(i, j int64) bool { return compare(i, j) != 0 }
}

// arrangeKeys is arrangedRows for single elements.
func arrangeKeys[K order.Key](at []int64, rows move.Words) (differ func(i, j int64) bool) {
	f := move.FormOf(rows.Of.DType())
	keys := plan.RoomFor[K]("Unique", len(at))
	room := plan.RoomFor[uint64]("Unique", 2, len(at))
	order.Keys(keys, rows.Mem, f, false)
	order.Arrange(at, keys, 8*f.Size, &room)
	return func(i, j int64) bool { return keys[i] != keys[j] }
}

// inTurn brings groups into the order of their first entries, and renumbers inverse.
func inTurn(heads []int, counts, inverse []int64) ([]int, []int64) {
	by := make([]int, len(heads))
	for g := range by {
		by[g] = g
	}
	slices.SortFunc(by, func(g, h int) int { return heads[g] - heads[h] })
	number, first, times := make([]int64, len(heads)), make([]int, len(heads)), make([]int64, len(heads))
	for k, g := range by {
		number[g], first[k], times[k] = int64(k), heads[g], counts[g]
	}
	for i, g := range inverse {
		inverse[i] = number[g]
	}
	return first, times
}

var unique = plan.Operator{About: plan.About{Name: "Unique", Orion: &inOrion{gives: dtype.Int32, first: 1}, Versions: []int{11}, Attrs: []string{"axis", "sorted"}}, Least: 1, Takes: plan.Every &^ plan.Complexes,
	Planned: func(c *plan.Use, p *plan.Draft) {
		a, axis, flat, sorted := c.With("Unique", 0), 0, !c.Attrs.Has("axis"), c.Attrs.Int("sorted", 1) != 0
		if !flat {
			axis = plan.AxisOf("Unique", plan.AttrInt(c, "axis", 0), a.Rank())
		}
		p.Copies(0, 2, 1)
		p.Run = func() {
			x := *a
			if flat {
				x = pointwise.Viewed(tensor.Reshape(x, x.Len()))
			}
			p.To = uniqueOf(x, axis, sorted)[:max(1, min(c.Outputs, 4))]
		}
	}}
