package judge

import (
	"errors"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/pack"
)

// Random layouts to matrices and random matrices to layouts: each answer holds at every
// coordinate, each refusal at the coordinate it names.
func TestLinear(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	exact, back, refused, refusedBack := 0, 0, 0, 0
	for n := 0; n < *cases; n++ {
		var ext, str []int
		free := r.Perm(8)
		for range 1 + r.IntN(3) {
			e := r.IntN(4)
			ext = append(ext, 1<<e)
			if r.IntN(3) == 0 || len(free) < 1 {
				str = append(str, pick(r, 0, 1, 2, 3, 4, 8, 5, 16, 12))
			} else {
				str = append(str, 1<<free[0])
				free = free[1:]
			}
		}
		if r.IntN(20) == 0 {
			ext[0] = 3
		}
		in, err := layout.New(ext, str)
		if err != nil {
			t.Fatal(err)
		}
		w := layout.Swizzle{}
		if r.IntN(2) == 0 {
			b := r.IntN(3)
			w, _ = layout.NewSwizzle(b, r.IntN(3), pick(r, 1, -1)*(b+r.IntN(3)))
		}
		c, err := layout.NewComposed(w, pick(r, 0, 0, 0, 0, 0, 0, 0, 3), in)
		if err != nil {
			t.Fatal(err)
		}
		l, err := LinearOf(c)
		if err != nil {
			var bad *Mismatch
			if !errors.As(err, &bad) {
				t.Fatal(err)
			}
			refused++
			if bad.Index == c.Size() { // an extent that is no power of two
				continue
			}
			// The map of the bases is right before the coordinate, and wrong at it.
			for i := 0; i <= bad.Index; i++ {
				off, _ := c.Offset(i)
				xor := 0
				for k := range 20 {
					if i>>k&1 == 1 {
						o, _ := c.Offset(1 << k)
						xor ^= o
					}
				}
				if (off == xor) != (i != bad.Index) {
					t.Fatalf("%v: %v, but at %d %d and %d", c, err, i, off, xor)
				}
			}
			continue
		}
		exact++
		for i := range c.Size() {
			if off, _ := c.Offset(i); int(l.At(uint64(i))) != off {
				t.Fatalf("%v is not %v at %d", c, l, i)
			}
		}
		again, err := l.Layout()
		if err != nil {
			t.Fatalf("%v → %v → %v", c, l, err)
		}
		for i := range c.Size() {
			a, _ := c.Offset(i)
			b, _ := again.Offset(i)
			if a != b {
				t.Fatalf("%v → %v → %v differ at %d", c, l, again, i)
			}
		}
	}
	for n := 0; n < *cases; n++ {
		k, m := 1+r.IntN(6), 1+r.IntN(6)
		cols := make([]uint64, k)
		for i := range cols {
			cols[i] = r.Uint64N(1 << m)
			if r.IntN(2) == 0 {
				cols[i] = 1 << r.IntN(m)
			}
		}
		if n%2 == 0 { // strides under a swizzle
			w := pick(r, swizzles(m)...)
			for i, p := range r.Perm(max(k, m))[:k] {
				if cols[i] = uint64(w.At(1 << p)); p >= m {
					cols[i] = 0
				}
			}
		}
		first := r.IntN(k + 1)
		l, err := NewLinear([]Dim{{"a", first}, {"b", k - first}}, []Dim{{"offset", m}}, cols)
		if err != nil {
			t.Fatal(err)
		}
		c, err := l.Layout()
		if err != nil {
			var bad *Mismatch
			if !errors.As(err, &bad) {
				t.Fatal(err)
			}
			refusedBack++
			// Sums of images are their XOR before the coordinate, and not at it; nor under any swizzle.
			sums := func(w layout.Swizzle) (first int) {
				for i := range 1 << k {
					sum, xor := 0, 0
					for b := range k {
						if i>>b&1 == 1 {
							sum += w.At(int(cols[b]))
							xor ^= w.At(int(cols[b]))
						}
					}
					if sum != xor {
						return i
					}
				}
				return -1
			}
			if got := sums(layout.Swizzle{}); got != bad.Index {
				t.Fatalf("%v: %v, the first is %d", l, err, got)
			}
			for _, w := range swizzles(m) {
				if sums(w) < 0 {
					t.Fatalf("%v: %v takes the images apart", l, w)
				}
			}
			continue
		}
		back++
		for i := range 1 << k {
			if off, err := c.Offset(i); err != nil || uint64(off) != l.At(uint64(i)) {
				t.Fatalf("%v → %v differ at %d: %v", l, c, i, err)
			}
		}
		if f, err := l.Inverse(); err == nil {
			for i := range uint64(1 << k) {
				if f.At(l.At(i)) != i {
					t.Fatalf("%v: inverse %v at %d", l, f, i)
				}
			}
		} else if rank := rankOf(cols); rank == k && rank == m {
			t.Fatalf("%v has an inverse: %v", l, err)
		}
		p, err := ParseLinear(l.String())
		if err != nil || p.String() != l.String() {
			t.Fatalf("%v reads as %v: %v", l, p, err)
		}
	}
	t.Logf("layouts: %d exact, %d refused; matrices: %d exact, %d refused", exact, refused, back, refusedBack)
	for _, n := range []int{exact, refused, back, refusedBack} {
		if n*20 < *cases {
			t.Errorf("%d of %d cases", n, *cases)
		}
	}
}

