package ram

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"testing"
	"unsafe"

	_ "github.com/ashlar-go/ashlar/internal/seeded"

	"pgregory.net/rapid"
)

func Example() {
	b := Block(5000, false)
	fmt.Println(len(b), AlignOf(unsafe.Pointer(&b[0])) >= Line)
	Return(b) // for the next Block
	// Output: 5000 true
}

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

func checkBytes(t *testing.T, b []byte, n int, zero bool) {
	t.Helper()
	if b == nil || len(b) != n || cap(b) != n {
		t.Fatalf("want %d bytes, got length %d, capacity %d, nil: %t", n, len(b), cap(b), b == nil)
	}
	if n == 0 {
		return
	}
	want := uintptr(64)
	if page := os.Getpagesize(); n >= page {
		want = uintptr(page)
	}
	if address(b)%want != 0 {
		t.Errorf("%d bytes start at %#x, not at a multiple of %d", n, address(b), want)
	}
	if zero && bytes.Count(b, []byte{0}) != n {
		t.Errorf("%d bytes are not all zero", n)
	}
}

func sizes() []int {
	var s []int
	for n := range 520 {
		s = append(s, n)
	}
	for n := 1 << 10; n <= 4<<20; n *= 2 {
		s = append(s, n-65, n-1, n, n+1, n+63, n+n/2+3)
	}
	return s
}

func TestMakeAligned(t *testing.T) {
	var keep [][]byte // so that one size gets several addresses
	for _, n := range sizes() {
		for range 3 {
			b := Make(n)
			checkBytes(t, b, n, true)
			if n < 1<<16 {
				keep = append(keep, b)
			}
		}
	}
	runtime.KeepAlive(keep)
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 200_000).Draw(rt, "n")
		checkBytes(t, Make(n), n, true)
	})
}

// Pages of 64 KiB, which some platforms have, are beyond what the size classes of the Go heap give by themselves.
func TestMakeAt(t *testing.T) {
	for _, align := range []int{4 << 10, 16 << 10, 64 << 10} {
		for _, n := range []int{1, align - 1, align, align + 1, 5*align - 7} {
			for range 5 {
				b := makeAt(n, align)
				if misalignment(b, align) != 0 || len(b) != n || cap(b) != n {
					t.Errorf("length %d, capacity %d at %#x; want %d at a multiple of %d", len(b), cap(b), address(b), n, align)
				}
			}
		}
	}
}
