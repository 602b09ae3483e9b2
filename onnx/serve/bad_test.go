package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
)

// Bodies that are wrong get an error that says where, and the server lives.
func TestBadBodies(t *testing.T) {
	s := server(t, Options{MaxBody: 1 << 16, MaxMemory: 1 << 16, MaxIterations: 1000}, echo(t, dtype.Float32), echo(t, dtype.Int8), mymodel(t), looping(t), dividing(t))
	x := func(rest string) string { return `{"inputs":[{"name":"x","datatype":"FP32",` + rest + `}]}` }
	many := strings.Repeat("0,", 20000)
	for _, c := range []struct {
		model, body string
		code        int
		want        string
		header      []string
	}{
		{"echo-float32", "", 400, "byte 0 of the body: want '{', got the end", nil},
		{"echo-float32", "{", 400, "want a string, got the end", nil},
		{"echo-float32", "[]", 400, `want '{', got "["`, nil},
		{"echo-float32", "{}", 400, `no "inputs"`, nil},
		{"echo-float32", `{"inputs":[]}`, 400, `input "x" is missing; model "echo-float32" takes x`, nil},
		{"echo-float32", `{"inputs":{}}`, 400, "want '['", nil},
		{"echo-float32", `{"inputs":[1]}`, 400, "want '{'", nil},
		{"echo-float32", `{"inputs":[{}]}`, 400, "an input needs a name, a datatype and a shape", nil},
		{"echo-float32", `{"inputs":[],"inputs":[]}`, 400, `"inputs" stands there twice`, nil},
		{"echo-float32", `{"id":7,"inputs":[]}`, 400, "want a string", nil},
		{"echo-float32", `{"id":"` + "\xff" + `","inputs":[]}`, 400, "isn't UTF-8", nil},
		{"echo-float32", `{"id":"\x","inputs":[]}`, 400, "wrong escape", nil},
		{"echo-float32", `{"id":"` + "\n" + `","inputs":[]}`, 400, "control character", nil},
		{"echo-float32", `{"parameters":{"a":null},"inputs":[]}`, 400, "a parameter is a string, a number or a boolean", nil},
		{"echo-float32", `{"parameters":{"a":NaN},"inputs":[]}`, 400, "a parameter is a string", nil},
		{"echo-float32", `{"x":` + strings.Repeat("[", 1000), 400, "nest deeper than 64", nil},
		{"echo-float32", x(`"shape":[1,2],"data":[1,2]`) + " x", 400, "the request ends before the body does", nil},
		{"echo-float32", x(`"shape":[1,2],"data":[1,2]`)[:40], 400, "byte 40", nil},
		{"echo-float32", x(`"shape":[1,2],"data":[1,2`), 400, "want ',' or ']', got the end", nil},
		{"echo-float32", x(`"shape":[1,2],"data":[1]`), 400, "1 elements, the shape [1 2] says 2", nil},
		{"echo-float32", x(`"shape":[1,2],"data":[1,2,3]`), 400, "more than 2 elements", nil},
		{"echo-float32", x(`"shape":[2,1],"data":[[1,2]]`), 400, "more than 1 elements", nil},
		{"echo-float32", x(`"shape":[2,2],"data":[[1,2]]`), 400, "1 arrays on axis 0", nil},
		{"echo-float32", x(`"shape":[1,2],"data":[[1,2],[3,4]]`), 400, "more than 1 arrays", nil},
		{"echo-float32", x(`"shape":[1,2],"data":[1,[2]]`), 400, `want a number for FP32, got "[2"`, nil},
		{"echo-float32", x(`"shape":[1,2],"data":[1,"2"]`), 400, "want a number for FP32", nil},
		{"echo-float32", x(`"shape":[1,2],"data":[1,null]`), 400, "null is NaN to a server with --null-nan", nil},
		{"echo-float32", x(`"shape":[1,2],"data":[1,0x10]`), 400, "want a number", nil},
		{"echo-float32", x(`"shape":[1,2],"data":[1,01]`), 400, "want a number", nil},
		{"echo-float32", x(`"shape":[1,2],"data":[1,1.]`), 400, "want a number", nil},
		{"echo-float32", x(`"shape":[1,2],"data":[1,nan]`), 400, "want a number", nil},
		{"echo-float32", x(`"shape":[1,2],"data":[1,1e39]`), 400, "1e39 is no FP32", nil},
		{"echo-float32", x(`"shape":[1,2],"data":[1,,2]`), 400, "want a number", nil},
		{"echo-float32", x(`"shape":[1,2],"data":[1,2,]`), 400, "more than 2 elements", nil},
		{"echo-float32", x(`"shape":[1,2],"data":7`), 400, "want an array", nil},
		{"echo-float32", x(`"shape":[-1,2],"data":[1,2]`), 400, "-1 is no size", nil},
		{"echo-float32", x(`"shape":[1.5,2],"data":[1,2]`), 400, "1.5 is no size", nil},
		{"echo-float32", x(`"shape":[9223372036854775807,4],"data":[1,2]`), 400, "beyond all memory", nil},
		{"echo-float32", x(`"shape":[9223372036854775808],"data":[1,2]`), 400, "is no size", nil},
		{"echo-float32", x(`"shape":[1000000,100],"data":[1,2]`), 400, "has 100000000 elements, data has fewer", nil},
		{"echo-float32", x(`"shape":[` + strings.Repeat("1,", 64) + `1],"data":[1]`), 400, "more than 64 axes", nil},
		{"echo-float32", x(`"shape":[2],"data":[1,2]`), 400, "the rank is 1, not 2", nil},
		{"echo-float32", x(`"shape":[1,2]`), 400, "neither data nor a binary_data_size", nil},
		{"echo-float32", x(`"shape":[1,2],"data":[1,2],"data":[1,2]`), 400, `"data" stands there twice`, nil},
		{"echo-float32", x(`"shape":[1,2],"parameters":{"shared_memory_region":"r"}`), 400, "belongs to an extension", nil},
		{"echo-float32", `{"inputs":[{"name":"y","datatype":"FP32","shape":[],"data":[1]}]}`, 400, `has no input "y"; its inputs are x`, nil},
		{"echo-float32", `{"inputs":[{"name":"x","datatype":"FP64","shape":[1,1],"data":[1]}]}`, 400, "the model takes FP32, not FP64", nil},
		{"echo-float32", `{"inputs":[{"name":"x","datatype":"fp32","shape":[1,1],"data":[1]}]}`, 400, `there is no datatype "fp32"`, nil},
		{"echo-float32", `{"inputs":[{"name":"x","datatype":"BYTES","shape":[1,1],"data":["a"]}]}`, 400, "the model takes FP32, not BYTES", nil},
		{"echo-float32", `{"inputs":[{"name":"x","datatype":"FP32","shape":[1,1],"data":[1]},{"name":"x","datatype":"FP32","shape":[1,1],"data":[1]}]}`, 400, "stands there twice", nil},
		{"echo-float32", `{"outputs":[{"name":"z"}],"inputs":[]}`, 400, `has no output "z"; its outputs are y`, nil},
		{"echo-float32", `{"outputs":[{"name":"y"},{"name":"y"}],"inputs":[]}`, 400, "asked for twice", nil},
		{"echo-float32", `{"outputs":[{}],"inputs":[]}`, 400, "an output needs a name", nil},
		{"echo-float32", `{"outputs":[{"name":"y","parameters":{"classification":3}}],"inputs":[]}`, 400, "belongs to an extension", nil},
		{"echo-float32", `{"inputs":[` + strings.Repeat(`{"name":"a","datatype":"a","shape":[],"data":[]},`, 1100) + `]}`, 400, "more than 1024 inputs", nil},
		{"echo-float32", strings.Repeat(" ", 1<<16+1), 413, "the body has more than 65536 bytes", nil},
		{"echo-float32", x(`"shape":[100,200],"data":[` + many[:len(many)-1] + `]`), 413, "the run needs 80000 bytes for weights and results, the limit is 65536", nil},
		{"echo-float32", "{}", 415, "content encoding", []string{"Content-Encoding", "gzip"}},

		{"echo-int8", `{"inputs":[{"name":"x","datatype":"INT8","shape":[1,1],"data":[128]}]}`, 400, "128 is no INT8", nil},
		{"echo-int8", `{"inputs":[{"name":"x","datatype":"INT8","shape":[1,1],"data":[1.0]}]}`, 400, "1.0 is no INT8", nil},
		{"echo-int8", `{"inputs":[{"name":"x","datatype":"INT8","shape":[1,1],"data":[NaN]}]}`, 400, `want a number for INT8, got "NaN"`, nil},
		{"mymodel", `{"inputs":[{"name":"input1","datatype":"BOOL","shape":[3],"data":[true,false,1]}]}`, 400, "want true or false", nil},

		{"echo-float32", x(`"shape":[1,1],"parameters":{"binary_data_size":4}`) + "abcd", 400, "with binary data the header Inference-Header-Content-Length says where", nil},
		{"echo-float32", x(`"shape":[1,0],"parameters":{"binary_data_size":0}`), 400, "the header Inference-Header-Content-Length is missing", nil},
		{"echo-float32", x(`"shape":[1,1],"parameters":{"binary_data_size":4}`) + "abc", 400, "has a binary_data_size of 4, but 3 bytes are left", []string{headerLength, "all"}},
		{"echo-float32", x(`"shape":[1,1],"parameters":{"binary_data_size":4}`) + "abcde", 400, "1 bytes follow the last binary input", []string{headerLength, "all"}},
		{"echo-float32", x(`"shape":[1,2],"parameters":{"binary_data_size":4}`) + "abcd", 400, "takes 8 bytes, the binary_data_size is 4", []string{headerLength, "all"}},
		{"echo-float32", x(`"shape":[1,1],"parameters":{"binary_data_size":-4}`), 400, "-4 is no size", nil},
		{"echo-float32", x(`"shape":[1,1],"parameters":{"binary_data_size":9223372036854775807}`), 400, "but 0 bytes are left", []string{headerLength, "all"}},
		{"echo-float32", x(`"shape":[1,1],"data":[1],"parameters":{"binary_data_size":4}`), 400, "has data and a binary_data_size", nil},
		{"echo-float32", x(`"shape":[1,1],"data":[1]`) + "1234", 400, "4 bytes follow", []string{headerLength, "all"}},
		{"echo-float32", "{}", 400, "is 3, more than the 2 bytes of the body", []string{headerLength, "3"}},
		{"echo-float32", "{}", 400, "no number of bytes", []string{headerLength, "-1"}},
		{"echo-float32", "{}", 400, "no number of bytes", []string{headerLength, "99999999999999999999"}},
		{"echo-float32", "{}", 400, "more than once", []string{headerLength, "2", headerLength, "2"}},
		{"echo-float32", "{}", 400, "the end", []string{headerLength, "0"}},
		{"mymodel", `{"inputs":[{"name":"input1","datatype":"BOOL","shape":[3],"parameters":{"binary_data_size":3}}]}` + "\x01\x02\x01", 400, "element 1 is 2; a BOOL is 0 or 1", []string{headerLength, "all"}},

		{"dividing", `{"inputs":[{"name":"a","datatype":"INT32","shape":[1],"data":[1]},{"name":"b","datatype":"INT32","shape":[2],"data":[1,1]}]}`, 400, `input "a" made "N" 1`, nil},
		{"dividing", `{"inputs":[{"name":"a","datatype":"INT32","shape":[1],"data":[1]},{"name":"b","datatype":"INT32","shape":[1],"data":[0]}]}`, 500, "(Div, opset 13)", nil},
		{"looping", `{"inputs":[{"name":"n","datatype":"INT64","shape":[],"data":[1001]}]}`, 500, "iteration", nil},
	} {
		if len(c.header) == 2 && c.header[1] == "all" { // up to the end of the JSON
			c.header[1] = strconv.Itoa(strings.LastIndex(c.body, "]}") + 2)
		}
		w := infer(s, c.model, c.body, c.header...)
		if got := errorOf(t, w.Body.Bytes()); w.Code != c.code || !strings.Contains(got, c.want) {
			t.Errorf("%.200s\ngot %d %s\nwant %d %s", c.body, w.Code, got, c.code, c.want)
		}
	}
	if w := infer(s, "echo-float32", x(`"shape":[1,2],"data":[1,2]`)); w.Code != 200 {
		t.Errorf("the server is broken: %d %s", w.Code, w.Body)
	}
	if held := s.held.Load(); held != 0 || s.active != 0 {
		t.Errorf("after all %d bytes are held, %d requests active", held, s.active)
	}
}

