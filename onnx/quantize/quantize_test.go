package quantize_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/onnx/quantize"
	"github.com/ashlar-go/ashlar/tensor"
)

// digits are the test pictures of testdata/digits.onnx, in float32 from 0 to 1.
func digits(t testing.TB) tensor.Tensor[float32] {
	a, err := npy.Open("../../testdata/digits-test.npy", nil)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := tensor.As[uint8](a)
	x := tensor.New[float32](b.Dim(0), 1, 8, 8)
	for i, v := range b.Contiguous().Elems() {
		x.Elems()[i] = float32(v) / 255
	}
	return x
}

// pictures are samples of some pictures each.
func pictures(x tensor.Tensor[float32], each, count int) quantize.Samples {
	return func(f func(string, map[string]onnx.Value) error) error {
		for i := range count {
			part := x.Slice(tensor.R(i*each, (i+1)*each))
			if err := f(fmt.Sprint("pictures ", i), map[string]onnx.Value{"image": onnx.TensorValue(part.Any())}); err != nil {
				return err
			}
		}
		return nil
	}
}

func TestDigits(t *testing.T) {
	m, err := onnx.Open("../../testdata/digits.onnx")
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	x := digits(t)
	for _, d := range []dtype.DType{dtype.Uint8, dtype.Int8} {
		for r := quantize.Extremes; r <= quantize.LeastError; r++ {
			for _, count := range []int{1, 10} {
				q, report, err := quantize.Static(context.Background(), m, pictures(x, 10, count), &quantize.Options{Activations: d, Range: r, Layers: true})
				if err != nil {
					t.Fatal(err)
				}
				list, err := quantize.Compare(context.Background(), m, q, pictures(x, 540, 1), nil)
				if err != nil {
					t.Fatal(err)
				}
				t.Log(d, r, count, list)
				t.Logf("%+v", report)
			}
		}
	}
}
