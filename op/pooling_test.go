package op

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// definedPool calls f for each output with its elements, their places in x in
// row-major order, and the number of window positions inside the padded input.
func definedPool[T num.Elem](x tensor.Tensor[T], shape, kernel, strides, dils, pads []int, f func(at []int, window []T, places []int64, padded int)) {
	rank := len(kernel)
	size := 1
	for _, k := range kernel {
		size *= k
	}
	for at := range tensor.New[bool](shape...).All() {
		var window []T
		var places []int64
		padded := 0
		for l := range size {
			kc := plan.Unravel(l, kernel)
			src := []int{at[0], at[1]}
			inside, within := true, true
			place := at[0]*x.Dim(1) + at[1]
			for i := range rank {
				p := at[2+i]*strides[i] + kc[i]*dils[i] - pads[i]
				inside = inside && p >= 0 && p < x.Dim(2+i)
				within = within && p < x.Dim(2+i)+pads[rank+i]
				src = append(src, p)
				place = place*x.Dim(2+i) + p
			}
			if within {
				padded++
			}
			if inside {
				window = append(window, x.At(src...))
				places = append(places, int64(place))
			}
		}
		f(at, window, places, padded)
	}
}

// beats is the order of the largest: NaN above all, −0 < +0, the first of equals.
func beats(v, best float64) bool {
	return best == best && (v != v || v > best || v == 0 && best == 0 && math.Signbit(best) && !math.Signbit(v))
}

var poolCases = []struct {
	x, kernel, strides, dils, pads, shape []int // pads as effective
	auto                                  string
	ceil                                  bool
}{
	{x: []int{1, 2, 7}, kernel: []int{3}, strides: []int{1}, dils: []int{1}, pads: []int{0, 0}, shape: []int{1, 2, 5}},
	{x: []int{2, 3, 5, 6}, kernel: []int{2, 3}, strides: []int{2, 1}, dils: []int{1, 2}, pads: []int{1, 0, 0, 2}, shape: []int{2, 3, 3, 4}},
	{x: []int{1, 1, 4, 4}, kernel: []int{3, 3}, strides: []int{2, 2}, dils: []int{1, 1}, pads: []int{0, 0, 0, 0}, shape: []int{1, 1, 2, 2}, ceil: true},
	{x: []int{1, 1, 5}, kernel: []int{2}, strides: []int{3}, dils: []int{1}, pads: []int{0, 1}, shape: []int{1, 1, 2}, ceil: true},  // the third would start in the padding
	{x: []int{1, 1, 6}, kernel: []int{3}, strides: []int{2}, dils: []int{1}, pads: []int{1, 2}, shape: []int{1, 1, 4}, ceil: true},  // room divides
	{x: []int{1, 1, 6}, kernel: []int{3}, strides: []int{5}, dils: []int{1}, pads: []int{1, 1}, shape: []int{1, 1, 2}, ceil: true},  // and starts inside
	{x: []int{1, 1, 2}, kernel: []int{1}, strides: []int{2}, dils: []int{1}, pads: []int{0, 3}, shape: []int{1, 1, 3}, ceil: false}, // windows of padding
	{x: []int{1, 2, 3, 4, 5}, kernel: []int{2, 2, 3}, strides: []int{1, 2, 2}, dils: []int{2, 1, 1}, pads: []int{1, 1, 1, 1, 0, 1}, shape: []int{1, 2, 3, 2, 3}},
	{x: []int{1, 1, 12, 11}, kernel: []int{7, 9}, strides: []int{3, 1}, dils: []int{1, 1}, pads: []int{3, 4, 3, 4}, shape: []int{1, 1, 4, 11}}, // more than 32 in a window
	{x: []int{1, 1, 5, 6}, kernel: []int{3, 2}, strides: []int{1, 1}, dils: []int{1, 1}, pads: []int{1, 0, 1, 1}, shape: []int{1, 1, 5, 6}, auto: "SAME_UPPER"},
	{x: []int{1, 1, 5, 6}, kernel: []int{3, 2}, strides: []int{2, 1}, dils: []int{1, 2}, pads: []int{1, 1, 1, 1}, shape: []int{1, 1, 3, 6}, auto: "SAME_LOWER"},
	{x: []int{1, 1, 5, 6}, kernel: []int{3, 2}, strides: []int{1, 2}, dils: []int{1, 1}, pads: []int{0, 0, 0, 0}, shape: []int{1, 1, 3, 3}, auto: "VALID"},
	{x: []int{0, 1, 5}, kernel: []int{2}, strides: []int{1}, dils: []int{1}, pads: []int{0, 0}, shape: []int{0, 1, 4}},
	{x: []int{1, 1, 0, 2}, kernel: []int{2, 1}, strides: []int{1, 1}, dils: []int{1, 1}, pads: []int{1, 0, 1, 0}, shape: []int{1, 1, 1, 2}},
}

