package text

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// A token is a part of a word that a model found.
type token struct {
	id         uint32
	start, end uint32 // in the word, in bytes
	number     int32  // in the vocabulary, or ownText
}

const ownText = -1 // the number of a token that reads as the text it stands for

// A model cuts words into tokens.
type model interface {
	// tokenize appends the tokens of a word that isn't empty to w.tokens.
	tokenize(w *work, word []byte) error
	words() *vocabulary
}

// readModel reads the member model.
func readModel(v value) (model, error) {
	o, err := v.object()
	if err != nil {
		return nil, err
	}
	kind, err := field(o, "type", value.str, "")
	if err != nil {
		return nil, err
	}
	if kind == "" { // as older files have it
		kind = "WordLevel"
		if m, ok := o.fields["vocab"]; ok && m.is("[") {
			kind = "Unigram"
		} else if _, ok := o.fields["merges"]; ok {
			kind = "BPE"
		} else if _, ok := o.fields["continuing_subword_prefix"]; ok {
			kind = "WordPiece"
		}
	}
	switch kind {
	case "BPE":
		return readBPE(o)
	case "WordPiece":
		return readWordPiece(o)
	case "Unigram":
		return readUnigram(o)
	case "WordLevel":
		return readWordLevel(o)
	}
	return nil, v.errorf("is a model %q, which this package doesn't know: it knows BPE, WordPiece, Unigram and WordLevel", kind)
}

// knows refuses members of an object whose kind was read first.
func (o object) knows(names ...string) error {
	_, err := o.value.object(append(names, "type")...)
	return err
}

// readWords reads the member vocab.
func readWords(o object) (*vocabulary, error) { return required(o, "vocab", readVocabulary) }

// A wordPiece takes the longest token that a word begins with, then the longest that continues it, and so on.
type wordPiece struct {
	*vocabulary
	tokens  *trie
	unknown string
	prefix  string // of tokens that continue a word
	inside  int32  // the node of the trie behind the prefix
	longest int    // characters of a word that isn't unknown as a whole
}

func readWordPiece(o object) (model, error) {
	m := &wordPiece{}
	err := o.knows("vocab", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word")
	if err != nil {
		return nil, err
	}
	if m.unknown, err = field(o, "unk_token", value.str, "[UNK]"); err != nil {
		return nil, err
	}
	if m.prefix, err = field(o, "continuing_subword_prefix", value.str, "##"); err != nil {
		return nil, err
	}
	if m.longest, err = field(o, "max_input_chars_per_word", value.length, 100); err != nil {
		return nil, err
	}
	if m.vocabulary, err = readWords(o); err != nil {
		return nil, err
	}
	m.tokens = newTrie(m.len(), m.token)
	m.inside = m.tokens.walk(0, []byte(m.prefix))
	return m, nil
}

func (m *wordPiece) words() *vocabulary { return m.vocabulary }

func (m *wordPiece) tokenize(w *work, word []byte) error {
	from := len(w.tokens)
	ok := len(word) <= m.longest || utf8.RuneCount(word) <= m.longest
	for start := 0; ok && start < len(word); {
		node, end, number := int32(0), 0, int32(-1)
		if start > 0 {
			if node = m.inside; node == 0 && m.prefix != "" {
				ok = false
				break
			}
		}
		i := start
		for ; i < len(word); i++ {
			if node = m.tokens.child(node, word[i]); node == 0 {
				break
			}
			if n := m.tokens.values[node]; n >= 0 {
				end, number = i+1, n
			}
		}
		if err := w.left.take(i - start); err != nil {
			return err
		}
		if ok = number >= 0; ok {
			w.tokens = append(w.tokens, token{m.ids[number], uint32(start), uint32(end), number})
			start = end
		}
	}
	if ok {
		return nil
	}
	n := m.number([]byte(m.unknown))
	if n < 0 {
		return fmt.Errorf("the word %.40q is unknown, and the vocabulary has no unk_token %q", word, m.unknown)
	}
	w.tokens = append(w.tokens[:from], token{m.ids[n], 0, uint32(len(word)), int32(n)})
	return nil
}

// A wordLevel takes each word as a token.
type wordLevel struct {
	*vocabulary
	unknown string
}

func readWordLevel(o object) (model, error) {
	m := &wordLevel{}
	err := o.knows("vocab", "unk_token")
	if err != nil {
		return nil, err
	}
	if m.unknown, err = field(o, "unk_token", value.str, "<unk>"); err != nil {
		return nil, err
	}
	m.vocabulary, err = readWords(o)
	return m, err
}

func (m *wordLevel) words() *vocabulary { return m.vocabulary }

func (m *wordLevel) tokenize(w *work, word []byte) error {
	n := m.number(word)
	if n < 0 {
		if n = m.number([]byte(m.unknown)); n < 0 {
			return fmt.Errorf("the word %.40q is unknown, and the vocabulary has no unk_token %q", word, m.unknown)
		}
	}
	w.tokens = append(w.tokens, token{m.ids[n], 0, uint32(len(word)), int32(n)})
	return nil
}

// byteTokens returns the numbers of the tokens <0x00> to <0xFF>, -1 for the ones that the vocabulary lacks.
func (v *vocabulary) byteTokens() *[256]int32 {
	var numbers [256]int32
	for i := range numbers {
		hex := strconv.FormatUint(uint64(0x100+i), 16)[1:]
		numbers[i] = int32(v.number([]byte("<0x" + upper(hex) + ">")))
	}
	return &numbers
}

func upper(hex string) string {
	b := []byte(hex)
	for i, c := range b {
		if c >= 'a' {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}
