package mem

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
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
		release := b.Pin()
		pinned := b.Bytes()
		for range 2 {
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}
		if b.Bytes() != nil || !b.Closed() {
			t.Error("bytes after Close")
		}
		if !bytes.Equal(pinned, data) {
			t.Error("pinned bytes changed")
		}
		release()
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
	if err != nil || string(b.Bytes()) != "contents" || b.Kind() != Mapped || !b.ReadOnly() {
		t.Errorf("got %v, %v", b, err)
	}
	if b, err = readFile(strings.NewReader("short"), 8); b != nil || err != io.ErrUnexpectedEOF {
		t.Errorf("got %v, %v", b, err)
	}
	if b, err = readFile(strings.NewReader(""), most+1); b != nil || !errors.Is(err, ErrSize) {
		t.Errorf("got %v, %v", b, err)
	}
}
