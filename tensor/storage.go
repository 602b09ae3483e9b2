package tensor

import (
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/ram"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/num"
)

var sprintf = fmt.Sprintf

// storage is the elements and who owns them. Tensors that share elements share one
// storage. Whose the memory is, and until when, is known in one place, the root: a
// storage that sees it as another element type asks there. A field that changes is atomic, so
// that Close may run beside readers of pinned memory; see docs/concurrency.md.
type storage struct {
	first    atomic.Pointer[byte] // the first element; nil once closed
	n        int                  // elements
	dtype    dtype.DType
	readOnly bool
	borrowed bool                 // the elements are a slice of the caller's
	lent     atomic.Bool          // a slice was handed out: Close leaves block to the collector
	buf      *mem.Buffer          // the owner; nil when that is the Go heap
	block    atomic.Pointer[byte] // the owner when that is a block of the Go heap
	room     int                  // the block's size; 0 when there is none
	root     *storage             // whose memory it is, seen as another element type; nil when it is its own
	lazy     *lazy                // how the elements are to be computed, which aren't there
	foreign  any                  // who has the elements, when they are no []T
}

// newStorage makes a storage of data.
func newStorage[T num.Elem](data []T) *storage {
	s := &storage{dtype: dtype.Of[T]()}
	s.set(bytesOf(data))
	return s
}

// set makes data the elements, a whole number of them.
func (m *storage) set(data []byte) {
	p := unsafe.SliceData(data)
	if p == nil {
		p = &nothing // nil is for a closed storage
	}
	m.n = len(data) / m.dtype.Size()
	m.first.Store(p)
}

// nothing is where storages without elements begin.
var nothing byte

// closed asks the buffer too: it may have been closed by its owner, or through a
// tensor with another storage on the same buffer.
func (m *storage) closed() bool {
	return m.first.Load() == nil || m.buf != nil && m.buf.Closed() || m.root != nil && m.root.closed()
}

// open returns the first element where the elements are surely there; where it is nil
// closed knows. It is small enough to be inlined.
func (m *storage) open() unsafe.Pointer {
	if m.root == nil && (m.buf == nil || !m.buf.Closed()) {
		return unsafe.Pointer(m.first.Load())
	}
	return nil
}

// element returns element i, 0 ≤ i < n, of the elements that begin at p.
func element[T num.Elem](p unsafe.Pointer, i int) *T {
	var z T
	return (*T)(unsafe.Add(p, uintptr(i)*unsafe.Sizeof(z)))
}

// bytes returns the memory of the elements, for a caller who knows that they were there.
// It panics when they were closed meanwhile.
func (m *storage) bytes() []byte {
	p := m.first.Load()
	if p == nil {
		panic(noData("tensor", m))
	}
	return unsafe.Slice(p, m.n*m.dtype.Size())
}

// elems returns the elements of a storage of T, as bytes does.
func elems[T num.Elem](m *storage) []T { return typed[T](m.bytes()) }

// id is the same for all storages on one memory: its root.
func (m *storage) id() *storage {
	if m.root != nil {
		return m.root
	}
	return m
}

// lend says that a slice of the elements was given out.
func (m *storage) lend() {
	m = m.id()
	if m.buf != nil {
		m.buf.Lend()
	}
	if m.room > 0 && !m.lent.Load() {
		m.lent.Store(true)
	}
}

// pin keeps the memory until release is called.
func (m *storage) pin() (release func()) {
	m = m.id()
	if m.buf != nil {
		if !m.buf.Hold() {
			return func() {}
		}
		return sync.OnceFunc(m.buf.Release)
	}
	m.lent.Store(true) // the Go heap: whoever has the slice keeps it, once it isn't reused
	return func() {}
}

func (m *storage) close() error {
	m.first.Store(nil)
	if m.root != nil {
		return m.root.close()
	}
	if b := m.block.Swap(nil); b != nil && !m.lent.Load() {
		ram.Return(unsafe.Slice(b, m.room))
	}
	if m.buf != nil {
		return m.buf.Close()
	}
	return nil
}

func (m *storage) kind() string {
	switch {
	case m.buf != nil:
		return m.buf.Kind().String()
	case m.borrowed:
		return "borrowed"
	}
	return "owned"
}

// heapMax is the size in bytes up to which elements live on the Go heap; larger
// ones are mem's, which can give them back without waiting for the collector.
const heapMax = mem.Large - 1

// allocate makes a storage of n elements, zeroed unless dirty.
func allocate(d dtype.DType, n int, dirty bool) (*storage, error) {
	block, buf, err := room(n, d.Size(), dirty && (d == dtype.Bool || !d.IsPartial()))
	switch {
	case err != nil:
		return nil, err
	case buf != nil:
		return fromBuffer(d, buf, buf.Bytes()), nil
	}
	st := &storage{dtype: d}
	st.set(block)
	st.block.Store(unsafe.SliceData(block))
	st.room = cap(block)
	return st, nil
}

// room returns memory for n elements, as a block of the Go heap or a buffer.
func room(n, size int, dirty bool) (block []byte, buf *mem.Buffer, err error) {
	switch {
	case n > maxInt/size:
		err = fmt.Errorf("%d elements of %d bytes don't fit the address space", n, size)
	case n*size <= heapMax:
		block = ram.Block(n*size, dirty)
	case dirty:
		buf, err = mem.AllocDirty(n * size)
	default:
		buf, err = mem.Alloc(n * size)
	}
	return block, buf, err
}

const maxInt = int(^uint(0) >> 1)

