package mem

import (
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"testing"

	_ "github.com/ashlar-go/ashlar/internal/seeded"

	"pgregory.net/rapid"
)

// The accounts of an arena, and what it may keep, hold after every step of any history.
func TestArenaPolicy(t *testing.T) {
	needMappings(t)
	page := os.Getpagesize()
	rapid.Check(t, func(rt *rapid.T) {
		a := &arena{bound: int64(40 * page), due: 1 << 62} // never collects
		var live [][]byte
		var sum, peak int64
		defer func() {
			for _, r := range live {
				a.put(r)
			}
			a.mu.Lock()
			a.trim(0)
			a.mu.Unlock()
		}()
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			limit := peak
			if len(live) > 0 && rapid.Bool().Draw(rt, "put") {
				i := rapid.IntRange(0, len(live)-1).Draw(rt, "which")
				sum -= int64(len(live[i]))
				a.put(live[i])
				live[i] = live[len(live)-1]
				live = live[:len(live)-1]
			} else {
				n := rapid.IntRange(1, 12*page).Draw(rt, "n")
				size := (n + page - 1) / page * page
				limit = max(limit, sum+int64(size))
				r, used, err := a.get(n)
				if err != nil {
					if err != errFull || sum+int64(size) <= a.bound {
						rt.Fatalf("%d bytes with %d live: %v", n, sum, err)
					}
					continue
				}
				if len(r) < n || len(r) > size+size/4 || !used && len(r) != size {
					rt.Fatalf("%d bytes for %d, used before: %t", len(r), n, used)
				}
				for _, other := range live {
					if address(r) < address(other)+uintptr(len(other)) && address(other) < address(r)+uintptr(len(r)) {
						rt.Fatal("a region was handed out twice")
					}
				}
				if !used && (r[0] != 0 || r[len(r)-1] != 0) {
					rt.Fatal("a new region isn't zero")
				}
				r[0], r[len(r)-1] = 1, 1
				live, sum = append(live, r), sum+int64(len(r))
				peak = max(peak, sum)
			}
			var free int64
			for i, r := range a.free {
				free += int64(len(r))
				if i > 0 && len(a.free[i-1]) > len(r) {
					rt.Fatal("the free regions aren't in order")
				}
			}
			if want := (Usage{Live: sum, Free: free, Peak: peak}); a.use != want {
				rt.Fatalf("accounts %+v, want %+v", a.use, want)
			}
			if sum+free > max(limit, peak) || sum+free > a.bound {
				rt.Fatalf("%d bytes mapped, %d live, peak %d, bound %d", sum+free, sum, peak, a.bound)
			}
		}
	})
}

func TestBestFit(t *testing.T) {
	needMappings(t)
	page := os.Getpagesize()
	a := &arena{bound: 1 << 30, use: Usage{Peak: 1 << 30}} // so that nothing is unmapped
	regions := map[int][]byte{}
	for _, pages := range []int{20, 8, 10, 9} {
		r, _, err := a.get(pages * page)
		if err != nil {
			t.Fatal(err)
		}
		regions[pages] = r
	}
	for _, r := range regions {
		a.put(r)
	}
	for _, c := range []struct{ ask, get int }{{8, 8}, {8, 9}, {8, 10}, {8, 0}, {15, 0}, {16, 20}} {
		r, used, err := a.get(c.ask*page - 5)
		if err != nil {
			t.Fatal(err)
		}
		if used != (c.get != 0) || used && address(r) != address(regions[c.get]) {
			t.Errorf("%d pages: got a region of %d, used before: %t; want that of %d", c.ask, len(r)/page, used, c.get)
		}
		if !used {
			// Give the fresh one back to the system, or it would be the best fit of what follows.
			if err := unmapMemory(r); err != nil {
				t.Fatal(err)
			}
			a.use.Live -= int64(len(r))
		}
	}
}

