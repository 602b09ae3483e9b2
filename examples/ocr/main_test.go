package main

import (
	"context"
	"flag"
	"fmt"
	stdimage "image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
	"golang.org/x/image/draw"
)

var models = flag.String("models", "", "folder of PaddleOCR's models, to be tried")

// save writes a model of shape (N,3,H,W) → the result of f.
func save(t testing.TB, file string, f func(b *onnx.Builder, x string) string) {
	t.Helper()
	b := onnx.NewBuilder("small")
	b.OutputOf(f(b, b.Input("x", dtype.Float32, "N", 3, "H", "W")), onnx.Type{})
	m, err := b.Model(13)
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := onnx.Encode(m)
	if err == nil {
		err = os.WriteFile(file, bytes, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// smallModels makes a folder of small models. Text is what is dark; black reads as a, dark grey as b.
func smallModels(t testing.TB) string {
	dir := t.TempDir()
	weight := func(b *onnx.Builder, v ...float32) string {
		return b.Weight("w", tensor.FromSlice(v, len(v)).Any())
	}
	save(t, filepath.Join(dir, "ch_PP-OCRv4_det_infer.onnx"), func(b *onnx.Builder, x string) string {
		grey := b.Node("ReduceMean", []string{x}, onnx.IntsAttr("axes", 1))
		return b.Node("Sigmoid", []string{b.Node("Mul", []string{grey, weight(b, -4)})})
	})
	save(t, filepath.Join(dir, "ch_PP-OCRv4_rec_infer.onnx"), func(b *onnx.Builder, x string) string {
		dark := b.Node("MaxPool", []string{b.Node("Neg", []string{x})}, onnx.IntsAttr("kernel_shape", 48, 8), onnx.IntsAttr("strides", 48, 8))
		dark = b.Node("ReduceMean", []string{dark}, onnx.IntsAttr("axes", 1, 2), onnx.IntAttr("keepdims", 0))
		dark = b.Node("Unsqueeze", []string{dark, b.Weight("axis", tensor.FromSlice([]int64{2}, 1).Any())})
		far := b.Node("Abs", []string{b.Node("Sub", []string{dark, weight(b, -1, 1, 0.4, 5)})}) // paper, black, grey, a space
		return b.Node("Softmax", []string{b.Node("Mul", []string{far, b.Weight("k", tensor.Scalar[float32](-20).Any())})}, onnx.IntAttr("axis", 2))
	})
	if err := os.WriteFile(filepath.Join(dir, "ppocr_keys_v1.txt"), []byte("a\nb\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

// bars makes a picture of bars of a grey.
func bars(width, height int, list map[stdimage.Rectangle]uint8) stdimage.Image {
	p := stdimage.NewGray(stdimage.Rect(0, 0, width, height))
	draw.Draw(p, p.Rect, stdimage.White, stdimage.Point{}, draw.Src)
	for r, grey := range list {
		draw.Draw(p, r, stdimage.NewUniform(color.Gray{Y: grey}), stdimage.Point{}, draw.Src)
	}
	return p
}

// texts are the texts of lines.
func texts(lines []line) (list []string) {
	for _, l := range lines {
		list = append(list, l.text)
	}
	return list
}

// Lines are found and read from the top, and from the left, in small pictures and in those that are shrunk to be looked at.
func TestRead(t *testing.T) {
	dir := smallModels(t)
	r, err := open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	for _, k := range []int{1, 4} {
		box := func(x, y, w, h int) stdimage.Rectangle { return stdimage.Rect(k*x, k*y, k*(x+w), k*(y+h)) }
		got, err := r.read(t.Context(), bars(k*400, k*250, map[stdimage.Rectangle]uint8{
			box(40, 150, 100, 20): 0,
			box(40, 40, 60, 20):   0, box(100, 40, 60, 20): 76, // ab
			box(240, 44, 60, 20): 76, box(300, 44, 60, 20): 0, // ba, a little lower
		}))
		if err != nil || !slices.Equal(texts(got), []string{"ab", "ba", "a"}) {
			t.Errorf("times %d: %v %v", k, got, err)
			continue
		}
		for i, want := range []stdimage.Rectangle{box(40, 40, 120, 20), box(240, 44, 120, 20), box(40, 150, 100, 20)} {
			if b := got[i].box; !want.In(b) || !b.In(want.Inset(-30*k)) || got[i].score < 0.9 {
				t.Errorf("times %d: %v, want a little more than %v", k, got[i], want)
			}
		}
	}
	if got, err := r.read(t.Context(), bars(100, 100, nil)); err != nil || got != nil {
		t.Errorf("an empty page: %v %v", got, err)
	}
	file := filepath.Join(t.TempDir(), "page.png")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(f, bars(200, 100, map[stdimage.Rectangle]uint8{stdimage.Rect(40, 40, 140, 60): 0})); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if got, err := run(t.Context(), dir, file); err != nil || !slices.Equal(texts(got), []string{"a"}) {
		t.Errorf("a file: %v %v", got, err)
	}
	if _, err := run(t.Context(), dir, "main_test.go"); err == nil || !strings.Contains(err.Error(), "main_test.go") {
		t.Errorf("no picture: %v", err)
	}
	if _, err := run(t.Context(), t.TempDir()); err == nil {
		t.Error("a folder without models is read")
	}
}

// A letter is read once however wide it is, and twice if nothing stands between.
func TestDecode(t *testing.T) {
	r := &reader{letters: []string{"", "a", "b", " "}}
	for want, classes := range map[string][]int{"": {0, 0}, "a": {1, 1, 1}, "aa": {1, 0, 1}, "ab b": {0, 1, 2, 2, 3, 2, 0}} {
		p := tensor.New[float32](len(classes), 4)
		for i, c := range classes {
			p.Set(0.5, i, c)
		}
		if text, score := r.decode(p); text != want || want != "" && score != 0.5 {
			t.Errorf("%v: %q %v, want %q", classes, text, score, want)
		}
	}
}

// The real models read what is drawn.
func TestModels(t *testing.T) {
	if *models == "" {
		t.Skip("README.md says how to get the models; then go test ./examples/ocr -models FOLDER")
	}
	r, err := open(*models)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	for _, want := range [][]string{{"Ashlar reads text", "12 apples, 34 pears", "and it says where."}, {"Invoice 2026-11", "Total: 1,250.00"}} {
		got, err := r.read(context.Background(), drawn(want...))
		if err != nil || !slices.Equal(texts(got), want) {
			t.Errorf("%q: %v %v", want, got, err)
		}
	}
}

func Example_ordered() {
	left, right, below := stdimage.Rect(0, 10, 90, 30), stdimage.Rect(100, 12, 190, 32), stdimage.Rect(0, 50, 90, 70)
	names := map[stdimage.Rectangle]string{left: "left", right: "right", below: "below"}
	for _, r := range ordered([]stdimage.Rectangle{below, right, left}) {
		fmt.Println(names[r])
	}
	// Output:
	// left
	// right
	// below
}
