package grid

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/ashlar-go/ashlar/internal/seeded"
	"github.com/ashlar-go/ashlar/judge"
	"github.com/ashlar-go/ashlar/layout"
)

func meshOf(t testing.TB, text string) Mesh {
	t.Helper()
	m, err := ParseMesh(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// 129 over 2 are 65 and 64 for DTensor, and an error for TT-NN, whose parts have one shape. Few elements leave devices empty.
func TestUneven(t *testing.T) {
	for _, c := range []struct {
		mesh   string
		n      int
		on     string
		extent []int // of each device
	}{
		{"x=2", 129, "S(0)", []int{65, 64}},
		{"x=4", 5, "S(0)", []int{2, 2, 1, 0}},
		{"x=4", 2, "S(0)", []int{1, 1, 0, 0}},
		{"x=2", 0, "S(0)", []int{0, 0}},
		{"x=2,y=2", 129, "S(0) S(0)", []int{33, 32, 32, 32}},
		{"x=2,y=2", 5, "S(0) S(0)", []int{2, 1, 1, 1}},
		{"x=3,y=2", 7, "S(0) R", []int{3, 3, 3, 3, 1, 1}},
	} {
		m := meshOf(t, c.mesh)
		on, err := m.ParsePlacement(c.on)
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for d, want := range c.extent {
			first, extent, err := m.Box([]int{c.n}, on, d)
			if err != nil || extent[0] != want || d > 0 && first[0] != at && want > 0 && !strings.Contains(c.on, "R") {
				t.Errorf("%d elements as %s on %s: device %d has %v from %v, %v, want %d", c.n, c.on, c.mesh, d, extent, first, err, want)
			}
			at += want
		}
		m.Even = true
		_, _, err = m.Box([]int{c.n}, on, 0)
		if even := slices.Min(c.extent) == slices.Max(c.extent); (err == nil) != even {
			t.Errorf("%d elements as %s on an even %s: %v", c.n, c.on, c.mesh, err)
		}
	}
	m := meshOf(t, "x=2")
	m.Even = true
	_, _, err := m.Box([]int{129}, []OnAxis{{Kind: Sharded}}, 0)
	if want := "grid.Mesh.Box: device [1] has [64] of shape [129] and the first one [65]; an even mesh has parts of one shape"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestMeshErrors(t *testing.T) {
	m := meshOf(t, "row=2,col=4 on ring8")
	shape := []int{8, 8}
	place := func(text string) error { _, err := m.ParsePlacement(text); return err }
	plan := func(m Mesh, size int, shape []int, from, to []OnAxis) error {
		_, err := m.Plan(shape, size, from, to)
		return err
	}
	two := []OnAxis{{}, {}}
	for _, c := range []struct {
		err  error
		want string
	}{
		{place("row:R row:S(0)"), `grid.ParsePlacement: "row:S(0)": axis row of the mesh is used twice`},
		{place("row:R"), `grid.ParsePlacement: "row:R" says nothing of axis col of row=2,col=4 on ring8`},
		{place("R R R"), `grid.ParsePlacement: "R": 3 placements for the 2 axes of row=2,col=4 on ring8`},
		{place("x:R col:R"), `grid.ParsePlacement: "x:R": row=2,col=4 on ring8 has no axis "x"`},
		{place("S(x) R"), `grid.ParsePlacement: "S(x)": want R, S(0), P(sum), P(max), or P(sum,2)`},
		{place(strings.Repeat("R ", 5000)), "grid.ParsePlacement: a placement of 10000 bytes; want one word for each axis, at most 4096 bytes"},
		{place("P(sum,0) R"), `grid.ParsePlacement: "P(sum,0)": want R, S(0), P(sum), P(max), or P(sum,2)`},
		{second2(ParseMesh(strings.Repeat("x", 5000))), "grid.ParseMesh: a mesh of 5000 bytes; want names with numbers of devices, at most 4096 bytes"},
		{second2(ParseMesh("row=2,row=4")), `grid.ParseMesh: axis "row" of the mesh stands there twice; give each axis its name`},
		{second2(ParseMesh("row=2,col=4 on 4")), "grid.ParseMesh: the axes of row=2,col=4 on 4 have 8 devices and its lines 4; they are the same devices"},
		{second2(ParseMesh("row=2 on ring")), `grid.ParseMesh: "row=2 on ring": want lines of devices after on, as in 2xring4`},
		{second2(ParseMesh("8x8")), `grid.ParseMesh: "8x8": want names with numbers of devices, as in row=2,col=4`},
		{second2(ParseMesh("m=2")), `grid.ParseMesh: axis "m" of 2 devices: want a name other than m, and from 1 to 256 devices`},
		{second2(ParseMesh("x=200,y=2")), "grid.ParseMesh: a mesh of more than 256 devices"},
		{second2(ParseMesh("x=99999999999999999999")), `grid.ParseMesh: "x=99999999999999999999": want names with numbers of devices, as in row=2,col=4`},
		{plan(m, 4, shape, []OnAxis{{}}, two), "grid.Mesh.Plan: 1 placements for the 2 axes of row=2,col=4 on ring8; give each axis one"},
		{plan(m, 4, shape, []OnAxis{{}, {Kind: Sharded, Axis: 2}}, two), "grid.Mesh.Plan: axis col cuts axis 2 of shape [8,8]; want an axis from 0 to 1"},
		{plan(m, 4, nil, []OnAxis{{}, {Kind: Sharded}}, two), "grid.Mesh.Plan: axis col cuts axis 0 of a scalar, which has no axis; R copies it"},
		{plan(m, 4, make([]int, 65), two, two), "grid.Mesh.Plan: a shape of 65 axes; want at most 64"},
		{plan(m, 4, []int{maxInt / 2}, []OnAxis{{Kind: PartialSum, Parts: 4}, {}}, two), "with 4 parts on each device of axis row don't fit an int"},
		{plan(meshOf(t, "x=128"), 4, []int{128, 128}, []OnAxis{{Kind: Sharded}}, []OnAxis{{Kind: Sharded, Axis: 1}}), "is cut into more than 8192 boxes, the most for 128 devices; take fewer devices"},
		{plan(m, 4, shape, []OnAxis{{}, {Kind: 9}}, two), "grid.Mesh.Plan: axis col: there is no kind 9"},
		{plan(m, 4, shape, two, []OnAxis{{}, {Kind: PartialSum}}), "grid.Mesh.Plan: axis col becomes P(sum) from R; parts come from a computation, and no move makes them"},
		{plan(m, 4, []int{-1}, two, two), "grid.Mesh.Plan: axis 0 of shape [-1] is negative"},
		{plan(m, 4, []int{maxInt, 2}, two, two), "don't fit an int"},
		{plan(m, 4, []int{maxInt / 8}, two, two), "don't fit an int"},
		{plan(m, 0, shape, two, two), "elements of 0 bytes; want whole bytes"},
		{plan(Mesh{}, 4, shape, nil, nil), ""},
	} {
		if c.want == "" {
			if c.err != nil {
				t.Errorf("%v, want no error", c.err)
			}
			continue
		}
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) || !errors.As(c.err, new(*Error)) {
			t.Errorf("got %v, want %s", c.err, c.want)
		}
	}
}

func second2[A any](_ A, err error) error { return err }

// A placement that cuts evenly goes to named axes and back. What doesn't says why.
func TestMeshAxes(t *testing.T) {
	even, uneven := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var m Mesh
		for i := range rapid.IntRange(1, 3).Draw(t, "axes") {
			n := rapid.IntRange(1, 4).Draw(t, "size")
			m.Axes = append(m.Axes, judge.Extent{Name: string(rune('x' + i)), Size: n})
			m.Lines = append(m.Lines, Line{N: n})
		}
		shape := rapid.SliceOfN(rapid.SampledFrom([]int{1, 2, 3, 4, 8, 12}), 1, 3).Draw(t, "shape")
		on := make([]OnAxis, len(m.Axes))
		for i := range on {
			if rapid.Bool().Draw(t, "cut") {
				on[i] = OnAxis{Kind: Sharded, Axis: rapid.IntRange(0, len(shape)-1).Draw(t, "axis")}
			}
		}
		a, err := m.NamedAxes(shape, on)
		if err != nil {
			if !errors.Is(err, layout.ErrDivide) {
				t.Fatal(err)
			}
			uneven++
			return
		}
		even++
		for x := range product(shape) {
			owners, err := a.Owners(x)
			if err != nil {
				t.Fatal(err)
			}
			coord, rest := make([]int, len(shape)), x
			for k := len(shape) - 1; k >= 0; k-- {
				coord[k], rest = rest%shape[k], rest/shape[k]
			}
			for d := range m.Len() {
				first, extent := m.box(shape, on, d)
				has := false
				for _, p := range owners {
					at := make([]int, len(m.Axes))
					for k, name := range a.Names() {
						if i := slices.IndexFunc(m.Axes, func(e judge.Extent) bool { return e.Name == name }); i >= 0 {
							at[i] = p[k]
						}
					}
					has = has || slices.Equal(at, m.Coord(d))
				}
				if has != inside(coord, [2][]int{first, extent}) {
					t.Fatalf("%v of %v on %v: %v says that device %d has it: %v", coord, shape, m, a, d, has)
				}
			}
		}
		back, err := m.Placement(shape, a)
		if err != nil {
			t.Fatal(err)
		}
		for d := range m.Len() { // an axis of one device, or of extent 1, says nothing
			f1, e1 := m.box(shape, on, d)
			f2, e2 := m.box(shape, back, d)
			if !slices.Equal(f1, f2) || !slices.Equal(e1, e2) {
				t.Fatalf("%v of %v came back from %v as %v", on, shape, a, back)
			}
		}
	})
	t.Logf("%d even, %d uneven", even, uneven)
	m := meshOf(t, "x=2,y=2")
	_, err := m.NamedAxes([]int{4}, []OnAxis{{}, {Kind: PartialSum}})
	if !errors.Is(err, layout.ErrView) {
		t.Error(err)
	}
	later, err := judge.AxesOfMesh([]int{8}, judge.Split{Extent: m.Axes[1], Of: 0}, judge.Split{Extent: m.Axes[0], Of: 0})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Placement([]int{8}, later); !errors.Is(err, layout.ErrAxis) {
		t.Errorf("y cuts before x: %v", err)
	}
}

