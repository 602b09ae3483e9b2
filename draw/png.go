//go:build !layoutonly

package draw

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/font/inconsolata"
	"golang.org/x/image/math/fixed"
)

// WritePNG writes the picture as PNG. Letters are bitmaps, and no arithmetic is in floating point: the pixels are the same on
// every platform. So are the bytes with one release of Go.
func (m *Map) WritePNG(w io.Writer) error {
	if err := writable("Map.WritePNG", w); err != nil {
		return err
	}
	return png.Encode(w, m.scene().image())
}

// ascii replaces characters that the bitmap fonts lack.
var ascii = strings.NewReplacer("∘", "o", "×", "x", "…", "..", "·", ".")

func (s *scene) image() image.Image {
	img := image.NewRGBA(image.Rect(0, 0, s.w, s.h))
	box := func(x, y, w, h, p int) {
		draw.Draw(img, image.Rect(x, y, x+w, y+h), image.NewUniform(paint(p)), image.Point{}, draw.Src)
	}
	box(0, 0, s.w, s.h, border)
	box(1, 1, s.w-2, s.h-2, panel)
	for _, r := range s.rects {
		box(r.x, r.y, r.w, r.h, r.paint)
	}
	for _, t := range s.texts {
		d := font.Drawer{Dst: img, Src: image.NewUniform(paint(t.paint)), Face: basicfont.Face7x13}
		wide := smallWidth
		if t.bold {
			d.Face, wide = inconsolata.Bold8x16, boldWidth
		}
		line := ascii.Replace(t.s)
		x := t.x
		switch t.anchor {
		case middle:
			x -= len(line) * wide / 2
		case end:
			x -= len(line) * wide
		}
		d.Dot = fixed.P(x, t.y)
		d.DrawString(line)
	}
	return paletted(img)
}

// paletted returns the picture with a palette, or unchanged if it has more than 256 colours.
func paletted(img *image.RGBA) image.Image {
	index := make(map[color.RGBA]uint8)
	var palette color.Palette
	out := image.NewPaletted(img.Rect, nil)
	for i := range out.Pix {
		p := img.Pix[4*i : 4*i+4]
		c := color.RGBA{p[0], p[1], p[2], p[3]}
		k, ok := index[c]
		if !ok {
			if len(palette) == 256 {
				return img
			}
			k = uint8(len(palette))
			index[c], palette = k, append(palette, c)
		}
		out.Pix[i] = k
	}
	out.Palette = palette
	return out
}
