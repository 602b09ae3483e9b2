package mesh

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-go/ashlar/device"
	"github.com/ashlar-go/ashlar/device/grid"
	_ "github.com/ashlar-go/ashlar/internal/seeded"
	"github.com/ashlar-go/ashlar/judge"
	"github.com/ashlar-go/ashlar/tensor"
)

func drawMesh(t *rapid.T) grid.Mesh {
	var m grid.Mesh
	n := 1
	for i := range rapid.IntRange(1, 3).Draw(t, "axes") {
		size := rapid.IntRange(1, 4).Draw(t, "size")
		n *= size
		m.Axes = append(m.Axes, judge.Extent{Name: string(rune('x' + i)), Size: size})
	}
	ring := func() bool { return rapid.Bool().Draw(t, "ring") }
	for d := 2; d <= n; d++ {
		if n%d == 0 && rapid.Bool().Draw(t, "cut") {
			m.Lines = append(m.Lines, grid.Line{N: d, Ring: ring()})
			n /= d
		}
	}
	m.Lines = append(m.Lines, grid.Line{N: n, Ring: ring()})
	return m
}

func drawPlacement(t *rapid.T, m *grid.Mesh, rank int, from []grid.OnAxis) []grid.OnAxis {
	on := make([]grid.OnAxis, len(m.Axes))
	for i := range on {
		kind := grid.AxisKind(rapid.IntRange(0, 3).Draw(t, "kind"))
		switch {
		case kind == grid.Sharded && rank > 0:
			on[i] = grid.OnAxis{Kind: kind, Axis: rapid.IntRange(0, rank-1).Draw(t, "axis")}
		case kind > grid.Sharded && from == nil:
			on[i] = grid.OnAxis{Kind: kind, Parts: rapid.IntRange(0, 3).Draw(t, "parts")}
		case kind > grid.Sharded && from[i].Kind > grid.Sharded:
			on[i] = from[i]
		}
	}
	return on
}

// addends is the number of parts on a device.
func addends(o grid.OnAxis) int {
	if o.Kind > grid.Sharded {
		return max(o.Parts, 1)
	}
	return 1
}

// A model is a tensor as values: for each choice of addends, one of each partial axis, and for each index.
type model struct {
	m     *grid.Mesh
	shape []int
	on    []grid.OnAxis
	value map[string][]float32
}

// choices calls f for each choice of an addend on each partial axis, all of the axis; -1 on others.
func (v *model) choices(f func(pick []int)) {
	pick := make([]int, len(v.on))
	var next func(i int)
	next = func(i int) {
		if i == len(pick) {
			f(pick)
			return
		}
		if v.on[i].Kind <= grid.Sharded {
			pick[i] = -1
			next(i + 1)
			return
		}
		for pick[i] = range v.m.Axes[i].Size * addends(v.on[i]) {
			next(i + 1)
		}
	}
	next(0)
}

// to combines the addends of the axes that are partial no more, axis by axis, each ascending.
func (v *model) to(on []grid.OnAxis) *model {
	for i := range on {
		if v.on[i].Kind <= grid.Sharded || on[i].Kind > grid.Sharded {
			continue
		}
		next := &model{v.m, v.shape, slices.Clone(v.on), map[string][]float32{}}
		kind := v.on[i].Kind
		next.on[i] = grid.OnAxis{}
		v.choices(func(pick []int) {
			to := slices.Clone(pick)
			to[i] = -1
			key := fmt.Sprint(to)
			for x, e := range v.value[fmt.Sprint(pick)] {
				switch sum := next.value[key]; {
				case len(sum) <= x:
					next.value[key] = append(sum, e)
				case kind == grid.PartialMax:
					sum[x] = max(sum[x], e)
				default:
					sum[x] += e
				}
			}
		})
		v = next
	}
	return &model{v.m, v.shape, on, v.value}
}

// owns reports whether a device has the element at a coordinate: each cut is a division.
func (v *model) owns(d int, coord []int) bool {
	at, extent, index := v.m.Coord(d), slices.Clone(v.shape), slices.Clone(coord)
	for i, o := range v.on {
		if o.Kind != grid.Sharded {
			continue
		}
		part := (extent[o.Axis] + v.m.Axes[i].Size - 1) / v.m.Axes[i].Size
		if index[o.Axis]/part != at[i] {
			return false
		}
		extent[o.Axis] = min(part, extent[o.Axis]-at[i]*part)
		index[o.Axis] %= part
	}
	return true
}

// part is the values on a device in their order, addends first.
func (v *model) part(d int) (list []float32) {
	at := v.m.Coord(d)
	v.choices(func(pick []int) {
		for i, p := range pick {
			if p >= 0 && p/addends(v.on[i]) != at[i] {
				return
			}
		}
		values := v.value[fmt.Sprint(pick)]
		for x, e := range values {
			coord, rest := make([]int, len(v.shape)), x
			for k := len(coord) - 1; k >= 0; k-- {
				coord[k], rest = rest%v.shape[k], rest/v.shape[k]
			}
			if v.owns(d, coord) {
				list = append(list, e)
			}
		}
	})
	return list
}