// Plans of known shapes, by arithmetic: on a row and on a ring of n devices with S bytes.
func TestPlans(t *testing.T) {
	const n, S = 8, 8 * 64 * 4
	for _, c := range []struct {
		from, to, name              string
		row, ring, boundRow, boundR int
	}{
		{"S(0)", "R", "all-gather", (n - 1) * S, (n - 1) * S, (n - 1) * S, (n - 1) * S},
		{"P(sum)", "R", "all-reduce", 2 * (n - 1) * S, 2 * (n - 1) * S, 2 * (n - 1) * S, 2 * (n - 1) * S},
		{"R", "S(0)", "slice", 0, 0, 0, 0},
		// every device sends an 8th of its 8th over the distance: 168 of them on a row, 2·(1+2+3+4+3+2+1)·4 on a ring
		{"S(0)", "S(1)", "all-to-all", 168 * S / 64, 128 * S / 64, 168 * S / 64, 128 * S / 64},
	} {
		for i, wires := range []string{"8", "ring8"} {
			m := meshOf(t, "x=8 on "+wires)
			from, _ := m.ParsePlacement(c.from)
			to, _ := m.ParsePlacement(c.to)
			e, err := m.Plan([]int{8, 64}, 4, from, to)
			if err != nil {
				t.Fatal(err)
			}
			bytes, bound := []int{c.row, c.ring}[i], []int{c.boundRow, c.boundR}[i]
			if e.Name != c.name || e.Bytes != bytes || e.Bound != bound {
				t.Errorf("%s to %s on %s: %s of %d bytes, bound %d; want %s of %d, bound %d", c.from, c.to, wires, e.Name, e.Bytes, e.Bound, c.name, bytes, bound)
			}
		}
	}
	if got := fmt.Sprint(meshOf(t, "row=2,col=4 on 2xring4")); got != "row=2,col=4 on 2xring4" {
		t.Error(got)
	}
}
