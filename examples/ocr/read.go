package main

import (
	"context"
	"fmt"
	stdimage "image"
	"math"
	"os"
	"strings"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// PaddleOCR's parameters for the model that reads a line, from ppocr/data/imaug/rec_img_aug.py of github.com/PaddlePaddle/PaddleOCR.
const (
	lineHeight = 48
	narrowest  = 16 // pixels
)

var half = tensor.Scalar[float32](0.5)

// readLine reads the line of text in a box.
func (r *reader) readLine(ctx context.Context, pixels tensor.Tensor[float32], box stdimage.Rectangle) (line, error) {
	l := line{box: box}
	part := pixels.S(fmt.Sprintf(":, %d:%d, %d:%d", box.Min.Y, box.Max.Y, box.Min.X, box.Max.X))
	width := max(int(math.Ceil(lineHeight*float64(box.Dx())/float64(box.Dy()))), narrowest)
	y, err := r.reading.run(ctx, resize(part, lineHeight, width), half, half)
	if err != nil {
		return l, err
	}
	if y.Rank() != 3 || y.Dim(2) != len(r.letters) {
		return l, fmt.Errorf("the model gave shape %v; want %d classes, one for each letter, one for none and one for a space", y.Shape(), len(r.letters))
	}
	l.text, l.score = r.decode(y.S("0"))
	return l, nil
}

// decode reads the probabilities of the classes at each place along a line. A letter is as wide as several places, and
// class 0 stands between two of the same: "connectionist temporal classification", Graves and others, ICML 2006.
func (r *reader) decode(p tensor.Tensor[float32]) (string, float32) {
	var text strings.Builder
	var sum float32
	n, before := 0, 0
	for place, best := range op.ArgMax(p, 1, op.ArgOptions{}).Elems() {
		class := int(best)
		if class != 0 && class != before {
			text.WriteString(r.letters[class])
			sum, n = sum+p.At(place, class), n+1
		}
		before = class
	}
	return strings.TrimSpace(text.String()), sum / float32(max(n, 1))
}

// lettersOf reads the letters of the classes, a line each.
func lettersOf(file string) ([]string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	letters := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	return append(append([]string{""}, letters...), " "), nil
}
