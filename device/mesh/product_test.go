package mesh

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-go/ashlar/device"
	"github.com/ashlar-go/ashlar/device/grid"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

func open(t testing.TB, text string) *Devices {
	t.Helper()
	m, err := grid.ParseMesh(text)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open(m, device.Wormhole())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func placement(t testing.TB, d *Devices, text string) []grid.OnAxis {
	t.Helper()
	on, err := d.Mesh().ParsePlacement(text)
	if err != nil {
		t.Fatal(err)
	}
	return on
}

func spread(t testing.TB, d *Devices, x tensor.Any, text string) Tensor {
	t.Helper()
	y, err := Distribute(x, d, placement(t, d, text)...)
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// noise is values of both signs and many sizes, whose sums depend on their order.
func noise(seed uint32, shape ...int) tensor.Tensor[float32] {
	x := tensor.New[float32](shape...)
	for i := range x.Elems() {
		seed = seed*1664525 + 1013904223
		x.Elems()[i] = float32(int32(seed)) * float32(math.Exp2(float64(seed>>8%16)))
	}
	return x
}

func gathered(t testing.TB, x Tensor) tensor.Tensor[float32] {
	t.Helper()
	y, err := x.Gather()
	if err != nil {
		t.Fatal(err)
	}
	f, ok := tensor.As[float32](y)
	if !ok {
		t.Fatalf("%v", y.DType())
	}
	return f
}

// differ counts the elements whose bits differ.
func differ(a, b tensor.Tensor[float32]) (n int) {
	x, y := a.Contiguous().Elems(), b.Contiguous().Elems()
	for i := range x {
		if math.Float32bits(x[i]) != math.Float32bits(y[i]) {
			n++
		}
	}
	return n
}

// A product cut along k has one device's bits where the cuts are multiples of 256. Elsewhere it is the sum of the devices' blocks in
// their order, which is another number. Rows and columns may be cut as one likes.
func TestMatMul(t *testing.T) {
	other := 0
	for _, c := range []struct {
		wires, a, b string
		k           int
		same        bool
	}{
		{"x=4", "S(1)", "S(0)", 1024, true},          // one block on each
		{"x=4 on ring4", "S(1)", "S(0)", 2048, true}, // two
		{"x=3 on ring3", "S(1)", "S(0)", 2304, true}, // three
		{"x=2,y=2", "S(1) R", "S(0) S(1)", 1024, true},
		{"x=2,y=2", "S(0) S(1)", "R S(0)", 900, false},
		{"x=4", "S(1)", "S(0)", 900, false}, // cuts at 225, 450, 675
		{"x=4", "S(1)", "S(0)", 1000, false},
		{"x=2", "S(1)", "S(0)", 500, false},
		{"x=2", "S(1)", "S(0)", 512 + 100, false}, // a cut at 306
		{"x=4", "S(1)", "S(0)", 1, true},          // three devices have none of it
		{"x=4", "S(1)", "S(0)", 0, true},
		{"x=4", "S(0)", "R", 700, true},
		{"x=4", "R", "S(1)", 700, true},
	} {
		d := open(t, c.wires)
		a, b := noise(1, 6, c.k), noise(2, c.k, 5)
		x, y := spread(t, d, a.Any(), c.a), spread(t, d, b.Any(), c.b)
		r, err := MatMul(x, y)
		if err != nil {
			t.Fatal(err)
		}
		got := gathered(t, r)
		single := op.MatMul(a, b)
		// The reference adds the blocks of each device, one by one.
		want := single
		if at := slices.IndexFunc(x.on, func(o grid.OnAxis) bool { return o.Axis == 1 }); at >= 0 && c.k > 0 {
			want = tensor.Tensor[float32]{}
			n := d.Mesh().Axes[at].Size
			part := (c.k + n - 1) / n
			for from := 0; from < c.k; from += part {
				for at := from; at < min(c.k, from+part); at += 256 {
					to := min(at+256, from+part, c.k)
					p := op.MatMul(a.Slice(tensor.Colon, tensor.R(at, to)), b.Slice(tensor.R(at, to)))
					if want.IsZero() {
						want = p
					} else {
						want = op.Add(want, p)
					}
				}
			}
		}
		if n := differ(got, want); n > 0 {
			t.Errorf("%s, k = %d: %d elements aren't those of the reference", c.wires, c.k, n)
		}
		if n := differ(got, single); (n == 0) != c.same {
			t.Errorf("%s, k = %d: %d elements aren't those of one device", c.wires, c.k, n)
		} else if n > 0 {
			other++
		}
	}
	if other == 0 {
		t.Error("no product differs from one device's: the order isn't seen")
	}
}

// A device with fewer blocks than the first adds nothing in their place: a sum of -0 stays one.
func TestMatMulNegativeZero(t *testing.T) {
	d := open(t, "x=2")
	a, b := tensor.Full[float32](-1e-30, 2, 513), tensor.Full[float32](1e-30, 513, 2) // products below the least float, 257 and 256 of them
	r, err := MatMul(spread(t, d, a.Any(), "S(1)"), spread(t, d, b.Any(), "S(0)"))
	if err != nil {
		t.Fatal(err)
	}
	single := op.MatMul(a, b)
	if !math.Signbit(float64(single.At(0, 0))) {
		t.Fatalf("one device gives %v, want -0", single.At(0, 0))
	}
	if n := differ(gathered(t, r), single); n > 0 || r.On()[0].Parts != 2 {
		t.Errorf("%v: %d elements aren't -0", r, n)
	}
}

func TestMatMulErrors(t *testing.T) {
	d := open(t, "x=2,y=2")
	a, b := noise(1, 4, 8), noise(2, 8, 4)
	half := op.CastAs[num.BF16](a.Any())
	halfB := op.CastAs[num.BF16](b.Any())
	for _, c := range []struct {
		x, y Tensor
		want string
	}{
		{Tensor{}, Tensor{}, "on different devices, or nowhere"},
		{spread(t, d, a.Any(), "R R"), spread(t, open(t, "x=2,y=2"), b.Any(), "R R"), "on different devices"},
		{spread(t, d, a.Any(), "R R"), spread(t, d, a.Any(), "R R"), "want matrices of one type that share k"},
		{spread(t, d, a.Any(), "S(1) R"), spread(t, d, b.Any(), "R R"), "axis x has S(1) and R; want"},
		{spread(t, d, a.Any(), "S(1) S(1)"), spread(t, d, b.Any(), "S(0) S(0)"), "axis y has S(1) and S(0); want"},
		{spread(t, d, half.Any(), "S(1) R"), spread(t, d, halfB.Any(), "S(0) R"), "cast to float32, and round after the sum"},
	} {
		if _, err := MatMul(c.x, c.y); err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, new(*tensor.Error)) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	// The way out that the error names has the bits of one device, if the cuts are multiples of 256.
	half, halfB = op.CastAs[num.BF16](noise(3, 4, 512).Any()), op.CastAs[num.BF16](noise(4, 512, 4).Any())
	r, err := MatMul(spread(t, d, op.CastAs[float32](half.Any()).Any(), "S(1) R"), spread(t, d, op.CastAs[float32](halfB.Any()).Any(), "S(0) R"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := op.CastAs[num.BF16](gathered(t, r).Any()), op.MatMul(half, halfB); !slices.Equal(got.Elems(), want.Elems()) {
		t.Errorf("in float32 and rounded once: %v, want %v", got, want)
	}
}

// The same parts have the same sum on every wiring, and for every place where they meet.
func TestWires(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint32().Draw(t, "seed")
		to := rapid.SampledFrom([]string{"R", "S(0)", "S(1)"}).Draw(t, "to")
		how := rapid.SampledFrom([]string{"P(sum)", "P(max)"}).Draw(t, "how")
		var first tensor.Tensor[float32]
		for _, wires := range []string{"8", "ring8", "2x4", "ring4xring2", "2x2x2"} {
			m, err := grid.ParseMesh("x=8 on " + wires)
			if err != nil {
				t.Fatal(err)
			}
			d, err := Open(m, device.Wormhole())
			if err != nil {
				t.Fatal(err)
			}
			parts := make([]tensor.Any, 8)
			for i := range parts {
				parts[i] = noise(seed+uint32(i), 9, 5).Any()
			}
			from, _ := m.ParsePlacement(how)
			on, _ := m.ParsePlacement(to)
			x, err := FromParts(d, []int{9, 5}, from, parts...)
			if err != nil {
				t.Fatal(err)
			}
			y, _, err := x.To(on...)
			if err != nil {
				t.Fatal(err)
			}
			all, err := y.Gather()
			if err != nil {
				t.Fatal(err)
			}
			f, _ := tensor.As[float32](all)
			if first.IsZero() {
				first = f
			} else if n := differ(first, f); n > 0 {
				t.Fatalf("%s to %s on %s: %d other elements", how, to, wires, n)
			}
		}
	})
}

// Distribute and Gather move as many bytes as they must, and a transfer reads and writes the devices' memory.
func TestHostBytes(t *testing.T) {
	d := open(t, "x=2,y=4 on 2xring4")
	traffic := func() (sum device.Traffic) {
		for i := range d.Mesh().Len() {
			n := d.Device(i).Traffic()
			sum.ToDevice += n.ToDevice
			sum.ToHost += n.ToHost
			d.Device(i).ResetTraffic()
		}
		return sum
	}
	x := noise(3, 129, 8)
	size := int64(4 * x.Len())
	for _, c := range []struct {
		on     string
		copies int64
	}{{"S(0) R", 4}, {"R R", 8}, {"S(0) S(1)", 1}, {"S(0) S(0)", 1}} {
		y := spread(t, d, x.Any(), c.on)
		if n := traffic(); n.ToDevice != c.copies*size || n.ToHost != 0 {
			t.Errorf("%s: %+v, want %d bytes", c.on, n, c.copies*size)
		}
		if n := differ(gathered(t, y), x); n > 0 {
			t.Errorf("%s: %d elements changed", c.on, n)
		}
		if n := traffic(); n.ToHost != size || n.ToDevice != 0 {
			t.Errorf("gather of %s: %+v, want %d bytes", c.on, n, size)
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// Of 200 pairs of placements on eight wirings, the bytes stand beside the bound.
func TestPairs(t *testing.T) {
	wires := []string{"x=8 on 8", "x=8 on ring8", "x=2,y=4 on 2x4", "x=2,y=4 on ring8", "x=4,y=4 on ring4xring4", "x=2,y=2,z=2 on 2x2x2", "x=16 on 4x4", "x=32 on 4xring8"}
	type row struct{ pairs, reached, bytes, bound int }
	rows := map[string]*row{}
	seed := uint32(61)
	draw := func(n int) int {
		seed = seed*1664525 + 1013904223
		return int(seed>>16) % n
	}
	worst := 1.0
	for pair := range 200 {
		m, err := grid.ParseMesh(wires[pair%len(wires)])
		if err != nil {
			t.Fatal(err)
		}
		shape := []int{64 + 65*draw(2), 96}
		from, to := make([]grid.OnAxis, len(m.Axes)), make([]grid.OnAxis, len(m.Axes))
		for i := range from {
			from[i] = []grid.OnAxis{{}, {Kind: grid.Sharded}, {Kind: grid.Sharded, Axis: 1}, {Kind: grid.PartialSum}}[draw(4)]
			to[i] = []grid.OnAxis{{}, {Kind: grid.Sharded}, {Kind: grid.Sharded, Axis: 1}, from[i]}[draw(4)]
		}
		e, err := m.Plan(shape, 4, from, to)
		if err != nil {
			t.Fatal(err)
		}
		if e.Bytes < e.Bound {
			t.Fatalf("%v: %v to %v: %d bytes, and no plan has fewer than %d", m, from, to, e.Bytes, e.Bound)
		}
		r := rows[e.Name]
		if r == nil {
			r = &row{}
			rows[e.Name] = r
		}
		r.pairs++
		r.bytes += e.Bytes
		r.bound += e.Bound
		if e.Bytes == e.Bound {
			r.reached++
		} else {
			worst = max(worst, float64(e.Bytes)/float64(e.Bound))
		}
	}
	var lines []string
	for name, r := range rows {
		lines = append(lines, fmt.Sprintf("| %s | %d | %d | %d | %d |", name, r.pairs, r.reached, r.bytes, r.bound))
	}
	slices.Sort(lines)
	table := strings.Join(lines, "\n") + "\n"
	end := fmt.Sprintf("%.2f times the bound", worst)
	page, err := os.ReadFile("../../docs/devices.md")
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.ReplaceAll(string(page), "\r\n", "\n"); !strings.Contains(text, table) || !strings.Contains(text, end) {
		t.Errorf("docs/devices.md has another table than\n%sworst %s", table, end)
	}
}
