//go:build linux && (amd64 || arm64) && !purego

package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/float"
)

// detected returns the kernels of a level if the processor has it, else nil.
func detected[T float32 | float64](of *Levels[*Product[T]], level cpu.Level) *Product[T] {
	if level > cpu.Detect() || level > Top {
		return nil
	}
	return of[level]
}

// A blockOf is float.FMABlock32 or its twin: the definition.
type blockOf[T float32 | float64] func(c []T, ldc int, a []T, aRow, aCol int, b []T, ldb int, m, n, k int)

func eachProduct(t *testing.T, f32 func(*testing.T, *Product[float32]), f64 func(*testing.T, *Product[float64])) {
	for level := cpu.Generic + 1; int(level) < len(Product32); level++ {
		t.Run(level.String(), func(t *testing.T) {
			p, q := detected(&Product32, level), detected(&Product64, level)
			if p == nil || q == nil {
				t.Skipf("no kernels: the processor and build have %v", cpu.Detect())
			}
			t.Run("float32", func(t *testing.T) { f32(t, p) })
			t.Run("float64", func(t *testing.T) { f64(t, q) })
		})
	}
}

// awkward returns numbers of all kinds: normal ones, sums that cancel, denormals, zeros, and now and then an infinity or
// a NaN with a payload.
func awkward[T float32 | float64](r *rand.Rand, n int, special bool) []T {
	s := make([]T, n)
	for i := range s {
		switch v := any(&s[i]).(type) {
		case *float32:
			*v = float32(r.NormFloat64())
			switch r.IntN(12) {
			case 0:
				*v = math.Float32frombits(r.Uint32() & 0x807fffff)
			case 1:
				*v = float32(r.IntN(3) - 1)
			case 2:
				*v *= 0x1p-70
			}
			if special && r.IntN(40) == 0 {
				*v = math.Float32frombits([]uint32{0x7f800000, 0xff800000, 0x7fc12345, 0xffc00001, 0x7f800001, 0x80000000}[r.IntN(6)])
			}
		case *float64:
			*v = r.NormFloat64()
			switch r.IntN(12) {
			case 0:
				*v = math.Float64frombits(r.Uint64() & 0x800fffffffffffff)
			case 1:
				*v = float64(r.IntN(3) - 1)
			case 2:
				*v *= 0x1p-530
			}
			if special && r.IntN(40) == 0 {
				*v = math.Float64frombits([]uint64{0x7ff << 52, 0xfff << 52, 0x7ff8000000012345, 0xfff8000000000001, 0x7ff0000000000001, 1 << 63}[r.IntN(6)])
			}
		}
	}
	return s
}

func canonBits[T float32 | float64](v T) uint64 {
	switch v := any(v).(type) {
	case float32:
		if v != v {
			return 0x7fc00000
		}
		return uint64(math.Float32bits(v))
	case float64:
		if v != v {
			return 0x7ff8000000000000
		}
		return math.Float64bits(v)
	}
	panic("no float")
}

// atEnd returns a copy of s that ends where readable memory does.
func atEnd[T any](t *testing.T, s []T) []T {
	out := elements[T](guard(t, 8*len(s)+1), len(s), 0)
	copy(out, s)
	return out
}

