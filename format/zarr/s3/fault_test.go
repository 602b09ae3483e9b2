package s3

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/internal/ended"
	"github.com/ashlar-go/ashlar/tensor"
)

var (
	cases = flag.Int("cases", 1000, "how many reads TestFaults makes")
	seed  = flag.Uint64("seed", 3, "of these reads")
)

// Stores that read, and the server's ways to tell versions.
const (
	overHTTP = iota
	overS3
	program // a store of a program: one that hides versions
	pieces  // kerchunk's references to parts of one file
	stores
)
const (
	strongTag = iota
	weakTag
	byTime
	untold
	tellings
)

// What the server does with a request, from the script.
const (
	busy = iota + 8 // below: it answers
	slowDown
	failed
	badGateway
	late
	reset
	broken
	short
	temporary // those below pass
	shifted   = iota + 7
	otherTag
	replaceBefore
	replaceAfter
	precondition
	unsatisfiable
	compressed
	slow
	silent
	whole
	moved
	comeBack
	hidden      // the answer tells neither version nor size, once: two such answers could be of two values
	otherSize   // the range is one of a larger value
	wholeAsPart // the range has the bytes of the whole value
	faults
)

const extent, chunk, inner = 32, 16, 4

// A state is a value that a key of the server has or had.
type state struct {
	b       []byte // nil: absent
	elems   []int16
	changed time.Time
	tag     int
}

// A world is a server of one array. Its values are replaced and its answers fail as a script says.
type world struct {
	t        testing.TB
	mu       sync.Mutex
	telling  int
	refuses  int  // what the server answers to a range from the end: a status, 0 for the range, 1 for another range
	star     bool // the server doesn't tell the size in a range
	ignores  bool // the server knows no conditions
	once     bool // values are replaced once, by one with another index
	hid      bool // an answer was hidden
	script   []byte
	requests int
	made     int
	past     map[string][]state // by key: the last one is current
	next     map[string][]state // the values that replace it, in turn
}

func (w *world) fault() byte {
	if w.requests++; w.requests > len(w.script) {
		return 0
	}
	return w.script[w.requests-1] % faults
}

// replace gives the next values to all keys that have some.
func (w *world) replace() {
	for key, next := range w.next {
		if len(next) == 0 || w.once && len(w.past[key]) > 1 {
			continue
		}
		s := next[0]
		w.made++
		s.changed, s.tag = time.Now(), w.made
		w.past[key], w.next[key] = append(w.past[key], s), append(next[1:], next[0])
	}
}

// RoundTrip implements http.RoundTripper.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	f := w.fault()
	if f == replaceBefore {
		w.replace()
	}
	a := w.answer(r, f)
	if f == replaceAfter {
		w.replace()
	}
	w.mu.Unlock()
	switch f {
	case slow:
		time.Sleep(50 * time.Second)
	case silent:
		time.Sleep(2 * time.Minute)
	case reset:
		return nil, &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return a, nil
}

// failingBody ends with an error.
type failingBody struct{ io.Reader }

func (f failingBody) Read(b []byte) (int, error) {
	n, err := f.Reader.Read(b)
	if err == io.EOF {
		err = syscall.ECONNRESET
	}
	return n, err
}

