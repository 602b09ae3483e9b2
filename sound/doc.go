// Package sound turns samples into the numbers that models take: it brings them to another rate, cuts them into frames that overlap, and
// computes mel spectrograms and cepstra by the convention that a model was trained with.
//
// A [Mel] is such a convention. [Conventions] has them by name: Whisper's, Kaldi's, librosa's, torchaudio's and others. docs/sound.md says which models use which.
//
//	m, err := sound.Convention("whisper")
//	x, err := m.Of(samples, rate) // float32[80,3000]
//
// Sound that comes in chunks goes through [Resampler], [Stream] and [Ring]. Chunks may have any length. Their results are the bits of the whole recording.
//
// Samples are float32 of one channel, usually from −1 to 1. Steps are computed in float64, each rounded, and results are rounded once to
// float32. No result depends on the machine, on the number of threads or on the lengths of chunks. A NaN or an infinity among the samples makes the
// frames that hold it NaN or infinite, as the arithmetic goes. Where numbers depend on the recording's largest, as by Whisper's convention, or on
// means, as by NeMo's, a NaN makes all frames NaN.
package sound

import (
	"fmt"

	"github.com/ashlar-go/ashlar/tensor"
)

func fail(op string, reason error, text string, args ...any) error {
	return &tensor.Error{Op: "sound." + op, Text: fmt.Sprintf(text, args...), Err: reason}
}

// Mono returns the mean of channels whose samples stand side by side. A mean is the sum in float64, in the order of the channels, divided
// and rounded once. Samples at the end that lack a channel are left out. It panics for fewer than one channel.
func Mono(samples []float32, channels int) []float32 {
	if channels < 1 {
		panic(fail("Mono", tensor.ErrValue, "%d channels; want 1 or more", channels))
	}
	mean := make([]float32, len(samples)/channels)
	for i := range mean {
		sum := 0.0
		for _, v := range samples[i*channels:][:channels] {
			sum += float64(v)
		}
		mean[i] = float32(sum / float64(channels))
	}
	return mean
}
