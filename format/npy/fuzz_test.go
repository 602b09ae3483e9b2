package npy

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// frugal runs f, which works on an input of n bytes, and fails when it takes
// more memory than 64 MiB and 8 times the input.
func frugal(t *testing.T, what string, n int, f func()) {
	t.Helper()
	if got := allocated(f); got > 64<<20+8*int64(n) {
		t.Errorf("%s took %d bytes for an input of %d", what, got, n)
	}
}

// typed fails unless err is one of this package's.
func typed(t *testing.T, err error) {
	t.Helper()
	var own *format.Error
	if !errors.As(err, &own) || own.Err == nil || !strings.HasPrefix(err.Error(), "npy: ") {
		t.Errorf("an error of another kind: %#v", err)
	}
}

func FuzzRead(f *testing.F) {
	for _, shape := range []string{"()", "(3,)", "(2, 3)", "(0, 4)", "(1099511627776,)", "(2L, 1)", "(-1,)"} {
		f.Add([]byte(array("<i2", false, shape, "123456789012")))
	}
	for _, descr := range append(conv.NumPy[1:], "V1", "V2", "O", "U3", "f16") {
		f.Add([]byte(array(">"+descr, true, "(2, 3)", strings.Repeat("\x00\x01\x7f\xff", 24))))
	}
	f.Add([]byte(file(2, "{\"shape\" :( 4 ,\t5, ) ,'fortran_order':False,\n'descr':\"<c8\"}", "")))
	f.Add([]byte(file(3, "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (3,), }", "")))
	f.Add([]byte(file(1, "{'descr': '<i4', 'descr': '<i4', 'x': tuple([1, 2])}", "")))
	f.Fuzz(func(t *testing.T, b []byte) {
		var a, unsized, mapped tensor.Any
		var err, unsizedErr, mappedErr error
		frugal(t, "Read", len(b), func() { a, err = Read(bytes.NewReader(b), nil) })
		frugal(t, "Read of a stream", len(b), func() { unsized, unsizedErr = Read(struct{ io.Reader }{bytes.NewReader(b)}, nil) })
		frugal(t, "Open", len(b), func() { mapped, _, mappedErr = fromFile(mem.Borrow(b, nil), 0, len(b), Options{}, nil) })
		if (err == nil) != (unsizedErr == nil) || (err == nil) != (mappedErr == nil) {
			t.Fatalf("Read: %v; of a stream: %v; of a file: %v", err, unsizedErr, mappedErr)
		}
		if err != nil {
			typed(t, err)
			typed(t, unsizedErr)
			typed(t, mappedErr)
			return
		}
		h, err := ReadHeader(bytes.NewReader(b), nil)
		if err != nil || h.DType != a.DType() || !slices.Equal(h.Shape, a.Shape()) || h.Bytes() > len(b) {
			t.Fatalf("header %+v, %v; tensor %s", h, err, tensor.Describe(a))
		}
		first := written(t, a)
		if second := written(t, unsized); second != first {
			t.Fatal("a stream gives other elements")
		}
		if third := written(t, mapped); third != first {
			t.Fatal("a file gives other elements")
		}
		again, err := Read(strings.NewReader(first), &Options{As: a.DType()})
		if err != nil || written(t, again) != first || again.DType() != a.DType() {
			t.Fatalf("written and read again it differs: %v", err)
		}
	})
}

func FuzzZip(f *testing.F) {
	one := array("<i2", false, "(2, 3)", "123456789012")
	f.Add([]byte(archive(f)))
	f.Add([]byte(archive(f, entry{"x.npy", one, zip.Store}, entry{"dir/y.npy", one, zip.Deflate}, entry{"z.txt", "text", zip.Store})))
	f.Add([]byte(archive(f, entry{"x.npy", array("|u1", false, "(20000,)", strings.Repeat("\x00", 20_000)), zip.Deflate})))
	f.Add([]byte(archive(f, entry{"x.npy", array("|u1", false, "(1000000000000,)", ""), zip.Deflate}, entry{"x.npy", one, zip.Store})))
	var b bytes.Buffer
	if err := WriteZip(&b, []string{"a", "b"}, []tensor.Any{tensor.Scalar(1.5).Any(), tensor.New[bool](2, 2).Any()}, &WriteOptions{Deflate: true}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(one))
	f.Add([]byte(overlapping(f, 1)))
	f.Add([]byte(overlapping(f, 3)))
	f.Fuzz(func(t *testing.T, b []byte) {
		// The bytes as an entry, where checksums are in order.
		a, err := Read(bytes.NewReader(b), nil)
		inside, insideErr := openZip(t, archive(t, entry{"x.npy", string(b), zip.Deflate})).Tensor("x")
		if (err == nil) != (insideErr == nil) || err == nil && written(t, a) != written(t, inside) {
			t.Errorf("Read: %v; the same as an entry: %v", err, insideErr)
		}

		var z *Zip
		frugal(t, "NewZip", len(b), func() { z, err = NewZip(bytes.NewReader(b), int64(len(b)), &Options{As: dtype.BFloat16}) })
		if err != nil {
			typed(t, err)
			return
		}
		inflated := uint64(0)
		for _, name := range z.Names() {
			inflated += min(z.entries[name].CompressedSize64, uint64(len(b)))
			var h Header
			var a tensor.Any
			var headerErr, err error
			frugal(t, "Header", len(b), func() { h, headerErr = z.Header(name) })
			frugal(t, "Tensor", len(b), func() { a, err = z.Tensor(name) })
			if headerErr != nil {
				typed(t, headerErr)
			}
			if err != nil {
				typed(t, err)
				continue
			}
			if headerErr != nil || !slices.Equal(h.Shape, a.Shape()) || h.DType != a.DType() {
				t.Errorf("%q: header %+v, %v; tensor %s", name, h, headerErr, tensor.Describe(a))
			}
			a.Close()
		}
		if readable := allReadable(z); readable && inflated > uint64(len(b)) {
			t.Errorf("entries of %d bytes together in an archive of %d", inflated, len(b))
		}
	})
}

// allReadable reports whether each array's place in the archive is known.
func allReadable(z *Zip) bool {
	for _, f := range z.entries {
		if _, err := f.DataOffset(); err != nil {
			return false
		}
	}
	return true
}
