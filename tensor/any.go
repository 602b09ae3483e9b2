package tensor

import (
	"runtime"
	"unsafe"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
)

// owner names the kind of a tensor without elements.
func (a *Any) owner() string {
	if a.st == nil {
		return "tensor.Spec"
	}
	return sprintf("%T", a.st.foreign)
}

// foreign is reach.Foreign.
func foreign(by any, d dtype.DType, lay layout.Layout) Any {
	return Any{st: &storage{dtype: d, foreign: by}, where: where{lay: lay}}
}

// Foreign returns who has the elements of a tensor that are no []T of a Go type: a pack.Tensor or a device.Tensor. It
// is nil for other tensors.
func (a Any) Foreign() any {
	if a.st == nil {
		return nil
	}
	return a.st.foreign
}

// viewable panics when a has no elements of a Go type.
func (a *Any) viewable(op string) {
	if a.st == nil || a.st.foreign != nil {
		if a.IsZero() {
			panic(none(op, *a))
		}
		panic(&Error{op, a.owner() + " has no elements to view", ErrDType})
	}
}

// Slice returns a view of the elements that idx selects. It panics as Tensor.Slice does,
// and when a has no elements.
func (a Any) Slice(idx ...Index) Any {
	a.viewable("tensor.Slice")
	slice("tensor.Slice", &a.where, idx)
	return a
}

// Permute returns a view with the axes in another order. It panics as Tensor.Permute
// does, and when a has no elements.
func (a Any) Permute(axes ...int) Any {
	a.viewable("tensor.Permute")
	permute(&a.lay, axes)
	return a
}

// Reshape returns the elements in another shape: a view where the strides allow it, else
// a copy. It panics as Tensor.Reshape does, and when a has no elements.
func (a Any) Reshape(shape ...int) Any {
	a.viewable("tensor.Reshape")
	reshape("tensor.Reshape", &a, shape)
	return a
}

// BroadcastTo returns a read-only view stretched to shape. It panics as
// Tensor.BroadcastTo does, and when a has no elements.
func (a Any) BroadcastTo(shape ...int) Any {
	a.viewable("tensor.BroadcastTo")
	stretchTo("tensor.BroadcastTo", &a.lay, shape)
	freeze(&a)
	return a
}

// Contiguous returns a itself when it is contiguous, else a row-major copy. It panics
// when a has no elements.
func (a Any) Contiguous() Any {
	a.viewable("tensor.Contiguous")
	contiguous(&a)
	return a
}

// Clone returns a copy with a storage of its own and the layout that Tensor.Clone gives.
// It panics when a has no elements.
func (a Any) Clone() Any {
	a.viewable("tensor.Clone")
	return clone(&a)
}

// Slice returns a view of the elements that idx selects, as Any.Slice does, and an error
// where that panics.
func Slice(a Any, idx ...Index) (out Any, err error) {
	err = Try(func() { out = a.Slice(idx...) })
	return out, err
}

// Permute returns a view with the axes in another order, as Any.Permute does, and an
// error where that panics.
func Permute(a Any, axes ...int) (out Any, err error) {
	err = Try(func() { out = a.Permute(axes...) })
	return out, err
}

// Reshape returns the elements in another shape, as Any.Reshape does, and an error where
// that panics.
func Reshape(a Any, shape ...int) (out Any, err error) {
	err = Try(func() { out = a.Reshape(shape...) })
	return out, err
}

// BroadcastTo returns a read-only view stretched to shape, as Any.BroadcastTo does, and an
// error where that panics.
func BroadcastTo(a Any, shape ...int) (out Any, err error) {
	err = Try(func() { out = a.BroadcastTo(shape...) })
	return out, err
}

// Contiguous returns a itself when it is contiguous, else a row-major copy, and an error
// where Any.Contiguous panics.
func Contiguous(a Any) (out Any, err error) {
	err = Try(func() { out = a.Contiguous() })
	return out, err
}

// Clone returns a copy with a storage of its own, as Any.Clone does, and an error where
// that panics.
func Clone(a Any) (out Any, err error) {
	err = Try(func() { out = a.Clone() })
	return out, err
}

// CopyFrom is Tensor.CopyFrom. It panics also when the element types differ, and when one
// of the two has no elements.
func (a Any) CopyFrom(src Any) {
	const op = "tensor.Copy"
	a.viewable(op)
	noNil(op, src)
	switch {
	case src.DType() != a.st.dtype:
		panic(&Error{op, sprintf("%v can't be copied to %v; convert it with op.Cast", src.DType(), a.st.dtype), ErrDType})
	case src.st == nil || src.st.foreign != nil:
		panic(&Error{op, src.owner() + " has no elements to copy", ErrDType})
	}
	copyFrom(&a, &src)
}

