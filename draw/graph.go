package draw

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/layout"
)

// A Graph is the picture of nodes and of edges between them. Nodes stand in layers, each node below all nodes with an edge
// to it, so edges point down. In a cycle one edge points up. A layer is 60 pixels high, and 16 more for each line of Detail.
// A chain of 1,000 nodes is 60,000 pixels high. Edges past many layers make the picture wider.
type Graph struct {
	Title string
	Nodes []Node
	Edges []Edge
}

// A Node is a box with a line of text, and below it the lines of Detail in smaller letters.
type Node struct {
	Label, Detail string
	Group         int // nodes of a group share a colour; a negative group has none
}

// An Edge is an arrow between two nodes, given by their indices.
type Edge struct {
	From, To int
	Label    string
}

// The most nodes of a picture, and the most places at which edges cross layers between their ends. People can't read
// more, and viewers can't show it.
const (
	MaxNodes  = 20_000
	maxBends  = 400_000
	longLabel = 60 // characters of a line; the rest is cut off
)

const (
	nodeGap  = 18
	layerGap = 34
	edgeRoom = 10 // the width of an edge where it passes a layer

	lineHeight = 16 // of a line of Detail
)

// WriteSVG writes the picture as SVG, a pixel to a unit. The same graph gives the same bytes on every platform. WriteSVG
// fails if an edge has a node that doesn't exist, or if the graph is too large for a picture.
func (g *Graph) WriteSVG(w io.Writer) error {
	if err := writable("Graph.WriteSVG", w); err != nil {
		return err
	}
	p, err := g.place()
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, p.scene().svg())
	return err
}

// item is a node or, with node -1, a place where an edge passes a layer.
type item struct {
	node     int
	layer    int
	w        int
	x        int // of the middle
	up, down []int
}

// placed is a graph with the places of its nodes and edges.
type placed struct {
	g      *Graph
	items  []item
	layers [][]int // items from left to right
	routes [][]int // for each edge, the items that it goes through, from the top down
	back   []bool  // by edge: it points up
}

// place lays the graph out. The layer of a node is the longest path to it from a node without incoming edges. The order
// within a layer follows the mean place of neighbours, and coordinates come from least squares. Source of the scheme:
// Sugiyama, Tagawa and Toda, "Methods for visual understanding of hierarchical system structures", 1981.
func (g *Graph) place() (*placed, error) {
	if len(g.Nodes) > MaxNodes {
		return nil, fail("Graph.WriteSVG", layout.ErrLimit, "%d nodes are too many for a picture; the most is %d", len(g.Nodes), MaxNodes)
	}
	for i, e := range g.Edges {
		if e.From < 0 || e.From >= len(g.Nodes) || e.To < 0 || e.To >= len(g.Nodes) {
			return nil, fail("Graph.WriteSVG", layout.ErrShape, "edge %d goes from node %d to node %d; there are %d nodes", i, e.From, e.To, len(g.Nodes))
		}
	}
	p := &placed{g: g, items: make([]item, len(g.Nodes)), routes: make([][]int, len(g.Edges))}
	for i, n := range g.Nodes {
		w := len([]rune(shorten(n.Label))) * boldWidth
		for _, line := range n.details() {
			w = max(w, len([]rune(shorten(line)))*smallWidth)
		}
		p.items[i] = item{node: i, w: w + 20}
	}
	p.rank()
	if err := p.route(); err != nil {
		return nil, err
	}
	p.order()
	p.align()
	return p, nil
}

// details returns the lines of a node's Detail.
func (n *Node) details() []string {
	if n.Detail == "" {
		return nil
	}
	return strings.Split(n.Detail, "\n")
}

// shorten cuts a long text.
func shorten(s string) string {
	r := []rune(s)
	if len(r) > longLabel {
		return string(r[:longLabel-1]) + "…"
	}
	return s
}

// rank reverses edges that close a cycle, and gives each node its layer.
func (p *placed) rank() {
	n := len(p.g.Nodes)
	p.back = make([]bool, len(p.g.Edges))
	out := make([][]int, n) // edges
	for i, e := range p.g.Edges {
		out[e.From] = append(out[e.From], i)
	}
	const (
		fresh = iota
		open
		done
	)
	state := make([]uint8, n)
	next := make([]int, n) // the edge to follow
	order := make([]int, 0, n)
	var stack []int
	for root := range n {
		if state[root] != fresh {
			continue
		}
		state[root] = open
		stack = append(stack, root)
		for len(stack) > 0 {
			v := stack[len(stack)-1]
			if next[v] == len(out[v]) {
				state[v] = done
				order = append(order, v)
				stack = stack[:len(stack)-1]
				continue
			}
			e := out[v][next[v]]
			next[v]++
			switch to := p.g.Edges[e].To; state[to] {
			case open:
				p.back[e] = true
			case fresh:
				state[to] = open
				stack = append(stack, to)
			}
		}
	}
	turned := make([][]int, n) // reversed edges lead from To to From
	for i, e := range p.g.Edges {
		if p.back[i] {
			turned[e.To] = append(turned[e.To], i)
		}
	}
	// A depth-first walk leaves nodes last to first. A reversed edge agrees with that order.
	slices.Reverse(order)
	for _, v := range order {
		for _, e := range out[v] {
			if to := p.g.Edges[e].To; !p.back[e] {
				p.items[to].layer = max(p.items[to].layer, p.items[v].layer+1)
			}
		}
		for _, e := range turned[v] {
			if from := p.g.Edges[e].From; from != v {
				p.items[from].layer = max(p.items[from].layer, p.items[v].layer+1)
			}
		}
	}
	// A node without incoming edges stands right above the first node that it leads to.
	into := make([]int, n)
	for i := range p.g.Edges {
		_, b := p.ends(i)
		into[b]++
	}
	for v := range n {
		least := -1
		for _, e := range out[v] {
			if p.back[e] {
				continue
			}
			if l := p.items[p.g.Edges[e].To].layer; least < 0 || l < least {
				least = l
			}
		}
		if into[v] == 0 && least > 0 {
			p.items[v].layer = least - 1
		}
	}
}