// checkTile compares tiles with the definition, and what is around them with what was there; and the same tiles of
// columns of a that a list says.
func checkTile[T float32 | float64](t *testing.T, r *rand.Rand, p *Product[T], def blockOf[T], m, n, k int, mode Mode) {
	t.Helper()
	special := r.IntN(2) == 0
	aRow, aCol := k+r.IntN(3), 1
	if r.IntN(2) == 0 {
		aRow, aCol = 1, m+r.IntN(3)
	}
	if r.IntN(8) == 0 {
		aRow, aCol = 0, r.IntN(2)
	}
	ldb, ldc := n+r.IntN(20), n+r.IntN(20)
	// Slices that end with their last element, at the end of a page.
	a := atEnd(t, awkward[T](r, max(0, (m-1)*aRow+(k-1)*aCol+1), special))
	b := atEnd(t, awkward[T](r, max(0, (k-1)*ldb+n), special))
	if k == 0 {
		a, b = nil, nil
	}
	c := atEnd(t, awkward[T](r, (m-1)*ldc+n, special))
	want := make([]T, len(c))
	copy(want, c)
	sum := make([]T, m*n)
	def(sum, n, a, aRow, aCol, b, ldb, m, n, k)
	before, written := append([]T(nil), c...), make([]bool, len(c))
	for i := range m {
		for j := range n {
			v := sum[i*n+j]
			if mode == AddSums {
				v += c[i*ldc+j]
			}
			want[i*ldc+j], written[i*ldc+j] = v, true
		}
	}
	check := func(what string) {
		t.Helper()
		for i := range want {
			w := bits(want[i])
			if written[i] {
				w = canonBits(want[i])
			}
			if g := bits(c[i]); g != w {
				t.Fatalf("%s m=%d n=%d k=%d mode=%d aRow=%d aCol=%d ldb=%d ldc=%d: element (%d,%d) is %#x, want %#x", what, m, n, k, mode, aRow, aCol, ldb, ldc, i/ldc, i%ldc, g, w)
			}
		}
	}
	if most, _ := p.Columns(); n <= most {
		p.Tiles(c, ldc, a, aRow, aCol, b, ldb, m, n, k, mode)
		check("")
	}
	if k > 0 { // elements of a somewhere
		row, offs, most := r.IntN(300), make([]int, k), 0
		for l := range offs {
			offs[l] = r.IntN(400)
			most = max(most, offs[l])
		}
		from, dense := atEnd(t, awkward[T](r, (m-1)*row+most+1, special)), make([]T, m*k)
		for i := range dense {
			dense[i] = from[i/k*row+offs[i%k]]
		}
		sums := make([]T, m*n)
		def(sums, n, dense, k, 1, b, ldb, m, n, k)
		copy(c, before)
		after, bias := mode, atEnd(t, awkward[T](r, n, special))
		if mode != StreamSums {
			after |= PlusBias*Mode(r.IntN(2)) | Rectify*Mode(r.IntN(2))
		}
		for i, v := range sums {
			if mode == AddSums {
				v += before[i/n*ldc+i%n]
			}
			if after&PlusBias != 0 {
				v += bias[i%n]
			}
			if after&Rectify != 0 && v <= 0 {
				v = 0
			}
			want[i/n*ldc+i%n] = v
		}
		p.TilesOfTaps(c, ldc, from, row, offs, most, b, ldb, bias, b, m, n, after)
		check(fmt.Sprint("taps ", after))
	}
}

func testTile[T float32 | float64](t *testing.T, p *Product[T], def blockOf[T]) {
	r := rand.New(rand.NewPCG(7, 7))
	most, _ := p.Columns()
	for n := 1; n <= most; n++ {
		for m := 1; m <= p.Rows(n); m++ {
			checkTile(t, r, p, def, m, n, r.IntN(20), Mode(r.IntN(2)))
		}
	}
	for n := most + 1; n <= p.TapColumns(); n++ {
		for m := 1; m <= 14; m++ {
			t.Run(fmt.Sprint(n, m), func(t *testing.T) { checkTile(t, r, p, def, m, n, 1+r.IntN(40), Mode(r.IntN(2))) })
		}
	}
	for range 60 {
		n := 1 + r.IntN(most)
		checkTile(t, r, p, def, 1+r.IntN(4*p.Rows(n)), n, r.IntN(257), Mode(r.IntN(2)))
	}
	for v, tiles := range p.tiles { // every kernel that may go on to another tile
		for m := tiles.most + 1; m <= 3*tiles.most+1; m++ {
			t.Run(fmt.Sprint(v, m), func(t *testing.T) { // what is guarded goes with it
				for mode := range StreamSums {
					checkTile(t, r, p, def, m, (v+1)*p.lanes, r.IntN(40), mode)
					checkTile(t, r, p, def, m, v*p.lanes+1+r.IntN(p.lanes), r.IntN(40), mode)
				}
			})
		}
	}
}

func TestTile(t *testing.T) {
	eachProduct(t,
		func(t *testing.T, p *Product[float32]) { testTile(t, p, float.FMABlock32) },
		func(t *testing.T, p *Product[float64]) { testTile(t, p, float.FMABlock64) })
}

