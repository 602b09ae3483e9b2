//go:build !layoutonly

package draw

import (
	"image/color"
	"image/png"
	"io"
	"math"
	"strconv"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Sound is the picture of a recording over time: the wave of each channel, and below them the rows of a spectrogram. Either may be left out.
//
// A column of a wave goes from the least to the greatest of its samples, on a scale from −1 to 1; samples beyond are cut off there, and NaN isn't drawn. The spectrogram has
// the colours of [Heatmap], with the first band at the bottom. Where it has more frames than there are columns, a cell is the mean of several.
type Sound struct {
	Title    string
	Rate     int         // samples a second, for the scale below
	Channels [][]float32 // of equal lengths
	Rows     tensor.Any  // [frames, bands]
}

const (
	soundWide   = 800 // pixels
	waveHigh    = 120 // of a channel, with the gap below it
	soundLevels = 32  // of the colours of a spectrogram
	heat0       = 200 // the paint of the first of them
	mostBands   = 256
	mostWaves   = 16
)

// WriteSVG writes the picture as SVG, a pixel to a unit. It returns an error for a recording without samples and rows, for channels of different lengths or more than 16,
// and for rows that aren't a matrix of numbers.
func (s *Sound) WriteSVG(w io.Writer) error {
	sc, err := s.scene("Sound.WriteSVG", w)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, sc.svg())
	return err
}

// WritePNG writes the picture as PNG. It returns the errors of WriteSVG.
func (s *Sound) WritePNG(w io.Writer) error {
	sc, err := s.scene("Sound.WritePNG", w)
	if err != nil {
		return err
	}
	return png.Encode(w, sc.image())
}

func (s *Sound) scene(op string, w io.Writer) (*scene, error) {
	if err := writable(op, w); err != nil {
		return nil, err
	}
	n := 0
	for _, c := range s.Channels {
		n = len(s.Channels[0])
		if len(c) != n || len(s.Channels) > mostWaves {
			return nil, fail(op, layout.ErrShape, "%d channels, one of %d samples and one of %d; want at most %d of one length", len(s.Channels), n, len(c), mostWaves)
		}
	}
	if n == 0 && s.Rows.IsZero() {
		return nil, fail(op, layout.ErrShape, "there are neither samples nor rows to draw")
	}
	sc := &scene{title: s.Title}
	sc.text(text{margin, margin + 13, s.Title, start, true, dark})
	y := margin + 28
	for _, c := range s.Channels {
		sc.wave(c, y)
		y += waveHigh
	}
	if !s.Rows.IsZero() {
		high, err := sc.spectrogram(op, s.Rows, y)
		if err != nil {
			return nil, err
		}
		y += high
	}
	if n > 0 && s.Rate > 0 {
		sc.seconds(float64(n)/float64(s.Rate), y)
	}
	return sc, nil
}

// wave draws a channel at a height.
func (s *scene) wave(c []float32, y int) {
	const high = waveHigh - 10
	s.rect(margin, y, soundWide, high, hole)
	line := func(v float32) int { return int(math.Round((1 - float64(max(-1, min(1, v)))) / 2 * (high - 1))) }
	for x := range min(soundWide, len(c)) {
		columns := min(soundWide, len(c))
		low, most, some := float32(0), float32(0), false
		for _, v := range c[from(x, len(c), columns):from(x+1, len(c), columns)] {
			switch {
			case v != v:
			case !some:
				low, most, some = v, v, true
			default:
				low, most = min(low, v), max(most, v)
			}
		}
		if some {
			left, right := margin+from(x, soundWide, columns), margin+from(x+1, soundWide, columns)
			s.rect(left, y+line(most), right-left, line(low)-line(most)+1, faint)
		}
	}
}

// spectrogram draws rows at a height, and returns the height that they take.
func (s *scene) spectrogram(op string, rows tensor.Any, y int) (int, error) {
	if rows.Rank() != 2 || rows.Dim(1) == 0 || rows.Dim(1) > mostBands {
		return 0, fail(op, layout.ErrShape, "the rows are %s; want [frames, bands] with 1 to %d bands", tensor.Describe(rows), mostBands)
	}
	h, err := newHeat(op, rows, soundWide, mostBands)
	if err != nil {
		return 0, err
	}
	cell := max(160/h.columns, 1)
	s.rect(margin, y, soundWide, cell*h.columns, hole)
	for band := range h.columns {
		top := y + cell*(h.columns-1-band)
		for i := 0; i < h.rows; {
			level, ok := h.level(h.cells[i*h.columns+band], soundLevels)
			first := i
			for i++; i < h.rows; i++ { // cells of one colour are one rectangle
				if next, yes := h.level(h.cells[i*h.columns+band], soundLevels); next != level || yes != ok {
					break
				}
			}
			if ok {
				left, right := margin+from(first, soundWide, h.rows), margin+from(i, soundWide, h.rows)
				s.rect(left, top, right-left, cell, heat0+level)
			}
		}
	}
	s.text(text{margin, y + cell*h.columns + 14, h.legend(true), start, false, faint})
	return cell*h.columns + 26, nil
}

// seconds draws the scale of time at a height.
func (s *scene) seconds(long float64, y int) {
	step := 1.0
	for ; step*10 <= long; step *= 10 {
	}
	for ; step > long; step /= 10 {
	}
	switch {
	case long/step < 2:
		step /= 5
	case long/step < 4:
		step /= 2
	}
	for i := 0; float64(i)*step <= long; i++ {
		x := margin + int(float64(i)*step/long*soundWide)
		s.rect(min(x, margin+soundWide-1), y-6, 1, 4, faint)
		s.text(text{x, y + 10, strconv.FormatFloat(float64(i)*step, 'g', 4, 64) + " s", middle, false, faint})
	}
}

func init() {
	for i := range soundLevels {
		c := heatColour(i * (heatLevels - 1) / (soundLevels - 1))
		paints[heat0+i] = color.NRGBA{c.R, c.G, c.B, 255}
	}
}
