package npy_test

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/tensor"
)

func Example() {
	dir, err := os.MkdirTemp("", "npy")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "x.npy")
	f, err := os.Create(path)
	if err != nil {
		log.Fatal(err)
	}
	if err := npy.Write(f, tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3).Transpose().Any(), nil); err != nil {
		log.Fatal(err)
	}
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}

	a, err := npy.Open(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	x, _ := tensor.As[float32](a)
	fmt.Println(tensor.Describe(a), x.At(0, 1))
	// Output: float32[3,2] 4
}

func ExampleReadHeader() {
	file := "\x93NUMPY\x01\x00\x3c\x00{'descr': '>f8', 'fortran_order': True, 'shape': (640, 480)}\n" // and 2.4 MB of elements
	h, err := npy.ReadHeader(bytes.NewReader([]byte(file)), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(h.DType, h.Shape, h.Bytes(), "bytes, Fortran order:", h.Fortran, "big-endian:", h.BigEndian)
	// Output: float64 [640 480] 2457600 bytes, Fortran order: true big-endian: true
}

func ExampleWriteZip() {
	var b bytes.Buffer
	weights, bias := tensor.New[float32](10, 784), tensor.New[float32](10)
	if err := npy.WriteZip(&b, []string{"layer1/w", "layer1/b"}, []tensor.Any{weights.Any(), bias.Any()}, &npy.WriteOptions{Deflate: true}); err != nil {
		log.Fatal(err)
	}

	z, err := npy.NewZip(bytes.NewReader(b.Bytes()), int64(b.Len()), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range z.Names() {
		h, err := z.Header(name)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(name, h.DType, h.Shape)
	}
	a, err := z.Tensor("layer1/b")
	fmt.Println(tensor.Describe(a), err)
	// Output:
	// layer1/w float32 [10 784]
	// layer1/b float32 [10]
	// float32[10] <nil>
}
