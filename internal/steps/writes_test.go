package steps

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// write runs a call that sets elements of v, and set does so in the model. Where v is frozen the call is refused.
func (r *running) write(v *value, call string, f func(), set func()) {
	r.say("%s", call)
	err := r.try(f)
	switch {
	case v.frozen && !errors.Is(err, tensor.ErrReadOnly):
		r.fail("%s is read-only, and the error %v", v.name, err)
	case !v.frozen && err != nil:
		r.fail("%v", err)
	case !v.frozen:
		set()
	}
}

// element chooses an element of a type.
func (r *running) element(d dtype.DType) []byte { return small1(d, r.s.pick(9)) }

// written writes to a live value.
func (r *running) written() {
	v := r.subject(anyValue)
	ty := typeOf[v.d]
	kinds := []string{"copy", "set", "fill", "copy", "colex", "logical", "copyAny", "copy", "async"}
	if len(v.shape) > 0 {
		kinds = append(kinds, "take", "mask", "index", "store")
	}
	kind := of1(r.s, kinds...)
	r.met("write " + kind)
	alike := func(u *value) bool { return u.d == v.d && len(u.at) == len(v.at) }
	switch kind {
	case "set":
		if len(v.at) == 0 {
			return
		}
		c, e := coords(v.shape)[r.s.pick(len(v.at))], r.element(v.d)
		r.write(v, fmt.Sprintf("%s.Set(%s, %s)", v.name, show(v.d, e), list(c)), func() { ty.set(v.t, e, c...) }, func() {
			copy(v.on.want[v.at[place(v.shape, c)]:], e)
		})
	case "fill":
		e := r.element(v.d)
		r.write(v, fmt.Sprintf("%s.Fill(%s)", v.name, show(v.d, e)), func() { ty.fill(v.t, e) }, func() {
			v.put(build(v.d, v.shape, func([]int) []byte { return e }))
		})
	case "copy", "copyAny":
		src := r.near(v, func(u *value) bool {
			if u.d != v.d {
				return false
			}
			shape, ok := broadcast(u.shape, v.shape)
			return ok && slices.Equal(shape, v.shape) && len(u.shape) <= len(v.shape)
		})
		a := src.array()
		f := func() { erasedOf.copy(v.t, src.t) }
		if kind == "copyAny" {
			f = func() { v.t.CopyFrom(src.t) }
		}
		r.write(v, fmt.Sprintf("%s.CopyFrom(%s)", v.name, src.name), f, func() {
			v.put(build(v.d, v.shape, func(c []int) []byte { return a.at(stretched(a.shape, c)) }))
		})
	case "colex":
		src := r.near(v, alike)
		a := src.array()
		r.write(v, fmt.Sprintf("CopyColex(%s, %s)", v.name, src.name), func() { erasedOf.colex(v.t, src.t) }, func() {
			v.put(build(v.d, v.shape, func(c []int) []byte { return a.at(colex(a.shape, uncolex(v.shape, c))) }))
		})
	case "logical":
		src := r.near(v, alike)
		a := src.array()
		r.write(v, fmt.Sprintf("CopyLogical(%s, %s)", v.name, src.name), func() { erasedOf.logical(v.t, src.t) }, func() { v.put(a) })
	case "async":
		r.swizzled(v, r.near(v, alike))
	case "take":
		axis := r.axis(v)
		var at, given []int
		if v.shape[axis] > 0 {
			for range r.s.pick(5) {
				i := r.s.pick(v.shape[axis])
				at, given = append(at, i), append(given, r.sign(i, v.shape[axis]))
			}
		}
		shape := slices.Clone(v.shape)
		shape[axis] = len(at)
		src := r.source(v.d, shape)
		a, g := src.array(), r.sign(axis, len(v.shape))
		r.write(v, fmt.Sprintf("SetTake(%s, %s, %d, %s)", v.name, src.name, g, list(given)), func() { erasedOf.setTake(v.t, src.t, g, given...) }, func() {
			for _, c := range coords(shape) {
				e := a.at(stretched(a.shape, c))
				c = slices.Clone(c)
				c[axis] = at[c[axis]]
				copy(v.on.want[v.at[place(v.shape, c)]:], e)
			}
		})
	case "mask":
		mask := r.maskFor(v)
		if mask == nil {
			return
		}
		shape, from := masked(v.shape, mask.array())
		yes := mask.array()
		src := r.source(v.d, shape)
		a := src.array()
		if !bytes.Equal(mask.array().b, yes.b) {
			return // the source was made over it
		}
		r.write(v, fmt.Sprintf("SetMask(%s, %s, %s)", v.name, src.name, mask.name), func() { erasedOf.setMask(v.t, src.t, mask.t) }, func() {
			for _, c := range coords(shape) {
				copy(v.on.want[v.at[place(v.shape, from(c))]:], a.at(stretched(a.shape, c)))
			}
		})
	case "index":
		at, shape, from := r.indices(v)
		if at == nil {
			return
		}
		were := make([]array, len(at))
		for k := range at {
			were[k] = at[k].array()
		}
		src := r.source(v.d, shape)
		a := src.array()
		for k := range at {
			if !bytes.Equal(at[k].array().b, were[k].b) {
				return // the source was made over it
			}
		}
		r.write(v, fmt.Sprintf("SetIndexBy(%s, %s, %s)", v.name, src.name, names(at)), func() { erasedOf.setIndexBy(v.t, src.t, tensors(at)...) }, func() {
			for _, c := range coords(shape) {
				copy(v.on.want[v.at[place(v.shape, from(c))]:], a.at(stretched(a.shape, c)))
			}
		})
	case "store":
		if len(v.at) == 0 {
			return
		}
		c := coords(v.shape)[r.s.pick(len(v.at))]
		n, last := r.s.pick(6), len(v.shape)-1
		a := build(v.d, []int{n}, func(c []int) []byte { return small1(v.d, 11+c[0]) })
		r.write(v, fmt.Sprintf("Store(%s, %s, %s)", v.name, show(v.d, a.b), list(c)), func() {
			if got, want := ty.store(v.t, a, c...), min(n, v.shape[last]-c[last]); got != want {
				r.fail("Store set %d elements, want %d", got, want)
			}
		}, func() {
			for i := range min(n, v.shape[last]-c[last]) {
				to := slices.Clone(c)
				to[last] += i
				copy(v.on.want[v.at[place(v.shape, to)]:], a.elem(i))
			}
		})
	}
}

