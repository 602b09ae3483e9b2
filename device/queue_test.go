package device

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

func open(t testing.TB) *Sim {
	t.Helper()
	d, err := New(small, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A program's own buffers may be of a type that can't be compared. Then no move goes on where another one ends.
func TestJoinUncomparable(t *testing.T) {
	b := struct {
		Buffer
		some []int
	}{}
	m := Move{To: Place{Buffer: b}, From: Place{Host: []byte{1, 2}}, N: 1}
	next := Move{To: Place{Buffer: b, Offset: 1}, From: Place{Host: []byte{1, 2}, Offset: 1}, N: 1}
	if moves := join(join(nil, m), next); len(moves) != 2 {
		t.Errorf("%d moves, want 2", len(moves))
	}
}

func full(v int32, n int) tensor.Tensor[int32] { return tensor.Full(v, n) }

// onHost returns the elements of a tensor of int32 on a device.
func onHost(t testing.TB, d Tensor) []int32 {
	t.Helper()
	p := must(FromDevice(d))
	return held[int32](must(p.Unpack())).Elems()
}

// raw returns the first element in DRAM, as anyone who looks sees it.
func raw(t testing.TB, dev *Sim, d Tensor) byte {
	t.Helper()
	b := make([]byte, 1)
	addr := must(d.Address())
	if _, err := dev.Bank(0).ReadAt(b, int64(addr)); err != nil {
		t.Fatal(err)
	}
	return b[0]
}

// gate is a kernel that waits, so that the commands behind it in its queue wait too.
func gate(t testing.TB, q Queue) (open func()) {
	t.Helper()
	ch := make(chan struct{})
	var once sync.Once
	_, err := q.Launch(func(c *Core) error {
		<-ch
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return func() { once.Do(func() { close(ch) }) }
}

// An event is unfinished until its copy is; another queue goes on meanwhile.
func TestQueuesOverlap(t *testing.T) {
	dev := open(t)
	a := must(ToDevice(full(0, 4).Any(), dev, MemoryConfig{}))
	b := must(ToDevice(full(0, 4).Any(), dev, MemoryConfig{}))
	slow, quick := dev.NewQueue(), dev.NewQueue()
	done := gate(t, slow)
	defer done()
	late := must(Copy(slow, a.Any(), full(1, 4).Any()))
	soon := must(Copy(quick, b.Any(), full(2, 4).Any()))
	if err := soon.Wait(); err != nil || !soon.Done() {
		t.Fatal(err)
	}
	if late.Done() {
		t.Error("the copy behind the gate is done")
	}
	if got := onHost(t, b); got[0] != 2 {
		t.Errorf("got %v", got)
	}
	var e *tensor.Error
	if err := dev.Close(); !errors.Is(err, ErrBusy) || !errors.As(err, &e) || !strings.Contains(err.Error(), "2 commands") {
		t.Errorf("Close with work in flight: %v", err)
	}
	done()
	if err := late.Wait(); err != nil || !late.Done() {
		t.Fatal(err)
	}
	if got := onHost(t, a); got[0] != 1 {
		t.Errorf("got %v", got)
	}
	if err := dev.Close(); err != nil {
		t.Error(err)
	}
}

// Writes that nobody waited for are seen by their own queue alone.
func TestUnseen(t *testing.T) {
	dev := open(t)
	a := must(ToDevice(full(1, 4).Any(), dev, MemoryConfig{}))
	q, other := dev.NewQueue(), dev.NewQueue()
	wrote := must(Copy(q, a.Any(), full(2, 4).Any()))
	for !wrote.Done() {
	}
	if got := raw(t, dev, a); got != 1 {
		t.Errorf("the bank shows %d", got)
	}
	if _, err := FromDevice(a); !errors.Is(err, ErrPending) {
		t.Errorf("reading before Wait: %v", err)
	}
	for _, f := range []func() error{
		func() error { return CopyToDevice(a, full(3, 4).Any()) },
		func() error { return CopyToHost(full(3, 4).Any(), a) },
		func() error { return dev.ForEachCore(func(*Core) error { return nil }, a) },
		func() error { _, err := ToDevice(a.Any(), dev, MemoryConfig{}); return err },
	} {
		if err := f(); !errors.Is(err, ErrPending) {
			t.Errorf("use before Wait: %v", err)
		}
	}
	read := func(q Queue) int32 {
		x := full(9, 4)
		if err := must(Copy(q, x.Any(), a.Any())).Wait(); err != nil {
			t.Fatal(err)
		}
		return x.At(0)
	}
	if got := read(other); got != 1 {
		t.Errorf("the other queue sees %d", got)
	}
	x := full(9, 4)
	own := must(Copy(q, x.Any(), a.Any()))
	if x.At(0) != 9 {
		t.Error("the host's tensor changed before Wait")
	}
	if err := other.After(wrote); err != nil {
		t.Fatal(err)
	}
	if got := read(other); got != 2 {
		t.Errorf("after the event the other queue sees %d", got)
	}
	if err := own.Wait(); err != nil || x.At(0) != 2 {
		t.Errorf("its own queue sees %d, %v", x.At(0), err)
	}
	if got := raw(t, dev, a); got != 2 {
		t.Errorf("the bank shows %d", got)
	}
	if got := onHost(t, a); got[3] != 2 {
		t.Errorf("got %v", got)
	}
	if err := dev.Close(); err != nil {
		t.Error(err)
	}
}

// A failure writes nothing, and stops the commands behind it until it is reported.
func TestFailures(t *testing.T) {
	dev := open(t)
	c := MemoryConfig{Memory: L1, Sharding: HeightSharded, Shard: []int{1, 2}, Cores: []Range{Grid(4, 1)}}
	x := must(ToDevice(tensor.Arange[int32](0, 8, 1).Reshape(4, 2).Any(), dev, c))
	boom := errors.New("boom")
	for name, f := range map[string]func(*Core) error{
		"core (2,0): boom":                            func(c *Core) error { return boom },
		"core (2,0): panic: boom":                     func(c *Core) error { panic(boom) },
		"core (2,0): panic: no":                       func(c *Core) error { panic("no") },
		"core (2,0): the kernel ended its goroutine":  func(c *Core) error { runtime.Goexit(); return nil },
		"core (2,0): panic: device.Core: there is no": func(c *Core) error { dev.Core(99, 0); return nil },
	} {
		ran := make([]bool, 4)
		err := dev.ForEachCore(func(c *Core) error {
			ran[c.X] = true
			b, err := c.Bytes(x)
			if err != nil {
				return err
			}
			for i := range b {
				b[i] = 0x77
			}
			if err := c.Write(x, (c.X+1)%4, make([]byte, 8)); err != nil {
				return err
			}
			if c.X < 2 {
				return nil
			}
			return f(c)
		}, x)
		if !errors.Is(err, ErrKernel) || !errors.As(err, new(*tensor.Error)) || !strings.Contains(fmt.Sprint(err), name) {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Contains(name, "boom") && !errors.Is(err, boom) {
			t.Errorf("%v doesn't wrap the kernel's error", err)
		}
		if slices.Contains(ran, false) {
			t.Errorf("ran on %v", ran)
		}
		if got := onHost(t, x); !slices.Equal(got, []int32{0, 1, 2, 3, 4, 5, 6, 7}) {
			t.Errorf("half written: %v", got)
		}
	}
	q := dev.NewQueue()
	bad := must(q.Launch(func(*Core) error { return boom }, x))
	behind := must(Copy(q, x.Any(), tensor.New[int32](4, 2).Any()))
	third := dev.NewQueue()
	if err := third.After(bad); err != nil {
		t.Fatal(err)
	}
	if err := behind.Wait(); !errors.Is(err, boom) || !strings.Contains(err.Error(), "not done") {
		t.Errorf("behind a failure: %v", err)
	}
	if err := third.Wait(); !errors.Is(err, boom) {
		t.Errorf("after a failed event: %v", err)
	}
	if err := q.Wait(); !errors.Is(err, boom) {
		t.Errorf("the queue's Wait: %v", err)
	}
	if err := q.Wait(); err != nil {
		t.Errorf("a second one: %v", err)
	}
	if got := onHost(t, x); got[1] != 1 {
		t.Errorf("got %v", got)
	}
	if err := must(Copy(q, x.Any(), tensor.New[int32](4, 2).Any())).Wait(); err != nil {
		t.Errorf("after the report: %v", err)
	}
	if err := dev.Close(); err != nil {
		t.Error(err)
	}
}

// Many goroutines use one device: the race detector looks on.
func TestManyQueues(t *testing.T) {
	dev := open(t)
	shared := must(ToDevice(full(-1, 256).Any(), dev, MemoryConfig{Memory: L1}))
	var all sync.WaitGroup
	for g := range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			q := dev.NewQueue()
			c := MemoryConfig{Memory: Memory(g % 2)}
			for i := range 60 {
				a, err := ToDevice(full(int32(g), 64).Any(), dev, c)
				if err != nil {
					t.Error(err)
					return
				}
				b, err := Empty(a.Spec(), dev, c)
				if err != nil {
					t.Error(err)
					return
				}
				x := full(99, 64)
				_, err1 := Copy(q, b.Any(), a.Any())
				_, err2 := Copy(q, a.Any(), full(int32(i), 64).Any())
				_, err3 := Copy(q, x.Any(), b.Any())
				e, err4 := Copy(q, must(shared.View(g*32, layout.MustParse("32:1"))).Any(), full(int32(g), 32).Any())
				a.Deallocate()
				b.Deallocate()
				if err := errors.Join(err1, err2, err3, err4); err != nil {
					t.Error(err)
					return
				}
				if i%3 == 0 {
					err = q.Wait()
				} else if err = e.Wait(); err == nil {
					err = q.Wait()
				}
				if err != nil || x.At(0) != int32(g) || x.At(63) != int32(g) {
					t.Errorf("%v, %v", x, err)
				}
				raw(t, dev, shared)
				dev.Traffic()
				dev.Used(L1, 0)
			}
		}()
	}
	all.Wait()
	if err := dev.Sync(); err != nil {
		t.Error(err)
	}
	for i, v := range onHost(t, shared) {
		if v != int32(i/32) {
			t.Fatalf("element %d is %d", i, v)
		}
	}
	shared.Deallocate()
	if err := dev.Close(); err != nil {
		t.Error(err)
	}
}

// Closing and deallocating while others work gives errors, and nothing else.
func TestCloseMeanwhile(t *testing.T) {
	for range 20 {
		dev := open(t)
		a := must(ToDevice(full(1, 64).Any(), dev, MemoryConfig{Memory: L1}))
		var all sync.WaitGroup
		for g := range 4 {
			all.Add(1)
			go func() {
				defer all.Done()
				q := dev.NewQueue()
				for i := range 30 {
					e, err := Copy(q, a.Any(), full(int32(i), 64).Any())
					if err == nil {
						err = e.Wait()
					}
					if err != nil && !errors.Is(err, tensor.ErrClosed) {
						t.Error(err)
					}
					if g == 0 && i == 10 {
						a.Deallocate()
					}
					if err := dev.Close(); err != nil && !errors.Is(err, ErrBusy) {
						t.Error(err)
					}
				}
			}()
		}
		all.Wait()
		if err := dev.Sync(); err != nil && !errors.Is(err, tensor.ErrClosed) {
			t.Error(err)
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
		if a.IsAllocated() {
			t.Error("allocated on a closed device")
		}
	}
}

// CopyFromAsync does the same on a device as on the host: bound, fill, swizzle and base.
func TestCopyFromAsync(t *testing.T) {
	dev := open(t)
	rapid.Check(t, func(t *rapid.T) {
		const size = 128
		n := rapid.IntRange(0, 32).Draw(t, "n")
		draw := func(name string) (off int, lay layout.Layout) {
			stride := rapid.SampledFrom([]int{1, 1, 1, 3, -2}).Draw(t, name)
			if off = 5; stride < 0 {
				off = 100
			}
			return off, must(layout.New([]int{n}, []int{stride}))
		}
		fromOff, from := draw("from")
		toOff, to := draw("to")
		o := tensor.AsyncCopy{Masked: rapid.Bool().Draw(t, "masked"), Keep: rapid.Bool().Draw(t, "keep")}
		o.Bound = rapid.IntRange(-70, 100).Draw(t, "bound")
		if rapid.Bool().Draw(t, "swizzle") {
			o.Swizzle = must(layout.NewSwizzle(1, rapid.IntRange(0, 1).Draw(t, "low"), 2))
			o.Base = rapid.IntRange(0, 8).Draw(t, "base")
		}
		x, y := tensor.Arange[int32](0, size, 1), tensor.Arange[int32](1000, 1000+size, 1)
		view := func(x tensor.Tensor[int32], off int, lay layout.Layout) tensor.Tensor[int32] {
			lo, _ := lay.Span()
			return tensor.FromLayout(x.Elems()[off+lo:], lay)
		}
		want := y.Clone()
		fails := tensor.Try(func() { tensor.CopyFromAsync(view(want, toOff, to), nil, view(x, fromOff, from), o) })
		if fails != nil {
			want = y
		}
		for _, hostSource := range []bool{false, true} {
			for _, hostTarget := range []bool{false, true} {
				if hostSource && hostTarget {
					continue
				}
				c := MemoryConfig{Memory: Memory(rapid.IntRange(0, 1).Draw(t, "memory"))}
				dx, dy, target := must(ToDevice(x.Any(), dev, c)), must(ToDevice(y.Any(), dev, c)), y.Clone()
				var dst, src tensor.Any = must(dy.View(toOff, to)).Any(), must(dx.View(fromOff, from)).Any()
				if hostSource {
					src = view(x, fromOff, from).Any()
				}
				if hostTarget {
					dst = view(target, toOff, to).Any()
				}
				q := dev.NewQueue()
				e, err := CopyFromAsync(q, dst, src, o)
				if (err != nil) != (fails != nil) {
					t.Fatalf("%+v: the host says %v, the device %v", o, fails, err)
				}
				if err == nil {
					if _, err := FromDevice(dy); !hostTarget && n > 0 && !errors.Is(err, ErrPending) && len(want.Elems()) > 0 && !o.Masked {
						t.Fatalf("reading before Wait: %v", err)
					}
					if err := e.Wait(); err != nil {
						t.Fatal(err)
					}
				}
				got := target.Elems()
				if !hostTarget {
					got = held[int32](must(must(FromDevice(dy)).Unpack())).Elems()
				}
				if !slices.Equal(got, want.Elems()) {
					t.Fatalf("%+v from %v at %d to %v at %d:\n%v, want\n%v", o, from, fromOff, to, toOff, got, want.Elems())
				}
				dx.Deallocate()
				dst2, _ := dst.Foreign().(Tensor)
				dst2.Deallocate()
				dy.Deallocate()
			}
		}
	})
	if n := dev.Used(L1, 0); n > 0 {
		t.Logf("%d bytes in use by views that the collector has yet to find", n)
	}
}

// held returns a as a tensor of T, which it must hold.
func held[T num.Elem](a tensor.Any) tensor.Tensor[T] {
	x, ok := tensor.As[T](a)
	if !ok {
		panic(tensor.Describe(a) + " holds another type")
	}
	return x
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
