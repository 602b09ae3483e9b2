package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/internal/encoders"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/text/vectors"
)

// madeEncoder writes the folder of an encoder.
func madeEncoder(t *testing.T, k encoders.Kind) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tiny")
	if err := encoders.Write(dir, k); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Texts of arguments and of lines become the vectors of package vectors, as lines of JSON and as an npy file.
func TestEmbed(t *testing.T) {
	dir := madeEncoder(t, encoders.Kind{Family: "bert"})
	m, err := vectors.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	var texts []string
	for i := range 2*inOneCall + 7 {
		texts = append(texts, strings.Repeat("red house ", 1+i%5)+string(rune('a'+i%26)))
	}
	want, err := m.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	tmp := t.TempDir()
	lines, file := filepath.Join(tmp, "lines.txt"), filepath.Join(tmp, "v.npy")
	if err := os.WriteFile(lines, []byte(strings.Join(texts, "\n")+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if c := newCall(nil).with("embed", dir, "--lines", lines, "-o", file); c.code != 0 || c.out.Len() > 0 {
		t.Fatal(c.code, c.err.String(), c.out.String())
	}
	a, err := npy.Open(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows, ok := tensor.As[float32](a)
	if !ok || !slices.Equal(rows.Elems(), slices.Concat(want...)) {
		t.Errorf("the file holds other vectors: %s", tensor.Describe(a))
	}
	c := newCall(strings.NewReader(texts[0]+"\r\n"+texts[1])).with("embed", dir, "--lines", "-", "--json")
	for i, line := range strings.Split(strings.TrimSpace(c.out.String()), "\n") {
		var got struct {
			Text   string
			Tokens int
			Vector []float32
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil || got.Text != texts[i] || got.Tokens != 3+2*(1+i) || !slices.Equal(got.Vector, want[i]) {
			t.Errorf("%v %.200s %s", err, line, c.err.String())
		}
	}
	if c := newCall(nil).with("embed", dir, texts[0], texts[1]); c.code != 0 || strings.Count(c.out.String(), "\n") != 2 || !strings.Contains(c.out.String(), texts[0]+"  5 tokens, 32 numbers: ") {
		t.Error(c.code, c.err.String(), c.out.String())
	}
	if c := newCall(nil).with("embed", dir, "--lines", lines, "--check", file); c.code != 0 || !strings.Contains(c.out.String(), "519 vectors: cosine at least 1.0000000, largest difference 0, 519 with equal bits") {
		t.Error(c.code, c.err.String(), c.out.String())
	}
	rows = rows.Clone()
	rows.Set(rows.At(300, 2)+0.01, 300, 2)
	other := filepath.Join(tmp, "other.npy")
	f, err := os.Create(other)
	if err != nil {
		t.Fatal(err)
	}
	if err := npy.Write(f, rows.Any(), nil); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if c := newCall(nil).with("embed", dir, "--lines", lines, "--check", other); c.code != 1 || !strings.Contains(c.err.String(), "text 300: a number of its vector differs by 0.01, the tolerance is 1e-05") || !strings.Contains(c.out.String(), "518 with equal bits") {
		t.Error(c.code, c.err.String(), c.out.String())
	}
	if c := newCall(nil).with("embed", dir, "--lines", lines, "--check", other, "--tolerance", "0.02"); c.code != 0 {
		t.Error(c.code, c.err.String())
	}
	// the nearest of a text is itself, and texts that are equal come in the order of the lines
	c = newCall(nil).with("embed", dir, texts[4], "--near", file, "--near-lines", lines, "-k", "2")
	if c.code != 0 || !strings.HasPrefix(c.out.String(), "1.0000  4  "+texts[4]+"\n") || strings.Count(c.out.String(), "\n") != 2 {
		t.Error(c.code, c.err.String(), c.out.String())
	}
	if c = newCall(nil).with("embed", dir, texts[4], texts[3], "--near", file, "--json", "-k", "1"); c.code != 0 || !strings.Contains(c.out.String(), `"row":3,"cosine":`) || !strings.Contains(c.out.String(), `"row":4,"cosine":`) {
		t.Error(c.code, c.err.String(), c.out.String())
	}
}

func TestEmbedErrors(t *testing.T) {
	dir := madeEncoder(t, encoders.Kind{Family: "bert"})
	tmp := t.TempDir()
	empty, lines, narrow := filepath.Join(tmp, "empty.txt"), filepath.Join(tmp, "lines.txt"), filepath.Join(tmp, "narrow.npy")
	os.WriteFile(empty, nil, 0o666)
	os.WriteFile(lines, []byte("red\nblue\n"), 0o666)
	f, err := os.Create(narrow)
	if err != nil {
		t.Fatal(err)
	}
	if err := npy.Write(f, tensor.New[float32](2, 3).Any(), nil); err != nil {
		t.Fatal(err)
	}
	f.Close()
	labels := madeEncoder(t, encoders.Kind{Family: "bert", Labels: []string{"a", "b"}})
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{2, "there is no text", []string{dir}},
		{2, "leave one out", []string{dir, "x", "--lines", lines}},
		{2, "leave one out", []string{dir, "x", "--check", narrow, "--near", narrow}},
		{2, "--near-lines are the texts of --near", []string{dir, "x", "--near-lines", lines}},
		{2, "--best can't be 0", []string{dir, "x", "-k", "0"}},
		{2, "--tolerance can't be -1", []string{dir, "x", "--tolerance", "-1"}},
		{2, "--dimensions can't be -1", []string{dir, "x", "--dimensions", "-1"}},
		{2, "--dimensions can't be 0", []string{dir, "x", "--dimensions", "0"}},
		{1, "text 1 isn't UTF-8 from byte 2 on: set Options.ReplaceInvalid, or --replace-invalid", []string{dir, "x", "ab\xff"}},
		{2, "must end in .npy", []string{dir, "x", "-o", "x.txt"}},
		{1, "nowhere: ", []string{"nowhere", "x"}},
		{1, "it is a file; give the folder", []string{lines, "x"}},
		{1, "tokenizer.json: it isn't there", []string{tmp, "x"}},
		{1, "empty.txt: it has no lines", []string{dir, "--lines", empty}},
		{1, "nothing.txt: ", []string{dir, "--lines", "nothing.txt"}},
		{1, "text 0 has 102 tokens, the model takes 64", []string{dir, strings.Repeat("red ", 100)}},
		{1, "rows of 32 numbers, as the model gives", []string{dir, "x", "--check", narrow}},
		{1, "rows of 32 numbers, as the model gives", []string{dir, "x", "--near", narrow}},
		{1, "neither is_matryoshka nor", []string{dir, "x", "--dimensions", "3"}},
		{1, `no prompt "q"`, []string{dir, "x", "--prompt", "q"}},
		{1, "modules.json says the pooling", []string{dir, "x", "--pooling", "cls"}},
		{1, "Embed wants embeddings of tokens", []string{labels, "x"}},
		{1, "needs", []string{dir, "x", "--max-memory", "1000B"}},
	} {
		if got := newCall(nil).with(append([]string{"embed"}, c.args...)...); got.code != c.code || !strings.Contains(got.err.String(), c.want) {
			t.Errorf("embed %v: exit %d: %s\nwant %d %s", c.args, got.code, got.err.String(), c.code, c.want)
		}
	}
	replaced, given := newCall(nil).with("embed", dir, "--json", "--replace-invalid", "ab\xff"), newCall(nil).with("embed", dir, "--json", "ab\ufffd")
	if replaced.code != 0 || replaced.out.String() != given.out.String() {
		t.Errorf("exit %d: %s%s, want %s", replaced.code, replaced.err.String(), replaced.out.String(), given.out.String())
	}
	if c := newCall(nil).with("embed", dir, "--cut", strings.Repeat("red ", 100)); c.code != 0 || !strings.Contains(c.out.String(), "64 tokens") {
		t.Error(c.code, c.err.String(), c.out.String())
	}
}

// --text serves encoders beside models. A folder that can't be served ends the command.
func TestServeText(t *testing.T) {
	inRoot(t)
	dir, scores := madeEncoder(t, encoders.Kind{Family: "bert"}), madeEncoder(t, encoders.Kind{Family: "bert", Labels: []string{"LABEL_0"}})
	ctx, stop := context.WithCancel(t.Context())
	line, over := serving(t, ctx, "testdata/digits.onnx", "--text", dir, "--text", "scores="+scores, "--max-tokens", "20", "--integers")
	url, names, _ := strings.Cut(strings.TrimSpace(line), " ")
	if names != "serves digits, tiny, scores" {
		t.Errorf("it prints %q", line)
	}
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/v1/embeddings", `{"input": "red house", "model": "tiny"}`, 200, `"usage":{"prompt_tokens":4,"total_tokens":4}`},
		{"/rerank", `{"query": "red", "texts": ["house", "river"]}`, 200, `"score":`},
		{"/v1/embeddings", `{"input": "` + strings.Repeat("red ", 30) + `"}`, 400, "the texts have 32 tokens, the limit is 20"},
		{"/v2/models/tiny/infer", `{"inputs": []}`, 400, "input \\\"input_ids\\\" is missing"},
	} {
		r, err := http.Post(url+c.path, "application/json", strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || r.StatusCode != c.status || !strings.Contains(string(b), c.want) {
			t.Errorf("%s %s: %d %s", c.path, c.body, r.StatusCode, b)
		}
	}
	stop()
	c := <-over
	if c.code != 0 {
		t.Error(c.code, c.err.String())
	}
	for _, name := range strings.Split("digits tiny scores", " ") {
		if !strings.Contains(c.err.String(), `msg="no step runs on integers" model=`+name) {
			t.Errorf("--integers isn't for %s: %s", name, c.err.String())
		}
	}
	os.Remove(filepath.Join(scores, "tokenizer.json"))
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{1, "tokenizer.json: it isn't there", []string{"--text", scores}},
		{1, "two models of this name", []string{"--text", dir, "--text", dir}},
		{1, "can't stand in a path", []string{"--text", "a/b=" + dir}},
		{2, "--max-texts and --max-tokens are 1 at least", []string{"--text", dir, "--max-texts", "0"}},
	} {
		if got := newCall(nil).with(append([]string{"serve"}, c.args...)...); got.code != c.code || !strings.Contains(got.err.String(), c.want) {
			t.Errorf("serve %v: exit %d: %s\nwant %d %s", c.args, got.code, got.err.String(), c.code, c.want)
		}
	}
}
