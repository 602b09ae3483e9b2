package sound_test

import (
	"bytes"
	"fmt"

	"github.com/ashlar-go/ashlar/format/wav"
	"github.com/ashlar-go/ashlar/sound"
)

// tone is a second of 440 Hz in 16-bit steps, a triangle.
func tone(rate int) []float32 {
	x := make([]float32, rate)
	for i := range x {
		phase := i * 440 % rate
		x[i] = float32(min(phase, rate-phase))/float32(rate) - 0.25
	}
	return x
}

func ExampleMel_Of() {
	m, err := sound.Convention("whisper")
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = m.Of(tone(44100), 44100)
	fmt.Println(err)
	samples, err := sound.Resample(tone(44100), 44100, m.Rate)
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := m.Of(samples, m.Rate)
	fmt.Println(x.Shape(), err)
	loudest := 0
	for band := range x.Dim(0) {
		if x.At(band, 50) > x.At(loudest, 50) {
			loudest = band
		}
	}
	fmt.Println("the loudest of 80 bands after half a second:", loudest)
	// Output:
	// sound.Mel.Of: the samples are 44100 a second, the convention is for 16000; bring them there with sound.Resample(samples, 44100, 16000)
	// [80 3000] <nil>
	// the loudest of 80 bands after half a second: 11
}

func ExampleStream() {
	m, err := sound.Convention("kaldi")
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := m.Stream(16000)
	if err != nil {
		fmt.Println(err)
		return
	}
	x := tone(16000)
	for _, chunk := range [][]float32{x[:300], x[300:500], x[500:9000]} {
		fmt.Println(s.Push(chunk).Shape())
	}
	rest, err := s.End()
	fmt.Println(rest.Shape(), err)
	// Output:
	// [0 80]
	// [1 80]
	// [53 80]
	// [0 80] <nil>
}

func ExampleRing() {
	r := sound.NewRing(4, 2, sound.RingOptions{Left: 2, Fill: 1})
	show := func(window []float32) error {
		fmt.Println(window)
		return nil
	}
	for _, chunk := range [][]float32{{5}, {6, 7, 8, 9}} {
		if err := r.Push(chunk, show); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println("at the end:", r.End(show))
	// Output:
	// [1 1 5 6]
	// [5 6 7 8]
	// [7 8 9 0]
	// at the end: <nil>
}

func ExampleResampler() {
	r, err := sound.NewResampler(8000, 16000)
	if err != nil {
		fmt.Println(err)
		return
	}
	n := 0
	for range 10 { // chunks of a tenth of a second
		n += len(r.Push(make([]float32, 800)))
	}
	fmt.Println(n, n+len(r.End()))
	// Output: 15988 16000
}

func ExampleMono() {
	fmt.Println(sound.Mono([]float32{1, 0, 0.5, -0.5}, 2))
	// Output: [0.5 0]
}

func ExampleRead() {
	var file bytes.Buffer
	if err := wav.Write(&file, wav.Format{Rate: 8000, Channels: 2, Bits: 16}, make([]float32, 2*8000)); err != nil {
		fmt.Println(err)
		return
	}
	r, err := wav.NewReader(&file)
	if err != nil {
		fmt.Println(err)
		return
	}
	windows := 0
	err = sound.Read(r, 16000, sound.NewRing(576, 512, sound.RingOptions{Left: 64}), func(window []float32) error {
		windows++
		return nil
	})
	fmt.Println(windows, err)
	// Output: 32 <nil>
}
