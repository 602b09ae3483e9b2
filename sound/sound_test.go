package sound

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/format/wav"
	_ "github.com/ashlar-go/ashlar/internal/seeded"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write testdata/digests.txt anew")

// noise is a recording that is the same everywhere: samples of 16 bits from a generator of Lehmer's, louder in the middle.
func noise(n int) []float32 {
	x, state := make([]float32, n), uint64(1)
	for i := range x {
		state = state * 48271 % (1<<31 - 1)
		loud := 1 + min(i, n-i)%4000/8
		x[i] = float32(int(state%uint64(2*loud+1))-loud) / (1 << 15)
	}
	return x
}

// plainly is the definition in the comment of Mel, of a whole recording, with every sum written out and package math's functions.
func plainly(m *Mel, x []float32) (rows [][]float64) {
	if m.Length > 0 {
		x = append(slices.Clone(x), make([]float32, m.Length)...)[:m.Length]
	}
	n := len(x)
	sample := func(i int) float64 {
		switch m.Edges {
		case Reflect:
			if i < 0 {
				i = -i
			}
			if i >= n {
				i = 2*n - 2 - i
			}
		case Mirror:
			if i < 0 {
				i = -i - 1
			}
			if i >= n {
				i = 2*n - 1 - i
			}
		}
		if i < 0 || i >= n {
			return 0
		}
		if m.Ahead && i > 0 {
			return float64(x[i]) - m.Emphasis*float64(x[i-1])
		}
		return float64(x[i])
	}
	frames, first, shift := 0, 0, 0
	switch m.Edges {
	case Snip:
		frames = (n-m.Frame)/m.Step + 1
		if n < m.Frame {
			frames = 0
		}
	case Inside:
		frames, shift = (n-m.FFT)/m.Step+1, (m.FFT-m.Frame)/2
		if n < m.FFT {
			frames = 0
		}
	case Mirror:
		frames, first = (n+m.Step/2)/m.Step, m.Step/2-m.Frame/2
	default:
		frames, first, shift = (n+m.FFT/2*2-m.FFT)/m.Step+1, -m.FFT/2, (m.FFT-m.Frame)/2
	}
	if n == 0 {
		frames = 0
	}
	if m.DropLast {
		frames--
	}
	most := math.Inf(-1)
	for f := range max(frames, 0) {
		frame, mean := make([]float64, m.Frame), 0.0
		gain := m.Gain
		if gain == 0 {
			gain = 1
		}
		for i := range frame {
			frame[i] = gain * sample(first+f*m.Step+shift+i)
			mean += frame[i] / float64(m.Frame)
		}
		if m.Centred {
			for i := range frame {
				frame[i] -= mean
			}
		}
		before := frame[0]
		for i, v := range frame {
			if !m.Ahead {
				frame[i], before = v-m.Emphasis*before, v
			}
		}
		period := float64(m.Frame)
		if m.Symmetric {
			period--
		}
		for i := range frame {
			c := math.Cos(2 * math.Pi * float64(i) / period)
			frame[i] *= [...]float64{0.5 - 0.5*c, 0.54 - 0.46*c, math.Pow(0.5-0.5*c, 0.85), 0.42 - 0.5*c + 0.08*math.Cos(4*math.Pi*float64(i)/period), 1}[m.Window]
		}
		row := make([]float64, m.Bands)
		high := m.High
		if high == 0 {
			high = float64(m.Rate) / 2
		}
		to := func(f float64) float64 {
			if m.Scale == HTK {
				return 1127 * math.Log(1+f/700)
			}
			if f < 1000 {
				return f * 3 / 200
			}
			return 15 + 27*math.Log(f/1000)/math.Log(6.4)
		}
		from := func(v float64) float64 {
			if m.Scale == HTK {
				return 700 * (math.Exp(v/1127) - 1)
			}
			if v < 15 {
				return v * 200 / 3
			}
			return 1000 * math.Pow(6.4, (v-15)/27)
		}
		for k := range m.FFT/2 + 1 {
			sum := complex(0, 0)
			for i, v := range frame {
				turn := (shift + i) * k % m.FFT
				sum += complex(v, 0) * cmplx.Exp(complex(0, -2*math.Pi*float64(turn)/float64(m.FFT)))
			}
			power := real(sum)*real(sum) + imag(sum)*imag(sum)
			if m.Magnitude {
				power = math.Sqrt(power)
			}
			hz := float64(k) * float64(m.Rate) / float64(m.FFT)
			for b := range row {
				var edge [3]float64
				for j := range edge {
					edge[j] = from(to(m.Low) + float64(b+j)*(to(high)-to(m.Low))/float64(m.Bands+1))
				}
				area := 1.0
				if m.Area {
					area = 2 / (edge[2] - edge[0])
				}
				at := hz
				if m.ByMel {
					at, edge = to(hz), [3]float64{to(edge[0]), to(edge[1]), to(edge[2])}
				}
				row[b] += area * power * max(0, min((at-edge[0])/(edge[1]-edge[0]), (edge[2]-at)/(edge[2]-edge[1])))
			}
		}
		for b, v := range row {
			if m.Adds {
				v += m.Floor
			} else {
				v = max(v, m.Floor)
			}
			decibel := 10 * math.Log10(v)
			if m.Magnitude {
				decibel *= 2
			}
			row[b] = [...]float64{v, math.Log(v), math.Log10(v), decibel}[m.Log]
			most = max(most, row[b])
		}
		rows = append(rows, row)
	}
	for _, row := range rows {
		if m.Below != 0 {
			for b, v := range row {
				row[b] = max(v, most-m.Below)
			}
		}
	}
	for b := range m.Bands {
		if n := float64(len(rows)); m.Normal {
			mean, variance := 0.0, 0.0
			for _, row := range rows {
				mean += row[b] / n
			}
			for _, row := range rows {
				variance += (row[b] - mean) * (row[b] - mean) / max(n-1, 1)
			}
			for _, row := range rows {
				row[b] = (row[b] - mean) / (math.Sqrt(variance) + 1e-5)
			}
		}
	}
	for f, row := range rows {
		if m.Cepstra > 0 {
			all := row
			row = make([]float64, m.Cepstra)
			for k := range row {
				for i, v := range all {
					row[k] += v * math.Cos(math.Pi*float64(k)*(float64(i)+0.5)/float64(m.Bands)) * math.Sqrt(2/float64(m.Bands))
				}
				if k == 0 {
					row[k] /= math.Sqrt2
				}
				if m.Lifter != 0 {
					row[k] *= 1 + m.Lifter/2*math.Sin(math.Pi*float64(k)/m.Lifter)
				}
			}
		}
		for k := range row {
			if row[k] += m.Plus; m.Over != 0 {
				row[k] /= m.Over
			}
		}
		rows[f] = row
	}
	return rows
}