// Copy copies src, stretched if need be, to the elements of dst, as Tensor.CopyFrom does.
// Both have the same element type. It fails where that panics, and when one has no
// elements.
func Copy(dst, src Any) error { return Try(func() { dst.CopyFrom(src) }) }

// Bytes returns the memory of a's elements when they are contiguous, in the
// machine's byte order and without copying; else, and when a is closed or has no
// elements of its own, false: Contiguous then copies or names the mistake. The
// bytes stay valid while a is reachable and open, and must not be written when a
// is read-only.
func Bytes(a Any) ([]byte, bool) {
	if !a.open() || !walk.Ref(&a.lay).IsRowMajor() {
		return nil, false
	}
	return a.reach(), true
}

// Make returns a tensor of zeros of a run-time element type.
func Make(d dtype.DType, shape ...int) (a Any, err error) {
	if d.Size() == 0 {
		return a, &Error{"tensor.Make", sprintf("no tensor holds %v", d), ErrDType}
	}
	err = Try(func() { a = create("tensor.Make", d, shape, false) })
	return a, err
}

// EmptyOf is Empty for a run-time element type. It panics as Empty does, and for a type
// that no tensor holds.
func EmptyOf(d dtype.DType, shape ...int) Any {
	if d.Size() == 0 {
		panic(&Error{"tensor.EmptyOf", sprintf("no tensor holds %v", d), ErrDType})
	}
	return create("tensor.Empty", d, shape, true)
}

// FromBytes returns a tensor over the bytes of buf itself, in the machine's byte order:
// offset 0 of the layout is at byte off. Closing buf or the tensor closes both. It fails
// with ErrShape when the layout reaches outside buf, and with ErrView when the elements
// aren't aligned for their type. It fails with ErrValue when a byte of a bool is neither 0
// nor 1, which no Go program can hold; also when a byte is no element of a type of 2 or 4
// bits.
func FromBytes(d dtype.DType, buf *mem.Buffer, off int, lay layout.Layout) (Any, error) {
	if d.Size() == 0 {
		return Any{}, &Error{"tensor.FromBytes", sprintf("no tensor holds %v", d), ErrDType}
	}
	if buf == nil {
		return Any{}, &Error{"tensor.FromBytes", "there is no buffer: it is nil", ErrClosed}
	}
	return place(d, buf, off, lay)
}

func place(d dtype.DType, buf *mem.Buffer, off int, lay layout.Layout) (Any, error) {
	view, w, err := bytesAt("tensor.FromBytes", d, alignOf(d), buf, off, lay)
	if err != nil {
		return Any{}, err
	}
	return Any{st: fromBuffer(d, buf, view), where: w}, nil
}

// alignOf returns the alignment in bytes that Go wants of the elements.
func alignOf(d dtype.DType) int {
	switch unit := conv.Unit(d); unit {
	case 8:
		return int(unsafe.Alignof(uint64(0)))
	default:
		return unit
	}
}

// bytesAt returns the bytes of buf that elements reach over.
func bytesAt(op string, d dtype.DType, align int, buf *mem.Buffer, off int, lay layout.Layout) ([]byte, where, error) {
	size, b := d.Size(), buf.Bytes()
	if buf.Closed() {
		return nil, where{}, &Error{op, "the buffer is closed", ErrClosed}
	}
	lo, hi := lay.Span()
	if !walk.Within(&lay, off, len(b), size) {
		return nil, where{}, &Error{op, sprintf("%v of %v from byte %d reaches outside the buffer of %d bytes", lay, d, off, len(b)), ErrShape}
	}
	if hi < lo {
		return nil, where{0, lay}, nil
	}
	from := off + lo*size
	view := b[from : from+(hi-lo+1)*size]
	if int(uintptr(unsafe.Pointer(unsafe.SliceData(view)))%uintptr(align)) != 0 {
		return nil, where{}, &Error{op, sprintf("byte %d is not aligned for %v; copy the bytes to a tensor of its own", off, d), ErrView}
	}
	if i := d.Misfit(view); i >= 0 {
		return nil, where{}, &Error{op, sprintf("byte %d is %d, no %v", from+i, view[i], d), ErrValue}
	}
	runtime.KeepAlive(buf)
	return view, where{-lo, lay}, nil
}

// Describe writes an element type and a shape: float32[2,3], or int64[] for rank 0. It panics when
// a is the zero value.
func Describe(a Any) string {
	noNil("tensor.Describe", a)
	return describe(a.DType(), &a.lay)
}

func describe(d dtype.DType, lay *layout.Layout) string {
	text := d.String() + "["
	for i := range walk.Ref(lay).Rank() {
		if i > 0 {
			text += ","
		}
		text += sprintf("%d", walk.Ref(lay).Dim(i))
	}
	return text + "]"
}
