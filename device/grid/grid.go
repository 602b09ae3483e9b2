package grid

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/judge"
	"github.com/ashlar-go/ashlar/layout"
)

// Mesh is devices in a grid. Lines are its axes as it is wired: neighbours along a line have a
// link each way. Axes are the same devices under names, row-major in the order of the lines. A
// placement has one OnAxis for each of the Axes, and none for a line.
type Mesh struct {
	Lines []Line
	Axes  []judge.Extent
	Even  bool // refuse parts of different shapes, as TT-NN does; without it, parts are DTensor's
}

// Line is an axis of devices in a row. In a Ring, the last one has a link to the first.
type Line struct {
	N    int
	Ring bool
}

const (
	mostDevices = 256     // of a mesh
	mostCells   = 1 << 20 // boxes of a plan, times devices
	mostRank    = 64      // axes of a tensor, as in PyTorch
	mostText    = 1 << 12 // bytes of a mesh or a placement
)

// AxisKind is the way in which the devices along an axis of a mesh hold a tensor.
type AxisKind uint8

const (
	Replicate  AxisKind = iota // each has all of it
	Sharded                    // each has a part, in order
	PartialSum                 // each has terms of every element
	PartialMax                 // each has candidates for every element
)

// OnAxis says how one axis of a mesh holds a tensor. The zero value is Replicate.
//
// Sharded cuts an axis of the tensor, extent n over d devices, into parts of n/d rounded up: 129
// over two are 65 and 64. The last parts may be smaller, or empty. This is torch.chunk's rule, and
// so DTensor's (docs.pytorch.org/docs/stable/distributed.tensor.html). TT-NN has the same parts,
// and refuses parts of different shapes (ttnn/core/distributed/distributed_tensor.cpp): see Mesh.Even.
// Axes of a mesh that cut one axis do it in turn, each the parts of the ones before.
//
// A partial axis has Parts addends on each device, 1 if it is 0. The value of an element is the sum of all, or
// the largest. They are added one by one, in the order of the devices along the axis.
type OnAxis struct {
	Kind  AxisKind
	Axis  int // of the tensor, if Sharded
	Parts int // on each device, if partial
}

// String writes R, S(0), P(sum), P(max), or P(sum,2) for two parts, as ParsePlacement reads them.
func (o OnAxis) String() string {
	name := "sum"
	switch o.Kind {
	case Replicate:
		return "R"
	case Sharded:
		return "S(" + strconv.Itoa(o.Axis) + ")"
	case PartialMax:
		name = "max"
	case PartialSum:
	default:
		return "grid.OnAxis(?)"
	}
	if o.Parts > 1 {
		name += "," + strconv.Itoa(o.Parts)
	}
	return "P(" + name + ")"
}

func (o *OnAxis) partial() bool { return o.Kind == PartialSum || o.Kind == PartialMax }

// parts is the number of addends on a device.
func (o *OnAxis) parts() int {
	if o.partial() {
		return max(o.Parts, 1)
	}
	return 1
}

// ParseMesh reads names with numbers of devices, and after on the lines. Without on, each axis
// is a row:
//
//	row=2,col=4
//	row=2,col=4 on ring8
//	x=2,y=2,z=2 on 4xring2
func ParseMesh(text string) (Mesh, error) {
	const op = "ParseMesh"
	var m Mesh
	if len(text) > mostText {
		return m, fail(op, layout.ErrSyntax, "a mesh of %d bytes; want names with numbers of devices, at most %d bytes", len(text), mostText)
	}
	axes, lines, on := strings.Cut(text, " on ")
	for _, part := range strings.Split(axes, ",") {
		name, n, _ := strings.Cut(part, "=")
		size, err := strconv.Atoi(strings.TrimSpace(n))
		if err != nil {
			return Mesh{}, fail(op, layout.ErrSyntax, "%q: want names with numbers of devices, as in row=2,col=4", text)
		}
		m.Axes = append(m.Axes, judge.Extent{Name: strings.TrimSpace(name), Size: size})
		if !on {
			m.Lines = append(m.Lines, Line{N: size})
		}
	}
	if on {
		for _, part := range strings.Split(lines, "x") {
			n, ring := strings.CutPrefix(strings.TrimSpace(part), "ring")
			size, err := strconv.Atoi(strings.TrimSpace(n))
			if err != nil {
				return Mesh{}, fail(op, layout.ErrSyntax, "%q: want lines of devices after on, as in 2xring4", text)
			}
			m.Lines = append(m.Lines, Line{size, ring})
		}
	}
	if err := m.check(op); err != nil {
		return Mesh{}, err
	}
	return m, nil
}

