package vectors_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/ashlar-go/ashlar/internal/encoders"
	"github.com/ashlar-go/ashlar/text/vectors"
)

// encoder writes an encoder with made-up weights to a folder, in place of a model from elsewhere.
func encoder(k encoders.Kind) string {
	dir, err := os.MkdirTemp("", "encoder")
	if err == nil {
		err = encoders.Write(dir, k)
	}
	if err != nil {
		log.Fatal(err)
	}
	return dir
}

func ExampleModel_Embed() {
	folder := encoder(encoders.Kind{Family: "bert"})
	defer os.RemoveAll(folder)
	m, err := vectors.Open(folder)
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	rows, err := m.Embed(context.Background(), []string{"the red house", "a green house"}, vectors.Options{Prompt: "query"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(rows), "vectors of", len(rows[0]), "numbers")
	_, err = m.Embed(context.Background(), []string{strings.Repeat("red ", 70)})
	fmt.Println(err)
	// Output:
	// 2 vectors of 32 numbers
	// vectors: text 0 has 72 tokens, the model takes 64: shorten it, or have it cut
}

// The model knows words alone. A trained one has the same form.
func ExampleModel_Entities() {
	folder := encoder(encoders.Kind{Labels: []string{"O", "B-PER", "I-PER", "B-LOC"}, Table: map[string]int{"anna": 1, "smith": 2, "berlin": 3}})
	defer os.RemoveAll(folder)
	m, err := vectors.Open(folder)
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	s := "Ich heiße Anna Smith, aus Berlin."
	list, err := m.Entities(context.Background(), []string{s}, vectors.JoinSimple)
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range list[0] {
		fmt.Printf("%s %q at bytes %d to %d\n", e.Label, s[e.Span.Start:e.Span.End], e.Span.Start, e.Span.End)
	}
	// Output:
	// PER "Anna Smith" at bytes 11 to 21
	// LOC "Berlin" at bytes 27 to 33
}

func ExampleModel_Rerank() {
	folder := encoder(encoders.Kind{Family: "roberta", Labels: []string{"LABEL_0"}})
	defer os.RemoveAll(folder)
	m, err := vectors.Open(folder)
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	scores, err := m.Rerank(context.Background(), "an old house", []string{"the house is old", "bread and water"})
	fmt.Println(len(scores), "scores", err)
	// Output:
	// 2 scores <nil>
}
