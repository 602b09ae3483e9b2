package sound

import (
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/tensor"
)

// A Named is a convention that has a name.
type Named struct {
	Name string
	Mel  Mel
}

// kaldi has the numbers that Kaldi's programs have in common: samples as 16-bit integers, dither apart.
var kaldi = Mel{Rate: 16000, Frame: 400, Step: 160, FFT: 512, Gain: 32768, Centred: true, Emphasis: 0.97, Window: Povey, Symmetric: true,
	Bands: 80, Low: 20, ByMel: true, Log: Natural, Floor: 0x1p-23}

// conventions are those of Conventions. Each line's source is in docs/sound.md.
var conventions = []Named{
	{"whisper", whisper(80)},
	{"whisper-128", whisper(128)},
	{"kaldi", kaldi},
	{"kaldi-mfcc", changed(kaldi, func(m *Mel) { m.Bands, m.Cepstra, m.Lifter = 23, 13, 22 })},
	{"icefall", changed(kaldi, func(m *Mel) { m.Gain, m.Edges, m.High = 1, Mirror, 7600 })},
	{"funasr", changed(kaldi, func(m *Mel) { m.Window = Hamming })},
	{"ast", changed(kaldi, func(m *Mel) {
		m.Gain, m.Window, m.Bands, m.Plus, m.Over = 1, Hann, 128, 4.2677393, 2*4.5689974
	})},
	{"librosa", librosa},
	{"librosa-mfcc", changed(librosa, func(m *Mel) { m.Log, m.Floor, m.Below, m.Cepstra = Decibel, 1e-10, 80, 20 })},
	{"torchaudio", torchaudio},
	{"torchaudio-mfcc", changed(torchaudio, func(m *Mel) { m.Log, m.Floor, m.Below, m.Cepstra = Decibel, 1e-10, 80, 40 })},
	{"openwakeword", Mel{Rate: 16000, Frame: 400, Step: 160, FFT: 512, Edges: Inside, Gain: 32768, Scale: Slaney, Bands: 32, Low: 60, High: 3800, Area: true,
		Log: Decibel, Floor: 1e-10, Below: 80, Plus: 20, Over: 10}},
	{"nemo", nemo(80)},
	{"nemo-128", nemo(128)},
	{"vggish", tensorflow(0.01)},
	{"yamnet", tensorflow(0.001)},
}

var librosa = Mel{Rate: 22050, Frame: 2048, Step: 512, FFT: 2048, Edges: Zeros, Shape: RowsOfBands, Scale: Slaney, Bands: 128, Area: true}

var torchaudio = Mel{Rate: 16000, Frame: 400, Step: 200, FFT: 400, Edges: Reflect, Shape: RowsOfBands, Bands: 128}

func whisper(bands int) Mel {
	return Mel{Rate: 16000, Length: 480000, Frame: 400, Step: 160, FFT: 400, Edges: Reflect, DropLast: true, Shape: RowsOfBands,
		Scale: Slaney, Bands: bands, Area: true, Log: Ten, Floor: 1e-10, Below: 8, Plus: 4, Over: 4}
}

func nemo(bands int) Mel {
	return Mel{Rate: 16000, Frame: 400, Step: 160, FFT: 512, Edges: Zeros, DropLast: true, Shape: RowsOfBands, Emphasis: 0.97, Ahead: true, Window: Hann, Symmetric: true,
		Scale: Slaney, Bands: bands, Area: true, Log: Natural, Floor: 0x1p-24, Adds: true, Normal: true}
}

func tensorflow(floor float64) Mel {
	return Mel{Rate: 16000, Frame: 400, Step: 160, FFT: 512, Magnitude: true, Bands: 64, Low: 125, High: 7500, ByMel: true, Log: Natural, Floor: floor, Adds: true}
}

func changed(m Mel, change func(*Mel)) Mel {
	change(&m)
	return m
}

// Conventions returns the conventions that have a name.
func Conventions() []Named { return slices.Clone(conventions) }

// Convention returns the convention of a name. Its fields may be changed.
func Convention(name string) (*Mel, error) {
	var names []string
	for _, c := range conventions {
		if c.Name == name {
			return &c.Mel, nil
		}
		names = append(names, c.Name)
	}
	return nil, fail("Convention", tensor.ErrValue, "%.40q is none of the conventions: %s", name, strings.Join(names, ", "))
}
