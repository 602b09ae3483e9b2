package text

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// hostileFile returns a file with the given parts, whose only token is a.
func hostileFile(t testing.TB, parts m) *Tokenizer {
	t.Helper()
	f := m{"model": m{"type": "WordLevel", "vocab": m{"a": 0, "<unk>": 1}, "unk_token": "<unk>"}}
	for k, v := range parts {
		f[k] = v
	}
	data, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	tok, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func regexSplit(source string) m {
	return m{"type": "Split", "pattern": m{"Regex": source}, "behavior": "Isolated", "invert": false}
}

// Files and texts for which the work isn't in proportion to the text end with an error.
func TestHostileTexts(t *testing.T) {
	const n = 1 << 16
	letters := strings.Repeat("a", n)
	long := letters + "b"
	grow := func(content string, times int) m {
		list := []m{}
		for range times {
			list = append(list, m{"type": "Replace", "pattern": m{"String": "a"}, "content": content})
		}
		return m{"normalizer": m{"type": "Sequence", "normalizers": list}}
	}
	repeat := func(part m, times int) []m {
		list := []m{}
		for range times {
			list = append(list, part)
		}
		return list
	}
	bytesMap := encodeMap(map[string]string{"a": letters})
	for _, c := range []struct {
		name string
		file m
		text string
		want string
	}{
		{"a long token of WordPiece", m{"model": m{"type": "WordPiece", "vocab": m{"a": 0, "##a": 1, "##" + long: 2, "[UNK]": 3}, "max_input_chars_per_word": 1 << 30}}, letters, "steps"},
		{"a long token of Unigram", m{"model": m{"type": "Unigram", "vocab": []any{[]any{"a", -1}, []any{long, -1}}, "unk_id": 0}}, letters, "steps"},
		{"nested quantifiers", m{"pre_tokenizer": regexSplit(`(?:(?:a+)+)+b`)}, letters, "steps"},
		{"optional parts", m{"pre_tokenizer": regexSplit(`(?:` + strings.Repeat("b?", 4000) + `a)*`)}, letters, "steps"},
		{"alternatives without a match", m{"pre_tokenizer": regexSplit(`(?:a|a|a)*b`)}, letters, "steps"},
		{"a long look-behind", m{"pre_tokenizer": regexSplit(`(?<=b(?:a{1000}){16})c`)}, letters, "steps"},
		{"a look-behind in a look-ahead", m{"pre_tokenizer": regexSplit(`(?:(?=(?:a*(?<!a{1000}))*)a)*b`)}, letters, "steps"},
		{"many words, each with many steps", m{"pre_tokenizer": m{"type": "Sequence", "pretokenizers": []m{{"type": "WhitespaceSplit"}, regexSplit(`(x+x+)+y`)}}}, strings.Repeat(strings.Repeat("x", 16)+" ", 6000), "steps"},
		{"many parts", m{"normalizer": m{"type": "Sequence", "normalizers": repeat(m{"type": "NFC"}, 1<<12)}}, letters, "steps"},
		{"many cuts", m{"pre_tokenizer": m{"type": "Sequence", "pretokenizers": repeat(m{"type": "WhitespaceSplit"}, 1<<12)}}, letters, "steps"},
		{"texts that double", grow("aa", 40), "a", "steps"},
		{"a long replacement", grow(letters, 1), letters, "longer than"},
		{"a long prefix of each word", m{"normalizer": m{"type": "Prepend", "prepend": letters}, "added_tokens": []m{{"id": 2, "content": "b", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": false}}}, strings.Repeat("ab", n/2), "longer than"},
		{"a long image of a map", m{"normalizer": m{"type": "Precompiled", "precompiled_charsmap": bytesMap}}, letters, "longer than"},
		{"letters of letters of bytes", m{"normalizer": m{"type": "Sequence", "normalizers": repeat(m{"type": "ByteLevel"}, 40)}}, "é", "steps"},
		{"words of letters of bytes", m{"pre_tokenizer": m{"type": "Sequence", "pretokenizers": repeat(m{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false}, 40)}}, "é", "steps"},
	} {
		_, err := hostileFile(t, c.file).Encode(c.text, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 1000 {
			t.Errorf("%s: error %.200v, want %q", c.name, err, c.want)
		}
	}
}

// Decoders that make a text longer and longer.
func TestHostileDecoders(t *testing.T) {
	letters := strings.Repeat("a", 1<<16)
	for _, d := range []m{
		{"type": "Replace", "pattern": m{"String": "a"}, "content": "aa"},
		{"type": "Replace", "pattern": m{"String": "a"}, "content": letters},
		{"type": "BPEDecoder", "suffix": ""},
		{"type": "CTC", "pad_token": "x", "word_delimiter_token": "", "cleanup": true},
	} {
		tok := hostileFile(t, m{"decoder": m{"type": "Sequence", "decoders": []m{d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d}}})
		if s, err := tok.Decode([]int64{0, 0, 1, 0}, false); err == nil || !strings.Contains(err.Error(), "a text of") {
			t.Errorf("%.80v: %d bytes, error %v", d, len(s), err)
		}
	}
}

// Real texts stay far below the bounds: NFKD, then letters of bytes, of the character that grows most.
func TestBoundsLeaveRoom(t *testing.T) {
	tok := hostileFile(t, m{"normalizer": m{"type": "NFKD"}, "pre_tokenizer": m{"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true}})
	s := strings.Repeat("ﷺ", 1<<17)
	if e, err := tok.Encode(s, Options{}); err != nil || fmt.Sprint(e.Spans[len(e.Spans)-1].End) != fmt.Sprint(len(s)) {
		t.Errorf("%d tokens, %v", len(e.IDs), err)
	}
}

// A long added token that nearly fits at each byte costs no more than a short one: the steps aren't counted.
func TestLongAddedToken(t *testing.T) {
	letters := strings.Repeat("a", 1<<20)
	for _, normalized := range []bool{false, true} {
		tok := hostileFile(t, m{"added_tokens": []m{
			{"id": 2, "content": letters + "b", "single_word": false, "lstrip": false, "rstrip": false, "normalized": normalized, "special": false},
			{"id": 3, "content": "b" + letters, "single_word": false, "lstrip": false, "rstrip": false, "normalized": normalized, "special": false},
			{"id": 4, "content": "ab", "single_word": false, "lstrip": false, "rstrip": false, "normalized": normalized, "special": false},
		}})
		e, err := tok.Encode(letters[1:]+"b"+letters[1:], Options{})
		if err != nil || fmt.Sprint(e.IDs) != "[1 4 1]" {
			t.Errorf("normalized %v: %v, %v", normalized, e.IDs, err)
		}
	}
}

// Windows that share nearly all their tokens, windows of one text by those of the other, and padding of each window.
func TestHostileWindows(t *testing.T) {
	const n = 1 << 14
	words := strings.Repeat("a", n) // a word of n tokens: truncation ends the reading behind a word
	letters := m{"type": "Unigram", "vocab": []any{[]any{"a", -1}}, "unk_id": nil}
	tok := hostileFile(t, m{"model": letters})
	for _, c := range []struct {
		name string
		o    Options
	}{
		{"strides", Options{Truncation: &Truncation{MaxTokens: n / 2, Stride: n/2 - 1}}},
		{"products", Options{Pair: &words, Truncation: &Truncation{MaxTokens: 2}}},
		{"padding", Options{Padding: &Padding{Length: 1 << 30}}},
		{"padded windows", Options{Truncation: &Truncation{MaxTokens: 1}, Padding: &Padding{Length: 1 << 20}}},
	} {
		e, err := tok.Encode(words, c.o)
		if err == nil || !strings.Contains(err.Error(), "windows and padding") {
			t.Errorf("%s: %d windows, %v", c.name, len(e.Overflow), err)
		}
	}
	if e, err := tok.Encode(words, Options{Truncation: &Truncation{MaxTokens: 512, Stride: 448}}); err != nil || len(e.Overflow) < n/64-10 {
		t.Errorf("%d windows, %v", len(e.Overflow), err)
	}
	twice := []m{}
	for range 1 << 10 {
		twice = append(twice, m{"Sequence": m{"id": "A", "type_id": 0}})
	}
	tok = hostileFile(t, m{"model": letters, "post_processor": m{"type": "TemplateProcessing", "single": twice, "pair": []m{}, "special_tokens": m{}}})
	if _, err := tok.Encode(words, Options{}); err == nil || !strings.Contains(err.Error(), "windows and padding") {
		t.Errorf("a text a thousand times: %v", err)
	}
}
