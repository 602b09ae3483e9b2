package contract

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"pgregory.net/rapid"
)

// eachTiler calls f with the tiles of every level that the processor has, and the pure ones.
func eachTiler(t *testing.T, f32 func(*testing.T, Tiler[float32]), f64 func(*testing.T, Tiler[float64])) {
	t.Run("pure/float32", func(t *testing.T) { f32(t, pureTiles[float32]{}) })
	t.Run("pure/float64", func(t *testing.T) { f64(t, pureTiles[float64]{}) })
	for level := cpu.AVX2; level <= cpu.Detect(); level++ {
		if p := simd.Product32.At(level); p != nil {
			t.Run(level.String()+"/float32", func(t *testing.T) { f32(t, p) })
		}
		if p := simd.Product64.At(level); p != nil {
			t.Run(level.String()+"/float64", func(t *testing.T) { f64(t, p) })
		}
	}
}

// anyFloat returns numbers of all kinds, with some infinities and NaNs when asked.
func anyFloat[T num.Float](r *rand.Rand, special bool) T {
	v := r.NormFloat64()
	switch r.IntN(16) {
	case 0:
		v = float64(r.IntN(3) - 1)
	case 1:
		v = math.Copysign(0, -1)
	case 2:
		v *= 0x1p-74 // products that are subnormal in float32
	case 3:
		v *= 0x1p-535
	case 4:
		if special && r.IntN(50) == 0 {
			v = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Float64frombits(0xfff8000000012345)}[r.IntN(4)]
		}
	}
	return T(v)
}

// checkTiles computes one product with strides drawn at random and compares every element with the rule, and the
// elements between the rows of c with their values before.
func checkTiles[T num.Float](t *testing.T, r *rand.Rand, tiles Tiler[T], batch, m, n, k int) {
	t.Helper()
	special := r.IntN(2) == 0
	// strides returns the strides of a matrix of rows × cols, by rows or by columns, and how many elements it spans.
	strides := func(rows, cols int) (row, col, span int) {
		row, col = cols+r.IntN(2)*r.IntN(9), 1
		if r.IntN(2) == 0 {
			row, col = 1, rows+r.IntN(2)*r.IntN(9)
		}
		return row, col, max(0, rows-1)*row + max(0, cols-1)*col + 1
	}
	fill := func(n int) []T {
		s := make([]T, n)
		for i := range s {
			s[i] = anyFloat[T](r, special)
		}
		return s
	}
	g := Contraction{Job: exec.Job{Name: "Test"}, Batch: batch, M: m, N: n, K: k}
	e := Gemm[T]{Tiles: tiles, Size: dtype.Of[T]().Size()}
	var sa, sb, sc int
	g.ARow, g.ACol, sa = strides(m, k)
	g.BRow, g.BCol, sb = strides(k, n)
	g.CRow, g.CCol, sc = strides(m, n)
	if r.IntN(6) == 0 {
		g.ARow, g.BCol = g.ARow*r.IntN(2), 2*g.BCol // a row that repeats; columns that aren't adjacent either way
		sb = max(0, k-1)*g.BRow + max(0, n-1)*g.BCol + 1
	}
	shared := r.IntN(3) == 0 // one a for all batch entries
	g.AAt, g.BAt, g.CAt = EntriesOf(0, Loop{Ext: batch, Str: sa}), EntriesOf(0, Loop{Ext: batch, Str: sb}), EntriesOf(0, Loop{Ext: batch, Str: sc})
	if shared {
		g.AAt = EntriesOf(0, Loop{Ext: batch, Str: 0})
	}
	e.A, e.B, e.C = fill(batch*sa), fill(batch*sb), fill(batch*sc)
	want := append([]T(nil), e.C...)
	bits := make([]bool, len(want)) // of computed elements
	x, y := make([]T, k), make([]T, k)
	for b := range batch {
		for i := range m {
			for j := range n {
				for l := range k {
					x[l], y[l] = e.A[g.AAt.At(b)+i*g.ARow+l*g.ACol], e.B[g.BAt.At(b)+l*g.BRow+j*g.BCol]
				}
				at := g.CAt.At(b) + i*g.CRow + j*g.CCol
				want[at], bits[at] = chain(x, y), true
			}
		}
	}
	was := gemmLarge
	gemmLarge *= r.IntN(2) // every second b is copied that is read often
	e.Run(&g)
	gemmLarge = was
	for i, w := range want {
		if v := e.C[i]; pattern(v) != pattern(w) {
			t.Fatalf("batch %d, m %d, n %d, k %d, strides a %d %d b %d %d c %d %d: element %d (computed: %t) is %v (%#x), want %v (%#x)",
				batch, m, n, k, g.ARow, g.ACol, g.BRow, g.BCol, g.CRow, g.CCol, i, bits[i], v, pattern(v), w, pattern(w))
		}
	}
}

