package tensor_test

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// The model of a tensor is the list of the places of its elements in a slice, in
// row-major order: views rearrange the list, copies start a slice of their own.

type store struct{ data []int32 }

type model struct {
	*store
	at       []int
	shape    []int
	readOnly bool
	flat     bool // the layout isn't nested, so no view may be refused
}

type pair struct {
	t tensor.Tensor[int32]
	m model
}

// coords enumerates the coordinates of a shape in row-major order.
func coords(shape []int) [][]int {
	out := [][]int{{}}
	for _, e := range shape {
		var next [][]int
		for _, c := range out {
			for i := range e {
				next = append(next, append(slices.Clone(c), i))
			}
		}
		out = next
	}
	return out
}

func size(shape []int) int {
	n := 1
	for _, e := range shape {
		n *= e
	}
	return n
}

// pick returns the model of another shape whose element c is m's element of
// coordinate from(c).
func (m model) pick(shape []int, from func(c []int) []int) model {
	m.at = slices.Clone(m.at)
	old := m.at
	m.at = nil
	for _, c := range coords(shape) {
		i := 0
		for k, x := range from(c) {
			i = i*m.shape[k] + x
		}
		m.at = append(m.at, old[i])
	}
	m.shape = shape
	return m
}

// fresh is the model of a copy in row-major order.
func (m model) fresh() model {
	s := &store{}
	at := make([]int, len(m.at))
	for i, p := range m.at {
		s.data = append(s.data, m.data[p])
		at[i] = i
	}
	return model{store: s, at: at, shape: slices.Clone(m.shape), flat: true}
}

// affine reports whether strides exist for the places in another shape.
func affine(at, shape []int) bool {
	if len(at) == 0 {
		return true
	}
	str := make([]int, len(shape))
	step := len(at)
	for k, e := range shape {
		if step /= e; e > 1 {
			str[k] = at[step] - at[0]
		}
	}
	for i, c := range coords(shape) {
		want := at[0]
		for k, x := range c {
			want += x * str[k]
		}
		if at[i] != want {
			return false
		}
	}
	return true
}

// positions are the positions that a range selects, written from Python's description.
func positions(n, start, stop, step int) (list []int) {
	first, last := 0, n
	if step < 0 {
		first, last = n-1, -1
	}
	end := func(v int) int {
		if v < 0 {
			v += n
		}
		if step > 0 {
			return min(max(v, 0), n)
		}
		return min(max(v, -1), n-1)
	}
	if start != tensor.None {
		first = end(start)
	}
	if stop != tensor.None {
		last = end(stop)
	}
	for i := first; step > 0 && i < last || step < 0 && i > last; i += step {
		list = append(list, i)
	}
	return list
}

// drawLayout draws a layout, nested or not, and lists its offsets in row-major
// order, the first leaf of a mode fastest.
func drawLayout(t *rapid.T) (lay layout.Layout, at []int) {
	modes := make([][]int, rapid.IntRange(0, 3).Draw(t, "rank"))
	leaves := 0
	for i := range modes {
		n := rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(t, "leaves")
		for range n {
			modes[i] = append(modes[i], rapid.SampledFrom([]int{2, 3, 2, 1, 4, 0}).Draw(t, "extent"))
		}
		leaves += n
	}
	strides := make([]int, leaves)
	order := rapid.Permutation(seq(leaves)).Draw(t, "order")
	flat := slices.Concat(modes...)
	step := 1
	for _, i := range order {
		step *= rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(t, "gap")
		strides[i] = step
		step *= max(flat[i], 1)
		if rapid.IntRange(0, 3).Draw(t, "sign") == 0 {
			strides[i] = -strides[i]
		}
	}
	var exts, strs []string
	k := 0
	shape := make([]int, len(modes))
	for i, m := range modes {
		var e, s []string
		shape[i] = size(m)
		for _, x := range m {
			e, s = append(e, fmt.Sprint(x)), append(s, fmt.Sprint(strides[k]))
			k++
		}
		if len(m) == 1 {
			exts, strs = append(exts, e[0]), append(strs, s[0])
			continue
		}
		exts, strs = append(exts, "("+strings.Join(e, ",")+")"), append(strs, "("+strings.Join(s, ",")+")")
	}
	lay = layout.MustParse("(" + strings.Join(exts, ",") + "):(" + strings.Join(strs, ",") + ")")
	for _, c := range coords(shape) {
		off, k := 0, 0
		for i, x := range c {
			for _, e := range modes[i] {
				off += x % e * strides[k]
				x /= e
				k++
			}
		}
		at = append(at, off)
	}
	return lay, at
}

