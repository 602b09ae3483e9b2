// Package imagedecoder has the ONNX operator ImageDecoder. It is a separate package since it links the decoders of pictures,
// which only few programs need. A program adds the operator to its models:
//
//	m, err := onnx.Open("model.onnx")
//	m.Operators = append(m.Operators, imagedecoder.Operator)
//	s, err := onnx.NewSession(m)
package imagedecoder

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// Operator is ImageDecoder: the picture in the bytes of a file, a vector of uint8, as a tensor of uint8 of the shape
// [height, width, channels]. The attribute pixel_format is RGB, the default, BGR, or Grayscale, which is one channel.
//
// It reads PNG, JPEG, BMP, TIFF, WebP, and PNM of the types P5 and P6 with up to 8 bits. Any other format is an error, also
// JPEG 2000. Transparency is left out, and samples of 16 bits keep their upper 8. In a JPEG or lossy WebP file, chroma of half
// the resolution is upsampled by the filters of libjpeg and libwebp, and converted to RGB with their integers. A JPEG's samples
// may differ from libjpeg's by 2 units, since its transform rounds in another way.
// Grey is (19595·R + 38470·G + 7471·B + 2¹⁵) / 2¹⁶, rounded down, as in the reference implementation.
//
// A file that declares more than 2²⁴ pixels, and 64 for each of its bytes, is refused, as is a JPEG of more than 256 scans.
var Operator = op.New(op.Info{Name: name, Versions: []int{20}, Attributes: []string{"pixel_format"},
	Supports: func(d dtype.DType) bool { return d == dtype.Uint8 }}, infer, run)

const name = "ImageDecoder"

// infer returns the result's type and shape, which are in the file.
func infer(c *op.Call) ([]tensor.Any, error) {
	f, channels, err := opened(c)
	if err != nil {
		return nil, err
	}
	s, err := tensor.NewSpec(dtype.Uint8, f.height, f.width, channels)
	if err != nil {
		return nil, err
	}
	return []tensor.Any{s.Any()}, nil
}

// run decodes the picture.
func run(c *op.Call) ([]tensor.Any, error) {
	f, channels, err := opened(c)
	if err != nil {
		return nil, err
	}
	p, err := f.decode(bytes.NewReader(f.data))
	if err != nil {
		return nil, fail(tensor.ErrValue, "%v", err)
	}
	if b := p.Bounds(); b.Dx() != f.width || b.Dy() != f.height {
		return nil, fail(tensor.ErrValue, "a picture of %d × %d pixels, its header says %d × %d", b.Dx(), b.Dy(), f.width, f.height)
	}
	out, err := tensor.Make(dtype.Uint8, f.height, f.width, channels)
	if err != nil {
		return nil, err
	}
	to, ok := tensor.Bytes(out)
	if !ok {
		return nil, fail(tensor.ErrValue, "the result has no bytes")
	}
	at := pixels(p, f.kind == "WebP")
	swap := c.Attrs.Str("pixel_format", "RGB") == "BGR"
	for y := range f.height {
		for x := range f.width {
			r, g, b := at(x, y)
			if swap {
				r, b = b, r
			}
			if channels == 1 {
				to[0] = uint8((19595*int(r) + 38470*int(g) + 7471*int(b) + 1<<15) >> 16)
			} else {
				to[0], to[1], to[2] = r, g, b
			}
			to = to[channels:]
		}
	}
	return []tensor.Any{out}, nil
}

func fail(err error, format string, args ...any) error {
	return &tensor.Error{Op: "op." + name, Text: fmt.Sprintf(format, args...), Err: err}
}

// A file is a picture that isn't decoded.
type file struct {
	format
	data          []byte
	width, height int
}

// A format is a kind of file, known by how it begins; a ? stands for any byte.
type format struct {
	kind, magic string
	config      func(r *bytes.Reader) (image.Config, error)
	decode      func(r *bytes.Reader) (image.Image, error)
}

var formats = []format{
	{"PNG", "\x89PNG\r\n\x1a\n", func(r *bytes.Reader) (image.Config, error) { return png.DecodeConfig(r) }, func(r *bytes.Reader) (image.Image, error) { return png.Decode(r) }},
	{"JPEG", "\xff\xd8\xff", func(r *bytes.Reader) (image.Config, error) { return jpeg.DecodeConfig(r) }, func(r *bytes.Reader) (image.Image, error) { return jpeg.Decode(r) }},
	{"BMP", "BM", func(r *bytes.Reader) (image.Config, error) { return bmp.DecodeConfig(r) }, func(r *bytes.Reader) (image.Image, error) { return bmp.Decode(r) }},
	{"TIFF", "II*\x00", func(r *bytes.Reader) (image.Config, error) { return tiff.DecodeConfig(r) }, func(r *bytes.Reader) (image.Image, error) { return tiff.Decode(r) }},
	{"TIFF", "MM\x00*", func(r *bytes.Reader) (image.Config, error) { return tiff.DecodeConfig(r) }, func(r *bytes.Reader) (image.Image, error) { return tiff.Decode(r) }},
	{"WebP", "RIFF????WEBP", func(r *bytes.Reader) (image.Config, error) { return webp.DecodeConfig(r) }, func(r *bytes.Reader) (image.Image, error) { return webp.Decode(r) }},
	{"PNM", "P5", pnmConfig, pnmDecode},
	{"PNM", "P6", pnmConfig, pnmDecode},
}

func (f *format) begins(data []byte) bool {
	if len(data) < len(f.magic) {
		return false
	}
	for i, b := range []byte(f.magic) {
		if b != '?' && b != data[i] {
			return false
		}
	}
	return true
}

