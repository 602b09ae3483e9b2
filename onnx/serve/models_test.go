package serve

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
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
		sum := b.Node("ReduceSum", []string{b.Node("Cast", []string{x}, onnx.IntAttr("to", 1))}, onnx.IntAttr("keepdims", 0))
		share := b.Node("Div", []string{sum, b.Weight("ten", tensor.Scalar[float32](10).Any())})
		column := b.Node("Unsqueeze", []string{c, b.Weight("axis", tensor.FromSlice([]int64{1}, 1).Any())})
		kept := b.Node("Where", []string{column, w, b.Weight("zero", tensor.Scalar[float32](0).Any())})
		b.Output(b.Rename(b.Node("Mul", []string{kept, share}), "output0"), dtype.Float32, 3, 2)
	})
}

// echo gives back its input, of each type.
func echo(t testing.TB, d dtype.DType) Model {
	return build(t, "echo-"+d.String(), func(b *onnx.Builder) {
		b.Output(b.Rename(b.Node("Identity", []string{b.Input("x", d, nil, nil)}), "y"), d, nil, nil)
	})
}

// zipped is a classifier as scikit-learn's converter writes it: labels, and a map of probabilities for each row.
func zipped(t testing.TB) Model {
	return build(t, "zipped", func(b *onnx.Builder) {
		b.Import("ai.onnx.ml", 1)
		x := b.Input("x", dtype.Float32, nil, 2)
		out := b.Nodes("ai.onnx.ml.LinearClassifier", 2, []string{x}, onnx.FloatsAttr("coefficients", 1, 2, -1, -2), onnx.FloatsAttr("intercepts", 0, 0), onnx.IntsAttr("classlabels_ints", 3, 4), onnx.StringAttr("post_transform", "SOFTMAX"))
		b.Output(b.Rename(out[0], "output_label"), dtype.Int64, nil)
		maps := b.Node("ai.onnx.ml.ZipMap", []string{b.Rename(out[1], "probabilities")}, onnx.IntsAttr("classlabels_int64s", 3, 4))
		of := onnx.Type{Kind: onnx.KindTensor, Elem: onnx.ElemFloat32}
		b.OutputOf(b.Rename(maps, "output_probability"), onnx.Type{Kind: onnx.KindSequence, Of: &onnx.Type{Kind: onnx.KindMap, Elem: onnx.ElemInt64, Of: &of}})
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

func quotient(a, b int) string {
	return fmt.Sprintf(`{"inputs":[{"name":"a","datatype":"INT32","shape":[1],"data":[%d]},{"name":"b","datatype":"INT32","shape":[1],"data":[%d]}]}`, a, b)
}

func server(t testing.TB, o Options, models ...Model) *Server {
	t.Helper()
	s, err := New(&o, models...)
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

// settle waits until a server has nothing to do.
func settle(t testing.TB, s *Server) {
	t.Helper()
	for ; ; time.Sleep(time.Millisecond) {
		s.mu.Lock()
		active := s.active
		s.mu.Unlock()
		if active == 0 && s.held.Load() == 0 && s.queue.Load() == 0 && len(s.slots) == 0 {
			return
		}
	}
}

// goroutines waits until there are at most n. The end of the time that go test gives shows the goroutines left otherwise.
func goroutines(n int) {
	http.DefaultClient.CloseIdleConnections()
	for runtime.NumGoroutine() > n {
		time.Sleep(time.Millisecond)
	}
}

// clients is an HTTP client whose connections go with the test.
func clients(t testing.TB) *http.Client {
	tr := &http.Transport{MaxIdleConnsPerHost: 2048}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}
