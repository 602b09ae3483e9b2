package main

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// model ends a Builder at an opset.
func model(t *testing.T, b *onnx.Builder, opset int64) *onnx.Model {
	t.Helper()
	m, err := b.Model(opset)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func of(list []float32, shape ...int) tensor.Any { return tensor.FromSlice(list, shape...).Any() }

// TestExact runs y = (conv(x, [0.1, 0.7]) · 0.3 + c) · 0.9³, where c is [0.2, 0.6] as the first result is above 0. Its numbers are the float32 nearest to these.
func TestExact(t *testing.T) {
	b := onnx.NewBuilder("all")
	x := b.Input("x", dtype.Float32, 1, 1, 3)
	v := b.Node("Conv", []string{x, b.Weight("w", of([]float32{0.1, 0.7}, 1, 1, 2))})
	v = b.Node("Mul", []string{v, b.Node("Constant", nil, onnx.FloatAttr("value_float", 0.3))})
	v = b.Node("Cast", []string{v}, onnx.IntAttr("to", int64(onnx.ElemFloat32)))
	v = b.Node("Reshape", []string{v, b.Weight("flat", tensor.FromSlice([]int64{2}, 1).Any())})

	yes, no := b.Body("yes"), b.Body("no")
	half := yes.Node("Cast", []string{yes.Node("Constant", nil, onnx.FloatsAttr("value_floats", 0.2, 0.6))}, onnx.IntAttr("to", int64(onnx.ElemFloat16)))
	yes.Output(yes.Node("Cast", []string{half}, onnx.IntAttr("to", int64(onnx.ElemFloat32))), dtype.Float32, 2)
	no.Output(no.Node("Constant", nil, onnx.FloatsAttr("value_floats", 8, 8)), dtype.Float32, 2)
	first := b.Node("ReduceMax", []string{v}, onnx.IntAttr("keepdims", 0))
	above := b.Node("Greater", []string{first, b.Weight("zero", of([]float32{0}))})
	v = b.Node("Add", []string{v, b.Node("If", []string{above}, onnx.GraphAttr("then_branch", yes), onnx.GraphAttr("else_branch", no))})

	body := b.Body("body")
	body.Input("i", dtype.Int64)
	going := body.Input("going", dtype.Bool)
	at := body.Input("at", dtype.Float32, 2)
	body.Output(body.Node("Identity", []string{going}), dtype.Bool)
	body.Output(body.Node("Mul", []string{at, body.Weight("factor", of([]float32{0.9}))}), dtype.Float32, 2)
	times := b.Weight("times", tensor.Scalar(int64(3)).Any())
	b.Output(b.Rename(b.Node("Loop", []string{times, "", v}, onnx.GraphAttr("body", body)), "y"), dtype.Float32, 2)

	in := []float32{0.4, 0.8, 1.1}
	out, err := exactly(context.Background(), model(t, b, 13), map[string]tensor.Any{"x": of(in, 1, 1, 3)})
	if err != nil {
		t.Fatal(err)
	}
	y, ok := tensor.As[float64](out["y"])
	if !ok {
		t.Fatalf("y is %v, want float64", out["y"].DType())
	}
	wide := func(v float32) float64 { return float64(v) }
	for i, c := range []float32{0.2, 0.6} {
		want := (wide(0.1)*wide(in[i])+wide(0.7)*wide(in[i+1]))*wide(0.3) + wide(c)
		want *= wide(0.9) * wide(0.9) * wide(0.9)
		if got := y.At(i); math.Abs(got-want) > 1e-15 {
			t.Errorf("y[%d] = %.17g, want %.17g", i, got, want)
		}
	}
}

// TestExactOfDefaults runs operators that mean float32 where nothing says a type, or by definition.
func TestExactOfDefaults(t *testing.T) {
	four := tensor.Scalar(int64(4)).Any()
	for _, c := range []struct {
		name  string
		opset int64
		node  func(b *onnx.Builder, x string) string
		want  []float64
	}{
		{"ConstantOfShape", 13, func(b *onnx.Builder, x string) string {
			return b.Node("Add", []string{x, b.Node("ConstantOfShape", []string{b.Node("Shape", []string{x})})})
		}, []float64{wideThird, 1}},
		{"HannWindow", 17, func(b *onnx.Builder, x string) string { return b.Node("HannWindow", []string{b.Weight("n", four)}) },
			[]float64{0, 0.5, 1, 0.5}},
		{"Resize", 13, func(b *onnx.Builder, x string) string {
			scale := b.Node("Div", []string{b.Weight("six", of([]float32{6}, 1)), b.Weight("three", of([]float32{3}, 1))})
			return b.Node("Resize", []string{x, "", scale})
		}, []float64{wideThird, wideThird, 1, 1}},
		{"Upsample", 9, func(b *onnx.Builder, x string) string {
			return b.Node("Upsample", []string{x, b.Weight("two", of([]float32{2}, 1))})
		}, []float64{wideThird, wideThird, 1, 1}},
		{"Cast of opset 1", 1, func(b *onnx.Builder, x string) string {
			return b.Node("Cast", []string{x}, onnx.StringAttr("to", "FLOAT"))
		},
			[]float64{wideThird, 1}},
		{"CastLike", 15, func(b *onnx.Builder, x string) string {
			return b.Node("CastLike", []string{x, b.Weight("like", of([]float32{0}))})
		},
			[]float64{wideThird, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := onnx.NewBuilder("one")
			b.Output(b.Rename(c.node(b, b.Input("x", dtype.Float32, 2)), "y"), dtype.Float32, nil)
			out, err := exactly(context.Background(), model(t, b, c.opset), map[string]tensor.Any{"x": of([]float32{1. / 3, 1}, 2)})
			if err != nil {
				t.Fatal(err)
			}
			y, ok := tensor.As[float64](out["y"])
			if !ok || !near(slices.Collect(y.Values()), c.want) {
				t.Errorf("%v, want %v", out["y"], c.want)
			}
		})
	}
}

// wideThird is the float32 nearest to a third.
var wideThird = float64(float32(1. / 3))

func near(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) <= 1e-15 })
}