// rowsOf returns a result as rows of frames.
func rowsOf(m *Mel, t tensor.Tensor[float32]) tensor.Tensor[float32] {
	if m.Shape == RowsOfBands {
		return t.Permute(1, 0)
	}
	return t
}

// drawn is a convention with small frames and anything else.
func drawn(t *rapid.T) *Mel {
	pick := func(list ...float64) float64 { return rapid.SampledFrom(list).Draw(t, "number") }
	m := &Mel{Rate: rapid.IntRange(2000, 9000).Draw(t, "rate"), Frame: rapid.IntRange(2, 24).Draw(t, "frame"), Step: rapid.IntRange(1, 30).Draw(t, "step"),
		Edges: Edges(rapid.IntRange(0, 4).Draw(t, "edges")), DropLast: rapid.Bool().Draw(t, "drop"), Shape: Shape(rapid.IntRange(0, 1).Draw(t, "shape")),
		Gain: pick(0, 1, 32768), Centred: rapid.Bool().Draw(t, "centred"), Emphasis: pick(0, 0.97), Ahead: rapid.Bool().Draw(t, "ahead"), Window: Window(rapid.IntRange(0, 4).Draw(t, "window")),
		Symmetric: rapid.Bool().Draw(t, "symmetric"), Magnitude: rapid.Bool().Draw(t, "magnitude"), Scale: Scale(rapid.IntRange(0, 1).Draw(t, "scale")),
		Bands: rapid.IntRange(1, 6).Draw(t, "bands"), Low: pick(0, 20, 500), High: pick(0, 900), ByMel: rapid.Bool().Draw(t, "bymel"), Area: rapid.Bool().Draw(t, "area"),
		Log: Log(rapid.IntRange(0, 3).Draw(t, "log")), Floor: pick(1e-10, 1e-3), Adds: rapid.Bool().Draw(t, "adds"), Below: pick(0, 8), Normal: rapid.Bool().Draw(t, "normal"),
		Lifter: pick(0, 22), Plus: pick(0, 4), Over: pick(0, 10)}
	m.FFT = m.Frame + rapid.IntRange(0, 9).Draw(t, "longer")
	if m.Edges == Mirror {
		m.Step = min(m.Step, m.Frame)
	}
	if rapid.Bool().Draw(t, "cepstral") {
		m.Cepstra = rapid.IntRange(1, m.Bands).Draw(t, "cepstra")
	}
	if rapid.IntRange(0, 3).Draw(t, "cut") == 0 {
		m.Length = rapid.IntRange(1, 200).Draw(t, "length")
	}
	return m
}

