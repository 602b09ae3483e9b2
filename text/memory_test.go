package text

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"
)

// held returns the bytes that the result of f holds, after garbage is collected.
func held(f func() any) int64 {
	unicodeData() // shared by all tokenizers
	onigSets()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&before)
	x := f()
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(x)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

// BenchmarkOpen opens each real file, and reports the memory that it holds, in times the file's bytes.
func BenchmarkOpen(b *testing.B) {
	forFiles(b, func(b *testing.B, file, _ string) {
		info, err := os.Stat(file)
		if err != nil {
			b.Fatal(err)
		}
		var ratio float64
		for b.Loop() {
			n := held(func() any {
				tok, err := Open(file)
				if err != nil {
					b.Fatal(err)
				}
				return tok
			})
			ratio = float64(n) / float64(info.Size())
		}
		b.ReportMetric(ratio, "held/file")
	})
}

// A tokenizer holds at most 4 times the bytes of its file, besides the tables of Unicode that all share.
func TestMemoryAfterOpen(t *testing.T) {
	const n = 20000
	words := make([]string, 0, n)
	seen := map[string]bool{}
	r := rand.New(rand.NewPCG(1, 2))
	for c := rune('a'); c <= 'z'; c++ {
		words, seen[string(c)] = append(words, string(c)), true
	}
	pairs := []any{}
	for len(words) < n { // each word is two others
		a, b := pick(r, words...), pick(r, words...)
		if w := a + b; !seen[w] && len(w) < 12 {
			words, seen[w] = append(words, w), true
			pairs = append(pairs, a+" "+b)
		}
	}
	scores := []any{}
	for _, w := range words {
		scores = append(scores, []any{w, -float64(r.IntN(1<<20)) / (1 << 16)})
	}
	added := []m{}
	for _, w := range words[n/2 : n/2+1000] {
		added = append(added, m{"id": 0, "content": "<" + w + ">", "single_word": false, "lstrip": false, "rstrip": false, "normalized": true, "special": true})
	}
	for _, model := range []m{
		{"type": "WordPiece", "vocab": numbered(words), "unk_token": "a"},
		{"type": "WordLevel", "vocab": numbered(words), "unk_token": "a"},
		{"type": "Unigram", "vocab": scores, "unk_id": 0},
		{"type": "BPE", "vocab": numbered(words), "merges": pairs},
	} {
		file, err := json.Marshal(m{"model": model, "added_tokens": added})
		if err != nil {
			t.Fatal(err)
		}
		n := held(func() any {
			tok, err := Parse(file)
			if err != nil {
				t.Fatal(err)
			}
			return tok
		})
		if ratio := float64(n) / float64(len(file)); ratio > 4 || ratio < 0.5 {
			t.Errorf("%v holds %d bytes, %.2f times the %d of its file, want at most 4", model["type"], n, ratio, len(file))
		} else {
			t.Logf("%v holds %.2f times its file", model["type"], ratio)
		}
	}
}
