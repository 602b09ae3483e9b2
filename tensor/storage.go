package tensor

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/num"
)

var sprintf = fmt.Sprintf

// storage is the elements and who owns them. Tensors that share elements share
// one storage.
type storage[T num.Elem] struct {
	data     []T         // nil once closed
	buf      *mem.Buffer // the owner of data's memory; nil when that is the Go heap
	block    []byte      // the owner when that is a block of the Go heap
	lent     atomic.Bool // a slice was handed out: Close leaves block to the collector
	readOnly bool
	borrowed bool // data is a slice of the caller's
}

// closed asks the buffer too: it may have been closed by its owner, or through a
// tensor with another storage on the same buffer.
func (s *storage[T]) closed() bool { return s.data == nil || s.buf != nil && s.buf.Closed() }

func (s *storage[T]) kind() string {
	switch {
	case s.buf != nil:
		return s.buf.Kind().String()
	case s.borrowed:
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
	size := int(unsafe.Sizeof(z))
	if n > maxInt/size {
		return nil, fmt.Errorf("%d elements of %d bytes don't fit the address space", n, size)
	}
	if n*size <= heapMax {
		b := mem.Block(n*size, dirty)
		return &storage[T]{data: typed[T](b), block: b}, nil
	}
	alloc := mem.Alloc
	if dirty {
		alloc = mem.AllocDirty
	}
	buf, err := alloc(n * size)
	if err != nil {
		return nil, err
	}
	return fromBuffer(buf, typed[T](buf.Bytes())), nil
}

const maxInt = int(^uint(0) >> 1)

// typed views bytes, whose start is aligned for T, as elements.
func typed[T num.Elem](b []byte) []T {
	var z T
	if len(b) == 0 {
		return []T{}
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(z)))
}

// fromBuffer makes a storage of elements that live in buf and are gone when buf
// is closed.
func fromBuffer[T num.Elem](buf *mem.Buffer, data []T) *storage[T] {
	return &storage[T]{data: data, buf: buf, readOnly: buf.ReadOnly()}
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
	t.st.data = nil
	if b := t.st.block; b != nil {
		t.st.block = nil
		if !t.st.lent.Load() {
			mem.Return(b)
		}
	}
	if t.st.buf != nil {
		return t.st.buf.Close()
	}
	return nil
}

// SameData reports whether t and u share a storage. They may still have no
// element in common: Overlaps says that.
func (t Tensor[T]) SameData(u Tensor[T]) bool { return t.st != nil && t.st == u.st }
