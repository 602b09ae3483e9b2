package onnx

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/onnx/internal/wire"
	"github.com/ashlar-go/ashlar/tensor"
)

// WriteExternal writes m to the file at path, with the elements of each weight of least bytes or more in a second file
// beside it, whose name is that of the model and ".data". There they start at multiples of 64, large ones of 4096, so that
// Open uses them in place. Weights that m has in other files move into these two. Strings stay in the first.
//
// Each file is written under another name, and takes its own when both are complete: a write that fails leaves what was
// there. Only an end of the program between the two renames leaves the new weights beside the old model. Without a large
// weight there is no second file. It fails where Encode does, for a negative number of bytes, and
// where something stands at path that is no regular file.
func (m *Model) WriteExternal(path string, least int) error {
	if least < 0 {
		return inFile(path, failf("%w: weights of %d bytes or more", tensor.ErrValue, least))
	}
	return inFile(path, m.use(func() error { return plainPath(m.writeExternal(path, least), path) }))
}

func (m *Model) writeExternal(path string, least int) (err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return mem.ErrNotFile
	} else if path == "" {
		return err
	}
	d := &data{name: filepath.Base(path) + ".data", least: least}
	// The names are short: that of the file may be as long as names can be.
	part := filepath.Join(filepath.Dir(path), fmt.Sprintf("ashlar-%016x", rand.Uint64()))
	parts := []string{part + ".data", part + ".part"}
	defer func() {
		for _, p := range parts {
			if e := os.Remove(p); err == nil && e != nil && !errors.Is(e, fs.ErrNotExist) {
				err = e
			}
		}
	}()
	var file []byte
	err = wire.WriteNew(parts[0], func(w io.Writer) (err error) {
		d.DataFile = wire.NewDataFile(w)
		if file, err = encode(m, d); err == nil {
			err = d.Flush()
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := wire.WriteNew(parts[1], func(w io.Writer) error { _, err := w.Write(file); return err }); err != nil {
		return err
	}
	if d.Size() > 0 {
		if err := os.Rename(parts[0], filepath.Join(filepath.Dir(path), d.name)); err != nil {
			return err
		}
	}
	return os.Rename(parts[1], path)
}

// data is the file beside a model that weights of least bytes and more go to.
type data struct {
	*wire.DataFile
	name  string
	least int
}

// stored returns weights as they are written: with elements in the data file, if there is one.
func (e *encoder) stored(list []TensorProto) []TensorProto {
	if e.data == nil {
		return list
	}
	list = slices.Clone(list)
	for i := range list {
		t := &list[i]
		if t.Type == ElemString || t.unsupported() != "" {
			continue
		}
		err := e.move(t)
		if err != nil && e.err == nil {
			e.err = in(fmt.Sprintf("initializer %q", t.Name), err)
		}
	}
	return list
}

// move puts the elements of t into the data file if they are many, else into t.
func (e *encoder) move(t *TensorProto) error {
	if !e.hold(t) {
		return nil // e.err says it
	}
	n, size, err := t.check()
	if err != nil {
		return err
	}
	raw := t.Raw
	switch large := n*size >= e.data.least && n > 0; {
	case t.External != nil:
		buf, at, n, err := t.External.find()
		if err != nil {
			return err
		}
		release, err := wire.Hold(buf)
		if err != nil {
			return err
		}
		defer release()
		if raw = buf.Bytes()[at:][:n]; !large {
			t.Raw, t.External = append([]byte{}, raw...), nil
			return nil
		}
	case !large:
		return nil
	case t.list != 0:
		raw = make([]byte, n*size)
		if err := t.unlist(raw, size); err != nil {
			return err
		}
	}
	at, err := e.data.Put(raw)
	t.External = &External{Location: e.data.name, Offset: at, Length: int64(len(raw))}
	t.Raw, t.list, t.count, t.body = nil, 0, 0, wire.Message{}
	return err
}