// String writes the mesh as ParseMesh reads it.
func (m Mesh) String() string {
	var axes, lines []string
	for _, a := range m.Axes {
		axes = append(axes, fmt.Sprintf("%s=%d", a.Name, a.Size))
	}
	for _, l := range m.Lines {
		name := strconv.Itoa(l.N)
		if l.Ring {
			name = "ring" + name
		}
		lines = append(lines, name)
	}
	return strings.Join(axes, ",") + " on " + strings.Join(lines, "x")
}

func (m *Mesh) check(op string) error {
	n := 1
	for _, a := range m.Axes {
		if a.Name == "" || a.Name == "m" || strings.ContainsAny(a.Name, " ,:=@+()[]") || a.Size < 1 || a.Size > mostDevices {
			return fail(op, layout.ErrAxis, "axis %q of %d devices: want a name other than m, and from 1 to %d devices", a.Name, a.Size, mostDevices)
		}
		n = min(n*a.Size, mostDevices+1)
	}
	for i, a := range m.Axes {
		if slices.ContainsFunc(m.Axes[:i], func(b judge.Extent) bool { return b.Name == a.Name }) {
			return fail(op, layout.ErrAxis, "axis %q of the mesh stands there twice; give each axis its name", a.Name)
		}
	}
	wired := 1
	for i, l := range m.Lines {
		if l.N < 1 || l.N > mostDevices {
			return fail(op, layout.ErrShape, "line %d has %d devices; want 1 to %d", i, l.N, mostDevices)
		}
		wired = min(wired*l.N, mostDevices+1)
	}
	switch {
	case n > mostDevices:
		return fail(op, layout.ErrShape, "a mesh of more than %d devices", mostDevices)
	case wired != n:
		return fail(op, layout.ErrShape, "the axes of %v have %d devices and its lines %d; they are the same devices", m, n, wired)
	}
	return nil
}

// Len returns the number of devices.
func (m Mesh) Len() int {
	n := 1
	for _, l := range m.Lines {
		n *= l.N
	}
	return n
}

// Coord returns the place of a device on each axis. It panics unless there is such a device.
func (m Mesh) Coord(device int) []int {
	if device < 0 || device >= m.Len() {
		panic(fail("Mesh.Coord", layout.ErrRange, "there is no device %d of %d", device, m.Len()))
	}
	at := make([]int, len(m.Axes))
	for k := len(at) - 1; k >= 0; k-- {
		at[k] = device % m.Axes[k].Size
		device /= m.Axes[k].Size
	}
	return at
}

// ParsePlacement reads one OnAxis for each axis of the mesh, in the mesh's order, or in any
// order after the axes' names: S(0) R, or col:R row:S(0). It fails if an axis is missing, or
// named twice.
func (m Mesh) ParsePlacement(text string) ([]OnAxis, error) {
	const op = "ParsePlacement"
	if err := m.check(op); err != nil {
		return nil, err
	}
	if len(text) > mostText {
		return nil, fail(op, layout.ErrSyntax, "a placement of %d bytes; want one word for each axis, at most %d bytes", len(text), mostText)
	}
	on := make([]OnAxis, len(m.Axes))
	seen := make([]bool, len(m.Axes))
	for i, word := range strings.Fields(text) {
		name, rest, named := strings.Cut(word, ":")
		at := i
		if named {
			if at = slices.IndexFunc(m.Axes, func(a judge.Extent) bool { return a.Name == name }); at < 0 {
				return nil, fail(op, layout.ErrAxis, "%q: %v has no axis %q", word, m, name)
			}
		} else {
			rest = name
		}
		if at >= len(on) {
			return nil, fail(op, layout.ErrAxis, "%q: %d placements for the %d axes of %v", word, i+1, len(on), m)
		}
		if seen[at] {
			return nil, fail(op, layout.ErrAxis, "%q: axis %s of the mesh is used twice", word, m.Axes[at].Name)
		}
		seen[at] = true
		o, ok := parseOnAxis(rest)
		if !ok {
			return nil, fail(op, layout.ErrSyntax, "%q: want R, S(0), P(sum), P(max), or P(sum,2)", word)
		}
		on[at] = o
	}
	if at := slices.Index(seen, false); at >= 0 {
		return nil, fail(op, layout.ErrAxis, "%q says nothing of axis %s of %v", text, m.Axes[at].Name, m)
	}
	return on, nil
}

