package judge

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/layout"
)

func mustAxes(t testing.TB, s string) Axes {
	t.Helper()
	a, err := ParseAxes(s)
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return a
}

// placesOf evaluates the definition: a text for each place, with the axes that aren't 0 in alphabetical order.
func placesOf(a Axes, x int) []string {
	place := map[string]int{}
	for k := len(a.shard) - 1; k >= 0; k-- {
		place[a.shard[k].axis] += x % a.shard[k].extent * a.shard[k].stride
		x /= a.shard[k].extent
	}
	for _, o := range a.offset {
		place[o.axis] += o.stride
	}
	all := map[string]bool{}
	var copies func(k int)
	copies = func(k int) {
		if k == len(a.replica) {
			var parts []string
			for axis, v := range place {
				if v != 0 {
					parts = append(parts, fmt.Sprintf("%s=%d", axis, v))
				}
			}
			slices.Sort(parts)
			all[strings.Join(parts, " ")] = true
			return
		}
		for j := range a.replica[k].extent {
			place[a.replica[k].axis] += j * a.replica[k].stride
			copies(k + 1)
			place[a.replica[k].axis] -= j * a.replica[k].stride
		}
	}
	copies(0)
	var list []string
	for p := range all {
		list = append(list, p)
	}
	slices.Sort(list)
	return list
}

// told is the places that Owners tells, as placesOf writes them.
func told(t *testing.T, a Axes, x int) []string {
	t.Helper()
	list, err := a.Owners(x)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range list {
		var parts []string
		for k, name := range a.Names() {
			if p[k] != 0 {
				parts = append(parts, fmt.Sprintf("%s=%d", name, p[k]))
			}
		}
		slices.Sort(parts)
		out = append(out, strings.Join(parts, " "))
	}
	slices.Sort(out)
	return out
}

// The accumulator of mma.m16n8 in TIRx's notation has the places of the PTX ISA: element (i,j) is of lane 4·(i mod 8) + j/2,
// register 2·(i/8) + j mod 2.
func TestAxesOfInstruction(t *testing.T) {
	a := mustAxes(t, "S[(2,8,4,2):(2,4@laneid,1@laneid,1)]")
	for x := range 128 {
		i, j := x/8, x%8
		want := map[string]int{"laneid": 4*(i%8) + j/2, "m": 2*(i/8) + j%2}
		got, err := a.Owners(x)
		if err != nil || len(got) != 1 {
			t.Fatal(got, err)
		}
		for k, name := range a.Names() {
			if got[0][k] != want[name] {
				t.Fatalf("element (%d,%d): %v on %v, want %v", i, j, got[0], a.Names(), want)
			}
		}
	}
	tv, err := a.Threads([]int{16, 8}, "laneid")
	if err != nil || tv.String() != "((4,8),(2,2)):((32,1),(16,8))" {
		t.Errorf("%v, %v; CuTe's is ((4,8),(2,2)):((32,1),(16,8))", tv, err)
	}
	l, err := a.Linear(16, 8)
	if want := "{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []}"; err != nil || l.String() != want {
		t.Errorf("%v, %v; Triton's is %s", l, err, want)
	}
}

func randomAxes(r *rand.Rand) Axes {
	var a Axes
	axes := []string{"m", "m", "laneid", "warpid", "tx"}
	for range 1 + r.IntN(4) {
		a.shard = append(a.shard, iter{pick(r, 1, 2, 2, 3, 4, 8), pick(r, 0, 1, 1, 2, 4, 8, -1), pick(r, axes...)})
	}
	for range r.IntN(3) {
		a.replica = append(a.replica, iter{pick(r, 1, 2, 3, 4), pick(r, 0, 1, 4, 16, -2), pick(r, axes...)})
	}
	for range r.IntN(3) {
		a.offset = append(a.offset, iter{1, pick(r, 0, 5, 16, -1), pick(r, axes...)})
	}
	a, err := a.tidy("test")
	if err != nil {
		panic(err)
	}
	return a
}