// TestExactOfFunctions runs a function of the model, whose Resize and Constant are widened, too.
func TestExactOfFunctions(t *testing.T) {
	b := onnx.NewBuilder("caller")
	b.Import("local", 1)
	x := b.Input("x", dtype.Float32, 2)
	b.Output(b.Rename(b.Node("Identity", []string{x}), "y"), dtype.Float32, nil)
	m := model(t, b, 13)
	m.Graph.Nodes[0].Op, m.Graph.Nodes[0].Domain = "Twice", "local"
	m.Functions = []onnx.Function{{Domain: "local", Name: "Twice", Inputs: []string{"a"}, Outputs: []string{"c"}, Opsets: []onnx.Opset{{Version: 13}},
		Nodes: []onnx.Node{
			{Op: "Constant", Outputs: []string{"s"}, Attributes: []onnx.Attribute{onnx.FloatsAttr("value_floats", 2)}},
			{Op: "Resize", Inputs: []string{"a", "", "s"}, Outputs: []string{"c"}}}}}
	out, err := exactly(context.Background(), m, map[string]tensor.Any{"x": of([]float32{1. / 3, 1}, 2)})
	if err != nil {
		t.Fatal(err)
	}
	if y, ok := tensor.As[float64](out["y"]); !ok || !slices.Equal(slices.Collect(y.Values()), []float64{wideThird, wideThird, 1, 1}) {
		t.Errorf("y is %v", out["y"])
	}
	if n := m.Functions[0].Nodes; len(n) != 3 || n[2].Op != "Cast" || n[1].Inputs[2] != n[2].Outputs[0] {
		t.Errorf("nodes %v; want a Cast that gives Resize its scales", n)
	}
}

// TestNotExact names operators that have no exact answer, take no float64, or give float32.
func TestNotExact(t *testing.T) {
	for op, c := range map[string]struct {
		node func(b *onnx.Builder, x string) string
		want string
	}{
		"QuantizeLinear": {func(b *onnx.Builder, x string) string {
			return b.Node("DequantizeLinear", []string{b.Node("QuantizeLinear", []string{x, b.Weight("s", of([]float32{1}))}), "s"})
		}, "operators without an exact answer: DequantizeLinear, QuantizeLinear"},
		"NonMaxSuppression": {func(b *onnx.Builder, x string) string {
			three := b.Node("Reshape", []string{x, b.Weight("shape", tensor.FromSlice([]int64{1, 1, 4}, 3).Any())})
			score := b.Weight("score", of([]float32{1}, 1, 1, 1))
			return b.Node("Cast", []string{b.Node("NonMaxSuppression", []string{three, score})}, onnx.IntAttr("to", int64(onnx.ElemFloat32)))
		}, "operators without float64: NonMaxSuppression"},
		"TfIdfVectorizer": {func(b *onnx.Builder, x string) string {
			n := b.Node("TfIdfVectorizer", []string{b.Node("Cast", []string{x}, onnx.IntAttr("to", int64(onnx.ElemInt64)))}, onnx.IntAttr("max_gram_length", 1),
				onnx.IntAttr("min_gram_length", 1), onnx.IntAttr("max_skip_count", 0), onnx.StringAttr("mode", "TF"), onnx.IntsAttr("ngram_counts", 0), onnx.IntsAttr("ngram_indexes", 0), onnx.IntsAttr("pool_int64s", 1))
			return b.Node("Cast", []string{n}, onnx.IntAttr("to", int64(onnx.ElemFloat32)))
		}, "operators that give narrower floats than float64: TfIdfVectorizer"},
	} {
		t.Run(op, func(t *testing.T) {
			b := onnx.NewBuilder("one")
			b.Output(b.Rename(c.node(b, b.Input("x", dtype.Float32, 4)), "y"), dtype.Float32, nil)
			_, err := exactly(context.Background(), model(t, b, 13), map[string]tensor.Any{"x": of([]float32{0, 0, 1, 1}, 4)})
			if err == nil || err.Error() != c.want {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}

func TestDistance(t *testing.T) {
	nan := math.NaN()
	var d distance
	if err := d.add([]float32{1.5, -4, float32(nan), 0}, []float64{1, -4, nan, 0}); err != nil || d != (distance{0.5, 0.125}) {
		t.Errorf("%v, %v; want an error of 0.5 beside 4", d, err)
	}
	if err := d.add([]float32{0.01}, []float64{0.02}); err != nil || math.Abs(d.Relative-0.5) > 1e-7 || d.Absolute != 0.5 {
		t.Errorf("%v, %v; want 0.5 of the first output and half of the second", d, err)
	}
	if err := d.add([]float32{1}, []float64{nan}); err == nil || !strings.Contains(err.Error(), "NaN") {
		t.Errorf("%v; want an error about NaN", err)
	}
}
