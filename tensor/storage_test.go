package tensor_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// closed tries everything that reads or writes.
func closed[T num.Elem](t *testing.T, name string, x tensor.Tensor[T]) {
	t.Helper()
	idx := make([]int, x.Rank())
	var v T
	for what, f := range map[string]func(){
		"At": func() { x.At(idx...) }, "Set": func() { x.Set(v, idx...) }, "Data": func() { x.Data() }, "Elems": func() { x.Elems() }, "Fill": func() { x.Fill(v) },
		"Clone": func() { x.Clone() }, "Contiguous": func() { x.Contiguous() }, "CopyFrom": func() { x.CopyFrom(x) }, "Values": func() { values(x) },
		"Overlaps": func() { x.Any().Overlaps(x.Any()) }, "Flatten": func() { tensor.Flatten(x) }, "Mutable": func() { tensor.Mutable(x) },
	} {
		if err := tensor.Try(f); !errors.Is(err, tensor.ErrClosed) {
			t.Errorf("%s: %s after Close: %v", name, what, err)
		}
	}
	if _, ok := tensor.Bytes(x.Any()); ok {
		t.Errorf("%s: Bytes after Close", name)
	}
	if _, err := tensor.Contiguous(x.Any()); !errors.Is(err, tensor.ErrClosed) {
		t.Errorf("%s: Contiguous after Close: %v", name, err)
	}
	if err := x.Close(); err != nil {
		t.Errorf("%s: second Close: %v", name, err)
	}
	if s := x.String(); s != tensor.Describe(x.Any())+"(closed)" {
		t.Errorf("%s: prints %q", name, s)
	}
}

func TestClose(t *testing.T) {
	for name, x := range map[string]tensor.Tensor[float32]{
		"small": tensor.New[float32](2, 2), "block": tensor.New[float32](64, 64), "large": tensor.New[float32](600, 600),
		"borrowed": tensor.FromSlice(make([]float32, 4), 2, 2),
	} {
		part := x.S("1:, ::-1")
		if err := part.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		closed(t, name, x)
		closed(t, name+", the view", part)
	}
}

// Memory that Elems has given out isn't handed to another tensor, although the
// tensor is closed.
func TestCloseLent(t *testing.T) {
	x := tensor.New[int32](2048)
	e := x.Elems()
	x.Close()
	for range 20 {
		y := tensor.Full[int32](-1, 2048)
		defer y.Close()
	}
	if slices.Contains(e, -1) {
		t.Error("the memory of a lent slice was used again")
	}
}

func TestFromBytes(t *testing.T) {
	buf, err := mem.Alloc(64)
	if err != nil {
		t.Fatal(err)
	}
	for i := range buf.Bytes() {
		buf.Bytes()[i] = byte(i)
	}
	flat := func(ext, str int) layout.Layout {
		l, err := layout.New([]int{ext}, []int{str})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	for _, c := range []struct {
		d    dtype.DType
		off  int
		lay  layout.Layout
		want error
	}{
		{dtype.Uint8, 0, flat(64, 1), nil},
		{dtype.Uint8, 0, flat(65, 1), tensor.ErrShape},
		{dtype.Uint8, 1, flat(64, 1), tensor.ErrShape},
		{dtype.Uint8, 63, flat(64, -1), nil},
		{dtype.Uint8, 62, flat(64, -1), tensor.ErrShape},
		{dtype.Uint8, 64, flat(0, 1), nil},
		{dtype.Uint8, 65, flat(0, 1), tensor.ErrShape},
		{dtype.Uint8, -1, flat(1, 1), tensor.ErrShape},
		{dtype.Float64, 8, flat(7, 1), nil},
		{dtype.Float64, 8, flat(8, 1), tensor.ErrShape},
		{dtype.Float64, 56, flat(8, -1), nil},
		{dtype.Float64, 2, flat(7, 1), tensor.ErrView},
		{dtype.Float64, 57, flat(1, 1), tensor.ErrShape}, // its last bytes are missing
		{dtype.Float64, 3, flat(0, 1), nil},
		{dtype.Int16, 3, flat(1, 1), tensor.ErrView},
		{dtype.BFloat16, 2, flat(31, 1), nil},
		{dtype.Bool, 0, flat(2, 1), nil},
		{dtype.Bool, 0, flat(3, 1), tensor.ErrValue}, // the third byte is 2
		{dtype.Invalid, 0, flat(1, 1), tensor.ErrDType},
		{dtype.DType(200), 0, flat(1, 1), tensor.ErrDType},
	} {
		a, err := tensor.FromBytes(c.d, buf, c.off, c.lay)
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%v from %d, %v: %v, want %v", c.d, c.off, c.lay, err, c.want)
			continue
		}
		if err == nil && (a.DType() != c.d || a.Len() != c.lay.Size()) {
			t.Errorf("%v from %d, %v: %s", c.d, c.off, c.lay, tensor.Describe(a))
		}
	}

	// In place: a write shows in the bytes, and in another tensor over them.
	a, err := tensor.FromBytes(dtype.Uint8, buf, 16, flat(4, -4))
	if err != nil {
		t.Fatal(err)
	}
	b, err := tensor.FromBytes(dtype.Uint16, buf, 0, flat(32, 1))
	if err != nil {
		t.Fatal(err)
	}
	x, y := asOf[uint8](a), asOf[uint16](b)
	if got := values(x); !slices.Equal(got, []uint8{16, 12, 8, 4}) {
		t.Error(got)
	}
	if x.Set(0xff, 1); buf.Bytes()[12] != 0xff || y.At(6)&0xff != 0xff && y.At(6)>>8 != 0xff {
		t.Error("FromBytes copied")
	}
	if err := y.Close(); err != nil || !buf.Closed() {
		t.Error("closing a tensor doesn't close its buffer", err)
	}
	closed(t, "closed through another tensor", x)
	if _, err := tensor.FromBytes(dtype.Uint8, buf, 0, flat(1, 1)); !errors.Is(err, tensor.ErrClosed) {
		t.Error(err)
	}
}