func testStream[T float32 | float64](t *testing.T, p *Product[T], def blockOf[T]) {
	r := rand.New(rand.NewPCG(8, 8))
	_, lanes := p.Columns()
	for v, tiles := range p.tiles {
		for m := 1; m <= 3*tiles.most+1; m++ {
			k, n := 16*r.IntN(2), (v+1)*lanes
			ldc := n + r.IntN(2)*64
			a, b := awkward[T](r, m*k, true), awkward[T](r, k*n, true)
			c, want := elements[T](guard(t, 8*m*ldc), m*ldc, -1), make([]T, m*ldc)
			def(want, ldc, a, k, 1, b, n, m, n, k)
			check := func() {
				t.Helper()
				Fence()
				for i := range want {
					g, w := bits(c[i]), canonBits(want[i])
					if i%ldc >= n {
						w = bits(T(0))
					}
					if g != w {
						t.Fatalf("m=%d n=%d ldc=%d: element %d is %#x, want %#x", m, n, ldc, i, g, w)
					}
				}
			}
			clear(c)
			p.Tiles(c, ldc, a, k, 1, b, n, m, n, k, StreamSums)
			check()
		}
	}
}

func TestTileStreams(t *testing.T) {
	eachProduct(t,
		func(t *testing.T, p *Product[float32]) { testStream(t, p, float.FMABlock32) },
		func(t *testing.T, p *Product[float64]) { testStream(t, p, float.FMABlock64) })
}

func testAddRows[T float32 | float64](t *testing.T, p *Product[T], fma func(a, b, c T) T) {
	r := rand.New(rand.NewPCG(9, 9))
	for n := 0; n <= 10*p.lanes; n++ {
		k, step := r.IntN(20), r.IntN(3)
		offs, most := make([]int, k), 0
		for l := range offs {
			offs[l] = r.IntN(3*n + 9)
			most = max(most, offs[l])
		}
		c := atEnd(t, awkward[T](r, n, true))
		a := atEnd(t, awkward[T](r, max(0, (k-1)*step+1), true))
		b := atEnd(t, awkward[T](r, most+n, true))
		want := make([]T, n)
		copy(want, c)
		for j := range want {
			for l := range k {
				want[j] = fma(a[l*step], b[offs[l]+j], want[j])
			}
		}
		p.AddRows(c, a, step, b, offs, most)
		for j := range want {
			if canonBits(c[j]) != canonBits(want[j]) {
				t.Fatalf("n=%d k=%d step=%d offsets %v: element %d is %v, want %v", n, k, step, offs, j, c[j], want[j])
			}
		}
	}
}

func TestAddRows(t *testing.T) {
	eachProduct(t,
		func(t *testing.T, p *Product[float32]) { testAddRows(t, p, float.FMA32) },
		func(t *testing.T, p *Product[float64]) { testAddRows(t, p, float.FMA64) })
}

func testWindows[T float32 | float64](t *testing.T, p *Product[T], fma func(a, b, c T) T) {
	r := rand.New(rand.NewPCG(9, 8))
	for n := 1; n <= 10*p.lanes; n++ {
		rows, k, lds, ldd := 1+r.IntN(8), 1+r.IntN(20), r.IntN(2*n), n+r.IntN(3)
		offs, most := make([]int, k), 0
		for l := range offs {
			offs[l] = r.IntN(3*n + 9)
			most = max(most, offs[l])
		}
		dst := atEnd(t, make([]T, (rows-1)*ldd+n))
		a, src := atEnd(t, awkward[T](r, k, true)), atEnd(t, awkward[T](r, most+(rows-1)*lds+n, true))
		want := make([]T, len(dst))
		for i := range rows {
			for j := range n {
				for l := range k {
					want[i*ldd+j] = fma(a[l], src[i*lds+offs[l]+j], want[i*ldd+j])
				}
			}
		}
		if !p.Windows(dst, ldd, src, lds, a, offs, most, rows, n) {
			t.Fatal("this level has no kernel")
		}
		for j := range want {
			if canonBits(dst[j]) != canonBits(want[j]) {
				t.Fatalf("n=%d rows=%d k=%d strides %d, %d, offsets %v: element %d is %v, want %v", n, rows, k, ldd, lds, offs, j, dst[j], want[j])
			}
		}
	}
}

// windows panics as Windows does, also where there is no kernel.
func windows(p *Product[float32], dst []float32, ldd int, src []float32, lds int, a []float32, offs []int, most, rows, n int) {
	if !p.Windows(dst, ldd, src, lds, a, offs, most, rows, n) {
		panic("no kernel")
	}
}

