package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ashlar-go/ashlar/format/image"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

const seven = "../../testdata/seven.png"

func read(t testing.TB, path string) tensor.Tensor[uint8] {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a, err := image.Read(f, &image.Options{HWC: true})
	if err != nil {
		t.Fatal(err)
	}
	return held[uint8](t, a)
}

func TestCrop(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.png")
	if err := crop(seven, out, "8:56, 47:15:-1"); err != nil {
		t.Fatal(err)
	}
	whole, part := read(t, seven), read(t, out)
	if part.Dim(0) != 48 || part.Dim(1) != 32 {
		t.Fatalf("cropped to %v", part.Shape())
	}
	for y := range 48 {
		for x := range 32 {
			if part.At(y, x, 0) != whole.At(8+y, 47-x, 0) {
				t.Fatalf("pixel %d, %d differs", y, x)
			}
		}
	}
	for _, c := range [][3]string{{"none.png", out, ":"}, {seven, out, "1:2:3:4"}, {seven, out, "0, 0, 0, 0"}, {seven, out, "0:0"}, {"main.go", out, ":"}} {
		if err := crop(c[0], c[1], c[2]); err == nil {
			t.Errorf("crop%q should fail", c)
		}
	}
}

func Example() {
	dir, err := os.MkdirTemp("", "crop")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	fmt.Println(crop(seven, filepath.Join(dir, "small.png"), "::8, ::8"))
	// Output: <nil>
}

// held returns a as a tensor of T, which it must hold.
func held[T num.Elem](t testing.TB, a tensor.Any) tensor.Tensor[T] {
	t.Helper()
	x, ok := tensor.As[T](a)
	if !ok {
		t.Fatalf("%s holds another type", tensor.Describe(a))
	}
	return x
}
