package endpoints

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/onnx/serve"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/text/vectors"
)

// A rerankRequest is a body for /rerank, in either form.
type rerankRequest struct {
	Model     string          `json:"model"`
	Query     *string         `json:"query"`
	Texts     json.RawMessage `json:"texts"`
	Documents json.RawMessage `json:"documents"`
	Raw       bool            `json:"raw_scores"`
	Text      bool            `json:"return_text"`
	Document  bool            `json:"return_documents"`
	Most      *int            `json:"top_n"`
	Truncate  bool            `json:"truncate"`
}

// A ranked is a text in the answer to texts, a result one in the answer to documents.
type (
	ranked struct {
		Index int     `json:"index"`
		Text  *string `json:"text,omitempty"`
		Score float32 `json:"score"`
	}
	document struct {
		Text string `json:"text"`
	}
	result struct {
		Index    int       `json:"index"`
		Document *document `json:"document,omitempty"`
		Score    float32   `json:"relevance_score"`
	}
)

// rerank answers a request for scores.
func (e *endpoints) rerank(ctx context.Context, body []byte, run serve.Run, take func(int64) error) ([]byte, error) {
	var r rerankRequest
	if err := parse(body, &r, take); err != nil {
		return nil, err
	}
	m, err := named(e.scores, r.Model)
	if err != nil {
		return nil, err
	}
	given := func(list json.RawMessage) bool { return list != nil && string(list) != "null" }
	list, documents := r.Texts, given(r.Documents)
	if r.Query == nil || given(list) == documents {
		return nil, wrong("the request wants query, and either texts or documents")
	}
	if documents {
		list = r.Documents
	}
	var texts []string
	switch {
	case !decoded(list, &texts):
		return nil, wrong("texts, or documents, is no list of texts")
	case len(texts) == 0:
		return nil, wrong("there are no texts")
	case len(texts) > e.limits.Texts:
		return nil, wrong("there are %d texts, the limit is %d", len(texts), e.limits.Texts)
	case r.Most != nil && *r.Most < 1:
		return nil, wrong("top_n is %d; want 1 at least", *r.Most)
	}
	if err := whole(body, append([]string{*r.Query}, texts...)...); err != nil {
		return nil, err
	}
	total := 0
	scores, err := m.Vectors.Rerank(ctx, *r.Query, texts, vectors.Options{Cut: r.Truncate, Raw: r.Raw, Counted: e.counted(&total, take),
		Run: func(ctx context.Context, in map[string]tensor.Any) (map[string]tensor.Any, error) {
			return run(ctx, m.Name, in)
		}})
	if err != nil {
		return nil, bare(err)
	}
	order := make([]int, len(scores))
	room := 256
	for i, s := range scores {
		if math.IsNaN(float64(s)) || math.IsInf(float64(s), 0) {
			return nil, fmt.Errorf("the score of text %d is %v, which JSON can't hold", i, s)
		}
		order[i] = i
		room += 64
		if r.Text || r.Document {
			room += 32 + 6*len(texts[i])
		}
	}
	if err := take(2 * int64(room)); err != nil {
		return nil, err
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case scores[i] > scores[j]:
			return -1
		case scores[i] < scores[j]:
			return 1
		}
		return 0
	})
	if r.Most != nil {
		order = order[:min(*r.Most, len(order))]
	}
	if !documents {
		list := []ranked{}
		for _, i := range order {
			one := ranked{Index: i, Score: scores[i]}
			if r.Text {
				one.Text = &texts[i]
			}
			list = append(list, one)
		}
		return json.Marshal(list)
	}
	results := []result{}
	for _, i := range order {
		one := result{Index: i, Score: scores[i]}
		if r.Document {
			one.Document = &document{texts[i]}
		}
		results = append(results, one)
	}
	return json.Marshal(map[string]any{"model": m.Name, "results": results, "usage": map[string]int{"total_tokens": total}})
}
