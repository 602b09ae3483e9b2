package op

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// hardLines returns lines that are hard to order, long enough for every way of sorting.
func hardLines[T num.Native](n int) map[string][]T {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	fill := func(f func(i int) T) []T {
		v := make([]T, n)
		for i := range v {
			v[i] = f(i)
		}
		return v
	}
	lines := map[string][]T{"equal": fill(func(int) T { return 7 }), "sorted": fill(func(i int) T { return T(i % 128) }), "random": fill(func(int) T { return of[T](float64(r.IntN(200) - 100)) })}
	slices.Sort(lines["sorted"])
	lines["reversed"] = slices.Clone(lines["sorted"])
	slices.Reverse(lines["reversed"])
	if some := oddFloats[T](); some != nil {
		pick := func(from, to int) []T { return fill(func(int) T { return some[from+r.IntN(to-from)] }) }
		lines["NaN"], lines["zeros"], lines["infinities"], lines["odd"] = pick(0, 1), pick(1, 3), pick(3, 5), pick(0, len(some))
	}
	return lines
}

// oddFloats returns NaN, both zeros, both infinities and small numbers, or nil for integers.
func oddFloats[T num.Native]() (some []T) {
	switch any(some).(type) {
	case []float32, []float64:
		for _, v := range []float64{nan, 0, negZero, inf, -inf, 1e-45, -1, 2} {
			some = append(some, T(v))
		}
	}
	return some
}

func testHardLines[T num.Native](t *testing.T) {
	for _, n := range []int{0, 1, 2, 31, 600, 5000} {
		for name, v := range hardLines[T](n) {
			a := tensor.FromSlice(v, n)
			up, down := make([]int64, n), make([]int64, n)
			for i := range up {
				up[i], down[i] = int64(i), int64(i)
			}
			slices.SortStableFunc(up, func(i, j int64) int { return before(v[i], v[j]) })
			slices.SortStableFunc(down, func(i, j int64) int { return before(v[j], v[i]) })
			inOrder := make([]T, n)
			for i, at := range up {
				inOrder[i] = v[at]
			}
			what := fmt.Sprintf("%d elements, %s: ", n, name)
			same(t, what+"Sort", Sort(a, 0), tensor.FromSlice(inOrder, n))
			same(t, what+"ArgSort", ArgSort(a, 0), tensor.FromSlice(up, n))
			for _, k := range []int{0, 1, 10, n / 50, n / 2, n} {
				if k > n {
					continue
				}
				_, at := TopK(a, k, 0, TopKOptions{Smallest: true})
				same(t, what+"the smallest", at, tensor.FromSlice(up[:k], k))
				_, at = TopK(a, k, 0, TopKOptions{})
				same(t, what+"the largest", at, tensor.FromSlice(down[:k], k))
			}
			fails(t, func() { TopK(a, n+1, 0, TopKOptions{}) }, "op.TopK", fmt.Sprintf("k is %d; axis 0 has extent %d", n+1, n))
			entries, first, inverse, counts := Unique(a, 0, UniqueOptions{})
			var differ []int64
			for i, at := range up {
				if i == 0 || before(v[up[i-1]], v[at]) != 0 {
					differ = append(differ, at)
				}
			}
			same(t, what+"Unique", first, tensor.FromSlice(differ, len(differ)))
			same(t, what+"entries of Unique", entries, Take(a, first, 0, TakeRaise))
			same(t, what+"the inverse of Unique", ReduceSum(counts, nil), tensor.Scalar(int64(n)))
			for i, e := range inverse.Elems() {
				if before(entries.At(int(e)), v[i]) != 0 {
					t.Fatalf("%sentry %d of Unique stands for %v, not %v", what, e, entries.At(int(e)), v[i])
				}
			}
		}
	}
}

// Elements in every hard order are put into the one that is defined.
func TestHardLines(t *testing.T) {
	t.Run("uint8", testHardLines[uint8])
	t.Run("int32", testHardLines[int32])
	t.Run("int64", testHardLines[int64])
	t.Run("float32", testHardLines[float32])
	t.Run("float64", testHardLines[float64])
}

