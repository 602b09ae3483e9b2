package zarr

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
)

// An array whose chunks lie in one file, beside bytes of others, is read by references of both versions, in each form that they have.
func TestReferences(t *testing.T) {
	folder := t.TempDir()
	inner := Memory()
	x := pattern(dtype.Int32, []int{20, 30})
	a, err := Create(t.Context(), inner, "x", Metadata{Version: 2, DType: dtype.Int32, Shape: []int{20, 30}, Chunks: []int{7, 10}}, nil)
	if err == nil {
		err = a.Write(t.Context(), []int{0, 0}, x)
	}
	if err != nil {
		t.Fatal(err)
	}
	keys, err := inner.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(folder, "data"), 0o777); err != nil {
		t.Fatal(err)
	}
	blob := []byte("a header of another format")
	refs := map[string]any{}
	for i, k := range keys {
		b, err := inner.Get(t.Context(), k, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		path := []string{"data/blob.nc", "{{ u }}", "{{f(c='blob')}}", filepath.Join(folder, "data", "blob.nc"), "file://" + filepath.Join(folder, "data", "blob.nc")}[i%5]
		switch {
		case strings.HasSuffix(k, ".zarray"):
			refs[k] = json.RawMessage(b)
		case strings.HasPrefix(k, "."), i == 4:
			refs[k] = "base64:" + base64.StdEncoding.EncodeToString(b)
		case i == 7:
			if err := os.WriteFile(filepath.Join(folder, "whole"), b, 0o666); err != nil {
				t.Fatal(err)
			}
			refs[k] = []any{"./data/../whole"}
		default:
			refs[k] = []any{path, len(blob), len(b)}
			blob = append(append(blob, b...), "between"...)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "data", "blob.nc"), blob, 0o666); err != nil {
		t.Fatal(err)
	}
	document, _ := json.Marshal(map[string]any{"version": 1, "templates": map[string]string{"u": "data/blob.nc", "f": "data/{{c}}.nc"}, "refs": refs})
	s, err := References(document, &ReferenceOptions{Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(t.Context(), s, "x", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := b.Read(t.Context()); err != nil || !same(got, x) {
		t.Errorf("other elements: %v", err)
	}
	before, err := b.State(t.Context())
	if err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "data", "blob.nc"), append(blob, 1), 0o666); err != nil {
		t.Fatal(err)
	}
	if after, err := b.State(t.Context()); err != nil || after == before {
		t.Error("the state is that of before", err)
	}
	if got, err := b.Read(t.Context()); !errors.Is(err, ErrChanged) {
		t.Errorf("parts of a file that was replaced: %v, %v", got, err)
	}
	if s, err = References(document, &ReferenceOptions{Folder: folder}); err != nil {
		t.Fatal(err)
	}
	if list, err := s.List(t.Context(), "x/"); err != nil || len(list) != len(keys)-1 {
		t.Error(list, err)
	}
	for _, k := range keys {
		if strings.HasSuffix(k, ".zarray") { // written again as JSON
			continue
		}
		want, _ := inner.Get(t.Context(), k, 1<<20)
		n, err := s.Size(t.Context(), k)
		part, err2 := s.GetRange(t.Context(), k, -2, 2)
		if int(n) != len(want) || err != nil || err2 != nil || !bytes.HasSuffix(bytes.TrimSpace(want), bytes.TrimSpace(part)) {
			t.Errorf("%s: %d %q %v %v", k, n, part, err, err2)
		}
		if _, err := s.GetRange(t.Context(), k, n-1, 2); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: beyond the end: %v", k, err)
		}
		if _, err := s.Get(t.Context(), k, n-1); !errors.Is(err, format.ErrLimit) {
			t.Errorf("%s: more than is accepted: %v", k, err)
		}
	}
	if err := s.Set(t.Context(), "x/0.0", nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
}

// The example of the specification, with gen. Source: fsspec.github.io/kerchunk, Reference specification, version 1.
func TestGenerated(t *testing.T) {
	s, err := References([]byte(`{"version":1,"templates":{"u":"server.domain/path","f":"{{c}}"},
"gen":[{"key":"gen_key{{i}}","url":"http://{{u}}_{{i}}","offset":"{{(i + 1) * 1000}}","length":"1000","dimensions":{"i":{"stop":5}}},
{"key":"k{{ i }}.{{j}}","url":"{{ u }}","dimensions":{"i":[3,5],"j":{"start":2,"stop":9,"step":4}}}],
"refs":{"key0":"data","key1":["http://target_url",10000,100],"key2":["http://{{u}}",10000,100],"key3":["http://{{f(c='text')}}",10000,100],"key4":["http://target_url"]}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	keys, _ := s.List(t.Context(), "")
	for _, k := range keys {
		r, err := s.(*references).target(k)
		got += fmt.Sprintln(k, string(r.inline), r.url, r.off, r.n, err)
	}
	want := `gen_key0  http://server.domain/path_0 1000 1000 <nil>
gen_key1  http://server.domain/path_1 2000 1000 <nil>
gen_key2  http://server.domain/path_2 3000 1000 <nil>
gen_key3  http://server.domain/path_3 4000 1000 <nil>
gen_key4  http://server.domain/path_4 5000 1000 <nil>
k3.2  server.domain/path 0 -1 <nil>
k3.6  server.domain/path 0 -1 <nil>
k5.2  server.domain/path 0 -1 <nil>
k5.6  server.domain/path 0 -1 <nil>
key0 data  0 0 <nil>
key1  http://target_url 10000 100 <nil>
key2  http://server.domain/path 10000 100 <nil>
key3  http://text 10000 100 <nil>
key4  http://target_url 0 -1 <nil>
`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// Documents that are none, or that would take more than they have.
func TestReferencesRefused(t *testing.T) {
	for document, want := range map[string]error{
		``: ErrFormat, `[]`: ErrFormat, `{"a":`: ErrFormat, `{"version":2,"refs":{}}`: ErrFormat, `{"version":"1"}`: ErrFormat, `{"version":1,"refs":[]}`: ErrFormat,
		`{"../a":"x"}`: ErrFormat, `{"a//b":"x"}`: ErrFormat, `{"version":1,"templates":{"a":1}}`: ErrFormat,
		`{"version":1,"gen":[{"key":"{{i}}","url":"u","dimensions":{"i":{"stop":1152921504606846976}}}]}`:                                           format.ErrLimit,
		`{"version":1,"gen":[{"key":"{{i}}{{j}}","url":"u","dimensions":{"i":{"stop":60000},"j":{"stop":60000}}}]}`:                                 format.ErrLimit,
		`{"version":1,"gen":[{"key":"k","url":"u","dimensions":{"i":{"stop":40000}}},{"key":"k","url":"u","dimensions":{"i":{"stop":40000}}}]}`:     format.ErrLimit,
		`{"version":1,"gen":[{"key":"k","url":"u","dimensions":{"a":[],"i":{"stop":40000},"j":{"stop":40000}}}]}`:                                   format.ErrLimit,
		`{"version":1,"gen":[{"key":"../{{i}}","url":"u","dimensions":{"i":{"stop":9223372036854775807,"step":4611686018427387904}}}]}`:             ErrFormat,
		`{"version":1,"gen":[{"key":"{{i}}","url":"u","dimensions":{"i":{"stop":5,"step":0}}}]}`:                                                    format.ErrLimit,
		`{"version":1,"gen":[{"key":"{{i}}","url":"{{x.y}}","dimensions":{"i":{"stop":5}}}]}`:                                                       ErrFormat,
		`{"version":1,"gen":[{"key":"{{i}}","url":"{{1/0}}","dimensions":{"i":{"stop":5}}}]}`:                                                       ErrFormat,
		`{"version":1,"gen":[{"key":"{{i}}","url":"u","offset":"{{9223372036854775807+i}}","length":"1","dimensions":{"i":{"start":1,"stop":2}}}]}`: ErrFormat,
		`{"version":1,"gen":[{"key":"{{i}}","url":"` + strings.Repeat("u", 1<<12) + `","dimensions":{"i":{"stop":60000}}}]}`:                        format.ErrLimit,
		`{"version":1,"gen":[{"key":"../{{i}}","url":"u","dimensions":{"i":{"stop":1}}}]}`:                                                          ErrFormat,
	} {
		_, err := References([]byte(document), nil)
		typed(t, err)
		if !errors.Is(err, want) {
			t.Errorf("%.150s: %v, want %v", document, err, want)
		}
	}
}

// No reference leads out of the folder, or to a host that isn't allowed, also by links and redirects.
func TestOutside(t *testing.T) {
	top := t.TempDir()
	folder := filepath.Join(top, "in")
	secret := []byte("a secret")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/value":
			http.ServeContent(w, r, "value", time.Time{}, bytes.NewReader([]byte("0123456789")))
		case "/gone":
			http.NotFound(w, r)
		case "/short":
			w.Header().Set("Content-Range", "bytes 2-4/10")
			w.WriteHeader(206)
			io.WriteString(w, "2")
		default:
			http.Redirect(w, r, "http://localhost:1/"+string(secret), http.StatusFound)
		}
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	if err := errors.Join(os.Mkdir(folder, 0o777), os.WriteFile(filepath.Join(top, "out"), secret, 0o666), os.WriteFile(filepath.Join(folder, "f"), []byte("0123456789"), 0o666)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../out", filepath.Join(folder, "link")); err != nil {
		t.Skip(err)
	}
	var refs []string
	want := map[string]error{"f": nil, "sub/../f": nil, "../out": ErrOutside, top + "/out": ErrOutside, "file://" + top + "/out": ErrOutside, "file:///etc/passwd": ErrOutside, "link": fs.ErrInvalid, "none": ErrFormat, ".": ErrOutside, "": ErrOutside,
		server.URL + "/value": nil, server.URL + "/value?signature=abc": nil, server.URL + "/gone?signature=abc": ErrFormat, server.URL + "/away": ErrOutside, server.URL + "/short": io.ErrUnexpectedEOF, "http://example.org/x": ErrOutside, "http://" + host + ".example.org/x": ErrFormat,
		"http://u:p@" + host + "/x": ErrFormat, "ftp://" + host + "/x": ErrOutside, "s3://other/x": ErrOutside, "s3://bucket/x": ErrScheme, "simplecache::s3://bucket/x": ErrFormat, "http://localhost:1/x?signature=abc": fs.ErrInvalid}
	var addresses []string
	for address := range want {
		addresses = append(addresses, address)
		b, _ := json.Marshal([]any{address, 2, 3})
		refs = append(refs, fmt.Sprintf("%q:%s", fmt.Sprint(len(refs)), b))
	}
	s, err := References([]byte("{"+strings.Join(refs, ",")+"}"), &ReferenceOptions{Folder: folder, Hosts: []string{host, "s3://bucket", "localhost:1"}})
	if err != nil {
		t.Fatal(err)
	}
	for i, address := range addresses {
		b, err := s.Get(t.Context(), fmt.Sprint(i), 100)
		w := want[address]
		if address == server.URL+"/away" {
			w = nil // localhost:1 is allowed, but nothing is there
			if err == nil {
				t.Error("something answers at localhost:1")
			}
			err, b = nil, []byte("234")
		}
		switch {
		case w == nil && (err != nil || string(b) != "234"), w == fs.ErrInvalid && err == nil, w != nil && w != fs.ErrInvalid && !errors.Is(err, w), errors.Is(err, fs.ErrNotExist):
			t.Errorf("%s: %q %v, want %v", address, b, err, w)
		case err != nil && (strings.Contains(err.Error(), "signature") || strings.Contains(err.Error(), "u:p")):
			t.Errorf("an error with a secret: %v", err)
		}
	}
	away, err := References([]byte(`{"a":["`+server.URL+`/away",0,3]}`), &ReferenceOptions{Hosts: []string{host}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := away.Get(t.Context(), "a", 100); !errors.Is(err, ErrOutside) {
		t.Errorf("a redirect to another host: %v", err)
	}
	if _, err := away.GetRange(t.Context(), "a", 1, 5); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("beyond the end: %v", err)
	}
	r := away.(*references)
	for _, c := range []struct {
		list, url string
		ok        bool
	}{{"example.org", "https://example.org/x", true}, {"example.org", "https://EXAMPLE.org:443/x", true}, {"example.org", "https://example.org:8443/x", false}, {"example.org:80", "http://example.org/x", true},
		{"example.org:80", "https://example.org/x", false}, {"example.org", "http://example.org.evil/x", false}, {"", "http:///x", false}, {"s3://b", "s3://b/x", true}, {"b", "s3://b/x", false}, {"s3://b", "http://b/x", false}} {
		r.hosts = []string{c.list}
		u, err := url.Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.allowed(u); (err == nil) != c.ok {
			t.Errorf("%s with %s: %v", c.url, c.list, err)
		}
	}
}

// FuzzReferences opens any document and reads all of its keys.
func FuzzReferences(f *testing.F) {
	f.Add([]byte(`{"version":1,"templates":{"u":"f","f":"{{c}}"},"gen":[{"key":"g{{i}}","url":"{{u}}_{{i}}","offset":"{{(i+1)*2}}","length":"3","dimensions":{"i":{"stop":5}}}],"refs":{"a":"x","b":["{{f(c='f')}}",1,2],"c":"base64:AAAA","d":{"x":NaN}}}`))
	f.Add([]byte(`{".zgroup":"{\"zarr_format\":2}","x/0":["f",9223372036854775807,1],"y":["http://h/x"],"z":[null]}`))
	folder := f.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "f"), []byte("0123456789"), 0o666); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		frugal(t, func() {
			s, err := References(document, &ReferenceOptions{Folder: folder})
			typed(t, err)
			if err != nil {
				return
			}
			keys, err := s.List(context.Background(), "")
			typed(t, err)
			for _, k := range keys[:min(len(keys), 1000)] {
				n, err := s.Size(t.Context(), k)
				b, err2 := s.Get(t.Context(), k, 1<<16)
				if err == nil && err2 == nil && int64(len(b)) != n {
					t.Errorf("%q: %d bytes of %d", k, len(b), n)
				}
			}
		})
	})
}

// The store of a scheme and a host is opened once.
func TestReferencesOpenOnce(t *testing.T) {
	var n atomic.Int64
	RegisterScheme("counted", func(context.Context, string) (Store, error) {
		n.Add(1)
		s := Memory()
		return s, s.Set(context.Background(), "v", []byte("value"))
	})
	s, err := References([]byte(`{"a":["counted://h/v"],"b":["counted://h/v",1,2]}`), &ReferenceOptions{Hosts: []string{"counted://h"}})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		for key, want := range map[string]string{"a": "value", "b": "al"} {
			if b, err := s.Get(t.Context(), key, 100); err != nil || string(b) != want {
				t.Errorf("%s: %q %v", key, b, err)
			}
		}
	}
	if n.Load() != 1 {
		t.Errorf("opened %d times", n.Load())
	}
}