func TestWindows(t *testing.T) {
	eachProduct(t,
		func(t *testing.T, p *Product[float32]) { testWindows(t, p, float.FMA32) },
		func(t *testing.T, p *Product[float64]) { testWindows(t, p, float.FMA64) })
}

func testChains[T float32 | float64](t *testing.T, p *Product[T], fma func(a, b, c T) T) {
	r := rand.New(rand.NewPCG(10, 10))
	for n := 0; n <= 10*p.lanes; n++ {
		k, lda, ldb := r.IntN(20), r.IntN(n+9), n+r.IntN(5)
		c := atEnd(t, awkward[T](r, n, true))
		a, b := atEnd(t, awkward[T](r, max(0, (k-1)*lda+n), true)), atEnd(t, awkward[T](r, max(0, (k-1)*ldb+n), true))
		want := slices.Clone(c)
		for j := range want {
			for l := range k {
				want[j] = fma(a[l*lda+j], b[l*ldb+j], want[j])
			}
		}
		p.Chains(c, a, lda, b, ldb, k)
		for j := range want {
			if canonBits(c[j]) != canonBits(want[j]) {
				t.Fatalf("n=%d k=%d strides %d and %d: element %d is %v, want %v", n, k, lda, ldb, j, c[j], want[j])
			}
		}
	}
}

func TestChains(t *testing.T) {
	eachProduct(t,
		func(t *testing.T, p *Product[float32]) { testChains(t, p, float.FMA32) },
		func(t *testing.T, p *Product[float64]) { testChains(t, p, float.FMA64) })
}

func testDeep[T float32 | float64](t *testing.T, p *Product[T], fma func(a, b, c T) T) {
	r := rand.New(rand.NewPCG(11, 10))
	for u := range 30 * p.lanes {
		m, n, special := 1+r.IntN(30), 1+u%(5*p.lanes), r.IntN(3) > 0
		row, ldb, ldc := r.IntN(3*n), n+r.IntN(5), n+r.IntN(5)
		offs, most := make([]int, 1+r.IntN(30)), 0
		for l := range offs {
			offs[l] = r.IntN(400)
			most = max(most, offs[l])
		}
		a, b := atEnd(t, awkward[T](r, (m-1)*row+most+n, special)), atEnd(t, awkward[T](r, (len(offs)-1)*ldb+n, special))
		c, bias := atEnd(t, awkward[T](r, (m-1)*ldc+n, special)), atEnd(t, awkward[T](r, n, special))
		mode := PlusBias*Mode(r.IntN(2)) | Rectify*Mode(r.IntN(2))
		want := make([]uint64, len(c))
		for i := range want {
			want[i] = bits(c[i])
			if i%ldc >= n {
				continue
			}
			var v T
			for l, at := range offs {
				v = fma(a[i/ldc*row+at+i%ldc], b[l*ldb+i%ldc], v)
			}
			if mode&PlusBias != 0 {
				v += bias[i%ldc]
			}
			if mode&Rectify != 0 && v <= 0 {
				v = 0
			}
			want[i] = canonBits(v)
		}
		p.Deep(c, ldc, a, row, offs, most, b, ldb, bias, m, n, mode)
		for i := range want {
			if bits(c[i]) != want[i] {
				t.Fatalf("m=%d n=%d strides %d, %d, %d, offsets %v, mode %d: element (%d,%d) is %#x, want %#x", m, n, row, ldb, ldc, offs, mode, i/ldc, i%ldc, bits(c[i]), want[i])
			}
		}
	}
}

func TestDeep(t *testing.T) {
	eachProduct(t,
		func(t *testing.T, p *Product[float32]) { testDeep(t, p, float.FMA32) },
		func(t *testing.T, p *Product[float64]) { testDeep(t, p, float.FMA64) })
}

