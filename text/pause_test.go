package text

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// hostileTexts are texts of a megabyte, of one part again and again.
func hostileTexts() map[string]string {
	texts := map[string]string{}
	for name, part := range map[string]string{
		"one letter": "a", "letter and space": "a ", "spaces": " ", "line ends": "\n", "NUL": "\x00", "apostrophes": "'", "digits": "7", "capitals": "A",
		"mark": "\u0301", "marks in two orders": "\u0301\u0323", "letter and marks": "e\u0301\u0323\u0315", "ligature": "ﷺ", "syllables": "각", "jamo": "\u1100\u1161\u11a8",
		"ideographs": "日", "emoji with joiners": "👩\u200d", "flags": "🇩", "beginnings of a tag": "<", "long s": "'ſ", "letter and line end": "a\r\n", "underscores": "▁", "brackets": "[CLS",
	} {
		texts[name] = strings.Repeat(part, 1<<20/len(part))
	}
	return texts
}

// BenchmarkHostile encodes each of hostileTexts by files with one part, and reports the longest pause: by the time of the
// processor, where that is known.
func BenchmarkHostile(b *testing.B) {
	texts := hostileTexts()
	bpe := m{"type": "BPE", "vocab": m{"a": 0, "aa": 1, "aaa": 2, "aaaa": 3, "7": 4, "77": 5, "▁": 6, "▁▁": 7, "<unk>": 8}, "merges": []string{"a a", "aa a", "aa aa", "7 7", "▁ ▁"}, "unk_token": "<unk>"}
	unigram := m{"type": "Unigram", "vocab": []any{[]any{"<unk>", 0}, []any{"a", -1}, []any{"aa", -1.5}, []any{"aaaa", -2.5}, []any{"▁", -1}, []any{"日日", -2}}, "unk_id": 0}
	wordPiece := m{"type": "WordPiece", "vocab": m{"a": 0, "##a": 1, "##aa": 2, "[UNK]": 3}, "unk_token": "[UNK]", "max_input_chars_per_word": 1 << 30}
	files := map[string]m{
		"model BPE": {"model": bpe}, "model Unigram": {"model": unigram}, "model WordPiece": {"model": wordPiece}, "model WordLevel": {},
		"added tokens": {"added_tokens": []m{{"id": 9, "content": "<s>", "single_word": false, "lstrip": true, "rstrip": false, "normalized": false, "special": true},
			{"id": 10, "content": "aaab", "single_word": true, "lstrip": true, "rstrip": true, "normalized": true, "special": true}}},
	}
	for _, kind := range []string{"NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel"} {
		files["normalizer "+kind] = m{"normalizer": m{"type": kind}}
	}
	files["normalizer BertNormalizer"] = m{"normalizer": m{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": true, "lowercase": true}}
	files["normalizer Replace"] = m{"normalizer": m{"type": "Replace", "pattern": m{"Regex": ` {2,}`}, "content": "▁"}}
	files["normalizer Precompiled"] = m{"normalizer": m{"type": "Precompiled", "precompiled_charsmap": preciseMap()}}
	for _, kind := range []string{"BertPreTokenizer", "Whitespace", "WhitespaceSplit", "UnicodeScripts"} {
		files["pre-tokenizer "+kind] = m{"pre_tokenizer": m{"type": kind}}
	}
	files["pre-tokenizer ByteLevel"] = m{"pre_tokenizer": m{"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true}}
	files["pre-tokenizer Metaspace"] = m{"pre_tokenizer": m{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true}}
	files["pre-tokenizer Punctuation"] = m{"pre_tokenizer": m{"type": "Punctuation", "behavior": "Isolated"}}
	files["pre-tokenizer Digits"] = m{"pre_tokenizer": m{"type": "Digits", "individual_digits": true}}
	for name, source := range map[string]string{"Llama 3": llama3Source, "Qwen 2": qwen2Source, "GPT-4o": gpt4oSource, "of two words": `\w+\s\w+`, "nested": `(?:(?:a+)+)+b`} {
		files["pre-tokenizer Split, "+name] = m{"pre_tokenizer": regexSplit(source)}
	}
	names := []string{}
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			tok := hostileFile(b, files[name])
			longest := 0.0
			var at string
			refused := 0
			var e Encoding
			for b.Loop() {
				for which, s := range texts {
					start, before := time.Now(), processorSeconds()
					if err := tok.EncodeInto(&e, s, Options{}); err != nil {
						refused++
					}
					d := time.Since(start).Seconds()
					if used := processorSeconds() - before; used > 0 {
						d = used // other processes don't count
					}
					if d > longest {
						longest, at = d, which
					}
				}
			}
			b.ReportMetric(longest, "longest-s")
			b.ReportMetric(float64(refused)/float64(b.N), "errors")
			b.Logf("%s: longest over %s", name, at)
		})
	}
}

// preciseMap is a precompiled map of a few characters.
func preciseMap() string {
	return encodeMap(map[string]string{"a": "b", "e\u0301": "é", "ﷺ": strings.Repeat("x", 18), "日": "", "\u0301": "'"})
}

// BenchmarkOneLetter encodes a megabyte of one letter by each real file.
func BenchmarkOneLetter(b *testing.B) {
	s := strings.Repeat("a", 1<<20)
	forFiles(b, func(b *testing.B, file, _ string) {
		tok, err := Open(file)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(s)))
		var e Encoding
		before, rounds := processorSeconds(), 0
		for b.Loop() {
			rounds++
			if err := tok.EncodeInto(&e, s, Options{Truncation: &Truncation{}, Padding: &Padding{}}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(e.IDs)), "tokens")
		b.ReportMetric((processorSeconds()-before)/float64(rounds), "cpu-s")
		if len(e.IDs) == 0 {
			b.Fatal(fmt.Sprint("no tokens of ", file))
		}
	})
}
