package sound

import (
	"math"

	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Resampler brings a stream of samples to another rate, in chunks of any length.
//
// The filter is a sinc in a window of cos², with six zeros on each side. It passes nearly all up to half of the lower rate:
//
//	y[m] = Σ x[n] · b/from · sinc(u) · cos²(π·u/12)   for |u| < 6, u = b·(m/to − n/from), b = 0.99·min(from, to)
//
// It is the filter "sinc_interp_hann" of torchaudio with its default width and roll-off. Before the first sample and after the last there are zeros. Of n samples the result has
// ⌈n·to/from⌉. Sums are in float64 in the order of the samples, each step rounded, and rounded once to float32.
type Resampler struct {
	from, to int         // without common factors
	taps     [][]float64 // of each of the to phases
	first    []int       // the sample of the first tap, counted from the phase's own
	buf      []float32   // samples from number base on
	base     int64
	in, out  int64 // samples that came, and went
}

const (
	zeros   = 6
	rolloff = 0.99
	mostTap = 1 << 22
)

// NewResampler returns a Resampler of from samples a second to to samples a second. It returns an error for a rate below 1, and for two rates whose
// filter takes more than 2^22 numbers, as rates of millions without a common factor have it.
func NewResampler(from, to int) (*Resampler, error) {
	if from < 1 || to < 1 {
		return nil, fail("NewResampler", tensor.ErrValue, "from %d to %d samples a second; want 1 or more", from, to)
	}
	a, b := from, to
	for b != 0 {
		a, b = b, a%b
	}
	r := &Resampler{from: from / a, to: to / a}
	band := float64(rolloff * float64(min(r.from, r.to)))
	reach := float64(zeros*float64(r.from)) / band // in samples
	if float64(float64(2*reach+1)*float64(r.to)) > mostTap {
		return nil, fail("NewResampler", tensor.ErrValue, "the filter from %d to %d samples a second has %.0f numbers, the most is %d; take a rate between that divides more evenly", from, to, float64(float64(2*reach+1)*float64(r.to)), mostTap)
	}
	if r.from == r.to {
		return r, nil
	}
	r.taps, r.first = make([][]float64, r.to), make([]int, r.to)
	for p := range r.to {
		at := int64(p) * int64(r.from)
		here := int(at / int64(r.to)) // the last sample that isn't later than the phase
		rest := float64(at%int64(r.to)) / float64(r.to)
		low := int(math.Ceil(rest - reach))
		high := int(math.Floor(rest + reach))
		taps := make([]float64, 0, high-low+1)
		for n := low; n <= high; n++ {
			u := float64(band * ((rest - float64(n)) / float64(r.from)))
			taps = append(taps, tap(u, band/float64(r.from)))
		}
		r.taps[p], r.first[p] = taps, here+low
	}
	return r, nil
}

// tap is the filter at u, scaled.
func tap(u, scale float64) float64 {
	if u < -zeros || u > zeros {
		return 0
	}
	c := float.Cos64(float64(math.Pi*u) / (2 * zeros))
	sinc := 1.0
	if x := float64(math.Pi * u); x != 0 {
		sinc = float.Sin64(x) / x
	}
	return float64(float64(sinc*float64(c*c)) * scale)
}

// Push takes a chunk and returns the samples of the new rate that it completes.
func (r *Resampler) Push(chunk []float32) []float32 {
	r.in += int64(len(chunk))
	if r.from == r.to {
		return append([]float32(nil), chunk...)
	}
	r.buf = append(r.buf, chunk...)
	return r.make(math.MaxInt64)
}

// End returns the rest of the samples, which need zeros after the last one that came. The Resampler must not be used afterwards.
func (r *Resampler) End() []float32 {
	if r.from == r.to {
		return nil
	}
	from, to := int64(r.from), int64(r.to)
	last := (r.in/from)*to + (r.in%from*to+from-1)/from
	longest := 0
	for p := range r.taps {
		longest = max(longest, r.first[p]+len(r.taps[p]))
	}
	r.buf = append(r.buf, make([]float32, longest+r.from)...)
	return r.make(last)
}

// make makes samples up to number last, as far as the samples in buf reach.
func (r *Resampler) make(last int64) (out []float32) {
	have := r.base + int64(len(r.buf))
	from, to, begin := int64(r.from), int64(r.to), int64(0)
	for ; r.out < last; r.out++ {
		p := r.out % to
		begin = r.out/to*from + int64(r.first[p])
		taps := r.taps[p]
		if begin+int64(len(taps)) > have {
			break
		}
		x := r.buf[max(begin-r.base, 0):]
		if begin < 0 { // zeros are before the first sample
			taps = taps[-begin:]
		}
		sum := 0.0
		for i, t := range taps {
			sum += float64(t * float64(x[i]))
		}
		out = append(out, float32(sum))
	}
	if drop := begin - r.base; drop > int64(len(r.buf)/2) {
		r.base += drop
		r.buf = r.buf[:copy(r.buf, r.buf[drop:])]
	}
	return out
}

// Resample returns samples of from a second as samples of to a second. It has the errors of [NewResampler].
func Resample(samples []float32, from, to int) ([]float32, error) {
	r, err := NewResampler(from, to)
	if err != nil {
		return nil, err
	}
	return append(r.Push(samples), r.End()...), nil
}
