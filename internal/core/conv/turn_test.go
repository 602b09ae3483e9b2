package conv

import (
	"math/rand/v2"
	"testing"
)

// Transposing copies between blocks of any stride, of every element size, against the element-wise one: either side
// may be the one with adjacent elements, rows and columns of src may go backward, and what is between the rows of dst stays.
func TestTurn(t *testing.T) {
	t.Run("1", func(t *testing.T) { testTurn(t, func(r *rand.Rand) uint8 { return uint8(r.Uint32()) }) })
	t.Run("2", func(t *testing.T) { testTurn(t, func(r *rand.Rand) uint16 { return uint16(r.Uint32()) }) })
	t.Run("4", func(t *testing.T) { testTurn(t, func(r *rand.Rand) uint32 { return r.Uint32() }) })
	t.Run("8", func(t *testing.T) { testTurn(t, func(r *rand.Rand) uint64 { return r.Uint64() }) })
	t.Run("16", func(t *testing.T) { testTurn(t, func(r *rand.Rand) [2]uint64 { return [2]uint64{r.Uint64(), 1} }) })
}

func testTurn[T comparable](t *testing.T, random func(*rand.Rand) T) {
	r := rand.New(rand.NewPCG(2, 3))
	check := func(m, n int) {
		pad1, pad2 := r.IntN(5), r.IntN(5)
		// src is m × n by rows, dst n × m by rows; the block is described from either side.
		from, row, col := 3, n+pad1, 1
		if r.IntN(2) == 0 {
			from, row = from+(m-1)*row, -row
		}
		if r.IntN(2) == 0 {
			from, col = from+(n-1)*col, -col
		}
		s, d := Block{from, m, row, n, col}, Block{5, m, 1, n, m + pad2}
		if r.IntN(2) == 0 {
			s, d = Block{from, n, col, m, row}, Block{5, n, m + pad2, m, 1}
		}
		src, dst := make([]T, 3+m*(n+pad1)), make([]T, 5+n*(m+pad2))
		for i := range src {
			src[i] = random(r)
		}
		for i := range dst {
			dst[i] = random(r)
		}
		want := append([]T(nil), dst...)
		for i := range m {
			for j := range n {
				want[5+j*(m+pad2)+i] = src[from+i*row+j*col]
			}
		}
		Copy2(dst, src, d, s, false)
		for i := range want {
			if dst[i] != want[i] {
				t.Fatalf("%d × %d, rows %d and %d apart, columns %d: element %d is %v, want %v", m, n, row, m+pad2, col, i, dst[i], want[i])
			}
		}
	}
	for m := 1; m <= 35; m++ {
		for n := 1; n <= 35; n++ {
			check(m, n)
		}
	}
	check(100, 333)
	check(129, 130) // tiles of narrow elements, and what is beside them
	check(515, 600) // more than turnLarge with the larger elements
}
