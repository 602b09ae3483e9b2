package ashlar_test

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/device"
	"github.com/ashlar-go/ashlar/draw"
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/csv"
	"github.com/ashlar-go/ashlar/format/image"
	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/format/raw"
	"github.com/ashlar-go/ashlar/format/safetensors"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

var update = flag.Bool("update", false, "write docs/errors.md anew instead of comparing")

// second returns the error of a call that also returns something else.
func second[T any](_ T, err error) error { return err }

// mistakes makes the errors of docs/errors.md, in its order. Panics count when tensor.Try takes them.
func mistakes(dir string) []func() error {
	panics := func(f func()) func() error { return func() error { return tensor.Try(f) } }
	file := func(name string, data []byte) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, data, 0o666); err != nil {
			panic(err)
		}
		return p
	}
	a := tensor.FromSlice([]float32{0, 1, 2, 3, 4, 5}, 2, 3)
	b := tensor.New[float32](4, 3)
	l := layout.MustParse("(4,6):(1,4)")
	sim, _ := device.Open("sim:4x4", nil)
	onDevice, _ := device.ToDevice(a.Any(), sim, device.MemoryConfig{Memory: device.L1})
	gone, _ := device.ToDevice(a.Any(), sim, device.MemoryConfig{})
	gone.Deallocate()
	large, _ := pack.NewSpec(dtype.Uint8, []int{16, 1 << 20}, nil)
	resident, _ := device.Empty(large, sim, device.MemoryConfig{Memory: device.L1})
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	return []func() error{
		func() error { return second(layout.Parse("(4,6):(1")) },
		func() error { return second(layout.New([]int{2, 3}, []int{1})) },
		func() error { return second(layout.RowMajor(1<<40, 1<<40)) },
		func() error { return second(l.Permute(0, 0)) },
		func() error { return second(layout.Eval("(8,8):(8,1) / <2:1,4:1")) },
		func() error { return second(layout.Eval("compose (6,2):(8,2) 3:4")) },
		func() error {
			large, _ := layout.Eval("row_major (1024,1024)")
			return second(draw.NewMap(large, nil))
		},
		func() error { return second(fixed.Exp(fixed.FP16x16FromBits(20 << 16))) },
		func() error { return second(fixed.Log(fixed.FP16x16FromBits(-1 << 16))) },
		func() error { return second(fixed.Parse[fixed.FP8x23]("1,5")) },
		func() error {
			var sum fixed.Sum[fixed.FP16x16]
			sum.AddRow([]fixed.FP16x16{fixed.FP16x16FromBits(1 << 30), fixed.FP16x16FromBits(1 << 30)})
			return second(sum.Sum())
		},
		func() error { return second(fixed.NormOf(fixed.FP16x16{}, fixed.FP16x16{}, -1)) },
		panics(func() { tensor.FromSlice([]int32{1, 2, 3}, 2, 2) }),
		panics(func() { tensor.New[float32](2, -1) }),
		panics(func() { a.At(0, 3) }),
		panics(func() { a.At(0) }),
		panics(func() { a.Dim(2) }),
		panics(func() { a.S("0, 0, 0") }),
		panics(func() { a.S("1:x") }),
		panics(func() { a.Reshape(4, 2) }),
		panics(func() { a.Transpose().View(6) }),
		panics(func() { a.Permute(0, 2) }),
		panics(func() { a.BroadcastTo(2, 4) }),
		panics(func() { a.BroadcastTo(5, 2, 3).Set(1, 0, 0, 0) }),
		panics(func() { var zero tensor.Tensor[float32]; zero.At() }),
		func() error { return second(tensor.Make(dtype.Float32, -1)) },
		func() error { return second(dtype.Parse("float31")) },
		panics(func() { op.Add(a, b) }),
		panics(func() { op.Add(a, a, op.Into(b)) }),
		panics(func() { op.Add(a, a, op.Context(cancelled)) }),
		panics(func() { op.MatMul(a, b) }),
		panics(func() { op.Div(tensor.FromSlice([]int32{1, 2}, 2), tensor.FromSlice([]int32{1, 0}, 2)) }),
		panics(func() { op.Exp(tensor.FromSlice([]fixed.FP16x16{{}, fixed.FP16x16FromBits(20 << 16)}, 2)) }),
		panics(func() { op.ReduceMean(tensor.New[fixed.FP8x23](0), nil) }),
		panics(func() { op.Cast[fixed.FP8x23](tensor.FromSlice([]float32{1, 300}, 2)) }),
		func() error {
			add, _ := op.Lookup("Add")
			return second(add.Run(&op.Call{Inputs: []tensor.Any{a.Any(), tensor.New[int32](3).Any()}}))
		},
		func() error { return second(pack.Pack(a.Any(), &pack.Options{Format: pack.BFP8})) },
		func() error { return second(pack.Pack(a.Any(), &pack.Options{Tile: pack.TileOf(24, 32)})) },
		func() error { return second(pack.Pack(a.Any(), &pack.Options{Padded: []int{1, 32}})) },
		func() error {
			return second(pack.NewIntegers(pack.Integers{Bits: 4, Scale: tensor.Scalar[float32](0)}))
		},
		func() error { return second(device.Open("gpu:0", nil)) },
		func() error {
			return second(device.ToDevice(a.Any(), sim, device.MemoryConfig{Memory: device.L1, Sharding: device.HeightSharded, Shard: []int{1, 2}, Cores: []device.Range{device.Grid(2, 1)}}))
		},
		func() error { return second(onDevice.View(0, layout.MustParse("(4,4):(4,1)"))) },
		func() error { return device.CopyToDevice(onDevice, b.Any()) },
		func() error {
			defer resident.Deallocate()
			return second(device.Empty(large, sim, device.MemoryConfig{Memory: device.L1}))
		},
		func() error { return sim.ForEachCore(func(c *device.Core) error { panic("out of ideas") }, onDevice) },
		func() error { return second(device.FromDevice(gone)) },
		func() error { return second(npy.Read(bytes.NewReader([]byte("not npy at all")), nil)) },
		func() error {
			return second(npy.Open(file("lies.npy", []byte("\x93NUMPY\x01\x00\x46\x00{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776,), }  \n")), nil))
		},
		func() error {
			return second(safetensors.Open(file("short.safetensors", []byte("\xff\xff\xff\xff\x00\x00\x00\x00{}"))))
		},
		func() error {
			return second(safetensors.OpenIndex(file("model.safetensors.index.json", []byte(`{"weight_map": {"w": "../w.safetensors"}}`))))
		},
		func() error {
			_, _, err := csv.Read(strings.NewReader("1,2\n3,four\n"), nil)
			return err
		},
		func() error {
			_, _, err := csv.Read(strings.NewReader("1,2\n3\n"), nil)
			return err
		},
		func() error { return csv.Write(io.Discard, tensor.New[int8](2, 2, 2).Any(), nil, nil) },
		func() error {
			return second(raw.Open(file("x.bin", make([]byte, 10)), dtype.Int32, layout.MustParse("3:1")))
		},
		func() error { return second(image.Read(bytes.NewReader([]byte("GIF89a")), nil)) },
		func() error { return second(onnx.Decode([]byte("not a model"))) },
		func() error { return second(onnx.Open(file("cut.onnx", []byte{8, 8, 0x3a, 100, 1}))) },
		func() error { return unsupportedModel() },
	}
}