// typed views bytes, whose start is aligned for T, as elements.
func typed[T any](b []byte) []T {
	var z T
	if len(b) == 0 {
		return []T{}
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(z)))
}

// bytesOf views elements as bytes.
func bytesOf[T num.Elem](s []T) []byte {
	var z T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(z)))
}

// fromBuffer makes a storage of elements that live in buf and are gone when buf
// is closed.
func fromBuffer(d dtype.DType, buf *mem.Buffer, data []byte) *storage {
	st := &storage{dtype: d, buf: buf, readOnly: buf.ReadOnly()}
	st.set(data)
	return st
}

// Close gives the storage back at once, for every tensor that shares it: any
// later access panics with ErrClosed. Without it the collector does the same
// when the last tensor is gone. Closing twice is no mistake; closing a view
// closes its whole storage, and of a tensor from FromBytes the buffer. A slice
// handed out by Elems or Data must not be used afterwards.
func (t Tensor[T]) Close() error { return t.a.Close() }

// Closed reports whether the storage is given back. A Spec, the zero value and a lazy or a foreign tensor have none to give back.
func (a *Any) Closed() bool {
	return a.st != nil && a.st.open() == nil && a.st.gone()
}

// gone is closed for a storage that open doesn't know.
//
//go:noinline
func (m *storage) gone() bool { return m.foreign == nil && m.lazy == nil && m.closed() }

// Close gives the storage back at once, as Tensor.Close does. Of a foreign tensor it is the
// Close of the value it was made of, if that has one. A Spec and the zero value have nothing to
// close.
func (a Any) Close() error {
	if a.st == nil {
		return nil
	}
	if c, ok := a.st.foreign.(io.Closer); ok {
		return c.Close()
	}
	return a.st.close()
}

// A Storage describes the memory of a tensor's elements.
type Storage struct {
	Kind     mem.Kind // whose the memory is
	Bytes    int      // how much the tensor keeps in use: its own elements, and all others of the storage
	Align    int      // a power of two that divides the address of the first byte, at most the page size
	ReadOnly bool     // mapped read-only: no handle can write
}

// Storage describes the memory behind a. It panics when there is none any more.
func (a Any) Storage() Storage {
	first := a.pointer("tensor.Storage")
	s := Storage{Kind: mem.Owned, Bytes: a.st.n * a.st.dtype.Size(), ReadOnly: a.st.readOnly}
	switch {
	case a.st.buf != nil:
		s.Kind, s.Bytes = a.st.buf.Kind(), a.st.buf.Len()
	case a.st.borrowed:
		s.Kind = mem.Borrowed
	}
	s.Align = ram.AlignOf(first)
	runtime.KeepAlive(a.st)
	return s
}

// RetainedBytes returns how much memory a keeps in use: a view keeps the whole
// storage, and a tensor from FromBytes the whole buffer. 0 when there is none.
func (a Any) RetainedBytes() int {
	if !a.open() {
		return 0
	}
	return a.Storage().Bytes
}

// Detach returns t itself when its elements are all that its storage holds, else a
// Clone: the result keeps nothing else in memory.
func Detach[T num.Elem](t Tensor[T]) Tensor[T] {
	detach(&t.a)
	return t
}

func detach(a *Any) {
	a.pointer("tensor.Detach")
	if a.RetainedBytes() == a.Len()*a.st.dtype.Size() && a.lay.IsCompact() {
		return
	}
	*a = clone(a)
	ram.Copied.Add(int64(a.Len() * a.st.dtype.Size()))
}

// Pin keeps the memory of a where it is until release is called, whatever happens
// to a meanwhile. A Close, of a or of any tensor on the same memory, refuses further use
// at once, and takes the memory back at the release. A slice from Elems or Data obtained
// between Pin and Close is valid until the release, and Close may run in another goroutine
// while it is used. A second call of release does nothing.
func (a Any) Pin() (release func()) {
	a.pointer("tensor.Pin")
	return a.st.pin()
}

// An Export is a tensor's memory for code that isn't Go's or doesn't know tensors.
type Export struct {
	Pointer  unsafe.Pointer // to element 0; nil when there is no element
	DType    dtype.DType
	Shape    []int
	Strides  []int // in elements, may be negative or 0
	ReadOnly bool
	Owner    Storage
	release  func()
	keep     any
}

// Export returns where the elements are. They stay there until Release, also when
// a is closed before: see Pin. It panics when a nested axis has no single stride;
// Contiguous has one.
func (a Any) Export() *Export {
	const op = "tensor.Export"
	p := a.pointer(op)
	e := &Export{DType: a.DType(), Shape: a.Shape(), Strides: make([]int, a.Rank()), ReadOnly: a.IsReadOnly(), Owner: a.Storage()}
	for i := range e.Strides {
		e.Strides[i] = strideOf(op, &a.lay, i)
	}
	e.release = a.Pin()
	e.keep = a.st
	if a.Len() > 0 {
		e.Pointer = unsafe.Add(p, a.origin()*a.st.dtype.Size())
	}
	return e
}

// Release ends the export: Pointer must not be used afterwards. A second call does
// nothing.
func (e *Export) Release() {
	if e.release != nil { // it is, in the zero value
		e.release()
	}
	e.Pointer, e.keep = nil, nil
}

// SameData reports whether a and u share a storage. They may still have no
// element in common: Overlaps says that.
func (a Any) SameData(u Any) bool {
	return a.st != nil && u.st != nil && a.st.id() == u.st.id()
}
