package text

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// m is a part of a tokenizer.json.
type m = map[string]any

func flip(r *rand.Rand) bool { return r.IntN(2) == 0 }

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

var regexes = []string{`\s+`, `\d`, `[A-Za-z]+`, `\p{L}+`, `\p{Lu}\p{Ll}*`, `(?i:'s|'t)`, `\w+|[^\w\s]+`, `[^\r\n\p{L}\p{N}]?\p{L}+`, `a|b|ab`, `(?=x)`, `x?`, `^`, `$`, `\b`,
	`(?<=o)\s`, `(?<!o) `, `\p{Han}`, `[[:punct:]]`, `\s+(?!\S)|\s+`, `.`, `(a|bc?)+d?`, `(?:ab?)*?c`, `[a-f&&[^c]]+`, `\p{M}+`, `[\p{P}\p{S}]`, `\x{4e00}|\u4e2d`, `(?>a+)b?`, `o++`,
	gpt2Source, llama3Source, qwen2Source, gpt4oSource, `\p{N}{1,3}`, `[一-龥\x{0800}-一ガ-ヿ]+`, `\h+`, `[^[:alnum:]\n]`, `e{2}|l{1,2}|o{,2}x`, `(\s*)*\n`}

func randomPattern(r *rand.Rand) m {
	if r.IntN(3) == 0 {
		return m{"String": pick(r, " ", "a", "o ", "▁", "é", "日", "", "  ", "\n", ".")}
	}
	return m{"Regex": pick(r, regexes...)}
}

func randomNormalizer(r *rand.Rand, depth int) m {
	switch k := r.IntN(16); k {
	case 0, 1:
		n := m{"type": "BertNormalizer", "clean_text": flip(r), "handle_chinese_chars": flip(r), "strip_accents": pick[any](r, nil, true, false), "lowercase": flip(r)}
		return n
	case 2, 3, 4, 5, 6, 7, 8, 9:
		return m{"type": pick(r, "NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel")}
	case 10:
		return m{"type": "Strip", "strip_left": flip(r), "strip_right": flip(r)}
	case 11:
		return m{"type": "Replace", "pattern": randomPattern(r), "content": pick(r, "", "▁", "xy", " ", "é", "$1")}
	case 12:
		return m{"type": "Prepend", "prepend": pick(r, "▁", "ab", " ", "")}
	case 13:
		return m{"type": "Precompiled", "precompiled_charsmap": randomMap(r)}
	}
	if depth > 2 {
		return m{"type": "NFKC"}
	}
	list := []m{}
	for range r.IntN(4) {
		list = append(list, randomNormalizer(r, depth+1))
	}
	return m{"type": "Sequence", "normalizers": list}
}

// randomMap returns a precompiled map of some characters and clusters.
func randomMap(r *rand.Rand) string {
	keys := []string{"a", "b", "é", "e\u0301", "日", "ﬀ", " ", "\u3000", "①", "\u0301", "न", "क्", "\u1100", "👩", "\u200d", "xy", "A", "\t", "\u00a0", "🇩"}
	values := []string{"", "a", "xyz", " ", "é", "日本", "e", "\u0301", "1"}
	entries := map[string]string{}
	for range r.IntN(8) {
		entries[pick(r, keys...)] = pick(r, values...)
	}
	return encodeMap(entries)
}

// encodeMap writes a map as a file has it.
func encodeMap(entries map[string]string) string {
	return base64.StdEncoding.EncodeToString(doubleArray(entries))
}

