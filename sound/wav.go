package sound

import (
	"io"

	"github.com/ashlar-go/ashlar/format/wav"
)

// WAV reads a WAV file as it comes, and calls f with its samples at the given rate: the mean of its channels, resampled if the file has another rate. It ends with
// the first error of f or of [NewResampler], or with the [format.Error] of a file that can't be read. A file that ends before its header says gives all samples it has, and
// then this error.
//
// [format.Error]: https://pkg.go.dev/github.com/ashlar-go/ashlar/format#Error
func WAV(r io.Reader, rate int, f func(samples []float32) error) error {
	w, err := wav.NewReader(r)
	if err != nil {
		return err
	}
	to, err := NewResampler(w.Rate, rate)
	if err != nil {
		return err
	}
	chunk := make([]float32, w.Channels*max(w.Rate/10, 1)) // a tenth of a second
	for {
		n, ended := w.Read(chunk)
		if err := f(to.Push(Mono(chunk[:n], w.Channels))); err != nil {
			return err
		}
		if ended == nil {
			continue
		}
		if err := f(to.End()); err != nil {
			return err
		}
		if ended == io.EOF {
			return nil
		}
		return ended
	}
}
