package wav

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/ashlar-go/ashlar/format"
)

// A Writer writes a WAV file.
type Writer struct {
	f      Format
	w      io.Writer
	want   int64 // samples of all channels; -1: unknown
	have   int64
	failed error
	buf    []byte
}

// NewWriter writes the header of a WAV file to w. The length is the number of samples of a channel that will follow. It is -1 for a stream that ends some time. Its
// header then has a size of all ones, as other programs write it into a pipe, and readers take all that comes.
//
// It returns a [format.Error] for samples that a file can't have, and for more than 4 GiB of them.
func NewWriter(w io.Writer, f Format, length int64) (*Writer, error) {
	switch {
	case w == nil:
		return nil, fail(-1, format.ErrFormat, "the writer is nil")
	case f.Rate < 1 || f.Rate > math.MaxInt32 || f.Channels < 1 || f.Channels > math.MaxUint16 || f.block() > math.MaxUint16:
		return nil, fail(-1, format.ErrType, "%d samples a second in %d channels; want 1 or more, and at most 65535 bytes for all channels", f.Rate, f.Channels)
	case f.Float && f.Bits != 32 && f.Bits != 64, !f.Float && (f.Bits < 8 || f.Bits > 32 || f.Bits%8 != 0):
		return nil, fail(-1, format.ErrType, "samples of %d bits; want a multiple of 8 up to 32, or floats of 32 or 64", f.Bits)
	}
	tag, total, size := uint16(tagPCM), uint32(unknown), uint32(unknown)
	var fact []byte
	if f.Float {
		tag, fact = tagFloat, make([]byte, 12)
	}
	head := uint32(4 + 24 + len(fact) + 8)
	if length >= 0 {
		if length > int64(math.MaxUint32-4096)/int64(f.block()) {
			return nil, fail(-1, format.ErrLimit, "%d samples of %d bytes are more than 4 GiB: write them to several files", length, f.block())
		}
		size = uint32(length) * uint32(f.block())
		total = head + size + size%2
	}
	b := append(make([]byte, 0, 64), "RIFF"...)
	b = append(binary.LittleEndian.AppendUint32(b, total), "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	b = binary.LittleEndian.AppendUint16(b, tag)
	b = binary.LittleEndian.AppendUint16(b, uint16(f.Channels))
	b = binary.LittleEndian.AppendUint32(b, uint32(f.Rate))
	b = binary.LittleEndian.AppendUint32(b, uint32(min(int64(f.Rate)*int64(f.block()), math.MaxUint32)))
	b = binary.LittleEndian.AppendUint16(b, uint16(f.block()))
	b = binary.LittleEndian.AppendUint16(b, uint16(f.Bits))
	if fact != nil { // samples that aren't PCM have it
		b = binary.LittleEndian.AppendUint32(append(b, "fact"...), 4)
		b = binary.LittleEndian.AppendUint32(b, uint32(min(uint64(length), unknown)))
	}
	b = binary.LittleEndian.AppendUint32(append(b, "data"...), size)
	if _, err := w.Write(b); err != nil {
		return nil, err
	}
	o := &Writer{f: f, w: w, want: -1}
	if length >= 0 {
		o.want = length * int64(f.Channels)
	}
	return o, nil
}

// Write writes samples, with the channels side by side. PCM of b bits is the sample times 2^(b−1), rounded to nearest, ties to even, and cut off at the ends of the
// range. NaN is 0. It returns the error of the destination, and one if there are more samples than NewWriter was told.
func (o *Writer) Write(samples []float32) error {
	if o.failed != nil {
		return o.failed
	}
	o.have += int64(len(samples))
	if o.want >= 0 && o.have > o.want {
		o.failed = fail(-1, format.ErrFormat, "%d samples are written; the header tells %d", o.have, o.want)
		return o.failed
	}
	for len(samples) > 0 && o.failed == nil {
		n := min(len(samples), 4096)
		o.buf = o.f.encode(o.buf[:0], samples[:n])
		samples = samples[n:]
		_, o.failed = o.w.Write(o.buf)
	}
	return o.failed
}

// encode appends samples as the file has them.
func (f Format) encode(b []byte, samples []float32) []byte {
	for _, v := range samples {
		switch {
		case f.Float && f.Bits == 32:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
			continue
		case f.Float:
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(v)))
			continue
		}
		top := float64(int64(1) << (f.Bits - 1))
		n := int32(0)
		if v == v {
			n = int32(max(-top, min(math.RoundToEven(float64(float64(v)*top)), top-1)))
		}
		switch f.Bits {
		case 8:
			b = append(b, byte(n+128))
		case 16:
			b = binary.LittleEndian.AppendUint16(b, uint16(n))
		case 24:
			b = append(b, byte(n), byte(n>>8), byte(n>>16))
		default:
			b = binary.LittleEndian.AppendUint32(b, uint32(n))
		}
	}
	return b
}

// Close ends the file. It doesn't close the destination. It returns an error if fewer samples were written than NewWriter was told, or some for
// a part of the channels.
//
// After it Write and Close return an error, and write nothing.
func (o *Writer) Close() error {
	switch {
	case o.failed != nil:
		return o.failed
	case o.want >= 0 && o.have < o.want:
		return fail(-1, format.ErrShort, "%d samples are written; the header tells %d", o.have, o.want)
	case o.have%int64(o.f.Channels) != 0:
		return fail(-1, format.ErrShort, "%d samples are written for %d channels", o.have, o.f.Channels)
	case o.want >= 0 && o.have*int64(o.f.Bits/8)%2 != 0: // of an unknown length, it would be a sample
		if _, o.failed = o.w.Write([]byte{0}); o.failed != nil {
			return o.failed
		}
	}
	o.failed = fail(-1, format.ErrFormat, "the writer is closed")
	return nil
}

// Write writes a whole WAV file of samples, with the channels side by side.
func Write(w io.Writer, f Format, samples []float32) error {
	o, err := NewWriter(w, f, int64(len(samples)/max(f.Channels, 1)))
	if err == nil {
		err = o.Write(samples)
	}
	if err == nil {
		err = o.Close()
	}
	return err
}
