package zarr

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Every store answers alike.
func TestStores(t *testing.T) {
	ctx := t.Context()
	folder := t.TempDir()
	dir, err := Dir(folder)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{"a/b/c": "0123456789", "a/d": "x", "ab": ""}
	mem := Memory()
	for _, s := range []Store{mem, dir} {
		for k, v := range values {
			if err := cmp.Or(s.Set(ctx, k, []byte("old")), s.Set(ctx, k, []byte(v)), s.Delete(ctx, "none")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "a", temporary+"1"), nil, 0o666); err != nil { // of a crash
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteZip(ctx, &b, dir); err != nil {
		t.Fatal(err)
	}
	z, err := Zip(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	defer server.Close()
	web, err := HTTP(server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]Store{"memory": mem, "folder": dir, "zip": z, "http": web} {
		for k, v := range values {
			if got, err := s.Get(ctx, k, 1<<30); err != nil || string(got) != v {
				t.Errorf("%s: Get(%s) = %q, %v", name, k, got, err)
			}
		}
		for _, r := range []struct {
			off, n int64
			want   string
		}{{0, 10, values["a/b/c"]}, {3, 4, "3456"}, {-4, 4, "6789"}, {9, 1, "9"}} {
			if got, err := s.GetRange(ctx, "a/b/c", r.off, r.n); err != nil || string(got) != r.want {
				t.Errorf("%s: %d bytes from %d on: %q, %v", name, r.n, r.off, got, err)
			}
		}
		for _, r := range [][2]int64{{3, 8}, {10, 1}, {-11, 11}, {0, 1 << 60}, {1 << 62, 1 << 62}} {
			if got, err := s.GetRange(ctx, "a/b/c", r[0], r[1]); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s: %d bytes from %d on, outside: %q, %v", name, r[1], r[0], got, err)
			}
		}
		for _, k := range []string{"none", "a/b/c/d", "a/none"} {
			if _, err := s.Get(ctx, k, 1<<30); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: Get(%s): %v", name, k, err)
			}
		}
		keys, err := s.List(ctx, "a/")
		if name == "http" {
			if !errors.Is(err, errors.ErrUnsupported) || !errors.Is(s.Set(ctx, "k", nil), errors.ErrUnsupported) {
				t.Errorf("http: List: %v", err)
			}
		} else if err != nil || !slices.Equal(keys, []string{"a/b/c", "a/d"}) {
			t.Errorf("%s: List = %v, %v", name, keys, err)
		}
	}
	for _, k := range []string{"../x", "/x", "a//b", ""} {
		if err := dir.Set(ctx, k, nil); err == nil {
			t.Errorf("the folder takes the key %q", k)
		}
	}
}
