package text

import (
	"slices"
	"unicode/utf8"
)

// An addedToken is found in a text before the model sees it.
type addedToken struct {
	content                                      string
	singleWord, left, right, normalized, special bool
	id                                           uint32
	length                                       uint32 // of the text that is found, in bytes
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

// A finder finds the added tokens of one kind: at each place the longest. It reads a text from its end, by the automaton
// of Aho and Corasick (1975) for the tokens read backwards, so each byte counts once whatever the tokens are.
type finder struct {
	tokens []addedToken
	trie   *trie
	fail   []int32 // of each node, the node of the longest proper end of its text that is in the trie
	found  []int32 // of each node, the number of the longest token that its text ends with, -1 if there is none
}

// A place is where a text has an added token.
type place struct {
	start, end uint32
	number     int32 // of the token in its finder
}

func newFinder(tokens []addedToken, contents []string) finder {
	f := finder{}
	var reversed []string
	for i := len(tokens) - 1; i >= 0; i-- { // of equal contents the first stays, which is the last for newTrie
		b := []byte(contents[i])
		slices.Reverse(b)
		f.tokens, reversed = append(f.tokens, tokens[i]), append(reversed, string(b))
	}
	f.trie = newTrie(len(reversed), func(i int) string { return reversed[i] })
	f.fail, f.found = make([]int32, len(f.trie.values)), make([]int32, len(f.trie.values))
	f.found[0] = -1                     // the empty token isn't found
	for parent := range f.trie.values { // a node comes before its children, and before longer texts
		for i := f.trie.first[parent]; i < f.trie.first[parent+1]; i++ {
			if parent > 0 {
				f.fail[i] = f.next(f.fail[parent], f.trie.labels[i])
			}
			if f.found[i] = f.trie.values[i]; f.found[i] < 0 {
				f.found[i] = f.found[f.fail[i]]
			}
		}
	}
	return f
}

// next returns the node behind a node and a byte.
func (f *finder) next(node int32, c byte) int32 {
	for {
		if child := f.trie.child(node, c); child != 0 || node == 0 {
			return child
		}
		node = f.fail[node]
	}
}

// places appends the places of the longest token at each byte of b, from the end on.
func (f *finder) places(dst []place, b []byte) []place {
	node := int32(0)
	for i := len(b) - 1; i >= 0; i-- {
		if node == 0 && f.trie.root[b[i]] == 0 {
			continue
		}
		node = f.next(node, b[i])
		if k := f.found[node]; k >= 0 {
			dst = append(dst, place{uint32(i), uint32(i) + f.tokens[k].length, k})
		}
	}
	return dst
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
	total := 0
	for _, id := range order {
		total += len(t.byID[id].content)
	}
	left := newBudget(total)
	for _, id := range order {
		a := t.byID[id]
		a.id = id
		kind, content := 0, a.content
		if a.normalized {
			kind = 1
			if norm != nil {
				text.set(content, span{0, uint32(len(content))}, &left)
				if err := norm.normalize(&text); err != nil {
					return nil, err
				}
				content = string(text.b)
			}
		}
		t.decoded[id] = content
		a.length = uint32(len(content))
		tokens[kind] = append(tokens[kind], a)
		contents[kind] = append(contents[kind], content)
	}
	t.plain, t.changed = newFinder(tokens[0], contents[0]), newFinder(tokens[1], contents[1])
	return t, nil
}

// find calls f for each part of b that is no added token, with −1, and for each that is one, with its id.
func (t *addedTokens) find(w *work, in *finder, b []byte, f func(start, end int, id int64)) {
	d := unicodeData()
	w.places = in.places(w.places[:0], b)
	covered, spaces := 0, 0 // spaces is the end of the last run of spaces: a match in the run ends there, too
	free := 0               // the end of the last token found, which the next doesn't overlap
	for _, p := range slices.Backward(w.places) {
		start, end := int(p.start), int(p.end)
		if start < free {
			continue
		}
		free = end
		a := t.byID[in.tokens[p.number].id]
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
		f(start, end, int64(in.tokens[p.number].id))
		covered = end
	}
	if covered != len(b) {
		f(covered, len(b), noToken)
	}
}