// forced returns how often runtime.GC was called.
func forced() uint64 {
	s := []metrics.Sample{{Name: "/gc/cycles/forced:gc-cycles"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

func TestFullArena(t *testing.T) {
	settle(t)
	const bound = 64 * Large
	defer SetBound(SetBound(bound))
	outside.due = 0
	var keep []*Buffer
	for range 64 {
		keep = append(keep, mustAlloc(t, Large))
	}
	before := forced()
	for range 16 { // a quarter of the bound, none of which the collector can free
		keep = append(keep, mustAlloc(t, Large))
	}
	if got := forced() - before; got != 1 {
		t.Errorf("the collector ran %d times, want once", got)
	}
	if got := Stats(); got.Live != bound {
		t.Errorf("%d bytes live, want the bound of %d", got.Live, bound)
	}
	for range 3 { // the next quarter
		keep = append(keep, mustAlloc(t, Large))
	}
	if got := forced() - before; got != 2 {
		t.Errorf("the collector ran %d times, want twice", got)
	}
	for _, b := range keep {
		checkBytes(t, b.Bytes(), Large, false)
		b.Close()
	}
	if got := Stats(); got.Live != 0 {
		t.Errorf("%d bytes live after all are closed", got.Live)
	}

	outside.due = 0
	before = forced()
	b := mustAlloc(t, bound+1)
	if got := Stats(); got.Live != 0 || forced() != before {
		t.Errorf("more than the bound: %d bytes live, the collector ran %d times", got.Live, forced()-before)
	}
	b.Close()
}

func TestSetBound(t *testing.T) {
	settle(t)
	old := SetBound(1 << 30)
	defer SetBound(old)
	b := mustAlloc(t, 2*Large)
	b.Close()
	if Stats().Free < 2*Large {
		t.Errorf("nothing kept for reuse: %+v", Stats())
	}
	if got := SetBound(-5); got != 1<<30 {
		t.Errorf("the bound was %d", got)
	}
	if s := Stats(); s.Free != 0 {
		t.Errorf("%d bytes free with a bound of 0", s.Free)
	}
	b = mustAlloc(t, 2*Large)
	if s := Stats(); s.Live != 0 {
		t.Errorf("%d bytes live with a bound of 0", s.Live)
	}
	checkBytes(t, b.Bytes(), 2*Large, true)
	if got := SetBound(old); got != 0 {
		t.Errorf("the bound was %d, want 0", got)
	}
}

// A thousand large results that nobody closes.
func TestDroppedResults(t *testing.T) {
	settle(t)
	const size = 64 << 20
	before := forced()
	var most int64
	onHeap := 0
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	for i := range 1000 {
		b := mustAlloc(t, size)
		data := b.Bytes()
		data[0], data[size-1] = byte(i), byte(i)
		if b.hold == nil {
			onHeap++
		}
		runtime.KeepAlive(b)
		s := Stats()
		metrics.Read(heap)
		most = max(most, s.Live+s.Free+int64(heap[0].Value.Uint64()))
	}
	t.Logf("at most %d MiB, %d collections, %d on the Go heap", most>>20, forced()-before, onHeap)
	if most >= 1<<30 {
		t.Errorf("%d bytes held at a time", most)
	}
	if onHeap > 50 { // none, unless cleanups take more than the 50 ms they are given
		t.Errorf("%d results came from the Go heap", onHeap)
	}
}

// With one processor the cleanups run only when the allocation waits for them.
func TestWaitsForCleanups(t *testing.T) {
	settle(t)
	defer SetBound(SetBound(8 * Large))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	onHeap := 0
	for range 400 {
		if b := mustAlloc(t, Large); b.hold == nil {
			onHeap++
		}
	}
	if onHeap > 20 { // none, unless cleanups take more than the 50 ms they are given
		t.Errorf("%d results came from the Go heap", onHeap)
	}
}

// Whoever has a region has it alone.
func TestAllocConcurrently(t *testing.T) {
	defer SetBound(SetBound(24 * Large)) // so that the Go heap and the collector take part
	var all sync.WaitGroup
	for g := range byte(6) {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 0))
			for i := range 60 {
				n := Large*(1+r.IntN(4)) + r.IntN(5000)
				b, err := Alloc(n)
				if err != nil {
					t.Error(err)
					return
				}
				data := b.Bytes()
				for j := 0; j < n; j += 4096 {
					if data[j] != 0 {
						t.Errorf("byte %d is %d, not zero", j, data[j])
						return
					}
					data[j] = g + 1
				}
				runtime.Gosched()
				for j := 0; j < n; j += 4096 {
					if data[j] != g+1 {
						t.Errorf("byte %d is %d, goroutine %d wrote %d", j, data[j], g, g+1)
						return
					}
					data[j] = 0xff
				}
				if i%4 != 0 {
					b.Close()
				}
				runtime.KeepAlive(b)
				if s := Stats(); s.Live < 0 || s.Free < 0 || s.Live > s.Peak {
					t.Errorf("accounts %+v", s)
				}
			}
		})
	}
	all.Wait()
}

func TestMemoryRefused(t *testing.T) {
	needMappings(t)
	if strconv.IntSize == 32 {
		t.Skip("the limit is what a machine may well have")
	}
	if mode, err := os.ReadFile("/proc/sys/vm/overcommit_memory"); err != nil || strings.TrimSpace(string(mode)) == "1" {
		t.Skip("this system refuses no size")
	}
	b, err := Alloc(most)
	if b != nil || !errors.Is(err, ErrMemory) {
		t.Fatalf("got %v, %v", b, err)
	}
	defer SetBound(SetBound(most))
	if _, err := Alloc(most); !errors.Is(err, ErrMemory) {
		t.Fatalf("with a bound as large: %v", err)
	}
}