// A body that comes slowly or breaks off over a network, one that announces less than it sends, and a client that goes away.
func TestSlowClients(t *testing.T) {
	hasty := httptest.NewServer(server(t, Options{BodyTimeout: 50 * time.Millisecond}, echo(t, dtype.Float32)))
	defer hasty.Close()
	s := server(t, Options{MaxBody: 1 << 20, MaxIterations: -1}, echo(t, dtype.Float32), looping(t))
	web := httptest.NewServer(s)
	defer web.Close()
	ask := func(web *httptest.Server, rest ...string) string {
		c, err := net.Dial("tcp", web.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprint(c, "POST /v2/models/echo-float32/infer HTTP/1.1\r\nHost: x\r\n")
		for _, r := range rest {
			if r == "cut" {
				c.(*net.TCPConn).CloseWrite()
				continue
			}
			io.WriteString(c, r)
		}
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			return err.Error()
		}
		defer r.Body.Close()
		text, _ := io.ReadAll(r.Body)
		return r.Status + " " + string(text)
	}
	for _, c := range []struct{ got, status, want string }{
		{ask(hasty, "Content-Length: 100\r\n\r\n{"), "408", "the body didn't arrive within 50ms"},
		{ask(web, "Content-Length: 100\r\n\r\n{", "cut"), "400", "the body ends after 1 bytes"},
		{ask(web, "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"inp", "cut"), "400", "the body ends after 5 bytes"},
		{ask(web, "Transfer-Encoding: chunked\r\n\r\nzz\r\n"), "400", "reading the body"},
		{ask(web, "Content-Length: 2000000\r\n\r\n"), "413", "more than 1048576 bytes"},
		{ask(web, "Transfer-Encoding: chunked\r\n\r\n"+strings.Repeat("10000\r\n"+strings.Repeat(" ", 1<<16)+"\r\n", 17)), "413", "more than 1048576 bytes"},
	} {
		if !strings.HasPrefix(c.got, c.status) || !strings.Contains(c.got, c.want) {
			t.Errorf("got %s, want %s %s", c.got, c.status, c.want)
		}
	}
	// A run ends when its client goes away.
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for len(s.slots) == 0 { // it doesn't run yet
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	r, _ := http.NewRequestWithContext(ctx, "POST", web.URL+"/v2/models/looping/infer", strings.NewReader(`{"inputs":[{"name":"n","datatype":"INT64","shape":[],"data":[1000000000]}]}`))
	if _, err := http.DefaultClient.Do(r); !errors.Is(err, context.Canceled) {
		t.Errorf("the client got %v", err)
	}
	settle(t, s)
	for n := uint64(0); n == 0; time.Sleep(time.Millisecond) { // it is counted last
		s.mu.Lock()
		n = s.counts[counted{"looping", statusGone}]
		s.mu.Unlock()
	}
}

func TestTimeout(t *testing.T) {
	s := server(t, Options{Timeout: 50 * time.Millisecond, MaxIterations: -1}, looping(t))
	w := infer(s, "looping", `{"inputs":[{"name":"n","datatype":"INT64","shape":[],"data":[1000000000]}]}`)
	if got := errorOf(t, w.Body.Bytes()); w.Code != 504 || got != "the request took longer than 50ms" {
		t.Errorf("%d %s", w.Code, got)
	}
	settle(t, s)
}

// Bodies, inputs and answers are held to a limit together.
func TestHeld(t *testing.T) {
	s := server(t, Options{MaxHeld: 8000}, echo(t, dtype.Float32))
	body := func(n int) string {
		return `{"inputs":[{"name":"x","datatype":"FP32","shape":[1,` + strconv.Itoa(n) + `],"data":[` + strings.TrimSuffix(strings.Repeat("0,", n), ",") + `]}]}`
	}
	if w := infer(s, "echo-float32", body(200)); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := infer(s, "echo-float32", body(2000)); w.Code != 413 || !strings.Contains(w.Body.String(), "the limit is 8000") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	s.held.Add(5000)
	if w := infer(s, "echo-float32", body(500)); w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if held := s.held.Add(-5000); held != 0 {
		t.Errorf("%d bytes are held", held)
	}
}

// failing is a body that panics.
type failing struct{}

func (failing) Read([]byte) (int, error) { panic("out of ideas") }

func TestPanic(t *testing.T) {
	s := server(t, Options{}, mymodel(t))
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("POST", "/v2/models/mymodel/infer", failing{}))
	if got := errorOf(t, w.Body.Bytes()); w.Code != 500 || strings.Contains(got, "ideas") {
		t.Errorf("%d %s", w.Code, got)
	}
	settle(t, s)
}

// FuzzBody gives the server any body: it answers with a result or an error object, and holds nothing afterwards.
func FuzzBody(f *testing.F) {
	for _, b := range []string{quotient(7, 2), quotient(7, 0), `{"inputs":[{"name":"a","datatype":"INT32","shape":[1,1],"data":[[1]]}],"outputs":[{"name":"q"}]}`,
		`{"id":"\u00e9","parameters":{"binary_data_output":true,"p":-1.5e3},"inputs":[{"name":"a","datatype":"INT32","shape":[0],"data":[]}]}`, "{", `{"inputs":[{"name":"a","shape":[9999999999,0]`} {
		f.Add([]byte(b), int64(-1))
	}
	head := `{"inputs":[{"name":"a","datatype":"INT32","shape":[1],"parameters":{"binary_data_size":4}},{"name":"b","datatype":"INT32","shape":[1],"parameters":{"binary_data_size":4}}]}`
	f.Add([]byte(head+"abcdefgh"), int64(len(head)))
	head = `{"inputs":[{"name":"s","datatype":"BYTES","shape":[1,2],"parameters":{"binary_data_size":9}}]}`
	f.Add([]byte(head+"\x01\x00\x00\x00a\x00\x00\x00\x00"), int64(len(head)))
	f.Add([]byte(`{"inputs":[{"name":"s","datatype":"BYTES","shape":[1,2],"data":[["a","\u00e9"]]}]}`), int64(-1))
	s := server(f, Options{MaxBody: 1 << 16, MaxHeld: 1 << 20, MaxMemory: 1 << 20}, dividing(f), words(f))
	f.Fuzz(func(t *testing.T, body []byte, header int64) {
		var h []string
		if header >= 0 {
			h = []string{headerLength, strconv.FormatInt(header, 10)}
		}
		model := "dividing"
		if bytes.Contains(body, []byte("BYTES")) {
			model = "words"
		}
		w := infer(s, model, string(body), h...)
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
