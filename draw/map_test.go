package draw

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/layout"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "rewrite the pictures in testdata")

func eval(t testing.TB, expr string) layout.Composed {
	t.Helper()
	c, err := layout.Eval(expr)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mustMap(t testing.TB, expr string, o MapOptions) *Map {
	t.Helper()
	m, err := NewMap(eval(t, expr), &o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func threads(s string) MapOptions {
	l := layout.MustParse(s)
	return MapOptions{Threads: &l}
}

// TestPictures compares pictures with testdata, byte for byte: text, text in colour, SVG and PNG.
func TestPictures(t *testing.T) {
	for _, c := range []struct {
		name, expr string
		o          MapOptions
	}{
		{"rank0", "():()", MapOptions{}},
		{"rank1", "20:2", MapOptions{}},
		{"rank3", "(2,3,4):(12,4,1)", MapOptions{}},
		{"rank4", "row_major (2,2,2,3)", MapOptions{}},
		{"row-major", "(4,6):(6,1)", MapOptions{}},
		{"broadcast", "(3,4):(0,1)", MapOptions{}},
		{"reversed", "(3,4):(-4,1)", MapOptions{}},
		{"far", "(2,2):(1000000,1)", MapOptions{}},
		{"empty", "(0,4):(4,1)", MapOptions{}},
		{"blocks", "(8,8):(8,1) / <2,4>", MapOptions{}},
		{"swizzled", "Sw<2,0,3> o (8,8):(8,1)", MapOptions{}},
		{"offset", "(8,8):(8,1)[2:5, ::2]", MapOptions{}},
		{"threads", "(4,6):(6,1)", threads("(2,2):(2,1)")},
		{"tile", "(5,7):(7,1)", MapOptions{Tile: []int{2, 4}}},
	} {
		m := mustMap(t, c.expr, c.o)
		for ext, write := range map[string]func(io.Writer) error{
			".txt":  func(w io.Writer) error { return m.WriteText(w, nil) },
			".ansi": func(w io.Writer) error { return m.WriteText(w, &TextOptions{Colour: true}) },
			".svg":  m.WriteSVG, ".png": m.WritePNG,
		} {
			if ext == ".ansi" && c.name != "threads" && c.name != "blocks" {
				continue
			}
			var got, again bytes.Buffer
			if err := errors.Join(write(&got), write(&again)); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), again.Bytes()) {
				t.Errorf("%s%s: two drawings differ", c.name, ext)
			}
			golden(t, c.name+ext, got.Bytes())
			if ext == ".svg" {
				wellFormed(t, got.Bytes())
			}
		}
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got, want) {
		return
	}
	if filepath.Ext(name) != ".png" {
		t.Errorf("%s (-update rewrites it): got\n%s", file, got)
		return
	}
	a, err1 := png.Decode(bytes.NewReader(got))
	b, err2 := png.Decode(bytes.NewReader(want))
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	t.Errorf("%s (-update rewrites it) has other bytes; the pixels are equal: %v", file, reflect.DeepEqual(pixels(a), pixels(b)))
}

func pixels(img image.Image) (list []color.RGBA) {
	r := img.Bounds()
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			list = append(list, color.RGBAModel.Convert(img.At(x, y)).(color.RGBA))
		}
	}
	return list
}

