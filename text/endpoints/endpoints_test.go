package endpoints_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ashlar-go/ashlar/internal/encoders"
	"github.com/ashlar-go/ashlar/onnx/serve"
	"github.com/ashlar-go/ashlar/text"
	"github.com/ashlar-go/ashlar/text/endpoints"
	"github.com/ashlar-go/ashlar/text/vectors"
)

func open(t testing.TB, k encoders.Kind) *vectors.Model {
	t.Helper()
	files, err := encoders.Files(k)
	if err != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{}
	for name, b := range files {
		fsys[name] = &fstest.MapFile{Data: b}
	}
	m, err := vectors.OpenFS(fsys)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// start serves models and returns the address.
func start(t testing.TB, o serve.Options, limits *endpoints.Limits, models ...endpoints.Model) string {
	t.Helper()
	served, services, err := endpoints.New(limits, models...)
	if err != nil {
		t.Fatal(err)
	}
	o.Services = services
	s, err := serve.New(&o, served...)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s)
	t.Cleanup(func() {
		web.Close()
		if err := s.Shutdown(t.Context()); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
	return web.URL
}

// post sends a body, and returns the status and the answer.
func post(t testing.TB, url, body string) (int, string) {
	t.Helper()
	r, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

type embedded struct {
	Object string `json:"object"`
	Model  string `json:"model"`
	Data   []struct {
		Object    string          `json:"object"`
		Index     int             `json:"index"`
		Embedding json.RawMessage `json:"embedding"`
	} `json:"data"`
	Usage struct {
		Prompt int `json:"prompt_tokens"`
		Total  int `json:"total_tokens"`
	} `json:"usage"`
}

// rows are the vectors of an answer.
func rows(t *testing.T, body string) (list [][]float32, e embedded) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		t.Fatalf("%v: %.200s", err, body)
	}
	if e.Object != "list" {
		t.Errorf("object %q", e.Object)
	}
	for i, d := range e.Data {
		if d.Object != "embedding" || d.Index != i {
			t.Errorf("%+v", d)
		}
		var v []float32
		var packed string
		if json.Unmarshal(d.Embedding, &packed) == nil {
			raw, err := base64.StdEncoding.DecodeString(packed)
			if err != nil {
				t.Fatal(err)
			}
			for ; len(raw) >= 4; raw = raw[4:] {
				v = append(v, math.Float32frombits(binary.LittleEndian.Uint32(raw)))
			}
		} else if err := json.Unmarshal(d.Embedding, &v); err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
	}
	return list, e
}

// Every form of input and output has the bits of Embed, alone and with requests that share runs.
func TestEmbeddings(t *testing.T) {
	m := open(t, encoders.Kind{Family: "bert", Config: map[string]any{"matryoshka_dimensions": []int{8}}})
	texts := []string{"the red house", "", "naïve \"quotes\"\n", "a green house"}
	want, err := m.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	var ids [][]int64
	total := 0
	for _, s := range texts {
		e, err := m.Tokenizer().Encode(s, text.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.IDs)
		total += len(e.IDs)
	}
	say := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, delay := range []time.Duration{0, time.Millisecond} {
		url := start(t, serve.Options{BatchDelay: delay}, nil, endpoints.Model{Name: "tiny", Vectors: m}) + "/v1/embeddings"
		for _, format := range []string{"", `, "encoding_format": "float"`, `, "encoding_format": "base64"`} {
			for _, c := range []struct {
				input string
				want  [][]float32
				total int
			}{
				{say(texts), want, total}, {say(ids), want, total}, {say(texts[0]), want[:1], len(ids[0])}, {say(ids[0]), want[:1], len(ids[0])},
			} {
				status, body := post(t, url, `{"model": "tiny", "user": "u", "input": `+c.input+format+`}`)
				got, e := rows(t, body)
				if status != 200 || len(got) != len(c.want) || e.Model != "tiny" || e.Usage.Prompt != c.total || e.Usage.Total != c.total {
					t.Fatalf("%d %.300s", status, body)
				}
				for i := range got {
					if !slices.Equal(got[i], c.want[i]) {
						t.Errorf("%s%s: vector %d differs", c.input, format, i)
					}
				}
				if strings.Contains(format, "base64") != strings.HasPrefix(string(e.Data[0].Embedding), `"`) {
					t.Errorf("%s: %.40s", format, e.Data[0].Embedding)
				}
			}
		}
		status, body := post(t, url, `{"input": "the red house", "dimensions": 8, "prompt_name": "query"}`)
		short, err := m.Embed(t.Context(), texts[:1], vectors.Options{Dimensions: 8, Prompt: "query"})
		if got, _ := rows(t, body); err != nil || status != 200 || !slices.Equal(got[0], short[0]) {
			t.Errorf("%d %s %v", status, body, err)
		}
		long := strings.Repeat("red ", 100)
		if status, body = post(t, url, `{"input": "`+long+`"}`); status != 400 || !strings.Contains(body, "text 0 has 102 tokens, the model takes 64") {
			t.Errorf("%d %s", status, body)
		}
		status, body = post(t, url, `{"truncate": true, "input": "`+long+`"}`)
		cut, err := m.Embed(t.Context(), []string{long}, vectors.Options{Cut: true})
		if got, _ := rows(t, body); err != nil || status != 200 || !slices.Equal(got[0], cut[0]) {
			t.Errorf("%d %s %v", status, body, err)
		}
	}
}

// A request that isn't right gets its status, and a text in OpenAI's form.
func TestRefusals(t *testing.T) {
	m := endpoints.Model{Name: "tiny", Vectors: open(t, encoders.Kind{Family: "bert"})}
	scores := endpoints.Model{Name: "scores", Vectors: open(t, encoders.Kind{Family: "bert", Labels: []string{"LABEL_0"}})}
	url := start(t, serve.Options{MaxBody: 4000, MaxHeld: 100_000}, &endpoints.Limits{Texts: 3, Tokens: 50}, m, scores)
	for _, c := range []struct {
		body   string
		status int
		want   string
	}{
		{``, 400, "the body isn't JSON"},
		{`{`, 400, "the body isn't JSON, at byte 1"},
		{"{\"input\": \"\xff\"}", 400, "the body isn't UTF-8"},
		{`{"input": "\ud800"}`, 400, "text 0 has half of a surrogate pair"},
		{`{}`, 400, "the request has no input"},
		{`{"input": null}`, 400, "the request has no input"},
		{`{"input": []}`, 400, "the input is an empty list"},
		{`{"input": 3}`, 400, "the input is neither a text"},
		{`{"input": ["a", 3]}`, 400, "the input is neither a text"},
		{`{"input": [1.5]}`, 400, "the input is neither a text"},
		{`{"input": [null]}`, 400, "the input is neither a text"},
		{`{"input": ["\"", null]}`, 400, "the input is neither a text"},
		{`{"input": [[1], [2, null]]}`, 400, "the input is neither a text"},
		{`[]`, 400, "the body is of type array; want a JSON object"},
		{`{"input": "x", "dimensions": 1.5}`, 400, "want an integer"},
		{`{"input": [[1], []]}`, 400, "text 1 has no tokens"},
		{`{"input": [100000]}`, 400, "text 0: no token has the id 100000"},
		{`{"input": "x", "model": "other"}`, 404, "there is no model \\\"other\\\" here; the models are tiny"},
		{`{"input": "x", "model": 3}`, 400, "the field \\\"model\\\" is of type number"},
		{`{"input": "x", "encoding_format": "hex"}`, 400, "encoding_format is"},
		{`{"input": "x", "dimensions": 0}`, 400, "dimensions is 0"},
		{`{"input": "x", "dimensions": 8}`, 400, "neither is_matryoshka nor"},
		{`{"input": "x", "prompt_name": "none"}`, 400, "has no prompt"},
		{`{"input": [3], "prompt_name": "query"}`, 400, "prompt_name is for texts"},
		{`{"input": ["a", "b", "c", "d"]}`, 400, "the input has 4 texts, the limit is 3"},
		{`{"input": ["` + strings.Repeat("a ", 30) + `", "` + strings.Repeat("a ", 30) + `"]}`, 400, "the texts have 64 tokens, the limit is 50"},
		{`{"input": "` + strings.Repeat(" ", 3500) + `"}`, 413, "the request needs"},
		{`{"input": "` + strings.Repeat(" ", 5000) + `"}`, 413, "the body has more than 4000 bytes"},
	} {
		status, body := post(t, url+"/v1/embeddings", c.body)
		var e struct {
			Error struct {
				Message, Type string
			}
		}
		if status != c.status || !strings.Contains(body, c.want) || json.Unmarshal([]byte(body), &e) != nil || e.Error.Type != "invalid_request_error" || strings.Contains(body, "vectors:") {
			t.Errorf("%.60s: %d %s\nwant %d %s", c.body, status, body, c.status, c.want)
		}
	}
	for _, c := range []struct {
		body   string
		status int
		want   string
	}{
		{`{"query": "x"}`, 400, "either texts or documents"},
		{`{"texts": ["x"]}`, 400, "either texts or documents"},
		{`{"query": "x", "texts": ["x"], "documents": ["x"]}`, 400, "either texts or documents"},
		{`{"query": "x", "texts": []}`, 400, "there are no texts"},
		{`{"query": "x", "texts": null, "documents": null}`, 400, "either texts or documents"},
		{`{"query": "x", "texts": ["a", null]}`, 400, "texts, or documents, is no list of texts"},
		{`{"query": "x", "documents": "n"}`, 400, "texts, or documents, is no list of texts"},
		{`{"query": "x", "texts": ["a", "b", "c", "d"]}`, 400, "there are 4 texts, the limit is 3"},
		{`{"query": "x", "documents": ["a"], "top_n": 0}`, 400, "top_n is 0"},
		{`{"query": "x", "documents": ["a"], "model": "tiny"}`, 404, "the models are scores"},
		{`{"query": "\udc00", "texts": ["x"]}`, 400, "half of a surrogate pair"},
		{`{"query": "` + strings.Repeat("a ", 70) + `", "texts": ["x"]}`, 400, "the model takes 64"},
	} {
		status, body := post(t, url+"/rerank", c.body)
		if status != c.status || !strings.HasPrefix(body, `{"error":"`) || !strings.Contains(body, c.want) {
			t.Errorf("%.60s: %d %s\nwant %d %s", c.body, status, body, c.status, c.want)
		}
	}
	r, err := http.Get(url + "/v1/embeddings")
	if err != nil || r.StatusCode != http.StatusMethodNotAllowed || r.Header.Get("Allow") != "POST" {
		t.Error(r.Status, err)
	}
	r.Body.Close()
	for _, models := range [][]endpoints.Model{{{Name: "x"}}, {{Name: "x", Vectors: open(t, encoders.Kind{Family: "bert", Labels: []string{"O"}, Tokens: true})}}} {
		if _, _, err := endpoints.New(nil, models...); err == nil {
			t.Error("a model that there is no path for is served")
		}
	}
	if _, _, err := endpoints.New(&endpoints.Limits{Texts: -1}); err == nil {
		t.Error("a limit below 0 is taken")
	}
}

// Scores come best first, in both forms.
func TestRerank(t *testing.T) {
	m := open(t, encoders.Kind{Family: "roberta", Labels: []string{"LABEL_0"}})
	url := start(t, serve.Options{}, nil, endpoints.Model{Name: "scores", Vectors: m}) + "/rerank"
	texts := []string{"the house is old", "bread", "water and bread", "music", "bread"}
	scores, err := m.Rerank(t.Context(), "an old house", texts)
	if err != nil {
		t.Fatal(err)
	}
	order := []int{0, 1, 2, 3, 4}
	slices.SortStableFunc(order, func(i, j int) int {
		if scores[i] > scores[j] {
			return -1
		} else if scores[i] < scores[j] {
			return 1
		}
		return 0
	})
	list, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	for _, withText := range []bool{false, true} {
		status, body := post(t, url, fmt.Sprintf(`{"query": "an old house", "texts": %s, "return_text": %v}`, list, withText))
		var got []struct {
			Index int
			Text  string
			Score float32
		}
		if err := json.Unmarshal([]byte(body), &got); status != 200 || err != nil || len(got) != len(texts) {
			t.Fatal(status, body, err)
		}
		for at, i := range order {
			want := ""
			if withText {
				want = texts[i]
			}
			if got[at].Index != i || got[at].Score != scores[i] || got[at].Text != want {
				t.Errorf("place %d: %+v, want %d %v %q", at, got[at], i, scores[i], want)
			}
		}
		status, body = post(t, url, fmt.Sprintf(`{"model": "scores", "query": "an old house", "documents": %s, "top_n": 2, "return_documents": %v}`, list, withText))
		var results struct {
			Model   string
			Results []struct {
				Index    int
				Document *struct{ Text string }
				Score    float32 `json:"relevance_score"`
			}
		}
		if err := json.Unmarshal([]byte(body), &results); status != 200 || err != nil || len(results.Results) != 2 || results.Model != "scores" {
			t.Fatal(status, body, err)
		}
		for at, i := range order[:2] {
			r := results.Results[at]
			if r.Index != i || r.Score != scores[i] || (r.Document != nil) != withText || withText && r.Document.Text != texts[i] {
				t.Errorf("place %d: %+v", at, r)
			}
		}
	}
	raw, err := m.Rerank(t.Context(), "an old house", texts[:1], vectors.Options{Raw: true})
	status, body := post(t, url, `{"query": "an old house", "texts": ["the house is old"], "raw_scores": true}`)
	if want := fmt.Sprintf(`[{"index":0,"score":%v}]`, raw[0]); err != nil || status != 200 || body != want {
		t.Errorf("%d %s, want %s", status, body, want)
	}
}

// FuzzBodies wants an answer in JSON for any body.
func FuzzBodies(f *testing.F) {
	m := endpoints.Model{Name: "tiny", Vectors: open(f, encoders.Kind{Family: "bert", Hidden: 8, Layers: 1, Length: 8})}
	scores := endpoints.Model{Name: "scores", Vectors: open(f, encoders.Kind{Family: "bert", Hidden: 8, Layers: 1, Length: 8, Labels: []string{"x"}})}
	served, services, err := endpoints.New(&endpoints.Limits{Texts: 4, Tokens: 100}, m, scores)
	if err != nil {
		f.Fatal(err)
	}
	s, err := serve.New(&serve.Options{Services: services, MaxBody: 1 << 16, MaxHeld: 8 << 20}, served...)
	if err != nil {
		f.Fatal(err)
	}
	for _, body := range []string{`{"input": "red"}`, `{"input": ["a", "b"], "encoding_format": "base64"}`, `{"input": [[2, 3], [2]], "dimensions": 3}`, `{"input": [1, 2], "truncate": true}`,
		`{"query": "x", "texts": ["a", "b"], "raw_scores": true}`, `{"query": "x", "documents": ["a"], "top_n": 1, "return_documents": true}`, `{"input":["\ud800"]}`} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, path := range []string{"/v1/embeddings", "/rerank"} {
			w := httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(string(body))))
			if w.Code >= 500 || !json.Valid(w.Body.Bytes()) {
				t.Errorf("%s: %d %s", path, w.Code, w.Body)
			}
		}
	})
}
