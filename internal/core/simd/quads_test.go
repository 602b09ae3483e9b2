//go:build linux && amd64 && !purego

package simd

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func quads(t testing.TB) *Quads {
	if ByteQuads == nil {
		t.Skip("this processor has no kernels, or another level is in use")
	}
	return ByteQuads
}

func TestQuadsPack(t *testing.T) {
	p := quads(t)
	r := rand.New(rand.NewPCG(5, 6))
	from, to, off, sum := guard(t, 8192), guard(t, 16384), guard(t, 4096), guard(t, 4096)
	for range 300 {
		k, panels, beyond := 4*(1+r.IntN(9)), 1+r.IntN(4), r.IntN(4)
		most := r.IntN(200)
		src := elements[byte](from, most+panels*ByteColumns, 0)
		byteEnds(r, src)
		dst := elements[byte](to, panels*k*ByteColumns, 0)
		sums := elements[int32](sum, panels*ByteColumns, 0)
		offs := elements[int](off, k, 0)
		for l := range offs {
			offs[l] = r.IntN(most + 1)
		}
		offs[r.IntN(k)] = most
		for i := range sums {
			sums[i] = int32(r.Uint32())
		}
		want := slices.Clone(sums)
		flip, back := byte(r.IntN(2)*128), byte(r.IntN(2)*128)
		p.Pack(dst, src, offs, most, flip, back, beyond, panels, sums)
		for i := range panels {
			for l, o := range offs {
				for j := range ByteColumns {
					v := src[o+i*ByteColumns+j] ^ flip
					if got := dst[i*k*ByteColumns+4*(l/4*ByteColumns+j)+l%4]; got != v {
						t.Fatalf("panel %d of %d, row %d of %d, column %d: got %d, want %d", i, panels, l, k, j, got, v)
					}
					if l < k-beyond {
						want[i*ByteColumns+j] += int32(v ^ back)
					}
				}
			}
		}
		if !slices.Equal(sums, want) {
			t.Fatalf("%d rows, of which %d are beyond: the sums are %v, want %v", k, beyond, sums, want)
		}
	}
	four := []int{0, 0, 0, 16}
	refused(t, func() { p.Pack(make([]byte, 64), make([]byte, 31), four, 16, 0, 0, 0, 1, make([]int32, 16)) })
	refused(t, func() { p.Pack(make([]byte, 63), make([]byte, 32), four, 16, 0, 0, 0, 1, make([]int32, 16)) })
	refused(t, func() { p.Pack(make([]byte, 64), make([]byte, 32), four, 16, 0, 0, 0, 1, make([]int32, 15)) })
	refused(t, func() { p.Pack(make([]byte, 64), make([]byte, 32), four, 16, 0, 0, 4, 1, make([]int32, 16)) })
}

func TestQuadsSums(t *testing.T) {
	p := quads(t)
	r := rand.New(rand.NewPCG(9, 10))
	from, to := guard(t, 1<<15), guard(t, 4096)
	for range 200 {
		rows, blocks := 1+r.IntN(20), 1+r.IntN(5)
		lda := blocks*QuadBlock + r.IntN(70)
		a, sums := elements[byte](from, (rows-1)*lda+blocks*QuadBlock, 0), elements[int32](to, rows, 0)
		byteEnds(r, a)
		back := byte(r.IntN(2) * 128)
		p.Sums(sums, a, lda, blocks, back)
		for i, got := range sums {
			want := int32(0)
			for _, v := range a[i*lda:][:blocks*QuadBlock] {
				want += int32(v ^ back)
			}
			if got != want {
				t.Fatalf("row %d of %d of %d blocks: got %d, want %d", i, rows, blocks, got, want)
			}
		}
	}
	refused(t, func() { p.Sums(make([]int32, 2), make([]byte, 127), 64, 1, 0) })
}

