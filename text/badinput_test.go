package text

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const small = `{"model":{"type":"WordLevel","vocab":{"a":0,"b":1,"<unk>":2},"unk_token":"<unk>"}}`

// TestBadFiles wants an error that names the part, the byte and the reason.
func TestBadFiles(t *testing.T) {
	with := func(part string) string { return strings.TrimSuffix(small, "}") + "," + part + "}" }
	bpe := func(rest string) string { return `{"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},` + rest + `}}` }
	for _, c := range []struct{ file, want string }{
		{"", "the file at byte 0: ends in the middle of a value"},
		{small[:40], "the file at byte 38: has a string without an end"},
		{small + "x", `has 'x' behind its end`},
		{"{\"model\": \"\xff\"}", "the file at byte 11: is not UTF-8"},
		{strings.Repeat("[", 1<<20), "more than 128 deep"},
		{`{"version":"2.0",` + small[1:], `version at byte 11: is "2.0", not 1.0`},
		{with(`"colour":1`), `has the member "colour"`},
		{with(`"normalizer":{"type":"Uppercase"}`), `normalizer at byte 95: is a normalizer "Uppercase", which this package doesn't know`},
		{with(`"normalizer":{"type":"Strip","strip_left":true}`), `has no "strip_right"`},
		{with(`"normalizer":{"type":"Lowercase","fast":true}`), `has the member "fast"`},
		{with(`"pre_tokenizer":{"type":"RandomChunk"}`), `"RandomChunk"`},
		{with(`"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Digits","individual_digits":1}]}`), "is neither true nor false"},
		{with(`"pre_tokenizer":{"type":"Split","pattern":{"Regex":"(a"},"behavior":"Isolated","invert":false}`), "has a ( without its )"},
		{with(`"pre_tokenizer":{"type":"Split","pattern":{"Regex":"(a)\\1"},"behavior":"Isolated","invert":false}`), `the escape \1`},
		{with(`"pre_tokenizer":{"type":"Split","pattern":{"Regex":"\\p{Klingon}"},"behavior":"Isolated","invert":false}`), `the property "Klingon"`},
		{with(`"pre_tokenizer":{"type":"Split","pattern":{"Regex":"((a{1000}){1000}){1000}"},"behavior":"Isolated","invert":false}`), "steps"},
		{with(`"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"x","type_id":0}}],"pair":[],"special_tokens":{}}`), `is "x", which special_tokens lacks`},
		{with(`"decoder":{"type":"Cyrillic"}`), `"Cyrillic"`},
		{with(`"truncation":{"max_length":-1,"strategy":"LongestFirst","stride":0}`), "is -1, not a whole number"},
		{with(`"padding":{"strategy":{"Fixed":999999999},"direction":"Right","pad_to_multiple_of":null,"pad_id":0,"pad_type_id":0,"pad_token":""}`), "999999999 tokens, more than"},
		{`{"model":{"type":"Transformer"}}`, `is a model "Transformer"`},
		{`{"model":{"type":"WordLevel","vocab":{"a":4294967296},"unk_token":"a"}}`, "model.vocab at byte 42: is 4294967296, not a whole number from 0 to 4294967295"},
		{`{"model":{"type":"WordLevel","vocab":{"a":0,"b":0},"unk_token":"a"}}`, `gives the tokens "a" and "b" one id`},
		{bpe(`"merges":["a b","b c"]`), `joins "c", which isn't in the vocabulary`},
		{bpe(`"merges":["b a"]`), `makes "ba", which isn't in the vocabulary`},
		{bpe(`"merges":["a  b"]`), "not two tokens"},
		{bpe(`"merges":[],"dropout":0.1`), "dropout at byte 74: is 0.1: tokens drawn at random"},
		{`{"model":{"type":"Unigram","vocab":[["a",-1]],"unk_id":1}}`, "has unk_id 1, but 1 tokens"},
		{with(`"normalizer":{"type":"Precompiled","precompiled_charsmap":"AAAA"}`), "too few for a map"},
		{with(`"normalizer":{"type":"Precompiled","precompiled_charsmap":"/////w=="}`), "says that its trie has"},
		{with(`"normalizer":{"type":"Precompiled","precompiled_charsmap":"BAAAAAD///8="}`), "leads to unit"},
	} {
		_, err := Parse([]byte(c.file))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.120s: error %v, want %q", c.file, err, c.want)
		}
	}
	if _, err := Parse([]byte(small)); err != nil {
		t.Error(err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "tokenizer.json")); err == nil {
		t.Error("a file that isn't there opens")
	}
}

