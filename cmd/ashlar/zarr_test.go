package main

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/tensor"
)

// An array converted to Zarr and back is the same, as a folder and as a zip file.
func TestZarr(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	ashlar := func(want int, args ...string) string {
		t.Helper()
		c := newCall(nil).with(args...)
		if c.code != want {
			t.Fatalf("%v: exit code %d\n%s%s", args, c.code, c.out.String(), c.err.String())
		}
		return c.out.String() + c.err.String()
	}
	const digits, model = "../../testdata/digits-test.npy", "../../testdata/digits.onnx"
	ashlar(0, "convert", digits, at("x.zarr"))
	ashlar(0, "convert", digits, at("c.zarr.zip"), "--chunks", "100,8,3")
	if out := ashlar(0, "info", at("c.zarr.zip")); !strings.Contains(out, "chunks [100,8,3]") {
		t.Error(out)
	}
	ashlar(0, "diff", digits, at("c.zarr.zip"))
	ashlar(1, "convert", digits, at("d.zarr"), "--chunks", "100,8")
	ashlar(2, "convert", digits, at("d.npy"), "--chunks", "100,8,8")
	ashlar(0, "convert", at("x.zarr"), at("x.zarr.zip"))
	ashlar(0, "convert", at("x.zarr.zip"), at("y.npy"))
	ashlar(0, "diff", digits, at("y.npy"))
	ashlar(0, "convert", model, at("w.zarr"))
	ashlar(0, "diff", at("w.zarr"), model)
	ashlar(0, "convert", at("w.zarr"), at("b.npy"), "--name", "conv1.bias")
	ashlar(0, "diff", at("b.npy"), model+"#conv1.bias")
	if out := ashlar(0, "info", at("x.zarr")); !strings.Contains(out, "uint8[540,8,8], chunks [540,8,8], zstd, version 3") {
		t.Error(out)
	}
	if out := ashlar(0, "show", at("x.zarr"), "--slice", "0, ::4, ::4"); !strings.Contains(out, "uint8[2,2]") {
		t.Error(out)
	}
	if out := ashlar(1, "convert", digits, at("x.zarr")); !strings.Contains(out, "never replaced") {
		t.Error(out)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 6 {
		t.Errorf("%v %v", list, err)
	}
}

// Times keep their unit from Zarr to Zarr, and are shown; --cf decodes; an array of an unknown type leaves the others alone.
func TestZarrTypes(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(at(name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	array := func(name, dtype, fill, chunk, attributes string) {
		write("x.zarr/"+name+"/.zarray", `{"zarr_format":2,"shape":[2],"chunks":[2],"dtype":`+dtype+`,"compressor":null,"fill_value":`+fill+`,"order":"C","filters":null}`)
		write("x.zarr/"+name+"/.zattrs", attributes)
		write("x.zarr/"+name+"/0", chunk)
	}
	write("x.zarr/.zgroup", `{"zarr_format":2}`)
	array("s", `[["a","|u1"],["b","|S2"]]`, "null", "\x07hi\x08yo", "{}")
	array("t", `"<M8[D]"`, "null", "\x00\x00\x00\x00\x00\x00\x00\x00\x08\x2b\x00\x00\x00\x00\x00\x00", "{}")
	array("p", `"|i1"`, "null", "\x01\xff", `{"scale_factor":0.5,"_FillValue":-1}`)
	array("o", `"|O"`, "null", "", "{}")
	array("v", `"|O"`, `"?"`, "\x02\x00\x00\x00\x03\x00\x00\x00\xe6\x97\xa5\x00\x00\x00\x00", "{}")
	text, err := os.ReadFile(at("x.zarr/v/.zarray"))
	if err != nil {
		t.Fatal(err)
	}
	write("x.zarr/v/.zarray", strings.Replace(string(text), `"filters":null`, `"filters":[{"id":"vlen-utf8"}]`, 1))
	ashlar := func(want int, text string, args ...string) {
		t.Helper()
		c := newCall(nil).with(args...)
		if out := c.out.String() + c.err.String(); c.code != want || !strings.Contains(out, text) {
			t.Errorf("%v: exit code %d, want %d and %q\n%s", args, c.code, want, text, out)
		}
	}
	ashlar(1, "datetime64[D][2]", "info", at("x.zarr"))
	ashlar(1, "o/.zarray: dtype \"|O\"", "info", at("x.zarr"))
	ashlar(1, "p    float64[2], of int8 · 0.5 with gaps", "info", "--cf", at("x.zarr"))
	ashlar(0, `["1970-01-01","2000-02-29"]`, "show", at("x.zarr")+"#t")
	ashlar(0, `["hi","yo"]`, "show", at("x.zarr")+"#s.b")
	ashlar(0, "[7 8]", "show", at("x.zarr")+"#s.a")
	ashlar(1, "v    string[2]", "info", at("x.zarr"))
	ashlar(0, `["日",""]`, "show", at("x.zarr")+"#v")
	ashlar(0, `["日"]`, "show", at("x.zarr")+"#v", "--slice", ":1")
	ashlar(1, "strings", "compute", "sum(x)", "-i", "x="+at("x.zarr")+"#v")
	ashlar(0, `"yo"`, "show", at("x.zarr")+"#s.b", "--slice", "1")
	ashlar(1, "#t", "show", at("x.zarr")+"#t", "--slice", "5")
	ashlar(0, "[0.5 nan]", "show", at("x.zarr")+"#p", "--cf")
	ashlar(0, "0.5", "compute", "nanmean(x)", "-i", "x="+at("x.zarr")+"#p", "--cf")
	ashlar(0, "15", "compute", "sum(x)", "-i", "x="+at("x.zarr")+"#s.a")
	ashlar(1, "strings", "convert", at("x.zarr")+"#s.b", at("b.npy"))
	ashlar(0, "", "convert", at("x.zarr")+"#t", at("t.zarr"))
	ashlar(0, "datetime64[D][2]", "info", at("t.zarr"))
	ashlar(0, "", "rechunk", at("x.zarr")+"#t", at("r.zarr"), "--chunks", "1")
	ashlar(0, "datetime64[D][2], chunks [1]", "info", at("r.zarr"))
	ashlar(0, "", "compute", "x[::-1]", "-i", "x="+at("x.zarr")+"#t", "-o", at("turned.zarr"))
	ashlar(0, `["2000-02-29","1970-01-01"]`, "show", at("turned.zarr"))
	ashlar(0, "", "compute", "x + x", "-i", "x="+at("x.zarr")+"#t", "-o", at("sum.zarr"))
	ashlar(0, "int64[2]", "info", at("sum.zarr"))
	ashlar(0, "t is datetime64[D]; npy has no such type", "convert", at("x.zarr")+"#t", at("t.npy"))
	ashlar(0, "left out, as no tensor holds them: o, s.b, v", "convert", at("x.zarr"), at("all.npz"), "--skip")
}

// A zip file is known by its entries, whatever its name: a Zarr hierarchy of either version, a file of torch.save, an npz file, also one without
// arrays. Another one is an error.
func TestZipsByContents(t *testing.T) {
	dir := t.TempDir()
	one, err := os.ReadFile("../../testdata/digits-test.npy")
	if err != nil {
		t.Fatal(err)
	}
	const (
		array2 = `{"zarr_format":2,"shape":[2],"chunks":[2],"dtype":"|u1","compressor":null,"fill_value":0,"order":"C","filters":null}`
		array3 = `{"zarr_format":3,"node_type":"array","shape":[2],"data_type":"uint8","chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2]}},"chunk_key_encoding":{"name":"v2"},"fill_value":0,"codecs":["bytes"]}`
		group3 = `{"zarr_format":3,"node_type":"group"}`
	)
	for name, c := range map[string]struct {
		code    int
		text    string
		entries []string // names and texts
	}{
		"group 3":      {0, "a/b  uint8[2]", []string{"zarr.json", group3, "a/zarr.json", group3, "a/b/zarr.json", array3, "a/b/0", "\x01\x02"}},
		"array 3":      {0, "uint8[2]", []string{"0", "\x01\x02", "zarr.json", array3}},
		"group 2":      {0, "a/b  uint8[2]", []string{"a/b/0", "\x01\x02", "a/b/.zarray", array2, "a/.zgroup", `{"zarr_format":2}`, ".zgroup", `{"zarr_format":2}`}},
		"array 2":      {0, "uint8[2]", []string{".zarray", array2, ".zattrs", "{}", "0", "\x01\x02"}},
		"consolidated": {0, "b  uint8[2]", []string{"zarr.json", group3[:len(group3)-1] + `,"consolidated_metadata":{"kind":"inline","must_understand":false,"metadata":{"b":` + array3 + `}}}`, "b/zarr.json", array3}},
		"folder":       {1, `"x.zarr/zarr.json" is there`, []string{"x.zarr/", "", "x.zarr/zarr.json", array3, "x.zarr/0", "\x01\x02"}},
		"npz":          {0, "w  ", []string{"w.npy", string(one)}},
		"npz of none":  {0, "", nil},
		"neither":      {1, "no array", []string{"notes.txt", "text"}},
		"folders":      {1, "no array", []string{"a/", "", "b/", ""}},
		"torch":        {1, "pytorch", []string{"archive/data.pkl", "\x80\x02.", "archive/version", "3\n"}},
	} {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for i := 0; i < len(c.entries); i += 2 {
			e, err := w.Create(c.entries[i])
			if err == nil && c.entries[i+1] != "" {
				_, err = io.WriteString(e, c.entries[i+1])
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		for _, end := range []string{".zip", "", ".npz"} {
			path := filepath.Join(dir, name+end)
			if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
			for _, call := range []*call{newCall(nil).with("info", path), newCall(bytes.NewReader(b.Bytes())).with("info", "-")} {
				if out := call.out.String() + call.err.String(); call.code != c.code || !strings.Contains(out, c.text) {
					t.Errorf("%s: exit code %d, want %d and %q\n%s", path, call.code, c.code, c.text, out)
				}
			}
		}
		if strings.HasPrefix(name, "array") {
			if call := newCall(bytes.NewReader(b.Bytes())).with("show", "-"); call.code != 0 || !strings.Contains(call.out.String(), "[1 2]") {
				t.Errorf("%s: %s%s", name, call.out.String(), call.err.String())
			}
		}
	}
}

// The fill value of floats that xarray wrote is a missing value, and zero is a number. That holds for each command that reads with --cf, in
// a folder and through references. A scalar and times are read alike.
func TestZarrFillValues(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	refs := map[string]string{".zgroup": `{"zarr_format":2}`}
	array := func(name, shape, dims, dtype, fill, units string, elements any) {
		b, err := binary.Append(nil, binary.LittleEndian, elements)
		if err != nil {
			t.Fatal(err)
		}
		refs[name+"/.zarray"] = `{"zarr_format":2,"shape":` + shape + `,"chunks":` + shape + `,"dtype":"` + dtype + `","compressor":null,"fill_value":` + fill + `,"order":"C","filters":null}`
		refs[name+"/.zattrs"] = `{"_ARRAY_DIMENSIONS":` + dims + `,"units":"` + units + `"}`
		refs[name+"/0"] = "base64:" + base64.StdEncoding.EncodeToString(b)
		if err := os.MkdirAll(at("x.zarr/"+name), 0o777); err != nil {
			t.Fatal(err)
		}
		for key, b := range map[string][]byte{".zarray": []byte(refs[name+"/.zarray"]), ".zattrs": []byte(refs[name+"/.zattrs"]), "0": b} {
			if err := os.WriteFile(at("x.zarr/"+name+"/"+key), b, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	nan := math.NaN()
	array("rain", "[5]", `["x"]`, "<f8", `"NaN"`, "mm", []float64{0, 2.5, 0, nan, 1})
	array("x", "[3]", `["x"]`, "<f4", "-9999.0", "m", []float32{0, -9999, 3})
	array("level", "[]", "[]", "<f8", "1e+20", "m", []float64{0})
	array("time", "[3]", `["t"]`, "<f8", `"NaN"`, "days since 2000-01-01", []float64{0, 1, nan})
	text, err := json.Marshal(refs)
	if err == nil {
		err = errors.Join(os.WriteFile(at("x.json"), text, 0o666), os.WriteFile(at("x.zarr/.zgroup"), []byte(refs[".zgroup"]), 0o666))
	}
	if err == nil {
		err = npy.WriteFile(at("y.npy"), tensor.FromSlice([]float32{0, float32(nan), 3}, 3).Any(), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string
		args []string
	}{
		{"[0.  2.5 0.  nan 1. ]", []string{"show", at("x.zarr") + "#rain"}},
		{"[ 0. nan  3.]", []string{"show", at("x.zarr") + "#x"}},
		{"0.0", []string{"show", at("x.zarr") + "#level"}},
		{`["2000-01-01T00:00:00.000000000","2000-01-02T00:00:00.000000000","NaT"]`, []string{"show", at("x.zarr") + "#time"}},
		{"0.875", []string{"compute", "nanmean(r)", "-i", "r=" + at("x.zarr") + "#rain"}},
		{`"mean":0.875,"deviation":1.0231690964840563,"zeros":2,"nans":1`, []string{"stats", "--json", at("x.zarr") + "#rain"}},
		{"the same", []string{"diff", at("x.zarr") + "#x", at("y.npy")}},
	} {
		for _, file := range []string{"x.zarr", "x.json"} {
			args := append(slices.Clone(c.args), "--cf")
			for i := range args {
				args[i] = strings.Replace(args[i], at("x.zarr"), at(file), 1)
			}
			if call := newCall(nil).with(args...); call.code != 0 || !strings.Contains(call.out.String(), c.text) {
				t.Errorf("%v: exit code %d, want %q\n%s%s", args, call.code, c.text, call.out.String(), call.err.String())
			}
		}
	}
}

// A document of references is read as a Zarr file, by its contents, and leads to no host that isn't allowed.
func TestZarrReferences(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "\x05\x06") }))
	defer server.Close()
	const zarray = `"x/.zarray":{"zarr_format":2,"shape":[4],"chunks":[2],"dtype":"|u1","compressor":null,"fill_value":0,"order":"C","filters":null}`
	for name, text := range map[string]string{"data": "abcdef", "r.json": `{".zgroup":"{\"zarr_format\":2}",` + zarray + `,"x/0":["data",1,2],"x/1":"zz"}`,
		"u.json": `{ "version": 1, "refs": {".zgroup":"{\"zarr_format\":2}",` + zarray + `,"x/0":["` + server.URL + `/d"],"x/1":["../out"]}}`} {
		if err := os.WriteFile(at(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	host := strings.TrimPrefix(server.URL, "http://")
	for _, c := range []struct {
		code int
		text string
		args []string
	}{
		{0, "x  uint8[4], chunks [2], version 2", []string{"info", at("r.json")}},
		{0, "[ 98  99 122 122]", []string{"show", at("r.json") + "#x"}},
		{0, "441", []string{"compute", "sum(x)", "-i", "x=" + at("r.json") + "#x"}},
		{1, "--allow-host", []string{"show", at("u.json") + "#x", "--slice", "0"}},
		{1, "allow the host", []string{"compute", "sum(x)", "-i", "x=" + at("u.json") + "#x"}},
		{0, "5", []string{"show", at("u.json") + "#x", "--slice", "0", "--allow-host", host}},
		{1, "isn't in the folder", []string{"show", at("u.json") + "#x", "--allow-host", host}},
		{0, "11", []string{"compute", "sum(x[:2])", "-i", "x=" + at("u.json") + "#x", "--allow-host", host}},
		{1, "the schemes that the program has registered", []string{"info", "gopher://x/y"}},
	} {
		call := newCall(nil).with(c.args...)
		if out := call.out.String() + call.err.String(); call.code != c.code || !strings.Contains(out, c.text) {
			t.Errorf("%v: exit code %d, want %d and %q\n%s", c.args, call.code, c.code, c.text, out)
		}
	}
}

// URLs of Zarr are read by info, show and convert.
func TestZarrURL(t *testing.T) {
	dir := t.TempDir()
	const digits = "../../testdata/digits-test.npy"
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	for _, args := range [][]string{{"convert", digits, filepath.Join(dir, "x.zarr")}, {"info", server.URL + "/x.zarr"}, {"show", server.URL + "/x.zarr", "--slice", "0"}, {"convert", server.URL + "/x.zarr", filepath.Join(dir, "y.npy")},
		{"diff", digits, filepath.Join(dir, "y.npy")}} {
		if c := newCall(nil).with(args...); c.code != 0 {
			t.Errorf("%v: exit code %d\n%s%s", args, c.code, c.out.String(), c.err.String())
		}
	}
}

// An array of a group without consolidated metadata is read over HTTP by its name. No message, plan or line of JSON has the query or the user of a URL.
func TestZarrMember(t *testing.T) {
	dir := t.TempDir()
	store, err := zarr.Dir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]int16{"g/a": 5, "g/b.c/0": 6, "root": 7} {
		a, err := zarr.Create(t.Context(), store, name, zarr.Metadata{DType: dtype.Int16, Shape: []int{2}, Chunks: []int{2}}, nil)
		if err == nil {
			err = a.Write(t.Context(), []int{0}, tensor.Full(v, 2).Any())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	user := strings.Replace(server.URL, "http://", "http://name:SECRET@", 1)
	for _, c := range []struct {
		code int
		text string
		args []string
	}{
		{0, "[5 5]", []string{"show", server.URL + "/g#a"}},
		{0, "[6 6]", []string{"show", server.URL + "/g#b.c/0"}},
		{0, "[6 6]", []string{"show", server.URL + "/g/b.c#0"}},
		{0, "[7 7]", []string{"show", server.URL + "/root#root"}},
		{0, "[5 5]", []string{"show", server.URL + "/g?s=SECRET#a"}},
		{0, "[5 5]", []string{"show", user + "/g?s=SECRET#a"}},
		{0, "5", []string{"stats", user + "/g?s=SECRET#a"}},
		{0, "10", []string{"compute", "sum(x)", "-i", "x=" + user + "/g?s=SECRET#a"}},
		{0, "task", []string{"plan", "sum(x)", "-i", "x=" + user + "/g?s=SECRET#a"}},
		{1, "2 of 2 elements differ", []string{"diff", user + "/g?s=SECRET#a", user + "/root?s=SECRET#root"}},
		{1, "no array", []string{"diff", user + "/g?s=SECRET#none", user + "/root?s=SECRET"}},
		{0, "", []string{"stats", user + "/root?s=SECRET", "--json"}},
		{1, "", []string{"check", user + "/root?s=SECRET"}},
		{1, "", []string{"run", user + "/root?s=SECRET"}},
		{1, "another path", []string{"rechunk", user + "/root?s=SECRET", filepath.Join(dir, "root"), "--chunks", "1"}},
		{0, "[2]", []string{"info", user + "/root?s=SECRET", "--json"}},
		{1, "no array: neither none/zarr.json nor none/.zarray is there", []string{"show", user + "/g?s=SECRET#none"}},
		{1, "no array: neither none/zarr.json nor none/.zarray is there", []string{"compute", "sum(x)", "-i", "x=" + user + "/g?s=SECRET#none"}},
		{1, "no list of keys, so name an array by its path", []string{"info", user + "/g?s=SECRET"}},
		{1, "no list of keys", []string{"compute", "sum(x)", "-i", "x=" + user + "/g?s=SECRET"}},
		{1, "neither zarr.json nor .zarray is there", []string{"show", user + "/none?s=SECRET"}},
		{1, "GET http://localhost:1/x/zarr.json: dial", []string{"show", "http://name:SECRET@localhost:1/x?s=SECRET"}},
		{1, "can't be parsed", []string{"show", "http://name:SECRET?@localhost:1/x%zz?s=SECRET"}},
		{2, "read only", []string{"convert", server.URL + "/root", user + "/x?s=SECRET"}},
	} {
		call := newCall(nil).with(c.args...)
		if out := call.out.String() + call.err.String(); call.code != c.code || !strings.Contains(out, c.text) || strings.Contains(out, "SECRET") {
			t.Errorf("%v: exit code %d, want %d and %q\n%s", c.args, call.code, c.code, c.text, out)
		}
	}
}