// ends returns the upper and the lower end of an edge.
func (p *placed) ends(e int) (from, to int) {
	if from, to = p.g.Edges[e].From, p.g.Edges[e].To; p.back[e] {
		from, to = to, from
	}
	return from, to
}

// route puts an item into each layer that an edge passes.
func (p *placed) route() error {
	bends := 0
	for i := range p.g.Edges {
		from, to := p.ends(i)
		bends += max(p.items[to].layer-p.items[from].layer-1, 0)
	}
	if bends > maxBends {
		return fail("Graph.WriteSVG", layout.ErrLimit, "its edges pass %d layers, which is too much for a picture; the most is %d", bends, maxBends)
	}
	for i := range p.g.Edges {
		from, to := p.ends(i)
		if from == to {
			continue
		}
		at := from
		p.routes[i] = append(p.routes[i], from)
		for layer := p.items[from].layer + 1; layer < p.items[to].layer; layer++ {
			p.items = append(p.items, item{node: -1, layer: layer, w: edgeRoom})
			p.join(at, len(p.items)-1)
			at = len(p.items) - 1
			p.routes[i] = append(p.routes[i], at)
		}
		p.join(at, to)
		p.routes[i] = append(p.routes[i], to)
	}
	for i := range p.items {
		for len(p.layers) <= p.items[i].layer {
			p.layers = append(p.layers, nil)
		}
		p.layers[p.items[i].layer] = append(p.layers[p.items[i].layer], i)
	}
	return nil
}

func (p *placed) join(a, b int) {
	p.items[a].down = append(p.items[a].down, b)
	p.items[b].up = append(p.items[b].up, a)
}

const sweeps = 12

// order sorts each layer by the places of neighbours in the layer before, going down and up in turn.
func (p *placed) order() {
	at := make([]int, len(p.items))
	for _, l := range p.layers {
		for k, i := range l {
			at[i] = k
		}
	}
	key := make([]int64, len(p.items))
	for sweep := range sweeps {
		for k := range p.layers {
			l := p.layers[k]
			if sweep%2 == 1 {
				l = p.layers[len(p.layers)-1-k]
			}
			for _, i := range l {
				near := p.items[i].up
				if sweep%2 == 1 {
					near = p.items[i].down
				}
				sum := int64(0)
				for _, j := range near {
					sum += int64(at[j])
				}
				if key[i] = int64(at[i]) << 16; len(near) > 0 {
					key[i] = sum << 16 / int64(len(near))
				}
			}
			slices.SortStableFunc(l, func(a, b int) int { return cmp.Compare(key[a], key[b]) })
			for k, i := range l {
				at[i] = k
			}
		}
	}
}

// align gives each item its coordinate, as near to the mean of its neighbours as the widths allow.
func (p *placed) align() {
	for _, l := range p.layers {
		x := 0
		for _, i := range l {
			p.items[i].x = x + p.items[i].w/2
			x += p.items[i].w + nodeGap
		}
	}
	for sweep := range sweeps {
		for k := range p.layers {
			l := p.layers[k]
			if sweep%2 == 1 {
				l = p.layers[len(p.layers)-1-k]
			}
			p.fit(l, sweep%2 == 1)
		}
	}
	least := 0
	for k, i := range p.all() {
		if left := p.items[i].x - p.items[i].w/2; k == 0 || left < least {
			least = left
		}
	}
	for i := range p.items {
		p.items[i].x -= least
	}
}

// all lists the items layer by layer.
func (p *placed) all() []int { return slices.Concat(p.layers...) }