// doubleArray writes a map as SentencePiece does: a trie in a double array, then the texts. Each node has 256 units.
func doubleArray(entries map[string]string) []byte {
	type node struct {
		base     uint32
		children map[byte]*node
		value    int
	}
	var texts []byte
	root := &node{value: -1, children: map[byte]*node{}}
	keys := []string{}
	for k := range entries {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		n := root
		for i := range len(k) {
			if n.children[k[i]] == nil {
				n.children[k[i]] = &node{value: -1, children: map[byte]*node{}}
			}
			n = n.children[k[i]]
		}
		n.value = len(texts)
		texts = append(append(texts, entries[k]...), 0)
	}
	units := make([]uint32, 256)
	var place func(n *node) // gives each node's children a block
	place = func(n *node) {
		n.base = uint32(len(units))
		units = append(units, make([]uint32, 256)...)
		for _, c := range n.children {
			place(c)
		}
	}
	place(root)
	unit := func(at uint32, label byte, base uint32, leaf bool) uint32 {
		offset := at ^ base
		u := uint32(label)
		if leaf {
			u |= 1 << 8
		}
		if offset < 1<<21 {
			return u | offset<<10
		}
		return u | offset>>8<<10 | 1<<9
	}
	units[0] = unit(0, 0, root.base, false)
	var fill func(n *node)
	fill = func(n *node) {
		for c, child := range n.children {
			at := n.base ^ uint32(c)
			units[at] = unit(at, c, child.base, child.value >= 0)
			if child.value >= 0 {
				units[child.base] = uint32(child.value) | 1<<31
			}
			fill(child)
		}
	}
	fill(root)
	data := []byte{}
	put := func(u uint32) { data = append(data, byte(u), byte(u>>8), byte(u>>16), byte(u>>24)) }
	put(uint32(4 * len(units)))
	for _, u := range units {
		put(u)
	}
	return append(data, texts...)
}

func randomPreTokenizer(r *rand.Rand, depth int) m {
	switch r.IntN(15) {
	case 0, 1, 2:
		return m{"type": pick(r, "BertPreTokenizer", "Whitespace", "WhitespaceSplit", "UnicodeScripts")}
	case 3, 4:
		return m{"type": "ByteLevel", "add_prefix_space": flip(r), "trim_offsets": flip(r), "use_regex": flip(r)}
	case 5, 6:
		return m{"type": "Metaspace", "replacement": pick(r, "▁", "_"), "prepend_scheme": pick(r, "always", "never", "first"), "split": flip(r)}
	case 7:
		return m{"type": "Punctuation", "behavior": pick(r, "Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")}
	case 8:
		return m{"type": "Digits", "individual_digits": flip(r)}
	case 9, 10:
		return m{"type": "Split", "pattern": randomPattern(r), "behavior": pick(r, "Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"), "invert": flip(r)}
	case 11:
		return m{"type": "CharDelimiterSplit", "delimiter": pick(r, " ", "a", "é", "▁")}
	case 12:
		return m{"type": "FixedLength", "length": 1 + r.IntN(6)}
	}
	if depth > 2 {
		return m{"type": "Whitespace"}
	}
	list := []m{}
	for range r.IntN(4) {
		list = append(list, randomPreTokenizer(r, depth+1))
	}
	return m{"type": "Sequence", "pretokenizers": list}
}

// randomWords returns tokens that occur in the samples.
func randomWords(r *rand.Rand, prefix string) []string {
	seen := map[string]bool{}
	var words []string
	add := func(w string) {
		if !seen[w] {
			seen[w] = true
			words = append(words, w)
		}
	}
	for range 100 + r.IntN(200) {
		s := []rune(pick(r, samples...))
		i := r.IntN(len(s))
		w := string(s[i:min(len(s), i+1+r.IntN(5))])
		if r.IntN(4) == 0 {
			w = strings.ToLower(w)
		}
		if r.IntN(3) == 0 {
			w = strings.ReplaceAll(w, " ", "▁")
		}
		if r.IntN(4) == 0 {
			var b strings.Builder
			for _, c := range []byte(w) {
				b.WriteRune(byteLetters[c])
			}
			w = b.String()
		}
		if flip(r) {
			w = prefix + w
		}
		add(w)
	}
	for c := 'a'; c <= 'z'; c++ {
		add(string(c))
		add(prefix + string(c))
	}
	return words
}

func numbered(words []string) m {
	voc := m{}
	for i, w := range words {
		voc[w] = i
	}
	return voc
}