func parseOnAxis(text string) (o OnAxis, ok bool) {
	if text == "R" {
		return o, true
	}
	inner, ok := strings.CutSuffix(text, ")")
	if n, shard := strings.CutPrefix(inner, "S("); shard && ok {
		axis, err := strconv.Atoi(n)
		return OnAxis{Kind: Sharded, Axis: axis}, err == nil
	}
	inner, partial := strings.CutPrefix(inner, "P(")
	how, n, several := strings.Cut(inner, ",")
	if several {
		var err error
		if o.Parts, err = strconv.Atoi(n); err != nil || o.Parts < 1 {
			return o, false
		}
	}
	o.Kind = PartialSum
	if how == "max" {
		o.Kind = PartialMax
	}
	return o, ok && partial && (how == "sum" || how == "max")
}

// place checks a placement of a shape.
func (m *Mesh) place(op string, shape []int, on []OnAxis) error {
	if err := m.check(op); err != nil {
		return err
	}
	if len(shape) > mostRank {
		return fail(op, layout.ErrLimit, "a shape of %d axes; want at most %d", len(shape), mostRank)
	}
	n, fits := 1, true
	for i, e := range shape {
		if e < 0 {
			return fail(op, layout.ErrShape, "axis %d of shape %s is negative", i, ints(shape))
		}
		if n, fits = mul(n, e); !fits {
			return fail(op, layout.ErrOverflow, "the elements of shape %s don't fit an int", ints(shape))
		}
	}
	if len(on) != len(m.Axes) {
		return fail(op, layout.ErrAxis, "%d placements for the %d axes of %v; give each axis one", len(on), len(m.Axes), m)
	}
	for i, o := range on {
		name := m.Axes[i].Name
		switch {
		case o.Kind > PartialMax:
			return fail(op, layout.ErrAxis, "axis %s: there is no kind %d", name, o.Kind)
		case o.Kind == Sharded && len(shape) == 0:
			return fail(op, layout.ErrAxis, "axis %s cuts axis %d of a scalar, which has no axis; R copies it", name, o.Axis)
		case o.Kind == Sharded && (o.Axis < 0 || o.Axis >= len(shape)):
			return fail(op, layout.ErrAxis, "axis %s cuts axis %d of shape %s; want an axis from 0 to %d", name, o.Axis, ints(shape), len(shape)-1)
		case o.partial() && (o.Parts < 0 || o.Parts > mostCells):
			return fail(op, layout.ErrShape, "axis %s has %d parts on each device; want from 1 to %d", name, o.Parts, mostCells)
		}
		if n, fits = mul(n, o.parts()); !fits {
			return fail(op, layout.ErrOverflow, "the elements of shape %s with %d parts on each device of axis %s don't fit an int", ints(shape), o.Parts, name)
		}
	}
	if m.Even {
		_, whole := m.box(shape, on, 0)
		for d := range m.Len() {
			if _, got := m.box(shape, on, d); !slices.Equal(got, whole) {
				return fail(op, layout.ErrShape, "device %s has %s of shape %s and the first one %s; an even mesh has parts of one shape", ints(m.Coord(d)), ints(got), ints(shape), ints(whole))
			}
		}
	}
	return nil
}

// Box returns the part of a tensor that a device has: its first coordinate, and its shape. It
// fails if the placement doesn't fit the shape or the mesh, or there is no such device. On an
// Even mesh it fails if two parts have different shapes, and names the first device whose part differs.
func (m Mesh) Box(shape []int, on []OnAxis, device int) (first, extent []int, err error) {
	const op = "Mesh.Box"
	if err := m.place(op, shape, on); err != nil {
		return nil, nil, err
	}
	if device < 0 || device >= m.Len() {
		return nil, nil, fail(op, layout.ErrRange, "there is no device %d of %d", device, m.Len())
	}
	first, extent = m.box(shape, on, device)
	return first, extent, nil
}