func drawModel(t *rapid.T) *model {
	m := drawMesh(t)
	shape := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 2, 3, 5, 7, 8}), 0, 3).Draw(t, "shape")
	v := &model{&m, shape, drawPlacement(t, &m, len(shape), nil), map[string][]float32{}}
	n, seed := 1, rapid.Uint32().Draw(t, "seed")
	for _, e := range shape {
		n *= e
	}
	v.choices(func(pick []int) {
		list := make([]float32, n)
		for i := range list {
			seed = seed*1664525 + 1013904223
			list[i] = float32(int32(seed)) * float32(math.Exp2(float64(seed%23))) // sums that depend on their order
		}
		v.value[fmt.Sprint(pick)] = list
	})
	return v
}

func (v *model) tensor(t *rapid.T, d *Devices) Tensor {
	parts := make([]tensor.Any, v.m.Len())
	for i := range parts {
		_, extent, err := v.m.Box(v.shape, v.on, i)
		if err != nil {
			t.Fatal(err)
		}
		list := v.part(i)
		parts[i] = tensor.FromSlice(list, len(list)).Reshape(append(leading(v.on), extent...)...).Any()
	}
	x, err := FromParts(d, v.shape, v.on, parts...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func (v *model) check(t *rapid.T, x Tensor) {
	for d := range v.m.Len() {
		got, err := x.Part(d)
		if err != nil {
			t.Fatal(err)
		}
		same(t, fmt.Sprintf("device %d of %v", d, x), got, v.part(d))
	}
}

func same(t *rapid.T, name string, got tensor.Any, want []float32) {
	f, ok := tensor.As[float32](got)
	if !ok || f.Len() != len(want) {
		t.Fatalf("%s: %v elements, want %d", name, got.Shape(), len(want))
	}
	for i, e := range f.Contiguous().Elems() {
		if math.Float32bits(e) != math.Float32bits(want[i]) {
			t.Fatalf("%s: element %d is %v, want %v", name, i, e, want[i])
		}
	}
}

// Any exchange between any two placements leads to the values of a plain model, on any wires. Its bytes go over links, from devices that
// have them, and are no fewer than the bound.
func TestTo(t *testing.T) {
	exchanges := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		v := drawModel(t)
		d, err := Open(*v.m, device.Wormhole())
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		x := v.tensor(t, d)
		v.check(t, x)
		on := drawPlacement(t, v.m, len(v.shape), v.on)
		y, e, err := x.To(on...)
		if err != nil {
			t.Fatal(err)
		}
		exchanges[e.Name]++
		v.to(on).check(t, y)
		checkLinks(t, v.m, v.shape, e)
		whole, err := y.Gather()
		if err != nil {
			t.Fatal(err)
		}
		all := v.to(on)
		plain := make([]grid.OnAxis, len(on))
		for i := range on {
			if on[i].Kind == grid.Sharded {
				plain[i] = on[i]
			}
		}
		same(t, fmt.Sprintf("%v to %v", x, y), whole, all.to(plain).value[fmt.Sprint(slices.Repeat([]int{-1}, len(on)))])
		x.Deallocate()
		y.Deallocate()
		for i := range v.m.Len() {
			for b := range d.Device(i).Model().DRAMBanks {
				if n := d.Device(i).Used(device.DRAM, b); n != 0 {
					t.Fatalf("device %d has %d bytes in use after all", i, n)
				}
			}
		}
	})
	t.Log(exchanges)
	for _, name := range []string{"all-gather", "all-reduce", "reduce-scatter", "all-to-all", "slice", "none", "exchange"} {
		if exchanges[name] == 0 && !testing.Short() {
			t.Errorf("no %s was drawn: %v", name, exchanges)
		}
	}
}

func checkLinks(t *rapid.T, m *grid.Mesh, shape []int, e *grid.Exchange) {
	bytes, links := 0, map[[2]int]int{}
	for _, s := range e.Stages {
		stage := 0
		for _, step := range s.Steps {
			reached := slices.Clone(step.From)
			n := 4
			for _, k := range step.Extent {
				n *= k
			}
			for _, l := range step.Links {
				if !slices.Contains(reached, l[0]) {
					t.Fatalf("%v: %v carries what device %d hasn't", m, l, l[0])
				}
				if !neighbours(m, l[0], l[1]) {
					t.Fatalf("%v: %v is no link", m, l)
				}
				reached = append(reached, l[1])
				links[l] += n
				stage += n
			}
			for _, d := range step.To {
				if !slices.Contains(reached, d) {
					t.Fatalf("%v: nothing comes to device %d: %+v", m, d, step)
				}
			}
		}
		if stage != s.Bytes || s.Bytes < s.Bound {
			t.Fatalf("%v: stage %s has %d bytes over its links, and says %d with a bound of %d", m, s.Name, stage, s.Bytes, s.Bound)
		}
		bytes += stage
	}
	if bytes != e.Bytes {
		t.Fatalf("%d bytes over all links, and the plan says %d", bytes, e.Bytes)
	}
	for _, l := range e.Links {
		if links[[2]int{l.From, l.To}] != l.Bytes {
			t.Fatalf("%v, want %d", l, links[[2]int{l.From, l.To}])
		}
	}
}

// neighbours says it by coordinates.
func neighbours(m *grid.Mesh, a, b int) bool {
	differ, near := 0, false
	for i := len(m.Lines) - 1; i >= 0; i-- {
		n := m.Lines[i].N
		x, y := a%n, b%n
		a, b = a/n, b/n
		if x != y {
			differ++
			near = x-y == 1 || y-x == 1 || m.Lines[i].Ring && (x-y == n-1 || y-x == n-1)
		}
	}
	return differ == 1 && near
}
