package contract

import (
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/simd"
)

// keptBytes are the weights of a product of bytes as the kernels take them, a block of k after the other: rows of a, or columns of b in panels.
type keptBytes[T any] struct {
	packed []T
	sums   []int32 // of each row or column of a block, for quads
	zero   []int32 // the numbers subtracted, for pairs
	signed bool    // whether a is, for quads
	n      int     // rows or columns
}

// keptOf returns the packed weights of n rows or columns. The first call packs each block. It returns nil where another level packed them.
func keptOf[T any](s *ByteSide, x *ByteProduct, n, unit int, pack func(k *keptBytes[T], b []byte, p *Panels, k0 int)) *keptBytes[T] {
	f := s.Filter
	if f == nil {
		return nil
	}
	f.once.Do(func() {
		k := &keptBytes[T]{packed: make([]T, n*roundUp(x.K, unit)), sums: make([]int32, n*byteBlocks(x.K)), zero: slices.Clone(s.Zero), signed: x.A.Signed, n: n}
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

// at returns the packed elements of a block from row or column i on, and the sums.
func (k *keptBytes[T]) at(k0, i, size int) (packed []T, sums []int32) {
	return k.packed[k.n*k0+i*size:], k.sums[k0/byteK*k.n+i:]
}

// BytesKept returns how many bytes the weights take that are kept packed: n rows of k bytes, or n columns.
func BytesKept(n, k int, columns bool) int64 {
	unit, size := 1, 1
	switch {
	case byteQuads == nil:
		unit, size = byteUnit()
	case columns:
		unit = 4
	default:
		unit = simd.QuadBlock
	}
	if columns {
		n = roundUp(n, simd.ByteColumns)
	}
	return int64(n) * int64(roundUp(k, unit)*size+4*byteBlocks(k))
}

// quadRows returns the rows of a for quads, if they are kept.
func (x *ByteProduct) quadRows(t *simd.Quads) *keptBytes[byte] {
	return keptOf(&x.A, x, x.rows(), simd.QuadBlock, func(k *keptBytes[byte], _ []byte, _ *Panels, k0 int) {
		to, sums := k.at(k0, 0, 0)
		x.packQuads(t, to, sums[:k.n], k.n, 0, k0)
	})
}

// quadPanels returns the panels of b for quads, if they are kept.
func (x *ByteProduct) quadPanels(t *simd.Quads) *keptBytes[byte] {
	k := keptOf(&x.B, x, roundUp(x.N, simd.ByteColumns), 4, func(k *keptBytes[byte], b []byte, p *Panels, k0 int) {
		to, sums := k.at(k0, 0, 0)
		x.joinQuads(t, p, p.Bytes(), to, sums, b, x.N, k0)
	})
	if k != nil && k.signed != x.A.Signed {
		return nil
	}
	return k
}

// pairRows returns the rows of a, if they are kept.
func pairRows[T int8 | int16](x *ByteProduct, t byteTiler[T]) *keptBytes[T] {
	return subtracting(&x.A, keptOf(&x.A, x, x.rows(), t.Group(), func(k *keptBytes[T], _ []byte, _ *Panels, k0 int) {
		to, _ := k.at(k0, 0, 0)
		widenRows(x, t, to, k.n, 0, k0)
	}))
}

// pairPanels returns the panels of b, if they are kept.
func pairPanels[T int8 | int16](x *ByteProduct, t byteTiler[T]) *keptBytes[T] {
	return subtracting(&x.B, keptOf(&x.B, x, roundUp(x.N, simd.ByteColumns), t.Group(), func(k *keptBytes[T], b []byte, p *Panels, k0 int) {
		to, _ := k.at(k0, 0, 0)
		zero := make([]T, t.Group()*k.n)
		joinPanels(x, t, p, p.Bytes(), to, b, x.N, k0, zero, zerosOf(x, t, zero, 0))
	}))
}

// subtracting returns packed weights if the zero points of a side are subtracted from them: of int8 the middle alone.
func subtracting[T int8 | int16](s *ByteSide, k *keptBytes[T]) *keptBytes[T] {
	_, narrow := any(T(0)).(int8)
	if k == nil || narrow && s.left() || !narrow && !slices.Equal(k.zero, s.Zero) {
		return nil
	}
	return k
}
