package op

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// alike fails unless got and want have one type, one shape and the same bytes.
func alike(t *testing.T, what string, got, want tensor.Any) {
	t.Helper()
	if g, w := tensor.Describe(got), tensor.Describe(want); g != w || !bytes.Equal(move.WordsOf(got).Mem, move.WordsOf(want).Mem) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// moments returns the mean and the standard deviation of all elements.
func moments(a tensor.Any) (mean, deviation float64) {
	at := move.NumericOf(move.WordsOf(a))
	n := float64(at.Len())
	for i := range at.Len() {
		mean += at.Real(i) / n
	}
	for i := range at.Len() {
		deviation += (at.Real(i) - mean) * (at.Real(i) - mean) / n
	}
	return mean, math.Sqrt(deviation)
}

func TestRandomUniform(t *testing.T) {
	for code, d := range map[int64]dtype.DType{1: dtype.Float32, 10: dtype.Float16, 11: dtype.Float64, 16: dtype.BFloat16} {
		a := given{"low": float32(-3), "high": float32(1), "seed": float32(7), "dtype": code, "shape": []int64{100, 50}}
		r := runs(t, "RandomUniform", &Call{Attrs: a})[0]
		if mean, dev := moments(r); r.DType() != d || math.Abs(mean+1) > 0.05 || math.Abs(dev-4/math.Sqrt(12)) > 0.02 {
			t.Errorf("%v: mean %v, deviation %v", r.DType(), mean, dev)
		}
		at := move.NumericOf(move.WordsOf(r))
		for i := range at.Len() {
			if v := at.Real(i); !(-3 <= v && v < 1) {
				t.Fatalf("%v: %v isn't of [-3, 1)", d, v)
			}
		}
		alike(t, "again", runs(t, "RandomUniform", &Call{Attrs: a})[0], r)
		delete(a, "shape")
		like := tensor.EmptyOf(dtype.Int8, 100, 50)
		alike(t, "like", runs(t, "RandomUniformLike", &Call{Inputs: []tensor.Any{like}, Attrs: a})[0], r)
	}
	seed := uint64(math.Float32bits(2.5))
	r := runs(t, "RandomUniform", &Call{Attrs: given{"seed": float32(2.5), "shape": []int64{7, 9}}})[0]
	alike(t, "tensor.RandomUniform", r, tensor.RandomUniform[float32](seed, 0, 1, 7, 9).Any())
	r = runs(t, "RandomNormal", &Call{Attrs: given{"seed": float32(2.5), "mean": float32(-1), "scale": float32(3), "shape": []int64{7, 9}}})[0]
	alike(t, "tensor.RandomNormal", r, tensor.RandomNormal[float32](seed, -1, 3, 7, 9).Any())
	for _, a := range []given{{}, {"shape": []int64{-1}}, {"shape": []int64{2}, "low": float32(1)}, {"shape": []int64{2}, "high": float32(math.Inf(1))}, {"shape": []int64{2}, "high": num.NaN32()},
		{"shape": []int64{2}, "dtype": int64(6)}, {"shape": []int64{1 << 40, 1 << 40}}} {
		refuses(t, "RandomUniform", &Call{Attrs: a})
	}
	refuses(t, "RandomUniformLike", &Call{Inputs: []tensor.Any{tensor.New[int8](3).Any()}})
	// The number before the end, of every sign.
	for _, c := range [][3]float64{{1, 1 - 0x1p-11}, {-1, -1 - 0x1p-10}, {0, -0x1p-24}} {
		x := tensor.Full(num.FromFloat64[num.F16](c[0]), 1)
		at := move.NumericOf(move.WordsOf(x.Any()))
		if at.Before(0); at.Float(0) != c[1] {
			t.Errorf("before %v is %v", c[0], at.Float(0))
		}
	}
}

func TestRandomNormal(t *testing.T) {
	for _, code := range []int64{1, 10, 11, 16} {
		a := given{"mean": float32(2), "scale": float32(0.5), "dtype": code, "shape": []int64{100, 100}}
		r := runs(t, "RandomNormal", &Call{Attrs: a})[0]
		if mean, dev := moments(r); math.Abs(mean-2) > 0.02 || math.Abs(dev-0.5) > 0.02 {
			t.Errorf("%v: mean %v, deviation %v", r.DType(), mean, dev)
		}
		delete(a, "shape")
		alike(t, "like", runs(t, "RandomNormalLike", &Call{Inputs: []tensor.Any{tensor.EmptyOf(dtype.Bool, 100, 100)}, Attrs: a})[0], r)
	}
	for _, a := range []given{{}, {"shape": []int64{2}, "scale": float32(-1)}, {"shape": []int64{2}, "mean": num.NaN32()}} {
		refuses(t, "RandomNormal", &Call{Attrs: a})
	}
}

func TestBernoulli(t *testing.T) {
	p := tensor.Full[float32](0.25, 100, 100)
	r := Bernoulli[bool](p, 5)
	n := 0
	for _, v := range r.All() {
		if v {
			n++
		}
	}
	if n < 2300 || n > 2700 {
		t.Errorf("%d of 10000 are true", n)
	}
	same(t, "float64", Bernoulli[float64](p, 5), Cast[float64](r))
	same(t, "int8", Bernoulli[int8](p, 5), Cast[int8](r))
	for _, v := range variants(p) {
		same(t, v.name, Bernoulli[bool](v.t, 5), r)
	}
	edges := tensor.FromSlice([]float32{-1, 0, 1, 2, num.NaN32()})
	same(t, "edges", Bernoulli[int32](edges, 1), tensor.FromSlice([]int32{0, 0, 1, 1, 0}))
	seed := math.Float32frombits(5)
	alike(t, "run-time form", runs(t, "Bernoulli", &Call{Inputs: []tensor.Any{p.Any()}, Attrs: given{"seed": seed, "dtype": int64(9)}})[0], r.Any())
	alike(t, "of its type", runs(t, "Bernoulli", &Call{Inputs: []tensor.Any{p.Any()}, Attrs: given{"seed": seed}})[0], Bernoulli[float32](p, 5).Any())
	refuses(t, "Bernoulli", &Call{Inputs: []tensor.Any{p.Any()}, Attrs: given{"dtype": int64(14)}})
	refuses(t, "Bernoulli", &Call{Inputs: []tensor.Any{r.Any()}})
}

func TestMultinomial(t *testing.T) {
	inf := math.Inf(-1)
	x := tensor.FromSlice([]float64{inf, math.Log(1), inf, math.Log(3), inf, 700, 0, 0, 0, 0}, 2, 5)
	r := Multinomial[int32](x, 10000, 9)
	var counts [2][5]int
	for at, v := range r.All() {
		counts[at[0]][v]++
	}
	if c := counts[0]; c[0]+c[2]+c[4] != 0 || c[1] < 2300 || c[1] > 2700 || counts[1][0] != 10000 {
		t.Errorf("counts %v", counts)
	}
	same(t, "int64", Multinomial[int64](x, 10000, 9), Cast[int64](r))
	call := &Call{Inputs: []tensor.Any{x.Any()}, Attrs: given{"seed": math.Float32frombits(9), "sample_size": int64(10000)}}
	alike(t, "run-time form", runs(t, "Multinomial", call)[0], r.Any())
	same(t, "no samples", Multinomial[int32](x, 0, 1), tensor.New[int32](2, 0))
	same(t, "no rows", Multinomial[int32](tensor.New[float32](0, 3), 4, 1), tensor.New[int32](0, 4))
	fails(t, func() { Multinomial[int32](tensor.New[float32](2, 0), 1, 1) }, "op.Multinomial", "row 0")
	fails(t, func() { Multinomial[int32](tensor.Full(inf, 1, 3), 1, 1) }, "op.Multinomial", "-Inf")
	fails(t, func() { Multinomial[int32](tensor.Full(math.NaN(), 1, 3), 1, 1) }, "op.Multinomial", "NaN")
	fails(t, func() { Multinomial[int32](x, -1, 1) }, "op.Multinomial", "-1 samples")
	refuses(t, "Multinomial", &Call{Inputs: []tensor.Any{x.Any()}, Attrs: given{"dtype": int64(1)}})
	refuses(t, "Multinomial", &Call{Inputs: []tensor.Any{x.Any()}, Attrs: given{"sample_size": int64(math.MaxInt64)}})
}

func TestTrainingDropout(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	a := random[float32](r, 100, 70)
	for _, ratio := range []float64{0, 0.25, 0.9} {
		y, mask := TrainingDropout(a, ratio, 11)
		kept := 0
		for at, k := range mask.All() {
			want := float32(0)
			if k {
				kept++
				want = float32(float64(a.At(at...)) * (1 / (1 - ratio)))
			}
			if v := y.At(at...); v != want && v == v || math.Signbit(float64(v)) && !k {
				t.Fatalf("at %v: %v, want %v", at, v, want)
			}
		}
		if share := float64(kept) / 7000; math.Abs(share-1+ratio) > 0.02 {
			t.Errorf("ratio %v leaves %v", ratio, share)
		}
		for _, v := range variants(a) {
			z, m := TrainingDropout(v.t, ratio, 11, Into(v.t))
			same(t, v.name, z, y)
			same(t, v.name, m, mask)
		}
		call := &Call{Inputs: []tensor.Any{a.Any(), tensor.Scalar(ratio).Any(), tensor.Scalar(true).Any()}, Attrs: given{"seed": int64(11)}, Opset: 13, Outputs: 2}
		out := runs(t, "Dropout", call)
		alike(t, "run-time form", out[0], y.Any())
		alike(t, "mask", out[1], mask.Any())
	}
	fails(t, func() { TrainingDropout(a, 1, 1) }, "op.Dropout", "ratio is 1")
	fails(t, func() { TrainingDropout(a, math.NaN(), 1) }, "op.Dropout", "ratio")
	yes, call := tensor.Scalar(true).Any(), &Call{Opset: 13}
	for _, bad := range [][]tensor.Any{{a.Any(), a.Any(), yes}, {a.Any(), tensor.Scalar(int32(1)).Any(), yes}, {a.Any(), {}, a.Any()}, {a.Any(), {}, tensor.New[bool](2).Any()}, {a.Any(), tensor.Scalar(float32(-1)).Any(), yes}} {
		call.Inputs = bad
		refuses(t, "Dropout", call)
	}
	call = &Call{Inputs: []tensor.Any{a.Any(), {}, yes}, Opset: 13} // half of them
	y, _ := TrainingDropout(a, 0.5, 0)
	alike(t, "default", runs(t, "Dropout", call)[0], y.Any())
}

// A step in float64 is rounded to a narrow float at once: by way of float32 one in some thousands would differ.
func TestNarrowBatchNormalization(t *testing.T) {
	testBatchNormalization(t, num.FromFloat64[num.F16], num.F16.Float64)
	testBatchNormalization(t, num.FromFloat64[num.BF16], num.BF16.Float64)
	testBatchNormalization(t, num.FromFloat64[num.F8E4M3], num.F8E4M3.Float64)
}

func testBatchNormalization[T num.Narrow](t *testing.T, round func(float64) T, value func(T) float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(2, 4))
	x, scale, bias, mean, variance := random[T](r, 3, 2, 21, 331), random[T](r, 2), random[T](r, 2), random[T](r, 2), random[T](r, 2)
	for c := range 2 {
		variance.Set(round(0.3+float64(c)), c)
	}
	y := BatchNormalization(x, scale, bias, mean, variance, 1e-3)
	for at, got := range y.All() {
		c := at[1]
		factor := value(scale.At(c)) / math.Sqrt(value(variance.At(c))+1e-3)
		want := round(float64((value(x.At(at...))-value(mean.At(c)))*factor) + value(bias.At(c)))
		if got != want {
			t.Fatalf("%v at %v: %v, want %v", x.DType(), at, value(got), value(want))
		}
	}
}

