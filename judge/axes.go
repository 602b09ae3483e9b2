package judge

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/layout"
)

// Axes is a layout over named axes. Each element has a set of places. A place is a number on each
// axis, such as a lane, a warp, a device and an offset in memory. It is TVM's TIRx layout (tvm.apache.org/docs/tirx/layout.html):
//
//	L(x) = { D(x) + r + o | r ∈ R }
//
// x is the index of an element, row-major. D splits it over the extents of the shard S, the
// last fastest, and adds each part times its stride to an axis. R is the set of copies, o an
// offset for each axis. The zero Axes has one element at the place 0.
type Axes struct {
	shard, replica []iter
	offset         []iter // of extent 1: the stride is the offset
}

// An iter is a part of a Axes: its numbers 0, 1, … below the extent go to their stride times on the axis.
type iter struct {
	extent, stride int
	axis           string
}

const (
	memoryAxis = "m" // of a stride without a name
	maxIters   = 32
	maxTile    = 1 << 18 // elements that are looked at one by one
	maxCopies  = 1 << 12
)

// ParseAxes reads the notation of TIRx, with or without TileLayout( ) around it, and Triton's
// distributed layouts as AxesOfLinear takes them:
//
//	S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)] + R[2:4@warpid] + 5@m
//	S[(4,8)]                                     row-major in memory
//	{register = [[0, 1], [8, 0]], lane = [[0, 2]]}, #ttg.blocked<{…}>, #ttg.linear<{…}>
//	((64,2),32):((1@0,64@0),1@1)                 CuTe's layout of coordinates, on the axes 0 and 1
//
// A layout of CuTe may have an offset before it, and be as its DSL prints it. A nested mode counts its first part fastest.
// A stride or an offset without an axis is one of memory, m.
func ParseAxes(text string) (Axes, error) {
	const op = "ParseAxes"
	if len(text) > maxText {
		return Axes{}, fail(op, layout.ErrLimit, "%d bytes, more than %d", len(text), maxText)
	}
	s := strings.TrimSpace(text)
	if strings.HasPrefix(s, "{") || strings.HasPrefix(s, "#") {
		l, err := parseEncoding(s)
		if err != nil {
			return Axes{}, err
		}
		return AxesOfLinear(l)
	}
	if strings.HasPrefix(s, "(") || strings.HasPrefix(s, "!cute.") || strings.HasPrefix(s, "ArithTuple(") {
		return basis(s)
	}
	if inner, ok := strings.CutPrefix(s, "TileLayout("); ok && strings.HasSuffix(inner, ")") {
		s = inner[:len(inner)-1]
	}
	p := &scanner{text: s}
	var a Axes
	for first, shards := true, 0; first || p.rest() != ""; first = false {
		if !first && !p.take('+') {
			return Axes{}, fail(op, layout.ErrSyntax, "want + or the end %s", p.here())
		}
		switch {
		case p.word("S["), p.word("R["):
			kind := p.text[p.at-2]
			list, err := p.iters(kind == 'S')
			if err != nil {
				return Axes{}, err
			}
			if kind == 'R' {
				if len(a.replica)+len(list) > maxIters {
					return Axes{}, fail(op, layout.ErrLimit, "more than %d extents of copies", maxIters)
				}
				a.replica = append(a.replica, list...)
				continue
			}
			if shards++; shards > 1 {
				return Axes{}, fail(op, layout.ErrSyntax, "a second S[…]; a layout has one shard")
			}
			a.shard = list
		default:
			if len(a.offset) == maxIters {
				return Axes{}, fail(op, layout.ErrLimit, "more than %d offsets", maxIters)
			}
			o, err := p.term(1)
			if err != nil {
				return Axes{}, err
			}
			a.offset = append(a.offset, o)
		}
	}
	return a.tidy(op)
}