// unsupportedModel checks a model whose operator nobody has.
func unsupportedModel() error {
	b := onnx.NewBuilder("example")
	x := b.Input("x", dtype.Float32, 2, 3)
	b.Output(b.Rename(b.Node("Frobnicate", []string{x}), "y"), dtype.Float32, 2, 3)
	m, err := b.Model(17)
	if err != nil {
		return err
	}
	return m.Check()
}

func TestErrorsPage(t *testing.T) {
	const page = "docs/errors.md"
	dir := t.TempDir()
	var b strings.Builder
	for i, f := range mistakes(dir) {
		err := f()
		if err == nil {
			t.Errorf("mistake %d passes without an error", i)
			continue
		}
		b.WriteString(strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "") + "\n")
	}
	got := b.String()
	for _, f := range fences(t, page) {
		if f.lang != "text errors" || f.text == got {
			continue
		}
		if !*update {
			t.Errorf("%s:%d: the page and the errors differ; with -update the test writes them anew\n--- got\n%s\n--- the page says\n%s", page, f.line, got, f.text)
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.Replace(text, []byte("```text errors\n"+f.text), []byte("```text errors\n"+got), 1)
		if err := os.WriteFile(page, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, programs := runPage(t, page); programs != 1 {
		t.Errorf("%s shows %d programs, want 1", page, programs)
	}
}