func (m *Mesh) box(shape []int, on []OnAxis, device int) (first, extent []int) {
	first, extent = make([]int, len(shape)), slices.Clone(shape)
	at := m.Coord(device)
	for i, o := range on {
		if o.Kind == Sharded {
			n := extent[o.Axis]
			part := divUp(n, m.Axes[i].Size)
			from := min(n, part*at[i])
			first[o.Axis] += from
			extent[o.Axis] = min(n-from, part)
		}
	}
	return first, extent
}

// NamedAxes returns a placement over named axes: the axes of the mesh, and m for the memory of each device, row-major. It
// fails with layout.ErrDivide if the devices don't divide an axis evenly, and with layout.ErrView for a
// partial axis: neither has a layout over named axes.
func (m Mesh) NamedAxes(shape []int, on []OnAxis) (judge.Axes, error) {
	const op = "Mesh.NamedAxes"
	if err := m.place(op, shape, on); err != nil {
		return judge.Axes{}, err
	}
	cuts := make([]judge.Split, len(on))
	for i, o := range on {
		cuts[i] = judge.Split{Extent: m.Axes[i], Of: -1}
		switch {
		case o.partial():
			return judge.Axes{}, fail(op, layout.ErrView, "axis %s has %v: its devices have addends of an element, and a layout says where the element is", m.Axes[i].Name, o)
		case o.Kind == Sharded:
			cuts[i].Of = o.Axis
		}
	}
	return judge.AxesOfMesh(shape, cuts...)
}

// Placement returns the placement of a layout over named axes: the inverse of NamedAxes. An axis of the mesh that the layout
// doesn't name has one device. It fails as judge.Axes.Mesh does. It fails with layout.ErrAxis if the
// layout has other axes, or if the mesh has its axes in another order than they cut.
func (m Mesh) Placement(shape []int, a judge.Axes) ([]OnAxis, error) {
	const op = "Mesh.Placement"
	if err := m.check(op); err != nil {
		return nil, err
	}
	cuts, err := a.Mesh(shape...)
	if err != nil {
		return nil, err
	}
	on := make([]OnAxis, len(m.Axes))
	known := make([]bool, len(m.Axes))
	for _, c := range cuts {
		at := slices.IndexFunc(m.Axes, func(e judge.Extent) bool { return e == c.Extent })
		if at < 0 {
			return nil, fail(op, layout.ErrAxis, "%v has axis %s of %d devices, and %v doesn't", a, c.Name, c.Size, m)
		}
		known[at] = true
		if c.Of >= 0 {
			on[at] = OnAxis{Kind: Sharded, Axis: c.Of}
		}
	}
	for i, e := range m.Axes {
		if !known[i] && e.Size > 1 {
			return nil, fail(op, layout.ErrAxis, "axis %s of %v isn't in %v, which has each element on one place of it only", e.Name, m, a)
		}
	}
	back, err := m.NamedAxes(shape, on)
	if err != nil {
		return nil, err
	}
	names := a.Names()
	for x := range a.Size() {
		got, _ := back.Owners(x)
		want, _ := a.Owners(x)
		if len(got) != len(want) || !sameOwners(back.Names(), names, got, want) {
			return nil, fail(op, layout.ErrAxis, "%v has element %d elsewhere than %v on %v: its axes cut in another order", a, x, back, m)
		}
	}
	return on, nil
}

// sameOwners compares lists of places whose axes stand in different orders.
func sameOwners(names, other []string, a, b [][]int) bool {
	sorted := func(names []string, list [][]int) []string {
		var out []string
		for _, p := range list {
			var parts []string
			for k, v := range p {
				if v != 0 {
					parts = append(parts, fmt.Sprintf("%s=%d", names[k], v))
				}
			}
			slices.Sort(parts)
			out = append(out, strings.Join(parts, " "))
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(sorted(names, a), sorted(other, b))
}
