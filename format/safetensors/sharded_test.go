package safetensors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// shardedModel writes a model of two files and its index, and returns the index's
// path.
func shardedModel(t testing.TB) string {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "more"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{
		"m-1.safetensors":      written(t, []string{"a", "b"}, []tensor.Any{tensor.FromSlice([]float32{1, 2}, 2).Any(), tensor.Scalar[int8](3).Any()}, nil),
		"more/m-2.safetensors": written(t, []string{"c"}, []tensor.Any{tensor.Full[int64](4, 2, 2).Any()}, nil),
		"x.json": `{"metadata": {"total_size": 41, "by": "a \"test\"", "more": {"deep": [1, 2.5, null]}},
 "weight_map": {"c": "more/m-2.safetensors", "a": "m-1.safetensors", "b": "m-1.safetensors", "gone": "m-1.safetensors", "lost": "m-3.safetensors"}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(file), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "x.json")
}

func TestOpenIndex(t *testing.T) {
	path := shardedModel(t)
	x, err := OpenIndex(path)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if got := x.Names(); !slices.Equal(got, []string{"c", "a", "b", "gone", "lost"}) {
		t.Errorf("the names are %q", got)
	}
	if got := x.Shards(); !slices.Equal(got, []string{"more/m-2.safetensors", "m-1.safetensors", "m-3.safetensors"}) {
		t.Errorf("the shards are %q", got)
	}
	if got := x.Metadata(); len(got) != 3 || got["total_size"] != "41" || got["by"] != `a "test"` || got["more"] != `{"deep": [1, 2.5, null]}` {
		t.Errorf("the metadata is %q", got)
	}
	opened := func() (list []string) {
		for i, f := range x.index.files {
			if f != nil {
				list = append(list, x.index.shards[i])
			}
		}
		return list
	}
	if got := opened(); got != nil {
		t.Errorf("before anything is asked for %q are open", got)
	}
	if info, err := x.Info("a"); err != nil || info.Type != "F32" || info.Bytes != 8 {
		t.Errorf("a: %+v, %v", info, err)
	}
	if got := opened(); !slices.Equal(got, []string{"m-1.safetensors"}) {
		t.Errorf("after Info of a %q are open", got)
	}
	c, err := x.Tensor("c")
	if err != nil || fmt.Sprint(c) != "[[4 4]\n [4 4]]" {
		t.Errorf("c: %v, %v", c, err)
	}
	for name, want := range map[string]error{"gone": format.ErrName, "d": format.ErrName, "lost": fs.ErrNotExist} {
		_, err := x.Tensor(name)
		if _, other := x.Info(name); !errors.Is(err, want) || !errors.Is(other, want) {
			t.Errorf("%s: %v, %v", name, err, other)
		}
	}
	if _, err := x.Tensor("gone"); !strings.Contains(err.Error(), `x.json: byte 188: "gone": the shard "m-1.safetensors" doesn't have it; it has 2 others`) {
		t.Errorf("gone: %v", err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Tensor("a"); !errors.Is(err, tensor.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if err := tensor.Try(func() { held[int64](c).At(0, 0) }); !errors.Is(err, tensor.ErrClosed) && !conv.BigEndian { // then it is a copy
		t.Errorf("a tensor after Close: %v", err)
	}
}

func TestShardsMayBeLinks(t *testing.T) {
	path := shardedModel(t)
	shard := filepath.Join(filepath.Dir(path), "m-1.safetensors")
	blob := filepath.Join(t.TempDir(), "blob")
	if err := os.Rename(shard, blob); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(blob, shard); err != nil {
		t.Skipf("this file system has no symbolic links: %v", err)
	}
	x, err := OpenIndex(path)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if _, err := x.Tensor("a"); err != nil {
		t.Error(err)
	}
}

func TestIndexErrors(t *testing.T) {
	for _, tc := range []struct {
		text string
		err  error
		want string
	}{
		{``, format.ErrFormat, `byte 0: index: the end where { must open the index`},
		{`[]`, format.ErrFormat, `byte 0: index: '[' where { must open the index`},
		{`{}`, format.ErrFormat, `byte 0: index: the key weight_map is missing`},
		{`{"weights":{}}`, format.ErrFormat, `byte 1: index: the key "weights"; an index has metadata and weight_map`},
		{`{"weight_map":{},"weight_map":{}}`, format.ErrFormat, `byte 17: index: the key "weight_map" a second time`},
		{`{"metadata":{"a":1,"a":2},"weight_map":{}}`, format.ErrFormat, `byte 19: index: metadata: the key "a" a second time`},
		{`{"metadata":{"a":01},"weight_map":{}}`, format.ErrFormat, ``},
		{`{"metadata":{"a":` + strings.Repeat("[", 100_000) + `},"weight_map":{}}`, format.ErrFormat, ``},
		{`{"metadata":[],"weight_map":{}}`, format.ErrFormat, `byte 12: index: '[' where { must open metadata`},
		{`{"weight_map":{"a":"x","b":"x","a":"y"}}`, format.ErrFormat, `byte 35: index: the tensor "a" a second time`},
		{`{"weight_map":{"a":7}}`, format.ErrFormat, `byte 19: index: '7' where a file of weight_map, a string, must stand`},
		{`{"weight_map":{}} x`, format.ErrFormat, `byte 18: index: 'x' after its end`},
		{`{"weight_map":{"a":"../x"}}`, format.ErrFormat, `byte 19: index: the tensor "a" is said to be in "../x"; a shard lies beside its index or below it`},
	} {
		_, err := parseIndex([]byte(tc.text))
		if err == nil || !errors.Is(err, tc.err) || tc.want != "" && err.Error() != "safetensors: "+tc.want {
			t.Errorf("%.60q: got  %v\nwant %s", tc.text, err, tc.want)
		}
	}
	for _, hostile := range []string{"", ".", "..", "/etc/passwd", "../x", "a/../../x", "a/..", "./x", "a//b", "a/", `..\x`, `a\b`, `C:\x`, "C:x", "c:/x", "x\x00", "\\\\host\\share", "//host/share"} {
		name, err := json.Marshal(hostile)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parseIndex([]byte(`{"weight_map":{"a":` + string(name) + `}}`)); err == nil || !errors.Is(err, format.ErrFormat) {
			t.Errorf("the file %q: %v", hostile, err)
		}
	}
	if _, err := OpenIndex(t.TempDir()); !errors.Is(err, mem.ErrNotFile) {
		t.Errorf("a folder: %v", err)
	}
	if _, err := OpenIndex(filepath.Join(t.TempDir(), "none.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing index: %v", err)
	}
}

// TestIndexMemory reads indexes made of the shortest entries.
func TestIndexMemory(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(`{"weight_map":{`)
	for i := range 500_000 {
		fmt.Fprintf(&b, `"%x":"x",`, i)
	}
	text := append(b.Bytes()[:b.Len()-1], "}}"...)
	runtime.GC()
	if got, limit := allocated(func() {
		if x, err := parseIndex(text); err != nil || len(x.names()) != 500_000 {
			t.Error(err)
		}
	}), 64<<20+8*int64(len(text)); got > limit {
		t.Errorf("%d bytes for an index of %d", got, len(text))
	}
}

// TestMetadataMemory reads the most metadata of the shortest keys, and one key more.
func TestMetadataMemory(t *testing.T) {
	for _, n := range []int{MaxMetadata, MaxMetadata + 1} {
		for _, value := range []string{"0", `""`} {
			var b bytes.Buffer
			for i := range n {
				fmt.Fprintf(&b, `"%x":%s,`, i, value)
			}
			list := b.String()[:b.Len()-1]
			index, header := []byte(`{"metadata":{`+list+`},"weight_map":{}}`), []byte(raw(`{"__metadata__":{`+list+`}}`, ""))
			for _, read := range []struct {
				text []byte
				f    func() *format.Error
			}{
				{index, func() *format.Error { _, err := parseIndex(index); return err }},
				{header, func() *format.Error { _, err := parse(header); return err }},
			} {
				runtime.GC()
				var err *format.Error
				got := allocated(func() { err = read.f() })
				if limit := 64<<20 + 8*int64(len(read.text)); got > limit {
					t.Errorf("%d bytes for %d, %d keys", got, len(read.text), n)
				}
				text := value == `""` || &read.text[0] == &index[0] // a header's values are texts
				if refused := err != nil; text && (refused != (n > MaxMetadata) || refused && !errors.Is(err, format.ErrLimit)) {
					t.Errorf("%d keys: %v", n, err)
				}
			}
		}
	}
	if err := Write(io.Discard, nil, nil, func() map[string]string {
		m := make(map[string]string)
		for i := range MaxMetadata + 1 {
			m[fmt.Sprint(i)] = ""
		}
		return m
	}()); !errors.Is(err, format.ErrLimit) {
		t.Errorf("Write: %v", err)
	}
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte(`{"metadata":{"total_size":8.5,"x":[{"a":null},"\u00e9"]},"weight_map":{"a":"m-1.safetensors","b\n":"d/m-2.safetensors"}}`))
	f.Add([]byte(`{"weight_map":{"a":"../x"}}`))
	f.Add([]byte(` { "weight_map" : { } , "metadata" : { "k" : "v" } } `))
	f.Add([]byte(`{"weight_map":{"a":"x","a":"y"}}`))
	f.Add([]byte(`{"metadata":{"a":[1,{"b":"]}\\\""}] ,"c" : -1.5e3 ,"d":true},"weight_map":{}}`))
	f.Add([]byte(`{"metadata":{"a":1 2,"b":"},"weight_map":{}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var x *sharded
		var err *format.Error
		if got := allocated(func() { x, err = parseIndex(b) }); got > 64<<20+8*int64(len(b)) {
			t.Errorf("%d bytes for an index of %d", got, len(b))
		}
		if err != nil {
			if err.Err == nil || err.Offset < 0 || err.Offset > int64(len(b)) {
				t.Errorf("an error of another kind: %#v", err)
			}
			return
		}
		var again struct {
			Metadata  map[string]any
			WeightMap map[string]string `json:"weight_map"`
		}
		if err := json.Unmarshal(b, &again); err != nil {
			t.Fatalf("accepted what encoding/json refuses: %v", err)
		}
		names := x.names()
		if len(names) != len(again.WeightMap) || len(x.metadata) != len(again.Metadata) {
			t.Fatalf("%d names and %d metadata; encoding/json has %d and %d", len(names), len(x.metadata), len(again.WeightMap), len(again.Metadata))
		}
		for i, name := range names {
			shard := x.shards[x.weights[i].shard]
			if again.WeightMap[name] != shard {
				t.Errorf("%q is in %q, by encoding/json in %q", name, shard, again.WeightMap[name])
			}
			root := filepath.Join("some", "folder")
			if rel, err := filepath.Rel(root, filepath.Join(root, filepath.FromSlash(shard))); err != nil || !filepath.IsLocal(rel) || rel == "." {
				t.Errorf("%q leads out of the folder", shard)
			}
		}
	})
}
