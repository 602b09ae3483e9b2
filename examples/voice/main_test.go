package main

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

var model = flag.String("model", "", "silero_vad_v5.onnx, to be tried with speech of espeak-ng")

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

// wav makes a WAV file, with a chunk before the samples that readers skip.
func wav(samples []float32, rate, channels int) []byte {
	var data []byte
	for _, v := range samples {
		for range channels {
			data = binary.LittleEndian.AppendUint16(data, uint16(int16(math.Round(float64(v)*32767))))
		}
	}
	b := append([]byte("RIFF\x00\x00\x00\x00WAVE"), "odd \x03\x00\x00\x00abc\x00"...)
	b, _ = binary.Append(append(b, "fmt \x10\x00\x00\x00"...), binary.LittleEndian,
		[]uint16{1, uint16(channels), uint16(rate), uint16(rate >> 16), uint16(2 * channels * rate), uint16(2 * channels * rate >> 16), uint16(2 * channels), 16})
	b = binary.LittleEndian.AppendUint32(append(b, "data"...), uint32(len(data)))
	return append(b, data...)
}

// save writes a file that goes with the test.
func save(t testing.TB, b []byte) string {
	file := filepath.Join(t.TempDir(), "sound.wav")
	if err := os.WriteFile(file, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// sound makes silence, and sound between the given times.
func sound(seconds float64, rate int, parts ...part) []float32 {
	samples := make([]float32, int(seconds*float64(rate)))
	for i := range samples {
		at := float64(i) / float64(rate)
		if slices.ContainsFunc(parts, func(p part) bool { return at >= p.from && at < p.to }) {
			samples[i] = float32(math.Sin(2 * math.Pi * 440 * at))
		}
	}
	return samples
}

// The parts of a file are found, whatever its rate and channels.
func TestFind(t *testing.T) {
	file := loudness(t)
	for _, c := range []struct{ rate, channels int }{{16000, 1}, {44100, 2}, {8000, 1}} {
		want := []part{{1, 2}, {3, 3.5}}
		got, err := find(t.Context(), file, save(t, wav(sound(4.1, c.rate, part{1, 2}, part{2.5, 2.55}, part{3, 3.5}), c.rate, c.channels)))
		if err != nil || len(got) != len(want) {
			t.Fatalf("%+v: %v %v", c, got, err)
		}
		for i, p := range got {
			if math.Abs(p.from-want[i].from) > 0.06 || math.Abs(p.to-want[i].to) > 0.1 {
				t.Errorf("%+v: %v, want %v", c, got, want)
			}
		}
	}
}

// A detector carries the end of a chunk and the model's state to the next one; two streams of one model don't mix.
func TestStreams(t *testing.T) {
	m, err := onnx.Open(loudness(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	streams := make([]*detector, 2)
	for i := range streams {
		if streams[i], err = newDetector(m); err != nil {
			t.Fatal(err)
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	samples := make([]float32, 2*chunk)
	for i := range samples {
		samples[i] = r.Float32()
	}
	want := 0.0
	for i := range 2 {
		sum := 0.0
		for _, v := range samples[max(i*chunk-past, 0) : (i+1)*chunk] {
			sum += float64(v)
		}
		want = want/2 + sum/(past+chunk)
		for j, d := range streams { // in turns: neither disturbs the other
			p, err := d.next(t.Context(), samples[i*chunk:(i+1)*chunk])
			if err != nil || math.Abs(float64(p)-want) > 1e-5 {
				t.Errorf("chunk %d of stream %d: %v %v, want %v", i, j, p, err, want)
			}
		}
	}
}

// Speech begins and ends where the rules say.
func Example_parts() {
	second := func(p float32) []float32 { return slices.Repeat([]float32{p}, rate/chunk) }
	fmt.Println(parts(slices.Concat(second(0.1), second(0.9), second(0.4), second(0.1))))
	fmt.Println(parts(slices.Concat(second(0.4), second(0.1))))
	fmt.Println(parts([]float32{0.9, 0.9, 0.1, 0.1, 0.1, 0.9, 0.9, 0.9, 0.9})) // a pause of three chunks
	fmt.Println(parts([]float32{0.9, 0.9, 0.9}))                               // too short
	// Output:
	// [{0.992 2.976}]
	// []
	// [{0 0.288}]
	// []
}

// Files that are no WAV file, or are cut off, are errors.
func TestReadWAV(t *testing.T) {
	whole := wav([]float32{0.5, -0.5}, 8000, 2)
	samples, rate, err := readWAV(bytes.NewReader(whole))
	if err != nil || rate != 8000 || len(samples) != 2 || math.Abs(float64(samples[0])-0.5) > 1e-4 || math.Abs(float64(samples[1])+0.5) > 1e-4 {
		t.Errorf("%v %d %v", samples, rate, err)
	}
	data := bytes.Index(whole, []byte("data"))
	for n := range data + 8 {
		if _, _, err := readWAV(bytes.NewReader(whole[:n])); err == nil {
			t.Errorf("%d bytes are read", n)
		}
	}
	lies := slices.Clone(whole)
	binary.LittleEndian.PutUint32(lies[data+4:], math.MaxUint32) // as a pipe leaves it
	if samples, _, err := readWAV(bytes.NewReader(lies)); err != nil || len(samples) != 2 {
		t.Errorf("%v %v", samples, err)
	}
	lies[bytes.Index(whole, []byte("fmt "))+8+14] = 24
	if _, _, err := readWAV(bytes.NewReader(lies)); err == nil || !strings.Contains(err.Error(), "24 bits") {
		t.Error(err)
	}
}

// With the real model, speech is found and noise is not.
func TestSilero(t *testing.T) {
	if *model == "" {
		t.Skip("README.md says how to get the model; then go test ./examples/voice -model FILE")
	}
	var samples []float32
	for _, text := range []string{"This is a sentence that a computer speaks.", "And here comes another one."} {
		spoken, err := exec.Command("espeak-ng", "--stdout", text).Output()
		if err != nil {
			t.Fatal("espeak-ng speaks: ", err)
		}
		s, rate, err := readWAV(bytes.NewReader(spoken))
		if err != nil {
			t.Fatal(err)
		}
		samples = append(append(samples, make([]float32, rate)...), s...)
		samples = append(samples, make([]float32, rate)...)
	}
	got, err := find(t.Context(), *model, save(t, wav(samples, 22050, 1)))
	if err != nil || len(got) != 2 || got[0].from < 0.9 || got[0].to > got[1].from-1.5 {
		t.Errorf("two sentences: %v %v", got, err)
	}
	t.Log(got)
	r := rand.New(rand.NewPCG(1, 1))
	noise := make([]float32, 3*rate)
	for i := range noise {
		noise[i] = float32(r.NormFloat64() / 20)
	}
	got, err = find(t.Context(), *model, save(t, wav(noise, rate, 1)))
	if err != nil || len(got) != 0 {
		t.Errorf("noise: %v %v", got, err)
	}
}

// BenchmarkSilero takes chunks of silence, with the real model.
func BenchmarkSilero(b *testing.B) {
	if *model == "" {
		b.Skip("README.md says how to get the model; then go test ./examples/voice -bench . -model FILE")
	}
	m, err := onnx.Open(*model)
	if err != nil {
		b.Fatal(err)
	}
	d, err := newDetector(m)
	if err != nil {
		b.Fatal(err)
	}
	for i := range 2 + b.N { // the second run is prepared
		if i == 2 {
			b.ResetTimer()
		}
		if _, err := d.next(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
	}
}