func pattern[T num.Float](v T) uint64 {
	switch v := any(v).(type) {
	case float32:
		return uint64(math.Float32bits(v))
	case float64:
		return math.Float64bits(v)
	}
	panic("no float")
}

func testTiles[T num.Float](t *testing.T, tiles Tiler[T]) {
	r := rand.New(rand.NewPCG(11, 13))
	for m := 0; m <= 7; m++ {
		for n := 0; n <= 7; n++ {
			for k := 0; k <= 4; k++ {
				checkTiles(t, r, tiles, 1, m, n, k)
			}
		}
	}
	for range 150 {
		checkTiles(t, r, tiles, 1+r.IntN(3), 1+r.IntN(50), 1+r.IntN(80), r.IntN(20))
	}
	for range 8 {
		checkTiles(t, r, tiles, 1+r.IntN(2), 1+r.IntN(20), 1+r.IntN(40), 250+r.IntN(300))
	}
	for range 4 {
		checkTiles(t, r, tiles, 1, 1+r.IntN(4), 1+r.IntN(300), 200+r.IntN(400)) // few rows
		checkTiles(t, r, tiles, 1, 1+r.IntN(300), 1+r.IntN(4), 200+r.IntN(400)) // few columns
		checkTiles(t, r, tiles, 1, 90+r.IntN(100), 90+r.IntN(100), r.IntN(30))  // packed
	}
	checkTiles(t, r, tiles, 1, 130, 140, 257)
	checkTiles(t, r, tiles, 1, 3, 4200, 9) // more than a strip
}

// TestTiles compares the contraction with its rule, bit for bit: all small shapes, edges of tiles, panels and blocks,
// strides and batches, for the tiles of each level.
func TestTiles(t *testing.T) {
	eachTiler(t, testTiles[float32], testTiles[float64])
}

// TestTilesLarge goes past the sizes of a packed block, with integers, whose sums are exact.
func TestTilesLarge(t *testing.T) {
	test := func(t *testing.T, of func(m, n, k int) error) {
		for _, s := range [][3]int{{530, 40, 300}, {20, 2100, 270}, {300, 300, 600}, {1030, 5, 4096}} {
			if err := of(s[0], s[1], s[2]); err != nil {
				t.Error(err)
			}
		}
	}
	eachTiler(t,
		func(t *testing.T, p Tiler[float32]) {
			test(t, func(m, n, k int) error { return exactProduct(p, m, n, k) })
		},
		func(t *testing.T, p Tiler[float64]) {
			test(t, func(m, n, k int) error { return exactProduct(p, m, n, k) })
		})
}

