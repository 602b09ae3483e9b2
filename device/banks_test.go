package device

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

// A million buffers come and go: no two share a byte of a bank, one has the same address in
// all of its banks, L1 fills from the top and DRAM from the bottom, and nothing is left.
func TestMillion(t *testing.T) {
	count := 1_000_000
	if raceDetector {
		count /= 50
	}
	dev := must(New(Model{"tiny", Coord{2, 2}, 1 << 14, 2, 1 << 14, 16, 32}, nil))
	r := rand.New(rand.NewPCG(1, 2))
	subsets := [][]int{{0}, {1}, {0, 1}, {2, 3}, {0, 1, 2, 3}, {3, 0}}
	var live []*simBuffer
	full := 0
	for i := range count {
		if len(live) > 40 || len(live) > 0 && r.IntN(2) == 0 {
			k := r.IntN(len(live))
			live[k].Free()
			if live[k].Free(); live[k].Allocated() {
				t.Fatal("allocated after Free")
			}
			live = slices.Delete(live, k, k+1)
		}
		m := Memory(r.IntN(2))
		banks := subsets[r.IntN(len(subsets))]
		if m == DRAM {
			banks = subsets[r.IntN(3)]
		}
		b, err := dev.Alloc(m, banks, r.IntN(2000), "x")
		if err != nil {
			if !errors.Is(err, tensor.ErrMemory) {
				t.Fatal(err)
			}
			full++
			continue
		}
		live = append(live, b.(*simBuffer))
		if i%1000 == 0 {
			checkPools(t, dev)
		}
	}
	checkPools(t, dev)
	for _, b := range live {
		b.Free()
	}
	for k := range 4 {
		if n := dev.Used(L1, k) + dev.Used(DRAM, k%2); n != 0 {
			t.Errorf("%d bytes are left in bank %d", n, k)
		}
	}
	t.Logf("%d didn't fit", full)
	if full == 0 || full == count {
		t.Error("nothing was ever full, or all")
	}
	// The whole memory is one piece again.
	for _, m := range []Memory{DRAM, L1} {
		if b, err := dev.Alloc(m, []int{0, 1}, 1<<14, "all"); err != nil || b.Address() != 0 {
			t.Error(err)
		}
	}
}

func checkPools(t *testing.T, dev *Sim) {
	for _, p := range dev.pools {
		for n, list := range p.banks {
			end := 0
			for _, s := range list {
				if s.addr < end || s.end > p.size || s.addr%p.align != 0 || s.addr != s.buf.addr || s.end-s.addr != s.buf.bytes || s.buf.banks[s.at] != n {
					t.Fatalf("bank %d of %v: %+v after %d", n, p.kind, s, end)
				}
				end = s.end
			}
		}
	}
}

// L1 begins at its end, DRAM at its beginning, and a free piece is used again.
func TestDirections(t *testing.T) {
	dev := open(t)
	for _, tc := range []struct {
		m    Memory
		want [3]int
	}{{DRAM, [3]int{0, 4096, 0}}, {L1, [3]int{1<<20 - 4096, 1<<20 - 8192, 1<<20 - 4096}}} {
		c := MemoryConfig{Memory: tc.m}
		s := must(pack.NewSpec(dtype.Uint8, []int{1, 4096}, nil))
		a, b := must(Empty(s, dev, c)), must(Empty(s, dev, c))
		first, second := must(a.Address()), must(b.Address())
		a.Deallocate()
		again := must(Empty(s, dev, c))
		if got := [3]int{first, second, must(again.Address())}; got != tc.want {
			t.Errorf("%v: %v, want %v", tc.m, got, tc.want)
		}
	}
}

