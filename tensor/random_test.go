package tensor_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/tensor"
)

// The numbers of all times, in testdata/random.txt.
func TestRandomGolden(t *testing.T) {
	var out bytes.Buffer
	for _, seed := range []uint64{0, 1, 1 << 40, math.MaxUint64} {
		fmt.Fprintf(&out, "seed %d\n", seed)
		fmt.Fprintf(&out, "uniform float64 [0,1)    %#v\n", tensor.RandomUniform(seed, 0.0, 1, 5).Elems())
		fmt.Fprintf(&out, "uniform float32 [-2,3)   %#v\n", tensor.RandomUniform[float32](seed, -2, 3, 5).Elems())
		fmt.Fprintf(&out, "normal float64 0 ± 1     %#v\n", tensor.RandomNormal(seed, 0.0, 1, 5).Elems())
		fmt.Fprintf(&out, "normal float32 10 ± 0.5  %#v\n", tensor.RandomNormal[float32](seed, 10, 0.5, 5).Elems())
		fmt.Fprintf(&out, "integers int8 [-3,4)     %v\n", tensor.RandomIntegers[int8](seed, -3, 4, 20).Elems())
		fmt.Fprintf(&out, "integers uint64 [0,3<<62) %v\n", tensor.RandomIntegers[uint64](seed, 0, 3<<62, 3).Elems())
		fmt.Fprintf(&out, "permutation of 12        %v\n", tensor.RandomPermutation(seed, 12).Elems())
	}
	golden(t, "random.txt", out.String())
}

// An element depends on the seed and its place alone: not on the shape, how many
// there are, or the threads.
func TestRandomPlaces(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	long := tensor.RandomUniform(3, 0.0, 1, 1001).Elems()
	longN := tensor.RandomNormal(3, 0.0, 1, 1001).Elems()
	longI := tensor.RandomIntegers[int32](3, 0, 1000, 1001).Elems()
	for _, threads := range []int{1, 3} {
		runtime.GOMAXPROCS(threads)
		for _, shape := range [][]int{{7}, {10, 10}, {}, {0}, {2, 3, 4}, {1000}} {
			n := size(shape)
			if !slices.Equal(tensor.RandomUniform(3, 0.0, 1, shape...).Elems(), long[:n]) ||
				!slices.Equal(tensor.RandomNormal(3, 0.0, 1, shape...).Elems(), longN[:n]) ||
				!slices.Equal(tensor.RandomIntegers[int32](3, 0, 1000, shape...).Elems(), longI[:n]) {
				t.Errorf("shape %v has other numbers", shape)
			}
		}
	}
	if slices.Equal(long, tensor.RandomUniform(4, 0.0, 1, 1001).Elems()) {
		t.Error("two seeds have the same numbers")
	}
}

// moments returns mean, variance and fourth moment about the mean.
func moments(v []float64) (mean, variance, fourth float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		d := x - mean
		variance += d * d / float64(len(v))
		fourth += d * d * d * d / float64(len(v))
	}
	return mean, variance, fourth
}