func wellFormed(t *testing.T, svg []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestMapAgrees compares random pictures with the layout itself: each cell, each thread, each slot of the memory.
func TestMapAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "rank")
		ext := rapid.SliceOfN(rapid.IntRange(0, 5), n, n).Draw(t, "extents")
		str := rapid.SliceOfN(rapid.IntRange(-9, 20), n, n).Draw(t, "strides")
		flat, err := layout.New(ext, str)
		if err != nil {
			t.Fatal(err)
		}
		in := flat
		if n > 2 && rapid.Bool().Draw(t, "nest") {
			pair, last := layout.List(layout.Ints(ext[:2]...)), layout.List(layout.Ints(str[:2]...))
			shape, stride := []layout.Tuple{pair.Entry(0)}, []layout.Tuple{last.Entry(0)}
			for i := 2; i < n; i++ {
				shape, stride = append(shape, layout.Int(ext[i])), append(stride, layout.Int(str[i]))
			}
			if in, err = layout.Of(layout.List(shape...), layout.List(stride...)); err != nil {
				t.Fatal(err)
			}
		}
		w, err := layout.NewSwizzle(rapid.IntRange(0, 2).Draw(t, "bits"), 0, 3)
		if err != nil {
			t.Fatal(err)
		}
		c, err := layout.NewComposed(w, rapid.IntRange(0, 9).Draw(t, "base"), in)
		if err != nil {
			t.Fatal(err)
		}
		var o MapOptions
		team := layout.MustParse("(2,3):(3,1)")
		if in.Rank() > 1 && rapid.Bool().Draw(t, "threads") {
			o.Threads = &team
		}
		m, err := NewMap(c, &o)
		if err != nil {
			t.Fatal(err)
		}
		if len(m.cells) != in.Size() {
			t.Fatalf("%v: %d cells", c, len(m.cells))
		}
		seen := make(map[int]int)
		for _, x := range m.cells {
			coord := layout.MustParseTuple("(" + x.Coord + ")")
			off, err := c.OffsetAt(coord)
			if err != nil || off != x.Offset {
				t.Fatalf("%v at %s: %d, %v; drawn %d", c, x.Coord, off, err, x.Offset)
			}
			seen[off]++
			if o.Threads != nil {
				at, _ := coord.Flatten()
				id := at[0]%2*3 + at[1]%3 // the coordinate is the thread's, modulo the grid
				if x.Label != fmt.Sprintf("t%d", id) || x.Group != id {
					t.Fatalf("%v at %s is drawn for %s, not thread %d", c, x.Coord, x.Label, id)
				}
			}
		}
		held := 0
		for i, s := range m.memory {
			off := m.lo + i
			if s.count != seen[off] || s.count > 0 && m.cells[s.cell].Offset != off {
				t.Fatalf("%v: offset %d is drawn with %d elements, has %d", c, off, s.count, seen[off])
			}
			held += s.count
		}
		if held != in.Size() {
			t.Fatalf("%v: the memory shows %d of %d elements", c, held, in.Size())
		}
		var b bytes.Buffer
		if err := m.WriteText(&b, nil); err != nil || strings.Contains(b.String(), "\x1b") || strings.Contains(b.String(), " \n") {
			t.Fatalf("%v, %q", err, b.String())
		}
	})
}

func TestTileColours(t *testing.T) {
	m := mustMap(t, "(5,7):(7,1)", MapOptions{Tile: []int{2, 4}})
	for i, c := range m.cells {
		if want := i/7/2*2 + i%7/4; c.Group != want {
			t.Errorf("%s has colour %d, is in tile %d", c.Coord, c.Group, want)
		}
	}
}

func TestMapLimits(t *testing.T) {
	for _, c := range []struct {
		expr string
		o    MapOptions
		err  error
		text string
	}{
		{"(129,64):(64,1)", MapOptions{}, layout.ErrLimit, "8256 coordinates"},
		{strconv.Itoa(math.MaxInt) + ":1", MapOptions{}, layout.ErrLimit, "at most 8192"},
		{"(2,129):(129,1)", MapOptions{}, layout.ErrLimit, "129 columns"},
		{"(129,0):(1,1)", MapOptions{}, layout.ErrLimit, "129 rows"},
		{"4:1", threads("(2,2):(2,1)"), layout.ErrShape, "don't fit"},
		{"4:1", threads("0:1"), layout.ErrShape, "don't fit"},
		{"4:1", threads("2:-1"), layout.ErrShape, "don't fit"},
		{"4:1", MapOptions{Tile: []int{2, 2}}, layout.ErrShape, "more modes"},
		{"4:1", MapOptions{Tile: []int{0}}, layout.ErrShape, "positive"},
		{"4:1", MapOptions{Tile: []int{2}, Threads: threads("2:1").Threads}, layout.ErrShape, "one of them"},
	} {
		_, err := NewMap(eval(t, c.expr), &c.o)
		var typed *Error
		if !errors.As(err, &typed) || !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.text) || !strings.HasPrefix(err.Error(), "draw.NewMap: ") {
			t.Errorf("%s: %v, want %v and %q", c.expr, err, c.err, c.text)
		}
	}
	for _, expr := range []string{"(128,64):(64,1)", "8192:1", "(64,128):(1,64)", "(2,2):(9223372036854775799,7)"} {
		if strconv.IntSize < 64 && strings.Contains(expr, "92233") {
			continue
		}
		m := mustMap(t, expr, MapOptions{})
		if err := m.WriteText(io.Discard, &TextOptions{Colour: true}); err != nil {
			t.Error(err)
		}
	}
}

