package op

import (
	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/internal/simd"
	"github.com/ashlar-go/ashlar/num"
)

// A reduction over elements that lie side by side, such as over the last axis of
// a row-major matrix, takes many lines in one call of a kernel.

const (
	linesAtOnce = 128
	sumsAtOnce  = 64
	fewLines    = 16
)

// byLines gives the reducer lines, where elements lie side by side.
func (r *reducing[T, R]) byLines(j *exec.Job) bool {
	if !r.gone.run() || r.gone.n == 0 || r.kept.few[0].str < 0 || !r.by.lines(nil, nil, 0, 0) {
		return false
	}
	if cost := r.gone.n * j.Cost; j.Little(r.to.n, cost) {
		r.linesOf(0, r.to.n)
	} else {
		c := *r // here, and nowhere else, it moves to the heap
		exec.Split(j.Name, j.Ctx, r.to.n, cost, c.linesOf)
	}
	return true
}

func (r *reducing[T, R]) linesOf(from, till int) {
	var tile []R
	if !r.to.run() {
		sc := exec.Scratch.Get().(*exec.Scratchpad)
		defer exec.Scratch.Put(sc)
		rest := sc.Bytes[:]
		tile = conv.Carve[R](&rest, stripLen)
	}
	wide, step, n := r.kept.few[0].ext, r.kept.few[0].str, r.gone.n
	for o := from; o < till; {
		m := min(till-o, wide-o%wide)
		out := tile
		if tile == nil { // else the outputs may lie before r.at
			out = r.out[r.at+o:]
		} else {
			m = min(m, len(tile))
		}
		first := r.base + r.kept.offset(o)
		r.by.lines(out[:m], r.data[first:first+(m-1)*step+n], step, n)
		if tile != nil {
			scatter(&r.to, r.out, tile[:m], r.at, o)
		}
		o += m
	}
}

// sumLines stores the sums of lines, or their means, in the order of summation.go. It
// is for float32 and float64 with an instruction set.
func sumLines[T num.Elem](out, x []T, step, n int, mean bool) bool {
	switch any((*T)(nil)).(type) {
	case *float32:
		return sumFloatLines(conv.As[float32](out), conv.As[float32](x), step, n, mean)
	case *float64:
		return sumFloatLines(conv.As[float64](out), conv.As[float64](x), step, n, mean)
	}
	return false
}

func sumFloatLines[T num.Float](out, x []T, step, n int, mean bool) bool {
	if !trySums[T](nil, nil, 0, 0) {
		return false
	}
	switch sums, ok := any(out).([]float64); {
	case ok:
		sumEach(sums, x, step, n)
		settle(out, sums, n, mean)
	case len(out) <= fewLines:
		var sums [fewLines]float64
		sumEach(sums[:len(out)], x, step, n)
		settle(out, sums[:len(out)], n, mean)
	default:
		sumManyLines(out, x, step, n, mean)
	}
	return true
}

// sumManyLines is sumFloatLines with an array that few lines would take longer to clear than to add up; to clear a larger one takes longer than more calls.
//
//go:noinline
func sumManyLines[T num.Float](out, x []T, step, n int, mean bool) {
	var sums [sumsAtOnce]float64
	for i := 0; i < len(out); i += sumsAtOnce {
		m := min(len(out)-i, sumsAtOnce)
		sumEach(sums[:m], x[i*step:], step, n)
		settle(out[i:i+m], sums[:m], n, mean)
	}
}

// sumEach stores the sum of each line.
func sumEach[T num.Float](sums []float64, x []T, step, n int) {
	if n <= sumBlock && trySums(sums, x, step, n) {
		return
	}
	sum := sumOf[T]
	if !trySums[T](nil, nil, 0, 0) {
		sum = sumRow[T]
	}
	for i := range sums {
		sums[i] = sum(x[i*step : i*step+n])
	}
}

// sumOf returns the sum of x, blocks at a time, with an instruction set.
func sumOf[T num.Float](x []T) float64 {
	var sums [sumGroup]float64
	if len(x) <= sumGroup*sumBlock {
		return sumOfGroup(&sums, x)
	}
	var s summer
	for len(x) > 0 {
		m := min(len(x), sumGroup*sumBlock)
		s.put(sumOfGroup(&sums, x[:m]))
		x = x[m:]
	}
	return s.total()
}

// sumGroup is how many blocks sumOf adds up at a time, a power of two: the pairs of groups are pairs of blocks.
const sumGroup = 16

