package onnx

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

// externalModel is the file of a model that adds a weight of 3 elements, which lie elsewhere, to x.
func externalModel(t testing.TB, entries ...string) []byte {
	x := &External{Length: -1}
	for i := 0; i < len(entries); i += 2 {
		x.Entries = append(x.Entries, Entry{entries[i], entries[i+1]})
	}
	b := NewBuilder("g")
	b.Input("x", dtype.Float32, 3)
	b.g.Initializers = []TensorProto{{Name: "w", Type: ElemFloat32, Dims: []int64{3}, External: x}}
	b.used["w"] = true
	b.OutputOf(b.Rename(b.Node("Add", []string{"x", "w"}), "y"), Type{})
	m, err := b.Model(16)
	if err != nil {
		t.Fatal(err)
	}
	file, err := Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// data123 is 4 bytes, then 1, 2, 3 as float32.
var data123 = []byte{9, 9, 9, 9, 0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64}

// runOpened runs a model on zeros and closes it.
func runOpened(m *Model, err error) (string, error) {
	if err != nil {
		return "", err
	}
	defer m.Close()
	s, err := NewSession(m)
	if err != nil {
		return "", err
	}
	out, err := s.Run(context.Background(), map[string]tensor.Any{"x": tensor.New[float32](3).Any()}, nil)
	return fmt.Sprint(out["y"]), err
}

func TestExternal(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "model")
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"model/w.bin", "model/sub/w.bin", "out.bin"} {
		if err := os.WriteFile(filepath.Join(top, name), data123, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if os.Symlink("../out.bin", filepath.Join(dir, "link.bin")) != nil || os.Symlink("sub/w.bin", filepath.Join(dir, "near.bin")) != nil || os.Symlink("..", filepath.Join(dir, "up")) != nil {
		t.Skip("no links here")
	}
	sum := sha1.Sum(data123)
	right := hex.EncodeToString(sum[:])
	const want = "[1. 2. 3.]"
	for _, c := range []struct {
		entries []string
		want    string
		linked  bool // only a folder on disk has links
	}{
		{[]string{"location", "w.bin", "offset", "4"}, want, false},
		{[]string{"location", "w.bin", "offset", "4", "length", "12"}, want, false},
		{[]string{"location", "./sub/../sub/w.bin", "offset", "4", "length", "12"}, want, false},
		{[]string{"location", "near.bin", "offset", "4"}, want, true},
		{[]string{"location", "w.bin", "offset", "4", "checksum", strings.ToUpper(right)}, want, false},
		{[]string{"location", "w.bin", "offset", "4", "checksum", "00"}, `initializer "w": file "w.bin": its SHA-1 is ` + right + `, the model says "00"`, false},
		{[]string{"location", "w.bin"}, `initializer "w": external_data has 16 bytes; float32[3] needs 4 for each of 3 elements`, false},
		{[]string{"location", "w.bin", "length", "11"}, `external_data has 11 bytes`, false},
		{[]string{"location", "w.bin", "offset", "8", "length", "12"}, `file "w.bin": the elements are said to be 12 bytes from byte 8 on, but the file has 16`, false},
		{[]string{"location", "w.bin", "offset", "17"}, `0 bytes from byte 17 on, but the file has 16`, false},
		{[]string{"location", "w.bin", "offset", "9223372036854775807", "length", "9223372036854775807"}, `but the file has 16`, false},
		{[]string{"location", "none.bin"}, `initializer "w": file "none.bin": `, false},
		{[]string{"location", "sub"}, `file "sub": `, false},
		{[]string{"location", "../out.bin", "offset", "4"}, `file "../out.bin": value: the location is outside of the model's folder`, false},
		{[]string{"location", filepath.Join(top, "out.bin"), "offset", "4"}, `the location is outside of the model's folder`, false},
		{[]string{"location", "link.bin", "offset", "4"}, `file "link.bin": path escapes from parent`, true},
		{[]string{"location", "up/out.bin", "offset", "4"}, `file "up/out.bin": path escapes from parent`, true},
		{[]string{"location", "a\x00b"}, `the location is outside of the model's folder`, false},
		{[]string{"location", "."}, `the location is outside of the model's folder`, false},
	} {
		file := externalModel(t, c.entries...)
		path := filepath.Join(dir, "m.onnx")
		if err := os.WriteFile(path, file, 0o666); err != nil {
			t.Fatal(err)
		}
		fsys := fstest.MapFS{"m/m.onnx": {Data: file}, "m/w.bin": {Data: data123}, "m/sub/w.bin": {Data: data123}, "out.bin": {Data: data123}}
		sub, _ := fsys.Sub("m")
		for how, open := range map[string]func() (*Model, error){
			"Open":     func() (*Model, error) { return Open(path) },
			"OpenFS":   func() (*Model, error) { return OpenFS(fsys, "m/m.onnx") },
			"DecodeIn": func() (*Model, error) { return DecodeIn(file, sub) },
		} {
			if c.linked && how != "Open" {
				continue
			}
			got, err := runOpened(open())
			if err != nil {
				got = err.Error()
			}
			if got != c.want && (c.want == want || !strings.Contains(got, c.want)) {
				t.Errorf("%s %q: got %v, want %v", how, c.entries, got, c.want)
			}
		}
		if got, err := runOpened(Decode(file)); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "of an unknown folder; Open, OpenFS and DecodeIn know it") {
			t.Errorf("Decode: %v, %v", got, err)
		}
	}
}

