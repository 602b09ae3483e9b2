package npy

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

func openZip(t testing.TB, s string, opts ...*Options) *Zip {
	t.Helper()
	z, err := NewZip(strings.NewReader(s), int64(len(s)), append(opts, nil)[0])
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// entry is a file of an archive.
type entry struct {
	name, content string
	method        uint16
}

func archive(t testing.TB, entries ...entry) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		f, err := w.CreateHeader(&zip.FileHeader{Name: e.name, Method: e.method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, e.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestZip(t *testing.T) {
	names := []string{"w", "layer1/b", "scalar", "none"}
	ts := []tensor.Any{
		tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3).Any(), tensor.FromSlice([]bool{true, false}).Any(),
		tensor.Scalar[int64](-5).Any(), tensor.New[uint8](0, 3).Any(),
	}
	for name, opts := range map[string]*WriteOptions{"stored": nil, "deflated": {Deflate: true}} {
		t.Run(name, func(t *testing.T) {
			var b, again bytes.Buffer
			if err := WriteZip(&b, names, ts, opts); err != nil {
				t.Fatal(err)
			}
			if err := WriteZip(&again, names, ts, opts); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
				t.Errorf("the second time the bytes differ, %v", err)
			}
			path := filepath.Join(t.TempDir(), "x.npz")
			if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			z, err := OpenZip(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := z.Names(); !slices.Equal(got, names) {
				t.Errorf("names %q", got)
			}
			for i, name := range names {
				h, err := z.Header(name)
				if err != nil || h.DType != ts[i].DType() || !slices.Equal(h.Shape, ts[i].Shape()) {
					t.Errorf("%s: header %+v, %v", name, h, err)
				}
				a, err := z.Tensor(name)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(a.Shape(), ts[i].Shape()) || !bytes.Equal(rowMajor(t, a), rowMajor(t, ts[i])) {
					t.Errorf("%s: %v, want %v", name, a, ts[i])
				}
			}
			if err := z.Close(); err != nil {
				t.Error(err)
			}
			if _, err := z.Tensor("w"); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("after Close: %v", err)
			}
		})
	}
}

func TestZipRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 4).Draw(rt, "n")
		names, ts := make([]string, n), make([]tensor.Any, n)
		for i := range n {
			names[i] = string(rune('a'+i)) + rapid.SampledFrom([]string{"", "/x", ".npy", "é"}).Draw(rt, "name")
			ts[i] = drawTensor(rt)
		}
		var opts *WriteOptions
		if rapid.Bool().Draw(rt, "deflate") {
			opts = &WriteOptions{Deflate: true}
		}
		var b bytes.Buffer
		if err := WriteZip(&b, names, ts, opts); err != nil {
			rt.Fatal(err)
		}
		z := openZip(t, b.String())
		if !slices.Equal(z.Names(), names) {
			rt.Fatalf("names %q, want %q", z.Names(), names)
		}
		for i, name := range names {
			z := openZip(t, b.String(), &Options{As: ts[i].DType()})
			a, err := z.Tensor(name)
			if err != nil {
				rt.Fatal(err)
			}
			if a.DType() != ts[i].DType() || !bytes.Equal(rowMajor(t, a), rowMajor(t, ts[i])) {
				rt.Fatalf("%s: %v, want %v", name, a, ts[i])
			}
		}
	})
}

// overlapping is an archive whose directory has n entries for one body.
func overlapping(t testing.TB, n int) string {
	content := array("|u1", false, "(3,)", "123")
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := range n {
		f, err := w.CreateRaw(&zip.FileHeader{Name: string(rune('a'+i)) + ".npy", Method: zip.Store, CRC32: crc32.ChecksumIEEE([]byte(content)),
			CompressedSize64: uint64(len(content)), UncompressedSize64: uint64(len(content))})
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(f, content)
	}
	w.Close()
	s, at := b.Bytes(), 0
	for i := range n {
		next := bytes.Index(s[at:], []byte("PK\x01\x02"))
		if at += next; i > 0 {
			copy(s[at+42:], "\x00\x00\x00\x00") // where the entry begins: at the first one's place
		}
		at += 4
	}
	return string(s)
}

