package npy

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

func init() {
	format.Register(&format.Format{Name: "npy", Ends: []string{".npy"}, Sign: format.Begins("\x93NUMPY"), Open: openOne,
		Write: func(w io.Writer, arrays []format.Array, o format.WriteOptions) error {
			return Write(w, arrays[0].Tensor, &WriteOptions{Fortran: o.Fortran})
		}})
	format.Register(&format.Format{Name: "npz", Ends: []string{".npz"}, Several: true, Sign: format.Begins("PK\x03\x04", "PK\x05\x06"), Zipped: func(names []string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(name, suffix) })
	}, Open: openNPZ,
		Write: func(w io.Writer, arrays []format.Array, o format.WriteOptions) error {
			names, ts := formats.Apart(arrays)
			return WriteZip(w, names, ts, &WriteOptions{Fortran: o.Fortran})
		}})
}

// infoOf describes the array of a header.
func infoOf(h Header) format.Info {
	i := format.Info{Type: h.DType.String(), DType: h.DType, Shape: h.Shape, Bytes: int64(h.Bytes())}
	var storage []string
	if h.Fortran {
		storage = append(storage, "column-major")
	}
	if h.BigEndian {
		storage = append(storage, "big-endian")
	}
	i.Storage = strings.Join(storage, ", ")
	if lay, err := h.Layout(); err == nil {
		i.Layout = lay
	}
	return i
}

func openOne(s *format.Source) (format.File, error) {
	header := func() (Header, error) {
		return formats.Read(s, func(r io.Reader) (Header, error) { return ReadHeader(r, nil) })
	}
	f := &formats.One{Header: func() (string, format.Info, error) {
		h, err := header()
		if err != nil {
			return "", format.Info{}, err
		}
		i := infoOf(h)
		i.Offset = int64(h.Offset)
		return "npy version " + string('0'+byte(h.Version)), i, nil
	}, Read: func() (tensor.Any, error) { return Read(s.R, nil) }}
	switch {
	case s.Path != "":
		f.Part = func(idx []layout.Index) (tensor.Any, error) { return Open(s.Path, nil, idx...) }
	case s.At != nil:
		f.Part = func(idx []layout.Index) (tensor.Any, error) {
			h, err := header()
			if err != nil {
				return tensor.Any{}, err
			}
			i := infoOf(h)
			i.Offset = int64(h.Offset)
			return disk.ReadPart(s.At, i.DType, &i.Layout, i.Offset, h.BigEndian != conv.BigEndian, idx...)
		}
	}
	return f, nil
}

// A zipped is a Zip as a format.File.
type zipped struct{ *Zip }

func openNPZ(s *format.Source) (f format.File, err error) {
	o := &Options{MaxBytes: max(s.MaxBytes, 0)}
	var z *Zip
	switch {
	case s.Path != "":
		z, err = OpenZip(s.Path, o)
	case s.At != nil:
		z, err = NewZip(s.At, s.Size, o)
	default:
		var b []byte
		if b, err = formats.All(s); err == nil {
			z, err = NewZip(bytes.NewReader(b), int64(len(b)), o)
		}
	}
	if err == nil && len(z.names) == 0 && z.other != "" {
		z.Close()
		err = disk.In(s.Path, fail(-1, format.ErrFormat, "the zip file has no array: none of its entries ends in .npy or begins like an npy file, and none is of another format that the program imports; one is %.100q", z.other))
	}
	return zipped{z}, err
}

func (zipped) About() string { return "npz" }

func (z zipped) Info(name string) (format.Info, error) {
	h, err := z.Header(name)
	if err != nil {
		return format.Info{}, err
	}
	return infoOf(h), nil
}
