package ram

import (
	"errors"
	"io/fs"
	"runtime/debug"
	"sync"
	"unsafe"
)

// mappings holds the files mapped at present, by the address of their first byte, for Fault.
var mappings struct {
	mu   sync.Mutex
	list map[uintptr]mapping
}

type mapping struct {
	path string
	size int
}

// ErrShrunk is the reason of a fault.
var ErrShrunk = errors.New("a page of the mapped file is gone: the file became shorter, or its device failed")

// Remember lists a mapping until forget is called, which must be before the memory is unmapped.
func Remember(path string, data []byte) (forget func()) {
	m := &mappings
	at := uintptr(unsafe.Pointer(unsafe.SliceData(data)))
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.list == nil {
		m.list = make(map[uintptr]mapping)
	}
	m.list[at] = mapping{path, len(data)}
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.list, at)
	}
}

// Guard runs f and returns its error. A page of a mapped file is gone when the file became shorter or its device
// failed. If f accesses such a page, it stops there and Guard returns an *fs.PathError with ErrShrunk.
// Without Guard the access ends the program. Other panics go on. Guard covers the calling goroutine only: in others,
// call debug.SetPanicOnFault and give the recovered value to Fault.
func Guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer Recover(&err)
	return f()
}

// Recover sets err as Guard does, for a function that has called debug.SetPanicOnFault: it defers ram.Recover(&err) itself.
// Other panics go on.
func Recover(err *error) {
	if r := recover(); r != nil {
		if *err = Fault(r); *err == nil {
			panic(r)
		}
	}
}

// Fault returns Guard's error for a value recovered from a panic, or nil when it isn't a fault in a mapped file.
func Fault(recovered any) error {
	at, ok := recovered.(interface{ Addr() uintptr })
	if !ok {
		return nil
	}
	m := &mappings
	m.mu.Lock()
	defer m.mu.Unlock()
	for first, file := range m.list {
		if addr := at.Addr(); addr >= first && addr-first < uintptr(file.size) {
			return &fs.PathError{Op: "access", Path: file.path, Err: ErrShrunk}
		}
	}
	return nil
}