// Borrowed memory comes back to its owner with Close.
func TestFromBytesBorrowed(t *testing.T) {
	released := 0
	buf := mem.Borrow(make([]byte, 8), func() { released++ })
	lay, err := layout.RowMajor(8)
	if err != nil {
		t.Fatal(err)
	}
	a, err := tensor.FromBytes(dtype.Int8, buf, 0, lay)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil || released != 1 {
		t.Error(err, released)
	}
	closed(t, "borrowed", asOf[int8](a))
}

func TestMapped(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bytes")
	if err := os.WriteFile(file, []byte{1, 2, 3, 4, 5, 6}, 0o666); err != nil {
		t.Fatal(err)
	}
	buf, err := mem.Map(file)
	if err != nil {
		t.Fatal(err)
	}
	lay, err := layout.RowMajor(2, 3)
	if err != nil {
		t.Fatal(err)
	}
	a, err := tensor.FromBytes(dtype.Uint8, buf, 0, lay)
	if err != nil {
		t.Fatal(err)
	}
	x := asOf[uint8](a)
	for name, y := range map[string]tensor.Tensor[uint8]{"the tensor": x, "a view": x.S("1:"), "itself made contiguous": x.Contiguous()} {
		if !y.IsReadOnly() {
			t.Errorf("%s is not read-only", name)
		}
		for what, f := range map[string]func(){"Set": func() { y.Set(1, 0, 0) }, "Fill": func() { y.Fill(1) }, "CopyFrom": func() { y.CopyFrom(tensor.Scalar[uint8](1)) }, "Mutable": func() { tensor.Mutable(y) }} {
			if err := tensor.Try(f); !errors.Is(err, tensor.ErrReadOnly) {
				t.Errorf("%s.%s: %v", name, what, err)
			}
		}
	}
	c := x.Clone()
	if c.Set(9, 0, 0); x.At(0, 0) != 1 || c.At(0, 0) != 9 {
		t.Error("Clone of mapped memory")
	}
	if x.At(1, 2) != 6 {
		t.Error(x)
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
	closed(t, "mapped", x)
}

// A large tensor that nobody knows any more gives its memory back, and a view
// keeps it: the handle it was made from doesn't matter.
func TestCollected(t *testing.T) {
	before := mem.Stats()
	if before.Peak == 0 && tensor.New[int8](2<<20).Close() == nil && mem.Stats().Peak == 0 {
		t.Skip("no memory outside the Go heap on this platform")
	}
	view := func() tensor.Tensor[int8] {
		x := tensor.Full[int8](7, 4<<20)
		return x.S("-3:")
	}()
	for range 3 {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	other := tensor.Full[int8](1, 4<<20)
	if got := values(view); !slices.Equal(got, []int8{7, 7, 7}) {
		t.Fatalf("a view of a storage without another handle holds %v", got)
	}
	live := mem.Stats().Live
	runtime.KeepAlive(view)
	runtime.KeepAlive(other)
	for range 200 {
		runtime.GC()
		if mem.Stats().Live < live {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("%d bytes live before the handles went, %d after", live, mem.Stats().Live)
}

// Copies that views had to make are counted, and others aren't.
func TestCopied(t *testing.T) {
	x := tensor.New[int32](4, 6)
	for _, c := range []struct {
		name string
		f    func()
		want int64
	}{
		{"views", func() {
			x.S("1:, ::2").Transpose().Unsqueeze(0).Flip()
			x.Reshape(3, 8).View(24).BroadcastTo(2, 24)
			x.Contiguous()
			x.Transpose().Transpose().Contiguous()
		}, 0},
		{"copies asked for", func() { x.Clone(); tensor.Flatten(x); x.CopyFrom(tensor.New[int32](4, 6)) }, 0},
		{"interleaved", func() { x.S(":, ::2").CopyFrom(x.S(":, 1::2")) }, 0},
		{"Contiguous", func() { x.Transpose().Contiguous() }, 96},
		{"Reshape", func() { x.Transpose().Reshape(-1) }, 96},
		{"MakeContiguous", func() { y := x.S(":, 1:"); tensor.MakeContiguous(&y) }, 80},
		{"overlap", func() { x.S("1:").CopyFrom(x.S(":-1")) }, 72},
	} {
		before := mem.Copied()
		if c.f(); mem.Copied()-before != c.want {
			t.Errorf("%s: %d bytes copied, want %d", c.name, mem.Copied()-before, c.want)
		}
	}
}
