package tensor

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/num"
)

// viewer is what a Tensor[T] offers functions on Any.
type viewer interface {
	anySlice(idx []Index) Any
	anyPermute(axes []int) Any
	anyReshape(shape []int) Any
	anyBroadcast(shape []int) Any
	anyContiguous() Any
	anyClone() Any
	elements() *elements
	anyCopy(src Any)
	storageID() any
	bytes() ([]byte, bool)
	reached() ([]byte, bool)
	Close() error
	fmt.Formatter
}

func (t Tensor[T]) anySlice(idx []Index) Any     { return t.Slice(idx...) }
func (t Tensor[T]) anyPermute(axes []int) Any    { return t.Permute(axes...) }
func (t Tensor[T]) anyReshape(shape []int) Any   { return t.Reshape(shape...) }
func (t Tensor[T]) anyBroadcast(shape []int) Any { return t.BroadcastTo(shape...) }
func (t Tensor[T]) anyContiguous() Any           { return t.Contiguous() }
func (t Tensor[T]) anyClone() Any                { return t.Clone() }

func (t Tensor[T]) anyCopy(src Any) {
	u, ok := src.(Tensor[T])
	if !ok {
		panic(noCopy(t.DType(), src))
	}
	t.CopyFrom(u)
}

func noCopy(d dtype.DType, src Any) *Error {
	const op = "tensor.Copy"
	noNil(op, src)
	if src.DType() == d {
		return &Error{op, sprintf("%T has no elements to copy", src), ErrDType}
	}
	return &Error{op, sprintf("%v can't be copied to %v; convert it with op.Cast", src.DType(), d), ErrDType}
}

func (t Tensor[T]) storageID() any {
	if t.st == nil {
		return nil
	}
	return t.st.id()
}

func (t Tensor[T]) bytes() ([]byte, bool) {
	if t.st == nil || t.st.closed() || !t.lay.IsRowMajor() {
		return nil, false
	}
	return bytesOf(t.reach()), true
}

func (t Tensor[T]) reached() ([]byte, bool) {
	if t.st == nil || t.st.closed() {
		return nil, false
	}
	return bytesOf(t.reach()), true
}

// view runs f on the tensor behind a, and returns the *Error it panics with.
func view(op string, a Any, f func(v viewer) Any) (out Any, err error) {
	if err := none(op, a); err != nil {
		return nil, err
	}
	v, ok := a.(viewer)
	if !ok {
		return nil, &Error{op, sprintf("%T has no elements to view", a), ErrDType}
	}
	err = Try(func() { out = f(v) })
	return out, err
}

// Shape returns the extents of a in a new slice. It panics when a is nil.
func Shape(a Any) []int {
	noNil("tensor.Shape", a)
	s := make([]int, a.Rank())
	for i := range s {
		s[i] = a.Dim(i)
	}
	return s
}

// Len returns the number of elements of a. It panics when a is nil.
func Len(a Any) int {
	noNil("tensor.Len", a)
	lay := a.Layout()
	return lay.Size()
}

// Slice is Tensor.Slice for a run-time element type.
func Slice(a Any, idx ...Index) (Any, error) {
	return view("tensor.Slice", a, func(v viewer) Any { return v.anySlice(idx) })
}

// Permute is Tensor.Permute for a run-time element type.
func Permute(a Any, axes ...int) (Any, error) {
	return view("tensor.Permute", a, func(v viewer) Any { return v.anyPermute(axes) })
}

// Reshape is Tensor.Reshape for a run-time element type.
func Reshape(a Any, shape ...int) (Any, error) {
	return view("tensor.Reshape", a, func(v viewer) Any { return v.anyReshape(shape) })
}

// BroadcastTo is Tensor.BroadcastTo for a run-time element type.
func BroadcastTo(a Any, shape ...int) (Any, error) {
	return view("tensor.BroadcastTo", a, func(v viewer) Any { return v.anyBroadcast(shape) })
}

// Contiguous is Tensor.Contiguous for a run-time element type.
func Contiguous(a Any) (Any, error) {
	return view("tensor.Contiguous", a, func(v viewer) Any { return v.anyContiguous() })
}

// Clone is Tensor.Clone for a run-time element type.
func Clone(a Any) (Any, error) {
	return view("tensor.Clone", a, func(v viewer) Any { return v.anyClone() })
}

// Copy is Tensor.CopyFrom for run-time element types, which must be the same.
func Copy(dst, src Any) error {
	_, err := view("tensor.Copy", dst, func(v viewer) Any { v.anyCopy(src); return nil })
	return err
}

