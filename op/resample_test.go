package op

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// A whole scale repeats elements; sizes and scales say the same; 1 keeps the bits.
func TestResizeNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(0, 4), 1, 3).Draw(t, "shape")
		axis := rapid.IntRange(0, len(shape)-1).Draw(t, "axis")
		k := rapid.IntRange(1, 4).Draw(t, "scale")
		a := random[num.F16](rand.New(rand.NewPCG(6, 6)), shape...)
		want := Repeat(a, []int{k}, axis)
		for _, rule := range []string{"half_pixel", "half_pixel_symmetric", "asymmetric"} {
			how := ResizeOptions{Coordinates: rule, Nearest: "round_prefer_ceil", Scales: []float64{float64(k)}, Axes: []int{axis - len(shape)}}
			if rule == "asymmetric" {
				how.Nearest = "floor"
			}
			for _, v := range variants(a) {
				agree(t, rule+" of "+v.name, Resize(v.t, how), want)
			}
			if shape[axis] > 0 {
				how.Scales, how.Sizes = nil, []int{k * shape[axis]}
				agree(t, rule+" by size", Resize(a, how), want)
			}
		}
		agree(t, "bools", Resize(Cast[bool](a), ResizeOptions{Scales: []float64{1}, Axes: []int{axis}}), Cast[bool](a))
	})
}

// The sums of Resize, element by element, from the kernel's definition: a tent or
// Keys' cubic at the distance of each element, the outermost going on for ever.
func TestResizeWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, m := rapid.IntRange(1, 6).Draw(t, "in"), rapid.IntRange(1, 9).Draw(t, "out")
		a := random[float64](rand.New(rand.NewPCG(7, 7)), n)
		cubic, smooth, corners := rapid.Bool().Draw(t, "cubic"), rapid.Bool().Draw(t, "antialias"), rapid.Bool().Draw(t, "corners")
		how := ResizeOptions{Sizes: []int{m}, Antialias: smooth, Mode: "linear"}
		kernel := func(x float64) float64 { return max(0, 1-math.Abs(x)) }
		if cubic {
			how.Mode, how.CubicA = "cubic", -0.5
			kernel = func(x float64) float64 {
				x = math.Abs(x)
				switch {
				case x < 1:
					return 1.5*x*x*x - 2.5*x*x + 1
				case x < 2:
					return -0.5*x*x*x + 2.5*x*x - 4*x + 2
				}
				return 0
			}
		}
		if corners {
			how.Coordinates = "align_corners"
		}
		scale := float64(m) / float64(n)
		got := Resize(a, how)
		for x := range m {
			at := (float64(x)+0.5)/scale - 0.5
			if corners {
				at = 0
				if m > 1 {
					at = float64(x) * float64(n-1) / float64(m-1)
				}
			}
			stretch := 1.0
			if smooth {
				stretch = min(1, scale)
			}
			sum, total := 0.0, 0.0
			for i := -40; i < n+40; i++ {
				w := kernel((float64(i) - at) * stretch)
				sum += w * a.At(max(0, min(i, n-1)))
				total += w
			}
			if want := sum / total; math.Abs(got.At(x)-want) > 1e-9*(1+math.Abs(want)) {
				t.Fatalf("%+v of %d elements: %v at %d, want %v", how, n, got.At(x), x, want)
			}
		}
	})
}

