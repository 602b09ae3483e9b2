package endpoints_test

import (
	"fmt"
	"log"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/ashlar-go/ashlar/onnx/serve"
	"github.com/ashlar-go/ashlar/text/endpoints"
	"github.com/ashlar-go/ashlar/text/vectors"
)

func ExampleNew() {
	m, err := vectors.OpenFS(os.DirFS("../../examples/embeddings/encoder"))
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	models, services, err := endpoints.New(nil, endpoints.Model{Name: "encoder", Vectors: m})
	if err != nil {
		log.Fatal(err)
	}
	s, err := serve.New(&serve.Options{Services: services}, models...) // an http.Handler
	if err != nil {
		log.Fatal(err)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("POST", "/v1/embeddings", strings.NewReader(`{"model": "encoder", "input": "the red house", "encoding_format": "base64"}`)))
	fmt.Println(w.Code)
	fmt.Printf("%.80s…\n", w.Body)
	// Output:
	// 200
	// {"object":"list","data":[{"object":"embedding","index":0,"embedding":"CgkBvMuHL7…
}
