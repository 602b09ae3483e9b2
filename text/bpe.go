package text

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"math"
	"unicode/utf8"
)

// A bpe joins the characters of a word pair by pair, the pair with the lowest rank first, as long as a merge has the pair.
type bpe struct {
	*vocabulary
	merges       mergeTable
	unknown      string
	hasUnknown   bool
	prefix       string // of the tokens of all characters but the first
	suffix       string // of the token of the last character
	fuse         bool   // unknown characters side by side are one token
	byteFallback bool
	ignoreMerges bool // a word that is a token stays whole
	bytes        *[256]int32
	letters      map[uint32]*[256]int32 // by the rune's high bits: the number of the token that is the rune, + 1
	ascii        [utf8.RuneSelf]int32   // the same
}

func readBPE(o object) (model, error) {
	m := &bpe{}
	err := o.knows("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges")
	if err != nil {
		return nil, err
	}
	if d, ok := o.fields["dropout"]; ok && !d.isNull() {
		if p, err := d.float(); err != nil {
			return nil, err
		} else if p != 0 {
			return nil, d.errorf("is %v: tokens drawn at random aren't the same twice; set it to null", p)
		}
	}
	if u, ok := o.fields["unk_token"]; ok && !u.isNull() {
		m.hasUnknown = true
	}
	for _, s := range []struct {
		name string
		to   *string
	}{{"unk_token", &m.unknown}, {"continuing_subword_prefix", &m.prefix}, {"end_of_word_suffix", &m.suffix}} {
		if *s.to, err = nullable(o, s.name, value.str, ""); err != nil {
			return nil, err
		}
	}
	for _, b := range []struct {
		name string
		to   *bool
	}{{"fuse_unk", &m.fuse}, {"byte_fallback", &m.byteFallback}, {"ignore_merges", &m.ignoreMerges}} {
		if *b.to, err = field(o, b.name, value.bool, false); err != nil {
			return nil, err
		}
	}
	if m.vocabulary, err = readWords(o); err != nil {
		return nil, err
	}
	merges, ok := o.fields["merges"]
	if !ok {
		return nil, o.errorf(`has no "merges"`)
	}
	if err := m.readMerges(merges); err != nil {
		return nil, err
	}
	m.bytes = m.byteTokens()
	m.letters = make(map[uint32]*[256]int32)
	for n := range m.len() {
		t := m.token(n)
		if r, size := utf8.DecodeRuneInString(t); size == len(t) && size > 0 {
			if r < utf8.RuneSelf {
				m.ascii[r] = int32(n + 1)
			}
			page := m.letters[uint32(r)>>8]
			if page == nil {
				page = new([256]int32)
				m.letters[uint32(r)>>8] = page
			}
			page[r&255] = int32(n + 1)
		}
	}
	return m, nil
}

func (m *bpe) words() *vocabulary { return m.vocabulary }

// readMerges reads merges as "a b" or as ["a", "b"].
func (m *bpe) readMerges(v value) error {
	var left, right, whole []byte
	pairs, rank := false, uint32(0)
	m.merges = newMergeTable(0)
	return v.items(func(i int, item value) error {
		if i == 0 {
			pairs = item.is("[")
		}
		if pairs != item.is("[") || !pairs && !item.is(`"`) {
			return item.errorf("has merges that are neither all strings nor all pairs of strings")
		}
		if pairs {
			n := 0
			err := item.items(func(j int, part value) error {
				if n++; j > 1 || !part.is(`"`) {
					return part.errorf("is no pair of strings")
				}
				if j == 0 {
					left, _ = appendString(left[:0], part.data, part.start)
				} else {
					right, _ = appendString(right[:0], part.data, part.start)
				}
				return nil
			})
			if err != nil {
				return err
			}
			if n != 2 {
				return item.errorf("is no pair of strings")
			}
		} else {
			whole, _ = appendString(whole[:0], item.data, item.start)
			if bytes.HasPrefix(whole, []byte("#version")) {
				return nil
			}
			a, b, ok := bytes.Cut(whole, []byte(" "))
			if !ok || bytes.IndexByte(b, ' ') >= 0 {
				return item.errorf("is %q, not two tokens with a space between them", whole)
			}
			left, right = append(left[:0], a...), append(right[:0], b...)
		}
		a, b := m.number(left), m.number(right)
		for _, x := range []struct {
			n    int
			text []byte
		}{{a, left}, {b, right}} {
			if x.n < 0 {
				return item.errorf("joins %q, which isn't in the vocabulary", x.text)
			}
		}
		if len(right) < len(m.prefix) || len(right) > len(m.prefix) && !utf8.RuneStart(right[len(m.prefix)]) {
			return item.errorf("joins %q, which is shorter than continuing_subword_prefix", right)
		}
		whole = append(append(whole[:0], left...), right[len(m.prefix):]...)
		n := m.number(whole)
		if n < 0 {
			return item.errorf("makes %q, which isn't in the vocabulary", whole)
		}
		m.merges.put(m.ids[a], m.ids[b], merge{rank, m.ids[n]})
		if rank == math.MaxUint32 {
			return item.errorf("is a merge too many")
		}
		rank++
		return nil
	})
}

