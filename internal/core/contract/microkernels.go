package contract

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
)

// A Tiler computes tiles of c from blocks of at most 256 k; NaNs are canonical.
type Tiler[T num.Native] interface {
	// Columns returns how many columns the widest tile has, and of how many the others are a
	// multiple where they can be.
	Columns() (most, lanes int)
	// Rows returns how many rows a tile of n columns has at most.
	Rows(n int) int
	// Tiles is float.FMABlock32 for tiles one below the other, and stores their sums as mode says.
	Tiles(c []T, ldc int, a []T, aRow, aCol int, b []T, ldb, m, n, k int, mode simd.Mode)
	// Gather copies src[offs[i]+j] to dst[i·ldd+j] for j < n, at most cols; most is the
	// largest offset.
	Gather(dst []T, ldd int, src []T, offs []int, most, n int)
}

// A streamer is a tiler that also takes rows of b one after the other into
// sums c[j] = fma(a[l·aStep], b[offs[l]+j], c[j]), which is how products with few rows
// read b once and in order; most is the largest offset.
type streamer[T num.Native] interface {
	AddRows(c, a []T, aStep int, b []T, offs []int, most int)
	// Dots does the same for columns of b that are runs: c[i] = fma(a[i·lda+l], x[l], c[i])
	// for each i of a vector, of whose columns the length of x is a multiple.
	Dots(c, a []T, lda int, x []T)
}

// A windower is a tiler that also makes rows of sums at once, of up to 256 elements each, from rows of b that are lds apart: it reports
// false if it doesn't. NaNs stay as they come.
type windower[T num.Native] interface {
	Windows(dst []T, ldd int, src []T, lds int, a []T, offs []int, most, rows, n int) bool
}

// TilesOf returns the tiler of the level in use.
func TilesOf[T num.Native]() Tiler[T] {
	var p any
	switch any((*T)(nil)).(type) {
	case *float32:
		if t := simd.Product32.Best(); t != nil {
			p = t
		}
	case *float64:
		if t := simd.Product64.Best(); t != nil {
			p = t
		}
	}
	if t, ok := p.(Tiler[T]); ok {
		return t
	}
	return pureTiles[T]{}
}

// pureTiles computes tiles by a pure loop.
type pureTiles[T num.Native] struct{}

// blockFunc computes a block of at most 256 k, m by n: c[i,j] = acc, where acc = +0
// and then acc = fma(a[i,l], b[l,j], acc) for each l < k in order. Columns of b
// and c are contiguous.
type blockFunc[T num.Native] func(c []T, ldc int, a []T, aRow, aCol int, b []T, ldb int, m, n, k int)

func (p pureTiles[T]) Columns() (most, lanes int) { return 64, 1 }

func (p pureTiles[T]) Rows(int) int { return 64 }

func (p pureTiles[T]) TapColumns() int { return 64 }

func (p pureTiles[T]) Gather(dst []T, ldd int, src []T, offs []int, most, n int) {
	for i, at := range offs {
		copy(dst[i*ldd:i*ldd+n], src[at:at+n])
	}
}

func (p pureTiles[T]) Tiles(c []T, ldc int, a []T, aRow, aCol int, b []T, ldb, m, n, k int, mode simd.Mode) {
	mac, canon := blockOf[T](), cast.CanonFor[T]()
	var sums []T
	if mode == simd.AddSums {
		s := PanelsOf(min(m, p.Rows(n))*n*dtype.Of[T]().Size() + 256)
		defer PanelPool.Put(s)
		rest := s.Bytes()
		sums = conv.Carve[T](&rest, min(m, p.Rows(n))*n)
	}
	for r := 0; r < m; r += p.Rows(n) {
		mn := min(p.Rows(n), m-r)
		if c, a := c[r*ldc:], a[min(r*aRow, len(a)):]; sums == nil { // without k there may be no a
			mac(c, ldc, a, aRow, aCol, b, ldb, mn, n, k)
		} else {
			mac(sums, n, a, aRow, aCol, b, ldb, mn, n, k)
			for i := range mn {
				row := c[i*ldc : i*ldc+n]
				for j, v := range sums[i*n : (i+1)*n] {
					row[j] += v
				}
			}
		}
		for i := r; canon != nil && i < r+mn; i++ {
			canon(c[i*ldc : i*ldc+n])
		}
	}
}

// TilesOfTaps and Deep are those of simd.Product.
func (p pureTiles[T]) TilesOfTaps(c []T, ldc int, a []T, aRow int, offs []int, most int, b []T, ldb int, bias, next []T, m, n int, mode simd.Mode) (left []T) {
	room := PanelsOf((GemmK+64)*dtype.Of[T]().Size() + 256) // an array would move to the heap
	defer PanelPool.Put(room)
	rest := room.Bytes()
	x, sums := conv.Carve[T](&rest, GemmK), conv.Carve[T](&rest, 64)
	mac := blockOf[T]()
	for i := range m {
		for l, at := range offs {
			x[l] = a[i*aRow+at]
		}
		mac(sums, n, x, 0, 1, b, ldb, 1, n, len(offs))
		after(c[i*ldc:][:n], sums[:n], bias, mode)
	}
	return next
}

func (p pureTiles[T]) Deep(c []T, ldc int, a []T, aRow int, offs []int, most int, b []T, ldb int, bias []T, m, n int, mode simd.Mode) {
	var fma func(c, a, b []T)
	switch any(c).(type) {
	case []float32:
		fma, _ = any(float.FMARow32).(func(c, a, b []T))
	case []float64:
		fma, _ = any(float.FMARow64).(func(c, a, b []T))
	}
	for i := range m {
		row := c[i*ldc:][:n]
		clear(row)
		for l, at := range offs {
			fma(row, a[i*aRow+at:], b[l*ldb:])
		}
		after(row, row, bias, mode)
	}
}

// after does the steps after a row of sums that mode has.
func after[T num.Native](row, sums, bias []T, mode simd.Mode) {
	for j, v := range sums {
		if mode&simd.AddSums != 0 {
			v += row[j]
		}
		if mode&simd.PlusBias != 0 {
			v += bias[j]
		}
		if mode&simd.Rectify != 0 && v <= 0 {
			v = 0
		}
		row[j] = v
	}
	cast.CanonFor[T]()(row)
}

// blockOf returns the blockFunc of T; integers wrap.
func blockOf[T num.Native]() blockFunc[T] {
	var p any
	switch any((*T)(nil)).(type) {
	case *int8:
		p = blockFunc[int8](intBlock[int8])
	case *int16:
		p = blockFunc[int16](intBlock[int16])
	case *int32:
		p = blockFunc[int32](intBlock[int32])
	case *int64:
		p = blockFunc[int64](intBlock[int64])
	case *uint8:
		p = blockFunc[uint8](intBlock[uint8])
	case *uint16:
		p = blockFunc[uint16](intBlock[uint16])
	case *uint32:
		p = blockFunc[uint32](intBlock[uint32])
	case *uint64:
		p = blockFunc[uint64](intBlock[uint64])
	case *float32:
		p = blockFunc[float32](float.FMABlock32)
	case *float64:
		p = blockFunc[float64](float.FMABlock64)
	}
	f, _ := p.(blockFunc[T])
	return f
}

func intBlock[T num.Integer](c []T, ldc int, a []T, aRow, aCol int, b []T, ldb int, m, n, k int) {
	for i := range m {
		row := c[i*ldc : i*ldc+n]
		clear(row)
		for l := range k {
			x, bs := a[i*aRow+l*aCol], b[l*ldb:l*ldb+n]
			for j := range row {
				row[j] += x * bs[j]
			}
		}
	}
}
