package steps

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

func anyValue(*value) bool { return true }

// list prints numbers as arguments.
func list(ints []int) string {
	words := make([]string, len(ints))
	for i, x := range ints {
		if words[i] = fmt.Sprint(x); x == tensor.None {
			words[i] = "None"
		}
	}
	return strings.Join(words, ", ")
}

// sign writes an axis as it is, or counted from the end.
func (r *running) sign(axis, rank int) int { return axis - rank*r.s.pick(2) }

func (r *running) axis(v *value) int { return r.s.pick(len(v.shape)) }

// seen notes a view, for which m is the model. A view of a nested layout may be refused.
func (r *running) seen(v *value, m view, call string, f func() tensor.Any) {
	r.say("v%d := %s", r.step, call)
	var t tensor.Any
	if err := r.try(func() { t = f() }); err != nil {
		if v.flat || !errors.Is(err, tensor.ErrView) {
			r.fail("%v", err)
		}
		r.text[len(r.text)-1] += " // refused"
		return
	}
	r.add(m, t)
}

// viewed makes a view of a live value.
func (r *running) viewed() {
	v := r.subject(anyValue)
	m, rank := v.view, len(v.shape)
	kinds := []string{"slice", "reshape", "permute", "flip", "unsqueeze", "squeeze", "broadcast", "slice", "reshapeF", "view", "transpose", "readonly", "slice"}
	if rank > 0 {
		kinds = append(kinds, "window", "swap", "move", "tile", "split", "slice1", "distribute", "compose", "relaid")
	}
	if rank > 1 {
		kinds = append(kinds, "diagonal", "coalesce")
	}
	kind := of1(r.s, kinds...)
	r.met("view " + kind)
	switch kind {
	case "slice":
		r.sliced(v)
	case "permute":
		axes := r.s.perm(rank)
		given := slices.Clone(axes)
		for i := range given {
			given[i] = r.sign(given[i], rank)
		}
		r.seen(v, permuted(m, axes), fmt.Sprintf("%s.Permute(%s)", v.name, list(given)), func() tensor.Any {
			if r.s.pick(2) == 0 {
				return erasedOf.permute(v.t, given...)
			}
			return v.t.Permute(given...)
		})
	case "transpose":
		axes := seq(rank)
		slices.Reverse(axes)
		r.seen(v, permuted(m, axes), v.name+".Transpose()", func() tensor.Any { return erasedOf.transpose(v.t) })
	case "swap":
		axes, a, b := seq(rank), r.axis(v), r.axis(v)
		axes[a], axes[b] = axes[b], axes[a]
		a, b = r.sign(a, rank), r.sign(b, rank)
		r.seen(v, permuted(m, axes), fmt.Sprintf("SwapAxes(%s, %d, %d)", v.name, a, b), func() tensor.Any { return erasedOf.swap(v.t, a, b) })
	case "move":
		a, b := r.axis(v), r.axis(v)
		axes := slices.Insert(slices.Delete(seq(rank), a, a+1), b, a)
		a, b = r.sign(a, rank), r.sign(b, rank)
		r.seen(v, permuted(m, axes), fmt.Sprintf("MoveAxis(%s, %d, %d)", v.name, a, b), func() tensor.Any { return erasedOf.move(v.t, a, b) })
	case "unsqueeze":
		at := r.s.pick(rank + 1)
		m.shape = slices.Insert(slices.Clone(m.shape), at, 1)
		at = r.sign(at, rank+1)
		r.seen(v, m, fmt.Sprintf("%s.Unsqueeze(%d)", v.name, at), func() tensor.Any { return erasedOf.unsqueeze(v.t, at) })
	case "squeeze":
		var axes, shape []int
		for k, e := range m.shape {
			if e == 1 && r.s.pick(2) == 0 {
				axes = append(axes, r.sign(k, rank))
				continue
			}
			shape = append(shape, e)
		}
		if axes == nil {
			shape = slices.DeleteFunc(slices.Clone(m.shape), func(e int) bool { return e == 1 })
		}
		m.shape = shape
		r.seen(v, m, fmt.Sprintf("%s.Squeeze(%s)", v.name, list(axes)), func() tensor.Any { return erasedOf.squeeze(v.t, axes...) })
	case "flip":
		flips := make([]bool, rank)
		var axes []int
		for k := range rank {
			if flips[k] = r.s.pick(2) == 0; flips[k] {
				axes = append(axes, r.sign(k, rank))
			}
		}
		if axes == nil {
			for k := range flips {
				flips[k] = true
			}
		}
		m = m.pick(m.shape, func(c []int) []int {
			c = slices.Clone(c)
			for k := range c {
				if flips[k] {
					c[k] = m.shape[k] - 1 - c[k]
				}
			}
			return c
		})
		r.seen(v, m, fmt.Sprintf("%s.Flip(%s)", v.name, list(axes)), func() tensor.Any { return erasedOf.flip(v.t, axes...) })
	case "broadcast":
		shape := slices.Clone(m.shape)
		for k, e := range shape {
			if e == 1 && r.s.pick(2) == 0 {
				shape[k] = of1(r.s, 2, 3, 1, 0)
			}
		}
		for range of1(r.s, 0, 1, 2) {
			shape = append([]int{of1(r.s, 2, 1, 3, 0)}, shape...)
		}
		if size(shape) > 300 {
			return
		}
		m = m.pick(shape, func(c []int) []int { return stretched(v.shape, c) })
		m.frozen = true
		r.seen(v, m, fmt.Sprintf("%s.BroadcastTo(%s)", v.name, list(shape)), func() tensor.Any { return v.t.BroadcastTo(shape...) })
	case "readonly":
		m.frozen = true
		r.seen(v, m, v.name+".ReadOnly()", func() tensor.Any { return erasedOf.frozen(v.t) })
	case "diagonal":
		a, b := r.axis(v), r.axis(v)
		if a == b {
			return
		}
		offset := of1(r.s, 0, 1, -1, 2, -3)
		n := 0
		for i := range m.shape[a] {
			if j := i + offset; j >= 0 && j < m.shape[b] {
				n++
			}
		}
		rest := slices.DeleteFunc(seq(rank), func(k int) bool { return k == a || k == b })
		var shape []int
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
		m.frozen = true
		a, b = r.sign(a, rank), r.sign(b, rank)
		r.seen(v, m, fmt.Sprintf("Diagonal(%s, %d, %d, %d)", v.name, offset, a, b), func() tensor.Any { return erasedOf.diagonal(v.t, offset, a, b) })
	case "window":
		a := r.axis(v)
		w := r.s.pick(m.shape[a] + 1)
		shape := append(slices.Clone(m.shape), w)
		if shape[a] += 1 - w; size(shape) > 300 {
			return
		}
		m = m.pick(shape, func(c []int) []int {
			from := slices.Clone(c[:rank])
			from[a] += c[rank]
			return from
		})
		m.frozen = true
		a = r.sign(a, rank)
		r.seen(v, m, fmt.Sprintf("SlidingWindow(%s, %d, %d)", v.name, a, w), func() tensor.Any { return erasedOf.window(v.t, a, w) })
	case "tile":
		tile, coord, shape := make([]int, rank), make([]int, rank), make([]int, rank)
		for k, e := range m.shape {
			tile[k] = 1 + r.s.pick(e+1)
			coord[k] = r.s.pick(e/tile[k] + 2)
			shape[k] = max(0, min(tile[k], e-tile[k]*coord[k]))
		}
		m = m.pick(shape, func(c []int) []int {
			from := slices.Clone(c)
			for k := range from {
				from[k] += tile[k] * coord[k]
			}
			return from
		})
		r.seen(v, m, fmt.Sprintf("Tile(%s, []int{%s}, %s)", v.name, list(tile), list(coord)), func() tensor.Any { return erasedOf.tile(v.t, tile, coord) })
	case "split":
		a, count := r.axis(v), 1+r.s.pick(4)
		i, align := r.s.pick(count), 1+r.s.pick(3)
		part := (m.shape[a] + count - 1) / count
		part = (part + align - 1) / align * align
		from := min(i*part, m.shape[a])
		shape := slices.Clone(m.shape)
		shape[a] = min(part, m.shape[a]-from)
		m = m.pick(shape, func(c []int) []int {
			c = slices.Clone(c)
			c[a] += from
			return c
		})
		a = r.sign(a, rank)
		r.seen(v, m, fmt.Sprintf("SplitPart(%s, %d, %d, %d, %d)", v.name, a, count, i, align), func() tensor.Any { return erasedOf.split(v.t, a, count, i, align) })
	case "slice1":
		a := r.axis(v)
		var fixed []int
		for k, e := range m.shape {
			if k != a && e == 0 {
				return
			}
			if k != a {
				fixed = append(fixed, r.s.pick(e))
			}
		}
		start, stop, step := r.bound(m.shape[a]), r.bound(m.shape[a]), of1(r.s, 1, 2, -1, -2)
		at := positions(m.shape[a], start, stop, step)
		m = m.pick([]int{len(at)}, func(c []int) []int { return slices.Insert(slices.Clone(fixed), a, at[c[0]]) })
		a = r.sign(a, rank)
		r.seen(v, m, fmt.Sprintf("Slice1D(%s, %d, R(%s), %s)", v.name, a, list([]int{start, stop, step}), list(fixed)), func() tensor.Any {
			return erasedOf.slice1(v.t, append([]int{a, start, stop, step}, fixed...)...)
		})
	case "distribute":
		grid, c, shape := make([]int, rank), make([]int, rank), make([]int, rank)
		strides, step, thread := make([]int, rank), 1, 0
		for k := rank - 1; k >= 0; k-- {
			grid[k] = 1 + r.s.pick(3)
			c[k] = r.s.pick(grid[k])
			strides[k] = step
			thread += c[k] * step
			step *= grid[k]
			shape[k] = len(positions(m.shape[k], c[k], tensor.None, grid[k]))
		}
		lay, _ := layout.New(grid, strides)
		m = m.pick(shape, func(at []int) []int {
			at = slices.Clone(at)
			for k := range at {
				at[k] = c[k] + at[k]*grid[k]
			}
			return at
		})
		r.seen(v, m, fmt.Sprintf("Distribute(%s, %q, %d, nil)", v.name, lay.String(), thread), func() tensor.Any { return erasedOf.distribute(v.t, lay, thread) })
	case "compose": // a layout of offsets counted from the first axis
		n := size(m.shape)
		if n == 0 {
			return
		}
		ext, str := 1+r.s.pick(min(n, 9)), 1+r.s.pick(4)
		if (ext-1)*str >= n {
			ext = (n-1)/str + 1
		}
		lay, _ := layout.New([]int{ext}, []int{str})
		m = m.pick([]int{ext}, func(c []int) []int { return colex(v.shape, c[0]*str) })
		call := fmt.Sprintf("Compose(%s, %q)", v.name, lay.String())
		var t tensor.Any
		r.say("v%d := %s", r.step, call)
		if err := r.try(func() { t = erasedOf.compose(v.t, lay) }); err == nil {
			r.add(m, t)
		} else if v.flat && affine(m.at, m.shape) {
			r.fail("%v", err)
		}
	case "relaid": // the elements in an order of axes
		n := size(m.shape)
		shape := r.factors(n)
		if n == 0 {
			return
		}
		strides, step := make([]int, len(shape)), 1
		for _, k := range r.s.perm(len(shape)) {
			strides[k] = step
			step *= shape[k]
		}
		lay, _ := layout.New(shape, strides)
		at := view{d: m.d, on: m.on, frozen: m.frozen, storage: m.storage, shape: shape}
		for _, c := range coords(shape) {
			i := 0
			for k, x := range c {
				i += x * strides[k]
			}
			at.at = append(at.at, m.at[i])
		}
		var t tensor.Any
		r.say("v%d := ReshapeLayout(%s, %q)", r.step, v.name, lay.String())
		if err := r.try(func() { t = erasedOf.relaid(v.t, lay) }); err == nil {
			r.add(at, t)
		} else if v.flat && affine(at.at, shape) {
			r.fail("%v", err)
		}
	case "coalesce":
		r.say("v%d := Coalesce(%s)", r.step, v.name)
		var t tensor.Any
		if err := r.try(func() { t = erasedOf.coalesce(v.t) }); err != nil {
			r.fail("%v", err)
		}
		shape := t.Shape()
		if size(shape) != len(m.at) {
			r.fail("Coalesce has shape %v", shape)
		}
		if len(m.at) > 0 {
			old := m.shape
			m = view{d: m.d, on: m.on, frozen: m.frozen, storage: m.storage, shape: shape}
			for _, c := range coords(shape) {
				i := 0
				for k := len(c) - 1; k >= 0; k-- {
					i = i*shape[k] + c[k]
				}
				m.at = append(m.at, v.at[place(old, colex(old, i))])
			}
		}
		m.shape = shape
		r.add(m, t)
	case "reshape", "reshapeF", "view":
		r.reshaped(v, kind)
	}
}