// An allocation that finds no room names the resident buffers.
func TestFull(t *testing.T) {
	dev := open(t)
	c := MemoryConfig{Memory: L1}
	var keep []Tensor
	for i := range 6 {
		s := must(pack.NewSpec(dtype.Uint8, []int{12, (i + 1) << 14}, nil))
		keep = append(keep, must(Empty(s, dev, c)))
	}
	s := must(pack.NewSpec(dtype.Uint8, []int{12, 1 << 20}, nil))
	_, err := Empty(s, dev, c)
	want := "device.Empty: uint8[12,1048576], L1, interleaved: 1048576 bytes in each of 12 banks of L1 are not to be had at one address; " +
		"each has 1048576, in bank 11 344064 are in use; resident: uint8[12,98304], L1, interleaved (98304), uint8[12,81920], L1, interleaved (81920), " +
		"uint8[12,65536], L1, interleaved (65536), uint8[12,49152], L1, interleaved (49152), 2 more. Deallocate what is done with"
	if !errors.Is(err, tensor.ErrMemory) || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	for _, x := range keep {
		x.Deallocate()
	}
	if _, err := Empty(s, dev, c); err != nil {
		t.Error(err)
	}
	_, err = Empty(must(pack.NewSpec(dtype.Uint8, []int{1, 2 << 20}, nil)), dev, c)
	if !errors.Is(err, tensor.ErrMemory) || !strings.Contains(fmt.Sprint(err), "needs 2097152 bytes in each bank of L1, which has 1048576") {
		t.Errorf("larger than a bank: %v", err)
	}
}

// Tensors that nobody can reach give their memory back.
func TestCollected(t *testing.T) {
	dev := open(t)
	s := must(pack.NewSpec(dtype.Uint8, []int{12, 1 << 19}, nil))
	for range 10 { // two fit
		if _, err := Empty(s, dev, MemoryConfig{Memory: L1}); err != nil {
			t.Fatal(err)
		}
	}
}

// A handle that is deallocated breaks no other.
func TestHandles(t *testing.T) {
	dev := open(t)
	a := must(ToDevice(full(7, 64).Any(), dev, MemoryConfig{Memory: L1}))
	same := a
	b := must(a.Share())
	v := must(a.View(0, must(ToDevice(full(0, 2).Any(), dev, MemoryConfig{})).Layout()))
	a.Deallocate()
	a.Deallocate()
	for _, f := range []func() error{
		func() error { _, err := FromDevice(a); return err },
		func() error { _, err := FromDevice(same); return err },
		func() error { _, err := a.Share(); return err },
		func() error { _, err := a.View(0, a.Layout()); return err },
		func() error { _, err := a.Address(); return err },
		func() error { return CopyToDevice(a, full(1, 64).Any()) },
		func() error { return CopyToHost(full(1, 64).Any(), a) },
		func() error { _, err := Copy(dev.NewQueue(), a.Any(), b.Any()); return err },
		func() error { _, err := Copy(dev.NewQueue(), b.Any(), a.Any()); return err },
		func() error { _, err := dev.NewQueue().Launch(func(*Core) error { return nil }, a); return err },
		func() error { return tensor.Try(func() { a.Storage() }) },
	} {
		if err := f(); !errors.Is(err, tensor.ErrClosed) {
			t.Errorf("use after Deallocate: %v", err)
		}
	}
	if a.IsAllocated() || same.IsAllocated() || !b.IsAllocated() || !v.IsAllocated() {
		t.Error("IsAllocated is wrong")
	}
	if got := onHost(t, b); got[63] != 7 {
		t.Errorf("the other handle: %v", got)
	}
	b.Deallocate()
	if got := onHost(t, v); !slices.Equal(got, []int32{7, 7}) {
		t.Errorf("the view: %v", got)
	}
	// A queued copy keeps the memory until it is done.
	q := dev.NewQueue()
	done := gate(t, q)
	x := full(0, 2)
	e := must(Copy(q, x.Any(), v.Any()))
	v.Deallocate()
	if dev.Used(L1, 0) == 0 {
		t.Error("the memory is gone while a copy waits for it")
	}
	done()
	if err := e.Wait(); err != nil || x.At(1) != 7 {
		t.Errorf("%v, %v", x, err)
	}
	if n := dev.Used(L1, 0); n != 0 {
		t.Errorf("%d bytes are left", n)
	}
	if a.String() != "int32[64], deallocated" || !strings.HasPrefix(b.Space().String(), "L1 of small") {
		t.Errorf("%v, %v", a, b.Space())
	}
}
