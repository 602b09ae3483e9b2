package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// start runs the server for a test, and returns its address.
func start(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- run(ctx, l, "../../testdata/digits.onnx") }()
	t.Cleanup(func() {
		stop()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

// post sends a body, and returns the answer's.
func post(url, kind string, body io.Reader) ([]byte, error) {
	r, err := http.Post(url, kind, body)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", r.Status, b)
	}
	return b, err
}

// A request and an answer of the open inference protocol, as a client in Go has them.
type (
	request struct {
		Inputs []array `json:"inputs"`
	}
	answer struct {
		Outputs []array `json:"outputs"`
	}
	array struct {
		Name     string    `json:"name"`
		Datatype string    `json:"datatype"`
		Shape    []int     `json:"shape"`
		Data     []float32 `json:"data"`
	}
)

// recognise asks a server for the probabilities of pictures of 8 by 8.
func recognise(url string, pictures tensor.Tensor[float32]) (array, error) {
	n := pictures.Dim(0)
	ask := request{[]array{{"image", "FP32", []int{n, 1, 8, 8}, pictures.Elems()}}}
	body, err := json.Marshal(ask)
	if err != nil {
		return array{}, err
	}
	b, err := post(url+"/v2/models/digits/infer", "application/json", bytes.NewReader(body))
	if err != nil {
		return array{}, err
	}
	var got answer
	if err := json.Unmarshal(b, &got); err != nil || len(got.Outputs) != 1 {
		return array{}, fmt.Errorf("%d outputs: %w", len(got.Outputs), err)
	}
	return got.Outputs[0], nil
}

// read reads a file of the test set.
func read(t testing.TB, name string) tensor.Tensor[uint8] {
	a, err := npy.Open("../../testdata/"+name, nil)
	if err != nil {
		t.Fatal(err)
	}
	x, ok := tensor.As[uint8](a)
	if !ok {
		t.Fatalf("%s holds %s", name, tensor.Describe(a))
	}
	return x
}

// A client of the protocol gets the digits of the test set.
func TestProtocol(t *testing.T) {
	url := start(t)
	pictures, labels := read(t, "digits-test.npy"), read(t, "digits-test-labels.npy").Elems()
	got, err := recognise(url, op.Div(op.Cast[float32](pictures), tensor.Scalar[float32](255)))
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i, want := range labels {
		p := got.Data[10*i : 10*i+10]
		if slices.Index(p, slices.Max(p)) == int(want) {
			right++
		}
	}
	if right < len(labels)*97/100 {
		t.Errorf("%d of %d digits are right", right, len(labels))
	}
}

// Pictures go to the program's own path as they are.
func TestPictures(t *testing.T) {
	url := start(t)
	for want, name := range []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"} {
		f, err := os.Open("../../testdata/" + name + ".png")
		if err != nil {
			t.Fatal(err)
		}
		b, err := post(url+"/digit", "image/png", f)
		if f.Close(); err != nil || !strings.HasPrefix(string(b), fmt.Sprintf(`{"digit": %d, `, want)) {
			t.Errorf("%s: %s %v", name, b, err)
		}
	}
	if b, err := post(url+"/digit", "image/png", strings.NewReader("no picture")); err == nil || !strings.Contains(err.Error(), "400") {
		t.Errorf("%s %v", b, err)
	}
	r, err := http.Get(url + "/metrics")
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatal(r, err)
	}
	r.Body.Close()
}
