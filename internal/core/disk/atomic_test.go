package disk_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/internal/core/ram"
	"github.com/ashlar-go/ashlar/mem"
)

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "a.txt")
	err = disk.Atomic{}.File(path, func(w io.Writer) error {
		fmt.Fprint(w, "half of it, then ")
		return errors.New("an error")
	})
	_, absent := os.Stat(path)
	fmt.Println(disk.In("a.txt", err), errors.Is(disk.Bare(absent), os.ErrNotExist))
	// Output: a.txt: an error true
}

func putText(text string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
}

// onlyFiles fails unless dir has just these files, so that nothing begun is left.
func onlyFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range list {
		got = append(got, e.Name())
	}
	if fmt.Sprint(got) != fmt.Sprint(names) {
		t.Errorf("the folder has %q, want %q", got, names)
	}
}

func TestWriteFileNames(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("n", 251) + ".npy" // as long as names can be
	if err := (disk.Atomic{}).File(filepath.Join(dir, long), putText("new")); err != nil {
		t.Error(err)
	}
	onlyFiles(t, dir, long)
	if err := (disk.Atomic{}).File(filepath.Join(dir, "x"), func(io.Writer) error { return errors.New("no") }); err == nil {
		t.Error("an error got lost")
	}
	onlyFiles(t, dir, long)
}

func TestWriteFileProtected(t *testing.T) {
	dir := t.TempDir()
	file, link, second := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "second")
	if err := os.WriteFile(file, []byte("old"), 0o444); err != nil {
		t.Fatal(err)
	}
	paths := []string{file}
	if os.Symlink("file", link) == nil && os.Symlink("link", second) == nil {
		paths = append(paths, link, second)
	}
	for _, path := range paths {
		if err := (disk.Atomic{}).File(path, putText("new")); !errors.Is(err, disk.ErrProtected) {
			t.Errorf("%s: %v", path, err)
		}
		if b, _ := os.ReadFile(file); string(b) != "old" {
			t.Fatalf("%s: the file became %q", path, b)
		}
	}
	for _, path := range paths {
		if err := (disk.Atomic{Force: true}).File(path, putText(path)); err != nil {
			t.Error(err)
		}
		if b, _ := os.ReadFile(file); string(b) != path {
			t.Errorf("%s: the file became %q", path, b)
		}
	}
	if len(paths) == 1 {
		t.Skip("this file system has no symbolic links")
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o444 {
		t.Errorf("afterwards: %v, %v", info, err)
	}
	if err := os.Remove(file); err != nil { // links to nothing
		t.Fatal(err)
	}
	if err := (disk.Atomic{}).File(second, putText("again")); err != nil {
		t.Error(err)
	}
	if b, _ := os.ReadFile(file); string(b) != "again" {
		t.Errorf("through two links: %q", b)
	}
	onlyFiles(t, dir, "file", "link", "second")
	for _, l := range []string{link, second} {
		if _, err := os.Readlink(l); err != nil {
			t.Errorf("%s is no link any more", l)
		}
	}
}

// TestWriteFileOfShrunk writes from a mapped file that becomes shorter: the error names that file.
func TestWriteFileOfShrunk(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "plan9" || runtime.GOARCH == "wasm" {
		t.Skip("a mapped file can't be shortened here, or isn't mapped")
	}
	dir := t.TempDir()
	from := filepath.Join(dir, "from")
	if err := os.WriteFile(from, make([]byte, 1<<20), 0o666); err != nil {
		t.Fatal(err)
	}
	buf, err := mem.Map(from)
	if err != nil {
		t.Fatal(err)
	}
	defer buf.Close()
	err = ram.Guard(func() error {
		return (disk.Atomic{}).File(filepath.Join(dir, "to"), func(w io.Writer) error {
			if err := os.Truncate(from, 0); err != nil {
				return err
			}
			_, err := w.Write(buf.Bytes())
			return err
		})
	})
	if !errors.Is(err, mem.ErrShrunk) || !strings.Contains(err.Error(), from) {
		t.Errorf("got %v", err)
	}
	onlyFiles(t, dir, "from")
}
