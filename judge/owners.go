package judge

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/ashlar-go/ashlar/layout"
)

// Triton's names of inputs, and TIRx's of the same axes. Any other name is the same in both.
var tritonNames = map[string]string{"register": memoryAxis, "lane": "laneid", "warp": "warpid"}

// owned finds the layout of elements with known places: of index x of a shape, row-major. Every
// element has the same copies of its first place.
func owned(op string, shape []int, names []string, places [][][]int) (Axes, error) {
	back := slices.Clone(shape)
	slices.Reverse(back)
	coord := func(x int) []int {
		c := coordOf(back, x)
		slices.Reverse(c)
		return c
	}
	var copies [][]int // of element 0, from its first place
	for x, list := range places {
		if len(list) == 0 {
			return Axes{}, &Mismatch{op, x, coord(x), 0, 1, "the element has no place"}
		}
		slices.SortFunc(list, slices.Compare)
		first := slices.Clone(list[0]) // the least on each axis is the first, since copies add from 0 on
		var moved [][]int
		for _, p := range list {
			d := make([]int, len(p))
			for k := range p {
				if d[k] = p[k] - first[k]; d[k] < 0 {
					return Axes{}, &Mismatch{op, x, coord(x), p[k], first[k], fmt.Sprintf("its places %v and %v are no copies by ascending strides", first, p)}
				}
			}
			moved = append(moved, d)
		}
		if x == 0 {
			copies = moved
		} else if !slices.EqualFunc(moved, copies, slices.Equal) {
			return Axes{}, &Mismatch{op, x, coord(x), len(moved), len(copies), fmt.Sprintf("its copies lie elsewhere than those of element 0: %v, not %v from the first on", moved, copies)}
		}
	}
	firsts := make([][]int, len(places))
	for x := range places {
		firsts[x] = places[x][0]
	}
	a, err := sharded(op, shape, names, firsts)
	if err != nil {
		return Axes{}, err
	}
	n := 1
	for k, name := range names {
		var on []int // the copies on this axis alone
		for _, d := range copies {
			if !slices.Contains(on, d[k]) {
				on = append(on, d[k])
			}
		}
		slices.Sort(on)
		n *= len(on)
		l, _, err := Fit(layout.Int(len(on)), func(i int) int { return on[i] })
		if err != nil {
			return Axes{}, fail(op, ErrNone, "the copies of an element on axis %s, %v, are no strides", name, on)
		}
		for i := range l.Leaves() {
			e, s := l.Leaf(i)
			a.replica = append(a.replica, iter{e, s, name})
		}
	}
	if n != len(copies) {
		return Axes{}, fail(op, ErrNone, "the copies of an element move on several axes at once: %v", copies)
	}
	return a.tidy(op)
}

// AxesOfLinear returns a distributed layout of Triton over named axes. Its inputs are the axes:
// register is m, lane laneid, and warp warpid; other names stay. Its outputs are the coordinates
// of the elements, row-major. Several inputs with one output are copies.
//
// If there is no such layout, the error is a *Mismatch with the first element, or has ErrNone: an
// element without a place, or places that are the XOR of bits and no sum of strides.
func AxesOfLinear(l Linear) (Axes, error) {
	const op = "AxesOfLinear"
	if len(l.cols) > log2(maxTile) {
		return Axes{}, fail(op, layout.ErrLimit, "%d bits of inputs, more than %d", len(l.cols), log2(maxTile))
	}
	var names []string
	for _, d := range l.in {
		name := d.Name
		if other, ok := tritonNames[name]; ok {
			name = other
		}
		if slices.Contains(names, name) || len(names) == maxIters {
			return Axes{}, fail(op, layout.ErrAxis, "two inputs of axis %s, or more than %d", name, maxIters)
		}
		names = append(names, name)
	}
	var shape []int
	bits := 0
	for _, d := range l.out {
		shape = append(shape, 1<<d.Bits)
		if bits += d.Bits; bits > log2(maxTile) {
			return Axes{}, fail(op, layout.ErrLimit, "more than %d elements", maxTile)
		}
	}
	places := make([][][]int, 1<<bits)
	for in := range 1 << len(l.cols) {
		y, x := l.At(uint64(in)), 0
		for _, d := range l.out {
			x = x<<d.Bits | int(y&(1<<d.Bits-1))
			y >>= d.Bits
		}
		place := make([]int, len(names))
		rest := in
		for k, d := range l.in {
			place[k] = rest & (1<<d.Bits - 1)
			rest >>= d.Bits
		}
		places[x] = append(places[x], place)
	}
	return owned(op, shape, names, places)
}

// An Extent is a named axis with its length.
type Extent struct {
	Name string `json:"name"`
	Size int    `json:"size"`
}

