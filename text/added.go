package text

import (
	"unicode/utf8"
)

// An addedToken is found in a text before the model sees it.
type addedToken struct {
	content                                      string
	singleWord, left, right, normalized, special bool
	id                                           uint32
}

func readAddedToken(v value) (t addedToken, err error) {
	o, err := v.object("id", "content", "single_word", "lstrip", "rstrip", "normalized", "special")
	if err != nil {
		return t, err
	}
	if t.content, err = required(o, "content", value.str); err != nil {
		return t, err
	}
	if t.id, err = required(o, "id", value.id); err != nil {
		return t, err
	}
	for _, f := range []struct {
		name string
		to   *bool
	}{{"single_word", &t.singleWord}, {"lstrip", &t.left}, {"rstrip", &t.right}, {"normalized", &t.normalized}, {"special", &t.special}} {
		if *f.to, err = required(o, f.name, value.bool); err != nil {
			return t, err
		}
	}
	return t, nil
}

// addedTokens are the added tokens of a file. The reference gives them the same ids: of the model's vocabulary, or
// the next free ones, whatever the file says.
type addedTokens struct {
	ids     map[string]uint32
	byID    map[uint32]addedToken
	special map[string]bool
	decoded map[uint32]string // the tokens as Decode writes them: normalized
	plain   finder            // of those found in the text as it is
	changed finder            // of those found in the normalized text
}

// A finder finds the added tokens of one kind: at each place the longest.
type finder struct {
	tokens []addedToken
	trie   *trie
	first  [256]bool
}

func newFinder(tokens []addedToken, contents []string) finder {
	f := finder{}
	for i := len(tokens) - 1; i >= 0; i-- { // of equal contents the first stays, which is the last for newTrie
		f.tokens = append(f.tokens, tokens[i])
		if contents[i] != "" {
			f.first[contents[i][0]] = true
		}
	}
	n := len(contents)
	f.trie = newTrie(n, func(i int) []byte { return []byte(contents[n-1-i]) })
	return f
}

// newAddedTokens gives the tokens of a file their ids.
func newAddedTokens(list []addedToken, m model, size int, norm normalizer) (*addedTokens, error) {
	t := &addedTokens{ids: make(map[string]uint32), byID: make(map[uint32]addedToken), special: make(map[string]bool), decoded: make(map[uint32]string)}
	voc := m.words()
	var order []uint32 // the ids, as they come in the file
	next := uint32(size)
	for _, a := range list {
		a.id = 0
		if a.content == "" {
			continue
		}
		t.special[a.content] = t.special[a.content] || a.special
		id, ok := t.ids[a.content]
		if !ok {
			if id, ok = voc.id([]byte(a.content)); !ok {
				id = next
			}
			order = append(order, id)
		}
		t.ids[a.content] = id
		next = max(next, id+1)
		t.byID[id] = a // the last of equal contents counts
	}
	var tokens [2][]addedToken
	var contents [2][]string
	var text aligned
	for _, id := range order {
		a := t.byID[id]
		a.id = id
		kind, content := 0, a.content
		if a.normalized {
			kind = 1
			if norm != nil {
				text.set(content, span{0, uint32(len(content))})
				if err := norm.normalize(&text); err != nil {
					return nil, err
				}
				content = string(text.b)
			}
		}
		t.decoded[id] = content
		tokens[kind] = append(tokens[kind], a)
		contents[kind] = append(contents[kind], content)
	}
	t.plain, t.changed = newFinder(tokens[0], contents[0]), newFinder(tokens[1], contents[1])
	return t, nil
}

// find calls f for each part of b that is no added token, with −1, and for each that is one, with its id.
func (t *addedTokens) find(in *finder, b []byte, f func(start, end int, id int64)) {
	d := unicodeData()
	covered, spaces := 0, 0 // spaces is the end of the last run of spaces: a match in the run ends there, too
	for i := 0; i < len(b); {
		if !in.first[b[i]] {
			i++
			continue
		}
		n, k := in.trie.longest(b[i:])
		if k < 0 {
			i++
			continue
		}
		start, end := i, i+n
		i = end
		a := t.byID[in.tokens[k].id]
		if a.singleWord {
			before, _ := utf8.DecodeLastRune(b[:start])
			behind, _ := decodeRune(b, end)
			if start > 0 && d.has(before, regexWord) || end < len(b) && d.has(behind, regexWord) {
				continue
			}
		}
		if a.left {
			from := start
			for from > covered {
				r, n := utf8.DecodeLastRune(b[:from])
				if !d.has(r, regexSpace) {
					break
				}
				from -= n
			}
			start = max(from, covered)
		}
		if a.right {
			for end = max(end, spaces); end < len(b); {
				r, n := decodeRune(b, end)
				if !d.has(r, regexSpace) {
					break
				}
				end += n
			}
			spaces = end
		}
		if covered < start {
			f(covered, start, noToken)
		}
		f(start, end, int64(in.tokens[k].id))
		covered = end
	}
	if covered != len(b) {
		f(covered, len(b), noToken)
	}
}
