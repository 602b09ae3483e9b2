package main

import (
	stdimage "image"
	"image/color"

	"golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/inconsolata"
	"golang.org/x/image/math/fixed"
)

// drawn makes a picture of lines of text, black on white, in letters of 16 by 32 pixels.
func drawn(lines ...string) stdimage.Image {
	const height, margin = 24, 16
	width := 0
	for _, l := range lines {
		width = max(width, 8*len(l))
	}
	small := stdimage.NewGray(stdimage.Rect(0, 0, width+2*margin, height*len(lines)+2*margin))
	draw.Draw(small, small.Rect, stdimage.White, stdimage.Point{}, draw.Src)
	pen := font.Drawer{Dst: small, Src: stdimage.NewUniform(color.Black), Face: inconsolata.Regular8x16}
	for i, l := range lines {
		pen.Dot = fixed.P(margin, margin+height*i+height*3/4)
		pen.DrawString(l)
	}
	large := stdimage.NewGray(stdimage.Rect(0, 0, 2*small.Rect.Dx(), 2*small.Rect.Dy()))
	draw.ApproxBiLinear.Scale(large, large.Rect, small, small.Rect, draw.Src, nil)
	return large
}