func TestResizeAtTheEdges(t *testing.T) {
	a := tensor.FromSlice([]uint8{0, 255, 1}, 3)
	same(t, "integers round to even", Resize(a, ResizeOptions{Sizes: []int{5}, Mode: "linear", Coordinates: "align_corners"}), tensor.FromSlice([]uint8{0, 128, 255, 128, 1}))
	middle := ResizeOptions{Sizes: []int{1}, Mode: "cubic", Coordinates: "tf_crop_and_resize", ROI: []float64{0.5, 0.5}}
	same(t, "and saturate", Resize(tensor.FromSlice([]uint8{0, 255, 255, 0}), middle), tensor.FromSlice([]uint8{255}))
	same(t, "and saturate", Resize(tensor.FromSlice([]uint8{255, 0, 0, 255}), middle), tensor.FromSlice([]uint8{0}))
	same(t, "int8", Resize(tensor.FromSlice([]int8{127, -128, -128, 127}), middle), tensor.FromSlice([]int8{-128}))
	f := tensor.FromSlice([]float32{1, float32(inf), 3})
	same(t, "a weight of 0 isn't looked at", Resize(f, ResizeOptions{Sizes: []int{2}, Mode: "linear", Coordinates: "align_corners"}), tensor.FromSlice([]float32{1, 3}))
	crop := ResizeOptions{Sizes: []int{3}, Mode: "linear", Coordinates: "tf_crop_and_resize", ROI: []float64{-0.5, 0.5}, Outside: 9}
	same(t, "outside", Resize(tensor.FromSlice([]float32{1, 2, 3}), crop), tensor.FromSlice([]float32{9, 1, 2}))
	crop.Mode = "nearest"
	same(t, "outside, nearest", Resize(tensor.FromSlice([]int8{1, 2, 3}), crop), tensor.FromSlice([]int8{9, 1, 2}))
	same(t, "aspect", Resize(tensor.New[int8](4, 2), ResizeOptions{Sizes: []int{8, 8}, Aspect: "not_larger"}), tensor.New[int8](8, 4))
	same(t, "aspect", Resize(tensor.New[int8](4, 2), ResizeOptions{Sizes: []int{8, 8}, Aspect: "not_smaller"}), tensor.New[int8](16, 8))
	b := tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	same(t, "into its operand", Resize(b.S(":1"), ResizeOptions{Sizes: []int{2, 2}}, Into(b.Transpose())), tensor.FromSlice([]float32{1, 2, 1, 2}, 2, 2))

	for _, c := range []struct {
		how   ResizeOptions
		words string
	}{
		{ResizeOptions{}, "either scales or sizes"},
		{ResizeOptions{Sizes: []int{1, 2}}, "2 sizes for 1 axes"},
		{ResizeOptions{Sizes: []int{1}, Axes: []int{1}}, "axis 1"},
		{ResizeOptions{Sizes: []int{-1}}, "size -1"},
		{ResizeOptions{Scales: []float64{nan}}, "scale NaN"},
		{ResizeOptions{Scales: []float64{-1}}, "scale -1"},
		{ResizeOptions{Scales: []float64{1e300}}, "scale 1e+300"},
		{ResizeOptions{Sizes: []int{1}, Mode: "lanczos"}, `mode "lanczos"; there are nearest, linear, cubic`},
		{ResizeOptions{Sizes: []int{1}, Coordinates: "pixel"}, `"pixel"`},
		{ResizeOptions{Sizes: []int{1}, Nearest: "up"}, `"up"`},
		{ResizeOptions{Sizes: []int{1}, Aspect: "keep"}, `"keep"`},
		{ResizeOptions{Sizes: []int{1}, Coordinates: "tf_crop_and_resize"}, "region of 0 numbers"},
	} {
		fails(t, func() { Resize(f, c.how) }, "op.Resize", c.words)
	}
	fails(t, func() { Resize(tensor.New[bool](3), ResizeOptions{Sizes: []int{2}, Mode: "linear"}) }, "op.Resize", "bool", "nearest")
	fails(t, func() { Resize(tensor.New[int8](0), ResizeOptions{Sizes: []int{2}}) }, "op.Resize", "size 2", "extent 0")
}

// At the centre of an element GridSample reads that element, whatever the mode.
func TestGridSampleAtElements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		axes := rapid.SliceOfN(rapid.IntRange(2, 4), 1, 3).Draw(t, "axes")
		a := random[float32](rand.New(rand.NewPCG(8, 8)), slices.Concat([]int{2, 3}, axes)...)
		grid := tensor.New[float64](slices.Concat([]int{2}, axes, []int{len(axes)})...)
		corners := rapid.Bool().Draw(t, "corners")
		for c := range grid.All() {
			i := len(axes) - 1 - c[len(c)-1] // the last axis first
			n, x := float64(axes[i]), float64(c[1+i])
			v := (2*x+1)/n - 1
			if corners {
				v = 2*x/(n-1) - 1
			}
			grid.Set(v, c...)
		}
		how := GridSampleOptions{Mode: rapid.SampledFrom([]string{"linear", "nearest", "cubic"}).Draw(t, "mode"), AlignCorners: corners,
			Padding: rapid.SampledFrom([]string{"zeros", "border", "reflection"}).Draw(t, "padding")}
		for _, v := range variants(a) {
			for c, got := range GridSample(v.t, grid, how).All() {
				if want := a.At(c...); math.Abs(float64(got-want)) > 1e-2 {
					t.Fatalf("%+v: %v at %v, want %v", how, got, c, want)
				}
			}
		}
	})
}