// sumOfGroup returns the sum of a group of blocks, the last of which may be shorter.
func sumOfGroup[T num.Float](sums *[sumGroup]float64, x []T) float64 {
	n := len(x) / sumBlock
	trySums(sums[:n], x, sumBlock, sumBlock)
	if rest := x[n*sumBlock:]; len(rest) > 0 {
		trySums(sums[n:n+1], rest, len(rest), len(rest))
		n++
	}
	for ; n > 1; n = (n + 1) / 2 {
		for i := range n / 2 {
			sums[i] = sums[2*i] + sums[2*i+1]
		}
		sums[n/2] = sums[n-1] // moves up where n is odd
	}
	return sums[0]
}

// settle rounds sums of n elements, or their means. dst may be sums.
func settle[T num.Float](dst []T, sums []float64, n int, mean bool) {
	if mean && !simd.TryDivNumber64(sums, sums, float64(n)) {
		for i := range sums {
			sums[i] /= float64(n)
		}
	}
	switch dst := any(dst).(type) {
	case []float32:
		if simd.TryNarrowF64(dst, sums) {
			return
		}
		for i, v := range sums {
			dst[i] = float32(v)
		}
	case []float64:
		copy(dst, sums)
	}
	canonicalRow(dst)
}

// bestLines stores the largest or the smallest of each line. It is for float32 and
// float64 with an instruction set. In which order elements are looked at doesn't matter,
// but for a NaN's payload, so a long line goes in parts, several of which a kernel goes over at a time where that is faster.
func bestLines[T num.Elem](dst, x []T, step, n int, smallest bool) bool {
	const parts = 4
	if len(dst) == 1 && n >= parts*1024 {
		var few [2 * parts]T
		if !bestLines(few[:parts], x, n/parts, n/parts, smallest) {
			return false
		}
		rest := copy(few[parts:], x[n/parts*parts:n])
		x, step, n = few[:parts+rest], 0, parts+rest
	}
	switch any((*T)(nil)).(type) {
	case *float32:
		dst, x := conv.As[float32](dst), conv.As[float32](x)
		if smallest {
			return simd.TryMinLines32(dst, x, step, n)
		}
		return simd.TryMaxLines32(dst, x, step, n)
	case *float64:
		dst, x := conv.As[float64](dst), conv.As[float64](x)
		if smallest {
			return simd.TryMinLines64(dst, x, step, n)
		}
		return simd.TryMaxLines64(dst, x, step, n)
	}
	return false
}

// extremeLines is bestLines with canonical NaNs.
func extremeLines[T num.Elem](out, x []T, step, n int, smallest bool) bool {
	if !bestLines(out, x, step, n, smallest) {
		return false
	}
	canonicalRow(out)
	return true
}

// firstLines stores where in each line its best element is first.
func firstLines[T num.Float](dst []int64, best, x []T, step, n int) bool {
	switch any((*T)(nil)).(type) {
	case *float32:
		return simd.TryFirstLines32(dst, conv.As[float32](best), conv.As[float32](x), step, n)
	default:
		return simd.TryFirstLines64(dst, conv.As[float64](best), conv.As[float64](x), step, n)
	}
}

// positionLines stores where in each line its best element is first. Long ones go
// in parts, so that no more than one is gone through a second time.
func positionLines[T num.Float](out []int64, x []T, step, n int, smallest bool) bool {
	if !bestLines[T](nil, nil, 0, 0, smallest) {
		return false
	}
	const part = 1024
	var found [linesAtOnce]T
	if n < 4*part {
		some := min(linesAtOnce, 4*part/max(n, 1)) // so few that they are still in the cache
		for i := 0; i < len(out); i += some {
			m := min(len(out)-i, some)
			bestLines(found[:m], x[i*step:], step, n, smallest)
			firstLines(out[i:i+m], found[:m], x[i*step:], step, n)
		}
		return true
	}
	better := greaterFloat[T]
	if smallest {
		better = lessFloat[T]
	}
	for i := range out {
		line := x[i*step : i*step+n]
		top, at, length := line[0], 0, 1
		for from := 0; from < n; {
			m, size := min((n-from)/part, linesAtOnce), part
			if m == 0 {
				m, size = 1, n-from
			}
			bestLines(found[:m], line[from:], size, size, smallest)
			for _, v := range found[:m] {
				if better(v, top) {
					top, at, length = v, from, size
				}
				from += size
			}
		}
		found[0] = top
		firstLines(out[i:i+1], found[:1], line[at:], 0, length)
		out[i] += int64(at)
	}
	return true
}
