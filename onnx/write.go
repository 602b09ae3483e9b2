package onnx

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/onnx/internal/wire"
	"github.com/ashlar-go/ashlar/tensor"
)

// WriteExternal writes m to the file at path, with the elements of each weight of least bytes or more in a second file
// beside it, whose name is that of the model and ".data". There they start at multiples of 64, large ones of 4096, so that
// Open uses them in place. Weights that m has in other files move into these two. Strings stay in the first.
//
// Each file is written under another name, and takes its own when both are complete: a write that fails leaves the files that were
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