// near chooses a source for v: a live value, more often one in the memory of v, or a part of the arena as it is.
func (r *running) near(v *value, fits func(u *value) bool) *value {
	switch r.s.pick(3) {
	case 1:
		if u := r.ref(func(u *value) bool { return fits(u) && u != v && meets(u.view, v.view) }); u != nil {
			return u
		}
	case 2:
		if u := r.over(v.d, v.shape); slices.Equal(u.shape, v.shape) {
			return r.add(u.view, u.t)
		}
	}
	return r.ref(fits)
}

// source chooses a live value that stretches to a shape, or makes one.
func (r *running) source(d dtype.DType, shape []int) *value {
	fits := func(u *value) bool {
		s, ok := broadcast(u.shape, shape)
		return u.d == d && ok && slices.Equal(s, shape) && len(u.shape) <= len(shape)
	}
	if v := r.ref(fits); v != nil {
		return v
	}
	if v := r.make(d, shape); fits(v) {
		return v
	}
	return r.make(d, nil)
}

// uncolex is the position of a coordinate that is counted with the first axis fastest.
func uncolex(shape, c []int) (i int) {
	for k := len(c) - 1; k >= 0; k-- {
		i = i*shape[k] + c[k]
	}
	return i
}

// swizzled copies with a swizzle of the places.
func (r *running) swizzled(v, src *value) {
	b, m, s := r.s.pick(3), r.s.pick(2), 1+r.s.pick(2)
	if b > s {
		b = s // else the two fields overlap
	}
	w, err := layout.NewSwizzle(b, m, s)
	if err != nil || len(v.at) == 0 || v.frozen || !v.t.IsContiguous() {
		return
	}
	n, a := len(v.at), src.array()
	if n%w.Size() != 0 {
		return // an element would leave the tensor
	}
	r.write(v, fmt.Sprintf("CopyFromAsync(%s, nil, %s, Swizzle(%d,%d,%d))", v.name, src.name, b, m, s), func() {
		erasedOf.async(v.t, src.t, tensor.AsyncCopy{Swizzle: w})
	}, func() {
		for i := range n {
			to := place(v.shape, colex(v.shape, i)) // v is contiguous: an offset is a place in row-major order
			y := (1<<b - 1) << (m + s)
			copy(v.on.want[v.at[to^(to&y)>>s]:], a.at(colex(a.shape, i)))
		}
	})
}