func testPools[T num.Floating](t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	one := tensor.New[T](1)
	for _, c := range poolCases {
		x := random[T](r, c.x...)
		win := Window{Kernel: c.kernel, Strides: c.strides, Dilations: c.dils, Pads: c.pads, AutoPad: c.auto, Ceil: c.ceil}
		largest, place := tensor.New[T](c.shape...), tensor.New[int64](c.shape...)
		column := tensor.New[int64](c.shape...)
		mean, padMean := tensor.New[T](c.shape...), tensor.New[T](c.shape...)
		definedPool(x, c.shape, c.kernel, c.strides, c.dils, c.pads, func(at []int, w []T, places []int64, padded int) {
			best := -1
			var wide []float64
			for i, v := range w {
				wide = append(wide, valueOf[T]()(v))
				if best < 0 || beats(wide[i], wide[best]) {
					best = i
				}
			}
			low, _ := move.EndsOf(dtype.Of[T]())
			largest.Set(exec.Number[T](&low), at...)
			if best >= 0 {
				one.Set(w[best], 0)
				canonicalAll(one.Elems())
				largest.Set(one.At(0), at...)
				place.Set(places[best], at...)
				in := plan.Unravel(int(places[best]), x.Shape())
				p := in[len(in)-1]
				for i := len(in) - 2; i >= 2; i-- {
					p = p*x.Dim(i) + in[i]
				}
				plane := x.Len() / (x.Dim(0) * x.Dim(1))
				column.Set(int64(p+(in[0]*x.Dim(1)+in[1])*plane), at...)
			}
			average := func(n int) T {
				one.Set(inFloat64[T](func(w []float64) float64 { return definedSum(w, plus) / float64(n) })(w), 0)
				return one.At(0)
			}
			mean.Set(average(len(w)), at...)
			padMean.Set(average(padded), at...)
		})
		what := fmt.Sprintf("%+v", c)
		for _, v := range variants(x) {
			same(t, "MaxPool "+what+v.name, MaxPool(v.t, win), largest)
			same(t, "AveragePool "+what+v.name, AveragePool(v.t, win, AveragePoolOptions{}), mean)
			same(t, "AveragePool with padding "+what+v.name, AveragePool(v.t, win, AveragePoolOptions{CountIncludePad: true}), padMean)
		}
		for _, v := range variants(largest) {
			same(t, "MaxPool into "+what+v.name, MaxPool(x, win, Into(v.t)), largest)
			same(t, "AveragePool into "+what+v.name, AveragePool(x, win, AveragePoolOptions{CountIncludePad: true}, Into(v.t)), padMean)
		}
		attrs := given{"kernel_shape": wide(c.kernel), "strides": wide(c.strides), "dilations": wide(c.dils), "auto_pad": c.auto, "ceil_mode": int64(0)}
		if c.auto == "" {
			attrs["pads"] = wide(c.pads)
		}
		if c.ceil {
			attrs["ceil_mode"] = int64(1)
		}
		for order, want := range []tensor.Tensor[int64]{place, column} {
			attrs["storage_order"] = int64(order)
			out := runs(t, "MaxPool", &Call{Inputs: []tensor.Any{x.Any()}, Attrs: attrs, Outputs: 2})
			same(t, "MaxPool run-time form "+what, asOf[T](out[0]), largest)
			same(t, fmt.Sprint("MaxPool places ", order, what), asOf[int64](out[1]), want)
		}
		attrs["count_include_pad"] = int64(1)
		same(t, "AveragePool run-time form "+what, asOf[T](runs(t, "AveragePool", &Call{Inputs: []tensor.Any{x.Any()}, Attrs: attrs})[0]), padMean)
	}
}