// AxesOfThreads returns a thread–value layout over named axes. Its first mode counts threads:
// their number is split over the axes, the first fastest, as in laneid 32 and warpid 4. Its
// second counts the values, on axis m. Its offsets are linear coordinates of a tile of the
// shape, the first mode fastest, as in CuTe. Several threads or values with one element are
// copies.
func AxesOfThreads(tv layout.Layout, shape []int, threads ...Extent) (Axes, error) {
	const op = "AxesOfThreads"
	names, n := []string{}, 1
	for _, t := range threads {
		if t.Size < 1 || t.Name == memoryAxis || slices.Contains(names, t.Name) || n > maxTile/t.Size {
			return Axes{}, fail(op, layout.ErrAxis, "axis %q of %d: want different names, none of them m, and at least one thread on each", t.Name, t.Size)
		}
		names = append(names, t.Name)
		n *= t.Size
	}
	names = append(names, memoryAxis)
	size, err := tileSize(op, shape)
	if err != nil {
		return Axes{}, err
	}
	if tv.Rank() != 2 || tv.Dim(0) != n {
		return Axes{}, fail(op, layout.ErrShape, "%v: a thread–value layout has two modes, the first of as many threads as its axes, %d", tv, n)
	}
	if tv.Size() > maxTile {
		return Axes{}, fail(op, layout.ErrLimit, "%v has %d values, more than %d", tv, tv.Size(), maxTile)
	}
	places := make([][][]int, size)
	for i := range tv.Size() {
		x, err := tv.Offset(i)
		if err != nil {
			return Axes{}, err
		}
		if x < 0 || x >= size {
			return Axes{}, fail(op, layout.ErrRange, "thread %d has coordinate %d; those of the tile are 0 to %d", i%n, x, size-1)
		}
		place := make([]int, 0, len(names))
		rest := i
		for _, t := range threads {
			place = append(place, rest%t.Size)
			rest /= t.Size
		}
		x = rowMajor(shape, x)
		places[x] = append(places[x], append(place, rest))
	}
	return owned(op, shape, names, places)
}

// tileSize is the number of elements of a shape.
func tileSize(op string, shape []int) (int, error) {
	n := 1
	for _, e := range shape {
		if e < 1 || n > maxTile/e {
			return 0, fail(op, layout.ErrLimit, "a tile of shape %s; want extents from 1 on, and at most %d elements", tupleText(shape), maxTile)
		}
		n *= e
	}
	return n, nil
}

// rowMajor is a linear coordinate, the first mode fastest, as an index whose last is fastest; colMajor goes back.
func rowMajor(shape []int, x int) int {
	y := 0
	for k, c := range coordOf(shape, x) {
		y = y*shape[k] + c
	}
	return y
}

func colMajor(shape []int, y int) int {
	x, weight := 0, 1
	for _, e := range shape {
		weight *= e
	}
	for k := len(shape) - 1; k >= 0; k-- {
		weight /= shape[k]
		x += y % shape[k] * weight
		y /= shape[k]
	}
	return x
}

// grid is the element at each place, with the places of several axes side by side, the first fastest.
type grid struct {
	dims []int
	held []int // -1: none
}

// inverse returns the element at each place of the axes, which are all that the layout has.
func (a Axes) inverse(op string, size int, names []string) (*grid, error) {
	if size != a.Size() {
		return nil, fail(op, layout.ErrShape, "%v has %d elements, the tile %d", a, a.Size(), size)
	}
	for _, name := range a.Names() {
		if !slices.Contains(names, name) {
			return nil, fail(op, layout.ErrAxis, "%v has axis %s, and the axes given are %v", a, name, names)
		}
	}
	if n := extents(a.replica); n > maxCopies || size > maxTile/n {
		return nil, fail(op, layout.ErrLimit, "%v has %d elements in %d copies, more than %d", a, size, n, maxTile)
	}
	places := make([][][]int, size)
	g := &grid{dims: slices.Repeat([]int{1}, len(names))}
	for x := range places {
		places[x] = a.owners(names, x)
		for _, p := range places[x] {
			for k, v := range p {
				if v < 0 || v >= maxTile {
					return nil, fail(op, layout.ErrRange, "element %d is at %d on axis %s; want 0 to %d", x, v, names[k], maxTile-1)
				}
				g.dims[k] = max(g.dims[k], v+1)
			}
		}
	}
	n, err := tileSize(op, g.dims)
	if err != nil {
		return nil, err
	}
	g.held = slices.Repeat([]int{-1}, n)
	for x, list := range places {
		for _, p := range list {
			at := g.at(p)
			if old := g.held[at]; old >= 0 {
				return nil, &Mismatch{op, x, p, x, old, fmt.Sprintf("elements %d and %d are at one place, %s of %v", old, x, tupleText(p), names)}
			}
			g.held[at] = x
		}
	}
	if at := slices.Index(g.held, -1); at >= 0 {
		return nil, &Mismatch{op, at, coordOf(g.dims, at), -1, 0, fmt.Sprintf("no element is at place %s of %v", tupleText(coordOf(g.dims, at)), names)}
	}
	return g, nil
}

