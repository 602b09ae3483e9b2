package image

import (
	"cmp"
	"fmt"
	stdimage "image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"runtime"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/tensor"
)

// Options choose the shape and element type of the tensor. The zero value, and nil, gives (C,H,W) of uint8 with the picture's
// own channels and size.
type Options struct {
	// Channels is 1 (grey), 3 (RGB) or 4 (RGBA); 0 keeps the picture's channels, see Info.Channels and FromImage.
	Channels int
	// HWC puts the channels last.
	HWC bool
	// Float gives float32 in 0..1 instead of uint8 in 0..255.
	Float bool
	// Height and Width resize the picture; 0 keeps that side as it is.
	Height, Width int
	// Background lies under the picture if the result has no alpha; its own alpha isn't used. With nil, alpha is dropped.
	Background color.Color
	// MaxPixels, if not 0, is the only limit on the size that a file may declare: Read accepts width × height up to it, whatever
	// the memory. If it is 0, the limits are 2^28 pixels and the memory that the package comment describes.
	MaxPixels int
}

// The memory that a file may claim: 64 MiB plus 8 bytes per byte of the file. One of the 8 is for the bytes that input holds
// to prove that the file has them, and 4 MiB are for the tables of decoders.
const (
	freeMemory   = 60 << 20
	memoryFactor = 7
	mostPixels   = 1 << 28
)

const maxSide = 1<<31 - 1

// check refuses values that are wrong for every picture.
func (o *Options) check(op string) error {
	var e *Error
	switch {
	case o.Channels != 0 && o.Channels != 1 && o.Channels != 3 && o.Channels != 4:
		e = fail(ErrOption, "Channels is %d; it must be 1, 3, 4, or 0 for the picture's own", o.Channels)
	case o.Height < 0 || o.Width < 0 || o.Height > maxSide || o.Width > maxSide:
		e = fail(ErrOption, "Height is %d and Width %d; they must be 0 to 2^31−1", o.Height, o.Width)
	case o.MaxPixels < 0:
		e = fail(ErrOption, "MaxPixels is %d; it must be positive, or 0 for the default", o.MaxPixels)
	default:
		return nil
	}
	e.Op = op
	return e
}

// size returns the height and width of the result for a picture of h×w.
func (o *Options) size(h, w int) (int, int) {
	if o.Height != 0 {
		h = o.Height
	}
	if o.Width != 0 {
		w = o.Width
	}
	return h, w
}

// Read decodes the PNG or JPEG in r as the package comment describes. It may read past the picture in r. The result is a
// tensor.Tensor[uint8], or [float32] with Options.Float, with memory of its own.
//
// An error wraps ErrFormat, ErrTooLarge, ErrOption, the error of r, or the error of tensor.Empty if there is no memory for the
// result. A picture that is damaged or ends early gives an error, never a part of it.
func Read(r io.Reader, opts *Options) (tensor.Any, error) {
	const op = "image.Read"
	o := *cmp.Or(opts, new(Options))
	if err := o.check(op); err != nil {
		return tensor.Any{}, err
	}
	if r == nil {
		return tensor.Any{}, &Error{Op: op, Err: ErrOption, Text: "the reader is nil"}
	}
	in := &input{src: r}
	h, err := readHeader(in)
	if err == nil {
		err = o.admit(h, in)
	}
	if err != nil {
		return tensor.Any{}, blame(op, h.Info, in, err)
	}
	var img stdimage.Image
	start := in.taken
	in.rewind()
	if h.Format == PNG {
		img, err = png.Decode(in)
	} else {
		img, err = jpeg.Decode(&scans{r: in, skip: start})
	}
	if err == nil && img.Bounds().Size() != (stdimage.Point{X: h.Width, Y: h.Height}) {
		err = fail(ErrFormat, "the decoder found %v", img.Bounds())
	}
	if err != nil {
		return tensor.Any{}, blame(op, h.Info, in, err)
	}
	if o.Channels == 0 {
		o.Channels = h.Channels
	}
	if t, ok := o.borrow(img); ok {
		return t, nil
	}
	return o.build(op, img)
}

// Open is Read of a file.
func Open(path string, opts *Options) (tensor.Any, error) {
	return formats.Read(&format.Source{Path: path}, func(r io.Reader) (tensor.Any, error) { return Read(r, opts) })
}

// FromImage makes a tensor of a picture, as Read does of a file, and copies the pixels. It ignores MaxPixels.
//
// If Channels is 0, the type of img decides: Gray and Gray16 have 1 channel; YCbCr, CMYK and Paletted with opaque colours have
// 3; Paletted with another colour and all other types have 4. An error wraps ErrOption, the error of tensor.Empty, or
// ErrTooLarge, which means an empty picture or one of over 2^46 pixels.
func FromImage(img stdimage.Image, opts *Options) (tensor.Any, error) {
	const op = "image.FromImage"
	o := *cmp.Or(opts, new(Options))
	if err := o.check(op); err != nil {
		return tensor.Any{}, err
	}
	if img == nil {
		return tensor.Any{}, &Error{Op: op, Err: ErrOption, Text: "there is no picture: it is nil"}
	}
	b := img.Bounds()
	w, h := uint64(b.Dx()), uint64(b.Dy())
	if b.Empty() || w > maxSide || h > maxSide || w*h > 1<<46 {
		e := fail(ErrTooLarge, "the picture has %d×%d pixels; it must have at least 1 and at most 2^46", w, h)
		e.Op = op
		return tensor.Any{}, e
	}
	return o.build(op, img)
}

