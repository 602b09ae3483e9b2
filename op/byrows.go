package op

import (
	"math"
	"runtime"
	"sync"

	"github.com/ashlar-go/ashlar/internal/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// A reduction over an axis whose neighbouring elements are far apart, while those
// of neighbouring outputs lie side by side, such as over the first axis of a
// row-major matrix: it takes whole stretches of rows at a time. Which elements are
// added to which, in what order, is what summation.go says.

const (
	stripLen = 1024 // outputs side by side
	fewOuts  = 16   // outputs for which that pays
)

// byRows calls work with the tile for up to stripLen neighbouring outputs and what
// returns row i, of n, of the elements that go into them. It does nothing and
// returns false if the memory isn't like that.
func byRows[T, R num.Elem](j job, a *tensor.Tensor[T], x *axes, dst *tensor.Tensor[R], work func(tile []R, n int, row func(i int) []T)) bool {
	seq, lay := sequenceOf(&x.gone), dst.LayoutRef()
	if seq.n < 2 || lay.Size() == 0 {
		return false
	}
	kept, to := sequenceOf(&x.kept), sequenceOf(lay)
	wide := kept.ext[0]
	if seq.str[0] == 1 || kept.str[0] != 1 || wide < fewOuts {
		return false
	}
	data, base := a.Data()
	out, at := dst.Mutable()
	across := (wide + stripLen - 1) / stripLen
	split(j.name, j.ctx, kept.n/wide*across, seq.n*min(wide, stripLen)*j.cost, func(from, upTo int) {
		tile := make([]R, min(wide, stripLen))
		for s := from; s < upTo; s++ {
			o := s/across*wide + s%across*stripLen
			first, w := base+kept.offset(o), min(stripLen, wide-s%across*stripLen)
			work(tile[:w], seq.n, func(i int) []T {
				off := first + seq.offset(i)
				return data[off : off+w]
			})
			scatter(&to, out, tile[:w], at, o)
		}
	})
	runtime.KeepAlive(a)
	runtime.KeepAlive(dst)
	return true
}

// extremeRows returns the largest or smallest elements by the rows of Max or Min,
// or by a kernel of lines of float32 or float64.
func extremeRows[T num.Elem](o *op2, lines32 lineKernel[float32, float32], lines64 lineKernel[float64, float64]) func(j job, a *tensor.Tensor[T], x *axes, dst *tensor.Tensor[T]) bool {
	return func(j job, a *tensor.Tensor[T], x *axes, dst *tensor.Tensor[T]) bool {
		switch a := any(a).(type) {
		case *tensor.Tensor[float32]:
			if extremeLines(j, a, x, any(dst).(*tensor.Tensor[float32]), lines32) {
				return true
			}
		case *tensor.Tensor[float64]:
			if extremeLines(j, a, x, any(dst).(*tensor.Tensor[float64]), lines64) {
				return true
			}
		}
		two := row2Of[T](&o.rows)
		if r := fastest(o.fast); r != nil {
			if f := row2Of[T](r); f != nil {
				two = f
			}
		}
		return two != nil && byRows(j, a, x, dst, func(tile []T, n int, row func(i int) []T) {
			copy(tile, row(0))
			for i := 1; i < n; i++ {
				two(tile, tile, row(i))
			}
			canonicalRow(tile)
		})
	}
}

func extremeLines[T num.Float](j job, a *tensor.Tensor[T], x *axes, dst *tensor.Tensor[T], kernel lineKernel[T, T]) bool {
	return kernel.there() && byLines(j, a, x, dst, func(out, x []T, step, n int) {
		kernel(out, x, step, n)
		canonicalRow(out)
	})
}

// positionRows finds the first largest elements, or the first smallest, of float32
// and float64 with an instruction set.
func positionRows[T num.Elem](smallest bool) func(j job, a *tensor.Tensor[T], x *axes, dst *tensor.Tensor[int64]) bool {
	return func(j job, a *tensor.Tensor[T], x *axes, dst *tensor.Tensor[int64]) bool {
		switch a := any(a).(type) {
		case *tensor.Tensor[float32]:
			row, best, better := simd.TryArgMaxRow32, simd.TryMaxLines32, greaterFloat[float32]
			if smallest {
				row, best, better = simd.TryArgMinRow32, simd.TryMinLines32, lessFloat[float32]
			}
			return row(nil, nil, nil, 0) && (byLines(j, a, x, dst, func(out []int64, x []float32, step, n int) {
				positionLines(out, x, step, n, best, better, simd.TryFirstLines32)
			}) || x.gone.Size() <= math.MaxInt32 && positionsByRows(j, a, x, dst, math.MinInt32, row))
		case *tensor.Tensor[float64]:
			row, best, better := simd.TryArgMaxRow64, simd.TryMaxLines64, greaterFloat[float64]
			if smallest {
				row, best, better = simd.TryArgMinRow64, simd.TryMinLines64, lessFloat[float64]
			}
			return row(nil, nil, nil, 0) && (byLines(j, a, x, dst, func(out []int64, x []float64, step, n int) {
				positionLines(out, x, step, n, best, better, simd.TryFirstLines64)
			}) || positionsByRows(j, a, x, dst, math.MinInt64, row))
		}
		return false
	}
}

// positionsByRows runs try over rows, with a key below all others to begin with.
func positionsByRows[I int32 | int64, T num.Float](j job, a *tensor.Tensor[T], x *axes, dst *tensor.Tensor[int64], least I, try func(key, at []I, a []T, i I) bool) bool {
	return byRows(j, a, x, dst, func(tile []int64, n int, row func(i int) []T) {
		key, at := make([]I, len(tile)), make([]I, len(tile))
		for i := range key {
			key[i] = least
		}
		for i := range n {
			try(key, at, row(i), I(i))
		}
		for i, p := range at {
			tile[i] = int64(p)
		}
	})
}

// sumRows returns what finish makes of the sums of float32 or float64; it does
// nothing and returns false for other types.
func sumRows[T num.Elem](finish func(sum float64, n int) float64) func(j job, a *tensor.Tensor[T], x *axes, dst *tensor.Tensor[T]) bool {
	return func(j job, a *tensor.Tensor[T], x *axes, dst *tensor.Tensor[T]) bool {
		switch a := any(a).(type) {
		case *tensor.Tensor[float32]:
			dst := any(dst).(*tensor.Tensor[float32])
			if kernel := lineKernel[float64, float32](simd.TrySumLines32); kernel.there() && byLines(j, a, x, dst, func(out, x []float32, step, n int) {
				sumLines(out, x, step, n, kernel, finish)
			}) {
				return true
			}
			return byRows(j, a, x, dst, func(tile []float32, n int, row func(i int) []float32) {
				sumTile(tile, n, row, simd.TrySumRows32, finish)
			})
		case *tensor.Tensor[float64]:
			dst := any(dst).(*tensor.Tensor[float64])
			if kernel := lineKernel[float64, float64](simd.TrySumLines64); kernel.there() && byLines(j, a, x, dst, func(out, x []float64, step, n int) {
				sumLines(out, x, step, n, kernel, finish)
			}) {
				return true
			}
			return byRows(j, a, x, dst, func(tile []float64, n int, row func(i int) []float64) {
				sumTile(tile, n, row, simd.TrySumRows64, finish)
			})
		}
		return false
	}
}

// summers is a summer for each output of a tile.
type summers struct {
	lane  [sumLanes * stripLen]float64 // the outputs' lanes 0, then their lanes 1, and so on
	block [][]float64                  // block[k] has the sums of 2^k blocks where bit k of count is set
	count uint64
}

var tileSummers = sync.Pool{New: func() any { return new(summers) }}

// sumTile adds n rows up; four adds four of them to dst, in their order, if it can.
func sumTile[T num.Float](tile []T, n int, row func(i int) []T, four func(dst []float64, a, b, c, d []T) bool, finish func(sum float64, n int) float64) {
	s := tileSummers.Get().(*summers)
	defer tileSummers.Put(s)
	w := len(tile)
	s.count = 0
	for start := 0; start < n; start += sumBlock {
		end := min(start+sumBlock, n)
		lanes := min(sumLanes, end-start)
		all := s.lane[:lanes*w]
		for i := range all {
			all[i] = math.Copysign(0, -1)
		}
		for l := range lanes {
			lane, i := all[l*w:(l+1)*w], start+l
			for ; i+3*sumLanes < end; i += 4 * sumLanes {
				a, b, c, d := row(i), row(i+sumLanes), row(i+2*sumLanes), row(i+3*sumLanes)
				if !four(lane, a, b, c, d) {
					for k := range lane {
						lane[k] = lane[k] + float64(a[k]) + float64(b[k]) + float64(c[k]) + float64(d[k])
					}
				}
			}
			for ; i < end; i += sumLanes {
				for k, v := range row(i) {
					lane[k] += float64(v)
				}
			}
		}
		for h := sumLanes / 2; h > 0; h /= 2 {
			if lanes > h { // absent lanes are −0 and may be skipped
				addTo(all[:(lanes-h)*w], all[h*w:lanes*w])
				lanes = h
			}
		}
		sum, k := all[:w], 0
		for ; s.count>>k&1 == 1; k++ {
			addTo(sum, s.block[k][:w])
		}
		if k == len(s.block) {
			s.block = append(s.block, make([]float64, stripLen))
		}
		copy(s.block[k], sum)
		s.count++
	}
	var sum []float64
	for k := range s.block { // as in total of summer
		switch {
		case s.count>>k&1 == 0:
		case sum == nil:
			sum = s.block[k][:w]
		default:
			addTo(sum, s.block[k][:w])
		}
	}
	for i, v := range sum {
		tile[i] = T(finish(v, n))
	}
	canonicalRow(tile)
}

// addTo adds x to dst. It may make NaNs canonical.
func addTo(dst, x []float64) {
	if r := simd.Add.Best(); r != nil {
		r.F64(dst, dst, x)
		return
	}
	for i, v := range x[:len(dst)] {
		dst[i] += v
	}
}
