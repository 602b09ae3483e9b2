package reduce

import (
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Histograms are those of numpy.histogram, recorded by testdata/histograms.py. With ASHLAR_HISTOGRAMS=N, N more are asked of NumPy now.
func TestHistograms(t *testing.T) {
	text, err := os.ReadFile("testdata/histograms.txt")
	if n := os.Getenv("ASHLAR_HISTOGRAMS"); n != "" && err == nil {
		var more []byte
		more, err = exec.Command("python3", "testdata/histograms.py", "2", n).Output()
		text = append(text, more...)
	}
	if err != nil {
		t.Fatal(err)
	}
	numbers := func(s string) (out []float64) {
		for f := range strings.FieldsSeq(s) {
			v, err := strconv.ParseFloat(f, 64)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, v)
		}
		return out
	}
	lines := 0
	for line := range strings.Lines(string(text)) {
		part := strings.Split(line, "|")
		how := numbers(part[0])
		n := make([]int64, int(how[0]))
		Count(n, Edges(len(n), how[1], how[2]), numbers(part[1]))
		for i, want := range numbers(part[2]) {
			if n[i] != int64(want) {
				t.Errorf("%v in NumPy %s: %s", n, part[2], line)
				break
			}
		}
		lines++
	}
	t.Logf("%d histograms", lines)
}

// An element is in the last bin whose first edge isn't above it, whatever the range: huge, tiny, or of few numbers.
func TestCountByEdges(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	most := math.MaxFloat64
	for _, ends := range [][2]float64{{-most, most}, {most / 2, most}, {-most, 5e-324}, {0, 5e-324}, {-1e-310, 1e-310}, {1e16, 1e16 + 2}, {-1e16 - 4, -1e16}, {1 << 62, 1<<62 + 1<<12}, {-1, 1}, {0, 1e-300}} {
		for _, bins := range []int{1, 2, 3, 20, 1000, 1 << 12} {
			low, high := ends[0], ends[1]
			e := Edges(bins, low, high)
			if e[0] != low || e[bins] != high || !slices.IsSorted(e) || len(e) != bins+1 {
				t.Fatalf("%d edges from %v to %v: %v to %v", bins, low, high, e[0], e[bins])
			}
			v := []float64{low, high, math.Nextafter(low, -most), math.NaN(), math.Inf(1), math.Inf(-1), -5e-324, 0}
			for range 40 {
				at := e[r.IntN(len(e))]
				v = append(v, at, math.Nextafter(at, high), math.Nextafter(at, low))
			}
			for _, x := range v {
				n := make([]int64, bins)
				Count(n, e, []float64{x})
				at := slices.Index(n, 1)
				inside := x >= low && x <= high
				if (at >= 0) != inside || inside && !(e[at] <= x && (at == bins-1 || x < e[at+1])) {
					t.Errorf("%v of %d bins from %v to %v is in bin %d", x, bins, low, high, at)
				}
			}
		}
	}
}