func randomModel(r *rand.Rand) (m, []string) {
	withBytes := func(words []string) []string {
		if flip(r) {
			for c := range 256 {
				words = append(words, fmt.Sprintf("<0x%02X>", c))
			}
			if r.IntN(3) == 0 {
				words = words[:len(words)-60]
			}
		}
		return words
	}
	switch r.IntN(4) {
	case 0:
		words := append([]string{"[UNK]"}, randomWords(r, "##")...)
		return m{"type": "WordPiece", "vocab": numbered(words), "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": pick(r, 100, 5)}, words
	case 1:
		words := append([]string{"<unk>"}, randomWords(r, "")...)
		return m{"type": "WordLevel", "vocab": numbered(words), "unk_token": "<unk>"}, words
	case 2:
		words := withBytes(randomWords(r, ""))
		slices.Sort(words)
		words = slices.DeleteFunc(slices.Compact(words), func(w string) bool { return w == "<unk>" })
		words = append([]string{"<unk>"}, words...)
		vocab := []any{}
		for _, w := range words {
			score := -float64(r.IntN(5))
			if flip(r) {
				score = -r.Float64() * 12
			}
			vocab = append(vocab, []any{w, score})
		}
		return m{"type": "Unigram", "vocab": vocab, "unk_id": pick[any](r, 0, 0, 0, 3), "byte_fallback": flip(r)}, words
	}
	prefix, suffix := pick(r, "", "", "##"), pick(r, "", "", "</w>")
	seen := map[string]bool{"<unk>": true}
	words := []string{"<unk>"}
	add := func(w string) {
		if !seen[w] {
			seen[w] = true
			words = append(words, w)
		}
	}
	var merges []any
	pairs := flip(r)
	taken := map[[2]string]bool{}
	for _, w := range withBytes(randomWords(r, "")) {
		if strings.HasPrefix(w, "<0x") && len(w) == 6 {
			add(w)
			continue
		}
		parts := []string{}
		runes := []rune(w)
		for i, c := range runes {
			s := string(c)
			if i > 0 {
				s = prefix + s
			}
			if i == len(runes)-1 && flip(r) {
				s += suffix
			}
			if r.IntN(30) > 0 {
				parts = append(parts, s)
				add(s)
			}
		}
		for len(parts) > 1 { // joins two neighbours
			i := r.IntN(len(parts) - 1)
			a, b := parts[i], parts[i+1]
			if strings.HasPrefix(b, prefix) && !strings.Contains(a+b, " ") && a != "" {
				whole := a + b[len(prefix):]
				add(whole)
				if !taken[[2]string{a, b}] || r.IntN(10) == 0 {
					taken[[2]string{a, b}] = true
					if pairs {
						merges = append(merges, []string{a, b})
					} else {
						merges = append(merges, a+" "+b)
					}
				}
				parts = slices.Replace(parts, i, i+2, whole)
			} else {
				parts = parts[:i+1]
			}
		}
	}
	r.Shuffle(len(merges), func(i, j int) { merges[i], merges[j] = merges[j], merges[i] })
	if merges == nil {
		merges = []any{}
	}
	model := m{"type": "BPE", "vocab": numbered(words), "merges": merges, "dropout": nil, "unk_token": pick[any](r, "<unk>", "<unk>", nil),
		"continuing_subword_prefix": prefix, "end_of_word_suffix": suffix, "fuse_unk": flip(r), "byte_fallback": flip(r), "ignore_merges": flip(r)}
	if prefix == "" && flip(r) {
		model["continuing_subword_prefix"] = nil
	}
	return model, words
}

func randomAdded(r *rand.Rand, words []string) (list []m, contents []string) {
	list = []m{}
	for range r.IntN(6) {
		c := pick(r, "<s>", "</s>", "[CLS]", "[SEP]", "[MASK]", "<mask>", "the", "The", "ab", "  ", " a", "é", "e\u0301", "日本", "<|endoftext|>", "\n", "x y", "ÄÖ", words[r.IntN(len(words))])
		list = append(list, m{"id": 0, "content": c, "single_word": r.IntN(4) == 0, "lstrip": r.IntN(3) == 0, "rstrip": r.IntN(3) == 0, "normalized": flip(r), "special": flip(r)})
		contents = append(contents, c)
	}
	return list, contents
}

