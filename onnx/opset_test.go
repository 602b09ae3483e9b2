package onnx

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/tensor"
)

// Operators at opsets where their meaning is another than before or after.
func TestOpsets(t *testing.T) {
	f := func(shape []int, v ...float32) tensor.Any { return tensor.FromSlice(v, shape...).Any() }
	ints := func(v ...int64) tensor.Any { return tensor.FromSlice(v).Any() }
	vec := func(v ...float32) tensor.Any { return tensor.FromSlice(v).Any() }
	bools := func(shape []int, v ...bool) tensor.Any { return tensor.FromSlice(v, shape...).Any() }
	square := f([]int{2, 2}, 1, 2, 3, 4)
	row := []float32{1, 2}
	consumed := IntsAttr("consumed_inputs", 1)
	type in = []tensor.Any
	type at = []Attribute
	for _, c := range []struct {
		op      string
		opset   int64
		in      in
		attrs   at
		outputs int
		want    string // the outputs, or a part of the error
	}{
		{"Add", 1, in{square, vec(row...)}, at{IntAttr("broadcast", 1), IntAttr("axis", 0), consumed}, 1, "[[2. 3.]\n [5. 6.]]"},
		{"Add", 6, in{square, vec(row...)}, at{IntAttr("broadcast", 1)}, 1, "[[2. 4.]\n [4. 6.]]"},
		{"Add", 6, in{square, vec(row...)}, nil, 1, "broadcast is 0"},
		{"Add", 7, in{square, vec(row...)}, nil, 1, "[[2. 4.]\n [4. 6.]]"},
		{"Add", 28, in{square, vec(row...)}, nil, 1, "[[2. 4.]\n [4. 6.]]"},
		{"Add", 29, in{square, vec(row...)}, nil, 1, "opset 29 is newer than 28"},
		{"And", 1, in{bools([]int{2, 2}, true, true, false, true), bools([]int{2}, true, false)}, at{IntAttr("broadcast", 1), IntAttr("axis", 0)}, 1, "[[ True  True]\n [False False]]"},
		{"And", 6, in{bools([]int{2, 2}, true, true, false, true), bools([]int{2}, true, false)}, nil, 1, "broadcast is 0"},
		{"And", 7, in{bools([]int{2, 2}, true, true, false, true), bools([]int{2}, true, false)}, nil, 1, "[[ True False]\n [False False]]"},
		{"Greater", 1, in{square, vec(0, 3)}, at{IntAttr("broadcast", 1), IntAttr("axis", 0)}, 1, "[[ True  True]\n [False  True]]"},
		{"Equal", 6, in{ints(1, 2), ints(1, 3)}, nil, 1, "[ True False]"},
		{"Less", 9, in{square, vec(2, 2)}, nil, 1, "[[ True False]\n [False False]]"},
		{"Relu", 1, in{vec(-1, 2)}, at{consumed}, 1, "[0. 2.]"},
		{"Relu", 5, in{vec(-1, 2)}, nil, 1, "[0. 2.]"},
		{"Relu", 6, in{vec(-1, 2)}, at{consumed}, 1, `attribute "consumed_inputs" isn't known`},
		{"Elu", 1, in{vec(0, 2)}, at{FloatAttr("alpha", 3)}, 1, "[0. 2.]"},
		{"Selu", 1, in{vec(1)}, nil, 1, "[1.0507]"},
		{"Selu", 6, in{vec(1)}, nil, 1, "[1.050701]"},
		{"Clip", 1, in{vec(-1, 2)}, at{FloatAttr("min", 0)}, 1, "[0. 2.]"},
		{"Clip", 6, in{vec(-1, 2)}, at{FloatAttr("max", 1)}, 1, "[-1.  1.]"},
		{"Clip", 11, in{vec(-1, 2), f([]int{}, 0)}, nil, 1, "[0. 2.]"},
		{"Sum", 1, in{vec(1), vec(2)}, nil, 1, "[3.]"},
		{"Max", 8, in{vec(1, 5), vec(2)}, nil, 1, "[2. 5.]"},
		{"BatchNormalization", 1, in{f([]int{1, 1, 1, 1}, 3), vec(2), vec(1), vec(1), vec(4)}, at{IntAttr("is_test", 1), FloatAttr("epsilon", 0), consumed}, 1, "[[[[3.]]]]"},
		{"BatchNormalization", 6, in{f([]int{1, 1, 1, 1}, 3), vec(2), vec(1), vec(1), vec(4)}, nil, 1, "[[[[1.]]]]"},
		{"BatchNormalization", 9, in{f([]int{1, 1, 1, 1}, 3), vec(2), vec(1), vec(1), vec(4)}, at{FloatAttr("epsilon", 0)}, 1, "[[[[3.]]]]"},
		{"Cast", 1, in{vec(1.5)}, at{StringAttr("to", "INT32")}, 1, "[1]"},
		{"Cast", 5, in{vec(1.5)}, at{StringAttr("to", "DOUBLE")}, 1, "[1.5]"},
		{"Cast", 5, in{vec(1.5)}, at{StringAttr("to", "WHOLE")}, 1, "Cast"},
		{"Cast", 6, in{vec(1.5)}, at{IntAttr("to", 7)}, 1, "[1]"},
		{"Cast", 6, in{vec(1.5)}, at{StringAttr("to", "INT64")}, 1, "it holds string, the operator asks for int"},
		{"Concat", 1, in{square, square}, nil, 1, "[[1. 2. 1. 2.]\n [3. 4. 3. 4.]]"},
		{"Concat", 3, in{square, square}, at{IntAttr("axis", 0)}, 1, "[[1. 2.]\n [3. 4.]\n [1. 2.]\n [3. 4.]]"},
		{"Concat", 4, in{square, square}, at{IntAttr("axis", 1)}, 1, "[[1. 2. 1. 2.]\n [3. 4. 3. 4.]]"},
		{"Dropout", 1, in{vec(1, 2)}, at{IntAttr("is_test", 1), FloatAttr("ratio", 0.9), consumed}, 2, "[1. 2.] [1. 1.]"},
		{"Dropout", 6, in{vec(1, 2)}, at{FloatAttr("ratio", 0)}, 2, "[1. 2.] [1. 1.]"},
		{"Dropout", 7, in{vec(1, 2)}, nil, 2, "[1. 2.] [1. 1.]"},
		{"Dropout", 10, in{vec(1, 2)}, nil, 2, "[1. 2.] [ True  True]"},
		{"Gemm", 1, in{square, square, vec(1)}, at{IntAttr("broadcast", 1)}, 1, "[[ 8. 11.]\n [16. 23.]]"},
		{"Pad", 1, in{vec(1)}, at{IntsAttr("paddings", 1, 1), FloatAttr("value", 9)}, 1, "[9. 1. 9.]"},
		{"Pad", 2, in{vec(1)}, at{IntsAttr("pads", 1, 0)}, 1, "[0. 1.]"},
		{"Pad", 11, in{vec(1), ints(0, 1)}, nil, 1, "[1. 0.]"},
		{"Pad", 18, in{square, ints(1, 0), {}, ints(1)}, nil, 1, "[[0. 1. 2.]\n [0. 3. 4.]]"},
		{"Pad", 19, in{vec(1, 2, 3), ints(1, 1)}, at{StringAttr("mode", "wrap")}, 1, "[3. 1. 2. 3. 1.]"},
		{"PRelu", 1, in{f([]int{1, 2, 1}, -1, -1), vec(2, 3)}, at{consumed}, 1, "[[[-2.]\n  [-3.]]]"},
		{"PRelu", 7, in{f([]int{1, 1, 2}, -1, -1), vec(2, 3)}, nil, 1, "[[[-2. -3.]]]"},
		{"Pow", 1, in{square, vec(1, 2)}, at{IntAttr("broadcast", 1), IntAttr("axis", 0)}, 1, "[[ 1.  2.]\n [ 9. 16.]]"},
		{"Pow", 12, in{vec(3), ints(2)}, nil, 1, "[9.]"},
		{"Reshape", 1, in{square}, at{IntsAttr("shape", -1), consumed}, 1, "[1. 2. 3. 4.]"},
		{"Reshape", 4, in{square}, at{IntsAttr("shape", 0, 1, 2)}, 1, "[[[1. 2.]]\n\n [[3. 4.]]]"},
		{"Reshape", 5, in{square, ints(4)}, nil, 1, "[1. 2. 3. 4.]"},
		{"Reshape", 14, in{square, ints(4)}, at{IntAttr("allowzero", 1)}, 1, "[1. 2. 3. 4.]"},
		{"Slice", 1, in{vec(1, 2, 3)}, at{IntsAttr("starts", 1), IntsAttr("ends", 3)}, 1, "[2. 3.]"},
		{"Slice", 10, in{vec(1, 2, 3), ints(1), ints(3)}, nil, 1, "[2. 3.]"},
		{"Softmax", 1, in{f([]int{1, 2, 1}, 0, 0)}, nil, 1, "[[[0.5]\n  [0.5]]]"},
		{"Softmax", 13, in{f([]int{1, 2, 1}, 0, 0)}, nil, 1, "[[[1.]\n  [1.]]]"},
		{"Split", 1, in{vec(1, 2, 3), vec(1, 2)}, at{IntAttr("axis", 0)}, 2, "[1.] [2. 3.]"},
		{"Split", 1, in{vec(1, 2)}, at{IntAttr("axis", 0)}, 2, "[1.] [2.]"},
		{"Split", 2, in{vec(1, 2, 3)}, at{IntsAttr("split", 2, 1)}, 2, "[1. 2.] [3.]"},
		{"Split", 13, in{vec(1, 2, 3), ints(2, 1)}, nil, 2, "[1. 2.] [3.]"},
		{"Split", 18, in{vec(1, 2, 3)}, at{IntAttr("num_outputs", 2)}, 2, "[1. 2.] [3.]"},
		{"Squeeze", 1, in{f([]int{1, 1}, 5)}, at{IntsAttr("axes", 0)}, 1, "[5.]"},
		{"Squeeze", 13, in{f([]int{1, 1}, 5), ints(0)}, nil, 1, "[5.]"},
		{"Tile", 1, in{square, f([]int{1}, 2), f([]int{1}, 1)}, nil, 1, "[[1. 2. 1. 2.]\n [3. 4. 3. 4.]]"},
		{"Tile", 6, in{square, ints(1, 2)}, nil, 1, "[[1. 2. 1. 2.]\n [3. 4. 3. 4.]]"},
		{"TopK", 1, in{vec(1, 3, 2)}, at{IntAttr("k", 1)}, 2, "[3.] [1]"},
		{"TopK", 10, in{vec(1, 3, 2), ints(1)}, nil, 2, "[3.] [1]"},
		{"TopK", 11, in{vec(1, 3, 2), ints(1)}, at{IntAttr("largest", 0)}, 2, "[1.] [0]"},
		{"Upsample", 1, in{f([]int{1, 1, 1, 1}, 5)}, at{FloatAttr("height_scale", 1), FloatAttr("width_scale", 2)}, 1, "[[[[5. 5.]]]]"},
		{"Upsample", 7, in{f([]int{1, 1, 1, 1}, 5)}, at{FloatsAttr("scales", 1, 1, 1, 2)}, 1, "[[[[5. 5.]]]]"},
		{"Upsample", 9, in{f([]int{1, 1, 1, 1}, 5), vec(1, 1, 1, 2)}, nil, 1, "[[[[5. 5.]]]]"},
		{"Upsample", 1, in{f([]int{1, 1, 1, 2}, 5, 6)}, at{FloatAttr("height_scale", 1), FloatAttr("width_scale", 0.5)}, 1, "Upsample doesn't shrink: Resize does"},
		{"Upsample", 7, in{f([]int{1, 1, 1, 2}, 5, 6)}, at{FloatsAttr("scales", 1, 1, 1, 0.5)}, 1, "scale 0.5 of axis 3; want 1 or more"},
		{"Upsample", 9, in{f([]int{2}, 5, 6), vec(0.5)}, nil, 1, "scale 0.5 of axis 0; want 1 or more"},
		{"Upsample", 9, in{f([]int{2}, 5, 6), vec(1.5)}, nil, 1, "[5. 5. 6.]"},
		{"Resize", 10, in{f([]int{1, 1, 2, 4}, 1, 2, 3, 4, 5, 6, 7, 8), vec(1, 1, 0.6, 0.6)}, nil, 1, "[[[[1. 3.]]]]"}, // test_resize_downsample_nearest of ONNX 1.5
		{"Resize", 10, in{vec(1, 2, 3, 4), vec(0.75)}, nil, 1, "[1. 3. 4.]"},
		{"Resize", 10, in{vec(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), vec(0.7)}, nil, 1, "[ 0.  2.  3.  5.  6.  8.  9. 10.]"}, // as ONNX Runtime: 7 / 0.7 is 10 in float32
		{"Resize", 10, in{f([]int{2, 4}, 1, 2, 3, 4, 5, 6, 7, 8), vec(1.5, 0.75)}, nil, 1, "[[1. 3. 4.]\n [1. 3. 4.]\n [5. 7. 8.]]"},
		{"Resize", 10, in{vec(1, 2, 3, 4), vec(0.75)}, at{StringAttr("mode", "linear")}, 1, "[1.        2.3333333 3.6666667]"},
		{"Resize", 11, in{vec(1, 2, 3, 4), vec(), vec(0.75)}, at{StringAttr("coordinate_transformation_mode", "asymmetric"), StringAttr("nearest_mode", "floor")}, 1, "[1. 2. 3.]"},
		{"BatchNormalization", 9, in{vec(3, 5), vec(2), vec(1), vec(1), vec(4)}, at{FloatAttr("epsilon", 0)}, 1, "[3. 5.]"},
		{"BatchNormalization", 15, in{vec(3, 5), vec(2), vec(1), vec(1), vec(4)}, at{FloatAttr("epsilon", 0), IntAttr("training_mode", 1), FloatAttr("momentum", 0.5)}, 3, "[-1.  3.] [2.5] [2.5]"},
		{"BatchNormalization", 15, in{f([]int{2, 1}, 3, 5), vec(2), vec(1), vec(1), vec(4)}, at{FloatAttr("epsilon", 0)}, 1, "[[3.]\n [5.]]"},
		{"BatchNormalization", 15, in{f([]int{}, 3), vec(2), vec(1), vec(1), vec(4)}, nil, 1, "the input is float32[]; want [N, C, …] or [N]"},
		{"Shrink", 9, in{tensor.FromSlice([]int8{-4, -2, 0, 2, 4}).Any()}, at{FloatAttr("lambd", 1.5), FloatAttr("bias", 1.5)}, 1, "[-2  0  0  0  2]"},
		{"Range", 27, in{f([]int{}, 0), f([]int{}, 1), f([]int{}, 0.5)}, at{IntAttr("stash_type", 16)}, 1, "[0.  0.5]"}, // for narrow floats alone
		{"Attention", 24, in{f([]int{1, 1, 2, 1}, 0, 0), f([]int{1, 1, 2, 1}, 0, 0), f([]int{1, 1, 2, 1}, 2, 4)}, at{IntAttr("left_window_size", 0)}, 1, "are attributes of opset 25; the model imports 24"},
		{"Attention", 24, in{f([]int{1, 1, 2, 1}, 0, 0), f([]int{1, 1, 2, 1}, 0, 0), f([]int{1, 1, 2, 1}, 2, 4)}, nil, 1, "[[[[3.]\n   [3.]]]]"},
		{"Attention", 25, in{f([]int{1, 1, 2, 1}, 0, 0), f([]int{1, 1, 2, 1}, 0, 0), f([]int{1, 1, 2, 1}, 2, 4)}, at{IntAttr("left_window_size", 0)}, 1, "[[[[3.]\n   [4.]]]]"},
		{"Attention", 28, in{f([]int{1, 1, 2, 1}, 0, 0), f([]int{1, 1, 2, 1}, 0, 0), f([]int{1, 1, 2, 1}, 2, 4)}, at{IntAttr("right_window_size", 0)}, 1, "[[[[2.]\n   [3.]]]]"},
		{"Attention", 28, in{f([]int{1, 1, 2, 1}, 0, 0), f([]int{1, 1, 2, 1}, 0, 0), f([]int{1, 1, 2, 1}, 2, 4)}, at{IntAttr("right_window_size", -2)}, 1, "the window has -1 keys before a query's own and -2 behind"},
		{"LpPool", 1, in{f([]int{1, 1, 2}, 3, 4)}, at{FloatAttr("p", 2), IntsAttr("kernel_shape", 2)}, 1, "[[[5.]]]"},
		{"GlobalLpPool", 1, in{f([]int{1, 1, 2}, 3, 4)}, at{FloatAttr("p", 1)}, 1, "[[[7.]]]"},
		{"GlobalLpPool", 2, in{f([]int{1, 1, 2}, 3, 4)}, nil, 1, "[[[5.]]]"},
		{"GlobalLpPool", 22, in{f([]int{1, 1, 2, 1}, 1, -1)}, at{IntAttr("p", 3)}, 1, "[[[[1.2599211]]]]"},
		{"Affine", 1, in{vec(1, 2)}, at{FloatAttr("alpha", 2), FloatAttr("beta", 1)}, 1, "[3. 5.]"},
		{"Scale", 1, in{vec(1, 2)}, at{FloatAttr("scale", 2)}, 1, "[2. 4.]"},
		{"DynamicSlice", 1, in{square, ints(1), ints(2), ints(0)}, nil, 1, "[[3. 4.]]"},
		{"ThresholdedRelu", 1, in{vec(1, 2)}, at{FloatAttr("alpha", 1.5)}, 1, "[0. 2.]"},
		{"SwiGLU", 28, in{vec(0, 1), vec(2, 3)}, at{FloatAttr("alpha", 0)}, 1, "[0.  1.5]"},
		{"SwiGLU", 28, in{vec(1), vec(3)}, nil, 1, "[2.1931758]"},
		{"SwiGLU", 27, in{vec(1), vec(3)}, nil, 1, "its meaning at opset 27 isn't available"},
		{"MeanVarianceNormalization", 8, in{f([]int{1, 2, 1, 2}, 1, 3, 5, 9)}, nil, 1, "[[[[-1.  1.]]\n\n  [[-1.  1.]]]]"},
		{"MeanVarianceNormalization", 7, in{f([]int{1, 2, 1, 2}, 1, 3, 5, 9)}, at{IntAttr("normalize_variance", 0), IntAttr("across_channels", 1)}, 1, "[[[[-3.5 -1.5]]\n\n  [[ 0.5  4.5]]]]"},
		{"ScaledTanh", 1, in{vec(0)}, at{FloatAttr("alpha", 2), FloatAttr("beta", 1)}, 1, "[0.]"},
		{"ParametricSoftplus", 1, in{vec(0)}, at{FloatAttr("alpha", 2), FloatAttr("beta", 1)}, 1, "[1.3862944]"},
		{"ImageScaler", 1, in{f([]int{1, 2, 1, 1}, 1, 2)}, at{FloatAttr("scale", 2), FloatsAttr("bias", 1, 0)}, 1, "[[[[3.]]\n\n  [[4.]]]]"},
		{"ReduceSum", 11, in{vec(1, 2)}, at{IntsAttr("axes", 0), IntAttr("keepdims", 0)}, 1, "3.0"},
		{"ReduceSum", 13, in{vec(1, 2), ints(0)}, at{IntAttr("keepdims", 0)}, 1, "3.0"},
		{"ReduceMax", 13, in{vec(1, 2)}, at{IntsAttr("axes", 0), IntAttr("keepdims", 0)}, 1, "2.0"},
		{"ReduceMax", 18, in{vec(1, 2), ints(0)}, at{IntAttr("keepdims", 0)}, 1, "2.0"},
		{"ReduceMax", 20, in{bools([]int{2}, false, true)}, at{IntAttr("keepdims", 0)}, 1, "True"},
		{"AveragePool", 19, in{f([]int{1, 1, 3}, 1, 2, 3)}, at{IntsAttr("kernel_shape", 2), IntsAttr("dilations", 2)}, 1, "[[[2.]]]"},
		{"Gelu", 19, in{vec(0)}, nil, 1, "its meaning at opset 19 isn't available"},
		{"Gelu", 20, in{vec(0)}, nil, 1, "[0.]"},
		{"BitwiseNot", 17, in{ints(0)}, nil, 1, "its meaning at opset 17 isn't available"},
		{"BitwiseNot", 28, in{ints(0)}, nil, 1, "[-1]"},
		{"Range", 27, in{f([]int{}, 0), f([]int{}, 2), f([]int{}, 1)}, nil, 1, "[0. 1.]"},
		{"CumProd", 26, in{vec(2, 3), ints(0)}, nil, 1, "[2. 6.]"},
	} {
		name := fmt.Sprint(c.op, " ", c.opset)
		b := NewBuilder("g")
		inputs := make(map[string]tensor.Any)
		var names []string
		for i, a := range c.in {
			n := ""
			if !a.IsZero() {
				n = fmt.Sprint("in", i)
				inputs[n] = a
				var dims []any
				for _, d := range a.Shape() {
					dims = append(dims, d)
				}
				b.Input(n, a.DType(), dims...)
			}
			names = append(names, n)
		}
		outs := b.Nodes(c.op, c.outputs, names, c.attrs...)
		for _, o := range outs {
			b.OutputOf(o, Type{})
		}
		m, err := b.Model(c.opset)
		if err != nil {
			t.Fatal(name, err)
		}
		got := ""
		s, err := NewSession(m)
		if err == nil {
			var out map[string]tensor.Any
			if out, err = s.Run(context.Background(), inputs, nil); err == nil {
				for _, o := range outs {
					got += fmt.Sprint(out[o], " ")
				}
				got = strings.TrimSpace(got)
			}
		}
		if err != nil {
			if got = err.Error(); strings.Contains(got, c.want) && !strings.HasPrefix(c.want, "[") {
				continue
			}
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// The package comment names the opsets that the library has.
func TestOpsetsOfPackageComment(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	least := maxOpset
	for key, o := range operators() {
		if key.domain == "" && len(o.Versions()) > 0 {
			least = min(least, slices.Min(o.Versions()))
		}
	}
	for key, b := range composites {
		if key.domain == "" {
			least = min(least, slices.Min(b.versions))
		}
	}
	if want := fmt.Sprintf("the opset that the model imports (%d to %d).", least, maxOpset); !strings.Contains(strings.ReplaceAll(string(text), "\n// ", " "), want) {
		t.Errorf("doc.go doesn't say %q", want)
	}
}

// The range of opsets that the package comment and the page give is that of the table.
func TestOpsetsOfComments(t *testing.T) {
	for file, sentence := range map[string]string{
		"doc.go":                               fmt.Sprintf("at the opset that the model imports (1 to %d).", maxOpset),
		filepath.Join("..", "docs", "onnx.md"): fmt.Sprintf("Opsets 1 to %d of ONNX's own operators run", maxOpset),
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), sentence) {
			t.Errorf("%s doesn't say %q", file, sentence)
		}
	}
	for name, versions := range changed {
		if last := slices.Max(versions); last > maxOpset {
			t.Errorf("%s changed at opset %d, after the last one, %d", name, last, maxOpset)
		}
	}
}
