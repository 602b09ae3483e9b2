package zarr

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"pgregory.net/rapid"
)

var cases = flag.Int("cases", 1000, "how many damaged stores TestMutants reads")

// allocated is the number of bytes that f takes.
func allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// deflated is a store of a zip file whose entries are compressed.
func deflated(t rapid.TB, values map[string][]byte) (s Store, size int) {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for key, v := range values {
		w, err := z.Create(key)
		if err == nil {
			_, err = w.Write(v)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Zip(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return s, b.Len()
}

// plainStore hides that a store opens its values.
type plainStore struct{ Store }

// words are what a mutant has in place of a value.
var words = []string{"-1", "0", "1", "2", "1.5", "9223372036854775807", "1e400", "1e18", "4294967296", "null", "true", `""`, "[]", "{}", "[1,1]", "[2,3,4]", "[null]",
	"NaN", "Infinity", "-Infinity", `"float64"`, `"bool"`, `"big"`, `"start"`, `"F"`, `".."`, `">f4"`, `"|V3"`, `"gzip"`, `"crc32c"`, `"blosc"`, `"bytes"`, `"zstd"`,
	`"numcodecs.bz2"`, `"numcodecs.lz4"`, `"numcodecs.shuffle"`, `"numcodecs.delta"`, `"numcodecs.adler32"`, `{"name":"transpose","configuration":{"order":[1,0]}}`}

// mutant changes a few places of a document, or of other bytes.
func mutant(r *rand.Rand, b []byte, text bool) []byte {
	b = bytes.Clone(b)
	for range 1 + r.IntN(3) {
		if len(b) == 0 {
			return b
		}
		i := r.IntN(len(b))
		end := min(i+1+r.IntN(12), len(b))
		word := words[r.IntN(len(words))]
		switch k := r.IntN(6); {
		case k == 0:
			b[i] ^= 1 << r.IntN(8)
		case k == 1 && !text:
			b = append(b, make([]byte, r.IntN(40))...)
		case k == 2 && !text:
			copy(b[i:], []byte{0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0x80}[r.IntN(8):])
		case k == 3:
			b = slices.Delete(b, i, end)
		case text: // a whole value, or one more
			for i < len(b) && !strings.ContainsRune(`0123456789"[{ntf`, rune(b[i])) {
				i++
			}
			if end = i + 1; k == 4 {
				word, end = word+",", i
			} else if end < len(b) && b[i] == '"' {
				end += bytes.IndexByte(b[end:], '"') + 1
			}
			b = slices.Concat(b[:min(i, len(b))], []byte(word), b[min(end, len(b)):])
		}
	}
	return b
}

// mutantSeeds are stores that can be read: the documents of seeds, and arrays of every kind that are written.
func mutantSeeds(t *testing.T) (stores []map[string][]byte) {
	ctx := t.Context()
	keep := func(s Store) {
		keys, err := s.List(ctx, "")
		if err != nil {
			t.Fatal(err)
		}
		values := map[string][]byte{}
		for _, k := range keys {
			if values[k], err = s.Get(ctx, k, 1<<20); err != nil {
				t.Fatal(err)
			}
		}
		stores = append(stores, values)
	}
	for _, list := range chains() {
		for _, d := range []dtype.DType{dtype.Int16, dtype.Float64, dtype.Bool} {
			s := Memory()
			a, err := Create(ctx, s, "", Metadata{DType: d, Shape: []int{8, 12}, Chunks: []int{4, 6}, Codecs: list, Fill: pattern(d, []int{1})}, nil)
			if err == nil {
				err = a.Write(ctx, []int{0, 0}, pattern(d, []int{8, 12}))
			}
			if err != nil {
				t.Fatal(err)
			}
			keep(s)
		}
	}
	for _, m := range kinds() {
		s := Memory()
		a, err := Create(ctx, s, "", m, nil)
		if err == nil {
			err = a.Write(ctx, []int{0, 0}, pattern(m.DType, m.Shape))
		}
		if err != nil {
			t.Fatal(err)
		}
		keep(s)
	}
	for _, m := range seeds() {
		name := "zarr.json"
		if strings.Contains(m, `"zarr_format":2`) {
			name = ".zarray"
		}
		stores = append(stores, map[string][]byte{name: []byte(m), "c/0/0": []byte("0123456789abcdef"), "0.0": []byte("0123456789abcdef"), ".zattrs": []byte(`{"_FillValue": NaN}`)})
	}
	return stores
}

// A damaged store, in memory, in a zip file that is compressed, or one that opens nothing, gives elements or an error, and
// takes no more memory than its size and the largest chunk allow.
func TestMutants(t *testing.T) {
	ctx := t.Context()
	stores := mutantSeeds(t)
	most, read := 0, 0
	for n := range *cases {
		r := rand.New(rand.NewPCG(1, uint64(n)))
		from := stores[r.IntN(len(stores))]
		keys := slices.Sorted(func(yield func(string) bool) {
			for k := range from {
				if !yield(k) {
					return
				}
			}
		})
		hurt, values, size := keys[r.IntN(len(keys))], map[string][]byte{}, 0
		for _, k := range keys {
			v := from[k]
			text := strings.HasSuffix(k, "json") || strings.HasPrefix(path.Base(k), ".z")
			if k == hurt || text && r.IntN(2) == 0 {
				v = mutant(r, v, text)
			}
			values[k] = v
			size += len(v)
		}
		var s Store
		switch r.IntN(3) {
		case 0:
			s, _ = deflated(t, values)
		default:
			s = Memory()
			for k, v := range values {
				if err := s.Set(ctx, k, v); err != nil {
					t.Fatal(err)
				}
			}
			if r.IntN(2) == 0 {
				s = plainStore{s}
			}
		}
		took := allocated(func() {
			g, err := OpenGroup(ctx, s, "")
			typed(t, err)
			if err == nil {
				_, err = g.Arrays(ctx)
				typed(t, err)
			}
			a, err := Open(ctx, s, "", &Options{MaxBytes: 1 << 14, Workers: 1})
			typed(t, err)
			if err != nil {
				return
			}
			to := slices.Clone(a.Shape())
			for i := range to {
				to[i] = min(to[i], 12)
			}
			_, err = a.Slice(ctx, make([]int, len(to)), to)
			typed(t, err)
			if err == nil {
				read++
			}
		})
		limit := 1<<20 + 16*size // a chunk may need a table of gzip anew: 44 KB
		if bytes.Contains(slices.Concat(values["zarr.json"], values[".zarray"]), []byte("bz2")) {
			limit += 32 << 20 // a table of 3.6 MB for each chunk
		}
		if most = max(most, took); took > limit || t.Failed() {
			t.Fatalf("case %d took %d bytes, the store has %d: %q", n, took, size, values)
		}
	}
	t.Logf("%d cases, %d read, at most %d bytes", *cases, read, most)
	if read == 0 || read == *cases {
		t.Errorf("%d of %d were read", read, *cases)
	}
}

// repeated is a document of about n bytes.
func repeated(begin, part, end string, n int) []byte {
	return []byte(begin + strings.Repeat(part, n/len(part)) + end)
}

// Documents and chunks that inflate to much more than their entries take little memory.
func TestBombs(t *testing.T) {
	ctx := t.Context()
	plain := seeds()[0]
	member := `,"consolidated_metadata":{"kind":"inline","metadata":{`
	var members strings.Builder
	for i := range 30000 {
		fmt.Fprintf(&members, `"%d":%s,`, i, `{"zarr_format":3,"node_type":"array","shape":[],"data_type":"int8","chunk_grid":{"name":"regular","configuration":{"chunk_shape":[]}},"chunk_key_encoding":"default","fill_value":0,"codecs":["bytes"]}`)
	}
	for name, doc := range map[string][]byte{
		"spaces":     bytes.Repeat([]byte(" "), 20<<20),
		"lists":      repeated(strings.TrimSuffix(plain, "}")+`,"attributes":{"a":[`, "[],", "[]]}}", 4<<20),
		"objects":    repeated(strings.TrimSuffix(plain, "}")+`,"attributes":{"a":[`, `{"":0},`, "0]}}", 4<<20),
		"shape":      []byte(strings.Replace(plain, "[5,4]", "["+strings.Repeat("0,", 2<<20)+"4]", 1)),
		"names":      []byte(strings.Replace(plain, `"fill`, `"dimension_names":[`+strings.Repeat("null,", 1<<20)+`null],"fill`, 1)),
		"codecs":     []byte(strings.Replace(plain, `"codecs":[`, `"codecs":["bytes"`+strings.Repeat(`,"crc32c"`, 20000)+`,`, 1)),
		"deep":       []byte(strings.Replace(plain, `"codecs":[`, `"attributes":{"a":`+strings.Repeat("[", 2<<20)+strings.Repeat("]", 2<<20)+`},"codecs":[`, 1)),
		"bare words": repeated(strings.TrimSuffix(plain, "}")+`,"attributes":{"a":[`, "NaN,", "NaN]}}", 4<<20),
		"text":       repeated(strings.TrimSuffix(plain, "}")+`,"attributes":{"a":"`, `ab`, `"}}`, 8<<20),
		"escapes":    repeated(strings.TrimSuffix(plain, "}")+`,"attributes":{"a":"`, `\u0041`, `"}}`, 4<<20),
		"members":    []byte(`{"zarr_format":3,"node_type":"group"` + member + strings.TrimSuffix(members.String(), ",") + `}}}`),
	} {
		for _, version := range []string{"zarr.json", ".zarray", ".zattrs"} {
			if version != "zarr.json" && len(doc) > 5<<20 {
				continue
			}
			values := map[string][]byte{version: doc}
			if version == ".zattrs" {
				values[".zarray"] = []byte(seeds()[7])
			}
			s, size := deflated(t, values)
			took := allocated(func() {
				_, err := Open(ctx, s, "", nil)
				typed(t, err)
				g, err := OpenGroup(ctx, s, "")
				typed(t, err)
				if err == nil {
					_, err = g.Arrays(ctx)
					typed(t, err)
				}
			})
			if limit := 2 * (64<<20 + 8*size); took > limit { // two are opened
				t.Errorf("%s as %s took %d bytes of an archive of %d", name, version, took, size)
			}
		}
	}
	for _, codec := range []string{`"bytes"`, `{"name":"bytes","configuration":{"endian":"little"}},"gzip"`, strings.Replace(shards, `["bytes"]`, `[{"name":"bytes","configuration":{"endian":"little"}}]`, 1)} {
		meta := strings.Replace(some3, "CODECS", codec, 1)
		s, _ := deflated(t, map[string][]byte{"zarr.json": []byte(strings.Replace(meta, "int16", "int8", 1)), "c/0/0": make([]byte, 20<<20)})
		a, err := Open(ctx, s, "", nil)
		if codec == `"bytes"` && err != nil || err != nil {
			t.Fatal(err)
		}
		took := allocated(func() {
			if _, err := a.ReadChunk(ctx, 0, 0); !errors.Is(err, format.ErrLimit) {
				t.Errorf("%s: %v", codec, err)
			}
			if _, err := s.GetRange(ctx, "c/0/0", 10<<20, 10); err != nil {
				t.Error(err)
			}
		})
		if took > 1<<20 {
			t.Errorf("a chunk of 16 bytes with %s took %d bytes", codec, took)
		}
	}
}

// A server that sends without end, compressed or not, or too slowly, or sends elsewhere, is an error, in little memory.
func TestHostileServers(t *testing.T) {
	long, each := patience, period
	defer func() { patience, period = long, each }()
	meta := strings.Replace(seeds()[0], `[2,4]`, `[5,4]`, 1)
	endless := func(w io.Writer) {
		for b := make([]byte, 1<<16); ; {
			if _, err := w.Write(b); err != nil {
				return
			}
		}
	}
	slow := func(w http.ResponseWriter, each time.Duration, piece string) {
		for range 2000 {
			if _, err := io.WriteString(w, piece); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			time.Sleep(each)
		}
	}
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request)
		want   error
	}{
		"endless": {func(w http.ResponseWriter, r *http.Request) { endless(w) }, format.ErrLimit},
		"gzip": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			for b := make([]byte, 1<<16); ; {
				_, err := z.Write(b)
				if err = errors.Join(err, z.Flush()); err != nil { // else zeros come in 16 MiB at a time
					return
				}
			}
		}, format.ErrLimit},
		"large": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1000000000000")
			endless(w)
		}, format.ErrLimit},
		"brotli": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			io.WriteString(w, "x")
		}, errors.ErrUnsupported},
		"slow":   {func(w http.ResponseWriter, r *http.Request) { slow(w, 10*time.Millisecond, " ") }, os.ErrDeadlineExceeded},
		"silent": {func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, os.ErrDeadlineExceeded},
		"redirects": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}, nil},
		"another scheme": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://127.0.0.1:1"+r.URL.Path, http.StatusFound)
		}, nil},
	} {
		for _, key := range []string{"zarr.json", "c/0/0"} {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/"+key {
					c.answer(w, r)
				} else {
					io.WriteString(w, meta)
				}
			}))
			s, err := HTTP(server.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			if patience, period = long, each; c.want == os.ErrDeadlineExceeded {
				patience, period = 500*time.Millisecond, 100*time.Millisecond
			}
			took := allocated(func() {
				var a *Array
				if a, err = Open(t.Context(), s, "", nil); err == nil {
					_, err = a.Read(t.Context())
				}
			})
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%s %s: %v, want %v", name, key, err, c.want)
			}
			typed(t, err)
			if took > 64<<20 {
				t.Errorf("%s %s took %d bytes", name, key, took)
			}
			server.CloseClientConnections()
			server.Close()
		}
	}
	patience, period = long, each
	// One that is slow, but not too slow, is waited for.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		slow(w, time.Microsecond, strings.Repeat("x", 2000))
	}))
	defer server.Close()
	s, err := HTTP(server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := s.Get(context.Background(), "k", 1<<30); err != nil || len(b) != 2000*2000 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}
