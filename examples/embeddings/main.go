// Command embeddings is a service that answers a text with its vector. The encoder is part of the program.
//
//	go run ./examples/embeddings
package main

import (
	"embed"
	"encoding/json"
	"io"
	"io/fs"
	"log"
	"net/http"

	"github.com/ashlar-go/ashlar/text/vectors"
)

//go:embed encoder
var files embed.FS

func main() {
	log.Fatal(http.ListenAndServe("127.0.0.1:8000", handler()))
}

// handler answers POST /embed: the body is a text, the answer its vector.
func handler() http.Handler {
	folder, err := fs.Sub(files, "encoder")
	if err != nil {
		log.Fatal(err)
	}
	m, err := vectors.OpenFS(folder)
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /embed", func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<16))
		var rows [][]float32
		if err == nil {
			rows, err = m.Embed(r.Context(), []string{string(text)})
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		json.NewEncoder(w).Encode(rows[0])
	})
	return mux
}
