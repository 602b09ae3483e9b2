package main

import (
	"cmp"
	"context"
	"fmt"
	stdimage "image"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/tensor"
)

// PaddleOCR's parameters for the input and output of the model that finds text, from ppocr/data/imaug/operators.py and
// ppocr/postprocess/db_postprocess.py of github.com/PaddlePaddle/PaddleOCR.
const (
	longest = 960 // pixels of the longer side
	step    = 32  // both sides are multiples of it
	text    = 0.3 // a pixel of at least this probability is text
	sure    = 0.6 // a region must have this mean
	grow    = 1.5 // the model marks the middle of lines; a box grows by area · grow / perimeter on each side
	small   = 3   // a region of less height or width is no text
)

var (
	findMean      = tensor.FromSlice([]float32{0.485, 0.456, 0.406}, 3, 1, 1)
	findDeviation = tensor.FromSlice([]float32{0.229, 0.224, 0.225}, 3, 1, 1)
)

// find returns the boxes of lines of text from top to bottom, and from left to right for lines side by side.
func (r *reader) find(ctx context.Context, pixels tensor.Tensor[float32]) ([]stdimage.Rectangle, error) {
	height, width := pixels.Dim(1), pixels.Dim(2)
	shrink := min(1, longest/float64(max(height, width)))
	whole := func(side int) int { return max(int(math.Round(shrink*float64(side)/step)), 1) * step }
	h, w := whole(height), whole(width)
	y, err := r.finding.run(ctx, resize(pixels, h, w), findMean, findDeviation)
	if err != nil {
		return nil, err
	}
	if y.Len() != h*w {
		return nil, fmt.Errorf("the model gave shape %v for a picture of %d by %d", y.Shape(), h, w)
	}
	boxes := regions(y.Reshape(h, w))
	for i, b := range boxes { // back to the size of the picture
		boxes[i] = stdimage.Rect(b.Min.X*width/w, b.Min.Y*height/h, (b.Max.X*width+w-1)/w, (b.Max.Y*height+h-1)/h)
	}
	return ordered(boxes), nil
}

// regions returns the boxes of connected regions of text in a map of probabilities.
func regions(p tensor.Tensor[float32]) (boxes []stdimage.Rectangle) {
	h, w := p.Dim(0), p.Dim(1)
	left := make([]bool, h*w) // text that is in no region yet
	for i, v := range p.Elems() {
		left[i] = v >= text
	}
	var open []int // pixels whose neighbours weren't looked at
	for first := range left {
		if !left[first] {
			continue
		}
		box, sum, n := stdimage.Rectangle{}, 0.0, 0
		left[first], open = false, append(open, first)
		for len(open) > 0 {
			at := open[len(open)-1]
			open = open[:len(open)-1]
			y, x := at/w, at%w
			box = box.Union(stdimage.Rect(x, y, x+1, y+1))
			sum, n = sum+float64(p.At(y, x)), n+1
			for v := max(y-1, 0); v < min(y+2, h); v++ {
				for u := max(x-1, 0); u < min(x+2, w); u++ {
					if next := v*w + u; left[next] {
						left[next], open = false, append(open, next)
					}
				}
			}
		}
		if box.Dx() >= small && box.Dy() >= small && sum/float64(n) >= sure {
			more := int(math.Ceil(grow * float64(box.Dx()*box.Dy()) / float64(2*(box.Dx()+box.Dy()))))
			boxes = append(boxes, box.Inset(-more).Intersect(stdimage.Rect(0, 0, w, h)))
		}
	}
	return boxes
}

// ordered sorts boxes in reading order.
func ordered(boxes []stdimage.Rectangle) []stdimage.Rectangle {
	slices.SortFunc(boxes, func(a, b stdimage.Rectangle) int { return cmp.Compare(a.Min.Y+a.Max.Y, b.Min.Y+b.Max.Y) })
	for from := 0; from < len(boxes); {
		to := from + 1 // a box belongs to the row of the first if the middle of that is within it
		for middle := (boxes[from].Min.Y + boxes[from].Max.Y) / 2; to < len(boxes) && boxes[to].Min.Y <= middle; to++ {
		}
		slices.SortFunc(boxes[from:to], func(a, b stdimage.Rectangle) int { return cmp.Compare(a.Min.X, b.Min.X) })
		from = to
	}
	return boxes
}