// A merge joins two tokens to one.
type merge struct{ rank, id uint32 }

// A mergeTable finds the merge of a pair of ids: open addressing.
type mergeTable struct {
	keys   []uint64
	merges []merge
	used   int
}

const noPair = math.MaxUint64

func newMergeTable(bits int) mergeTable {
	t := mergeTable{keys: make([]uint64, 1<<max(bits, 4)), merges: make([]merge, 1<<max(bits, 4))}
	for i := range t.keys {
		t.keys[i] = noPair
	}
	return t
}

func (t *mergeTable) place(key uint64) int {
	mask := len(t.keys) - 1
	h := key * 0x9e3779b97f4a7c15
	i := int((h^h>>29)>>3) & mask
	for t.keys[i] != key && t.keys[i] != noPair {
		i = (i + 1) & mask
	}
	return i
}

func (t *mergeTable) put(a, b uint32, m merge) {
	key := uint64(a)<<32 | uint64(b)
	i := t.place(key)
	if t.keys[i] == noPair {
		t.used++
	}
	t.keys[i], t.merges[i] = key, m
	if 3*t.used <= 2*len(t.keys) {
		return
	}
	old := *t
	*t = mergeTable{keys: make([]uint64, 2*len(old.keys)), merges: make([]merge, 2*len(old.keys)), used: old.used}
	for i := range t.keys {
		t.keys[i] = noPair
	}
	for i, key := range old.keys {
		if key != noPair {
			j := t.place(key)
			t.keys[j], t.merges[j] = key, old.merges[i]
		}
	}
}

func (t *mergeTable) get(a, b uint32) (merge, bool) {
	key := uint64(a)<<32 | uint64(b)
	i := t.place(key)
	return t.merges[i], t.keys[i] == key && key != noPair
}

// A symbol is a token of a word while its pairs are joined.
type symbol struct {
	id         uint32
	prev, next int32
	length     uint32 // 0 if it was joined to the one before
}

// A candidate is a merge of the symbol at a place with the next.
type candidate struct {
	key uint64 // the rank, then the place
	id  uint32
}