// Median and Quantile of hard lines follow from the sorted line, and are NaN of nothing and with a NaN.
func TestHardRanks(t *testing.T) {
	for _, n := range []int{0, 1, 2, 31, 600, 5001} {
		for name, v := range hardLines[float64](n) {
			a := tensor.FromSlice(v, n)
			s := Sort(a, 0).Elems()
			for q, got := range map[float64]float64{0: Quantile(a, 0, nil).Item(), 1: Quantile(a, 1, nil).Item(), 0.5: Median(a, nil).Item()} {
				want := nan
				if n > 0 && !math.IsNaN(s[n-1]) {
					at := q * float64(n-1)
					x, y := s[int(at)], s[min(int(at)+1, n-1)]
					want = x
					if at != math.Trunc(at) && x != y {
						want = (x + y) / 2
					}
				}
				if got != want && !(got != got && want != want) {
					t.Errorf("%d elements, %s: quantile %v is %v, want %v", n, name, q, got, want)
				}
			}
		}
	}
	a := tensor.FromSlice([]float64{nan, -inf, -1, negZero, 0, 0.5, 1, inf}, 8)
	n, _ := Histogram(a, 2, -1, 1)
	same(t, "Histogram", n, i64(1, 4))
	n, _ = Histogram(tensor.New[float32](0), 2, -1, 1)
	same(t, "Histogram of nothing", n, i64(0, 0))
	for _, f := range []func(){func() { Histogram(a, 0, 0, 1) }, func() { Histogram(a, 1, 1, 1) }, func() { Histogram(a, 1, nan, 1) }, func() { Histogram(a, 1, -inf, 1) }, func() { Histogram(a, 1, -1e308, 1e308) }} {
		fails(t, f, "op.Histogram", "at least 1 bin, and low < high with a finite difference")
	}
	fails(t, func() { Quantile(a, 1.5, nil) }, "op.Quantile", "q is 1.5")
}

// An index far into many is refused with its place, the axis and the extent, and the first one of two. A target keeps its elements.
func TestIndicesOutside(t *testing.T) {
	const n = 20000
	a, wide := count(n), count(2, n)
	at := tensor.New[int64](n)
	for i := range n {
		at.Set(int64(i-n/2), i)
	}
	pairs := Stack([]tensor.Tensor[int64]{at, at}, -1)
	for _, bad := range []int64{n, -n - 1, math.MaxInt64, math.MinInt64} {
		at.Set(bad, 7000)
		at.Set(n+5, 15000)
		pairs.Set(bad, 7000, 1)
		pairs.Set(bad, 7001, 0)
		said := fmt.Sprintf("index %d at (7000)", bad)
		extent := fmt.Sprintf("axis 0 of extent %d", n)
		into := tensor.New[int32](n)
		fails(t, func() { Take(a, at, 0, TakeRaise) }, "op.Take", said, extent)
		fails(t, func() { Take(a, at, 0, TakeRaise, Into(into)) }, "op.Take", said, extent)
		fails(t, func() { Take(wide, at, 1, TakeRaise) }, "op.Take", said, fmt.Sprintf("axis 1 of extent %d", n))
		fails(t, func() { Gather(a, at, 0, Into(into)) }, "op.Gather", said, extent)
		fails(t, func() { Gather(a, at, 0) }, "op.Gather", said, extent)
		fails(t, func() { GatherElements(a, at, 0) }, "op.GatherElements", said, extent)
		fails(t, func() { TakeAlongAxis(a, at, 0) }, "op.TakeAlongAxis", said, extent)
		fails(t, func() { GatherND(a, at.Reshape(n, 1), 0) }, "op.GatherND", fmt.Sprintf("index %d at (7000,0)", bad), extent)
		fails(t, func() { GatherND(tensor.New[int8](n/2, n), pairs, 0) }, "op.GatherND", fmt.Sprintf("index %d at (7000,1)", bad), fmt.Sprintf("axis 1 of extent %d", n))
		fails(t, func() { ScatterElements(a, at, a, 0, ScatterReplace, Into(into)) }, "op.ScatterElements", said, extent)
		fails(t, func() { ScatterND(a, at.Reshape(n, 1), a, ScatterReplace, Into(into)) }, "op.ScatterND", fmt.Sprintf("index %d at (7000,0)", bad), extent)
		same(t, "a target of a refused call", into, tensor.New[int32](n))
	}
	at.Set(0, 7000)
	at.Set(0, 15000)
	same(t, "the others", Take(a, at, 0, TakeRaise), GatherND(a, at.Reshape(n, 1), 0))
}

