// Command crop cuts a rectangle out of a picture, as a view: no pixel is copied
// until the result is written.
//
//	go run ./examples/crop IN.png OUT.png "8:56, 16:48"
//
// The rectangle is rows and columns as NumPy writes them, so "::-1, :" turns the
// picture upside down and "::2, ::2" keeps every other pixel.
package main

import (
	"fmt"
	"os"

	"github.com/ashlar-go/ashlar/format/image"
	"github.com/ashlar-go/ashlar/tensor"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, `usage: crop IN OUT.png "ROWS, COLUMNS"`)
		os.Exit(2)
	}
	if err := crop(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "crop:", err)
		os.Exit(1)
	}
}

func crop(in, out, rectangle string) error {
	picture, err := image.Open(in, &image.Options{HWC: true})
	if err != nil {
		return err
	}
	var part tensor.Tensor[uint8]
	err = tensor.Try(func() {
		whole, _ := tensor.As[uint8](picture) // as Read makes it
		part = whole.S(rectangle)
	})
	if err != nil {
		return err
	}
	return image.WriteFile(out, part.Any(), &image.WriteOptions{Axes: image.HWC})
}