// recording draws samples.
func recording(t *rapid.T, most int) []float32 {
	x := make([]float32, rapid.IntRange(0, most).Draw(t, "samples"))
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	for i := range x {
		x[i] = float32(r.NormFloat64() / 4)
	}
	return x
}

// Every convention gives the numbers of its definition.
func TestMel(t *testing.T) {
	refused := 0
	rapid.Check(t, func(t *rapid.T) {
		m, x := drawn(t), recording(t, 150)
		got, err := m.Of(x, m.Rate)
		if errors.Is(err, tensor.ErrShape) && (m.Edges == Reflect || m.Edges == Mirror) {
			refused++
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		want := plainly(m, x)
		got = rowsOf(m, got)
		if got.Dim(0) != len(want) || got.Dim(1) != m.Width() {
			t.Fatalf("%v, want %d rows of %d", got.Shape(), len(want), m.Width())
		}
		for i, row := range want {
			for k, v := range row {
				if d := math.Abs(float64(got.At(i, k)) - v); !(d <= 1e-5*(1+math.Abs(v))) {
					t.Fatalf("row %d, number %d: %v, want %v", i, k, got.At(i, k), v)
				}
			}
		}
	})
	t.Log(refused, "recordings were too short to mirror")
}

// Rows of a stream in chunks of any length are the bits of the whole recording.
func TestStream(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, x := drawn(t), recording(t, 4000)
		m.Length, m.Below, m.Normal, m.DropLast, m.Shape = 0, 0, false, false, RowsOfFrames
		streamed(t, m, x, func(rest int) int { return rapid.IntRange(0, min(rest, 900)).Draw(t, "chunk") })
	})
}

func streamed(t interface{ Fatalf(string, ...any) }, m *Mel, x []float32, chunk func(rest int) int) {
	want, wrong := m.Of(x, m.Rate)
	s, err := m.Stream(m.Rate)
	if err != nil {
		t.Fatalf("%v", err)
	}
	var got []float32
	for rest := x; len(rest) > 0; {
		n := chunk(len(rest))
		got = append(got, s.Push(rest[:n]).Elems()...)
		rest = rest[n:]
	}
	last, err := s.End()
	if (err == nil) != (wrong == nil) {
		t.Fatalf("%v, of the whole %v", err, wrong)
	}
	if err != nil {
		return
	}
	got = append(got, last.Elems()...)
	if !slices.EqualFunc(got, want.Elems(), func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }) {
		t.Fatalf("%d samples: the rows differ from those of the whole", len(x))
	}
}

// The conventions by name, too, give the same rows in chunks of any length.
func TestConventionsStream(t *testing.T) {
	for _, c := range Conventions() {
		m, r := &c.Mel, rand.New(rand.NewPCG(1, 2))
		if m.Length != 0 || m.Below != 0 || m.Normal {
			if _, err := m.Stream(m.Rate); err == nil || !strings.Contains(err.Error(), "needs the whole recording") {
				t.Errorf("%s: %v", c.Name, err)
			}
			m.Length, m.Below, m.Normal, m.DropLast = 0, 0, false, false
		}
		m.Shape = RowsOfFrames
		for _, most := range []int{7, 900, 100000} {
			streamed(t, m, noise(r.IntN(40000)+2000), func(rest int) int { return min(rest, 1+r.IntN(most)) })
		}
	}
}

// The bits are the same on every machine: testdata/digests.txt has those of a recording.
func TestDigests(t *testing.T) {
	var b strings.Builder
	line := func(name string, x []float32) {
		h := sha256.New()
		if err := binary.Write(h, binary.LittleEndian, x); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%-16s %d %x\n", name, len(x), h.Sum(nil)[:8])
	}
	x := noise(20000)
	for _, c := range Conventions() {
		got, err := c.Mel.Of(x, c.Mel.Rate)
		if err != nil {
			t.Fatal(err)
		}
		line(c.Name, got.Elems())
	}
	for _, rates := range [][2]int{{44100, 16000}, {8000, 16000}, {22050, 16000}, {48000, 44100}} {
		got, err := Resample(x, rates[0], rates[1])
		if err != nil {
			t.Fatal(err)
		}
		line(fmt.Sprint(rates[0], "-", rates[1]), got)
	}
	const file = "testdata/digests.txt"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || b.String() != string(want) {
		t.Errorf("%v\n%swant\n%s", err, &b, want)
	}
}