// opened reads the header of a call's picture, and how many channels the result has.
func opened(c *op.Call) (f *file, channels int, err error) {
	if c == nil || len(c.Inputs) != 1 || c.Inputs[0].IsZero() {
		return nil, 0, fail(tensor.ErrShape, "it takes one input, the bytes of a file")
	}
	if c.Attrs == nil {
		c.Attrs = op.AttrMap(nil)
	}
	switch text := c.Attrs.Str("pixel_format", "RGB"); text {
	case "RGB", "BGR":
		channels = 3
	case "Grayscale":
		channels = 1
	default:
		return nil, 0, fail(tensor.ErrValue, "pixel_format %.40q; want RGB, BGR or Grayscale", text)
	}
	in := c.Inputs[0]
	switch {
	case in.DType() != dtype.Uint8 || in.Rank() != 1:
		return nil, 0, fail(tensor.ErrShape, "the input is %s; want a vector of uint8, the bytes of a file", tensor.Describe(in))
	case in.IsSpec():
		return nil, 0, fail(op.ErrUnknown, "the picture isn't known before the run")
	}
	whole, err := tensor.Contiguous(in)
	if err != nil {
		return nil, 0, err
	}
	data, ok := tensor.Bytes(whole)
	if !ok {
		return nil, 0, fail(tensor.ErrDType, "the input is a %T, whose elements can't be read", in.Foreign())
	}
	f = &file{data: bytes.Clone(data)}
	for _, k := range formats {
		if k.begins(f.data) {
			f.format = k
			break
		}
	}
	if f.decode == nil {
		return nil, 0, fail(op.ErrUnsupported, "the data begins with % x; want PNG, JPEG, BMP, TIFF, WebP or PNM of type P5 or P6", f.data[:min(len(f.data), 8)])
	}
	config, err := f.config(bytes.NewReader(f.data))
	if err != nil {
		return nil, 0, fail(tensor.ErrValue, "%s: %v", f.kind, err)
	}
	f.width, f.height = config.Width, config.Height
	if most := 1<<24 + 64*len(f.data); f.width < 0 || f.height < 0 || f.width > 1<<24 || f.height > 1<<24 || int64(f.width)*int64(f.height) > int64(most) {
		return nil, 0, fail(tensor.ErrValue, "%s: %d × %d pixels in %d bytes, more than the %d that such a file may have", f.kind, f.width, f.height, len(f.data), most)
	}
	if n := bytes.Count(f.data, []byte{0xff, 0xda}); f.kind == "JPEG" && n > 256 {
		return nil, 0, fail(tensor.ErrValue, "JPEG: %d scans; want 256 at most", n)
	}
	return f, channels, nil
}

// pixels returns the colours of a picture, which begins at (0, 0), by position.
func pixels(p image.Image, isWebP bool) func(x, y int) (r, g, b uint8) {
	first := p.Bounds().Min
	switch m := p.(type) {
	case *image.YCbCr:
		return fromYCbCr(m, isWebP)
	case *image.NYCbCrA:
		return fromYCbCr(&m.YCbCr, isWebP)
	case *image.Gray:
		return func(x, y int) (r, g, b uint8) {
			v := m.Pix[y*m.Stride+x]
			return v, v, v
		}
	}
	return func(x, y int) (r, g, b uint8) {
		c := color.NRGBAModel.Convert(p.At(first.X+x, first.Y+y)).(color.NRGBA)
		return c.R, c.G, c.B
	}
}

var errPNM = errors.New("PNM: want P5 or P6, a width, a height, a maximum of 255 at most, one blank, and the pixels")

// pnmHeader reads a header, and returns the place of the pixels.
func pnmHeader(r *bytes.Reader) (n [3]int, err error) {
	r.Seek(2, 0)
	for i := range n {
		digits := 0
		for {
			b, err := r.ReadByte()
			if err != nil {
				return n, errPNM
			}
			if b == '#' && digits == 0 {
				for b != '\n' && err == nil {
					b, err = r.ReadByte()
				}
				continue
			}
			if b >= '0' && b <= '9' && digits < 8 {
				n[i] = 10*n[i] + int(b-'0')
				digits++
				continue
			}
			if !bytes.ContainsRune([]byte(" \t\r\n\v\f"), rune(b)) {
				return n, errPNM
			}
			if digits > 0 {
				break
			}
		}
	}
	if n[2] < 1 || n[2] > 255 {
		return n, errPNM
	}
	return n, nil
}

func pnmConfig(r *bytes.Reader) (image.Config, error) {
	n, err := pnmHeader(r)
	return image.Config{Width: n[0], Height: n[1]}, err
}

// pnmDecode reads a picture of one or three numbers a pixel; numbers of another maximum than 255 are stretched to it.
func pnmDecode(r *bytes.Reader) (image.Image, error) {
	kind := make([]byte, 2)
	r.ReadAt(kind, 0)
	n, err := pnmHeader(r)
	if err != nil {
		return nil, err
	}
	p, per := image.NewNRGBA(image.Rect(0, 0, n[0], n[1])), 1
	if kind[1] == '6' {
		per = 3
	}
	row := make([]byte, n[0]*per)
	for y := range n[1] {
		if k, _ := r.Read(row); k < len(row) {
			return nil, fmt.Errorf("PNM: the file ends in row %d of %d", y, n[1])
		}
		for i, v := range row {
			if int(v) > n[2] {
				return nil, fmt.Errorf("PNM: a pixel has %d, more than %d", v, n[2])
			}
			row[i] = uint8((int(v)*255 + n[2]/2) / n[2])
		}
		for x := range n[0] {
			c := row[x*per:]
			p.SetNRGBA(x, y, color.NRGBA{c[0], c[per/2], c[per-1], 255})
		}
	}
	return p, nil
}