func testPairs[T float32 | float64](t *testing.T, p *Product[T], fma func(a, b, c T) T) {
	r := rand.New(rand.NewPCG(12, 12))
	for i := range 120 {
		n, k := r.IntN(4*p.lanes), r.IntN(5*p.lanes)
		lda, ldb := k+r.IntN(5), k+r.IntN(5)
		c := atEnd(t, awkward[T](r, n, true))
		a := atEnd(t, awkward[T](r, max(0, (n-1)*lda+k), true))
		b := a
		switch i % 4 {
		case 0:
			ldb = lda
		case 1:
			ldb = r.IntN(lda + 1) // of the same elements
		default:
			b = atEnd(t, awkward[T](r, max(0, (n-1)*ldb+k), true))
		}
		want := slices.Clone(c)
		rows, steps := p.Pairs(c, a, lda, b, ldb, k)
		if p.pairs != nil && k >= p.lanes && (rows != n-n%p.lanes || steps != k-k%p.lanes) && rows+steps > 0 {
			t.Fatalf("n=%d k=%d: %d rows, %d steps", n, k, rows, steps)
		}
		for j := range rows {
			for l := range steps {
				want[j] = fma(a[j*lda+l], b[j*ldb+l], want[j])
			}
		}
		for j := range want {
			if canonBits(c[j]) != canonBits(want[j]) {
				t.Fatalf("n=%d k=%d strides %d and %d: element %d is %v, want %v", n, k, lda, ldb, j, c[j], want[j])
			}
		}
	}
}

func TestPairs(t *testing.T) {
	eachProduct(t,
		func(t *testing.T, p *Product[float32]) { testPairs(t, p, float.FMA32) },
		func(t *testing.T, p *Product[float64]) { testPairs(t, p, float.FMA64) })
}

func testDots[T float32 | float64](t *testing.T, p *Product[T], fma func(a, b, c T) T) {
	r := rand.New(rand.NewPCG(11, 11))
	m := p.lanes
	for range 60 {
		k := r.IntN(300/m) * m
		lda := k + r.IntN(5)
		if r.IntN(6) == 0 {
			lda = 0
		}
		c, x := atEnd(t, awkward[T](r, m, true)), atEnd(t, awkward[T](r, k, r.IntN(2) == 0))
		a := atEnd(t, awkward[T](r, max(0, (m-1)*lda+k), r.IntN(2) == 0))
		want := append([]T(nil), c...)
		for i := range want {
			for l := range k {
				want[i] = fma(a[i*lda+l], x[l], want[i])
			}
		}
		p.Dots(c, a, lda, x)
		for i := range want {
			if canonBits(c[i]) != canonBits(want[i]) {
				t.Fatalf("m=%d k=%d lda=%d: element %d is %v, want %v", m, k, lda, i, c[i], want[i])
			}
		}
	}
}

func TestDots(t *testing.T) {
	eachProduct(t,
		func(t *testing.T, p *Product[float32]) { testDots(t, p, float.FMA32) },
		func(t *testing.T, p *Product[float64]) { testDots(t, p, float.FMA64) })
}

func testGather[T float32 | float64](t *testing.T, p *Product[T]) {
	r := rand.New(rand.NewPCG(10, 10))
	most, _ := p.Columns()
	for n := 0; n <= most; n++ {
		rows, ldd := r.IntN(20), n+r.IntN(5)
		src := atEnd(t, awkward[T](r, n+50, true))
		offs := make([]int, rows)
		for i := range offs {
			offs[i] = r.IntN(51)
		}
		dst := atEnd(t, awkward[T](r, max(0, (rows-1)*ldd+n), true))
		want := append([]T(nil), dst...)
		for i, at := range offs {
			copy(want[i*ldd:i*ldd+n], src[at:])
		}
		p.Gather(dst, ldd, src, offs, 50, n)
		for i := range want {
			if bits(dst[i]) != bits(want[i]) {
				t.Fatalf("n %d, rows %d, ldd %d: element %d is %#x, want %#x", n, rows, ldd, i, bits(dst[i]), bits(want[i]))
			}
		}
	}
}

func TestGather(t *testing.T) { eachProduct(t, testGather[float32], testGather[float64]) }