func (g *grid) at(place []int) (at int) {
	for k := len(place) - 1; k >= 0; k-- {
		at = at*g.dims[k] + place[k]
	}
	return at
}

// Threads returns the thread–value layout: the inverse of AxesOfThreads. The thread's number
// counts the named axes, the first fastest. The values are on the one axis that is left. Every
// place below the largest on each axis has one element; if not, the error is a *Mismatch with
// the place, or with the first thread and value that no strides give.
func (a Axes) Threads(shape []int, threads ...string) (layout.Layout, error) {
	const op = "Axes.Threads"
	size, err := tileSize(op, shape)
	if err != nil {
		return layout.Layout{}, err
	}
	names := slices.Clone(threads)
	for _, name := range a.Names() {
		if !slices.Contains(threads, name) {
			names = append(names, name)
		}
	}
	if len(names) > len(threads)+1 {
		return layout.Layout{}, fail(op, layout.ErrAxis, "%v has the axes %v beside the threads'; one axis has the values", a, names[len(threads):])
	}
	if len(names) == len(threads) {
		names = append(names, memoryAxis)
	}
	g, err := a.inverse(op, size, names)
	if err != nil {
		return layout.Layout{}, err
	}
	last := len(g.dims) - 1
	lanes := layout.Ints(g.dims[:last]...)
	if last == 1 {
		lanes = layout.Int(g.dims[0])
	}
	tv, origin, err := Fit(layout.List(lanes, layout.Int(g.dims[last])), func(i int) int { return colMajor(shape, g.held[i]) })
	if err == nil && origin != 0 {
		err = &Mismatch{op, 0, nil, origin, 0, fmt.Sprintf("the first value of the first thread is coordinate %d, and a layout begins at 0", origin)}
	}
	return tv, err
}

// Linear returns the layout as a distributed layout of Triton, for a tile of a shape: the
// inverse of AxesOfLinear. The inputs are register for m, lane for laneid and warp for warpid,
// and the other axes by their names. If there is no such map, the error is a *Mismatch. An
// extent may be no power of two, or a place have no element. Or the element of a place isn't the
// XOR of the elements of its bits.
func (a Axes) Linear(shape ...int) (Linear, error) {
	const op = "Axes.Linear"
	size, err := tileSize(op, shape)
	if err != nil {
		return Linear{}, err
	}
	names := []string{memoryAxis, "laneid", "warpid"}
	for _, name := range a.Names() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	g, err := a.inverse(op, size, names)
	if err != nil {
		return Linear{}, err
	}
	var in, out []Dim
	for k, name := range names {
		if !isPower(g.dims[k]) {
			return Linear{}, &Mismatch{op, size, nil, 0, 0, fmt.Sprintf("axis %s has %d places, no power of two", name, g.dims[k])}
		}
		for triton, other := range tritonNames {
			if other == name {
				name = triton
			}
		}
		in = append(in, Dim{name, log2(g.dims[k])})
	}
	for k, e := range shape {
		if !isPower(e) {
			return Linear{}, &Mismatch{op, size, nil, 0, 0, fmt.Sprintf("mode %d has %d coordinates, no power of two", k, e)}
		}
		out = append(out, Dim{"dim" + strconv.Itoa(k), log2(e)})
	}
	image := func(at int) uint64 { // the coordinates side by side, the first lowest
		return uint64(colMajor(shape, g.held[at]))
	}
	cols := make([]uint64, log2(len(g.held)))
	for i := range cols {
		cols[i] = image(1 << i)
	}
	l, err := NewLinear(in, out, cols)
	if err != nil {
		return Linear{}, err
	}
	for at := range g.held {
		if got, want := l.At(uint64(at)), image(at); got != want {
			return Linear{}, &Mismatch{op, at, coordOf(g.dims, at), int(got), int(want), fmt.Sprintf("element %d is there, and the XOR of those of its bits is %d", want, got)}
		}
	}
	return l, nil
}

// A Split says how an axis of a mesh of devices holds a tensor: its axis Of is cut into one part
// for each device, or each device has all of it, for Of = -1.
type Split struct {
	Extent
	Of int
}

