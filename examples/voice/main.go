// Command voice prints where somebody speaks in a WAV file, or in a stream as it comes:
//
//	go run ./examples/voice silero_vad_v5.onnx < speech.wav
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
	if len(os.Args) != 2 {
		log.Fatal("usage: voice silero_vad_v5.onnx < SPEECH.wav")
	}
	quiet, chunks := 4, 0 // of 32 ms; 4 without speech are silence
	must(0, listen(os.Args[1], os.Stdin, func(p float32) {
		if p >= 0.5 && quiet >= 4 {
			fmt.Printf("%7.2f s: speech\n", float64(chunks)*0.032)
		}
		if chunks++; p >= 0.5 || p >= 0.35 && quiet < 4 {
			quiet = 0
		} else if quiet++; quiet == 4 {
			fmt.Printf("%7.2f s: silence\n", float64(chunks-4)*0.032)
		}
	}))
}

// listen calls hear with the probability of speech in each 512 samples of a WAV file. The model sees the 64 before them, too.
func listen(model string, in io.Reader, hear func(float32)) error {
	st := must(must(onnx.NewSession(must(onnx.Open(model)))).Stream(nil))
	inputs := map[string]tensor.Any{"sr": tensor.Scalar[int64](16000).Any(), "state": tensor.New[float32](2, 1, 128).Any()}
	ring := sound.NewRing(64+512, 512, sound.RingOptions{Left: 64})
	return sound.Read(must(wav.NewReader(in)), 16000, ring, func(window []float32) error {
		inputs["input"] = tensor.FromSlice(window, 1, 64+512).Any()
		out, err := st.Run(context.Background(), inputs)
		if err == nil {
			hear(out["output"].At(0, 0).(float32))
			inputs["state"] = out["stateN"]
		}
		return err
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal("voice: ", err)
	}
	return v
}
