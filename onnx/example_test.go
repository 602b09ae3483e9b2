package onnx_test

import (
	"context"
	"errors"
	"fmt"
	stdimage "image"
	"image/draw"
	"log"
	"os"
	"path/filepath"
	"testing/fstest"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/image"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A network of one layer is written to a file, opened again and run.
func Example() {
	b := onnx.NewBuilder("sums")
	x := b.Input("x", dtype.Float32, "batch", 3)
	w := b.Weight("w", tensor.FromSlice([]float32{1, 0, 1, 10, 0, 100}, 3, 2).Any())
	b.Output(b.Rename(b.Node("MatMul", []string{x, w}), "y"), dtype.Float32, "batch", 2)
	m, err := b.Model(13)
	if err != nil {
		log.Fatal(err)
	}
	file, err := onnx.Encode(m)
	if err != nil {
		log.Fatal(err)
	}

	m, err = onnx.Decode(file) // or onnx.Open("sums.onnx")
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	s, err := onnx.NewSession(m)
	if err != nil {
		log.Fatal(err)
	}
	out, err := s.Run(context.Background(), map[string]tensor.Any{"x": tensor.FromSlice([]float32{1, 2, 3}, 1, 3).Any()}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Inputs()[0])
	y, _ := tensor.As[float32](out["y"])
	fmt.Println(y.Shape(), y.Elems())
	// Output:
	// x float32[batch,3]
	// [1 2] [3 320]
}

// A model has a node of an operator that the program brings. Infer says the results from descriptions of the inputs, run computes them.
func ExampleModel_operators() {
	infer := func(c *op.Call) ([]tensor.Any, error) {
		x := c.Inputs[0]
		if x.DType() != dtype.Float32 {
			return nil, fmt.Errorf("it takes float32, not %v", x.DType())
		}
		spec, err := tensor.NewSpec(dtype.Float32, x.Shape()...)
		return []tensor.Any{spec.Any()}, err
	}
	run := func(c *op.Call) ([]tensor.Any, error) {
		x, _ := tensor.As[float32](c.Inputs[0])
		return []tensor.Any{op.Mul(x, x.Scalar(c.Attrs.Float("scale", 1))).Any()}, nil
	}
	scaled := op.New(op.Info{Domain: "org.example", Name: "Scaled", Versions: []int{1}, Attributes: []string{"scale"}}, infer, run)

	b := onnx.NewBuilder("own")
	b.Import("org.example", 1)
	x := b.Input("x", dtype.Float32, 3)
	b.Output(b.Rename(b.Node("org.example.Scaled", []string{x}, onnx.FloatAttr("scale", 10)), "y"), dtype.Float32, 3)
	m, err := b.Model(13)
	if err != nil {
		log.Fatal(err)
	}
	m.Operators = []*op.Op{scaled} // as for a model of onnx.Open
	s, err := onnx.NewSession(m)
	if err != nil {
		log.Fatal(err)
	}
	out, err := s.Run(context.Background(), map[string]tensor.Any{"x": tensor.FromSlice([]float32{1, 2, 3}, 3).Any()}, nil)
	fmt.Println(out["y"], err)
	// Output: [10. 20. 30.] <nil>
}

// A convolutional network of five layers, written from Go.
func ExampleBuilder() {
	kernel := tensor.Full[float32](1, 2, 1, 3, 3) // 2 channels from 1, each pixel with its 8 neighbours
	dense := tensor.New[float32](8, 3)
	dense.Set(0.5, 0, 1)

	b := onnx.NewBuilder("picture")
	x := b.Input("image", dtype.Float32, "batch", 1, 4, 4)
	x = b.Node("Conv", []string{x, b.Weight("kernel", kernel.Any())}, onnx.IntsAttr("pads", 1, 1, 1, 1))
	x = b.Node("Relu", []string{x})
	x = b.Node("MaxPool", []string{x}, onnx.IntsAttr("kernel_shape", 2, 2), onnx.IntsAttr("strides", 2, 2))
	x = b.Node("Flatten", []string{x})
	x = b.Node("Gemm", []string{x, b.Weight("dense", dense.Any())})
	x = b.Node("Softmax", []string{x}, onnx.IntAttr("axis", 1))
	b.Output(b.Rename(x, "probability"), dtype.Float32, "batch", 3)
	m, err := b.Model(13)
	if err != nil {
		log.Fatal(err)
	}
	for i, n := range m.Graph.Nodes {
		fmt.Println(i, n.Op, n.Inputs, n.Outputs)
	}
	s, err := onnx.NewSession(m)
	if err != nil {
		log.Fatal(err)
	}
	out, err := s.Run(context.Background(), map[string]tensor.Any{"image": tensor.Full[float32](1, 1, 1, 4, 4).Any()}, nil)
	if err != nil {
		log.Fatal(err)
	}
	p, _ := tensor.As[float32](out["probability"])
	fmt.Printf("%.3f\n", p.Elems())
	// Output:
	// 0 Conv [image kernel] [conv1]
	// 1 Relu [conv1] [relu1]
	// 2 MaxPool [relu1] [maxpool1]
	// 3 Flatten [maxpool1] [flatten1]
	// 4 Gemm [flatten1 dense] [gemm1]
	// 5 Softmax [gemm1] [probability]
	// [0.011 0.978 0.011]
}

// Encode's bytes are the same for the same model, and hold weights where they can be used in place.
func ExampleEncode() {
	b := onnx.NewBuilder("double")
	x := b.Input("x", dtype.Float32, 2)
	b.Output(b.Node("Add", []string{x, b.Weight("bias", tensor.FromSlice([]float32{1, 2}, 2).Any())}), dtype.Float32, 2)
	m, err := b.Model(17)
	if err != nil {
		log.Fatal(err)
	}
	file, err := onnx.Encode(m)
	if err != nil {
		log.Fatal(err)
	}
	m, err = onnx.OpenFS(fstest.MapFS{"double.onnx": {Data: file}}, "double.onnx")
	if err != nil {
		log.Fatal(err)
	}
	inPlace, copied := m.Weights()
	fmt.Println(m.Graph.Name, m.Graph.Initializers[0].Name, &m.Graph.Initializers[0])
	fmt.Println(inPlace, "bytes in place,", copied, "copied")
	// Output:
	// double bias float32[2]
	// 8 bytes in place, 0 copied
}

// A loop doubles a tensor until its largest element is beyond a bound, and keeps all steps in a sequence.
func ExampleSession_RunValues() {
	b := onnx.NewBuilder("doubling")
	x := b.Input("x", dtype.Float32, "n")
	bound := b.Weight("bound", tensor.Scalar[float32](10).Any())

	body := b.Body("body")
	body.Input("iteration", dtype.Int64)
	body.Input("going", dtype.Bool)
	state, steps := body.Input("state", dtype.Float32, "n"), body.InputOf("steps", onnx.Type{})
	twice := body.Node("Add", []string{state, state})
	largest := body.Node("ReduceMax", []string{twice}, onnx.IntAttr("keepdims", 0))
	body.Output(body.Node("Less", []string{largest, bound}), dtype.Bool)
	body.Output(twice, dtype.Float32, "n")
	body.OutputOf(body.Node("SequenceInsert", []string{steps, twice}), onnx.Type{})

	none := b.Node("SequenceEmpty", nil)
	out := b.Nodes("Loop", 2, []string{"", "", x, none}, onnx.GraphAttr("body", body))
	b.OutputOf(b.Rename(out[1], "all"), onnx.Type{})
	m, err := b.Model(16)
	if err != nil {
		log.Fatal(err)
	}
	s, err := onnx.NewSession(m)
	if err != nil {
		log.Fatal(err)
	}
	in := map[string]onnx.Value{"x": onnx.TensorValue(tensor.FromSlice([]float32{1, 3}, 2).Any())}
	values, err := s.RunValues(context.Background(), in, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(values["all"])
	for _, step := range values["all"].List() {
		fmt.Println(step)
	}
	// Output:
	// sequence of 2: float32[2], float32[2]
	// [2. 6.]
	// [ 4. 12.]
}

// Everything that can't be run is known before anything runs.
func ExampleModel_Check() {
	b := onnx.NewBuilder("strange")
	x := b.Input("x", dtype.Float32, 2)
	x = b.Node("Relu", []string{x}, onnx.FloatAttr("slope", 0.1))
	x = b.Node("Frobnicate", []string{x})
	b.Output(x, dtype.Float32, 2)
	m, err := b.Model(17)
	if err != nil {
		log.Fatal(err)
	}
	err = m.Check()
	fmt.Println(err)
	fmt.Println(errors.Is(err, onnx.ErrUnsupported))
	// Output:
	// onnx: 2 unsupported:
	//   node 0 "relu1" (Relu, opset 17): attribute "slope" isn't known
	//   node 1 "frobnicate1" (Frobnicate, opset 17): ONNX has no operator of this name up to opset 28
	// true
}

// The memory of a run, asked with a description of the input instead of one.
func ExampleSession_Plan() {
	b := onnx.NewBuilder("wide")
	x := b.Input("x", dtype.Float32, "batch", 1024)
	x = b.Node("Concat", []string{x, x, x}, onnx.IntAttr("axis", 1))
	b.Output(b.Node("Relu", []string{x}), dtype.Float32, "batch", 3072)
	m, err := b.Model(17)
	if err != nil {
		log.Fatal(err)
	}
	s, err := onnx.NewSession(m)
	if err != nil {
		log.Fatal(err)
	}
	thousand, err := tensor.NewSpec(dtype.Float32, 1000, 1024)
	if err != nil {
		log.Fatal(err)
	}
	p, err := s.Plan(map[string]tensor.Any{"x": thousand.Any()})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Live, "bytes at", p.Node)
	// Output:
	// 24576000 bytes at node 1 "relu1" (Relu, opset 17)
}

// Strings go in and come out as a Value.
func ExampleStringsValue() {
	b := onnx.NewBuilder("greeting")
	name := b.InputOf("name", onnx.Type{Kind: onnx.KindTensor, Elem: onnx.ElemString})
	hello := b.Node("StringConcat", []string{b.Strings("hello", nil, "Hello, "), name})
	b.OutputOf(b.Rename(hello, "greeting"), onnx.Type{})
	m, err := b.Model(20)
	if err != nil {
		log.Fatal(err)
	}
	s, err := onnx.NewSession(m)
	if err != nil {
		log.Fatal(err)
	}
	in := map[string]onnx.Value{"name": onnx.StringsValue([]int{2}, "world", "Go")}
	out, err := s.RunValues(context.Background(), in, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v %q\n", out["greeting"], out["greeting"].Strings())
	// Output:
	// string[2] ["Hello, world" "Hello, Go"]
}

// A classifier gives a map of each row, from its labels to their scores.
func ExampleMapOf() {
	b := onnx.NewBuilder("classifier")
	b.Import("ai.onnx.ml", 1)
	x := b.Input("x", dtype.Float32, nil, 2)
	out := b.Nodes("ai.onnx.ml.LinearClassifier", 2, []string{x}, onnx.FloatsAttr("coefficients", 1, 0, 0, 1), onnx.StringsAttr("classlabels_strings", "cat", "dog"))
	maps := b.Node("ai.onnx.ml.ZipMap", []string{out[1]}, onnx.StringsAttr("classlabels_strings", "cat", "dog"))
	b.OutputOf(b.Rename(out[0], "label"), onnx.Type{})
	b.OutputOf(b.Rename(maps, "scores"), onnx.Type{})
	m, err := b.Model(17)
	if err != nil {
		log.Fatal(err)
	}
	s, err := onnx.NewSession(m)
	if err != nil {
		log.Fatal(err)
	}
	in := map[string]onnx.Value{"x": onnx.TensorValue(tensor.FromSlice([]float32{3, 1, 0, 2}, 2, 2).Any())}
	values, err := s.RunValues(context.Background(), in, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(values["label"].Strings(), values["scores"])
	for _, row := range values["scores"].Items() {
		scores, _ := onnx.MapOf[string, float32](row)
		fmt.Println(scores)
	}
	// Output:
	// [cat dog] sequence of 2: map of 2: string to float32, map of 2: string to float32
	// map[cat:3 dog:1]
	// map[cat:0 dog:2]
}

func ExampleMapValue() {
	v := onnx.MapValue(map[string]float32{"a": 1, "b": 2})
	fmt.Println(v)
	m, ok := onnx.MapOf[string, float32](v)
	fmt.Println(m, ok)
	// Output:
	// map of 2: string to float32
	// map[a:1 b:2] true
}

func ExampleSequenceOf() {
	v := onnx.SequenceOf(onnx.StringsValue(nil, "a"), onnx.StringsValue([]int{2}, "b", "c"))
	fmt.Println(v)
	for _, item := range v.Items() {
		fmt.Println(item.Shape(), item.Strings())
	}
	// Output:
	// sequence of 2: string[], string[2]
	// [] [a]
	// [2] [b c]
}

// Weights of 1 KiB or more go to a file beside the model.
func ExampleModel_WriteExternal() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	b := onnx.NewBuilder("sum")
	x := b.Input("x", dtype.Float32, 1024)
	b.Output(b.Node("Add", []string{x, b.Weight("w", tensor.Full[float32](2, 1024).Any())}), dtype.Float32, 1024)
	m, err := b.Model(17)
	if err != nil {
		log.Fatal(err)
	}
	path := filepath.Join(dir, "sum.onnx")
	if err := m.WriteExternal(path, 1024); err != nil {
		log.Fatal(err)
	}
	m, err = onnx.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	w := &m.Graph.Initializers[0]
	fmt.Println(w, "in", w.External.Location)
	fmt.Println(m.Weights())
	// Output:
	// float32[1024] in sum.onnx.data
	// 4096 0
}

// A model in memory whose weight lies in a file of a file system.
func ExampleDecodeIn() {
	b := onnx.NewBuilder("sum")
	x := b.Input("x", dtype.Float32, 1)
	b.Output(b.Node("Add", []string{x, b.Weight("w", tensor.Full[float32](2, 1).Any())}), dtype.Float32, 1)
	m, err := b.Model(17)
	if err != nil {
		log.Fatal(err)
	}
	w := &m.Graph.Initializers[0]
	w.Raw, w.External = nil, &onnx.External{Location: "weights", Offset: 4, Length: 4}
	file, err := onnx.Encode(m)
	if err != nil {
		log.Fatal(err)
	}
	m, err = onnx.DecodeIn(file, fstest.MapFS{"weights": {Data: []byte{0, 0, 0, 0, 0, 0, 0, 64}}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Tensor(&m.Graph.Initializers[0]))
	// Output: [2.] <nil>
}

// A filter keeps a running mean from one call to the next.
func ExampleSession_Stream() {
	b := onnx.NewBuilder("mean")
	x, last := b.Input("x", dtype.Float32, 2), b.Input("last", dtype.Float32, 2)
	half := b.Weight("half", tensor.Scalar[float32](0.5).Any())
	mean := b.Node("Mul", []string{b.Node("Add", []string{x, last}), half})
	b.Output(b.Rename(mean, "mean"), dtype.Float32, 2)
	m, err := b.Model(13)
	if err != nil {
		log.Fatal(err)
	}
	s, err := onnx.NewSession(m)
	if err != nil {
		log.Fatal(err)
	}
	st, err := s.Stream(&onnx.StreamOptions{State: map[string]string{"mean": "last"}})
	if err != nil {
		log.Fatal(err)
	}
	defer st.Close()
	in := tensor.New[float32](2)
	inputs := map[string]tensor.Any{"x": in.Any()}
	for i := range 3 {
		in.Fill(float32(8 * (i + 1)))
		out, err := st.Run(context.Background(), inputs)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(out["mean"])
	}
	st.Reset()
	out, err := st.Run(context.Background(), inputs)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(out["mean"])
	fmt.Println(st.Kept() > 0)
	// Output:
	// [4. 4.]
	// [10. 10.]
	// [17. 17.]
	// [12. 12.]
	// true
}

// A model of one input and one output is a function.
func ExampleSession_Call() {
	b := onnx.NewBuilder("squares")
	x := b.Input("x", dtype.Float32, "n")
	b.Output(b.Rename(b.Node("Mul", []string{x, x}), "y"), dtype.Float32, "n")
	m, err := b.Model(13)
	if err != nil {
		log.Fatal(err)
	}
	s, err := onnx.NewSession(m)
	if err != nil {
		log.Fatal(err)
	}
	out, err := s.Call(context.Background(), tensor.FromSlice([]float32{1, 2, 3}).Any())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(out[0])
	_, err = s.Call(context.Background())
	fmt.Println(err)
	// Output:
	// [1. 4. 9.]
	// onnx: value: got 0 inputs, the model takes 1: [x float32[n]]
}

// A model takes the elements of a slice, or the pixels of a picture, and gives a slice.
func ExampleRunSlices() {
	m, err := onnx.Open("../testdata/digits.onnx")
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	s, err := onnx.NewSession(m)
	if err != nil {
		log.Fatal(err)
	}
	picture := stdimage.NewGray(stdimage.Rect(0, 0, 64, 64)) // any image.Image
	draw.Draw(picture, stdimage.Rect(28, 4, 36, 60), stdimage.White, stdimage.Point{}, draw.Src)

	x, err := image.FromImage(picture, &image.Options{Float: true, Channels: 1, Height: 8, Width: 8})
	if err != nil {
		log.Fatal(err)
	}
	pixels, _ := tensor.As[float32](x)
	out, err := onnx.RunSlices[float32](context.Background(), s, pixels.Elems()) // or any []float32
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("a one with probability %.2f\n", out[0][1])

	_, err = onnx.RunSlices[float32](context.Background(), s, make([]float32, 63))
	fmt.Println(err)
	_, err = onnx.RunSlices[float32](context.Background(), s, make([]uint8, 64))
	fmt.Println(err)
	// Output:
	// a one with probability 1.00
	// onnx: ../testdata/digits.onnx: input "image": shape: wants float32[N,1,8,8], got a slice of 63 elements
	// onnx: ../testdata/digits.onnx: input "image": dtype: wants float32[N,1,8,8], got a slice of uint8
}
