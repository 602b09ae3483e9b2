package image

import (
	"fmt"
	stdimage "image"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/internal/core/reach"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Axes is the order of a tensor's axes.
type Axes uint8

// The orders of axes: height, width and channels.
const (
	// AnyAxes goes by the shape. Two axes are HW. Of three, the first or the last is C: the one with extent 1, 3 or 4. If both
	// have such an extent, it is an error.
	AnyAxes Axes = iota
	HW
	CHW
	HWC
)

// WriteOptions choose the encoding of Write. The zero value, and nil, is PNG.
type WriteOptions struct {
	Format  Format // PNG, JPEG, or 0 for PNG
	Quality int    // the quality of a JPEG, 1 to 100; 0: 90
	Axes    Axes
}

// Write encodes t, whose shape is (H,W), (C,H,W) or (H,W,C). C is 1 (grey), 3 (RGB) or 4 (RGBA with colours not multiplied by
// alpha, PNG only). uint8 is written as it is. Floats (float16, bfloat16, float32, float64) are in 0..1: v·255 is clamped to
// 0..255 and rounded to nearest, ties to even; NaN becomes 0. The product is rounded to float64, which is exact for the
// narrower types.
//
// A PNG holds exactly these bytes, and Read returns them with the same channels. JPEG loses some precision. Both encoders
// compute with integers: the same tensor gives the same file on every platform. An error wraps ErrTensor, ErrOption or the
// error of w.
func Write(w io.Writer, t tensor.Any, opts *WriteOptions) error {
	const op = "image.Write"
	var o WriteOptions
	if opts != nil {
		o = *opts
	}
	if o.Format == 0 {
		o.Format = PNG
	}
	if o.Quality == 0 {
		o.Quality = 90
	}
	if o.Format > JPEG || o.Quality < 1 || o.Quality > 100 {
		return &Error{Op: op, Err: ErrOption, Text: fmt.Sprintf("Format is %d and Quality %d; they must be PNG or JPEG and 1 to 100", o.Format, o.Quality)}
	}
	if w == nil {
		return &Error{Op: op, Err: ErrOption, Text: "the writer is nil"}
	}
	img, err := toImage(op, t, o.Axes)
	if err != nil {
		return err
	}
	if o.Format == JPEG {
		size := img.Bounds().Size()
		if _, ok := img.(*stdimage.NRGBA); ok || max(size.X, size.Y) > 65535 {
			return &Error{Op: op, Format: JPEG, Err: ErrTensor, Text: fmt.Sprintf("%s can't be stored: JPEG has no alpha and no side over 65535; slice off the alpha, or write PNG", tensor.Describe(t))}
		}
		err = jpeg.Encode(w, img, &jpeg.Options{Quality: o.Quality})
	} else {
		if m, ok := img.(*stdimage.NRGBA); ok && m.Opaque() {
			img = withAlpha{m}
		}
		err = png.Encode(w, img)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}

// WriteFile is Write to a file. The file appears, or replaces an earlier one, when it is whole; after an error the earlier
// file is unchanged. If opts has no Format, a name that ends in .jpg or .jpeg gets a JPEG.
func WriteFile(path string, t tensor.Any, opts *WriteOptions) error {
	set := WriteOptions{}
	if opts != nil {
		set = *opts
	}
	if end := strings.ToLower(filepath.Ext(path)); set.Format == 0 && (end == ".jpg" || end == ".jpeg") {
		set.Format = JPEG
	}
	return formats.PutFile(path, func(w io.Writer) error { return Write(w, t, &set) })
}

// withAlpha makes the encoder write alpha although it is 255 everywhere. Otherwise a channel would be lost.
type withAlpha struct{ *stdimage.NRGBA }

func (withAlpha) Opaque() bool { return false }

// ToImage copies a tensor into a picture: grey into a *image.Gray, RGB into an opaque *image.RGBA, RGBA into an *image.NRGBA.
// It takes the shapes and element types of Write, with the same meaning. Errors wrap ErrTensor or ErrOption.
func ToImage(t tensor.Any, axes Axes) (stdimage.Image, error) {
	return toImage("image.ToImage", t, axes)
}

func toImage(op string, t tensor.Any, axes Axes) (stdimage.Image, error) {
	if t.IsZero() {
		return nil, &Error{Op: op, Err: ErrTensor, Text: "the tensor is nil"}
	}
	axes, err := findAxes(op, t, axes)
	if err != nil {
		return nil, err
	}
	var img stdimage.Image
	switch d := t.DType(); {
	case t.IsSpec() || t.Foreign() != nil || d != dtype.Uint8 && (!d.IsFloat() || d.Size() == 1):
		return nil, &Error{Op: op, Err: ErrTensor, Text: fmt.Sprintf("%s is no picture: the type must be uint8, or float16, bfloat16, float32 or float64 in 0..1; convert it with op.Cast", tensor.Describe(t))}
	case d == dtype.Uint8:
		img, err = render(t, axes, func(v uint8) uint8 { return v })
	case d == dtype.Float32:
		img, err = render(t, axes, func(v float32) uint8 { return level(float64(v)) })
	case d == dtype.Float64:
		img, err = render(t, axes, level)
	case d == dtype.Float16:
		img, err = render(t, axes, func(v num.F16) uint8 { return level(v.Float64()) })
	case d == dtype.BFloat16:
		img, err = render(t, axes, func(v num.BF16) uint8 { return level(v.Float64()) })
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return img, nil
}

func level(v float64) uint8 {
	if !(v > 0) { // NaN too
		return 0
	}
	return uint8(math.RoundToEven(min(v, 1) * 255))
}

// findAxes returns the order of t's axes after a check of their extents.
func findAxes(op string, t tensor.Any, axes Axes) (Axes, error) {
	rank := t.Rank()
	channels := func(axis int) bool {
		if rank != 3 {
			return false
		}
		c := t.Dim(axis)
		return c == 1 || c == 3 || c == 4
	}
	e := &Error{Op: op, Err: ErrTensor}
	switch {
	case axes > HWC:
		e.Err, e.Text = ErrOption, fmt.Sprintf("Axes is %d; it must be AnyAxes, HW, CHW or HWC", axes)
		return 0, e
	case axes != AnyAxes:
	case channels(0) && channels(2):
		e.Err, e.Text = ErrOption, fmt.Sprintf("the channels of %s can be the first axis or the last; say which with Axes", tensor.Describe(t))
		return 0, e
	case rank == 2:
		axes = HW
	case channels(0):
		axes = CHW
	case channels(2):
		axes = HWC
	}
	fits := axes == HW && rank == 2 || axes == CHW && channels(0) || axes == HWC && channels(2)
	for i := range rank {
		fits = fits && t.Dim(i) > 0
	}
	if !fits {
		e.Text = fmt.Sprintf("%s is no picture: the shape must be (H,W), (C,H,W) or (H,W,C) as Axes says, with C 1, 3 or 4 and all of it at least 1; Squeeze removes an axis, a slice takes one of a batch", tensor.Describe(t))
		return 0, e
	}
	return axes, nil
}

// render copies t into a picture. If t is closed, it returns the panic of t as an error.
func render[T uint8 | float32 | float64 | num.F16 | num.BF16](t tensor.Any, axes Axes, level func(T) uint8) (img stdimage.Image, err error) {
	err = tensor.Try(func() {
		c := 1
		switch axes {
		case CHW:
			t = t.Permute(1, 2, 0)
			fallthrough
		case HWC:
			c = t.Dim(2)
		}
		h, w := t.Dim(0), t.Dim(1)
		t = t.Contiguous()
		data := reach.Run[T](&t, t.LayoutRef())
		box := stdimage.Rect(0, 0, w, h)
		var pix []uint8
		switch c {
		case 1:
			m := stdimage.NewGray(box)
			img, pix = m, m.Pix
		case 3:
			m := stdimage.NewRGBA(box)
			for i, v := range data {
				m.Pix[i/3*4+i%3] = level(v)
			}
			for i := 3; i < len(m.Pix); i += 4 {
				m.Pix[i] = 255
			}
			img = m
		case 4:
			m := stdimage.NewNRGBA(box)
			img, pix = m, m.Pix
		}
		for i := range pix {
			pix[i] = level(data[i])
		}
		runtime.KeepAlive(t)
	})
	return img, err
}