// Samples of the new rate are the sums of the definition, and in chunks of any length the bits of the whole.
func TestResample(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, to, x := rapid.IntRange(1, 60).Draw(t, "from"), rapid.IntRange(1, 60).Draw(t, "to"), recording(t, 300)
		whole, err := Resample(x, from, to)
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewResampler(from, to)
		if err != nil {
			t.Fatal(err)
		}
		var parts []float32
		for rest := x; len(rest) > 0; {
			n := rapid.IntRange(0, len(rest)).Draw(t, "chunk")
			parts = append(parts, r.Push(rest[:n])...)
			rest = rest[n:]
		}
		if parts = append(parts, r.End()...); !slices.Equal(parts, whole) {
			t.Fatalf("%v, of the whole %v", parts, whole)
		}
		if from == to {
			if !slices.Equal(whole, x) {
				t.Fatalf("%v, want the samples as they are", whole)
			}
			return
		}
		if want := (len(x)*to + from - 1) / from; len(whole) != want {
			t.Fatalf("%d samples, want %d", len(whole), want)
		}
		for m, got := range whole {
			if want := resampled(x, from, to, m); math.Abs(float64(got)-want) > 1e-6 {
				t.Fatalf("sample %d of %d to %d: %v, want %v", m, from, to, got, want)
			}
		}
	})
}

// resampled is sample m of the new rate by the definition.
func resampled(x []float32, from, to, m int) (y float64) {
	band := 0.99 * float64(min(from, to))
	for n, v := range x {
		u := band * (float64(m)/float64(to) - float64(n)/float64(from))
		if math.Abs(u) < 6 {
			c, sinc := math.Cos(math.Pi*u/12), 1.0
			if u != 0 {
				sinc = math.Sin(math.Pi*u) / (math.Pi * u)
			}
			y += float64(v) * band / float64(from) * sinc * c * c
		}
	}
	return y
}

// The product of two rates may be more than 32 bits hold.
func TestResampleLargeRates(t *testing.T) {
	x := noise(50000)
	got, err := Resample(x, 50000, 49999)
	if err != nil || len(got) != 49999 {
		t.Fatal(len(got), err)
	}
	for m := 49900; m < len(got); m++ {
		if want := resampled(x, 50000, 49999, m); math.Abs(float64(got[m])-want) > 1e-6 {
			t.Fatalf("sample %d: %v, want %v", m, got[m], want)
		}
	}
}

// A stream of more samples than 32 bits count goes on as it began.
func TestLongStreams(t *testing.T) {
	x, before := noise(9000), int64(1<<31-4000)
	resample := func(begin int64) (out []float32) {
		r, err := NewResampler(3, 2)
		if err != nil {
			t.Fatal(err)
		}
		out = r.Push(make([]float32, 300))
		r.in, r.base, r.out = r.in+3*begin, r.base+3*begin, r.out+2*begin
		return append(append(out, r.Push(x)...), r.End()...)
	}
	if got, want := resample(before/3), resample(0); !slices.Equal(got, want) {
		t.Errorf("%d samples of the new rate differ from %d at the beginning", len(got), len(want))
	}
	rows := func(begin int64) (out []float32) {
		s, err := (&Mel{Rate: 8000, Frame: 64, Step: 40, FFT: 64, Edges: Reflect, Bands: 3}).Stream(8000)
		if err != nil {
			t.Fatal(err)
		}
		out = s.Push(make([]float32, 400)).Elems()
		s.base, s.have, s.frame = s.base+40*begin, s.have+40*begin, s.frame+begin
		out = append(out, s.Push(x).Elems()...)
		last, err := s.End()
		if err != nil {
			t.Fatal(err)
		}
		return append(out, last.Elems()...)
	}
	if got, want := rows(before/40), rows(0); !slices.Equal(got, want) {
		t.Errorf("%d numbers of rows differ from %d at the beginning", len(got), len(want))
	}
}

// A sample that is NaN makes the rows NaN that hold it, and with Below all of them.
func TestMelNaN(t *testing.T) {
	x := noise(4000)
	x[2000] = float32(math.NaN())
	m := &Mel{Rate: 8000, Frame: 64, Step: 40, FFT: 64, Bands: 3, Log: Natural, Floor: 1e-10}
	for _, below := range []float64{0, 8} {
		m.Below = below
		got, err := m.Of(x, 8000)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got.Dim(0) {
			holds := below != 0 || i*m.Step <= 2000 && 2000 < i*m.Step+m.Frame
			for k := range m.Bands {
				if v := got.At(i, k); (v != v) != holds {
					t.Fatalf("below %v, row %d: %v, want NaN: %v", below, i, v, holds)
				}
			}
		}
	}
}