// Random layouts print and read back, have the owners of the definition, and compose as functions.
func TestAxes(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 4))
	composed, refused, copied := 0, 0, 0
	for n := 0; n < *cases/4; n++ {
		a := randomAxes(r)
		again := mustAxes(t, a.String())
		if again.String() != a.String() || again.Size() != a.Size() {
			t.Fatalf("%v reads back as %v", a, again)
		}
		low, high := a.Span()
		least, most := slices.Clone(high), slices.Clone(low)
		for x := range a.Size() {
			for _, p := range a.owners(a.Names(), x) {
				for k, v := range p {
					least[k], most[k] = min(least[k], v), max(most[k], v)
				}
			}
			if want := placesOf(a, x); !slices.Equal(told(t, again, x), want) {
				t.Fatalf("%v at %d: %v, want %v", a, x, told(t, again, x), want)
			} else if len(want) > 1 {
				copied++
			}
		}
		if !slices.Equal(low, least) || !slices.Equal(high, most) {
			t.Fatalf("%v spans %v to %v, want %v to %v", a, low, high, least, most)
		}
		var ext, str []int
		for range 1 + r.IntN(3) {
			ext, str = append(ext, pick(r, 1, 2, 2, 3, 4)), append(str, pick(r, 0, 1, 1, 2, 3, 4, 8))
		}
		in, err := layout.New(ext, str)
		if err != nil {
			t.Fatal(err)
		}
		b, err := layout.NewComposed(layout.Swizzle{}, r.IntN(3), in)
		if err != nil {
			t.Fatal(err)
		}
		at := func(y int) int { // b(y), row-major
			off := b.Base()
			for k := len(ext) - 1; k >= 0; k-- {
				off += y % ext[k] * str[k]
				y /= ext[k]
			}
			return off
		}
		m, err := a.Compose(b)
		_, hi := in.Span()
		var bad *Mismatch
		switch {
		case hi+b.Base() >= a.Size():
			if !errors.Is(err, layout.ErrRange) {
				t.Fatalf("%v ∘ %v: %v, %v", a, b, m, err)
			}
			continue
		case errors.As(err, &bad):
			refused++
			refuses(t, a, ext, func(y int) []int { return a.base(a.Names(), at(y)) }, bad)
			continue
		case errors.Is(err, ErrNone):
			refused++
			continue
		case err != nil:
			t.Fatal(err)
		}
		composed++
		if m.Size() != in.Size() {
			t.Fatalf("%v ∘ %v = %v", a, b, m)
		}
		for y := range m.Size() {
			if got, want := told(t, m, y), placesOf(a, at(y)); !slices.Equal(got, want) {
				t.Fatalf("%v ∘ %v = %v: at %d %v, want %v", a, b, m, y, got, want)
			}
		}
	}
	t.Logf("%d composed, %d refused, %d elements with copies", composed, refused, copied)
	if composed == 0 || refused == 0 || copied == 0 {
		t.Error("the cases are too much alike")
	}
}

// refuses checks the element at which a composition has no layout: on some axis no strides agree up to it, and some do before;
// or it moves on two axes from element 0.
func refuses(t *testing.T, a Axes, ext []int, f func(int) []int, bad *Mismatch) {
	t.Helper()
	back := slices.Clone(ext)
	slices.Reverse(back)
	moves, fails := 0, false
	for k := range a.Names() {
		on := func(y int) int { return f(y)[k] }
		if on(bad.Index) != on(0) {
			moves++
		}
		fails = fails || !fits(layout.Ints(back...), on, bad.Index) && fits(layout.Ints(back...), on, bad.Index-1)
	}
	if twice := strings.Contains(bad.Reason, "at once"); twice && moves < 2 || !twice && !fails {
		t.Fatalf("%v over %v: %v", a, ext, bad)
	}
}

// Every shard is found again from its places, whatever the shape is that cuts it.
func TestAxesFound(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 5))
	for n := 0; n < *cases/4; n++ {
		a := randomAxes(r)
		for k := range a.replica {
			a.replica[k].stride = max(a.replica[k].stride, -a.replica[k].stride)
		}
		names := a.Names()
		places := make([][][]int, a.Size())
		for x := range places {
			places[x] = a.owners(names, x)
		}
		got, err := owned("test", []int{a.Size()}, names, places)
		if err != nil {
			var bad *Mismatch
			if !errors.Is(err, ErrNone) && !errors.As(err, &bad) {
				t.Fatal(err)
			}
			if len(a.replica) == 0 { // a shard alone always has its strides, in another form at most
				t.Fatalf("%v: %v", a, err)
			}
			continue
		}
		for x := range places {
			if !slices.Equal(told(t, got, x), placesOf(a, x)) {
				t.Fatalf("%v is found as %v, which differs at %d", a, got, x)
			}
		}
	}
}

