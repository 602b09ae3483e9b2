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

func TestBytesWiden(t *testing.T) {
	levels(t, func(t *testing.T, level cpu.Level) {
		p := ByteProducts[level]
		r := rand.New(rand.NewPCG(3, 4))
		from, to := guard(t, 4096), guard(t, 4096)
		for n := range 100 {
			for _, at := range []int{0, -1, 1024} {
				src, dst := elements[byte](from, n, at), elements[int16](to, n, at)
				byteEnds(r, src)
				flip, zero := byte(r.IntN(2)*128), int16(r.IntN(256))
				want := make([]int16, n)
				for i, v := range src {
					want[i] = int16(v^flip) - zero
				}
				p.Widen(dst, src, flip, zero)
				if !slices.Equal(dst, want) {
					t.Fatalf("of %d bytes %v, flip %d, zero %d: got %v, want %v", n, src, flip, zero, dst, want)
				}
			}
		}
	})
}

func TestBytesPair(t *testing.T) {
	levels(t, func(t *testing.T, level cpu.Level) {
		p := ByteProducts[level]
		r := rand.New(rand.NewPCG(5, 6))
		from, to, off := guard(t, 8192), guard(t, 16384), guard(t, 4096)
		for range 300 {
			k, panels, step := 2*(1+r.IntN(9)), 1+r.IntN(4), r.IntN(2)*2*ByteColumns
			most := r.IntN(200)
			src := elements[byte](from, most+panels*ByteColumns, 0)
			byteEnds(r, src)
			dst := elements[int16](to, panels*k*ByteColumns, 0)
			offs := elements[int](off, k, 0)
			for l := range offs {
				offs[l] = r.IntN(most + 1)
			}
			offs[r.IntN(k)] = most
			zero := make([]int16, (panels-1)*step+2*ByteColumns)
			for i := range zero {
				zero[i] = int16(r.IntN(2) * 255)
			}
			flip := byte(r.IntN(2) * 128)
			p.Pair(dst, src, offs, most, flip, zero, step, panels)
			for i := range panels {
				for l, o := range offs {
					for j := range ByteColumns {
						want := int16(src[o+i*ByteColumns+j]^flip) - zero[i*step+2*j+l%2]
						if got := dst[i*k*ByteColumns+2*(l/2*ByteColumns+j)+l%2]; got != want {
							t.Fatalf("panel %d of %d, row %d of %d, column %d: got %d, want %d", i, panels, l, k, j, got, want)
						}
					}
				}
			}
		}
		refused(t, func() { p.Pair(make([]int16, 32), make([]byte, 31), []int{0, 16}, 16, 0, make([]int16, 32), 0, 1) })
		refused(t, func() { p.Pair(make([]int16, 31), make([]byte, 32), []int{0, 16}, 16, 0, make([]int16, 32), 0, 1) })
		refused(t, func() { p.Pair(make([]int16, 64), make([]byte, 48), []int{0, 16}, 16, 0, make([]int16, 63), 32, 2) })
	})
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

func TestBytesTiles(t *testing.T) {
	levels(t, func(t *testing.T, level cpu.Level) {
		p := ByteProducts[level]
		r := rand.New(rand.NewPCG(7, 8))
		ca, aa, ba := guard(t, 1<<16), guard(t, 1<<16), guard(t, 1<<17)
		fill := func(s []int16) {
			how := r.IntN(3)
			for i := range s {
				if s[i] = int16(r.IntN(511) - 255); how > 0 {
					s[i] = int16(255 - 510*(how-1))
				}
			}
		}
		for i := range 400 {
			m, panels, k := 1+r.IntN(20), 1+r.IntN(4), 2*(1+r.IntN(20))
			lda, ldc := k+2*r.IntN(3), panels*ByteColumns+r.IntN(5)
			a := elements[int16](aa, (m-1)*lda+k, 0)
			b := elements[int16](ba, panels*k*ByteColumns, 0)
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
					for l := range k {
						sum += int32(a[i*lda+l]) * int32(b[j/ByteColumns*k*ByteColumns+2*(l/2*ByteColumns+j%ByteColumns)+l%2])
					}
					if add {
						sum += want[i*ldc+j]
					}
					want[i*ldc+j] = sum
				}
			}
			p.Tiles(c, ldc, a, lda, b, m, panels, k, add)
			if !slices.Equal(c, want) {
				t.Fatalf("%d rows, %d panels, k %d, added %t: got %v, want %v", m, panels, k, add, c, want)
			}
		}
		one := []int16{0, 0}
		refused(t, func() { p.Tiles(make([]int32, 15), 16, one, 2, make([]int16, 32), 1, 1, 2, false) })
		refused(t, func() { p.Tiles(make([]int32, 32), 16, one, 2, make([]int16, 32), 2, 1, 2, false) })
		refused(t, func() { p.Tiles(make([]int32, 32), 16, one, 0, make([]int16, 63), 1, 2, 2, false) })
	})
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
			p.Tiles(c, panels*ByteColumns, a, k, w, m, panels, k, false)
		}
		b.ReportMetric(float64(b.N)*m*k*panels*ByteColumns/float64(b.Elapsed().Nanoseconds()), "steps/ns")
	})
	b.Run("tiles/one", func(b *testing.B) {
		for b.Loop() {
			p.Tiles(c, panels*ByteColumns, a, k, w, 1, panels, k, false)
		}
		b.ReportMetric(float64(b.N)*k*panels*ByteColumns/float64(b.Elapsed().Nanoseconds()), "steps/ns")
	})
	b.Run("pair", func(b *testing.B) {
		for b.Loop() {
			p.Pair(w, src, offs, offs[k-1], 128, zero, 0, panels)
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
