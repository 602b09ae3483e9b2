package gguf_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/ashlar-go/ashlar/format/gguf"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

func Example() {
	q8, err := pack.FormatNamed("q8_0")
	if err != nil {
		log.Fatal(err)
	}
	w, err := pack.Pack(tensor.Linspace[float32](-1, 1, 64).Reshape(2, 32).Any(), &pack.Options{Format: q8})
	if err != nil {
		log.Fatal(err)
	}
	var b bytes.Buffer
	metadata := []gguf.KV{{Key: "general.architecture", Value: "llama"}}
	if err := gguf.Write(&b, []string{"w"}, []tensor.Any{w.Any()}, metadata); err != nil {
		log.Fatal(err)
	}

	f, err := gguf.New(mem.Borrow(b.Bytes(), nil)) // gguf.Open maps a file
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	info, err := f.Info("w")
	fmt.Println(info.Type, info.Shape, info.Bytes, err)
	fmt.Println(f.Keys())
	row, err := f.Tensor("w", tensor.I(1), tensor.R(30, 32))
	fmt.Println(row, err)
	// Output:
	// Q8_0 [2 32] 68 <nil>
	// [general.architecture general.quantization_version]
	// [0.9684448  0.99993896] <nil>
}
