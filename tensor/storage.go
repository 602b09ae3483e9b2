package tensor

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/num"
)

var sprintf = fmt.Sprintf

// storage is the elements and who owns them. Tensors that share elements share
// one storage.
type storage[T num.Elem] struct{ memory }

// memory is what a storage is, whatever its elements are. Whose the memory is, and
// until when, is known in one place, the root: a storage that sees it as another
// element type asks there. What changes is atomic, so that Close may run beside
// readers of pinned memory; see docs/concurrency.md.
type memory struct {
	first    atomic.Pointer[byte] // the first element; nil once closed
	n        int                  // elements
	buf      *mem.Buffer          // the owner; nil when that is the Go heap
	block    atomic.Pointer[byte] // the owner when that is a block of the Go heap
	room     int                  // the block's size; 0 when there is none
	lent     atomic.Bool          // a slice was handed out: Close leaves block to the collector
	readOnly bool
	borrowed bool    // the elements are a slice of the caller's
	root     *memory // whose memory it is, seen as another element type; nil when it is its own
	lazy     *lazy   // how the elements are to be computed, which aren't there
}

// newStorage makes a storage of data.
func newStorage[T num.Elem](data []T) *storage[T] {
	s := new(storage[T])
	s.set(data)
	return s
}

// set makes data the elements.
func (s *storage[T]) set(data []T) {
	if data == nil {
		data = []T{} // nil is for what is closed
	}
	s.n = len(data)
	s.first.Store((*byte)(unsafe.Pointer(unsafe.SliceData(data))))
}

// closed asks the buffer too: it may have been closed by its owner, or through a
// tensor with another storage on the same buffer.
func (m *memory) closed() bool {
	return m.first.Load() == nil || m.buf != nil && m.buf.Closed() || m.root != nil && m.root.closed()
}

// open returns the first element where the elements are surely there; where it is nil
// closed knows. It is small enough to be inlined.
func (m *memory) open() unsafe.Pointer {
	if m.root == nil && (m.buf == nil || !m.buf.Closed()) {
		return unsafe.Pointer(m.first.Load())
	}
	return nil
}

// element returns element i, 0 ≤ i < n, of those that begin at p.
func element[T num.Elem](p unsafe.Pointer, i int) *T {
	var z T
	return (*T)(unsafe.Add(p, uintptr(i)*unsafe.Sizeof(z)))
}

// elems returns the elements, for a caller who knows that they were there. It panics
// when they were closed meanwhile.
func (s *storage[T]) elems() []T {
	p := s.first.Load()
	if p == nil {
		panic(noData("tensor", false, nil))
	}
	return unsafe.Slice((*T)(unsafe.Pointer(p)), s.n)
}

// id is the same for all storages on one memory: its root.
func (m *memory) id() *memory {
	if m.root != nil {
		return m.root
	}
	return m
}

// lend says that a slice of the elements was given out.
func (m *memory) lend() {
	m = m.id()
	if m.buf != nil {
		m.buf.Lend()
	}
	if m.room > 0 && !m.lent.Load() {
		m.lent.Store(true)
	}
}

// pin keeps the memory until release is called.
func (m *memory) pin() (release func()) {
	m = m.id()
	if m.buf != nil {
		return m.buf.Pin()
	}
	m.lent.Store(true) // the Go heap: whoever has the slice keeps it, once it isn't reused
	return func() {}
}

func (m *memory) close() error {
	m.first.Store(nil)
	if m.root != nil {
		return m.root.close()
	}
	if b := m.block.Swap(nil); b != nil && !m.lent.Load() {
		mem.Return(unsafe.Slice(b, m.room))
	}
	if m.buf != nil {
		return m.buf.Close()
	}
	return nil
}