func rankOf(cols []uint64) (n int) {
	c := append([]uint64{}, cols...)
	for i := range c {
		if c[i] == 0 {
			continue
		}
		n++
		for j := i + 1; j < len(c); j++ {
			if c[j]>>(bits.Len64(c[i])-1)&1 == 1 {
				c[j] ^= c[i]
			}
		}
	}
	return n
}

func randomLayout(r *rand.Rand, rank int, ext, str []int) layout.Layout {
	for {
		var parts []string
		var strides []string
		for range 1 + r.IntN(rank) {
			if r.IntN(4) == 0 {
				a, b := pick(r, ext...), pick(r, ext...)
				parts = append(parts, layout.Ints(a, b).String())
				strides = append(strides, layout.Ints(pick(r, str...), pick(r, str...)).String())
				continue
			}
			parts = append(parts, layout.Int(pick(r, ext...)).String())
			strides = append(strides, layout.Int(pick(r, str...)).String())
		}
		l, err := layout.Parse("(" + strings.Join(parts, ",") + "):(" + strings.Join(strides, ",") + ")")
		if err == nil && l.Size() <= 200 {
			return l
		}
	}
}

// A table has a layout exactly when Fit finds one, and none agrees further than it says.
func TestFit(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	fits, breaks := 0, 0
	for n := 0; n < *cases; n++ {
		l := randomLayout(r, 3, []int{1, 2, 3, 4, 6}, []int{0, 1, 2, 3, 4, 6, 12, -1})
		shape := l.Extents()
		if r.IntN(2) == 0 {
			shape = layout.Int(l.Size()) // as one mode, which may have to split
		}
		table := make([]int, l.Size())
		for i := range table {
			table[i], _ = l.Offset(i)
			table[i] += 7
		}
		broken := r.IntN(2) == 0 && l.Size() > 1
		if broken {
			table[1+r.IntN(l.Size()-1)] += pick(r, 1, -1, 5)
		}
		got, base, err := Fit(shape, func(i int) int { return table[i] })
		if err == nil {
			fits++
			for i, want := range table {
				if off, err := got.Offset(i); err != nil || off+base != want {
					t.Fatalf("%v of %v at %d: %d, not %d", got, table, i, off+base, want)
				}
			}
			continue
		}
		if !broken {
			t.Fatalf("%v: %v", l, err)
		}
		var bad *Mismatch
		if !errors.As(err, &bad) {
			t.Fatal(err)
		}
		breaks++
		if l.Size() > 24 {
			continue
		}
		// No layout agrees up to the coordinate, and one agrees before it.
		if farthest := agrees(shape, table); farthest != bad.Index {
			t.Fatalf("%v, %v: %v, but layouts agree before %d", shape, table, err, farthest)
		}
	}
	if fits < *cases/4 || breaks < *cases/20 {
		t.Errorf("%d fit, %d don't", fits, breaks)
	}
}

// agrees returns the first coordinate at which every layout of a shape differs from a
// table, by trying every nesting of every leaf.
func agrees(shape layout.Tuple, table []int) int {
	ext, _ := shape.Flatten()
	var chains func(n int) [][]int
	chains = func(n int) [][]int {
		list := [][]int{{n}}
		for d := 2; d < n; d++ {
			if n%d == 0 {
				for _, c := range chains(n / d) {
					list = append(list, append([]int{d}, c...))
				}
			}
		}
		return list
	}
	best := 0
	var flat []int
	var try func(k int)
	try = func(k int) {
		if k < len(ext) {
			for _, c := range chains(ext[k]) {
				n := len(flat)
				flat = append(flat, c...)
				try(k + 1)
				flat = flat[:n]
			}
			return
		}
		// With the extents given, the strides are the values at their first steps.
		for i := range table {
			sum, rest, before := table[0], i, 1
			for _, e := range flat {
				if c := rest % e; c > 0 {
					sum += c * (table[before] - table[0])
				}
				rest /= e
				before *= e
			}
			if sum != table[i] {
				best = max(best, i)
				return
			}
		}
		best = len(table)
	}
	try(0)
	return best
}

