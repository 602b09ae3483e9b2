package text

import (
	"hash/maphash"
	"math"
	"slices"
	"strings"
)

// A vocabulary has the tokens of a model and their ids, in one piece of memory.
type vocabulary struct {
	text  strings.Builder // of all tokens
	ends  []uint32        // of each token in text
	ids   []uint32        // of each token
	table []uint32        // open addressing: the number of a token + 1
	seed  maphash.Seed
	byID  []int32          // the number of the token with an id, -1 if there is none
	far   map[uint32]int32 // the same, for ids far beyond the number of tokens
}

func newVocabulary() *vocabulary {
	return &vocabulary{seed: maphash.MakeSeed(), table: make([]uint32, 1<<4)}
}

func (v *vocabulary) len() int { return len(v.ends) }

// token returns the token with a number.
func (v *vocabulary) token(n int) string {
	start := uint32(0)
	if n > 0 {
		start = v.ends[n-1]
	}
	return v.text.String()[start:v.ends[n]]
}

// place returns the place of a token in the table, or the free one for it.
func (v *vocabulary) place(token []byte) int {
	mask := len(v.table) - 1
	i := int(maphash.Bytes(v.seed, token)) & mask
	for v.table[i] != 0 && v.token(int(v.table[i]-1)) != string(token) {
		i = (i + 1) & mask
	}
	return i
}

// number returns the number of a token, or -1.
func (v *vocabulary) number(token []byte) int {
	return int(v.table[v.place(token)]) - 1
}

// id returns the id of a token.
func (v *vocabulary) id(token []byte) (id uint32, ok bool) {
	n := v.number(token)
	if n < 0 {
		return 0, false
	}
	return v.ids[n], true
}

// add takes a token, in place of an equal one before.
func (v *vocabulary) add(token []byte, id uint32) {
	i := v.place(token)
	if n := v.table[i]; n != 0 {
		v.ids[n-1] = id
		return
	}
	v.text.Write(token)
	v.ends = append(v.ends, uint32(v.text.Len()))
	v.ids = append(v.ids, id)
	v.table[i] = uint32(len(v.ends))
	if len(v.ends) > len(v.table)/2 {
		v.table = make([]uint32, 4*len(v.table))
		mask := len(v.table) - 1
		for n := range v.ends {
			i := int(maphash.String(v.seed, v.token(n))) & mask
			for v.table[i] != 0 {
				i = (i + 1) & mask
			}
			v.table[i] = uint32(n + 1)
		}
	}
}

// finish makes token numbers known by their ids. It returns false and two tokens that have one id, if there are any.
func (v *vocabulary) finish() (first, second string, ok bool) {
	limit := uint32(2*len(v.ends) + 1<<10)
	most := uint32(0)
	for _, id := range v.ids {
		if id < limit {
			most = max(most, id+1)
		}
	}
	v.byID = make([]int32, most)
	for i := range v.byID {
		v.byID[i] = -1
	}
	v.far = make(map[uint32]int32)
	for n, id := range v.ids {
		if m := v.numberOf(id); m >= 0 {
			return v.token(m), v.token(n), false
		}
		if id < most {
			v.byID[id] = int32(n)
		} else {
			v.far[id] = int32(n)
		}
	}
	all := v.text.String() // in memory that fits
	v.text = strings.Builder{}
	v.text.Grow(len(all))
	v.text.WriteString(all)
	v.ends, v.ids = slices.Clone(v.ends), slices.Clone(v.ids)
	return "", "", true
}

// numberOf returns the number of the token with an id, or -1.
func (v *vocabulary) numberOf(id uint32) int {
	if uint64(id) < uint64(len(v.byID)) {
		return int(v.byID[id])
	}
	if n, ok := v.far[id]; ok {
		return int(n)
	}
	return -1
}

// readVocabulary reads an object of tokens and ids.
func readVocabulary(v value) (*vocabulary, error) {
	voc := newVocabulary()
	err := v.members(func(token []byte, member value) error {
		id, err := member.id()
		if err == nil && int64(voc.text.Len())+int64(len(token)) > math.MaxUint32 {
			err = member.errorf("is beyond 4 GiB of tokens")
		}
		if err == nil {
			voc.add(token, id)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if a, b, ok := voc.finish(); !ok {
		return nil, v.errorf("gives the tokens %q and %q one id", a, b)
	}
	return voc, nil
}

// A trie finds the keys with which a text begins. Its nodes have numbers, the root 0. The children of a node lie side by
// side, by their labels, and behind those of the nodes before it.
type trie struct {
	first  []int32    // the first child of each node; one more at the end
	values []int32    // of the key that ends at each node, -1 if none does
	labels []byte     // of each node
	root   [256]int32 // the children of the root, 0 for none
}

// newTrie returns a trie of n keys, whose values are their numbers. Of equal keys the last stays.
func newTrie(n int, key func(i int) string) *trie {
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		if c := strings.Compare(key(int(a)), key(int(b))); c != 0 {
			return c
		}
		return int(a - b)
	})
	t := &trie{}
	add := func(label byte) {
		t.values, t.labels = append(t.values, -1), append(t.labels, label)
	}
	add(0)
	type part struct{ from, to, depth int32 } // the keys of a node
	for level := []part{{0, int32(n), 0}}; len(level) > 0; {
		var next []part
		for _, p := range level {
			node, i := len(t.first), p.from
			for ; i < p.to && int32(len(key(int(order[i])))) == p.depth; i++ {
				t.values[node] = order[i]
			}
			t.first = append(t.first, int32(len(t.labels)))
			for i < p.to {
				c, from := key(int(order[i]))[p.depth], i
				for i < p.to && key(int(order[i]))[p.depth] == c {
					i++
				}
				if node == 0 {
					t.root[c] = int32(len(t.labels))
				}
				next = append(next, part{from, i, p.depth + 1})
				add(c)
			}
		}
		level = next
	}
	t.first = slices.Clone(append(t.first, int32(len(t.labels))))
	t.values, t.labels = slices.Clone(t.values), slices.Clone(t.labels)
	return t
}

// child returns the child of a node by its label, 0 if it has none.
func (t *trie) child(node int32, c byte) int32 {
	if node == 0 {
		return t.root[c]
	}
	lo, hi := t.first[node], t.first[node+1]
	for hi-lo > 8 {
		if m := (lo + hi) / 2; t.labels[m] <= c {
			lo = m
		} else {
			hi = m
		}
	}
	for ; lo < hi; lo++ {
		if t.labels[lo] == c {
			return lo
		}
	}
	return 0
}

// walk returns the node behind a key, 0 if there is none.
func (t *trie) walk(node int32, key []byte) int32 {
	for _, c := range key {
		if node = t.child(node, c); node == 0 {
			return 0
		}
	}
	return node
}
