package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// image is a request to the digits model for n pictures, numbered from first.
func image(first, n int) string {
	var data []string
	for i := range n {
		r := rand.New(rand.NewPCG(uint64(first+i), 1))
		for range 64 {
			data = append(data, strconv.FormatFloat(float64(r.IntN(17))/16, 'g', -1, 32))
		}
	}
	return fmt.Sprintf(`{"id":"%d","inputs":[{"name":"image","datatype":"FP32","shape":[%d,1,8,8],"data":[%s]}]}`, first, n, strings.Join(data, ","))
}

// goroutines waits until there are at most n, and reports what is left otherwise.
func goroutines(t *testing.T, n int) {
	t.Helper()
	http.DefaultClient.CloseIdleConnections()
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > n; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), n, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// clients is an HTTP client whose connections go with the test.
func clients(t testing.TB) *http.Client {
	tr := &http.Transport{MaxIdleConnsPerHost: 2048}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// A shared run gives each request the bits that it would get alone, whatever comes together.
func TestBatchSameBits(t *testing.T) {
	for _, model := range []string{"digits", "two"} {
		make := func() Model { return digits(t) }
		body := image
		if model == "two" { // two inputs, another free axis, two types
			make = func() Model {
				return build(t, "two", func(b *onnx.Builder) {
					x, k := b.Input("x", dtype.Float32, "N", "len"), b.Input("k", dtype.Int64, "N")
					column := b.Node("Unsqueeze", []string{b.Node("Cast", []string{k}, onnx.Int("to", 1)), b.Weight("axis", tensor.FromSlice([]int64{1}, 1).Any())})
					b.Output(b.Rename(b.Node("Softmax", []string{b.Node("Mul", []string{x, column})}, onnx.Int("axis", 1)), "y"), dtype.Float32, "N", "len")
					b.Output(b.Rename(b.Node("Add", []string{k, k}), "twice"), dtype.Int64, "N")
				})
			}
			body = func(first, n int) string {
				r, wide := rand.New(rand.NewPCG(uint64(first), 2)), 1+first%3
				var x, k []string
				for range n {
					k = append(k, strconv.Itoa(r.IntN(5)))
					for range wide {
						x = append(x, strconv.FormatFloat(r.NormFloat64(), 'g', 6, 32))
					}
				}
				return fmt.Sprintf(`{"id":"%d","inputs":[{"name":"k","datatype":"INT64","shape":[%d],"data":[%s]},{"name":"x","datatype":"FP32","shape":[%d,%d],"data":[%s]}]}`,
					first, n, strings.Join(k, ","), n, wide, strings.Join(x, ","))
			}
		}
		alone, shared := server(t, Options{}, make()), server(t, Options{BatchDelay: 5 * time.Millisecond, MaxBatch: 16}, make())
		if shared.models[model].batches == nil {
			t.Fatalf("%s runs alone", model)
		}
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				rows := 1 + i%7
				if i%50 == 0 {
					rows = 20 // too many to share
				}
				want, got := infer(alone, model, body(i, rows)), infer(shared, model, body(i, rows))
				if want.Code != 200 || got.Code != 200 || !bytes.Equal(want.Body.Bytes(), got.Body.Bytes()) {
					t.Errorf("%s %d: alone %d %s\nshared %d %s", model, i, want.Code, want.Body, got.Code, got.Body)
				}
			})
		}
		wg.Wait()
		settle(t, shared)
		m := shared.models[model]
		if m.runs.n == 0 || m.rows.sum < 200 || m.rows.n >= 150 {
			t.Errorf("%s: %d runs of %v requests: none was shared", model, m.rows.n, m.rows.sum)
		}
		if len(m.batches.open) != 0 {
			t.Errorf("%s: %d batches are open", model, len(m.batches.open))
		}
	}
}

