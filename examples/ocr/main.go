// Command ocr reads the text of a picture, with the models of PaddleOCR:
//
//	go run ./examples/ocr MODELS [PICTURE]
//
// One model finds the places of text, the other reads a line of it. MODELS is the folder that holds them and their letters;
// README.md names their source. Without a PICTURE the program reads one that it draws.
package main

import (
	"bufio"
	"context"
	"fmt"
	stdimage "image"
	"os"
	"path/filepath"

	"github.com/ashlar-go/ashlar/format/image"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

func main() {
	if len(os.Args) != 2 && len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: ocr MODELS [PICTURE]")
		os.Exit(2)
	}
	lines, err := run(context.Background(), os.Args[1], os.Args[2:]...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "ocr:", err)
		os.Exit(1)
	}
	for _, l := range lines {
		fmt.Printf("%v %.2f %s\n", l.box, l.score, l.text)
	}
}

// run reads a picture with the models of a folder.
func run(ctx context.Context, models string, picture ...string) ([]line, error) {
	pixels := drawn("Ashlar reads text", "12 apples, 34 pears", "and it says where.")
	if len(picture) > 0 {
		f, err := os.Open(picture[0])
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if pixels, _, err = stdimage.Decode(bufio.NewReader(f)); err != nil { // format/image registers PNG and JPEG
			return nil, fmt.Errorf("%s: %w", picture[0], err)
		}
	}
	r, err := open(models)
	if err != nil {
		return nil, err
	}
	defer r.close()
	return r.read(ctx, pixels)
}

// A reader finds and reads text. Its methods may be called from several goroutines at once.
type reader struct {
	finding, reading network
	letters          []string // by class: none, the letters of the list, a space
}

// A line is a line of text and its place.
type line struct {
	text  string
	score float32 // the mean of the probabilities of its letters
	box   stdimage.Rectangle
}

func open(folder string) (*reader, error) {
	r := &reader{}
	err := r.finding.open(filepath.Join(folder, "ch_PP-OCRv4_det_infer.onnx"))
	if err == nil {
		err = r.reading.open(filepath.Join(folder, "ch_PP-OCRv4_rec_infer.onnx"))
	}
	if err == nil {
		r.letters, err = lettersOf(filepath.Join(folder, "ppocr_keys_v1.txt"))
	}
	if err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *reader) close() {
	r.finding.close()
	r.reading.close()
}

// read reads all lines of a picture, from the top.
func (r *reader) read(ctx context.Context, picture stdimage.Image) ([]line, error) {
	a, err := image.FromImage(picture, &image.Options{Channels: 3, Float: true})
	if err != nil {
		return nil, err
	}
	pixels, _ := tensor.As[float32](a) // as Float makes it
	pixels = pixels.S("::-1")          // the models were trained with blue first
	boxes, err := r.find(ctx, pixels)
	if err != nil {
		return nil, err
	}
	var lines []line
	for _, box := range boxes {
		l, err := r.readLine(ctx, pixels, box)
		if err != nil {
			return nil, err
		}
		if l.text != "" {
			lines = append(lines, l)
		}
	}
	return lines, nil
}

// A network is a model with one input and one output, both float32.
type network struct {
	model   *onnx.Model
	session *onnx.Session
	in, out string
}

func (n *network) open(file string) (err error) {
	if n.model, err = onnx.Open(file); err != nil {
		return err
	}
	if n.session, err = onnx.NewSession(n.model); err != nil {
		return err
	}
	in, out := n.session.Inputs(), n.session.Outputs()
	if len(in) != 1 || len(out) != 1 {
		return fmt.Errorf("%s has %d inputs and %d outputs, want one of each", file, len(in), len(out))
	}
	n.in, n.out = in[0].Name, out[0].Name
	return nil
}

func (n *network) close() {
	if n.model != nil {
		n.model.Close()
	}
}

// run gives the network pixels of shape (3,H,W), from which mean is taken away before they are divided by deviation.
func (n *network) run(ctx context.Context, pixels, mean, deviation tensor.Tensor[float32]) (tensor.Tensor[float32], error) {
	x := op.Div(op.Sub(pixels, mean), deviation)
	x = x.Reshape(1, 3, x.Dim(1), x.Dim(2)) // a batch of one
	out, err := n.session.Run(ctx, map[string]tensor.Any{n.in: x.Any()}, nil)
	if err != nil {
		return tensor.Tensor[float32]{}, err
	}
	y, ok := tensor.As[float32](out[n.out])
	if !ok {
		return y, fmt.Errorf("output %q is %s, want float32", n.out, tensor.Describe(out[n.out]))
	}
	return y, nil
}

// resize brings pixels of shape (3,H,W) to another size. If it is smaller, each pixel is a mean of the pixels that it covers.
func resize(pixels tensor.Tensor[float32], height, width int) tensor.Tensor[float32] {
	return op.Resize(pixels, op.ResizeOptions{Sizes: []int{height, width}, Axes: []int{1, 2}, Mode: "linear", Antialias: true})
}