// symbols appends the first symbols of a word: its characters, or their bytes.
func (m *bpe) symbols(s []symbol, word []byte) ([]symbol, error) {
	add := func(id uint32, length int) {
		n := int32(len(s))
		if n > 0 {
			s[n-1].next = n
		}
		s = append(s, symbol{id, n - 1, -1, uint32(length)})
	}
	unknown, pending := uint32(0), 0 // the length of an unknown part that hasn't been added yet
	var affixed []byte
	for i := 0; i < len(word); {
		r, size := rune(word[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(word[i:])
		}
		text := word[i : i+size]
		number := -1
		if first, last := i == 0, i+size == len(word); (first || m.prefix == "") && (!last || m.suffix == "") {
			if r < utf8.RuneSelf {
				number = int(m.ascii[r]) - 1
			} else if page := m.letters[uint32(r)>>8]; page != nil {
				number = int(page[r&255]) - 1
			}
		} else {
			affixed = affixed[:0]
			if !first {
				affixed = append(affixed, m.prefix...)
			}
			affixed = append(affixed, text...)
			if last {
				affixed = append(affixed, m.suffix...)
			}
			text = affixed
			number = m.number(text)
		}
		i += size
		if number >= 0 {
			if pending > 0 {
				add(unknown, pending)
				pending = 0
			}
			add(m.ids[number], size)
			continue
		}
		if m.byteFallback && m.hasBytes(text) {
			for _, c := range text {
				add(m.ids[m.bytes[c]], 1)
			}
			continue
		}
		if !m.hasUnknown {
			continue
		}
		if pending > 0 && m.fuse {
			pending += size
			continue
		}
		if pending > 0 {
			add(unknown, pending)
		}
		id, ok := m.id([]byte(m.unknown))
		if !ok {
			return s, fmt.Errorf("the character %q is unknown, and the vocabulary has no unk_token %q", r, m.unknown)
		}
		unknown, pending = id, size
	}
	if pending > 0 {
		add(unknown, pending)
	}
	return s, nil
}

func (m *bpe) hasBytes(text []byte) bool {
	for _, c := range text {
		if m.bytes[c] < 0 {
			return false
		}
	}
	return true
}

// join joins pairs until no merge has one. The order is that of rank, then of place.
func (m *bpe) join(w *work, s []symbol) {
	h := w.heap[:0]
	for i := 0; i+1 < len(s); i++ {
		if g, ok := m.merges.get(s[i].id, s[i+1].id); ok {
			h = append(h, candidate{uint64(g.rank)<<32 | uint64(i), g.id})
		}
	}
	for i := len(h)/2 - 1; i >= 0; i-- {
		sink(h, i)
	}
	push := func(i, j int32) {
		if g, ok := m.merges.get(s[i].id, s[j].id); ok {
			h = append(h, candidate{uint64(g.rank)<<32 | uint64(uint32(i)), g.id})
			rise(h)
		}
	}
	for len(h) > 0 {
		top := h[0]
		last := len(h) - 1
		h[0] = h[last]
		h = h[:last]
		sink(h, 0)
		i := int32(uint32(top.key))
		left := &s[i]
		if left.length == 0 || left.next < 0 {
			continue
		}
		right := &s[left.next]
		if g, ok := m.merges.get(left.id, right.id); !ok || g.id != top.id {
			continue // one of the two has been joined since
		}
		left.id = top.id
		left.length += right.length
		left.next = right.next
		right.length = 0
		if left.next >= 0 {
			s[left.next].prev = i
		}
		if left.prev >= 0 {
			push(left.prev, i)
		}
		if left.next >= 0 {
			push(i, left.next)
		}
	}
	w.heap = h[:0]
}

func sink(h []candidate, i int) {
	for {
		j := 2*i + 1
		if j >= len(h) {
			return
		}
		if j+1 < len(h) && h[j+1].key < h[j].key {
			j++
		}
		if h[i].key <= h[j].key {
			return
		}
		h[i], h[j] = h[j], h[i]
		i = j
	}
}

func rise(h []candidate) {
	for i := len(h) - 1; i > 0; {
		p := (i - 1) / 2
		if h[p].key <= h[i].key {
			return
		}
		h[i], h[p] = h[p], h[i]
		i = p
	}
}

// Sizes of the memory of words: their tokens are found once.
const (
	memoWords  = 1 << 13
	memoBytes  = 27 // of a word
	memoTokens = 6
)

// A memo is a word and its tokens. Words whose hashes share a place replace each other.
type memo struct {
	word   [memoBytes]byte
	length uint8
	count  uint8
	tokens [memoTokens]struct {
		id     uint32
		length uint32
	}
}

func (m *bpe) tokenize(w *work, word []byte) error {
	if m.ignoreMerges {
		if n := m.number(word); n >= 0 {
			w.tokens = append(w.tokens, token{m.ids[n], 0, uint32(len(word)), int32(n)})
			return nil
		}
	}
	var known *memo
	if len(word) <= memoBytes {
		if w.memos == nil {
			w.memos = make([]memo, memoWords)
		}
		known = &w.memos[maphash.Bytes(m.seed, word)%memoWords]
		if known.length > 0 && string(known.word[:known.length]) == string(word) {
			start := uint32(0)
			for _, t := range known.tokens[:known.count] {
				w.tokens = append(w.tokens, token{t.id, start, start + t.length, int32(m.numberOf(t.id))})
				start += t.length
			}
			return nil
		}
	}
	s, err := m.symbols(w.symbols[:0], word)
	w.symbols = s[:0]
	if err != nil {
		return err
	}
	if len(s) > 1 {
		m.join(w, s)
	}
	from, start := len(w.tokens), uint32(0)
	for i := range s {
		if n := s[i].length; n > 0 {
			w.tokens = append(w.tokens, token{s[i].id, start, start + n, int32(m.numberOf(s[i].id))})
			start += n
		}
	}
	if found := w.tokens[from:]; known != nil && len(found) <= memoTokens {
		known.length, known.count = uint8(len(word)), uint8(len(found))
		copy(known.word[:], word)
		for i, t := range found {
			known.tokens[i].id, known.tokens[i].length = t.id, t.end-t.start
		}
	}
	return nil
}