// What Infer gives composes to C; what it refuses no layout of the shape of C does.
func TestInfer(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	found, none := 0, 0
	for n := 0; n < *cases; n++ {
		a := randomLayout(r, 2, []int{1, 2, 3, 4}, []int{0, 1, 1, 2, 3, 4, 6, 12})
		var c layout.Layout
		if r.IntN(2) == 0 {
			b := randomLayout(r, 2, []int{1, 2, 3}, []int{0, 1, 2, 3, 4})
			var err error
			if _, hi := b.Span(); hi >= a.Size() {
				continue
			}
			if c, err = layout.Compose(a, b); err != nil {
				continue
			}
		} else {
			c = randomLayout(r, 2, []int{1, 2, 3, 4}, []int{0, 1, 2, 3, 4, 6})
		}
		b, err := Infer(c, a)
		if err == nil {
			found++
			for i := range c.Size() {
				x, _ := b.Offset(i)
				off, err := a.Offset(x)
				want, _ := c.Offset(i)
				if err != nil || off != want || b.Size() != c.Size() {
					t.Fatalf("%v = %v ∘ %v: %d at %d, %v", c, a, b, off, i, err)
				}
			}
			continue
		}
		var bad *Mismatch
		if !errors.As(err, &bad) {
			t.Fatal(err)
		}
		none++
		if c.Size() > 12 {
			continue
		}
		// Every table of places is tried, as far as it goes.
		best := 0
		table := []int{}
		var try func(i int)
		try = func(i int) {
			if i > 0 {
				if at := agrees(c.Extents(), padded(table, c.Size(), c.Extents())); at < i {
					best = max(best, at)
					return
				}
			}
			best = max(best, i)
			if i == c.Size() {
				return
			}
			want, _ := c.Offset(i)
			for x := range a.Size() {
				if off, _ := a.Offset(x); off == want && (i > 0 || x == 0) {
					table = append(table, x)
					try(i + 1)
					table = table[:i]
				}
			}
		}
		try(0)
		if best == c.Size() {
			t.Fatalf("%v = %v ∘ B has an answer: %v", c, a, err)
		}
		if best != bad.Index {
			t.Fatalf("%v = %v ∘ B: %v, but tables go up to %d", c, a, err, best)
		}
	}
	if found < *cases/10 || none < *cases/10 {
		t.Errorf("%d found, %d none", found, none)
	}
}

// padded is a table with what can't be told filled by values that no layout has, so that
// agrees stops there at the latest.
func padded(table []int, n int, shape layout.Tuple) []int {
	out := append([]int{}, table...)
	for i := len(out); i < n; i++ {
		out = append(out, 1<<28+i*i*977)
	}
	return out
}

// The moves are the fewest: a shortest path over each run needs as many.
func TestRelay(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for n := 0; n < *cases; n++ {
		a := randomLayout(r, 3, []int{1, 2, 3, 4, 8}, []int{0, 1, 2, 3, 4, 8, 9, 16, 32})
		var b layout.Layout
		if r.IntN(2) == 0 {
			b, _ = layout.ColMajorOf(a.Extents())
		} else {
			b, _ = layout.RowMajorOf(a.Extents())
		}
		most := pick(r, 1, 2, 4, 8)
		from, err := layout.NewComposed(layout.Swizzle{}, pick(r, 0, 1, 2, 4), a)
		if err != nil {
			t.Fatal(err)
		}
		to, err := layout.NewComposed(layout.Swizzle{}, pick(r, 0, 1, 4), b)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Relay(from, to, most)
		if err != nil {
			t.Fatal(err)
		}
		source := map[int]int{}
		lo, hi := 1<<30, 0
		for i := range a.Size() {
			s, _ := from.Offset(i)
			d, _ := to.Offset(i)
			source[d] = s
			lo, hi = min(lo, d), max(hi, d)
		}
		fewest := make([]int, hi+2)
		uniform := 0
		for w := 1; w <= most; w *= 2 {
			all := true
			for d := lo; d <= hi; d++ {
				ok := false // in some aligned vector of w
				from := d / w * w
				ok = source[from]%w == 0
				for k := range w {
					s, has := source[from+k]
					ok = ok && has && s == source[from]+k
				}
				all = all && ok
			}
			if all {
				uniform = w
			}
		}
		for d := hi; d >= lo; d-- {
			fewest[d] = 1 << 30
			for w := 1; w <= most && d+w <= hi+1; w *= 2 {
				ok := d%w == 0 && source[d]%w == 0
				for k := range w {
					ok = ok && source[d+k] == source[d]+k
				}
				if ok {
					fewest[d] = min(fewest[d], 1+fewest[d+w])
				}
			}
		}
		if got.Moves != fewest[lo] || got.Uniform != uniform {
			t.Fatalf("%v to %v by %d: %+v, the fewest are %d, uniform %d", from, to, most, *got, fewest[lo], uniform)
		}
	}
	if _, err := Relay(mustEval(t, "4:1"), mustEval(t, "4:0"), 1); !errors.Is(err, ErrNone) {
		t.Errorf("onto one place: %v", err)
	}
}

