package encoders

import (
	"encoding/json"
	"strings"
)

// words are tokens besides single letters.
var words = strings.Fields(`the of and in to a is was for on with by from at red blue green stone wall house river bridge berlin paris london
	anna marie peter smith weber works lives company bank street old new water light music city road tree bird fish bread
	un able ing ed er est query search answer vector number`)

// wordIDs is the vocabulary of wordPieces.
func wordIDs() (vocab map[string]int, added []any) {
	vocab = map[string]int{}
	add := func(token string) {
		if _, ok := vocab[token]; !ok {
			vocab[token] = len(vocab)
		}
	}
	for _, token := range []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]"} {
		add(token)
	}
	for c := rune('!'); c <= '~'; c++ {
		if s := strings.ToLower(string(c)); s == string(c) {
			add(s)
			add("##" + s)
		}
	}
	for _, w := range words {
		add(w)
		if len(w) > 1 {
			add("##" + w)
		}
	}
	for _, token := range []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]"} {
		added = append(added, special(vocab[token], token))
	}
	return vocab, added
}

// wordPieces returns a tokenizer of BERT's kind.
func wordPieces() (size int, file []byte) {
	vocab, added := wordIDs()
	return len(vocab), encoded(map[string]any{
		"version": "1.0", "truncation": nil, "padding": nil, "added_tokens": added,
		"normalizer":    map[string]any{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": nil, "lowercase": true},
		"pre_tokenizer": map[string]any{"type": "BertPreTokenizer"},
		"post_processor": map[string]any{"type": "TemplateProcessing",
			"single":         []any{one("SpecialToken", "[CLS]", 0), one("Sequence", "A", 0), one("SpecialToken", "[SEP]", 0)},
			"pair":           []any{one("SpecialToken", "[CLS]", 0), one("Sequence", "A", 0), one("SpecialToken", "[SEP]", 0), one("Sequence", "B", 1), one("SpecialToken", "[SEP]", 1)},
			"special_tokens": map[string]any{"[CLS]": whole("[CLS]", 2), "[SEP]": whole("[SEP]", 3)}},
		"decoder": map[string]any{"type": "WordPiece", "prefix": "##", "cleanup": true},
		"model":   map[string]any{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocab},
	})
}

// bytePairs returns a tokenizer of RoBERTa's kind: a token for each byte, and merges.
func bytePairs() (size int, file []byte) {
	vocab := map[string]int{"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}
	extra := rune(256)
	letter := make([]string, 256)
	for i := range letter { // the letters that stand for bytes
		if c := rune(i); c >= '!' && c <= '~' || c >= 0xa1 && c != 0xad {
			letter[i] = string(c)
		} else {
			letter[i] = string(extra)
			extra++
		}
		vocab[letter[i]] = len(vocab)
	}
	var merges [][]string
	for _, w := range words {
		parts := strings.Split(w, "")
		for _, first := range []string{letter[' '], ""} {
			left := first
			for _, p := range parts {
				if left == "" {
					left = p
					continue
				}
				joined := left + p
				if _, ok := vocab[joined]; !ok {
					vocab[joined] = len(vocab)
					merges = append(merges, []string{left, p})
				}
				left = joined
			}
		}
	}
	return len(vocab), encoded(map[string]any{
		"version": "1.0", "truncation": nil, "padding": nil,
		"added_tokens":   []any{special(0, "<s>"), special(1, "<pad>"), special(2, "</s>"), special(3, "<unk>")},
		"normalizer":     nil,
		"pre_tokenizer":  map[string]any{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
		"post_processor": map[string]any{"type": "RobertaProcessing", "sep": []any{"</s>", 2}, "cls": []any{"<s>", 0}, "trim_offsets": true, "add_prefix_space": false},
		"decoder":        map[string]any{"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
		"model": map[string]any{"type": "BPE", "dropout": nil, "unk_token": nil, "continuing_subword_prefix": "", "end_of_word_suffix": "", "fuse_unk": false,
			"byte_fallback": false, "ignore_merges": false, "vocab": vocab, "merges": merges},
	})
}

func special(id int, token string) any {
	return map[string]any{"id": id, "content": token, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}
}

func one(kind, id string, typ int) any {
	return map[string]any{kind: map[string]any{"id": id, "type_id": typ}}
}

func whole(token string, id int) any {
	return map[string]any{"id": token, "ids": []int{id}, "tokens": []string{token}}
}

func encoded(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // the maps above hold nothing else
	}
	return append(b, '\n')
}