// admit decides whether a file may be decoded, by the sizes in its header and the number of its bytes.
func (o *Options) admit(h header, in *input) error {
	pixels := uint64(h.Width) * uint64(h.Height)
	limit := uint64(mostPixels)
	if o.MaxPixels != 0 {
		limit = min(uint64(o.MaxPixels), 1<<46)
	}
	if pixels > limit {
		return fail(ErrTooLarge, "%d pixels are over the limit of %d; Options.MaxPixels sets it", pixels, limit)
	}
	if h.memory > math.MaxInt {
		return fail(ErrTooLarge, "it needs %d MiB, more than this platform can address", h.memory>>20)
	}
	if o.MaxPixels != 0 {
		return nil
	}
	need := h.memory + 8*uint64(h.Width) // two rows
	h2, w2 := o.size(h.Height, h.Width)
	if o.Height == 0 || o.Width == 0 {
		c, size := uint64(o.Channels), uint64(1)
		if c == 0 {
			c = uint64(h.Channels)
		}
		if o.Float {
			size = 4
		}
		need = add(need, mul(uint64(h2)*uint64(w2), c*size))
	}
	if o.Width == 0 && h2 != h.Height {
		need = add(need, 100*uint64(w2)) // spans, sums and a row of area
	}
	if need <= freeMemory {
		return nil
	}
	bytes := (need - freeMemory + memoryFactor - 1) / memoryFactor
	ok, err := in.ahead(int64(bytes))
	if err == nil && !ok {
		err = fail(ErrTooLarge, "it needs %d MiB, which is out of proportion to the file of %d bytes; set Options.MaxPixels to %d or more if the file is to be trusted",
			need>>20, in.n, pixels)
	}
	return err
}

// borrow makes the tensor of the pixels of a decoded picture without a copy, if they are in the tensor's order already.
func (o *Options) borrow(img stdimage.Image) (tensor.Any, bool) {
	b := img.Bounds()
	h, w := b.Dy(), b.Dx()
	if h2, w2 := o.size(h, w); o.Float || h2 != h || w2 != w {
		return tensor.Any{}, false
	}
	switch m := img.(type) {
	case *stdimage.Gray:
		if o.Channels == 1 && m.Stride == w {
			return tensor.FromSlice(m.Pix[:h*w:h*w], o.shape(h, w)...).Any(), true
		}
	case *stdimage.NRGBA:
		if o.Channels == 4 && o.HWC && m.Stride == 4*w {
			return tensor.FromSlice(m.Pix[:4*h*w:4*h*w], o.shape(h, w)...).Any(), true
		}
	}
	return tensor.Any{}, false
}

func (o *Options) shape(h, w int) []int {
	if o.HWC {
		return []int{h, w, o.Channels}
	}
	return []int{o.Channels, h, w}
}

func (o Options) build(op string, img stdimage.Image) (tensor.Any, error) {
	if o.Float {
		var unit [256]float32
		for v := range unit {
			unit[v] = float32(v) / 255
		}
		return build(o, op, img, &unit)
	}
	var same [256]uint8
	for v := range same {
		same[v] = uint8(v)
	}
	return build(o, op, img, &same)
}

// build makes the tensor; value maps each sample to an element.
func build[T uint8 | float32](o Options, op string, img stdimage.Image, value *[256]T) (tensor.Any, error) {
	row, n, has := rowsOf(img)
	if o.Channels == 0 {
		o.Channels = has
	}
	c := o.Channels
	b := img.Bounds()
	h2, w2 := o.size(b.Dy(), b.Dx())
	var t tensor.Tensor[T]
	if err := tensor.Try(func() { t = tensor.Empty[T](o.shape(h2, w2)...) }); err != nil {
		return tensor.Any{}, fmt.Errorf("%s: %w", op, err)
	}
	dst, _ := tensor.Mutable(t)
	emit := func(y int, row []uint8) {
		if o.HWC {
			d := dst[y*w2*c:][:len(row)]
			for i, v := range row {
				d[i] = value[v]
			}
			return
		}
		for k := range c {
			d := dst[(k*h2+y)*w2:][:w2]
			for x := range d {
				d[x] = value[row[x*c+k]]
			}
		}
	}
	if c != n {
		var back *[3]uint8
		if o.Background != nil {
			q := color.NRGBAModel.Convert(o.Background).(color.NRGBA)
			back = &[3]uint8{q.R, q.G, q.B}
		}
		own, stored := row, make([]uint8, b.Dx()*n)
		row = func(y int, dst []uint8) {
			own(y, stored)
			convertRow(dst, c, stored, n, back)
		}
	}
	area(b.Dy(), b.Dx(), c, row, h2, w2, emit)
	runtime.KeepAlive(t)
	return t.Any(), nil
}
