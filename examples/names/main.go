// Command names finds names and places in a text, with the bytes at which they stand.
//
//	go run ./examples/names examples/names/labels "Anna Smith works in Berlin"
//
// The folder holds a model that labels tokens, as dslim/bert-base-NER, with tokenizer.json and an ONNX file.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/ashlar-go/ashlar/text/vectors"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: names FOLDER TEXT")
		os.Exit(2)
	}
	if err := run(os.Stdout, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "names:", err)
		os.Exit(1)
	}
}

// run prints the entities of a text, and the text without them.
func run(w io.Writer, folder, text string) error {
	m, err := vectors.Open(folder)
	if err != nil {
		return err
	}
	defer m.Close()
	list, err := m.Entities(context.Background(), []string{text}, vectors.JoinFirst)
	if err != nil {
		return err
	}
	var hidden strings.Builder
	end := 0
	for _, e := range list[0] {
		fmt.Fprintf(w, "%s  %.2f  bytes %d to %d  %s\n", e.Label, e.Score, e.Span.Start, e.Span.End, text[e.Span.Start:e.Span.End])
		hidden.WriteString(text[end:e.Span.Start] + "[" + e.Label + "]")
		end = e.Span.End
	}
	fmt.Fprintln(w, hidden.String()+text[end:])
	return nil
}