func TestQuadsMend(t *testing.T) {
	p := quads(t)
	r := rand.New(rand.NewPCG(11, 12))
	ca, za, la := guard(t, 4096), guard(t, 4096), guard(t, 4096)
	for range 100 {
		n := ByteColumns * (1 + r.IntN(9))
		c, zero, col := elements[int32](ca, n, 0), elements[int32](za, n, 0), elements[int32](la, n, 0)
		for i := range c {
			c[i], zero[i], col[i] = int32(r.Uint32()), int32(r.Uint32()), int32(r.Uint32())
		}
		a, b := int32(r.Uint32()), int32(r.Uint32())
		want := slices.Clone(c)
		for i := range want {
			want[i] -= zero[i]*a + col[i]*b
		}
		if p.Mend(c, zero, col, a, b); !slices.Equal(c, want) {
			t.Fatalf("%d sums: got %v, want %v", n, c, want)
		}
	}
	refused(t, func() { p.Mend(make([]int32, 8), make([]int32, 8), make([]int32, 8), 1, 1) })
	refused(t, func() { p.Mend(make([]int32, 16), make([]int32, 16), make([]int32, 15), 1, 1) })
}

func TestQuadsTiles(t *testing.T) {
	p := quads(t)
	r := rand.New(rand.NewPCG(7, 8))
	ca, aa, ba := guard(t, 1<<16), guard(t, 1<<16), guard(t, 1<<17)
	for i := range 600 {
		m, panels, k := 1+r.IntN(30), 1+r.IntN(5), 4*(1+r.IntN(20))
		lda, ldc, offs := k+r.IntN(3), panels*ByteColumns+r.IntN(5), tileRuns(r)
		all, most := len(offs)*k, slices.Max(offs)
		a := elements[byte](aa, (m-1)*lda+most+k, 0)
		b := elements[byte](ba, panels*all*ByteColumns, 0)
		c := elements[int32](ca, (m-1)*ldc+panels*ByteColumns, 0)
		byteEnds(r, a)
		byteEnds(r, b)
		for i := range c {
			c[i] = int32(r.Uint32())
		}
		want := slices.Clone(c)
		add := i%2 == 0
		for i := range m {
			for j := range panels * ByteColumns {
				var sum int32
				for l := range all {
					sum += int32(a[i*lda+offs[l/k]+l%k]) * int32(int8(b[j/ByteColumns*all*ByteColumns+4*(l/4*ByteColumns+j%ByteColumns)+l%4]))
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
	four := make([]byte, 4)
	refused(t, func() { p.Tiles(make([]int32, 15), 16, four, 4, firstRun, 0, make([]byte, 64), 1, 1, 4, false) })
	refused(t, func() { p.Tiles(make([]int32, 32), 16, four, 4, firstRun, 0, make([]byte, 64), 2, 1, 4, false) })
	refused(t, func() { p.Tiles(make([]int32, 32), 16, four, 4, firstRun, 0, make([]byte, 127), 1, 2, 4, false) })
}

func TestQuadsWiden(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for n := range 50 {
		src, dst, flip := make([]byte, n), make([]byte, n), byte(r.IntN(2)*128)
		byteEnds(r, src)
		quads(t).Widen(dst, src, flip, 0)
		for i, v := range src {
			if dst[i] != v^flip {
				t.Fatalf("element %d of %d is %d, want %d", i, n, dst[i], v^flip)
			}
		}
	}
}

// The figures are of one thread; a step is a product and a sum.
func BenchmarkQuads(b *testing.B) {
	p := quads(b)
	const m, k, panels = 192, 512, 8
	c, a, w := make([]int32, m*panels*ByteColumns), make([]byte, m*k), make([]byte, panels*k*ByteColumns)
	src, offs, sums := make([]byte, k*panels*ByteColumns), make([]int, k), make([]int32, panels*ByteColumns)
	for l := range offs {
		offs[l] = l * panels * ByteColumns
	}
	for _, m := range []int{m, 1} {
		b.Run(fmt.Sprintf("tiles/%dx%dx%d", m, k, panels*ByteColumns), func(b *testing.B) {
			for b.Loop() {
				p.Tiles(c, panels*ByteColumns, a, k, firstRun, 0, w, m, panels, k, false)
			}
			b.ReportMetric(float64(b.N)*float64(m)*k*panels*ByteColumns/float64(b.Elapsed().Nanoseconds()), "steps/ns")
		})
	}
	b.Run("pack", func(b *testing.B) {
		for b.Loop() {
			p.Pack(w, src, offs, offs[k-1], 128, 0, 0, panels, sums)
		}
		b.ReportMetric(float64(b.N)*k*panels*ByteColumns/float64(b.Elapsed().Nanoseconds()), "bytes/ns")
	})
}
