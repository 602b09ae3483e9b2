package sound

import (
	"math"

	"github.com/ashlar-go/ashlar/tensor"
)

// A Mel says how samples become the rows of a mel spectrogram or cepstra. Its zero value is no convention: take one of [Conventions], and change
// its fields.
//
// Frames of Frame samples begin Step apart. First come Gain, Centred, Emphasis and Window. Then comes a Fourier transform of FFT elements, with the squares of its absolute
// values, or these themselves. Triangles of the mel scale sum them. Last come the logarithm with its floor, cepstra, and (x + Plus) ÷ Over.
type Mel struct {
	Rate   int // samples a second
	Length int // samples that a recording is cut to, or filled up to with zeros; 0: as many as there are

	Frame, Step, FFT int   // samples
	Edges            Edges // where the first and the last frame are
	DropLast         bool  // without the last frame
	Shape            Shape // of a whole recording

	Gain      float64 // a factor for samples; 0 is 1
	Centred   bool    // the mean of a frame is subtracted from it
	Emphasis  float64 // the part of the sample before that is subtracted from each sample of a frame; from the first, of itself
	Ahead     bool    // Emphasis comes before all else, in the whole recording, whose first sample stays
	Window    Window
	Symmetric bool // the window ends as it begins; else it is a period of a periodic function
	Magnitude bool // absolute values instead of their squares

	Scale     Scale
	Bands     int
	Low, High float64 // Hz of the outermost edges; a High of 0 is half the rate
	ByMel     bool    // the sides of the triangles are straight over mel, not over Hz
	Area      bool    // each triangle is divided by half its width in Hz, as Slaney's have equal areas

	Log     Log
	Floor   float64 // the least number that has its logarithm taken, or with Adds the one that is added
	Adds    bool
	Below   float64 // numbers are at least the largest of the recording less Below, NaN if one is NaN; 0: they stay
	Normal  bool    // of each band its mean over the frames is subtracted, and it is divided by its deviation (of n − 1) + 1e-5; Below comes before
	Cepstra int     // coefficients of a DCT-II, orthonormal; 0: none
	Lifter  float64 // coefficient i is multiplied by 1 + Lifter/2·sin(π·i/Lifter); 0: it isn't

	Plus, Over float64 // an Over of 0 is 1
}

// Edges says where frames lie at both ends of a recording.
type Edges int

const (
	Snip    Edges = iota // all samples of a frame are there; zeros follow it up to FFT elements. Kaldi with snip_edges
	Inside               // all FFT elements are there, with the frame in their middle. center=False of torch and librosa
	Reflect              // frame i has its middle at sample i·Step; outside, samples are mirrored without the outermost
	Zeros                // frame i has its middle at sample i·Step; outside, there are zeros
	Mirror               // frame i has its middle at sample (i + ½)·Step; outside, samples are mirrored with the outermost. Kaldi without snip_edges
)

// Shape is the order of axes of a whole recording's result.
type Shape int

const (
	RowsOfFrames Shape = iota // [frames, bands]
	RowsOfBands               // [bands, frames]
)

// Window is the function that frames are multiplied by.
type Window int

const (
	Hann        Window = iota // ½ − ½·cos
	Hamming                   // 0.54 − 0.46·cos
	Povey                     // Hann's to the power 0.85: Kaldi's
	Blackman                  // 0.42 − 0.5·cos + 0.08·cos of the double
	Rectangular               // 1
)

// Scale is the scale on which the edges of triangles are equally far apart.
type Scale int

const (
	HTK    Scale = iota // 2595·log10(1 + f/700); but for a factor also Kaldi's 1127·ln(1 + f/700)
	Slaney              // the Auditory Toolbox's: linear at first, then logarithmic
)

// Log is the logarithm of numbers.
type Log int

const (
	Linear  Log = iota // none
	Natural            // ln
	Ten                // log10
	Decibel            // 10·log10, of absolute values 20·log10
)

