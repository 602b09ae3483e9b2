package image_test

import (
	"bytes"
	"fmt"
	stdimage "image"
	"image/color"
	"image/png"

	"github.com/ashlar-go/ashlar/format/image"
	"github.com/ashlar-go/ashlar/tensor"
)

func ExampleRead() {
	// A file of two pixels, white and red.
	img := stdimage.NewRGBA(stdimage.Rect(0, 0, 2, 1))
	img.Set(0, 0, color.White)
	img.Set(1, 0, color.RGBA{R: 255, A: 255})
	var file bytes.Buffer
	if err := png.Encode(&file, img); err != nil {
		panic(err)
	}

	t, err := image.Read(&file, &image.Options{Channels: 1, Float: true, Height: 2, Width: 2})
	if err != nil {
		panic(err)
	}
	grey, _ := tensor.As[float32](t)
	fmt.Println(grey.Shape(), grey.At(0, 0, 0), grey.At(0, 1, 1))
	// Output: [1 2 2] 1 0.29803923
}

func ExampleConfig() {
	var file bytes.Buffer
	if err := png.Encode(&file, stdimage.NewGray(stdimage.Rect(0, 0, 640, 480))); err != nil {
		panic(err)
	}
	info, err := image.Config(&file)
	fmt.Println(info.Format, info.Width, info.Height, info.Channels, err)
	// Output: png 640 480 1 <nil>
}

func ExampleWrite() {
	ramp := tensor.FromSlice([]float32{0, 0.25, 0.5, 0.75, 1, 2}, 1, 2, 3) // (C,H,W); 2 becomes 1
	var file bytes.Buffer
	if err := image.Write(&file, ramp.Any(), &image.WriteOptions{Axes: image.CHW}); err != nil {
		panic(err)
	}
	t, err := image.Read(&file, nil)
	if err != nil {
		panic(err)
	}
	u, _ := tensor.As[uint8](t)
	fmt.Println(u.Elems())
	// Output: [0 64 128 191 255 255]
}

func ExampleFromImage() {
	img := stdimage.NewNRGBA(stdimage.Rect(0, 0, 2, 1)) // a black dot on nothing at all
	img.SetNRGBA(0, 0, color.NRGBA{A: 255})
	for _, back := range []color.Color{nil, color.White} {
		t, err := image.FromImage(img, &image.Options{Channels: 1, Background: back})
		if err != nil {
			panic(err)
		}
		u, _ := tensor.As[uint8](t)
		fmt.Println(u.Elems())
	}
	// Output:
	// [0 0]
	// [0 255]
}
