package onnx

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"

	"github.com/ashlar-go/ashlar/internal/core/ram"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/onnx/internal/wire"
	"github.com/ashlar-go/ashlar/tensor"
)

// Open maps the ONNX file at path and decodes its graph. Weights stay in the file and are used there where they are
// aligned; the file must keep its contents until Close. Weights in other files, which lie in the model's folder or below,
// are used in the same way.
func Open(path string) (*Model, error) {
	buf, err := mem.Map(path)
	if err != nil {
		return nil, inFile(path, plainPath(err, path))
	}
	return decodeBuffer(buf, path, &wire.Folder{Dir: filepath.Dir(path)})
}

// OpenFS reads the ONNX file name from fsys, an embed.FS or a zip for example, and decodes it. Other
// files, in which weights are, it reads when they are needed.
func OpenFS(fsys fs.FS, name string) (*Model, error) {
	if fsys == nil {
		return nil, inFile(name, failf("%w: there is no file system: it is nil", tensor.ErrValue))
	}
	b, err := wire.ReadFile(fsys, name)
	if err != nil {
		return nil, inFile(name, plainPath(err, name))
	}
	return decodeBuffer(mem.Borrow(b, nil), name, &wire.Folder{FS: fsys, Base: path.Dir(name)})
}

// Decode decodes the bytes of an ONNX file. The model goes on using b, which must stay as it is. A model with weights in
// other files needs DecodeIn, or Open.
func Decode(b []byte) (*Model, error) { return decodeBuffer(mem.Borrow(b, nil), "", nil) }

// DecodeIn is Decode for a model whose other files, in which weights are, lie in fsys. It reads them when they are needed.
func DecodeIn(b []byte, fsys fs.FS) (*Model, error) {
	if fsys == nil {
		return nil, inFile("", failf("%w: there is no file system: it is nil", tensor.ErrValue))
	}
	return decodeBuffer(mem.Borrow(b, nil), "", &wire.Folder{FS: fsys})
}

func decodeBuffer(buf *mem.Buffer, name string, f *wire.Folder) (*Model, error) {
	d := newDecoder(buf.Len())
	d.from, d.folder = buf, f
	var m *Model
	err := ram.Guard(func() (err error) {
		m, err = d.model(wire.Message{Bytes: buf.Bytes()})
		return err
	})
	if err != nil {
		buf.Close()
		return nil, inFile(name, err)
	}
	m.source = source{file: name, buf: buf, folder: f}
	return m, nil
}

// plainPath cuts the path out of an error that will name it anyway.
func plainPath(err error, path string) error {
	var pe *fs.PathError
	if errors.As(err, &pe) && pe.Path == path {
		return pe.Err
	}
	return err
}
