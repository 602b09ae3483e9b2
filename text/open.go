package text

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"unicode/utf8"
)

// A Tokenizer turns texts into tokens, as a tokenizer.json file says. It is safe for use by several goroutines.
type Tokenizer struct {
	normalizer   normalizer
	preTokenizer preTokenizer
	model        model
	words        *vocabulary // of the model
	added        *addedTokens
	processor    processor
	decoder      decoder
	truncation   Truncation
	padding      Padding
	works        sync.Pool
}

// Open reads a file tokenizer.json. Its errors name the part of the file and the byte.
func Open(path string) (*Tokenizer, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("text: %w", err)
	}
	t, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// Parse is Open for the contents of a file.
func Parse(data []byte) (*Tokenizer, error) {
	t, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("text: %w", err)
	}
	t.works.New = func() any { return new(work) }
	return t, nil
}

func parse(data []byte) (*Tokenizer, error) {
	v, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	o, err := v.object("version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder", "model")
	if err != nil {
		return nil, err
	}
	version, err := field(o, "version", value.str, "1.0")
	if err != nil {
		return nil, err
	}
	if version != "1.0" {
		return nil, o.fields["version"].errorf("is %q, not 1.0", version)
	}
	t := &Tokenizer{}
	if t.model, err = required(o, "model", readModel); err != nil {
		return nil, err
	}
	t.words = t.model.words()
	if t.normalizer, err = nullable(o, "normalizer", readNormalizer, nil); err != nil {
		return nil, err
	}
	if t.preTokenizer, err = nullable(o, "pre_tokenizer", readPreTokenizer, nil); err != nil {
		return nil, err
	}
	if t.processor, err = nullable(o, "post_processor", readProcessor, nil); err != nil {
		return nil, err
	}
	if t.decoder, err = nullable(o, "decoder", readDecoder, nil); err != nil {
		return nil, err
	}
	if t.truncation, err = nullable(o, "truncation", readTruncation, Truncation{}); err != nil {
		return nil, err
	}
	if t.padding, err = nullable(o, "padding", readPadding, Padding{}); err != nil {
		return nil, err
	}
	var added []addedToken
	if a, ok := o.fields["added_tokens"]; ok {
		if added, err = list(o, "added_tokens", readAddedToken); err != nil {
			return nil, err
		}
		if t.added, err = newAddedTokens(added, t.model, t.words.len(), t.normalizer); err != nil {
			return nil, a.errorf("%v", err)
		}
	} else if t.added, err = newAddedTokens(nil, t.model, t.words.len(), nil); err != nil {
		return nil, err
	}
	return t, nil
}

// TokenID returns the id of a token, of the vocabulary or added, as the vocabulary writes it.
func (t *Tokenizer) TokenID(token string) (id int64, ok bool) {
	if id, ok := t.added.ids[token]; ok {
		return int64(id), true
	}
	n, ok := t.words.id([]byte(token))
	return int64(n), ok
}

// Token returns the token with an id.
func (t *Tokenizer) Token(id int64) (token string, ok bool) {
	if id < 0 || id != int64(uint32(id)) {
		return "", false
	}
	if a, ok := t.added.byID[uint32(id)]; ok {
		return a.content, true
	}
	n := t.words.numberOf(uint32(id))
	if n < 0 {
		return "", false
	}
	return t.words.token(n), true
}

// Size returns the number of tokens, added ones included.
func (t *Tokenizer) Size() int {
	n := t.words.len()
	for token := range t.added.ids {
		if _, ok := t.words.id([]byte(token)); !ok {
			n++
		}
	}
	return n
}

// Decode returns the text of tokens. Special tokens among the added ones are left out where skipSpecial says so. An id
// that no token has is an error.
func (t *Tokenizer) Decode(ids []int64, skipSpecial bool) (string, error) {
	tokens := make([]string, 0, len(ids))
	for i, id := range ids {
		s, ok := t.Token(id)
		if d, normalized := t.added.decoded[uint32(id)]; ok && normalized {
			s = d
		}
		if !ok {
			return "", fmt.Errorf("text: no token has the id %d, which is number %d", id, i)
		}
		if !skipSpecial || !t.added.special[s] {
			tokens = append(tokens, s)
		}
	}
	if t.decoder == nil {
		return strings.Join(tokens, " "), nil
	}
	left := newBudget(length(tokens) + len(tokens))
	tokens, err := t.decoder.decode(tokens, &left)
	if err != nil {
		return "", fmt.Errorf("text: %w", err)
	}
	s := strings.Join(tokens, "")
	if !utf8.ValidString(s) {
		return "", errors.New("text: the tokens' bytes aren't UTF-8")
	}
	return s, nil
}
