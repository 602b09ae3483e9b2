package zarr

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/tensor"
)

// A codec that needn't be understood is left out; one that must be is named in the error.
func TestMustUnderstand(t *testing.T) {
	ctx := t.Context()
	plain := seeds()[0]
	some, need := `{"name":"new","must_understand":false}`, `{"name":"new","must_understand":true}`
	for _, c := range []struct {
		old, meta string
		want      error
	}{
		{`"codecs":[`, `"codecs":[` + some + `,`, nil},
		{`"codecs":[`, `"codecs":[` + need + `,`, ErrCodec},
		{`"codecs":[`, `"codecs":["new",`, ErrCodec},
		{`"codecs":`, `"storage_transformers":[` + some + `],"codecs":`, nil},
		{`"codecs":`, `"storage_transformers":[` + need + `],"codecs":`, ErrCodec},
		{`"codecs":`, `"storage_transformers":["new"],"codecs":`, ErrCodec},
		{`"int16"`, some, format.ErrType},
		{`"codecs":`, `"dimension_names":["y"],"codecs":`, ErrFormat},
		{`"codecs":`, `"dimension_names":["y",null],"codecs":`, nil},
	} {
		meta := strings.Replace(plain, c.old, c.meta, 1)
		s := Memory()
		if err := s.Set(ctx, "zarr.json", []byte(meta)); err != nil {
			t.Fatal(err)
		}
		a, err := Open(ctx, s, "", nil)
		if !errors.Is(err, c.want) || c.want != nil && err == nil {
			t.Errorf("%s: %v, want %v", c.meta, err, c.want)
		}
		if err == nil && a.Metadata().Codecs[0].Name != "bytes" {
			t.Errorf("%s: %v", c.meta, a.Metadata().Codecs)
		}
	}
}

// No link and no key leads out of the folder, and a pipe isn't waited for.
func TestFolder(t *testing.T) {
	ctx := t.Context()
	top := t.TempDir()
	in, out := filepath.Join(top, "in"), filepath.Join(top, "out")
	if err := errors.Join(os.Mkdir(in, 0o777), os.Mkdir(out, 0o777), os.WriteFile(filepath.Join(out, "c"), []byte("secret"), 0o666)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink(filepath.Join(out, "c"), filepath.Join(in, "file")), os.Symlink("../out", filepath.Join(in, "folder"))); err != nil {
		t.Skip("links: ", err)
	}
	s, err := Dir(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"file", "folder/c", "../out/c"} {
		if b, err := s.Get(ctx, key, 1<<30); err == nil {
			t.Errorf("%s: %q", key, b)
		}
		if err := s.Set(ctx, key+"2", []byte("x")); key != "file" && err == nil {
			t.Errorf("%s was written", key)
		}
	}
	if err := s.Set(ctx, "file", []byte("x")); err != nil { // replaces the link
		t.Error(err)
	}
	if b, err := os.ReadFile(filepath.Join(out, "c")); err != nil || string(b) != "secret" {
		t.Errorf("%q, %v", b, err)
	}
	if list, err := os.ReadDir(out); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}