// An operand that overlaps its target is as if it had been read first.
func TestSelectionInPlace(t *testing.T) {
	line := func() tensor.Tensor[int32] { return count(4000) }
	for name, f := range map[string]func(a tensor.Tensor[int32], opts ...Option) tensor.Tensor[int32]{
		"Sort": func(a tensor.Tensor[int32], opts ...Option) tensor.Tensor[int32] {
			return Sort(a.S("::-1"), 0, opts...)
		},
		"Roll": func(a tensor.Tensor[int32], opts ...Option) tensor.Tensor[int32] { return Roll(a, 3, 0, opts...) },
		"Take": func(a tensor.Tensor[int32], opts ...Option) tensor.Tensor[int32] {
			return Take(a, ArgSort(a.S("::-1"), 0), 0, TakeRaise, opts...)
		},
		"Scatter": func(a tensor.Tensor[int32], opts ...Option) tensor.Tensor[int32] {
			return ScatterElements(a, ArgSort(a.S("::-1"), 0), a, 0, ScatterAdd, opts...)
		},
		"Stack": func(a tensor.Tensor[int32], opts ...Option) tensor.Tensor[int32] {
			return Stack([]tensor.Tensor[int32]{a.S(":2000"), a.S("2000:")}, 1, opts...)
		},
		"Stack of three": func(a tensor.Tensor[int32], opts ...Option) tensor.Tensor[int32] {
			return Stack([]tensor.Tensor[int32]{a.S(":1000"), a.S("1000:2000"), a.S("2000:3000")}, 1, opts...)
		},
		"Pad": func(a tensor.Tensor[int32], opts ...Option) tensor.Tensor[int32] {
			return Pad(a.S("5:"), []int{5}, []int{0}, PadReflect, 0, opts...)
		},
		"Repeat": func(a tensor.Tensor[int32], opts ...Option) tensor.Tensor[int32] {
			return Repeat(a.S(":2000"), []int{2}, 0, opts...)
		},
		"Compress": func(a tensor.Tensor[int32], opts ...Option) tensor.Tensor[int32] {
			return Compress(a, Greater(line(), tensor.Scalar[int32](1999)), 0, opts...)
		},
	} {
		want := f(line())
		a := line()
		target := a.Slice(tensor.R(a.Len()-want.Len(), a.Len())).Reshape(want.Shape()...)
		same(t, name+" in place", f(a, Into(target)), want)
	}
}

// Entries of one sum each have the bits of the definition: many of them, few with many products, with any strides, with
// operands that are one, NaNs and infinities.
func TestSingleSums(t *testing.T) {
	t.Run("float32", testSingleSums[float32])
	t.Run("float64", testSingleSums[float64])
	t.Run("int64", testSingleSums[int64])
}

func testSingleSums[T num.Native](t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, c := range []struct{ batch, k int }{{1, 1023}, {1, 1024}, {1, 66000}, {3, 2049}, {4, 1}, {5, 257}, {70, 300}, {200, 33}, {1000, 3}} {
		a, b := random[T](r, c.batch, c.k), random[T](r, c.batch, c.k)
		if some := oddFloats[T](); some != nil && c.k > 1 {
			a.Set(some[0], c.batch-1, c.k/2)
			b.Set(some[3], 0, c.k-1)
		}
		for name, f := range map[string]func() (x, y tensor.Tensor[T]){
			"":          func() (x, y tensor.Tensor[T]) { return a, b },
			"one":       func() (x, y tensor.Tensor[T]) { return a, a },
			"columns":   func() (x, y tensor.Tensor[T]) { return a.Transpose().Clone().Transpose(), b },
			"backward":  func() (x, y tensor.Tensor[T]) { return a.S("::-1"), b },
			"broadcast": func() (x, y tensor.Tensor[T]) { return a.S("0:1").BroadcastTo(c.batch, c.k), b },
			"all columns": func() (x, y tensor.Tensor[T]) {
				return a.Transpose().Clone().Transpose(), b.Transpose().Clone().Transpose()
			},
		} {
			x, y := f()
			want := tensor.New[T](c.batch)
			for i := range c.batch {
				want.Set(definedChain(lineOf(x, 1, []int{i, 0}), lineOf(y, 1, []int{i, 0})), i)
			}
			what := fmt.Sprintf("%d sums of %d products, %s", c.batch, c.k, name)
			same(t, what, Einsum("ij,ij->i", []tensor.Tensor[T]{x, y}), want)
			same(t, what+", by MatMul", MatMul(x.Unsqueeze(1), y.Unsqueeze(2)).Reshape(c.batch), want)
		}
	}
}

// A condition may lie in the memory of the Into target.
func TestCompressOverItsCondition(t *testing.T) {
	c := tensor.FromSlice([]bool{true, false, true}, 3)
	Compress(tensor.FromSlice([]bool{false, true, true}, 3), c, 0, Into(c.S(":2")))
	same(t, "Compress", c, tensor.FromSlice([]bool{false, true, true}, 3))
}