// fit moves the items of a layer. It keeps their order and doesn't let them overlap. It minimizes the sum of the squared
// distances from the places that their neighbours want: an isotonic regression, by pooling items that would overlap. It
// computes with integers, so that every machine finds the same.
func (p *placed) fit(l []int, below bool) {
	type pool struct {
		sum, weight int64
		count       int
	}
	var pools []pool
	shift := make([]int64, len(l)) // the least distance of an item from the first
	for k, i := range l {
		it := &p.items[i]
		if k > 0 {
			before := &p.items[l[k-1]]
			shift[k] = shift[k-1] + int64(before.w/2+nodeGap+(it.w+1)/2)
		}
		near, weight := it.up, int64(1)
		if below {
			near = it.down
		}
		want := int64(it.x)
		if len(near) > 0 {
			sum := int64(0)
			for _, j := range near {
				sum += int64(p.items[j].x)
				if it.node < 0 && p.items[j].node < 0 {
					weight = 8 // to keep a long edge straight
				}
			}
			want = (2*sum + int64(len(near))) / int64(2*len(near)) // rounded; otherwise pictures lean to the left
		}
		pools = append(pools, pool{(want - shift[k]) * weight, weight, 1})
		for n := len(pools); n > 1 && pools[n-2].sum/pools[n-2].weight > pools[n-1].sum/pools[n-1].weight; n = len(pools) {
			a, b := pools[n-2], pools[n-1]
			pools = append(pools[:n-2], pool{a.sum + b.sum, a.weight + b.weight, a.count + b.count})
		}
	}
	k := 0
	for _, q := range pools {
		for range q.count {
			p.items[l[k]].x = int(q.sum/q.weight + shift[k])
			k++
		}
	}
}

// scene draws the placed graph.
func (p *placed) scene() *scene {
	s := &scene{title: p.g.Title}
	s.text(text{margin, margin + 13, s.title, start, true, dark})
	s.text(text{margin, margin + 31, fmt.Sprintf("%d boxes, %d arrows", len(p.g.Nodes), len(p.g.Edges)), start, false, faint})
	top := make([]int, len(p.layers)) // of each layer
	high := make([]int, len(p.layers))
	y := margin + 50
	for k, l := range p.layers {
		for _, i := range l {
			if n := p.items[i].node; n >= 0 {
				high[k] = max(high[k], p.height(n))
			}
		}
		top[k] = y
		y += high[k] + layerGap
	}
	for i, route := range p.routes {
		p.edge(s, i, route, top, high)
	}
	for i := range p.g.Nodes {
		it, n := &p.items[i], &p.g.Nodes[i]
		h := p.height(i)
		x, y := margin+it.x-it.w/2, top[it.layer]+(high[it.layer]-h)/2
		paint := hole
		if n.Group >= 0 {
			paint = n.Group % len(fills)
		}
		s.rect(x, y, it.w, h, paint)
		s.text(text{margin + it.x, y + 18, shorten(n.Label), middle, true, dark})
		for k, line := range n.details() {
			s.text(text{margin + it.x, y + 34 + lineHeight*k, shorten(line), middle, false, faint})
		}
	}
	return s
}

// edge draws an edge through its items: a straight line past a layer, an S between two layers.
func (p *placed) edge(s *scene, e int, route []int, top, high []int) {
	if len(route) == 0 { // from a node to itself
		it := &p.items[p.g.Edges[e].From]
		x, y := margin+it.x+it.w/2, top[it.layer]+high[it.layer]/2
		s.curves = append(s.curves, fmt.Sprintf("M%d %dc%d -%d %d %d 0 12", x, y-6, nodeGap, 6, nodeGap, 18))
		s.w = max(s.w, x+nodeGap+margin)
		return
	}
	var d []byte
	for k := range route[:len(route)-1] {
		a, b := &p.items[route[k]], &p.items[route[k+1]]
		x0, y0 := margin+a.x, top[a.layer]+high[a.layer]
		x1, y1 := margin+b.x, top[b.layer]
		if b.node >= 0 {
			y1 += (high[b.layer] - p.height(b.node)) / 2
		}
		if a.node >= 0 {
			y0 -= (high[a.layer] - p.height(a.node)) / 2
		}
		s.w = max(s.w, x1+margin)
		if k == 0 {
			d = fmt.Appendf(d, "M%d %d", x0, y0)
		} else if high[a.layer] > 0 {
			d = fmt.Appendf(d, "V%d", y0)
		}
		if mid := (y0 + y1) / 2; x0 == x1 {
			d = fmt.Appendf(d, "V%d", y1)
		} else {
			d = fmt.Appendf(d, "C%d %d %d %d %d %d", x0, mid, x1, mid, x1, y1)
		}
		last := k == len(route)-2
		if last && !p.back[e] {
			s.heads = append(s.heads, fmt.Sprintf("M%d %dl-4 -7h8z", x1, y1))
		}
		if k == 0 && p.back[e] {
			s.heads = append(s.heads, fmt.Sprintf("M%d %dl-4 7h8z", x0, y0))
		}
		if k == 0 {
			s.text(text{x0 + (x1-x0)/2 + 5, (y0+y1)/2 + 4, shorten(p.g.Edges[e].Label), start, false, faint})
		}
	}
	s.curves = append(s.curves, string(d))
}

func (p *placed) height(node int) int { return 26 + lineHeight*len(p.g.Nodes[node].details()) }
