package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/chunk"
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/format/zarr"
	_ "github.com/ashlar-go/ashlar/internal/seeded"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

func counted(shape ...int) tensor.Any {
	n := 1
	for _, e := range shape {
		n *= e
	}
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i)
	}
	return tensor.FromSlice(x, shape...).Any()
}

func writeNpy(t testing.TB, path string, x tensor.Any, opts ...*npy.WriteOptions) {
	t.Helper()
	f, err := os.Create(path)
	if err == nil {
		err = npy.Write(f, x, append(opts, nil)[0])
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// result runs a job and reads its result.
func result(t testing.TB, j Job) tensor.Any {
	t.Helper()
	ctx := context.Background()
	store := zarr.Memory()
	p, err := j.To(ctx, store, "")
	if err == nil {
		err = p.Run(ctx, nil)
	}
	var a *zarr.Array
	if err == nil {
		a, err = zarr.Open(ctx, store, "", nil)
	}
	var r tensor.Any
	if err == nil {
		r, err = a.Read(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func equal(t interface {
	Helper()
	Errorf(string, ...any)
}, got, want tensor.Any) {
	t.Helper()
	if g, w := fmt.Sprintf("%v %v", got.DType(), got), fmt.Sprintf("%v %v", want.DType(), want); g != w {
		t.Errorf("got %s, want %s", g, w)
	}
}

// An address is a folder, an array of a group, a zip file, an npy file or a URL.
func TestAddresses(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	x := counted(5, 4)
	write := func(path string, names ...string) {
		if err := os.Mkdir(path, 0o777); err != nil {
			t.Fatal(err)
		}
		s, err := zarr.Dir(path)
		if err != nil {
			t.Fatal(err)
		}
		if names[0] != "" {
			g, err := zarr.CreateGroup(ctx, s, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			defer g.Consolidate(ctx)
		}
		for _, name := range names {
			a, err := zarr.Create(ctx, s, name, zarr.Metadata{DType: x.DType(), Shape: []int{5, 4}, Chunks: []int{2, 3}}, nil)
			if err == nil {
				err = a.Write(ctx, []int{0, 0}, x)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	write(at("root.zarr"), "")
	write(at("one.zarr"), "a")
	write(at("two.zarr"), "a", "b/c")
	write(at("no#3.zarr"), "")
	write(at("no#4.zarr"), "a", "b", "c#5")
	s, _ := zarr.Dir(at("root.zarr"))
	z, err := os.Create(at("x.zarr.zip"))
	if err == nil {
		err = zarr.WriteZip(ctx, z, s)
	}
	if err != nil {
		t.Fatal(err)
	}
	z.Close()
	writeNpy(t, at("x.npy"), x)
	writeNpy(t, at("f.npy"), x, &npy.WriteOptions{Fortran: true})
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	for _, address := range []string{at("root.zarr"), at("one.zarr"), at("two.zarr") + "#a", at("two.zarr") + "#b/c", at("x.zarr.zip"), at("x.npy"), at("f.npy"), at("no#3.zarr"), at("no#4.zarr") + "#b", at("no#4.zarr") + "#c#5",
		server.URL + "/root.zarr", server.URL + "/one.zarr", server.URL + "/two.zarr#b/c"} {
		equal(t, result(t, Job{Expr: "x + 0", Inputs: map[string]string{"x": address}}), x)
	}
	for address, want := range map[string]string{
		at("nothing.zarr"): "input x, " + at("nothing.zarr") + ": no such file", at("two.zarr"): "name one of its arrays behind a #: a, b/c", at("two.zarr") + "#d": "d",
		at("x.npy") + "#a": "an npy file holds one array", dir: "", "s3://bucket/x": "a URL of \"s3\"", server.URL + "/none": "none", "": "no such file",
	} {
		if _, err := (Job{Expr: "x", Inputs: map[string]string{"x": address}}).Array(ctx); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want …%s…", address, err, want)
		}
	}
}

// URLs that differ in their query are two inputs. Neither their names in a plan nor errors have the query, which may be a signature.
func TestQueries(t *testing.T) {
	s := zarr.Memory()
	if _, err := zarr.Create(t.Context(), s, "", zarr.Metadata{DType: dtype.Uint8, Shape: []int{2}, Chunks: []int{2}, Codecs: []zarr.Codec{{Name: "bytes"}}}, nil); err != nil {
		t.Fatal(err)
	}
	meta, err := s.Get(t.Context(), "zarr.json", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/zarr.json":
			w.Write(meta)
		case "/c/0":
			v := r.URL.Query().Get("secret")[0]
			w.Write([]byte{v, v})
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	j := Job{Expr: "y - x", Inputs: map[string]string{"x": server.URL + "?secret=a", "y": server.URL + "?secret=c"}}
	equal(t, result(t, j), tensor.FromSlice([]uint8{2, 2}, 2).Any())
	label, _, err := j.input(t.Context(), j.Inputs["x"])
	if err != nil || strings.Contains(label, "secret") || !strings.HasPrefix(label, server.URL+"?") {
		t.Errorf("the name of an input in a plan is %s, %v", label, err)
	}
	j.Inputs["y"] += "#none"
	if _, err := j.Array(t.Context()); err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), server.URL+"#none") {
		t.Error(err)
	}
}

// The chunks of an npy file are the chunks of the array, in either order, and none is larger than it says.
func TestNpy(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(0, 5), 0, 4).Draw(r, "shape")
		path := filepath.Join(dir, "x.npy")
		var o *npy.WriteOptions
		if rapid.Bool().Draw(r, "Fortran") {
			o = &npy.WriteOptions{Fortran: true}
		}
		x := counted(shape...)
		writeNpy(t, path, x, o)
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		info, _ := f.Stat()
		most := rapid.IntRange(1, 30).Draw(r, "elements of a chunk")
		s, err := newNpyStore(context.Background(), f, info.Size(), 4*most)
		if err != nil {
			r.Fatal(err)
		}
		a, err := zarr.Open(context.Background(), s, "", nil)
		if err != nil {
			r.Fatal(err)
		}
		got, err := a.Read(context.Background())
		if err != nil {
			r.Fatal(err)
		}
		equal(r, got, x)
		n := 1
		for _, c := range a.Chunks() {
			n *= c
		}
		if n > most {
			r.Errorf("chunks of %v have more than %d elements", a.Chunks(), most)
		}
	})
}

func TestShortNpy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	writeNpy(t, path, counted(10))
	info, _ := os.Stat(path)
	os.Truncate(path, info.Size()-1)
	if _, err := (Job{Expr: "x", Inputs: map[string]string{"x": path}}).Array(context.Background()); !errors.Is(err, format.ErrShort) {
		t.Error(err)
	}
}

// A job that went through JSON has the same plan, and the folder of a plan that fails doesn't stay.
func TestPlan(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	writeNpy(t, filepath.Join(dir, "x.npy"), counted(6, 4))
	j := Job{Expr: "mean(x, axis=0)", Inputs: map[string]string{"x": filepath.Join(dir, "x.npy")}, Out: filepath.Join(dir, "out.zarr"), Memory: 64 << 20, Codec: "gzip:9", Work: filepath.Join(dir, "work")}
	b, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	var k Job
	if err := json.Unmarshal(b, &k); err != nil {
		t.Fatal(err)
	}
	p, err := j.Plan(ctx)
	if err != nil {
		t.Fatal(err)
	}
	q, err := k.Plan(ctx)
	if err != nil || p.ID() != q.ID() {
		t.Fatal(err, p.ID(), q.ID())
	}
	if err := p.Run(ctx, nil); err != nil {
		t.Fatal(err)
	}
	if err := q.Run(ctx, nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second run gives %v", err)
	}
	equal(t, result(t, Job{Expr: "x[:]", Inputs: map[string]string{"x": j.Out}}), tensor.FromSlice([]float32{10, 11, 12, 13}, 4).Any())
	other := filepath.Join(dir, "other")
	if err := errors.Join(os.Mkdir(other, 0o777), os.WriteFile(filepath.Join(other, "a.txt"), nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []Job{
		{Expr: "x +", Inputs: j.Inputs, Out: filepath.Join(dir, "bad.zarr")}, {Expr: "x", Inputs: j.Inputs, Out: filepath.Join(dir, "bad.zarr"), Codec: "lzma"},
		{Expr: "x", Inputs: j.Inputs, Out: filepath.Join(dir, "bad.zarr"), Memory: 10}, {Expr: "x", Inputs: j.Inputs}, {Expr: "x", Inputs: j.Inputs, Out: "http://a/b"},
		{Expr: "x", Inputs: j.Inputs, Out: filepath.Join(dir, "x.npy")}, {Expr: "x", Inputs: j.Inputs, Out: other}, {Expr: "x", Inputs: j.Inputs, Out: filepath.Join(dir, "a", "b")},
		{Expr: "x", Inputs: j.Inputs, Out: filepath.Join(dir, "bad.zarr"), Chunks: []int{0, 1}},
	} {
		if _, err := bad.Plan(ctx); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "bad.zarr")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the folder of a plan that failed is there:", err)
	}
}

func ExampleJob() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	f, err := os.Create(filepath.Join(dir, "x.npy"))
	if err != nil {
		panic(err)
	}
	npy.Write(f, counted(3, 2), nil)
	f.Close()

	j := Job{Expr: "mean(x, axis=0)", Inputs: map[string]string{"x": filepath.Join(dir, "x.npy")}, Out: filepath.Join(dir, "mean.zarr")}
	p, err := j.Plan(context.Background())
	if err == nil {
		err = p.Run(context.Background(), &chunk.RunOptions{Workers: 2})
	}
	fmt.Println(p.Tasks(), err)
	// Output: 1 <nil>
}