func TestPools(t *testing.T) {
	t.Run("float32", testPools[float32])
	t.Run("float64", testPools[float64])
	t.Run("float16", testPools[num.F16])
	t.Run("float8_e4m3", testPools[num.F8E4M3])
}

func TestMaxPoolSpecial(t *testing.T) {
	nz, odd := float32(math.Copysign(0, -1)), math.Float32frombits(0xff800001)
	x := tensor.FromSlice([]float32{nz, 0, nz, nz, odd, 1, float32(math.Inf(1)), 2}, 1, 1, 8)
	same(t, "zeros and NaN", MaxPool(x, Window{Kernel: []int{2}}),
		tensor.FromSlice([]float32{0, 0, nz, num.NaN32(), num.NaN32(), float32(math.Inf(1)), float32(math.Inf(1))}, 1, 1, 7))
	b := tensor.FromSlice([]uint8{3, 200, 7}, 1, 1, 3)
	same(t, "uint8", MaxPool(b, Window{Kernel: []int{2}, Pads: []int{1, 1}}), tensor.FromSlice([]uint8{3, 200, 200, 7}, 1, 1, 4))
	i := tensor.FromSlice([]int8{-3, -5}, 1, 1, 2)
	same(t, "padding isn't 0", MaxPool(i, Window{Kernel: []int{2}, Pads: []int{1, 1}}), tensor.FromSlice([]int8{-3, -3, -5}, 1, 1, 3))
	y := tensor.FromSlice([]float32{1, 5, 2}, 1, 1, 3)
	same(t, "in place", MaxPool(y, Window{Kernel: []int{3}, Pads: []int{1, 1}}, Into(y)), tensor.FromSlice([]float32{5, 5, 5}, 1, 1, 3))
}

// A window is as large as the part that it covers, not as its attributes say.
func TestPoolHugeKernel(t *testing.T) {
	x := tensor.FromSlice([]float32{1, 5, 2, 3}, 1, 1, 2, 2)
	const huge = 1<<31 - 1
	win := Window{Kernel: []int{huge, huge}, Pads: []int{huge - 2, huge - 2, 0, 0}}
	same(t, "MaxPool", MaxPool(x, win), tensor.FromSlice([]float32{5}, 1, 1, 1, 1))
	same(t, "AveragePool", AveragePool(x, win, AveragePoolOptions{}), tensor.FromSlice([]float32{2.75}, 1, 1, 1, 1))
	far := []int{huge, huge} // products that overflow an int of 32 bits
	same(t, "MaxPool of one step", MaxPool(x, Window{Kernel: []int{1, 1}, Dilations: far}), x)
	fails(t, func() { MaxPool(x, Window{Kernel: []int{3, 1}, Dilations: far}) }, "op.MaxPool", "axis 0", "reaches over 4294967295")
	fails(t, func() { MaxPool(x, Window{Kernel: []int{1, 3}, Dilations: far, Ceil: true}) }, "op.MaxPool", "axis 1", "reaches over 4294967295")
}

