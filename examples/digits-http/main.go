// Command digits-http serves a model over HTTP, in a server that has other paths, too:
//
//	go run ./examples/digits-http testdata/digits.onnx
//
// Clients of the open inference protocol use /v2/, Prometheus reads /metrics, and POST /digit takes a picture file.
// README.md shows requests.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/ashlar-go/ashlar/format/image"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/onnx/serve"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: digits-http MODEL.onnx")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	l, err := net.Listen("tcp", "127.0.0.1:8000")
	if err == nil {
		fmt.Printf("http://%s\n", l.Addr())
		err = run(ctx, l, os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "digits-http:", err)
		os.Exit(1)
	}
}

// run answers on a listener until ctx ends, and lets running requests finish.
func run(ctx context.Context, l net.Listener, model string) error {
	defer l.Close()
	m, err := onnx.Open(model)
	if err != nil {
		return err
	}
	defer m.Close() // last: the server below reads its weights
	session, err := onnx.NewSession(m)
	if err != nil {
		return err
	}
	models, err := serve.New(nil, serve.Model{Name: "digits", Model: m})
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/v2/", models)
	mux.Handle("/metrics", models)
	mux.Handle("POST /digit", digit{session})

	web := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(l) }()
	select {
	case err = <-failed: // such as a listener that is closed
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return errors.Join(err, web.Shutdown(grace), models.Shutdown(grace))
}

// digit answers a PNG or JPEG picture with the digit that it shows.
type digit struct{ session *onnx.Session }

func (d digit) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const most = 1 << 20
	picture, err := image.Read(http.MaxBytesReader(w, r.Body, most), &image.Options{Float: true, Channels: 1, Height: 8, Width: 8})
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	in := map[string]tensor.Any{"image": picture.Reshape(1, 1, 8, 8)} // a batch of one
	out, err := d.session.Run(r.Context(), in, nil)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	p, ok := tensor.As[float32](out["probability"])
	if !ok {
		http.Error(w, "the model's output isn't float32", http.StatusInternalServerError)
		return
	}
	best := int(op.ArgMax(p, 1, op.ArgOptions{}).At(0))
	fmt.Fprintf(w, "{\"digit\": %d, \"probability\": %.4f}\n", best, p.At(0, best))
}
