package mem

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/ashlar-go/ashlar/internal/core/ram"
)

// An arena hands out mappings of anonymous memory and keeps returned mappings for reuse.
//
// Its mapped bytes, live and free, never exceed Usage.Peak, or the live bytes with the new region if that is more:
// before the arena maps a region, it unmaps free ones, the largest first. They never exceed the bound either. The
// garbage collector doesn't know these bytes. So the arena runs it when the live bytes, from 64 MiB on, have doubled
// since the last run, and once more when the arena is full. The cleanups of dropped Buffers then return their regions.
type arena struct {
	mu    sync.Mutex
	free  [][]byte // by size; of equal sizes the latest returned is last: its pages are the warmest
	use   Usage
	bound int64
	asked int64 // bytes asked for so far, whether the arena or the Go heap gave them
	due   int64 // the collector isn't run again before asked is this much
	soft  int64 // live bytes at which the collector looks for dropped buffers

	collecting sync.Mutex // held while the collector runs, so that others wait for its outcome
}

const (
	defaultBound = 512 << 20
	leastSoft    = 64 << 20
)

var outside = arena{bound: defaultBound, soft: leastSoft}

// errFull says that the Go heap has to serve.
var errFull = errors.New("the arena is full")

// Usage is how much memory outside the Go heap Alloc and AllocDirty hold, in bytes of whole pages. Mapped files don't
// count.
type Usage struct {
	Live int64 // in Buffers not closed yet
	Free int64 // kept for reuse
	Peak int64 // the largest Live since the last SetBound
}

// Stats returns the present usage.
func Stats() Usage {
	outside.mu.Lock()
	defer outside.mu.Unlock()
	return outside.use
}

// SetBound sets how many bytes Alloc and AllocDirty may hold outside the Go heap, and returns the old bound; the
// default is 512 MiB. At the bound they run the garbage collector to get back the Buffers that were dropped without
// Close. If that doesn't help, they use the Go heap, until another quarter of the bound has been asked for. Sizes above
// the bound always come from the Go heap. Memory kept for reuse above the new bound goes back to the system. A negative
// bound is 0: then nothing is held outside the Go heap. Usage.Peak starts again from Usage.Live.
func SetBound(bytes int) (old int) {
	a := &outside
	a.mu.Lock()
	defer a.mu.Unlock()
	old, a.bound = int(a.bound), int64(max(bytes, 0))
	a.use.Peak = a.use.Live
	a.trim(a.bound - a.use.Live)
	return old
}

// get returns a region of at least n bytes, and whether it was used before: then its bytes have any values. When the
// arena is full it runs the collector, if that is due, before it answers errFull.
func (a *arena) get(n int) (region []byte, used bool, err error) {
	size := ram.RoundUp(n, os.Getpagesize())
	a.pace(int64(size))
	region, used, err = a.take(size)
	if err == errFull && a.collect(int64(size)) {
		region, used, err = a.take(size)
	}
	if err == errFull {
		a.mu.Lock()
		a.asked += int64(size)
		a.mu.Unlock()
	}
	return region, used, err
}

func (a *arena) take(size int) (region []byte, used bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	room := a.bound - a.use.Live
	if !canMap || int64(size) > room {
		return nil, false, errFull
	}
	// The smallest free region that is large enough, if it isn't wasteful.
	i, _ := slices.BinarySearchFunc(a.free, size, func(r []byte, size int) int { return len(r) - size })
	if i < len(a.free) && len(a.free[i]) <= size+size/4 && int64(len(a.free[i])) <= room {
		region = a.free[lastOf(a.free, i)]
		a.free = slices.Delete(a.free, lastOf(a.free, i), lastOf(a.free, i)+1)
		a.use.Free -= int64(len(region))
		used = true
	} else {
		a.trim(max(a.use.Peak-a.use.Live-int64(size), 0))
		if region, err = mapMemory(size); err != nil {
			a.trim(0)
			region, err = mapMemory(size)
		}
		if err != nil {
			return nil, false, fmt.Errorf("%w: %w", ErrMemory, err)
		}
	}
	a.asked += int64(size)
	a.use.Live += int64(len(region))
	a.use.Peak = max(a.use.Peak, a.use.Live)
	return region, used, nil
}

// lastOf returns the index of the last region as long as the one at i.
func lastOf(free [][]byte, i int) int {
	for i+1 < len(free) && len(free[i+1]) == len(free[i]) {
		i++
	}
	return i
}

// put takes a region back.
func (a *arena) put(region []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.use.Live -= int64(len(region))
	a.use.Free += int64(len(region))
	i, _ := slices.BinarySearchFunc(a.free, len(region)+1, func(r []byte, size int) int { return len(r) - size })
	a.free = slices.Insert(a.free, i, region)
	a.trim(a.bound - a.use.Live) // after SetBound there may be too much
}

// trim unmaps the largest free regions until at most keep bytes of them are left. The caller holds a.mu.
func (a *arena) trim(keep int64) {
	for len(a.free) > 0 && a.use.Free > keep {
		last := len(a.free) - 1
		region := a.free[last]
		a.free[last] = nil
		a.free = a.free[:last]
		a.use.Free -= int64(len(region))
		if err := unmapMemory(region); err != nil {
			// It was mapped by mapMemory and is unmapped once: the system refusing it means that memory is corrupt.
			panic("mem: unmapping memory of the arena: " + err.Error())
		}
	}
}

// collect runs the collector and waits for the memory it gives back, unless another goroutine just did. It reports
// whether asking for size bytes again may help.
func (a *arena) collect(size int64) bool {
	a.collecting.Lock()
	defer a.collecting.Unlock()
	a.mu.Lock()
	full := a.use.Live+size > a.bound
	due := canMap && size <= a.bound && a.asked >= a.due
	if full && due {
		a.due = a.asked + a.bound/4
	}
	a.mu.Unlock()
	if !full || !due {
		return !full
	}
	ram.Sweep()
	return true
}

// pace runs the collector when the live bytes have doubled since it ran last.
func (a *arena) pace(size int64) {
	over := func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return canMap && a.use.Live+size > a.soft && a.use.Live+size <= a.bound
	}
	if !over() {
		return
	}
	a.collecting.Lock()
	defer a.collecting.Unlock()
	if !over() {
		return
	}
	ram.Sweep()
	a.mu.Lock()
	a.soft = max(leastSoft, 2*a.use.Live+size)
	a.mu.Unlock()
}

// Copied returns how many bytes views have copied since the program began, where they couldn't share them. A test can assert that a
// view shares.
func Copied() int64 { return ram.Copied.Load() }
