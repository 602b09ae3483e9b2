//go:build linux && (amd64 || arm64) && !purego

package simd

import (
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
)

func testTranspose[T uint32 | uint64](t *testing.T, p *Transposition[T]) {
	if p == nil {
		t.Skip("no kernel at this level")
	}
	r := rand.New(rand.NewPCG(5, 5))
	for m := 0; m <= p.side; m++ {
		for n := 0; n <= 3*p.side+1; n++ {
			lds, ldd := n+r.IntN(9), m+r.IntN(9)
			stream := m == p.side && n%4 == 0
			if stream {
				ldd = p.side * (1 + r.IntN(3))
			}
			src := atEnd(t, make([]T, max(0, (m-1)*lds+n)))
			for i := range src {
				src[i] = T(r.Uint64())
			}
			size := max(0, (n-1)*ldd+m)
			if m == 0 || n == 0 {
				size, src = 0, nil
			}
			dst := atEnd(t, make([]T, size))
			want := make([]T, size)
			for i := range want {
				want[i] = ^T(0) >> 1
				dst[i] = want[i]
			}
			for i := range m {
				for j := range n {
					want[j*ldd+i] = src[i*lds+j]
				}
			}
			p.Rows(dst, ldd, src, lds, m, n, r.IntN(1000), stream)
			Fence()
			for i := range want {
				if dst[i] != want[i] {
					t.Fatalf("m %d, n %d, lds %d, ldd %d, streamed %t: element %d is %#x, want %#x", m, n, lds, ldd, stream, i, dst[i], want[i])
				}
			}
		}
	}
}

func TestTranspose(t *testing.T) {
	levels(t, func(t *testing.T, level cpu.Level) {
		t.Run("32", func(t *testing.T) { testTranspose(t, Transpose32[level]) })
		t.Run("64", func(t *testing.T) { testTranspose(t, Transpose64[level]) })
	})
}

func testNarrow[T uint8 | uint16](t *testing.T, p *NarrowTransposition[T]) {
	if p == nil {
		t.Skip("no kernel at this level")
	}
	r := rand.New(rand.NewPCG(6, 6))
	for n := 0; n <= 5*p.side; n += p.side {
		lds, ldd := n+r.IntN(9), p.side+r.IntN(9)
		src, dst := atEnd(t, make([]T, (p.side-1)*lds+n)), atEnd(t, make([]T, max(0, (n-1)*ldd+p.side)))
		for i := range src {
			src[i] = T(r.Uint64())
		}
		want := make([]T, len(dst))
		for i := range want {
			want[i] = T(r.Uint64())
			dst[i] = want[i]
		}
		for i := range p.side {
			for j := range n {
				want[j*ldd+i] = src[i*lds+j]
			}
		}
		p.Rows(dst, ldd, src, lds, n)
		for i := range want {
			if dst[i] != want[i] {
				t.Fatalf("n %d, lds %d, ldd %d: element %d is %#x, want %#x", n, lds, ldd, i, dst[i], want[i])
			}
		}
	}
}

func TestNarrowTranspose(t *testing.T) {
	levels(t, func(t *testing.T, level cpu.Level) {
		t.Run("8", func(t *testing.T) { testNarrow(t, Transpose8[level]) })
		t.Run("16", func(t *testing.T) { testNarrow(t, Transpose16[level]) })
	})
}
