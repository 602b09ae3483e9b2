package text_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/text"
)

const file = `{
	"added_tokens": [
		{"id": 0, "content": "[CLS]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true},
		{"id": 1, "content": "[SEP]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}],
	"normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
	"pre_tokenizer": {"type": "BertPreTokenizer"},
	"post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 1], "cls": ["[CLS]", 0]},
	"decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
	"model": {"type": "WordPiece", "vocab": {"[CLS]": 0, "[SEP]": 1, "[UNK]": 2, "cafe": 3, "token": 4, "##s": 5, ",": 6}}
}`

func Example() {
	t, err := text.Parse([]byte(file))
	if err != nil {
		fmt.Println(err)
		return
	}
	s := "Café, tokens"
	e, err := t.Encode(s, text.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, id := range e.IDs {
		fmt.Printf("%d %-5s %q\n", id, e.Tokens[i], s[e.Spans[i].Start:e.Spans[i].End])
	}
	fmt.Println(t.Decode(e.IDs, true))
	// Output:
	// 0 [CLS] ""
	// 3 cafe  "Café"
	// 6 ,     ","
	// 4 token "token"
	// 5 ##s   "s"
	// 1 [SEP] ""
	// cafe, tokens <nil>
}

// A pair has types 0 and 1. Truncation counts the special tokens, too.
func ExampleTokenizer_Encode() {
	t, err := text.Parse([]byte(file))
	if err != nil {
		fmt.Println(err)
		return
	}
	pair := "tokens, tokens"
	e, err := t.Encode("cafe", text.Options{Pair: &pair, Truncation: &text.Truncation{MaxTokens: 6}})
	fmt.Println(e.Tokens, e.Types, err)
	_, err = t.Encode("caf\xe9", text.Options{})
	fmt.Println(err)
	// Output:
	// [[CLS] cafe [SEP] token ##s [SEP]] [0 0 0 1 1 1] <nil>
	// text: text 0 isn't UTF-8 from byte 3 on: set ReplaceInvalid, or convert it
}
