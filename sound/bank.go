package sound

import (
	"math"

	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/op"
)

// A band is a triangle over the bins of a spectrum.
type band struct {
	first   int // bin
	weights []float64
}

// toMel returns the place of a frequency on the scale.
func (s Scale) toMel(f float64) float64 {
	switch {
	case s == HTK:
		return float64(2595 * float.Log10x64(1+f/700))
	case f < 1000:
		return float64(f*3) / 200
	}
	return 15 + float64(27*float64(float.Log64(f/1000)/float.Log64(6.4)))
}

// fromMel is the inverse of toMel.
func (s Scale) fromMel(m float64) float64 {
	switch {
	case s == HTK:
		return float64(700 * (float.Pow64(10, m/2595) - 1))
	case m < 15:
		return float64(m*200) / 3
	}
	return float64(1000 * float.Exp64(float64((m-15)/27)*float.Log64(6.4)))
}

// bands returns the triangles: each rises from 0 at its first edge to 1 at the second, and falls to 0 at the third.
func (m *Mel) bands() []band {
	low, high := m.Scale.toMel(m.Low), m.Scale.toMel(m.high())
	edges := make([]float64, m.Bands+2) // in Hz, or in mel
	for i := range edges {
		edges[i] = low + float64(float64(i)*((high-low)/float64(m.Bands+1)))
	}
	hz := make([]float64, len(edges))
	for i, e := range edges {
		hz[i] = m.Scale.fromMel(e)
	}
	if !m.ByMel {
		edges = hz
	}
	list := make([]band, m.Bands)
	places := make([]float64, m.FFT/2+1)
	for k := range places {
		places[k] = float64(k) * float64(m.Rate) / float64(m.FFT)
		if m.ByMel {
			places[k] = m.Scale.toMel(places[k])
		}
	}
	for i := range list {
		a, b, c := edges[i], edges[i+1], edges[i+2]
		scale := 1.0
		if m.Area {
			scale = 2 / (hz[i+2] - hz[i])
		}
		one := &list[i]
		for k, x := range places {
			w := min((x-a)/(b-a), (c-x)/(c-b))
			if !(w > 0) {
				continue
			}
			if one.weights == nil {
				one.first = k
			}
			one.weights = append(one.weights, float64(w*scale))
		}
	}
	return list
}

// window returns the window of a frame.
func (m *Mel) window() []float64 {
	o := op.WindowFunctionOptions{Symmetric: m.Symmetric}
	var w []float64
	switch m.Window {
	case Rectangular:
		w = make([]float64, m.Frame)
		for i := range w {
			w[i] = 1
		}
	case Blackman:
		w = op.BlackmanWindow[float64](m.Frame, o).Elems()
	default:
		w = op.HannWindow[float64](m.Frame, o).Elems()
	}
	for i, v := range w {
		switch m.Window {
		case Hamming: // 0.54 − 0.46·cos, as ½ − ½·cos is known
			w[i] = 0.08 + float64(0.92*v)
		case Povey:
			w[i] = float.Pow64(max(v, 0), 0.85)
		}
	}
	return w
}

// cosines returns the orthonormal DCT-II of a row of bands: Cepstra rows of Bands numbers, with the lifter in them.
func (m *Mel) cosines() []float64 {
	n := m.Bands
	list := make([]float64, m.Cepstra*n)
	for k := range m.Cepstra {
		scale := math.Sqrt(2 / float64(n))
		if k == 0 {
			scale = math.Sqrt(1 / float64(n))
		}
		if m.Lifter != 0 {
			scale = float64(scale * (1 + float64(m.Lifter/2*float.Sin64(float64(math.Pi*float64(k))/m.Lifter))))
		}
		for i := range n {
			turn := (2*i + 1) * k % (4 * n) // of 4n: an angle of π·turn/2n
			list[k*n+i] = float64(scale * float.Cos64(float64(math.Pi*float64(turn))/float64(2*n)))
		}
	}
	return list
}
