package main

import (
	"encoding/json"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// TestStats compares the statistics of tensors with those worked out by hand: numbers at the ends of their types, numbers that
// aren't, and layouts and files that are read in pieces.
func TestStats(t *testing.T) {
	dir := t.TempDir()
	inf, nan := math.Inf(1), math.NaN()
	half := make([]uint8, 9<<20) // of Zarr, read in pieces
	for i := len(half) / 2; i < len(half); i++ {
		half[i] = 4
	}
	for title, x := range map[string]struct {
		tensor tensor.Any
		want   string
	}{
		"a":        {tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2).Permute(1, 0).Any(), `{"dtype":"float32","shape":[2,2],"count":4,"least":1,"most":4,"mean":2.5,"deviation":1.118033988749895,"zeros":0,"nans":0,"infinite":0,"histogram":{"low":1,"high":4,"counts":[1,1,1,1]}}`},
		"strided":  {tensor.FromSlice([]float64{1, 9, 2, 9, 3, 9}, 3, 2).Slice(tensor.Colon, tensor.I(0)).Any(), `{"dtype":"float64","shape":[3],"count":3,"least":1,"most":3,"mean":2,"deviation":0.816496580927726,"zeros":0,"nans":0,"infinite":0,"histogram":{"low":1,"high":3,"counts":[1,0,1,1]}}`},
		"large":    {tensor.FromSlice([]float64{-math.MaxFloat64, math.MaxFloat64, math.MaxFloat64, math.MaxFloat64}, 4).Any(), `{"dtype":"float64","shape":[4],"count":4,"least":-1.7976931348623157e+308,"most":1.7976931348623157e+308,"mean":8.988465674311579e+307,"deviation":1.5568479229996504e+308,"zeros":0,"nans":0,"infinite":0,"histogram":{"low":-1.7976931348623157e+308,"high":1.7976931348623157e+308,"counts":[1,0,0,3]}}`},
		"small":    {tensor.FromSlice([]float64{0, 5e-324, 5e-324, 0}, 4).Any(), `{"dtype":"float64","shape":[4],"count":4,"least":0,"most":5e-324,"mean":0,"deviation":0,"zeros":2,"nans":0,"infinite":0,"histogram":{"low":0,"high":5e-324,"counts":[2,0,0,2]}}`},
		"exact":    {tensor.FromSlice([]float64{1e16, 1, 1, 1, 1, -1e16}, 6).Any(), `{"dtype":"float64","shape":[6],"count":6,"least":-10000000000000000,"most":10000000000000000,"mean":0.6666666666666666,"deviation":5773502691896258,"zeros":0,"nans":0,"infinite":0,"histogram":{"low":-10000000000000000,"high":10000000000000000,"counts":[1,0,4,1]}}`},
		"int64":    {tensor.FromSlice([]int64{math.MinInt64 + 1, math.MaxInt64}, 2).Any(), `{"dtype":"int64","shape":[2],"count":2,"least":-9223372036854775807,"most":9223372036854775807,"mean":0,"deviation":9223372036854775808,"zeros":0,"nans":0,"infinite":0,"histogram":{"low":-9223372036854775808,"high":9223372036854775808,"counts":[1,0,0,1]}}`},
		"uint64":   {tensor.FromSlice([]uint64{math.MaxUint64, math.MaxUint64 - 1}, 2).Any(), `{"dtype":"uint64","shape":[2],"count":2,"least":18446744073709551614,"most":18446744073709551615,"mean":18446744073709551616,"deviation":0,"zeros":0,"nans":0,"infinite":0,"histogram":{"low":18446744073709551616,"high":18446744073709551616,"counts":[2]}}`},
		"bool":     {tensor.FromSlice([]bool{true, false}, 2).Any(), `{"dtype":"bool","shape":[2],"count":2,"least":0,"most":1,"mean":0.5,"deviation":0.5,"zeros":1,"nans":0,"infinite":0,"histogram":{"low":0,"high":1,"counts":[1,0,0,1]}}`},
		"complex":  {tensor.FromSlice([]complex64{3 + 4i, 0}, 2).Any(), `{"dtype":"complex64","shape":[2],"count":2,"least":0,"most":5,"mean":2.5,"deviation":2.5,"zeros":1,"nans":0,"infinite":0,"histogram":{"low":0,"high":5,"counts":[1,0,0,1]}}`},
		"float16":  {tensor.FromSlice([]num.F16{num.FromFloat64[num.F16](65504)}, 1).Any(), `{"dtype":"float16","shape":[1],"count":1,"least":65504,"most":65504,"mean":65504,"deviation":0,"zeros":0,"nans":0,"infinite":0,"histogram":{"low":65504,"high":65504,"counts":[1]}}`},
		"not":      {tensor.FromSlice([]float64{nan, inf, -inf, 0, 2}, 5).Any(), `{"dtype":"float64","shape":[5],"count":5,"least":"-Inf","most":"+Inf","mean":1,"deviation":1,"zeros":1,"nans":1,"infinite":2,"histogram":{"low":0,"high":2,"counts":[1,0,0,1]}}`},
		"infinite": {tensor.FromSlice([]float64{inf}, 1).Any(), `{"dtype":"float64","shape":[1],"count":1,"least":"+Inf","most":"+Inf","mean":null,"deviation":null,"zeros":0,"nans":0,"infinite":1,"histogram":null}`},
		"nans":     {tensor.FromSlice([]float64{nan}, 1).Any(), `{"dtype":"float64","shape":[1],"count":1,"least":null,"most":null,"mean":null,"deviation":null,"zeros":0,"nans":1,"infinite":0,"histogram":null}`},
		"none":     {tensor.New[float32](0, 3).Any(), `{"dtype":"float32","shape":[0,3],"count":0,"least":null,"most":null,"mean":null,"deviation":null,"zeros":0,"nans":0,"infinite":0,"histogram":null}`},
		"pieces":   {tensor.FromSlice(half, 3, 3<<20).Any(), `{"dtype":"uint8","shape":[3,3145728],"count":9437184,"least":0,"most":4,"mean":2,"deviation":2,"zeros":4718592,"nans":0,"infinite":0,"histogram":{"low":0,"high":4,"counts":[4718592,0,0,4718592]}}`},
	} {
		ends := []string{".npy"}
		switch title {
		case "not":
			ends = append(ends, ".zarr")
		case "pieces":
			ends[0] = ".zarr"
		}
		for _, end := range ends {
			path := filepath.Join(dir, title+end)
			if err := format.WriteFile(path, nil, format.Array{Name: title, Tensor: x.tensor}); err != nil {
				t.Fatal(err)
			}
			c := newCall(nil).with("stats", "--json", path, "--bins", "4")
			var got, want map[string]any
			if err := json.Unmarshal(c.out.Bytes(), &got); err != nil || c.code != 0 {
				t.Fatalf("%s: %v: %s%s", title, err, c.out.String(), c.err.String())
			}
			if err := json.Unmarshal([]byte(x.want), &want); err != nil {
				t.Fatal(err)
			}
			delete(got, "name")
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s%s:\ngot  %swant %s", title, end, c.out.String(), x.want)
			}
			if !strings.Contains(c.out.String(), `"least":`+string(between(x.want))) {
				t.Errorf("%s%s: %s", title, end, c.out.String())
			}
		}
	}
}

