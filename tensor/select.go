package tensor

import (
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/walk"
)

// The elements that index arrays and masks select go through the kernels of package conv where the
// parts are runs of elements. pick.go has the definition, for all layouts.

// A selector is the index arrays of a call on a tensor whose first axes have strides
// and whose parts are runs.
type selector struct {
	mem       []byte // of the tensor
	size, row int    // bytes of an element and of a part
	axes      []conv.Axis
	at        [][]int64 // the indices of each axis, in place order
	n         int       // parts
	held      []Tensor[int64]
}

// selects returns the selector of index arrays, which the shape is common to; nil where the
// layout is another. The indices are not checked.
func selects(op string, a *Any, at []Tensor[int64], shape []int) *selector {
	rest := tail(op, &a.lay, len(at))
	if !walk.Ref(&a.lay).Flat() || !rest.IsRowMajor() {
		return nil
	}
	s := &selector{mem: a.st.bytes(), size: a.st.dtype.Size(), n: 1}
	s.row = rest.Size() * s.size
	for _, e := range shape {
		s.n *= e
	}
	for k, x := range at {
		stretchTo(op, &x.a.lay, shape)
		x = x.Contiguous()
		s.held = append(s.held, x)
		v := x.Elems()
		stride, _ := walk.Ref(&a.lay).Stride(k)
		s.axes = append(s.axes, conv.Axis{N: walk.Ref(&a.lay).Dim(k), Stride: stride})
		s.at = append(s.at, v)
	}
	s.axes[0].First = a.origin()
	return s
}

// keep copies the indices that lie in the memory of a, which is to be written.
func (s *selector) keep(op string, a *Any) {
	for k := range s.held {
		if overlaps(op, a, &s.held[k].a) {
			s.at[k] = slices.Clone(s.at[k])
		}
	}
}

// check panics when an index is outside its axis.
func (s *selector) check(op string) {
	bad, axis := s.n, 0
	for k, v := range s.at {
		if i := conv.Outside(v, s.axes[k].N); i >= 0 && i < bad {
			bad, axis = i, k
		}
	}
	if bad < s.n {
		panic(&Error{op, sprintf("index %d is outside axis %d of extent %d", s.at[axis][bad], axis, s.axes[axis].N), ErrIndex})
	}
}

// elements reports whether the parts are elements that one array of indices selects.
func (s *selector) elements() bool { return len(s.at) == 1 && s.row == s.size }

// take sets mem, which nobody else sees, to such elements, and checks the indices.
func (s *selector) take(op string, mem []byte) {
	if conv.TakeWithin(mem, s.mem, s.size, s.at[0], s.axes[0]) >= 0 {
		s.check(op)
	}
	runtime.KeepAlive(s)
}

// move copies the parts to mem, or with set from mem, where they are one after the other, or
// all the same with step 0.
func (s *selector) move(mem []byte, set bool, step int) {
	if s.row == 0 {
		return
	}
	var offs [1024]int64
	for c := 0; c < s.n; c += len(offs) {
		m := min(len(offs), s.n-c)
		at, axis := s.at[0][c:c+m], s.axes[0]
		if len(s.at) > 1 || s.row > s.size {
			at = offs[:m]
			for i := range at {
				at[i] = int64(axis.First)
			}
			for k, x := range s.axes {
				for i, v := range s.at[k][c : c+m] {
					at[i] += (v + int64(x.N)&(v>>63)) * int64(x.Stride)
				}
			}
			axis = conv.Axis{Stride: 1}
		}
		side := mem[c*step*s.row:]
		switch {
		case s.row > s.size && set:
			for i, off := range at {
				copy(s.mem[int(off)*s.size:][:s.row], side[i*step*s.row:])
			}
		case s.row > s.size:
			for i, off := range at {
				copy(side[i*s.row:(i+1)*s.row], s.mem[int(off)*s.size:])
			}
		case set:
			conv.Put(s.mem, side, s.size, at, axis, step)
		default:
			conv.Take(side, s.mem, s.size, at, axis)
		}
	}
	runtime.KeepAlive(s)
}

// run returns the memory of a from its first element on.
func (a *Any) run() []byte {
	size := a.st.dtype.Size()
	return a.st.bytes()[a.origin()*size:]
}

// source returns the memory of src, of which all parts are at one place, with step 0, or one
// after the other.
func source(op string, src *Any, parts bool) (mem []byte, step int) {
	one := !parts
	for i := range walk.Ref(&src.lay).Leaves() {
		ext, str := walk.Ref(&src.lay).Leaf(i)
		one = one && (str == 0 || ext == 1)
	}
	if one {
		return src.run(), 0
	}
	if !walk.Ref(&src.lay).IsRowMajor() {
		compact(src, op)
	}
	return src.run(), 1
}

// maskOf returns the bytes of a mask that has the extents of the first axes of a contiguous
// tensor of other elements, and how many bytes of the tensor each stands for; false where
// something is different.
func maskOf(a *Any, mask *Tensor[bool]) (truth []byte, row int, ok bool) {
	if !walk.Ref(&a.lay).IsRowMajor() || mask.Rank() > walk.Ref(&a.lay).Rank() {
		return nil, 0, false
	}
	row = a.st.dtype.Size()
	for k := range walk.Ref(&a.lay).Rank() {
		if k >= mask.Rank() {
			row *= walk.Ref(&a.lay).Dim(k)
		} else if walk.Ref(&a.lay).Dim(k) != walk.Ref(&mask.a.lay).Dim(k) {
			return nil, 0, false
		}
	}
	mask.a.pointer("tensor.Mask")
	contiguous(&mask.a)
	return mask.a.run()[:walk.Ref(&mask.a.lay).Size()], row, walk.Ref(&a.lay).Size() > 0
}

// filtered is Mask for a contiguous tensor.
func filtered(op string, a *Any, truth []byte, row, n int) Any {
	rest := tail(op, &a.lay, n)
	c := create(op, a.st.dtype, append([]int{conv.True(truth)}, rest.Shape()...), true)
	to, from := c.st.bytes(), a.run()
	if size := a.st.dtype.Size(); row == size {
		conv.Filter(to, from, size, truth)
	} else {
		k := 0
		for i, v := range truth {
			if v != 0 {
				k += copy(to[k:], from[i*row:(i+1)*row])
			}
		}
	}
	runtime.KeepAlive(a.st)
	return c
}

// replaced is SetMask for a contiguous tensor, whose parts are stored at a step in from.
func replaced(a *Any, truth []byte, row int, from []byte, step int) {
	to := a.run()
	if size := a.st.dtype.Size(); row == size {
		conv.Replace(to[:len(truth)*row], from, size, truth, step)
		return
	}
	k := 0
	for i, v := range truth {
		if v != 0 {
			copy(to[i*row:(i+1)*row], from[k*step*row:])
			k++
		}
	}
}