func (w *world) answer(r *http.Request, f byte) *http.Response {
	a := &http.Response{StatusCode: 200, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Body: http.NoBody, Request: r}
	a.Header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	switch f {
	case busy, slowDown, failed, badGateway, late, precondition, unsatisfiable, moved, comeBack:
		a.StatusCode = map[byte]int{busy: 503, slowDown: 429, failed: 500, badGateway: 502, late: 504, precondition: 412, unsatisfiable: 416, moved: 307, comeBack: 503}[f]
		a.Header.Set("Retry-After", map[byte]string{slowDown: "3", comeBack: "7200", failed: a.Header.Get("Date"), late: "soon"}[f])
		if f == moved {
			a.Header.Set("Location", "https://elsewhere.test/x?signature="+signature)
		}
		return a
	}
	if r.URL.Host != "bucket.test" {
		a.StatusCode = 403
		return a
	}
	key := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/bucket"), "/")
	past := w.past[key]
	if len(past) == 0 || past[len(past)-1].b == nil {
		a.StatusCode = 404
		return a
	}
	v := past[len(past)-1]
	tag := v.tag
	if f == otherTag {
		w.made++
		tag = w.made
	}
	hides := f == hidden && !w.hid && !(w.star && w.telling == byTime) // a new value is hidden, too, while its time is the answer's
	w.hid = w.hid || hides
	switch {
	case hides:
	case w.telling == strongTag:
		a.Header.Set("ETag", fmt.Sprintf(`"%d"`, tag))
	case w.telling == weakTag:
		a.Header.Set("ETag", fmt.Sprintf(`W/"%d"`, tag))
	case w.telling == byTime:
		at := v.changed
		if f == otherTag {
			at = at.Add(-time.Minute)
		}
		a.Header.Set("Last-Modified", at.UTC().Format(http.TimeFormat))
	}
	if !w.ignores {
		since, err := http.ParseTime(r.Header.Get("If-Unmodified-Since"))
		if m := r.Header.Get("If-Match"); m != "" && m != a.Header.Get("ETag") || err == nil && v.changed.Truncate(time.Second).After(since) {
			a.StatusCode = 412
			return a
		}
	}
	body := v.b
	var first, last int64
	switch span := r.Header.Get("Range"); {
	case span == "" || f == whole:
	case strings.HasPrefix(span, "bytes=-") && w.refuses > 1:
		a.StatusCode = w.refuses
		return a
	default:
		a.StatusCode = 206
		size := int64(len(body))
		if _, err := fmt.Sscanf(span, "bytes=%d-%d", &first, &last); err != nil {
			fmt.Sscanf(span, "bytes=%d", &first)
			if first, last = max(0, size+first), size-1; w.refuses == 1 {
				first, last = 0, size-first
			}
		}
		if last = min(last, size-1); first > last {
			a.StatusCode = 416
			return a
		}
		if f != wholeAsPart {
			body = body[first : last+1]
		}
		if f == otherSize {
			size++
		}
		total := fmt.Sprint(size)
		if w.star && f != otherSize || hides {
			total = "*"
		}
		if f == shifted {
			first, last = first+1, last+1
			total = "*"
		}
		a.Header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%s", first, last, total))
	}
	if a.ContentLength = int64(len(body)); hides && a.StatusCode == 200 {
		a.ContentLength = -1
	}
	if r.Method == http.MethodHead {
		return a
	}
	switch f {
	case compressed:
		a.Header.Set("Content-Encoding", "gzip")
	case broken:
		a.Body = io.NopCloser(failingBody{bytes.NewReader(body[:len(body)/2])})
	case short:
		a.Body = io.NopCloser(bytes.NewReader(body[:len(body)/2]))
	default:
		a.Body = io.NopCloser(bytes.NewReader(body))
	}
	return a
}

