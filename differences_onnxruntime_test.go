package ashlar_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/op"
	_ "github.com/ashlar-go/ashlar/op/all"
	"github.com/ashlar-go/ashlar/tensor"
)

// graphOf returns a model of one node and its inputs by name. A nil input is left out.
func graphOf(t *testing.T, opset int64, node string, outputs int, attrs []onnx.Attribute, in ...interface{ Any() tensor.Any }) (*onnx.Model, map[string]tensor.Any) {
	t.Helper()
	b, names, feeds := onnx.NewBuilder("difference"), []string{}, map[string]tensor.Any{}
	for i, x := range in {
		if x == nil {
			names = append(names, "")
			continue
		}
		a, dims := x.Any(), []any{}
		for _, n := range a.Shape() {
			dims = append(dims, n)
		}
		names = append(names, b.Input(fmt.Sprint("x", i), a.DType(), dims...))
		feeds[names[i]] = a
	}
	for i, y := range b.Nodes(node, outputs, names, attrs...) {
		b.OutputOf(b.Rename(y, fmt.Sprint("y", i)), onnx.Type{})
	}
	b.Import("com.microsoft", 1)
	m, err := b.Model(opset)
	if err != nil {
		t.Fatal(err)
	}
	return m, feeds
}

// ofNode returns the first output of a node, or its error.
func ofNode(t *testing.T, opset int64, node string, attrs []onnx.Attribute, in ...interface{ Any() tensor.Any }) any {
	t.Helper()
	m, feeds := graphOf(t, opset, node, 1, attrs, in...)
	s, err := onnx.NewSession(m)
	if err != nil {
		return err
	}
	out, err := s.Run(t.Context(), feeds, nil)
	if err != nil {
		return err
	}
	return out["y0"]
}

