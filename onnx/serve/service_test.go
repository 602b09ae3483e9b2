package serve_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/onnx/serve"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Service has a path of its own, and runs the server's models.
func ExampleService() {
	length := serve.Service{Path: "/length", Answer: func(ctx context.Context, body []byte, run serve.Run, take func(int64) error) ([]byte, error) {
		if len(body) == 0 {
			return nil, fmt.Errorf("%w: the body is empty", tensor.ErrValue)
		}
		out, err := run(ctx, "double", map[string]tensor.Any{"x": tensor.FromSlice([]float32{float32(len(body))}, 1).Any()})
		if err != nil {
			return nil, err
		}
		return fmt.Appendf(nil, `{"twice":%v}`, out["y"].At(0)), nil
	}}
	s, err := serve.New(&serve.Options{Services: []serve.Service{length}}, model())
	if err != nil {
		log.Fatal(err)
	}
	web := httptest.NewServer(s)
	defer web.Close()
	show(http.Post(web.URL+"/length", "text/plain", strings.NewReader("seven")))
	show(http.Post(web.URL+"/length", "text/plain", strings.NewReader("")))
	// Output:
	// 200 {"twice":10}
	// 400 {"error":"value: the body is empty"}
}

// A service has the bounds of all requests, and errors have their status.
func TestService(t *testing.T) {
	held := atomic.Int64{}
	gate := make(chan struct{})
	answers := func(ctx context.Context, body []byte, run serve.Run, take func(int64) error) ([]byte, error) {
		switch word := string(body); word {
		case "run":
			_, err := run(ctx, "double", map[string]tensor.Any{"x": tensor.FromSlice([]float32{1}, 1).Any()})
			return []byte("{}"), err
		case "shape":
			_, err := run(ctx, "double", map[string]tensor.Any{"x": tensor.FromSlice([]float32{1}, 1, 1).Any()})
			return nil, fmt.Errorf("the service says: %w", err)
		case "other":
			_, err := run(ctx, "triple", nil)
			return nil, err
		case "much":
			return nil, take(1 << 30)
		case "some":
			held.Add(1)
			return []byte("{}"), take(1 << 19)
		case "value":
			return nil, fmt.Errorf("%w: a mistake", tensor.ErrValue)
		case "wait":
			<-gate
			<-ctx.Done()
			return nil, ctx.Err()
		case "panic":
			panic("a service")
		}
		return nil, errors.New("a fault")
	}
	o := &serve.Options{MaxBody: 100, MaxHeld: 1 << 20, Timeout: 300 * time.Millisecond, Services: []serve.Service{
		{Path: "/plain", Answer: answers},
		{Path: "/own/form", Answer: answers, Refusal: func(status int, text string) []byte { return fmt.Appendf(nil, "[%d,%q]", status, text) }}}}
	s, err := serve.New(o, model())
	if err != nil {
		t.Fatal(err)
	}
	close(gate)
	send := func(path, body string, header ...string) (int, string) {
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
		if header != nil {
			r.Header.Set(header[0], header[1])
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		b, _ := io.ReadAll(w.Body)
		return w.Code, string(b)
	}
	for word, status := range map[string]int{"run": 200, "shape": 400, "other": 404, "much": 413, "some": 200, "value": 400, "wait": 504, "panic": 500, "x": 500, strings.Repeat("y", 200): 413} {
		for range 4 { // memory is given back
			if got, body := send("/plain", word); got != status || status != 200 && !strings.HasPrefix(body, `{"error":"`) {
				t.Errorf("%s: %d %s, want %d", word, got, body, status)
			}
		}
		if got, body := send("/own/form", word); got != status || status != 200 && !strings.HasPrefix(body, fmt.Sprintf("[%d,", status)) {
			t.Errorf("%s: %d %s, want %d", word, got, body, status)
		}
	}
	if held.Load() != 5 {
		t.Errorf("%d requests took memory", held.Load())
	}
	if got, body := send("/plain", "run", "Content-Encoding", "gzip"); got != 415 {
		t.Errorf("%d %s", got, body)
	}
	if got, body := send("/plain", "run", "Inference-Header-Content-Length", "1"); got != 400 {
		t.Errorf("%d %s", got, body)
	}
	if got, body := send("/plain/", "run"); got != 404 || !strings.Contains(body, "GET /v2/models/NAME is one, POST /plain, POST /own/form") {
		t.Errorf("%d %s", got, body)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, body := send("/own/form", "run"); got != 503 || body != `[503,"the server is stopping"]` {
		t.Errorf("%d %s", got, body)
	}
}

// A path that something else has, and a service without an answer, are errors.
func TestServicePaths(t *testing.T) {
	answer := func(context.Context, []byte, serve.Run, func(int64) error) ([]byte, error) { return nil, nil }
	for _, list := range [][]serve.Service{{{Path: "x", Answer: answer}}, {{Path: "/v2", Answer: answer}}, {{Path: "/v2/x", Answer: answer}}, {{Path: "/metrics", Answer: answer}},
		{{Path: "/x"}}, {{Path: "/x", Answer: answer}, {Path: "/x", Answer: answer}}} {
		if s, err := serve.New(&serve.Options{Services: list}, model()); s != nil || !errors.Is(err, tensor.ErrValue) {
			t.Errorf("%+v: %v", list, err)
		}
	}
}
