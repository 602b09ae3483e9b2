package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
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

// 64 clients of one handler, each with its own pictures, get the bits that the session gives a caller in Go: as JSON and in
// binary form, alone and in shared runs.
func TestSameBits(t *testing.T) {
	plain, shared := server(t, Options{}, digits(t)), server(t, Options{BatchDelay: time.Millisecond}, digits(t))
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			n := 1 + i%5
			x := tensor.RandomNormal[float32](uint64(i), 0, 1, n, 1, 8, 8)
			out, err := plain.models["digits"].session.Run(t.Context(), map[string]tensor.Any{"image": x.Any()}, nil)
			if err != nil {
				t.Error(err)
				return
			}
			var data, raw, text []byte
			for _, v := range x.Elems() {
				raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
				data = append(appendFloat(data, float64(v), 32), ',')
			}
			var want []byte
			for v := range tensor.ValuesOf[float32](out["probability"]) {
				want = binary.LittleEndian.AppendUint32(want, math.Float32bits(v))
				text = append(appendFloat(text, float64(v), 32), ',')
			}
			head := fmt.Sprintf(`{"parameters":{"binary_data_output":true},"inputs":[{"name":"image","datatype":"FP32","shape":[%d,1,8,8],"parameters":{"binary_data_size":%d}}]}`, n, len(raw))
			body := fmt.Sprintf(`{"inputs":[{"name":"image","datatype":"FP32","shape":[%d,1,8,8],"data":[%s]}]}`, n, bytes.TrimSuffix(data, []byte(",")))
			for _, s := range []*Server{plain, shared} {
				w := infer(s, "digits", head+string(raw), headerLength, strconv.Itoa(len(head)))
				if w.Code != 200 || !bytes.HasSuffix(w.Body.Bytes(), append([]byte("}]}"), want...)) {
					t.Errorf("%d, binary: %d %q\nwant %q", i, w.Code, w.Body, want)
				}
				w = infer(s, "digits", body)
				if w.Code != 200 || !strings.Contains(w.Body.String(), `"data":[`+string(bytes.TrimSuffix(text, []byte(",")))+"]") {
					t.Errorf("%d, JSON: %d %s\nwant %s", i, w.Code, w.Body, text)
				}
			}
		})
	}
	wg.Wait()
	settle(t, shared)
}

// Runs of one shape one after the other share memory, and no answer changes by it: neither with other pictures, nor after a
// request of another shape or one that fails.
func TestPreparedRuns(t *testing.T) {
	s, m := server(t, Options{MaxRuns: 1}, digits(t), dividing(t)), digits(t).Model
	session, err := onnx.NewSession(m)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range []int{1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 1} {
		body := image(i, n)
		r, err := parse([]byte(body), -1, func(int64) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		in, err := s.models["digits"].bind(r, func(int64) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		out, err := session.Run(t.Context(), map[string]tensor.Any{"image": in["image"].Tensor()}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var want []byte
		for v := range tensor.ValuesOf[float32](out["probability"]) {
			want = append(appendFloat(want, float64(v), 32), ',')
		}
		if w := infer(s, "digits", body); w.Code != 200 || !strings.Contains(w.Body.String(), `"data":[`+string(bytes.TrimSuffix(want, []byte(",")))+"]") {
			t.Errorf("%d: %d %s\nwant %s", i, w.Code, w.Body, want)
		}
	}
	for i, b := range []int{1, 2, 3, 0, 4, 5, 0, 0, 6, 7} {
		w := infer(s, "dividing", quotient(60, b))
		if b == 0 && w.Code != 500 || b > 0 && (w.Code != 200 || !strings.Contains(w.Body.String(), fmt.Sprintf(`"data":[%d]`, 60/b))) {
			t.Errorf("run %d: 60/%d: %d %s", i, b, w.Code, w.Body)
		}
	}
	for _, name := range []string{"digits", "dividing"} {
		if list := s.models[name].streams; len(list) != 1 || list[0].Kept() == 0 {
			t.Errorf("%s: %d streams are kept, want 1 that keeps memory", name, len(list))
		}
	}
	settle(t, s)
}

// A model whose runs are large keeps nothing between them.
func TestLargeRuns(t *testing.T) {
	s := server(t, Options{}, echo(t, dtype.Float32))
	const n = mostKept / 4
	head := fmt.Sprintf(`{"parameters":{"binary_data_output":true},"inputs":[{"name":"x","datatype":"FP32","shape":[1,%d],"parameters":{"binary_data_size":%d}}]}`, n, 4*n)
	raw := strings.Repeat("ashl", n)
	for range 2 {
		if w := infer(s, "echo-float32", head+raw, headerLength, strconv.Itoa(len(head))); w.Code != 200 || !strings.HasSuffix(w.Body.String(), raw) {
			t.Fatalf("%d: %d bytes", w.Code, w.Body.Len())
		}
	}
	if m := s.models["echo-float32"]; len(m.streams) != 0 || m.streamed.Load() {
		t.Errorf("%d streams are kept", len(m.streams))
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
	goroutines(before)
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
	goroutines(before)
}

// Runs that are longer than the grace are stopped, and their requests get an error; short ones finish.
// While the server stops a request on a kept connection gets 503; health and metrics have their answers.
func TestAnswersWhileStopping(t *testing.T) {
	s := server(t, Options{}, build(t, "ready", func(b *onnx.Builder) {
		b.Output(b.Rename(b.Node("Abs", []string{b.Input("x", dtype.Float32, 1)}), "y"), dtype.Float32, 1)
	}))
	h := httptest.NewServer(s)
	defer h.Close()
	for _, stopped := range []bool{false, true} {
		for path, then := range map[string]int{"/v2": 503, "/v2/models": 503, "/v2/models/ready": 503, "/v2/models/ready/versions/1": 503, "/v2/models/none": 404,
			"/v2/health/live": 200, "/v2/health/ready": 503, "/v2/models/ready/ready": 503, "/v2/models/ready/versions/1/ready": 503, "/metrics": 200} {
			want := 200
			if stopped || then == 404 {
				want = then
			}
			r, err := h.Client().Get(h.URL + path)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(r.Body)
			r.Body.Close()
			if err != nil || r.StatusCode != want || r.Close != stopped {
				t.Errorf("stopped %v, %s: %d %s, the connection ends: %v, %v; want %d", stopped, path, r.StatusCode, text, r.Close, err, want)
			}
			if again := r.Header.Get("Retry-After"); want == 503 && again == "" && !strings.Contains(path, "ready/") && !strings.HasSuffix(path, "health/ready") {
				t.Errorf("%s doesn't say when to come back", path)
			}
		}
		if err := s.Shutdown(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
}

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
	goroutines(before)
}

// A client that is in the middle of its body doesn't hold the end up, and one that asks again and again is told before its
// connection ends.
func TestServeEnds(t *testing.T) {
	s, err := New(&Options{Grace: 3 * time.Second, BodyTimeout: time.Minute}, digits(t))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	slow, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	fmt.Fprint(slow, "POST /v2/models/digits/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n{")
	again, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	answers := bufio.NewReader(again)
	ask := func() bool {
		fmt.Fprint(again, "GET /v2/health/ready HTTP/1.1\r\nHost: localhost\r\n\r\n")
		r, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatalf("the connection ends without a word: %v", err)
		}
		io.Copy(io.Discard, r.Body)
		return r.Close
	}
	if ask() {
		t.Fatal("the connection ends before the server does")
	}
	cancel()
	for !ask() {
		time.Sleep(time.Millisecond)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