// maskFor makes a mask over the first axes of v.
func (r *running) maskFor(v *value) *value {
	shape := v.shape[:1+r.s.pick(len(v.shape))]
	if size(shape) > 128 {
		return nil
	}
	if m := r.ref(func(u *value) bool { return u.d == dtype.Bool && slices.Equal(u.shape, shape) }); m != nil {
		return m
	}
	if m := r.make(dtype.Bool, shape); slices.Equal(m.shape, shape) {
		return m
	}
	return nil
}

// masked is the shape of the parts where a mask is true, and the coordinate that each of their elements has.
func masked(shape []int, mask array) (out []int, from func(c []int) []int) {
	var where [][]int
	for i, c := range coords(mask.shape) {
		if mask.elem(i)[0] != 0 {
			where = append(where, c)
		}
	}
	out = append([]int{len(where)}, shape[len(mask.shape):]...)
	return out, func(c []int) []int { return slices.Concat(where[c[0]], c[1:]) }
}

// indices makes index arrays for the first axes of v.
func (r *running) indices(v *value) (at []*value, shape []int, from func(c []int) []int) {
	n := 1 + r.s.pick(min(2, len(v.shape)))
	common := []int{1 + r.s.pick(3)}
	if r.s.rare(3) {
		common = append(common, 1+r.s.pick(2))
	}
	var arrays []array
	for k := range n {
		if v.shape[k] == 0 {
			return nil, nil, nil
		}
		x := r.index(v.shape[k], common)
		at, arrays = append(at, x), append(arrays, array{})
	}
	for k, x := range at { // one that was made later may have written over an earlier one
		arrays[k] = x.array()
		for i := range arrays[k].n() {
			if j := decode(dtype.Int64, arrays[k].elem(i)).z.Int64(); j < -int64(v.shape[k]) || j >= int64(v.shape[k]) {
				return nil, nil, nil
			}
		}
	}
	shape = append(slices.Clone(common), v.shape[n:]...)
	return at, shape, func(c []int) []int {
		out := make([]int, n, len(v.shape))
		for k := range n {
			out[k] = indexAt(arrays[k], c[:len(common)], v.shape[k])
		}
		return append(out, c[len(common):]...)
	}
}

// indexAt is an index of an array of them, counted from 0.
func indexAt(a array, c []int, extent int) int {
	i := int(decode(dtype.Int64, a.at(c)).z.Int64())
	if i < 0 {
		i += extent
	}
	return i
}

// index makes a tensor of indices of an axis in the arena.
func (r *running) index(extent int, shape []int) *value {
	v := r.over(dtype.Int64, shape)
	i := r.s.pick(5)
	step := 1 + r.s.pick(3)
	a := build(dtype.Int64, v.shape, func([]int) []byte {
		i += step
		return unword(uint64(int64(i%(2*extent)-extent)), 8)
	})
	v.put(a)
	for k, at := range v.at {
		copy(v.on.real[at:], a.elem(k))
	}
	r.text[len(r.text)-1] += " <- " + show(dtype.Int64, a.b)
	return r.add(v.view, v.t)
}

func names(list []*value) (text string) {
	for i, v := range list {
		if i > 0 {
			text += ", "
		}
		text += v.name
	}
	return text
}

func tensors(list []*value) (out []tensor.Any) {
	for _, v := range list {
		out = append(out, v.t)
	}
	return out
}