// AxesOfMesh returns the layout of a tensor on a mesh of devices: of each axis of the mesh how it
// cuts the tensor. Two that cut one axis do it in turn, the first into the larger parts. Each
// device has its part row-major on axis m. It fails with layout.ErrDivide if the devices don't
// divide an axis evenly: a shard has parts of one size.
func AxesOfMesh(shape []int, mesh ...Split) (Axes, error) {
	const op = "AxesOfMesh"
	if _, err := tileSize(op, shape); err != nil {
		return Axes{}, err
	}
	var a Axes
	var names []string
	local := slices.Clone(shape)
	parts := make([][]iter, len(shape))
	for _, s := range mesh {
		switch {
		case s.Size < 1 || s.Name == memoryAxis || s.Name == "" || slices.Contains(names, s.Name):
			return Axes{}, fail(op, layout.ErrAxis, "axis %q of %d devices: want different names, none of them m, and at least one device", s.Name, s.Size)
		case s.Of < -1 || s.Of >= len(shape):
			return Axes{}, fail(op, layout.ErrAxis, "axis %q cuts axis %d of shape %s; -1 is none", s.Name, s.Of, tupleText(shape))
		case s.Of >= 0 && local[s.Of]%s.Size != 0:
			return Axes{}, fail(op, layout.ErrDivide, "%d devices of axis %q don't divide %d, axis %d of shape %s", s.Size, s.Name, local[s.Of], s.Of, tupleText(shape))
		case s.Of < 0:
			a.replica = append(a.replica, iter{s.Size, 1, s.Name})
		default:
			local[s.Of] /= s.Size
			parts[s.Of] = append(parts[s.Of], iter{s.Size, 1, s.Name})
		}
		names = append(names, s.Name)
	}
	step := 1
	for d := len(shape) - 1; d >= 0; d-- {
		a.shard = append(a.shard, iter{local[d], step, memoryAxis})
		step *= local[d]
		for _, it := range slices.Backward(parts[d]) {
			a.shard = append(a.shard, it)
		}
	}
	slices.Reverse(a.shard)
	return a.tidy(op)
}

// Mesh returns how the axes of a mesh cut a tensor of the shape: the inverse of AxesOfMesh. Every
// axis beside m is one of the mesh. If the layout isn't that of a mesh, the error has ErrNone
// or is a *Mismatch: the first element that the nearest mesh places elsewhere.
func (a Axes) Mesh(shape ...int) ([]Split, error) {
	const op = "Axes.Mesh"
	size, err := tileSize(op, shape)
	if err != nil {
		return nil, err
	}
	if size != a.Size() {
		return nil, fail(op, layout.ErrShape, "%v has %d elements, the tensor %d", a, a.Size(), size)
	}
	if n := extents(a.replica); n > maxCopies || size > maxTile/n {
		return nil, fail(op, layout.ErrLimit, "%v has %d elements in %d copies, more than %d", a, size, n, maxTile)
	}
	// An axis that cuts axis d of the tensor moves with the first index of d that leaves place 0.
	var mesh []Split
	weights := make([]int, len(shape)) // of each axis of the tensor in the index
	for d, w := len(shape)-1, 1; d >= 0; d-- {
		weights[d] = w
		w *= shape[d]
	}
	names := a.Names()
	zero := a.base(names, 0)
	type cut struct {
		Split
		step int
	}
	var cuts []cut
	for k, name := range names {
		if name == memoryAxis {
			continue
		}
		c := cut{Split{Extent{name, 1}, -1}, 0}
		for d := range shape {
			for i := 1; i < shape[d] && c.Of < 0; i++ {
				if a.base(names, i*weights[d])[k] != zero[k] {
					c.Of, c.step = d, i
				}
			}
		}
		if c.Of < 0 {
			for _, it := range a.replica {
				if it.axis == name {
					c.Size *= it.extent
				}
			}
		} else {
			most := 0
			for i := range shape[c.Of] {
				most = max(most, a.base(names, i*weights[c.Of])[k]-zero[k])
			}
			c.Size = most + 1
		}
		cuts = append(cuts, c)
	}
	slices.SortStableFunc(cuts, func(x, y cut) int { return y.step - x.step })
	for _, c := range cuts {
		mesh = append(mesh, c.Split)
	}
	near, err := AxesOfMesh(shape, mesh...)
	if err != nil {
		var why *Error
		errors.As(err, &why) // AxesOfMesh has no other
		return nil, fail(op, ErrNone, "%v is no placement on a mesh: %s", a, why.Text)
	}
	if !slices.Contains(names, memoryAxis) {
		names = append(names, memoryAxis)
	}
	for x := range size {
		if got, want := near.owners(names, x), a.owners(names, x); !slices.EqualFunc(got, want, slices.Equal) {
			return nil, &Mismatch{op, x, nil, 0, 0, fmt.Sprintf("its places on %v are %v, and those on the nearest mesh %v: %v", names, want, got, near)}
		}
	}
	return mesh, nil
}