// Merges that lead back to a token end: each makes a text longer, so there is no circle to go round.
func TestCyclicMerges(t *testing.T) {
	tok, err := Parse([]byte(`{"model":{"type":"BPE","vocab":{"a":0,"##":1,"##a":2},"merges":["a ##","a ##a"],"continuing_subword_prefix":"##"}}`))
	if err == nil {
		t.Errorf("a merge that makes a token that isn't there opens: %v", tok)
	}
	tok, err = Parse([]byte(`{"model":{"type":"BPE","vocab":{"a":0,"##":1},"merges":["a ##"],"continuing_subword_prefix":"##"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if e, err := tok.Encode("aa", Options{}); err != nil || fmt.Sprint(e.IDs) != "[0]" {
		t.Errorf("aa is %v, %v", e.IDs, err)
	}
}

// A regular expression that blows up ends with an error.
func TestHostileRegex(t *testing.T) {
	file := strings.TrimSuffix(small, "}") + `,"pre_tokenizer":{"type":"Split","pattern":{"Regex":"(x+x+)+y"},"behavior":"Isolated","invert":false}}`
	tok, err := Parse([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tok.Encode(strings.Repeat("x", 200), Options{}); err == nil || !strings.Contains(err.Error(), "too many steps") {
		t.Errorf("error %v", err)
	}
	if _, err := tok.Encode("xxxxy", Options{}); err != nil {
		t.Error(err)
	}
}

// A token that is a space and takes the spaces before it looks at each space once. With the spaces behind it the tokens
// overlap: few are as in the reference, many an error.
func TestManySpaces(t *testing.T) {
	open := func(left bool) *Tokenizer {
		tok, err := Parse([]byte(strings.TrimSuffix(small, "}") + fmt.Sprintf(`,"added_tokens":[{"id":3,"content":"\n","single_word":false,
			"lstrip":%v,"rstrip":%v,"normalized":false,"special":false}]}`, left, !left)))
		if err != nil {
			t.Fatal(err)
		}
		return tok
	}
	const n = 1 << 20
	e, err := open(true).Encode(strings.Repeat("\n", n), Options{})
	if err != nil || len(e.IDs) != n {
		t.Errorf("lstrip: %d tokens, %v, want %d", len(e.IDs), err, n)
	}
	e, err = open(false).Encode("\n\n\n", Options{})
	if err != nil || fmt.Sprintf("%q", e.Tokens) != `["\n\n\n" "\n\n" "\n"]` {
		t.Errorf("rstrip: %q, %v", e.Tokens, err)
	}
	if _, err := open(false).Encode(strings.Repeat("\n", n), Options{}); err == nil || !strings.Contains(err.Error(), "overlap") {
		t.Errorf("rstrip over many: error %v", err)
	}
}

func TestInvalidUTF8(t *testing.T) {
	tok, err := Parse([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	for s, at := range map[string]int{"\xff": 0, "ab\xc3": 2, "é\xed\xa0\x80": 2, "日\xe6\x97": 3} {
		if _, err := tok.Encode(s, Options{}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("from byte %d on", at)) {
			t.Errorf("%q: error %v, want byte %d", s, err, at)
		}
		if _, err := tok.Encode("a", Options{Pair: &s}); err == nil || !strings.Contains(err.Error(), "text 1") {
			t.Errorf("%q as the second text: error %v", s, err)
		}
		e, err := tok.Encode(s, Options{ReplaceInvalid: true})
		if err != nil || e.Tokens[0] != "<unk>" {
			t.Errorf("%q replaced: %v, %v", s, e.Tokens, err)
		}
	}
}

// mutate changes a file at a few places.
func mutate(r *rand.Rand, file []byte) []byte {
	b := append([]byte{}, file...)
	for range 1 + r.IntN(3) {
		i := r.IntN(len(b))
		switch r.IntN(5) {
		case 0:
			b = b[:i+1]
		case 1:
			b[i] = byte(r.IntN(256))
		case 2:
			b[i] = pick(r, []byte(`{}[]",:0123456789-\`)...)
		case 3:
			j := min(len(b), i+r.IntN(20))
			b = append(b[:i:i], b[j:]...)
		case 4:
			j := min(len(b), i+r.IntN(20))
			b = append(b[:j:j], b[i:]...)
		}
		if len(b) == 0 {
			break
		}
	}
	return b
}

