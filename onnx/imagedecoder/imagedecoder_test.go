package imagedecoder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"log"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A model of one node decodes a picture of two pixels, red and green.
func Example() {
	b := onnx.NewBuilder("pictures")
	file := b.Input("file", dtype.Uint8, "bytes")
	b.Output(b.Rename(b.Node("ImageDecoder", []string{file}, onnx.StringAttr("pixel_format", "BGR")), "picture"), dtype.Uint8, 1, 2, 3)
	m, err := b.Model(20)
	if err != nil {
		log.Fatal(err)
	}
	m.Operators = append(m.Operators, Operator)
	s, err := onnx.NewSession(m)
	if err != nil {
		log.Fatal(err)
	}
	data := []byte("P6 2 1 255\n\xff\x00\x00\x00\xff\x00")
	out, err := s.Run(context.Background(), map[string]tensor.Any{"file": tensor.FromSlice(data, len(data)).Any()}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(out["picture"])
	// Output:
	// [[[  0   0 255]
	//   [  0 255   0]]]
}

// picture has colours that change evenly.
func picture(w, h int) *image.NRGBA {
	p := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			p.SetNRGBA(x, y, color.NRGBA{uint8(x * 4), uint8(y * 5), uint8(200 - x*2 - y), 255})
		}
	}
	return p
}

func decode(data []byte, format string) (tensor.Tensor[uint8], error) {
	c := &op.Call{Inputs: []tensor.Any{tensor.FromSlice(data, len(data)).Any()}, Opset: 20, Attrs: op.AttrMap{"pixel_format": format}}
	out, err := Operator.Run(c)
	if err != nil {
		return tensor.Tensor[uint8]{}, err
	}
	inferred, err := Operator.Infer(c)
	if err != nil || tensor.Describe(inferred[0]) != tensor.Describe(out[0]) {
		return tensor.Tensor[uint8]{}, fmt.Errorf("Infer gives %v and error %v, Run %v", inferred, err, out)
	}
	t, _ := tensor.As[uint8](out[0])
	return t, nil
}

func TestFormats(t *testing.T) {
	p := picture(21, 18)
	var ppm bytes.Buffer
	fmt.Fprintf(&ppm, "P6\n# a picture\n21 18\n255\n")
	for i := 0; i < len(p.Pix); i += 4 {
		ppm.Write(p.Pix[i : i+3])
	}
	files := map[string][]byte{"pnm": ppm.Bytes()}
	for name, encode := range map[string]func(*bytes.Buffer) error{
		"png":  func(b *bytes.Buffer) error { return png.Encode(b, p) },
		"bmp":  func(b *bytes.Buffer) error { return bmp.Encode(b, p) },
		"tiff": func(b *bytes.Buffer) error { return tiff.Encode(b, p, nil) },
	} {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			t.Fatal(err)
		}
		files[name] = b.Bytes()
	}
	for name, data := range files {
		for _, format := range []string{"RGB", "BGR", "Grayscale"} {
			got, err := decode(data, format)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			for at, v := range got.All() {
				c := p.NRGBAAt(at[1], at[0])
				want := []uint8{c.R, c.G, c.B}[at[2]]
				switch format {
				case "BGR":
					want = []uint8{c.B, c.G, c.R}[at[2]]
				case "Grayscale":
					want = uint8((19595*int(c.R) + 38470*int(c.G) + 7471*int(c.B) + 1<<15) >> 16)
				}
				if v != want {
					t.Fatalf("%s as %s: %d at %v, want %d", name, format, v, at, want)
				}
			}
		}
		for cut := range len(data) {
			decode(data[:cut], "RGB") // an error or not, but no panic
		}
	}
}

