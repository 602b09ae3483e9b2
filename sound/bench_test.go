package sound

import "testing"

// BenchmarkMel takes half a minute of sound by some conventions.
func BenchmarkMel(b *testing.B) {
	x := noise(480000)
	for _, name := range []string{"whisper", "kaldi", "torchaudio"} {
		b.Run(name, func(b *testing.B) {
			m, err := Convention(name)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(4 * len(x)))
			for b.Loop() {
				if _, err := m.Of(x, m.Rate); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkResample(b *testing.B) {
	x := noise(441000)
	b.SetBytes(int64(4 * len(x)))
	for b.Loop() {
		if _, err := Resample(x, 44100, 16000); err != nil {
			b.Fatal(err)
		}
	}
}
