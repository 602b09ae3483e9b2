package image

import (
	stdimage "image"
	"image/color"
)

// rowsOf returns a function that writes row y of img as 8-bit samples with n interleaved channels, not premultiplied: grey,
// RGB or RGBA. has is the number of channels that the type of img stands for. A row that is read again has the same samples.
func rowsOf(img stdimage.Image) (row func(y int, dst []uint8), n, has int) {
	b := img.Bounds()
	w, x0, y0 := b.Dx(), b.Min.X, b.Min.Y
	switch m := img.(type) {
	case *stdimage.Gray:
		return func(y int, dst []uint8) { copy(dst[:w], m.Pix[m.PixOffset(x0, y0+y):]) }, 1, 1
	case *stdimage.Gray16:
		return func(y int, dst []uint8) { high(dst[:w], m.Pix[m.PixOffset(x0, y0+y):]) }, 1, 1
	case *stdimage.NRGBA:
		return func(y int, dst []uint8) { copy(dst[:4*w], m.Pix[m.PixOffset(x0, y0+y):]) }, 4, 4
	case *stdimage.NRGBA64:
		return func(y int, dst []uint8) { high(dst[:4*w], m.Pix[m.PixOffset(x0, y0+y):]) }, 4, 4
	case *stdimage.RGBA:
		return func(y int, dst []uint8) {
			copy(dst[:4*w], m.Pix[m.PixOffset(x0, y0+y):])
			for i := 0; i < 4*w; i += 4 {
				if p := dst[i : i+4]; p[3] != 255 {
					q := color.NRGBAModel.Convert(color.RGBA{R: p[0], G: p[1], B: p[2], A: p[3]}).(color.NRGBA)
					p[0], p[1], p[2] = q.R, q.G, q.B
				}
			}
		}, 4, 4
	case *stdimage.Paletted:
		table, has := tableOf(m.Palette)
		return func(y int, dst []uint8) {
			for x, p := range m.Pix[m.PixOffset(x0, y0+y):][:w] {
				copy(dst[4*x:], table[p][:])
			}
		}, 4, has
	case *stdimage.YCbCr:
		return func(y int, dst []uint8) {
			luma := m.Y[m.YOffset(x0, y0+y):]
			for x := range w {
				c := m.COffset(x0+x, y0+y)
				dst[3*x], dst[3*x+1], dst[3*x+2] = color.YCbCrToRGB(luma[x], m.Cb[c], m.Cr[c])
			}
		}, 3, 3
	case *stdimage.CMYK:
		return func(y int, dst []uint8) {
			p := m.Pix[m.PixOffset(x0, y0+y):]
			for x := range w {
				dst[3*x], dst[3*x+1], dst[3*x+2] = color.CMYKToRGB(p[4*x], p[4*x+1], p[4*x+2], p[4*x+3])
			}
		}, 3, 3
	}
	return func(y int, dst []uint8) {
		for x := range w {
			p := color.NRGBAModel.Convert(img.At(x0+x, y0+y)).(color.NRGBA)
			dst[4*x], dst[4*x+1], dst[4*x+2], dst[4*x+3] = p.R, p.G, p.B, p.A
		}
	}, 4, 4
}

// high keeps the high byte of big-endian 16-bit samples.
func high(dst, src []uint8) {
	for i := range dst {
		dst[i] = src[2*i]
	}
}

// tableOf returns the colours of a palette, and 4 if one has alpha, else 3. An index beyond it is opaque black, as in image/png.
func tableOf(p color.Palette) (table [256][4]uint8, has int) {
	has = 3
	for i := range table {
		table[i][3] = 255
	}
	for i, c := range p[:min(len(p), len(table))] {
		q := color.NRGBAModel.Convert(c).(color.NRGBA)
		table[i] = [4]uint8{q.R, q.G, q.B, q.A}
		if q.A != 255 {
			has = 4
		}
	}
	return table, has
}

// convertRow turns a row of n channels into a row of c. If c has no alpha, it lays the colours over back, or drops alpha if
// back is nil. dst and src don't overlap.
func convertRow(dst []uint8, c int, src []uint8, n int, back *[3]uint8) {
	if c == n {
		copy(dst, src)
		return
	}
	for len(src) >= n && len(dst) >= c {
		var p [4]uint8
		switch n {
		case 1:
			p = [4]uint8{src[0], src[0], src[0], 255}
		case 3:
			p = [4]uint8{src[0], src[1], src[2], 255}
		case 4:
			p = [4]uint8(src)
			if back != nil {
				for k, b := range back {
					p[k] = over(p[k], p[3], b)
				}
			}
		}
		if c == 1 {
			dst[0] = luma(p[0], p[1], p[2])
		} else {
			copy(dst[:c], p[:])
		}
		dst, src = dst[c:], src[n:]
	}
}

// luma is the luma of ITU-R BT.601-7, 2.5.1, rounded to nearest, a half up:
//
//	0.299 R + 0.587 G + 0.114 B
//
// The weights are in units of 1/65536 and sum to 1, so that a grey colour keeps its value.
func luma(r, g, b uint8) uint8 {
	return uint8((19595*uint32(r) + 38470*uint32(g) + 7471*uint32(b) + 1<<15) >> 16)
}

// over lays v with alpha a over b, rounded to nearest. There are no ties, as 255 is odd.
func over(v, a, b uint8) uint8 {
	return uint8((uint32(v)*uint32(a) + uint32(b)*uint32(255-a) + 127) / 255)
}
