package disk

import (
	"fmt"
	"io"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// ReadPart reads the part that idx selects of an array of type d and layout whole, whose elements begin at byte at of r. swapped
// tells that their byte order isn't the machine's. ReadPart reads no bytes before the first selected element or after the last.
func ReadPart(r io.ReaderAt, d dtype.DType, whole *layout.Layout, at int64, swapped bool, idx ...layout.Index) (t tensor.Any, err error) {
	lay, off, err := whole.Slice(idx...)
	if err != nil {
		return t, tensor.Wrap("tensor.Slice", err)
	}
	size := d.Size()
	lo, hi := lay.Span() // lo is negative where a step is
	b, err := mem.Alloc((hi - lo + 1) * size)
	if err != nil {
		return t, err
	}
	if n, err := r.ReadAt(b.Bytes(), at+int64(off+lo)*int64(size)); n < b.Len() {
		return t, fmt.Errorf("the file ends early: %w", err)
	}
	t, _, err = SliceBytes(d, b, -lo*size, lay, swapped)
	return t, err
}