// A file without blocks is as large as it says, and takes no memory for that.
func TestSparse(t *testing.T) {
	ctx := t.Context()
	folder := t.TempDir()
	s, err := Dir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range kinds() {
		a, err := Create(ctx, s, name, m, nil)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, filepath.FromSlash(a.ChunkKey(0, 0)))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, nil, 0o666), os.Truncate(path, 1<<40)); err != nil {
			t.Skip("no sparse files: ", err)
		}
		frugal(t, func() {
			if _, err := a.ReadChunk(ctx, 0, 0); err == nil || !strings.Contains(err.Error(), a.ChunkKey(0, 0)) {
				t.Errorf("%s: %v", name, err)
			}
		})
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// Of entries of one name the last counts; sizes that lie are errors and take no memory.
func TestZipLies(t *testing.T) {
	ctx := t.Context()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, text := range []string{"first", "second"} {
		f, err := w.CreateHeader(&zip.FileHeader{Name: "k", Method: zip.Store})
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"../out", "/root", "a//b"} {
		if _, err := w.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	for name, method := range map[string]uint16{"stored": zip.Store, "deflated": zip.Deflate} {
		f, err := w.CreateRaw(&zip.FileHeader{Name: name, Method: method, CompressedSize64: 1 << 40, UncompressedSize64: 1 << 40})
		if err == nil {
			_, err = f.Write([]byte("short"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Zip(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Get(ctx, "k", 1<<30); err != nil || string(got) != "second" {
		t.Errorf("%q, %v", got, err)
	}
	if keys, err := s.List(ctx, ""); err != nil || fmt.Sprint(keys) != "[deflated k stored]" {
		t.Errorf("%v, %v", keys, err)
	}
	for _, key := range []string{"stored", "deflated"} {
		frugal(t, func() {
			if _, err := s.Get(ctx, key, 1<<30); err == nil {
				t.Errorf("%s was read", key)
			}
			if _, err := s.GetRange(ctx, key, 0, 1<<39); err == nil {
				t.Errorf("a part of %s was read", key)
			}
		})
	}
}

// A handler answers requests in this process, so that a bubble of testing/synctest passes the time at once.
type handler func(w http.ResponseWriter, r *http.Request)

func (h handler) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	h(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	a := w.Result()
	if a.Request = r; !w.Flushed && a.ContentLength < 0 {
		a.ContentLength = int64(w.Body.Len())
	}
	if r.Method == http.MethodHead {
		a.Body = http.NoBody
	}
	return a, nil
}

// A server without ranges, or without ranges from the end, is read all the same; one that lies is refused.
func TestServers(t *testing.T) { synctest.Test(t, testServers) }

func testServers(t *testing.T) {
	ctx := t.Context()
	const text = "0123456789"
	// fromStart takes no ranges from the end: end answers those.
	fromStart := func(end http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.Header.Get("Range"), "bytes=-") {
				end(w, r)
				return
			}
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
		}
	}
	status := func(n int) http.HandlerFunc { return func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(n) } }
	part := func(span, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Range", span)
			w.WriteHeader(http.StatusPartialContent)
			io.WriteString(w, text)
		}
	}
	flushed := func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		io.WriteString(w, text)
	}
	for name, c := range map[string]struct {
		h          http.HandlerFunc
		start, end string // of bytes 2 to 4, and of the last three; "": an error
		requests   int    // for three ranges from the end
	}{
		"ranges":             {fromStart(part("bytes 7-9/10", "789")), "234", "789", 3},
		"no ranges":          {func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, text) }, "234", "789", 3},
		"no size":            {fromStart(part("bytes 7-9/*", "789")), "234", "789", 3},
		"501":                {fromStart(status(501)), "234", "789", 7},
		"400":                {fromStart(status(400)), "234", "789", 7},
		"416":                {fromStart(status(416)), "234", "789", 7},
		"405":                {fromStart(status(405)), "234", "789", 7},
		"500":                {fromStart(status(500)), "234", "789", 10},
		"another end":        {fromStart(part("bytes 0-3/10", "0123")), "234", "789", 7},
		"no word on the end": {fromStart(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(206); io.WriteString(w, "789") }), "234", "789", 7},
		"all without size":   {fromStart(flushed), "234", "789", 7},
		"403":                {fromStart(status(403)), "234", "", 3},
		"404":                {fromStart(status(404)), "234", "", 3},
		"503":                {fromStart(status(503)), "234", "", 12},
		"size by HEAD": {func(w http.ResponseWriter, r *http.Request) {
			switch span := r.Header.Get("Range"); span {
			case "":
				io.WriteString(w, text)
			case "bytes=0-0":
				part("bytes 0-0/*", "0")(w, r)
			case "bytes=2-4", "bytes=7-9":
				part("bytes "+span[6:]+"/*", map[string]string{"bytes=2-4": "234", "bytes=7-9": "789"}[span])(w, r)
			default:
				w.WriteHeader(501)
			}
		}, "234", "789", 10},
		"less by HEAD": {func(w http.ResponseWriter, r *http.Request) {
			switch span := r.Header.Get("Range"); span {
			case "":
				io.WriteString(w, text[1:])
			case "bytes=0-0":
				part("bytes 0-0/*", "0")(w, r)
			case "bytes=2-4", "bytes=6-8":
				part("bytes "+span[6:]+"/10", map[string]string{"bytes=2-4": "234", "bytes=6-8": "678"}[span])(w, r)
			default:
				w.WriteHeader(501)
			}
		}, "234", "", 39},
		"all as a part":         {part("bytes 2-4/10", text), "", "", 9},
		"no ranges and no size": {flushed, "234", "", 9},
		"another range":         {part("bytes 3-5/10", "345"), "", "", 9},
		"a size that is none":   {part("bytes 2-4/x", "234"), "", "", 9},
		"no word on the range": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusPartialContent)
			io.WriteString(w, "234")
		}, "", "", 9},
		"short": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "10")
			io.WriteString(w, "01")
		}, "", "", 12},
		"refuses": {func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", http.StatusForbidden) }, "", "", 3},
	} {
		requests := 0
		s, err := HTTP("http://h", &http.Client{Transport: handler(func(w http.ResponseWriter, r *http.Request) {
			requests++
			c.h(w, r)
		})})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{c.start, c.end, c.end, c.end} {
			if i == 1 {
				requests = 0
			}
			got, err := s.GetRange(ctx, "k", []int64{2, -3, -3, -3}[i], 3)
			if (err == nil) != (want != "") || string(got) != want && want != "" {
				t.Errorf("%s: %q, %v; want %q", name, got, err, want)
			}
		}
		if requests != c.requests {
			t.Errorf("%s: %d requests, want %d", name, requests, c.requests)
		}
		want := c.end
		if name == "no size" { // with the other range the server tells it
			want = ""
		}
		if _, version, err := s.(Versioner).GetVersion(ctx, "k", 2, 3, ""); err == nil {
			if got, _, err := s.(Versioner).GetVersion(ctx, "k", -3, 3, version); (err == nil) != (want != "") || string(got) != want {
				t.Errorf("%s, of a version: %q, %v; want %q", name, got, err, want)
			}
		}
		if b, err := s.GetRange(ctx, "k", -11, 3); err == nil || c.end != "" && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: more than there is: %q, %v", name, b, err)
		}
	}
}