// A JPEG of colours that change evenly has about those colours, in all places.
func TestJPEG(t *testing.T) {
	for _, size := range [][2]int{{40, 30}, {33, 17}, {1, 1}, {2, 7}} {
		p := picture(size[0], size[1])
		var b bytes.Buffer
		if err := jpeg.Encode(&b, p, &jpeg.Options{Quality: 100}); err != nil {
			t.Fatal(err)
		}
		got, err := decode(b.Bytes(), "RGB")
		if err != nil {
			t.Fatal(err)
		}
		for at, v := range got.All() {
			c := p.NRGBAAt(at[1], at[0])
			if want := []uint8{c.R, c.G, c.B}[at[2]]; max(v, want)-min(v, want) > 6 {
				t.Errorf("%v: %d at %v, want about %d", size, v, at, want)
			}
		}
	}
	grey := image.NewGray(image.Rect(0, 0, 9, 9))
	for i := range grey.Pix {
		grey.Pix[i] = 90
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, grey, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := decode(b.Bytes(), "Grayscale"); err != nil || got.At(4, 4, 0) != 90 {
		t.Errorf("%v %v", got, err)
	}
	many := append(b.Bytes(), bytes.Repeat([]byte{0xff, 0xda}, 300)...)
	if _, err := decode(many, "RGB"); err == nil || !strings.Contains(err.Error(), "scans") {
		t.Errorf("many scans: %v", err)
	}
}

// Chroma of each kind of picture, by the filters' definitions.
func TestChroma(t *testing.T) {
	row := []uint8{10, 50, 20}
	two := chroma{stride: 3, wide: 3, high: 1, across: 2, down: 1}
	for x, want := range []int{10, 20, 40, 43, 27, 20} { // ¾ and ¼, with 1 and 2 added by turns
		if got := two.at(row, x, 0); got != want {
			t.Errorf("a half across, pixel %d: %d, want %d", x, got, want)
		}
	}
	upright := chroma{stride: 1, wide: 1, high: 3, across: 1, down: 2}
	for y, want := range []int{10, 20, 40, 43, 27, 20} {
		if got := upright.at(row, 0, y); got != want {
			t.Errorf("a half down, pixel %d: %d, want %d", y, got, want)
		}
	}
	four := chroma{stride: 3, wide: 3, high: 1, across: 4, down: 1}
	if a, b := four.at(row, 3, 0), four.at(row, 4, 0); a != 10 || b != 50 {
		t.Errorf("a quarter: %d %d", a, b)
	}
}

func TestMistakes(t *testing.T) {
	small := []byte("P5 2 1 15\n\x0f\x00")
	if got, err := decode(small, "Grayscale"); err != nil || got.At(0, 0, 0) != 255 || got.At(0, 1, 0) != 0 {
		t.Errorf("%v %v", got, err)
	}
	for text, data := range map[string]string{"begins with": "GIF89a", "begins with ": "", "JPEG": "\xff\xd8\xff\xe0", "PNG": "\x89PNG\r\n\x1a\nabcd", "want P5": "P6 2 x", "want P5 ": "P6 2 1 256\n", "row 0": "P6 2 1 255\n123",
		"pixels in": "P6 90000 90000 255\n", "more than 7": "P5 1 1 7\n9", "WebP": "RIFF\x00\x00\x00\x00WEBPVP8 ", "TIFF": "II*\x00\xff\xff\xff\xff", "BMP": "BM\x00\x00", "want P5  ": "P6 123456789 1 255\n"} {
		if _, err := decode([]byte(data), "RGB"); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(text)) {
			t.Errorf("%q: error %v, want one about %q", data, err, text)
		}
	}
	if _, err := decode(small, "YUV"); err == nil || !strings.Contains(err.Error(), "YUV") {
		t.Errorf("%v", err)
	}
	if _, err := decode([]byte("GIF89a"), "RGB"); !errors.Is(err, op.ErrUnsupported) {
		t.Errorf("%v", err)
	}
	spec, err := tensor.NewSpec(dtype.Uint8, 9)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Operator.Infer(&op.Call{Inputs: []tensor.Any{spec.Any()}}); !errors.Is(err, op.ErrUnknown) {
		t.Errorf("%v", err)
	}
	for _, c := range []*op.Call{nil, {}, {Inputs: []tensor.Any{{}}}, {Inputs: []tensor.Any{tensor.New[float32](3).Any()}}, {Inputs: []tensor.Any{tensor.New[uint8](3, 3).Any()}}} {
		if _, err := Operator.Run(c); err == nil {
			t.Errorf("%v: no error", c)
		}
	}
	if Operator.Supports(dtype.Float32) || !Operator.Supports(dtype.Uint8) {
		t.Error("it takes bytes")
	}
}
