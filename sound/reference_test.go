package sound

import (
	"bufio"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	frames  = flag.Int("frames", 0, "compare so many random frames of each convention with torchaudio and scipy")
	goldens = flag.Bool("goldens", false, "write testdata/goldens.txt anew, from torchaudio and scipy")
)

// python returns Debian's Python where it has torchaudio and scipy.
func python(t *testing.T) string {
	t.Helper()
	const python = "/usr/bin/python3"
	if *frames == 0 && !*goldens {
		t.Skip("torchaudio and scipy take long: go test ./sound -args -frames 20000")
	}
	if err := exec.Command(python, "-c", "import importlib.util as u; assert u.find_spec('torchaudio') and u.find_spec('scipy')").Run(); err != nil {
		t.Skip("there is no torchaudio, or no scipy: apt-get install python3-torchaudio python3-scipy")
	}
	return python
}

// A reference collects cases for testdata/reference.py.
type reference struct {
	cases   strings.Builder
	samples []float32
}

// add adds a case over samples.
func (r *reference) add(x []float32, name string, args ...any) {
	fmt.Fprint(&r.cases, name)
	for _, a := range args {
		fmt.Fprint(&r.cases, " ", a)
	}
	if name != "window" {
		fmt.Fprint(&r.cases, " ", len(x))
	}
	fmt.Fprintln(&r.cases)
	r.samples = append(r.samples, x...)
}