// worlds are the values of arrays by their kind: the first ones, and those that replace them.
var worlds = sync.OnceValue(func() (all []map[string][]state) {
	for kind := range 3 {
		m := zarr.Metadata{DType: dtype.Int16, Shape: []int{extent}, Chunks: []int{chunk}, Inner: []int{inner}, Codecs: []zarr.Codec{zarr.Bytes(binary.LittleEndian)}, IndexAtStart: kind == 1}
		if kind == 2 {
			m.Inner = nil
		}
		values := map[string][]state{}
		for version := range 4 {
			s, ctx := zarr.Memory(), context.Background()
			a, err := zarr.Create(ctx, s, "", m, nil)
			x := make([]int16, extent)
			for i := range x {
				switch x[i] = int16(1000*version + i + 1); {
				case version == 0 && i%chunk < inner, version == 2 && i%chunk >= chunk-inner: // absent inner chunks make other indices; 1 and 3 have the same
					x[i] = 0
				}
			}
			if err == nil {
				err = a.Write(ctx, []int{0}, tensor.FromSlice(x, extent).Any())
			}
			if err != nil {
				panic(err)
			}
			for i := range extent / chunk {
				key := a.ChunkKey(i)
				b, err := s.Get(ctx, key, 1<<20)
				if err != nil {
					panic(err)
				}
				values[key] = append(values[key], state{b: b, elems: x[i*chunk : (i+1)*chunk]})
			}
			if values["zarr.json"] == nil {
				b, _ := s.Get(ctx, "zarr.json", 1<<20)
				values["zarr.json"] = []state{{b: b}}
			}
		}
		for key, list := range values {
			if key != "zarr.json" {
				values[key] = append(list, state{elems: make([]int16, chunk)})
			}
		}
		if kind == 2 { // of each version a file, with the chunks behind a header of its own length
			for v := range 4 {
				file := make([]byte, 3+4*v)
				for i := range extent / chunk {
					file = append(file, values[fmt.Sprint("c/", i)][v].b...)
				}
				values["file"] = append(values["file"], state{b: file})
			}
		}
		all = append(all, values)
	}
	return all
})

