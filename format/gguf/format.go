package gguf

import (
	"fmt"
	"io"
	"slices"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
)

func init() {
	format.Register(&format.Format{Name: "gguf", Ends: []string{".gguf"}, Several: true, Sign: format.Begins(magic), Open: openFile,
		Write: func(w io.Writer, arrays []format.Array, o format.WriteOptions) error {
			names, ts := formats.Apart(arrays)
			return Write(w, names, ts, pairs(o.Metadata))
		}})
}

func pairs(list []format.Meta) (kv []KV) {
	for _, m := range list {
		kv = append(kv, KV(m))
	}
	return kv
}

// opened is a File as a format.File.
type opened struct{ *File }

func openFile(s *format.Source) (format.File, error) {
	var f *File
	var err error
	if s.Path != "" {
		f, err = Open(s.Path)
	} else {
		var b []byte
		if b, err = formats.All(s); err == nil {
			f, err = New(mem.Borrow(b, nil))
		}
	}
	if err != nil {
		return nil, err
	}
	return opened{f}, nil
}

func (f opened) About() string {
	about := fmt.Sprintf("GGUF version %d", f.Version())
	if n := len(f.parts); n > 1 {
		about += fmt.Sprintf(", %d files", n)
	}
	return about
}

func (f opened) Info(name string) (i format.Info, err error) {
	x, err := f.File.Info(name)
	if err != nil {
		return i, err
	}
	i = format.Info{Type: x.DType.String(), DType: x.DType, Shape: x.Shape, Bytes: int64(x.Bytes), Offset: int64(x.Offset)}
	switch {
	case x.DType.Size() == 0:
		i.Type = x.Type + " (no tensor holds it)"
		i.Text = formats.Typed(i.Type+" ", x.Shape)
	case x.Packed != nil:
		i.Type = x.Packed.TypeName()
	}
	i.Layout, err = layout.RowMajor(x.Shape...)
	return i, err
}

// Entries returns the keys and values of the metadata, except the numbers of a split model.
func (f opened) Entries() (list []format.Meta, err error) {
	for _, key := range f.Keys() {
		if slices.Contains(splitKeys, key) {
			continue
		}
		v, err := f.Value(key)
		if err != nil {
			return nil, err
		}
		list = append(list, format.Meta{Key: key, Value: v})
	}
	return list, nil
}

// Metadata returns the values as text; for long arrays, the text has only their lengths and types.
func (f opened) Metadata() map[string]string {
	texts := make(map[string]string)
	for _, key := range f.Keys() {
		texts[key] = f.text(key)
	}
	return texts
}
