package zarr

import (
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/tensor"
)

// TestWild reads times, strings, structs and packed numbers as zarr-python and xarray of Debian write and read them.
func TestWild(t *testing.T) {
	folder := t.TempDir()
	run(t, python(t, "xarray", "cftime"), "testdata/wild.py", folder)
	var want map[string][]string
	load(t, filepath.Join(folder, "types.json"), &want)
	s, err := Dir(filepath.Join(folder, "types.zarr"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range want {
		a, err := Open(t.Context(), s, name, nil)
		if err != nil {
			t.Error(err)
			continue
		}
		got, _, err := a.Strings(t.Context())
		if err == nil && got == nil {
			var x tensor.Any
			if x, err = a.Read(t.Context()); err == nil {
				got = texts(x)
			}
		}
		if err != nil {
			t.Error(name, err)
			continue
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(folder, "cf.zarr"))))
	defer server.Close()
	remote, err := HTTP(server.URL, nil) // which has no list, and so needs .zmetadata
	if err != nil {
		t.Fatal(err)
	}
	if g, err := OpenGroup(t.Context(), remote, ""); err != nil {
		t.Error(err)
	} else if names, err := g.Arrays(t.Context()); err != nil || len(names) != 11 {
		t.Error(names, err)
	}
	var numbers map[string][]*float64
	load(t, filepath.Join(folder, "cf.json"), &numbers)
	if s, err = Dir(filepath.Join(folder, "cf.zarr")); err != nil {
		t.Fatal(err)
	}
	for name, want := range numbers {
		a, err := Open(t.Context(), s, name, &Options{CF: true})
		if err != nil {
			t.Error(err)
			continue
		}
		x, err := a.Read(t.Context())
		if err != nil || x.Len() != len(want) {
			t.Error(name, err)
			continue
		}
		scale := map[string]float64{"datetime64[s]": 1e9, "datetime64[ms]": 1e6, "datetime64[ns]": 1}[a.Metadata().Type]
		for i, got := range floats(x) {
			w := math.NaN()
			if want[i] != nil {
				w = *want[i]
			}
			if scale != 0 {
				got *= scale
			}
			if got != w && !(got != got && w != w) && !(math.Abs(got-w) <= 1e-6*math.Abs(w)) { // xarray rounds what it unpacks to float32
				t.Errorf("%s, %s: element %d is %v, want %v", name, a.Metadata().Type, i, got, w)
				break
			}
		}
	}
}

func load(t *testing.T, file string, to any) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func texts(x tensor.Any) (list []string) {
	if v, ok := tensor.As[bool](x); ok {
		for e := range v.Values() {
			list = append(list, map[bool]string{true: "True", false: "False"}[e])
		}
		return list
	}
	if v, ok := tensor.As[int64](x); ok {
		for e := range v.Values() {
			list = append(list, str(float64(e)))
		}
		return list
	}
	for _, v := range floats(x) {
		list = append(list, str(v))
	}
	return list
}

func str(v float64) string { b, _ := json.Marshal(v); return string(b) }

func floats(x tensor.Any) (list []float64) {
	if v, ok := tensor.As[int64](x); ok {
		for e := range v.Values() {
			list = append(list, float64(e))
		}
		return list
	}
	b, _ := tensor.Bytes(x)
	size := x.DType().Size()
	for i := range x.Len() {
		w := word(b[i*size : (i+1)*size])
		list = append(list, valueOf(w, x.DType()))
	}
	return list
}