func seq(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// drawRoot makes a tensor over a slice, and its model over a copy of the slice.
func drawRoot(t *rapid.T) pair {
	lay, at := drawLayout(t)
	lo, hi := 0, -1
	if len(at) > 0 {
		lo, hi = slices.Min(at), slices.Max(at)
	}
	data := make([]int32, hi-lo+1+rapid.IntRange(0, 2).Draw(t, "spare"))
	for i := range data {
		data[i] = int32(100 + i)
	}
	for i := range at {
		at[i] -= lo
	}
	m := model{store: &store{slices.Clone(data)}, at: at, shape: lay.Shape(), flat: lay.Flat()}
	return pair{tensor.FromLayout(data, lay), m}
}

// drawShape draws a shape of n elements.
func drawShape(t *rapid.T, n int) []int {
	shape := []int{}
	for n > 1 {
		d := 2
		for n%d != 0 {
			d++
		}
		n /= d
		if len(shape) > 0 && rapid.Bool().Draw(t, "join") {
			shape[len(shape)-1] *= d
			continue
		}
		shape = append(shape, d)
	}
	if n == 0 {
		return []int{rapid.IntRange(0, 2).Draw(t, "any"), 0}
	}
	shape = rapid.Permutation(shape).Draw(t, "shape")
	if rapid.Bool().Draw(t, "one") {
		shape = slices.Insert(shape, rapid.IntRange(0, len(shape)).Draw(t, "where"), 1)
	}
	return shape
}

// view applies a random view operation to both sides.
func view(t *rapid.T, p pair) pair {
	m, x := p.m, p.t
	rank := len(m.shape)
	axis := func() int { return rapid.IntRange(0, rank-1).Draw(t, "axis") }
	sign := func(a, rank int) int { return a - rank*rapid.IntRange(0, 1).Draw(t, "negative") }
	kinds := []string{"slice", "slice", "permute", "reshape", "reshape", "unsqueeze", "squeeze", "flip", "broadcast", "transpose", "readonly"}
	if rank > 0 {
		kinds = append(kinds, "window", "swap", "move")
	}
	if rank > 1 {
		kinds = append(kinds, "diagonal")
	}
	kind := rapid.SampledFrom(kinds).Draw(t, "kind")
	switch kind {
	case "slice":
		var idx []tensor.Index
		var lists [][]int // for each axis of the result the positions, nil for a new one
		var fixed []int   // for each axis of m: the axis of the result, or ^position
		var shape []int
		for k := range rank {
			if rapid.IntRange(0, 5).Draw(t, "new") == 0 {
				idx, lists, shape = append(idx, tensor.NewAxis), append(lists, nil), append(shape, 1)
			}
			n := m.shape[k]
			if n > 0 && rapid.IntRange(0, 2).Draw(t, "point") == 0 {
				i := rapid.IntRange(0, n-1).Draw(t, "at")
				idx, fixed = append(idx, tensor.I(sign(i, n))), append(fixed, ^i)
				continue
			}
			bound := func(name string) int {
				return rapid.OneOf(rapid.IntRange(-n-2, n+2), rapid.Just(tensor.None)).Draw(t, name)
			}
			start, stop, step := bound("start"), bound("stop"), rapid.SampledFrom([]int{1, 1, 2, -1, -2, 3}).Draw(t, "step")
			l := positions(n, start, stop, step)
			idx, fixed = append(idx, tensor.R(start, stop, step)), append(fixed, len(lists))
			lists, shape = append(lists, l), append(shape, len(l))
		}
		m = m.pick(shape, func(c []int) []int {
			from := make([]int, rank)
			for k, f := range fixed {
				if from[k] = ^f; f >= 0 {
					from[k] = lists[f][c[f]]
				}
			}
			return from
		})
		if err := tensor.Try(func() { x = x.Slice(idx...) }); err != nil {
			if p.m.flat || !errors.Is(err, tensor.ErrView) {
				t.Fatalf("Slice(%v) of %v: %v", idx, p.t.Layout(), err)
			}
			return p
		}
	case "permute":
		axes := rapid.Permutation(seq(rank)).Draw(t, "axes")
		m, x = permuted(m, axes), x.Permute(axes...)
	case "transpose":
		axes := seq(rank)
		slices.Reverse(axes)
		m, x = permuted(m, axes), x.Transpose()
	case "swap":
		axes, a, b := seq(rank), axis(), axis()
		axes[a], axes[b] = axes[b], axes[a]
		m, x = permuted(m, axes), tensor.SwapAxes(x, sign(a, rank), sign(b, rank))
	case "move":
		a, b := axis(), axis()
		axes := slices.Insert(slices.Delete(seq(rank), a, a+1), b, a)
		m, x = permuted(m, axes), tensor.MoveAxis(x, sign(a, rank), sign(b, rank))
	case "unsqueeze":
		at := rapid.IntRange(0, rank).Draw(t, "at")
		m.shape = slices.Insert(slices.Clone(m.shape), at, 1)
		x = x.Unsqueeze(sign(at, rank+1))
	case "squeeze":
		var axes []int
		var shape []int
		for k, e := range m.shape {
			if e == 1 && rapid.Bool().Draw(t, "drop") {
				axes = append(axes, sign(k, rank))
				continue
			}
			shape = append(shape, e)
		}
		if axes == nil {
			shape = slices.DeleteFunc(slices.Clone(m.shape), func(e int) bool { return e == 1 })
		}
		m.shape, x = shape, x.Squeeze(axes...)
	case "flip":
		if rank == 0 {
			return p
		}
		a := axis()
		m = m.pick(m.shape, func(c []int) []int {
			c = slices.Clone(c)
			c[a] = m.shape[a] - 1 - c[a]
			return c
		})
		x = x.Flip(sign(a, rank))
	case "broadcast":
		shape := slices.Clone(m.shape)
		for k, e := range shape {
			if e == 1 && rapid.Bool().Draw(t, "stretch") {
				shape[k] = rapid.IntRange(0, 3).Draw(t, "to")
			}
		}
		if rapid.Bool().Draw(t, "more") {
			shape = append([]int{2}, shape...)
		}
		if size(shape) > 500 {
			return p
		}
		m = m.pick(shape, func(c []int) []int {
			c = slices.Clone(c[len(shape)-rank:])
			for k := range c {
				c[k] = min(c[k], max(m.shape[k]-1, 0))
			}
			return c
		})
		m.readOnly = true
		x = x.BroadcastTo(shape...)
	case "readonly":
		m.readOnly, x = true, x.ReadOnly()
	case "diagonal":
		a, b := axis(), axis()
		if a == b {
			return p
		}
		offset := rapid.IntRange(-3, 3).Draw(t, "offset")
		n := 0
		for i := range m.shape[a] {
			if j := i + offset; j >= 0 && j < m.shape[b] {
				n++
			}
		}
		var rest []int
		for k := range rank {
			if k != a && k != b {
				rest = append(rest, k)
			}
		}
		shape := make([]int, 0, rank-1)
		for _, k := range rest {
			shape = append(shape, m.shape[k])
		}
		m = m.pick(append(shape, n), func(c []int) []int {
			from := make([]int, rank)
			for i, k := range rest {
				from[k] = c[i]
			}
			from[a], from[b] = c[len(rest)]+max(-offset, 0), c[len(rest)]+max(offset, 0)
			return from
		})
		m.readOnly = true
		if err := tensor.Try(func() { x = tensor.Diagonal(x, offset, sign(a, rank), sign(b, rank)) }); err != nil {
			if p.m.flat || !errors.Is(err, tensor.ErrView) {
				t.Fatal(err)
			}
			return p
		}
	case "window":
		a := axis()
		w := rapid.IntRange(0, m.shape[a]).Draw(t, "window")
		shape := append(slices.Clone(m.shape), w)
		shape[a] += 1 - w
		m = m.pick(shape, func(c []int) []int {
			from := slices.Clone(c[:rank])
			from[a] += c[rank]
			return from
		})
		m.readOnly = true
		if err := tensor.Try(func() { x = tensor.SlidingWindow(x, sign(a, rank), w) }); err != nil {
			if p.m.flat || !errors.Is(err, tensor.ErrView) {
				t.Fatal(err)
			}
			return p
		}
	case "reshape":
		shape := drawShape(t, size(m.shape))
		given := slices.Clone(shape)
		if len(m.at) > 0 && len(given) > 0 && rapid.Bool().Draw(t, "infer") {
			given[rapid.IntRange(0, len(given)-1).Draw(t, "which")] = -1
		}
		before := x
		x = x.Reshape(given...)
		if can := before.Any().CanView(given...); can != x.Any().SameData(before.Any()) {
			t.Fatalf("CanView(%v) of %v is %v, Reshape's SameData is not", given, before.Layout(), can)
		}
		if err := tensor.Try(func() { before.View(given...) }); (err == nil) != x.Any().SameData(before.Any()) {
			t.Fatalf("View(%v) of %v: %v", given, before.Layout(), err)
		}
		if !x.Any().SameData(before.Any()) {
			if affine(m.at, shape) {
				t.Fatalf("Reshape(%v) of %v copied, but strides exist", given, before.Layout())
			}
			m = m.fresh()
		} else if m.flat && !affine(m.at, shape) {
			t.Fatalf("Reshape(%v) of %v shares, but no strides exist: %v", given, before.Layout(), x.Layout())
		}
		m.shape = shape
	}
	lay := x.Layout()
	m.flat = lay.Flat()
	return pair{x, m}
}

func permuted(m model, axes []int) model {
	shape := make([]int, len(axes))
	for i, a := range axes {
		shape[i] = m.shape[a]
	}
	return m.pick(shape, func(c []int) []int {
		from := make([]int, len(axes))
		for i, a := range axes {
			from[a] = c[i]
		}
		return from
	})
}

var long = flag.Bool("long", false, "a hundred times the random calls, and results that are written in full")
