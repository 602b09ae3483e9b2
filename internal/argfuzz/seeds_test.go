package argfuzz

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/ashlar-go/ashlar/device"
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/gguf"
	"github.com/ashlar-go/ashlar/format/image"
	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/format/safetensors"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

// files are whole files of each format, and paths where they lie.
var (
	files [][]byte
	paths []string
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "argfuzz")
	if err == nil {
		err = seed(dir)
	}
	if err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// seed makes the files.
func seed(dir string) error {
	x := tensor.Arange[float32](0, 6, 1).View(2, 3)
	grey := tensor.New[uint8](4, 4)
	var b bytes.Buffer
	add := func(name string, err error) error {
		if err != nil {
			return err
		}
		data := bytes.Clone(b.Bytes())
		b.Reset()
		path := filepath.Join(dir, name)
		files, paths = append(files, data), append(paths, path)
		return os.WriteFile(path, data, 0o666)
	}
	if err := add("a.npy", npy.Write(&b, x.Any(), nil)); err != nil {
		return err
	}
	if err := add("a.npz", npy.WriteZip(&b, []string{"x", "(2,3)"}, []tensor.Any{x.Any(), grey.Any()}, &npy.WriteOptions{Deflate: true})); err != nil {
		return err
	}
	if err := add("a.gguf", gguf.Write(&b, []string{"x"}, []tensor.Any{x.Any()}, []gguf.KV{{Key: "a", Value: "x"}})); err != nil {
		return err
	}
	if err := add("a.safetensors", safetensors.Write(&b, []string{"x"}, []tensor.Any{x.Any()}, map[string]string{"a": "x"})); err != nil {
		return err
	}
	if err := add("a.png", image.Write(&b, grey.Any(), nil)); err != nil {
		return err
	}
	if err := add("a.csv", func() error { _, err := b.WriteString("1,2\n3,4\n"); return err }()); err != nil {
		return err
	}
	if err := add("model.safetensors.index.json", func() error {
		_, err := b.WriteString(`{"metadata":{},"weight_map":{"x":"a.safetensors"}}`)
		return err
	}()); err != nil {
		return err
	}
	m, err := smallModel()
	if err != nil {
		return err
	}
	data, err := onnx.Encode(m)
	b.Write(data)
	if err := add("a.onnx", err); err != nil {
		return err
	}
	texts = append(texts, paths...)
	return nil
}

func smallModel() (*onnx.Model, error) {
	b := onnx.NewBuilder("small")
	x := b.Input("x", dtype.Float32, 2, 3)
	w := b.Weight("w", tensor.New[float32](3, 4).Any())
	b.Output(b.Node("Relu", []string{b.Node("MatMul", []string{x, w})}), dtype.Float32, 2, 4)
	return b.Model(21)
}

func init() {
	also[*onnx.Model](func(*drawer) *onnx.Model { m, _ := smallModel(); return m })
	also[map[string]tensor.Any](func(*drawer) map[string]tensor.Any {
		return map[string]tensor.Any{"x": tensor.New[float32](2, 3).Any()}
	})
	also[map[string]onnx.Value](func(*drawer) map[string]onnx.Value {
		return map[string]onnx.Value{"x": onnx.TensorValue(tensor.New[float32](2, 3).Any())}
	})
	also[pack.Format](func(d *drawer) pack.Format {
		f, err := pack.NewIntegers(pack.Integers{Bits: 4 + 4*d.IntN(2), Scale: tensor.Scalar[float32](0.5)})
		if err != nil {
			return pack.BFP8
		}
		return f
	})
	also[pack.Integers](func(d *drawer) pack.Integers {
		return pack.Integers{Bits: 8, Scale: tensor.Full[float32](1, 3), Shape: []int{2, 3}, Axis: int(d.int())}
	})
	also[device.Tensor](func(d *drawer) device.Tensor {
		sim, err := device.Open("sim:2x2", nil)
		if err != nil {
			return device.Tensor{}
		}
		d.made[reflect.TypeFor[*device.Sim]()] = append(d.made[reflect.TypeFor[*device.Sim]()], reflect.ValueOf(sim))
		t, _ := device.ToDevice(tensor.New[float32](d.shape...).Any(), sim, device.MemoryConfig{})
		return t
	})
	also[device.Placement](func(d *drawer) device.Placement {
		s, err := pack.NewSpec(dtype.Float32, d.shape, nil)
		if err != nil {
			return device.Placement{}
		}
		p, _ := device.MemoryConfig{}.Place(s, device.Wormhole())
		return p
	})
}