func TestZipOverlap(t *testing.T) {
	openZip(t, overlapping(t, 1))
	for _, n := range []int{2, 20} {
		s := overlapping(t, n)
		if _, err := NewZip(strings.NewReader(s), int64(len(s)), nil); !errors.Is(err, format.ErrFormat) || !strings.Contains(err.Error(), "overlap") {
			t.Errorf("%d entries of one body: %v", n, err)
		}
	}
	// An entry that is said to be longer than it is reaches into the next one.
	s := []byte(archive(t, entry{"x.npy", "abcdef", zip.Store}, entry{"y.npy", "ghi", zip.Store}))
	at := bytes.Index(s, []byte("PK\x01\x02"))
	s[at+20] += 200
	if _, err := NewZip(bytes.NewReader(s), int64(len(s)), nil); !errors.Is(err, format.ErrFormat) || !strings.Contains(err.Error(), "overlap") {
		t.Errorf("an entry inside another: %v", err)
	}
}

// TestLackOfMemoryIsNoDamage: what the system says about memory is no word on the file.
func TestLackOfMemoryIsNoDamage(t *testing.T) {
	_, err := mem.AllocDirty(-1)
	for _, err := range []error{err, fail(0, err, "3 bytes of elements: %v", err), fail(0, &mem.Error{Op: "Alloc", Err: mem.ErrMemory}, "so")} {
		if got := damaged(err); strings.Contains(got.Error(), "damaged") || errors.Is(got, format.ErrFormat) {
			t.Errorf("%v became %v", err, got)
		}
	}
}

// TestZipDates: an entry carries the date that NumPy's have, not today's.
func TestZipDates(t *testing.T) {
	var b bytes.Buffer
	if err := WriteZip(&b, []string{"x"}, []tensor.Any{tensor.Scalar[int8](1).Any()}, nil); err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if f := r.File[0]; f.Name != "x.npy" || f.Modified.UTC().Format("2006-01-02 15:04:05") != "1980-01-01 00:00:00" {
		t.Errorf("%s of %v", f.Name, f.Modified)
	}
}

