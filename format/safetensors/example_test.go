package safetensors_test

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/ashlar-go/ashlar/format/safetensors"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

func Example() {
	dir, err := os.MkdirTemp("", "safetensors")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model.safetensors")
	out, err := os.Create(path)
	if err != nil {
		log.Fatal(err)
	}
	names := []string{"bias", "weight"}
	ts := []tensor.Any{tensor.New[float32](3).Any(), tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3).Transpose().Any()}
	if err := safetensors.Write(out, names, ts, map[string]string{"format": "ashlar"}); err != nil {
		log.Fatal(err)
	}
	if err := out.Close(); err != nil {
		log.Fatal(err)
	}

	f, err := safetensors.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	a, err := f.Tensor("weight")
	if err != nil {
		log.Fatal(err)
	}
	w, _ := tensor.As[float32](a)
	fmt.Println(f.Names(), f.Metadata()["format"], w.Shape(), w.At(0, 1))
	// Output: [bias weight] ashlar [3 2] 4
}

func ExampleNew() {
	var b bytes.Buffer
	if err := safetensors.Write(&b, []string{"x"}, []tensor.Any{tensor.Scalar[int64](42).Any()}, nil); err != nil {
		log.Fatal(err)
	}
	f, err := safetensors.New(mem.Borrow(b.Bytes(), nil))
	if err != nil {
		log.Fatal(err)
	}
	info, err := f.Info("x")
	fmt.Println(info.Type, info.DType, info.Shape, info.Bytes, err)
	// Output: I64 int64 [] 8 <nil>
}

func ExampleOpenIndex() {
	dir, err := os.MkdirTemp("", "safetensors")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for i, name := range []string{"a", "b"} {
		var b bytes.Buffer
		if err := safetensors.Write(&b, []string{name}, []tensor.Any{tensor.Full(int64(i), 2).Any()}, nil); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".safetensors"), b.Bytes(), 0o666); err != nil {
			log.Fatal(err)
		}
	}
	index := filepath.Join(dir, "model.safetensors.index.json")
	const text = `{"metadata": {"total_size": 32}, "weight_map": {"a": "a.safetensors", "b": "b.safetensors"}}`
	if err := os.WriteFile(index, []byte(text), 0o666); err != nil {
		log.Fatal(err)
	}

	m, err := safetensors.OpenIndex(index)
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	b, err := m.Tensor("b") // opens b.safetensors alone
	fmt.Println(m.Names(), b, err)
	// Output: [a b] [1 1] <nil>
}

func ExampleReadHeader() {
	var file bytes.Buffer
	if err := safetensors.Write(&file, []string{"w"}, []tensor.Any{tensor.New[float32](2, 3).Any()}, nil); err != nil {
		panic(err)
	}
	list, _, err := safetensors.ReadHeader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	fmt.Println(list[0].Name, list[0].Type, list[0].Shape, list[0].Bytes, err)
	// Output: w F32 [2 3] 24 <nil>
}