func TestPoolMistakes(t *testing.T) {
	x := tensor.New[float32](1, 1, 4, 4)
	fails(t, func() { MaxPool(x, Window{}) }, "op.MaxPool", "no kernel")
	fails(t, func() { MaxPool(x, Window{Kernel: []int{2}}) }, "op.MaxPool", "1 kernel extents", "2 spatial")
	fails(t, func() { AveragePool(x, Window{Kernel: []int{5, 2}}, AveragePoolOptions{}) }, "op.AveragePool", "axis 0", "4")
	fails(t, func() { AveragePool(x, Window{Kernel: []int{0, 2}}, AveragePoolOptions{}) }, "op.AveragePool", "(0,2)")
	fails(t, func() { AveragePool(tensor.New[float32](4, 4), Window{Kernel: []int{2}}, AveragePoolOptions{}) }, "op.AveragePool", "(4,4)")
	fails(t, func() { MaxPool(x, Window{Kernel: []int{2, 2}}, Into(x)) }, "op.MaxPool", "(1,1,3,3)")
	runs(t, "MaxPool", &Call{Inputs: []tensor.Any{x.Any()}})
	runs(t, "AveragePool", &Call{Inputs: []tensor.Any{x.Any()}, Attrs: given{"kernel_shape": []int64{5, 5}}})
}

func TestGlobalPools(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	x := random[float32](r, 2, 3, 4, 5)
	for _, v := range variants(x) {
		same(t, "GlobalAveragePool "+v.name, GlobalAveragePool(v.t), ReduceMean(x, []int{2, 3}, KeepDims()))
		same(t, "GlobalMaxPool "+v.name, GlobalMaxPool(v.t), ReduceMax(x, []int{2, 3}, KeepDims()))
	}
	same(t, "run-time form", asOf[float32](runs(t, "GlobalAveragePool", &Call{Inputs: []tensor.Any{x.Any()}})[0]), GlobalAveragePool(x))
	same(t, "run-time form", asOf[float32](runs(t, "GlobalMaxPool", &Call{Inputs: []tensor.Any{x.Any()}})[0]), GlobalMaxPool(x))
	runs(t, "GlobalMaxPool", &Call{Inputs: []tensor.Any{x.S("0,0").Any()}})
	opts := []Option{Into(tensor.New[float32](2, 3, 1, 1)), {}}
	GlobalMaxPool(x, opts[:1]...)
	if opts[1] != (Option{}) {
		t.Error("an option was written to the caller's slice")
	}
}

