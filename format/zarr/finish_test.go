package zarr

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

func ExampleArray_Finish() {
	ctx := context.Background()
	s := Memory()
	a, err := Create(ctx, s, "x", Metadata{DType: dtype.Int8, Shape: []int{4}, Chunks: []int{2}, Unfinished: "the example"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	a.Write(ctx, []int{0}, tensor.FromSlice([]int8{5, 6}, 2).Any())
	_, err = Open(ctx, s, "x", nil)
	fmt.Println(errors.Is(err, ErrUnfinished))
	partly, err := Open(ctx, s, "x", &Options{Unfinished: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(partly.Read(ctx))
	a.Write(ctx, []int{2}, tensor.FromSlice([]int8{7, 8}, 2).Any())
	if err := a.Finish(ctx); err != nil {
		log.Fatal(err)
	}
	if a, err = Open(ctx, s, "x", nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Read(ctx))
	// Output:
	// true
	// [5 6 0 0] <nil>
	// [5 6 7 8] <nil>
}

func ExampleOptions_whole() {
	ctx := context.Background()
	s := Memory()
	if _, err := Create(ctx, s, "x", Metadata{DType: dtype.Int8, Shape: []int{2}, Chunks: []int{2}}, nil); err != nil {
		log.Fatal(err)
	}
	a, _ := Open(ctx, s, "x", nil)
	fmt.Println(a.Read(ctx))
	a, _ = Open(ctx, s, "x", &Options{Whole: true})
	_, err := a.Read(ctx)
	fmt.Println(errors.Is(err, ErrAbsent))
	// Output:
	// [0 0] <nil>
	// true
}

func ExampleArray_State() {
	ctx := context.Background()
	s := Memory()
	a, err := Create(ctx, s, "x", Metadata{DType: dtype.Int8, Shape: []int{4}, Chunks: []int{2}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	before, _ := a.State(ctx)
	a.Write(ctx, []int{0}, tensor.FromSlice([]int8{5, 6}, 2).Any())
	after, _ := a.State(ctx)
	fmt.Println(len(before), before == after)
	// Output: 32 false
}

// An unfinished array is refused wherever it lies and however it is opened, by the name of who writes it, and read by the option. What
// else its metadata says stays when it is finished. A group whose consolidated metadata has the mark knows when it has gone.
func TestUnfinished(t *testing.T) {
	ctx := t.Context()
	folder, err := Dir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []Store{Memory(), folder} {
		g, err := CreateGroup(ctx, s, "g", nil)
		if err != nil {
			t.Fatal(err)
		}
		attributes := map[string]any{"large": int64(1)<<60 + 1, "text": "<&>"}
		m := Metadata{DType: dtype.Float32, Shape: []int{7, 5}, Chunks: []int{4, 4}, Inner: []int{2, 2}, DimensionNames: []string{"", "x"}, Attributes: attributes, Unfinished: `plan "7"`}
		a, err := Create(ctx, s, "g/a", m, nil)
		if err == nil {
			err = a.Write(ctx, []int{0, 0}, tensor.Full[float32](2, 7, 5).Any())
		}
		if err = errors.Join(err, g.Consolidate(ctx)); err != nil {
			t.Fatal(err)
		}
		var z bytes.Buffer
		if err := WriteZip(ctx, &z, s); err != nil {
			t.Fatal(err)
		}
		zipped, err := Zip(bytes.NewReader(z.Bytes()), int64(z.Len()))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []Store{s, zipped} {
			g, err := OpenGroup(ctx, s, "g")
			if err != nil {
				t.Fatal(err)
			}
			_, one := Open(ctx, s, "g/a", nil)
			_, two := g.Open(ctx, "a", nil)
			for _, err := range []error{one, two} {
				if want := `zarr: g/a/zarr.json: the array isn't finished: "plan \"7\"" is writing it, or was interrupted; resume that, or read it as it is by the option Unfinished`; !errors.Is(err, ErrUnfinished) || err.Error() != want {
					t.Errorf("error %v, want %s", err, want)
				}
			}
			if a, err := g.Open(ctx, "a", &Options{Unfinished: true}); err != nil || a.Metadata().Unfinished != m.Unfinished {
				t.Errorf("read as it is: %v", err)
			}
		}
		for range 2 {
			if err := a.Finish(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if _, err = g.Open(ctx, "a", nil); err != nil {
			t.Fatal(err)
		}
		whole, err := Create(ctx, s, "b", Metadata{DType: m.DType, Shape: m.Shape, Chunks: m.Chunks, Inner: m.Inner, DimensionNames: m.DimensionNames, Attributes: attributes}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := s.Get(ctx, "g/a/zarr.json", 1<<20)
		want, _ := s.Get(ctx, "b/zarr.json", 1<<20)
		one, err := fieldsOf(got)
		if err != nil || !json.Valid(got) {
			t.Fatal(err)
		}
		if two, err := fieldsOf(want); err != nil || !reflect.DeepEqual(one, two) {
			t.Errorf("metadata of a finished array: %s\nof one that never had the mark: %s", got, want)
		}
		if err := whole.Finish(ctx); err != nil {
			t.Error(err)
		}
	}
	if _, err := Create(ctx, Memory(), "", Metadata{Version: 2, DType: dtype.Int8, Unfinished: "x"}, nil); !errors.Is(err, ErrFormat) {
		t.Errorf("version 2: %v", err)
	}
}

// Whole refuses absent chunks and shards, in whatever way they are read. Inner chunks of a shard that is there may be absent.
func TestWhole(t *testing.T) {
	ctx := t.Context()
	for _, inner := range [][]int{nil, {1}} {
		s := Memory()
		a, err := Create(ctx, s, "", Metadata{DType: dtype.Int8, Shape: []int{5}, Chunks: []int{2}, Inner: inner}, &Options{Whole: true})
		if err == nil {
			err = a.WriteChunk(ctx, tensor.New[int8](2).Any(), 1)
		}
		if err != nil {
			t.Fatal(err)
		}
		if x, err := a.Slice(ctx, []int{2}, []int{4}); err != nil || fmt.Sprint(x) != "[0 0]" {
			t.Error(x, err)
		}
		_, one := a.Slice(ctx, []int{0}, []int{3})
		_, two := a.ReadChunk(ctx, 2)
		_, three := a.Index(ctx, tensor.R(4, 5))
		for i, err := range []error{one, two, three, a.ReadInto(ctx, []int{4}, tensor.New[int8](1).Any())} {
			if !errors.Is(err, ErrAbsent) || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("inner chunks %v, way %d: %v", inner, i, err)
			}
		}
	}
}

// The state of an array changes with each chunk and with its metadata, and with nothing else of the store.
func TestState(t *testing.T) {
	ctx := t.Context()
	path := t.TempDir()
	s, err := Dir(path)
	if err != nil {
		t.Fatal(err)
	}
	served := http.FileServer(http.Dir(path))
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		served.ServeHTTP(w, r)
	}))
	defer server.Close()
	remote, err := HTTP(server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []Metadata{{}, {Version: 2, Codecs: []Codec{}}, {Separator: "."}, {V2Keys: true}} {
		name := fmt.Sprint("x", m.Version, m.Separator, m.V2Keys)
		m.DType, m.Shape, m.Chunks = dtype.Int8, []int{30, 20}, []int{3, 2}
		a, err := Create(ctx, s, name, m, nil)
		if err == nil {
			err = a.Write(ctx, []int{0, 0}, tensor.Full[int8](1, 30, 20).Any())
		}
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]string{}
		note := func(what string, again bool) {
			t.Helper()
			var z bytes.Buffer
			if err := WriteZip(ctx, &z, s); err != nil {
				t.Fatal(err)
			}
			zipped, err := Zip(bytes.NewReader(z.Bytes()), int64(z.Len()))
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range []Store{s, remote, zipped} {
				if i == 2 && what == "time" {
					continue
				}
				a, err := Open(ctx, s, name, nil)
				if err != nil {
					t.Fatal(err)
				}
				state, err := a.State(ctx)
				if err != nil {
					t.Fatal(err)
				}
				state = fmt.Sprint(i, " ", state)
				if was, ok := seen[state]; ok != again {
					t.Errorf("%s, store %d: %s is as %q", name, i, what, was)
				}
				seen[state] = what
			}
		}
		key := filepath.Join(path, filepath.FromSlash(a.ChunkKey(4, 7)))
		note("at first", false)
		note("a second time", true)
		if _, err := Create(ctx, s, name+"y", m, nil); err != nil {
			t.Fatal(err)
		}
		note("another array", true)
		later := time.Now().Add(3 * time.Second)
		if err := os.Chtimes(key, later, later); err != nil {
			t.Fatal(err)
		}
		note("time", false)
		if err := a.WriteChunk(ctx, tensor.Full[int8](3, 3, 2).Any(), 4, 7); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(key, later.Add(time.Hour), later.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		note("a chunk", false)
		if err := a.DeleteChunk(ctx, 4, 7); err != nil {
			t.Fatal(err)
		}
		note("a chunk that goes", false)
	}
	// What is asked of a server is bounded, also where the metadata speaks of more chunks than there can be.
	a, err := Create(ctx, s, "huge", Metadata{DType: dtype.Int8, Shape: []int{1 << 40, 1 << 40}, Chunks: []int{1, 1}}, nil)
	if err == nil {
		a, err = Open(ctx, remote, a.path, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	asked.Store(0)
	if _, err := a.State(ctx); err != nil || asked.Load() > sampled+3 {
		t.Errorf("%d requests, %v", asked.Load(), err)
	}
}

// A server that forbids what isn't there, as some buckets do, is asked for the metadata of the array's version alone.
func TestStateOfForbidden(t *testing.T) {
	ctx := t.Context()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/zarr.json" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.Write([]byte(seeds()[0]))
	}))
	defer server.Close()
	remote, err := HTTP(server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := Open(ctx, remote, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.State(ctx); err != nil {
		t.Error(err)
	}
}