// An answer is of a version if it tells the same facts, no more and no fewer. If it has a strong ETag, that and the sizes that are told count.
func TestVersions(t *testing.T) {
	const now, before = "Mon, 02 Jan 2006 15:04:05 GMT", "Mon, 02 Jan 2006 15:04:04 GMT"
	type facts struct{ tag, modified, size string }
	var all []facts
	for _, tag := range []string{"", `"a"`, `"b"`, `W/"a"`, `w/"a"`, "a"} {
		for _, modified := range []string{"", before, now, "Mon, 02 Jan 2006 15:04:03 GMT", "x"} {
			for _, size := range []string{"*", "10", "11"} {
				all = append(all, facts{tag, modified, size})
			}
		}
	}
	told := func(f facts) facts {
		if f.modified == now { // that of each answer may be as new
			f.modified = ""
		}
		return f
	}
	var answer facts
	s, err := HTTP("http://h", &http.Client{Transport: handler(func(w http.ResponseWriter, r *http.Request) {
		for name, text := range map[string]string{"Date": now, "ETag": answer.tag, "Last-Modified": answer.modified, "Content-Range": "bytes 2-4/" + answer.size} {
			if text != "" {
				w.Header().Set(name, text)
			}
		}
		w.WriteHeader(http.StatusPartialContent)
		io.WriteString(w, "234")
	})})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		strong := strings.HasPrefix(a.tag, `"`)
		for _, b := range all {
			answer = a
			_, version, err := s.(Versioner).GetVersion(t.Context(), "k", 2, 3, "")
			if byTime := a.tag == "" && told(a).modified != "" && a.modified != "x"; err != nil || weak(version) == (strong || byTime) {
				t.Fatalf("%q: %q, %v", a, version, err)
			}
			answer = b
			got, _, err := s.(Versioner).GetVersion(t.Context(), "k", 2, 3, version)
			same := told(a) == told(b) || strong && a.tag == b.tag && (a.size == b.size || a.size == "*" || b.size == "*")
			if same && string(got) != "234" || !same && !errors.Is(err, ErrChanged) {
				t.Fatalf("%q, then %q: %q, %v", a, b, got, err)
			}
		}
	}
}

