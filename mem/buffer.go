// Package mem holds bytes and says who owns them: aligned memory of the Go heap, large memory outside it that is
// reused, bytes borrowed from a caller, files mapped read-only or copy-on-write, scratch memory that goes together. It
// knows no element types.
//
// Everything that can be given back is a Buffer, from Alloc, AllocDirty, Borrow, Map,
// MapCopy or a Scratch. A Buffer goes back by Close; one that becomes unreachable goes back by itself, except borrowed bytes, which are the
// caller's.
//
// A size that no memory has, and a file that can't be mapped, are errors. Values that the program alone decides have
// preconditions: Buffers and Scratches aren't nil. Breaking one panics with a runtime error.
//
// Bytes outside the Go heap are invisible to the garbage collector: a slice of them doesn't keep them, only the Buffer
// does. So there is one rule. The slice from Bytes is valid while its Buffer is open and reachable: call
// runtime.KeepAlive(b) after the last use. Code that can't promise that has two ways out:
//
//   - Lend gives bytes that the collector never takes back: they stay until Close, or for good.
//   - Hold keeps the bytes until Release, whatever happens to the Buffer; Close then takes effect for them at the
//     Release.
//
// A mapped file that becomes shorter loses pages, and an access to one of them is a fault. tensor.Try makes it an error that wraps
// ErrShrunk; without it the program ends.
//
// All functions and methods may be called from several goroutines at once; the bytes themselves are as unprotected as
// any slice.
package mem

import (
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/ashlar-go/ashlar/internal/core/ram"
)

// Large is the size in bytes from which Alloc and AllocDirty take memory from outside the Go heap.
const Large = ram.Large

// Kind says whose the bytes of a Buffer are.
type Kind uint8

const (
	Owned     Kind = iota // allocated by this package
	Borrowed              // the caller's
	Mapped                // a file's contents
	Scratched             // allocated from a Scratch
	Device                // a device's, of package device; no Buffer of this package
)

func (k Kind) String() string {
	switch k {
	case Owned:
		return "owned"
	case Borrowed:
		return "borrowed"
	case Mapped:
		return "mapped"
	case Scratched:
		return "scratch"
	case Device:
		return "device"
	}
	return "mem.Kind(?)"
}

// A Buffer is a run of bytes, with the action that gives them back when nobody needs them any more. Use it by pointer;
// the zero value is a closed Buffer.
type Buffer struct {
	first    atomic.Pointer[byte] // nil when closed; keeps bytes of the Go heap
	n        int
	hold     *hold // nil when the collector alone frees the bytes
	kind     Kind
	readOnly bool
}

// newBuffer returns a Buffer over data, which is given back by h unless h is nil.
func newBuffer(data []byte, kind Kind, h *hold) *Buffer {
	if data == nil {
		data = []byte{}
	}
	b := &Buffer{n: len(data), kind: kind, readOnly: kind == Mapped, hold: h}
	b.first.Store(unsafe.SliceData(data))
	if h != nil && kind != Borrowed {
		runtime.AddCleanup(b, (*hold).drop, h)
	}
	return b
}

// Alloc returns a Buffer of n zeroed bytes that starts at a multiple of 64, or of the page size from one page up.
//
// From Large up the bytes come from outside the Go heap where the platform allows it (not on WebAssembly and Plan 9),
// and are reused after Close. SetBound limits that memory; beyond the limit, the Go heap serves.
//
// The error is an *Error, with ErrSize for a negative n or one that is too large, and with ErrMemory when the system
// has no n bytes. The largest n is 1 TiB; on 32-bit platforms it is 1 GiB, and where the Go heap is all there is, 2 GiB
// less a byte.
func Alloc(n int) (*Buffer, error) { return alloc("Alloc", n, true) }

// AllocDirty is Alloc without the promise of zeros: for bytes that are about to be written in full.
func AllocDirty(n int) (*Buffer, error) { return alloc("AllocDirty", n, false) }

func alloc(op string, n int, zero bool) (*Buffer, error) {
	if n < 0 || n > most {
		return nil, &Error{Op: op, N: n, Err: ErrSize}
	}
	if n < Large {
		return newBuffer(ram.Make(n), Owned, nil), nil
	}
	region, used, err := outside.get(n)
	switch {
	case err == errFull:
		b, err := makeTried(n)
		if err != nil {
			return nil, &Error{Op: op, N: n, Err: err}
		}
		return newBuffer(b, Owned, nil), nil
	case err != nil:
		return nil, &Error{Op: op, N: n, Err: err}
	}
	data := region[:n:n]
	if zero && used {
		clear(data)
	}
	return newBuffer(data, Owned, &hold{give: func() error { outside.put(region); return nil }}), nil
}

// Borrow returns a Buffer over b itself, cut to its length. Close calls release once, unless it is nil, and a Hold delays
// that. The bytes stay the caller's: when the Buffer is dropped without Close, release is never called. They must stay
// as they are until then, also when they are not of the Go heap.
func Borrow(b []byte, release func()) *Buffer {
	h := &hold{give: func() error { return nil }}
	if release != nil {
		h.give = func() error { release(); return nil }
	}
	return newBuffer(b, Borrowed, h)
}

// Bytes returns the bytes, with no spare capacity; nil after Close. The slice is valid while b is open and reachable:
// see the package comment. Writing to bytes that are ReadOnly faults, which ends the program.
func (b *Buffer) Bytes() []byte {
	p := b.first.Load()
	if p == nil {
		return nil
	}
	return unsafe.Slice(p, b.n)
}

// Len returns the number of bytes; 0 after Close.
func (b *Buffer) Len() int { return len(b.Bytes()) }

// Kind says whose the bytes are.
func (b *Buffer) Kind() Kind { return b.kind }

// ReadOnly reports whether the bytes must not be written to. It is true of the files of Map alone.
func (b *Buffer) ReadOnly() bool { return b.readOnly }

// Align returns the largest power of two that divides the address of the first byte, at most the page size. Any aligned
// access may rely on it. For no bytes it is the page size.
func (b *Buffer) Align() int {
	p := b.first.Load()
	if p == nil || b.n == 0 {
		return os.Getpagesize()
	}
	return ram.AlignOf(unsafe.Pointer(p))
}

// Closed reports whether the bytes are gone.
func (b *Buffer) Closed() bool { return b.first.Load() == nil }

// Close gives the bytes back: Bytes is nil, and the memory goes to its next use, the file is unmapped, or the release of Borrow is
// called. For held bytes that waits for the last Release. Slices obtained before must not be used afterwards. A second Close does nothing
// and returns nil, also while the first is still at work. The error is the system's, from unmapping a file.
func (b *Buffer) Close() error {
	if b.first.Swap(nil) == nil || b.hold == nil {
		return nil
	}
	return b.hold.close()
}

// most is the largest size that is tried: beyond it, the Go heap's bookkeeping alone can end the program.
var most = func() int {
	n := 1 << (30 + 10*(^uint(0)>>63))
	if !canMap {
		n = min(n, 1<<31-1)
	}
	return n
}()

// makeTried is ram.Make for any n up to most. The Go heap ends the program when the system refuses memory, so it is asked
// for a mapping of that size first.
func makeTried(n int) ([]byte, error) {
	if canMap {
		b, err := mapMemory(ram.RoundUp(n, os.Getpagesize()))
		if err == nil {
			err = unmapMemory(b)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrMemory, err)
		}
	}
	return ram.Make(n), nil
}
