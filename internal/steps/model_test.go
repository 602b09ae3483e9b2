package steps

import (
	"fmt"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

// A region is memory that tensors use, and the bytes that it should have.
type region struct{ real, want []byte }

// A view is a tensor in the model.
type view struct {
	d       dtype.DType
	shape   []int
	on      *region
	at      []int // the first byte of each element, in row-major order
	frozen  bool  // writes are refused
	storage int   // equal for tensors of one storage
}

// A value is a tensor beside its model.
type value struct {
	view
	name string
	t    tensor.Any
	flat bool // the layout isn't nested, so that no view is refused
}

// An array is elements in row-major order.
type array struct {
	d     dtype.DType
	shape []int
	b     []byte
}

func (a array) n() int { return size(a.shape) }

func (a array) elem(i int) []byte { return a.b[i*a.d.Size():][:a.d.Size()] }

func (a array) at(c []int) []byte { return a.elem(place(a.shape, c)) }

// array returns the elements that a view should have.
func (v view) array() array {
	b := make([]byte, 0, len(v.at)*v.d.Size())
	for _, at := range v.at {
		b = append(b, v.on.want[at:at+v.d.Size()]...)
	}
	return array{v.d, v.shape, b}
}

// put sets the elements that a view should have, in row-major order.
func (v view) put(a array) {
	for i, at := range v.at {
		copy(v.on.want[at:], a.elem(i))
	}
}

// pick returns the view of another shape whose element c is v's element from(c).
func (v view) pick(shape []int, from func(c []int) []int) view {
	old := v
	v.at, v.shape = make([]int, 0, size(shape)), shape
	for _, c := range coords(shape) {
		v.at = append(v.at, old.at[place(old.shape, from(c))])
	}
	return v
}

// build makes an array element by element.
func build(d dtype.DType, shape []int, f func(c []int) []byte) array {
	a := array{d, shape, make([]byte, 0, size(shape)*d.Size())}
	for _, c := range coords(shape) {
		a.b = append(a.b, f(c)...)
	}
	return a
}

// coords are the coordinates of a shape in row-major order.
func coords(shape []int) [][]int {
	out := make([][]int, size(shape))
	flat := make([]int, len(out)*len(shape))
	for i := range out {
		out[i] = flat[i*len(shape):][:len(shape):len(shape)]
		for k, rest := len(shape)-1, i; k >= 0; k-- {
			out[i][k] = rest % shape[k]
			rest /= shape[k]
		}
	}
	return out
}

// place is the position of a coordinate in the row-major order of a shape.
func place(shape, c []int) (i int) {
	for k, x := range c {
		if x < 0 || x >= shape[k] {
			panic(fmt.Sprintf("coordinate %v of shape %v", c, shape)) // a fault of the model
		}
		i = i*shape[k] + x
	}
	return i
}

func size(shape []int) int {
	n := 1
	for _, e := range shape {
		n *= e
	}
	return n
}

func seq(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// broadcast is the common shape of two, if there is one.
func broadcast(a, b []int) (shape []int, ok bool) {
	n := max(len(a), len(b))
	shape = make([]int, n)
	for k := range n {
		x, y := 1, 1
		if i := k - n + len(a); i >= 0 {
			x = a[i]
		}
		if i := k - n + len(b); i >= 0 {
			y = b[i]
		}
		if x != y && x != 1 && y != 1 {
			return nil, false
		}
		if shape[k] = y; y == 1 {
			shape[k] = x
		}
	}
	return shape, true
}

// stretched is the coordinate in a shape that stands at c where the shape is stretched.
func stretched(shape, c []int) []int {
	c = slices.Clone(c[len(c)-len(shape):])
	for k := range c {
		if shape[k] == 1 {
			c[k] = 0
		}
	}
	return c
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

// dense reports whether the elements stand one after the other.
func (v view) dense() bool {
	for i, at := range v.at {
		if at != v.at[0]+i*v.d.Size() {
			return false
		}
	}
	return true
}

// single reports whether no two elements share a byte.
func (v view) single() bool {
	at := slices.Sorted(slices.Values(v.at))
	for i := range max(len(at)-1, 0) {
		if at[i]+v.d.Size() > at[i+1] {
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
