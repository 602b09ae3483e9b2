package vectors_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/internal/encoders"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/text"
	"github.com/ashlar-go/ashlar/text/vectors"
)

// logitsOf runs a model on a text, or a pair, by hand.
func logitsOf(t *testing.T, m *vectors.Model, s string, pair *string) []float32 {
	t.Helper()
	session, err := onnx.NewSession(m.ONNX())
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Tokenizer().Encode(s, text.Options{Pair: pair})
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]tensor.Any{}
	for _, v := range session.Inputs() {
		in[v.Name] = tensor.FromSlice(map[string][]int64{"input_ids": e.IDs, "attention_mask": e.Attention, "token_type_ids": e.Types}[v.Name], 1, len(e.IDs)).Any()
	}
	out, err := session.Run(t.Context(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := tensor.As[float32](out["logits"])
	return slices.Clone(a.Contiguous().Elems())
}

func near(a float32, b float64) bool { return math.Abs(float64(a)-b) <= 1e-6 }

// Classes come best first, with probabilities by the function that config.json says.
func TestClassify(t *testing.T) {
	labels := []string{"good", "bad", "other"}
	for _, c := range []struct {
		config   map[string]any
		labels   []string
		raw      bool
		function string
	}{
		{nil, labels, false, "softmax"},
		{map[string]any{"problem_type": "single_label_classification"}, labels, false, "softmax"},
		{map[string]any{"problem_type": "multi_label_classification"}, labels, false, "sigmoid"},
		{map[string]any{"function_to_apply": "none"}, labels, false, "none"},
		{nil, labels, true, "none"},
		{nil, labels[:1], false, "sigmoid"},
	} {
		m := open(t, encoders.Kind{Family: "roberta", Labels: c.labels, Config: c.config}, nil)
		got, err := m.Classify(t.Context(), texts, vectors.Options{Raw: c.raw})
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range texts {
			logits := logitsOf(t, m, s, nil)
			sum := 0.0
			for _, x := range logits {
				sum += math.Exp(float64(x))
			}
			if len(got[i]) != len(c.labels) || !slices.IsSortedFunc(got[i], func(a, b vectors.Label) int {
				if a.Score > b.Score {
					return -1
				}
				return 1
			}) {
				t.Errorf("%q: %v isn't in order", s, got[i])
			}
			for _, l := range got[i] {
				x := float64(logits[slices.Index(c.labels, l.Name)])
				want := map[string]float64{"softmax": math.Exp(x) / sum, "sigmoid": 1 / (1 + math.Exp(-x)), "none": x}[c.function]
				if !near(l.Score, want) {
					t.Errorf("%s: %q: %s is %v, want %v", c.function, s, l.Name, l.Score, want)
				}
			}
		}
	}
}

// A score is that of the pair, whatever texts are beside its own.
func TestRerank(t *testing.T) {
	for _, c := range []struct {
		config map[string]any
		raw    bool
		logit  bool
	}{
		{nil, false, false}, {nil, true, true},
		{map[string]any{"sentence_transformers": map[string]any{"activation_fn": "torch.nn.modules.linear.Identity"}}, false, true},
		{map[string]any{"sbert_ce_default_activation_function": "torch.nn.modules.linear.Identity"}, false, true},
		{map[string]any{"sentence_transformers": map[string]any{"activation_fn": "torch.nn.modules.activation.Sigmoid"}}, false, false},
	} {
		m := open(t, encoders.Kind{Family: "bert", Labels: []string{"LABEL_0"}, Config: c.config}, nil)
		const query = "an old house"
		got, err := m.Rerank(t.Context(), query, texts, vectors.Options{Raw: c.raw})
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range texts {
			want := float64(logitsOf(t, m, query, &s)[0])
			if !c.logit {
				want = 1 / (1 + math.Exp(-want))
			}
			if !near(got[i], want) {
				t.Errorf("%q: %v, want %v", s, got[i], want)
			}
			if alone, err := m.Rerank(t.Context(), query, []string{s}, vectors.Options{Raw: c.raw}); err != nil || alone[0] != got[i] {
				t.Errorf("%q: %v alone, %v beside others, %v", s, alone, got[i], err)
			}
		}
	}
	m := open(t, encoders.Kind{Family: "bert", Labels: []string{"a", "b"}}, nil)
	if _, err := m.Rerank(t.Context(), "x", texts); err == nil || !strings.Contains(err.Error(), "one class") {
		t.Error(err)
	}
}

// Entities of a model that knows words have the bytes of the words.
func TestEntities(t *testing.T) {
	labels := []string{"O", "B-PER", "I-PER", "B-LOC", "I-LOC"}
	m := open(t, encoders.Kind{Labels: labels, Table: map[string]int{"anna": 1, "smith": 2, "berlin": 3}}, nil)
	list := []string{"é Anna Smith in Berlin", "nobody", "Berlin Berlin"}
	got, err := m.Entities(t.Context(), list, vectors.JoinSimple)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"PER", "Anna Smith", "LOC", "Berlin"}, nil, {"LOC", "Berlin", "LOC", "Berlin"}}
	for i, s := range list {
		var found []string
		for _, e := range got[i] {
			found = append(found, e.Label, s[e.Span.Start:e.Span.End])
		}
		if !slices.Equal(found, want[i]) {
			t.Errorf("%q: %q, want %q", s, found, want[i])
		}
	}
	const broken = "\xff Anna"
	if _, err := m.Entities(t.Context(), []string{broken}, vectors.JoinSimple); err == nil || !strings.Contains(err.Error(), "text 0") {
		t.Error(err)
	}
	all, err := m.Entities(t.Context(), []string{broken}, vectors.JoinAverage, vectors.Options{ReplaceInvalid: true})
	if err != nil || len(all[0]) != 1 || all[0][0].Span.Start != 4 {
		t.Error(all, err)
	}
}