// colex is the coordinate of a position that is counted with the first axis fastest.
func colex(shape []int, i int) []int {
	c := make([]int, len(shape))
	for k, e := range shape {
		c[k] = i % e
		i /= e
	}
	return c
}

func permuted(m view, axes []int) view {
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

// bound chooses a bound of a range on an axis.
func (r *running) bound(n int) int {
	switch r.s.pick(3) {
	case 0:
		return tensor.None
	case 1:
		return r.s.pick(n + 1)
	}
	return r.s.pick(2*n+5) - n - 2
}

// sliced takes a part of a value.
func (r *running) sliced(v *value) {
	m, rank := v.view, len(v.shape)
	var idx []tensor.Index
	var lists [][]int // for each axis of the result the positions, nil for a new one
	var shape []int
	var words []string
	fixed := make([]int, 0, rank) // for each axis of m: the axis of the result, or ^position
	for k := range rank {
		if r.s.rare(6) {
			idx, lists, shape, words = append(idx, tensor.NewAxis), append(lists, nil), append(shape, 1), append(words, "NewAxis")
		}
		n := m.shape[k]
		switch how := r.s.weighted([]int{2, 4, 2}); {
		case how == 0:
			idx, words = append(idx, tensor.Colon), append(words, "Colon")
			fixed, lists, shape = append(fixed, len(lists)), append(lists, seq(n)), append(shape, n)
		case how == 2 && n > 0:
			i := r.s.pick(n)
			g := r.sign(i, n)
			idx, fixed, words = append(idx, tensor.I(g)), append(fixed, ^i), append(words, fmt.Sprintf("I(%d)", g))
		default:
			start, stop, step := r.bound(n), r.bound(n), of1(r.s, 1, -1, 2, -2, 3, -3)
			l := positions(n, start, stop, step)
			idx, words = append(idx, tensor.R(start, stop, step)), append(words, fmt.Sprintf("R(%s)", list([]int{start, stop, step})))
			fixed, lists, shape = append(fixed, len(lists)), append(lists, l), append(shape, len(l))
		}
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
	r.seen(v, m, fmt.Sprintf("%s.Slice(%s)", v.name, strings.Join(words, ", ")), func() tensor.Any {
		if r.s.pick(2) == 0 {
			return erasedOf.slice(v.t, idx...)
		}
		return v.t.Slice(idx...)
	})
}

// factors chooses a shape of n elements.
func (r *running) factors(n int) []int {
	shape := []int{}
	for n > 1 {
		d := 2
		for n%d != 0 {
			d++
		}
		n /= d
		if len(shape) > 0 && r.s.pick(2) == 0 {
			shape[len(shape)-1] *= d
			continue
		}
		shape = append(shape, d)
	}
	if n == 0 {
		return []int{r.s.pick(3), 0}
	}
	out := make([]int, len(shape))
	for i, k := range r.s.perm(len(shape)) {
		out[i] = shape[k]
	}
	if r.s.rare(3) {
		out = slices.Insert(out, r.s.pick(len(out)+1), 1)
	}
	return out
}

// reshaped gives a value another shape: it shares where strides exist, and copies else.
func (r *running) reshaped(v *value, kind string) {
	m := v.view
	shape := r.factors(len(m.at))
	given := slices.Clone(shape)
	if len(m.at) > 0 && len(given) > 0 && r.s.rare(3) {
		given[r.s.pick(len(given))] = -1
	}
	f := erasedOf.reshape
	switch kind {
	case "view":
		f = erasedOf.view
		kind = "View"
	case "reshapeF":
		f = erasedOf.reshapeF
		kind = "ReshapeIn OrderF"
		axes := seq(len(m.shape))
		slices.Reverse(axes)
		m = permuted(m, axes)
		slices.Reverse(shape)
	case "reshape":
		if kind = "Reshape"; r.s.pick(2) == 1 {
			f = func(a tensor.Any, shape ...int) tensor.Any { return a.Reshape(shape...) }
		}
	}
	r.say("v%d := %s.%s(%s)", r.step, v.name, kind, list(given))
	var t tensor.Any
	err := r.try(func() { t = f(v.t, given...) })
	strides := affine(m.at, shape)
	m.shape = shape
	switch {
	case kind == "View" && err != nil:
		if !errors.Is(err, tensor.ErrView) || v.flat && strides || v.t.CanView(given...) {
			r.fail("CanView is %v, strides exist: %v: %v", v.t.CanView(given...), strides, err)
		}
		return
	case err != nil:
		r.fail("%v", err)
	}
	shares := t.SameData(v.t)
	switch {
	case shares && v.flat && !strides:
		r.fail("it shares, and there are no strides: %v as %v", v.t.Layout(), t.Layout())
	case !shares && strides:
		r.fail("it copied, and there are strides: %v as %v", v.t.Layout(), t.Layout())
	case kind != "ReshapeIn OrderF" && v.t.CanView(given...) != shares:
		r.fail("CanView is %v, SameData %v", !shares, shares)
	}
	if kind == "ReshapeIn OrderF" {
		axes := seq(len(shape))
		slices.Reverse(axes)
		m = permuted(m, axes)
	}
	if shares {
		r.add(m, t)
		return
	}
	r.fresh(t, m.array())
}

// bits sees the bits of a value as another type, of the same size or another.
func (r *running) bits() {
	v := r.subject(func(v *value) bool { return !v.d.IsPartial() })
	if len(typeOf[v.d].bits) == 0 {
		return
	}
	var list []dtype.DType
	for _, t := range types {
		if typeOf[v.d].bits[t.d] != nil {
			list = append(list, t.d)
		}
	}
	to := of1(r.s, list...)
	m, from := v.view, v.d.Size()
	if v.d.IsComplex() && (to == dtype.Bool || to == dtype.Int8) { // Imag and Real
		m.at = slices.Clone(m.at)
		for i := range m.at {
			if to == dtype.Bool {
				m.at[i] += from / 2
			}
		}
		name := map[dtype.DType]string{dtype.Bool: "Imag", dtype.Int8: "Real"}[to]
		if m.d = dtype.Float32; v.d == dtype.Complex128 {
			m.d = dtype.Float64
		}
		r.met("view " + name)
		r.seen(v, m, name+"("+v.name+")", func() tensor.Any { return typeOf[v.d].bits[to](v.t) })
		return
	}
	es := to.Size()
	if es != from && !v.flat {
		return // the order in a nested axis follows from the layout
	}
	r.met("view bits")
	r.say("v%d := BitCast or Recast[%v](%s)", r.step, to, v.name)
	var t tensor.Any
	if err := r.try(func() { t = typeOf[v.d].bits[to](v.t) }); err != nil {
		if es == from && !errors.Is(err, tensor.ErrAlign) && !errors.Is(err, tensor.ErrView) {
			r.fail("%v", err)
		}
		return
	}
	m.d = to
	if es != from { // the bytes of the result are those of the operand, and their order follows from the shape
		shape := t.Shape()
		axis := -1
		for k := range m.shape {
			if k < len(shape) && shape[k] != m.shape[k] {
				axis = k
			}
		}
		if len(shape) != len(m.shape) || size(shape)*es != len(m.at)*from {
			r.fail("%v of shape %v are %v of shape %v", v.d, m.shape, to, shape)
		}
		if len(m.at) == 0 || axis < 0 {
			return
		}
		old := v.view
		m = view{d: to, on: m.on, frozen: m.frozen, storage: m.storage, shape: shape}
		for _, c := range coords(shape) {
			c = slices.Clone(c)
			byteAt := c[axis] * es // along the axis
			c[axis] = byteAt / from
			m.at = append(m.at, old.at[place(old.shape, c)]+byteAt%from)
		}
	}
	r.add(m, t)
}
