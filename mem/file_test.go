package mem

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/ram"
)

func tempFile(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMap(t *testing.T) {
	for _, n := range []int{0, 1, 100, 4096, 3*4096 + 5, Large + 1} {
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(i * 7)
		}
		path := tempFile(t, data)
		b, err := Map(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), data) || b.Bytes() == nil || b.Len() != n || cap(b.Bytes()) != n {
			t.Errorf("%d bytes: other contents", n)
		}
		if b.Kind() != Mapped || !b.ReadOnly() || b.Align() < 64 {
			t.Errorf("%d bytes: kind %v, read-only %t, align %d", n, b.Kind(), b.ReadOnly(), b.Align())
		}
		b.Hold()
		held := b.Bytes()
		for range 2 {
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}
		if b.Bytes() != nil || !b.Closed() {
			t.Error("bytes after Close")
		}
		if !bytes.Equal(held, data) {
			t.Error("held bytes changed")
		}
		b.Release()
	}
}

func TestMapRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		path string
		want error
	}{
		{filepath.Join(dir, "missing"), fs.ErrNotExist},
		{dir, ErrNotFile},
	} {
		b, err := Map(c.path)
		var e *Error
		if b != nil || !errors.Is(err, c.want) || !errors.As(err, &e) || e.Op != "Map" {
			t.Errorf("got %v, %v, want %v", b, err, c.want)
		} else if !strings.Contains(err.Error(), c.path) {
			t.Errorf("%q doesn't name %s", err, c.path)
		}
	}
}

// A write through the slice of a mapped file is stopped by the processor: the file stays as it is.
func TestMapIsReadOnly(t *testing.T) {
	needMappings(t)
	path := tempFile(t, []byte("unchanged"))
	b, err := Map(path)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	func() {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() {
			if recover() == nil {
				t.Error("a write to mapped bytes went through")
			}
		}()
		b.Bytes()[0] = 'X'
	}()
	if data, err := os.ReadFile(path); err != nil || string(data) != "unchanged" {
		t.Errorf("the file holds %q, %v", data, err)
	}
}

// Reading is what Map does where it can't map.
func TestReadFile(t *testing.T) {
	b, err := readFile(strings.NewReader("contents"), 8)
	if err != nil || string(b.Bytes()) != "contents" || b.Kind() != Mapped {
		t.Errorf("got %v, %v", b, err)
	}
	if b, err = readFile(strings.NewReader("short"), 8); b != nil || err != io.ErrUnexpectedEOF {
		t.Errorf("got %v, %v", b, err)
	}
	if b, err = readFile(strings.NewReader(""), most+1); b != nil || !errors.Is(err, ErrSize) {
		t.Errorf("got %v, %v", b, err)
	}
}

func TestMapCopy(t *testing.T) {
	path := tempFile(t, []byte("unchanged"))
	b, err := MapCopy(path)
	if err != nil {
		t.Fatal(err)
	}
	if b.Kind() != Mapped || b.ReadOnly() {
		t.Errorf("kind %v, read-only %t", b.Kind(), b.ReadOnly())
	}
	b.Bytes()[0] = 'X'
	other, err := Map(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(b.Bytes()) != "Xnchanged" || string(other.Bytes()) != "unchanged" {
		t.Errorf("the copy holds %q, the file %q", b.Bytes(), other.Bytes())
	}
	if err := errors.Join(b.Close(), other.Close()); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "unchanged" {
		t.Errorf("the file holds %q, %v", data, err)
	}
	var e *Error
	if _, err := MapCopy(filepath.Join(t.TempDir(), "missing")); !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &e) || e.Op != "MapCopy" {
		t.Errorf("got %v", err)
	}
}

// A file that becomes shorter while it is mapped: what is left can be read, the rest is an error that names the file.
func TestMapShrinks(t *testing.T) {
	needMappings(t)
	if runtime.GOOS == "windows" {
		t.Skip("Windows refuses to shorten a mapped file")
	}
	page := os.Getpagesize()
	path := tempFile(t, bytes.Repeat([]byte("x"), 4*page))
	for _, open := range []func(string) (*Buffer, error){Map, MapCopy} {
		if err := os.Truncate(path, int64(4*page)); err != nil {
			t.Fatal(err)
		}
		b, err := open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, int64(page)); err != nil {
			t.Fatal(err)
		}
		sum := 0
		read := func(from, to int) error {
			return ram.Guard(func() error {
				for _, v := range b.Bytes()[from:to] {
					sum += int(v)
				}
				return nil
			})
		}
		if err := read(0, page); err != nil || sum != page*'x' {
			t.Errorf("the first page: sum %d, %v", sum, err)
		}
		for _, f := range []func() error{
			func() error { return read(page, 2*page) },
			func() error {
				return ram.Guard(func() error { copy(make([]byte, page), b.Bytes()[3*page:]); return nil })
			}, // in assembly
		} {
			err = f()
			var e *fs.PathError
			if !errors.Is(err, ErrShrunk) || !errors.As(err, &e) || !strings.Contains(err.Error(), path) {
				t.Errorf("beyond the end: %v", err)
			}
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}