func (m *memory) kind() string {
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
func allocate[T num.Elem](n int, dirty bool) (*storage[T], error) {
	var z T
	block, buf, err := room(n, int(unsafe.Sizeof(z)), dirty)
	switch {
	case err != nil:
		return nil, err
	case buf != nil:
		return fromBuffer(buf, typed[T](buf.Bytes())), nil
	}
	st := newStorage(typed[T](block))
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
		block = mem.Block(n*size, dirty)
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
func fromBuffer[T num.Elem](buf *mem.Buffer, data []T) *storage[T] {
	st := newStorage(data)
	st.buf, st.readOnly = buf, buf.ReadOnly()
	return st
}

// Close gives the storage back at once, for every tensor that shares it: any
// later access panics with ErrClosed. Without it the collector does the same
// when the last tensor is gone. Closing twice is no mistake; closing a view
// closes its whole storage, and of a tensor from FromBytes the buffer. A slice
// handed out by Elems or Data must not be used afterwards.
func (t Tensor[T]) Close() error {
	if t.st == nil {
		return nil
	}
	return t.st.close()
}

// A Storage says what a tensor's elements live in.
type Storage struct {
	Kind     mem.Kind // whose the memory is
	Bytes    int      // how much the tensor keeps in use: its own elements, and all others of the storage
	Align    int      // a power of two that divides the address of the first byte, at most the page size
	ReadOnly bool     // mapped read-only: no handle can write
}

// Storage describes the memory behind t. It panics when there is none any more.
func (t Tensor[T]) Storage() Storage {
	d := t.data("tensor.Storage")
	s := Storage{Kind: mem.Owned, Bytes: len(d) * t.DType().Size(), ReadOnly: t.st.readOnly}
	first := unsafe.Pointer(unsafe.SliceData(d))
	switch {
	case t.st.buf != nil:
		s.Kind, s.Bytes = t.st.buf.Kind(), t.st.buf.Len()
	case t.st.borrowed:
		s.Kind = mem.Borrowed
	}
	s.Align = mem.AlignOf(first)
	runtime.KeepAlive(t.st)
	return s
}

// RetainedBytes returns how much memory t keeps in use: a view keeps the whole
// storage, and a tensor from FromBytes the whole buffer. 0 when there is none.
func (t Tensor[T]) RetainedBytes() int {
	if t.st == nil || t.st.closed() {
		return 0
	}
	return t.Storage().Bytes
}

// Detach returns t itself when its elements are all that its storage holds, else a
// Clone: the result keeps nothing else in memory.
func (t Tensor[T]) Detach() Tensor[T] {
	t.data("tensor.Detach")
	if t.RetainedBytes() == t.Len()*t.DType().Size() && t.lay.IsCompact() {
		return t
	}
	c := t.Clone()
	mem.AddCopied(c.Len() * c.DType().Size())
	return c
}

// Pin keeps the memory of t where it is until release is called, whatever happens
// to t meanwhile. A Close, of t or of any tensor on the same memory, refuses further use
// at once, and takes the memory back at the release. A slice from Elems or Data obtained
// between Pin and Close is valid until the release, and Close may run in another goroutine
// while it is used. A second call of release does nothing.
func (t Tensor[T]) Pin() (release func()) {
	t.data("tensor.Pin")
	return t.st.pin()
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
// t is closed before: see Pin. It panics when a nested axis has no single stride;
// Contiguous has one.
func (t Tensor[T]) Export() *Export {
	const op = "tensor.Export"
	d := t.data(op)
	e := &Export{DType: t.DType(), Shape: t.Shape(), Strides: make([]int, t.Rank()), ReadOnly: t.IsReadOnly(), Owner: t.Storage()}
	for i := range e.Strides {
		e.Strides[i] = strideOf(op, &t.lay, i)
	}
	e.release = t.Pin()
	e.keep = t.st
	if t.Len() > 0 {
		e.Pointer = unsafe.Pointer(&d[t.origin()])
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

// SameData reports whether t and u share a storage. They may still have no
// element in common: Overlaps says that.
func (t Tensor[T]) SameData(u Tensor[T]) bool {
	return t.st != nil && u.st != nil && t.st.id() == u.st.id()
}