func testNormalization[T num.Floating](t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	at := valueOf[T]()
	for _, shape := range [][]int{{2, 3}, {2, 3, 5}, {1, 3, 2, 4}, {0, 3, 2}, {2, 3, 0}} {
		x, scale, bias, mean, variance := random[T](r, shape...), random[T](r, 3), random[T](r, 3), random[T](r, 3), random[T](r, 3)
		const eps = 0.125
		want := tensor.New[T](shape...)
		for i, v := range x.All() {
			c := i[1]
			factor := at(scale.At(c)) / math.Sqrt(at(variance.At(c))+eps)
			want.Set(inFloat64[T](func([]float64) float64 { return float64((at(v)-at(mean.At(c)))*factor) + at(bias.At(c)) })(nil), i...)
		}
		for _, v := range variants(x) {
			same(t, "BatchNormalization "+v.name, BatchNormalization(v.t, scale, bias, mean, variance, eps), want)
		}
		for _, v := range variants(want) {
			same(t, "BatchNormalization into "+v.name, BatchNormalization(x, scale, bias, mean, variance, eps, Into(v.t)), want)
		}
		y := x.Clone()
		same(t, "BatchNormalization in place", BatchNormalization(y, scale, bias, mean, variance, eps, Into(y)), want)
		out := runs(t, "BatchNormalization", &Call{Inputs: []tensor.Any{x.Any(), scale.Any(), bias.Any(), mean.Any(), variance.Any()}, Attrs: given{"epsilon": float32(eps)}})
		same(t, "BatchNormalization run-time form", asOf[T](out[0]), want)
	}
	for _, size := range []int{1, 2, 3, 5, 200} {
		x := random[T](r, 2, 70, 3)
		const alpha, beta, bias = 0.5, 0.75, 1.5
		want := tensor.New[T](2, 70, 3)
		for i, v := range x.All() {
			var near []float64
			for c := max(0, i[1]-(size-1)/2); c <= min(69, i[1]+size/2); c++ {
				near = append(near, at(x.At(i[0], c, i[2])))
			}
			want.Set(inFloat64[T](func([]float64) float64 {
				return at(v) / float.Pow64(float64(alpha/float64(size)*definedSum(near, square))+bias, beta)
			})(nil), i...)
		}
		for _, v := range variants(x) {
			same(t, fmt.Sprint("LRN of ", size, v.name), LRN(v.t, size, alpha, beta, bias), want)
		}
		y := x.Clone()
		same(t, "LRN in place", LRN(y, size, alpha, beta, bias, Into(y)), want)
		out := runs(t, "LRN", &Call{Inputs: []tensor.Any{x.Any()}, Attrs: given{"size": int64(size), "alpha": float32(alpha), "beta": float32(beta), "bias": float32(bias)}})
		same(t, "LRN run-time form", asOf[T](out[0]), want)
	}
	long := random[T](r, 1, 6, 1100) // more places than are computed together
	all := LRN(long, 5, 0.5, 0.75, 1.5)
	for at := 0; at < 1100; at += 100 {
		part := []tensor.Index{tensor.Colon, tensor.Colon, tensor.R(at, at+100)}
		same(t, fmt.Sprint("LRN of places from ", at), LRN(long.Slice(part...), 5, 0.5, 0.75, 1.5), all.Slice(part...))
	}
}

func TestNormalization(t *testing.T) {
	t.Run("float32", testNormalization[float32])
	t.Run("float64", testNormalization[float64])
	t.Run("bfloat16", testNormalization[num.BF16])
}

func TestNormalizationMistakes(t *testing.T) {
	x, v := tensor.New[float32](2, 3, 4), tensor.New[float32](3)
	fails(t, func() { BatchNormalization(x, v, v, v, tensor.New[float32](4), 0) }, "op.BatchNormalization", "input 4", "3 channels")
	fails(t, func() { BatchNormalization(v, v, v, v, v, 0) }, "op.BatchNormalization", "1 channels")
	one := tensor.Scalar[float32](1)
	fails(t, func() { BatchNormalization(one, v, v, v, v, 0) }, "op.BatchNormalization", "[N, C")
	fails(t, func() { LRN(v, 1, 1, 1, 1) }, "op.LRN", "[N, C")
	fails(t, func() { LRN(x, 0, 1, 1, 1) }, "op.LRN", "size 0")
	runs(t, "LRN", &Call{Inputs: []tensor.Any{x.Any()}})
	in := []tensor.Any{x.Any(), v.Any(), v.Any(), v.Any(), v.Any()}
	runs(t, "BatchNormalization", &Call{Inputs: in, Attrs: given{"training_mode": int64(1)}})
	runs(t, "BatchNormalization", &Call{Inputs: in, Outputs: 3})
	runs(t, "BatchNormalization", &Call{Inputs: []tensor.Any{x.Any(), v.Any(), v.Any(), v.Any(), tensor.New[float64](3).Any()}})
	// A target that shares elements with the numbers per channel.
	s := tensor.FromSlice([]float32{1, 2, 3, 4})
	a := tensor.FromSlice([]float32{4, 5, 6}, 1, 3)
	zero, one := tensor.New[float32](3), tensor.Full(float32(1), 3)
	want := BatchNormalization(a, s.S(":3").Clone(), zero, zero, one, 0)
	same(t, "over its scale", BatchNormalization(a, s.S(":3"), zero, zero, one, 0, Into(s.S("1:").Reshape(1, 3))), want)
}

