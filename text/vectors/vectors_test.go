package vectors_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/ashlar-go/ashlar/internal/encoders"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/text"
	"github.com/ashlar-go/ashlar/text/vectors"
)

// folder makes the files of a folder, some of them changed; nil takes one away.
func folder(t testing.TB, k encoders.Kind, changed map[string]any) fstest.MapFS {
	t.Helper()
	files, err := encoders.Files(k)
	if err != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{}
	for name, b := range files {
		fsys[name] = &fstest.MapFile{Data: b}
	}
	for name, b := range changed {
		switch b := b.(type) {
		case nil:
			delete(fsys, name)
		case string:
			fsys[name] = &fstest.MapFile{Data: []byte(b)}
		}
	}
	return fsys
}

func open(t testing.TB, k encoders.Kind, changed map[string]any, s ...vectors.Settings) *vectors.Model {
	t.Helper()
	m, err := vectors.OpenFS(folder(t, k, changed), s...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

var texts = []string{
	"the red house", "a green house", "the old bank of the river", "search the new road", "x", "", "Anna Smith works in Berlin",
	"the music of the bird and the fish in the water at the old stone wall by the river", "red", "blue", "the blue house", "naïve – 東京",
}

// bits are the bits of a vector.
func bits(v []float32) []uint32 {
	list := make([]uint32, len(v))
	for i, x := range v {
		list[i] = math.Float32bits(x)
	}
	return list
}

// A vector has the same bits alone and in any batch, of all families, also where the rows of a batch depend on each other.
func TestBatches(t *testing.T) {
	for _, k := range []encoders.Kind{{Family: "bert"}, {Family: "roberta"}, {Family: "modernbert", Layers: 3, Hidden: 16}, {Family: "bert", Dynamic: true},
		{Family: "bert", Fixed: true}, {Family: "roberta", Batch: 1}, {Family: "bert", Batch: 1, Fixed: true}} {
		t.Run(fmt.Sprintf("%+v", k), func(t *testing.T) {
			m := open(t, k, nil)
			alone := make([][]float32, len(texts))
			for i, s := range texts {
				v, err := m.Embed(t.Context(), []string{s})
				if err != nil {
					t.Fatal(err)
				}
				alone[i] = v[0]
			}
			for i := range texts {
				if j := (i + 1) % len(texts); slices.Equal(alone[i], alone[j]) {
					t.Errorf("%q and %q have one vector", texts[i], texts[j])
				}
			}
			r := rand.New(rand.NewPCG(1, 2))
			for range 50 {
				var batch []string
				var want []int
				for range 1 + r.IntN(20) {
					i := r.IntN(len(texts))
					batch, want = append(batch, texts[i]), append(want, i)
				}
				got, err := m.Embed(t.Context(), batch)
				if err != nil {
					t.Fatal(err)
				}
				for b, i := range want {
					if !slices.Equal(bits(got[b]), bits(alone[i])) {
						t.Fatalf("%q in %q has other bits than alone", texts[i], batch)
					}
				}
			}
		})
	}
}

// The trial sees that rows depend on each other where no operator is known to do so. The encoder adds the mean of the batch.
func TestTrial(t *testing.T) {
	fsys := folder(t, encoders.Kind{Family: "bert"}, nil)
	whole, err := onnx.OpenFS(fsys, "onnx/model.onnx")
	if err != nil {
		t.Fatal(err)
	}
	g := whole.Graph
	last := &g.Nodes[len(g.Nodes)-1]
	out := last.Outputs[0]
	last.Outputs[0] = "before"
	g.Nodes = append(g.Nodes, onnx.Node{Op: "ReduceMean", Inputs: []string{"before"}, Outputs: []string{"mean"}}, onnx.Node{Op: "Add", Inputs: []string{"before", "mean"}, Outputs: []string{out}})
	b, err := onnx.Encode(whole)
	if err != nil {
		t.Fatal(err)
	}
	fsys["onnx/model.onnx"] = &fstest.MapFile{Data: b}
	m, err := vectors.OpenFS(fsys)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	runs := 0
	session, err := onnx.NewSession(m.ONNX())
	if err != nil {
		t.Fatal(err)
	}
	count := vectors.Options{Run: func(ctx context.Context, in map[string]tensor.Any) (map[string]tensor.Any, error) {
		runs++
		return session.Run(ctx, in, nil)
	}}
	batch := []string{"red", "blue", "green"}
	together, err := m.Embed(t.Context(), batch, count)
	if err != nil {
		t.Fatal(err)
	}
	if runs < len(batch)+2 {
		t.Errorf("%d runs: the texts ran together", runs)
	}
	for i, s := range batch {
		alone, err := m.Embed(t.Context(), []string{s})
		if err != nil || !slices.Equal(bits(alone[0]), bits(together[i])) {
			t.Errorf("%q: other bits, %v", s, err)
		}
	}
	m = open(t, encoders.Kind{Family: "bert"}, nil)
	session, err = onnx.NewSession(m.ONNX())
	if err != nil {
		t.Fatal(err)
	}
	runs = 0
	for range 2 {
		if _, err := m.Embed(t.Context(), batch, count); err != nil {
			t.Fatal(err)
		}
	}
	if runs != 3+1+1 {
		t.Errorf("%d runs of an encoder whose rows are independent, want 3 of the trial and 2", runs)
	}
}

// byHand runs the encoder on one text, and returns its tokens' embeddings, row by row.
func byHand(t *testing.T, m *vectors.Model, s string) [][]float32 {
	t.Helper()
	session, err := onnx.NewSession(m.ONNX())
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Tokenizer().Encode(s, text.Options{})
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
	a, _ := tensor.As[float32](out["last_hidden_state"])
	var rows [][]float32
	for i := range a.Dim(1) {
		rows = append(rows, a.Slice(tensor.I(0), tensor.I(i)).Elems())
	}
	return rows
}

// Pooling is what its definition says, in the old and the new form of its settings.
func TestPooling(t *testing.T) {
	sum := func(rows [][]float32, weight func(int) float64, divide func(float64) float64) (v []float32) {
		for c := range rows[0] {
			s, n := 0.0, 0.0
			for i, row := range rows {
				s += float64(weight(i) * float64(row[c]))
				n += weight(i)
			}
			v = append(v, float32(s/divide(n)))
		}
		return v
	}
	one := func(int) float64 { return 1 }
	same := func(n float64) float64 { return n }
	want := map[string]func([][]float32) []float32{
		"cls":                  func(r [][]float32) []float32 { return r[0] },
		"lasttoken":            func(r [][]float32) []float32 { return r[len(r)-1] },
		"mean":                 func(r [][]float32) []float32 { return sum(r, one, same) },
		"mean_sqrt_len_tokens": func(r [][]float32) []float32 { return sum(r, one, math.Sqrt) },
		"weightedmean":         func(r [][]float32) []float32 { return sum(r, func(i int) float64 { return float64(i + 1) }, same) },
		"max": func(r [][]float32) (v []float32) {
			for c := range r[0] {
				most := r[0][c]
				for _, row := range r {
					most = max(most, row[c])
				}
				v = append(v, most)
			}
			return v
		},
	}
	old := map[string]string{"cls": "cls_token", "max": "max_tokens", "mean": "mean_tokens", "mean_sqrt_len_tokens": "mean_sqrt_len_tokens", "weightedmean": "weightedmean_tokens", "lasttoken": "lasttoken"}
	const noNormalize = `[{"path": "", "type": "a.Transformer"}, {"path": "1_Pooling", "type": "a.Pooling"}]`
	check := func(t *testing.T, m *vectors.Model, want func([][]float32) []float32) {
		t.Helper()
		got, err := m.Embed(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range texts {
			if w := want(byHand(t, m, s)); !slices.Equal(bits(got[i]), bits(w)) {
				t.Errorf("%q: %v, want %v", s, got[i][:4], w[:4])
			}
		}
	}
	k := encoders.Kind{Family: "bert"}
	for mode, f := range want {
		t.Run(mode, func(t *testing.T) {
			check(t, open(t, k, map[string]any{"modules.json": noNormalize, "1_Pooling/config.json": `{"pooling_mode": "` + mode + `"}`}), f)
			check(t, open(t, k, map[string]any{"modules.json": noNormalize, "1_Pooling/config.json": `{"pooling_mode_mean_tokens": false, "pooling_mode_` + old[mode] + `": true}`}), f)
			check(t, open(t, k, map[string]any{"modules.json": nil}, vectors.Settings{Pooling: mode}), f)
		})
	}
	check(t, open(t, k, map[string]any{"modules.json": noNormalize, "1_Pooling/config.json": `{"pooling_mode": ["max", "cls"]}`}), func(r [][]float32) []float32 {
		return append(want["max"](r), want["cls"](r)...)
	})
	check(t, open(t, k, nil), func(r [][]float32) []float32 {
		v, length := want["mean"](r), 0.0
		for _, x := range v {
			length += float64(float64(x) * float64(x))
		}
		for i, x := range v {
			v[i] = float32(float64(x) / math.Sqrt(length))
		}
		return v
	})
}

// A prompt is the beginning of each text. With include_prompt false its tokens don't count in the pooling.
func TestPrompts(t *testing.T) {
	k := encoders.Kind{Family: "bert"}
	m := open(t, k, nil)
	with, err := m.Embed(t.Context(), []string{"red house"}, vectors.Options{Prompt: "query"})
	if err != nil {
		t.Fatal(err)
	}
	as, err := m.Embed(t.Context(), []string{"query: red house"})
	if err != nil || !slices.Equal(with[0], as[0]) {
		t.Error("the prompt isn't the beginning of the text", err)
	}
	byDefault, err := open(t, k, map[string]any{"config_sentence_transformers.json": `{"prompts": {"q": "query: "}, "default_prompt_name": "q"}`}).Embed(t.Context(), []string{"red house"})
	if err != nil || !slices.Equal(with[0], byDefault[0]) {
		t.Error("the default prompt isn't the beginning of the text", err)
	}
	skips := open(t, k, map[string]any{"modules.json": `[{"path": "", "type": "a.Transformer"}, {"path": "1_Pooling", "type": "a.Pooling"}]`,
		"1_Pooling/config.json": `{"pooling_mode": "mean", "include_prompt": false}`})
	got, err := skips.Embed(t.Context(), []string{"red house"}, vectors.Options{Prompt: "query"})
	if err != nil {
		t.Fatal(err)
	}
	rows := byHand(t, skips, "query: red house")
	for c, x := range got[0] { // [CLS] query : | red house [SEP]
		want := 0.0
		for _, row := range rows[3:] {
			want += float64(row[c])
		}
		if x != float32(want/float64(len(rows)-3)) {
			t.Fatalf("number %d is %v, want the mean of %d tokens", c, x, len(rows)-3)
		}
	}
}

// A text beyond the model's length is an error with the number of tokens, or is cut.
func TestLength(t *testing.T) {
	k := encoders.Kind{Family: "bert", Length: 10}
	long := strings.Repeat("red ", 40)
	m := open(t, k, nil)
	_, err := m.Embed(t.Context(), []string{"red", long})
	var length *vectors.LengthError
	if !errors.As(err, &length) || *length != (vectors.LengthError{Text: 1, Tokens: 42, Length: 10}) {
		t.Error(err)
	}
	cut, err := m.Embed(t.Context(), []string{long}, vectors.Options{Cut: true})
	if err != nil {
		t.Fatal(err)
	}
	short, err := m.Embed(t.Context(), []string{strings.Repeat("red ", 8)})
	if err != nil || !slices.Equal(cut[0], short[0]) {
		t.Error("a text that is cut isn't its beginning", err)
	}
	tokenizer := string(folder(t, k, nil)["tokenizer.json"].Data)
	says := open(t, k, map[string]any{"tokenizer.json": strings.Replace(tokenizer, `"truncation":null`, `"truncation":{"direction":"Right","max_length":5,"strategy":"LongestFirst","stride":0}`, 1)})
	byFolder, err := says.Embed(t.Context(), []string{long})
	if err != nil || !slices.Equal(cut[0], byFolder[0]) {
		t.Error("a folder with a truncation doesn't cut", err)
	}
	if _, err := m.EmbedIDs(t.Context(), [][]int64{make([]int64, 11)}); !errors.As(err, &length) || length.Tokens != 11 {
		t.Error(err)
	}
	lefty := open(t, k, map[string]any{"tokenizer.json": strings.Replace(tokenizer, `"truncation":null`, `"truncation":{"direction":"Left","max_length":5,"strategy":"LongestFirst","stride":0}`, 1)})
	row := []int64{5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	got, err := lefty.EmbedIDs(t.Context(), [][]int64{row})
	if err != nil {
		t.Fatal(err)
	}
	end, err := lefty.EmbedIDs(t.Context(), [][]int64{row[2:]})
	if err != nil || !slices.Equal(got[0], end[0]) {
		t.Error("ids aren't cut on the side that the folder says", err)
	}
	for _, c := range []struct {
		changed map[string]any
		want    int
	}{
		{map[string]any{"sentence_bert_config.json": nil}, 10},
		{map[string]any{"sentence_bert_config.json": nil, "tokenizer_config.json": `{"model_max_length": 7}`}, 7},
		{map[string]any{"sentence_bert_config.json": nil, "tokenizer_config.json": `{"model_max_length": 1000000000000000019884624838656}`}, 10},
		{map[string]any{"sentence_bert_config.json": nil, "config.json": `{"model_type": "roberta", "max_position_embeddings": 12, "pad_token_id": 1}`}, 10},
		{map[string]any{"sentence_bert_config.json": nil, "config.json": nil}, 0},
	} {
		if got := open(t, k, c.changed).Length(); got != c.want {
			t.Errorf("%v: a length of %d, want %d", c.changed, got, c.want)
		}
	}
}

// Ids that a program gives are the model's input as they are.
func TestIDs(t *testing.T) {
	m := open(t, encoders.Kind{Family: "roberta"}, nil)
	e, err := m.Tokenizer().Encode("red house", text.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var counts []int
	got, err := m.EmbedIDs(t.Context(), [][]int64{e.IDs}, vectors.Options{Counted: func(n []int) error { counts = n; return nil }})
	if err != nil {
		t.Fatal(err)
	}
	want, err := m.Embed(t.Context(), []string{"red house"})
	if err != nil || !slices.Equal(got[0], want[0]) || !slices.Equal(counts, []int{len(e.IDs)}) {
		t.Error(err, counts)
	}
	stop := errors.New("too many")
	if _, err := m.Embed(t.Context(), texts, vectors.Options{Counted: func([]int) error { return stop }}); !errors.Is(err, stop) {
		t.Error(err)
	}
	for _, ids := range [][]int64{{-1}, {1 << 40}, {}} {
		if _, err := m.EmbedIDs(t.Context(), [][]int64{ids}); !errors.Is(err, tensor.ErrValue) {
			t.Errorf("%v: %v", ids, err)
		}
	}
}

// Dimensions are cut where the model says so, and the rest has length 1 again.
func TestDimensions(t *testing.T) {
	k := encoders.Kind{Family: "bert"}
	full, err := open(t, k, nil).Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	k.Config = map[string]any{"matryoshka_dimensions": []int{8, 16}}
	m := open(t, k, nil)
	got, err := m.Embed(t.Context(), texts, vectors.Options{Dimensions: 8})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		length, ratio := 0.0, float64(full[i][0])/float64(v[0])
		for c, x := range v {
			length += float64(x) * float64(x)
			if math.Abs(float64(full[i][c])/float64(x)-ratio) > 1e-5*math.Abs(ratio) {
				t.Errorf("%q: number %d has another direction", texts[i], c)
			}
		}
		if len(v) != 8 || math.Abs(length-1) > 1e-6 {
			t.Errorf("%d numbers of length %v", len(v), length)
		}
	}
	for _, d := range []int{7, 32, -1} {
		if _, err := m.Embed(t.Context(), texts, vectors.Options{Dimensions: d}); !errors.Is(err, tensor.ErrValue) {
			t.Errorf("%d: %v", d, err)
		}
	}
	if _, err := open(t, encoders.Kind{Family: "bert"}, nil).Embed(t.Context(), texts, vectors.Options{Dimensions: 8}); err == nil || !strings.Contains(err.Error(), "is_matryoshka") {
		t.Error(err)
	}
	k.Config = map[string]any{"is_matryoshka": true}
	if v, err := open(t, k, nil).Embed(t.Context(), texts[:1], vectors.Options{Dimensions: 5}); err != nil || len(v[0]) != 5 {
		t.Error(err)
	}
}

// Goroutines share a model, and the trial of its rows.
func TestConcurrent(t *testing.T) {
	want, err := open(t, encoders.Kind{Family: "bert"}, nil).Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	m := open(t, encoders.Kind{Family: "bert"}, nil)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			got, err := m.Embed(t.Context(), texts)
			if err != nil {
				t.Error(err)
				return
			}
			for i := range texts {
				if !slices.Equal(bits(got[i]), bits(want[i])) {
					t.Errorf("%q has other bits", texts[i])
				}
			}
		})
	}
	all.Wait()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Embed(ended, texts); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
