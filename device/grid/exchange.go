package grid

import (
	"encoding/binary"
	"slices"

	"github.com/ashlar-go/ashlar/layout"
)

// Exchange is the plan by which a tensor goes from one placement on a mesh to another.
type Exchange struct {
	Name   string  // all-gather, reduce-scatter, all-reduce, all-to-all, slice, or none; with several stages, exchange
	Stages []Stage // in this order
	Links  []Link  // with bytes, ascending
	Bytes  int     // over all links
	Bound  int     // the fewest for these stages: see Mesh.Plan
}

// Link is a wire from a device to its neighbour.
type Link struct{ From, To, Bytes int }

// Busiest returns the most bytes on one link.
func (e *Exchange) Busiest() (n int) {
	for _, l := range e.Links {
		n = max(n, l.Bytes)
	}
	return n
}

// Stage is the steps that lead to a placement. The steps are about different elements, and can
// be done at once.
type Stage struct {
	Name         string
	On           []OnAxis
	Axis         int // whose parts are combined, -1 if it only moves
	Steps        []Step
	Bytes, Bound int
}

// Step brings a box of elements to the devices of To. If the stage only moves, each device of From has the box. If not, From
// has one device for each part, in the order in which they are combined. The value so far and the next part come together on the device of At,
// and the last of these hands it on.
type Step struct {
	First, Extent []int
	From, At      []int
	To            []int
	Links         [][2]int // each carries the box once, in this order
}

// Plan returns the exchange between two placements of a tensor with elements of size bytes. It moves none.
//
// Each partial axis of from that isn't so in to is a stage of its own, in the order of the axes.
// It leaves the axis as to has it. A last stage moves the elements that aren't there yet.
//
// Parts are combined one by one, in the order of the devices along the axis. So the result has
// the same bits on all wires. They meet where this takes the fewest bytes.
//
// Bound is the fewest bytes of any such plan, over all links. A value that some devices have must go
// over the links to the nearest that lacks it, and over one more into each other. Parts come together
// with the fewest links for this order, wherever they meet. Then each other device that needs the sum gets a message.
//
// Plan fails if a placement doesn't fit. No axis becomes partial: to has PartialSum or
// PartialMax only where from has the same.
func (m Mesh) Plan(shape []int, size int, from, to []OnAxis) (*Exchange, error) {
	const op = "Mesh.Plan"
	for _, on := range [][]OnAxis{from, to} {
		if err := m.place(op, shape, on); err != nil {
			return nil, err
		}
	}
	if size < 1 {
		return nil, fail(op, layout.ErrShape, "elements of %d bytes; want whole bytes, 1 or more", size)
	}
	if total, ok := mul(max(product(shape), 1), size); !ok || total > maxInt/(mostDevices*mostDevices) {
		return nil, fail(op, layout.ErrOverflow, "%d elements of %d bytes on %d devices don't fit an int", product(shape), size, m.Len())
	}
	for i, o := range to {
		if o.partial() && (o.Kind != from[i].Kind || o.parts() != from[i].parts()) {
			return nil, fail(op, layout.ErrAxis, "axis %s becomes %v from %v; parts come from a computation, and no move makes them", m.Axes[i].Name, o, from[i])
		}
	}
	p := planner{Mesh: &m, op: op, shape: shape, size: size, links: map[[2]int]int{}}
	e := &Exchange{}
	now := slices.Clone(from)
	for i := range now {
		if now[i].partial() && !to[i].partial() {
			next := slices.Clone(now)
			next[i] = to[i]
			if err := p.stage(e, now, next, i); err != nil {
				return nil, err
			}
			now = next
		}
	}
	if !slices.Equal(now, to) || len(e.Stages) == 0 {
		if err := p.stage(e, now, to, -1); err != nil {
			return nil, err
		}
	}
	e.Name = "exchange"
	if len(e.Stages) == 1 {
		e.Name = e.Stages[0].Name
	}
	for _, s := range e.Stages {
		e.Bytes += s.Bytes
		e.Bound += s.Bound
	}
	for l, n := range p.links {
		e.Links = append(e.Links, Link{l[0], l[1], n})
	}
	slices.SortFunc(e.Links, func(a, b Link) int {
		if a.From != b.From {
			return a.From - b.From
		}
		return a.To - b.To
	})
	return e, nil
}

// A planner counts the bytes of an exchange.
type planner struct {
	*Mesh
	op    string
	shape []int
	size  int
	links map[[2]int]int
	near  [][]int              // the neighbours of each device
	known map[string]*combiner // of one stage, by the devices that have parts
}

