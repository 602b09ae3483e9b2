package format_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/format/csv"
	"github.com/ashlar-go/ashlar/format/gguf"
	"github.com/ashlar-go/ashlar/format/image"
	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/format/raw"
	"github.com/ashlar-go/ashlar/format/safetensors"
	_ "github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/layout"
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
	if err := format.WriteFile(path, nil, format.Array{Name: "w", Tensor: w}); err != nil {
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
		if err := format.WriteFile(path, &o, format.Array{Name: "x", Tensor: want}); err != nil {
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
		if err != nil {
			continue // a folder
		}
		found, err := (&format.Source{At: bytes.NewReader(b), Size: int64(len(b))}).Format()
		if err != nil || found != format.ByEnd(path) && found != nil {
			t.Errorf("%s by its bytes: %v, %v", name, found, err)
		}
		if found == nil {
			continue // a format by name
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
		if names := g.Names(); names != nil {
			array = names[0] // by the path for Zarr
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
	if err := format.WriteFile(file, nil, format.Array{Tensor: want}); !errors.Is(err, format.ErrUnknown) {
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
			if other, ok := strings.CutPrefix(dep, path); ok && other != name && !strings.HasPrefix(other, name+"/internal/") {
				t.Errorf("format/%s imports format/%s", name, other)
			}
		}
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

// The WriteFile of each format gives back by Open what it was given. After an error the file of before is there, with its
// permissions, and nothing else.
func TestWriteFileOfEach(t *testing.T) {
	names := []string{"x"}
	one := func(f func(path string, a tensor.Any) error) func(string, []tensor.Any) error {
		return func(path string, ts []tensor.Any) error { return f(path, ts[0]) }
	}
	for name, write := range map[string]func(path string, ts []tensor.Any) error{
		"a.npy":         one(func(path string, a tensor.Any) error { return npy.WriteFile(path, a, nil) }),
		"a.npz":         func(path string, ts []tensor.Any) error { return npy.WriteZipFile(path, names, ts, nil) },
		"a.csv":         one(func(path string, a tensor.Any) error { return csv.WriteFile(path, a, nil, nil) }),
		"a.png":         one(func(path string, a tensor.Any) error { return image.WriteFile(path, a, nil) }),
		"a.bin":         one(raw.WriteFile),
		"a.safetensors": func(path string, ts []tensor.Any) error { return safetensors.WriteFile(path, names, ts, nil) },
		"a.gguf":        func(path string, ts []tensor.Any) error { return gguf.WriteFile(path, names, ts, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, name)
			want := tensor.Arange[int8](0, 24, 1).Any().Reshape(4, 6)
			if name == "a.png" {
				want = tensor.Arange[uint8](0, 24, 1).Any().Reshape(4, 6)
			}
			if err := write(path, []tensor.Any{want}); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, 0o640); err != nil {
				t.Fatal(err)
			}
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			closed := want.Clone()
			closed.Close()
			if err := write(path, []tensor.Any{closed}); !errors.Is(err, tensor.ErrClosed) || !strings.Contains(err.Error(), path) {
				t.Errorf("a closed tensor: %v", err)
			}
			if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
				t.Errorf("after an error the file is another: %v", err)
			}
			if err := write(path, []tensor.Any{want}); err != nil {
				t.Fatal(err)
			}
			if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
				t.Errorf("%v beside the file, %v", list, err)
			}
			if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o640 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
			var got tensor.Any
			switch name {
			case "a.csv":
				got, _, err = csv.Open(path, &csv.Options{DType: want.DType()})
			case "a.png":
				got, err = image.Open(path, nil)
			case "a.bin":
				got, err = raw.Open(path, want.DType(), want.Layout())
			default:
				f, e := format.Open(path)
				if e != nil {
					t.Fatal(e)
				}
				defer f.Close()
				var file string
				if list := f.Names(); list != nil {
					file = list[0]
				}
				got, err = f.Tensor(file)
			}
			if err != nil || got.Reshape(4, 6).String() != want.String() {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
	jpeg := filepath.Join(t.TempDir(), "a.JPG")
	if err := image.WriteFile(jpeg, tensor.New[uint8](2, 2).Any(), nil); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(jpeg); err != nil || !strings.HasPrefix(string(b), "\xff\xd8") {
		t.Errorf("%s is no JPEG: %v", jpeg, err)
	}
}