// TestContrast computes the contrast of WCAG 2.2 between text and what is behind it: 4.5 at least for small text, 7 for offsets.
func TestContrast(t *testing.T) {
	light := func(c color.NRGBA) (l float64) {
		for i, v := range []uint8{c.R, c.G, c.B} {
			s := float64(v) / 255
			if s <= 0.04045 {
				s /= 12.92
			} else {
				s = math.Pow((s+0.055)/1.055, 2.4)
			}
			l += s * []float64{0.2126, 0.7152, 0.0722}[i]
		}
		return l
	}
	ground := []int{panel, hole}
	for i := range fills {
		ground = append(ground, i)
	}
	for _, g := range ground {
		for text, least := range map[int]float64{dark: 7, faint: 4.5} {
			if ratio := (light(paint(g)) + 0.05) / (light(paint(text)) + 0.05); ratio < least {
				t.Errorf("paint %d on %d has contrast %.2f, less than %.1f", text, g, ratio, least)
			}
		}
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestWriteErrors(t *testing.T) {
	m := mustMap(t, "(2,2):(2,1)", MapOptions{})
	for _, err := range []error{m.WriteText(failing{}, nil), m.WriteSVG(failing{}), m.WritePNG(failing{})} {
		if !errors.Is(err, io.ErrShortWrite) {
			t.Error(err)
		}
	}
}

// A part has the cells that the whole has there, with their colours and cuts.
func TestMapParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 3).Draw(t, "rank")
		ext, from, to := make([]int, n), make([]int, n), make([]int, n)
		for i := range n {
			ext[i] = rapid.IntRange(0, 7).Draw(t, "extent")
			from[i] = rapid.IntRange(0, ext[i]).Draw(t, "from")
			to[i] = rapid.IntRange(from[i], ext[i]).Draw(t, "to")
		}
		in, err := layout.RowMajor(ext...)
		if err != nil {
			t.Fatal(err)
		}
		c, err := layout.NewComposed(layout.Swizzle{}, 0, in)
		if err != nil {
			t.Fatal(err)
		}
		var o MapOptions
		if n > 1 && rapid.Bool().Draw(t, "tiled") {
			o.Tile = []int{2, 3}
		}
		whole, err := NewMap(c, &o)
		if err != nil {
			t.Fatal(err)
		}
		o.From, o.To = from, to
		part, err := NewMap(c, &o)
		if err != nil {
			t.Fatal(err)
		}
		cells := map[string]Cell{}
		for _, x := range whole.Cells() {
			cells[x.Coord] = x
		}
		want := 1
		for i := range n {
			want *= to[i] - from[i]
		}
		if len(part.Cells()) != want {
			t.Fatalf("%d cells, want %d", len(part.Cells()), want)
		}
		for _, x := range part.Cells() {
			if x != cells[x.Coord] {
				t.Fatalf("%+v in the part, %+v in the whole", x, cells[x.Coord])
			}
		}
		if n > 1 && want > 0 {
			cuts, _ := part.Cuts()
			all, _ := whole.Cuts()
			for i := 1; i < len(cuts); i++ {
				if cuts[i] != all[from[n-2]+i] {
					t.Fatalf("row %d is cut: %v", from[n-2]+i, cuts[i])
				}
			}
		}
	})
}

