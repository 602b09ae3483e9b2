// Package servertest tries package s3 on a server: Versity S3 Gateway (github.com/versity/versitygw, Apache-2.0), which checks signatures and conditions. The tests
// build it with the Go command, as the module's tool, and start it on this machine over a folder of its own. To compare the rate of reading with that of a folder:
//
//	GOWORK=off go test -bench . -run none -count 5
package servertest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/format/zarr/s3"
	"github.com/ashlar-go/ashlar/tensor"
)

const key, secret = "AKIDEXAMPLE", "the secret of the key"

var endpoint string

// TestMain starts the server, and ends it.
func TestMain(m *testing.M) {
	code, err := serve(m)
	if err != nil {
		log.Fatal(err)
	}
	os.Exit(code)
}

func serve(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "ashlar-s3-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "versitygw")
	if out, err := exec.Command("go", "build", "-o", program, "github.com/versity/versitygw/cmd/versitygw").CombinedOutput(); err != nil {
		return 0, fmt.Errorf("go build: %w\n%s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	address := l.Addr().String()
	l.Close()
	if err := os.MkdirAll(filepath.Join(dir, "root", "bucket"), 0o777); err != nil {
		return 0, err
	}
	server := exec.Command(program, "--quiet", "--port", address, "--region", "test-1", "posix", "--sidecar", filepath.Join(dir, "meta"), filepath.Join(dir, "root"))
	if err := os.Mkdir(filepath.Join(dir, "meta"), 0o777); err != nil {
		return 0, err
	}
	server.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+key, "ROOT_SECRET_KEY="+secret)
	var text bytes.Buffer
	server.Stdout, server.Stderr = &text, &text
	if err := server.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	defer server.Process.Kill()
	endpoint = "http://" + address
	for {
		if r, err := http.Get(endpoint); err == nil {
			r.Body.Close()
			return m.Run(), nil
		}
		select {
		case err := <-ended:
			return 0, fmt.Errorf("the server ended: %w\n%s", err, &text)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func config(prefix string) s3.Config {
	return s3.Config{Endpoint: endpoint, Region: "test-1", Bucket: "bucket", Prefix: prefix, Key: key, Secret: secret}
}

func open(t testing.TB, c s3.Config) *s3.Store {
	t.Helper()
	s, err := s3.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Values come back as they were, whole and in parts, by keys with any characters.
func TestValues(t *testing.T) {
	ctx, s := t.Context(), open(t, config("values/in here"))
	value := []byte("0123456789")
	keys := []string{"a/b c", "a/%20", "a/+(1)!*'$&,:;=@?#", "a/größe", "zarr.json", "a/~.-_"}
	for _, k := range keys {
		if err := s.Set(ctx, k, value); err != nil {
			t.Fatal(k, err)
		}
		if b, err := s.Get(ctx, k, 10); err != nil || !bytes.Equal(b, value) {
			t.Errorf("%s: %q %v", k, b, err)
		}
		if n, err := s.Size(ctx, k); n != 10 || err != nil {
			t.Errorf("%s: %d %v", k, n, err)
		}
		for _, r := range [][2]int64{{0, 10}, {3, 4}, {-2, 2}, {9, 1}, {-10, 10}, {5, 0}} {
			want := value[(r[0]+10)%10:][:r[1]]
			if b, err := s.GetRange(ctx, k, r[0], r[1]); err != nil || !bytes.Equal(b, want) {
				t.Errorf("%s %v: %q %v", k, r, b, err)
			}
		}
		for _, r := range [][2]int64{{0, 11}, {10, 1}, {-11, 11}, {1 << 40, 1}} {
			if b, err := s.GetRange(ctx, k, r[0], r[1]); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s %v: %q %v", k, r, b, err)
			}
		}
		if _, err := s.Get(ctx, k, 9); !errors.Is(err, format.ErrLimit) {
			t.Errorf("%s: %v", k, err)
		}
	}
	slices.Sort(keys)
	if list, err := s.List(ctx, ""); err != nil || !slices.Equal(list, keys) {
		t.Errorf("%q, want %q: %v", list, keys, err)
	}
	for _, k := range keys {
		if err := s.Delete(ctx, k); err != nil {
			t.Error(err)
		}
		if err := s.Delete(ctx, k); err != nil {
			t.Errorf("again: %v", err)
		}
		if _, err := s.Get(ctx, k, 10); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		if _, err := s.Size(ctx, k); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
}

// A list of more than a page has each key once.
func TestPages(t *testing.T) {
	ctx, s := t.Context(), open(t, config("pages"))
	var want []string
	for i := range 1100 {
		k := fmt.Sprintf("c/%04d", i)
		if err := s.Set(ctx, k, nil); err != nil {
			t.Fatal(err)
		}
		want = append(want, k)
	}
	if list, err := s.List(ctx, "c/"); err != nil || !slices.Equal(list, want) {
		t.Errorf("%d keys of %d, %v", len(list), len(want), err)
	}
	if list, err := s.List(ctx, "c/00"); err != nil || len(list) != 100 {
		t.Errorf("%d keys of 100, %v", len(list), err)
	}
}

// Of those that swap a value at the same time one does.
func TestSwap(t *testing.T) {
	ctx, s := t.Context(), open(t, config("swap"))
	first, err := s.Swap(ctx, "k", []byte("1"), "")
	if err != nil {
		t.Fatal(err)
	}
	if tag, err := s.ETag(ctx, "k"); tag != first || err != nil {
		t.Errorf("%s, not %s: %v", tag, first, err)
	}
	if _, err := s.Swap(ctx, "k", []byte("2"), ""); !errors.Is(err, fs.ErrExist) {
		t.Errorf("it is there: %v", err)
	}
	second, err := s.Swap(ctx, "k", []byte("3"), first)
	if err != nil || second == first {
		t.Error(first, second, err)
	}
	if _, err := s.Swap(ctx, "k", []byte("4"), first); !errors.Is(err, fs.ErrExist) {
		t.Errorf("it was changed: %v", err)
	}
	if b, err := s.Get(ctx, "k", 1); string(b) != "3" || err != nil {
		t.Errorf("%q %v", b, err)
	}
	if _, err := s.Swap(ctx, "none", nil, first); err == nil {
		t.Error("what isn't there is swapped")
	}
}

// Arrays, groups and locks are as in a folder; a State changes with the array.
func TestArrays(t *testing.T) {
	ctx, s := t.Context(), open(t, config("arrays"))
	release, err := zarr.Lock(ctx, s, "x", "a test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := zarr.Lock(ctx, s, "x", "another"); !errors.Is(err, zarr.ErrLocked) {
		t.Error(err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	for name, m := range map[string]zarr.Metadata{"g/shards": {Chunks: []int{20, 30}, Inner: []int{5, 10}}, "g/chunks": {Chunks: []int{7, 9}}, "g/two": {Version: 2, Chunks: []int{50, 60}}} {
		m.DType, m.Shape = dtype.Int32, []int{50, 60}
		a, err := zarr.Create(ctx, s, name, m, nil)
		if err != nil {
			t.Fatal(err)
		}
		before, _ := a.State(ctx)
		x, _ := tensor.Make(dtype.Int32, 50, 60)
		b, _ := tensor.Bytes(x)
		for i := range b {
			b[i] = byte(rand.IntN(256))
		}
		if err := a.Write(ctx, []int{0, 0}, x); err != nil {
			t.Fatal(err)
		}
		got, err := a.Read(ctx)
		c, _ := tensor.Bytes(got)
		if err != nil || !bytes.Equal(b, c) {
			t.Errorf("%s: other elements, %v", name, err)
		}
		if after, err := a.State(ctx); err != nil || after == before {
			t.Errorf("%s: %s %v", name, after, err)
		}
	}
	g, err := zarr.OpenGroup(ctx, s, "g")
	if err != nil {
		t.Fatal(err)
	}
	if names, err := g.Arrays(ctx); err != nil || fmt.Sprint(names) != "[chunks shards two]" {
		t.Error(names, err)
	}
	if err := zarr.Remove(ctx, s, "g"); err != nil {
		t.Error(err)
	}
	if list, err := s.List(ctx, "g/"); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
}

// The command converts to a bucket and back. It never replaces a value, and a failure leaves nothing there.
func TestConvert(t *testing.T) {
	dir := t.TempDir()
	ashlar := filepath.Join(dir, "ashlar")
	build := exec.Command("go", "build", "-o", ashlar, "./cmd/ashlar")
	build.Dir = filepath.Join("..", "..", "..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(ok bool, want string, args ...string) {
		t.Helper()
		c := exec.Command(ashlar, args...)
		c.Env = append(os.Environ(), "AWS_ENDPOINT_URL="+endpoint, "AWS_REGION=test-1", "AWS_ACCESS_KEY_ID="+key, "AWS_SECRET_ACCESS_KEY="+secret)
		out, err := c.CombinedOutput()
		if (err == nil) != ok || !strings.Contains(string(out), want) {
			t.Errorf("%q: %v, want %q: %s", args, err, want, out)
		}
	}
	root := filepath.Join(build.Dir, "testdata")
	model, digits := filepath.Join(root, "digits.onnx"), filepath.Join(root, "digits-test.npy")
	run(true, "", "convert", model, "s3://bucket/convert/w.zarr")
	run(true, "8 tensors, the same", "diff", "s3://bucket/convert/w.zarr", model)
	run(true, "", "convert", digits, "s3://bucket/convert/x", "--chunks", "100,8,3")
	run(true, "chunks [100,8,3], zstd, version 3", "info", "s3://bucket/convert/x")
	run(true, "the same", "diff", "s3://bucket/convert/x", digits)
	run(true, "", "convert", "s3://bucket/convert/x", filepath.Join(dir, "y.npy"))
	run(true, "the same", "diff", digits, filepath.Join(dir, "y.npy"))
	run(false, "never replaced", "convert", model, "s3://bucket/convert/x")
	run(false, "never replaced", "convert", model, "s3://bucket/convert")
	run(true, "the same", "diff", "s3://bucket/convert/x", digits)
	run(false, "--chunks has 1 extents", "convert", digits, "s3://bucket/convert/z.zarr", "--chunks", "100")
	run(false, "", "convert", model, "s3://elsewhere/x")
	// An array that is marked, as a run that was killed leaves it, is refused.
	s := open(t, config("convert/killed"))
	if _, err := zarr.Create(t.Context(), s, "a", zarr.Metadata{DType: dtype.Int8, Shape: []int{1}, Chunks: []int{1}, Unfinished: "ashlar convert"}, nil); err != nil {
		t.Fatal(err)
	}
	run(false, "isn't finished", "show", "s3://bucket/convert/killed#a")
	ctx, stop := context.WithCancel(t.Context())
	x := tensor.Full[int8](1, 10, 10).Any()
	failing := counting{Store: open(t, config("convert/failed")), left: 40, stop: stop}
	if err := zarr.Put(ctx, &failing, []format.Array{{Name: "a", Tensor: x}}, []int{1, 1}, "a test"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if list, err := failing.List(t.Context(), ""); err != nil || len(list) > 0 {
		t.Errorf("%q are left, %v", list, err)
	}
}

// counting cancels after some values.
type counting struct {
	zarr.Store
	mu   sync.Mutex
	left int
	stop func()
}

func (c *counting) Set(ctx context.Context, key string, value []byte) error {
	c.mu.Lock()
	if c.left--; c.left == 0 {
		c.stop()
	}
	c.mu.Unlock()
	return c.Store.Set(ctx, key, value)
}

// Logins that the server refuses, and buckets that aren't there.
func TestRefused(t *testing.T) {
	c := config("")
	c.Secret = "another secret"
	for name, s := range map[string]*s3.Store{"secret": open(t, c), "anonymous": open(t, s3.Config{Endpoint: endpoint, Bucket: "bucket"})} {
		if _, err := s.Get(t.Context(), "k", 10); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.Set(t.Context(), "k", nil); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c = config("")
	c.Bucket = "elsewhere"
	if _, err := open(t, c).List(t.Context(), ""); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	c = config("")
	c.Region = "other-1"
	if _, err := open(t, c).List(t.Context(), ""); err == nil {
		t.Error("another region is accepted")
	}
}

// counter counts requests.
type counter struct {
	http.RoundTripper
	n atomic.Int64
}

func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n.Add(1)
	return c.RoundTripper.RoundTrip(r)
}

// BenchmarkRead reads 64 MiB in shards of 16 MiB, each of 64 inner chunks that aren't compressed, from the server and from a folder.
func BenchmarkRead(b *testing.B) {
	ctx := context.Background()
	count := &counter{RoundTripper: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64}}
	c := config("bench")
	c.Transport = count
	folder, err := zarr.Dir(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	const shards, n = 4, 1 << 24
	x, _ := tensor.Make(dtype.Uint8, shards*n)
	raw, _ := tensor.Bytes(x)
	for i := range raw {
		raw[i] = byte(i * i >> 8)
	}
	for name, s := range map[string]zarr.Store{"s3": open(b, c), "folder": folder} {
		zarr.Remove(ctx, s, "x")
		a, err := zarr.Create(ctx, s, "x", zarr.Metadata{DType: dtype.Uint8, Shape: []int{shards * n}, Chunks: []int{n}, Inner: []int{n / 64}, Codecs: []zarr.Codec{zarr.Bytes(binary.LittleEndian)}}, nil)
		if err == nil {
			err = a.Write(ctx, []int{0}, x)
		}
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			count.n.Store(0)
			into, _ := tensor.Make(dtype.Uint8, shards*n)
			for b.Loop() {
				if err := a.ReadInto(ctx, []int{0}, into); err != nil {
					b.Fatal(err)
				}
			}
			if name == "s3" {
				b.ReportMetric(float64(count.n.Load())/float64(b.N*shards), "requests/shard")
			}
		})
	}
}
