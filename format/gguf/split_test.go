package gguf

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/tensortest"
)

// A model that is written in several files is read as it was, from any of them.
func TestWriteSplit(t *testing.T) {
	q8, err := pack.FormatNamed("q8_0")
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := pack.Pack(tensor.Linspace[float32](-1, 1, 64).Reshape(2, 32).Any(), &pack.Options{Format: q8})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"a", "b", "c", "d"} // of 40, 12, 0 and 68 bytes
	ts := []tensor.Any{tensor.Full[float32](1, 10).Any(), tensor.FromSlice([]int16{1, 2, 3, 4, 5, 6}, 2, 3).Any(), tensor.Full[float32](0, 0, 3).Any(), blocks.Any()}
	opts := &format.WriteOptions{Metadata: []format.Meta{{Key: "general.architecture", Value: "llama"}, {Key: alignKey, Value: uint32(64)}, {Key: splitCount, Value: uint16(9)}}}
	for _, c := range []struct {
		s    Split
		want []int // tensors of the files
	}{
		{Split{}, []int{4}},
		{Split{Tensors: 1}, []int{1, 1, 1, 1}},
		{Split{Tensors: 3}, []int{3, 1}},
		{Split{Bytes: 52}, []int{3, 1}},
		{Split{Bytes: 51}, []int{1, 2, 1}},
		{Split{Bytes: 1}, []int{1, 2, 1}},
		{Split{Tensors: 2, Bytes: 1 << 40}, []int{2, 2}},
	} {
		path := filepath.Join(t.TempDir(), "m.gguf")
		paths, err := WriteSplit(path, c.s, opts, named(names, ts)...)
		if err != nil || len(paths) != len(c.want) {
			t.Fatalf("%+v: %q, %v", c.s, paths, err)
		}
		list, err := os.ReadDir(filepath.Dir(path))
		if err != nil || len(list) != len(paths) {
			t.Errorf("%+v: %v, %v", c.s, list, err)
		}
		for i, path := range paths {
			if want := fmt.Sprintf("m-%05d-of-%05d.gguf", i+1, len(c.want)); filepath.Base(path) != want {
				t.Errorf("%s, want %s", path, want)
			}
			f, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(f.Names(), names) || len(f.parts[i].header.tensors) != c.want[i] {
				t.Errorf("%+v: file %d has %d of %q", c.s, i, len(f.parts[i].header.tensors), f.Names())
			}
			for k, name := range names {
				got, err := f.Tensor(name)
				if err != nil {
					t.Fatal(err)
				}
				if k < 3 {
					tensortest.Equal(t, got, ts[k])
				} else if same, err := got.Foreign().(pack.Tensor).Equal(blocks); err != nil || !same {
					t.Errorf("%s: other blocks, %v", name, err)
				}
			}
			kept, err := opened{f}.Entries()
			if want := []format.Meta{{Key: "general.architecture", Value: "llama"}, {Key: alignKey, Value: uint32(64)}, {Key: blocksKey, Value: blocksVersion}}; err != nil || !reflect.DeepEqual(kept, want) {
				t.Errorf("%+v: %v, want %v: %v", c.s, kept, want, err)
			}
			f.Close()
		}
	}
}

func named(names []string, ts []tensor.Any) (arrays []format.Array) {
	for i, name := range names {
		arrays = append(arrays, format.Array{Name: name, Tensor: ts[i]})
	}
	return arrays
}

// What can't be written leaves no file, and none that was there is replaced.
func TestWriteSplitRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.gguf")
	x := tensor.Full[float32](1, 3).Any()
	write := func(names []string, ts ...tensor.Any) error {
		_, err := WriteSplit(path, Split{Tensors: 1}, nil, named(names, ts)...)
		return err
	}
	for _, c := range []struct {
		names []string
		ts    []tensor.Any
		want  error
	}{
		{[]string{"a", "a"}, []tensor.Any{x, x}, format.ErrName},
		{[]string{"a", "b"}, []tensor.Any{x, tensor.Full(true, 3).Any()}, format.ErrType},
		{[]string{"a", "b"}, []tensor.Any{x, {}}, format.ErrType},
	} {
		if err := write(c.names, c.ts...); !errors.Is(err, c.want) {
			t.Errorf("%q: %v, want %v", c.names, err, c.want)
		}
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
	old := filepath.Join(dir, "m-00002-of-00002.gguf")
	if err := os.WriteFile(old, []byte("old"), 0o444); err != nil {
		t.Fatal(err)
	}
	if err := write([]string{"a", "b"}, x, x); !errors.Is(err, format.ErrProtected) {
		t.Error(err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := WriteSplit(path, Split{Tensors: 1}, &format.WriteOptions{Force: true}, named([]string{"a", "b"}, []tensor.Any{x, x})...); err != nil {
		t.Error(err)
	}
	if f, err := Open(old); err != nil {
		t.Error(err)
	} else {
		f.Close()
	}
}