// stage plans the way from one placement to the next. If axis isn't -1, its parts are combined.
func (p *planner) stage(e *Exchange, now, next []OnAxis, axis int) error {
	n := p.Len()
	has, wants := make([][2][]int, n), make([][2][]int, n)
	var cuts [][]int
	for range p.shape {
		cuts = append(cuts, nil)
	}
	for d := range n {
		for list, on := range map[*[2][]int][]OnAxis{&has[d]: now, &wants[d]: next} {
			first, extent := p.box(p.shape, on, d)
			*list = [2][]int{first, extent}
			for k := range first {
				cuts[k] = append(cuts[k], first[k], first[k]+extent[k])
			}
		}
	}
	cells := 1
	for k := range cuts {
		slices.Sort(cuts[k])
		cuts[k] = slices.Compact(cuts[k])
		cells = min(cells*max(len(cuts[k])-1, 0), mostCells)
	}
	if cells*n > mostCells {
		return fail(p.op, layout.ErrShape, "%s on %v is cut into more than %d boxes, the most for %d devices; take fewer devices", ints(p.shape), p.Mesh, mostCells/n, n)
	}
	s := Stage{Name: p.name(now, next, axis), On: next, Axis: axis}
	p.known = map[string]*combiner{}
	type plan struct {
		steps []Step
		least int
	}
	memo := map[string]plan{}
	for c := range cells {
		first, extent := make([]int, len(cuts)), make([]int, len(cuts))
		for k := len(cuts) - 1; k >= 0; k-- {
			i := c % (len(cuts[k]) - 1)
			c /= len(cuts[k]) - 1
			first[k], extent[k] = cuts[k][i], cuts[k][i+1]-cuts[k][i]
		}
		// Devices at different places of an axis that stays partial have different tensors.
		var holders, needers [mostDevices][]int
		for d := range n {
			w := p.world(next, d)
			if inside(first, has[d]) {
				holders[w] = append(holders[w], d)
			}
			if inside(first, wants[d]) {
				needers[w] = append(needers[w], d)
			}
		}
		for w := range n {
			if len(needers[w]) == 0 {
				continue
			}
			key := pattern(holders[w], needers[w])
			one, known := memo[key]
			if !known {
				one.steps, one.least = p.steps(holders[w], needers[w], now, axis)
				memo[key] = one
			}
			for _, step := range one.steps {
				step.First, step.Extent = first, extent
				s.Steps = append(s.Steps, step)
			}
			s.Bound += one.least * product(extent) * p.size
		}
	}
	for _, step := range s.Steps {
		for _, l := range step.Links {
			p.links[l] += product(step.Extent) * p.size
			s.Bytes += product(step.Extent) * p.size
		}
	}
	e.Stages = append(e.Stages, s)
	return nil
}

// name names a stage by the axes that change.
func (p *planner) name(now, next []OnAxis, axis int) string {
	if axis >= 0 && next[axis].Kind == Sharded {
		return "reduce-scatter"
	} else if axis >= 0 {
		return "all-reduce"
	}
	name := "none"
	for i := range now {
		if now[i] == next[i] {
			continue
		}
		one := "all-to-all"
		switch {
		case now[i].Kind == Sharded && next[i].Kind == Replicate:
			one = "all-gather"
		case now[i].Kind == Replicate:
			one = "slice"
		}
		if name != "none" && name != one {
			return "exchange"
		}
		name = one
	}
	return name
}

// world is the place of a device on the axes that stay partial.
func (p *planner) world(next []OnAxis, d int) (w int) {
	for i, at := range p.Coord(d) {
		if next[i].partial() {
			w = w*p.Axes[i].Size + at
		}
	}
	return w
}

func inside(at []int, box [2][]int) bool {
	for k, v := range at {
		if v < box[0][k] || v >= box[0][k]+box[1][k] {
			return false
		}
	}
	return true
}

// pattern is a key for lists of devices.
func pattern(a, b []int) string {
	var key []byte
	for _, d := range a {
		key = binary.AppendUvarint(key, uint64(d))
	}
	key = binary.AppendUvarint(key, mostDevices)
	for _, d := range b {
		key = binary.AppendUvarint(key, uint64(d))
	}
	return string(key)
}

// away is the links from the nearest of some devices to each device.
func (p *planner) away(from []int) []int {
	far := slices.Repeat([]int{maxInt / 4}, p.Len())
	for _, d := range from {
		far[d] = 0
	}
	p.spread(far)
	return far
}

// spread lowers a cost to a neighbour's cost and one link, and returns from which device each comes.
func (p *planner) spread(cost []int) (from []int) {
	if p.near == nil {
		p.wire()
	}
	for d := range cost {
		from = append(from, d)
	}
	for changed := true; changed; {
		changed = false
		for d, list := range p.near {
			for _, next := range list {
				if cost[d]+1 < cost[next] {
					cost[next], from[next], changed = cost[d]+1, from[d], true
				}
			}
		}
	}
	return from
}

// steps brings a box from its holders to its needers, and tells how many times any plan must carry the box over a link.
func (p *planner) steps(holders, needers []int, now []OnAxis, axis int) (list []Step, least int) {
	if axis < 0 {
		return []Step{{From: holders, To: needers, Links: p.tree(holders, needers)}}, p.reach(holders, needers)
	}
	n := p.Axes[axis].Size
	c := p.combiner(holders, now, axis)
	// Each needer may have its own sum, or one sum goes to all.
	alone := slices.Clone(c.cost)
	end := p.spread(alone)
	separate := 0
	for _, d := range needers {
		separate += alone[d]
		least = max(least, alone[d])
	}
	all, from, first := maxInt, -1, maxInt
	for d, cost := range c.cost {
		// The first device that has the sum got it so, and then each other gets a message.
		more := len(needers)
		if slices.Contains(needers, d) {
			more--
		}
		first = min(first, cost+more)
		if cost+more < all {
			if links := cost + len(p.tree([]int{d}, needers)); links < all {
				all, from = links, d
			}
		}
	}
	if len(needers) > 1 && n > 1 {
		least = max(least, first)
	}
	if all <= separate {
		return []Step{c.step(from, needers)}, least
	}
	for _, d := range needers {
		list = append(list, c.step(end[d], []int{d}))
	}
	return list, least
}