func randomProcessor(r *rand.Rand, depth int) any {
	switch r.IntN(8) {
	case 0:
		return m{"type": "BertProcessing", "sep": []any{"[SEP]", 7}, "cls": []any{"[CLS]", 8}}
	case 1:
		return m{"type": "RobertaProcessing", "sep": []any{"</s>", 7}, "cls": []any{"<s>", 8}, "trim_offsets": flip(r), "add_prefix_space": flip(r)}
	case 2, 3:
		return m{"type": "ByteLevel", "add_prefix_space": flip(r), "trim_offsets": flip(r), "use_regex": flip(r)}
	case 4, 5:
		part := func(n int) []m {
			parts := []m{}
			for _, id := range []string{"A", "B"}[:n] {
				for range r.IntN(3) {
					parts = append(parts, m{"SpecialToken": m{"id": pick(r, "x", "yy"), "type_id": r.IntN(3)}})
				}
				parts = append(parts, m{"Sequence": m{"id": id, "type_id": r.IntN(3)}})
			}
			if r.IntN(4) == 0 {
				parts = append(parts, m{"Sequence": m{"id": "A", "type_id": r.IntN(3)}})
			}
			return append(parts, m{"SpecialToken": m{"id": "x", "type_id": 1}})
		}
		return m{"type": "TemplateProcessing", "single": part(1), "pair": part(2), "special_tokens": m{
			"x": m{"id": "x", "ids": []int{5}, "tokens": []string{"[X]"}}, "yy": m{"id": "yy", "ids": []int{6, 7}, "tokens": []string{"[Y", "Y]"}}}}
	case 6:
		if depth > 0 {
			return m{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}
		}
		return m{"type": "Sequence", "processors": []any{m{"type": "ByteLevel", "add_prefix_space": flip(r), "trim_offsets": true, "use_regex": true}, randomProcessor(r, 1)}}
	}
	if depth > 0 {
		return m{"type": "BertProcessing", "sep": []any{"[SEP]", 7}, "cls": []any{"[CLS]", 8}}
	}
	return nil
}

func randomDecoder(r *rand.Rand, depth int) any {
	switch r.IntN(12) {
	case 0:
		return m{"type": "ByteLevel", "add_prefix_space": flip(r), "trim_offsets": flip(r), "use_regex": flip(r)}
	case 1:
		return m{"type": "WordPiece", "prefix": "##", "cleanup": flip(r)}
	case 2:
		return m{"type": "Metaspace", "replacement": "▁", "prepend_scheme": pick(r, "always", "never", "first"), "split": flip(r)}
	case 3:
		return m{"type": "BPEDecoder", "suffix": "</w>"}
	case 4:
		return m{"type": "CTC", "pad_token": pick(r, "a", "<pad>"), "word_delimiter_token": pick(r, "|", "e"), "cleanup": flip(r)}
	case 5:
		return m{"type": "Fuse"}
	case 6:
		return m{"type": "ByteFallback"}
	case 7:
		return m{"type": "Strip", "content": pick(r, " ", "a", "▁"), "start": r.IntN(3), "stop": r.IntN(3)}
	case 8:
		return m{"type": "Replace", "pattern": randomPattern(r), "content": pick(r, " ", "", "x")}
	case 9:
		if depth == 0 {
			return nil
		}
	}
	if depth > 2 {
		return m{"type": "Fuse"}
	}
	list := []any{}
	for range 1 + r.IntN(3) {
		list = append(list, randomDecoder(r, depth+1))
	}
	return m{"type": "Sequence", "decoders": list}
}

func randomTruncation(r *rand.Rand) any {
	if r.IntN(3) > 0 {
		return nil
	}
	n := 12 + r.IntN(20)
	return m{"max_length": n, "stride": r.IntN(3), "strategy": pick(r, "LongestFirst", "LongestFirst", "OnlyFirst", "OnlySecond"), "direction": pick(r, "Left", "Right")}
}

func randomPadding(r *rand.Rand) any {
	if r.IntN(3) > 0 {
		return nil
	}
	return m{"strategy": pick[any](r, "BatchLongest", m{"Fixed": 1 + r.IntN(40)}), "direction": pick(r, "Left", "Right"),
		"pad_to_multiple_of": pick[any](r, nil, 0, 4, 7), "pad_id": r.IntN(9), "pad_type_id": r.IntN(3), "pad_token": "[PAD]"}
}

// randomTokenizer returns a tokenizer.json, and texts that it treats in its own way.
func randomTokenizer(r *rand.Rand) (file []byte, extra []string) {
	model, words := randomModel(r)
	added, contents := randomAdded(r, words)
	f := m{"version": "1.0", "truncation": randomTruncation(r), "padding": randomPadding(r), "added_tokens": added, "normalizer": nil, "pre_tokenizer": nil,
		"post_processor": randomProcessor(r, 0), "decoder": randomDecoder(r, 0), "model": model}
	if r.IntN(3) > 0 {
		f["normalizer"] = randomNormalizer(r, 0)
	}
	if r.IntN(4) > 0 {
		f["pre_tokenizer"] = randomPreTokenizer(r, 0)
	}
	data, err := json.Marshal(f)
	if err != nil {
		panic(err)
	}
	return data, append(contents, words[:min(len(words), 30)]...)
}