// iters takes SHAPE:STRIDES] or, if strides may be left out, SHAPE].
func (p *scanner) iters(bare bool) (list []iter, err error) {
	const op = "ParseAxes"
	open := p.take('(')
	for {
		n, ok := p.number()
		if !ok {
			return nil, fail(op, layout.ErrSyntax, "want an extent %s", p.here())
		}
		if list = append(list, iter{extent: n, axis: memoryAxis}); len(list) > maxIters {
			return nil, fail(op, layout.ErrLimit, "more than %d extents", maxIters)
		}
		if !p.take(',') || open && strings.HasPrefix(p.rest(), ")") {
			break
		}
	}
	if open && !p.take(')') {
		return nil, fail(op, layout.ErrSyntax, "want ',' or ')' %s", p.here())
	}
	if bare && p.take(']') {
		step := 1
		for k := len(list) - 1; k >= 0; k-- {
			list[k].stride = step
			if list[k].extent > 0 && step > math.MaxInt/list[k].extent {
				return nil, fail(op, layout.ErrOverflow, "the extents' product doesn't fit an int")
			}
			step *= list[k].extent
		}
		return list, nil
	}
	if !p.take(':') {
		return nil, fail(op, layout.ErrSyntax, "want ':' and strides %s", p.here())
	}
	open = p.take('(')
	for k := range list {
		if k > 0 && !p.take(',') {
			return nil, fail(op, layout.ErrSyntax, "%d extents and %d strides %s", len(list), k, p.here())
		}
		if list[k], err = p.term(list[k].extent); err != nil {
			return nil, err
		}
	}
	if open {
		p.take(',')
	}
	if open && !p.take(')') || !p.take(']') {
		return nil, fail(op, layout.ErrSyntax, "want the end of %d strides %s", len(list), p.here())
	}
	return list, nil
}

// term takes STRIDE@AXIS or STRIDE.
func (p *scanner) term(extent int) (iter, error) {
	n, ok := p.number()
	if !ok {
		return iter{}, fail("ParseAxes", layout.ErrSyntax, "want S[…], R[…] or a number %s", p.here())
	}
	it := iter{extent, n, memoryAxis}
	if p.take('@') {
		p.skip()
		from := p.at
		for p.at < len(p.text) && p.text[p.at] != '.' && nameByte(p.text[p.at]) {
			p.at++
		}
		if it.axis = p.text[from:p.at]; it.axis == "" || len(it.axis) > 64 || it.axis[0] >= '0' && it.axis[0] <= '9' && strings.Trim(it.axis, "0123456789") != "" {
			return iter{}, fail("ParseAxes", layout.ErrSyntax, "want the name of an axis after @ %s", p.here())
		}
	}
	return it, nil
}

// tidy checks the numbers, leaves out copies and offsets that say nothing, and adds offsets of one axis.
func (a Axes) tidy(op string) (Axes, error) {
	out := Axes{shard: a.shard}
	for _, list := range [][]iter{a.shard, a.replica} {
		size := 1
		for _, it := range list {
			if it.extent < 1 {
				return Axes{}, fail(op, layout.ErrRange, "an extent of %d; want at least 1", it.extent)
			}
			if size > math.MaxInt/it.extent {
				return Axes{}, fail(op, layout.ErrOverflow, "the extents' product doesn't fit an int")
			}
			size *= it.extent
		}
	}
	if err := a.fits(op); err != nil {
		return Axes{}, err
	}
	for _, it := range a.replica {
		if it.extent > 1 && it.stride != 0 {
			out.replica = append(out.replica, it)
		}
	}
	for _, o := range a.offset {
		if k := slices.IndexFunc(out.offset, func(p iter) bool { return p.axis == o.axis }); k >= 0 {
			out.offset[k].stride += o.stride
		} else {
			out.offset = append(out.offset, o)
		}
	}
	out.offset = slices.DeleteFunc(out.offset, func(o iter) bool { return o.stride == 0 })
	return out, nil
}

// fits fails if a place may not fit an int.
func (a Axes) fits(op string) error {
	reach := map[string]float64{}
	for _, list := range [][]iter{a.shard, a.replica, a.offset} {
		for _, it := range list {
			if reach[it.axis] += float64(math.Abs(float64(it.stride)) * float64(it.extent)); reach[it.axis] > math.MaxInt/4 {
				return fail(op, layout.ErrOverflow, "the places on %s don't fit an int", it.axis)
			}
		}
	}
	return nil
}