// copies makes a copy of a value.
func (r *running) copies() {
	v := r.subject(anyValue)
	a, ty := v.array(), typeOf[v.d]
	kinds := []string{"clone", "contiguous", "made", "flatten", "flattenF", "detach", "binary", "json", "cloneAny"}
	if len(v.shape) > 0 {
		kinds = append(kinds, "take", "mask", "index", "load")
	}
	kind := of1(r.s, kinds...)
	r.met("copy " + kind)
	whole := v.t.IsContiguous()
	call := func(text string, f func() tensor.Any) (t tensor.Any) {
		r.say("v%d := %s", r.step, text)
		if err := r.try(func() { t = f() }); err != nil {
			r.fail("%v", err)
		}
		return t
	}
	one := func(text string, f func(tensor.Any) tensor.Any) tensor.Any {
		return call(text+"("+v.name+")", func() tensor.Any { return f(v.t) })
	}
	switch kind {
	case "clone":
		r.fresh(one("Clone", erasedOf.clone), a)
	case "cloneAny":
		r.fresh(one("Clone", tensor.Any.Clone), a)
	case "contiguous", "made":
		f := erasedOf.contiguous
		if kind == "made" {
			f = erasedOf.made
		}
		if t := one("Contiguous", f); whole {
			r.add(v.view, t)
		} else if r.fresh(t, a); !t.IsContiguous() {
			r.fail("it isn't contiguous")
		}
	case "flatten":
		a.shape = []int{a.n()}
		r.fresh(one("Flatten", erasedOf.flatten), a)
	case "flattenF":
		axes := seq(len(v.shape))
		slices.Reverse(axes)
		b := permuted(v.view, axes).array()
		b.shape = []int{a.n()}
		r.fresh(one("Flatten OrderF", erasedOf.flattenF), b)
	case "detach":
		if t := one("Detach", erasedOf.detach); t.SameData(v.t) {
			if t.RetainedBytes() != len(v.at)*v.d.Size() {
				r.fail("it keeps %d bytes for %d elements", t.RetainedBytes(), len(v.at))
			}
			r.add(v.view, t)
		} else {
			r.fresh(t, a)
		}
	case "binary":
		r.fresh(one("UnmarshalBinary of ", ty.binary), a)
	case "json":
		if v.d.IsComplex() || v.d.IsFixed() || isNaN(a) || len(v.at) == 0 { // no elements have no extents but the first
			return
		}
		r.fresh(one("UnmarshalJSON of ", ty.json), a)
	case "take":
		axis := r.axis(v)
		var at, given []int
		if v.shape[axis] > 0 {
			for range r.s.pick(5) {
				i := r.s.pick(v.shape[axis])
				at, given = append(at, i), append(given, r.sign(i, v.shape[axis]))
			}
		}
		shape := slices.Clone(v.shape)
		shape[axis] = len(at)
		g := r.sign(axis, len(v.shape))
		b := build(v.d, shape, func(c []int) []byte {
			c = slices.Clone(c)
			c[axis] = at[c[axis]]
			return a.at(c)
		})
		r.fresh(call(fmt.Sprintf("Take(%s, %d, %s)", v.name, g, list(given)), func() tensor.Any { return erasedOf.take(v.t, g, given...) }), b)
	case "mask":
		if mask := r.maskFor(v); mask != nil {
			shape, from := masked(v.shape, mask.array())
			a = v.array()
			b := build(v.d, shape, func(c []int) []byte { return a.at(from(c)) })
			r.fresh(call(fmt.Sprintf("Mask(%s, %s)", v.name, mask.name), func() tensor.Any { return erasedOf.mask(v.t, mask.t) }), b)
		}
	case "index":
		if at, shape, from := r.indices(v); at != nil {
			a = v.array()
			b := build(v.d, shape, func(c []int) []byte { return a.at(from(c)) })
			r.fresh(call(fmt.Sprintf("IndexBy(%s, %s)", v.name, names(at)), func() tensor.Any { return erasedOf.indexBy(v.t, tensors(at)...) }), b)
		}
	case "load":
		if len(v.at) == 0 {
			return
		}
		c := coords(v.shape)[r.s.pick(len(v.at))]
		n, last := r.s.pick(6), len(v.shape)-1
		r.say("Load(%s, dst[:%d], %s)", v.name, n, list(c))
		want := build(v.d, []int{n}, func(i []int) []byte {
			if to := slices.Clone(c); to[last]+i[0] < v.shape[last] {
				to[last] += i[0]
				return a.at(to)
			}
			return make([]byte, v.d.Size())
		})
		if got := ty.load(v.t, n, c...); string(got.b) != string(want.b) {
			r.fail("Load gave %s, want %s", show(v.d, got.b), show(v.d, want.b))
		}
	}
}