// Models that can't share runs don't, and one that must not is refused.
func TestBatchRefuses(t *testing.T) {
	o := Options{BatchDelay: time.Millisecond}
	s := server(t, o, mymodel(t), echo(t, dtype.Float32))
	for _, m := range s.models {
		if m.batches != nil {
			t.Errorf("%s shares runs", m.name)
		}
	}
	centred := build(t, "centred", func(b *onnx.Builder) {
		x := b.Input("x", dtype.Float32, "N", 3)
		b.Output(b.Rename(b.Node("Sub", []string{x, b.Node("ReduceMean", []string{x}, onnx.Ints("axes", 0))}), "y"), dtype.Float32, "N", 3)
	})
	if _, err := New(o, centred); !errors.Is(err, onnx.ErrUnsupported) || !strings.Contains(err.Error(), "rows depend on each other") {
		t.Errorf("a model whose rows depend on each other: %v", err)
	}
}

func quotient(a, b int) string {
	return fmt.Sprintf(`{"inputs":[{"name":"a","datatype":"INT32","shape":[1],"data":[%d]},{"name":"b","datatype":"INT32","shape":[1],"data":[%d]}]}`, a, b)
}

// A request that makes a shared run fail gets its error; the others get their results.
func TestBatchFails(t *testing.T) {
	s := server(t, Options{BatchDelay: 20 * time.Millisecond, MaxBatch: 8}, dividing(t))
	if s.models["dividing"].batches == nil {
		t.Fatal("it runs alone")
	}
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			w := infer(s, "dividing", quotient(100*i, i%5))
			switch {
			case i%5 == 0 && (w.Code != 500 || !strings.Contains(errorOf(t, w.Body.Bytes()), "Div")):
				t.Errorf("%d: %d %s, want an error", i, w.Code, w.Body)
			case i%5 != 0 && (w.Code != 200 || !strings.Contains(w.Body.String(), fmt.Sprintf(`"data":[%d]`, 100*i/(i%5)))):
				t.Errorf("%d: %d %s", i, w.Code, w.Body)
			}
		})
	}
	wg.Wait()
	settle(t, s)
}

