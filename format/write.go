package format

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/tensor"
)

// An Array is a tensor on its way to a file.
type Array struct {
	Name    string
	Tensor  tensor.Any
	Columns []string // the names of the columns of a table of text
	Type    string   // an element type beyond the tensor's own, such as datetime64[s], which Zarr keeps
}

// WriteOptions say how files of some formats are written.
type WriteOptions struct {
	Fortran bool   // npy, npz and raw elements: column-major
	Axes    string // the axes of a picture: HW, CHW, HWC; "": by its shape
	Comma   rune   // the rune between cells; 0: the format's default
	Chunks  []int  // the chunk shape of a Zarr array; nil: chunks of about a MiB

	Force bool // replace a write-protected file
	// Begun, if it isn't nil, is called with the name of the temporary file or folder. A program that ends early has to remove
	// it. The function done is called when there is nothing left to remove.
	Begun func(temp string) (done func())

	// Metadata is written if the format has a place for it. GGUF keeps the values as they are. safetensors keeps strings as they
	// are and other values as JSON.
	Metadata []Meta
}

// A Meta is a value of a file's metadata: a string, or a value that package gguf has a type for.
type Meta struct {
	Key   string
	Value any
}

// MetadataOf returns the keys and values of a file's metadata, nil if there are none. A File that has metadata has a method
// Entries() ([]Meta, error), or Metadata() map[string]string for texts.
func MetadataOf(f File) ([]Meta, error) {
	switch f := f.(type) {
	case interface{ Entries() ([]Meta, error) }:
		return f.Entries()
	case interface{ Metadata() map[string]string }:
		var list []Meta
		texts := f.Metadata()
		for _, key := range slices.Sorted(maps.Keys(texts)) {
			list = append(list, Meta{key, texts[key]})
		}
		return list, nil
	}
	return nil, nil
}

// WriteFile writes arrays to a file, or a folder, in the format that the ending of its name tells. The file appears when it is whole.
func WriteFile(path string, opts *WriteOptions, arrays ...Array) error {
	f := ByEnd(path)
	if f == nil {
		return fmt.Errorf("%s: %w", path, ErrUnknown)
	}
	return disk.In(path, disk.Bare(f.WriteFile(path, opts, arrays...)))
}

// WriteFile writes arrays to a file of any name, or to a folder if the format has folders and the name doesn't end in .zip. The
// file appears when it is whole. Its errors don't name it.
func (f *Format) WriteFile(path string, opts *WriteOptions, arrays ...Array) error {
	if opts == nil {
		opts = &WriteOptions{}
	}
	a := disk.Atomic{Force: opts.Force, Begun: opts.Begun}
	if f.Fill != nil && !strings.HasSuffix(strings.ToLower(path), ".zip") {
		return a.Folder(path, func(dir string) error { return f.Fill(dir, arrays, *opts) })
	}
	return a.File(path, func(w io.Writer) error { return f.Write(w, arrays, *opts) })
}
