//go:build linux && (amd64 || arm64) && !purego

package simd

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
)

// foldLine is what a kernel of lines does with one.
func foldLine[A, T any](x []T, lanes int, start A, take func(acc A, x T) A, join func(a, b A) A) A {
	lane := make([]A, lanes)
	for i := range lane {
		lane[i] = start
	}
	for i, v := range x {
		lane[i%lanes] = take(lane[i%lanes], v)
	}
	for h := lanes / 2; h > 0; h /= 2 {
		for i := range h {
			lane[i] = join(lane[i], lane[i+h])
		}
	}
	return lane[0]
}

// eachLines calls f with lines of all short lengths and some longer ones, back to back, apart and overlapping, that end at
// an unmapped page, and room for a result of each, which does, too.
func eachLines[R, T any](t *testing.T, f func(dst []R, x []T, step, n int)) {
	r := rand.New(rand.NewPCG(11, 12))
	const most = 11000
	mem, out := guard(t, most*int(bytesOf[T]())), guard(t, 1)
	for n := 0; n < 350; n++ {
		length, lines := n, 1+r.IntN(10)
		if n >= 300 {
			length = r.IntN(1000)
		}
		step := []int{length, length + r.IntN(20), r.IntN(length + 1), 0}[r.IntN(4)]
		all := (lines-1)*step + length
		x := elements[T](mem, all, 0)
		fill(r, x)
		if n%3 > 0 { // no infinities, NaNs or edges, after which all are alike
			for i := range x {
				x[i] = plain[T](r)
			}
		}
		if n%3 == 1 { // several of them the best
			for i := range x {
				x[i] = x[r.IntN(len(x))]
			}
		}
		f(elements[R](out, lines, 0), x, step, length)
	}
}

func checkFolds[A, T any](t *testing.T, name string, lanes int, start A, f func(dst []A, x []T, step, n int), take func(acc A, x T) A, join func(a, b A) A) {
	checked[name] = true
	t.Run(name, func(t *testing.T) {
		eachLines(t, func(dst []A, x []T, step, n int) {
			f(dst, x, step, n)
			for i, got := range dst {
				if want := foldLine(x[i*step:i*step+n], lanes, start, take, join); bits(same(got)) != bits(same(want)) {
					t.Fatalf("line %d of %d elements, step %d: %v, want %v", i, n, step, got, want)
				}
			}
		})
	})
}

// checkFirst looks for the element in the middle of each line, by its bits, or as a NaN.
func checkFirst[T float32 | float64](t *testing.T, name string, f func(dst []int64, best, x []T, step, n int)) {
	checked[name] = true
	t.Run(name, func(t *testing.T) {
		mem := guard(t, 1)
		eachLines(t, func(dst []int64, x []T, step, n int) {
			best := elements[T](mem, len(dst), 0)
			for i := range best {
				if best[i] = 1.5; n > 0 {
					best[i] = canonical(x[i*step+n/2])
				}
			}
			f(dst, best, x, step, n)
			for i, got := range dst {
				want := 0
				for want < n && bits(canonical(x[i*step+want])) != bits(best[i]) {
					want++
				}
				if got != int64(want) {
					t.Fatalf("line %d of %d elements, step %d: %v is first at %d, want %d", i, n, step, best[i], got, want)
				}
			}
		})
	})
}

// Lines are folded one by one and, with AVX-512, several at a time.
func TestLines(t *testing.T) {
	negZero, inf := math.Copysign(0, -1), math.Inf(1)
	inf32 := float32(inf)
	old := together
	defer func() { together = old }()
	for _, together = range [][2]int64{{0, 0}, {1500, 1500}, {math.MaxInt64, math.MaxInt64}} {
		levels(t, func(t *testing.T, l cpu.Level) {
			checkFolds(t, "sumLines32", 32, negZero, at(l, sumLines32s), func(s float64, x float32) float64 { return s + float64(x) }, plus)
			checkFolds(t, "sumLines64", 32, negZero, at(l, sumLines64s), plus[float64], plus[float64])
			for _, shift := range []float64{0, 0.7, -1e300, inf} {
				checkFolds(t, "squareLines32", 32, negZero, func(dst []float64, x []float32, step, n int) { at(l, squareLines32s)(dst, x, shift, step, n) },
					func(s float64, x float32) float64 { return math.FMA(float64(x)-shift, float64(x)-shift, s) }, plus)
				checkFolds(t, "squareLines64", 32, negZero, func(dst, x []float64, step, n int) { at(l, squareLines64s)(dst, x, shift, step, n) },
					func(s, x float64) float64 { return math.FMA(x-shift, x-shift, s) }, plus[float64])
			}
			checkFolds(t, "maxLines32", 64, -inf32, at(l, maxLines32s), larger[float32], larger[float32])
			checkFolds(t, "maxLines64", 32, -inf, at(l, maxLines64s), larger[float64], larger[float64])
			checkFolds(t, "minLines32", 64, inf32, at(l, minLines32s), smaller[float32], smaller[float32])
			checkFolds(t, "minLines64", 32, inf, at(l, minLines64s), smaller[float64], smaller[float64])
		})
	}
	levels(t, func(t *testing.T, l cpu.Level) {
		checkFirst(t, "firstLines32", at(l, firstLines32s))
		checkFirst(t, "firstLines64", at(l, firstLines64s))
	})
}

// Lines that don't lie within their slice are refused before anything is read.
func TestLinesWithin(t *testing.T) {
	if cpu.Current() == cpu.Generic {
		t.Skip("there are no kernels")
	}
	x := make([]float32, 100)
	for _, c := range []struct{ lines, step, n int }{{1, 0, 101}, {2, 1, 100}, {2, -1, 10}, {3, math.MaxInt, 1}, {1, 0, -1}, {11, 10, 10}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v went through", c)
				}
			}()
			TrySumLines32(make([]float64, c.lines), x, c.step, c.n)
		}()
	}
	TrySumLines32(make([]float64, 10), x, 10, 10)
	TrySumLines32(nil, x, -1, 1000)
}

// So are columns.
func TestColumnsWithin(t *testing.T) {
	if cpu.Current() == cpu.Generic {
		t.Skip("there are no kernels")
	}
	x := make([]float32, 100)
	for _, c := range []struct {
		room int
		rows []int64
		ends []int64
		w    int
	}{
		{10, []int64{91}, []int64{1}, 10}, {10, []int64{5, -1}, []int64{2}, 10}, {10, []int64{91, 0}, []int64{2}, 10}, {10, []int64{0, 91}, []int64{2}, 10}, {9, []int64{0}, []int64{1}, 10}, {19, []int64{0}, []int64{0, 1}, 10},
		{10, []int64{0}, []int64{1}, -1}, {101, []int64{0}, []int64{1}, 101}, {10, []int64{math.MaxInt64}, []int64{1}, 1}, {10, []int64{0}, nil, 1},
		{10, []int64{0}, []int64{2}, 1}, {10, []int64{0}, []int64{0}, 1}, {20, []int64{0}, []int64{2, 1}, 1}, {20, []int64{0}, []int64{-1, 1}, 1},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v went through", c)
				}
			}()
			TrySumColumns32(make([]float64, c.room), x, c.rows, c.ends, c.w)
		}()
	}
	TrySumColumns32(make([]float64, 20), x, []int64{0, 90}, []int64{1, 2}, 10)
	TrySumColumns32(nil, nil, nil, []int64{0}, 0)
}
