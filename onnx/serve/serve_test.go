package serve

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// A model that can't be served is an error of New. The others are served.
func TestNewFails(t *testing.T) {
	sequence := build(t, "sequence", func(b *onnx.Builder) {
		b.OutputOf(b.Node("SequenceConstruct", []string{b.Input("x", dtype.Float32, 2)}), onnx.Type{Kind: onnx.KindSequence, Of: &onnx.Type{Kind: onnx.KindTensor, Elem: onnx.ElemFloat32}})
	})
	unnamed := digits(t)
	unnamed.Name = "a/b"
	for want, models := range map[string][]Model{
		"there is no model to serve":                       nil,
		`model "": `:                                       {{}},
		"can't stand in a path":                            {unnamed},
		"there is no model: it is nil":                     {{Name: "x"}},
		"two models of this name":                          {digits(t), digits(t)},
		"the protocol has tensors alone":                   {sequence},
		"complex64, for which the protocol has no":         {echo(t, dtype.Complex64)},
		"float8_e4m3, for which the protocol has no datat": {echo(t, dtype.Float8E4M3)},
	} {
		if s, err := New(nil, models...); (s == nil) != (want != "two models of this name") || err == nil || !strings.HasPrefix(err.Error(), "serve: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Of a quantized model that runs on integers the server gives the numbers of onnx.NewIntegerSession: of a tie the even one.
func TestIntegers(t *testing.T) {
	m := build(t, "floats", func(b *onnx.Builder) {
		scale := func(name string, v float32) string { return b.Weight(name, tensor.Scalar(v).Any()) }
		zero, tenth, fifth, one := b.Weight("zero", tensor.Scalar[int8](0).Any()), scale("tenth", 0.1), scale("fifth", 0.2), scale("one", 1)
		x := b.Node("QuantizeLinear", []string{b.Input("x", dtype.Float32, 1, 2), tenth, zero})
		w := b.Node("DequantizeLinear", []string{b.Weight("w", tensor.FromSlice([]int8{1, 1}, 2, 1).Any()), one, zero})
		x = b.Node("MatMul", []string{b.Node("DequantizeLinear", []string{x, tenth, zero}), w})
		x = b.Node("DequantizeLinear", []string{b.Node("QuantizeLinear", []string{x, fifth, zero}), one, zero})
		b.Output(b.Rename(x, "y"), dtype.Float32, 1, 1)
	})
	s := server(t, Options{}, m, Model{Name: "integers", Model: m.Model, Integers: true})
	for name, want := range map[string]string{"floats": `"data":[7]`, "integers": `"data":[6]`} {
		if w := infer(s, name, `{"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[0,1.3]}]}`); !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s, want %s", name, w.Code, w.Body, want)
		}
	}
}

func TestMetrics(t *testing.T) {
	m := echo(t, dtype.Float32)
	m.Name = "a\"b\\c"
	s := server(t, Options{}, m)
	for range 2 {
		infer(s, `a"b%5Cc`, `{"inputs":[{"name":"x","datatype":"FP32","shape":[1,1],"data":[1]}]}`)
	}
	do(s, "GET", "/nowhere", "")
	w := do(s, "GET", "/metrics", "")
	for _, want := range []string{
		"# TYPE ashlar_requests_total counter\n", `ashlar_requests_total{model="",code="404"} 1` + "\n", `ashlar_requests_total{model="a\"b\\c",code="200"} 2` + "\n",
		"# TYPE ashlar_request_duration_seconds histogram\n", `ashlar_request_duration_seconds_bucket{model="a\"b\\c",le="+Inf"} 2` + "\n", `ashlar_request_duration_seconds_count{model="a\"b\\c"} 2` + "\n",
		`ashlar_run_requests_bucket{model="a\"b\\c",le="1"} 2` + "\n", `ashlar_run_requests_sum{model="a\"b\\c"} 2` + "\n", "\nashlar_requests_active 0\n", "\nashlar_held_bytes 0\n",
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("no %q in\n%s", want, w.Body)
		}
	}
	for line := range strings.Lines(w.Body.String()) {
		name, value, ok := strings.Cut(line, "} ")
		if !ok {
			name, value, ok = strings.Cut(line, " ")
		}
		if _, err := strconv.ParseFloat(strings.TrimSpace(value), 64); !strings.HasPrefix(line, "# ") && (!ok || err != nil || !strings.HasPrefix(name, "ashlar_")) {
			t.Errorf("the line %q isn't of Prometheus' form", line)
		}
	}
	if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Error(w.Header())
	}
}

// Pages of others, and names that a page can be made to stand for, don't reach a server on a loopback address.
func TestGuard(t *testing.T) {
	s := server(t, Options{Hosts: []string{"Proxy.Example"}}, mymodel(t))
	h := s.guard(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8000})
	open := s.guard(&net.TCPAddr{IP: net.IPv4zero, Port: 8000})
	for _, c := range []struct {
		h            http.Handler
		method, host string
		origin       string
		code         int
	}{
		{h, "GET", "127.0.0.1:8000", "", 200}, {h, "GET", "[::1]:8000", "", 200}, {h, "GET", "localhost", "", 200}, {h, "GET", "a.localhost:1", "", 200},
		{h, "GET", "proxy.example:1", "", 200}, {h, "GET", "evil.example:8000", "", 403}, {open, "GET", "model.example", "", 200},
		{h, "POST", "localhost:8000", "http://localhost:8000", 405}, {h, "POST", "localhost:8000", "https://evil.example", 403}, {open, "POST", "model.example", "https://evil.example", 403},
	} {
		r := httptest.NewRequest(c.method, "/v2/health/live", nil)
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		w := httptest.NewRecorder()
		c.h.ServeHTTP(w, r)
		if w.Code != c.code || c.code != 200 && errorOf(t, w.Body.Bytes()) == "" {
			t.Errorf("%s %s from %q: %d %s, want %d", c.method, c.host, c.origin, w.Code, w.Body, c.code)
		}
	}
}