// TestDifferencesONNXRuntime has the values of ONNX Runtime 1.30.0 (onnxruntime-node, linux, amd64, CPU), which ran the same models of one node.
func TestDifferencesONNXRuntime(t *testing.T) {
	d := &differences{t: t}
	with := func(a ...onnx.Attribute) []onnx.Attribute { return a }
	row := func(v ...float32) tensor.Tensor[float32] { return tensor.FromSlice(v, 1, 1, len(v)) }
	to := func(n int64) []onnx.Attribute { return with(onnx.IntAttr("to", n)) }
	linear := onnx.StringAttr("mode", "linear")

	d.show("`Model.Check` and `NewSession` name every operator that is missing, before anything runs; ONNX Runtime names the first.", func() seen {
		b := onnx.NewBuilder("missing")
		x := b.Input("x", dtype.Float32, 1)
		b.Output(b.Node("my.domain.Second", []string{b.Node("my.domain.First", []string{x})}), dtype.Float32, 1)
		b.Import("my.domain", 1)
		m, err := b.Model(22)
		if err != nil {
			t.Fatal(err)
		}
		_, err = onnx.NewSession(m)
		return seen{strings.Count(fmt.Sprint(err), "\n  node "), "2", "1, my.domain:First", "a model is judged once, not once for each operator"}
	})
	d.show("Every optimization keeps the bits, and so does any number of threads: there is no level to choose.", func() seen {
		s := []string{}
		for _, threads := range []int{1, 7} {
			a := tensor.RandomNormal[float32](1, 0, 1, 64, 300)
			y := op.MatMul(a, a.Transpose(), op.Context(op.WithThreads(t.Context(), threads)))
			digest, err := tensor.Digest(y.Any())
			s = append(s, fmt.Sprintf("%x", digest[:4]), fmt.Sprint(err))
		}
		return seen{s[0] == s[2], "true", "not promised", "a result that depends on the machine can't be checked by another"}
	})

	d.show("Sums, means and norms of float32 are taken in float64 and rounded once; ONNX Runtime adds in float32.", func() seen {
		return seen{ofNode(t, 13, "ReduceSum", nil, vec[float32](16777216, 1, 1, 1, 1, 1, 1, 1)), "[16777224.]", "[16777222.]", "16777223 is the sum; the tie is broken once"}
	})
	d.show("So is `CumSum`.", func() seen {
		return seen{ofNode(t, 14, "CumSum", nil, vec[float32](16777216, 1, 1), tensor.Scalar[int32](0)), "[16777216. 16777216. 16777218.]", "[16777216. 16777216. 16777216.]", "each of the sums is rounded once"}
	})
	d.show("So a mean of large float32 doesn't overflow, in `ReduceMean` and `GlobalAveragePool`.", func() seen {
		return seen{ofNode(t, 1, "GlobalAveragePool", nil, row(3e38, 3e38, 3e38)), "[[[3.e+38]]]", "[[[inf]]]", "the sum is a float64"}
	})
	d.show("Nor does `ReduceL2`.", func() seen {
		return seen{ofNode(t, 18, "ReduceL2", nil, vec[float32](3e20, 4e20)), "[5.e+20]", "[inf]", "squares and their sum are float64"}
	})
	d.show("`LayerNormalization`, `InstanceNormalization` and `MeanVarianceNormalization` take mean and variance in float64, so that large means do no harm.", func() seen {
		return seen{ofNode(t, 17, "InstanceNormalization", nil, row(1e8, 1e8+8, 1e8+16), vec[float32](1), vec[float32](0)), "[[[-1.2247447  0.         1.2247447]]]", "[[[0. 1. 1.]]]",
			"a mean in float32 has an error as large as the deviations"}
	})
	d.show("Sums and products of integers wrap; ONNX Runtime's end at the largest integer.", func() seen {
		return seen{ofNode(t, 13, "ReduceSum", nil, vec[int32](math.MaxInt32, 1)), "[-2147483648]", "[2147483647]", "sums of parts give the sum of the whole, in any order"}
	})
	d.show("`ReduceSum`, `ReduceProd` and `ReduceMean` take integers of all widths.", func() seen {
		return seen{ofNode(t, 18, "ReduceProd", nil, vec[int8](100, 2)), "[-56]", "Type 'tensor(int8)' of input parameter (x0) of operator (ReduceProd) is invalid", "an extension: ONNX's text has 32 bits and more"}
	})
	d.show("The least integer divided by −1 is itself; ONNX Runtime's process ends with a signal.", func() seen {
		return seen{ofNode(t, 14, "Div", nil, vec[int32](math.MinInt32), vec[int32](-1)), "[-2147483648]", "Floating point exception", "the quotient wraps, as Go's does"}
	})
	d.show("`Pow` of an integer 0 to a negative power is the largest integer, the one nearest to infinity.", func() seen {
		return seen{ofNode(t, 15, "Pow", nil, vec[int32](2, 1, 0), vec[int32](-1, -1, -1)), "[         0          1 2147483647]", "[          0           1 -2147483648]", "a float beyond the range becomes the nearest integer, as in Cast"}
	})
	d.show("`Cast` of a float outside an integer's range gives the nearest integer, and of NaN 0; ONNX Runtime's values are those of the processor.", func() seen {
		return seen{ofNode(t, 19, "Cast", to(6), vec(nan, inf, 3e9)), "[         0 2147483647 2147483647]", "[-2147483648 -2147483648 -2147483648]", "arm64 and amd64 disagree; the nearest is the least harm"}
	})
	d.show("So it is for narrow integers, where ONNX Runtime keeps the low bits of a wider one.", func() seen {
		return seen{ofNode(t, 19, "Cast", to(2), vec[float32](-1, 256, 300.7)), "[  0 255 255]", "[255   0  44]", "a picture with a pixel above white is white"}
	})

	d.show("`ReduceMax`, `ReduceMin` and `MaxPool` give NaN if there is one; ONNX Runtime passes over it, or not, by its place.", func() seen {
		return seen{ofNode(t, 18, "ReduceMax", nil, vec(1, nan, 2)), "[nan]", "[2.]", "no function hides a NaN that it is given"}
	})
	d.show("`MaxPool` does, too.", func() seen {
		return seen{ofNode(t, 12, "MaxPool", with(onnx.IntsAttr("kernel_shape", 2)), row(1, nan, 2)), "[[[nan nan]]]", "[[[1. 2.]]]", "as ReduceMax"}
	})
	d.show("`TopK` sorts NaN as the largest element.", func() seen {
		return seen{ofNode(t, 11, "TopK", nil, vec(2, nan, -1), vec[int64](1)), "[nan]", "[2.]", "as Sort, NumPy and PyTorch have it"}
	})
	d.show("`Unique` counts all NaNs as one, and loses no other element.", func() seen {
		return seen{ofNode(t, 11, "Unique", nil, vec(nan, nan, 1)), "[ 1. nan]", "[nan]", "a comparison with NaN mustn't decide about 1"}
	})
	d.show("`GridSample` at NaN is NaN, and outside, at infinity, the padding.", func() seen {
		return seen{ofNode(t, 20, "GridSample", nil, tensor.FromSlice([]float32{1, 2, 3, 4}, 1, 1, 2, 2), tensor.FromSlice([]float32{nan, 0, inf, 0}, 1, 1, 2, 2)), "[[[[nan  0.]]]]", "[[[[1. 1.]]]]",
			"a place that is no number has no element"}
	})
	d.show("The larger of −0 and +0 is +0, in `Max` and `Relu`; ONNX Runtime takes one by its place.", func() seen {
		return seen{ofNode(t, 13, "Max", nil, vec(neg, 0), vec(0, neg)), "[0. 0.]", "[-0.  0.]", "the result doesn't depend on the order of the operands"}
	})
	d.show("`Softsign` of ±∞ is the limit, 1 and −1.", func() seen {
		return seen{ofNode(t, 22, "Softsign", nil, vec(inf, -inf)), "[ 1. -1.]", "[nan nan]", "x / (1 + abs(x)) is NaN there, the function isn't"}
	})
	d.show("So are `HardSwish` and `Mish` of −∞, which are −0.", func() seen {
		return seen{fmt.Sprint(ofNode(t, 14, "HardSwish", nil, vec(-inf)), ofNode(t, 18, "Mish", nil, vec(-inf))), "[-0.] [-0.]", "[nan] [nan]", "∞ times 0 is NaN, the limit isn't"}
	})
	d.show("`Celu` with alpha 0 is x from 0 on up, and −0 below.", func() seen {
		return seen{ofNode(t, 12, "Celu", with(onnx.FloatAttr("alpha", 0)), vec(-2, 0, 1, inf)), "[-0.  0.  1. inf]", "[ 0. nan nan nan]", "ONNX's formula divides by 0; this is its limit"}
	})
	d.show("`Elu` and `Selu` of small negative numbers keep their digits; ONNX Runtime subtracts 1 from e to the x.", func() seen {
		return seen{ofNode(t, 6, "Elu", nil, vec[float32](-1e-10)), "[-1.e-10]", "[0.]", "functions are correctly rounded"}
	})
	d.show("`Exp`, `Sigmoid`, `Gelu` and their like are correctly rounded, subnormal results included; ONNX Runtime's err by some units in the last place.", func() seen {
		return seen{ofNode(t, 13, "Sigmoid", nil, vec[float32](-90)), "[8.19401e-40]", "[0.]", "only a rule without a margin can hold on every machine"}
	})
	d.show("`Range` multiplies the step by the index; ONNX Runtime adds it again and again.", func() seen {
		y := ofNode(t, 11, "Range", nil, tensor.Scalar[float32](0), tensor.Scalar[float32](1), tensor.Scalar[float32](0.1)).(tensor.Any)
		return seen{y.Slice(tensor.R(8, 10)), "[0.8        0.90000004]", "[0.8000001 0.9000001]", "the error doesn't grow with the count"}
	})
	d.show("Random numbers follow from the seed by one rule on every machine, which isn't ONNX Runtime's: `RandomNormal`, `RandomUniform`, `Dropout` and their like.", func() seen {
		return seen{ofNode(t, 1, "RandomUniform", with(onnx.IntsAttr("shape", 2), onnx.FloatAttr("seed", 7))), "[0.7279109  0.17658712]", "[5.478412e-05 9.207645e-01]", "ONNX names no generator"}
	})
	d.show("`DynamicQuantizeLinear` of zeros has the scale 0, by ONNX's formula.", func() seen {
		m, feeds := graphOf(t, 11, "DynamicQuantizeLinear", 3, nil, vec[float32](0, 0))
		s, err := onnx.NewSession(m)
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.Run(t.Context(), feeds, nil)
		if err != nil {
			t.Fatal(err)
		}
		return seen{out["y1"], "0.0", "1.0", "the codes are 0 in both, and 0 is what they stand for"}
	})
	d.show("`QLinearSoftmax` of `com.microsoft` is rounded once; ONNX Runtime rounds the inverse of the result's scale down to an integer.", func() seen {
		codes := tensor.FromSlice([]uint8{10, 20, 30}, 1, 3)
		return seen{ofNode(t, 19, "com.microsoft.QLinearSoftmax", with(onnx.IntAttr("axis", -1), onnx.IntAttr("opset", 13)), codes, tensor.Scalar[float32](0.1), tensor.Scalar[uint8](0),
			tensor.Scalar[float32](0.0039), tensor.Scalar[uint8](0)), "[[ 23  63 171]]", "[[ 23  63 170]]", "the scale says what a code stands for"}
	})
	d.show("`Einsum` sums over the axes of an ellipsis that the result leaves out, as PyTorch does; ONNX Runtime refuses it.", func() seen {
		return seen{ofNode(t, 12, "Einsum", with(onnx.StringAttr("equation", "i...->i")), tensor.FromSlice([]float32{1, 2}, 1, 2)), "[3.]",
			"Inputs have ellipses in them but the provided output subscript does not contain an ellipsis", "the meaning is plain"}
	})
	d.show("`SAME_UPPER` and `SAME_LOWER` with a kernel smaller than the stride pad nothing, as in TensorFlow; ONNX Runtime applies a negative padding, so windows begin later.", func() seen {
		return seen{ofNode(t, 22, "AveragePool", with(onnx.StringAttr("auto_pad", "SAME_UPPER"), onnx.IntsAttr("kernel_shape", 1), onnx.IntsAttr("strides", 3)), row(0, 1, 2, 3, 4, 5)), "[[[0. 3.]]]", "[[[1. 4.]]]",
			"ONNX's formula gives the negative padding; its MaxPool is an error in ONNX Runtime, its Conv begins at 0"}
	})
	d.show("`LSTM` with `clip` bounds the cell before the last tanh, too; ONNX Runtime bounds the gates alone.", func() seen {
		ones, w, r := tensor.Full[float32](1, 4, 1, 1), tensor.Full[float32](9, 1, 4, 1), tensor.New[float32](1, 4, 1)
		y := ofNode(t, 14, "LSTM", with(onnx.IntAttr("hidden_size", 1), onnx.FloatAttr("clip", 0.5)), ones, w, r).(tensor.Any)
		return seen{y.Reshape(4), "[0.17426974 0.2710987  0.28764915 0.28764915]", "[0.17426971 0.27109864 0.32450032 0.35480234]", "the text has \"the input of activations\", and OpenVINO reads it so"}
	})
	d.show("`Resize` and `Upsample` by scales take the extent from the scale's exact value, ONNX Runtime from a product that it rounds; give the sizes to get theirs.", func() seen {
		y := ofNode(t, 19, "Resize", with(onnx.StringAttr("mode", "nearest")), row(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), nil, vec[float32](1, 1, 0.7))
		return seen{y, "[[[0. 2. 3. 5. 6. 7.]]]", "[[[0. 2. 3. 4. 6. 7. 9.]]]", "0.7 in float32 is 0.69999999; ONNX's reference gives the same"}
	})
	d.show("`Resize` with `align_corners` and a scale takes the step from the fractional extent, ONNX Runtime from the whole one; give the sizes to get theirs.", func() seen {
		y := ofNode(t, 19, "Resize", with(linear, onnx.StringAttr("coordinate_transformation_mode", "align_corners")), row(0, 1, 2, 3), nil, vec[float32](1, 1, 1.3))
		return seen{y, "[[[0.         0.71428573 1.4285715  2.1428573  2.857143  ]]]", "[[[0.   0.75 1.5  2.25 3.  ]]]", "ONNX's node tests have it so"}
	})
	d.show("`Resize` of integers, linear or cubic, rounds to nearest, ties to even; ONNX Runtime and ONNX's reference cut the fraction off.", func() seen {
		return seen{ofNode(t, 19, "Resize", with(linear), tensor.FromSlice([]int32{0, 1, 2}, 1, 1, 3), nil, vec[float32](1, 1, 2)), "[[[0 0 1 1 2 2]]]", "[[[0 0 0 1 1 2]]]", "a picture keeps its mean brightness"}
	})
	d.page("docs/from-onnxruntime.md")
}
