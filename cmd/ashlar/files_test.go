package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	stdimage "image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/format/safetensors"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// makeFiles writes the files that tests use besides the files of the repository, and returns their folder.
func makeFiles(t *testing.T) string {
	dir := t.TempDir()
	save := func(name string, b []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	model := func(name string, build func(b *onnx.Builder)) {
		b := onnx.NewBuilder(name)
		build(b)
		m, err := b.Model(13)
		if err != nil {
			t.Fatal(err)
		}
		file, err := onnx.Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		save(name+".onnx", file)
	}
	// same is a model that gives back its input.
	same := func(name string, d dtype.DType, dims ...any) {
		model(name, func(b *onnx.Builder) {
			b.Output(b.Rename(b.Node("Identity", []string{b.Input("x", d, dims...)}), "y"), d, dims...)
		})
	}
	same("scores", dtype.Float32, "n", 3)
	same("ids", dtype.Int64, "n", 2)
	same("nhwc", dtype.Uint8, "n", 2, 2, 3)
	same("chw", dtype.Float32, 3, 2, 2)
	same("rgba", dtype.Float16, 1, 4, 2, 2)
	same("either", dtype.Float32, "n", 3, 5, 3)
	same("neither", dtype.Float32, "n", 5, 6, 7)
	same("flat", dtype.Float64, 2, 2)
	same("open", dtype.Float32, "n", "c", "h", "w")
	same("vast", dtype.Float32, "n", 3, 1<<30, 1<<30)
	same("many", dtype.Uint8, "n")
	model("add", func(b *onnx.Builder) {
		x, y := b.Input("a", dtype.Float32, "n"), b.Input("b", dtype.Float32, "n")
		b.Output(b.Rename(b.Node("Add", []string{x, y}), "sum"), dtype.Float32, "n")
		b.Output(b.Rename(b.Node("Sub", []string{x, y}), "difference"), dtype.Float32, "n")
	})
	model("strange", func(b *onnx.Builder) {
		x := b.Node("Frobnicate", []string{b.Input("x", dtype.Float32, 2)})
		x = b.Node("Defenestrate", []string{b.Node("Abs", []string{x})}, onnx.IntAttr("floor", 2))
		b.Output(b.Rename(x, "y"), dtype.Float32, 2)
	})
	// branches cuts x into rows, after the rows of a sequence that may be left out, or gives the sequence alone.
	model("branches", func(b *onnx.Builder) {
		rows := onnx.Type{Kind: onnx.KindSequence, Of: &onnx.Type{Kind: onnx.KindTensor, Elem: onnx.ElemFloat32}}
		list, x, cut := b.InputOf("list", rows), b.Input("x", dtype.Float32, "n", 3), b.Input("cut", dtype.Bool)
		then, other := b.Body("then"), b.Body("else")
		then.OutputOf(then.Node("SequenceInsert", []string{list, x}), rows)
		other.OutputOf(list, rows)
		y := b.Node("If", []string{cut}, onnx.GraphAttr("then_branch", then), onnx.GraphAttr("else_branch", other))
		b.OutputOf(b.Rename(y, "y"), rows)
	})
	model("deep", func(b *onnx.Builder) {
		x := b.Input("x", dtype.Float32, "n")
		then, other := b.Body("then"), b.Body("else")
		then.Output(then.Node("Frobnicate", []string{x}), dtype.Float32, "n")
		other.Output(other.Node("Relu", []string{x}, onnx.IntAttr("slope", 1)), dtype.Float32, "n")
		y := b.Node("If", []string{b.Input("up", dtype.Bool)}, onnx.GraphAttr("then_branch", then), onnx.GraphAttr("else_branch", other))
		b.Output(b.Rename(y, "y"), dtype.Float32, "n")
	})
	// chain is a product and the operators around it; chain-off has another weight, half computes in float16.
	for name, last := range map[string]float32{"chain": 3, "chain-off": 3.5, "half": 3} {
		model(name, func(b *onnx.Builder) {
			x := b.Input("x", dtype.Float32, "n", 3)
			if name == "half" {
				x = b.Node("Cast", []string{x}, onnx.IntAttr("to", int64(onnx.ElemFloat16)))
			}
			x = b.Node("Relu", []string{x})
			w := b.Weight("w", tensor.FromSlice([]float32{1, 2, last}, 3).Any())
			if name == "half" {
				w = b.Node("Cast", []string{w}, onnx.IntAttr("to", int64(onnx.ElemFloat16)))
			}
			x = b.Node("Softmax", []string{b.Node("Mul", []string{x, w})}, onnx.IntAttr("axis", 1))
			if name == "half" {
				x = b.Node("Cast", []string{x}, onnx.IntAttr("to", int64(onnx.ElemFloat32)))
			}
			b.Output(b.Rename(x, "y"), dtype.Float32, "n", 3)
		})
	}
	// quantized adds two numbers of tenths, in fifths: of ties a run on integers gives the even one.
	model("quantized", func(b *onnx.Builder) {
		scale := func(name string, v float32) string { return b.Weight(name, tensor.Scalar(v).Any()) }
		zero, tenth, fifth, one := b.Weight("zero", tensor.Scalar[int8](0).Any()), scale("tenth", 0.1), scale("fifth", 0.2), scale("one", 1)
		x := b.Node("QuantizeLinear", []string{b.Input("x", dtype.Float32, "n", 2), tenth, zero})
		w := b.Node("DequantizeLinear", []string{b.Weight("w", tensor.FromSlice([]int8{1, 1}, 2, 1).Any()), one, zero})
		x = b.Node("MatMul", []string{b.Node("DequantizeLinear", []string{x, tenth, zero}), w})
		x = b.Node("DequantizeLinear", []string{b.Node("QuantizeLinear", []string{x, fifth, zero}), one, zero})
		b.Output(b.Rename(x, "y"), dtype.Float32, "n", 1)
	})
	model("words", func(b *onnx.Builder) {
		b.OutputOf(b.Strings("words", []int{2}, "a", "b"), onnx.Type{Kind: onnx.KindTensor, Elem: onnx.ElemString})
		b.Output(b.Node("Add", []string{b.Input("x", dtype.Float32, 1, 3), b.Weight("w", tensor.FromSlice([]float32{1, 2, 3}, 3).Any())}), dtype.Float32, 1, 3)
	})
	// constant has a weight as a Constant node, and one as an initializer.
	model("constant", func(b *onnx.Builder) {
		w := onnx.Attribute{Name: "value", Type: onnx.AttrTensor, Value: &onnx.TensorProto{Type: onnx.ElemFloat32, Dims: []int64{2, 3}, Raw: make([]byte, 24)}}
		x := b.Node("MatMul", []string{b.Input("x", dtype.Float32, "n", 2), b.Node("Constant", nil, w)})
		b.Output(b.Rename(b.Node("Add", []string{x, b.Weight("w", tensor.FromSlice([]float32{1, 2, 3}, 3).Any())}), "y"), dtype.Float32, "n", 3)
	})
	// halves adds a picture to itself at half of its size and back, which takes sides that are even.
	model("halves", func(b *onnx.Builder) {
		x := b.Input("x", dtype.Float32, "n", "c", "h", "w")
		y := b.Node("AveragePool", []string{x}, onnx.IntsAttr("kernel_shape", 2, 2), onnx.IntsAttr("strides", 2, 2))
		b.Output(b.Rename(b.Node("Add", []string{x, y}), "y"), dtype.Float32, "n", "c", "h", "w")
	})
	// rates has a branch that the value of an input chooses.
	model("rates", func(b *onnx.Builder) {
		x := b.Input("x", dtype.Float32, "n", 3)
		fast := b.Node("Equal", []string{b.Input("rate", dtype.Int64), b.Weight("most", tensor.Scalar[int64](16000).Any())})
		then, other := b.Body("then"), b.Body("else")
		then.Output(then.Node("Relu", []string{x}), dtype.Float32, "n", 3)
		other.Output(other.Node("Add", []string{x, other.Node("Exp", []string{x})}), dtype.Float32, "n", 3)
		b.Output(b.Rename(b.Node("If", []string{fast}, onnx.GraphAttr("then_branch", then), onnx.GraphAttr("else_branch", other)), "y"), dtype.Float32, "n", 3)
	})
	model("path", func(b *onnx.Builder) {
		b.Output(b.Rename(b.Node("Relu", []string{b.Input("x", dtype.Float32, "n", 3)}), "../y"), dtype.Float32, "n", 3)
	})
	save("labels.txt", []byte("cat\r\ndog\nbird\n\r\n\n"))
	save("scores.txt", []byte("beside scores.onnx, but not\nof its three classes\n"))
	same("named", dtype.Float32, 1, 3)
	save("named.txt", []byte("cat\n\n\x1b[31mbird")) // a class without a name, one that plays tricks

	array := func(name string, a tensor.Any) {
		var b bytes.Buffer
		if err := npy.Write(&b, a, nil); err != nil {
			t.Fatal(err)
		}
		save(name+".npy", b.Bytes())
	}
	array("row", tensor.FromSlice([]float32{-1.5, 4, 2}, 1, 3).Any())
	array("tenths", tensor.FromSlice([]float32{0, 1.3}, 1, 2).Any())
	array("rows", tensor.FromSlice([]float32{-1.5, 4, 2, 0.25, 0.5, 0.25}, 2, 3).Any())
	array("chances", tensor.FromSlice([]float32{0.5, 0.25, 0.25, 0.125, 0, 0.875}, 2, 3).Any())
	array("negative", tensor.FromSlice([]float32{-3, -1, -2}, 1, 3).Any())
	nan := float32(0)
	array("nan", tensor.FromSlice([]float32{nan / nan, 1, 1 / nan}, 1, 3).Any())
	array("true", tensor.Scalar(true).Any())
	array("false", tensor.Scalar(false).Any())
	array("ids", tensor.FromSlice([]int64{1 << 62, -7}, 1, 2).Any())
	array("many", tensor.Arange[uint8](0, 250, 1).BroadcastTo(60, 250).Reshape(15000).Any())
	array("count", tensor.Arange[int32](0, 24, 1).Reshape(2, 3, 4).Any())
	array("big", tensor.Arange[int32](0, 2000, 1).Reshape(20, 100).Any())
	array("scalar", tensor.Scalar(2.5).Any())
	array("rate", tensor.Scalar[int64](16000).Any())
	array("a", tensor.FromSlice([]float32{1, 2}, 2).Any())

	// Samples for quantize: the ten digits, and rows one of which is of another shape, or has a NaN.
	for _, folder := range []string{"pictures", "rows2", "nans", "nothing"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"} {
		b, err := os.ReadFile(filepath.FromSlash("testdata/" + name + ".png"))
		if err != nil {
			t.Fatal(err)
		}
		save(filepath.Join("pictures", name+".png"), b)
	}
	array("rows2/1", tensor.FromSlice([]float32{1, 2}, 1, 2).Any())
	array("rows2/2", tensor.FromSlice([]float32{1, 2, 3}, 1, 3).Any())
	array("nans/1", tensor.FromSlice([]float32{1, nan / nan}, 1, 2).Any())

	archive := func(name string, names []string, ts ...tensor.Any) {
		var b bytes.Buffer
		if err := npy.WriteZip(&b, names, ts, nil); err != nil {
			t.Fatal(err)
		}
		save(name+".npz", b.Bytes())
	}
	one, two := tensor.FromSlice([]float32{1, 2}, 2), tensor.FromSlice([]float32{10, 20}, 2)
	archive("pair", []string{"b", "a"}, two.Any(), one.Any())
	archive("empty", nil)
	archive("third", []string{"a", "c"}, one.Any(), two.Any())
	archive("other", []string{"c", "d"}, one.Any(), two.Any())
	archive("single", []string{"anything"}, tensor.FromSlice([]float32{3, 1, 2}, 1, 3).Any())

	var b bytes.Buffer
	err := safetensors.Write(&b, []string{"a", "b"}, []tensor.Any{one.Any(), two.Any()}, map[string]string{"made by": "a test\x1b[31m"})
	if err != nil {
		t.Fatal(err)
	}
	save("pair.safetensors", b.Bytes())
	for name, w := range map[string]tensor.Any{"single": tensor.FromSlice([]float32{1, 1.001, 3}, 3).Any(), "half": tensor.FromSlice([]num.BF16{num.FromFloat64[num.BF16](1), num.FromFloat64[num.BF16](1), num.FromFloat64[num.BF16](3)}, 3).Any()} {
		var b bytes.Buffer
		if err := safetensors.Write(&b, []string{"w"}, []tensor.Any{w}, nil); err != nil {
			t.Fatal(err)
		}
		save(name+".safetensors", b.Bytes())
	}

	picture := func(name string, img stdimage.Image) {
		var b bytes.Buffer
		if err := png.Encode(&b, img); err != nil {
			t.Fatal(err)
		}
		save(name+".png", b.Bytes())
	}
	rgb := stdimage.NewNRGBA(stdimage.Rect(0, 0, 2, 2))
	for i, c := range []color.NRGBA{{10, 20, 30, 255}, {40, 50, 60, 255}, {70, 80, 90, 255}, {100, 110, 120, 255}} {
		rgb.SetNRGBA(i%2, i/2, c)
	}
	picture("rgb", rgb)
	clear := stdimage.NewNRGBA(rgb.Rect)
	clear.SetNRGBA(0, 0, color.NRGBA{0, 0, 0, 255})
	clear.SetNRGBA(1, 1, color.NRGBA{0, 0, 0, 51})
	picture("clear", clear)
	picture("wide", stdimage.NewGray(stdimage.Rect(0, 0, 4, 2)))
	grey := stdimage.NewGray(rgb.Rect)
	copy(grey.Pix, []byte{0, 51, 102, 255})
	picture("grey", grey)

	whole, err := os.ReadFile(filepath.Join(dir, "count.npy"))
	if err != nil {
		t.Fatal(err)
	}
	save("short.npy", whole[:len(whole)-10])
	save("header.npy", whole[:40])
	save("lie.npy", bytes.Replace(whole, []byte("(2, 3, 4), }         "), []byte("(1099511627776, 3), }"), 1))
	wide := func(shape string) []byte { return fmt.Appendf(nil, "%-40s", shape+", }") }
	save("vast.npy", bytes.Replace(whole, wide("(2, 3, 4)"), wide("(9999999999, 9999999999)"), 1))
	save("strings.npy", bytes.Replace(whole, []byte("<i4"), []byte("<U4"), 1))
	digits, err := os.ReadFile("testdata/digits.onnx")
	if err != nil {
		t.Fatal(err)
	}
	save("short.onnx", digits[:1000])
	save("short.safetensors", []byte("\xff\xff\x00\x00\x00\x00\x00\x00{"))
	save("short.npz", []byte("PK\x03\x04 and no more"))
	seven, err := os.ReadFile("testdata/seven.png")
	if err != nil {
		t.Fatal(err)
	}
	save("short.png", seven[:100])
	save("no#name.npy", whole)

	save("table.csv", []byte("\"x, y\",z\n1,2.5\n-3,nan\n"))
	save("semicolons.csv", []byte("1;2\n3;4\n"))
	save("wrong.csv", []byte("1,2\n3,four\n"))
	save("table.tsv", []byte("1\t2\n3\t4\n"))
	save("samples.bin", []byte{1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 255, 255})
	archive("near", []string{"b", "a"}, two.Any(), tensor.FromSlice([]float32{1, 2.0000002}, 2).Any())
	archive("far", []string{"b", "a", "d"}, tensor.FromSlice([]float64{10, 20}, 2).Any(), tensor.FromSlice([]float32{nan / nan, 2.5}, 2).Any(), one.Any())
	array("nans", tensor.FromSlice([]float32{nan / nan, 1, 1 / nan}, 1, 3).Any())
	for i, name := range []string{"a", "b"} {
		var b bytes.Buffer
		if err := safetensors.Write(&b, []string{name}, []tensor.Any{tensor.Arange[int16](int16(i), int16(i+3), 1).Any()}, nil); err != nil {
			t.Fatal(err)
		}
		save("part-"+name+".safetensors", b.Bytes())
	}
	save("parts.safetensors.index.json", []byte(`{"metadata": {"total_size": 12}, "weight_map": {"a": "part-a.safetensors", "b": "part-b.safetensors"}}`))
	save("hostile.index.json", []byte(`{"weight_map": {"a": "../part-a.safetensors"}}`))
	save("row.pb", []byte("\x08\x01\x08\x03\x10\x01\x4a\x0c\x00\x00\xc0\xbf\x00\x00\x80\x40\x00\x00\x00\x40")) // row.npy: dims, float32, raw_data
	var mixed bytes.Buffer
	z := zip.NewWriter(&mixed)
	for _, name := range []string{"a", "strings", "row"} {
		w, err := z.Create(name + ".npy")
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, name+".npy"))
		if err != nil {
			t.Fatal(err)
		}
		w.Write(b)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	save("mixed.npz", mixed.Bytes())
	for _, folder := range []string{"folder.npy", "turns", "turns/inside"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	array("turns/2", tensor.FromSlice([]float32{-1, 4, 2}, 1, 3).Any())
	array("turns/1", tensor.FromSlice([]float32{nan / nan, 0.5, 2}, 1, 3).Any())
	array("turns/inside/3", tensor.FromSlice([]float32{1, 1, 1}, 1, 3).Any())
	save("turns/.hidden", []byte("passed by"))
	save("turns/notes.txt", []byte("no tensor"))
	save("turns/short.npy", whole[:len(whole)-10])
	return dir
}

// A TensorProto is read like other files of one tensor, by the end of its name.
func TestTensorProto(t *testing.T) {
	file := filepath.Join(t.TempDir(), "input_0.pb")
	if err := os.WriteFile(file, []byte("\x08\x02\x10\x01\x4a\x08\x00\x00\x80\x3f\x00\x00\x00\xc0"), 0o666); err != nil { // dims 2, float32, raw_data
		t.Fatal(err)
	}
	if c := newCall(nil).with("show", file); c.code != 0 || !strings.Contains(c.out.String(), "[ 1. -2.]") {
		t.Errorf("exit %d: %s%s", c.code, c.out.String(), c.err.String())
	}
	if c := newCall(nil).with("info", file); c.code != 0 || !strings.Contains(c.out.String(), "a tensor of ONNX, float32[2], 14 bytes") {
		t.Errorf("exit %d: %s%s", c.code, c.out.String(), c.err.String())
	}
	if err := os.WriteFile(file, []byte("\x08\x03\x10\x01\x4a\x04\x00\x00\x80\x3f"), 0o666); err != nil {
		t.Fatal(err)
	}
	if c := newCall(nil).with("show", file); c.code != 1 || !strings.Contains(c.err.String(), "input_0.pb: ") {
		t.Errorf("exit %d: %s%s", c.code, c.out.String(), c.err.String())
	}
}
