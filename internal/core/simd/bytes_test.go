//go:build linux && (amd64 || arm64) && !purego

package simd

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
)

// byteEnds are bytes and zero points at the ends.
func byteEnds(r *rand.Rand, s []byte) {
	how := r.IntN(4)
	for i := range s {
		switch how {
		case 0:
			s[i] = byte(r.IntN(2) * 255)
		case 1:
			s[i] = 128
		default:
			s[i] = byte(r.Uint32())
		}
	}
}

// eachBytes calls f with the kernels of each level that the processor has.
func eachBytes(t *testing.T, f16 func(*testing.T, *Bytes[int16]), f8 func(*testing.T, *Bytes[int8])) {
	levels(t, func(t *testing.T, level cpu.Level) { f16(t, ByteProducts[level]) })
	for l := cpu.Generic; l <= cpu.Detect(); l++ {
		if p := DotProducts[l]; p != nil {
			t.Run(l.String(), func(t *testing.T) { f8(t, p) })
		}
	}
}

func TestBytesWiden(t *testing.T) { eachBytes(t, testWiden[int16], testWiden[int8]) }

func testWiden[T int8 | int16](t *testing.T, p *Bytes[T]) {
	r := rand.New(rand.NewPCG(3, 4))
	from, to := guard(t, 4096), guard(t, 4096)
	for n := range 100 {
		for _, at := range []int{0, -1, 1024} {
			src, dst := elements[byte](from, n, at), elements[T](to, n, at)
			byteEnds(r, src)
			flip, zero := byte(r.IntN(2)*128), T(r.IntN(256))
			want := make([]T, n)
			for i, v := range src {
				want[i] = T(v^flip) - zero
			}
			p.Widen(dst, src, flip, zero)
			if !slices.Equal(dst, want) {
				t.Fatalf("of %d bytes %v, flip %d, zero %d: got %v, want %v", n, src, flip, zero, dst, want)
			}
		}
	}
}

func TestBytesJoin(t *testing.T) { eachBytes(t, testJoin[int16], testJoin[int8]) }

func testJoin[T int8 | int16](t *testing.T, p *Bytes[T]) {
	group := p.Group()
	r := rand.New(rand.NewPCG(5, 6))
	from, to, off := guard(t, 8192), guard(t, 16384), guard(t, 4096)
	for range 300 {
		k, panels, step := group*(1+r.IntN(9)), 1+r.IntN(4), r.IntN(2)*group*ByteColumns
		most := r.IntN(200)
		src := elements[byte](from, most+panels*ByteColumns, 0)
		byteEnds(r, src)
		dst := elements[T](to, panels*k*ByteColumns, 0)
		offs := elements[int](off, k, 0)
		for l := range offs {
			offs[l] = r.IntN(most + 1)
		}
		offs[r.IntN(k)] = most
		zero := make([]T, (panels-1)*step+group*ByteColumns)
		for i := range zero {
			zero[i] = T(r.IntN(2) * 255)
		}
		flip := byte(r.IntN(2) * 128)
		p.Join(dst, src, offs, most, flip, zero, step, panels)
		for i := range panels {
			for l, o := range offs {
				for j := range ByteColumns {
					want := T(src[o+i*ByteColumns+j]^flip) - zero[i*step+group*j+l%group]
					if got := dst[i*k*ByteColumns+group*(l/group*ByteColumns+j)+l%group]; got != want {
						t.Fatalf("panel %d of %d, row %d of %d, column %d: got %d, want %d", i, panels, l, k, j, got, want)
					}
				}
			}
		}
	}
	offs := make([]int, group)
	offs[group-1] = 16
	all := group * ByteColumns
	refused(t, func() { p.Join(make([]T, all), make([]byte, 31), offs, 16, 0, make([]T, all), 0, 1) })
	refused(t, func() { p.Join(make([]T, all-1), make([]byte, 32), offs, 16, 0, make([]T, all), 0, 1) })
	refused(t, func() { p.Join(make([]T, 2*all), make([]byte, 48), offs, 16, 0, make([]T, 2*all-1), all, 2) })
	refused(t, func() { p.Join(make([]T, all), make([]byte, 32), offs[1:], 16, 0, make([]T, all), 0, 1) })
}

