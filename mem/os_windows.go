package mem

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

const canMap = true

// mapMemory returns n zeroed bytes outside the Go heap, at a page boundary. n is a multiple of the page size.
func mapMemory(n int) ([]byte, error) {
	addr, err := windows.VirtualAlloc(0, uintptr(n), windows.MEM_RESERVE|windows.MEM_COMMIT, windows.PAGE_READWRITE)
	if err != nil {
		return nil, err
	}
	return bytesAt(addr, n), nil
}

func unmapMemory(b []byte) error {
	return windows.VirtualFree(uintptr(unsafe.Pointer(unsafe.SliceData(b))), 0, windows.MEM_RELEASE)
}

// mapFile maps the first n bytes of a file, read-only or copy-on-write.
func mapFile(f *os.File, n int, readOnly bool) ([]byte, error) {
	protect, access := uint32(windows.PAGE_READONLY), uint32(windows.FILE_MAP_READ)
	if !readOnly {
		protect, access = windows.PAGE_WRITECOPY, windows.FILE_MAP_COPY
	}
	section, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, protect, 0, 0, nil)
	if err != nil {
		return nil, err
	}
	defer windows.CloseHandle(section) // the view keeps it
	addr, err := windows.MapViewOfFile(section, access, 0, 0, uintptr(n))
	if err != nil {
		return nil, err
	}
	return bytesAt(addr, n), nil
}

func unmapFile(b []byte) error {
	return windows.UnmapViewOfFile(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
}

// bytesAt views memory that the system gave. Its address never was a Go pointer, so it is reinterpreted, not converted.
func bytesAt(addr uintptr, n int) []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), n)
}