// Random distributed layouts of Triton go to named axes and back to the same map.
func TestAxesOfLinear(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 6))
	back, copied, refused := 0, 0, 0
	for n := 0; n < *cases; n++ {
		in := []Dim{{"register", r.IntN(4)}, {"lane", r.IntN(4)}, {"warp", r.IntN(3)}}
		bits := in[0].Bits + in[1].Bits + in[2].Bits
		spare := r.IntN(3)
		out := []Dim{{"dim0", r.IntN(bits + 1)}, {"dim1", 0}}
		out[1].Bits = max(0, bits-spare-out[0].Bits)
		total := out[0].Bits + out[1].Bits
		var cols []uint64
		for _, p := range r.Perm(bits) {
			col := uint64(0)
			if p < total {
				col = 1 << p
			}
			if r.IntN(40) == 0 {
				col = r.Uint64N(1 << total)
			}
			cols = append(cols, col)
		}
		l, err := NewLinear(in, out, cols)
		if err != nil {
			t.Fatal(err)
		}
		a, err := AxesOfLinear(l)
		if err != nil {
			var bad *Mismatch
			if !errors.As(err, &bad) && !errors.Is(err, ErrNone) {
				t.Fatal(err)
			}
			if plainBits(cols, total) {
				t.Fatalf("%v: %v", l, err)
			}
			refused++
			continue
		}
		if len(a.replica) > 0 {
			copied++
		}
		for x := range a.Size() {
			var want []string
			for i := range 1 << bits {
				y := int(l.At(uint64(i)))
				if y&(1<<out[0].Bits-1)<<out[1].Bits|y>>out[0].Bits != x {
					continue
				}
				var parts []string
				for k, v := range []int{i & (1<<in[0].Bits - 1), i >> in[0].Bits & (1<<in[1].Bits - 1), i >> (in[0].Bits + in[1].Bits)} {
					if v != 0 {
						parts = append(parts, fmt.Sprintf("%s=%d", []string{"m", "laneid", "warpid"}[k], v))
					}
				}
				slices.Sort(parts)
				want = append(want, strings.Join(parts, " "))
			}
			slices.Sort(want)
			if !slices.Equal(told(t, a, x), want) {
				t.Fatalf("%v is %v: element %d has %v, want %v", l, a, x, told(t, a, x), want)
			}
		}
		again, err := a.Linear(1<<out[0].Bits, 1<<out[1].Bits)
		if err != nil {
			t.Fatalf("%v is %v: %v", l, a, err)
		}
		if again.String() != l.String() {
			t.Fatalf("%v is %v, and back %v", l, a, again)
		}
		back++
	}
	t.Logf("%d there and back, %d with copies, %d refused", back, copied, refused)
	if back == 0 || copied == 0 || refused == 0 {
		t.Error("the cases are too much alike")
	}
}

// plainBits reports whether the columns are different bits, and nothing else but 0.
func plainBits(cols []uint64, total int) bool {
	seen := uint64(0)
	for _, c := range cols {
		if c&(c-1) != 0 || seen&c != 0 {
			return false
		}
		seen |= c
	}
	return seen == 1<<total-1
}