// isNaN reports whether an element is NaN.
func isNaN(a array) bool {
	for i := range a.n() {
		if x := decode(a.d, a.elem(i)); x.z == nil && x.f-x.f != 0 {
			return true
		}
	}
	return false
}

// wrong makes a call with a wrong argument. It has an error, and changes nothing.
func (r *running) wrong() {
	v := r.subject(anyValue)
	ty, rank := typeOf[v.d], len(v.shape)
	other := append(slices.Clone(v.shape), 3, 5)
	bad := func(what string, reason error, f func()) {
		r.met("wrong " + what)
		r.say("%s // of %s, wrong", what, v.name)
		if err := r.try(f); !errors.Is(err, reason) {
			r.fail("the error is %v, want %v", err, reason)
		}
	}
	switch r.s.pick(10) {
	case 0:
		if rank > 0 {
			k := r.axis(v)
			idx := slices.Repeat([]tensor.Index{tensor.Colon}, k)
			bad("Slice", tensor.ErrIndex, func() { v.t.Slice(append(idx, tensor.I(v.shape[k]))...) })
		}
	case 1:
		bad("Permute", tensor.ErrAxis, func() { v.t.Permute(append(seq(rank), 0)...) })
	case 2:
		bad("Reshape", tensor.ErrShape, func() { v.t.Reshape(len(v.at) + 1) })
	case 3:
		if rank > 0 && v.shape[rank-1] != 1 {
			bad("BroadcastTo", tensor.ErrShape, func() { v.t.BroadcastTo(append(slices.Clone(v.shape[:rank-1]), v.shape[rank-1]+1)...) })
		}
	case 4:
		bad("Set", tensor.ErrIndex, func() { ty.set(v.t, make([]byte, v.d.Size()), append(slices.Clone(v.shape), 0)...) })
	case 5:
		src := ty.plain(build(v.d, other, func([]int) []byte { return small1(v.d, 1) }))
		if !v.frozen {
			bad("CopyFrom", tensor.ErrShape, func() { erasedOf.copy(v.t, src) })
		}
	case 6:
		if u := r.ref(func(u *value) bool { return u.d != v.d }); u != nil {
			bad("CopyFrom of "+u.name, tensor.ErrDType, func() { v.t.CopyFrom(u.t) })
		}
	case 7:
		if rank > 0 && !v.frozen {
			bad("SetTake", tensor.ErrIndex, func() { erasedOf.setTake(v.t, v.t, 0, 0, v.shape[0]) })
		}
	case 8:
		into := r.ref(func(u *value) bool { return u.d == v.d && !slices.Equal(u.shape, v.shape) })
		if into != nil {
			bad("Where into "+into.name, tensor.ErrShape, func() {
				yes := tensor.Full(true, v.shape...).Any()
				table["Where"].do(&call{in: []tensor.Any{yes, v.t, v.t}, opts: []op.Option{op.Into(erased(into.t))}})
			})
		}
	case 9:
		if into := r.ref(func(u *value) bool { return u.d == v.d && slices.Equal(u.shape, v.shape) && u.frozen }); into != nil {
			bad("Where into "+into.name, tensor.ErrReadOnly, func() {
				yes := tensor.Full(true, v.shape...).Any()
				table["Where"].do(&call{in: []tensor.Any{yes, v.t, v.t}, opts: []op.Option{op.Into(erased(into.t))}})
			})
		}
	}
}