// TestMutants opens damaged files, and encodes with the ones that open. Nothing may panic.
func TestMutants(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	var e Encoding
	opened, n := 0, max(1000, *cases)
	for i := 0; i < n; {
		file, extra := randomTokenizer(r)
		for range 20 {
			i++
			tok, err := Parse(mutate(r, file))
			if err != nil {
				if !strings.HasPrefix(err.Error(), "text: ") {
					t.Fatalf("error %v", err)
				}
				continue
			}
			opened++
			checkEncoding(t, tok, &e, randomText(r, extra))
		}
	}
	t.Logf("%d of %d mutants open", opened, n)
	if opened == 0 {
		t.Error("no mutant opens: nothing was encoded")
	}
	root := os.Getenv("ASHLAR_TOKENIZERS")
	if root == "" || *cases == 0 {
		t.Log("real files are damaged only with ASHLAR_TOKENIZERS and -cases")
		return
	}
	for name, path := range realFiles(t, root) {
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Log(err)
			continue
		}
		for _, c := range []struct {
			kind string
			file []byte
			n    int
		}{{"whole", whole, max(1, *cases*20000/len(whole))}, {"with 300 tokens", shorten(t, whole, 300), *cases}} {
			opened = 0
			for range c.n {
				if tok, err := Parse(mutate(r, c.file)); err == nil {
					opened++
					checkEncoding(t, tok, &e, randomText(r, nil))
				}
			}
			t.Logf("%s, %s, %d bytes: %d of %d mutants open", name, c.kind, len(c.file), opened, c.n)
		}
	}
}

// shorten returns a file with its first tokens alone, and the merges of those.
func shorten(t *testing.T, file []byte, n int) []byte {
	var f, model map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(file, &f), json.Unmarshal(f["model"], &model)); err != nil {
		t.Fatal(err)
	}
	var words map[string]int
	var scores [][2]any
	var result any
	kept := func(s string) bool { id, ok := words[s]; return ok && id < n }
	if json.Unmarshal(model["vocab"], &words) == nil {
		short := m{}
		for s, id := range words {
			if id < n {
				short[s] = id
			}
		}
		result = short
	} else if err := json.Unmarshal(model["vocab"], &scores); err != nil {
		t.Fatal(err)
	} else {
		result = scores[:n]
	}
	set := func(to map[string]json.RawMessage, key string, v any) {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		to[key] = data
	}
	set(model, "vocab", result)
	if model["merges"] != nil {
		var merges []any
		if err := json.Unmarshal(model["merges"], &merges); err != nil {
			t.Fatal(err)
		}
		set(model, "merges", slices.DeleteFunc(merges, func(merge any) bool {
			var a, b string
			switch x := merge.(type) {
			case string:
				a, b, _ = strings.Cut(x, " ")
			case []any:
				a, b = x[0].(string), x[1].(string)
			}
			return !kept(a) || !kept(b) || !kept(a+b)
		}))
	}
	set(f, "model", model)
	data, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Parse(data); err != nil {
		t.Fatal(err)
	}
	return data
}

// checkEncoding encodes and checks the laws of every encoding.
func checkEncoding(t *testing.T, tok *Tokenizer, e *Encoding, s string) {
	t.Helper()
	if err := tok.EncodeInto(e, s, Options{}); err != nil {
		return
	}
	n := len(e.IDs)
	if len(e.Types) != n || len(e.Attention) != n || len(e.Special) != n || len(e.Tokens) != n || len(e.Spans) != n || len(e.Words) != n || len(e.Texts) != n {
		t.Fatalf("%+q: slices of other lengths than %d: %+v", s, n, e)
	}
	for _, p := range e.Spans {
		if p.Start < 0 || p.End > len(s) || p.Start <= p.End && !utf8.ValidString(s[p.Start:p.End]) {
			t.Fatalf("%+q: span %v", s, p)
		}
	}
	if s, err := tok.Decode(e.IDs, false); err == nil && !utf8.ValidString(s) {
		t.Fatalf("Decode(%v) = %q", e.IDs, s)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(small), "a b")
	for seed := range uint64(20) {
		file, _ := randomTokenizer(rand.New(rand.NewPCG(5, seed)))
		if len(file) < 1<<14 {
			f.Add(file, "The é 日本 [CLS]")
		}
	}
	var e Encoding
	f.Fuzz(func(t *testing.T, file []byte, s string) {
		if tok, err := Parse(file); err == nil && len(s) < 1<<10 {
			checkEncoding(t, tok, &e, s)
		}
	})
}

// FuzzKnownPatterns wants the automata to find the same matches as the regular expressions.
func FuzzKnownPatterns(f *testing.F) {
	for _, s := range samples {
		f.Add(s)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		f.Add(randomText(r, nil))
	}
	sources := []string{gpt2Source, llama3Source, qwen2Source, gpt4oSource}
	var compiled []*regex
	for _, s := range sources {
		re, err := compile(s)
		if err != nil {
			f.Fatal(err)
		}
		compiled = append(compiled, re)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return
		}
		for i, source := range sources {
			left := newBudget(len(s))
			got, err1 := knownPattern(source).find(nil, []byte(s), &left)
			want, err2 := compiled[i].find(nil, []byte(s), &left)
			if err1 != nil || err2 != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%s over %+q: %v, %v, want %v, %v", source, s, got, err1, want, err2)
			}
		}
	})
}