// Aligned elements stay in the file; Close gives it back.
func TestExternalInPlace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.onnx")
	if err := errors.Join(os.WriteFile(path, externalModel(t, "location", "w.bin", "offset", "4"), 0o666), os.WriteFile(filepath.Join(dir, "w.bin"), data123, 0o666)); err != nil {
		t.Fatal(err)
	}
	m, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if in, copied := m.Weights(); littleEndian && (in != 12 || copied != 0) {
		t.Errorf("%d bytes in place, %d copied", in, copied)
	}
	w, err := m.Tensor(&m.Graph.Initializers[0])
	if err != nil || fmt.Sprint(w) != "[1. 2. 3.]" {
		t.Errorf("%v, %v", w, err)
	}
	s, err := NewSession(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(context.Background(), map[string]tensor.Any{"x": tensor.New[float32](3).Any()}, nil); !errors.Is(err, tensor.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if _, err := m.Tensor(&m.Graph.Initializers[0]); !errors.Is(err, tensor.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// Weights that share the bytes of a small file where they must be copied can't fill the memory. Initializers, Constants and
// attributes count as one: each kind alone stays below the limit, all together don't.
func TestCopiesOfAllKindsAreBounded(t *testing.T) {
	data := fstest.MapFS{"w": {Data: make([]byte, 1<<20+1)}}
	build := func(initializers, constants, attributes int) error {
		proto := func(name string, e ElemType, n int64) TensorProto {
			return TensorProto{Name: name, Type: e, Dims: []int64{n}, External: &External{Location: "w", Offset: 1, Length: 1 << 20}}
		}
		b := NewBuilder("g")
		b.Import("ai.onnx.ml", 4)
		x := b.Input("x", dtype.Float32)
		for i := range initializers {
			name := fmt.Sprint("w", i)
			b.g.Initializers = append(b.g.Initializers, proto(name, ElemFloat32, 1<<18))
			b.used[name] = true
			x = b.Node("Add", []string{x, name})
		}
		for range constants {
			p := proto("", ElemFloat32, 1<<18)
			x = b.Node("Add", []string{x, b.Node("Constant", nil, Attribute{Name: "value", Type: AttrTensor, Value: &p})})
		}
		for range attributes {
			keys, values := proto("", ElemInt64, 1<<17), proto("", ElemFloat32, 1<<18)
			codes := b.Node("ai.onnx.ml.LabelEncoder", []string{b.Node("Cast", []string{x}, IntAttr("to", 7))},
				Attribute{Name: "keys_tensor", Type: AttrTensor, Value: &keys}, Attribute{Name: "values_tensor", Type: AttrTensor, Value: &values})
			x = b.Node("Add", []string{x, codes})
		}
		b.OutputOf(x, Type{})
		m, err := b.Model(16)
		if err != nil {
			t.Fatal(err)
		}
		file, err := Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		if m, err = DecodeIn(file, data); err != nil {
			t.Fatal(err)
		}
		err = m.Check()
		if _, refused := NewSession(m); (err == nil) != (refused == nil) {
			t.Errorf("Check: %v, NewSession: %v", err, refused)
		}
		return err
	}
	for _, c := range []struct {
		initializers, constants, attributes int
		fits                                bool
	}{
		{12, 0, 0, true}, {0, 12, 0, true}, {0, 0, 6, true}, {18, 0, 0, true}, {19, 0, 0, false}, {64, 0, 0, false},
		{12, 7, 0, false}, {0, 7, 6, false}, {7, 0, 6, false}, {6, 6, 4, false}, {6, 6, 3, true},
	} {
		err := build(c.initializers, c.constants, c.attributes)
		if refused := errors.Is(err, tensor.ErrMemory) && strings.Contains(err.Error(), "16 MiB + 2 × the size of the files"); refused == c.fits {
			t.Errorf("%d initializers, %d Constants, attributes of %d nodes: %v", c.initializers, c.constants, c.attributes, err)
		}
	}
}

func TestWriteExternal(t *testing.T) {
	b := NewBuilder("g")
	x := b.Input("x", dtype.Float32, 3)
	big := tensor.Full[float32](0.5, 20000, 3)
	x = b.Node("Add", []string{x, b.Weight("small", tensor.FromSlice([]float32{1, 2, 3}).Any())})
	x = b.Node("Add", []string{x, b.Node("ReduceMean", []string{b.Weight("big", big.Any())}, IntsAttr("axes", 0), IntAttr("keepdims", 0))})
	yes := b.Weight("yes", tensor.Scalar(true).Any())
	x = choose(b, yes, func(b *Builder) string {
		return b.Node("Add", []string{x, b.Weight("inner", tensor.Full[float32](7, 3).Any())})
	}, func(b *Builder) string { return x })
	b.OutputOf(b.Rename(x, "y"), Type{})
	b.OutputOf(b.Node("Size", []string{b.Strings("names", []int{2}, "a", "b")}), Type{})
	m, err := b.Model(16)
	if err != nil {
		t.Fatal(err)
	}
	const want = "[ 8.5  9.5 10.5]"
	dir := t.TempDir()
	path := filepath.Join(dir, "m.onnx")
	for pass, c := range []struct {
		least int
		data  int64 // bytes beside the model, -1 for no file
	}{{13, 240000}, {12, 4096 + 240000 + 12}, {0, -2}, {1 << 20, -1}} {
		data := path + ".data"
		if c.data == -1 {
			os.Remove(data) // that of the pass before
		}
		if err := m.WriteExternal(path, c.least); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(data)
		if size := int64(-1); err == nil {
			size = info.Size()
			if c.data >= 0 && (size < c.data-4096 || size > c.data+64) {
				t.Errorf("pass %d: %d bytes of data", pass, size)
			}
		} else if c.data != -1 {
			t.Error(err)
		}
		if names, _ := os.ReadDir(dir); len(names) > 2 {
			t.Errorf("pass %d leaves %v", pass, names)
		}
		// the next pass writes the model that is read from here, over itself
		next, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer next.Close()
		s, err := NewSession(next)
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.Run(context.Background(), map[string]tensor.Any{"x": tensor.New[float32](3).Any()}, nil)
		if got := fmt.Sprint(out["y"]); err != nil || got != want {
			t.Errorf("pass %d: %v, %v", pass, got, err)
		}
		if in, copied := next.Weights(); pass == 0 && littleEndian && in != 240000+12+1 { // the tensor in a branch is misaligned there
			t.Errorf("%d bytes in place, %d copied", in, copied)
		}
		m = next
	}
	if err := m.WriteExternal(filepath.Join(dir, "none", "m.onnx"), 1); err == nil || !strings.Contains(err.Error(), filepath.Join("none", "m.onnx: ")) {
		t.Errorf("got %v", err)
	}
	m.Graph.Initializers[0].Dims[0]++
	if err := m.WriteExternal(path, 0); err == nil || strings.Count(err.Error(), "onnx: ") != 2 || !strings.Contains(err.Error(), "m.onnx: graph") {
		t.Errorf("got %v", err) // "onnx: " stands in front, and ends the file's name
	}
	for _, bad := range []string{"", dir} {
		if err := m.WriteExternal(bad, 0); err == nil {
			t.Errorf("a file is written at %q", bad)
		}
	}
	if err := m.WriteExternal(path, -1); !errors.Is(err, tensor.ErrValue) {
		t.Errorf("got %v", err)
	}
}
