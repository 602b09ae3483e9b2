// Package endpoints answers requests about texts over HTTP, as services of package onnx/serve.
//
//	POST /v1/embeddings   vectors of texts, in the form of OpenAI
//	POST /rerank          scores of texts for a query, in the forms of Text Embeddings Inference and of Cohere
//
// The models are opened by package text/vectors. [New] makes the server's models and services of them:
//
//	models, services, err := endpoints.New(nil, endpoints.Model{Name: "minilm", Vectors: m})
//	s, err := serve.New(&serve.Options{Services: services}, models...)
//
// # Embeddings
//
// The body has the fields model, input, encoding_format (float or base64) and dimensions. Input is a text, a list of texts,
// a list of ids, or a list of lists of ids. The model gets ids as they are, so special tokens are among them. Two fields are this
// server's own: truncate cuts texts that are too long, and prompt_name names a prompt of the folder. Other fields are passed
// over. Base64 holds float32 numbers, the lowest byte first.
//
// # Rerank
//
// With texts, the body has query, raw_scores, return_text and truncate. The answer is a list of index and score. With
// documents, it has model, query, top_n and return_documents, and truncate as above. The answer is an object with results, of index
// and relevance_score. Both begin with the best text; of equal ones the first is first.
//
// A request with too many texts or tokens gets the status 400, as does a text that is too long for the model, unless it is cut.
//
// Sources: the reference "Create embeddings" of platform.openai.com, docs/openapi.json of
// github.com/huggingface/text-embeddings-inference, and the reference "Rerank" of docs.cohere.com.
package endpoints

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ashlar-go/ashlar/onnx/serve"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/text/vectors"
)

// Limits bound a request. The zero value is the default.
type Limits struct {
	Texts  int // at most; 0 is 2048
	Tokens int // of all texts together, at most; 0 is 300,000
}

// A Model is a folder that was opened, and the name under which clients ask for it.
type Model struct {
	Name    string
	Vectors *vectors.Model
}

// endpoints are the models, by their purpose.
type endpoints struct {
	limits         Limits
	embeds, scores []Model
}

// New returns the models that package serve runs, and the services that run them: /v1/embeddings where a model gives vectors,
// /rerank where one gives scores. A model that gives neither is an error.
func New(limits *Limits, models ...Model) ([]serve.Model, []serve.Service, error) {
	e := &endpoints{}
	if limits != nil {
		e.limits = *limits
	}
	if e.limits.Texts < 0 || e.limits.Tokens < 0 {
		return nil, nil, fmt.Errorf("endpoints: %w: the limits %+v are below 0", tensor.ErrValue, e.limits)
	}
	if e.limits.Texts == 0 {
		e.limits.Texts = 2048
	}
	if e.limits.Tokens == 0 {
		e.limits.Tokens = 300_000
	}
	var served []serve.Model
	for _, m := range models {
		switch {
		case m.Vectors == nil:
			return nil, nil, fmt.Errorf("endpoints: %w: the model %.100q is nil", tensor.ErrValue, m.Name)
		case m.Vectors.Embeds():
			e.embeds = append(e.embeds, m)
		case m.Vectors.Scores():
			e.scores = append(e.scores, m)
		default:
			return nil, nil, fmt.Errorf("endpoints: %w: the model %.100q labels tokens, and there is no path for these", tensor.ErrValue, m.Name)
		}
		served = append(served, serve.Model{Name: m.Name, Model: m.Vectors.ONNX()})
	}
	var services []serve.Service
	if e.embeds != nil {
		services = append(services, serve.Service{Path: "/v1/embeddings", Answer: e.embeddings, Refusal: refusal})
	}
	if e.scores != nil {
		services = append(services, serve.Service{Path: "/rerank", Answer: e.rerank})
	}
	return served, services, nil
}

// refusal is an error in OpenAI's form.
func refusal(status int, text string) []byte {
	kind := "invalid_request_error"
	if status >= 500 {
		kind = "server_error"
	}
	b, err := json.Marshal(map[string]any{"error": map[string]any{"message": text, "type": kind, "param": nil, "code": nil}})
	if err != nil {
		return []byte(`{"error":{"message":"` + http.StatusText(status) + `"}}`)
	}
	return b
}

