package npy

import (
	"archive/zip"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// TestSlice compares parts of files and of archives with slices of the whole.
func TestSlice(t *testing.T) {
	bytes := strings.Repeat("\x00\x01\x07\xff\x00\x80", 60*16/6)
	files := map[string]string{}
	for _, descr := range []string{"<f4", ">f4", "|b1", "<i2", "<c16", "|u1"} {
		for _, fortran := range []bool{false, true} {
			for shift := range 2 {
				name := descr + map[bool]string{true: "F"}[fortran] + map[int]string{1: " shifted"}[shift]
				files[name] = aligned(descr, fortran, "(3, 4, 5)", bytes, shift)
			}
		}
	}
	files["scalar"], files["empty"] = array("<f8", false, "()", "\x00\x00\x00\x00\x00\x00\xf0\x3f"), array("<f8", false, "(0, 4, 5)", "")
	for name, content := range files {
		whole, err := Open(save(t, content), nil)
		if err != nil {
			t.Fatal(name, err)
		}
		packed := archive(t, entry{"stored.npy", content, zip.Store}, entry{"deflated.npy", content, zip.Deflate})
		path := save(t, packed)
		fromFile, err := OpenZip(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer fromFile.Close()
		for _, text := range []string{"", "...", "1", "-1, ::-2", "..., 3", ":, 1:3, ::2", "::-1, ::-1, ::-1", "2:1", ":, :, 7:", "None, 0", "5", "0, 0, 0, 0", "::2, 1:, -1"} {
			idx, err := layout.ParseSlice(text)
			if err != nil {
				t.Fatal(err)
			}
			want, wantErr := tensor.Slice(whole, idx...)
			for how, read := range map[string]func() (tensor.Any, error){
				"Open":      func() (tensor.Any, error) { return Open(save(t, content), nil, idx...) },
				"stored":    func() (tensor.Any, error) { return fromFile.Tensor("stored", idx...) },
				"deflated":  func() (tensor.Any, error) { return fromFile.Tensor("deflated", idx...) },
				"in memory": func() (tensor.Any, error) { return openZip(t, packed).Tensor("stored", idx...) },
				"with MaxBytes": func() (tensor.Any, error) {
					return openZip(t, packed, &Options{MaxBytes: 2000}).Tensor("deflated", idx...)
				},
			} {
				got, err := read()
				if wantErr != nil {
					var e *tensor.Error
					if !errors.As(err, &e) || e.Error() != wantErr.Error() || !errors.Is(err, e.Err) {
						t.Errorf("%s: %s [%s]: %v, want %v", name, how, text, err, wantErr)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s: %s [%s]: %v", name, how, text, err)
					continue
				}
				if a, b := written(t, got), written(t, want); a != b {
					t.Errorf("%s: %s [%s]: %q, want %q", name, how, text, a, b)
				}
			}
		}
	}
}

// TestZipSliceErrors: a part is refused where the whole is, but for what isn't read.
func TestZipSliceErrors(t *testing.T) {
	content := array("<f4", false, "(6, 100)", strings.Repeat("x", 2400))
	cut := array("<f4", false, "(6, 100)", strings.Repeat("x", 2399))
	s := archive(t, entry{"stored.npy", content, zip.Store}, entry{"deflated.npy", content, zip.Deflate}, entry{"cut.npy", cut, zip.Store}, entry{"cutd.npy", cut, zip.Deflate})
	z, err := OpenZip(save(t, s), &Options{MaxBytes: 500})
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, c := range []struct {
		name, text string
		want       error
	}{
		{"none", "0", format.ErrName},
		{"deflated", "0", nil},
		{"deflated", "-1", nil},
		{"deflated", ":2", format.ErrLimit},
		{"deflated", "::5, 0", format.ErrLimit}, // what lies between is held too
		{"stored", "0", format.ErrLimit},        // the option is about arrays, and that one's bytes are mapped
		{"cut", "0", format.ErrLimit},
		{"cutd", "-1", format.ErrShort},
		{"cutd", "0", nil},
	} {
		idx, err := layout.ParseSlice(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := z.Tensor(c.name, idx...); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s[%s]: %v, want %v", c.name, c.text, err, c.want)
		}
	}
}

// A file that becomes shorter while it is opened is an error.
func TestOpenShrinks(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("a mapped file can't become shorter everywhere, and emulators hide the address of a fault")
	}
	path := save(t, aligned("|b1", false, "(1000000,)", strings.Repeat("\x01", 1000000), 0))
	buf, err := mem.Map(path)
	if err != nil {
		t.Fatal(err)
	}
	defer buf.Close()
	for _, size := range []int64{1 << 16, 0} { // its elements are missing, then its header too
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		if _, _, err := fromFile(buf, 0, buf.Len(), Options{}, nil); !errors.Is(err, mem.ErrShrunk) {
			t.Errorf("%d bytes left: %v", size, err)
		} else {
			typed(t, err)
		}
	}
}