func TestZipErrors(t *testing.T) {
	one := array("|i1", false, "(3,)", "\x01\x02\x03")
	s := archive(t,
		entry{"dir/", "", zip.Store},
		entry{"readme.txt", "no array", zip.Store},
		entry{"good.npy", one, zip.Store},
		entry{"short.npy", one[:len(one)-1], zip.Deflate},
		entry{"text.npy", "no array", zip.Store},
		entry{"empty.npy", "", zip.Store},
		entry{"pickle.npy", array("|O", false, "(3,)", "\x80\x04N."), zip.Store},
		entry{"big.npy", array("|i1", false, "(3000000000,)", "\x01\x02\x03"), zip.Deflate},
	)
	if ^uint(0)>>32 == 0 {
		s = strings.ReplaceAll(s, "3000000000", "2000000000")
	}
	z := openZip(t, s)
	if got := z.Names(); !slices.Equal(got, []string{"good", "short", "text", "empty", "pickle", "big"}) {
		t.Errorf("names %q", got)
	}
	for _, c := range []struct {
		name string
		is   error
		want string
	}{
		{"good", nil, ""},
		{"readme.txt", format.ErrName, "npy: readme.txt.npy: the archive has no such array; Names lists the 6 it has"},
		{"short", format.ErrShort, "npy: short.npy: byte 70: the file holds 2 bytes of elements, shape (3,) of int8 wants 3"},
		{"text", format.ErrFormat, `npy: text.npy: byte 0: the file begins with "no arr", an npy file with "\x93NUMPY"`},
		{"empty", format.ErrShort, "npy: empty.npy: byte 0: the file is empty"},
		{"pickle", format.ErrType, ""},
		{"big", format.ErrLimit, ""},
	} {
		a, err := z.Tensor(c.name)
		if !errors.Is(err, c.is) || (err == nil) != (!a.IsZero()) || c.want != "" && err.Error() != c.want {
			t.Errorf("%s: %v, %v\nwant %s", c.name, a, err, c.want)
		}
	}
	if _, err := NewZip(strings.NewReader("no zip"), 6, nil); !errors.Is(err, format.ErrFormat) {
		t.Error(err)
	}
	twice := archive(t, entry{"x.npy", one, zip.Store}, entry{"x.npy", one, zip.Store})
	if _, err := NewZip(strings.NewReader(twice), int64(len(twice)), nil); !errors.Is(err, format.ErrFormat) || !strings.Contains(err.Error(), `the array "x" twice`) {
		t.Error(err)
	}
	if _, err := OpenZip(filepath.Join(t.TempDir(), "none.npz"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := OpenZip(t.TempDir(), nil); !errors.Is(err, mem.ErrNotFile) {
		t.Error(err)
	}
	if _, err := OpenZip(save(t, one), nil); !errors.Is(err, format.ErrFormat) || !strings.Contains(err.Error(), "x.npy: an npz file is a zip archive") {
		t.Error(err)
	}
}

// TestZipDamaged flips a byte of the elements: the checksum tells.
func TestZipDamaged(t *testing.T) {
	content := array("|i1", false, "(300,)", strings.Repeat("abc", 100))
	s := archive(t, entry{"x.npy", content, zip.Store})
	at := strings.Index(s, "abcabc") + 150
	s = s[:at] + "?" + s[at+1:]
	if _, err := openZip(t, s).Tensor("x"); !errors.Is(err, format.ErrFormat) || !strings.Contains(err.Error(), "checksum") {
		t.Error(err)
	}
	if _, err := openZip(t, s).Header("x"); err != nil {
		t.Error(err)
	}
	locked := archive(t, entry{"x.npy", content, zip.Store})
	at = strings.Index(locked, "PK\x01\x02") + 8
	locked = locked[:at] + "\x09" + locked[at+1:]
	if _, err := openZip(t, locked).Tensor("x"); !errors.Is(err, format.ErrFormat) || !strings.Contains(err.Error(), "encrypted") {
		t.Error(err)
	}
	odd := archive(t, entry{"x.npy", content, zip.Store})
	at = strings.Index(odd, "PK\x01\x02") + 10
	odd = odd[:at] + "\x0e" + odd[at+1:]
	if _, err := openZip(t, odd).Tensor("x"); !errors.Is(err, format.ErrFormat) || !strings.Contains(err.Error(), "compressed by method 14") {
		t.Error(err)
	}
}

// TestZipBomb: an entry that inflates a thousandfold is refused before it does,
// unless the caller asks for it.
func TestZipBomb(t *testing.T) {
	const size = 100 << 20
	zeros := array("|u1", false, "(104857600,)", "") + strings.Repeat("\x00", size)
	honest := archive(t, entry{"x.npy", zeros, zip.Deflate})
	for name, lie := range map[string]string{
		"honest sizes":                   honest,
		"a small shape before the zeros": archive(t, entry{"x.npy", array("|u1", false, "(3,)      ", "") + strings.Repeat("\x00", size), zip.Deflate}),
	} {
		t.Run(name, func(t *testing.T) {
			z := openZip(t, lie)
			var err error
			if n := allocated(func() { _, err = z.Tensor("x") }); n > 2<<20 {
				t.Errorf("%d bytes allocated", n)
			}
			if !errors.Is(err, format.ErrLimit) || !strings.Contains(err.Error(), "MaxBytes") {
				t.Error(err)
			}
		})
	}
	a, err := openZip(t, honest, &Options{MaxBytes: size}).Tensor("x")
	if err != nil || a.Len() != size {
		t.Fatal(err)
	}
	a.Close()
	if _, err := openZip(t, honest, &Options{MaxBytes: size - 1}).Tensor("x"); !errors.Is(err, format.ErrLimit) {
		t.Error(err)
	}
}

// TestZipLies: sizes in the directory that the entry doesn't keep cost no more
// memory than what arrives.
func TestZipLies(t *testing.T) {
	const claimed = 40 << 20 // below the limit
	content := array("|u1", false, "(41943040,)", strings.Repeat("x", 1000))
	s := archive(t, entry{"x.npy", content, zip.Deflate})
	at := strings.Index(s, "PK\x01\x02") + 24
	s = s[:at] + string([]byte{0, 0, claimed >> 16 & 255, claimed>>24 + 1}) + s[at+4:]
	z := openZip(t, s)
	var err error
	if n := allocated(func() { _, err = z.Tensor("x") }); n > 2<<20 {
		t.Errorf("%d bytes allocated", n)
	}
	if err == nil {
		t.Error("the entry was read")
	}
}

// TestZipCompressed reads an entry that is inflated twice: once to count.
func TestZipCompressed(t *testing.T) {
	want := tensor.New[int32](1<<20 + 7)
	want.Set(5, 1<<20)
	var b bytes.Buffer
	if err := WriteZip(&b, []string{"x"}, []tensor.Any{want.Any()}, &WriteOptions{Deflate: true}); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 4<<20/100 {
		t.Fatalf("%d bytes: not compressed enough for this test", b.Len())
	}
	a, err := openZip(t, b.String()).Tensor("x")
	if got, _ := elements[int32](t, a, err); !slices.Equal(got, want.Elems()) {
		t.Error("the elements differ")
	}
}

func TestWriteZipErrors(t *testing.T) {
	one := tensor.Scalar[int8](1)
	two := []tensor.Any{one.Any(), one.Any()}
	for _, names := range [][]string{{"x"}, {"x", "x"}, {"x", ""}, {"x", "/"}, {"x", "//y"}, {"x", "/../y"}, {"x", "../y"}, {"x", "a//b"}, {"x", `a\b`}, {"x", "a\x00"}, {"x", "\xff"}, {"x", strings.Repeat("x", 1<<16)}} {
		if err := WriteZip(io.Discard, names, two, nil); !errors.Is(err, format.ErrName) {
			t.Errorf("%.50q: %v", names, err)
		}
	}
	spec, err := tensor.NewSpec(dtype.Float32, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteZip(io.Discard, []string{"a/x"}, []tensor.Any{spec.Any()}, nil); !errors.Is(err, tensor.ErrDType) || !strings.HasPrefix(err.Error(), "npy: a/x.npy: writing") {
		t.Error(err)
	}
	noSpace := errors.New("the disk is full")
	if err := WriteZip(full{noSpace}, []string{"x"}, []tensor.Any{one.Any()}, nil); !errors.Is(err, noSpace) {
		t.Error(err)
	}
}

// TestZipStoredByNumPy reads an archive as numpy.savez writes it: sizes and
// checksum in the local header too, no data descriptor.
func TestZipStoredByNumPy(t *testing.T) {
	content := array("<i2", false, "(2,)", "\x01\x00\x02\x00")
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.CreateRaw(&zip.FileHeader{Name: "dir/x.npy", Method: zip.Store, CRC32: crc32.ChecksumIEEE([]byte(content)),
		CompressedSize64: uint64(len(content)), UncompressedSize64: uint64(len(content))})
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(f, content)
	w.Close()
	a, err := openZip(t, b.String()).Tensor("dir/x")
	if got, _ := elements[int16](t, a, err); !slices.Equal(got, []int16{1, 2}) {
		t.Errorf("got %v", got)
	}
}

// An entry is an array by its name or by what it begins with, as in NumPy, and any name can be asked for.
func TestZipNames(t *testing.T) {
	var one bytes.Buffer
	if err := Write(&one, tensor.FromSlice([]int16{1, 2, 3}, 3).Any(), nil); err != nil {
		t.Fatal(err)
	}
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for _, e := range []struct{ name, text string }{{"a", one.String()}, {"w#1.npy", one.String()}, {"dir/", ""}, {"dir/b", one.String()}, {"notes.txt", "\x93NUM"}, {"short", "\x93"},
			{"readme", "plain text"}, {"cut", one.String()[:20]}} {
			h := &zip.FileHeader{Name: e.name, Method: method}
			if strings.HasSuffix(e.name, "/") {
				h.Method = zip.Store
			}
			f, err := w.CreateHeader(h)
			if err == nil && e.text != "" {
				_, err = f.Write([]byte(e.text))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		z, err := NewZip(bytes.NewReader(b.Bytes()), int64(b.Len()), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(z.Names()); got != "[a w#1 dir/b cut]" {
			t.Errorf("names %s", got)
		}
		for _, name := range []string{"a", "w#1", "dir/b"} {
			if x, err := z.Tensor(name); err != nil || fmt.Sprint(x) != "[1 2 3]" {
				t.Errorf("%s is %v, %v", name, x, err)
			}
		}
		if _, err := z.Tensor("cut"); err == nil || !strings.HasPrefix(err.Error(), "npy: cut: ") {
			t.Errorf("cut: %v", err)
		}
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range []string{"a.npy", "a"} {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write(one.Bytes())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	if _, err := NewZip(bytes.NewReader(b.Bytes()), int64(b.Len()), nil); !errors.Is(err, format.ErrFormat) || !strings.Contains(err.Error(), "twice") {
		t.Errorf("a.npy beside a: %v", err)
	}
}