// SameData reports whether a and b share a storage.
func SameData(a, b Any) bool {
	v, ok := a.(viewer)
	w, both := b.(viewer)
	if !ok || !both {
		return false
	}
	id := v.storageID()
	return id != nil && id == w.storageID()
}

// Close is Tensor.Close for a run-time element type, or what another type of tensors has
// of that name.
func Close(a Any) error {
	if v, ok := a.(interface{ Close() error }); ok {
		return v.Close()
	}
	return nil
}

// Bytes returns the memory of a's elements when they are contiguous, in the
// machine's byte order and without copying; else, and when a is closed or has no
// elements of its own, false: Contiguous then copies or says what is wrong. The
// bytes stay valid while a is reachable and open, and must not be written when a
// is read-only.
func Bytes(a Any) ([]byte, bool) {
	v, ok := a.(viewer)
	if !ok {
		return nil, false
	}
	return v.bytes()
}

// Reached returns the memory that a's elements are in, whatever its layout, from the
// lowest to the highest, and the byte in it where offset 0 of the layout is, which is
// negative or beyond when no element is there; false as Bytes. It is for code that copies
// by layout.
func Reached(a Any) (b []byte, first int, ok bool) {
	v, isTensor := a.(viewer)
	if !isTensor {
		return nil, 0, false
	}
	if b, ok = v.reached(); !ok {
		return nil, 0, false
	}
	lay := a.Layout()
	lo, _ := lay.Span()
	return b, -lo * a.DType().Size(), true
}

// maker makes tensors of one element type; makers has one per DType.
type maker struct {
	zeros func(op string, shape []int) Any
	place func(buf *mem.Buffer, off int, lay layout.Layout) (Any, error)
}

func makerOf[T num.Elem]() maker {
	return maker{
		zeros: func(op string, shape []int) Any { return create[T](op, shape, false) },
		place: place[T],
	}
}

func makerFor(d dtype.DType) (maker, bool) {
	switch d {
	case dtype.Bool:
		return makerOf[bool](), true
	case dtype.Int8:
		return makerOf[int8](), true
	case dtype.Int16:
		return makerOf[int16](), true
	case dtype.Int32:
		return makerOf[int32](), true
	case dtype.Int64:
		return makerOf[int64](), true
	case dtype.Uint8:
		return makerOf[uint8](), true
	case dtype.Uint16:
		return makerOf[uint16](), true
	case dtype.Uint32:
		return makerOf[uint32](), true
	case dtype.Uint64:
		return makerOf[uint64](), true
	case dtype.Float8E4M3:
		return makerOf[num.F8E4M3](), true
	case dtype.Float8E5M2:
		return makerOf[num.F8E5M2](), true
	case dtype.Float16:
		return makerOf[num.F16](), true
	case dtype.BFloat16:
		return makerOf[num.BF16](), true
	case dtype.Float32:
		return makerOf[float32](), true
	case dtype.Float64:
		return makerOf[float64](), true
	case dtype.Complex64:
		return makerOf[complex64](), true
	case dtype.Complex128:
		return makerOf[complex128](), true
	case dtype.FP8x23:
		return makerOf[num.FP8x23](), true
	case dtype.FP16x16:
		return makerOf[num.FP16x16](), true
	case dtype.FP32x32:
		return makerOf[num.FP32x32](), true
	case dtype.FP64x64:
		return makerOf[num.FP64x64](), true
	}
	return maker{}, false
}

// Make returns a tensor of zeros of a run-time element type.
func Make(d dtype.DType, shape ...int) (a Any, err error) {
	m, ok := makerFor(d)
	if !ok {
		return nil, &Error{"tensor.Make", sprintf("no tensor holds %v", d), ErrDType}
	}
	err = Try(func() { a = m.zeros("tensor.Make", shape) })
	return a, err
}

// FromBytes returns a tensor over the bytes of buf itself, in the machine's byte
// order: offset 0 of the layout is at byte off. Closing buf or the tensor closes
// both. It fails with ErrShape when the layout reaches outside buf, with ErrView
// when the elements aren't aligned for their type, and with ErrValue when a byte
// of a bool is neither 0 nor 1, which no Go program can hold.
func FromBytes(d dtype.DType, buf *mem.Buffer, off int, lay layout.Layout) (Any, error) {
	m, ok := makerFor(d)
	if !ok {
		return nil, &Error{"tensor.FromBytes", sprintf("no tensor holds %v", d), ErrDType}
	}
	if buf == nil {
		return nil, &Error{"tensor.FromBytes", "there is no buffer: it is nil", ErrClosed}
	}
	return m.place(buf, off, lay)
}

