package quantize_test

import (
	"bytes"
	"encoding/binary"
	"flag"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/onnx/quantize"
	"github.com/ashlar-go/ashlar/tensor"
)

var modules = flag.String("modules", "", "a folder node_modules with onnxruntime-node, to compare with")

// ONNX Runtime runs the models. Its integers before the last DequantizeLinear differ by one where a sum lies near a tie, and nowhere by more.
func TestOnnxruntime(t *testing.T) {
	if *modules == "" {
		t.Skip("npm install --ignore-scripts onnxruntime-node@1.30.0; then go test ./onnx/quantize -run Onnxruntime -modules $PWD/node_modules")
	}
	m, err := onnx.Open("../../testdata/digits.onnx")
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	x := digits(t)
	for _, o := range []quantize.Options{{Activations: dtype.Uint8}, {Activations: dtype.Int8}, {Range: quantize.LeastError, Keep: []string{"conv2"}}} {
		q, _, err := quantize.Static(t.Context(), m, pictures(x, 10, 1), &o)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "q.onnx")
		const last = "gemm2.integers"
		part, err := onnx.Extract(q, nil, []string{last})
		if err != nil {
			t.Fatal(err)
		}
		b, err := onnx.Encode(part)
		if err == nil {
			err = os.WriteFile(file, b, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		theirs := theirs(t, file, last, x)
		for _, integers := range []bool{true, false} {
			s, err := onnx.NewSession(part)
			if integers {
				s, err = onnx.NewIntegerSession(part)
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Run(t.Context(), map[string]tensor.Any{"image": x.Any()}, nil)
			if err != nil {
				t.Fatal(err)
			}
			differ, most := 0, 0.0
			at := 0
			count := func(v float64) {
				if d := math.Abs(v - theirs[at]); d > 0 {
					differ, most = differ+1, max(most, d)
				}
				at++
			}
			if a := got[last]; a.DType() == dtype.Uint8 {
				for v := range tensor.ValuesOf[uint8](a) {
					count(float64(v))
				}
			} else {
				for v := range tensor.ValuesOf[int8](a) {
					count(float64(v))
				}
			}
			t.Logf("%v, %v, integers %v: %d of %d differ, by %v at most", o.Activations, o.Range, integers, differ, at, most)
			if most > 1 || at != 5400 {
				t.Errorf("%d numbers differ by %v", at, most)
			}
		}
	}
}

// theirs are the numbers that ONNX Runtime gives for an output of the model in a file.
func theirs(t *testing.T, file, output string, x tensor.Tensor[float32]) []float64 {
	t.Helper()
	raw, err := binary.Append(nil, binary.LittleEndian, x.Elems())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "testdata/run.mjs", *modules, file, "image", "540x1x8x8", output)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(raw), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	list := make([]float64, len(out)/8)
	if err := binary.Read(bytes.NewReader(out), binary.LittleEndian, list); err != nil {
		t.Fatal(err)
	}
	return list
}

// ONNX Runtime runs the two other forms, and its probabilities are near.
func TestOnnxruntimeForms(t *testing.T) {
	if *modules == "" {
		t.Skip("npm install --ignore-scripts onnxruntime-node@1.30.0; then go test ./onnx/quantize -run Onnxruntime -modules $PWD/node_modules")
	}
	m, err := onnx.Open("../../testdata/digits.onnx")
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	x := digits(t)
	for name, form := range map[string]func() (*onnx.Model, *quantize.Report, error){
		"dynamic": func() (*onnx.Model, *quantize.Report, error) { return quantize.Dynamic(m, nil) },
		"4 bits":  func() (*onnx.Model, *quantize.Report, error) { return quantize.Blocks(m, 4, 32, nil) },
		"8 bits":  func() (*onnx.Model, *quantize.Report, error) { return quantize.Blocks(m, 8, 16, nil) },
	} {
		q, _, err := form()
		if err != nil {
			t.Fatal(name, err)
		}
		b, err := onnx.Encode(q)
		file := filepath.Join(t.TempDir(), "q.onnx")
		if err == nil {
			err = os.WriteFile(file, b, 0o666)
		}
		if err != nil {
			t.Fatal(name, err)
		}
		s, err := onnx.NewSession(q)
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := s.Run(t.Context(), map[string]tensor.Any{"image": x.Any()}, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		p, _ := tensor.As[float32](got["probability"])
		most, list := 0.0, theirs(t, file, "probability", x)
		for i, v := range p.Elems() {
			most = max(most, math.Abs(float64(v)-list[i]))
		}
		if t.Logf("%s: the largest distance is %.2g", name, most); len(list) != 5400 || !(most < 1e-4) {
			t.Errorf("%s: %d probabilities, %v", name, len(list), most)
		}
	}
}
