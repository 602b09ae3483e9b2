package disk_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/disk"
	_ "github.com/ashlar-go/ashlar/internal/seeded"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// TestSliceBytes compares parts of all types, layouts, byte orders and alignments with
// bytes that are picked one by one.
func TestSliceBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SampledFrom(dtype.All()).Draw(t, "type")
		shape := rapid.SliceOfN(rapid.IntRange(0, 4), 0, 4).Draw(t, "shape")
		lay, err := layout.RowMajor(shape...)
		if rapid.Bool().Draw(t, "columns") {
			lay, err = layout.ColMajor(shape...)
		}
		if err != nil {
			t.Fatal(err)
		}
		if rapid.IntRange(0, 5).Draw(t, "nested") == 0 {
			lay = layout.MustParse("((2,2),3):((6,1),2)")
		}
		var idx []tensor.Index
		for range rapid.IntRange(0, lay.Rank()).Draw(t, "indices") {
			bound := rapid.OneOf(rapid.IntRange(-5, 5), rapid.Just(tensor.None))
			x := tensor.R(bound.Draw(t, "from"), bound.Draw(t, "to"), rapid.SampledFrom([]int{1, 2, 3, -1, -2}).Draw(t, "step"))
			if n := lay.Dim(len(idx)); n > 0 && rapid.Bool().Draw(t, "point") {
				x = tensor.I(rapid.IntRange(-n, n-1).Draw(t, "at"))
			}
			idx = append(idx, x)
		}
		size, swapped := d.Size(), rapid.Bool().Draw(t, "swapped")
		off := rapid.IntRange(0, 9).Draw(t, "offset")
		data := append([]byte(nil), rapid.SliceOfN(rapid.Byte(), off+lay.Size()*size, -1).Draw(t, "bytes")...)

		places := tensor.Arange[int64](0, int64(lay.Size()), 1)
		whole := tensor.FromLayout(places.Elems(), lay)
		var part tensor.Tensor[int64]
		want := tensor.Try(func() { part = whole.Slice(idx...) })
		buf := mem.Borrow(slices.Clone(data), nil)
		a, shared, err := disk.SliceBytes(d, buf, off, lay, swapped, idx...)
		if want != nil || err != nil {
			if want == nil || err == nil || err.Error() != want.Error() {
				t.Fatalf("error %v, want %v", err, want)
			}
			return
		}
		var bytesWant []byte
		for k := range part.Values() {
			e := slices.Clone(data[off+int(k)*size:][:size])
			if swapped {
				conv.Reverse(e, conv.Unit(d))
			}
			d.Mend(e)
			bytesWant = append(bytesWant, e...)
		}
		c, err := tensor.Contiguous(a)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := tensor.Bytes(c)
		if !ok || !bytes.Equal(got, bytesWant) || !slices.Equal(a.Shape(), part.Shape()) {
			t.Fatalf("%s: % x, want % x of %v", tensor.Describe(a), got, bytesWant, part.Shape())
		}
		if !bytes.Equal(buf.Bytes(), data) {
			t.Fatal("the bytes are changed")
		}
		buf.Close()
		if _, err := tensor.Clone(a); errors.Is(err, tensor.ErrClosed) != shared {
			t.Fatalf("shared is %v, and the buffer's end says %v", shared, err)
		}
		runtime.KeepAlive(c)
	})
}

// Wrong arguments get errors that say the reason.
func TestSliceBytesRefuses(t *testing.T) {
	lay := layout.MustParse("2:1")
	buf, gone := mem.Borrow(make([]byte, 8), nil), mem.Borrow(nil, nil)
	gone.Close()
	for _, c := range []struct {
		d    dtype.DType
		buf  *mem.Buffer
		off  int
		idx  []tensor.Index
		want error
	}{
		{dtype.Invalid, buf, 0, nil, tensor.ErrDType}, {dtype.Int8, nil, 0, nil, tensor.ErrClosed}, {dtype.Int8, gone, 0, nil, tensor.ErrClosed},
		{dtype.Float64, buf, 1, nil, tensor.ErrShape}, {dtype.Int8, buf, -1, nil, tensor.ErrShape}, {dtype.Int8, buf, 9, nil, tensor.ErrShape},
		{dtype.Int16, buf, 1, []tensor.Index{tensor.I(99)}, tensor.ErrIndex},
	} {
		if a, _, err := disk.SliceBytes(c.d, c.buf, c.off, lay, false, c.idx...); !errors.Is(err, c.want) || !a.IsZero() {
			t.Errorf("%v from byte %d: %v, %v, want %v", c.d, c.off, a, err, c.want)
		}
	}
}

// A mapped file that became shorter is an error also while a tensor is made of it.
func TestSliceBytesShrinks(t *testing.T) {
	switch runtime.GOOS {
	case "windows", "js", "wasip1", "plan9":
		t.Skip("a mapped file can't become shorter here, or there are none")
	}
	path := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(path, bytes.Repeat([]byte{1}, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	buf, err := mem.Map(path)
	if err != nil {
		t.Fatal(err)
	}
	defer buf.Close()
	if err := os.Truncate(path, 1<<16); err != nil {
		t.Fatal(err)
	}
	if runtime.GOARCH != "amd64" { // an emulator may not tell the address of a fault, by which the file is found
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		func() {
			defer func() {
				if _, ok := recover().(interface{ Addr() uintptr }); !ok {
					t.Skip("this emulator doesn't tell the address of a fault")
				}
			}()
			_ = bytes.Count(buf.Bytes()[1<<19:], []byte{1})
		}()
	}
	for _, d := range []dtype.DType{dtype.Bool, dtype.Float32} {
		lay := layout.MustParse("1024:1")
		if a, _, err := disk.SliceBytes(d, buf, 1<<19+1, lay, false); !errors.Is(err, mem.ErrShrunk) {
			t.Errorf("%v: %v, %v", d, a, err)
		}
		if a, _, err := disk.SliceBytes(d, buf, 1, lay, false); err != nil || a.Len() != 1024 {
			t.Errorf("%v, of what is there: %v", d, err)
		}
	}
}