// run returns the results of all cases, as rows.
func (r *reference) run(t *testing.T) (list [][][]float64) {
	t.Helper()
	dir, python := t.TempDir(), python(t)
	b, err := binary.Append(nil, binary.LittleEndian, r.samples)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "samples"), b, 0o666)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "cases"), []byte(r.cases.String()), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(python, "testdata/reference.py", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	shapes, err := os.ReadFile(filepath.Join(dir, "shapes"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(dir, "results"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	results := bufio.NewReader(f)
	for line := range strings.Lines(string(shapes)) {
		var n, m int
		if _, err := fmt.Sscan(line, &n, &m); err != nil {
			t.Fatal(err)
		}
		rows := make([][]float64, n)
		for i := range rows {
			rows[i] = make([]float64, m)
			if err := binary.Read(results, binary.LittleEndian, rows[i]); err != nil {
				t.Fatal(err)
			}
		}
		list = append(list, rows)
	}
	return list
}

// distance is how far a float32 is from a reference, over 1 and the reference's absolute value. Where it is so small that a logarithm or a mean of large numbers
// gave it, the 1 counts.
func distance(got float32, want float64) float64 {
	if math.IsInf(want, 0) && float64(got) == want || math.IsNaN(want) && got != got {
		return 0
	}
	return math.Abs(float64(got)-want) / (1 + math.Abs(want))
}

// far is the largest distance of a result; the shapes are equal.
func far(t *testing.T, what string, got []float32, shape []int, want [][]float64) (most float64) {
	t.Helper()
	rows, width := len(want), 0
	if rows > 0 {
		width = len(want[0])
	}
	if rows*width != len(got) || len(got) > 0 && (shape[0] != rows || shape[1] != width) {
		t.Fatalf("%s: %v, want %d×%d", what, shape, rows, width)
	}
	for i, row := range want {
		for k, v := range row {
			d := distance(got[i*width+k], v)
			if most = max(most, d); d != d {
				t.Fatalf("%s: row %d, column %d: %v, want %v", what, i, k, got[i*width+k], v)
			}
		}
	}
	return most
}

// random is a recording of some kind: noise, a tone, silence with a click, or nearly nothing, at any loudness.
func random(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	loud, kind, f := math.Pow(10, -4*r.Float64()), r.IntN(4), r.Float64()
	for i := range x {
		switch kind {
		case 0:
			x[i] = float32(loud * r.NormFloat64())
		case 1:
			x[i] = float32(loud*math.Sin(math.Pi*f*float64(i)) + loud*0.01*r.NormFloat64())
		case 2:
			if i == n/2 {
				x[i] = float32(loud)
			}
		default:
			x[i] = float32(int(r.IntN(3))-1) / (1 << 15)
		}
	}
	return x
}

// farthest is the largest distance that a convention may have from its reference. All computes in float64, and the result is rounded once: half a unit of float32 is 6e-8.
const farthest = 7e-8

// Random recordings of random lengths have the numbers of torchaudio and scipy.
func TestReference(t *testing.T) {
	python(t)
	r := rand.New(rand.NewPCG(3, 3))
	most, count := make([]float64, len(conventions)), make([]int, len(conventions))
	for slices.Min(count) < *frames {
		compareSome(t, r, min(*frames, 4000), most, count)
	}
	for i, c := range conventions {
		if t.Logf("%-16s %7d frames, the largest distance is %.2g", c.Name, count[i], most[i]); !(most[i] <= farthest) {
			t.Errorf("%s: the largest distance is %g, want at most %g", c.Name, most[i], farthest)
		}
	}
}

// compareSome compares about n frames of each convention.
func compareSome(t *testing.T, r *rand.Rand, n int, most []float64, count []int) {
	var ref reference
	var of []int // the convention of each recording
	var list [][]float32
	for i, c := range conventions {
		for rows := 0; rows < n; {
			size := c.Mel.FFT + 1 + r.IntN(60*c.Mel.Step)
			if c.Mel.Length > 0 {
				size = 1 + r.IntN(2*c.Mel.Length)
			}
			of, list = append(of, i), append(list, random(r, size))
			ref.add(list[len(list)-1], c.Name)
			rows += max(size, c.Mel.Length) / c.Mel.Step
		}
	}
	for i, want := range ref.run(t) {
		c := conventions[of[i]]
		got, err := c.Mel.Of(list[i], c.Mel.Rate)
		if err != nil {
			t.Fatal(err)
		}
		most[of[i]] = max(most[of[i]], far(t, fmt.Sprint(c.Name, ", recording ", i), got.Elems(), got.Shape(), want))
		count[of[i]] += got.Len() / c.Mel.Width()
	}
}

// Random recordings at other rates have the samples of torchaudio.
func TestResampleReference(t *testing.T) {
	var ref reference
	var list [][]float32
	var rates [][2]int
	r := rand.New(rand.NewPCG(4, 4))
	usual := []int{8000, 11025, 16000, 22050, 24000, 32000, 44100, 48000}
	for i := range max(*frames/20, 100) {
		pair := [2]int{usual[r.IntN(len(usual))], usual[r.IntN(len(usual))]}
		if i%4 == 0 {
			pair = [2]int{1 + r.IntN(300), 1 + r.IntN(300)}
		}
		rates, list = append(rates, pair), append(list, random(r, 1+r.IntN(3000)))
		ref.add(list[i], "resample", pair[0], pair[1])
	}
	most := 0.0
	for i, want := range ref.run(t) {
		got, err := Resample(list[i], rates[i][0], rates[i][1])
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, far(t, fmt.Sprint(rates[i], " of ", len(list[i])), got, []int{1, len(got)}, want))
	}
	if t.Logf("%d recordings, the largest distance is %.2g", len(list), most); !(most <= farthest) {
		t.Errorf("the largest distance is %g, want at most %g", most, farthest)
	}
}

// Windows have scipy's numbers.
func TestWindowReference(t *testing.T) {
	var ref reference
	var list []*Mel
	for w, name := range map[Window]string{Hann: "hann", Hamming: "hamming", Blackman: "blackman", Rectangular: "boxcar"} {
		for n := 2; n < 600; n += 7 {
			for _, symmetric := range []bool{true, false} {
				kind := "periodic"
				if symmetric {
					kind = "symmetric"
				}
				list = append(list, &Mel{Frame: n, Window: w, Symmetric: symmetric})
				ref.add(nil, "window", name, kind, n)
			}
		}
	}
	for i, want := range ref.run(t) {
		for k, v := range list[i].window() {
			if d := math.Abs(v - want[0][k]); !(d <= 1e-15) {
				t.Fatalf("%+v: %d: %v, want %v", list[i], k, v, want[0][k])
			}
		}
	}
}

// testdata/goldens.txt has numbers of torchaudio and scipy, for machines without them: of the recording of noise(9000).
func TestGoldens(t *testing.T) {
	const file = "testdata/goldens.txt"
	x := noise(9000)
	if *goldens {
		var ref reference
		for _, c := range Conventions() {
			ref.add(x, c.Name)
		}
		ref.add(x, "resample", 44100, 16000)
		var b strings.Builder
		b.WriteString("# name, row, column, number: torchaudio 0.13.1 and scipy 1.10.1, by testdata/reference.py\n")
		for i, rows := range ref.run(t) {
			name := "resample"
			if i < len(conventions) {
				name = conventions[i].Name
			}
			for n := range 12 {
				row := n * 7 % len(rows)
				column := n * 31 % len(rows[row])
				fmt.Fprintf(&b, "%s %d %d %.10g\n", name, row, column, rows[row][column])
			}
		}
		if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	results, lines := make(map[string][]float32), 0
	widths := make(map[string]int)
	for _, c := range Conventions() {
		got, err := c.Mel.Of(x, c.Mel.Rate)
		if err != nil {
			t.Fatal(err)
		}
		results[c.Name], widths[c.Name] = got.Elems(), got.Dim(1)
	}
	if results["resample"], err = Resample(x, 44100, 16000); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var name string
		var row, column int
		var want float64
		if strings.HasPrefix(line, "#") {
			continue
		}
		if _, err := fmt.Sscan(line, &name, &row, &column, &want); err != nil {
			t.Fatal(err)
		}
		if got := results[name][row*widths[name]+column]; !(distance(got, want) <= farthest) {
			t.Errorf("%s, row %d, column %d: %v, want %v", name, row, column, got, want)
		}
		lines++
	}
	if want := 12 * (len(conventions) + 1); lines != want {
		t.Errorf("%d numbers, want %d", lines, want)
	}
}
