package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

func init() {
	format.Register(&format.Format{Name: "safetensors", Ends: []string{".safetensors"}, Several: true, Open: openFile,
		Sign: func(head []byte, named bool) format.Sign {
			switch {
			case len(head) == format.Head && head[8] == '{' && binary.LittleEndian.Uint64(head) <= MaxHeader:
				return format.Begin
			case named:
				return format.End
			}
			return format.No
		},
		Write: func(w io.Writer, arrays []format.Array, o format.WriteOptions) error {
			names, ts := formats.Apart(arrays)
			var metadata map[string]string
			for _, m := range o.Metadata {
				if metadata == nil {
					metadata = make(map[string]string)
				}
				metadata[m.Key] = textOf(m.Value)
			}
			return Write(w, names, ts, metadata)
		}})
	format.Register(&format.Format{Name: "safetensors index", Ends: []string{".json"}, Several: true,
		Sign: func(head []byte, named bool) format.Sign {
			if named && bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{")) {
				return format.End
			}
			return format.No
		},
		Open: func(s *format.Source) (format.File, error) {
			if s.Path == "" {
				return nil, errors.New("an index is a file beside those it names; give its path")
			}
			x, err := OpenIndex(s.Path)
			if err != nil {
				return nil, err
			}
			return describe(x, fmt.Sprintf("safetensors index of %d files", len(x.Shards())), s), nil
		}})
}

// textOf returns a value of metadata as text: a string unchanged, another value as JSON, or as fmt writes it if JSON doesn't have it.
func textOf(v any) string {
	text, ok := v.(string)
	if ok {
		return text
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// tensors is a File, or a file that is read by parts.
type tensors interface {
	Names() []string
	Info(name string) (Info, error)
	Metadata() map[string]string
	Tensor(name string, idx ...tensor.Index) (tensor.Any, error)
	Close() error
}

// opened is one of these as a format.File.
type opened struct {
	tensors
	about string
}

func openFile(s *format.Source) (format.File, error) {
	if s.Path == "" && s.At != nil {
		list, metadata, err := ReadHeader(s.At, s.Size)
		if err != nil {
			return nil, err
		}
		p := parts{r: s.At, metadata: metadata, infos: make(map[string]Info, len(list))}
		for _, x := range list {
			p.names, p.infos[x.Name] = append(p.names, x.Name), x
		}
		return describe(p, "safetensors", s), nil
	}
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
	return describe(f, "safetensors", s), nil
}

func describe(f tensors, about string, s *format.Source) format.File {
	if s.Scaled {
		f = joined(f)
	}
	return opened{f, about}
}

func (f opened) About() string { return f.about }

func (f opened) Info(name string) (i format.Info, err error) {
	x, err := f.tensors.Info(name)
	if err != nil {
		return i, err
	}
	i = format.Info{Type: x.DType.String(), DType: x.DType, Shape: x.Shape, Bytes: int64(x.Bytes), Offset: int64(x.Offset)}
	if x.Packed != nil {
		i.Type, i.Text = x.Packed.String(), x.Packed.String()
	}
	i.Layout, err = layout.RowMajor(x.Shape...)
	return i, err
}

// parts is a file that is read by parts.
type parts struct {
	r        io.ReaderAt
	names    []string
	infos    map[string]Info
	metadata map[string]string
}

func (p parts) Names() []string                { return p.names }
func (p parts) Info(name string) (Info, error) { return p.infos[name], nil }
func (p parts) Metadata() map[string]string    { return p.metadata }
func (p parts) Close() error                   { return nil }

func (p parts) Tensor(name string, idx ...tensor.Index) (t tensor.Any, err error) {
	i, err := opened{p, ""}.Info(name)
	if err != nil {
		return t, err
	}
	if x := p.infos[name]; x.Packed != nil || x.DType.Bits() < 8 { // elements smaller than a byte
		b := make([]byte, x.Bytes)
		if n, err := p.r.ReadAt(b, int64(x.Offset)); n < len(b) {
			return t, fail(int64(x.Offset), name, cmp.Or(err, io.ErrUnexpectedEOF), "the file ends early")
		}
		d := x.DType
		if x.Packed != nil {
			d = dtype.Invalid
		}
		one := entry{name: name, shape: x.Shape, end: x.Bytes, typ: typeNamed(x.Type), d: d}
		f := &File{buf: mem.Borrow(b, nil), header: &header{entries: []entry{one}}, byName: map[string]int{name: 0}, views: map[int]tensor.Any{}}
		if err := f.readSixes(); err != nil {
			return t, err
		}
		return f.chosen(0, idx)
	}
	return disk.ReadPart(p.r, i.DType, &i.Layout, i.Offset, conv.BigEndian, idx...)
}