// The numbers are distributed as promised. The seeds are fixed, so a bound that
// holds holds for ever; they are four standard errors or more.
func TestRandomDistribution(t *testing.T) {
	const n = 200_000
	near := func(what string, got, want, bound float64) {
		t.Helper()
		if math.Abs(got-want) > bound {
			t.Errorf("%s is %v, want %v ± %v", what, got, want, bound)
		}
	}
	u := tensor.RandomUniform(11, 2.0, 6, n).Elems()
	mean, variance, _ := moments(u)
	near("mean of uniform", mean, 4, 0.011)
	near("variance of uniform", variance, 16.0/12, 0.011)
	if slices.Min(u) < 2 || slices.Max(u) >= 6 {
		t.Errorf("uniform numbers from %v to %v", slices.Min(u), slices.Max(u))
	}
	var bins [64]float64
	for _, x := range u {
		bins[int((x-2)*16)]++
	}
	chi := 0.0
	for _, b := range bins {
		chi += (b - n/64) * (b - n/64) / (n / 64)
	}
	near("chi squared of 63 degrees of freedom", chi, 63, 4*math.Sqrt(2*63))
	z := tensor.RandomNormal(12, 1.0, 2, n).Elems()
	mean, variance, fourth := moments(z)
	near("mean of normal", mean, 1, 0.018)
	near("variance of normal", variance, 4, 0.06)
	near("kurtosis of normal", fourth/variance/variance, 3, 0.05)
	within := 0.0
	var products float64
	for i, x := range z {
		if math.Abs(x-1) < 2 {
			within++
		}
		if i%2 == 1 {
			products += (x - 1) * (z[i-1] - 1) / (n / 2)
		}
	}
	near("share within one deviation", within/n, 0.682689, 0.0042)
	near("covariance of a pair", products, 0, 0.051)
	var counts [7]float64
	for _, k := range tensor.RandomIntegers[int8](13, -3, 4, n).Elems() {
		counts[k+3]++
	}
	for k, c := range counts {
		near(fmt.Sprint("count of ", k-3), c, n/7.0, 4*math.Sqrt(n/7.0))
	}
	// A range of 3/4 of all words: half of the draws of a biased method would lie in its first third.
	low := 0.0
	for _, v := range tensor.RandomIntegers[uint64](14, 0, 3<<62, n).Elems() {
		if v < 1<<62 {
			low++
		}
	}
	near("share of the first third", low/n, 1.0/3, 0.0043)
	first := [5]float64{}
	for seed := range uint64(20_000) {
		first[tensor.RandomPermutation(seed, 5).At(0)]++
	}
	for k, c := range first {
		near(fmt.Sprint("permutations that begin with ", k), c, 4000, 4*math.Sqrt(4000))
	}
}

func TestRandomBounds(t *testing.T) {
	for _, v := range tensor.RandomUniform[float32](1, 1, math.Nextafter32(1, 2), 100).Elems() {
		if v != 1 { // half of them round to the upper end, which isn't in the range
			t.Fatalf("got %v", v)
		}
	}
	full := tensor.RandomIntegers[int64](1, math.MinInt64, math.MaxInt64, 1000).Elems()
	negative := 0
	for _, v := range full {
		if v < 0 {
			negative++
		}
	}
	if negative < 400 || negative > 600 {
		t.Errorf("%d of 1000 are negative", negative)
	}
	sorted := tensor.RandomPermutation(5, 1000).Elems()
	slices.Sort(sorted)
	for i, v := range sorted {
		if v != int64(i) {
			t.Fatalf("%d is missing", i)
		}
	}
	if tensor.RandomPermutation(0, 0).Len() != 0 || tensor.RandomNormal(1, 5.0, 0, 1).At(0) != 5 {
		t.Error("an edge case")
	}
	inf, nan := math.Inf(1), math.NaN()
	for i, f := range []func(){
		func() { tensor.RandomUniform(0, 1.0, 1, 1) },
		func() { tensor.RandomUniform(0, nan, 1, 1) },
		func() { tensor.RandomUniform(0, -math.MaxFloat64, math.MaxFloat64, 1) },
		func() { tensor.RandomNormal(0, 0, -1.0, 1) },
		func() { tensor.RandomNormal(0, inf, 1.0, 1) },
		func() { tensor.RandomNormal(0, 0, nan, 1) },
		func() { tensor.RandomIntegers[int8](0, 3, 3, 1) },
	} {
		if err := tensor.Try(f); !errors.Is(err, tensor.ErrValue) {
			t.Errorf("case %d: %v", i, err)
		}
	}
	if err := tensor.Try(func() { tensor.RandomPermutation(0, -1) }); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("got %v", err)
	}
}

func BenchmarkRandom(b *testing.B) {
	b.Run("uniform", func(b *testing.B) {
		for b.Loop() {
			tensor.RandomUniform[float32](1, 0, 1, 1000)
		}
	})
	b.Run("normal", func(b *testing.B) {
		for b.Loop() {
			tensor.RandomNormal[float32](1, 0, 1, 1000)
		}
	})
}