// failing is a store that fails after some writes, as a full disk does.
type failing struct {
	Store
	left atomic.Int64
}

func (f *failing) Set(ctx context.Context, key string, value []byte) error {
	if f.left.Add(-1) < 0 {
		return &fs.PathError{Op: "write", Path: key, Err: syscall.ENOSPC}
	}
	// Another writer's failure ends ctx, and a counted write is still done.
	return f.Store.Set(context.WithoutCancel(ctx), key, value)
}

// A store that fails while an array is written gives its own error, with the key. Each chunk is
// the old one or the new one.
func TestFailing(t *testing.T) {
	ctx := t.Context()
	for name, m := range kinds() {
		for n := range 5 {
			s := &failing{Store: Memory()}
			s.left.Store(1000)
			a := make3(t, s, m)
			old, changed := pattern(m.DType, m.Shape), tensor.Full[int16](5, m.Shape...).Any()
			if err := a.Write(ctx, []int{0, 0}, old); err != nil {
				t.Fatal(err)
			}
			s.left.Store(int64(n))
			err := a.Write(ctx, []int{0, 0}, changed)
			var e *Error
			if !errors.Is(err, syscall.ENOSPC) || !errors.As(err, &e) || !strings.Contains(e.Key, "x/") {
				t.Errorf("%s: %v", name, err)
			}
			written := 0
			for i := range 3 {
				for j := range 2 {
					got, err := a.ReadChunk(ctx, i, j)
					if err != nil {
						t.Fatal(err)
					}
					from, shape, _ := a.box(m.Chunks, []int{i, j})
					part := func(t tensor.Any) tensor.Any { p, _ := window(t, from, shape); return p }
					switch {
					case same(got, part(changed)):
						written++
					case !same(got, part(old)):
						t.Errorf("%s: chunk %d,%d is neither", name, i, j)
					}
				}
			}
			if written != n {
				t.Errorf("%s: %d chunks of %d", name, written, n)
			}
		}
	}
}

// A folder that is gone is no folder of absent chunks.
func TestVanished(t *testing.T) {
	ctx := t.Context()
	folder := filepath.Join(t.TempDir(), "x")
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	s, err := Dir(folder)
	if err != nil {
		t.Fatal(err)
	}
	a := make3(t, s, kinds()["plain"])
	if err := os.RemoveAll(folder); err != nil {
		t.Skip("an open folder can't be removed here: ", err)
	}
	if err := a.WriteChunk(ctx, pattern(dtype.Int16, []int{4, 6}), 0, 0); err == nil {
		t.Error("it was written")
	}
	if info, err := s.(*dir).root.Stat("."); err != nil || !unlinked(info) {
		t.Skip("this system doesn't tell that an open folder was removed: ", err)
	}
	if got, err := a.ReadChunk(ctx, 0, 0); err == nil {
		t.Errorf("it was read: %v", got)
	}
}

// On a full disk nothing half written stays. It needs the right to mount.
func TestFullDisk(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("a disk of 1 MiB is made on Linux only")
	}
	ctx, folder := t.Context(), t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder).CombinedOutput(); err != nil {
		t.Skipf("a disk of 1 MiB can't be mounted: %v, %s", err, out)
	}
	defer exec.Command("umount", folder).Run()
	s, err := Dir(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer s.(*dir).root.Close()
	a := make3(t, s, Metadata{DType: dtype.Uint8, Shape: []int{1 << 21}, Chunks: []int{1 << 17}, Codecs: []Codec{Bytes(binary.LittleEndian)}})
	err = a.Write(ctx, []int{0}, pattern(dtype.Uint8, a.Shape()))
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "x/c/") {
		t.Errorf("a full disk: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(folder, "x", "c", temporary+"*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	list, err := a.StoredChunks(ctx)
	if err != nil || len(list) == 0 {
		t.Errorf("%v, %v", list, err)
	}
	for _, index := range list {
		if n, _, err := a.ChunkSize(ctx, index...); err != nil || n != 1<<17 {
			t.Errorf("%v: %d bytes, %v", index, n, err)
		}
	}
}
