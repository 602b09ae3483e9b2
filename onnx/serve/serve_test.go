package serve

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// build makes a model under a name.
func build(t testing.TB, name string, f func(b *onnx.Builder)) Model {
	t.Helper()
	b := onnx.NewBuilder(name)
	f(b)
	m, err := b.Model(13)
	if err != nil {
		t.Fatal(err)
	}
	return Model{Name: name, Model: m}
}

func digits(t testing.TB) Model {
	t.Helper()
	m, err := onnx.Open(filepath.Join("..", "..", "testdata", "digits.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return Model{Name: "digits", Model: m}
}

// mymodel is the model that the examples of the protocol's documents have in mind: if input0 sums to 10, and where input1
// is true, it gives the numbers shown there.
func mymodel(t testing.TB) Model {
	return build(t, "mymodel", func(b *onnx.Builder) {
		x, c := b.Input("input0", dtype.Uint32, 2, 2), b.Input("input1", dtype.Bool, 3)
		w := b.Weight("w", tensor.FromSlice([]float32{1.0, 1.1, 2.0, 2.1, 3.0, 3.1}, 3, 2).Any())
		sum := b.Node("ReduceSum", []string{b.Node("Cast", []string{x}, onnx.Int("to", 1))}, onnx.Int("keepdims", 0))
		share := b.Node("Div", []string{sum, b.Weight("ten", tensor.Scalar[float32](10).Any())})
		column := b.Node("Unsqueeze", []string{c, b.Weight("axis", tensor.FromSlice([]int64{1}, 1).Any())})
		kept := b.Node("Where", []string{column, w, b.Weight("zero", tensor.Scalar[float32](0).Any())})
		b.Output(b.Rename(b.Node("Mul", []string{kept, share}), "output0"), dtype.Float32, 3, 2)
	})
}

// echo gives back what it gets, of each type.
func echo(t testing.TB, d dtype.DType) Model {
	return build(t, "echo-"+d.String(), func(b *onnx.Builder) {
		b.Output(b.Rename(b.Node("Identity", []string{b.Input("x", d, nil, nil)}), "y"), d, nil, nil)
	})
}

// looping runs a loop of n iterations.
func looping(t testing.TB) Model {
	return build(t, "looping", func(b *onnx.Builder) {
		n := b.Input("n", dtype.Int64)
		body := b.Body("body")
		body.Input("i", dtype.Int64)
		body.OutputOf(body.Node("Identity", []string{body.Input("going", dtype.Bool)}), onnx.Type{})
		v := body.InputOf("state", onnx.Type{})
		body.OutputOf(body.Node("Add", []string{v, b.Weight("one", tensor.Scalar[int64](1).Any())}), onnx.Type{})
		b.Output(b.Rename(b.Node("Loop", []string{n, "", b.Weight("start", tensor.Scalar[int64](0).Any())}, onnx.GraphAttr("body", body)), "y"), dtype.Int64)
	})
}

// dividing divides integers, row by row, and fails if one of b is 0.
func dividing(t testing.TB) Model {
	return build(t, "dividing", func(b *onnx.Builder) {
		x, y := b.Input("a", dtype.Int32, "N"), b.Input("b", dtype.Int32, "N")
		b.Output(b.Rename(b.Node("Div", []string{x, y}), "q"), dtype.Int32, "N")
	})
}

func server(t testing.TB, o Options, models ...Model) *Server {
	t.Helper()
	s, err := New(o, models...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// do asks a server without a network.
func do(s *Server, method, path, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func infer(s *Server, model, body string, header ...string) *httptest.ResponseRecorder {
	return do(s, "POST", "/v2/models/"+model+"/infer", body, header...)
}

// errorOf returns the text of an error's answer.
func errorOf(t testing.TB, b []byte) string {
	t.Helper()
	var e map[string]string
	if err := json.Unmarshal(b, &e); err != nil || e["error"] == "" || len(e) != 1 {
		t.Errorf("the answer is no error object: %v: %.200s", err, b)
	}
	return e["error"]
}

// The example of inference_rest.md of the open inference protocol, with three elements where its text has one of three.
func TestProtocolExample(t *testing.T) {
	s := server(t, Options{}, mymodel(t))
	w := infer(s, "mymodel", `{
      "id" : "42",
      "inputs" : [
        {
          "name" : "input0",
          "shape" : [ 2, 2 ],
          "datatype" : "UINT32",
          "data" : [ 1, 2, 3, 4 ]
        },
        {
          "name" : "input1",
          "shape" : [ 3 ],
          "datatype" : "BOOL",
          "data" : [ true, true, true ]
        }
      ],
      "outputs" : [
        {
          "name" : "output0"
        }
      ]
    }`)
	const want = `{"model_name":"mymodel","model_version":"1","id":"42","outputs":[{"name":"output0","datatype":"FP32","shape":[3,2],"data":[1,1.1,2,2.1,3,3.1]}]}`
	if got := w.Body.String(); w.Code != 200 || got != want || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%d %v\n%s\nwant\n%s", w.Code, w.Header(), got, want)
	}
}

// The example of Triton's extension_binary_data.md: 19 bytes of data in, 24 out.
func TestBinaryExample(t *testing.T) {
	s := server(t, Options{}, mymodel(t))
	const head = `{
  "model_name" : "mymodel",
  "inputs" : [
    {
      "name" : "input0",
      "shape" : [ 2, 2 ],
      "datatype" : "UINT32",
      "parameters" : {
        "binary_data_size" : 16
      }
    },
    {
      "name" : "input1",
      "shape" : [ 3 ],
      "datatype" : "BOOL",
      "parameters" : {
        "binary_data_size" : 3
      }
    }
  ],
  "outputs" : [
    {
      "name" : "output0",
      "parameters" : {
        "binary_data" : true
      }
    }
  ]
}`
	data := "\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00\x04\x00\x00\x00" + "\x01\x00\x01"
	w := infer(s, "mymodel", head+data, headerLength, strconv.Itoa(len(head)), "Content-Type", "application/octet-stream")
	const want = `{"model_name":"mymodel","model_version":"1","outputs":[{"name":"output0","datatype":"FP32","shape":[3,2],"parameters":{"binary_data_size":24}}]}`
	var floats []byte
	for _, v := range []float32{1, 1.1, 0, 0, 3, 3.1} {
		floats = binary.LittleEndian.AppendUint32(floats, math.Float32bits(v))
	}
	if got := w.Body.String(); w.Code != 200 || got != want+string(floats) {
		t.Errorf("%d\n%q\nwant\n%q", w.Code, got, want+string(floats))
	}
	h := w.Header()
	if h.Get(headerLength) != strconv.Itoa(len(want)) || h.Get("Content-Length") != strconv.Itoa(len(want)+24) || h.Get("Content-Type") != "application/octet-stream" {
		t.Errorf("header %v", h)
	}
}

// Which outputs are binary: what the request says, unless the output says otherwise.
func TestBinaryOutput(t *testing.T) {
	s := server(t, Options{}, echo(t, dtype.Int16))
	const in = `"inputs":[{"name":"x","datatype":"INT16","shape":[1,2],"data":[1,-2]}]`
	for body, want := range map[string]string{
		`{` + in + `}`: `"data":[1,-2]`,
		`{"parameters":{"binary_data_output":true},` + in + `}`:                                                             "\x01\x00\xfe\xff",
		`{"parameters":{"binary_data_output":true},"outputs":[{"name":"y","parameters":{"binary_data":false}}],` + in + `}`: `"data":[1,-2]`,
		`{"parameters":{"binary_data_output":false},"outputs":[{"name":"y","parameters":{"binary_data":true}}],` + in + `}`: "\x01\x00\xfe\xff",
		`{"parameters":{"binary_data_output":true},"outputs":[{"name":"y"}],` + in + `}`:                                    "\x01\x00\xfe\xff",
		`{"outputs":[],` + in + `}`:                                        `"data":[1,-2]`,
		`{"id":"a\"b","parameters":{"p":1.5,"q":"ü","r":true},` + in + `}`: `"id":"a\"b","parameters":{"p":1.5,"q":"ü","r":true},"outputs"`,
	} {
		if w := infer(s, "echo-int16", body); w.Code != 200 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %q, want %q in it", body, w.Code, w.Body, want)
		}
	}
}

// Metadata and health, with the words of the protocol.
func TestPaths(t *testing.T) {
	s := server(t, Options{}, digits(t), mymodel(t))
	const meta = `{"name":"digits","versions":["1"],"platform":"onnx_onnxv1","inputs":[{"name":"image","datatype":"FP32","shape":[-1,1,8,8]}],"outputs":[{"name":"probability","datatype":"FP32","shape":[-1,10]}]}`
	for _, c := range []struct {
		method, path string
		code         int
		want         string
	}{
		{"GET", "/v2", 200, `{"name":"ashlar","version":"` + version() + `","extensions":["binary_tensor_data"]}`},
		{"GET", "/v2/", 200, `{"name":"ashlar","version":"` + version() + `","extensions":["binary_tensor_data"]}`},
		{"GET", "/v2/health/live", 200, `{"live":true}`},
		{"GET", "/v2/health/ready", 200, `{"live":true,"ready":true}`},
		{"GET", "/v2/models/digits", 200, meta},
		{"GET", "/v2/models/digits/versions/1", 200, meta},
		{"GET", "/v2/models/dig%69ts", 200, meta},
		{"GET", "/v2/models/digits/ready", 200, `{"name":"digits","ready":true}`},
		{"GET", "/v2/models/digits/versions/1/ready", 200, `{"name":"digits","ready":true}`},
		{"GET", "/v2/models/digits/versions/2", 404, `{"error":"model \"digits\" has no version \"2\", but 1"}`},
		{"GET", "/v2/models/letters", 404, `{"error":"there is no model \"letters\"; the models are digits, mymodel"}`},
		{"GET", "/v2/models/digits/stats", 404, `{"error":"there is no such path of model \"digits\"; infer and ready are"}`},
		{"GET", "/v2/models/digits/infer", 405, `{"error":"GET isn't for this path, POST is"}`},
		{"DELETE", "/v2/models/digits", 405, `{"error":"DELETE isn't for this path, GET is"}`},
		{"GET", "/v2/models", 404, `{"error":"there is no path \"/v2/models\"; GET /v2 is the server, GET /v2/models/NAME a model"}`},
		{"GET", "/", 404, `{"error":"there is no path \"/\"; GET /v2 is the server, GET /v2/models/NAME a model"}`},
	} {
		if w := do(s, c.method, c.path, ""); w.Code != c.code || w.Body.String() != c.want {
			t.Errorf("%s %s: %d %s\nwant %d %s", c.method, c.path, w.Code, w.Body, c.code, c.want)
		}
	}
	if w := do(s, "HEAD", "/v2", ""); w.Code != 200 {
		t.Errorf("HEAD: %d", w.Code)
	}
}

// Each datatype goes in and out with the same bits, as JSON and in binary form, flat and nested.
func TestDatatypes(t *testing.T) {
	for _, c := range []struct {
		d           dtype.DType
		name        string
		flat, after string // after: as the server writes them, if otherwise
		raw         string // little-endian
	}{
		{dtype.Bool, "BOOL", "true,false", "", "\x01\x00"},
		{dtype.Uint8, "UINT8", "0,255", "", "\x00\xff"},
		{dtype.Uint16, "UINT16", "1,65535", "", "\x01\x00\xff\xff"},
		{dtype.Uint32, "UINT32", "1,4294967295", "", "\x01\x00\x00\x00\xff\xff\xff\xff"},
		{dtype.Uint64, "UINT64", "1,18446744073709551615", "", "\x01\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff"},
		{dtype.Int8, "INT8", "-128,127", "", "\x80\x7f"},
		{dtype.Int16, "INT16", "-32768,-2", "", "\x00\x80\xfe\xff"},
		{dtype.Int32, "INT32", "-2147483648,7", "", "\x00\x00\x00\x80\x07\x00\x00\x00"},
		{dtype.Int64, "INT64", "-9223372036854775808,9007199254740993", "", "\x00\x00\x00\x00\x00\x00\x00\x80\x01\x00\x00\x00\x00\x00\x20\x00"},
		{dtype.Float16, "FP16", "1.5,-0.1", "1.5,-0.099975586", "\x00\x3e\x66\xae"},
		{dtype.BFloat16, "BF16", "1.5,-Infinity", "", "\xc0\x3f\x80\xff"},
		{dtype.Float32, "FP32", "0.1,1e-45", "", "\xcd\xcc\xcc\x3d\x01\x00\x00\x00"},
		{dtype.Float32, "FP32", "3.4028234663852886e38,-0.0", "3.4028235e+38,-0", "\xff\xff\x7f\x7f\x00\x00\x00\x80"},
		{dtype.Float32, "FP32", "NaN,-Infinity", "", "\x00\x00\xc0\x7f\x00\x00\x80\xff"},
		{dtype.Float32, "FP32", "Inf,-Inf", "Infinity,-Infinity", "\x00\x00\x80\x7f\x00\x00\x80\xff"},
		{dtype.Float64, "FP64", "0.1,Infinity", "", "\x9a\x99\x99\x99\x99\x99\xb9\x3f\x00\x00\x00\x00\x00\x00\xf0\x7f"},
	} {
		s := server(t, Options{}, echo(t, c.d))
		model := "echo-" + c.d.String()
		if c.after == "" {
			c.after = c.flat
		}
		two := strings.Split(c.flat, ",")
		for _, data := range []string{"[" + c.flat + "]", "[[" + c.flat + "]]", " [ [ " + two[0] + " , " + two[1] + " ] ] "} {
			w := infer(s, model, `{"inputs":[{"data":`+data+`,"shape":[1,2],"name":"x","datatype":"`+c.name+`"}]}`)
			if want := `"datatype":"` + c.name + `","shape":[1,2],"data":[` + c.after + `]}`; w.Code != 200 || !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s %s: %d %s\nwant %s", c.name, data, w.Code, w.Body, want)
			}
		}
		head := `{"parameters":{"binary_data_output":true},"inputs":[{"name":"x","datatype":"` + c.name + `","shape":[2,1],"parameters":{"binary_data_size":` + strconv.Itoa(len(c.raw)) + `}}]}`
		w := infer(s, model, head+c.raw, headerLength, strconv.Itoa(len(head)))
		if n, _ := strconv.Atoi(w.Header().Get(headerLength)); w.Code != 200 || n > w.Body.Len() || w.Body.String()[n:] != c.raw {
			t.Errorf("%s %q: %d %q", c.name, c.raw, w.Code, w.Body)
		}
	}
}

// Tensors without elements, and without axes.
func TestEmptyTensors(t *testing.T) {
	s := server(t, Options{}, echo(t, dtype.Float32), looping(t))
	for shape, data := range map[string]string{"0,3": "[]", "3,0": "[[],[],[]]", "0,0": "[]", "2,0": "[ ]"} {
		w := infer(s, "echo-float32", `{"inputs":[{"name":"x","datatype":"FP32","shape":[`+shape+`],"data":`+data+`}]}`)
		if w.Code != 200 || !strings.Contains(w.Body.String(), `"shape":[`+shape+`],"data":[]`) {
			t.Errorf("%s: %d %s", shape, w.Code, w.Body)
		}
	}
	w := infer(s, "looping", `{"inputs":[{"name":"n","datatype":"INT64","shape":[],"data":[5]}]}`)
	if w.Code != 200 || !strings.Contains(w.Body.String(), `"shape":[],"data":[5]`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// Bodies that are wrong get an error that says where, and the server lives.
func TestBadBodies(t *testing.T) {
	s := server(t, Options{MaxBody: 1 << 16, MaxMemory: 1 << 16, MaxIterations: 1000, Timeout: time.Second}, echo(t, dtype.Float32), echo(t, dtype.Int8), mymodel(t), looping(t), dividing(t))
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
		{"echo-float32", x(`"shape":[1,2],"data":[1,null]`), 400, "want a number for FP32", nil},
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

// What can't be served is an error of New.
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
		if _, err := New(Options{}, models...); err == nil || !strings.HasPrefix(err.Error(), "serve: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A body that comes slowly or breaks off over a network, one that announces less than it sends, and a client that goes away.
func TestSlowClients(t *testing.T) {
	s := server(t, Options{BodyTimeout: 300 * time.Millisecond, MaxBody: 1 << 20}, echo(t, dtype.Float32), looping(t))
	web := httptest.NewServer(s)
	defer web.Close()
	ask := func(rest ...string) string {
		c, err := net.Dial("tcp", web.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(10 * time.Second))
		fmt.Fprint(c, "POST /v2/models/echo-float32/infer HTTP/1.1\r\nHost: x\r\n")
		for _, r := range rest {
			if r == "cut" {
				c.(*net.TCPConn).CloseWrite()
				continue
			}
			io.WriteString(c, r)
		}
		b, _ := io.ReadAll(c)
		line, _, _ := strings.Cut(string(b), "\r\n")
		_, text, _ := strings.Cut(string(b), "\r\n\r\n")
		return line + " " + text
	}
	for _, c := range []struct{ got, status, want string }{
		{ask("Content-Length: 100\r\n\r\n{"), "408", "the body didn't arrive within 300ms"},
		{ask("Content-Length: 100\r\n\r\n{", "cut"), "400", "the body ends after 1 bytes"},
		{ask("Transfer-Encoding: chunked\r\n\r\n5\r\n{\"inp", "cut"), "400", "the body ends after 5 bytes"},
		{ask("Transfer-Encoding: chunked\r\n\r\nzz\r\n"), "400", "reading the body"},
		{ask("Content-Length: 2000000\r\n\r\n"), "413", "more than 1048576 bytes"},
		{ask("Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("10000\r\n"+strings.Repeat(" ", 1<<16)+"\r\n", 17)), "413", "more than 1048576 bytes"},
	} {
		if !strings.HasPrefix(c.got, "HTTP/1.1 "+c.status) || !strings.Contains(c.got, c.want) {
			t.Errorf("got %s, want %s %s", c.got, c.status, c.want)
		}
	}
	// A run ends when its client goes away.
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	r, _ := http.NewRequestWithContext(ctx, "POST", web.URL+"/v2/models/looping/infer", strings.NewReader(`{"inputs":[{"name":"n","datatype":"INT64","shape":[],"data":[16000000]}]}`))
	if _, err := http.DefaultClient.Do(r); !errors.Is(err, context.Canceled) {
		t.Errorf("the client got %v", err)
	}
	settle(t, s)
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) { // it is counted last
		s.mu.Lock()
		n := s.counts[counted{"looping", statusGone}]
		s.mu.Unlock()
		if n == 1 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d requests of clients that went away are counted, want 1", n)
		}
	}
}

// settle waits until a server has nothing to do.
func settle(t testing.TB, s *Server) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		s.mu.Lock()
		active := s.active
		s.mu.Unlock()
		if active == 0 && s.held.Load() == 0 && s.queue.Load() == 0 && len(s.slots) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d requests are active, %d wait, %d run, %d bytes are held", active, s.queue.Load(), len(s.slots), s.held.Load())
		}
	}
}

func TestTimeout(t *testing.T) {
	s := server(t, Options{Timeout: 50 * time.Millisecond, MaxIterations: -1}, looping(t))
	start := time.Now()
	w := infer(s, "looping", `{"inputs":[{"name":"n","datatype":"INT64","shape":[],"data":[1000000000]}]}`)
	if got := errorOf(t, w.Body.Bytes()); w.Code != 504 || got != "the request took longer than 50ms" || time.Since(start) > 5*time.Second {
		t.Errorf("%d %s after %v", w.Code, got, time.Since(start))
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
