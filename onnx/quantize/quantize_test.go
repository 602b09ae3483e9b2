package quantize_test

import (
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

// The digits keep their answers: of the 540 test pictures at least 99 % have the class that the model of floats gives, by ten pictures as samples.
func TestDigits(t *testing.T) {
	m, err := onnx.Open("../../testdata/digits.onnx")
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	x := digits(t)
	for _, d := range []dtype.DType{dtype.Uint8, dtype.Int8} {
		for r := quantize.Extremes; r <= quantize.LeastError; r++ {
			q, report, err := quantize.Static(t.Context(), m, pictures(x, 1, 10), &quantize.Options{Activations: d, Range: r})
			if err != nil {
				t.Fatal(err)
			}
			list, err := quantize.Compare(t.Context(), m, q, pictures(x, 540, 1), nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%v, %v: %d of %d answers are the same, the largest distance is %.3g", d, r, list[0].Same, list[0].Rows, list[0].Largest)
			if report.Quantized != 4 || list[0].Rows != 540 || list[0].Same < 535 {
				t.Errorf("%v, %v: %+v %+v", d, r, report, list)
			}
		}
	}
}