// A number on an edge of bins is in the upper one: of 0, 1, … n in n bins each has its number, and the last one two.
func TestStatsEdges(t *testing.T) {
	for n := 1; n <= 300; n++ {
		values := make([]float64, n+1)
		for i := range values {
			values[i] = float64(i)
		}
		counts := make([]int64, n)
		(&tally{high: float64(n)}).counter(counts)(values)
		for i, c := range counts {
			if c != 1 && !(c == 2 && i == n-1) {
				t.Fatalf("of 0 to %d bin %d has %d", n, i, c)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "x.npy")
	x := tensor.FromSlice([]float64{0.9, 0.999, 1, 1.001, 1.099, 1.1}, 6)
	if err := format.WriteFile(path, nil, format.Array{Tensor: x.Any()}); err != nil {
		t.Fatal(err)
	}
	if c := newCall(nil).with("stats", "--json", path, "--bins", "10"); !strings.Contains(c.out.String(), `"counts":[1,0,0,0,1,2,0,0,0,2]`) { // np.histogram's
		t.Error(c.out.String())
	}
}

// between is the least and the most as a line of JSON has them, digit for digit.
func between(line string) string {
	i, j := strings.Index(line, `"least":`)+len(`"least":`), strings.Index(line, `,"mean"`)
	return line[i:j]
}

// TestStatsPicture draws the histograms of a model.
func TestStatsPicture(t *testing.T) {
	inRoot(t)
	file := filepath.Join(t.TempDir(), "a.png")
	if c := newCall(nil).with("stats", "testdata/digits.onnx", "--png", file); c.code != 0 {
		t.Fatal(c.err.String())
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := png.Decode(f)
	if err != nil || p.Bounds().Dx() < 20 || p.Bounds().Dy() < 8 {
		t.Errorf("%v %v", p.Bounds(), err)
	}
}

// An array of Zarr that states more elements than anybody reads is refused at once.
func TestStatsEnds(t *testing.T) {
	dir := t.TempDir()
	text := `{"zarr_format":2,"shape":[1152921504606846976,4],"chunks":[2,2],"dtype":"<f4","compressor":null,"fill_value":0,"order":"C","filters":null}`
	if err := os.WriteFile(filepath.Join(dir, ".zarray"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if c := newCall(nil).with("stats", dir); c.code != 1 || !strings.Contains(c.err.String(), "at least 8 EiB, and stats reads up to 1.0 TiB") {
		t.Errorf("exit %d: %s", c.code, c.err.String())
	}
}
