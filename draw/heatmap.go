//go:build !layoutonly

package draw

import (
	"fmt"
	stdimage "image"
	"image/color"
	"image/png"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/tensor"
)

// HeatmapOptions control the text of a heatmap. The zero value, and nil, fits a terminal of
// 80 columns, without colour.
type HeatmapOptions struct {
	Rows, Columns int  // the most cells: 0 is 40 rows, 38 columns; a cell is two characters wide
	Colour        bool // backgrounds of 24 bits by escape sequences instead of characters
}

// ramp holds the characters of a heatmap, from the smallest number to the largest.
const ramp = " .:-=+*#%@"

// pngCells is the most cells of a PNG in each direction.
const pngCells = 2048

// Heatmap shows the size of numbers as text. The scale goes from the smallest finite
// number, a space, to the largest, @, or in colours from dark blue to yellow. The last
// line names these two numbers. Rank 2 is rows and columns, rank 1 one row, rank 0 one
// cell.
//
// If there are more elements than cells, a cell is the mean of a block, so all
// elements are read. Complex numbers count by their absolute value, bools as 0 and 1.
// A cell whose mean is an infinity gets an end of the scale; NaN is ?? or grey.
//
// Heatmap fails for a rank over 2, and for a tensor that is closed or has no elements
// of its own. For an empty tensor it returns only the last line.
func Heatmap(t tensor.Any, opts *HeatmapOptions) (string, error) {
	o := HeatmapOptions{}
	if opts != nil {
		o = *opts
	}
	if o.Rows <= 0 {
		o.Rows = 40
	}
	if o.Columns <= 0 {
		o.Columns = 38
	}
	h, err := newHeat("Heatmap", t, o.Rows, o.Columns)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i := range h.rows {
		if !o.Colour {
			b.WriteByte('|')
		}
		last := -1 // no colour yet
		for _, v := range h.cells[i*h.columns : (i+1)*h.columns] {
			if !o.Colour {
				text := "??"
				if level, ok := h.level(v, len(ramp)); ok {
					text = strings.Repeat(ramp[level:level+1], 2)
				}
				b.WriteString(text)
				continue
			}
			level, ok := h.level(v, heatLevels)
			if !ok {
				level = heatLevels
			}
			if level != last {
				c := heatColour(level)
				fmt.Fprintf(&b, "\x1b[48;2;%d;%d;%dm", c.R, c.G, c.B)
				last = level
			}
			b.WriteString("  ")
		}
		if o.Colour {
			b.WriteString("\x1b[0m\n")
		} else {
			b.WriteString("|\n")
		}
	}
	b.WriteString(h.legend(o.Colour) + "\n")
	return b.String(), nil
}

// HeatmapPNG writes the heatmap of a tensor as a PNG of squares, up to 16 pixels
// wide, in the colours of [Heatmap]. It returns the text of Heatmap's last line. There
// are at most 2048 cells in each direction. With one release of Go, the same tensor
// gives the same bytes on every platform.
//
// HeatmapPNG fails as Heatmap does, for an empty tensor, and with w's error.
func HeatmapPNG(w io.Writer, t tensor.Any) (legend string, err error) {
	const op = "HeatmapPNG"
	if err := writable(op, w); err != nil {
		return "", err
	}
	h, err := newHeat(op, t, pngCells, pngCells)
	if err != nil {
		return "", err
	}
	if len(h.cells) == 0 {
		return "", fail(op, tensor.ErrShape, "%s has no elements to show", tensor.Describe(t))
	}
	side := min(max(512/max(h.rows, h.columns), 1), 16)
	palette := make(color.Palette, heatLevels+1)
	for i := range palette {
		palette[i] = heatColour(i)
	}
	img := stdimage.NewPaletted(stdimage.Rect(0, 0, h.columns*side, h.rows*side), palette)
	for i := range h.rows {
		row := img.Pix[i*side*img.Stride:]
		for j, v := range h.cells[i*h.columns : (i+1)*h.columns] {
			level, ok := h.level(v, heatLevels)
			if !ok {
				level = heatLevels
			}
			for k := range side {
				row[j*side+k] = uint8(level)
			}
		}
		for k := 1; k < side; k++ {
			copy(row[k*img.Stride:], row[:img.Stride])
		}
	}
	if err := png.Encode(w, img); err != nil {
		return "", fail(op, err, "%v", err)
	}
	return h.legend(true), nil
}

// heat has the cells of a heatmap.
type heat struct {
	rows, columns int
	cells         []float64 // row-major
	least, most   float64   // of the finite cells
	finite, nan   bool      // there are such cells
	block         string    // the number of elements in a cell; "" for one
}

