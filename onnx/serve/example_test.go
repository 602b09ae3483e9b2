package serve_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/onnx/serve"
)

// model doubles its input.
func model() serve.Model {
	b := onnx.NewBuilder("double")
	x := b.Input("x", dtype.Float32, "n")
	b.Output(b.Rename(b.Node("Add", []string{x, x}), "y"), dtype.Float32, "n")
	m, err := b.Model(13) // or onnx.Open("double.onnx")
	if err != nil {
		log.Fatal(err)
	}
	return serve.Model{Name: "double", Model: m}
}

func show(r *http.Response, err error) {
	if err != nil {
		log.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.StatusCode, string(b))
}

// A program mounts the models in its own mux.
func ExampleNew() {
	s, err := serve.New(&serve.Options{MaxBody: 1 << 20}, model())
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/v2/", s)
	web := httptest.NewServer(mux)
	defer web.Close()
	show(http.Get(web.URL + "/v2/models/double"))
	show(http.Post(web.URL+"/v2/models/double/infer", "application/json",
		strings.NewReader(`{"inputs":[{"name":"x","datatype":"FP32","shape":[2],"data":[1,2.5]}]}`)))
	// Output:
	// 200 {"name":"double","versions":["1"],"platform":"onnx_onnxv1","inputs":[{"name":"x","datatype":"FP32","shape":[-1]}],"outputs":[{"name":"y","datatype":"FP32","shape":[-1]}]}
	// 200 {"model_name":"double","model_version":"1","outputs":[{"name":"y","datatype":"FP32","shape":[2],"data":[2,5]}]}
}

// Serve listens until its context ends; signal.NotifyContext makes one that SIGTERM ends.
func ExampleServer_Serve() {
	s, err := serve.New(nil, model())
	if err != nil {
		log.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan error)
	go func() { over <- s.Serve(ctx, l) }()
	show(http.Get("http://" + l.Addr().String() + "/v2/health/ready"))
	stop()
	fmt.Println(<-over)
	// Output:
	// 200 {"live":true,"ready":true}
	// <nil>
}

// A server in a program's own mux is shut down before its models are closed.
func ExampleServer_Shutdown() {
	s, err := serve.New(nil, model())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Shutdown(context.Background()))
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("POST", "/v2/models/double/infer", nil))
	fmt.Println(w.Code, w.Body)
	// Output:
	// <nil>
	// 503 {"error":"the server is stopping"}
}

// Any handler can ask a server.
func ExampleServer_ServeHTTP() {
	s, err := serve.New(nil, model())
	if err != nil {
		log.Fatal(err)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "/v2/models/double/ready", nil))
	fmt.Println(w.Code, w.Body)
	// Output: 200 {"name":"double","ready":true}
}

// A model that can't be served doesn't end the others.
func ExampleServer_Names() {
	other := model()
	other.Name = "a/b"
	s, err := serve.New(nil, model(), other)
	fmt.Println(s.Names())
	fmt.Println(err)
	// Output:
	// [double]
	// serve: model "a/b": value: the name "a/b" can't stand in a path: want letters, and neither / nor control characters
}