// firstRun is the run of a row in one piece.
var firstRun = []int{0}

// tileRuns returns the places of some runs.
func tileRuns(r *rand.Rand) []int {
	offs := make([]int, 1+r.IntN(4))
	for i := range offs {
		offs[i] = r.IntN(50)
	}
	return offs
}

func refused(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Error("extents that are out of range weren't refused")
		}
	}()
	f()
}

func TestBytesTiles(t *testing.T) { eachBytes(t, testTiles[int16], testTiles[int8]) }

func testTiles[T int8 | int16](t *testing.T, p *Bytes[T]) {
	group := p.Group()
	r := rand.New(rand.NewPCG(7, 8))
	ca, aa, ba := guard(t, 1<<16), guard(t, 1<<16), guard(t, 1<<17)
	low, high := -255, 255
	if group > 2 {
		low, high = -128, 127
	}
	fill := func(s []T) {
		how := r.IntN(3)
		for i := range s {
			s[i] = T([]int{low + r.IntN(high-low+1), low, high}[how])
		}
	}
	for i := range 400 {
		m, panels, k := 1+r.IntN(20), 1+r.IntN(4), group*(1+r.IntN(20))
		lda, ldc, offs := k+group*r.IntN(3), panels*ByteColumns+r.IntN(5), tileRuns(r)
		all, most := len(offs)*k, slices.Max(offs)
		a := elements[T](aa, (m-1)*lda+most+k, 0)
		b := elements[T](ba, panels*all*ByteColumns, 0)
		c := elements[int32](ca, (m-1)*ldc+panels*ByteColumns, 0)
		fill(a)
		fill(b)
		for i := range c {
			c[i] = int32(r.Uint32())
		}
		want := slices.Clone(c)
		add := i%2 == 0
		for i := range m {
			for j := range panels * ByteColumns {
				var sum int32
				for l := range all {
					sum += int32(a[i*lda+offs[l/k]+l%k]) * int32(b[j/ByteColumns*all*ByteColumns+group*(l/group*ByteColumns+j%ByteColumns)+l%group])
				}
				if add {
					sum += want[i*ldc+j]
				}
				want[i*ldc+j] = sum
			}
		}
		p.Tiles(c, ldc, a, lda, offs, most, b, m, panels, k, add)
		if !slices.Equal(c, want) {
			t.Fatalf("%d rows, %d panels, k %d, runs %v, added %t: got %v, want %v", m, panels, k, offs, add, c, want)
		}
	}
	one, panel := make([]T, group), make([]T, group*ByteColumns)
	refused(t, func() { p.Tiles(make([]int32, 15), 16, one, group, firstRun, 0, panel, 1, 1, group, false) })
	refused(t, func() { p.Tiles(make([]int32, 32), 16, one, group, firstRun, 0, panel, 2, 1, group, false) })
	refused(t, func() { p.Tiles(make([]int32, 32), 16, one, 0, firstRun, 0, panel, 1, 2, group, false) })
	refused(t, func() { p.Tiles(make([]int32, 16), 16, one, group, firstRun, 0, panel, 1, 1, group-1, false) })
	refused(t, func() { p.Tiles(make([]int32, 16), 16, one, group, []int{1}, 1, panel, 1, 1, group, false) })
	refused(t, func() { p.Tiles(make([]int32, 16), 16, one, group, nil, 0, panel, 1, 1, group, false) })
}