// Random thread–value layouts go to named axes and back to the same function; the owners are those of the layout.
func TestAxesOfThreads(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 7))
	back, copied, refused := 0, 0, 0
	for n := 0; n < *cases; n++ {
		shape := []int{pick(r, 1, 2, 4, 6, 8), pick(r, 1, 2, 3, 4, 8)}
		// The leaves of the tile in any order: threads first, then values; and threads that hold the same.
		type leaf struct{ e, s int }
		var leaves []leaf
		step := 1
		for _, e := range shape {
			for _, f := range []int{2, 2, 2, 3} {
				if e%f == 0 && e > 1 {
					leaves = append(leaves, leaf{f, step})
					step, e = step*f, e/f
				}
			}
			if e > 1 {
				leaves = append(leaves, leaf{e, step})
				step *= e
			}
		}
		r.Shuffle(len(leaves), func(i, j int) { leaves[i], leaves[j] = leaves[j], leaves[i] })
		cut := r.IntN(len(leaves) + 1)
		mode := func(list []leaf) layout.Layout {
			ext, str := []int{}, []int{}
			for _, l := range list {
				ext, str = append(ext, l.e), append(str, l.s)
			}
			l, err := layout.New(ext, str)
			if err != nil {
				t.Fatal(err)
			}
			return l.Coalesce() // 1:0 without leaves
		}
		threads := slices.Clone(leaves[:cut])
		if r.IntN(3) == 0 {
			threads = slices.Insert(threads, r.IntN(len(threads)+1), leaf{2, 0})
		}
		tv, err := layout.Join(mode(threads), mode(leaves[cut:]))
		if err != nil {
			t.Fatal(err)
		}
		lanes := 1
		for _, l := range threads[:r.IntN(len(threads)+1)] {
			lanes *= l.e
		}
		axes := []Extent{{"laneid", lanes}, {"warpid", tv.Dim(0) / lanes}}
		a, err := AxesOfThreads(tv, shape, axes...)
		if err != nil {
			var bad *Mismatch
			if !errors.As(err, &bad) && !errors.Is(err, ErrNone) {
				t.Fatalf("%v: %v", tv, err)
			}
			refused++
			continue
		}
		if len(a.replica) > 0 {
			copied++
		}
		holders := map[int][]string{}
		for i := range tv.Size() {
			x, _ := tv.Offset(i)
			th, v := i%tv.Dim(0), i/tv.Dim(0)
			var parts []string
			for k, w := range []int{th % lanes, v, th / lanes} {
				if w != 0 {
					parts = append(parts, fmt.Sprintf("%s=%d", []string{"laneid", "m", "warpid"}[k], w))
				}
			}
			y := x%shape[0]*shape[1] + x/shape[0]
			holders[y] = append(holders[y], strings.Join(parts, " "))
		}
		for x := range a.Size() {
			slices.Sort(holders[x])
			if !slices.Equal(told(t, a, x), holders[x]) {
				t.Fatalf("%v over %v is %v: element %d has %v, want %v", tv, axes, a, x, told(t, a, x), holders[x])
			}
		}
		again, err := a.Threads(shape, "laneid", "warpid")
		if err != nil {
			t.Fatalf("%v is %v: %v", tv, a, err)
		}
		if again.Size() != tv.Size() {
			t.Fatalf("%v is %v, and back %v", tv, a, again)
		}
		for i := range tv.Size() {
			x, _ := tv.Offset(i)
			if y, _ := again.Offset(i); x != y {
				t.Fatalf("%v is %v, and back %v: at %d %d, not %d", tv, a, again, i, y, x)
			}
		}
		back++
	}
	t.Logf("%d there and back, %d with copies, %d refused", back, copied, refused)
	if back == 0 || copied == 0 {
		t.Error("the cases are too much alike")
	}
}