func TestMapOptionsRefused(t *testing.T) {
	c, err := layout.Eval("(4,4):(4,1)")
	if err != nil {
		t.Fatal(err)
	}
	long, one := layout.MustParse("(8,4):(4,1)"), layout.MustParse("4:1")
	for name, o := range map[string]MapOptions{
		"another rank":       {From: []int{0}, To: []int{1}},
		"beyond the shape":   {From: []int{0, 0}, To: []int{4, 5}},
		"backwards":          {From: []int{2, 0}, To: []int{1, 4}},
		"values beyond":      {Values: &long},
		"values of one mode": {Values: &one},
		"two colours":        {Values: &one, Tile: []int{2}},
	} {
		var own *Error
		if _, err := NewMap(c, &o); !errors.As(err, &own) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A matrix beyond the limits is drawn as blocks: each cell has the offset of the coordinate that it names, and the blocks cover the
// matrix. A matrix within the limits is drawn whole.
func TestMapBlocks(t *testing.T) {
	for _, c := range []struct {
		expr                   string
		rows, cols, high, wide int
	}{
		{"(128,64):(64,1)", 128, 64, 1, 1},
		{"(128,128):(128,1)", 16, 16, 8, 8},
		{"(129,65):(65,1)", 9, 9, 16, 8},
		{"(1000,3):(3,1)", 16, 3, 64, 1},
		{"(2,5000):(1,2)", 2, 10, 1, 512},
		{"Sw<3,3,3> o (256,256):(256,1)", 16, 16, 16, 16},
		{"((16,64),(32,64)):((32,32768),(1,512))", 16, 16, 64, 128},
		{"(2097152,2):(1,2097152)", 16, 2, 131072, 1},
	} {
		l, err := layout.Eval(c.expr)
		if err != nil {
			t.Fatal(err)
		}
		m, err := NewMap(l, &MapOptions{Blocks: MaxSide})
		if err != nil {
			t.Fatal(err)
		}
		rows, cols, _, _ := m.Grid()
		high, wide := m.Block()
		if rows != c.rows || cols != c.cols || high != c.high || wide != c.wide {
			t.Errorf("%s: %d by %d cells of %d by %d, want %d by %d of %d by %d", c.expr, rows, cols, high, wide, c.rows, c.cols, c.high, c.wide)
		}
		in := l.Inner()
		for i, cell := range m.Cells() {
			r, k := i/cols*high, i%cols*wide
			want, err := l.Offset(r + k*in.Dim(0))
			if err != nil || cell.Offset != want || cell.Coord != fmt.Sprintf("%d,%d", r, k) {
				t.Fatalf("%s: cell %d is %+v, want offset %d of %d,%d, %v", c.expr, i, cell, want, r, k, err)
			}
		}
		if len(m.Cells()) != rows*cols || (rows-1)*high >= in.Dim(0) || rows*high < in.Dim(0) || (cols-1)*wide >= in.Dim(1) || cols*wide < in.Dim(1) {
			t.Errorf("%s: %d cells of %d by %d don't cover it", c.expr, len(m.Cells()), high, wide)
		}
		var text, svg strings.Builder
		if err := m.WriteText(&text, nil); err != nil {
			t.Fatal(err)
		}
		if err := m.WriteSVG(&svg); err != nil {
			t.Fatal(err)
		}
		zoomed := high*wide > 1
		if strings.Contains(text.String(), "each cell is a block of") != zoomed || strings.Contains(svg.String(), "for blocks of") != zoomed {
			t.Errorf("%s: the text or the picture doesn't say that cells are blocks:\n%s", c.expr, text.String()[:200])
		}
	}
	l, _ := layout.Eval("(512,512):(512,1)")
	if _, err := NewMap(l, &MapOptions{Blocks: MaxSide, Tile: []int{2, 2}}); !errors.Is(err, layout.ErrLimit) {
		t.Errorf("tiles of coordinates over blocks: %v", err)
	}
	if m, err := NewMap(l, &MapOptions{Blocks: MaxSide, From: []int{8, 0}, To: []int{512, 512}}); err != nil || m.Cells()[0].Coord != "8,0" {
		t.Errorf("a part as blocks: %v", err)
	}
}
