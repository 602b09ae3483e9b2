package mem

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/ashlar-go/ashlar/internal/core/ram"
)

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

func needMappings(t testing.TB) {
	t.Helper()
	if !canMap {
		t.Skip("this platform has no mappings")
	}
}

func mustAlloc(t testing.TB, n int) *Buffer {
	t.Helper()
	b, err := AllocDirty(n)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// liveBecomes waits for cleanups to bring the live bytes to want, which they never are below.
func liveBecomes(t *testing.T, want int64) {
	t.Helper()
	for got := Stats().Live; got != want; got = Stats().Live {
		if got < want {
			t.Fatalf("%d bytes live, want %d", got, want)
		}
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}

// settle has the arena take back what earlier tests dropped and keep none of it, so that a test can count what is live.
func settle(t *testing.T) {
	t.Helper()
	needMappings(t)
	runtime.GC()
	liveBecomes(t, 0)
	SetBound(SetBound(0))
}

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

func TestAlloc(t *testing.T) {
	for _, n := range sizes() {
		b, err := Alloc(n)
		if err != nil {
			t.Fatal(err)
		}
		checkBytes(t, b.Bytes(), n, true)
		if b.Kind() != Owned || b.ReadOnly() || b.Len() != n || b.Closed() {
			t.Errorf("%d bytes: kind %v, read-only %t, length %d, closed %t", n, b.Kind(), b.ReadOnly(), b.Len(), b.Closed())
		}
		if a := b.Align(); a < 64 || n > 0 && address(b.Bytes())%uintptr(a) != 0 || n >= os.Getpagesize() && a != os.Getpagesize() {
			t.Errorf("%d bytes at %#x: Align is %d", n, address(b.Bytes()), a)
		}
		for i := range b.Bytes() { // what the next Alloc must not see
			b.Bytes()[i] = 0xa5
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAllocRefuses(t *testing.T) {
	for _, n := range []int{-1, math.MinInt, most + 1, math.MaxInt} {
		for _, f := range []func(int) (*Buffer, error){Alloc, AllocDirty} {
			b, err := f(n)
			var e *Error
			if b != nil || !errors.Is(err, ErrSize) || !errors.As(err, &e) || e.N != n {
				t.Errorf("%d bytes: got %v, %v", n, b, err)
				continue
			}
			if want := fmt.Sprintf("mem.%s: %d bytes: a size must be from 0 to %d", e.Op, n, most); err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		}
	}
}

func TestClosed(t *testing.T) {
	for _, n := range []int{0, 10, Large} {
		b := mustAlloc(t, n)
		for range 2 {
			if err := b.Close(); err != nil {
				t.Error(err)
			}
			if b.Bytes() != nil || b.Lend() != nil || b.Len() != 0 || !b.Closed() {
				t.Errorf("closed buffer of %d bytes: length %d, closed %t", n, b.Len(), b.Closed())
			}
			if b.Hold() || b.Bytes() != nil {
				t.Error("a closed buffer is held")
			}
		}
	}
	var zero Buffer
	if !zero.Closed() || zero.Bytes() != nil || zero.Close() != nil {
		t.Error("the zero value isn't a closed buffer")
	}
}

func TestReuse(t *testing.T) {
	needMappings(t)
	b := mustAlloc(t, 3*Large)
	at := address(b.Bytes())
	b.Bytes()[5] = 9
	b.Close()
	b = mustAlloc(t, 3*Large)
	if address(b.Bytes()) != at {
		t.Errorf("bytes at %#x, the closed ones of the same size were at %#x", address(b.Bytes()), at)
	}
	b.Close()
	c, err := Alloc(3 * Large)
	if err != nil {
		t.Fatal(err)
	}
	if address(c.Bytes()) != at || c.Bytes()[5] != 0 {
		t.Errorf("bytes at %#x with a %d, want %#x with a 0", address(c.Bytes()), c.Bytes()[5], at)
	}
	c.Close()
}

func TestBorrow(t *testing.T) {
	data := make([]byte, 10, 20)
	released := 0
	b := Borrow(data, func() { released++ })
	if address(b.Bytes()) != address(data) || b.Len() != 10 || cap(b.Bytes()) != 10 || b.Kind() != Borrowed || b.ReadOnly() {
		t.Error("not the same bytes")
	}
	b.Bytes()[3] = 7
	if data[3] != 7 {
		t.Error("a write isn't seen by the owner")
	}
	if a := Borrow(ram.Make(100)[1:], nil).Align(); a != 1 {
		t.Errorf("Align %d of an odd address", a)
	}
	b.Hold()
	b.Close()
	if released != 0 {
		t.Error("released while held")
	}
	b.Release()
	b.Close()
	if released != 1 {
		t.Errorf("released %d times", released)
	}
	if e := Borrow(nil, nil); e.Closed() || e.Len() != 0 || e.Close() != nil || !e.Closed() {
		t.Error("no bytes at all aren't a buffer like others")
	}
}

//go:noinline
func dropped(t *testing.T, use func(b *Buffer)) {
	use(mustAlloc(t, 2*Large))
}

func TestDrop(t *testing.T) {
	settle(t)
	dropped(t, func(b *Buffer) {
		if !b.Hold() {
			t.Error("an open Buffer isn't held")
		}
		b.Release()
	})
	runtime.GC()
	liveBecomes(t, 0)
	SetBound(SetBound(0))
}

// Borrowed bytes are the caller's: losing sight of the Buffer doesn't release them.
func TestDropBorrowed(t *testing.T) {
	released := make(chan bool, 1)
	collected := make(chan bool)
	func() {
		b := Borrow(make([]byte, 100), func() { released <- true })
		runtime.AddCleanup(b, func(done chan bool) { close(done) }, collected)
	}()
	for waits := true; waits; {
		runtime.GC()
		select {
		case <-collected:
			waits = false
		case <-time.After(time.Millisecond):
		}
	}
	select {
	case <-released:
		t.Error("the collector released borrowed bytes")
	case <-time.After(5 * time.Millisecond):
	}
}

func TestLendOutlivesBuffer(t *testing.T) {
	settle(t)
	var lent []byte
	var h *hold
	dropped(t, func(b *Buffer) { lent, h = b.Lend(), b.hold })
	for range 3 {
		runtime.GC()
		time.Sleep(2 * time.Millisecond)
	}
	if got := Stats().Live; got != 2*Large {
		t.Fatalf("%d bytes live after the buffer of lent bytes was dropped", got)
	}
	lent[2*Large-1] = 1
	if err := h.close(); err != nil { // what Close would have done: leave the arena as it was
		t.Error(err)
	}
	liveBecomes(t, 0)

	b := mustAlloc(t, 2*Large)
	b.Lend()[0] = 1
	b.Close()
	liveBecomes(t, 0)
}

// Memory that is held stays until the last Release, whether the Buffer is closed or dropped.
func TestHoldKeepsMemory(t *testing.T) {
	settle(t)

	b := mustAlloc(t, 2*Large)
	b.Hold()
	b.Hold()
	data := b.Bytes()
	b.Close()
	b.Release()
	data[0] = 1
	liveBecomes(t, 2*Large)
	b.Release()
	liveBecomes(t, 0)

	var release func()
	dropped(t, func(b *Buffer) { b.Hold(); release, data = b.hold.release, b.Bytes() })
	for range 3 {
		runtime.GC()
		time.Sleep(2 * time.Millisecond)
	}
	liveBecomes(t, 2*Large)
	data[2*Large-1] = 1
	release()
	runtime.GC() // the Buffer may have looked reachable until here
	liveBecomes(t, 0)
}

// A Buffer that is held goes back at the last Release, and one that is closed can't be held.
func TestHold(t *testing.T) {
	released := 0
	b := Borrow(make([]byte, 8), func() { released++ })
	for range 2 {
		if !b.Hold() {
			t.Fatal("an open Buffer isn't held")
		}
	}
	if err := b.Close(); err != nil || b.Hold() {
		t.Errorf("%v; a closed Buffer is held", err)
	}
	if b.Release(); released != 0 {
		t.Error("the memory went while it was held")
	}
	if b.Release(); released != 1 {
		t.Errorf("released %d times, want once", released)
	}
	if small := newBuffer(make([]byte, 8), Owned, nil); !small.Hold() || small.Close() != nil || small.Hold() {
		t.Error("memory of the Go heap: held only while it is open")
	}
	if n := testing.AllocsPerRun(10, func() { b.Hold(); b.Bytes() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestCloseConcurrently(t *testing.T) {
	for range 50 {
		released := 0
		b := Borrow(make([]byte, 8), func() { released++ })
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				held := b.Hold()
				if d := b.Bytes(); held && d != nil {
					_ = d[i]
				}
				if held {
					b.Release()
				}
				b.Close()
			})
		}
		all.Wait()
		if released != 1 {
			t.Fatalf("%d releases", released)
		}
	}
}

func TestKind(t *testing.T) {
	got := fmt.Sprint(Owned, Borrowed, Mapped, Kind(9))
	if got != "owned borrowed mapped mem.Kind(?)" {
		t.Error(got)
	}
}

func TestErrorsNameThePlace(t *testing.T) {
	_, err := Map("no/such/file")
	for _, part := range []string{"mem.Map", "no/such/file"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q doesn't say %q", err, part)
		}
	}
}

func BenchmarkAlloc(b *testing.B) {
	for _, n := range []int{64, 64 << 10, 4 << 20} {
		for name, f := range map[string]func(int) (*Buffer, error){"zeroed": Alloc, "dirty": AllocDirty} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					buf, err := f(n)
					if err != nil {
						b.Fatal(err)
					}
					buf.Close()
				}
			})
		}
	}
}
