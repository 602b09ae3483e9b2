package zarr

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

// numbers holds i·7 mod 251, as the scripts in testdata write; of a bool its lowest bit.
func numbers(d dtype.DType) tensor.Any {
	t := tensor.EmptyOf(d, 37, 50)
	b, _ := tensor.Bytes(t)
	for i := range 37 * 50 {
		v := i * 7 % 251
		if d == dtype.Bool {
			v %= 2
		}
		text := fmt.Sprint(v)
		if d == dtype.Bool {
			text = []string{"false", "true"}[v]
		}
		e, err := parseFill([]byte(text), d, 2)
		if err != nil {
			panic(err)
		}
		copy(b[i*d.Size():], e)
	}
	return t
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// readAll compares each array in the folders of a folder with the numbers.
func readAll(t *testing.T, folder string) {
	t.Helper()
	list, err := os.ReadDir(folder)
	if err != nil || len(list) == 0 {
		t.Fatalf("%d arrays: %v", len(list), err)
	}
	store, err := Dir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		a, err := Open(t.Context(), store, e.Name(), nil)
		if err != nil {
			t.Error(err)
			continue
		}
		if got, err := a.Read(t.Context()); err != nil || !same(got, numbers(a.DType())) {
			t.Errorf("%s: other elements, %v", e.Name(), err)
		}
	}
	t.Logf("%d arrays", len(list))
}

// writeAll writes the numbers once for each of the metadata, by name.
func writeAll(t *testing.T, folder string, cases map[string]Metadata) (names []string) {
	t.Helper()
	store, err := Dir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range cases {
		m.Shape = []int{37, 50}
		if m.Chunks == nil {
			m.Chunks = []int{16, 20}
		}
		values := numbers(m.DType)
		if strings.HasPrefix(name, "holes") { // of fill values
			m.Fill, values = scalarOf(t, "7", m.DType), values.Slice(tensor.R(0, 20))
		}
		a, err := Create(t.Context(), store, name, m, nil)
		if err == nil {
			err = a.Write(t.Context(), []int{0, 0}, values)
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

func scalarOf(t *testing.T, text string, d dtype.DType) tensor.Any {
	t.Helper()
	b, err := parseFill([]byte(text), d, 2)
	if err != nil {
		t.Fatal(err)
	}
	v, err := scalar(b, d)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// python returns Debian's Python where it has zarr-python 2 and other packages. It doesn't import them, which takes seconds.
func python(t *testing.T, packages ...string) string {
	t.Helper()
	const python = "/usr/bin/python3"
	const look = "import importlib.metadata as m, sys\nassert [m.version(p) for p in sys.argv[1:]][0][0] == '2'"
	if err := exec.Command(python, append([]string{"-c", look, "zarr"}, packages...)...).Run(); err != nil {
		t.Skipf("there is no zarr-python 2, or nothing of %v: apt-get install python3-zarr python3-xarray python3-cftime", packages)
	}
	return python
}

// TestPython needs Debian's python3-zarr, of version 2.
func TestPython(t *testing.T) {
	python := python(t)
	folder := t.TempDir()
	run(t, python, "testdata/cross.py", "write", folder)
	readAll(t, folder)
	folder = t.TempDir()
	names := writeAll(t, folder, map[string]Metadata{
		"gzip":  {Version: 2, DType: dtype.Int32, Codecs: []Codec{Gzip(3)}},
		"zstd":  {Version: 2, DType: dtype.Float64},
		"order": {Version: 2, DType: dtype.Bool, Codecs: []Codec{Transpose(1, 0), {Name: "zlib"}}},
		"holes": {Version: 2, DType: dtype.Int16, Codecs: []Codec{Gzip(1)}},
		"big":   {Version: 2, DType: dtype.Float32, Codecs: []Codec{Bytes(binary.BigEndian)}, Separator: "/"},
	})
	run(t, python, append([]string{"testdata/cross.py", "check", folder}, names...)...)
}

// TestZarrita needs node, and npm's zarrita in the folder that ASHLAR_ZARRITA names.
func TestZarrita(t *testing.T) {
	modules := os.Getenv("ASHLAR_ZARRITA")
	if _, err := os.Stat(filepath.Join(modules, "node_modules", "zarrita")); modules == "" || err != nil {
		t.Skip("there is no zarrita: npm install zarrita, and name the folder in ASHLAR_ZARRITA")
	}
	folder := t.TempDir()
	run(t, "node", "testdata/cross.mjs", modules, "write", folder)
	readAll(t, folder)
	folder = t.TempDir()
	names := writeAll(t, folder, map[string]Metadata{
		"zstd":      {DType: dtype.Int32},
		"gzip":      {DType: dtype.Float64, Codecs: []Codec{Gzip(6), CRC32C()}},
		"transpose": {DType: dtype.Int16, Codecs: []Codec{Transpose(1, 0), Bytes(binary.BigEndian)}, Separator: "."},
		"keys":      {DType: dtype.Uint8, V2Keys: true},
		"shards":    {DType: dtype.Float32, Chunks: []int{20, 40}, Inner: []int{10, 8}},
		"chain":     {DType: dtype.Float64, Chunks: []int{20, 40}, Inner: []int{10, 8}, Codecs: []Codec{Transpose(1, 0), Bytes(binary.BigEndian), Gzip(1), CRC32C()}},
		"unchecked": {DType: dtype.Int16, Chunks: []int{40, 50}, Inner: []int{40, 50}, IndexWithoutCRC: true, Codecs: []Codec{CRC32C()}},
		"holes":     {DType: dtype.Float32},
		"holes-in":  {DType: dtype.Float64, Chunks: []int{32, 40}, Inner: []int{16, 20}},
	})
	run(t, "node", append([]string{"testdata/cross.mjs", modules, "check", folder}, names...)...)
}