// Wrong rates name the conversion, and conventions that make no sense are refused.
func TestRefused(t *testing.T) {
	m, err := Convention("kaldi")
	if err != nil {
		t.Fatal(err)
	}
	want := "sound.Mel.Of: the samples are 44100 a second, the convention is for 16000; bring them there with sound.Resample(samples, 44100, 16000)"
	if _, err := m.Of(nil, 44100); !errors.Is(err, tensor.ErrValue) || err.Error() != want {
		t.Error(err)
	}
	if _, err := m.Stream(8000); !errors.Is(err, tensor.ErrValue) {
		t.Error(err)
	}
	if _, err := Convention("mel"); err == nil || !strings.Contains(err.Error(), "whisper, ") {
		t.Error(err)
	}
	for i, change := range []func(*Mel){
		func(m *Mel) { m.Frame = 0 }, func(m *Mel) { m.Step = 0 }, func(m *Mel) { m.FFT = 399 }, func(m *Mel) { m.FFT = 1 << 30 }, func(m *Mel) { m.Bands = 0 }, func(m *Mel) { m.Bands, m.Cepstra = 1<<16, 1<<16 }, func(m *Mel) { m.Length = math.MaxInt },
		func(m *Mel) { m.Cepstra = 81 }, func(m *Mel) { m.High = 8001 }, func(m *Mel) { m.Low = math.NaN() }, func(m *Mel) { m.Window = 5 }, func(m *Mel) { m.Scale = -1 },
		func(m *Mel) { m.Edges, m.Step = Mirror, 401 }, func(m *Mel) { m.Floor = math.Inf(1) }, func(m *Mel) { m.Length = -1 },
	} {
		own := *m
		change(&own)
		if _, err := own.Of(make([]float32, 1000), 16000); !errors.Is(err, tensor.ErrValue) {
			t.Errorf("%d: %v", i, err)
		}
	}
	for _, rates := range [][2]int{{0, 1}, {1, -1}, {1 << 30, 1<<30 - 1}, {1 << 30, 1}} {
		if _, err := Resample(nil, rates[0], rates[1]); !errors.Is(err, tensor.ErrValue) {
			t.Error(rates, err)
		}
	}
	if _, err := (&Mel{Rate: 8000, Frame: 4, FFT: 4, Step: 1, Bands: 1, Edges: Reflect}).Of([]float32{1, 2}, 8000); !errors.Is(err, tensor.ErrShape) {
		t.Error(err)
	}
}

// A file is resampled and its channels mixed as if it were there as a whole, and what a cut one has comes before the error.
func TestRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate, channels, x := rapid.IntRange(1, 40).Draw(t, "rate"), rapid.IntRange(1, 3).Draw(t, "channels"), recording(t, 2000)
		x = x[:len(x)/channels*channels]
		var b bytes.Buffer
		if err := wav.Write(&b, wav.Format{Rate: rate, Channels: channels, Bits: 32, Float: true}, x); err != nil {
			t.Fatal(err)
		}
		file := b.Bytes()
		cut := rapid.IntRange(0, len(x)/channels).Draw(t, "cut")
		file, x = file[:len(file)-4*channels*cut], x[:len(x)-cut*channels]
		want, err := Resample(Mono(x, channels), rate, 16)
		if err != nil {
			t.Fatal(err)
		}
		read := func(ring *Ring) (all []float32) {
			r, err := wav.NewReader(iotest.HalfReader(bytes.NewReader(file)))
			if err != nil {
				t.Fatal(err)
			}
			err = Read(r, 16, ring, func(y []float32) error { all = append(all, y...); return nil })
			if cut == 0 && err != nil || cut > 0 && !errors.Is(err, format.ErrShort) {
				t.Fatal(err)
			}
			return all
		}
		if got := read(nil); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
		want = append(want, make([]float32, (10-len(want)%10)%10)...)
		if got := read(NewRing(10, 10, RingOptions{})); !slices.Equal(got, want) {
			t.Fatalf("in windows: %v, want %v", got, want)
		}
	})
	own := errors.New("enough")
	var b bytes.Buffer
	if err := wav.Write(&b, wav.Format{Rate: 8000, Channels: 1, Bits: 16}, make([]float32, 9000)); err != nil {
		t.Fatal(err)
	}
	r, err := wav.NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	if err := Read(r, 16000, nil, func([]float32) error { return own }); !errors.Is(err, own) {
		t.Error(err)
	}
}