func TestGlobalLpPool(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 2))
	x := random[float32](r, 2, 3, 4, 5)
	for _, p := range []int{1, 2, 3} {
		for _, v := range variants(x) {
			same(t, "GlobalLpPool "+v.name, GlobalLpPool(v.t, p), LpPool(x, Window{Kernel: []int{4, 5}}, p))
		}
	}
	same(t, "run-time form", asOf[float32](runs(t, "GlobalLpPool", &Call{Inputs: []tensor.Any{x.Any()}})[0]), GlobalLpPool(x, 2))
	fails(t, func() { GlobalLpPool(x, 0) }, "p is 0")
	fails(t, func() { GlobalLpPool(x.S("0,0"), 2) }, "op.GlobalLpPool", "[N, C, D1, …]")
}

// MaxRoiPool beside the definition: an element belongs to bin i of n of a region of size s that begins at b if it lies
// from ⌊b + i·s/n⌋ to before ⌈b + (i+1)·s/n⌉.
func TestMaxRoiPool(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 2))
	for range 50 {
		h, w, down, across := 1+r.IntN(7), 1+r.IntN(7), 1+r.IntN(4), 1+r.IntN(4)
		x := random[float32](r, 2, 2, h, w)
		rois := tensor.New[float32](3, 5)
		const scale = 0.5
		for i := range 3 {
			rois.Set(float32(r.IntN(2)), i, 0)
			for k := 1; k < 5; k++ {
				rois.Set(float32(r.IntN(8*w)-2*w)/4, i, k)
			}
		}
		want := tensor.New[float32](3, 2, down, across)
		in := func(v, b, parts, start, size int) bool {
			lo, hi := start+int(math.Floor(float64(b*size)/float64(parts))), start+int(math.Ceil(float64((b+1)*size)/float64(parts)))
			return lo <= v && v < hi
		}
		at := func(i, k int) int { return int(math.Round(float64(rois.At(i, k)) * scale)) }
		for i := range 3 {
			x0, y0 := at(i, 1), at(i, 2)
			wide, high := max(at(i, 3)-x0+1, 1), max(at(i, 4)-y0+1, 1)
			for c := range 2 {
				for p := range down {
					for q := range across {
						best, found := float32(0), false
						for y := range h {
							for z := range w {
								v := x.At(int(rois.At(i, 0)), c, y, z)
								if in(y, p, down, y0, high) && in(z, q, across, x0, wide) && (!found || move.GreaterFloat(v, best)) {
									best, found = v, true
								}
							}
						}
						want.Set(best, i, c, p, q)
					}
				}
			}
		}
		for _, v := range variants(x) {
			same(t, "MaxRoiPool "+v.name, MaxRoiPool(v.t, rois, down, across, scale), want)
		}
		call := &Call{Inputs: []tensor.Any{x.Any(), rois.Any()}, Attrs: given{"pooled_shape": []int64{int64(down), int64(across)}, "spatial_scale": float32(scale)}}
		same(t, "run-time form", asOf[float32](runs(t, "MaxRoiPool", call)[0]), want)
	}
	x := tensor.New[float32](1, 1, 2, 2)
	for says, rois := range map[string]tensor.Tensor[float32]{
		"region 0 is of image 1":         tensor.FromSlice([]float32{1, 0, 0, 1, 1}, 1, 5),
		"number 2 of region 0 is NaN":    tensor.FromSlice([]float32{0, 0, float32(math.NaN()), 1, 1}, 1, 5),
		"number 4 of region 0 is 1.0000": tensor.FromSlice([]float32{0, 0, 0, 1, 1e30}, 1, 5),
		"the regions":                    tensor.New[float32](1, 4),
	} {
		fails(t, func() { MaxRoiPool(x, rois, 1, 1, 1) }, says)
	}
	fails(t, func() { MaxRoiPool(x, tensor.New[float32](1, 5), 0, 1, 1) }, "0 by 1")
}
