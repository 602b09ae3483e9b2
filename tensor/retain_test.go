package tensor_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"testing"
	"unsafe"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// mapped makes a tensor of bytes over a file.
func mapped(t *testing.T, data []byte, open func(string) (*mem.Buffer, error)) (tensor.Tensor[uint8], string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	buf, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	lay, err := layout.RowMajor(len(data))
	if err != nil {
		t.Fatal(err)
	}
	a, err := tensor.FromBytes(dtype.Uint8, buf, 0, lay)
	if err != nil {
		t.Fatal(err)
	}
	return asOf[uint8](a), path
}

func TestStorage(t *testing.T) {
	read, _ := mapped(t, make([]byte, 100), mem.Map)
	written, _ := mapped(t, make([]byte, 100), mem.MapCopy)
	var scratch mem.Scratch
	defer scratch.Close()
	for _, c := range []struct {
		name  string
		got   tensor.Storage
		want  tensor.Storage
		align int
	}{
		{"small", tensor.New[float32](3, 4).Any().Storage(), tensor.Storage{Kind: mem.Owned, Bytes: 48}, 64},
		{"a page", tensor.New[float32](64, 64).Any().Storage(), tensor.Storage{Kind: mem.Owned, Bytes: 16384}, 4096},
		{"large", tensor.New[float32](256, 256).S("::2, 1").Any().Storage(), tensor.Storage{Kind: mem.Owned, Bytes: 1 << 18}, 4096},
		{"borrowed", tensor.FromSlice(make([]int16, 10)).S("3").Any().Storage(), tensor.Storage{Kind: mem.Borrowed, Bytes: 20}, 1},
		{"mapped", read.Any().Storage(), tensor.Storage{Kind: mem.Mapped, Bytes: 100, ReadOnly: true}, 64},
		{"copy-on-write", written.Any().Storage(), tensor.Storage{Kind: mem.Mapped, Bytes: 100}, 64},
		{"scratch", tensor.NewIn[float64](&scratch, 2, 3).Any().Storage(), tensor.Storage{Kind: mem.Scratched, Bytes: 48}, 64},
		{"a copy", read.Clone().Any().Storage(), tensor.Storage{Kind: mem.Owned, Bytes: 100}, 64},
	} {
		if c.got.Align < min(c.align, os.Getpagesize()) {
			t.Errorf("%s: aligned at %d, want %d", c.name, c.got.Align, c.align)
		}
		if c.got.Align = 0; c.got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, c.got, c.want)
		}
	}
	if written.Set(9, 0); written.At(0) != 9 {
		t.Error("a copy-on-write mapping can't be written")
	}
}