func TestTileRefuses(t *testing.T) {
	eachProduct(t, func(t *testing.T, p *Product[float32]) {
		s := make([]float32, 100)
		cols, _ := p.Columns()
		for name, f := range map[string]func(){
			"rows":       func() { p.Tiles(s, 1, s, 1, 1, s, 1, len(s)+1, 1, 1, StoreSums) },
			"wrapped c":  func() { p.Tiles(s, 1<<32, s, 0, 1, s, 8, 1<<32+1, 8, 1, StoreSums) },
			"wrapped a":  func() { p.Tiles(s, 1, s, 1<<32, 1<<32, s, 1, 1, 1, 1<<32+1, StoreSums) },
			"wrapped b":  func() { p.Tiles(s, 1, s, 1, 0, s, 1<<32, 1, 1, 1<<32+1, StoreSums) },
			"columns":    func() { p.Tiles(s, 1, s, 1, 1, s, 1, 1, cols+1, 1, StoreSums) },
			"nothing":    func() { p.Tiles(s, 1, s, 1, 1, s, 1, 0, 1, 1, StoreSums) },
			"short a":    func() { p.Tiles(s, 1, s[:3], 1, 1, s, 1, 1, 1, 4, StoreSums) },
			"short b":    func() { p.Tiles(s, 1, s, 1, 1, s[:3], 1, 1, 1, 4, StoreSums) },
			"short c":    func() { p.Tiles(s[:2], 1, s, 1, 1, s, 1, 3, 1, 1, StoreSums) },
			"stride":     func() { p.Tiles(s, 1, s, -1, 1, s, 1, 2, 1, 1, StoreSums) },
			"no taps":    func() { p.TilesOfTaps(s, 1, s, 1, nil, 0, s, 1, nil, nil, 1, 1, StoreSums) },
			"short taps": func() { p.TilesOfTaps(s, 1, s[:3], 1, []int{2}, 2, s, 1, nil, nil, 2, 1, StoreSums) },
			"far tap":    func() { p.TilesOfTaps(s, 1, s, 1, []int{0}, math.MaxInt, s, 1, nil, nil, 2, 1, StoreSums) },
			"wide taps":  func() { p.TilesOfTaps(s, 1, s, 1, []int{0}, 0, s, 1, nil, nil, 1, p.TapColumns()+1, StoreSums) },
			"short bias": func() { p.TilesOfTaps(s, 1, s, 1, []int{0}, 0, s, 1, s[:1], nil, 1, 2, PlusBias) },
			"row stride": func() { p.AddRows(s[:2], s, 1, s, []int{0}, -1) },
			"short row":  func() { p.AddRows(s[:2], s, 1, s[:3], []int{0, 2}, 2) },
			"windows":    func() { windows(p, s[:2], 1, s, 1, s, []int{0}, 0, 3, 1) },
			"windowed":   func() { windows(p, s, 1, s[:2], 1, s, []int{0, 1}, 1, 1, 2) },
			"window":     func() { windows(p, s, 1, s, 1, s[:1], []int{0, 1}, 1, 1, 1) },
			"chains":     func() { p.Chains(s[:2], s, -1, s, 1, 1) },
			"chained a":  func() { p.Chains(s[:2], s[:3], 2, s, 1, 2) },
			"chained b":  func() { p.Chains(s[:2], s, 1, s[:3], 2, 2) },
			"deep c":     func() { p.Deep(s[:3], 2, s, 1, []int{0}, 0, s, 1, nil, 2, 2, StoreSums) },
			"deep a":     func() { p.Deep(s, 2, s[:4], 1, []int{0, 2}, 2, s, 1, nil, 2, 2, StoreSums) },
			"deep b":     func() { p.Deep(s, 2, s, 1, []int{0, 2}, 2, s[:3], 2, nil, 2, 2, StoreSums) },
			"deep bias":  func() { p.Deep(s, 2, s, 1, []int{0}, 0, s, 1, s[:1], 2, 2, PlusBias) },
			"deep mode":  func() { p.Deep(s, 2, s, 1, []int{0}, 0, s, 1, nil, 2, 2, AddSums) },
			"no depth":   func() { p.Deep(s, 2, s, 1, nil, 0, s, 1, nil, 2, 2, StoreSums) },
			"paired a":   func() { p.Pairs(s[:p.lanes], s[:p.lanes], 2, s, 0, p.lanes) },
			"paired b":   func() { p.Pairs(s[:p.lanes], s, 0, s[:p.lanes], 2, p.lanes) },
			"ragged":     func() { p.Dots(s[:3], s, 1, s[:p.lanes]) },
			"short dots": func() { p.Dots(s[:p.lanes], s[:p.lanes], 2, s[:p.lanes]) },
			"short src":  func() { p.Gather(s, 1, s[:3], []int{3}, 3, 1) },
			"short dst":  func() { p.Gather(s[:1], 1, s, []int{0, 1}, 1, 1) },
			"wide":       func() { p.Gather(s, 1, s, []int{0}, 0, cols+1) },
			"short rows": func() { p.AddRows(s[:2], s[:1], 1, s, []int{0, 2}, 2) },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: no panic", name)
					}
				}()
				f()
			}()
		}
	}, func(*testing.T, *Product[float64]) {})
}
