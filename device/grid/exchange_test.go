package grid

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// fewest finds by search the fewest messages between neighbours until every needer has the value. A device's values are bits: part
// k, which some devices have, and the sum of the parts up to k, which a device has that has part k and the sum before.
func fewest(p *planner, parts [][]int, needers []int) int {
	n := len(parts)
	each := 2 * n
	know := func(state uint64, d int) uint64 { return state >> (each * d) & (1<<each - 1) }
	closed := func(state uint64) uint64 {
		for d := range p.Len() {
			v := know(state, d)
			if v&1 != 0 {
				v |= 1 << n
			}
			for k := 1; k < n; k++ {
				if v>>k&1 != 0 && v>>(n+k-1)&1 != 0 {
					v |= 1 << (n + k)
				}
			}
			state |= v << (each * d)
		}
		return state
	}
	var start uint64
	for k, list := range parts {
		for _, d := range list {
			start |= 1 << (each*d + k)
		}
	}
	start = closed(start)
	seen := map[uint64]bool{start: true}
	for states, messages := []uint64{start}, 0; ; messages++ {
		var next []uint64
		for _, state := range states {
			if !slices.ContainsFunc(needers, func(d int) bool { return know(state, d)>>(2*n-1)&1 == 0 }) {
				return messages
			}
			for d, list := range p.near {
				for _, to := range list {
					for v := range each {
						if know(state, d)>>v&1 == 0 {
							continue
						}
						if s := closed(state | 1<<(each*to+v)); !seen[s] {
							seen[s] = true
							next = append(next, s)
						}
					}
				}
			}
		}
		states = next
	}
}

// The bound of a step is never more than a search finds, nor the step's links fewer. For one needer, and for moves on a row, all three are equal.
func TestFewestLinks(t *testing.T) {
	reached, total := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		wires := rapid.SampledFrom([]string{"x=2,y=2", "x=4", "x=4 on ring4", "x=3 on ring3", "x=3", "x=1,y=3", "x=2,y=3"}).Draw(t, "wires")
		m, err := ParseMesh(wires)
		if err != nil {
			t.Fatal(err)
		}
		axis := rapid.IntRange(-1, len(m.Axes)-1).Draw(t, "axis")
		if axis >= 0 && m.Axes[axis].Size > 3 {
			axis = -1 // more states than a search takes
		}
		p := &planner{Mesh: &m, known: map[string]*combiner{}}
		p.wire()
		now := make([]OnAxis, len(m.Axes))
		var holders, needers []int
		for d := range m.Len() {
			if rapid.Bool().Draw(t, "needs") {
				needers = append(needers, d)
			}
			if axis < 0 && rapid.Bool().Draw(t, "has") {
				holders = append(holders, d)
			}
		}
		if len(needers) == 0 {
			needers = []int{0}
		}
		parts := [][]int{holders}
		if axis < 0 && len(holders) == 0 {
			holders, parts = []int{m.Len() - 1}, [][]int{{m.Len() - 1}}
		}
		if axis >= 0 {
			now[axis] = OnAxis{Kind: PartialSum}
			parts = make([][]int, m.Axes[axis].Size)
			keep := rapid.IntRange(-1, 1).Draw(t, "copies") // -1: the parts are on all devices
			for d := range m.Len() {
				at := m.Coord(d)
				if other := m.Len() / m.Axes[axis].Size; keep < 0 || other == 1 || at[1-axis] == keep {
					holders = append(holders, d)
					parts[at[axis]] = append(parts[at[axis]], d)
				}
			}
		}
		steps, least := p.steps(holders, needers, now, axis)
		links := 0
		for _, s := range steps {
			links += len(s.Links)
		}
		exact := fewest(p, parts, needers)
		if least > exact || links < exact {
			t.Fatalf("%v, axis %d, %v to %v: a bound of %d, %d links, and %d suffice", m, axis, holders, needers, least, links, exact)
		}
		if len(needers) == 1 && (least != exact || links != exact) {
			t.Fatalf("%v, axis %d, %v to %v: a bound of %d and %d links, want %d", m, axis, holders, needers, least, links, exact)
		}
		total++
		if links == exact {
			reached++
		}
	})
	t.Logf("%d of %d steps have the fewest links", reached, total)
}

// The way of the parts to each other is searched once for all boxes of the same devices: 64 boxes on 64 devices take one search.
func TestOneSearch(t *testing.T) {
	m, err := ParseMesh("x=64")
	if err != nil {
		t.Fatal(err)
	}
	p := planner{Mesh: &m, shape: []int{64, 4}, size: 4, links: map[[2]int]int{}}
	var e Exchange
	if err := p.stage(&e, []OnAxis{{Kind: PartialSum}}, []OnAxis{{Kind: Sharded}}, 0); err != nil {
		t.Fatal(err)
	}
	if n := len(e.Stages[0].Steps); n != 64 || len(p.known) != 1 {
		t.Errorf("%d steps with %d searches, want 64 with 1", n, len(p.known))
	}
}
