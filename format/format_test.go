package format_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/format"
	_ "github.com/ashlar-go/ashlar/format/csv"
	_ "github.com/ashlar-go/ashlar/format/image"
	_ "github.com/ashlar-go/ashlar/format/npy"
	_ "github.com/ashlar-go/ashlar/format/raw"
	_ "github.com/ashlar-go/ashlar/format/safetensors"
	_ "github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/tensortest"
)

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "weights.npz") // the name says the format
	w := tensor.Arange[float32](0, 6, 1).Any().Reshape(2, 3)
	if err := format.WriteFile(path, format.WriteOptions{}, format.Array{Name: "w", Tensor: w}); err != nil {
		panic(err)
	}
	f, err := format.Open(path)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	for _, name := range f.Names() {
		i, err := f.Info(name)
		if err != nil {
			panic(err)
		}
		t, err := f.Tensor(name, tensor.I(1))
		if err != nil {
			panic(err)
		}
		fmt.Println(f.About(), name, i, t)
	}
	// Output: npz w float32[2,3] [3. 4. 5.]
}

// Every format gives back what it was given, from a file and from its bytes.
func TestFormats(t *testing.T) {
	want := tensor.Arange[uint8](0, 24, 1).Any().Reshape(4, 6)
	for _, name := range []string{"a.npy", "a.npz", "a.safetensors", "a.zarr", "a.zarr.zip", "a.csv", "a.tsv", "a.png", "a.bin"} {
		path := filepath.Join(t.TempDir(), name)
		o := format.WriteOptions{}
		if err := format.WriteFile(path, o, format.Array{Name: "x", Tensor: want}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		f, err := format.Open(path)
		if name == "a.bin" {
			if err == nil {
				t.Error("raw elements without a type were opened")
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		defer f.Close()
		array := ""
		if names := f.Names(); names != nil {
			array = names[0]
		}
		i, err := f.Info(array)
		if err == nil && i.Bytes != 24 || err != nil && !errors.Is(err, format.ErrNoHeader) {
			t.Errorf("%s: %+v, %v", name, i, err)
		}
		got, err := f.Tensor(array)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got.Rank() == 3 { // a picture has channels
			got = got.Reshape(4, 6)
		}
		if i.Type == "" { // numbers of text
			if got.Shape()[1] != 6 {
				t.Errorf("%s: %v", name, got)
			}
			continue
		}
		tensortest.Equal(t, got, want)
		part, err := f.Tensor(array, tensor.I(0))
		if err != nil || part.Rank() == 0 {
			t.Errorf("%s: a part is %v, %v", name, part, err)
		}
		b, err := os.ReadFile(path)
		found := format.Of("", b[:min(len(b), format.Head)])
		if err != nil || found != format.ByEnd(path) {
			continue // a folder, or a format by name
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		g, err := found.Open(&format.Source{At: file, Size: int64(len(b))})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := g.Info(array); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if part, err = g.Tensor(array, tensor.I(0)); err != nil || part.Rank() == 0 {
			t.Errorf("%s: a part of its bytes is %v, %v", name, part, err)
		}
		if len(i.Shape) != 2 {
			continue
		}
		for _, text := range []string{"::-1, 4:0:-2", "1:1", "-1, ::-1"} {
			idx, err := layout.ParseSlice(text)
			if err != nil {
				t.Fatal(err)
			}
			part, err := g.Tensor(array, idx...)
			if err != nil {
				t.Fatalf("%s[%s]: %v", name, text, err)
			}
			tensortest.Equal(t, part, want.Slice(idx...))
		}
	}
	file := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(file, []byte("hello"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := format.Open(file); !errors.Is(err, format.ErrUnknown) || !strings.Contains(err.Error(), "npz") {
		t.Errorf("a text: %v", err)
	}
	if err := format.WriteFile(file, format.WriteOptions{}, format.Array{Tensor: want}); !errors.Is(err, format.ErrUnknown) {
		t.Errorf("a text: %v", err)
	}
}

// A program that imports one format links no other.
func TestFormatsStandAlone(t *testing.T) {
	const path = "github.com/ashlar-go/ashlar/format/"
	for _, name := range []string{"npy", "safetensors", "gguf", "pytorch", "csv", "raw", "image", "zarr"} {
		out, err := exec.Command("go", "list", "-deps", path+name).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for dep := range strings.FieldsSeq(string(out)) {
			if other, ok := strings.CutPrefix(dep, path); ok && other != name {
				t.Errorf("format/%s imports format/%s", name, other)
			}
		}
	}
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

// TestOpenDevice opens what can't be read twice, and a name that isn't there.
func TestOpenDevice(t *testing.T) {
	if _, err := format.Open(os.DevNull); err == nil || !strings.Contains(err.Error(), "a pipe or a device") {
		t.Errorf("Open(%s): %v, want that it is no file", os.DevNull, err)
	}
	if _, err := format.Open(filepath.Join(t.TempDir(), "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Open of no file: %v, want %v", err, os.ErrNotExist)
	}
}

func TestWriteFileNames(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("n", 251) + ".npy" // as long as names can be
	if err := (format.Atomic{}).File(filepath.Join(dir, long), putText("new")); err != nil {
		t.Error(err)
	}
	onlyFiles(t, dir, long)
	if err := (format.Atomic{}).File(filepath.Join(dir, "x"), func(io.Writer) error { return errors.New("no") }); err == nil {
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
		if err := (format.Atomic{}).File(path, putText("new")); !errors.Is(err, format.ErrProtected) {
			t.Errorf("%s: %v", path, err)
		}
		if b, _ := os.ReadFile(file); string(b) != "old" {
			t.Fatalf("%s: the file became %q", path, b)
		}
	}
	for _, path := range paths {
		if err := (format.Atomic{Force: true}).File(path, putText(path)); err != nil {
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
	if err := (format.Atomic{}).File(second, putText("again")); err != nil {
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
	err = mem.Guard(func() error {
		return (format.Atomic{}).File(filepath.Join(dir, "to"), func(w io.Writer) error {
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