func TestBytesDeep(t *testing.T) {
	p := ByteProducts.Best()
	if p == nil || p.deep == nil {
		t.Skip("this level has no kernel")
	}
	r := rand.New(rand.NewPCG(9, 10))
	ca, aa, wa := guard(t, 1<<14), guard(t, 1<<14), guard(t, 1<<14)
	for range 300 {
		n, blocks, taps, row := 1+r.IntN(5), 1+r.IntN(4), 2+2*r.IntN(6), r.IntN(90)
		offs := make([]int, taps)
		for i := range offs {
			offs[i] = r.IntN(60)
		}
		most, all := slices.Max(offs), blocks*ByteColumns
		a, w, c := elements[int16](aa, most+(n-1)*row+all, 0), elements[int16](wa, taps*all, 0), elements[int32](ca, n*all, 0)
		for _, s := range [][]int16{a, w} {
			for i := range s {
				s[i] = []int16{-255, 255, int16(r.IntN(511) - 255)}[r.IntN(3)]
			}
		}
		if !p.Deep(c, a, row, offs, most, w, n, blocks) {
			t.Fatal("there is a kernel that isn't used")
		}
		for i, got := range c {
			o, j := i/all, i%all
			var want int32
			for l, at := range offs {
				want += int32(a[o*row+at+j]) * int32(w[(j/ByteColumns*taps+l/2*2)*ByteColumns+2*DeepOrder[j%ByteColumns]+l%2])
			}
			if got != want {
				t.Fatalf("%d outputs of %d blocks and %d products: sum %d is %d, want %d", n, blocks, taps, i, got, want)
			}
		}
	}
	refused(t, func() { p.Deep(make([]int32, 15), make([]int16, 16), 0, []int{0, 0}, 0, make([]int16, 32), 1, 1) })
	refused(t, func() { p.Deep(make([]int32, 16), make([]int16, 16), 0, []int{0, 1}, 1, make([]int16, 32), 1, 1) })
	refused(t, func() { p.Deep(make([]int32, 16), make([]int16, 16), 0, []int{0}, 0, make([]int16, 32), 1, 1) })
}

// The figures are of one thread; a step is a product and a sum.
func BenchmarkBytes(b *testing.B) {
	p := ByteProducts.Best()
	if p == nil {
		b.Skip("this processor has no kernels")
	}
	const m, k, panels = 192, 512, 8
	c, a, w := make([]int32, m*panels*ByteColumns), make([]int16, m*k), make([]int16, panels*k*ByteColumns)
	src, offs, zero := make([]byte, k*panels*ByteColumns), make([]int, k), make([]int16, 2*ByteColumns)
	for l := range offs {
		offs[l] = l * panels * ByteColumns
	}
	b.Run(fmt.Sprintf("tiles/%dx%dx%d", m, k, panels*ByteColumns), func(b *testing.B) {
		for b.Loop() {
			p.Tiles(c, panels*ByteColumns, a, k, firstRun, 0, w, m, panels, k, false)
		}
		b.ReportMetric(float64(b.N)*m*k*panels*ByteColumns/float64(b.Elapsed().Nanoseconds()), "steps/ns")
	})
	b.Run("tiles/one", func(b *testing.B) {
		for b.Loop() {
			p.Tiles(c, panels*ByteColumns, a, k, firstRun, 0, w, 1, panels, k, false)
		}
		b.ReportMetric(float64(b.N)*k*panels*ByteColumns/float64(b.Elapsed().Nanoseconds()), "steps/ns")
	})
	b.Run("pair", func(b *testing.B) {
		for b.Loop() {
			p.Join(w, src, offs, offs[k-1], 128, zero, 0, panels)
		}
		b.ReportMetric(float64(b.N)*k*panels*ByteColumns/float64(b.Elapsed().Nanoseconds()), "bytes/ns")
	})
	b.Run("widen", func(b *testing.B) {
		for b.Loop() {
			p.Widen(a[:k], src, 128, 5)
		}
		b.ReportMetric(float64(b.N)*k/float64(b.Elapsed().Nanoseconds()), "bytes/ns")
	})
}
