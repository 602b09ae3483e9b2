package draw

import (
	"io"
	"strconv"
)

// Bars is a bar chart of a few numbers. The length of a bar is its number.
type Bars struct {
	Title string
	Rows  []Bar
}

// Bar is one bar of Bars. A Value below 0 is drawn as 0.
type Bar struct {
	Label string
	Value int
}

// WriteSVG writes the picture as SVG, a pixel to a unit.
func (b *Bars) WriteSVG(w io.Writer) error {
	if err := writable("Bars.WriteSVG", w); err != nil {
		return err
	}
	const high, long = 26, 480
	s := &scene{title: b.Title}
	s.text(text{margin, margin + 13, b.Title, start, true, dark})
	most := 1
	for _, r := range b.Rows {
		most = max(most, r.Value)
	}
	left := margin + widest(b.Rows, func(r Bar) string { return r.Label })*smallWidth + 8
	for i, r := range b.Rows {
		y := margin + 30 + i*high
		width := max(int(float64(long)*(float64(max(r.Value, 0))/float64(most))), 1)
		s.text(text{left - 8, y + 15, r.Label, end, false, faint})
		s.rect(left, y, width, high-6, i%len(fills))
		s.text(text{left + width + 6, y + 15, grouped(r.Value), start, false, dark})
	}
	_, err := io.WriteString(w, s.svg())
	return err
}

// grouped writes 1,234,567.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
