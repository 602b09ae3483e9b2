package wav

import (
	"fmt"
	"io"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/tensor"
)

func init() {
	format.Register(&format.Format{Name: "wav", Ends: []string{".wav"}, Sign: format.Begins("RIFF", "RF64", "BW64"), Open: open})
}

func open(s *format.Source) (format.File, error) {
	return &formats.One{Header: func() (string, format.Info, error) {
		i, err := formats.Read(s, describe)
		return "WAV", i, err
	}, Read: func() (tensor.Any, error) {
		return formats.Read(s, func(r io.Reader) (tensor.Any, error) {
			t, _, err := Read(r)
			if err != nil {
				return tensor.Any{}, err
			}
			return t.Any(), nil
		})
	}}, nil
}

// describe describes a file by its header and by the samples that are there, which it counts.
func describe(r io.Reader) (i format.Info, err error) {
	w, err := NewReader(r)
	if err != nil {
		return i, err
	}
	n, err := io.Copy(io.Discard, w.r)
	if err != nil {
		return i, fail(w.at, err, "reading: %v", err)
	}
	n /= int64(w.block())
	i = format.Info{Type: "float32", DType: dtype.Float32, Storage: w.Format.String()}
	switch {
	case w.whole < 0:
		i.Storage += ", a stream of unknown length"
	case n < w.whole:
		i.Storage += fmt.Sprintf(", %d samples fewer than its header tells", w.whole-n)
	default:
		n = w.whole
	}
	if n > 1<<56/int64(w.Channels) || int64(int(n)) != n {
		return i, fail(-1, format.ErrLimit, "%d samples are more than a tensor has", n)
	}
	i.Storage += fmt.Sprintf(", %.2f s", float64(n)/float64(w.Rate))
	i.Shape = []int{w.Channels, int(n)}
	i.Bytes = formats.Bytes(dtype.Float32, i.Shape...)
	return i, nil
}