func TestTrainingBatchNormalization(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	x := tensor.New[float32](4, 3, 5, 2)
	for i := range x.Elems() {
		x.Elems()[i] = r.Float32()*4 - 1
	}
	of := func() tensor.Tensor[float32] {
		p := tensor.New[float32](3)
		for i := range p.Elems() {
			p.Elems()[i] = r.Float32() + 0.5
		}
		return p
	}
	scale, bias, mean, variance := of(), of(), of(), of()
	const epsilon, momentum = 1e-3, 0.75
	y, m, v := TrainingBatchNormalization(x, scale, bias, mean, variance, epsilon, momentum)
	for c := range 3 {
		sum, squares := 0.0, 0.0
		for at, e := range x.All() {
			if at[1] == c {
				sum += float64(e) / 40
			}
		}
		for at, e := range x.All() {
			if at[1] == c {
				squares += (float64(e) - sum) * (float64(e) - sum) / 40
			}
		}
		for what, p := range map[string][2]float64{"mean": {float64(m.At(c)), float64(mean.At(c))*momentum + sum*(1-momentum)}, "variance": {float64(v.At(c)), float64(variance.At(c))*momentum + squares*(1-momentum)}} {
			if math.Abs(p[0]-p[1]) > 1e-7*math.Abs(p[1]) {
				t.Errorf("running %s %d: %v, want %v", what, c, p[0], p[1])
			}
		}
		for at, e := range y.All() {
			if want := (float64(x.At(at...))-sum)/math.Sqrt(squares+epsilon)*float64(scale.At(c)) + float64(bias.At(c)); at[1] == c && math.Abs(float64(e)-want) > 1e-6 {
				t.Fatalf("at %v: %v, want %v", at, e, want)
			}
		}
	}
	for _, form := range variants(x) {
		z, mm, vv := TrainingBatchNormalization(form.t, scale, bias, mean, variance, epsilon, momentum, Into(form.t))
		same(t, form.name, z, y)
		same(t, form.name, mm, m)
		same(t, form.name, vv, v)
	}
	in := []tensor.Any{x.Any(), scale.Any(), bias.Any(), mean.Any(), variance.Any()}
	attrs := given{"epsilon": float32(epsilon), "momentum": float32(momentum), "training_mode": int64(1)}
	exact, _, _ := TrainingBatchNormalization(x, scale, bias, mean, variance, float64(float32(epsilon)), momentum)
	for _, c := range []*Call{{Opset: 15, Outputs: 3}, {Opset: 14, Outputs: 1}, {Opset: 6, Outputs: 5}, {Opset: 7, Outputs: 3}, {Opset: 9, Outputs: 5}} {
		c.Inputs, c.Attrs = in, attrs
		out := runs(t, "BatchNormalization", c)
		alike(t, "result", out[0], exact.Any())
		if c.Outputs > 1 {
			alike(t, "mean", out[1], m.Any())
			alike(t, "variance", out[2], v.Any())
		}
		if c.Outputs > 3 { // the mean and variance of the input itself: the running ones with momentum 0
			_, m, v := TrainingBatchNormalization(x, scale, bias, mean, variance, epsilon, 0)
			alike(t, "saved mean", out[3], m.Any())
			alike(t, "saved variance", out[4], v.Any())
		}
	}
	// Statistics of another type than the input.
	wide := []tensor.Any{Cast[num.F16](x).Any(), scale.Any(), bias.Any(), Cast[float64](mean).Any(), Cast[float64](variance).Any()}
	out := runs(t, "BatchNormalization", &Call{Inputs: wide, Attrs: attrs, Opset: 15, Outputs: 3})
	if out[0].DType() != dtype.Float16 || out[1].DType() != dtype.Float64 || out[2].DType() != dtype.Float64 {
		t.Errorf("%v", out)
	}
	refuses(t, "BatchNormalization", &Call{Inputs: in, Attrs: attrs, Opset: 15, Outputs: 4})
	refuses(t, "BatchNormalization", &Call{Inputs: in, Attrs: given{}, Opset: 15, Outputs: 2})
	refuses(t, "BatchNormalization", &Call{Inputs: []tensor.Any{x.Any(), scale.Any(), bias.Any(), mean.Any(), x.Any()}, Attrs: attrs, Opset: 15})
	empty, _, _ := TrainingBatchNormalization(tensor.New[float32](0, 3, 4), scale, bias, mean, variance, epsilon, momentum)
	same(t, "no images", empty, tensor.New[float32](0, 3, 4))
}
