package serve

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

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

// A request may ask for the digests of the outputs.
func TestDigests(t *testing.T) {
	const body = `{"inputs":[{"name":"input0","shape":[2,2],"datatype":"UINT32","data":[1,2,3,4]},{"name":"input1","shape":[3],"datatype":"BOOL","data":[true,true,true]}]}`
	s := server(t, Options{}, mymodel(t))
	want, err := tensor.Digest(tensor.FromSlice([]float32{1, 1.1, 2, 2.1, 3, 3.1}, 3, 2).Any())
	if err != nil {
		t.Fatal(err)
	}
	if w := infer(s, "mymodel", body, wantDigest, "1"); w.Code != 200 || w.Header().Get(digestHeader) != fmt.Sprintf("%x", want) {
		t.Errorf("%d, %q, want %x", w.Code, w.Header().Get(digestHeader), want)
	}
	if w := infer(s, "mymodel", body); w.Code != 200 || len(w.Header().Values(digestHeader)) != 0 {
		t.Errorf("%d, %q without asking", w.Code, w.Header().Get(digestHeader))
	}
	text := array{t: typeOf((*datatype).isText), shape: []int{2}, texts: []string{"a", "b"}}
	if got, err := text.digest(); err != nil {
		t.Error(err)
	} else if want, _ := onnx.StringsValue([]int{2}, "a", "b").Digest(); got != want {
		t.Errorf("%v, want %x", got, want)
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

// Which outputs are binary: as the request says, unless the output says otherwise.
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
		{"GET", "/v2/models", 200, `{"models":[{"name":"digits","versions":["1"]},{"name":"mymodel","versions":["1"]}]}`},
		{"POST", "/v2/models", 405, `{"error":"POST isn't for this path, GET is"}`},
		{"GET", "/", 404, `{"error":"there is no path \"/\"; GET /v2 is the server, GET /v2/models lists the models, GET /v2/models/NAME is one"}`},
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

// Bodies as the Python client of Triton's client repository makes them, and answers as it reads them: tritonclient/http,
// _utils.py, _infer_input.py and _infer_result.py of github.com/triton-inference-server/client. It writes JSON without
// spaces, asks for binary outputs if none are named, and finds each one's bytes by the sizes of those before it.
func TestPythonClient(t *testing.T) {
	s := server(t, Options{}, echo(t, dtype.Float32), words(t))
	for _, c := range []struct {
		model, json, raw string
		want             map[string]string // of each output the bytes, or the elements as JSON
	}{
		{"echo-float32", `{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","parameters":{"binary_data_size":8}}],"parameters":{"binary_data_output":true}}`,
			"\x00\x00\x80\x3f\x00\x00\xc0\x7f", map[string]string{"y": "\x00\x00\x80\x3f\x00\x00\xc0\x7f"}},
		{"echo-float32", `{"id":"7","inputs":[{"name":"x","shape":[0,2],"datatype":"FP32","parameters":{"binary_data_size":0}}],"parameters":{"priority":1,"timeout":500000,"binary_data_output":true}}`,
			"", map[string]string{"y": ""}},
		{"echo-float32", `{"inputs":[{"name":"x","shape":[2,1],"datatype":"FP32","data":[1.0,-2.5]}],"outputs":[{"name":"y","parameters":{"binary_data":false}}]}`,
			"none", map[string]string{"y": "[1,-2.5]"}},
		{"words", `{"inputs":[{"name":"s","shape":[1,2],"datatype":"BYTES","parameters":{"binary_data_size":10}}],"outputs":[{"name":"n","parameters":{"binary_data":true}},{"name":"t","parameters":{"binary_data":true}}]}`,
			"\x01\x00\x00\x00a\x01\x00\x00\x00b", map[string]string{"n": "\x01\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff", "t": "\x01\x00\x00\x00a\x01\x00\x00\x00b"}},
		{"words", `{"inputs":[{"name":"s","shape":[1,1],"datatype":"BYTES","data":["\u00e9"]}],"parameters":{"binary_data_output":true}}`,
			"none", map[string]string{"n": "\x02\x00\x00\x00\x00\x00\x00\x00", "t": "\x02\x00\x00\x00\xc3\xa9"}},
	} {
		var w *httptest.ResponseRecorder
		if c.raw == "none" { // the request is JSON alone
			w = infer(s, c.model, c.json)
		} else {
			w = infer(s, c.model, c.json+c.raw, headerLength, strconv.Itoa(len(c.json)))
		}
		if w.Code != 200 {
			t.Errorf("%s: %d %s", c.json, w.Code, w.Body)
			continue
		}
		text, rest := w.Body.Bytes(), []byte(nil)
		if n, err := strconv.Atoi(w.Header().Get(headerLength)); err == nil {
			text, rest = text[:n], text[n:]
		}
		var answer struct {
			Outputs []struct {
				Name       string
				Data       json.RawMessage
				Parameters struct {
					Size *int `json:"binary_data_size"`
				}
			}
		}
		if err := json.Unmarshal(text, &answer); err != nil {
			t.Errorf("%s: %v in %s", c.json, err, text)
		}
		got := make(map[string]string)
		for _, o := range answer.Outputs {
			if got[o.Name] = string(o.Data); o.Parameters.Size != nil {
				got[o.Name], rest = string(rest[:*o.Parameters.Size]), rest[*o.Parameters.Size:]
			}
		}
		if !maps.Equal(got, c.want) || len(rest) > 0 {
			t.Errorf("%s: got %q and %d more bytes, want %q", c.json, got, len(rest), c.want)
		}
	}
}
