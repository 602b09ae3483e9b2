package tensortest

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/tensor"
)

// Tolerance is the distance within which two elements count as the same:
// |a - b| ≤ Atol + Rtol·|b|, or at most ULP steps from one number of the type to the
// next. The zero value requires equal numbers. -0 equals 0, NaN equals every NaN, and a
// bool equals only itself.
type Tolerance struct {
	Rtol, Atol float64
	ULP        uint64
}

// A Difference is an element in which two tensors differ.
type Difference struct {
	Index    []int
	A, B     any     // the values, of the element type
	Abs, Rel float64 // |a - b| and |a - b| ÷ |b|; infinite for NaN against a number
	ULP      uint64  // the largest uint64 for NaN against a number
}

// A Report measures the difference of two tensors.
type Report struct {
	Len            int     // elements
	Differ         int     // elements that are further apart than the tolerance
	MaxAbs, MaxRel float64 // the largest of all elements, also of tolerated ones
	MaxULP         uint64
	Largest        []Difference // the largest differences by Abs; equal ones in row-major order
}

// Compare measures a against b without a test, for programs that report the result.
// It lists at most top differences. Layouts make no difference.
//
// Compare fails if element type or shape differ, and if there are no elements to
// read: for no tensor, a tensor.Spec, and a closed tensor.
func Compare(a, b tensor.Any, tol Tolerance, top int) (Report, error) {
	x, problem := open("the first", a)
	y, other := open("the second", b)
	if problem == "" {
		problem = other
	}
	if problem == "" && tensor.Describe(a) != tensor.Describe(b) {
		problem = fmt.Sprintf("one is %s, the other %s", tensor.Describe(a), tensor.Describe(b))
	}
	if problem != "" {
		return Report{}, fmt.Errorf("tensortest.Compare: %s", problem)
	}
	r := Report{Len: a.Len()}
	shape := a.Shape()
	idx := make([]int, len(shape))
	for i := range unlike(a, b, r.Len) {
		place(i, shape, idx)
		r.add(idx, &x, &y, tol, top)
	}
	r.sort(top)
	return r, nil
}

// unlike enumerates the elements whose bytes differ, or all n if the bytes in order
// would need a copy.
func unlike(a, b tensor.Any, n int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		const block = 1 << 12
		p, ok := tensor.Bytes(a)
		q, both := tensor.Bytes(b)
		plain := ok && both
		size := a.DType().Size()
		for i := 0; i < n; i += block {
			end := min(i+block, n)
			if plain && bytes.Equal(p[i*size:end*size], q[i*size:end*size]) {
				continue
			}
			for k := i; k < end; k++ {
				if plain && bytes.Equal(p[k*size:(k+1)*size], q[k*size:(k+1)*size]) {
					continue
				}
				if !yield(k) {
					return
				}
			}
		}
		runtime.KeepAlive(a)
		runtime.KeepAlive(b)
	}
}

// place writes the coordinates of element i in row-major order, the last axis
// fastest.
func place(i int, shape, idx []int) {
	for k := len(shape) - 1; k >= 0; k-- {
		idx[k] = i % shape[k]
		i /= shape[k]
	}
}

func (r *Report) add(idx []int, x, y *reader, tol Tolerance, top int) {
	a, b := x.at(idx), y.at(idx)
	d := Difference{Abs: a.difference(b)}
	if d.Abs == 0 {
		return
	}
	if d.Rel = d.Abs / b.magnitude(); math.IsInf(d.Abs, 1) || d.Rel != d.Rel {
		d.Rel = math.Inf(1)
	}
	steps, ok := a.steps(b)
	if d.ULP = steps; !ok {
		d.ULP = math.MaxUint64
	}
	r.MaxAbs, r.MaxRel, r.MaxULP = max(r.MaxAbs, d.Abs), max(r.MaxRel, d.Rel), max(r.MaxULP, d.ULP)
	near := !math.IsInf(d.Abs, 1) && d.Abs <= tol.Atol+float64(tol.Rtol*b.magnitude()) || ok && d.ULP <= tol.ULP
	if near && !a.boolean {
		return
	}
	r.Differ++
	if top <= 0 || len(r.Largest) >= top && r.Largest[top-1].Abs >= d.Abs {
		return
	}
	d.Index, d.A, d.B = slices.Clone(idx), x.any(idx), y.any(idx)
	r.Largest = append(r.Largest, d)
	if n := len(r.Largest); n == top || n == 2*top { // once there are top, the first top are in order
		r.sort(top)
	}
}

// sort puts the largest differences first and keeps top of them.
func (r *Report) sort(top int) {
	slices.SortStableFunc(r.Largest, func(a, b Difference) int {
		switch {
		case a.Abs > b.Abs:
			return -1
		case a.Abs < b.Abs:
			return 1
		}
		return 0
	})
	r.Largest = r.Largest[:min(len(r.Largest), max(top, 0))]
}
