package pack

import (
	"fmt"
	"slices"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

// Tile is TT-NN's tile: Height×Width elements next to each other in storage. A tile is
// made of faces of 16×16, or of fewer rows if the tile has fewer. The faces are in
// row-major order, and so are the elements of a face. In transposed tiles, both are in
// column-major order.
//
//	Height  32, 16, 8, 4, 2 or 1; transposed: 32 or 16
//	Width   32 or 16
//
// Package layout has no such limits: TileToShape makes tiles of any size, in any number of
// levels.
type Tile struct {
	Height, Width int
	Transposed    bool
}

// TileOf returns the tile of a size, not transposed.
func TileOf(height, width int) Tile { return Tile{Height: height, Width: width} }

// String writes the size, as in 32×32, with " transposed" behind it for a transposed tile.
func (t Tile) String() string {
	text := fmt.Sprintf("%d×%d", t.Height, t.Width)
	if t.Transposed {
		text += " transposed"
	}
	return text
}

// Len returns the number of elements of a tile.
func (t Tile) Len() int { return t.Height * t.Width }

func (t Tile) check(op string) error {
	switch {
	case t == Tile{}:
	case !slices.Contains([]int{1, 2, 4, 8, 16, 32}, t.Height) || t.Width != 16 && t.Width != 32:
		return fail(op, tensor.ErrShape, "no tile of %v: heights are 1, 2, 4, 8, 16 and 32, widths 16 and 32; layout.TileToShape makes others", t)
	case t.Transposed && t.Height < 16:
		return fail(op, tensor.ErrShape, "no tile of %v: transposed ones have 16 or 32 rows", t)
	}
	return nil
}

// align merges the requested alignment with the tile's.
func (t Tile) align(asked []int) []int {
	least := []int{1}
	if t != (Tile{}) {
		least = []int{t.Height, t.Width}
	}
	out := slices.Clone(asked)
	if more := len(least) - len(out); more > 0 {
		out = append(slices.Clone(least[:more]), out...)
	}
	for i, n := range least {
		k := len(out) - len(least) + i
		if r := out[k] % n; r > 0 && out[k] <= maxInt-n {
			out[k] += n - r
		}
	}
	return out
}

// Layout returns the layout of a matrix that is made of these tiles in row-major order. It
// fails if the tile isn't one of TT-NN's, if the sides aren't multiples of the tile's or
// are 0, and if the size doesn't fit an int.
func (t Tile) Layout(height, width int) (layout.Layout, error) {
	const op = "pack.Tile.Layout"
	if t == (Tile{}) {
		return layout.Layout{}, fail(op, tensor.ErrShape, "the zero value is no tile")
	}
	if err := t.check(op); err != nil {
		return layout.Layout{}, err
	}
	h, w := min(t.Height, 16), 16
	strides, order := []int{w, 1}, []int{1, 0}
	if t.Transposed {
		strides, order = []int{1, h}, []int{0, 1}
	}
	lay, err := layout.New([]int{h, w}, strides)
	if err == nil {
		lay, err = layout.TileToShape(lay, []int{t.Height, t.Width}, order...)
	}
	if err == nil {
		lay, err = layout.TileToShape(lay, []int{height, width}, 1, 0)
	}
	if err != nil {
		return layout.Layout{}, tensor.Wrap(op, err)
	}
	return lay, nil
}
