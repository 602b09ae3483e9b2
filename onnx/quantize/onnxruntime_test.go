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
		raw, err := binary.Append(nil, binary.LittleEndian, x.Elems())
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("node", "testdata/run.mjs", *modules, file, "image", "540x1x8x8", last)
		cmd.Stdin, cmd.Stderr = bytes.NewReader(raw), os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		theirs := make([]float64, len(out)/8)
		if err := binary.Read(bytes.NewReader(out), binary.LittleEndian, theirs); err != nil {
			t.Fatal(err)
		}
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