// named finds the model of a request. A request that names none gets the only one.
func named(list []Model, name string) (Model, error) {
	var names []string
	for _, m := range list {
		if m.Name == name || name == "" && len(list) == 1 {
			return m, nil
		}
		names = append(names, m.Name)
	}
	if name == "" {
		return Model{}, wrong("the request has no model; the models are %.1000s", strings.Join(names, ", "))
	}
	return Model{}, fmt.Errorf("%w: there is no model %.100q here; the models are %.1000s", serve.ErrNotFound, name, strings.Join(names, ", "))
}

// A mistake is an error of the client.
type mistake struct{ text string }

func (m *mistake) Error() string { return m.text }
func (m *mistake) Unwrap() error { return tensor.ErrValue }

func wrong(format string, args ...any) error { return &mistake{fmt.Sprintf(format, args...)} }

// perByte is the most bytes that a byte of a request takes once it is read: a digit and a comma may be a list of its own.
const perByte = 32

// parse decodes a body.
func parse(body []byte, v any, take func(int64) error) error {
	if err := take(perByte * int64(len(body))); err != nil {
		return err
	}
	if !utf8.Valid(body) {
		return wrong("the body isn't UTF-8")
	}
	if err := json.Unmarshal(body, v); err != nil {
		var place *json.UnmarshalTypeError
		var syntax *json.SyntaxError
		switch {
		case errors.As(err, &place):
			if place.Field == "" {
				return wrong("the body is of type %s; want a JSON object", place.Value)
			}
			return wrong("the field %q is of type %s, at byte %d; want %s", place.Field, place.Value, place.Offset, kindOf(place.Type))
		case errors.As(err, &syntax):
			return wrong("the body isn't JSON, at byte %d: %v", syntax.Offset, err)
		}
		return wrong("the body isn't JSON: %v", err)
	}
	return nil
}

// kindOf names a type as clients know it.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int:
		return "an integer"
	case reflect.Bool:
		return "true or false"
	}
	return "a text"
}

// decoded decodes a value of JSON, and reports whether it has the type of v, without a null in it.
func decoded(b []byte, v any) bool {
	inText := false
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] == '"':
			inText = !inText
		case inText && b[i] == '\\':
			i++ // the next byte ends no text
		case !inText && b[i] == 'n':
			return false // no other word has it
		}
	}
	return json.Unmarshal(b, v) == nil
}

// whole refuses texts in which the decoder of JSON put U+FFFD for half of a surrogate pair.
func whole(body []byte, texts ...string) error {
	i := slices.IndexFunc(texts, func(t string) bool { return strings.ContainsRune(t, utf8.RuneError) })
	if i < 0 || bytes.Contains(body, []byte("\ufffd")) || bytes.Contains(bytes.ToLower(body), []byte(`\ufffd`)) {
		return nil // none is there, or the client's own
	}
	return wrong("text %d has half of a surrogate pair, which stands for no character", i)
}

// bare is an error of a call without the name of the package, which clients needn't know.
func bare(err error) error {
	var long *vectors.LengthError
	switch {
	case errors.As(err, &long):
		return wrong("%v", long)
	case errors.Is(err, tensor.ErrValue) && !errors.As(err, new(*mistake)):
		return wrong("%s", strings.TrimPrefix(strings.TrimPrefix(err.Error(), "vectors: "), tensor.ErrValue.Error()+": "))
	}
	return err
}

// counted is an Options.Counted that holds a request to the limits, and adds up its tokens.
func (e *endpoints) counted(total *int, take func(int64) error) func([]int) error {
	return func(tokens []int) error {
		for _, n := range tokens {
			*total += n
		}
		if *total > e.limits.Tokens {
			return wrong("the texts have %d tokens, the limit is %d", *total, e.limits.Tokens)
		}
		return take(perToken * int64(*total))
	}
}

// perToken is about the bytes that a token takes besides the run.
const perToken = 128
