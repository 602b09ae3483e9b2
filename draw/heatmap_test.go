package draw_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/draw"
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// wave is a tensor with a bump, a NaN and infinities.
func wave() tensor.Tensor[float32] {
	t := tensor.New[float32](6, 9)
	for i := range 6 {
		for j := range 9 {
			t.Set(float32(20-(i-2)*(i-2)-(j-5)*(j-5))/4, i, j)
		}
	}
	t.Set(float32(math.Inf(1)), 5, 0)
	t.Set(float32(math.Inf(-1)), 5, 1)
	t.Set(float32(num.NaN64()), 5, 2)
	return t
}

func ExampleHeatmap() {
	t := tensor.FromSlice([]float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 2, 5)
	text, err := draw.Heatmap(t.Any(), nil)
	fmt.Print(text)
	fmt.Println(err)
	// Output:
	// |  ..::--==|
	// |++**##%%@@|
	// ' ' 0, @ 9
	// <nil>
}

func ExampleHeatmapPNG() {
	var b bytes.Buffer
	legend, err := draw.HeatmapPNG(&b, tensor.Eye[float32](3).Any())
	fmt.Println(legend, err)
	img, _ := png.Decode(&b)
	fmt.Println(img.Bounds(), img.At(0, 0), img.At(16, 0))
	// Output:
	// dark 0, bright 1 <nil>
	// (0,0)-(48,48) {250 230 60 255} {16 20 80 255}
}

func ExampleHTML() {
	fmt.Print(draw.HTML(tensor.Scalar(2.5).Any()))
	// Output:
	// <div style="font-family:monospace">
	// <p>float64[]</p>
	// <table style="border-collapse:collapse">
	// <tr><td style="text-align:right;white-space:pre;padding:0 .5em">2.5</td></tr>
	// </table>
	// </div>
}

// goldenFile compares with a file of testdata, or writes it with -update, the flag of
// all tests of this package.
func goldenFile(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; -update writes it anew\n--- got\n%.3000s\n--- want\n%.3000s", path, got, want)
	}
}

func TestHeatmapGolden(t *testing.T) {
	var b strings.Builder
	for _, c := range []struct {
		name string
		t    tensor.Any
		o    draw.HeatmapOptions
	}{
		{"a matrix", wave().Any(), draw.HeatmapOptions{}},
		{"its transpose", wave().Transpose().Any(), draw.HeatmapOptions{}},
		{"in fewer cells", wave().S(":5").Any(), draw.HeatmapOptions{Rows: 2, Columns: 3}},
		{"a vector", tensor.Arange[int16](-5, 6, 1).Any(), draw.HeatmapOptions{}},
		{"a number", tensor.Scalar[uint8](7).Any(), draw.HeatmapOptions{}},
		{"bools", tensor.FromSlice([]bool{true, false, false, true}, 2, 2).Any(), draw.HeatmapOptions{}},
		{"complex numbers", tensor.FromSlice([]complex64{0, 3 + 4i, -10i}, 3, 1).Any(), draw.HeatmapOptions{}},
		{"nothing", tensor.New[float32](0, 3).Any(), draw.HeatmapOptions{}},
		{"no numbers", tensor.Full(num.NaN64(), 1, 2).Any(), draw.HeatmapOptions{}},
		{"a wide range", tensor.FromSlice([]float64{-math.MaxFloat64, 0, math.MaxFloat64}).Any(), draw.HeatmapOptions{}},
		{"colour", wave().S("3:").Any(), draw.HeatmapOptions{Colour: true}},
	} {
		text, err := draw.Heatmap(c.t, &c.o)
		if err != nil {
			t.Fatal(c.name, err)
		}
		fmt.Fprintf(&b, "%s, %s\n%s\n", c.name, tensor.Describe(c.t), strings.ReplaceAll(text, "\x1b", "ESC"))
	}
	goldenFile(t, "heatmap.txt", []byte(b.String()))
}

func TestHeatmapPNGGolden(t *testing.T) {
	var b bytes.Buffer
	legend, err := draw.HeatmapPNG(&b, wave().Any())
	if err != nil || legend != "dark -2.25, bright 5, grey NaN" {
		t.Errorf("%q, %v", legend, err)
	}
	goldenFile(t, "heatmap.png", b.Bytes())
}

