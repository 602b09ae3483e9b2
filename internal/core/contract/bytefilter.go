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
	k, _ := f.pack(func() any {
		k := &keptBytes[T]{packed: make([]T, n*roundUp(x.K, unit)), sums: make([]int32, n*byteBlocks(x.K)), zero: slices.Clone(s.Zero), n: n}
		p := PanelsOf(byteK * simd.ByteColumns)
		defer PanelPool.Put(p)
		mem := s.bytes()
		for k0 := 0; k0 < x.K; k0 += byteK {
			pack(k, mem, p, k0)
		}
		runtime.KeepAlive(p)
		return k
	}).(*keptBytes[T])
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

// byteWeights are packed weights of a direct convolution: of each group and block of runs the panels.
type byteWeights[T int8 | int16 | uint8] struct {
	panels []T
	sums   []int32 // of each output channel: of the elements
	zeros  []int32 // the zero points that are still in the elements, if there are any
	zero   []int32 // the zero points of which they were made
	run    int
}

// bytesLess returns the number that is subtracted from unsigned bytes of a side for zero point z: of quads 0 from the input.
func bytesLess[T int8 | int16 | uint8](z int16, weights bool) int16 {
	switch any(T(0)).(type) {
	case int16:
		return z
	case uint8:
		if !weights {
			return 0
		}
	}
	return middle
}

// weightsOf returns the packed weights.
func weightsOf[T int8 | int16 | uint8, E byte | int32](e *directByte[T, E], w *ByteSide) *byteWeights[T] {
	if f := w.Filter; f != nil {
		if p, ok := f.pack(func() any { return packBytes(e, w) }).(*byteWeights[T]); ok && p.run == e.run && slices.Equal(p.zero, w.Zero) {
			return p
		}
	}
	return packBytes(e, w)
}

// packBytes packs weights.
func packBytes[T int8 | int16 | uint8, E byte | int32](e *directByte[T, E], w *ByteSide) *byteWeights[T] {
	const cols = simd.ByteColumns
	p := &byteWeights[T]{sums: make([]int32, e.M), zero: slices.Clone(w.Zero), run: e.run}
	number := func(m, k int) T {
		v := T(int16(w.Mem[m*e.K+k]^w.flip()) - bytesLess[T](w.zero(m), true))
		if _, quads := any(v).(uint8); quads {
			p.sums[m] += int32(int8(v))
		} else {
			p.sums[m] += int32(v)
		}
		return v
	}
	if e.deep {
		p.panels = make([]T, roundUp(len(e.runs), 2)*e.panels*cols)
		for m := range e.M {
			for k := range e.K {
				p.panels[deepPlace(len(e.runs), m, k)] = number(m, k)
			}
		}
		return p
	}
	for m := range e.M {
		if z := w.zero(m); z != bytesLess[T](z, true) {
			p.zeros = make([]int32, e.M)
			for m := range p.zeros {
				p.zeros[m] = int32(w.zero(m) - middle)
			}
			break
		}
	}
	mg, group := e.M/e.Group, e.tiles.Group()
	panels, k := e.panels, len(e.taps)
	if p.zeros != nil {
		panels++
	}
	p.panels = make([]T, e.Group*panels*k*cols)
	for from := 0; from < k; {
		n := min(k-from, e.block()*e.run)
		for i := range e.Group {
			to := p.panels[(i*k+from)*panels*cols:]
			for l, tap := range e.taps[from : from+n] {
				if tap < 0 {
					continue
				}
				at := l/group*group*cols + l%group
				for c := range mg {
					to[c/cols*n*cols+at+c%cols*group] = number(i*mg+c, tap)
				}
				if p.zeros != nil {
					to[e.panels*n*cols+at] = 1
				}
			}
		}
		from += n
	}
	return p
}

// BytesKept returns how many bytes the weights of a convolution of bytes take that f keeps: 0 without it, and where the form has none.
func (g *Convolution) BytesKept(f *Filter) int64 {
	if f == nil || !g.BytesDirect() {
		return 0
	}
	unit, size := byteUnit()
	columns := int64(roundUp(g.M/g.Group, simd.ByteColumns)+simd.ByteColumns) * int64(g.Group)
	if g.deepBytes() {
		unit, size, columns = 2, 2, int64(roundUp(g.M, simd.ByteColumns))
	}
	cg, runs := g.C/g.Group, g.K/(g.C/g.Group)
	return columns*int64(runs)*int64(roundUp(cg, unit)+unit*(cg/byteK+1))*int64(size) + 8*int64(g.M)
}
