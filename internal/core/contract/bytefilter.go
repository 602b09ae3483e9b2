package contract

import (
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/simd"
)

// keptBytes are the weights of a product of bytes as the kernels take them, a block of k after the other: columns of b in panels.
type keptBytes[T any] struct {
	packed []T
	sums   []int32 // of each column of a block, for quads
	zero   []int32 // the numbers subtracted, for pairs
	n      int     // columns
}

// keptOf returns the packed weights of n columns. The first call packs each block. It returns nil where another level packed them.
func keptOf[T any](s *ByteSide, x *ByteProduct, n, unit int, pack func(k *keptBytes[T], b []byte, p *Panels, k0 int)) *keptBytes[T] {
	f := s.Filter
	if f == nil {
		return nil
	}
	f.once.Do(func() {
		k := &keptBytes[T]{packed: make([]T, n*roundUp(x.K, unit)), sums: make([]int32, n*byteBlocks(x.K)), zero: slices.Clone(s.Zero), n: n}
		p := PanelsOf(byteK * simd.ByteColumns)
		defer PanelPool.Put(p)
		mem := s.bytes()
		for k0 := 0; k0 < x.K; k0 += byteK {
			pack(k, mem, p, k0)
		}
		f.packed = k
		runtime.KeepAlive(p)
	})
	k, _ := f.packed.(*keptBytes[T])
	return k
}

// byteBlocks returns how many blocks k elements have.
func byteBlocks(k int) int { return (k + byteK - 1) / byteK }

// at returns the packed elements of a block from column i on, and the sums.
func (k *keptBytes[T]) at(k0, i, size int) (packed []T, sums []int32) {
	return k.packed[k.n*k0+i*size:], k.sums[k0/byteK*k.n+i:]
}

// BytesKept returns how many bytes the weights take that are kept packed: n columns of k bytes.
func BytesKept(n, k int) int64 {
	unit, size := byteUnit()
	return int64(roundUp(n, simd.ByteColumns)) * int64(roundUp(k, unit)*size+4*byteBlocks(k))
}

// quadPanels returns the panels of b for quads, if they are kept.
func (x *ByteProduct) quadPanels(t *simd.Quads) *keptBytes[byte] {
	return keptOf(&x.B, x, roundUp(x.N, simd.ByteColumns), 4, func(k *keptBytes[byte], b []byte, p *Panels, k0 int) {
		to, sums := k.at(k0, 0, 0)
		x.joinQuads(t, p, p.Bytes(), to, sums, b, x.N, k0)
	})
}

// pairPanels returns the panels of b, if they are kept and the zero points are those that are subtracted from them: of int8 the middle alone.
func pairPanels[T int8 | int16](x *ByteProduct, t byteTiler[T]) *keptBytes[T] {
	k := keptOf(&x.B, x, roundUp(x.N, simd.ByteColumns), t.Group(), func(k *keptBytes[T], b []byte, p *Panels, k0 int) {
		to, _ := k.at(k0, 0, 0)
		zero := make([]T, t.Group()*k.n)
		joinPanels(x, t, p, p.Bytes(), to, b, x.N, k0, zero, zerosOf(x, t, zero, 0))
	})
	_, narrow := any(T(0)).(int8)
	if k == nil || narrow && x.B.left(middle) || !narrow && !slices.Equal(k.zero, x.B.Zero) {
		return nil
	}
	return k
}