func TestGridSampleBeside(t *testing.T) {
	a := tensor.FromSlice([]float32{1, 2, 4, 8}, 1, 1, 4)
	at := func(v ...float32) tensor.Tensor[float32] { return tensor.FromSlice(v, 1, len(v), 1) }
	line := func(v ...float32) tensor.Tensor[float32] { return tensor.FromSlice(v, 1, 1, len(v)) }
	// With 4 elements a step of ½ is one element; −1 is half of one before the first.
	grid := at(-1, -1.25, 1.25, 3, -0.5)
	same(t, "zeros", GridSample(a, grid, GridSampleOptions{}), line(0.5, 0, 0, 0, 1.5))
	same(t, "border", GridSample(a, grid, GridSampleOptions{Padding: "border"}), line(1, 1, 8, 8, 1.5))
	same(t, "reflection", GridSample(a, grid, GridSampleOptions{Padding: "reflection"}), line(1, 1, 8, 1, 1.5))
	odd := at(float32(nan), float32(inf), float32(-inf))
	same(t, "NaN and ∞", GridSample(a, odd, GridSampleOptions{Padding: "border"}), line(float32(nan), 8, 1))
	same(t, "∞ beside zeros", GridSample(a, odd, GridSampleOptions{Mode: "nearest"}), line(float32(nan), 0, 0))
	same(t, "integers", GridSample(Cast[int8](a), odd, GridSampleOptions{Padding: "reflection"}), tensor.FromSlice([]int8{0, 1, 1}, 1, 1, 3))
	fails(t, func() { GridSample(a, tensor.New[float32](1, 2, 2), GridSampleOptions{}) }, "op.GridSample", "float32[1,1,4]")
	fails(t, func() { GridSample(a, odd, GridSampleOptions{Mode: "bicubic"}) }, "op.GridSample", `"bicubic"`, "cubic")
	fails(t, func() { GridSample(a, odd, GridSampleOptions{Padding: "wrap"}) }, "op.GridSample", `"wrap"`)
}

func TestCol2Im(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rank := rapid.IntRange(1, 3).Draw(t, "rank")
		list := func(name string, lo, hi, n int) []int {
			return rapid.SliceOfN(rapid.IntRange(lo, hi), n, n).Draw(t, name)
		}
		image, block := list("image", 3, 6, rank), list("block", 1, 3, rank)
		p := Col2ImOptions{list("strides", 1, 2, rank), list("dilations", 1, 2, rank), list("pads", 0, 2, 2*rank)}
		places, size, count := make([]int, rank), 1, 1
		for i, n := range image {
			for at := 0; at+(block[i]-1)*p.Dilations[i] < n+p.Pads[i]+p.Pads[rank+i]; at += p.Strides[i] {
				places[i]++
			}
			size, count = size*block[i], count*places[i]
		}
		a := random[int32](rand.New(rand.NewPCG(9, 9)), 2, 3*size, count)
		want := tensor.New[int32](slices.Concat([]int{2, 3}, image)...)
		for c, v := range a.All() {
			if count == 0 {
				break
			}
			b, l := plan.Unravel(c[1]%size, block), plan.Unravel(c[2], places)
			to := []int{c[0], c[1] / size}
			inside := true
			for i := range rank {
				x := l[i]*p.Strides[i] + b[i]*p.Dilations[i] - p.Pads[i]
				inside = inside && x >= 0 && x < image[i]
				to = append(to, x)
			}
			if inside {
				want.Set(want.At(to...)+v, to...)
			}
		}
		for _, v := range variants(a) {
			agree(t, "Col2Im of "+v.name, Col2Im(v.t, image, block, p), want)
		}
		f := Cast[float32](a)
		agree(t, "floats", Col2Im(f, image, block, p), Cast[float32](want))
	})
	fails(t, func() { Col2Im(tensor.New[int8](1, 3, 4), []int{3, 3}, []int{2, 2}, Col2ImOptions{}) }, "op.Col2Im", "int8[1,3,4]", "multiple of 4")
	fails(t, func() { Col2Im(tensor.New[int8](1, 4, 4), []int{3, 3}, []int{2, 0}, Col2ImOptions{}) }, "op.Col2Im", "axis 1", "block 0")
	fails(t, func() { Col2Im(tensor.New[int8](1, 4, 4), []int{3, 3}, []int{2, 2}, Col2ImOptions{Strides: []int{1}}) }, "op.Col2Im", "1 strides")
}

