package ram

import (
	"testing"
	"unsafe"
)

func TestBlockClass(t *testing.T) {
	last, lastSize := -1, 0
	for n := 1 << blockBits; n < Large; n++ {
		class, size := blockClass(n)
		if size < n || n > 1<<blockBits && size-n > n/8+1 {
			t.Fatalf("%d bytes get a block of %d", n, size)
		}
		if class != last && (class != last+1 || size <= lastSize) || class == last && size != lastSize {
			t.Fatalf("%d bytes: class %d of %d after class %d of %d", n, class, size, last, lastSize)
		}
		last, lastSize = class, size
	}
	if last > len(blocks) {
		t.Fatalf("%d classes, %d pools", last, len(blocks))
	}
}

func TestBlockReuse(t *testing.T) {
	for _, n := range []int{0, 1, 4095, 4096, 5000, 30_000, Large - 1} {
		reused := false
		for range 100 { // a pool may drop what it is given
			b := Block(n, false)
			if len(b) != n {
				t.Fatalf("Block(%d) has %d bytes", n, len(b))
			}
			for i, v := range b {
				if v != 0 {
					t.Fatalf("Block(%d): byte %d is %d, not zeroed", n, i, v)
				}
				b[i] = 0xa5
			}
			p := unsafe.SliceData(b)
			Return(b)
			c := Block(n, true)
			if n >= 4096 && unsafe.SliceData(c) == p {
				reused = true
			}
			if n > 0 && uintptr(unsafe.Pointer(unsafe.SliceData(c)))%64 != 0 {
				t.Fatalf("Block(%d) is not aligned", n)
			}
			Return(c)
		}
		if n >= 4096 && n < 50_000 && !reused {
			t.Errorf("Block(%d) never reuses what came back", n)
		}
	}
	Return(make([]byte, 10)) // nothing of Block's: ignored
	Return(make([]byte, 5001))
}