// String writes the layout as ParseAxes reads it.
func (a Axes) String() string {
	group := func(letter string, list []iter) string {
		ext, str := make([]string, len(list)), make([]string, len(list))
		for k, it := range list {
			ext[k], str[k] = strconv.Itoa(it.extent), it.term()
		}
		if len(list) == 1 {
			return letter + "[" + ext[0] + ":" + str[0] + "]"
		}
		return letter + "[(" + strings.Join(ext, ",") + "):(" + strings.Join(str, ",") + ")]"
	}
	shard := a.shard
	if len(shard) == 0 {
		shard = []iter{{1, 0, memoryAxis}}
	}
	parts := []string{group("S", shard)}
	if len(a.replica) > 0 {
		parts = append(parts, group("R", a.replica))
	}
	for _, o := range a.offset {
		s := o.term()
		if o.axis == memoryAxis {
			s += "@" + memoryAxis
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " + ")
}

func (it iter) term() string {
	if it.axis == memoryAxis {
		return strconv.Itoa(it.stride)
	}
	return strconv.Itoa(it.stride) + "@" + it.axis
}

// Size returns the number of elements, without their copies.
func (a Axes) Size() int { return extents(a.shard) }

// extents returns the product of the extents.
func extents(list []iter) int {
	n := 1
	for _, it := range list {
		n *= it.extent
	}
	return n
}

// Span returns the least and the largest number on each axis of Names.
func (a Axes) Span() (low, high []int) {
	names := a.Names()
	low, high = make([]int, len(names)), make([]int, len(names))
	for _, list := range [][]iter{a.shard, a.replica} {
		for _, it := range list {
			k, d := slices.Index(names, it.axis), (it.extent-1)*it.stride
			low[k], high[k] = low[k]+min(0, d), high[k]+max(0, d)
		}
	}
	for _, o := range a.offset {
		k := slices.Index(names, o.axis)
		low[k], high[k] = low[k]+o.stride, high[k]+o.stride
	}
	return low, high
}

// Names returns the axes in the order of their first place: in the shard, the copies, the offset.
func (a Axes) Names() (names []string) {
	for _, list := range [][]iter{a.shard, a.replica, a.offset} {
		for _, it := range list {
			if !slices.Contains(names, it.axis) {
				names = append(names, it.axis)
			}
		}
	}
	return names
}

// Owners returns all places of element x, each a number for each axis of Names, in ascending
// order and each once. It fails if x is no element, and with layout.ErrLimit for more than
// 4096 copies.
func (a Axes) Owners(x int) ([][]int, error) {
	const op = "Axes.Owners"
	if x < 0 || x >= a.Size() {
		return nil, fail(op, layout.ErrRange, "element %d of %v, which has %d", x, a, a.Size())
	}
	if n := extents(a.replica); n > maxCopies {
		return nil, fail(op, layout.ErrLimit, "%v has %d copies, more than %d", a, n, maxCopies)
	}
	return a.owners(a.Names(), x), nil
}

func (a Axes) owners(names []string, x int) [][]int {
	base := a.base(names, x)
	places := [][]int{base}
	for _, it := range a.replica {
		k := slices.Index(names, it.axis)
		for _, p := range places[:len(places):len(places)] {
			for j := 1; j < it.extent; j++ {
				q := slices.Clone(p)
				q[k] += j * it.stride
				places = append(places, q)
			}
		}
	}
	slices.SortFunc(places, slices.Compare)
	return slices.CompactFunc(places, slices.Equal)
}

// base is the place of an element before its copies.
func (a Axes) base(names []string, x int) []int {
	place := make([]int, len(names))
	for k := len(a.shard) - 1; k >= 0; k-- {
		it := a.shard[k]
		place[slices.Index(names, it.axis)] += x % it.extent * it.stride
		x /= it.extent
	}
	for _, o := range a.offset {
		place[slices.Index(names, o.axis)] += o.stride
	}
	return place
}

// Compose returns the layout M of b's elements with M(y) = L(b(y)): y is the index of a
// coordinate of b, row-major, and its offset the index of an element of a. A slice of a is a
// composition with a layout that has an offset. It keeps the copies.
//
// If there is no such layout, the error is a *Mismatch or has ErrNone: an axis whose places
// are no strides of b's modes, or a part of a mode that moves on two axes. Compose fails with
// layout.ErrRange if an offset of b is no element, and with layout.ErrLimit for more than
// 2^18 elements.
func (a Axes) Compose(b layout.Composed) (Axes, error) {
	const op = "Axes.Compose"
	in := b.Inner()
	flat := in.Flatten()
	shape := flat.Shape()
	n := flat.Size()
	if n > maxTile {
		return Axes{}, fail(op, layout.ErrLimit, "%s has %d elements, more than %d", text(b), n, maxTile)
	}
	names := a.Names()
	places := make([][]int, n)
	c, err := layout.NewComposed(b.Outer(), b.Base(), flat)
	if err != nil {
		return Axes{}, err
	}
	for y := range places {
		x, err := c.Offset(colMajor(shape, y))
		if err != nil {
			return Axes{}, err
		}
		if x < 0 || x >= a.Size() {
			return Axes{}, fail(op, layout.ErrRange, "%s reaches element %d of %v, which has %d", text(b), x, a, a.Size())
		}
		places[y] = a.base(names, x)
	}
	out, err := sharded(op, shape, names, places)
	if err != nil {
		return Axes{}, err
	}
	out.replica = a.replica
	return out.tidy(op)
}

// sharded finds the shard and the offset of a function from the indices of a shape, row-major, to places.
func sharded(op string, shape []int, names []string, places [][]int) (a Axes, err error) {
	if len(places) == 0 {
		return Axes{}, fail(op, layout.ErrRange, "a shape of %s has no elements", tupleText(shape))
	}
	if len(shape) == 0 {
		shape = []int{1}
	}
	back := slices.Clone(shape)
	slices.Reverse(back) // so that the first mode is fastest
	whole := layout.Ints(back...)
	cuts := make([][]int, len(back)) // where each mode is cut, for any axis
	for k, name := range names {
		l, origin, err := Fit(whole, func(y int) int { return places[y][k] })
		var bad *Mismatch
		if errors.As(err, &bad) {
			y := bad.Index
			coord := coordOf(back, y)
			slices.Reverse(coord)
			return Axes{}, &Mismatch{op, y, coord, bad.Got, bad.Want, fmt.Sprintf("no strides on axis %s go on: %s", name, bad.Reason)}
		} else if err != nil {
			return Axes{}, err
		}
		a.offset = append(a.offset, iter{1, origin, name})
		for m := range back {
			mode := l.Mode(m)
			at := 1
			for i := range mode.Leaves() {
				cuts[m] = append(cuts[m], at)
				e, _ := mode.Leaf(i)
				at *= e
			}
		}
	}
	zero, before := places[0], 1
	for m, e := range back {
		list := append(cuts[m], 1, e)
		slices.Sort(list)
		list = slices.Compact(list)
		for i, at := range list[:max(1, len(list)-1)] {
			to := e
			if i+1 < len(list) {
				to = list[i+1]
			}
			if to%at != 0 {
				return Axes{}, fail(op, ErrNone, "mode %d of %s is cut after %d elements for one axis and after %d for another, and neither divides", len(back)-1-m, tupleText(shape), at, to)
			}
			it := iter{to / at, 0, memoryAxis}
			if it.extent > 1 {
				moved := places[before*at]
				for k, name := range names {
					d := moved[k] - zero[k]
					if d != 0 && it.stride != 0 {
						coord := coordOf(back, before*at)
						slices.Reverse(coord)
						return Axes{}, &Mismatch{op, before * at, coord, 0, d, fmt.Sprintf("it moves on the axes %s and %s at once, and a part of a shard moves on one", it.axis, name)}
					}
					if d != 0 {
						it.stride, it.axis = d, name
					}
				}
			}
			if it.extent > 1 || len(shape) == 1 && len(list) == 1 {
				a.shard = append(a.shard, it)
			}
		}
		before *= e
	}
	slices.Reverse(a.shard)
	return a, nil
}
