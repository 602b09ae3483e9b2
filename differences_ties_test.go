package ashlar_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// A tie is a row of the table of ties in docs/onnx.md, with a graph whose numbers are ties. The zero point of each result is 1, which is odd.
type tie struct {
	operators, rounded, theirs string
	ours, there                string // the results; there "" where ONNX Runtime 1.30.0 (onnxruntime-node, linux, amd64, CPU) has none
	graphs                     []func(g *tieGraph) string
}

type tieGraph struct {
	*onnx.Builder
	feeds map[string]tensor.Any
	count int
}

func (g *tieGraph) next() int { g.count++; return g.count }

// in gives the graph an input.
func (g *tieGraph) in(x interface{ Any() tensor.Any }) string {
	a, dims := x.Any(), []any{}
	for _, n := range a.Shape() {
		dims = append(dims, n)
	}
	name := g.Input(fmt.Sprint("x", len(g.feeds)), a.DType(), dims...)
	g.feeds[name] = a
	return name
}

func (g *tieGraph) scale(v float32) string {
	return g.Weight(fmt.Sprint("scale", g.next()), tensor.Scalar(v).Any())
}
func (g *tieGraph) zero(v uint8) string {
	return g.Weight(fmt.Sprint("zero", g.next()), tensor.Scalar(v).Any())
}

// one is a weight of ones.
func (g *tieGraph) one(shape ...int) string {
	return g.Weight(fmt.Sprint("one", g.next()), tensor.Full[uint8](1, shape...).Any())
}

// ends takes nodes in floats between DequantizeLinear and QuantizeLinear.
func (g *tieGraph) ends(op string, in []string, attrs ...onnx.Attribute) string {
	return g.Node("QuantizeLinear", []string{g.Node(op, in, attrs...), g.scale(1), g.zero(1)})
}

// of is an input of numbers as DequantizeLinear has them.
func (g *tieGraph) of(x tensor.Tensor[uint8], scale float32) string {
	return g.Node("DequantizeLinear", []string{g.in(x), g.scale(scale), g.zero(0)})
}

func (t *tie) row() string {
	return fmt.Sprintf("| %s | %s | %s |", t.operators, t.rounded, t.theirs)
}

