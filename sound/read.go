package sound

import (
	"io"

	"github.com/ashlar-go/ashlar/format/wav"
)

// Read reads a WAV file as it comes, and calls f with the windows that ring cuts from its samples, the last one filled up with zeros. Without a ring, nil, it calls f with
// the samples in chunks of any length. A sample is the mean of the channels, resampled if the file has another rate.
//
// Read ends with the first error of f, of [NewResampler], or of a file that can't be read. A file that ends before its header says gives all samples it has, and
// then an error that wraps format.ErrShort.
func Read(w *wav.Reader, rate int, ring *Ring, f func(samples []float32) error) error {
	to, err := NewResampler(w.Rate, rate)
	if err != nil {
		return err
	}
	take := f
	if ring != nil {
		take = func(chunk []float32) error { return ring.Push(chunk, f) }
	}
	chunk := make([]float32, w.Channels*max(512/w.Channels, 1))
	var ended error
	for ended == nil {
		var n int
		n, ended = w.Read(chunk)
		if err := take(to.Push(Mono(chunk[:n], w.Channels))); err != nil {
			return err
		}
	}
	err = take(to.End())
	if err == nil && ring != nil {
		err = ring.End(f)
	}
	if err == nil && ended != io.EOF {
		err = ended
	}
	return err
}