// Requests that end while they wait leave a batch, the last one ends it.
func TestBatchLeft(t *testing.T) {
	s := server(t, Options{BatchDelay: time.Hour, MaxBatch: 8, Timeout: 50 * time.Millisecond}, dividing(t))
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			if w := infer(s, "dividing", quotient(1, 1)); w.Code != 504 {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	wg.Wait()
	settle(t, s)
	if n := len(s.models["dividing"].batches.open); n != 0 {
		t.Errorf("%d batches are open", n)
	}
}

// A thousand clients at once: with a queue for all each gets its own answer, with a short one an answer or 503.
func TestThousandClients(t *testing.T) {
	before := runtime.NumGoroutine()
	ways := []Options{{}, {BatchDelay: time.Millisecond}, {MaxQueue: 3, MaxRuns: 1}, {MaxQueue: -1, MaxRuns: 1}, {MaxQueue: 3, MaxRuns: 1, BatchDelay: time.Millisecond, MaxBatch: 2}}
	if testing.Short() {
		ways = ways[1:3]
	}
	for _, o := range ways {
		func() {
			s := server(t, o, digits(t))
			web := httptest.NewServer(s)
			defer web.Close()
			c := clients(t)
			defer c.CloseIdleConnections()
			want := infer(server(t, Options{}, digits(t)), "digits", image(7, 1)).Body.Bytes()
			var served, refused atomic.Int64
			var wg sync.WaitGroup
			for range 1000 {
				wg.Go(func() {
					r, err := c.Post(web.URL+"/v2/models/digits/infer", "application/json", strings.NewReader(image(7, 1)))
					if err != nil {
						t.Error(err)
						return
					}
					defer r.Body.Close()
					b, err := io.ReadAll(r.Body)
					switch {
					case err == nil && r.StatusCode == 200 && bytes.Equal(b, want):
						served.Add(1)
					case err == nil && r.StatusCode == 503 && r.Header.Get("Retry-After") == "1" && o.MaxQueue != 0:
						refused.Add(1)
					default:
						t.Errorf("%+v: %v %d %s", o, err, r.StatusCode, b)
					}
				})
			}
			wg.Wait()
			settle(t, s)
			if n := served.Load(); n == 0 || n+refused.Load() != 1000 {
				t.Errorf("%+v: %d served, %d refused", o, n, refused.Load())
			}
		}()
	}
	goroutines(t, before)
}

// One that is told to stop under load: each request gets its answer, an error, or no connection; nothing goes on after.
func TestStopUnderLoad(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, o := range []Options{{}, {BatchDelay: time.Millisecond, MaxBatch: 8}} {
		o.MaxRuns = 2
		s := server(t, o, digits(t))
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		over := make(chan error, 1)
		go func() { over <- s.Serve(ctx, l) }()
		c := clients(t)
		url := "http://" + l.Addr().String() + "/v2/models/digits/infer"
		want := infer(server(t, Options{}, digits(t)), "digits", image(1, 3)).Body.Bytes()
		var served, refused, cut atomic.Int64
		var wg sync.WaitGroup
		for range 64 {
			wg.Go(func() {
				for {
					r, err := c.Post(url, "application/json", strings.NewReader(image(1, 3)))
					if err != nil {
						cut.Add(1)
						return // it doesn't listen any more
					}
					b, err := io.ReadAll(r.Body)
					r.Body.Close()
					switch {
					case err == nil && r.StatusCode == 200 && bytes.Equal(b, want):
						served.Add(1)
					case err == nil && r.StatusCode == 503 && strings.Contains(string(b), "the server is stopping"):
						refused.Add(1)
					default:
						t.Errorf("%v %d %s", err, r.StatusCode, b)
					}
				}
			})
		}
		for served.Load() < 200 {
			time.Sleep(time.Millisecond)
		}
		stop()
		if err := <-over; err != nil {
			t.Error(err)
		}
		wg.Wait()
		settle(t, s)
		t.Logf("%d served, %d refused, %d without a connection", served.Load(), refused.Load(), cut.Load())
		if w := infer(s, "digits", image(1, 3)); w.Code != 503 || do(s, "GET", "/v2/health/ready", "").Code != 503 || do(s, "GET", "/v2/health/live", "").Code != 200 {
			t.Errorf("after the end: %d %s", w.Code, w.Body)
		}
		c.CloseIdleConnections()
	}
	goroutines(t, before)
}

// Runs that are longer than the grace are stopped, and their requests get an error; short ones finish.
func TestGrace(t *testing.T) {
	before := runtime.NumGoroutine()
	for grace, code := range map[time.Duration]int{50 * time.Millisecond: 503, time.Minute: 200} {
		s := server(t, Options{Grace: grace, MaxIterations: -1}, looping(t))
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		over := make(chan error, 1)
		go func() { over <- s.Serve(ctx, l) }()
		n := 1000000000
		if code == 200 {
			n = 20000
		}
		answered := make(chan *http.Response, 1)
		c := clients(t)
		go func() {
			r, err := c.Post("http://"+l.Addr().String()+"/v2/models/looping/infer", "", strings.NewReader(fmt.Sprintf(`{"inputs":[{"name":"n","datatype":"INT64","shape":[],"data":[%d]}]}`, n)))
			if err != nil {
				t.Error(err)
			}
			answered <- r
		}()
		for len(s.slots) == 0 && len(answered) == 0 {
			time.Sleep(time.Millisecond)
		}
		stop()
		if r := <-answered; r != nil {
			b, _ := io.ReadAll(r.Body)
			r.Body.Close()
			if r.StatusCode != code {
				t.Errorf("grace %v: %d %s", grace, r.StatusCode, b)
			}
		}
		if err := <-over; err != nil {
			t.Error(err)
		}
		settle(t, s)
		c.CloseIdleConnections()
	}
	goroutines(t, before)
}

// A listener that fails is an error, and the server stops.
func TestServeFails(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	s := server(t, Options{}, mymodel(t))
	if err := s.Serve(t.Context(), l); err == nil || !strings.HasPrefix(err.Error(), "serve: ") {
		t.Error(err)
	}
	if err := s.Serve(t.Context(), nil); !errors.Is(err, tensor.ErrValue) {
		t.Error(err)
	}
}

// FuzzBody gives the server any body: it answers with a result or an error object, and holds nothing afterwards.
func FuzzBody(f *testing.F) {
	for _, b := range []string{quotient(7, 2), quotient(7, 0), `{"inputs":[{"name":"a","datatype":"INT32","shape":[1,1],"data":[[1]]}],"outputs":[{"name":"q"}]}`,
		`{"id":"\u00e9","parameters":{"binary_data_output":true,"p":-1.5e3},"inputs":[{"name":"a","datatype":"INT32","shape":[0],"data":[]}]}`, "{", `{"inputs":[{"name":"a","shape":[9999999999,0]`} {
		f.Add([]byte(b), int64(-1))
	}
	head := `{"inputs":[{"name":"a","datatype":"INT32","shape":[1],"parameters":{"binary_data_size":4}},{"name":"b","datatype":"INT32","shape":[1],"parameters":{"binary_data_size":4}}]}`
	f.Add([]byte(head+"abcdefgh"), int64(len(head)))
	s := server(f, Options{MaxBody: 1 << 16, MaxHeld: 1 << 20, MaxMemory: 1 << 20}, dividing(f))
	f.Fuzz(func(t *testing.T, body []byte, header int64) {
		var h []string
		if header >= 0 {
			h = []string{headerLength, strconv.FormatInt(header, 10)}
		}
		w := infer(s, "dividing", string(body), h...)
		answer := w.Body.Bytes()
		if n := w.Header().Get(headerLength); n != "" {
			i, _ := strconv.Atoi(n)
			answer = answer[:i]
		}
		var v map[string]any
		if err := json.Unmarshal(answer, &v); err != nil || (w.Code == 200) == (v["error"] != nil) || !slices.Contains([]int{200, 400, 413, 500}, w.Code) {
			t.Errorf("%d %q: %v", w.Code, w.Body, err)
		}
		if s.held.Load() != 0 || s.active != 0 {
			t.Errorf("%d bytes are held, %d requests active", s.held.Load(), s.active)
		}
	})
}

// BenchmarkClients measures requests to the digits model from 1, 16 and 256 clients over loopback, and the same session
// called from Go. Its own metrics are requests per second and the 99th percentile of their times.
func BenchmarkClients(b *testing.B) {
	x := tensor.New[float32](1, 1, 8, 8)
	direct := server(b, Options{}, digits(b)).models["digits"].session
	head := `{"parameters":{"binary_data_output":true},"inputs":[{"name":"image","datatype":"FP32","shape":[1,1,8,8],"parameters":{"binary_data_size":256}}]}`
	for _, way := range []struct {
		name string
		o    Options
		body string
		head string
	}{{name: "go"}, {"json", Options{}, image(1, 1), ""}, {"binary", Options{}, head + string(make([]byte, 256)), strconv.Itoa(len(head))}, {"batch", Options{BatchDelay: time.Millisecond}, image(1, 1), ""}} {
		for _, n := range []int{1, 16, 256} {
			b.Run(fmt.Sprintf("%s/%d", way.name, n), func(b *testing.B) {
				once := func() error {
					_, err := direct.Run(b.Context(), map[string]tensor.Any{"image": x.Any()}, onnx.Options{})
					return err
				}
				if way.body != "" {
					web := httptest.NewServer(server(b, way.o, digits(b)))
					defer web.Close()
					c := clients(b)
					once = func() error {
						r, err := http.NewRequest("POST", web.URL+"/v2/models/digits/infer", strings.NewReader(way.body))
						if err != nil {
							return err
						}
						if way.head != "" {
							r.Header.Set(headerLength, way.head)
						}
						a, err := c.Do(r)
						if err != nil {
							return err
						}
						defer a.Body.Close()
						if _, err := io.Copy(io.Discard, a.Body); err != nil || a.StatusCode != 200 {
							return fmt.Errorf("%d %w", a.StatusCode, err)
						}
						return nil
					}
				}
				times := make([]time.Duration, b.N)
				var next atomic.Int64
				var wg sync.WaitGroup
				b.ResetTimer()
				for range n {
					wg.Go(func() {
						for i := next.Add(1) - 1; i < int64(b.N); i = next.Add(1) - 1 {
							start := time.Now()
							if err := once(); err != nil {
								b.Error(err)
							}
							times[i] = time.Since(start)
						}
					})
				}
				wg.Wait()
				b.StopTimer()
				slices.Sort(times)
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
				b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs")
			})
		}
	}
}