func TestCenterCropPad(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(0, 5), 1, 3).Draw(t, "shape")
		axis := rapid.IntRange(0, len(shape)-1).Draw(t, "axis")
		n := rapid.IntRange(0, 8).Draw(t, "extent")
		a := random[int16](rand.New(rand.NewPCG(2, 2)), shape...)
		relocation[int16]{"CenterCropPad", a, func(a tensor.Tensor[int16], o ...Option) tensor.Tensor[int16] {
			return CenterCropPad(a, []int{n}, []int{axis}, o...)
		}, changed(slices.Clone(shape), axis, n), func(c []int) []int {
			more := n - shape[axis]
			at := c[axis] - max(more, 0)/2 + max(-more, 0)/2
			if at < 0 || at >= shape[axis] {
				return nil
			}
			return changed(c, axis, at)
		}, 0}.check(t)
	})
	fails(t, func() { CenterCropPad(count(2, 3), []int{1}, nil) }, "op.CenterCropPad", "1 extents for 2 axes")
	fails(t, func() { CenterCropPad(count(2, 3), []int{1, -2}, nil) }, "op.CenterCropPad", "extent -2 of axis 1")
}

func TestTruths(t *testing.T) {
	a := tensor.FromSlice([]float32{0, float32(negZero), float32(nan), 1, 0, 2}, 2, 3)
	for _, v := range variants(a) {
		same(t, v.name, CountNonZero(v.t, []int{1}), i64(1, 2))
		same(t, v.name, CountNonZero(v.t, nil), tensor.Scalar(int64(3)))
		same(t, v.name, Any(v.t, []int{0}), tensor.FromSlice([]bool{true, false, true}))
		same(t, v.name, All(v.t, []int{0}, KeepDims()), tensor.FromSlice([]bool{false, false, true}, 1, 3))
	}
	for n := range 70 { // one that differs, at each place of a line among others
		for at := range n {
			hit := tensor.New[bool](3, n)
			hit.Set(true, 1, at)
			same(t, "one true", Any(hit, []int{1}), tensor.FromSlice([]bool{false, true, false}))
			same(t, "one true, turned", All(Not(hit), []int{1}), tensor.FromSlice([]bool{true, false, true}))
			same(t, "one true, counted", CountNonZero(hit, []int{1}), i64(0, 1, 0))
		}
	}
	same(t, "any of nothing", Any(tensor.New[int8](2, 0), []int{1}), tensor.New[bool](2))
	same(t, "all of nothing", All(tensor.New[int8](0), nil), tensor.Scalar(true))
	fails(t, func() { Any(a, []int{2}) }, "op.Any", "axis 2")

	same(t, "Ptp", Ptp(tensor.FromSlice([]int8{-100, 100, 1, 3}, 2, 2), []int{1}), tensor.FromSlice([]int8{-56, 2}))
	same(t, "Ptp", Ptp(a, []int{1}, KeepDims()), tensor.FromSlice([]float32{float32(nan), 2}, 2, 1))
	for _, v := range variants(count(3, 4)) {
		same(t, "Trace of "+v.name, Trace(v.t, 1, 0, 1), tensor.Scalar(int32(1+6+11)))
	}
	edges := tensor.FromSlice([]float64{0, 1, 2, 4})
	counts, got := Histogram(tensor.FromSlice([]float64{0, 0.99, 1, 4, 4.01, -0.01, nan, 3, negZero}), 4, 0, 4)
	same(t, "counts", counts, i64(3, 1, 0, 2))
	same(t, "edges", got, tensor.Linspace[float64](0, 4, 5))
	fails(t, func() { Histogram(edges, 0, 0, 1) }, "op.Histogram", "0 bins")
	fails(t, func() { Histogram(edges, 2, 1, 1) }, "op.Histogram", "from 1 to 1")
	fails(t, func() { Histogram(edges, 2, 0, inf) }, "op.Histogram", "+Inf")
}