// newHeat reads t into at most rows × columns cells.
func newHeat(op string, t tensor.Any, rows, columns int) (*heat, error) {
	h := &heat{rows: 1, columns: 1}
	shape := t.Shape()
	switch len(shape) {
	case 0:
	case 1:
		h.columns = shape[0]
	case 2:
		h.rows, h.columns = shape[0], shape[1]
	default:
		return nil, fail(op, tensor.ErrShape, "%s has rank %d, a heatmap shows 2 axes: slice or reshape the tensor", tensor.Describe(t), len(shape))
	}
	if h.rows > rows || h.columns > columns {
		h.block = fmt.Sprintf(", a cell is the mean of about %s×%s elements", ratio(h.rows, rows), ratio(h.columns, columns))
	}
	full := [2]int{h.rows, h.columns}
	h.rows, h.columns = min(h.rows, rows), min(h.columns, columns)
	at := tensor.Float64s(t)
	if at == nil {
		return nil, fail(op, tensor.ErrDType, "%s has no elements to show", tensor.Describe(t))
	}
	h.cells = make([]float64, h.rows*h.columns)
	if err := tensor.Try(func() { h.read(at, full, len(shape)) }); err != nil {
		return nil, fail(op, err, "%v", err)
	}
	for _, v := range h.cells {
		switch {
		case v != v:
			h.nan = true
		case math.IsInf(v, 0):
		case !h.finite:
			h.least, h.most, h.finite = v, v, true
		default:
			h.least, h.most = min(h.least, v), max(h.most, v)
		}
	}
	return h, nil
}

// ratio writes the number of elements that a cell spans.
func ratio(n, cells int) string {
	if n <= cells {
		return "1"
	}
	return strconv.FormatFloat(float64(n)/float64(cells), 'g', 3, 64)
}

// read fills the cells with the means of their blocks.
func (h *heat) read(at func(idx ...int) float64, full [2]int, rank int) {
	var whole [2]int
	idx := whole[2-rank:]
	for i := range h.rows {
		for j := range h.columns {
			sum, n := 0.0, 0
			for whole[0] = from(i, full[0], h.rows); whole[0] < from(i+1, full[0], h.rows); whole[0]++ {
				for whole[1] = from(j, full[1], h.columns); whole[1] < from(j+1, full[1], h.columns); whole[1]++ {
					sum += at(idx...)
					n++
				}
			}
			h.cells[i*h.columns+j] = sum / float64(n)
		}
	}
}

// from returns the beginning of block i if n elements are cut into cells.
func from(i, n, cells int) int { return i*(n/cells) + i*(n%cells)/cells }

// level returns the place of v on a scale of n steps; false for NaN.
func (h *heat) level(v float64, n int) (int, bool) {
	switch {
	case v != v:
		return 0, false
	case math.IsInf(v, 1):
		return n - 1, true
	case math.IsInf(v, -1):
		return 0, true
	case h.least == h.most:
		return n / 2, true
	}
	part := (float64(v/2) - float64(h.least/2)) / (float64(h.most/2) - float64(h.least/2)) // of halves, since the difference can overflow
	return min(int(part*float64(n)), n-1), true
}

// legend returns a line that names the ends of the scale.
func (h *heat) legend(colour bool) string {
	text := "no finite numbers"
	ends := [2]string{"' '", "@"}
	if colour {
		ends = [2]string{"dark", "bright"}
	}
	if h.finite {
		number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
		text = fmt.Sprintf("%s %s, %s %s", ends[0], number(h.least), ends[1], number(h.most))
		if h.least == h.most {
			text = "all are " + number(h.least)
		}
	}
	if h.nan && colour {
		text += ", grey NaN"
	} else if h.nan {
		text += ", ?? NaN"
	}
	return text + h.block
}

// heatLevels is the number of colours of the scale; one more stands for NaN.
const heatLevels = 255

// heatStops are colours of the scale at equal distances. Each is lighter than the one
// before, so that the scale can be read in shades of grey, too.
var heatStops = [...]color.RGBA{{16, 20, 80, 255}, {40, 80, 150, 255}, {30, 140, 150, 255}, {110, 190, 100, 255}, {250, 230, 60, 255}}

// heatColour returns the colour of a level, or of NaN.
func heatColour(level int) color.RGBA {
	if level == heatLevels {
		return color.RGBA{128, 128, 128, 255}
	}
	const parts = len(heatStops) - 1
	i := min(level*parts/(heatLevels-1), parts-1)
	rest := level*parts - i*(heatLevels-1)
	a, b := heatStops[i], heatStops[i+1]
	mix := func(x, y uint8) uint8 {
		return uint8((int(x)*(heatLevels-1-rest) + int(y)*rest + (heatLevels-1)/2) / (heatLevels - 1))
	}
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}
