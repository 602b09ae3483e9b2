package text

import (
	"errors"
	"math"
	"unicode/utf8"
)

// A unigram cuts a word where the sum of the scores of its tokens is the largest.
type unigram struct {
	*vocabulary
	tokens       *trie
	scores       []float64 // of each token of the vocabulary
	unknown      int       // the id, -1 if there is none
	unknownScore float64
	byteFallback bool
	bytes        *[256]int32
}

// unknownPenalty is added to the lowest score for an unknown character.
const unknownPenalty = 10

func readUnigram(o object) (model, error) {
	m := &unigram{vocabulary: newVocabulary()}
	err := o.knows("vocab", "unk_id", "byte_fallback")
	if err != nil {
		return nil, err
	}
	if m.unknown, err = nullable(o, "unk_id", value.length, -1); err != nil {
		return nil, err
	}
	if m.byteFallback, err = field(o, "byte_fallback", value.bool, false); err != nil {
		return nil, err
	}
	v, ok := o.fields["vocab"]
	if !ok {
		return nil, o.errorf(`has no "vocab"`)
	}
	least, count := math.Inf(1), 0
	var text []byte
	err = v.items(func(i int, item value) error {
		var score float64
		n := 0
		err := item.items(func(j int, part value) (err error) {
			switch n++; {
			case j == 0 && part.is(`"`):
				text, _ = appendString(text[:0], part.data, part.start)
			case j == 1:
				score, err = part.float()
			default:
				err = part.errorf("is no pair of a token and its score")
			}
			return err
		})
		if err == nil && n != 2 {
			err = item.errorf("is no pair of a token and its score")
		}
		if err != nil {
			return err
		}
		if m.number(text) >= 0 {
			return item.errorf("is the token %q, which was there before", text)
		}
		m.add(text, uint32(i))
		m.scores = append(m.scores, score)
		least = min(least, score)
		count++
		return nil
	})
	if err != nil {
		return nil, err
	}
	if m.unknown >= count {
		return nil, o.errorf("has unk_id %d, but %d tokens", m.unknown, count)
	}
	m.finish()
	m.unknownScore = least - unknownPenalty
	m.tokens = newTrie(m.len(), m.token)
	m.bytes = m.byteTokens()
	return m, nil
}

func (m *unigram) words() *vocabulary { return m.vocabulary }

// A best is the best way to a place of a word: its last token begins at start.
type best struct {
	score  float64
	start  int32 // -1 if there is no way yet
	number int32
}

var errNoUnknown = errors.New("the model has no unk_id")

func (m *unigram) tokenize(w *work, word []byte) error {
	ways := w.ways[:0]
	for range len(word) + 1 {
		ways = append(ways, best{start: -1})
	}
	w.ways = ways[:0]
	better := func(end int, score float64, start, number int) {
		if b := &ways[end]; b.start < 0 || score > b.score {
			*b = best{score, int32(start), int32(number)}
		}
	}
	for i := 0; i < len(word); {
		size := 1
		if word[i] >= utf8.RuneSelf {
			_, size = utf8.DecodeRune(word[i:])
		}
		here, single, node, j := ways[i].score, false, int32(0), i
		for ; j < len(word); j++ {
			if node = m.tokens.child(node, word[j]); node == 0 {
				break
			}
			if n := m.tokens.values[node]; n >= 0 {
				better(j+1, m.scores[n]+here, i, int(n))
				single = single || j+1-i == size
			}
		}
		if err := w.left.take(j - i); err != nil {
			return err
		}
		if !single {
			if b := &ways[i+size]; b.start < 0 || m.unknownScore+here > b.score {
				if m.unknown < 0 {
					return errNoUnknown
				}
				*b = best{m.unknownScore + here, int32(i), int32(m.unknown)}
			}
		}
		i += size
	}
	// Back from the end, then forward: unknown parts side by side are one.
	from := len(w.tokens)
	for end := len(word); end > 0; {
		b := ways[end]
		start := int(b.start)
		if int(b.number) == m.unknown {
			for start > 0 && int(ways[start].number) == m.unknown {
				start = int(ways[start].start)
			}
		}
		w.tokens = append(w.tokens, token{uint32(b.number), uint32(start), uint32(end), b.number})
		end = start
	}
	found := w.tokens[from:]
	for i, j := 0, len(found)-1; i < j; i, j = i+1, j-1 {
		found[i], found[j] = found[j], found[i]
	}
	if m.unknown < 0 {
		return nil
	}
	return m.spell(w, word, from)
}

// spell gives the unknown tokens from a place on their ids: a part that is a token by chance, its bytes, or unknown.
func (m *unigram) spell(w *work, word []byte, from int) error {
	out := w.spelled[:0]
	for _, t := range w.tokens[from:] {
		if int(t.number) != m.unknown {
			out = append(out, t)
			continue
		}
		part := word[t.start:t.end]
		if n := m.number(part); n >= 0 {
			out = append(out, token{uint32(n), t.start, t.end, int32(n)})
			continue
		}
		if m.byteFallback {
			at := len(out)
			for _, c := range part {
				n := m.bytes[c]
				if n < 0 {
					out = out[:at]
					break
				}
				out = append(out, token{uint32(n), t.start, t.end, n})
			}
			if len(out) > at {
				continue
			}
		}
		out = append(out, token{uint32(m.unknown), t.start, t.end, ownText})
	}
	w.spelled = out
	w.tokens = append(w.tokens[:from], out...)
	return nil
}
