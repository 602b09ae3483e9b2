// Command wake prints how sure openWakeWord's models are that a word was said, again and again as a WAV file comes:
//
//	go run ./examples/wake models hey_jarvis_v0.1.onnx < speech.wav
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/ashlar-go/ashlar/format/wav"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/sound"
	"github.com/ashlar-go/ashlar/tensor"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: wake FOLDER WORD.onnx < SPEECH.wav")
	}
	must(0, listen(os.Args[1], os.Args[2], 480, 68, 32768, os.Stdin, func(x []float32) error { fmt.Println(x[0]); return nil }))
}

// listen calls hear with each score. The models see left samples, and ones frames of ones, from before the file. Samples are multiplied by gain.
func listen(folder, word string, left, ones int, gain float64, in io.Reader, hear func([]float32) error) error {
	score := stage(folder+"/"+word, sound.NewRing(16, 1, sound.RingOptions{Width: 96, Left: 15}), hear, 1, 16, 96)
	embed := stage(folder+"/embedding_model.onnx", sound.NewRing(76, 8, sound.RingOptions{Width: 32, Left: ones, Fill: 1}), score, 1, 76, 32, 1)
	frames := func(x []float32) error { return embed(scaled(x, 10, 2)) }
	mel := stage(folder+"/melspectrogram.onnx", sound.NewRing(1280+left, 1280, sound.RingOptions{Left: left}), frames, 1, 1280+left)
	return sound.Read(must(wav.NewReader(in)), 16000, nil, func(x []float32) error { return mel(scaled(x, 1/gain, 0)) })
}

// stage returns a function that cuts numbers into windows, runs a model on each, and hands the outputs on.
func stage(model string, ring *sound.Ring, next func([]float32) error, shape ...int) func([]float32) error {
	s := must(onnx.NewSession(must(onnx.Open(model))))
	st := must(s.Stream(nil))
	run := func(window []float32) error {
		out := must(st.Run(context.Background(), map[string]tensor.Any{s.Inputs()[0].Name: tensor.FromSlice(window, shape...).Any()}))
		x, _ := tensor.As[float32](out[s.Outputs()[0].Name])
		return next(x.Clone().Elems())
	}
	return func(x []float32) error { return ring.Push(x, run) }
}

func scaled(x []float32, over, plus float64) []float32 {
	for i, v := range x {
		x[i] = float32(float64(v)/over + plus)
	}
	return x
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal("wake: ", err)
	}
	return v
}