// A combiner knows with how few links the parts come together on each device.
type combiner struct {
	*planner
	parts  [][]int // the devices that have the same part
	each   int     // addends in a part
	cost   []int
	before [][]int // of the sum of k parts on a device, where it was before
}

// combiner finds how the parts of some devices come together. It is the same for all boxes that these devices have.
func (p *planner) combiner(holders []int, now []OnAxis, axis int) *combiner {
	key := pattern(holders, nil)
	if c := p.known[key]; c != nil {
		return c
	}
	n := p.Axes[axis].Size
	c := &combiner{planner: p, each: now[axis].parts(), parts: make([][]int, n), before: make([][]int, n)}
	for _, d := range holders {
		at := p.Coord(d)[axis]
		c.parts[at] = append(c.parts[at], d)
	}
	c.cost = p.away(nil)
	for _, d := range c.parts[0] {
		c.cost[d] = 0
	}
	for k := 1; k < n; k++ {
		c.before[k] = p.spread(c.cost)
		for d, far := range p.away(c.parts[k]) {
			c.cost[d] += c.each * far
		}
	}
	p.known[key] = c
	return c
}

// step combines the parts on device end.
func (c *combiner) step(end int, needers []int) Step {
	n := len(c.parts)
	s := Step{From: make([]int, n), At: make([]int, n), To: needers}
	at := end
	for k := n - 1; k >= 0; k-- {
		s.At[k] = at
		if k > 0 {
			at = c.before[k][at]
		}
	}
	s.From[0] = s.At[0]
	for k := 1; k < n; k++ {
		s.Links = append(s.Links, c.way(s.At[k-1:k], s.At[k:k+1])...)
		way := c.way(c.parts[k], s.At[k:k+1])
		s.From[k] = s.At[k]
		if len(way) > 0 {
			s.From[k] = way[0][0]
		}
		for range c.each {
			s.Links = append(s.Links, way...)
		}
	}
	s.Links = append(s.Links, c.tree([]int{end}, needers)...)
	return s
}

// reach is how many links a value must go over to get from its holders to all that need it.
func (p *planner) reach(holders, needers []int) int {
	lacking, nearest, farthest := 0, maxInt, 0
	far := p.away(holders)
	for _, d := range needers {
		if far[d] > 0 {
			lacking, nearest, farthest = lacking+1, min(nearest, far[d]), max(farthest, far[d])
		}
	}
	if lacking == 0 {
		return 0
	}
	return max(lacking-1+nearest, farthest)
}

// tree returns links that lead from some devices to others: to the nearest first, and then from all that have been
// reached.
func (p *planner) tree(from, to []int) (links [][2]int) {
	reached := slices.Clone(from)
	for {
		way := p.way(reached, slices.DeleteFunc(slices.Clone(to), func(d int) bool { return slices.Contains(reached, d) }))
		if way == nil {
			return links
		}
		for _, l := range way {
			reached = append(reached, l[1])
		}
		links = append(links, way...)
	}
}

// way returns the links from the nearest of some devices to the nearest of others; none if one is in both.
func (p *planner) way(from, to []int) (links [][2]int) {
	if p.near == nil {
		p.wire()
	}
	parent := slices.Repeat([]int{-1}, p.Len())
	queue := slices.Clone(from)
	slices.Sort(queue)
	for _, d := range queue {
		parent[d] = d
	}
	for len(queue) > 0 {
		d := queue[0]
		queue = queue[1:]
		if slices.Contains(to, d) {
			for ; parent[d] != d; d = parent[d] {
				links = append(links, [2]int{parent[d], d})
			}
			slices.Reverse(links)
			return links
		}
		for _, next := range p.near[d] {
			if parent[next] < 0 {
				parent[next] = d
				queue = append(queue, next)
			}
		}
	}
	return nil
}

// wire finds the neighbours of each device, the next along a line before the one before it.
func (p *planner) wire() {
	p.near = make([][]int, p.Len())
	for d := range p.near {
		step := p.Len()
		for _, l := range p.Lines {
			step /= l.N
			at := d / step % l.N
			list := &p.near[d]
			switch {
			case at+1 < l.N:
				*list = append(*list, d+step)
			case l.Ring && l.N > 2:
				*list = append(*list, d-at*step)
			}
			switch {
			case at > 0:
				*list = append(*list, d-step)
			case l.Ring && l.N > 2:
				*list = append(*list, d+(l.N-1)*step)
			}
		}
	}
}
