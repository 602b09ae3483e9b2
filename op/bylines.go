package op

import (
	"runtime"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// A reduction over elements that lie side by side, such as over the last axis of
// a row-major matrix, takes many lines in one call of a kernel.

const linesAtOnce = 64

// byLines calls work with results side by side and the lines that go into them, n
// elements each at multiples of step. It does nothing and returns false if the
// memory isn't like that.
func byLines[T, R num.Elem](j job, a *tensor.Tensor[T], x *axes, dst *tensor.Tensor[R], work func(out []R, x []T, step, n int)) bool {
	seq, lay := sequenceOf(&x.gone), dst.LayoutRef()
	if seq.n < 1 || lay.Size() == 0 || len(seq.ext) != 1 || seq.n > 1 && seq.str[0] != 1 {
		return false
	}
	kept, to := sequenceOf(&x.kept), sequenceOf(lay)
	wide, step := kept.ext[0], kept.str[0]
	if wide == 1 {
		step = 0
	}
	if step < 0 {
		return false
	}
	data, base := a.Data()
	out, at := dst.Mutable()
	dense := len(to.ext) == 1 && to.str[0] == 1
	split(j.name, j.ctx, kept.n, seq.n*j.cost, func(from, till int) {
		var tile []R
		if !dense {
			tile = make([]R, min(wide, till-from))
		}
		for o := from; o < till; {
			m := min(till-o, wide-o%wide)
			first := base + kept.offset(o)
			lines := data[first : first+(m-1)*step+seq.n]
			if dense {
				work(out[at+o:at+o+m], lines, step, seq.n)
			} else {
				work(tile[:m], lines, step, seq.n)
				scatter(&to, out, tile[:m], at, o)
			}
			o += m
		}
	})
	runtime.KeepAlive(a)
	runtime.KeepAlive(dst)
	return true
}

// A lineKernel folds each line of n elements, at multiples of step, to an element
// of dst, and reports whether there is such a kernel at this level.
type lineKernel[R, T num.Elem] func(dst []R, x []T, step, n int) bool

func (k lineKernel[R, T]) there() bool { return k(nil, nil, 0, 0) }

// sumLines stores what finish makes of the sum of each line, in the order of
// summation.go.
func sumLines[T num.Float](out, x []T, step, n int, kernel lineKernel[float64, T], finish func(sum float64, n int) float64) {
	var sums [linesAtOnce]float64
	if n <= sumBlock {
		for i := 0; i < len(out); i += linesAtOnce {
			m := min(len(out)-i, linesAtOnce)
			kernel(sums[:m], x[i*step:], step, n)
			for k, v := range sums[:m] {
				out[i+k] = T(finish(v, n))
			}
		}
		canonicalRow(out)
		return
	}
	for i := range out {
		var s summer
		for line := x[i*step : i*step+n]; len(line) > 0; {
			m, length := min(len(line)/sumBlock, linesAtOnce), sumBlock
			if m == 0 {
				m, length = 1, len(line)
			}
			kernel(sums[:m], line, length, length)
			for _, v := range sums[:m] {
				s.put(v)
			}
			line = line[m*length:]
		}
		out[i] = T(finish(s.total(), n))
	}
	canonicalRow(out)
}

// positionLines stores where in each line its best element is first. Long ones go
// in parts, so that no more than one is gone through a second time.
func positionLines[T num.Float](out []int64, x []T, step, n int, best lineKernel[T, T], better func(v, than T) bool,
	first func(dst []int64, best, x []T, step, n int) bool) {
	const part = 1024
	var found [linesAtOnce]T
	if n < 4*part {
		some := min(linesAtOnce, 4*part/n) // so few that they are still in the cache
		for i := 0; i < len(out); i += some {
			m := min(len(out)-i, some)
			best(found[:m], x[i*step:], step, n)
			first(out[i:i+m], found[:m], x[i*step:], step, n)
		}
		return
	}
	for i := range out {
		line := x[i*step : i*step+n]
		top, at, length := line[0], 0, 1
		for from := 0; from < n; {
			m, size := min((n-from)/part, linesAtOnce), part
			if m == 0 {
				m, size = 1, n-from
			}
			best(found[:m], line[from:], size, size)
			for _, v := range found[:m] {
				if better(v, top) {
					top, at, length = v, from, size
				}
				from += size
			}
		}
		found[0] = top
		first(out[i:i+1], found[:1], line[at:], 0, length)
		out[i] += int64(at)
	}
}
