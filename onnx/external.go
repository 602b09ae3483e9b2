package onnx

import (
	"fmt"

	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// noFolder says why the elements can't be read; "" if they can be looked for.
func (x *External) noFolder() string {
	if x.from == nil {
		return fmt.Sprintf("elements in another file (%.200q), of an unknown folder; Open, OpenFS and DecodeIn know it", x.Location)
	}
	return ""
}

// find returns the file that holds the elements, with the place and the number of their bytes there.
func (x *External) find() (buf *mem.Buffer, at, n int, err error) {
	if why := x.noFolder(); why != "" {
		return nil, 0, 0, failf("%w: %s", ErrUnsupported, why)
	}
	var sums []string
	for _, e := range x.Entries {
		if e.Key == "checksum" && e.Value != "" {
			sums = append(sums, e.Value)
		}
	}
	buf, at, n, err = x.from.Find(x.Location, x.Offset, x.Length, sums)
	return buf, at, n, in(fmt.Sprintf("file %.200q", x.Location), err)
}

// A copying counts bytes that are copied out of other files. Tensors may share bytes there, so the files don't bound them.
type copying int64

// add counts t unless it is used in place.
func (c *copying) add(m *Model, t *TensorProto) error {
	if t.External == nil || t.Type == ElemString {
		return nil
	}
	n, size, err := t.check()
	if err != nil {
		return err
	}
	if _, _, ok := m.place(t); ok {
		return nil
	}
	if *c += copying(n) * copying(size); int64(*c) > copiedBase+copiedFactor*m.folder.Size() {
		return failf("%w: the copies of elements from other files would take more than %d MiB + %d × the size of the files", tensor.ErrMemory, copiedBase>>20, copiedFactor)
	}
	return nil
}

// What may be copied out of other files: a model that isn't made to do harm needs at most their size.
const (
	copiedBase   = 16 << 20
	copiedFactor = 2
)