// exactProduct multiplies small integers and compares with the product in integers.
func exactProduct[T num.Float](tiles Tiler[T], m, n, k int) error {
	g := Contraction{Job: exec.Job{Name: "Test"}, Batch: 1, M: m, N: n, K: k, ARow: k, ACol: 1, BRow: n, BCol: 1, CRow: n, CCol: 1}
	e := Gemm[T]{Tiles: tiles, Size: dtype.Of[T]().Size(), A: make([]T, m*k), B: make([]T, k*n), C: make([]T, m*n)}
	r := rand.New(rand.NewPCG(3, 3))
	ia, ib := make([]int, m*k), make([]int, k*n)
	for i := range ia {
		ia[i] = r.IntN(9) - 4
		e.A[i] = T(ia[i])
	}
	for i := range ib {
		ib[i] = r.IntN(9) - 4
		e.B[i] = T(ib[i])
	}
	e.Run(&g)
	row := make([]int, n)
	for i := range m {
		clear(row)
		for l := range k {
			x, bs := ia[i*k+l], ib[l*n:(l+1)*n]
			for j := range row {
				row[j] += x * bs[j]
			}
		}
		for j, v := range row {
			if e.C[i*n+j] != T(v) {
				return fmt.Errorf("m %d, n %d, k %d: element (%d,%d) is %v, want %d", m, n, k, i, j, e.C[i*n+j], v)
			}
		}
	}
	return nil
}

// chain is the rule of contractions word by word: blocks of 256 from k = 0, each a chain of fused steps that begins at 0,
// added in order; a NaN is the canonical one.
func chain[T num.Float](x, y []T) T {
	var c T
	for k0 := 0; k0 < len(x); k0 += 256 {
		var acc T
		for k := k0; k < min(k0+256, len(x)); k++ {
			switch a := any(&acc).(type) {
			case *float32:
				*a = float.FMA32(float32(x[k]), float32(y[k]), *a)
			case *float64:
				*a = float.FMA64(float64(x[k]), float64(y[k]), *a)
			}
		}
		if c += acc; k0 == 0 {
			c = acc
		}
	}
	switch a := any(&c).(type) {
	case *float32:
		if *a != *a {
			*a = num.NaN32()
		}
	case *float64:
		if *a != *a {
			*a = num.NaN64()
		}
	}
	return c
}

// Pieces cover a product, and workers that take them from both ends have about the same to do.
func TestCut(t *testing.T) {
	const rows, lanes = 8, 16
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 1<<rapid.IntRange(1, 12).Draw(t, "bits"))
		g := Contraction{Batch: size.Draw(t, "batch"), M: size.Draw(t, "m"), N: size.Draw(t, "n"), K: size.Draw(t, "k")}
		workers := rapid.IntRange(2, 128).Draw(t, "workers")
		e := Gemm[float32]{}
		p := e.cut(&g, workers, rows, lanes)
		if p.down < 1 || p.across < 1 || (p.down-1)*p.m >= g.M || p.down*p.m < g.M || (p.across-1)*p.n >= g.N || p.across*p.n < g.N {
			t.Fatalf("%+v of %d by %d", p, g.M, g.N)
		}
		if p.down > 1 && p.m%rows != 0 || p.across > 1 && p.n%lanes != 0 || p.down*p.across > 1 && g.Batch*p.down*p.across > 8*workers {
			t.Fatalf("%+v of %d by %d, a batch of %d, %d workers", p, g.M, g.N, g.Batch, workers)
		}
	})
	for _, c := range [][4]int{{256, 196, 2304, 2}, {128, 784, 1152, 2}, {512, 49, 4608, 2}, {64, 3136, 576, 2}, {512, 49, 512, 4}, {256, 196, 1024, 3}, {1000, 1000, 1000, 8}} {
		g := Contraction{Batch: 1, M: c[0], N: c[1], K: c[2]}
		e := Gemm[float32]{}
		p := e.cut(&g, c[3], rows, lanes)
		busy := make([]int, c[3])
		for u, first, last := 0, 0, p.down*p.across-1; first <= last; u++ { // the one that ends first takes the next piece
			i := slices.Index(busy, slices.Min(busy))
			at := first
			if first++; i > 0 {
				first, at, last = first-1, last, last-1
			}
			m, n := min(p.m, g.M-at/p.across*p.m), min(p.n, g.N-at%p.across*p.n)
			busy[i] += m * roundUp(n, lanes)
		}
		if ideal := g.M * roundUp(g.N, lanes) / c[3]; slices.Max(busy) > ideal*110/100 {
			t.Errorf("%v: %+v keeps workers busy for %d, all together for %d", c, p, busy, ideal)
		}
	}
}
