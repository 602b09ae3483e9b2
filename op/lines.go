package op

import (
	"runtime"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// alongAxis calls f for every line of a along axis, as rows of float32 or
// float64 that f overwrites with its result, and stores them in dst. Narrow
// floats are widened first and rounded once. tail is how many axes, from axis on,
// make up a line.
func alongAxis[T num.Float | num.Narrow | num.Fixed](j job, a tensor.Tensor[T], axis, tail int, dst tensor.Tensor[T], f32 func(row []float32), f64 func(row []float64)) {
	if dst.Len() == 0 {
		return
	}
	// The line's axes last, and as few lines as threads want at a time.
	rank := a.Rank()
	perm := make([]int, 0, rank)
	for i := range rank {
		if i < axis || i >= axis+tail {
			perm = append(perm, i)
		}
	}
	n := 1
	for i := axis; i < axis+tail; i++ {
		perm = append(perm, i)
		n *= a.Dim(i)
	}
	src, out := a.Permute(perm...), dst.Permute(perm...)
	lines := dst.Len() / n
	var in, to sequence
	in.of(src.LayoutRef())
	to.of(out.LayoutRef())
	sd, s0 := src.Data()
	dd, d0 := out.Mutable()
	split(j.name, j.ctx, lines, n*j.cost, func(from, till int) {
		row := make([]T, n)
		work := rowWork(n, f32, f64, row)
		for i := from; i < till; i++ {
			gather(&in, row, sd, s0, i*n)
			work()
			scatter(&to, dd, row, d0, i*n)
		}
	})
	runtime.KeepAlive(src)
	runtime.KeepAlive(out)
}

// rowWork returns what computes row in place by the function of its type.
func rowWork[T num.Elem](n int, f32 func([]float32), f64 func([]float64), row []T) func() {
	switch r := any(row).(type) {
	case []float32:
		return func() { f32(r); canonicalRow(r) }
	case []float64:
		return func() { f64(r); canonicalRow(r) }
	}
	wide, widen, narrow := make([]float32, n), widenOf[T](), narrowOf[T]()
	return func() {
		widen(wide, row)
		f32(wide)
		narrow(row, wide)
	}
}