func place[T num.Elem](buf *mem.Buffer, off int, lay layout.Layout) (Any, error) {
	var z T
	view, w, err := bytesAt("tensor.FromBytes", dtype.Of[T](), int(unsafe.Alignof(z)), buf, off, lay)
	if err != nil {
		return nil, err
	}
	return Tensor[T]{st: fromBuffer(buf, typed[T](view)), where: w}, nil
}

// bytesAt returns the bytes of buf that elements reach over.
func bytesAt(op string, d dtype.DType, align int, buf *mem.Buffer, off int, lay layout.Layout) ([]byte, where, error) {
	size, b := d.Size(), buf.Bytes()
	if buf.Closed() {
		return nil, where{}, &Error{op, "the buffer is closed", ErrClosed}
	}
	lo, hi := lay.Span()
	if !within(lay, off, len(b), size) {
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
	if d == dtype.Bool {
		for i, v := range view {
			if v > 1 {
				return nil, where{}, &Error{op, sprintf("byte %d is %d, no bool", from+i, v), ErrValue}
			}
		}
	}
	runtime.KeepAlive(buf)
	return view, where{-lo, lay}, nil
}

// SliceBytes is what a file's reader makes of its bytes: the part that idx selects, as
// Slice does, of a tensor with layout lay whose offset 0 is at byte off of buf. The part
// shares memory with buf, as FromBytes, where it can; then shared is true. Else it is a
// copy: of elements that are not aligned for their type or, as swapped says, in the
// other byte order than the machine's, and of a bool with other bytes than 0 and 1,
// which count as true, or with holes between its elements. Nothing but the part is read.
// It fails with the error of Slice for idx, and as FromBytes for the rest; with an error
// that wraps mem.ErrShrunk when buf is a mapped file that became shorter.
func SliceBytes(d dtype.DType, buf *mem.Buffer, off int, lay layout.Layout, swapped bool, idx ...Index) (a Any, shared bool, err error) {
	const op = "tensor.SliceBytes"
	m, ok := makerFor(d)
	switch {
	case !ok:
		return nil, false, &Error{op, sprintf("no tensor holds %v", d), ErrDType}
	case buf == nil:
		return nil, false, &Error{op, "there is no buffer: it is nil", ErrClosed}
	case buf.Closed():
		return nil, false, &Error{op, "the buffer is closed", ErrClosed}
	case !within(lay, off, buf.Len(), d.Size()):
		return nil, false, &Error{op, sprintf("%v of %v from byte %d reaches outside the buffer of %d bytes", lay, d, off, buf.Len()), ErrShape}
	}
	part, from, err := lay.Slice(idx...)
	if err != nil {
		return nil, false, Wrap("tensor.Slice", err)
	}
	if part.Size() > 0 {
		off += from * d.Size()
	}
	err = mem.Guard(func() (err error) {
		if (!swapped || conv.Unit(d) == 1) && (d != dtype.Bool || part.IsCompact()) {
			if a, err = m.place(buf, off, part); err == nil {
				shared = true
				return nil
			}
		}
		a, err = copyBytes(m, d, buf.Bytes(), off, part, swapped)
		return err
	})
	runtime.KeepAlive(buf)
	if _, own := err.(*Error); err != nil && !own {
		err = &Error{op, err.Error(), err}
	}
	return a, shared, err
}

// within reports whether the elements that lay reaches, of size bytes and with offset 0
// at byte off, are among n bytes.
func within(lay layout.Layout, off, n, size int) bool {
	lo, hi := lay.Span()
	return off >= 0 && off <= n && lo >= -(off/size) && hi < (n-off)/size
}

// copyBytes makes a tensor of the elements at the offsets of lay, which are within b.
func copyBytes(m maker, d dtype.DType, b []byte, off int, lay layout.Layout, swapped bool) (Any, error) {
	size, n := d.Size(), lay.Size()
	if n > maxInt/size {
		return nil, &Error{"tensor.SliceBytes", sprintf("%s of %v is larger than the address space", lay.ShapeString(), d), ErrMemory}
	}
	own, err := mem.AllocDirty(n * size)
	if err != nil {
		return nil, &Error{"tensor.SliceBytes", err.Error(), ErrMemory}
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
	if d == dtype.Bool {
		for i, v := range to {
			to[i] = min(v, 1)
		}
	}
	return m.place(own, 0, lay)
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

// Describe writes an element type and a shape: float32[2,3], or int64[] for rank 0. It panics when
// a is nil.
func Describe(a Any) string {
	noNil("tensor.Describe", a)
	text := a.DType().String() + "["
	for i := range a.Rank() {
		if i > 0 {
			text += ","
		}
		text += sprintf("%d", a.Dim(i))
	}
	return text + "]"
}
