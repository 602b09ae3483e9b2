package quantize

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

func noise(r *rand.Rand, shape ...int) tensor.Tensor[float32] {
	t := tensor.New[float32](shape...)
	for i := range t.Elems() {
		t.Elems()[i] = float32(r.NormFloat64())
	}
	return t
}

func one(inputs ...map[string]tensor.Any) Samples {
	return func(f func(string, map[string]onnx.Value) error) error {
		for i, in := range inputs {
			values := make(map[string]onnx.Value)
			for name, a := range in {
				values[name] = onnx.TensorValue(a)
			}
			if err := f([]string{"first", "second", "third"}[i], values); err != nil {
				return err
			}
		}
		return nil
	}
}

func digest(a tensor.Any) string {
	d, err := tensor.Digest(a)
	return fmt.Sprint(d, err)
}

func runs(t testing.TB, m *onnx.Model, in map[string]tensor.Any) map[string]tensor.Any {
	t.Helper()
	s, err := onnx.NewSession(m)
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Run(t.Context(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Nodes of an older opset give the same bits in opset 13.
func TestRaise(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	ints := func(name string, v ...int64) onnx.Attribute { return onnx.IntsAttr(name, v...) }
	for name, c := range map[string]struct {
		opset int64
		node  func(b *onnx.Builder, x string) string
	}{
		"squeeze": {12, func(b *onnx.Builder, x string) string {
			return b.Node("Squeeze", []string{b.Node("Unsqueeze", []string{x}, ints("axes", 1, 3))}, ints("axes", 1))
		}},
		"sum": {11, func(b *onnx.Builder, x string) string {
			return b.Node("ReduceSum", []string{x}, ints("axes", 1), onnx.IntAttr("keepdims", 0))
		}},
		"sum all": {11, func(b *onnx.Builder, x string) string { return b.Node("ReduceSum", []string{x}) }},
		"split": {11, func(b *onnx.Builder, x string) string {
			return b.Nodes("Split", 2, []string{x}, onnx.IntAttr("axis", 3), ints("split", 1, 3))[1]
		}},
		"halves": {9, func(b *onnx.Builder, x string) string {
			return b.Nodes("Split", 2, []string{x}, onnx.IntAttr("axis", 3))[1]
		}},
		"slice": {9, func(b *onnx.Builder, x string) string {
			return b.Node("Slice", []string{x}, ints("starts", 1), ints("ends", 3), ints("axes", 3))
		}},
		"clip": {10, func(b *onnx.Builder, x string) string {
			return b.Node("Clip", []string{x}, onnx.FloatAttr("min", -0.5), onnx.FloatAttr("max", 0.25))
		}},
		"clip max": {7, func(b *onnx.Builder, x string) string {
			return b.Node("Clip", []string{x}, onnx.FloatAttr("max", 0.25))
		}},
		"pad": {10, func(b *onnx.Builder, x string) string {
			return b.Node("Pad", []string{x}, ints("pads", 0, 0, 1, 0, 0, 0, 0, 2), onnx.FloatAttr("value", 3))
		}},
		"top": {9, func(b *onnx.Builder, x string) string {
			return b.Nodes("TopK", 2, []string{x}, onnx.IntAttr("k", 2))[0]
		}},
		"dropout": {10, func(b *onnx.Builder, x string) string {
			return b.Node("Dropout", []string{x}, onnx.FloatAttr("ratio", 0.3))
		}},
		"softmax": {12, func(b *onnx.Builder, x string) string { return b.Node("Softmax", []string{x}) }},
		"softmax 2": {11, func(b *onnx.Builder, x string) string {
			return b.Node("LogSoftmax", []string{x}, onnx.IntAttr("axis", 2))
		}},
		"softmax -1": {11, func(b *onnx.Builder, x string) string {
			return b.Node("Softmax", []string{x}, onnx.IntAttr("axis", -1))
		}},
		"upsample": {9, func(b *onnx.Builder, x string) string {
			return b.Node("Upsample", []string{x, b.Weight("by", tensor.FromSlice([]float32{1, 1, 2, 2}, 4).Any())}, onnx.StringAttr("mode", "linear"))
		}},
		"upsample 7": {7, func(b *onnx.Builder, x string) string {
			return b.Node("Upsample", []string{x}, onnx.FloatsAttr("scales", 1, 1, 2, 3))
		}},
		"resize": {10, func(b *onnx.Builder, x string) string {
			return b.Node("Resize", []string{x, b.Weight("by", tensor.FromSlice([]float32{1, 1, 1.5, 2}, 4).Any())})
		}},
	} {
		b := onnx.NewBuilder("old")
		x := b.Node("Conv", []string{b.Input("x", dtype.Float32, 1, 2, 4, 4), b.Weight("w", noise(r, 2, 2, 1, 1).Any())})
		b.OutputOf(b.Rename(c.node(b, x), "y"), onnx.Type{})
		m, err := b.Model(c.opset)
		if err != nil {
			t.Fatal(name, err)
		}
		in := map[string]tensor.Any{"x": noise(r, 1, 2, 4, 4).Any()}
		want := runs(t, m, in)
		p, err := newProgram(m, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		if err := p.raise(); err != nil {
			t.Fatal(name, err)
		}
		if got := runs(t, p.m, in); p.m.Opset("") != 13 || !slices.Equal(got["y"].Shape(), want["y"].Shape()) || digest(got["y"]) != digest(want["y"]) {
			t.Errorf("%s: %v, want %v", name, got["y"], want["y"])
		}
	}
}

// BatchNormalization and constants for each channel join the Conv before them, constants that nodes make become weights, and the results stay near.
func TestChannels(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	b := onnx.NewBuilder("channels")
	weight := func(name string, shape ...int) string { return b.Weight(name, noise(r, shape...).Any()) }
	x := b.Node("Conv", []string{b.Input("x", dtype.Float32, "n", 3, 8, 8), weight("w", 4, 3, 3, 3), weight("b", 4)})
	variance := b.Node("Abs", []string{weight("v", 4)})
	x = b.Node("BatchNormalization", []string{x, weight("s", 4), weight("t", 4), weight("m", 4), variance}, onnx.FloatAttr("epsilon", 0.01))
	x = b.Node("Mul", []string{weight("by", 4, 1, 1), x})
	x = b.Node("Add", []string{x, weight("plus", 1, 4, 1, 1)})
	x = b.Node("Div", []string{x, b.Weight("half", tensor.Scalar[float32](2).Any())})
	x = b.Node("Sub", []string{x, b.Weight("some", tensor.Scalar[float32](0.5).Any())})
	x = b.Node("Relu", []string{x})
	b.Output(b.Rename(x, "y"), dtype.Float32, "n", 4, 6, 6)
	m, err := b.Model(13)
	if err != nil {
		t.Fatal(err)
	}
	p, err := newProgram(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.channels()
	if len(p.g.Nodes) != 2 || len(p.g.Initializers) != 2 {
		t.Errorf("%d nodes and %d weights are left", len(p.g.Nodes), len(p.g.Initializers))
	}
	in := map[string]tensor.Any{"x": noise(r, 2, 3, 8, 8).Any()}
	list, err := Compare(t.Context(), m, p.m, one(in), nil)
	if err != nil || !(list[0].Error < 1e-6) {
		t.Errorf("%v %v", list, err)
	}
	q, rep, err := Static(t.Context(), m, one(in), &Options{Layers: true})
	if err != nil || rep.Quantized != 1 || rep.Layers[0].Name != "y" && rep.Layers[0].Op != "Conv" {
		t.Fatalf("%+v %v", rep, err)
	}
	if list, err = Compare(t.Context(), m, q, one(in), nil); err != nil || !(list[0].Error < 0.02) || !(list[0].Error > 0) {
		t.Errorf("%v %v", list, err)
	}
}

// Weights become the nearest integers of their channel's scale, by a pure loop.
func TestChannelSteps(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		shape := []int{1 + r.IntN(4), 1 + r.IntN(4), 1 + r.IntN(4)}
		w := noise(r, shape...)
		axis := r.IntN(4) - 1
		channels := 1
		if axis >= 0 {
			channels = shape[axis]
		}
		all, steps := channelSteps(w, axis, channels, 1, func(int) float64 { return 0 })
		i := 0
		for idx := range w.Any().Indices() {
			c := 0
			if axis >= 0 {
				c = idx[axis]
			}
			v := float64(w.At(idx...))
			if d := math.Abs(v - float64(all[i])*float64(steps[c])); d > float64(steps[c])*0.5001 || all[i] == -128 {
				t.Fatalf("%v of %v: %v becomes %d of %v", idx, shape, v, all[i], steps[c])
			}
			i++
		}
	}
}

// A range has the share of elements that it must have, or the error that it may have.
func TestSpan(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	x := noise(r, 20000)
	x.Elems()[7], x.Elems()[8] = 60, -40
	lo, hi := slices.Min(x.Elems()), slices.Max(x.Elems())
	fill := func() *span {
		v := &span{lo: float64(lo), hi: float64(hi), count: make([]int64, bins)}
		v.note(x.Any())
		return v
	}
	outside := func(v *span) (below, above int) {
		for _, e := range x.Elems() {
			if float64(e) < v.lo {
				below++
			} else if float64(e) > v.hi {
				above++
			}
		}
		return below, above
	}
	v := fill()
	v.percentile(99)
	if below, above := outside(v); below > 100 || above > 100 || v.hi > 3 || v.lo < -3 {
		t.Errorf("%v to %v leaves %d and %d out", v.lo, v.hi, below, above)
	}
	squared := func(v *span) (sum float64) {
		step := (v.hi - v.lo) / 255
		for _, e := range x.Elems() {
			q := math.Max(math.Round(v.lo/step), math.Min(math.Round(v.hi/step), math.RoundToEven(float64(e)/step)))
			d := float64(e) - q*step
			sum += d * d
		}
		return sum
	}
	x.Elems()[7], x.Elems()[8] = 9, -7
	lo, hi = -7, 9
	v = fill()
	v.least()
	best := math.Inf(1)
	for i := 1; i <= 50; i++ { // of ends that are as near in proportion
		best = min(best, squared(&span{lo: float64(lo) * float64(i) / 50, hi: float64(hi) * float64(i) / 50}))
	}
	if got := squared(v); got > 1.02*best || best >= squared(fill()) {
		t.Errorf("%v to %v: the error is %v, of others %v, of the extremes %v", v.lo, v.hi, got, best, squared(fill()))
	}
	if v := (&span{count: make([]int64, bins)}); true { // nothing but zeros
		v.note(tensor.New[float32](5).Any())
		v.percentile(99)
		v.least()
		if v.lo != 0 || v.hi != 0 {
			t.Errorf("%v to %v", v.lo, v.hi)
		}
	}
}

// residual is a graph with a sum of two results, moves, and attention of two activations.
func residual(t testing.TB, opset int64) *onnx.Model {
	r := rand.New(rand.NewPCG(5, 5))
	b := onnx.NewBuilder("residual")
	weight := func(name string, shape ...int) string {
		w := noise(r, shape...)
		for i := range w.Elems() {
			w.Elems()[i] /= 4
		}
		return b.Weight(name, w.Any())
	}
	x := b.Node("Conv", []string{b.Input("x", dtype.Float32, "n", 3, 8, 8), weight("w0", 4, 3, 3, 3)}, onnx.IntsAttr("pads", 1, 1, 1, 1))
	x = b.Node("Relu", []string{x})
	y := b.Node("Conv", []string{x, weight("w1", 4, 4, 1, 1), weight("b1", 4)})
	x = b.Node("Relu", []string{b.Node("Add", []string{y, x})})
	x = b.Node("MaxPool", []string{x}, onnx.IntsAttr("kernel_shape", 2, 2), onnx.IntsAttr("strides", 2, 2))
	x = b.Node("Reshape", []string{x, b.Weight("shape", tensor.FromSlice([]int64{-1, 4, 16}, 3).Any())})
	scores := b.Node("Softmax", []string{b.Node("MatMul", []string{x, b.Node("Transpose", []string{x}, onnx.IntsAttr("perm", 0, 2, 1))})}, onnx.IntAttr("axis", 2))
	x = b.Node("MatMul", []string{scores, x})
	x = b.Node("Flatten", []string{x})
	x = b.Node("Gemm", []string{x, weight("w2", 5, 64), weight("b2", 5)}, onnx.IntAttr("transB", 1), onnx.FloatAttr("alpha", 0.5), onnx.FloatAttr("beta", 2))
	b.Output(b.Rename(x, "y"), dtype.Float32, "n", 5)
	m, err := b.Model(opset)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// All products of a graph run on integers, and the result stays near; the model doesn't depend on the order of samples.
func TestStatic(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	a, c := map[string]tensor.Any{"x": noise(r, 1, 3, 8, 8).Any()}, map[string]tensor.Any{"x": noise(r, 3, 3, 8, 8).Any()}
	for _, opset := range []int64{12, 13, 17, 21} {
		m := residual(t, opset)
		before, err := onnx.Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []Options{{}, {Activations: dtype.Int8}, {Range: Percentile}, {Range: LeastError, Layers: true}} {
			q, rep, err := Static(t.Context(), m, one(a, c), &o)
			if err != nil {
				t.Fatal(err)
			}
			if rep.Quantized != 5 || rep.Products != 5 || rep.Samples != 2 || len(rep.Floats) != 0 {
				t.Errorf("opset %d: %+v", opset, rep)
			}
			s, err := onnx.NewIntegerSession(q)
			if err != nil {
				t.Fatal(err)
			}
			steps, err := s.Steps(a)
			if err != nil {
				t.Fatal(err)
			}
			cost, err := q.Cost(a)
			if err != nil {
				t.Fatal(err)
			}
			if some, all := Share(steps, cost); some != all || all == 0 {
				t.Errorf("opset %d: %d of %d operations on integers", opset, some, all)
			}
			list, err := Compare(t.Context(), m, q, one(a, c), nil)
			if err != nil || !(list[0].Error < 0.1) || list[0].Rows != 4 || list[0].Largest < list[0].Mean {
				t.Errorf("opset %d, %+v: %v %v", opset, o, list, err)
			}
			again, _, err := Static(t.Context(), m, one(c, a), &o)
			if err != nil {
				t.Fatal(err)
			}
			x, err := onnx.Encode(q)
			y, err2 := onnx.Encode(again)
			if err != nil || err2 != nil || !bytes.Equal(x, y) {
				t.Errorf("opset %d: another order of samples gives another model: %v %v", opset, err, err2)
			}
			if o.Layers && (len(rep.Layers) != 6 || slices.ContainsFunc(rep.Layers, func(l Layer) bool { return !(l.Error < 0.05) || l.Kept })) {
				t.Errorf("%+v", rep.Layers)
			}
		}
		if after, err := onnx.Encode(m); err != nil || !bytes.Equal(before, after) {
			t.Errorf("opset %d: the model of floats changed: %v", opset, err)
		}
	}
}

// Nodes stay in float32 by name, and where their error is large.
func TestKeep(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	in := one(map[string]tensor.Any{"x": noise(r, 2, 3, 8, 8).Any()})
	m := residual(t, 13)
	_, rep, err := Static(t.Context(), m, in, &Options{Keep: []string{"conv2", "y"}})
	if err != nil || rep.Quantized != 3 || len(rep.Floats) != 2 || !strings.Contains(rep.Floats[0], "Keep names it") {
		t.Errorf("%+v %v", rep, err)
	}
	_, rep, err = Static(t.Context(), m, in, &Options{Layers: true})
	if err != nil {
		t.Fatal(err)
	}
	errs := make([]float64, 0, len(rep.Layers))
	for _, l := range rep.Layers {
		if l.Op != "Add" {
			errs = append(errs, l.Error)
		}
	}
	slices.Sort(errs)
	q, rep, err := Static(t.Context(), m, in, &Options{KeepError: (errs[2] + errs[3]) / 2})
	if err != nil || rep.Quantized != 3 || !strings.Contains(rep.Floats[0], "its error is") {
		t.Errorf("%+v %v", rep, err)
	}
	if s, err := onnx.NewSession(q); err != nil || s == nil {
		t.Error(err)
	}
}

// Bad input has an error that says where.
func TestBad(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	m, ctx := residual(t, 13), context.Background()
	good := map[string]tensor.Any{"x": noise(r, 1, 3, 8, 8).Any()}
	none := onnx.NewBuilder("none")
	none.OutputOf(none.Rename(none.Node("Relu", []string{none.Input("x", dtype.Float32, 2)}), "y"), onnx.Type{})
	without, err := none.Model(13)
	if err != nil {
		t.Fatal(err)
	}
	double := onnx.NewBuilder("double")
	double.OutputOf(double.Node("MatMul", []string{double.Input("x", dtype.Float64, 2, 2), double.Input("y", dtype.Float64, 2, 2)}), onnx.Type{})
	wide, err := double.Model(13)
	if err != nil {
		t.Fatal(err)
	}
	nan, inf := noise(r, 1, 3, 8, 8), noise(r, 1, 3, 8, 8)
	nan.Elems()[5], inf.Elems()[5] = float32(math.NaN()), 3e38
	other := map[string]tensor.Any{"x": noise(r, 1, 2, 8, 8).Any()}
	for name, c := range map[string]struct {
		m    *onnx.Model
		in   Samples
		o    Options
		says string
	}{
		"no product":   {without, one(map[string]tensor.Any{"x": noise(r, 2).Any()}), Options{}, "no Conv, Gemm or MatMul"},
		"float64":      {wide, one(map[string]tensor.Any{"x": tensor.New[float64](2, 2).Any(), "y": tensor.New[float64](2, 2).Any()}), Options{}, "isn't of float32"},
		"no samples":   {m, one(), Options{}, "no samples"},
		"other shape":  {m, one(good, other), Options{}, "second: "},
		"empty":        {m, one(map[string]tensor.Any{"x": noise(r, 0, 3, 8, 8).Any()}), Options{}, "its result has no elements in any sample"},
		"NaN":          {m, one(good, map[string]tensor.Any{"x": nan.Any()}), Options{}, `second: input "x": its result has a NaN`},
		"infinity":     {m, one(map[string]tensor.Any{"x": inf.Any()}), Options{}, `first: node "`},
		"unknown name": {m, one(good), Options{Keep: []string{"konv"}}, `"konv"`},
		"all kept":     {m, one(good), Options{KeepError: 1e-12}, "nothing to quantize"},
		"type":         {m, one(good), Options{Activations: dtype.Int16}, "uint8 or int8"},
		"range":        {m, one(good), Options{Range: 7}, "no range 7"},
		"percentile":   {m, one(good), Options{Percentile: 20}, "percentile of 20"},
		"error":        {m, one(good), Options{KeepError: math.NaN()}, "NaN"},
		"own error":    {m, func(func(string, map[string]onnx.Value) error) error { return errors.New("the disk is gone") }, Options{}, "the disk is gone"},
	} {
		q, _, err := Static(ctx, c.m, c.in, &c.o)
		if err == nil || !strings.Contains(err.Error(), c.says) || q != nil {
			t.Errorf("%s: %v, want %s", name, err, c.says)
		}
	}
	if _, _, err := Static(ctx, nil, one(good), nil); err == nil {
		t.Error("no model is quantized")
	}
	ended, end := context.WithCancel(ctx)
	end()
	if _, _, err := Static(ended, m, one(good), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
	q, _, err := Static(ctx, m, one(map[string]tensor.Any{"x": noise(r, 0, 3, 8, 8).Any()}, good), nil)
	if err != nil {
		t.Fatalf("an empty sample beside another: %v", err)
	}
	_, _, static := Static(ctx, q, one(good), nil)
	_, _, dynamic := Dynamic(q, nil)
	_, _, blocks := Blocks(q, 4, 16, nil)
	for _, err := range []error{static, dynamic, blocks} {
		if !errors.Is(err, ErrNothing) || !strings.Contains(err.Error(), "made of integers already") {
			t.Errorf("a model that is quantized: %v", err)
		}
	}
	if _, _, err := Static(ctx, without, one(), nil); !errors.Is(err, ErrNothing) {
		t.Errorf("no product: %v", err)
	}
}

// encoder is a graph of products: MatMul and Gemm of weights, and one of two activations.
func encoder(t testing.TB, opset int64) *onnx.Model {
	r := rand.New(rand.NewPCG(9, 9))
	b := onnx.NewBuilder("encoder")
	weight := func(name string, shape ...int) string { return b.Weight(name, noise(r, shape...).Any()) }
	x := b.Input("x", dtype.Float32, "n", 48)
	q := b.Node("MatMul", []string{x, weight("q", 48, 32)})
	k := b.Node("Gemm", []string{x, weight("k", 32, 48), weight("kb", 32)}, onnx.IntAttr("transB", 1), onnx.FloatAttr("alpha", 0.5), onnx.FloatAttr("beta", 2))
	s := b.Node("MatMul", []string{q, b.Node("Transpose", []string{k})})
	y := b.Node("Gemm", []string{b.Node("Tanh", []string{b.Node("MatMul", []string{s, k})}), weight("w", 32, 5)})
	b.Output(b.Rename(y, "y"), dtype.Float32, "n", 5)
	m, err := b.Model(opset)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Products have their ranges in each run, or weights in blocks. Products of two activations stay.
func TestDynamicAndBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	in := one(map[string]tensor.Any{"x": noise(r, 7, 48).Any()})
	for _, opset := range []int64{11, 13, 21} {
		m := encoder(t, opset)
		for name, c := range map[string]struct {
			make func(o *Options) (*onnx.Model, *Report, error)
			most float64
			op   string
		}{
			"dynamic": {func(o *Options) (*onnx.Model, *Report, error) { return Dynamic(m, o) }, 0.03, "MatMulInteger"},
			"8 bits":  {func(o *Options) (*onnx.Model, *Report, error) { return Blocks(m, 8, 16, o) }, 0.02, "MatMulNBits"},
			"4 bits":  {func(o *Options) (*onnx.Model, *Report, error) { return Blocks(m, 4, 32, o) }, 0.5, "MatMulNBits"},
		} {
			q, rep, err := c.make(nil)
			if err != nil || rep.Quantized != 3 || rep.Products != 5 || len(rep.Floats) != 2 {
				t.Fatalf("%s: %+v %v", name, rep, err)
			}
			b, err := onnx.Encode(q)
			if err != nil {
				t.Fatal(err)
			}
			if q, err = onnx.Decode(b); err != nil {
				t.Fatal(err)
			}
			count := 0
			for i := range q.Graph.Nodes {
				if q.Graph.Nodes[i].Op == c.op {
					count++
				}
			}
			list, err := Compare(t.Context(), m, q, in, nil)
			if err != nil || count != 3 || !(list[0].Error < c.most) || list[0].Error == 0 {
				t.Errorf("opset %d, %s: %d, %v %v", opset, name, count, list, err)
			}
			if _, rep, err = c.make(&Options{Keep: []string{"y"}}); err != nil || rep.Quantized != 2 {
				t.Errorf("%s: %+v %v", name, rep, err)
			}
			if _, _, err := c.make(&Options{Keep: []string{"z"}}); err == nil {
				t.Errorf("%s: keeps a name that isn't there", name)
			}
		}
		for _, bad := range [][2]int{{3, 32}, {4, 8}, {4, 48}, {8, 1 << 20}} {
			if _, _, err := Blocks(m, bad[0], bad[1], nil); err == nil {
				t.Errorf("%v is taken", bad)
			}
		}
		if _, _, err := Blocks(m, 4, 64, nil); !errors.Is(err, ErrNothing) {
			t.Errorf("blocks of 64: %v", err)
		}
	}
	none := onnx.NewBuilder("none")
	none.OutputOf(none.Node("Relu", []string{none.Input("x", dtype.Float32, 2)}), onnx.Type{})
	m, err := none.Model(13)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Dynamic(m, nil); !errors.Is(err, ErrNothing) {
		t.Error(err)
	}
}

// Weights in blocks are the nearest in their scale, by a pure loop over op.MatMulNBits of unit rows.
func TestPacked(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	for range 50 {
		rows, columns := 16+r.IntN(40), 1+r.IntN(4)
		w := noise(r, rows, columns)
		for _, bits := range []int{4, 8} {
			codes, scales := packed(product{w, 1}, bits, 16)
			ones := tensor.New[float32](rows, rows)
			for i := range rows {
				ones.Set(1, i, i)
			}
			got := op.MatMulNBits(ones, codes, scales, tensor.Tensor[uint8]{}, tensor.Tensor[float32]{}, op.MatMulNBitsOptions{Columns: columns, Bits: bits, Block: 16})
			for i := range rows {
				for c := range columns {
					scale := math.Abs(float64(scales.At(c*((rows+15)/16) + i/16)))
					if d := math.Abs(float64(got.At(i, c) - w.At(i, c))); d > scale*1.001 || d > 0.5001*scale && math.Abs(float64(w.At(i, c))) < 0.8*scale*float64(int(1)<<(bits-1)) {
						t.Fatalf("%d bits: %v becomes %v of scale %v", bits, w.At(i, c), got.At(i, c), scale)
					}
				}
			}
		}
	}
}

// Nothing of a sample is held after its run: samples that are overwritten then give the same model.
func TestForgets(t *testing.T) {
	m := residual(t, 13)
	samples := func(after func(x tensor.Tensor[float32])) Samples {
		return func(f func(string, map[string]onnx.Value) error) error {
			for i := range 5 {
				x := noise(rand.New(rand.NewPCG(13, uint64(i))), 1, 3, 8, 8)
				if err := f(fmt.Sprint(i), map[string]onnx.Value{"x": onnx.TensorValue(x.Any())}); err != nil {
					return err
				}
				after(x)
			}
			return nil
		}
	}
	var files [2][]byte
	for k, after := range []func(x tensor.Tensor[float32]){func(tensor.Tensor[float32]) {}, func(x tensor.Tensor[float32]) { x.Fill(float32(math.NaN())) }} {
		q, _, err := Static(t.Context(), m, samples(after), &Options{Range: LeastError, Layers: true})
		if err == nil {
			files[k], err = onnx.Encode(q)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("the model depends on samples after their run")
	}
}

// A Conv without channels stays, and nothing joins it.
func TestEmptyWeights(t *testing.T) {
	b := onnx.NewBuilder("empty")
	x := b.Input("x", dtype.Float32, 1, 1, 4, 4)
	y := b.Node("Conv", []string{x, b.Weight("none", tensor.New[float32](0, 1, 1, 1).Any())})
	b.Output(b.Rename(b.Node("Mul", []string{y, b.Weight("two", tensor.FromSlice([]float32{2}, 1, 1, 1, 1).Any())}), "y"), dtype.Float32, 1, 0, 4, 4)
	b.Output(b.Rename(b.Node("Conv", []string{x, b.Weight("w", tensor.FromSlice([]float32{2}, 1, 1, 1, 1).Any())}), "z"), dtype.Float32, 1, 1, 4, 4)
	m, err := b.Model(17)
	if err != nil {
		t.Fatal(err)
	}
	_, r, err := Static(t.Context(), m, one(map[string]tensor.Any{"x": noise(rand.New(rand.NewPCG(1, 1)), 1, 1, 4, 4).Any()}), nil)
	if err != nil || r.Quantized != 1 || len(r.Floats) != 1 || !strings.Contains(r.Floats[0], "its weights have no elements") {
		t.Errorf("%+v, %v", r, err)
	}
}
