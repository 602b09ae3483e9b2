package mem

import (
	"io/fs"
	"runtime/debug"
	"sync"
	"unsafe"
)

// mappings are the files mapped at present, by the address of their first byte: what a fault is looked up in.
var mappings struct {
	mu   sync.Mutex
	list map[uintptr]mapping
}

type mapping struct {
	path string
	size int
}

// remember lists a mapping until forget is called, which must be before the memory is unmapped.
func remember(path string, data []byte) (forget func()) {
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

// Guard runs f and returns its error. When f reads or writes a page of a mapped file that isn't there any more, because
// the file became shorter or its device failed, f stops there and Guard returns an *Error with ErrShrunk that names the
// file; without Guard that ends the program. Other panics go on. It guards the calling goroutine only: in others, call
// debug.SetPanicOnFault and give what they recover to Fault.
func Guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer Recover(&err)
	return f()
}

// Recover sets err as Guard does, for a function that has called debug.SetPanicOnFault: it defers mem.Recover(&err) itself.
// Other panics go on.
func Recover(err *error) {
	if r := recover(); r != nil {
		if *err = Fault(r); *err == nil {
			panic(r)
		}
	}
}

// Fault returns the error that Guard would for a value recovered from a panic, nil when it is no fault in a mapped file.
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
			return &Error{Op: "Guard", Err: &fs.PathError{Op: "access", Path: file.path, Err: ErrShrunk}}
		}
	}
	return nil
}