// TestRandomTokenizers compares random tokenizers with the oracle's.
func TestRandomTokenizers(t *testing.T) {
	o := newOracle(t)
	const n = 30 // texts of each
	count, refused := 0, 0
	for seed := range uint64(max(100, *cases/n)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			o.t = t
			r := rand.New(rand.NewPCG(*seed0, seed))
			file, extra := randomTokenizer(r)
			tok, err := Parse(file)
			var opened bool
			theirs := o.ask(&opened, "open", string(file))
			if err != nil || theirs != nil {
				if (err == nil) != (theirs == nil) {
					t.Errorf("seed %d: error %v, want %v\n%.3000s", seed, err, theirs, file)
				}
				refused++
				return
			}
			if equalContents(tok) {
				return
			}
			// The oracle decodes a token that comes twice now by its first flags, now by its last.
			twice := bytes.Count(file, []byte(`"single_word"`)) > len(tok.added.ids)
			_, bert := tok.processor.(*bertProcessing)
			*loose = !bert
			// Texts at which the oracle would abort are left out: it says so by its own panic.
			var e Encoding
			for done := 0; done < n; {
				var ins []input
				var requests [][]any
				for ; len(ins) < 64 && done < n; done++ {
					in := input{text: randomText(r, extra), special: r.IntN(4) > 0}
					if r.IntN(4) == 0 {
						in.pair, in.hasPair = randomText(r, extra), true
					}
					if err := in.encode(tok, &e); aborts(err) {
						refused++
						continue
					}
					ins = append(ins, in)
					requests = append(requests, in.request())
				}
				var answers []oracleEncoding
				if err := o.ask(&answers, "batch", requests); err != nil {
					o.ask(&opened, "open", string(file))
					for _, q := range requests {
						if err := o.ask(&answers, "batch", [][]any{q}); err != nil {
							t.Fatalf("seed %d: %+q: %v\n%s", seed, q, err, brief(file))
						}
					}
				}
				for i, in := range ins {
					err := in.encode(tok, &e)
					count++
					want := &answers[i]
					if (err != nil) != (want.Error != "") {
						t.Fatalf("seed %d: %+q pair %+q: error %v, want %q\n%s", seed, in.text, in.pair, err, want.Error, brief(file))
					}
					if err != nil {
						continue
					}
					if d := differs(in, &e, want, 0); d != "" {
						t.Fatalf("seed %d: %+q pair %+q: %s\n%s", seed, in.text, in.pair, d, brief(file))
					}
					if twice || r.IntN(4) > 0 {
						continue
					}
					skip := flip(r)
					ids := []int64{}
					for _, id := range e.IDs {
						if _, ok := tok.Token(id); ok {
							ids = append(ids, id)
						}
					}
					var text string
					theirs := o.ask(&text, "decode", []any{ids, skip})
					got, err := tok.Decode(ids, skip)
					if theirs == errAborted && strings.Contains(string(file), `"type":"Strip"`) {
						return // it cuts more than there is
					}
					if (err != nil) != (theirs != nil) || got != text {
						t.Fatalf("seed %d: Decode(%v) = %+q, %v, want %+q, %v\n%s", seed, ids, got, err, text, theirs, brief(file))
					}
				}
			}
		})
	}
	t.Logf("%d texts are the same, %d files and texts left out", count, refused)
}

// aborts says whether the oracle ends its process where this package returns an error, or takes more steps than this package.
func aborts(err error) bool {
	return errors.As(err, new(stepsError)) || errors.Is(err, errAlignment) || err != nil && (strings.Contains(err.Error(), "stride") || strings.Contains(err.Error(), "overlap") || strings.Contains(err.Error(), "leaves no room"))
}

// brief is a file without its vocabulary.
func brief(file []byte) string {
	var f m
	json.Unmarshal(file, &f)
	model := f["model"].(m)
	delete(model, "vocab")
	delete(model, "merges")
	data, _ := json.Marshal(f)
	return fmt.Sprintf("%.4000s", data)
}

// equalContents says whether two added tokens are equal once they are normalized, or one is nothing. The oracle takes one
// of two, now this one, now that one; this package takes the first of the file. At one that is nothing the oracle aborts.
func equalContents(t *Tokenizer) bool {
	return len(t.added.changed.tokens) != t.added.changed.count() || t.added.changed.trie.values[0] >= 0
}

func (f *finder) count() (n int) {
	for _, value := range f.trie.values {
		if value >= 0 {
			n++
		}
	}
	return n
}
