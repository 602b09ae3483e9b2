package sound

import (
	"math"

	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Stream computes rows of a spectrogram from samples as they come. All rows together are the rows that [Mel.Of] has for the whole recording, bit for
// bit.
type Stream struct {
	m      *Mel
	window []float64
	bands  []band
	dct    []float64

	buf         []float32 // samples from number base on
	base        int64
	have, frame int64 // samples that came, frames that were made

	block, spectra tensor.Tensor[float64]
	roots          []complex128 // exp(−2πi·k/FFT) below FFT/2, where FFT is even
	spectrum       []float64
	rows           []float64 // logarithms of bands that wait to be finished
	row            []float32
}

// together is how many frames are transformed in one call.
const together = 32

// Stream returns a Stream of samples at a rate. It returns the errors of [Mel.Of], and one for a convention that needs the whole recording: its
// length, its largest number, its mean, or its end.
func (m *Mel) Stream(rate int) (*Stream, error) {
	const op = "Mel.Stream"
	if err := m.takes(op, rate); err != nil {
		return nil, err
	}
	if m.Length != 0 || m.Below != 0 || m.Normal || m.DropLast {
		return nil, fail(op, tensor.ErrValue, "the convention needs the whole recording (Length, Below, Normal or DropLast); collect the samples for Mel.Of, or set these to 0 and false")
	}
	return newStream(m), nil
}

func newStream(m *Mel) *Stream {
	own := *m
	s := &Stream{m: &own, window: m.window(), bands: m.bands(), row: make([]float32, m.Width()), spectrum: make([]float64, m.FFT/2+1)}
	if m.FFT%2 == 0 { // then a transform is one of half as many complex numbers
		s.roots = make([]complex128, m.FFT/2)
		for k := range s.roots {
			angle := float64(math.Pi*float64(k)) / float64(m.FFT/2)
			s.roots[k] = complex(float.Cos64(angle), -float.Sin64(angle))
		}
	}
	if m.Cepstra > 0 {
		s.dct = m.cosines()
	}
	return s
}

// Push takes a chunk, and returns the rows that it completes: [rows, width].
func (s *Stream) Push(chunk []float32) tensor.Tensor[float32] {
	s.push(chunk)
	return s.take()
}

// End returns the rows that need the end of the recording. The Stream must not be used afterwards. It returns an error if the recording is too short to
// be mirrored at its ends.
func (s *Stream) End() (tensor.Tensor[float32], error) {
	if err := s.end("Stream.End"); err != nil {
		return tensor.Tensor[float32]{}, err
	}
	return s.take(), nil
}

// take returns the rows that are ready.
func (s *Stream) take() tensor.Tensor[float32] {
	n, width := len(s.rows)/s.m.Bands, s.m.Width()
	out := make([]float32, 0, n*width)
	for i := range n {
		out = append(out, s.finish(s.rows[i*s.m.Bands:(i+1)*s.m.Bands])...)
	}
	s.rows = s.rows[:0]
	return tensor.FromSlice(out, n, width)
}

// finish makes a row of the logarithms of its bands.
func (s *Stream) finish(logs []float64) []float32 {
	over := s.m.Over
	if over == 0 {
		over = 1
	}
	for k := range s.row {
		v := 0.0
		if s.dct == nil {
			v = logs[k]
		} else {
			for i, c := range s.dct[k*len(logs) : (k+1)*len(logs)] {
				v += float64(c * logs[i])
			}
		}
		s.row[k] = float32((v + s.m.Plus) / over)
	}
	return s.row
}

// left is how many samples before the first one frame 0 begins, and span the samples that a frame reads.
func (s *Stream) left() (left, span int64) {
	frame, fft := int64(s.m.Frame), int64(s.m.FFT)
	switch s.m.Edges {
	case Inside:
		return 0, fft
	case Reflect, Zeros:
		return fft / 2, fft
	case Mirror:
		return frame/2 - int64(s.m.Step/2), frame
	}
	return 0, frame
}

func (s *Stream) push(chunk []float32) {
	left, span := s.left()
	step := int64(s.m.Step)
	for len(chunk) > 0 { // in parts, so that the buffer stays small
		part := chunk[:min(len(chunk), 1<<16)]
		chunk = chunk[len(part):]
		s.buf = append(s.buf, part...)
		s.have += int64(len(part))
		first := s.frame*step - left
		if first+span > s.have || first < 0 && -first >= s.have {
			continue
		}
		s.frames((s.have-span+left)/step + 1)
		// A frame at the end may mirror as many samples as a frame has, and Ahead reads one more.
		if drop := min(s.frame*step-left-1, s.have-span-2) - s.base; drop > int64(len(s.buf)/2) {
			s.base += drop
			s.buf = s.buf[:copy(s.buf, s.buf[drop:])]
		}
	}
}

// end makes the frames that the end of the recording completes.
func (s *Stream) end(op string) error {
	left, span := s.left()
	if s.have == 0 {
		return nil
	}
	step, total := int64(s.m.Step), int64(0)
	switch s.m.Edges {
	case Mirror:
		total = (s.have + step/2) / step
		if last := (total-1)*step - left + span; total > 0 && (left > s.have || last > 2*s.have) {
			return s.short(op, max(left, last-s.have))
		}
	default:
		if n := s.have + 2*left - span; n >= 0 {
			total = n/step + 1
		}
		if s.m.Edges == Reflect && left >= s.have {
			return s.short(op, left+1)
		}
	}
	s.frames(total)
	return nil
}

func (s *Stream) short(op string, want int64) error {
	return fail(op, tensor.ErrShape, "%d samples can't be mirrored at the ends: want %d or more; put zeros behind them, or set Edges to Zeros or Snip", s.have, want)
}

// at returns a sample, also one outside of the recording.
func (s *Stream) at(i int64) float64 {
	switch {
	case i >= 0 && i < s.have:
	case s.m.Edges == Reflect && i < 0:
		i = -i
	case s.m.Edges == Reflect:
		i = 2*s.have - 2 - i
	case s.m.Edges == Mirror && i < 0:
		i = -1 - i
	case s.m.Edges == Mirror:
		i = 2*s.have - 1 - i
	default:
		return 0
	}
	v := float64(s.buf[i-s.base])
	if s.m.Ahead && i > 0 {
		v -= float64(s.m.Emphasis * float64(s.buf[i-1-s.base]))
	}
	return v
}

// frames makes frames up to number last, as logarithms of their bands.
func (s *Stream) frames(last int64) {
	left, _ := s.left()
	shift := 0 // of a frame within its transform
	if s.m.Edges != Snip && s.m.Edges != Mirror {
		shift = (s.m.FFT - s.m.Frame) / 2
	}
	for s.frame < last {
		n := int(min(last-s.frame, together))
		s.room(n)
		all := s.block.Elems()
		for k := range n {
			x := all[k*s.m.FFT+shift:][:s.m.Frame]
			first := (s.frame+int64(k))*int64(s.m.Step) - left + int64(shift)
			switch inside := first >= 0 && first+int64(len(x)) <= s.have; {
			case inside && !s.m.Ahead:
				for i, v := range s.buf[first-s.base:][:len(x)] {
					x[i] = float64(v)
				}
			case inside && first > 0:
				before := s.buf[first-1-s.base:][:len(x)+1]
				for i := range x {
					x[i] = float64(before[i+1]) - float64(s.m.Emphasis*float64(before[i]))
				}
			default:
				for i := range x {
					x[i] = s.at(first + int64(i))
				}
			}
			s.prepare(x)
		}
		op.DFT(s.block, 1, op.DFTOptions{OneSided: s.roots == nil}, op.Into(s.spectra))
		one := s.spectra.Dim(1) * 2
		for k := range n {
			s.power(s.spectra.Elems()[k*one : (k+1)*one])
			s.logs()
		}
		s.frame += int64(n)
	}
}

// room makes room for the transforms of n frames.
func (s *Stream) room(n int) {
	switch {
	case !s.block.Any().IsZero() && s.block.Dim(0) == n:
	case s.roots == nil:
		s.block, s.spectra = tensor.New[float64](n, s.m.FFT, 1), tensor.New[float64](n, s.m.FFT/2+1, 2)
	default:
		s.block, s.spectra = tensor.New[float64](n, s.m.FFT/2, 2), tensor.New[float64](n, s.m.FFT/2, 2)
	}
}

// power sets the spectrum to the squares of the absolute values of a transform z, or to these themselves. Where z is the transform of pairs of samples as complex numbers, the
// samples' own is, with the conjugate z* of the bin that mirrors the bin,
//
//	(z + z*)/2 + root·(z − z*)/2i
func (s *Stream) power(z []float64) {
	half := len(z) / 2
	for k := range s.spectrum {
		var re, im float64
		if s.roots == nil {
			re, im = z[2*k], z[2*k+1]
		} else {
			a, b := 2*(k%half), 2*((half-k)%half)
			evenRe, evenIm := float64((z[a]+z[b])/2), float64((z[a+1]-z[b+1])/2)
			oddRe, oddIm := float64((z[a+1]+z[b+1])/2), float64((z[b]-z[a])/2)
			c, d := -1.0, 0.0 // of the bin in the middle
			if k < half {
				c, d = real(s.roots[k]), imag(s.roots[k])
			}
			re = evenRe + (float64(oddRe*c) - float64(oddIm*d))
			im = evenIm + (float64(oddRe*d) + float64(oddIm*c))
		}
		v := float64(re*re) + float64(im*im)
		if s.m.Magnitude {
			v = math.Sqrt(v)
		}
		s.spectrum[k] = v
	}
}

// prepare makes a frame ready for its transform.
func (s *Stream) prepare(x []float64) {
	if g := s.m.Gain; g != 0 && g != 1 {
		for i, v := range x {
			x[i] = float64(v * g)
		}
	}
	if s.m.Centred {
		sum := 0.0
		for _, v := range x {
			sum += v
		}
		mean := sum / float64(len(x))
		for i := range x {
			x[i] -= mean
		}
	}
	if e := s.m.Emphasis; e != 0 && !s.m.Ahead {
		for i := len(x) - 1; i > 0; i-- {
			x[i] -= float64(e * x[i-1])
		}
		x[0] -= float64(e * x[0])
	}
	for i, w := range s.window {
		x[i] = float64(x[i] * w)
	}
}

// logs appends the logarithms of the bands of the spectrum.
func (s *Stream) logs() {
	for _, b := range s.bands {
		sum := 0.0
		for i, v := range s.spectrum[b.first:][:len(b.weights)] {
			sum += float64(b.weights[i] * v)
		}
		s.rows = append(s.rows, s.m.log(sum))
	}
}

// log returns the logarithm of a number as the convention has it.
func (m *Mel) log(v float64) float64 {
	switch {
	case m.Adds:
		v += m.Floor
	default:
		v = max(v, m.Floor)
	}
	switch {
	case m.Log == Natural:
		return float.Log64(v)
	case m.Log == Ten:
		return float.Log10x64(v)
	case m.Log == Decibel && m.Magnitude:
		return float64(20 * float.Log10x64(v))
	case m.Log == Decibel:
		return float64(10 * float.Log10x64(v))
	}
	return v
}