// check returns an error for numbers that make no sense.
func (m *Mel) check(op string) error {
	const most, mostBands = 1 << 20, 1 << 12
	high := m.high()
	switch {
	case m.Rate < 1 || m.Frame < 1 || m.Step < 1 || m.FFT < m.Frame || m.FFT > most || m.Rate > most || m.Step > most:
		return fail(op, tensor.ErrValue, "frames of %d samples, %d apart, transforms of %d, at %d Hz; want 1 to %d, and a transform as long as a frame or longer", m.Frame, m.Step, m.FFT, m.Rate, most)
	case m.Bands < 1 || m.Bands > mostBands || m.Cepstra < 0 || m.Cepstra > m.Bands:
		return fail(op, tensor.ErrValue, "%d bands, %d cepstra; want 1 to %d bands, and at most as many cepstra", m.Bands, m.Cepstra, mostBands)
	case m.Length < 0 || m.Length > min(1<<40, math.MaxInt/4):
		return fail(op, tensor.ErrValue, "a length of %d samples; want 0 for all, or at most %d", m.Length, int64(min(1<<40, math.MaxInt/4)))
	case !(0 <= m.Low && m.Low < high && high <= float64(m.Rate)/2):
		return fail(op, tensor.ErrValue, "bands from %v to %v Hz; want from 0 or more to at most %v, half the rate", m.Low, high, float64(m.Rate)/2)
	case m.Edges < Snip || m.Edges > Mirror || m.Window < Hann || m.Window > Rectangular || m.Scale < HTK || m.Scale > Slaney || m.Log < Linear || m.Log > Decibel || m.Shape < RowsOfFrames || m.Shape > RowsOfBands:
		return fail(op, tensor.ErrValue, "edges %d, window %d, scale %d, logarithm %d or shape %d is none of the package's constants", m.Edges, m.Window, m.Scale, m.Log, m.Shape)
	case m.Edges == Mirror && m.Step > m.Frame:
		return fail(op, tensor.ErrValue, "frames of %d samples, %d apart, have no middle to mirror at; want a step that isn't longer", m.Frame, m.Step)
	}
	for _, v := range []float64{m.Gain, m.Emphasis, m.Floor, m.Below, m.Lifter, m.Plus, m.Over} {
		if v-v != 0 {
			return fail(op, tensor.ErrValue, "a gain, emphasis, floor, lifter or other number is %v; want finite ones", v)
		}
	}
	return nil
}

func (m *Mel) high() float64 {
	if m.High == 0 {
		return float64(m.Rate) / 2
	}
	return m.High
}

// takes returns an error for samples of another rate.
func (m *Mel) takes(op string, rate int) error {
	if rate != m.Rate {
		return fail(op, tensor.ErrValue, "the samples are %d a second, the convention is for %d; bring them there with sound.Resample(samples, %d, %d)", rate, m.Rate, rate, m.Rate)
	}
	return m.check(op)
}

// Width returns the length of a row: Cepstra, or Bands.
func (m *Mel) Width() int {
	if m.Cepstra > 0 {
		return m.Cepstra
	}
	return m.Bands
}

// Of returns the spectrogram of a whole recording, as many rows as it has frames. It returns an error for samples of another rate, with the conversion that
// would do. Another is for a convention whose numbers make no sense, and for a recording that is too short to be mirrored at its ends.
func (m *Mel) Of(samples []float32, rate int) (tensor.Tensor[float32], error) {
	const op = "Mel.Of"
	var none tensor.Tensor[float32]
	if err := m.takes(op, rate); err != nil {
		return none, err
	}
	if n := m.Length; n > 0 {
		samples = append(make([]float32, 0, n), samples[:min(n, len(samples))]...)[:n]
	}
	s := newStream(m)
	s.push(samples)
	if err := s.end(op); err != nil {
		return none, err
	}
	rows, width := s.rows, m.Width()
	if m.DropLast && len(rows) > 0 {
		rows = rows[:len(rows)-s.m.Bands]
	}
	m.below(rows)
	m.normal(rows)
	n := len(rows) / m.Bands
	out := make([]float32, n*width)
	for i := range n {
		row := s.finish(rows[i*m.Bands : (i+1)*m.Bands])
		for k, v := range row {
			if m.Shape == RowsOfBands {
				out[k*n+i] = v
			} else {
				out[i*width+k] = v
			}
		}
	}
	if m.Shape == RowsOfBands {
		return tensor.FromSlice(out, width, n), nil
	}
	return tensor.FromSlice(out, n, width), nil
}

// below raises logarithms that are far below the largest one.
func (m *Mel) below(rows []float64) {
	if m.Below == 0 {
		return
	}
	most := math.Inf(-1)
	for _, v := range rows {
		most = max(most, v)
	}
	for i, v := range rows {
		rows[i] = max(v, most-m.Below)
	}
}

// normal brings each band to mean 0 and deviation 1.
func (m *Mel) normal(rows []float64) {
	n := len(rows) / m.Bands
	if !m.Normal {
		return
	}
	for b := range m.Bands {
		sum := 0.0
		for i := range n {
			sum += rows[i*m.Bands+b]
		}
		mean, squares := sum/float64(n), 0.0
		for i := range n {
			d := rows[i*m.Bands+b] - mean
			squares += float64(d * d)
		}
		deviation := 1e-5
		if n > 1 {
			deviation += math.Sqrt(squares / float64(n-1))
		}
		for i := range n {
			rows[i*m.Bands+b] = (rows[i*m.Bands+b] - mean) / deviation
		}
	}
}