// A call that the model isn't for says what the model is for.
func TestWrongCalls(t *testing.T) {
	embeds := open(t, encoders.Kind{Family: "bert"}, nil)
	scores := open(t, encoders.Kind{Family: "bert", Labels: []string{"x"}}, nil)
	words := open(t, encoders.Kind{Family: "bert", Labels: []string{"x"}, Tokens: true}, nil)
	for name, call := range map[string]func() error{
		"Embed wants embeddings of tokens; the output \"logits\"": func() error { _, err := scores.Embed(t.Context(), texts); return err },
		"EmbedIDs of logits": func() error { _, err := words.EmbedIDs(t.Context(), nil); return err },
		"Classify wants logits of texts; the output \"last_hidden_state\"": func() error { _, err := embeds.Classify(t.Context(), texts); return err },
		"Rerank wants logits of texts":                                     func() error { _, err := words.Rerank(t.Context(), "", texts); return err },
		"Entities wants logits of tokens":                                  func() error { _, err := scores.Entities(t.Context(), texts, vectors.JoinNone); return err },
		"there is no join \"sentence\"":                                    func() error { _, err := words.Entities(t.Context(), texts, "sentence"); return err },
		"has no prompt \"none\"":                                           func() error { _, err := embeds.Embed(t.Context(), texts, vectors.Options{Prompt: "none"}); return err },
		"Options.Prompt is for Embed":                                      func() error { _, err := scores.Classify(t.Context(), texts, vectors.Options{Prompt: "q"}); return err },
		"2 Options are given": func() error {
			_, err := embeds.Embed(t.Context(), texts, vectors.Options{}, vectors.Options{})
			return err
		},
		"Options.Dimensions is for Embed": func() error {
			_, err := scores.Classify(t.Context(), texts, vectors.Options{Dimensions: 3})
			return err
		},
		"Options.Dimensions and Options.R": func() error {
			_, err := words.Entities(t.Context(), texts, vectors.JoinMax, vectors.Options{Raw: true})
			return err
		},
	} {
		err := call()
		if !errors.Is(err, tensor.ErrValue) || name != "EmbedIDs of logits" && !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %s", err, name)
		}
	}
	for _, m := range []*vectors.Model{embeds, scores, words} {
		m.Close()
	}
	if _, err := embeds.Embed(t.Context(), texts); !errors.Is(err, tensor.ErrClosed) {
		t.Error(err)
	}
}

// A call whose context has ended makes no tokens.
func TestEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := vectors.Options{Counted: func([]int) error {
		t.Error("the texts became tokens")
		return nil
	}}
	embeds := open(t, encoders.Kind{Family: "bert"}, nil)
	scores := open(t, encoders.Kind{Family: "bert", Labels: []string{"x"}}, nil)
	names := open(t, encoders.Kind{Family: "bert", Labels: []string{"O"}, Tokens: true}, nil)
	_, embed := embeds.Embed(ctx, texts, o)
	_, ids := embeds.EmbedIDs(ctx, [][]int64{{1}}, o)
	_, classify := scores.Classify(ctx, texts, o)
	_, rerank := scores.Rerank(ctx, "red", texts, o)
	_, entities := names.Entities(ctx, texts, vectors.JoinSimple, o)
	for i, err := range []error{embed, ids, classify, rerank, entities} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("call %d: %v", i, err)
		}
	}
}

// The byte of a text that isn't UTF-8 is one of the text itself, without the prompt, and the query isn't a text.
func TestNotUTF8(t *testing.T) {
	embeds := open(t, encoders.Kind{Family: "bert"}, map[string]any{"config_sentence_transformers.json": `{"prompts": {"query": "search: "}}`})
	scores := open(t, encoders.Kind{Family: "bert", Labels: []string{"x"}}, nil)
	_, embed := embeds.Embed(t.Context(), []string{"red", "a�b\xff"}, vectors.Options{Prompt: "query"})
	_, text := scores.Rerank(t.Context(), "red", []string{"red", "\xff"})
	_, query := scores.Rerank(t.Context(), "r\xe4d", []string{"red"})
	for i, want := range []string{"text 1 isn't UTF-8 from byte 5 on", "text 1 isn't UTF-8 from byte 0 on", "the query isn't UTF-8 from byte 1 on"} {
		if err := []error{embed, text, query}[i]; !errors.Is(err, tensor.ErrValue) || !strings.Contains(err.Error(), "vectors: value: "+want+": set Options.ReplaceInvalid") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