func TestStridedAndTiled(t *testing.T) {
	s, err := StridedOf(mustEval(t, "(4,6):(6,1)[1:3, ::2]"), 4)
	if err != nil || s.String() != "shape=(2,3), strides=(24,8), itemsize=4, offset=24" {
		t.Errorf("%v %v", s, err)
	}
	back, err := s.Layout()
	if err != nil || back.String() != "Sw<0,0,0> ∘ 6 ∘ (2,3):(6,2)" {
		t.Errorf("%v %v", back, err)
	}
	var bad *Mismatch
	if _, err := StridedOf(mustEval(t, "((2,2),3):((24,2),8)"), 4); !errors.As(err, &bad) || bad.Index != 2 || bad.Got != 48 || bad.Want != 2 {
		t.Errorf("%v", err)
	}
	if _, err := StridedOf(mustEval(t, "Sw<2,0,3> o (8,8):(8,1)"), 4); !errors.As(err, &bad) || tupleText(bad.Coord) != "(4,0)" || bad.Want != 32 {
		t.Errorf("%v", err)
	}
	// Package pack's tiles are recognised.
	for _, tile := range []pack.Tile{pack.TileOf(32, 32), pack.TileOf(16, 32), pack.TileOf(32, 16), pack.TileOf(4, 32), pack.TileOf(1, 16), {Height: 32, Width: 32, Transposed: true}} {
		l, err := tile.Layout(64, 96)
		if err != nil {
			t.Fatal(err)
		}
		got, err := TiledOf(l)
		if err != nil {
			t.Errorf("%v: %v", tile, err)
			continue
		}
		again, err := got.Layout()
		if err != nil || !again.Coalesce().Equal(l.Coalesce()) {
			t.Errorf("%v → %v → %v: %v", l, got, again, err)
		}
		if got.TileWidth != tile.Width && tile.Width == 32 && tile.Height > 1 {
			t.Errorf("%v is %v", tile, got)
		}
	}
	for expr, want := range map[string]string{
		"tile_to_shape (4,4):(4,1) (8,8) (1,0)": "8×8, row-major, block-sharded on 4 cores in shards of 4×4",
		"tile_to_shape (4,4):(4,1) (8,8)":       "8×8, row-major, width-sharded on 2 cores in shards of 8×4",
		"tile_to_shape (8,2):(2,1) (8,8)":       "8×8, row-major, width-sharded on 4 cores in shards of 8×2",
		"(8,8):(8,1)":                           "8×8, row-major",
		"tile_to_shape (tile_to_shape (16,16):(16,1) (32,32) (1,0)) (64,96) (1,0)":                                "64×96 in tiles of 32×32",
		"tile_to_shape (tile_to_shape (tile_to_shape (16,16):(16,1) (32,32) (1,0)) (64,32) (1,0)) (64,128) (1,0)": "64×128 in tiles of 32×32, width-sharded on 4 cores in shards of 64×32",
	} {
		got, err := Print(mustEval(t, expr), "ttnn", 4)
		if err != nil || got != want {
			t.Errorf("%s: %q, want %q: %v", expr, got, want, err)
		}
	}
	if _, err := Print(mustEval(t, "(8,8):(9,1)"), "ttnn", 4); !errors.As(err, &bad) || bad.Index != 1 {
		t.Errorf("%v", err)
	}
}