func TestDifferencesTies(t *testing.T) {
	const own = "com.microsoft."
	odd, pairs := tensor.FromSlice([]uint8{1, 3, 5, 7}, 1, 1, 1, 4), tensor.FromSlice([]uint8{1, 2, 3, 2, 3, 4, 5, 4}, 1, 1, 1, 8) // halves and means are ties
	column := odd.Reshape(4, 1)
	two := func(g *tieGraph, op string) string {
		return g.Node(own+op, []string{g.in(odd), g.scale(.5), g.zero(0), g.in(tensor.Full[uint8](1, 1, 1, 1, 4)), g.scale(1), g.zero(0), g.scale(1), g.zero(1)})
	}
	after := "The zero point is added after it is rounded."
	rows := []tie{
		{"`QuantizeLinear`, `DynamicQuantizeLinear`", "x / scale. " + after, "The same.", "1 3 3 5", "1 3 3 5", []func(*tieGraph) string{func(g *tieGraph) string {
			return g.Node("QuantizeLinear", []string{g.in(vec[float32](1, 3, 5, 7)), g.scale(2), g.zero(1)})
		}, func(g *tieGraph) string { // from −2 to 508 the scale is 2 and the zero point 1
			y := g.Nodes("DynamicQuantizeLinear", 3, []string{g.in(vec[float32](1, 3, 5, 7, -2, 508))})[0]
			return g.Node("Slice", []string{y, g.Weight("from", vec[int64](0).Any()), g.Weight("to", vec[int64](4).Any())})
		}}},
		{"`QLinearConv`, `QLinearMatMul`, `QGemm`", "The exact sum · (scale of a · scale of b) / scale of y. " + after, "The same.", "1 3 3 5", "1 3 3 5", []func(*tieGraph) string{func(g *tieGraph) string {
			return g.Node("QLinearConv", []string{g.in(odd), g.scale(.5), g.zero(0), g.one(1, 1, 1, 1), g.scale(1), g.zero(0), g.scale(1), g.zero(1)})
		}, func(g *tieGraph) string {
			return g.Node("QLinearMatMul", []string{g.in(column), g.scale(.5), g.zero(0), g.one(1, 1), g.scale(1), g.zero(0), g.scale(1), g.zero(1)})
		}, func(g *tieGraph) string {
			return g.Node(own+"QGemm", []string{g.in(column), g.scale(.5), g.zero(0), g.one(1, 1), g.scale(1), g.zero(0), "", g.scale(1), g.zero(1)})
		}}},
		{"`QLinearAdd`", "The sum / scale of y. " + after, "The zero point is added first: 3.5 becomes 4, where 2.5 becomes 2 here.", "3 3 5 5", "2 4 4 6", []func(*tieGraph) string{func(g *tieGraph) string { return two(g, "QLinearAdd") }}},
		{"`QLinearMul`", "The product / scale of y. " + after, "The zero point is added first.", "1 3 3 5", "2 2 4 4", []func(*tieGraph) string{func(g *tieGraph) string { return two(g, "QLinearMul") }}},
		{"`QLinearLeakyRelu`, `QLinearConcat`, `QLinearWhere`", "The number / scale of y. " + after, "The same.", "1 3 3 5", "1 3 3 5", []func(*tieGraph) string{func(g *tieGraph) string {
			return g.Node(own+"QLinearLeakyRelu", []string{g.in(odd), g.scale(.5), g.zero(0), g.scale(1), g.zero(1)}, onnx.FloatAttr("alpha", .5))
		}, func(g *tieGraph) string {
			return g.Node(own+"QLinearConcat", []string{g.scale(1), g.zero(1), g.in(odd), g.scale(.5), g.zero(0)}, onnx.IntAttr("axis", 0))
		}, func(g *tieGraph) string {
			x := g.in(odd)
			return g.Node(own+"QLinearWhere", []string{g.in(tensor.Full(true, 1, 1, 1, 4)), x, g.scale(.5), g.zero(0), x, g.scale(.5), g.zero(0), g.scale(1), g.zero(1)})
		}}},
		{"`QLinearAveragePool`", "The mean / scale of y + the zero point.", "The same.", "2 4 4 6", "2 4 4 6", []func(*tieGraph) string{func(g *tieGraph) string {
			return g.Node(own+"QLinearAveragePool", []string{g.in(pairs), g.scale(1), g.zero(0), g.scale(1), g.zero(1)}, onnx.IntsAttr("kernel_shape", 1, 2), onnx.IntsAttr("strides", 1, 2))
		}}},
		{"`QLinearGlobalAveragePool`", "The mean / scale of y. " + after, "The same.", "3 3 5 5", "3 3 5 5", []func(*tieGraph) string{func(g *tieGraph) string {
			return g.Node(own+"QLinearGlobalAveragePool", []string{g.in(pairs.Reshape(1, 4, 1, 2)), g.scale(1), g.zero(0), g.scale(1), g.zero(1)})
		}}},
		{"`QLinearReduceMean`", "The mean / scale of y. " + after, "It has no such kernel.", "3 3 5 5", "", []func(*tieGraph) string{func(g *tieGraph) string {
			return g.Node(own+"QLinearReduceMean", []string{g.in(pairs.Reshape(4, 2)), g.scale(1), g.zero(0), g.scale(1), g.zero(1)}, onnx.IntsAttr("axes", 1), onnx.IntAttr("keepdims", 1))
		}}},
		{"`QLinearSigmoid`", "The sigmoid / scale of y. " + after, "It divides in float32, where ½ by the float32 next to ⅓ is a tie.", "2", "3", []func(*tieGraph) string{func(g *tieGraph) string {
			return g.Node(own+"QLinearSigmoid", []string{g.in(vec[uint8](128)), g.scale(1), g.zero(128), g.scale(1. / 3), g.zero(1)})
		}}},
		{"`QLinearSoftmax`", "The probability / scale of y. " + after, "A tie goes up.", "1 1 1 1", "2 2 2 2", []func(*tieGraph) string{func(g *tieGraph) string {
			return g.Node(own+"QLinearSoftmax", []string{g.in(tensor.Full[uint8](128, 1, 4)), g.scale(1), g.zero(128), g.scale(.5), g.zero(1)}, onnx.IntAttr("opset", 13))
		}}},
		{"`Conv`, `MatMul`, `Gemm`, `Sub`, `Concat`, `Where`, `LeakyRelu`, `GlobalAveragePool`, `ReduceMean` between `DequantizeLinear` and `QuantizeLinear`", "Each node's result, by `QuantizeLinear`.", "The same.", "1 3 3 5", "1 3 3 5",
			[]func(*tieGraph) string{func(g *tieGraph) string {
				return g.ends("MatMul", []string{g.of(column, .5), g.of(tensor.Full[uint8](1, 1, 1), 1)})
			}, func(g *tieGraph) string {
				return g.ends("Gemm", []string{g.of(column, .5), g.of(tensor.Full[uint8](1, 1, 1), 1)})
			}, func(g *tieGraph) string {
				return g.ends("Conv", []string{g.of(odd, .5), g.of(tensor.Full[uint8](1, 1, 1, 1, 1), 1)})
			}, func(g *tieGraph) string {
				return g.ends("Sub", []string{g.of(odd, 1), g.of(odd, .5)})
			}, func(g *tieGraph) string {
				return g.ends("Concat", []string{g.of(odd, .5)}, onnx.IntAttr("axis", 0))
			}, func(g *tieGraph) string {
				x := g.of(odd, .5)
				return g.ends("Where", []string{g.in(tensor.Full(true, 1, 1, 1, 4)), x, x})
			}, func(g *tieGraph) string {
				return g.ends("LeakyRelu", []string{g.of(odd, .5)})
			}, func(g *tieGraph) string {
				return g.ends("GlobalAveragePool", []string{g.of(tensor.FromSlice([]uint8{0, 1, 1, 2, 2, 3, 3, 4}, 1, 4, 1, 2), 1)})
			}, func(g *tieGraph) string {
				return g.ends("ReduceMean", []string{g.of(tensor.FromSlice([]uint8{0, 1, 1, 2, 2, 3, 3, 4}, 4, 2), 1), g.Weight("axes", vec[int64](1).Any())})
			}}},
		{"`Add` there", "Its result, by `QuantizeLinear`.", "One step, as `QLinearAdd`.", "3 5 9 11", "2 6 8 12", []func(*tieGraph) string{func(g *tieGraph) string { return g.ends("Add", []string{g.of(odd, .5), g.of(odd, 1)}) }}},
		{"`Mul` there", "Its result, by `QuantizeLinear`.", "One step, as `QLinearMul`.", "1 5 13 25", "2 6 14 26", []func(*tieGraph) string{func(g *tieGraph) string { return g.ends("Mul", []string{g.of(odd, .5), g.of(odd, 1)}) }}},
		{"`AveragePool` there", "Its result, by `QuantizeLinear`.", "One step, as `QLinearAveragePool`.", "3 3 5 5", "2 4 4 6", []func(*tieGraph) string{func(g *tieGraph) string {
			return g.ends("AveragePool", []string{g.of(pairs, 1)}, onnx.IntsAttr("kernel_shape", 1, 2), onnx.IntsAttr("strides", 1, 2))
		}}},
		{"`MatMulInteger`, `ConvInteger`", "None: sums are exact.", "The same.", "1 3 5 7", "1 3 5 7", []func(*tieGraph) string{func(g *tieGraph) string {
			return g.Node("MatMulInteger", []string{g.in(column), g.one(1, 1)})
		}, func(g *tieGraph) string {
			return g.Node("ConvInteger", []string{g.in(odd), g.one(1, 1, 1, 1)})
		}}},
	}
	d := &differences{t: t}
	lines := []string{"| operators | the number that is rounded | ONNX Runtime |", "|---|---|---|"}
	for _, r := range rows {
		lines = append(lines, r.row())
		t.Run(r.operators, func(t *testing.T) {
			for _, graph := range r.graphs {
				g := &tieGraph{onnx.NewBuilder("tie"), map[string]tensor.Any{}, 0}
				g.Import("com.microsoft", 1)
				g.OutputOf(g.Rename(graph(g), "y"), onnx.Type{})
				m, err := g.Model(21)
				if err != nil {
					t.Fatal(err)
				}
				for name, load := range map[string]func(*onnx.Model) (*onnx.Session, error){"NewSession": onnx.NewSession, "NewIntegerSession": onnx.NewIntegerSession} {
					s, err := load(m)
					if err != nil {
						t.Fatal(err)
					}
					out, err := s.Run(t.Context(), g.feeds, nil)
					if err != nil {
						t.Fatal(err)
					}
					if got := strings.Join(strings.Fields(strings.Trim(fmt.Sprint(out["y"].Reshape(out["y"].Len())), "[]")), " "); got != r.ours {
						t.Errorf("%s gives %s, want %s", name, got, r.ours)
					}
				}
			}
			if same := r.ours == r.there; same != (r.theirs == "The same.") {
				t.Errorf("here it is %s, there %s, and the row says: %s", r.ours, r.there, r.theirs)
			}
		})
	}
	d.lines("docs/onnx.md", lines)
	if x := float64(float32(1. / 3)); math.RoundToEven(.5/x) != 1 || float32(.5)/float32(x) != 1.5 {
		t.Error("½ by ⅓ isn't as the row of QLinearSigmoid says")
	}
}
