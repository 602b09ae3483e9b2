package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/format/image"
	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// What docs/digits/README.md states.
const (
	testImages  = 540
	testCorrect = 535
)

const testdata = "../../testdata/"

// model opens the committed model.
func model(t *testing.T) *onnx.Model {
	t.Helper()
	m, err := onnx.Open(testdata + "digits.onnx")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// bytesOf reads an npy file of uint8.
func bytesOf(t *testing.T, name string) tensor.Tensor[uint8] {
	t.Helper()
	f, err := os.Open(testdata + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a, err := npy.Read(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	return held[uint8](t, a)
}

// recognise runs the model on images of 64 bytes each and returns the likeliest digit of each.
func recognise(t *testing.T, m *onnx.Model, images []uint8) []int {
	t.Helper()
	s, err := onnx.NewSession(m)
	if err != nil {
		t.Fatal(err)
	}
	x := tensor.New[float32](len(images)/64, 1, 8, 8)
	for i, v := range images {
		x.Elems()[i] = float32(v) / 255
	}
	out, err := s.Run(context.Background(), map[string]tensor.Any{"image": x.Any()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := held[float32](t, out["probability"])
	digits := make([]int, p.Dim(0))
	for i := range digits {
		for d := range 10 {
			if p.At(i, d) > p.At(i, digits[i]) {
				digits[i] = d
			}
		}
	}
	return digits
}

func TestAccuracy(t *testing.T) {
	images, labels := bytesOf(t, "digits-test.npy"), bytesOf(t, "digits-test-labels.npy")
	if labels.Len() != testImages || images.Len() != testImages*64 {
		t.Fatalf("%d images with %d labels, want %d", images.Len()/64, labels.Len(), testImages)
	}
	m := model(t)
	correct := 0
	for i, digit := range recognise(t, m, images.Elems()) {
		if want := int(labels.At(i)); digit == want {
			correct++
		} else {
			t.Logf("test image %d shows %d, recognised as %d", i, want, digit)
		}
	}
	t.Logf("%s", accuracy(int64(correct), testImages))
	if correct != testCorrect {
		t.Errorf("%d of %d correct, docs/digits/README.md says %d", correct, testImages, testCorrect)
	}
	if 100*correct < 97*testImages {
		t.Errorf("%d of %d correct is less than 97 %%", correct, testImages)
	}
	if got, want := m.Metadata[0].Value, accuracy(int64(correct), testImages); got != want {
		t.Errorf("the model's metadata says %q, measured is %q", got, want)
	}
}

// Each picture is the first image of its digit in the test part, reads back as exactly that image at 8x8 pixels, and is
// recognised.
func TestPictures(t *testing.T) {
	images, labels := bytesOf(t, "digits-test.npy").Elems(), bytesOf(t, "digits-test-labels.npy").Elems()
	names, err := os.ReadFile(testdata + "digits.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []uint8
	for digit, name := range bytes.Fields(names) {
		f, err := os.Open(testdata + string(name) + ".png")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		a, err := image.Read(f, &image.Options{Channels: 1, Height: 8, Width: 8})
		if err != nil {
			t.Fatal(err)
		}
		got := held[uint8](t, a).Elems()
		i := bytes.IndexByte(labels, byte(digit))
		if want := images[i*64 : (i+1)*64]; !bytes.Equal(got, want) {
			t.Errorf("%s.png at 8x8 is %v, test image %d is %v", name, got, i, want)
		}
		all = append(all, got...)
	}
	if len(all) != 10*64 {
		t.Fatalf("digits.txt names %d digits", len(all)/64)
	}
	for digit, got := range recognise(t, model(t), all) {
		if got != digit {
			t.Errorf("the picture of %d is recognised as %d", digit, got)
		}
	}
}

// The committed file is what this program makes of its weights, and no larger than it should be.
func TestReproducible(t *testing.T) {
	want, err := os.ReadFile(testdata + "digits.onnx")
	if err != nil {
		t.Fatal(err)
	}
	if len(want) > 150_000 {
		t.Errorf("digits.onnx has %d bytes, at most 150000 are meant", len(want))
	}
	m := model(t)
	names := []string{"correct", "images"}
	ts := []tensor.Any{tensor.Scalar[int64](testCorrect).Any(), tensor.Scalar[int64](testImages).Any()}
	for i := range m.Graph.Initializers {
		w := &m.Graph.Initializers[i]
		a, err := m.Tensor(w)
		if err != nil {
			t.Fatal(err)
		}
		names, ts = append(names, w.Name), append(ts, a)
	}
	var npz bytes.Buffer
	if err := npy.WriteZip(&npz, names, ts, nil); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	weights, path := filepath.Join(dir, "weights.npz"), filepath.Join(dir, "digits.onnx")
	if err := os.WriteFile(weights, npz.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := write(weights, path); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the program writes %d other bytes than the committed %d", len(got), len(want))
	}
}

func TestWrongWeights(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "weights.npz")
	zip := func(names []string, ts ...tensor.Any) string {
		t.Helper()
		var b bytes.Buffer
		if err := npy.WriteZip(&b, names, ts, nil); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		err := write(path, filepath.Join(dir, "digits.onnx"))
		if err == nil {
			t.Fatal("no error")
		}
		return err.Error()
	}
	msg := zip([]string{"conv1.weight"}, tensor.New[float32](16, 1, 5, 5).Any())
	if want := path + ": conv1.weight is float32[16,1,5,5], the network wants float32[16,1,3,3]"; msg != want {
		t.Errorf("got  %s\nwant %s", msg, want)
	}
	msg = zip([]string{"other"}, tensor.New[float32](1).Any())
	if !strings.Contains(msg, "conv1.weight") {
		t.Errorf("%s: doesn't name the missing array", msg)
	}
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
