package disk

import (
	"fmt"
	"math"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/ram"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// SliceBytes makes a tensor of the bytes of a file: the part that idx selects, as tensor.Slice
// does, of a tensor with layout lay whose offset 0 is at byte off of buf. The part shares
// memory with buf, as tensor.FromBytes, where it can; then shared is true. Else it is a copy.
// These elements are copied:
//
//   - elements that aren't aligned for their type
//   - elements in the other byte order than the machine's, as swapped says
//   - a bool with other bytes than 0 and 1, which count as true
//   - a type of 2 or 4 bits with bytes beyond it, whose low bits count
//   - a type of 2 or 4 bits with holes between its elements
//
// Nothing but the part is read. It fails with the error of tensor.Slice for idx, and as FromBytes
// for the rest; with an error that wraps mem.ErrShrunk when buf is a mapped file that
// became shorter.
func SliceBytes(d dtype.DType, buf *mem.Buffer, off int, lay layout.Layout, swapped bool, idx ...layout.Index) (a tensor.Any, shared bool, err error) {
	const op = "tensor.FromBytes"
	switch {
	case d.Size() == 0:
		return a, false, &tensor.Error{Op: op, Text: fmt.Sprintf("no tensor holds %v", d), Err: tensor.ErrDType}
	case buf == nil:
		return a, false, &tensor.Error{Op: op, Text: "there is no buffer: it is nil", Err: tensor.ErrClosed}
	case buf.Closed():
		return a, false, &tensor.Error{Op: op, Text: "the buffer is closed", Err: tensor.ErrClosed}
	case !walk.Within(&lay, off, buf.Len(), d.Size()):
		return a, false, &tensor.Error{Op: op, Text: fmt.Sprintf("%v of %v from byte %d reaches outside the buffer of %d bytes", lay, d, off, buf.Len()), Err: tensor.ErrShape}
	}
	part, from, err := lay.Slice(idx...)
	if err != nil {
		return a, false, tensor.Wrap("tensor.Slice", err)
	}
	if part.Size() > 0 {
		off += from * d.Size()
	}
	err = ram.Guard(func() (err error) {
		if (!swapped || conv.Unit(d) == 1) && (!d.IsPartial() || part.IsCompact()) {
			if a, err = tensor.FromBytes(d, buf, off, part); err == nil {
				shared = true
				return nil
			}
		}
		a, err = copyBytes(d, buf.Bytes(), off, part, swapped)
		return err
	})
	runtime.KeepAlive(buf)
	if _, own := err.(*tensor.Error); err != nil && !own {
		err = &tensor.Error{Op: op, Text: err.Error(), Err: err}
	}
	return a, shared, err
}

// copyBytes makes a tensor of the elements at the offsets of lay, which are within b.
func copyBytes(d dtype.DType, b []byte, off int, lay layout.Layout, swapped bool) (tensor.Any, error) {
	size, n := d.Size(), lay.Size()
	if n > math.MaxInt/size {
		return tensor.Any{}, &tensor.Error{Op: "tensor.FromBytes", Text: fmt.Sprintf("%s of %v is larger than the address space", lay.ShapeString(), d), Err: tensor.ErrMemory}
	}
	own, err := mem.AllocDirty(n * size)
	if err != nil {
		return tensor.Any{}, &tensor.Error{Op: "tensor.FromBytes", Text: err.Error(), Err: tensor.ErrMemory}
	}
	to := own.Bytes()
	if lay.IsCompact() { // then the layout stays
		copy(to, b[off:])
	} else {
		gatherBytes(to, b, off, size, &lay)
		lay, _ = layout.RowMajor(lay.Shape()...)
	}
	if swapped {
		conv.Reverse(to, conv.Unit(d))
	}
	d.Mend(to)
	return tensor.FromBytes(d, own, 0, lay)
}

// gatherBytes copies elements of size bytes in row-major order.
func gatherBytes(to, b []byte, off, size int, lay *layout.Layout) {
	ext, str := lay.Runs()
	inner, step := 1, 1
	if len(ext) > 0 {
		inner, step = ext[0], str[0]
	}
	at := make([]int, len(ext))
	for len(to) > 0 {
		if step == 1 {
			to = to[copy(to, b[off:off+inner*size]):]
		} else {
			for i := range inner {
				from := off + i*step*size
				to = to[copy(to, b[from:from+size]):]
			}
		}
		for k := 1; k < len(ext); k++ {
			off += str[k] * size
			if at[k]++; at[k] < ext[k] {
				break
			}
			off -= ext[k] * str[k] * size
			at[k] = 0
		}
	}
}