// play reads a part of an array from a world, all of which the bytes describe. The result is of one of the values that each chunk had
// meanwhile, or an error. It returns the number of requests, and whether there was an error.
func play(t testing.TB, data []byte) (requests int, failed bool) {
	var set [9]byte
	n := copy(set[:], data)
	store, kind := int(set[0]%stores), int(set[1]%3)
	w := &world{t: t, telling: int(set[2] % tellings), refuses: []int{0, 0, 1, 400, 416, 501}[set[3]%6], star: set[4]&1 != 0, ignores: set[4]&2 != 0, script: data[n:], past: map[string][]state{}, next: map[string][]state{}}
	w.once = w.telling == untold || w.telling == byTime || store == program
	if store == pieces {
		kind, w.star = 2, w.star && w.telling != untold
	}
	for key, list := range worlds()[kind] {
		list = slices.Clone(list)
		i := int(set[5]) % max(1, len(list)-1) // absent at first is another value's part
		if w.once && i%2 == 1 && len(list) > 1 {
			list[(i+2)%4] = list[i] // one with the same index isn't noticed without versions
		}
		first := list[i]
		first.changed = time.Now().Add(-time.Hour)
		w.past[key], w.next[key] = []state{first}, slices.Concat(list[i+1:], list[:i])
		if w.once && len(w.next[key]) > 0 && first.elems != nil && slices.Equal(w.next[key][0].elems, first.elems) {
			w.next[key] = w.next[key][1:]
		}
	}
	from := int(set[6]) % extent
	to := from + 1 + int(set[7])%(extent-from)
	s := w.open(store)
	var got tensor.Any
	ctx := t.Context()
	if set[4]&12 == 12 {
		ctx = ended.After(int(set[4] >> 2))
	}
	a, err := zarr.Open(ctx, s, "", &zarr.Options{Workers: 1 + int(set[8]%4)})
	if err == nil {
		got, err = a.Slice(ctx, []int{from}, []int{to})
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.requests > 900 {
		t.Errorf("%x: %d requests", data, w.requests)
	}
	if err != nil {
		if strings.Contains(err.Error(), signature) {
			t.Errorf("%x: an error with a secret: %v", data, err)
		}
		if gentle(w.script) && set[8]%4 == 0 && ctx == t.Context() {
			t.Errorf("%x: failures that pass: %v", data, err)
		}
		return w.requests, true
	}
	raw, _ := tensor.Bytes(got)
	x := make([]int16, to-from)
	binary.Decode(raw, binary.LittleEndian, x)
	if store == pieces {
		if !slices.ContainsFunc(w.past["file"], func(v state) bool { return bytes.HasPrefix(v.b[min(len(v.b), 3+2*from):], raw) }) {
			t.Errorf("%x: %v to %v: %v is of no file", data, from, to, x)
		}
		return w.requests, false
	}
	for c := from / chunk; c*chunk < to; c++ {
		lo, hi := max(from, c*chunk), min(to, (c+1)*chunk)
		past := w.past[fmt.Sprint("c/", c)]
		if !slices.ContainsFunc(past, func(v state) bool { return slices.Equal(v.elems[lo-c*chunk:hi-c*chunk], x[lo-from:hi-from]) }) {
			t.Errorf("%x: store %d, kind %d, telling %d: chunk %d, %d to %d: %v; it was %v", data, store, kind, w.telling, c, lo, hi, x[lo-from:hi-from], past)
		}
	}
	return w.requests, false
}

// gentle reports whether a script has failures that pass, and at most three in a row.
func gentle(script []byte) bool {
	row := 0
	for _, f := range script {
		if f %= faults; f >= temporary {
			return false
		}
		if row++; f < busy {
			row = 0
		}
		if row > 3 {
			return false
		}
	}
	return true
}

func (w *world) open(store int) zarr.Store {
	const base = "http://bucket.test"
	var s zarr.Store
	var err error
	switch store {
	case overS3:
		s, err = New(Config{Endpoint: base, Bucket: "bucket", Key: "k", Secret: secret, Transport: w})
	case pieces:
		document := fmt.Sprintf(`{"zarr.json":%s,"c/0":["%s/file",3,%d],"c/1":["%s/file",%d,%d]}`, w.past["zarr.json"][0].b, base, 2*chunk, base, 3+2*chunk, 2*chunk)
		s, err = zarr.References([]byte(document), &zarr.ReferenceOptions{Hosts: []string{"bucket.test"}, Client: &http.Client{Transport: w}})
	default:
		if s, err = zarr.HTTP(base, &http.Client{Transport: w}); store == program {
			s = struct{ zarr.Store }{s}
		}
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// Whatever each request meets, a read gives for each chunk one of the values that it had, or an error, after few requests. Failures that
// pass give no error.
func TestFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		most, errs := 0, 0
		for n := range *cases {
			r := rand.New(rand.NewPCG(*seed, uint64(n)))
			data := make([]byte, 9+r.IntN(30))
			calm := byte(r.IntN(8)) // of eight requests, how many are answered as they should be
			for i := range data {
				if data[i] = byte(r.Uint32()); i >= 9 && byte(r.IntN(8)) < calm {
					data[i] = 0
				}
				if i >= 9 && calm%3 == 0 {
					data[i] %= temporary
				}
			}
			requests, failed := play(t, data)
			if most = max(most, requests); failed {
				errs++
			}
			if t.Failed() {
				t.Fatalf("case %d", n)
			}
		}
		t.Logf("%d reads, %d with an error, at most %d requests", *cases, errs, most)
		if errs == 0 || errs == *cases {
			t.Errorf("%d errors", errs)
		}
	})
}

// FuzzFaults is TestFaults with the worlds and scripts of a fuzzer.
func FuzzFaults(f *testing.F) {
	f.Add([]byte{overHTTP, 0, strongTag, 0, 0, 0, 0, 31, 0, 0, replaceAfter})
	f.Add([]byte{program, 1, untold, 3, 1, 1, 3, 20, 0, 0, replaceAfter})
	f.Add([]byte{pieces, 2, byTime, 0, 0, 0, 0, 31, 0, replaceAfter, busy})
	f.Add([]byte{pieces, 2, byTime, 0, 3, 0, 0, 31, 1, slow, replaceBefore}) // two first reads at once, of which one has no version
	f.Add([]byte{pieces, 2, byTime, 0, 3, 0, 0, 31, 1, replaceAfter, slow})
	f.Add([]byte{pieces, 2, untold, 0, 2, 0, 0, 31, 1, hidden, replaceBefore})
	f.Add([]byte{overHTTP, 1, weakTag, 0, 0, 1, 0, 31, 0, hidden, replaceAfter})
	f.Fuzz(func(t *testing.T, data []byte) {
		synctest.Test(t, func(t *testing.T) { play(t, data) })
	})
}