func TestHTMLGolden(t *testing.T) {
	closed := tensor.New[int8](2)
	closed.Close()
	spec, err := tensor.NewSpec(dtype.Float32, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, a := range []tensor.Any{
		tensor.FromSlice([]float32{1, -0.5, 1e-3, float32(num.NaN64())}, 2, 2).Any(),
		tensor.FromSlice([]bool{true, false}, 2).Any(),
		tensor.FromSlice([]complex64{1 - 2i}, 1, 1).Any(),
		tensor.Arange[int32](0, 12, 1).Reshape(2, 3, 2).Any(),
		tensor.Arange[int32](0, 2000, 1).Reshape(20, 100).Any(),
		tensor.Arange[int16](0, 1200, 1).Any(),
		tensor.Arange[int32](0, 2000, 1).Reshape(1000, 1, 2).Any(),
		tensor.New[float64](0, 3).Any(),
		closed.Any(), spec.Any(),
	} {
		b.WriteString(draw.HTML(a))
	}
	goldenFile(t, "tensors.html", []byte(b.String()))
}

// TestHTMLShowsEveryElement draws small tensors and looks for their numbers.
func TestHTMLShowsEveryElement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(1, 5), 0, 4).Draw(t, "shape")
		n := 1
		for _, e := range shape {
			n *= e
		}
		a := tensor.Arange[int64](1000, int64(1000+n), 1).Reshape(shape...)
		text := draw.HTML(a.Any())
		last := 0
		for i := range n {
			at := strings.Index(text[last:], fmt.Sprintf(">%d</td>", 1000+i))
			if at < 0 {
				t.Fatalf("%v: %d is missing, or not in its place:\n%s", shape, 1000+i, text)
			}
			last += at
		}
		if got := strings.Count(text, "<td"); got != n {
			t.Fatalf("%v: %d cells for %d elements", shape, got, n)
		}
		if strings.Count(text, "<table") != strings.Count(text, "</table>") || strings.Count(text, "<tr") != strings.Count(text, "</tr>") {
			t.Fatalf("unclosed elements:\n%s", text)
		}
	})
}

// TestHeatmapReadsEveryElementOnce puts a 1 among zeros: it shows in one cell.
func TestHeatmapReadsEveryElementOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, columns := rapid.IntRange(1, 30).Draw(t, "rows"), rapid.IntRange(1, 30).Draw(t, "columns")
		i, j := rapid.IntRange(0, rows-1).Draw(t, "i"), rapid.IntRange(0, columns-1).Draw(t, "j")
		o := draw.HeatmapOptions{Rows: rapid.IntRange(1, 12).Draw(t, "most rows"), Columns: rapid.IntRange(1, 12).Draw(t, "most columns")}
		a := tensor.New[float32](rows, columns)
		a.Set(1, i, j)
		text, err := draw.Heatmap(a.Any(), &o)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(text, "\n")
		if len(lines) != min(rows, o.Rows)+2 || len(lines[0]) != 2*min(columns, o.Columns)+2 {
			t.Fatalf("%d×%d in %d×%d:\n%s", rows, columns, o.Rows, o.Columns, text)
		}
		if min(rows, o.Rows)*min(columns, o.Columns) > 1 && strings.Count(strings.Join(lines[:len(lines)-2], ""), "@@") != 1 {
			t.Fatalf("one element is not in one cell:\n%s", text)
		}
	})
}

func TestHeatmapErrors(t *testing.T) {
	closed := tensor.New[int8](2)
	closed.Close()
	spec, err := tensor.NewSpec(dtype.Float32, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		t    tensor.Any
		err  error
		want string
	}{
		{tensor.New[int8](2, 2, 2).Any(), tensor.ErrShape, "draw.Heatmap: int8[2,2,2] has rank 3, a heatmap shows 2 axes: slice or reshape the tensor"},
		{closed.Any(), tensor.ErrClosed, ""},
		{spec.Any(), tensor.ErrDType, "draw.Heatmap: float32[2,3] has no elements to show"},
	} {
		_, err := draw.Heatmap(c.t, nil)
		if !errors.Is(err, c.err) || c.want != "" && err.Error() != c.want {
			t.Errorf("%s: %v", tensor.Describe(c.t), err)
		}
		if _, err := draw.HeatmapPNG(&bytes.Buffer{}, c.t); !errors.Is(err, c.err) {
			t.Errorf("%s: %v", tensor.Describe(c.t), err)
		}
	}
	if _, err := draw.HeatmapPNG(&bytes.Buffer{}, tensor.New[int8](0).Any()); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("a PNG of nothing: %v", err)
	}
}

// TestHeatColoursGetLighter holds the scale to what makes it readable in grey.
func TestHeatColoursGetLighter(t *testing.T) {
	var b bytes.Buffer
	if _, err := draw.HeatmapPNG(&b, tensor.Arange[int32](0, 255, 1).Any()); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	side := img.Bounds().Dx() / 255
	last := -1.0
	for i := range 255 {
		r, g, b, _ := img.At(i*side, 0).RGBA()
		luma := 0.299*float64(r) + 0.587*float64(g) + 0.114*float64(b)
		if luma <= last-200 {
			t.Errorf("colour %d is darker than the one before: %v after %v", i, luma, last)
		}
		last = luma
	}
}