// Random placements on a mesh have the devices of the definition, and come back.
func TestAxesOfMesh(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 8))
	for n := 0; n < *cases/2; n++ {
		shape := []int{pick(r, 2, 4, 8, 12), pick(r, 1, 4, 6, 8)}
		mesh := []Split{{Extent{"row", pick(r, 1, 2, 2, 3)}, pick(r, -1, 0, 0, 1)}, {Extent{"col", pick(r, 2, 4)}, pick(r, -1, 0, 1, 1)}}
		left := slices.Clone(shape)
		even := true
		for _, s := range mesh {
			if s.Of >= 0 {
				even = even && left[s.Of]%s.Size == 0
				left[s.Of] /= s.Size
			}
		}
		a, err := AxesOfMesh(shape, mesh...)
		if !even {
			if !errors.Is(err, layout.ErrDivide) {
				t.Fatalf("%v over %+v: %v", shape, mesh, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for x := range a.Size() {
			part := []int{x / shape[1], x % shape[1]}
			size := slices.Clone(shape)
			places := []map[string]int{{}}
			for _, s := range mesh {
				if s.Of >= 0 {
					size[s.Of] /= s.Size
					for _, p := range places {
						p[s.Name] = part[s.Of] / size[s.Of]
					}
					part[s.Of] %= size[s.Of]
					continue
				}
				var all []map[string]int
				for _, p := range places {
					for j := range s.Size {
						q := map[string]int{s.Name: j}
						for k, v := range p {
							q[k] = v
						}
						all = append(all, q)
					}
				}
				places = all
			}
			var want []string
			for _, p := range places {
				p["m"] = part[0]*size[1] + part[1]
				var parts []string
				for name, v := range p {
					if v != 0 {
						parts = append(parts, fmt.Sprintf("%s=%d", name, v))
					}
				}
				slices.Sort(parts)
				want = append(want, strings.Join(parts, " "))
			}
			slices.Sort(want)
			if !slices.Equal(told(t, a, x), want) {
				t.Fatalf("%v over %+v is %v: element %d has %v, want %v", shape, mesh, a, x, told(t, a, x), want)
			}
		}
		back, err := a.Mesh(shape...)
		if err != nil {
			t.Fatalf("%v over %+v is %v: %v", shape, mesh, a, err)
		}
		again, err := AxesOfMesh(shape, back...)
		if err != nil {
			t.Fatal(err)
		}
		for x := range a.Size() {
			if !slices.Equal(told(t, again, x), told(t, a, x)) {
				t.Fatalf("%v over %+v is %v, and back %+v", shape, mesh, a, back)
			}
		}
		for _, s := range mesh {
			if s.Size > 1 && !slices.Contains(back, s) {
				t.Fatalf("%v over %+v is %v, and back %+v", shape, mesh, a, back)
			}
		}
	}
}

func TestAxesRefuse(t *testing.T) {
	for _, s := range []string{"", "S", "S[", "S[]", "S[():()]", "S[0:1]", "S[-1:1]", "S[(2,2):(1)]", "S[(2,2):(1,2,3)]", "S[2:1@]", "S[2:1@5x]", "S[2:1] S[2:1]", "S[2:1] + S[2:1]", "R[2]", "S[2:1] + ", "5@", "S[(9223372036854775807,2):(1,1)]",
		"S[2:9223372036854775807]", "S[9223372036854775807:9223372036854775807]", "9223372036854775807 + 9223372036854775807", strings.Repeat("1+", 40) + "1", "S[(" + strings.Repeat("1,", 40) + "1)]", "S[99999999999999999999]"} {
		if a, err := ParseAxes(s); err == nil {
			t.Errorf("%q is read as %v", clip(s), a)
		} else if strings.Contains(err.Error(), `before ""`) {
			t.Errorf("%q: %v; it doesn't say where", clip(s), err)
		}
	}
	a := mustAxes(t, "S[(4,4):(1@laneid,1)]")
	for _, tc := range []struct {
		b    string
		want string
	}{
		{"(4,4):(5,1)", "reaches element 16"},
		{"4:5", "moves on the axes"}, // the diagonal
		{"8:3", "reaches element 18"},
		{"(2,3):(1,6)", "no strides on axis"}, // elements 0 6 12, 1 7 13
		{"(1024,1024):(0,0)", "more than"},
	} {
		if m, err := a.Compose(mustEval(t, tc.b)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v ∘ %s: %v, %v", a, tc.b, m, err)
		}
	}
	if _, err := a.Owners(16); !errors.Is(err, layout.ErrRange) {
		t.Error(err)
	}
	if _, err := a.Owners(-1); !errors.Is(err, layout.ErrRange) {
		t.Error(err)
	}
	if _, err := mustAxes(t, "S[2:1] + R[(4096,4096):(1@x,1@y)]").Owners(0); !errors.Is(err, layout.ErrLimit) {
		t.Error(err)
	}
	if _, err := a.Threads([]int{4, 4}); err == nil || !strings.Contains(err.Error(), "beside the threads") {
		t.Error(err)
	}
	if _, err := a.Threads([]int{4, 8}, "laneid"); !errors.Is(err, layout.ErrShape) {
		t.Error(err)
	}
	if _, err := mustAxes(t, "S[(4,4):(2@laneid,1)]").Threads([]int{4, 4}, "laneid"); err == nil || !strings.Contains(err.Error(), "no element is at place (1,0)") {
		t.Error(err)
	}
	if _, err := mustAxes(t, "S[(4,4):(0@laneid,1)]").Threads([]int{4, 4}, "laneid"); err == nil || !strings.Contains(err.Error(), "at one place") {
		t.Error(err)
	}
	if _, err := mustAxes(t, "S[(3,4):(1@laneid,1)]").Linear(3, 4); err == nil || !strings.Contains(err.Error(), "no power of two") {
		t.Error(err)
	}
	if _, err := AxesOfMesh([]int{129, 64}, Split{Extent{"row", 2}, 0}); !errors.Is(err, layout.ErrDivide) || !strings.Contains(err.Error(), "129") {
		t.Error(err)
	}
	for _, mesh := range [][]Split{{{Extent{"m", 2}, 0}}, {{Extent{"x", 2}, 2}}, {{Extent{"x", 2}, 0}, {Extent{"x", 2}, -1}}, {{Extent{"x", 0}, -1}}} {
		if _, err := AxesOfMesh([]int{4, 4}, mesh...); !errors.Is(err, layout.ErrAxis) {
			t.Errorf("%v: %v", mesh, err)
		}
	}
	if mesh, err := mustAxes(t, "S[(4,4):(1@row,1)] + 1@row").Mesh(4, 4); err == nil {
		t.Error(mesh)
	}
	var zero Axes
	if zero.Size() != 1 || zero.String() != "S[1:0]" {
		t.Error(zero)
	}
}

// FuzzParseAxes wants an error or a layout that prints and reads back.
func FuzzParseAxes(f *testing.F) {
	for _, s := range []string{"S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)] + R[2:4@warpid] + 5@m", "TileLayout(S[4, 8])", "R[(4):(32@TLane)]", "5@m + -3", "{register = [[0, 1], [8, 0]], lane = [[0, 2]]}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := ParseAxes(text)
		if err != nil {
			return
		}
		again, err := ParseAxes(a.String())
		if err != nil || again.String() != a.String() {
			t.Fatalf("%q: %v, %v, %v", text, a, again, err)
		}
		_, _ = a.Owners(a.Size() - 1)
		_, _ = a.Compose(Plain(layout.MustParse("(2,2):(1,2)")))
		_, _ = a.Threads([]int{a.Size()}, "laneid")
		_, _ = a.Linear(a.Size())
		_, _ = a.Mesh(a.Size())
	})
}

// Layouts of coordinates are read as CuTe and its DSL print them: each element has the coordinate that CuTe's rule gives it.
func TestBases(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"(128,32):(1@0,1@1)", "S[(128,32):(1@0,1@1)]"},
		{"(0, 8) o (64, 32):(1@0, 1@1)", "S[(64,32):(1@0,1@1)] + 8@1"},
		{"((64,2),(8,4)):((1@0,64@0),(1@1,8@1))", "S[(2,64,4,8):(64@0,1@0,8@1,1@1)]"},
		{"ArithTuple(0,_0) o (((_64,_8),1)):(((_1@0,_1@1),_64@1))", "S[(1,8,64):(64@1,1@1,1@0)]"},
		{`!cute.layout<"(64,256):(1@0,1@1)">`, "S[(64,256):(1@0,1@1)]"},
		{`!cute.coord_tensor<"(0,5)", "(64,1):(1@0,1@1)">`, "S[(64,1):(1@0,1@1)] + 5@1"},
		{"(4,2):(1@1,0)", "S[(4,2):(1@1,0)]"},
	} {
		a, err := ParseAxes(c.text)
		if err != nil || a.String() != c.want {
			t.Errorf("%s: %v, %v, want %s", c.text, a, err, c.want)
			continue
		}
		again, err := ParseAxes(a.String())
		if err != nil || again.String() != c.want {
			t.Errorf("%s read again: %v, %v", c.want, again, err)
		}
	}
	a, err := ParseAxes("((64,2),32):((1@0,64@0),1@1)")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 128 {
		for j := range 32 {
			got, err := a.Owners(i*32 + j)
			if err != nil || len(got) != 1 || !slices.Equal(got[0], []int{i, j}) {
				t.Fatalf("(%d,%d) is %v, %v", i, j, got, err)
			}
		}
	}
	for _, c := range []struct{ text, want string }{
		{"(4,?):(1@0,1@1)", "dynamic"}, {"(4,2):(1@0@1,1)", "want one axis"}, {"(4,2):(1@0,1@99)", "want one axis"}, {"(4,2):(1@0,(1@1,2@1))", "nests otherwise"},
		{"(4,2):(1@0)", "2 modes and 1 strides"}, {"((1,2),3) o (4,2):(1@0,1@1)", "nested numbers"}, {"(4,2)", "want ':'"}, {"(4,2):(1@0,1@1) x", "want the end"},
		{`!cute.tile<"[1;2]">`, "want a layout in quotes"}, {"(", "want a number"}, {"(4", "want ','"}, {strings.Repeat("(", 100), "brackets"}, {"(0,2):(1@0,1@1)", "at least 1"},
		{"S[2:1@2x]", "name of an axis"}, {"S[(2", "want ',' or ')' at the end"}, {"S[(2]", `want ',' or ')' before "]"`},
	} {
		if a, err := ParseAxes(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v, want %q", c.text, a, err, c.want)
		}
	}
}
