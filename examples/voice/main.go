// Command voice finds speech in a WAV file, with silero's voice detector:
//
//	go run ./examples/voice silero_vad_v5.onnx speech.wav
//
// It prints the beginnings and ends of speech in seconds. README.md names the source of the model.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: voice silero_vad_v5.onnx SPEECH.wav")
		os.Exit(2)
	}
	parts, err := find(context.Background(), os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, "voice:", err)
		os.Exit(1)
	}
	for _, p := range parts {
		fmt.Printf("%7.2f s to %7.2f s\n", p.from, p.to)
	}
}

// find returns the parts of a WAV file that are speech.
func find(ctx context.Context, model, file string) ([]part, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	samples, rate, err := readWAV(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	samples = resample(samples, rate)

	m, err := onnx.Open(model)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	d, err := newDetector(m)
	if err != nil {
		return nil, err
	}
	var probabilities []float32
	for len(samples) > 0 {
		n := min(chunk, len(samples))
		p, err := d.next(ctx, samples[:n])
		if err != nil {
			return nil, err
		}
		probabilities, samples = append(probabilities, p), samples[n:]
	}
	return parts(probabilities), nil
}

// The input of one run of the model, as in utils_vad.py of github.com/snakers4/silero-vad.
const (
	rate  = 16000 // samples a second
	chunk = 512   // new samples
	past  = 64    // samples of the chunk before
)

// A detector gives each chunk of a stream its probability of speech. Several detectors may share one model.
type detector struct {
	session *onnx.Session
	window  [past + chunk]float32
	state   tensor.Any // the model's memory of earlier chunks
}

func newDetector(m *onnx.Model) (*detector, error) {
	s, err := onnx.NewSession(m)
	if err != nil {
		return nil, err
	}
	return &detector{session: s, state: tensor.New[float32](2, 1, 128).Any()}, nil
}

// next returns the probability for the next chunk. The last chunk of a stream may be short.
func (d *detector) next(ctx context.Context, samples []float32) (float32, error) {
	copy(d.window[:past], d.window[chunk:])
	clear(d.window[past+copy(d.window[past:], samples):])
	out, err := d.session.Run(ctx, map[string]tensor.Any{
		"input": tensor.FromSlice(d.window[:], 1, past+chunk).Any(),
		"state": d.state,
		"sr":    tensor.Scalar[int64](rate).Any(),
	}, nil)
	if err != nil {
		return 0, err
	}
	d.state = out["stateN"] // the output of this run is an input of the next
	p, ok := tensor.As[float32](out["output"])
	if !ok || p.Len() != 1 {
		return 0, fmt.Errorf("the model's output is %s, not one float32", tensor.Describe(out["output"]))
	}
	return p.At(0, 0), nil
}

// A part is a piece of a recording, in seconds.
type part struct{ from, to float64 }

// parts joins chunks to parts of speech. A part begins with a chunk of at least 0.5. It ends before the first chunk of a tenth
// of a second below 0.35. A part shorter than a quarter of a second isn't speech. The numbers come from silero's own program.
func parts(probabilities []float32) (list []part) {
	const (
		second = float64(rate) / chunk // in chunks
		quiet  = 4                     // chunks, at least a tenth of a second
		least  = 0.25
	)
	begin, end := -1, 0 // of the part that goes on; end is behind its last loud chunk
	done := func() {
		if p := (part{float64(begin) / second, float64(end) / second}); begin >= 0 && p.to-p.from >= least {
			list = append(list, p)
		}
		begin = -1
	}
	for i, p := range probabilities {
		switch {
		case p >= 0.5 && begin < 0:
			begin, end = i, i+1
		case p >= 0.35 && begin >= 0:
			end = i + 1
		case begin >= 0 && i-end+1 >= quiet:
			done()
		}
	}
	done()
	return list
}

// resample brings samples to the model's rate.
func resample(samples []float32, from int) []float32 {
	if from == rate {
		return samples
	}
	n := int(float64(len(samples)) * rate / float64(from))
	x := tensor.FromSlice(samples, len(samples))
	return op.Resize(x, op.ResizeOptions{Sizes: []int{n}, Mode: "linear", Antialias: true}).Elems()
}