func TestSpellings(t *testing.T) {
	for text, want := range map[string]string{
		"make_layout(make_shape(_4{}, Int<5>{}), make_stride(5, _1{}))":  "(4,5):(5,1)",
		"make_layout(make_shape(Int<4>{}, _5{}), LayoutRight{})":         "(4,5):(5,1)",
		"cute::make_layout(make_shape(4, 5))":                            "(4,5):(1,4)",
		"cute.make_layout((4, (2, 3)), stride=(6, (3, 1)))":              "(4,(2,3)):(6,(3,1))",
		"make_layout(make_layout(4, 1), make_layout((2, 2), (8, 4)))":    "(4,(2,2)):(1,(8,4))",
		"Layout<Shape<_4, Shape<_2, _3>>, Stride<_6, Stride<_3, _1>>>{}": "(4,(2,3)):(6,(3,1))",
		"(_4,_5):(_5,_1)": "(4,5):(5,1)",
		"composition(Swizzle<2,0,3>{}, make_layout((8,8), (8,1)))":           "Sw<2,0,3> ∘ 0 ∘ (8,8):(8,1)",
		"composition(Swizzle<2,0,3>{}, Int<8>{}, make_layout((8,8), (8,1)))": "Sw<2,0,3> ∘ 8 ∘ (8,8):(8,1)",
		"composition(Swizzle<2,0,3>{}, 8, make_layout((8,8), (8,1)))":        "Sw<2,0,3> ∘ 8 ∘ (8,8):(8,1)",
		`layout.Eval("Sw<2,0,3> o 8 o (8,8):(8,1)")`:                         "Sw<2,0,3> ∘ 8 ∘ (8,8):(8,1)",
		"Swizzle<3,3,3> o (8,64):(64,1)":                                     "Sw<3,3,3> ∘ 0 ∘ (8,64):(64,1)",
		"Layout.row_major(4, 5)":                                             "(4,5):(5,1)",
		"Layout.row_major[4, 5]()":                                           "(4,5):(5,1)",
		"Layout.col_major(4, 5)":                                             "(4,5):(1,4)",
		"Layout(IntTuple(4, IntTuple(2, 2)), IntTuple(4, IntTuple(2, 1)))":   "(4,(2,2)):(4,(2,1))",
		"((4, 5):(5, 1))":                                                    "(4,5):(5,1)",
		"shape=(4, 5), strides=(20, 4), itemsize=4":                          "(4,5):(5,1)",
		"shape=(4, 5)":                                                    "(4,5):(5,1)",
		"shape=(4,), strides=(-1,), offset=3":                             "Sw<0,0,0> ∘ 3 ∘ 4:-1",
		"{dim0 = [[8], [16], [32]], dim1 = [[1], [2], [4]]}":              "(8,8):(8,1)",
		"#ttg.linear<{dim0 = [[9], [18], [32]], dim1 = [[1], [2], [4]]}>": "Sw<2,0,3> ∘ 0 ∘ (8,8):(8,1)",
		`layout.MustParse("(4,5):(5,1)")`:                                 "(4,5):(5,1)",
		"(8,8):(8,1) / <2,4>":                                             "((2,4),(4,2)):((8,16),(1,4))",
	} {
		c, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := c.String()
		if l, ok := c.Plain(); ok {
			got = l.String()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	// What is printed reads back as the same.
	for _, text := range []string{"(4,5):(5,1)", "12:1", "(4,(2,3)):(6,(3,1))", "Sw<2,0,3> o (8,8):(8,1)", "(4,6):(6,1)[1:3, ::2]", "((2,2),4):((1,8),2)"} {
		c := mustEval(t, text)
		for _, spelling := range []string{"layout", "cute", "mojo", "numpy", "triton", "go"} {
			s, err := Print(c, spelling, 4)
			if err != nil {
				continue
			}
			back, err := Parse(s)
			if err != nil {
				t.Errorf("%s as %s, %s: %v", text, spelling, s, err)
				continue
			}
			for i := range c.Size() {
				a, _ := c.Offset(i)
				if b, err := back.Offset(i); err != nil || a != b {
					t.Fatalf("%s as %s, %s, is %v", text, spelling, s, back)
				}
			}
		}
	}
	for _, text := range []string{"", "make_layout(", "make_layout()", "Layout.row_major()x", "Swizzle<1,2", "composition(", "shape", "shape=", "{", "{a", "{a = [1", "{a = [[1], 2 3]}",
		"make_layout((4,5), (1,2,3))", "Layout.row_major(99999999999999999999)", strings.Repeat("(", 8000), "make_layout" + strings.Repeat("(", 100), strings.Repeat("make_layout(", 100),
		"shape=(1,2),strides=(3)", "shape=4,strides=3,itemsize=0", "layout.MustParse(4:1)", strings.Repeat("x", 1<<20), "{a = [-1]}", "make_layout((1152921504606846976,1152921504606846976),(1,1))"} {
		if c, err := Parse(text); err == nil {
			t.Errorf("%.40s: accepted as %v", text, c)
		}
	}
}
