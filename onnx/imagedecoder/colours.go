package imagedecoder

import "image"

// fromYCbCr returns the colours of a picture of luma and chroma. It computes with integers as libjpeg (jdcolor.c) and libwebp
// (yuv.h) do.
func fromYCbCr(m *image.YCbCr, isWebP bool) func(x, y int) (r, g, b uint8) {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	across, down := 1, 1
	switch m.SubsampleRatio {
	case image.YCbCrSubsampleRatio422:
		across = 2
	case image.YCbCrSubsampleRatio420:
		across, down = 2, 2
	case image.YCbCrSubsampleRatio440:
		down = 2
	case image.YCbCrSubsampleRatio411:
		across = 4
	case image.YCbCrSubsampleRatio410:
		across, down = 4, 2
	}
	c := chroma{stride: m.CStride, wide: (w + across - 1) / across, high: (h + down - 1) / down, across: across, down: down, even: isWebP}
	return func(x, y int) (r, g, b uint8) {
		luma := int(m.Y[y*m.YStride+x])
		cb, cr := c.at(m.Cb, x, y), c.at(m.Cr, x, y)
		if isWebP { // of BT.601, with luma from 16 to 235
			luma = luma * 19077 >> 8
			return clip((luma + cr*26149>>8 - 14234) >> 6), clip((luma - cb*6419>>8 - cr*13320>>8 + 8708) >> 6), clip((luma + cb*33050>>8 - 17685) >> 6)
		}
		cb, cr = cb-128, cr-128
		return clip(luma + (91881*cr+1<<15)>>16), clip(luma + (-22554*cb-46802*cr+1<<15)>>16), clip(luma + (116130*cb+1<<15)>>16)
	}
}

func clip(v int) uint8 { return uint8(max(0, min(v, 255))) }

// chroma is planes of fewer elements than pixels.
type chroma struct {
	stride, wide, high int
	across, down       int  // pixels of an element
	even               bool // halves are rounded up everywhere
}

// at returns the chroma of a pixel. In a direction in which an element stands for two pixels, it is ¾ of the element and ¼ of
// the neighbour on the pixel's side; otherwise it is the element. As in JPEG, neighbouring pixels alternate in rounding a half
// up and down:
//
//	two directions  adds 8 or 7, then divides by 16
//	one direction   adds 1 or 2, then divides by 4
func (c *chroma) at(plane []uint8, x, y int) int {
	i, j := min(x/c.across, c.wide-1), min(y/c.down, c.high-1)
	if c.across > 2 || c.across == 1 && c.down == 1 {
		return int(plane[j*c.stride+i])
	}
	k, l := i, j
	if c.across == 2 {
		k = max(0, min(i-1+x%2*2, c.wide-1))
	}
	if c.down == 2 {
		l = max(0, min(j-1+y%2*2, c.high-1))
	}
	near := 3*int(plane[j*c.stride+i]) + int(plane[l*c.stride+i])
	side := 3*int(plane[j*c.stride+k]) + int(plane[l*c.stride+k])
	switch {
	case c.across == 2 && c.down == 2:
		round := 8
		if !c.even {
			round -= x % 2
		}
		return (3*near + side + round) >> 4
	case c.across == 2:
		return (3*int(plane[j*c.stride+i]) + int(plane[j*c.stride+k]) + 1 + x%2) >> 2
	}
	return (near + 1 + y%2) >> 2
}