// A model that is closed too early is the server's fault, and says nothing about its file.
func TestClosedModel(t *testing.T) {
	m := digits(t)
	s := server(t, Options{}, m)
	m.Model.Close()
	w := infer(s, "digits", image(1, 1))
	if got := errorOf(t, w.Body.Bytes()); w.Code != 500 || !strings.Contains(got, "closed") || strings.Contains(got, "testdata") {
		t.Errorf("%d %s", w.Code, got)
	}
}

// A prefix of the program's own.
func TestMounted(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("/ai/", http.StripPrefix("/ai", server(t, Options{}, mymodel(t))))
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/ai/v2/models/mymodel/ready", nil))
	if w.Code != 200 || !bytes.Contains(w.Body.Bytes(), []byte(`"ready":true`)) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
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

// A ZipMap's operand is served in place of its maps.
func TestZipMap(t *testing.T) {
	s := server(t, Options{BatchDelay: time.Millisecond}, zipped(t))
	if s.models["zipped"].batches == nil {
		t.Error("it runs alone")
	}
	w := infer(s, "zipped", `{"inputs":[{"name":"x","datatype":"FP32","shape":[2,2],"data":[1,0,0,-1]}]}`)
	want := `{"model_name":"zipped","model_version":"1","outputs":[{"name":"output_label","datatype":"INT64","shape":[2],"data":[3,4]},{"name":"probabilities","datatype":"FP32","shape":[2,2],"data":[0.8807971,0.11920292,0.01798621,0.98201376]}]}`
	if w.Code != 200 || w.Body.String() != want {
		t.Errorf("%d %s, want %s", w.Code, w.Body, want)
	}
}

// null among floats is NaN where the server takes it, and nowhere else.
func TestNull(t *testing.T) {
	s := server(t, Options{NullNaN: true}, echo(t, dtype.Float16), echo(t, dtype.BFloat16), echo(t, dtype.Float32), echo(t, dtype.Float64), echo(t, dtype.Int8))
	for _, c := range []struct{ model, datatype, data, want string }{
		{"float16", "FP16", "[null,1]", `"data":[NaN,1]`}, {"bfloat16", "BF16", "[[1, null ]]", `"data":[1,NaN]`}, {"float32", "FP32", "[null,null]", `"data":[NaN,NaN]`},
		{"float64", "FP64", "[1,null]", `"data":[1,NaN]`}, {"float64", "FP64", "[1,nul]", `want a number for FP64`}, {"float64", "FP64", "[1,nullx]", `want ','`}, {"int8", "INT8", "[1,null]", "want a number for INT8"},
	} {
		w := infer(s, "echo-"+c.model, `{"inputs":[{"name":"x","datatype":"`+c.datatype+`","shape":[1,2],"data":`+c.data+`}]}`)
		if !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s %s: %d %s, want %s", c.datatype, c.data, w.Code, w.Body, c.want)
		}
	}
}

// A body that is a picture becomes the input that Options.Picture makes of it, within MaxHeld.
func TestPicture(t *testing.T) {
	picture := func(inputs []onnx.ValueInfo, body []byte, take func(int64) error) (map[string]tensor.Any, error) {
		var v uint8
		var bytes int64
		if n, err := fmt.Sscan(string(body), &v, &bytes); n != 2 {
			return nil, err
		}
		if err := take(bytes); err != nil {
			return nil, fmt.Errorf("of %d bytes: %w", bytes, err)
		}
		return map[string]tensor.Any{inputs[0].Name: tensor.Full(float32(v), 1, 2).Any()}, nil
	}
	with := server(t, Options{Picture: picture, MaxHeld: 1 << 20}, echo(t, dtype.Float32))
	for _, c := range []struct {
		s          *Server
		body, kind string
		code       int
		want       string
	}{
		{with, "7 1000", "image/png", 200, `"shape":[1,2],"data":[7,7]`},
		{with, "7 1000", "IMAGE/JPEG; q=1", 200, `"data":[7,7]`},
		{with, "7 9999999", "image/png", 413, "the limit is 1048576"},
		{with, "x", "image/png", 400, "echo-float32"},
		{with, "7 1", "image/gif", 415, "image/png and image/jpeg are read"},
		{with, "7 1", "text/plain", 400, "want '{'"},
		{server(t, Options{}, echo(t, dtype.Float32)), "7 1", "image/png", 415, "takes tensors, no pictures"},
	} {
		w := do(c.s, "POST", "/v2/models/echo-float32/infer", c.body, "Content-Type", c.kind)
		if w.Code != c.code || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s, %s: %d %s, want %d %s", c.kind, c.body, w.Code, w.Body, c.code, c.want)
		}
		if n := c.s.held.Load(); n != 0 {
			t.Errorf("%s, %s: %d bytes are held after it", c.kind, c.body, n)
		}
	}
	if w := do(with, "POST", "/v2/models/echo-float32/infer", "7 1", "Content-Type", "image/png", headerLength, "1"); w.Code != 400 {
		t.Errorf("with a length of JSON: %d %s", w.Code, w.Body)
	}
}