func TestRavelIndex(t *testing.T) {
	shape := []int{2, 3, 4}
	for n := range 24 {
		if got := RavelIndex(UnravelIndex(n, shape), shape); got != n {
			t.Errorf("element %d is at %v, which is element %d", n, UnravelIndex(n, shape), got)
		}
	}
	if RavelIndex([]int{}, nil) != 0 || len(UnravelIndex(0, []int{})) != 0 {
		t.Error("rank 0 has one element")
	}
	fails(t, func() { RavelIndex([]int{1, 3, 0}, shape) }, "op.RavelIndex", "index 3", "axis 1 of extent 3")
	fails(t, func() { RavelIndex([]int{1}, shape) }, "op.RavelIndex", "1 indices")
	fails(t, func() { UnravelIndex(24, shape) }, "op.UnravelIndex", "element 24", "(2,3,4)")
	fails(t, func() { UnravelIndex(0, []int{0}) }, "op.UnravelIndex", "element 0")
}

// An image has the same elements beside others, which threads take one at a time, as alone, and a context ends a long run.
func TestResizeImages(t *testing.T) {
	for _, mode := range []string{"linear", "cubic"} {
		for _, scale := range [][]float64{{1, 1, 1.5, 2}, {1, 1, 0.5, 1}, {1, 1, 1, 1}} {
			x := tensor.RandomNormal[float32](3, 0, 1, 5, 7, 6, 9)
			how := ResizeOptions{Scales: scale, Mode: mode, Antialias: true}
			all := Resize(x, how)
			for n := range 5 {
				for c := range 7 {
					idx := []tensor.Index{tensor.R(n, n+1), tensor.R(c, c+1), tensor.R(0, 6), tensor.R(0, 9)}
					alone := Resize(x.Slice(idx...).Clone(), how)
					shape := alone.Shape()
					same(t, fmt.Sprint(mode, scale, n, c), all.Slice(tensor.R(n, n+1), tensor.R(c, c+1), tensor.R(0, shape[2]), tensor.R(0, shape[3])), alone)
				}
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, shape := range [][]int{{1, 1, 40, 40}, {64, 1, 40, 40}} {
		err := tensor.Try(func() {
			Resize(tensor.New[float32](shape...), ResizeOptions{Scales: []float64{1, 1, 2, 2}, Mode: "linear"}, Context(ctx))
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v: %v", shape, err)
		}
	}
}

// Lines, and small images side by side, have the sums of whole images.
func TestResizeLines(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for k := range 400 {
		shape := make([]int, 1+r.IntN(5))
		sizes := make([]int, len(shape))
		for i := range shape {
			most := []int{3, 9, 40}[r.IntN(3)]
			if len(shape) > 3 {
				most = []int{9, 60}[min(1, r.IntN(4)/3)] >> i
			}
			if shape[i] = 1 + r.IntN(most+1); r.IntN(2) == 0 {
				sizes[i] = 1 + r.IntN(2*shape[i])
			} else {
				sizes[i] = shape[i]
			}
		}
		how := ResizeOptions{Sizes: sizes, Mode: []string{"linear", "cubic"}[r.IntN(2)], Antialias: r.IntN(3) == 0, ExcludeOutside: r.IntN(3) == 0, CubicA: -0.75,
			Coordinates: []string{"half_pixel", "align_corners", "asymmetric"}[r.IntN(3)]}
		a := tensor.RandomNormal[float32](uint64(k), 0, 1, shape...)
		for _, v := range []float64{math.Inf(1), math.NaN(), math.Copysign(0, -1)} {
			a.Elems()[r.IntN(a.Len())] = float32(v)
		}
		want := tensor.New[float32](sizes...)
		by, to, from := resamples("Resize", shape, &how), want.Any(), a.Any()
		g := resampler{by: by, how: &how, name: "Resize", taps: make([][]taps, len(by)), split: func(n, _ int, f func(from, to int)) { f(0, n) }}
		g.image(move.NumericOf(move.WordsOf(to)), move.NumericOf(move.WordsOf(from)))
		same(t, fmt.Sprint(shape, how), Resize(a, how), want)
		ctx := WithThreads(context.Background(), 1+r.IntN(4))
		same(t, fmt.Sprint(shape, how), Resize(a, how, Context(ctx)), want)
	}
}

// A description may have more elements than an int counts, also one of 32 bits. Two such numbers have a sum.
func TestMultiplied(t *testing.T) {
	if n := multiplied(math.MaxInt, math.MaxInt); n < math.MaxInt/4 || n+n < n || multiplied(n, n) != n {
		t.Errorf("the large number is %d", n)
	}
	if n := multiplied(3, 5); n != 15 {
		t.Errorf("3 times 5 is %d", n)
	}
}