func TestNewIn(t *testing.T) {
	var s mem.Scratch
	x := tensor.NewIn[int32](&s, 2, 3)
	view := x.Transpose()
	x.Set(5, 1, 2)
	if !slices.Equal(values(view), []int32{0, 0, 0, 0, 0, 5}) {
		t.Errorf("got %v", view)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for _, y := range []tensor.Tensor[int32]{x, view} {
		if err := tensor.Try(func() { y.At(0, 0) }); !errors.Is(err, tensor.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
	if err := tensor.Try(func() { tensor.NewIn[int32](&s, 2, -3) }); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("got %v", err)
	}
	if err := tensor.Try(func() { tensor.NewIn[int32](&s, 1<<20, 1<<30) }); !errors.Is(err, tensor.ErrMemory) && !errors.Is(err, tensor.ErrOverflow) {
		t.Errorf("got %v", err)
	}
}

func TestDetach(t *testing.T) {
	x := tensor.Arange[int32](0, 1000, 1).View(10, 100)
	part := x.S("3, 10:13")
	if got := part.Any().RetainedBytes(); got != 4000 {
		t.Errorf("the view keeps %d bytes", got)
	}
	before := mem.Copied()
	d := tensor.Detach(part)
	if d.Any().SameData(part.Any()) || d.Any().RetainedBytes() != 12 || !slices.Equal(values(d), []int32{310, 311, 312}) || mem.Copied()-before != 12 {
		t.Errorf("got %v, which keeps %d bytes, %d copied", d, d.Any().RetainedBytes(), mem.Copied()-before)
	}
	for _, whole := range []tensor.Tensor[int32]{x, x.Transpose(), x.View(1000), d} {
		if got := tensor.Detach(whole); !got.Any().SameData(whole.Any()) {
			t.Errorf("%v isn't itself", whole.Layout())
		}
	}
	if got := tensor.Detach(x.Flip()); got.Any().SameData(x.Any()) || got.At(0, 0) != 999 {
		t.Errorf("a reversed one is %v", got)
	}
	buf := mem.Borrow(make([]byte, 64), nil)
	lay, err := layout.RowMajor(16)
	if err != nil {
		t.Fatal(err)
	}
	a, err := tensor.FromBytes(dtype.Uint8, buf, 8, lay)
	if err != nil {
		t.Fatal(err)
	}
	u := asOf[uint8](a)
	if u.Any().RetainedBytes() != 64 || tensor.Detach(u).Any().SameData(u.Any()) {
		t.Error("a part of a buffer is said to keep itself only")
	}
	if u.Close(); u.Any().RetainedBytes() != 0 {
		t.Error("a closed tensor keeps bytes")
	}
}

// The memory that Pin and Export give out stays when the tensor is closed.
func TestPin(t *testing.T) {
	for _, n := range []int{2000, 100_000} {
		x := tensor.Full[int32](7, n)
		release := x.Any().Pin()
		d := x.Elems()
		x.Close()
		for range 3 {
			y := tensor.Full[int32](8, n) // would take the same memory
			defer y.Close()
		}
		if d[0] != 7 || d[n-1] != 7 {
			t.Errorf("%d pinned elements changed", n)
		}
		release()
		release()
	}
}

func TestExport(t *testing.T) {
	for _, n := range []int{60, 120_000} {
		x := tensor.Arange[int32](0, int32(n), 1).View(3, 4, -1)
		v := x.S("1:, ::-2, 3:").Transpose()
		e := v.Any().Export()
		if e.DType != dtype.Int32 || e.ReadOnly || e.Owner != v.Any().Storage() || !slices.Equal(e.Shape, v.Shape()) {
			t.Errorf("got %+v", e)
		}
		want := v.Clone()
		v.Close()
		for i, w := range want.All() {
			at := 0
			for k := range i {
				at += i[k] * e.Strides[k]
			}
			if got := *(*int32)(unsafe.Add(e.Pointer, at*4)); got != w {
				t.Fatalf("%v: %d, want %d", i, got, w)
			}
		}
		e.Release()
		e.Release()
		if e.Pointer != nil {
			t.Error("a pointer after Release")
		}
	}
	if e := tensor.Scalar(true).BroadcastTo(3).Any().Export(); !e.ReadOnly || e.Strides[0] != 0 {
		t.Errorf("got %+v", e)
	}
	if e := tensor.New[int8](0, 2).Any().Export(); e.Pointer != nil {
		t.Errorf("a pointer to no element")
	}
	nested := tensor.FromLayout(make([]int8, 16), layout.MustParse("((2,2),4):((1,8),2)"))
	if err := tensor.Try(func() { nested.Any().Export() }); !errors.Is(err, tensor.ErrView) {
		t.Errorf("got %v", err)
	}
}

// A thousand results of 64 MiB that nobody closes take less than 1 GiB at any time. With
// -long every element is written, not the first and the last alone.
func TestDroppedResults(t *testing.T) {
	if strconv.IntSize < 64 || testing.Short() {
		t.Skip("it takes an address space of 64 bits, and time")
	}
	const n = 4096
	var most int64
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	for i := range 1000 {
		x := tensor.Empty[float32](n, n)
		if *long {
			x.Fill(1)
		}
		turned := x.Transpose() // a view keeps the storage
		x = tensor.Tensor[float32]{}
		turned.Set(float32(i), 0, 0)
		turned.Set(float32(i), n-1, n-1)
		if turned.At(0, 0)+turned.At(n-1, n-1) != float32(2*i) {
			t.Fatal("another tensor has the same memory")
		}
		s := mem.Stats()
		metrics.Read(heap)
		most = max(most, s.Live+s.Free+int64(heap[0].Value.Uint64()))
	}
	t.Logf("a peak of %d MiB", most>>20)
	if most >= 1<<30 {
		t.Errorf("%d bytes held at a time", most)
	}
}

// A mapped file that becomes shorter is an error of Try.
func TestMapShrinks(t *testing.T) {
	switch runtime.GOOS {
	case "windows", "js", "wasip1", "plan9":
		t.Skip("a mapped file can't become shorter here, or there are none")
	}
	x, path := mapped(t, bytes.Repeat([]byte{1}, 1<<20), mem.Map)
	if err := os.Truncate(path, 1<<16); err != nil {
		t.Fatal(err)
	}
	if x.At(100) != 1 {
		t.Error("the rest can't be read")
	}
	skipWithoutAddress(t, func() { x.At(1 << 19) })
	for name, f := range map[string]func(){
		"At":    func() { x.At(1 << 19) },
		"Clone": func() { x.Clone() },
		"Print": func() { _ = x.String() },
	} {
		if err := tensor.Try(f); !errors.Is(err, mem.ErrShrunk) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := tensor.Clone(x.Any()); !errors.Is(err, mem.ErrShrunk) {
		t.Errorf("got %v", err)
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
}

// skipWithoutAddress skips a test where the fault that f meets has no address to
// find the file by, as under qemu-user 7.2; the processors themselves give it.
func skipWithoutAddress(t *testing.T, f func()) {
	if runtime.GOARCH == "amd64" {
		return // never emulated in CI
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if _, ok := recover().(interface{ Addr() uintptr }); !ok {
			t.Skip("this emulator doesn't tell the address of a fault")
		}
	}()
	f()
}
