package main

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/wav"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

var (
	model   = flag.String("model", "", "silero_vad_v5.onnx, to be tried with speech of espeak-ng")
	modules = flag.String("modules", "", "a folder node_modules with @ricky0123/vad-web and onnxruntime-node, whose scores are compared")
)

// loudness writes a model with the inputs and outputs of silero's: the mean of its state, which takes half of the loudness
// of each chunk.
func loudness(t testing.TB) string {
	b := onnx.NewBuilder("loudness")
	x, state := b.Input("input", dtype.Float32, "N", "length"), b.Input("state", dtype.Float32, 2, "N", 128)
	b.Input("sr", dtype.Int64)
	half := b.Weight("half", tensor.Scalar[float32](0.5).Any())
	loud := b.Node("ReduceMean", []string{b.Node("Abs", []string{x})}, onnx.IntsAttr("axes", 0, 1))
	next := b.Rename(b.Node("Mul", []string{b.Node("Add", []string{state, b.Node("Add", []string{loud, loud})}), half}), "stateN")
	mean := b.Node("ReduceMean", []string{b.Node("ReduceMean", []string{next}, onnx.IntsAttr("axes", 0), onnx.IntAttr("keepdims", 0))}, onnx.IntsAttr("axes", 1))
	b.Output(b.Rename(mean, "output"), dtype.Float32, "N", 1)
	b.Output(next, dtype.Float32, 2, "N", 128)
	m, err := b.Model(13)
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := onnx.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "loudness.onnx")
	if err := os.WriteFile(file, bytes, 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// file makes a WAV file of samples.
func file(t testing.TB, rate int, x []float32) []byte {
	var b bytes.Buffer
	if err := wav.Write(&b, wav.Format{Rate: rate, Channels: 1, Bits: 32, Float: true}, x); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// heard is all probabilities of a file.
func heard(t testing.TB, model string, in io.Reader) (list []float32) {
	if err := listen(model, in, func(p float32) { list = append(list, p) }); err != nil {
		t.Fatal(err)
	}
	return list
}

// wholly has the probabilities of samples, from slices of all of them.
func wholly(t testing.TB, model string, x []float32) (list []float32) {
	m, err := onnx.Open(model)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	s, err := onnx.NewSession(m)
	if err != nil {
		t.Fatal(err)
	}
	state := tensor.New[float32](2, 1, 128).Any()
	all := slices.Concat(make([]float32, 64), x, make([]float32, 511))
	for at := 0; at+576 <= len(all); at += 512 {
		out, err := s.Run(t.Context(), map[string]tensor.Any{"input": tensor.FromSlice(slices.Clone(all[at:at+576]), 1, 576).Any(), "state": state, "sr": tensor.Scalar[int64](16000).Any()}, nil)
		if err != nil {
			t.Fatal(err)
		}
		state, list = out["stateN"], append(list, out["output"].At(0, 0).(float32))
	}
	return list
}

func noise(n int) []float32 {
	r, x := rand.New(rand.NewPCG(1, 1)), make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64() / 20)
	}
	return x
}

// A stream that comes in bytes, or in any pieces, has the probabilities of the whole recording.
func TestListen(t *testing.T) {
	file1, x := loudness(t), noise(5000)
	want := wholly(t, file1, x)
	b := file(t, 16000, x)
	for name, in := range map[string]io.Reader{"at once": bytes.NewReader(b), "byte by byte": iotest.OneByteReader(bytes.NewReader(b)), "halves": iotest.HalfReader(bytes.NewReader(b))} {
		if got := heard(t, file1, in); !slices.Equal(got, want) || len(got) != 10 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if got := heard(t, file1, bytes.NewReader(file(t, 48000, noise(15000)))); len(got) != 10 {
		t.Errorf("of another rate: %d probabilities, want 10", len(got))
	}
	if err := listen(file1, bytes.NewReader(b[:len(b)/2]), func(float32) {}); err == nil || !strings.Contains(err.Error(), "before the end that its header tells") {
		t.Error(err)
	}
}

// speech is two sentences of espeak-ng with silence around them, at 22050 Hz.
func speech(t testing.TB) []float32 {
	var samples []float32
	for _, text := range []string{"This is a sentence that a computer speaks.", "And here comes another one."} {
		spoken, err := exec.Command("espeak-ng", "--stdout", text).Output()
		if err != nil {
			t.Fatal("espeak-ng speaks: ", err)
		}
		x, f, err := wav.Read(bytes.NewReader(spoken))
		if err != nil {
			t.Fatal(err)
		}
		samples = slices.Concat(samples, make([]float32, f.Rate), x.Elems(), make([]float32, f.Rate))
	}
	return samples
}

// With the real model, speech is found and noise is not. The stream has the probabilities of the whole recording, and nearly those of the npm package.
func TestSilero(t *testing.T) {
	if *model == "" {
		t.Skip("README.md says how to get the model; then go test ./examples/voice -model FILE")
	}
	p := heard(t, *model, bytes.NewReader(file(t, 22050, speech(t))))
	parts, loud := 0, false
	for i, v := range p {
		if now := v >= 0.5 || loud && slices.Max(p[i:min(i+4, len(p))]) >= 0.35; now != loud {
			if loud = now; now {
				parts++
			}
		}
	}
	if parts != 2 || slices.Max(p[:25]) > 0.5 {
		t.Errorf("two sentences: %d parts, %v", parts, p)
	}
	if p := heard(t, *model, bytes.NewReader(file(t, 16000, noise(48000)))); slices.Max(p) >= 0.5 {
		t.Errorf("noise: %v", p)
	}
	x := speech(t) // as if of 16000 Hz
	x = x[:len(x)/512*512]
	got := heard(t, *model, iotest.HalfReader(bytes.NewReader(file(t, 16000, x))))
	if want := wholly(t, *model, x); !slices.Equal(got, want) {
		t.Errorf("%v, of the whole %v", got, want)
	}
	if *modules == "" {
		t.Skip("README.md says how to get the packages; then go test ./examples/voice -model FILE -modules FOLDER")
	}
	samples := filepath.Join(t.TempDir(), "samples")
	raw, err := binary.Append(nil, binary.LittleEndian, x)
	if err == nil {
		err = os.WriteFile(samples, raw, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("node", "testdata/scores.cjs", *modules, *model, samples).Output()
	if err != nil {
		t.Fatal(err)
	}
	most, n := 0.0, 0
	for line := range strings.Lines(string(out)) {
		var want float64
		if _, err := fmt.Sscan(line, &want); err != nil || n >= len(got) {
			t.Fatal(line, err)
		}
		most, n = max(most, math.Abs(float64(got[n])-want)), n+1
	}
	if t.Logf("%d scores, the largest distance from the package's is %.2g", n, most); n != len(got) || !(most < 1e-3) {
		t.Errorf("%d scores, want %d", n, len(got))
	}
}

// BenchmarkSilero takes chunks of silence, with the real model.
func BenchmarkSilero(b *testing.B) {
	if *model == "" {
		b.Skip("README.md says how to get the model; then go test ./examples/voice -bench . -model FILE")
	}
	in := file(b, 16000, make([]float32, 512*(2+b.N)))
	n := 0
	if err := listen(*model, bytes.NewReader(in), func(float32) {
		if n++; n == 2 { // the second run is prepared
			b.ResetTimer()
		}
	}); err != nil {
		b.Fatal(err)
	}
}
